public import PatchbayModel
import PatchbaySystem
import Synchronization

/// The services that the engine needs from the machine: clocks, random numbers, ids, and the identity of the process.
///
/// The same engine runs on ``SystemHost`` and under a virtual clock.
public protocol EngineHost: Sendable {
    /// The wall clock, which may jump.
    func date() -> Instant
    /// A clock that never jumps and includes sleep. It starts at zero when the machine boots.
    func uptime() -> Instant
    /// An identifier of the boot, so that processes can compare readings of `uptime`.
    var boot: String { get }
    /// An identifier of this process among all that may deliver.
    var process: String { get }
    /// Whether the process with an identifier is known to be dead.
    func isDead(_ process: String) -> Bool
    /// Returns a random number from 0 up to, but not including, 1.
    func chance() -> Double
    /// Returns a new id that is unique permanently.
    func makeID() -> OperationID
    /// Returns a text that cannot be guessed.
    func makeSalt() -> String
    /// Returns the real duration of a span of this host's time. They differ only if the host's clock runs faster.
    func realTime(_ span: Duration) -> Duration
    /// Yields the processor to a waiting thread. The engine calls this between the parts of long work that no caller waits
    /// for.
    func giveWay()
}

extension EngineHost {
    public func realTime(_ span: Duration) -> Duration { span }

    /// Does nothing, because most hosts have no other thread to yield to.
    public func giveWay() {}

    /// Returns 128 random bits in hexadecimal digits.
    public func makeSalt() -> String { SystemHost.uuid(.random(in: .min ... .max), .random(in: .min ... .max)) }
}

/// The host that uses the real machine.
public struct SystemHost: EngineHost {
    /// An identifier of the boot.
    public let boot: String
    /// An identifier of this process: its number, the boot, a random part, and the namespace of the number.
    public let process: String

    /// The namespace of process numbers. Each container has its own, while all share the boot.
    private let numbers: String

    /// The identifiers that this process has used.
    private static let ours = Mutex<Set<String>>([])

    /// Creates a host for this machine and process.
    public init() {
        boot = System.bootID() ?? "unknown"
        // A namespace that cannot be read is treated as different from that of any other process.
        numbers = System.processNamespace() ?? "unknown-\(UInt32.random(in: .min ... .max))"
        let nonce = UInt32.random(in: .min ... .max)
        let name = "\(getpid())/\(boot)/\(String(nonce, radix: 16))/\(numbers)"
        process = name
        SystemHost.ours.withLock { _ = $0.insert(name) }
    }

    public func date() -> Instant { SystemHost.read(CLOCK_REALTIME) }

    public func uptime() -> Instant { SystemHost.read(System.uptimeClock) }

    public func isDead(_ process: String) -> Bool {
        let parts = process.split(separator: "/")
        // If the process number belongs to another namespace, or to none, the state of the process is unknown, and its lease
        // must expire. Identifiers of earlier releases have three parts and no namespace.
        guard parts.count == 3 || parts.count == 4 && parts[3] == numbers, process != self.process else { return false }
        guard parts[1] == boot else { return true }
        guard let number = pid_t(parts[0]) else { return false }
        // With our number, an identifier that we never used belongs to a predecessor, and one that we used to another client
        // here.
        if number == getpid() { return !SystemHost.ours.withLock { $0.contains(process) } }
        return kill(number, 0) == -1 && errno == ESRCH
    }

    /// A scheduler with ticks gives the processor back after one tick, 4 ms on many machines, even if another processor is
    /// idle.
    public func giveWay() { sched_yield() }

    public func chance() -> Double { Double(Chance.next() >> 11) / Double(1 << 53) }

    public func makeID() -> OperationID {
        // RFC 9562 version 7: ordered by time, which keeps the outbox's index on ids compact. Within a millisecond, ids are
        // ordered by a counter with a random start.
        let milliseconds = UInt64(bitPattern: date().milliseconds) & 0xFFFF_FFFF_FFFF
        let (chance, count) = Chance.numbered()
        let high = milliseconds << 16 | 0x7000 | count & 0xFFF
        let low = chance & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return OperationID(rawValue: SystemHost.uuid(high, low))
    }

    /// Returns the text form of a UUID with these bits.
    static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            let room = UnsafeMutableRawBufferPointer(text)
            func put(_ digits: UInt64, at place: Int) {
                room.storeBytes(of: digits.littleEndian, toByteOffset: place, as: UInt64.self)
            }
            // Eight digits are written at a time. Where a dash divides them, the second half is written again after it.
            put(digits(high >> 32), at: 0)
            put(digits(high), at: 9)
            put(digits(high) >> 32, at: 14)
            put(digits(low >> 32), at: 19)
            put(digits(low >> 32) >> 32, at: 24)
            put(digits(low), at: 28)
            for dash in [8, 13, 18, 23] { text[dash] = UInt8(ascii: "-") }
            return 36
        }
    }

    /// Returns the low 32 bits as eight hexadecimal digits, the first in the lowest byte.
    private static func digits(_ number: UInt64) -> UInt64 {
        // Each step moves the upper half of every group of bits to twice its position, until each byte holds four bits.
        var spread = number & 0xFFFF_FFFF
        spread = (spread | spread << 16) & 0x0000_FFFF_0000_FFFF
        spread = (spread | spread << 8) & 0x00FF_00FF_00FF_00FF
        spread = (spread | spread << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // A digit of ten or more carries into the high half of its byte.
        let letters = (spread &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        return (spread &+ 0x3030_3030_3030_3030 &+ letters &* 39).byteSwapped
    }

    private static func read(_ clock: clockid_t) -> Instant {
        var time = timespec()
        clock_gettime(clock, &time)
        return Instant(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}

/// Random words from the system, fetched in blocks. Each word is used once.
private enum Chance {
    /// The number of words that the system returns in one call: 256 bytes.
    private static let block = 32
    private static let state = Mutex(State())

    private struct State {
        var words: [UInt64] = []
        /// The number of calls of ``numbered()``, from a random start.
        var count: UInt64 = 0
    }

    static func next() -> UInt64 { numbered().chance }

    /// Returns a random word, and a number that increases by one with each call.
    static func numbered() -> (chance: UInt64, count: UInt64) {
        state.withLock { state in
            if state.words.isEmpty {
                // A system call for each word would cost more than the rest of a capture.
                state.words = System.randomWords(block)
                if state.count == 0 { state.count = state.words.removeLast() }
            }
            state.count &+= 1
            return (state.words.removeLast(), state.count)
        }
    }
}

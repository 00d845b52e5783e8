public import PatchbayModel
import PatchbaySystem
import Synchronization

/// Everything that the engine takes from the machine: clocks, chance, ids, and who it is.
///
/// The same engine runs on ``SystemHost`` and under a virtual clock.
public protocol EngineHost: Sendable {
    /// The wall clock; may jump.
    func date() -> Instant
    /// A clock that never jumps and counts sleep; its zero is the boot.
    func uptime() -> Instant
    /// Names the boot, so that two readings of `uptime` can be compared across processes.
    var boot: String { get }
    /// Names this process among all that may deliver.
    var process: String { get }
    /// Whether a process that named itself so is surely dead.
    func isDead(_ process: String) -> Bool
    /// 0 up to 1.
    func chance() -> Double
    /// A new id, unique for ever.
    func makeID() -> OperationID
    /// A text that nobody can guess.
    func makeSalt() -> String
    /// How long a span of this host's time takes on the real clock; the same, unless the host's clock runs faster.
    func realTime(_ span: Duration) -> Duration
    /// Lets another thread have the processor that waits for it; called between the pieces of long work that nobody waits for.
    func giveWay()
}

extension EngineHost {
    public func realTime(_ span: Duration) -> Duration { span }

    /// Nothing: most hosts have nobody to give way to.
    public func giveWay() {}

    /// 128 bits of the system's chance, in hexadecimal digits.
    public func makeSalt() -> String { SystemHost.uuid(.random(in: .min ... .max), .random(in: .min ... .max)) }
}

/// The real machine.
public struct SystemHost: EngineHost {
    /// Names the boot.
    public let boot: String
    /// Names this process: its number, the boot, a part that no other process has, and where its number holds.
    public let process: String

    /// Names the space in which process numbers hold: each container has one of its own, and all share the boot.
    private let numbers: String

    /// The names that this process has given itself.
    private static let ours = Mutex<Set<String>>([])

    /// This machine, this process.
    public init() {
        boot = System.bootID() ?? "unknown"
        // What cannot be read is no other process's.
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
        // Of a process whose number means another one here, or none, nothing can be known: its lease has to run out. Earlier
        // releases gave names of three parts, and told nothing of that.
        guard parts.count == 3 || parts.count == 4 && parts[3] == numbers, process != self.process else { return false }
        guard parts[1] == boot else { return true }
        guard let number = pid_t(parts[0]) else { return false }
        // Our number with a name that we never gave is a predecessor's; with one that we gave, another client's of ours.
        if number == getpid() { return !SystemHost.ours.withLock { $0.contains(process) } }
        return kill(number, 0) == -1 && errno == ESRCH
    }

    /// A scheduler that counts by ticks gives the processor back after one, 4 ms on many machines, although another is idle.
    public func giveWay() { sched_yield() }

    public func chance() -> Double { Double(Chance.next() >> 11) / Double(1 << 53) }

    public func makeID() -> OperationID {
        // RFC 9562 version 7: ordered by time, so that the outbox's index on ids stays narrow; within a millisecond by a count
        // that begins anywhere.
        let milliseconds = UInt64(bitPattern: date().milliseconds) & 0xFFFF_FFFF_FFFF
        let (chance, count) = Chance.numbered()
        let high = milliseconds << 16 | 0x7000 | count & 0xFFF
        let low = chance & 0x3FFF_FFFF_FFFF_FFFF | 0x8000_0000_0000_0000
        return OperationID(rawValue: SystemHost.uuid(high, low))
    }

    /// The text form of a UUID of these bits.
    static func uuid(_ high: UInt64, _ low: UInt64) -> String {
        String(unsafeUninitializedCapacity: 36) { text in
            let room = UnsafeMutableRawBufferPointer(text)
            func put(_ digits: UInt64, at place: Int) {
                room.storeBytes(of: digits.littleEndian, toByteOffset: place, as: UInt64.self)
            }
            // Eight digits a word. Where a dash parts them, the second half is written again behind it.
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

    /// The low 32 bits as eight hexadecimal digits, the first in the lowest byte.
    private static func digits(_ number: UInt64) -> UInt64 {
        // Each step parts groups of bits into the halves of twice the room, down to a byte each.
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

/// The system's chance, fetched by the block: each word of it is given out once.
private enum Chance {
    /// As many as the system gives in one call: 256 bytes.
    private static let block = 32
    private static let state = Mutex(State())

    private struct State {
        var words: [UInt64] = []
        /// How often a number was asked for, from an unforeseen beginning on.
        var count: UInt64 = 0
    }

    static func next() -> UInt64 { numbered().chance }

    /// A word of chance, and a number that is one more at each call.
    static func numbered() -> (chance: UInt64, count: UInt64) {
        state.withLock { state in
            if state.words.isEmpty {
                // A call for each word costs more than everything else that a capture does.
                state.words = System.randomWords(block)
                if state.count == 0 { state.count = state.words.removeLast() }
            }
            state.count &+= 1
            return (state.words.removeLast(), state.count)
        }
    }
}

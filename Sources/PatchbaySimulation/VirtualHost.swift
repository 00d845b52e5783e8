public import Patchbay
import PatchbayAdapterKit
public import PatchbayModel
import Synchronization

/// A machine with simulated clocks, random numbers and ids. The same seed gives the same run.
public final class VirtualHost: EngineHost {
    private struct State {
        var uptime: Instant
        var wallOffset: Duration
        /// The sum of all jumps of the wall clock.
        var jumped = Duration.zero
        var bootNumber = 1
        /// The running processes, by their index among those that share an outbox, each with its number.
        var processes = [0: 1]
        var lastProcess = 1
        var idNumber = 0
        var random: SeededGenerator
        var fixedChance: Double?
    }

    private let state: Mutex<State>

    /// Creates a machine that was just booted.
    ///
    /// - Parameters:
    ///   - start: The wall clock at the beginning.
    ///   - seed: The seed of the random generator.
    public init(start: Instant, seed: UInt64 = 1) {
        let uptime = Instant(milliseconds: 0)
        state = Mutex(State(uptime: uptime, wallOffset: start - uptime, random: SeededGenerator(seed: seed)))
    }

    /// Creates a machine that continues with the current state of another one.
    init(continuing other: VirtualHost) { state = Mutex(other.state.withLock { $0 }) }

    public func date() -> Instant { state.withLock { $0.uptime + $0.wallOffset } }
    /// The correct time: the wall clock without its jumps.
    public var trueDate: Instant { state.withLock { $0.uptime + ($0.wallOffset - $0.jumped) } }
    public func uptime() -> Instant { state.withLock { $0.uptime } }
    public var boot: String { state.withLock { "boot-\($0.bootNumber)" } }
    public var process: String { name(ofProcess: 0) }
    public func isDead(_ process: String) -> Bool {
        state.withLock { !$0.processes.values.contains { Self.name($0) == process } }
    }

    private static func name(_ number: Int) -> String { "process-\(number)" }

    /// Returns the name of a process.
    func name(ofProcess place: Int) -> String { state.withLock { Self.name($0.processes[place] ?? 0) } }
    public func chance() -> Double {
        state.withLock { $0.fixedChance ?? Double($0.random.next() >> 11) / 9_007_199_254_740_992 }
    }

    /// Makes the random generator return this number; nil makes it random again.
    public func fix(chance: Double?) { state.withLock { $0.fixedChance = chance } }

    public func makeID() -> OperationID {
        state.withLock { state in
            state.idNumber += 1
            return OperationID(rawValue: VirtualHost.id(state.idNumber))
        }
    }

    /// Returns the same salt for every virtual machine.
    public func makeSalt() -> String { "virtual" }

    /// Returns the id with a number, in the form of a UUID of version 8, which every vendor accepts.
    public static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-8000-8000-" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }

    /// Advances the clocks.
    public func advance(by duration: Duration) { state.withLock { $0.uptime = $0.uptime + duration } }

    /// Sets the wall clock forward or back without time passing, as a person or a time server does.
    public func jump(by duration: Duration) {
        state.withLock { state in
            state.wallOffset += duration
            state.jumped += duration
        }
    }

    /// Ends a process and starts another. `place` is the index among the processes that share an outbox.
    public func beginProcess(_ place: Int = 0) {
        state.withLock { state in
            state.lastProcess += 1
            state.processes[place] = state.lastProcess
        }
    }

    /// Ends a process.
    func endProcess(_ place: Int) { state.withLock { $0.processes[place] = nil } }

    /// Reboots the machine with one process: the clock that includes sleep begins at zero, and ids continue.
    public func reboot(after pause: Duration) {
        state.withLock { state in
            let date = state.uptime + state.wallOffset + pause
            state.bootNumber += 1
            state.lastProcess += 1
            state.processes = [0: state.lastProcess]
            state.uptime = Instant(milliseconds: 0)
            state.wallOffset = date - state.uptime
        }
    }
}

/// The same machine, as another of its processes sees it.
struct ProcessHost: EngineHost {
    let machine: VirtualHost
    /// The index among the processes that share an outbox.
    let place: Int

    func date() -> Instant { machine.date() }
    func uptime() -> Instant { machine.uptime() }
    var boot: String { machine.boot }
    var process: String { machine.name(ofProcess: place) }
    func isDead(_ process: String) -> Bool { machine.isDead(process) }
    func chance() -> Double { machine.chance() }
    func makeID() -> OperationID { machine.makeID() }
    func makeSalt() -> String { machine.makeSalt() }
}

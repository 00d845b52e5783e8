public import Patchbay
import PatchbayAdapterKit
public import PatchbayModel
import Synchronization

/// A machine whose clocks, chance and ids are values: the same seed gives the same run.
public final class VirtualHost: EngineHost {
    private struct State {
        var uptime: Instant
        var wallOffset: Duration
        /// How far jumps have moved the wall clock.
        var jumped = Duration.zero
        var bootNumber = 1
        /// The processes that live, by their place among those that share an outbox, and the last number given out.
        var processes = [0: 1]
        var lastProcess = 1
        var idNumber = 0
        var random: SeededGenerator
        var fixedChance: Double?
    }

    private let state: Mutex<State>

    /// A machine that was just booted.
    ///
    /// - Parameters:
    ///   - start: the wall clock at the beginning.
    ///   - seed: decides chance.
    public init(start: Instant, seed: UInt64 = 1) {
        let uptime = Instant(milliseconds: 0)
        state = Mutex(State(uptime: uptime, wallOffset: start - uptime, random: SeededGenerator(seed: seed)))
    }

    /// A machine that continues where another one is now.
    init(continuing other: VirtualHost) { state = Mutex(other.state.withLock { $0 }) }

    public func date() -> Instant { state.withLock { $0.uptime + $0.wallOffset } }
    /// The wall clock of everybody else: what this one would show without its jumps.
    public var trueDate: Instant { state.withLock { $0.uptime + ($0.wallOffset - $0.jumped) } }
    public func uptime() -> Instant { state.withLock { $0.uptime } }
    public var boot: String { state.withLock { "boot-\($0.bootNumber)" } }
    public var process: String { name(ofProcess: 0) }
    public func isDead(_ process: String) -> Bool {
        state.withLock { !$0.processes.values.contains { Self.name($0) == process } }
    }

    private static func name(_ number: Int) -> String { "process-\(number)" }

    /// What the process at that place calls itself.
    func name(ofProcess place: Int) -> String { state.withLock { Self.name($0.processes[place] ?? 0) } }
    public func chance() -> Double {
        state.withLock { $0.fixedChance ?? Double($0.random.next() >> 11) / 9_007_199_254_740_992 }
    }

    /// Makes chance that number from now on; nil makes it chance again.
    public func fix(chance: Double?) { state.withLock { $0.fixedChance = chance } }

    public func makeID() -> OperationID {
        state.withLock { state in
            state.idNumber += 1
            return OperationID(rawValue: VirtualHost.id(state.idNumber))
        }
    }

    /// The same for every machine of this kind.
    public func makeSalt() -> String { "virtual" }

    /// The text of the id of that number: a UUID of version 8, so that it fits wherever a vendor wants one.
    public static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "00000000-0000-8000-8000-" + String(repeating: "0", count: 12 - digits.utf8.count) + digits
    }

    /// Lets time pass.
    public func advance(by duration: Duration) { state.withLock { $0.uptime = $0.uptime + duration } }

    /// Moves the wall clock without time passing, as a person or a time server does.
    public func jump(by duration: Duration) {
        state.withLock { state in
            state.wallOffset += duration
            state.jumped += duration
        }
    }

    /// The process ends and another begins; `place` tells those apart that share an outbox.
    public func beginProcess(_ place: Int = 0) {
        state.withLock { state in
            state.lastProcess += 1
            state.processes[place] = state.lastProcess
        }
    }

    /// The process ends.
    func endProcess(_ place: Int) { state.withLock { $0.processes[place] = nil } }

    /// The machine starts again with one process: the clock that counts sleep begins at zero, and ids go on.
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

/// The same machine as another of its processes knows it.
struct ProcessHost: EngineHost {
    let machine: VirtualHost
    /// Its place among the processes that share an outbox.
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

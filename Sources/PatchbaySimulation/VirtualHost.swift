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
        var processNumber = 1
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

    public func date() -> Instant { state.withLock { $0.uptime + $0.wallOffset } }
    /// The wall clock of everybody else: what this one would show without its jumps.
    public var trueDate: Instant { state.withLock { $0.uptime + ($0.wallOffset - $0.jumped) } }
    public func uptime() -> Instant { state.withLock { $0.uptime } }
    public var boot: String { state.withLock { "boot-\($0.bootNumber)" } }
    public var process: String { state.withLock { "process-\($0.processNumber)" } }
    public func isDead(_ process: String) -> Bool { process != self.process }
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

    /// The process ends and another begins.
    public func beginProcess() { state.withLock { $0.processNumber += 1 } }

    /// The machine starts again: the clock that counts sleep begins at zero, and ids go on.
    public func reboot(after pause: Duration) {
        state.withLock { state in
            let date = state.uptime + state.wallOffset + pause
            state.bootNumber += 1
            state.processNumber += 1
            state.uptime = Instant(milliseconds: 0)
            state.wallOffset = date - state.uptime
        }
    }
}

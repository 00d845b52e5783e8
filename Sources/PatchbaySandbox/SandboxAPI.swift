import Foundation
import PatchbayAdapterKit
import PatchbayModel
import Synchronization

/// A simulator with its state behind a lock, independent of the state's type.
protocol SandboxAPI: Sendable {
    /// The simulator's id, which is also its first path segment.
    var id: String { get }

    /// Runs `body` while no other request of this vendor is processed. `body` may call `respond` once.
    func exclusively<Result: Sendable>(_ body: (_ respond: (WireRequest, Instant) -> WireResponse) -> Result) -> Result

    /// The state as JSON text, members sorted.
    func stateText() throws -> [UInt8]

    /// Resets the state to the initial one.
    func reset()
}

/// The API of one simulator.
final class SimulatorAPI<Simulator: VendorSimulator>: SandboxAPI {
    private let simulator: Simulator
    private let state: Mutex<Simulator.State>

    init(_ simulator: Simulator) {
        self.simulator = simulator
        state = Mutex(simulator.initialState)
    }

    var id: String { Simulator.id.rawValue }

    func exclusively<Result: Sendable>(_ body: (_ respond: (WireRequest, Instant) -> WireResponse) -> Result) -> Result
    {
        state.withLock { state in
            body { request, now in simulator.respond(to: request, state: &state, now: now) }
        }
    }

    func stateText() throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try Array(encoder.encode(state.withLock { $0 }))
    }

    func reset() { state.withLock { $0 = simulator.initialState } }
}

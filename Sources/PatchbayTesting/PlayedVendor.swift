import PatchbayAdapterKit
import PatchbayModel

/// A simulated vendor with its state during a run.
protocol PlayedVendor: Sendable {
    mutating func respond(to request: WireRequest, endpoint: String, now: Instant) -> WireResponse
    /// The vendor's state; nil for a vendor without state.
    var memory: (any Sendable)? { get }
}

/// A vendor's simulator with its state.
struct SimulatedVendor<Simulator: VendorSimulator>: PlayedVendor {
    private let simulator: Simulator
    private var state: Simulator.State

    var memory: (any Sendable)? { state }

    init(_ simulator: Simulator) { (self.simulator, state) = (simulator, simulator.initialState) }

    mutating func respond(to request: WireRequest, endpoint: String, now: Instant) -> WireResponse {
        simulator.respond(to: request, state: &state, now: now)
    }
}

/// A vendor without state that replies with a closure.
struct AnsweringVendor: PlayedVendor {
    let answer: @Sendable (String, WireRequest) -> WireResponse
    var memory: (any Sendable)? { nil }

    mutating func respond(to request: WireRequest, endpoint: String, now: Instant) -> WireResponse {
        answer(endpoint, request)
    }
}

import Foundation
public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A vendor simulator with its state, without the simulator's type.
public final class SimulatedVendor {
    /// The vendor's id.
    public let id: AdapterID
    private let answer: (WireRequest, Instant) -> WireResponse
    private let look: () -> any Encodable & Sendable
    private let replace: (any Sendable) -> Void

    /// Creates a simulator in its initial state.
    public init<Simulator: VendorSimulator>(_ simulator: Simulator) {
        id = Simulator.id
        var state = simulator.initialState
        answer = { simulator.respond(to: $0, state: &state, now: $1) }
        look = { state }
        replace = { if let other = $0 as? Simulator.State { state = other } }
    }

    /// Processes a request.
    public func respond(to request: WireRequest, now: Instant) -> WireResponse { answer(request, now) }

    /// The state as JSON, members by name.
    public var stateJSON: JSONValue {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return try JSONValue(parsing: Array(encoder.encode(look())))
        }
    }

    /// The state.
    public var anyState: any Sendable { look() }

    /// Restores an earlier state of this vendor.
    func restore(_ state: any Sendable) { replace(state) }

    /// Returns the state if it has the given type; nil otherwise.
    public func state<State>(as type: State.Type = State.self) -> State? { look() as? State }
}

@available(*, unavailable)
extension SimulatedVendor: Sendable {}

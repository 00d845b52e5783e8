import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Synchronization

/// A vendor that costs nothing: its simulator answers the first request to each path, later ones get the same answer.
final class Parrot<Simulator: VendorSimulator>: Transport {
    private struct State {
        var vendor: Simulator.State
        var answers: [String: WireResponse] = [:]
    }

    private let simulator: Simulator
    private let state: Mutex<State>

    init(_ simulator: Simulator) {
        self.simulator = simulator
        state = Mutex(State(vendor: simulator.initialState))
    }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        let path = request.method + request.url.prefix { $0 != "?" }
        let answer = state.withLock { state in
            if let known = state.answers[path] { return known }
            let made = simulator.respond(
                to: request,
                state: &state.vendor,
                now: Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
            )
            state.answers[path] = made
            return made
        }
        return .replied(answer)
    }
}

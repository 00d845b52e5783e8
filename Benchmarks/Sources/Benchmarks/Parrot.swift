import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Synchronization

/// A transport that notes when it was used first.
protocol ListeningTransport: Transport {
    func listen()
    var firstRequest: ContinuousClock.Instant? { get }
    func answer(_ request: WireRequest) -> WireResponse
}

/// A vendor that costs nothing: its simulator answers the first request to each path, later ones get the same answer.
final class Parrot<Simulator: VendorSimulator>: ListeningTransport {
    private struct State {
        var vendor: Simulator.State
        var answers: [Substring: [String: WireResponse]] = [:]
    }

    private let simulator: Simulator
    private let state: Mutex<State>

    init(_ simulator: Simulator) {
        self.simulator = simulator
        state = Mutex(State(vendor: simulator.initialState))
    }

    /// When the first request since the last `listen` arrived.
    private let heard = Mutex<ContinuousClock.Instant?>(nil)

    func listen() { heard.withLock { $0 = nil } }
    var firstRequest: ContinuousClock.Instant? { heard.withLock { $0 } }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome {
        heard.withLock { $0 = $0 ?? ContinuousClock.now }
        return .replied(answer(request))
    }

    func answer(_ request: WireRequest) -> WireResponse {
        // By bytes: what the vendor costs is no part of what is measured.
        let end = request.url.utf8.firstIndex(of: UInt8(ascii: "?")) ?? request.url.endIndex
        let path = request.url[..<end]
        return state.withLock { state in
            if let known = state.answers[path]?[request.method] { return known }
            let made = simulator.respond(
                to: request,
                state: &state.vendor,
                now: Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
            )
            state.answers[path, default: [:]][request.method] = made
            return made
        }
    }
}

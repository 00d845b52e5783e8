import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import Synchronization

/// A vendor that costs nothing: its simulator answers the first request to each path, later ones get the same answer.
///
/// It is looked at by bytes, and is of no generic type: what the vendor costs is no part of what is measured.
final class Parrot: Transport {
    private struct Answer {
        let method: String
        /// What the address begins with, up to its query.
        let start: [UInt8]
        let response: WireResponse

        func isMeant(by request: WireRequest) -> Bool {
            guard request.method == method else { return false }
            var url = request.url
            return url.withUTF8 { url in
                guard url.count >= start.count, url.count == start.count || url[start.count] == Parrot.queryMark,
                    let place = url.baseAddress
                else { return false }
                return memcmp(place, start, start.count) == 0
            }
        }
    }

    private struct State {
        let ask: (WireRequest) -> WireResponse
        /// The one given last comes first.
        var answers: [Answer] = []
        /// The time of the first request since the last `listen`.
        var firstRequest: ContinuousClock.Instant?
    }

    private static let queryMark = UInt8(ascii: "?")
    private let state: Mutex<State>

    init(_ simulator: some VendorSimulator) { state = Mutex(Self.begin(simulator)) }

    private static func begin<Simulator: VendorSimulator>(_ simulator: Simulator) -> State {
        var vendor = simulator.initialState
        return State { request in
            simulator.respond(
                to: request,
                state: &vendor,
                now: Instant(milliseconds: Int64(Date.now.timeIntervalSince1970 * 1000))
            )
        }
    }

    /// Begins to listen for the first request.
    func listen() { state.withLock { $0.firstRequest = nil } }

    /// When the first request since the last `listen` arrived.
    var firstRequest: ContinuousClock.Instant? { state.withLock { $0.firstRequest } }

    func send(_ request: WireRequest, timeout: Duration) async -> Outcome { .replied(answer(request)) }

    func answer(_ request: WireRequest) -> WireResponse {
        state.withLock { state in
            if state.firstRequest == nil { state.firstRequest = .now }
            if let place = state.answers.firstIndex(where: { $0.isMeant(by: request) }) {
                state.answers.swapAt(0, place)
            } else {
                let start = Array(request.url.utf8.prefix { $0 != Self.queryMark })
                let made = Answer(method: request.method, start: start, response: state.ask(request))
                state.answers.insert(made, at: 0)
            }
            return state.answers[0].response
        }
    }
}

import PatchbayAdapterKit

/// What happens on the socket.
enum HTTPAnswer: Sendable {
    /// This response, perhaps late.
    case reply(WireResponse, delayMilliseconds: Int = 0)
    /// Nothing, and the connection ends in order.
    case close
    /// Nothing, and the connection is reset.
    case reset
    /// Nothing, until the client leaves or the daemon stops.
    case hang

    /// The response's status, if there is one.
    var status: Int? { if case .reply(let response, _) = self { response.status } else { nil } }
}

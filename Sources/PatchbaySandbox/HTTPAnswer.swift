import PatchbayAdapterKit

/// The server's action on the socket.
enum HTTPAnswer: Sendable {
    /// Sends a response, optionally after a delay.
    case reply(WireResponse, delayMilliseconds: Int = 0)
    /// Closes the connection properly, without a response.
    case close
    /// Resets the connection, without a response.
    case reset
    /// Sends nothing until the client disconnects or the daemon stops.
    case hang

    /// The response's status, if there is one.
    var status: Int? { if case .reply(let response, _) = self { response.status } else { nil } }
}

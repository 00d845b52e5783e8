import PatchbayAdapterKit

/// One request as it came over the socket.
struct HTTPRequest: Sendable {
    let method: String
    /// `http://127.0.0.1:port`, without a slash at the end.
    let origin: String
    let target: RequestTarget
    let headers: [WireHeader]
    let body: [UInt8]
    /// The body went over the limit; it was read to its end and thrown away.
    let isTooLarge: Bool
}

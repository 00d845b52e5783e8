import PatchbayAdapterKit

/// A request as it was received on the socket.
struct HTTPRequest: Sendable {
    let method: String
    /// `http://127.0.0.1:port`, without a slash at the end.
    let origin: String
    let target: RequestTarget
    let headers: [WireHeader]
    let body: [UInt8]
    /// Whether the body exceeded the limit. Such a body is read to its end and discarded.
    let isTooLarge: Bool

    /// Returns the first header with a name, compared without regard to case.
    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}

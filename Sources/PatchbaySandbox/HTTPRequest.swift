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

    /// The first header of a name, whatever its case.
    func header(_ name: String) -> String? { headers.first { $0.name.lowercased() == name.lowercased() }?.value }
}

public import PatchbayJSON

/// A header line.
public struct WireHeader: Hashable, Sendable, Codable {
    /// The name, in the vendor's spelling.
    public var name: String
    /// The value.
    public var value: String
    /// Whether the value is a credential, which is never shown or stored.
    public var isSecret: Bool

    /// Creates a header line.
    @inlinable public init(_ name: String, _ value: String, isSecret: Bool = false) {
        (self.name, self.value, self.isSecret) = (name, value, isSecret)
    }
}

/// An HTTP request in its final form.
public struct WireRequest: Hashable, Sendable {
    /// The method in upper case.
    public var method: String
    /// The absolute URL, percent-encoded.
    public var url: String
    /// The header lines, in order.
    public var headers: [WireHeader]
    /// The body; empty if there is none.
    public var body: [UInt8]
    /// Whether the body contains a credential, which is never shown or stored.
    public var hidesBody: Bool
    /// The maximum number of bytes in the reply's uncompressed body. A longer reply counts as no reply.
    public var replyLimit: Int

    /// The default reply limit: 4 MiB, far above most replies.
    public static let usualReplyLimit = 4 << 20

    /// Creates a request.
    public init(
        _ method: String,
        _ url: String,
        headers: [WireHeader] = [],
        body: [UInt8] = [],
        hidesBody: Bool = false,
        replyLimit: Int = usualReplyLimit
    ) {
        (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        (self.hidesBody, self.replyLimit) = (hidesBody, replyLimit)
    }

    /// The value of the first header with a name, compared without regard to case.
    public subscript(header name: String) -> String? { headers.value(of: name) }

    /// The body as JSON; nil if it is not JSON.
    public var json: JSONValue? { try? JSONValue(parsing: body) }

    /// The request without the values of secret headers and without a secret body, for journals and display.
    public var redacted: WireRequest {
        var copy = self
        if hidesBody { copy.body = Array("•••".utf8) }
        for place in copy.headers.indices where copy.headers[place].isSecret { copy.headers[place].value = "•••" }
        return copy
    }
}

extension WireRequest: CustomStringConvertible {
    /// The method, the host, and the size of the body. It contains no personal data, which may occur in a path.
    public var description: String {
        let path = URLText.path(of: url)
        let host = url.prefix { $0 != "?" && $0 != "#" }
        return "\(method) \(host.hasSuffix(path) ? host.dropLast(path.count) : host) (\(body.count) bytes)"
    }
}

/// An HTTP response.
public struct WireResponse: Hashable, Sendable {
    /// The status code.
    public var status: Int
    /// The header lines.
    public var headers: [WireHeader]
    /// The body; empty if there is none.
    public var body: [UInt8]

    /// Creates a response.
    public init(_ status: Int, headers: [WireHeader] = [], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }

    /// Creates a response with a JSON body and its content type.
    public init(_ status: Int, headers: [WireHeader] = [], json: JSONValue) {
        self.init(
            status,
            headers: headers + [WireHeader("Content-Type", "application/json")],
            body: Array(json.text.utf8)
        )
    }

    /// The value of the first header with a name, compared without regard to case.
    public subscript(header name: String) -> String? { headers.value(of: name) }

    /// The body as JSON; nil if it is not JSON.
    public var json: JSONValue? { try? JSONValue(parsing: body) }

    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }
}

extension WireResponse: CustomStringConvertible {
    /// The status and the size of the body.
    public var description: String { "HTTP \(status) (\(body.count) bytes)" }
}

extension [WireHeader] {
    fileprivate func value(of name: String) -> String? {
        first { $0.name.isSameName(as: name) }?.value
    }
}

extension String {
    /// Whether two header names are equal without regard to ASCII case (RFC 9110).
    fileprivate func isSameName(as other: String) -> Bool {
        guard utf8.count == other.utf8.count else { return false }
        var letters = other.utf8.makeIterator()
        for left in utf8 {
            guard let right = letters.next(), left == right || left ^ right == 0x20 else { return false }
            guard left == right || (0x61...0x7A).contains(left | 0x20) else { return false }
        }
        return true
    }
}

/// The outcome of an exchange.
public enum Outcome: Hashable, Sendable {
    /// The vendor replied.
    case replied(WireResponse)
    /// There is no reply.
    case failed(TransportFailure)

    /// The reply, if there is one.
    public var reply: WireResponse? { if case .replied(let response) = self { response } else { nil } }

    /// Whether the process ended while the request was in flight.
    public var isInterrupted: Bool {
        if case .failed(let failure) = self { failure.delivery == .interrupted } else { false }
    }
}

/// The reason why there is no reply.
public struct TransportFailure: Hashable, Sendable {
    /// Whether the vendor may have processed the request.
    public enum Delivery: String, Hashable, Sendable, CaseIterable {
        /// Certainly not processed.
        case notSent
        /// Possibly processed.
        case lost
        /// Possibly processed; the process died meanwhile.
        case interrupted
    }

    /// Whether the vendor may have processed the request.
    public var delivery: Delivery
    /// The transport's name for the failure: `timedOut`, `hostNotFound`, …. The list is open.
    public var code: String
    /// The reason why the request was not sent; nil if the failure is in the network or at the vendor.
    public let fault: WireFault?

    /// Creates a failure in the network or at the vendor.
    public init(_ delivery: Delivery, _ code: String) {
        (self.delivery, self.code) = (delivery, code)
        fault = nil
    }

    /// Creates a failure for a request that was not sent.
    public init(_ fault: WireFault) {
        (delivery, code) = (.notSent, fault.rawValue)
        self.fault = fault
    }

    /// The remedy for a request that was not sent; nil if the failure is in the network or at the vendor.
    public var remedy: String? { fault?.remedy }
}

extension TransportFailure: CustomStringConvertible {
    /// The code, and the remedy if there is one.
    public var description: String { [code, remedy].compactMap { $0 }.joined(separator: ": ") }
}

public import PatchbayJSON

/// One header line.
public struct WireHeader: Hashable, Sendable, Codable {
    /// The name, spelt as the vendor spells it.
    public var name: String
    /// The value.
    public var value: String
    /// Whether the value is a credential: never shown, never stored.
    public var isSecret: Bool

    /// Creates a header line.
    @inlinable public init(_ name: String, _ value: String, isSecret: Bool = false) {
        (self.name, self.value, self.isSecret) = (name, value, isSecret)
    }
}

/// An HTTP request as its bytes leave.
public struct WireRequest: Hashable, Sendable {
    /// The method, upper case.
    public var method: String
    /// The absolute URL, percent-encoded.
    public var url: String
    /// The header lines, in order.
    public var headers: [WireHeader]
    /// The body; empty for none.
    public var body: [UInt8]
    /// Whether the body holds a credential: never shown, never stored.
    public var hidesBody: Bool
    /// The most bytes of a reply's body that are taken, unpacked; a longer reply is no answer.
    public var replyLimit: Int

    /// What most replies stay far below: 4 MiB.
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

    /// The value of the first header of that name, whatever its case.
    public subscript(header name: String) -> String? { headers.value(of: name) }

    /// The body as JSON, if it is JSON.
    public var json: JSONValue? { try? JSONValue(parsing: body) }

    /// The same request without the values of secret headers and without a secret body, for a journal or a person's eyes.
    public var redacted: WireRequest {
        var copy = self
        if hidesBody { copy.body = Array("•••".utf8) }
        for place in copy.headers.indices where copy.headers[place].isSecret { copy.headers[place].value = "•••" }
        return copy
    }
}

extension WireRequest: CustomStringConvertible {
    /// Method, host and the body's size: nothing of a person, whose identifier may stand in a path.
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
    /// The body; empty for none.
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

    /// The value of the first header of that name, whatever its case.
    public subscript(header name: String) -> String? { headers.value(of: name) }

    /// The body as JSON, if it is JSON.
    public var json: JSONValue? { try? JSONValue(parsing: body) }

    /// Whether the status is 200 to 299.
    public var isSuccess: Bool { (200...299).contains(status) }
}

extension WireResponse: CustomStringConvertible {
    /// Status and the body's size.
    public var description: String { "HTTP \(status) (\(body.count) bytes)" }
}

extension [WireHeader] {
    fileprivate func value(of name: String) -> String? {
        first { $0.name.isSameName(as: name) }?.value
    }
}

extension String {
    /// Whether two names of headers are one, whatever their case (RFC 9110: ASCII).
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

/// How an exchange ended.
public enum Outcome: Hashable, Sendable {
    /// The vendor answered.
    case replied(WireResponse)
    /// No answer.
    case failed(TransportFailure)

    /// The answer, if there is one.
    public var reply: WireResponse? { if case .replied(let response) = self { response } else { nil } }

    /// Whether the process ended while the request was in flight.
    public var isInterrupted: Bool {
        if case .failed(let failure) = self { failure.delivery == .interrupted } else { false }
    }
}

/// Why there is no answer.
public struct TransportFailure: Hashable, Sendable {
    /// What may have happened at the vendor.
    public enum Delivery: String, Hashable, Sendable, CaseIterable {
        /// Surely not processed.
        case notSent
        /// Perhaps processed.
        case lost
        /// Perhaps processed, and this process died.
        case interrupted
    }

    /// What may have happened at the vendor.
    public var delivery: Delivery
    /// The transport's word for it: `timedOut`, `hostNotFound` …. An open list.
    public var code: String
    /// What kept the request from leaving; nil where the network or the vendor is to blame, whatever the word for it is.
    public let fault: WireFault?

    /// Creates a failure of the network or the vendor.
    public init(_ delivery: Delivery, _ code: String) {
        (self.delivery, self.code) = (delivery, code)
        fault = nil
    }

    /// Creates a request that was not let out.
    public init(_ fault: WireFault) {
        (delivery, code) = (.notSent, fault.rawValue)
        self.fault = fault
    }

    /// What to do about a request that was not let out; nil where the network or the vendor is to blame.
    public var remedy: String? { fault?.remedy }
}

extension TransportFailure: CustomStringConvertible {
    /// The code, and the remedy where there is one.
    public var description: String { [code, remedy].compactMap { $0 }.joined(separator: ": ") }
}

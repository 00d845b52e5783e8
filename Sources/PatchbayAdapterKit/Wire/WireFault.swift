/// The reason why a request must not be sent. A transport checks it before sending the first byte.
public enum WireFault: String, Hashable, Sendable, CaseIterable {
    /// The method is not a valid token.
    case badMethod
    /// The URL is not an absolute web address.
    case badURL
    /// The URL's scheme is neither `https` nor `http`.
    case unsupportedURL
    /// The URL would carry the request unencrypted over a network.
    case insecureURL
    /// The URL's path contains `.` or `..`.
    case climbingURL
    /// The name or value of a header contains a line break or another control character.
    case badHeader

    /// The remedy.
    public var remedy: String {
        switch self {
        case .badMethod, .badURL, .unsupportedURL: "Report it to the adapter's author."
        case .insecureURL: "Use https://. Plain http:// is for this machine alone: localhost, 127.0.0.1 or [::1]."
        case .climbingURL: "Refuse identifiers that are \".\" or \"..\" where they become a part of a path."
        case .badHeader: "Refuse line breaks in texts that become a header."
        }
    }
}

extension WireRequest {
    /// The reason why the request must not be sent; nil if it may be sent.
    public var fault: WireFault? {
        guard !method.isEmpty, method.utf8.allSatisfy({ (0x41...0x5A).contains($0) }) else { return .badMethod }
        guard let address = WebAddress(url) else { return .badURL }
        guard ["https", "http"].contains(address.scheme) else { return .unsupportedURL }
        guard address.isPrivate else { return .insecureURL }
        guard !address.climbs else { return .climbingURL }
        return headers.allSatisfy(\.isWellFormed) ? nil : .badHeader
    }
}

extension WireHeader {
    /// Whether the header cannot be misread as another one: its name is a token (RFC 9110), and its value has no control
    /// characters.
    public var isWellFormed: Bool {
        !name.isEmpty && name.utf8.allSatisfy(WireHeader.isToken)
            && value.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F || $0 == 0x09 }
    }

    private static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

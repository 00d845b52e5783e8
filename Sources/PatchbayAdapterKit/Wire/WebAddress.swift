/// A parsed web address (RFC 3986). Parsing is strict, so that no two parsers can find different hosts in it.
///
/// Text that is not percent-encoded, a name or password before the host, and a backslash are rejected, because attackers use
/// them to make parsers disagree about the host.
public struct WebAddress: Hashable, Sendable {
    /// The scheme, in lower case: `https`.
    public let scheme: String
    /// The host, in lower case; an IPv6 address without its brackets.
    public let host: String
    /// The part after the host and port, up to the query or fragment.
    public let path: String
    /// Whether the address has a query or a fragment.
    public let hasQueryOrFragment: Bool

    /// Creates an absolute address with a host; nil if the text is invalid.
    public init?(_ text: String) {
        guard text.utf8.allSatisfy(WebAddress.isAllowed), let mark = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<mark.lowerBound]
        guard let first = scheme.first, first.isLetter, scheme.allSatisfy({ $0.isLetter || $0.isNumber }) else {
            return nil
        }
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { !"/?#".contains($0) }
        guard let host = WebAddress.host(of: authority) else { return nil }
        (self.scheme, self.host) = (scheme.lowercased(), host.lowercased())
        path = String(rest.dropFirst(authority.count).prefix { !"?#".contains($0) })
        hasQueryOrFragment = rest.contains { "?#".contains($0) }
    }

    /// Whether the host is this machine: `localhost`, 127.0.0.0/8, or `::1`, written in full.
    public var isLoopback: Bool {
        if host == "localhost" || host == "::1" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0).map(String.init) == String($0) }
    }

    /// Whether the connection cannot be read by third parties: `https`, or this machine.
    public var isPrivate: Bool { scheme == "https" || isLoopback }

    /// Whether the address has no path, query or fragment.
    public var isOrigin: Bool { path.isEmpty && !hasQueryOrFragment }

    /// Returns the schema pattern for an address that is private and has no fragment. `allowsQuery` states whether it may have
    /// a query.
    static func pattern(allowsQuery: Bool) -> String {
        "^(https://[^/@?#]+|http://(localhost|127(\\.[0-9]{1,3}){3}|\\[::1\\])(:[0-9]+)?)"
            + (allowsQuery ? "([/?][^#]*)?$" : "(/[^?#]*)?$")
    }

    /// Whether a path segment is `.` or `..`, plain or encoded, so that the path leads to a parent folder.
    public var climbs: Bool {
        path.split(separator: "/").contains { segment in
            [".", ".."].contains(segment.lowercased().replacing("%2e", with: "."))
        }
    }

    /// Returns the host of an authority without user information; nil if its port is invalid.
    private static func host(of authority: Substring) -> String? {
        guard !authority.contains("@") else { return nil }
        let isBracketed = authority.hasPrefix("[")
        let end = isBracketed ? authority.firstIndex(of: "]") : authority.firstIndex(of: ":") ?? authority.endIndex
        guard let end else { return nil }
        let host = isBracketed ? authority[authority.index(after: authority.startIndex)..<end] : authority[..<end]
        let port = isBracketed ? authority[authority.index(after: end)...] : authority[end...]
        let isName = { (letter: Character) in
            letter.isLetter || letter.isNumber || (isBracketed ? ":." : "-._~").contains(letter)
        }
        guard !host.isEmpty, host.allSatisfy(isName) else { return nil }
        let digits = port.dropFirst()
        guard digits.allSatisfy(\.isNumber), port.isEmpty || port.first == ":" && UInt16(digits) ?? 0 > 0 else {
            return nil
        }
        return String(host)
    }

    /// Whether RFC 3986 allows the ASCII byte in an address.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && !"\"<>\\^`{|}".utf8.contains(byte)
    }
}

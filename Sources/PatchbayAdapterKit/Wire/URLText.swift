/// Percent-encoding for parts of a URL (RFC 3986): letters, digits, `-`, `.`, `_` and `~` stay, all else is encoded.
///
/// `+`, `/`, `=` and `&` are always encoded, so that a token goes through any server's query parser unharmed.
public enum URLText: Sendable {
    /// One path segment, query name or query value; `literal` stands for itself, too.
    public static func encode(_ text: String, leaving literal: Unicode.Scalar? = nil) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 2)
        append(text, leaving: literal, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// A query of these items, in order; an item without a value is left out. Empty without items, else with its `?`.
    public static func query(_ items: [(name: String, value: String?)], leaving literal: Unicode.Scalar? = nil)
        -> String
    {
        var query: [UInt8] = []
        query.reserveCapacity(128)
        for case (let name, let value?) in items {
            query.append(query.isEmpty ? UInt8(ascii: "?") : UInt8(ascii: "&"))
            append(name, to: &query)
            query.append(UInt8(ascii: "="))
            append(value, leaving: literal, to: &query)
        }
        return String(decoding: query, as: UTF8.self)
    }

    private static func append(_ text: String, leaving literal: Unicode.Scalar? = nil, to bytes: inout [UInt8]) {
        func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
        for byte in text.utf8 {
            if isUnreserved(byte) || UInt32(byte) == literal?.value {
                bytes.append(byte)
            } else {
                bytes.append(0x25)
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 15))
            }
        }
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// A path whose names in braces give way to values, encoded: `/apps/{app}/client`. A name without a value stays.
    public static func path(_ template: String, _ value: (_ name: String) -> String?) -> String {
        var path: [UInt8] = []
        path.reserveCapacity(128)
        var template = template
        template.withUTF8 { text in
            var start = 0
            while let open = text[start...].firstIndex(of: UInt8(ascii: "{")),
                let close = text[open...].firstIndex(of: UInt8(ascii: "}"))
            {
                let name = String(decoding: text[(open + 1)..<close], as: UTF8.self)
                let given = value(name)
                path.append(contentsOf: text[start..<(given == nil ? close + 1 : open)])
                if let given { append(given, to: &path) }
                start = close + 1
            }
            path.append(contentsOf: text[start...])
        }
        return String(decoding: path, as: UTF8.self)
    }

    /// The text that was encoded; nil if a percent sign is not followed by two hexadecimal digits or the bytes are not UTF-8.
    public static func decode(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == 0x25 else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexDigit), let low = rest.popFirst().flatMap(hexDigit) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    /// The query items of a URL, decoded, in order.
    public static func queryItems(of url: String) -> [(name: String, value: String)] {
        guard let mark = url.firstIndex(of: "?") else { return [] }
        let query = url[url.index(after: mark)...].prefix { $0 != "#" }
        return query.split(separator: "&").compactMap { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = decode(parts[0]), let value = decode(parts.count == 2 ? parts[1] : "") else { return nil }
            return (name, value)
        }
    }

    /// The path of an absolute URL, without query; `/` at least.
    public static func path(of url: String) -> String {
        func isEnd(_ byte: UInt8) -> Bool { byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#") }
        let text = url.utf8
        let slash = UInt8(ascii: "/")
        let scheme = text.indices.first { text[$0] == UInt8(ascii: ":") && text[$0...].starts(with: "://".utf8) }
        guard let scheme else { return String(Substring(text.prefix { !isEnd($0) })) }
        let path = text[scheme...].dropFirst(3).drop { $0 != slash && $0 != UInt8(ascii: "?") }.prefix { !isEnd($0) }
        return path.isEmpty ? "/" : String(Substring(path))
    }

    private static func hexDigit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x37
        case 0x61...0x66: byte - 0x57
        default: nil
        }
    }
}

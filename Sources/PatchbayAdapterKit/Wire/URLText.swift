/// Percent-encoding for parts of a URL (RFC 3986). Letters, digits, `-`, `.`, `_`, and `~` stay; all other characters are
/// encoded.
///
/// `+`, `/`, `=`, and `&` are always encoded, so that every server's query parser returns a token unchanged.
public enum URLText: Sendable {
    /// Encodes a path segment, query name, or query value. `literal` is not encoded either.
    public static func encode(_ text: String, leaving literal: Unicode.Scalar? = nil) -> String {
        if text.utf8.allSatisfy(isUnreserved) { return text }
        var encoded: [UInt8] = []
        encoded.reserveCapacity(text.utf8.count * 2)
        append(text, leaving: literal.map { UInt8(ascii: $0) }, to: &encoded)
        return String(decoding: encoded, as: UTF8.self)
    }

    /// Returns a query of these items, in order, with its `?`. Items without a value are omitted. Empty if there are no items.
    public static func query(_ items: [(name: String, value: String?)], leaving literal: Unicode.Scalar? = nil)
        -> String
    {
        var query = Query(leaving: literal)
        for case (let name, let value?) in items { query.append(name, value) }
        return query.text
    }

    /// A query that is built item by item, optionally after an address.
    public struct Query: Sendable {
        private var bytes: [UInt8]
        private let literal: UInt8?
        private var mark = UInt8(ascii: "?")

        /// Creates a query without items after an address that has none, and an optional path. `literal`, an ASCII character,
        /// is not encoded in values.
        public init(after address: String = "", _ path: String = "", leaving literal: Unicode.Scalar? = nil) {
            self.literal = literal.map { UInt8(ascii: $0) }
            bytes = []
            bytes.reserveCapacity(address.utf8.count + path.utf8.count + 192)
            bytes.append(contentsOf: address.utf8)
            bytes.append(contentsOf: path.utf8)
        }

        /// Adds an item.
        public mutating func append(_ name: String, _ value: String) {
            URLText.append(name, after: mark, to: &bytes)
            mark = UInt8(ascii: "&")
            URLText.append(value, after: UInt8(ascii: "="), leaving: literal, to: &bytes)
        }

        /// The address and the query.
        public var text: String { String(decoding: bytes, as: UTF8.self) }
    }

    /// Appends a text, encoded, preceded by `mark` if there is one.
    private static func append(
        _ text: String,
        after mark: UInt8? = nil,
        leaving literal: UInt8? = nil,
        to bytes: inout [UInt8]
    ) {
        var text = text
        text.withUTF8 { text in
            // An encoded byte takes three bytes, and the mark one.
            bytes.append(addingCapacity: 3 * text.count + 1) { room in
                room.withUnsafeMutableBufferPointer { room, count in
                    func put(_ byte: UInt8) {
                        room[count] = byte
                        count += 1
                    }
                    if let mark { put(mark) }
                    for byte in text {
                        if isUnreserved(byte) || byte == literal {
                            put(byte)
                        } else {
                            put(0x25)
                            put(digit(byte >> 4))
                            put(digit(byte & 15))
                        }
                    }
                }
            }
        }
    }

    private static func digit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x2E, 0x5F, 0x7E: true
        default: false
        }
    }

    /// Returns a path with the names in braces replaced by encoded values: `/apps/{app}/client`. A name without a value stays.
    public static func path(_ template: String, _ value: (_ name: String) -> String?) -> String {
        Template(template).text(value)
    }

    /// A path with names in braces, parsed once for many requests.
    public struct Template: Sendable, Hashable {
        /// The path as it was given.
        public let path: String
        /// Text and the name in braces that follows it; the last name is nil.
        private let parts: [Part]

        private struct Part: Sendable, Hashable {
            let text: String
            let name: String?
        }

        /// Creates a template from a path with names in braces.
        public init(_ path: String) {
            self.path = path
            var parts: [Part] = []
            var rest = path.utf8[...]
            while let open = rest.firstIndex(of: UInt8(ascii: "{")),
                let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
            {
                let name = rest[rest.index(after: open)..<close]
                parts.append(Part(text: String(Substring(rest[..<open])), name: String(Substring(name))))
                rest = rest[rest.index(after: close)...]
            }
            self.parts = parts + [Part(text: String(Substring(rest)), name: nil)]
        }

        /// Returns the template with some of the names replaced by encoded values.
        public func filling(_ value: (_ name: String) -> String?) -> Template { Template(text(value)) }

        /// Returns the path after an address, with the names replaced by encoded values. A name without a value stays.
        public func text(after address: String = "", _ value: (_ name: String) -> String?) -> String {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(address.utf8.count + path.utf8.count + 128)
            bytes.append(contentsOf: address.utf8)
            for place in parts.indices {
                bytes.append(contentsOf: parts[place].text.utf8)
                guard let name = parts[place].name else { continue }
                if let given = value(name) {
                    URLText.append(given, to: &bytes)
                } else {
                    bytes.append(contentsOf: "{\(name)}".utf8)
                }
            }
            return String(decoding: bytes, as: UTF8.self)
        }
    }

    /// Returns the decoded text; nil if a percent sign is not followed by two hexadecimal digits, or the bytes are not UTF-8.
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

    /// Returns the query items of a URL, decoded, in order.
    public static func queryItems(of url: String) -> [(name: String, value: String)] {
        let bytes = url.utf8
        guard let mark = bytes.firstIndex(of: UInt8(ascii: "?")) else { return [] }
        let query = bytes[bytes.index(after: mark)...].prefix { $0 != UInt8(ascii: "#") }
        return query.split(separator: UInt8(ascii: "&")).compactMap { pair in
            let end = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = decode(Substring(pair[..<end])), let value = decode(Substring(pair[end...].dropFirst()))
            else { return nil }
            return (name, value)
        }
    }

    /// Returns the path of an absolute URL, without the query; `/` if it is empty.
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

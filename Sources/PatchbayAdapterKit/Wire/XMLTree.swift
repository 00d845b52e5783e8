public import PatchbayJSON

/// An element of a small XML document, as some vendors use it: a name with a text or child elements.
///
/// The parser accepts a strict subset: elements, text, the five predefined entities, character references, CDATA, and comments.
/// It ignores attributes. It rejects a document type, any other entity, a processing instruction, and everything that is not
/// well-formed. The writer writes no attributes.
public struct XMLTree: Hashable, Sendable {
    /// The name of the element.
    public var name: String
    /// The text of the element, without that of its children.
    public var text: String
    /// The child elements, in order.
    public var children: [XMLTree]
    /// The byte offset of the element in the parsed document, for messages. It does not take part in comparisons.
    public private(set) var offset = 0

    public static func == (one: XMLTree, other: XMLTree) -> Bool {
        (one.name, one.text, one.children) == (other.name, other.text, other.children)
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(text)
        hasher.combine(children)
    }

    /// Creates an element.
    public init(_ name: String, _ text: String = "", _ children: [XMLTree] = []) {
        (self.name, self.text, self.children) = (name, text, children)
    }

    /// Returns the elements for a JSON value: one for each item of an array, one with children for an object, otherwise one
    /// with text.
    public static func elements(_ name: String, _ json: JSONValue) -> [XMLTree] {
        switch json {
        case .array(let values): values.flatMap { elements(name, $0) }
        case .object(let object): [XMLTree(name, "", object.flatMap { elements($0.name, $0.value) })]
        case .string(let text): [XMLTree(name, text)]
        case .null: [XMLTree(name)]
        case .bool, .number: [XMLTree(name, json.text)]
        }
    }

    /// The first child element with a name.
    public subscript(name: String) -> XMLTree? { children.first { $0.name == name } }

    /// Returns all child elements with a name.
    public func all(_ name: String) -> [XMLTree] { children.filter { $0.name == name } }

    // MARK: Writing

    /// Whether XML 1.0 can represent every character of a text. It cannot represent most control characters.
    public static func canHold(_ text: String) -> Bool {
        // Fast path: characters that XML cannot represent are below the space, or begin with EF.
        if text.allBytes({ $0 >= 0x20 && $0 != 0xEF }) { return true }
        return text.unicodeScalars.allSatisfy(canHold)
    }

    fileprivate static func canHold(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x9, 0xA, 0xD, 0x20...0xD7FF, 0xE000...0xFFFD, 0x10000...0x10FFFF: true
        default: false
        }
    }

    /// The document in UTF-8, without a declaration. Characters that XML cannot represent are omitted from texts.
    public var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(512)
        write(to: &bytes)
        return bytes
    }

    /// Returns a text as element content, without characters that XML cannot represent.
    public static func escaped(_ text: String) -> String {
        var bytes: [UInt8] = []
        write(text, to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private func write(to bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "<"))
        bytes.append(contentsOf: name.utf8)
        if text.isEmpty, children.isEmpty { return bytes.append(contentsOf: "/>".utf8) }
        bytes.append(UInt8(ascii: ">"))
        Self.write(text, to: &bytes)
        for child in children { child.write(to: &bytes) }
        bytes.append(contentsOf: "</".utf8)
        bytes.append(contentsOf: name.utf8)
        bytes.append(UInt8(ascii: ">"))
    }

    private static func write(_ text: String, to bytes: inout [UInt8]) {
        if text.allBytes({ $0 >= 0x20 && $0 != 0xEF && $0 != 0x26 && $0 != 0x3C && $0 != 0x3E }) {
            bytes.append(contentsOf: text.utf8)
        } else {
            for scalar in text.unicodeScalars { write(scalar, to: &bytes) }
        }
    }

    private static func write(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
        switch scalar {
        case "&": bytes.append(contentsOf: "&amp;".utf8)
        case "<": bytes.append(contentsOf: "&lt;".utf8)
        case ">": bytes.append(contentsOf: "&gt;".utf8)
        // A literal carriage return would be read as a line break.
        case "\r": bytes.append(contentsOf: "&#13;".utf8)
        default:
            if canHold(scalar) { bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter) }
        }
    }

    // MARK: Reading

    /// Limits on the documents that are parsed.
    public struct Limits: Sendable {
        /// The maximum number of bytes.
        public var bytes = 1 << 20
        /// The maximum nesting depth of elements.
        public var depth = 16
        /// The maximum number of elements.
        public var elements = 20_000

        /// Creates the default limits, which are far above any documented vendor reply.
        public init() {}
    }

    /// Creates the root element of a document; nil if the bytes are not a valid document or exceed a limit.
    public init?(parsing bytes: [UInt8], limits: Limits = Limits()) {
        guard case .success(let root) = Self.read(bytes, limits: limits) else { return nil }
        self = root
    }

    /// The reason why bytes are not a valid document, or are not accepted.
    public struct Fault: Error, Hashable, Sendable {
        /// The problem, without any text of the document.
        public let reason: String
        /// The byte offset of the problem.
        public let offset: Int
    }

    /// Returns the root element of a document, or the problem and its position.
    public static func read(_ bytes: [UInt8], limits: Limits = Limits()) -> Result<XMLTree, Fault> {
        guard bytes.count <= limits.bytes else {
            return .failure(Fault(reason: "more than \(limits.bytes) bytes", offset: limits.bytes))
        }
        var reader = XMLReader(bytes: bytes, limits: limits)
        return reader.document().map(Result.success) ?? .failure(reader.fault)
    }

    /// Returns the line and the column of a byte offset, starting at 1. The column counts bytes.
    public static func place(of offset: Int, in bytes: [UInt8]) -> (line: Int, column: Int) {
        let before = bytes.prefix(offset)
        let line = before.reduce(1) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
        return (line, offset - (before.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0) + 1)
    }

    fileprivate init(_ name: String, _ text: String, _ children: [XMLTree], at offset: Int) {
        self.init(name, text, children)
        self.offset = offset
    }
}

extension FieldTable {
    /// Returns the record as an XML element. Records the rules of its fields as applied.
    public func xml(_ name: String, _ record: Record) -> XMLTree {
        var tree = XMLTree(name)
        forEach(of: record) { tree.children += XMLTree.elements($0, $1) }
        return tree
    }
}

/// A parser for one complete document.
private struct XMLReader {
    let bytes: [UInt8]
    let limits: XMLTree.Limits
    private var place = 0
    private var elements = 0
    /// The reason why parsing stopped, unless the document is simply not well-formed.
    private var reason: String?

    /// An element that is not closed yet. Its text is stored as bytes, because it may be split within a character.
    private struct Open {
        let name: [UInt8]
        let offset: Int
        var text: [UInt8] = []
        var children: [XMLTree] = []

        /// The finished element; nil if its text is not UTF-8.
        var tree: XMLTree? {
            guard let text = String(validating: text, as: UTF8.self) else { return nil }
            return XMLTree(String(decoding: name, as: UTF8.self), text, children, at: offset)
        }
    }

    init(bytes: [UInt8], limits: XMLTree.Limits) { (self.bytes, self.limits) = (bytes, limits) }

    /// The position and the reason of the failure. It is read only if there is no document.
    var fault: XMLTree.Fault {
        XMLTree.Fault(reason: reason ?? (place < bytes.count ? "not well-formed" : "it ends too early"), offset: place)
    }

    /// Records the reason for a declaration or an instruction at this position. Neither is accepted, even if well-formed.
    private mutating func refuse() {
        if isNext("!") { reason = "a document type or a declaration, which is not read" }
        if isNext("?") { reason = "a processing instruction, which is not read" }
    }

    mutating func document() -> XMLTree? {
        _ = take("\u{FEFF}")
        if isNext("<?xml"), !skip(past: "?>") { return nil }
        guard prolog(), let root = element() else { return nil }
        return prolog() && place == bytes.count ? root : nil
    }

    /// Skips white space and comments around the root.
    private mutating func prolog() -> Bool {
        while place < bytes.count {
            skipBlanks()
            guard isNext("<!--") else { return true }
            guard comment() else { return false }
        }
        return true
    }

    /// Parses an element and its content, without recursion, so that nesting cannot overflow the stack.
    private mutating func element() -> XMLTree? {
        var open: [Open] = []
        while true {
            guard place < bytes.count else { return nil }
            if bytes[place] != UInt8(ascii: "<") {
                guard !open.isEmpty, character(into: &open[open.count - 1].text) else { return nil }
            } else if isNext("<![CDATA[") {
                guard !open.isEmpty, data(into: &open[open.count - 1].text) else { return nil }
            } else if isNext("<!--") {
                guard !open.isEmpty, comment() else { return nil }
            } else if take("</") {
                guard let last = open.popLast(), name() == last.name, closes() else { return nil }
                guard let tree = last.tree else {
                    (reason, place) = ("not UTF-8", last.offset)
                    return nil
                }
                guard !open.isEmpty else { return tree }
                open[open.count - 1].children.append(tree)
            } else {
                guard take("<"), let begun = begin(depth: open.count) else { return nil }
                if !begun.isEmpty {
                    open.append(begun.element)
                } else if open.isEmpty {
                    return begun.element.tree
                } else if let tree = begun.element.tree {
                    open[open.count - 1].children.append(tree)
                }
            }
        }
    }

    /// Parses the name and the attributes up to the end of the tag.
    private mutating func begin(depth: Int) -> (element: Open, isEmpty: Bool)? {
        elements += 1
        let offset = place - 1
        if depth >= limits.depth { reason = "more than \(limits.depth) elements inside each other" }
        if elements > limits.elements { reason = "more than \(limits.elements) elements" }
        refuse()
        guard reason == nil, let name = name() else { return nil }
        while true {
            let start = place
            skipBlanks()
            if take("/>") { return (Open(name: name, offset: offset), true) }
            if take(">") { return (Open(name: name, offset: offset), false) }
            guard place > start, attribute() else { return nil }
        }
    }

    private mutating func attribute() -> Bool {
        guard name() != nil else { return false }
        skipBlanks()
        guard take("=") else { return false }
        skipBlanks()
        guard place < bytes.count, [UInt8(ascii: "\""), UInt8(ascii: "'")].contains(bytes[place]) else { return false }
        let quote = bytes[place]
        place += 1
        while place < bytes.count, bytes[place] != quote {
            if bytes[place] == UInt8(ascii: "<") { return false }
            place += 1
        }
        guard place < bytes.count else { return false }
        place += 1
        return true
    }

    private mutating func closes() -> Bool {
        skipBlanks()
        return take(">")
    }

    private mutating func name() -> [UInt8]? {
        let start = place
        while place < bytes.count, place - start <= 128, Self.isName(bytes[place], isFirst: place == start) {
            place += 1
        }
        return (1...128).contains(place - start) ? Array(bytes[start..<place]) : nil
    }

    private static func isName(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case 0x41...0x5A, 0x61...0x7A, 0x5F: true
        case 0x30...0x39, 0x2D, 0x2E, 0x3A: !isFirst
        default: false
        }
    }

    // MARK: Text

    /// Parses plain characters or a reference. Rejects characters that XML cannot represent.
    private mutating func character(into text: inout [UInt8]) -> Bool {
        let start = place
        while place < bytes.count, Self.isPlain(bytes[place]) { place += 1 }
        if place > start {
            text.append(contentsOf: bytes[start..<place])
            return true
        }
        let byte = bytes[place]
        if byte == UInt8(ascii: "&") { return reference(into: &text) }
        // "]]>" is only allowed at the end of CDATA.
        if isNext("]]>") { return false }
        return plain(byte, into: &text)
    }

    private static func isPlain(_ byte: UInt8) -> Bool { byte >= 0x20 && byte != 0x26 && byte != 0x3C && byte != 0x5D }

    private mutating func plain(_ byte: UInt8, into text: inout [UInt8]) -> Bool {
        place += 1
        // Every form of line break becomes one line feed.
        if byte == 0x0D {
            if place < bytes.count, bytes[place] == 0x0A { return true }
            text.append(0x0A)
            return true
        }
        text.append(byte)
        return byte >= 0x20 || byte == 0x09 || byte == 0x0A
    }

    private mutating func data(into text: inout [UInt8]) -> Bool {
        place += "<![CDATA[".utf8.count
        while place < bytes.count {
            if take("]]>") { return true }
            guard plain(bytes[place], into: &text) else { return false }
        }
        return false
    }

    private static let entities: [(StaticString, UInt8)] = [
        ("&lt;", 0x3C), ("&gt;", 0x3E), ("&amp;", 0x26), ("&quot;", 0x22), ("&apos;", 0x27),
    ]

    private mutating func reference(into text: inout [UInt8]) -> Bool {
        for (entity, byte) in Self.entities where take(entity) {
            text.append(byte)
            return true
        }
        guard take("&#") else {
            reason = "an entity that XML does not know by itself"
            return false
        }
        let radix = take("x") ? 16 : 10
        let start = place
        while place < bytes.count, place - start < 8, bytes[place] != UInt8(ascii: ";") { place += 1 }
        let digits = String(decoding: bytes[start..<place], as: UTF8.self)
        guard take(";"), digits.allSatisfy(\.isHexDigit), let number = UInt32(digits, radix: radix),
            let scalar = Unicode.Scalar(number), XMLTree.canHold(scalar)
        else { return false }
        text.append(contentsOf: String(scalar).utf8)
        return true
    }

    // MARK: Markup

    private mutating func comment() -> Bool {
        place += "<!--".utf8.count
        return skip(past: "-->")
    }

    private func isNext(_ mark: StaticString) -> Bool {
        let count = mark.utf8CodeUnitCount
        guard bytes.count - place >= count, bytes[place] == mark.utf8Start[0] else { return false }
        // The bytes of a static string are always available; `count` of them are read.
        for offset in 1..<max(1, count) where bytes[place + offset] != mark.utf8Start[offset] { return false }
        return true
    }

    private mutating func take(_ mark: StaticString) -> Bool {
        guard isNext(mark) else { return false }
        place += mark.utf8CodeUnitCount
        return true
    }

    private mutating func skip(past mark: StaticString) -> Bool {
        while place < bytes.count {
            if take(mark) { return true }
            place += 1
        }
        return false
    }

    private mutating func skipBlanks() {
        while place < bytes.count, bytes[place] <= 0x20, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) { place += 1 }
    }
}

import PatchbayJSON

/// A condition on the outcome of a request, as a plain value.
public indirect enum ReplyCondition: Hashable, Sendable, Codable {
    /// There is a reply, and its status is in a range.
    case status(ClosedRange<Int>)
    /// There is no reply.
    case noReply
    /// The reply is a web page (``WireResponse/isWebPage``).
    case webPage
    /// An intermediary replied instead of the vendor (``WireResponse/isDetour``).
    case detour
    /// The reply has a header.
    case header(String)
    /// A value of the JSON body passes a test. The path has dots, and `*` for each element of a list:
    /// `messages.*.code`. The empty path is the body.
    case json(String, JSONTest)
    /// An element of the XML body passes a test. The path has dots and begins with the document's element; of several
    /// elements with a name, the first counts.
    case xml(String, TextTest)
    /// The body has one of the texts, and this one is the first of them. Only the first 64 KiB are searched.
    case firstText(String, among: [String])
    /// All conditions hold; true for none.
    case all([ReplyCondition])
    /// One of the conditions holds; false for none.
    case any([ReplyCondition])
    /// The condition does not hold.
    case not(ReplyCondition)

    /// A test of a JSON value.
    public enum JSONTest: Hashable, Sendable, Codable {
        /// Every value passes.
        case exists
        /// The value is a string.
        case string
        /// The value is an object.
        case object
        /// The value is a list or an object that is not empty.
        case filled
        /// The value is this boolean.
        case flag(Bool)
        /// The value is a whole number, in one of the ranges if there are any.
        case number([ClosedRange<Int>])
        /// The value is one of these strings.
        case text([String])
        /// The value is a string that contains this text.
        case contains(String)
    }

    /// A test of an element's text. White space around the text does not count.
    public enum TextTest: Hashable, Sendable, Codable {
        /// Every element passes.
        case exists
        /// The text has digits only, at most 20, and its number is one of these.
        case number([Int])
        /// The text is this word, in any case.
        case word(String)
    }

    /// The status is 200 to 299.
    public static let success = ReplyCondition.status(200...299)

    /// Whether the condition holds for an outcome.
    public func holds(for outcome: Outcome) -> Bool {
        var body = ParsedBody(of: outcome.reply)
        return holds(for: &body)
    }

    func holds(for body: inout ParsedBody) -> Bool {
        switch self {
        case .status(let range): body.reply.map { range.contains($0.status) } ?? false
        case .noReply: body.reply == nil
        case .webPage: body.reply?.isWebPage ?? false
        case .detour: body.reply?.isDetour ?? false
        case .header(let name): body.reply?[header: name] != nil
        case .json(let path, let test): body.json.map { $0.values(at: path).contains(where: test.accepts) } ?? false
        case .xml(let path, let test): body.xml?.element(at: path).map(test.accepts) ?? false
        case .firstText(let text, let texts): body.first(of: texts) == text
        case .all(let conditions): conditions.allSatisfy { $0.holds(for: &body) }
        case .any(let conditions): conditions.contains { $0.holds(for: &body) }
        case .not(let condition): !condition.holds(for: &body)
        }
    }
}

/// The body of a reply, which is parsed and searched once for all conditions of a table.
struct ParsedBody {
    let reply: WireResponse?
    private(set) lazy var json = reply?.json
    private(set) lazy var xml = reply.flatMap { reply in
        // A body that begins so is JSON.
        "{[".utf8.contains(reply.body.first ?? UInt8(ascii: "{")) ? nil : XMLTree(parsing: reply.body)
    }
    /// The last search for texts, and what it found.
    private var search: (texts: [String], found: String?)?

    init(of reply: WireResponse?) { self.reply = reply }

    /// Returns the text that begins first in the body; nil if none is in it.
    mutating func first(of texts: [String]) -> String? {
        if let search, search.texts == texts { return search.found }
        let found = reply?.first(of: texts)
        search = (texts, found)
        return found
    }
}

extension ReplyCondition.JSONTest {
    func accepts(_ value: JSONValue) -> Bool {
        switch self {
        case .exists: true
        case .string: value.string != nil
        case .object: value.object != nil
        case .filled: value.array?.isEmpty == false || value.object?.isEmpty == false
        case .flag(let flag): value.bool == flag
        case .number(let ranges): value.integer.map { accepts($0, ranges) } ?? false
        case .text(let texts): value.string.map { texts.contains($0) } ?? false
        case .contains(let text): value.string.map { $0.contains(text) } ?? false
        }
    }

    private func accepts(_ number: Int64, _ ranges: [ClosedRange<Int>]) -> Bool {
        ranges.isEmpty || Int(exactly: number).map { number in ranges.contains { $0.contains(number) } } ?? false
    }
}

extension ReplyCondition.TextTest {
    func accepts(_ element: XMLTree) -> Bool {
        let text = element.text.trimmed
        return switch self {
        case .exists: true
        case .number(let numbers):
            text.utf8.count <= 20 && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
                && Int(text).map { numbers.contains($0) } ?? false
        case .word(let word): text.lowercased() == word.lowercased()
        }
    }
}

extension JSONValue {
    /// Returns the values at a path with dots, and `*` for each element of a list.
    func values(at path: String) -> [JSONValue] {
        path.split(separator: ".").reduce([self]) { values, name in
            name == "*" ? values.flatMap { $0.array ?? [] } : values.compactMap { $0[String(name)] }
        }
    }
}

extension XMLTree {
    /// Returns the element at a path, whose first name is that of this element.
    fileprivate func element(at path: String) -> XMLTree? {
        let names = path.split(separator: ".").map(String.init)
        return names.first == name ? names.dropFirst().reduce(self) { element, name in element?[name] } : nil
    }
}

extension WireResponse {
    /// Returns the text that begins first in the first 64 KiB of the body; nil if none is in it.
    public func first(of texts: [String]) -> String? {
        let candidates = texts.filter { !$0.isEmpty }.map { (text: $0, bytes: Array($0.utf8)) }
        let starts = Set(candidates.map(\.bytes[0]))
        return body.prefix(65_536).withUnsafeBufferPointer { bytes in
            for start in bytes.indices where starts.contains(bytes[start]) {
                let found = candidates.first { bytes[start...].starts(with: $0.bytes) }
                if let found { return found.text }
            }
            return nil
        }
    }
}

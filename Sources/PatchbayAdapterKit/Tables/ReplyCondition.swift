import PatchbayJSON

/// A condition on the outcome of a request, as a plain value.
public indirect enum ReplyCondition: Hashable, Sendable, Codable {
    /// There is a reply, and its status is in a range.
    case status(ClosedRange<Int>)
    /// There is no reply.
    case noReply
    /// The reply is a web page (``WireResponse/isWebPage``).
    case webPage
    /// The reply has a header.
    case header(String)
    /// A value of the JSON body passes a test. The path has dots, and `*` for each element of a list:
    /// `messages.*.code`. The empty path is the body.
    case json(String, ValueTest)
    /// An element of the XML body passes a test. The path has dots and begins with the document's element.
    case xml(String, ValueTest)
    /// The body has one of the texts, and this one is the first of them. Only the first 64 KiB are searched.
    case firstText(String, among: [String])
    /// All conditions hold; true for none.
    case all([ReplyCondition])
    /// One of the conditions holds; false for none.
    case any([ReplyCondition])
    /// The condition does not hold.
    case not(ReplyCondition)

    /// A test of a value in a body.
    public enum ValueTest: Hashable, Sendable, Codable {
        /// Every value passes.
        case exists
        /// The value is a JSON string.
        case string
        /// The value is a JSON object.
        case object
        /// The value is a list or an object that is not empty.
        case filled
        /// The value is this boolean.
        case flag(Bool)
        /// The value is a whole number, in one of the ranges if there are any. In XML, it is a text of digits.
        case number([ClosedRange<Int>])
        /// The value is a text that equals one of these. In XML, case and surrounding white space do not count.
        case text([String])
        /// The value is a text that contains this one.
        case contains(String)
    }

    /// The status is 200 to 299.
    public static let success = ReplyCondition.status(200...299)
    /// A web page with a success status, or a redirect (``WireResponse/isDetour``).
    public static let detour = any([all([success, webPage]), all([status(300...399), header("Location")])])

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
        case .header(let name): body.reply?[header: name] != nil
        case .json(let path, let test): body.json.map { $0.values(at: path).contains(where: test.accepts) } ?? false
        case .xml(let path, let test): body.xml.map { $0.elements(at: path).contains(where: test.accepts) } ?? false
        case .firstText(let text, let texts): body.reply.flatMap { $0.first(of: texts) } == text
        case .all(let conditions): conditions.allSatisfy { $0.holds(for: &body) }
        case .any(let conditions): conditions.contains { $0.holds(for: &body) }
        case .not(let condition): !condition.holds(for: &body)
        }
    }
}

/// The body of a reply, which is parsed once for all conditions of a table.
struct ParsedBody {
    let reply: WireResponse?
    private(set) lazy var json = reply?.json
    /// Nil for a body that is no XML.
    private(set) lazy var xml = reply.flatMap { reply in
        reply.body.first == UInt8(ascii: "<") ? XMLTree(parsing: reply.body) : nil
    }

    init(of reply: WireResponse?) { self.reply = reply }
}

extension ReplyCondition.ValueTest {
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

    func accepts(_ element: XMLTree) -> Bool {
        let text = element.text.trimmed
        return switch self {
        case .exists: true
        case .string: element.children.isEmpty
        case .object: !element.children.isEmpty
        case .filled: !element.children.isEmpty || !text.isEmpty
        case .flag(let flag): text.lowercased() == "\(flag)"
        case .number(let ranges):
            text.utf8.allSatisfy { (0x30...0x39).contains($0) } && Int64(text).map { accepts($0, ranges) } ?? false
        case .text(let texts): texts.contains { $0.lowercased() == text.lowercased() }
        case .contains(let part): text.contains(part)
        }
    }

    private func accepts(_ number: Int64, _ ranges: [ClosedRange<Int>]) -> Bool {
        ranges.isEmpty || Int(exactly: number).map { number in ranges.contains { $0.contains(number) } } ?? false
    }
}

extension JSONValue {
    /// Returns the values at a path.
    fileprivate func values(at path: String) -> [JSONValue] {
        path.split(separator: ".").reduce([self]) { values, name in
            name == "*" ? values.flatMap { $0.array ?? [] } : values.compactMap { $0[String(name)] }
        }
    }
}

extension XMLTree {
    /// Returns the elements at a path, whose first name is that of this element.
    fileprivate func elements(at path: String) -> [XMLTree] {
        let names = path.split(separator: ".").map(String.init)
        guard names.first == name else { return [] }
        return names.dropFirst().reduce([self]) { elements, name in elements.flatMap { $0.all(name) } }
    }
}

extension WireResponse {
    /// Returns the text that begins first in the body; nil if none is in it.
    fileprivate func first(of texts: [String]) -> String? {
        let start = body.prefix(65_536)
        let places = texts.compactMap { text in start.firstRange(of: Array(text.utf8)).map { (text, $0.lowerBound) } }
        return places.min { $0.1 < $1.1 }?.0
    }
}

import PatchbayJSON

/// A request that was answered. If the reply repeats text of the request, that text must not be stored as the vendor's own.
///
/// The comparison ignores case and decodes percent-encoded text. It ignores texts below ``shortest``, because they occur
/// everywhere.
struct AnsweredRequest {
    /// The length in bytes of the shortest text that is compared.
    static let shortest = 6
    /// The maximum length of a vendor's code or id.
    static let longest = 64
    /// The maximum number of different texts that are compared. Any further text of the vendor is treated as repeated.
    private static let mostWords = 64

    private let request: WireRequest
    private let ids: Set<String>
    private var said: Said?
    private var known: [String: Bool] = [:]

    /// Creates the request. An id that it carries at one of `requestIDs` may be repeated.
    init(_ request: WireRequest, requestIDs: [ReplyPlace]) {
        self.request = request
        let values = requestIDs.compactMap { place -> String? in
            switch place {
            case .header(let name), .sent(let name): request[header: name]
            case .member: nil
            }
        }
        ids = Set(values)
    }

    /// Whether an id is the one that the request carries in its id header.
    func isNamed(_ id: String) -> Bool { ids.contains(id) }

    /// Whether a text occurs in the request, or a value of the request occurs in the text.
    mutating func holds(_ text: String) -> Bool {
        guard text.utf8.count >= Self.shortest else { return false }
        if let known = known[text] { return known }
        guard known.count < Self.mostWords else { return true }
        let said = self.said ?? Said(request)
        let holds = said.holds(text.utf8.map(\.small))
        (self.said, known[text]) = (said, holds)
        return holds
    }
}

/// All texts in a request, in lower case.
private struct Said {
    /// Complete texts, as they are and decoded.
    private var texts: [[UInt8]] = []
    /// Values and the words in them.
    private var words: Set<[UInt8]> = []

    init(_ request: WireRequest) {
        let url = Array(request.url.utf8)
        for text in [url, request.body] + request.headers.map({ Array($0.value.utf8) }) { add(text: text) }
        // A path mostly contains the vendor's own words.
        add(wordsOf: Array(URLText.path(of: request.url).utf8).decoded, isValue: false)
        if let mark = url.firstIndex(of: UInt8(ascii: "?")) { add(formOf: url[mark...].dropFirst()) }
        for header in request.headers { add(header) }
        if let json = request.json {
            add(json)
        } else if request[header: "Content-Type"]?.lowercased().contains("form-urlencoded") ?? false {
            add(formOf: request.body[...])
        } else {
            add(wordsOf: request.body, isValue: false)
        }
    }

    /// Whether a text occurs in the request, or a value of the request occurs in the text.
    func holds(_ text: [UInt8]) -> Bool {
        texts.contains { $0.firstPlace(of: text) != nil }
            || text.pieces.contains { place in
                words.contains(Array(text[place])) && (text[place].hasDigit || !text.cutsWord(at: place))
            }
    }

    private mutating func add(text: [UInt8]) {
        texts.append(text.map(\.small))
        let decoded = text.decoded
        if decoded != text { texts.append(decoded.map(\.small)) }
    }

    private mutating func add(_ header: WireHeader) {
        let isLogIn = header.isSecret || header.name.lowercased() == "authorization"
        guard isLogIn else { return add(wordsOf: Array(header.value.utf8), isValue: false) }
        // A credential may be preceded by its scheme, which is not secret.
        let parts = header.value.split(separator: " ")
        for part in parts.count > 1 ? parts.dropFirst() : parts[...] {
            add(wordsOf: Array(part.utf8), isValue: true)
            guard let text = Base64.decode(part) else { continue }
            add(text: text)
            add(wordsOf: text, isValue: true)
        }
    }

    private mutating func add(formOf text: ArraySlice<UInt8>) {
        for pair in text.split(separator: UInt8(ascii: "&")) {
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")) else { continue }
            add(wordsOf: Array(pair[mark...].dropFirst()).decoded, isValue: true)
        }
    }

    private mutating func add(_ json: JSONValue) {
        var rest = [json]
        while let value = rest.popLast() {
            switch value {
            case .array(let elements): rest += elements
            case .object(let object): rest += object.map(\.value)
            case .string(let text):
                add(wordsOf: Array(text.utf8), isValue: true)
                // JSON may escape "/" in the bytes, so a comparison of bytes alone would miss the text.
                if text.utf8.contains(UInt8(ascii: "/")) { add(text: Array(text.utf8)) }
            case .number(let number): add(wordsOf: Array(number.text.utf8), isValue: true)
            case .null, .bool: break
            }
        }
    }

    /// Adds a value and each word in it. From a text that is not a value, adds only words with a digit.
    private mutating func add(wordsOf text: [UInt8], isValue: Bool) {
        let lengths = AnsweredRequest.shortest...AnsweredRequest.longest
        if isValue, lengths.contains(text.count) { words.insert(text.map(\.small)) }
        let parts = text.split { !$0.isOfWord } + text.split { !$0.isDigit && !$0.isLetter }
        for word in parts where lengths.contains(word.count) && (isValue || word.hasDigit) {
            words.insert(word.map(\.small))
        }
    }
}

extension UInt8 {
    /// The byte in lower case if it is an ASCII letter, otherwise unchanged.
    fileprivate var small: UInt8 { (0x41...0x5A).contains(self) ? self | 0x20 : self }
    fileprivate var isDigit: Bool { (0x30...0x39).contains(self) }
    fileprivate var isLetter: Bool { (0x61...0x7A).contains(self | 0x20) }
    /// Whether the byte may occur within a token, a number, or an address.
    fileprivate var isOfWord: Bool { isDigit || isLetter || "._+-".utf8.contains(self) }
}

extension Collection<UInt8> {
    fileprivate var hasDigit: Bool { contains(where: \.isDigit) }
}

extension [UInt8] {
    /// The ranges of all parts that are long enough to compare.
    fileprivate var pieces: [Range<Int>] {
        guard count >= AnsweredRequest.shortest else { return [] }
        return (0...(count - AnsweredRequest.shortest)).flatMap { start in
            ((start + AnsweredRequest.shortest)...count).map { start..<$0 }
        }
    }

    /// Whether a part begins or ends within a word, like `active` in `inactive`.
    fileprivate func cutsWord(at place: Range<Int>) -> Bool {
        place.lowerBound > 0 && self[place.lowerBound - 1].isLetter
            || place.upperBound < count && self[place.upperBound].isLetter
    }

    /// Returns the first position at which the other bytes occur.
    fileprivate func firstPlace(of other: [UInt8]) -> Int? {
        guard let first = other.first, other.count <= count else { return nil }
        return withUnsafeBufferPointer { bytes in
            other.withUnsafeBufferPointer { other in
                (0...(bytes.count - other.count)).first { start in
                    bytes[start] == first && other.indices.allSatisfy { bytes[start + $0] == other[$0] }
                }
            }
        }
    }

    /// The bytes with percent encoding decoded; invalid encoding stays.
    fileprivate var decoded: [UInt8] {
        guard contains(UInt8(ascii: "%")) else { return self }
        var bytes: [UInt8] = []
        var rest = self[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), rest.count >= 2, rest.prefix(2).allSatisfy(UUIDText.isHexDigit),
                let meant = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
            {
                bytes.append(meant)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}

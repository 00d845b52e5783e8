import PatchbayJSON
import Testing

@Suite("The JSON reader")
struct JSONReaderTests {
    // MARK: Values

    @Test func `keeps member order and number text and decodes escapes`() throws {
        let value = try JSONValue(
            parsing: #"{"b":[1.0,-0],"a":"\u0041\ud83d\ude00\n\/\u00e9\u20ac","c":{"d":null,"e":true}}"#
        )
        #expect(value["a"] == "A😀\n/é€")
        #expect(value.object?.names == ["b", "a", "c"])
        #expect(value.text == #"{"b":[1.0,-0],"a":"A😀\n/é€","c":{"d":null,"e":true}}"#)
    }

    @Test(arguments: ["1.0", "49.90", "1e400", "123456789012345678901234567890", "-0", "0.1E+2", "1e-7"])
    func `a number keeps its text`(text: String) throws {
        #expect(try JSONValue(parsing: text).number?.text == text)
        #expect(try JSONValue(parsing: "[\(text)]").text == "[\(text)]")
    }

    static let hostile: [String] = [
        "", "\"quotes\" and \\ backslashes \\\"", "]]>", "😀👩‍👩‍👧‍👦🇨🇭", "שלום مرحبا \u{202E}abc", "\u{0}", "a\u{0}b\u{1F}",
        String(repeating: "x", count: 10_000), String(repeating: "ж", count: 10_000), "\u{2028}\u{2029}",
        "\t\r\n\u{8}\u{C}", "e\u{301} is not é", "\u{FEFF}mark", "\u{FFFF}\u{10FFFF}", "</script><!--", "\u{7F}\u{80}",
    ]

    @Test(arguments: hostile)
    func `writing, reading and writing again gives the same bytes`(text: String) throws {
        let value: JSONValue = ["name": .string(text), "list": [.string(text), .string(text + text)]]
        for style in [value.text, value.prettyText] {
            let read = try JSONValue(parsing: style)
            #expect(read.text == value.text)
            #expect(Array((read["name"]?.string ?? "?").utf8) == Array(text.utf8))
        }
        let asName = try JSONValue(parsing: JSONValue.object([text: 1]).text)
        #expect(asName.object?[text] == 1)
    }

    /// Tests every escape at every position of a string relative to the eight-byte words that the reader scans.
    @Test(arguments: 0..<20)
    func `finds an escape or invalid byte at any position in a string`(padding: Int) throws {
        let before = String(repeating: "a", count: padding)
        for (written, meant) in [
            (#"\""#, "\""), (#"\\"#, "\\"), ("é", "é"), (#"\u00e9"#, "é"), ("𝄞", "𝄞"), (" ", " "), ("\u{7F}", "\u{7F}"),
        ] {
            let text = "\"" + before + written + "tail of plain text\""
            #expect(try JSONValue(parsing: text) == .string(before + meant + "tail of plain text"))
        }
        for (byte, code) in [
            (UInt8(0x1F), JSONError.Code.controlCharacter), (0x00, .controlCharacter), (0x80, .invalidUTF8),
            (0xFF, .invalidUTF8),
        ] {
            let bytes = Array(("\"" + before).utf8) + [byte] + Array("tail of plain text\"".utf8)
            #expect(failure(bytes) == JSONError(code: code, offset: padding + 1, line: 1, column: padding + 2))
        }
    }

    // MARK: Errors

    static let places: [(String, JSONError)] = [
        ("", JSONError(code: .unexpectedEnd, offset: 0, line: 1, column: 1)),
        ("{\n  \"a\": 01\n}", JSONError(code: .invalidNumber, offset: 10, line: 2, column: 9)),
        ("[1,\r\n2,\r\n x]", JSONError(code: .unexpectedByte, offset: 10, line: 3, column: 2)),
        ("[\"é\", \"\\ud800\"]", JSONError(code: .loneSurrogate, offset: 8, line: 1, column: 9)),
        ("{\"a\":1,\n\"\\u0061\":2}", JSONError(code: .duplicateName, offset: 8, line: 2, column: 1)),
        ("{}\n\n{}", JSONError(code: .trailingText, offset: 4, line: 3, column: 1)),
        ("[\"a\nb\"]", JSONError(code: .controlCharacter, offset: 3, line: 1, column: 4)),
        ("\u{FEFF}{}", JSONError(code: .unexpectedByte, offset: 0, line: 1, column: 1)),
        ("[\"\\x\"]", JSONError(code: .invalidEscape, offset: 2, line: 1, column: 3)),
        ("[1", JSONError(code: .unexpectedEnd, offset: 2, line: 1, column: 3)),
    ]

    @Test(arguments: places)
    func `an error has its exact position`(text: String, expected: JSONError) {
        #expect(failure(Array(text.utf8)) == expected)
    }

    @Test func `an error offset counts from the start of a slice`() {
        let slice = Array("xxxx[1,]".utf8).dropFirst(4)
        #expect(failure(slice)?.offset == 3)
    }

    @Test func `100,000 nested brackets cause an error and no crash`() {
        let open = [UInt8](repeating: UInt8(ascii: "["), count: 100_000)
        #expect(failure(open)?.code == .tooDeep)
        #expect(failure(open)?.offset == 512)
        let closed = open + [UInt8](repeating: UInt8(ascii: "]"), count: 100_000)
        #expect(throws: JSONError(code: .tooDeep, offset: 2048, line: 1, column: 2049)) {
            try JSONValue(parsing: closed, maximumDepth: .max)
        }
        let skipped = JSONReader.read(closed, maximumDepth: 100_000) { reader in try? reader.skipValue() }
        #expect(skipped == 0..<200_000)
    }

    @Test func `builds, walks and frees the deepest allowed tree on a small stack`() async throws {
        let text = String(repeating: "[", count: 2048) + String(repeating: "]", count: 2048)
        let same = try await Task { try JSONValue(parsing: text, maximumDepth: 2048).canonical.text }.value
        #expect(same == text)
    }

    // MARK: Names

    @Test(arguments: [2, 15, 16, 17, 18, 400])
    func `refuses a duplicate name in objects of any size`(count: Int) {
        let names = (0..<count).map { "name\($0)" }
        func text(_ names: [String]) -> [UInt8] {
            Array(("{" + names.map { "\"\($0)\":1" }.joined(separator: ",") + "}").utf8)
        }
        #expect(failure(text(names)) == nil)
        for position in [0, count / 2, count - 1] {
            #expect(failure(text(names + ["name\(position)"]))?.code == .duplicateName)
            #expect(failure(text(names + ["n\\u0061me\(position)"]))?.code == .duplicateName)
        }
        #expect(failure(text(names + ["Name0", ""])) == nil)
    }

    @Test func `accepts the same name in different objects`() {
        #expect(failure(Array(#"{"a":{"a":[{"a":1},{"a":2}]},"b":{"a":1}}"#.utf8)) == nil)
        #expect(failure(Array(#"{"a":{"b":1},"b":2,"a":3}"#.utf8))?.code == .duplicateName)
    }

    @Test func `treats canonically equivalent names as different`() throws {
        let value = try JSONValue(parsing: "{\"\u{E9}\":1,\"e\u{301}\":2}")
        #expect(value["\u{E9}"] == 1)
        #expect(value["e\u{301}"] == 2)
    }

    @Test(arguments: [0, 30])
    func `keepLast keeps the last value at the first position`(others: Int) throws {
        let more = (0..<others).map { ",\"n\($0)\":0" }.joined()
        let value = try JSONValue(parsing: "{\"a\":1,\"b\":2\(more),\"\\u0061\":3}", duplicateNames: .keepLast)
        #expect(value.object?.names.prefix(2) == ["a", "b"])
        #expect(value.object?.count == 2 + others)
        #expect(value["a"] == 3)
    }

    // MARK: Tokens

    @Test func `returns the tokens in order with text and position`() throws {
        let text = #" {"a" : [1, "x\n", true, null, {}], "b": -2.50 } "#
        var seen: [String] = []
        try JSONReader.read(text.utf8) { reader in
            while let token = try reader.next() {
                seen.append("\(token) \(reader.string) \(reader.tokenRange.lowerBound) \(reader.depth)")
            }
        }
        #expect(
            seen == [
                "beginObject { 1 1", "name a 2 1", "beginArray [ 8 2", "number 1 9 2", "string x\n 12 2",
                "bool(true) true 19 2",
                "null null 25 2", "beginObject { 31 3", "endObject } 32 2", "endArray ] 33 1", "name b 36 1",
                "number -2.50 41 1", "endObject } 47 0",
            ]
        )
    }

    @Test func `selects members by token and skips the rest`() throws {
        let text = #"{"skip":{"deep":[1,{"id":"no"}]},"id":"yes","raw":{"k": [1.0, 2]},"n":-9223372036854775808}"#
        var id: String?
        var raw: [UInt8] = []
        var number: Int64?
        var writer = JSONWriter()
        try JSONReader.read(text.utf8) { reader in
            while let token = try reader.next() {
                guard token == .name else { continue }
                if reader.stringEquals("id") {
                    id = try reader.value().string
                } else if reader.stringEquals("raw") {
                    let range = try reader.skipValue()
                    raw = reader.bytes(in: range)
                    writer.raw(raw)
                } else if reader.stringEquals("n") {
                    _ = try reader.next()
                    number = reader.integer
                } else {
                    try reader.skipValue()
                }
            }
        }
        #expect(id == "yes")
        #expect(writer.text == #"{"k": [1.0, 2]}"#)
        #expect(number == .min)
    }

    @Test func `reads a value from its first token or from the next`() throws {
        let elements = try JSONReader.read("[1, [2, 3], {\"a\": 4}]".utf8) { reader in
            var elements: [JSONValue] = []
            _ = try reader.next()
            while let token = try reader.next(), token != .endArray { elements.append(try reader.value()) }
            return elements
        }
        #expect(elements == [1, [2, 3], ["a": 4]])
    }

    @Test func `skipValue validates the skipped value`() {
        for text in [#"{"a":[1,{"b":01}]}"#, #"{"a":["\ud800"]}"#, #"{"a":{"b":1,"b":2}}"#, #"{"a":[1"#] {
            let range = JSONReader.read(text.utf8) { reader in try? reader.skipValue() }
            #expect(range == nil)
        }
    }

    @Test func `throws when a value is read at the end of a container`() {
        let error = JSONReader.read("[1]".utf8) { reader -> JSONError? in
            do throws(JSONError) {
                _ = try reader.next()
                _ = try reader.next()
                _ = try reader.next()
                _ = try reader.value()
                return nil
            } catch { return error }
        }
        #expect(error?.code == .unexpectedEnd)
    }

    @Test func `after an error every call throws it again`() {
        JSONReader.read("[1,}".utf8) { reader in
            let expected = JSONError(code: .unexpectedByte, offset: 3, line: 1, column: 4)
            _ = try? reader.skipValue()
            for _ in 0..<3 {
                do throws(JSONError) {
                    _ = try reader.next()
                    Issue.record("no error")
                } catch { #expect(error == expected) }
            }
        }
    }

    @Test(
        arguments: [
            ("0", 0), ("-0", 0), ("9223372036854775807", Int64.max), ("9223372036854775808", nil),
            ("-9223372036854775809", nil),
            ("1.0", nil), ("1e3", nil), ("12345678901234567890123", nil), ("-17", -17),
        ] as [(String, Int64?)]
    )
    func `reads a whole number that fits in 64 bits`(text: String, expected: Int64?) throws {
        let integer = try JSONReader.read(text.utf8) { reader in
            _ = try reader.next()
            return reader.integer
        }
        #expect(integer == expected)
    }

    private func failure(_ bytes: some Collection<UInt8>) -> JSONError? {
        do throws(JSONError) {
            _ = try JSONValue(parsing: bytes)
            return nil
        } catch {
            return error
        }
    }
}

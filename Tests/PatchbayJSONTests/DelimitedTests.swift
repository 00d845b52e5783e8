import PatchbayJSON
import Testing

@Suite("Delimited text")
struct DelimitedTests {
    /// A record or fault in a comparable form.
    private struct Seen: Equatable, CustomStringConvertible {
        var number: Int
        var line: Int
        var fields: [String] = []
        var fault: DelimitedFault.Code?
        var field = 0
        var bytes: [UInt8]

        var description: String {
            "#\(number) line \(line) \(fault.map { "\($0) in field \(field)" } ?? "\(fields)") \(String(decoding: bytes, as: UTF8.self))"
        }
    }

    private static let plain = DelimitedDialect(lineEnding: .lineFeed, hasHeader: false)

    // MARK: Reading

    static let readings: [(String, [[String]])] = [
        ("a,b\nc,d\n", [["a", "b"], ["c", "d"]]),
        ("a,b\r\nc,d", [["a", "b"], ["c", "d"]]),
        ("\u{FEFF}a,b\n", [["a", "b"]]),
        ("\u{FEFF}\"a\",b\n", [["a", "b"]]),
        (",\n,,\n", [["", ""], ["", "", ""]]),
        ("a,\nb,", [["a", ""], ["b", ""]]),
        ("\"\"\n", [[""]]),
        ("\n\r\n\na\n\n", [["a"]]),
        ("\"a,b\",\"c\"\"d\",\"e\nf\r\ng\"\r\nh", [["a,b", "c\"d", "e\nf\r\ng"], ["h"]]),
        ("\"\"\"\",\"\"\"\"\"\"", [["\"", "\"\""]]),
        ("a\"b,c\"\n", [["a\"b", "c\""]]),
        ("a\rb,c\n", [["a\rb", "c"]]),
        (" a , \"b\"\n", [[" a ", " \"b\""]]),
        ("é,😀,\u{2028}\n", [["é", "😀", "\u{2028}"]]),
        ("", []),
        ("\u{FEFF}", []),
        ("\"a\"", [["a"]]),
        ("a\u{0}b\n", [["a\u{0}b"]]),
    ]

    @Test(arguments: readings)
    func `reads text as records`(text: String, records: [[String]]) {
        let seen = read(Array(text.utf8), Self.plain)
        #expect(seen.map(\.fields) == records)
        #expect(seen.allSatisfy { $0.fault == nil })
        #expect(seen.map(\.number) == Array(0..<records.count).map { $0 + 1 })
    }

    @Test func `a record has its line and its original bytes`() {
        let seen = read(Array("\u{FEFF}a,b\r\n\n\"c\nd\",\"e\"\"\"\nf".utf8), Self.plain)
        #expect(seen.map(\.line) == [1, 3, 5])
        #expect(seen.map { String(decoding: $0.bytes, as: UTF8.self) } == ["a,b\r\n", "\"c\nd\",\"e\"\"\"\n", "f"])
    }

    @Test func `separates the header and numbers records from one`() throws {
        var reader = DelimitedReader(dialect: .commaSeparated)
        reader.append(Array("Email,Name\r\na@example.com,Ann\r\n".utf8))
        reader.finish()
        let row = reader.next()
        let record = try #require(row).get()
        #expect(reader.header?.fields == ["Email", "Name"])
        #expect(reader.header?.number == 0)
        #expect(record.fields == ["a@example.com", "Ann"])
        #expect(record.number == 1)
        #expect(record.line == 2)
        #expect(reader.next() == nil)
    }

    @Test func `reports an unreadable header and does not use a record instead`() throws {
        var reader = DelimitedReader(dialect: .commaSeparated)
        reader.append(Array("\"Email\"x,Name\r\na,b\r\n".utf8))
        reader.finish()
        guard case .failure(let fault) = reader.next() else {
            Issue.record("the header has text after a quote")
            return
        }
        #expect(fault.number == 0)
        #expect(reader.header == nil)
        #expect(try reader.next()?.get().number == 1)
    }

    @Test func `a quote is an ordinary character in a dialect without quoting`() {
        let dialect = DelimitedDialect(delimiter: UInt8(ascii: "\t"), quoting: .never, hasHeader: false)
        #expect(
            read(Array("\"a\tb\"\n5\" pipe\t\"\"\n".utf8), dialect).map(\.fields) == [
                ["\"a", "b\""], ["5\" pipe", "\"\""],
            ]
        )
    }

    // MARK: Faults

    @Test func `text after a closing quote invalidates only its row`() {
        let seen = read(Array("a,b\n1,\"x\"y,3\nc,d\n\"x\" ,y\n\"z\"\r".utf8), Self.plain)
        #expect(
            seen == [
                Seen(number: 1, line: 1, fields: ["a", "b"], bytes: Array("a,b\n".utf8)),
                Seen(number: 2, line: 2, fault: .textAfterQuote, field: 2, bytes: Array("1,\"x\"y,3\n".utf8)),
                Seen(number: 3, line: 3, fields: ["c", "d"], bytes: Array("c,d\n".utf8)),
                Seen(number: 4, line: 4, fault: .textAfterQuote, field: 1, bytes: Array("\"x\" ,y\n".utf8)),
                Seen(number: 5, line: 5, fault: .textAfterQuote, field: 1, bytes: Array("\"z\"\r".utf8)),
            ]
        )
    }

    @Test func `an unclosed quote invalidates only its row`() {
        let seen = read(Array("1,\"a\n2,b\n3,c".utf8), Self.plain)
        #expect(
            seen == [
                Seen(number: 1, line: 1, fault: .unterminatedQuote, field: 2, bytes: Array("1,\"a\n".utf8)),
                Seen(number: 2, line: 2, fields: ["2", "b"], bytes: Array("2,b\n".utf8)),
                Seen(number: 3, line: 3, fields: ["3", "c"], bytes: Array("3,c".utf8)),
            ]
        )
    }

    @Test func `a quote that a later row seems to close invalidates only its row`() {
        let seen = read(Array("1,\"a\n2,b\n3,\"c\"\n4,d\n".utf8), Self.plain)
        #expect(seen.map(\.fault) == [.textAfterQuote, nil, nil, nil])
        #expect(seen.map(\.fields) == [[], ["2", "b"], ["3", "c"], ["4", "d"]])
        #expect(seen.map(\.line) == [1, 2, 3, 4])
    }

    @Test func `a multiline field before an unclosed quote stays in its row`() {
        let seen = read(Array("\"a\nb\",\"c\nd,e\n".utf8), Self.plain)
        #expect(seen.map(\.fault) == [.unterminatedQuote, nil])
        #expect(seen.map(\.line) == [1, 3])
        #expect(seen.map { String(decoding: $0.bytes, as: UTF8.self) } == ["\"a\nb\",\"c\n", "d,e\n"])
    }

    @Test func `an unclosed quote that reaches the record limit invalidates only its row`() {
        let rows = (0..<50).map { "\($0),value\n" }.joined()
        let seen = read(Array(("x,\"y\n" + rows).utf8), Self.plain, limit: 64)
        #expect(seen.first?.fault == .unterminatedQuote)
        #expect(seen.dropFirst().allSatisfy { $0.fault == nil && $0.fields.count == 2 })
        #expect(seen.count == 51)
    }

    @Test func `skips a record over the limit`() {
        let long = String(repeating: "x", count: 100)
        let seen = read(
            Array("a,b\n1,\(long)\nc,d\n\"\(long)\nc,d\n\"e\nf\",\(long)\ng,h\n\(long)".utf8),
            Self.plain,
            limit: 20
        )
        #expect(
            seen.map(\.fault) == [nil, .recordTooLong, nil, .recordTooLong, nil, .recordTooLong, nil, .recordTooLong]
        )
        #expect(seen.map(\.line) == [1, 2, 3, 4, 5, 6, 8, 9])
        #expect(seen.map(\.field) == [0, 2, 0, 1, 0, 2, 0, 1])
        #expect(seen.filter { $0.fault != nil }.allSatisfy { $0.bytes.isEmpty })
    }

    @Test(arguments: [(20, true), (19, false)])
    func `a record may be as long as the limit`(limit: Int, fits: Bool) {
        let seen = read(Array("abcdefgh,abcdefghi\r\n".utf8), Self.plain, limit: limit)
        #expect(seen.map { $0.fault == nil } == [fits])
    }

    @Test func `reports a field that is not UTF-8 with its bytes`() {
        let bytes: [UInt8] = [0x61, 0x2C, 0xE9, 0x2C, 0x62, 0x0A]
        let seen = read(bytes + Array("c,d,e\n".utf8), Self.plain)
        #expect(seen.first == Seen(number: 1, line: 1, fault: .invalidUTF8, field: 2, bytes: bytes))
        #expect(seen.last?.fields == ["c", "d", "e"])
    }

    @Test func `describes a fault with place and remedy and without the text`() {
        var reader = DelimitedReader(dialect: Self.plain)
        reader.append(Array("ok\nx,\"secret\"y\n".utf8))
        reader.finish()
        _ = reader.next()
        guard case .failure(let fault) = reader.next() else {
            Issue.record("text after a quote is a fault")
            return
        }
        #expect(
            fault.description
                == "record 2 (line 2), field 2: text after the closing quote. Write a quote inside a quoted field twice."
        )
    }

    // MARK: Chunks

    static let tricky: [String] = [
        "\u{FEFF}a,\"b\"\"c\",é\r\n\r\n\"d\r\ne\",,\n\"\"\r\n,\nlast\r",
        "1,\"a\n2,b\n3,\"c\"d\n\"e\"\r\n\"f\"\rg\n\"h\n\ni,j",
        "x\nlonger than the limit,\"\n\"y\",\"longer, longer, longer\n z\"\n\"a\nb\",xxxxxxxxxxxxxxxxxx\n\"ok\"",
        "\u{FEFE}a\n",
    ]

    @Test(arguments: tricky, [16, 1000])
    func `reads the same records from any split into chunks`(text: String, limit: Int) {
        let bytes = Array(text.utf8)
        let whole = read(bytes, Self.plain, limit: limit)
        #expect(whole.count > 0)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                #expect(read(bytes, Self.plain, limit: limit, sizes: [first, second - first]) == whole)
            }
        }
        #expect(read(bytes, Self.plain, limit: limit, sizes: Array(repeating: 1, count: bytes.count)) == whole)
    }

    @Test(arguments: tricky)
    func `records and faults cover all input bytes except blank lines and the byte-order mark`(text: String) {
        let seen = read(Array(text.utf8), Self.plain)
        let kept = seen.flatMap(\.bytes)
        let expected = Array(text.utf8).dropFirst(text.utf8.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
        let blank = text == Self.tricky[0] ? "\r\n" : text == Self.tricky[1] ? "\n" : ""
        #expect(kept.count == expected.count - blank.utf8.count)
        #expect(
            String(decoding: kept, as: UTF8.self).unicodeScalars.filter { $0 != "\n" && $0 != "\r" }
                .elementsEqual(
                    String(decoding: expected, as: UTF8.self).unicodeScalars.filter { $0 != "\n" && $0 != "\r" }
                )
        )
    }

    // MARK: Writing

    static let writings: [(DelimitedDialect.Quoting, [String], String?)] = [
        (.whenNeeded, ["a", "", "b c"], "a,,b c\n"),
        (.whenNeeded, ["a,b", "c\"d", "e\nf", "g\rh"], "\"a,b\",\"c\"\"d\",\"e\nf\",\"g\rh\"\n"),
        (.whenNeeded, [""], "\"\"\n"),
        (.whenNeeded, ["\u{FEFF}x", "\u{FEFF}y"], "\"\u{FEFF}x\",\u{FEFF}y\n"),
        (.always, ["a", "", "b\"c"], "\"a\",\"\",\"b\"\"c\"\n"),
        (.never, ["a", "", "b'c"], "a,,b'c\n"),
        (.never, ["a", "b,c"], nil),
        (.never, ["a", "b\"c"], nil),
        (.never, ["a", "b\nc"], nil),
        (.never, ["a", "b\rc"], nil),
    ]

    @Test(arguments: writings)
    func `writes a record in its dialect`(quoting: DelimitedDialect.Quoting, fields: [String], text: String?) {
        var writer = DelimitedWriter(
            dialect: DelimitedDialect(quoting: quoting, lineEnding: .lineFeed, hasHeader: false)
        )
        do throws(DelimitedWriter.Refusal) {
            try writer.record(fields)
            #expect(text.map { Array($0.utf8) } == writer.bytes)
        } catch {
            #expect(text == nil)
            #expect(error.code == .needsQuotes)
            #expect(error.number == 1)
            #expect(error.field == 2)
            #expect(writer.bytes.isEmpty)
        }
    }

    @Test func `writes byte-order mark, header and line ends of the dialect`() throws {
        var dialect = DelimitedDialect.commaSeparated
        dialect.hasByteOrderMark = true
        var writer = DelimitedWriter(dialect: dialect)
        try writer.record(["Email", "Name"])
        #expect(writer.takeBytes() == [0xEF, 0xBB, 0xBF] + Array("Email,Name\r\n".utf8))
        try writer.record(["a", "b"])
        #expect(writer.text == "a,b\r\n")
        let refusal = #expect(throws: DelimitedWriter.Refusal.self) { try writer.record([]) }
        #expect(refusal?.code == .noFields)
        #expect(refusal?.number == 2)
    }

    /// A thousand tables of awkward fields, from a fixed seed.
    @Test(
        arguments: [DelimitedDialect.Quoting.always, .whenNeeded, .never],
        [DelimitedDialect.LineEnding.lineFeed, .carriageReturnLineFeed]
    )
    func `reads back every written record`(quoting: DelimitedDialect.Quoting, lineEnding: DelimitedDialect.LineEnding) {
        var random = SplitMix(state: 20_260_101)
        let pieces = [
            "a", "\"", ",", ";", "\t", "\n", "\r", "\r\n", "é", "😀", "\u{FEFF}", " ", "0", "\u{0}", "''", "\u{2028}",
        ]
        var written = 0
        for round in 0..<300 {
            let dialect = DelimitedDialect(
                delimiter: [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t"), UInt8(ascii: "|")][round % 4],
                quote: round % 7 == 0 ? UInt8(ascii: "'") : UInt8(ascii: "\""),
                quoting: quoting,
                lineEnding: lineEnding,
                hasByteOrderMark: round % 3 == 0,
                hasHeader: false
            )
            var writer = DelimitedWriter(dialect: dialect)
            var table: [[String]] = []
            for _ in 0..<Int.random(in: 0...6, using: &random) {
                let record = (0..<Int.random(in: 1...4, using: &random)).map { _ in
                    (0..<Int.random(in: 0...5, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
                        .joined()
                }
                guard (try? writer.record(record)) != nil else {
                    #expect(quoting == .never)
                    continue
                }
                table.append(record)
            }
            written += table.count
            let seen = read(writer.bytes, dialect, sizes: [Int.random(in: 0...writer.bytes.count, using: &random)])
            #expect(seen.map { $0.fields.map { Array($0.utf8) } } == table.map { $0.map { Array($0.utf8) } })
            #expect(seen.flatMap(\.bytes) == Array(writer.bytes.dropFirst(dialect.hasByteOrderMark ? 3 : 0)))
        }
        #expect(written > 50)
    }

    // MARK: Helpers

    private func read(
        _ bytes: [UInt8],
        _ dialect: DelimitedDialect,
        limit: Int = 1 << 20,
        sizes: [Int] = []
    ) -> [Seen] {
        var reader = DelimitedReader(dialect: dialect, maximumLength: limit)
        var seen: [Seen] = []
        func drain() {
            while let row = reader.next() {
                switch row {
                case .success(let record):
                    seen.append(
                        Seen(number: record.number, line: record.line, fields: record.fields, bytes: record.bytes)
                    )
                case .failure(let fault):
                    seen.append(
                        Seen(
                            number: fault.number,
                            line: fault.line,
                            fault: fault.code,
                            field: fault.field,
                            bytes: fault.bytes
                        )
                    )
                }
            }
        }
        var rest = bytes[...]
        for size in sizes + [bytes.count] {
            reader.append(rest.prefix(size))
            rest = rest.dropFirst(size)
            drain()
        }
        reader.finish()
        drain()
        return seen
    }
}

/// A random number generator with a fixed sequence for a seed (SplitMix64).
private struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

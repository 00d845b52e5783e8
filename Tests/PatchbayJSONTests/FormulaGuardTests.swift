import PatchbayJSON
import Testing

@Suite("Guards against spreadsheet programs") struct FormulaGuardTests {
    private static let texts = [
        "", "a", "=1+1", "+4930123", "-5", "@SUM(A1)", "\tx", "\rx", "'", "'a", "'=1", "''+1", "a=1", " =1", "\"=1\"",
        "=1,=2", "é=",
    ]

    @Test(arguments: texts) func `a guarded text is not a formula and can be restored`(_ text: String) {
        let guarded = FormulaGuard.guarded(text)
        #expect(guarded.unicodeScalars.first.map { !"=+-@\t\r".unicodeScalars.contains($0) } ?? true)
        #expect(FormulaGuard.unguarded(guarded) == text)
        #expect(
            "=+-@\t\r".unicodeScalars.contains { $0 == text.unicodeScalars.first }
                == (guarded == "'" + text && text.first != "'")
        )
    }

    @Test(arguments: [DelimitedDialect.Quoting.whenNeeded, .always], [",", ";", "\t"])
    func `guarding a record guards each of its fields`(
        _ quoting: DelimitedDialect.Quoting,
        _ delimiter: String
    ) throws {
        var dialect = DelimitedDialect()
        (dialect.quoting, dialect.delimiter, dialect.hasHeader) = (
            quoting, UInt8(ascii: delimiter.unicodeScalars.first ?? ","), false
        )
        for fields in [Self.texts, Self.texts.reversed(), ["", "", "=1"], ["=1", ""]] {
            var writer = DelimitedWriter(dialect: dialect)
            try writer.record(fields)
            var bytes = writer.bytes
            while bytes.last == 0x0A || bytes.last == 0x0D { bytes.removeLast() }
            var reader = DelimitedReader(dialect: dialect)
            reader.append(FormulaGuard.guarded(bytes, in: dialect))
            reader.finish()
            let record = reader.next()
            #expect(try record?.get().fields == fields.map(FormulaGuard.guarded))
        }
    }

    @Test func `guards a quote as an ordinary character in a dialect without quoting`() {
        var dialect = DelimitedDialect()
        dialect.quoting = .never
        let guarded = FormulaGuard.guarded(Array("\"a,=1,\"=2".utf8), in: dialect)
        #expect(String(decoding: guarded, as: UTF8.self) == "\"a,'=1,\"=2")
    }
}

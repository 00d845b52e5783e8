/// Prevents spreadsheet programs from treating the text of a cell as a formula, by prefixing it with an apostrophe.
///
/// Spreadsheet programs evaluate cells that begin with `=`, `+`, `-`, `@`, a tab, or a carriage return. Text that begins with
/// apostrophes followed by one of these gets another apostrophe, so that ``unguarded(_:)`` restores the argument of
/// ``guarded(_:)``.
public enum FormulaGuard: Sendable {
    private static let apostrophe = UInt8(ascii: "'")

    private static func isFormulaStart(_ byte: UInt8?) -> Bool {
        byte.map { "=+-@\t\r".utf8.contains($0) } ?? false
    }

    private static func isFormula(_ text: some Sequence<UInt8>) -> Bool {
        isFormulaStart(text.first { $0 != apostrophe })
    }

    /// Whether the field at the beginning of the remaining bytes needs a guard. The byte that ends the field may be a tab.
    private static func needsGuard(_ rest: ArraySlice<UInt8>, before end: UInt8) -> Bool {
        let first = rest.first { $0 != apostrophe }
        return first != end && isFormulaStart(first)
    }

    /// Returns the text with an apostrophe before it if a spreadsheet program could treat it as a formula.
    public static func guarded(_ text: String) -> String { isFormula(text.utf8) ? "'" + text : text }

    /// Returns the text without the apostrophe that ``guarded(_:)`` adds.
    public static func unguarded(_ text: String) -> String {
        text.utf8.first == apostrophe && isFormula(text.utf8) ? String(text.unicodeScalars.dropFirst()) : text
    }

    /// Returns the bytes of a record of delimited text with a guard in each field that needs one.
    public static func guarded(_ record: [UInt8], in dialect: DelimitedDialect) -> [UInt8] {
        var guarded: [UInt8] = []
        guarded.reserveCapacity(record.count + 8)
        var (isAtStart, isQuoted) = (true, false)
        for (place, byte) in record.enumerated() {
            let isQuote = dialect.quoting != .never && byte == dialect.quote
            if isAtStart, !isQuote, needsGuard(record[place...], before: dialect.delimiter) {
                guarded.append(apostrophe)
            }
            guarded.append(byte)
            if isAtStart, isQuote, needsGuard(record[(place + 1)...], before: dialect.quote) {
                guarded.append(apostrophe)
            }
            if isQuote { isQuoted.toggle() }
            isAtStart = byte == dialect.delimiter && !isQuoted
        }
        return guarded
    }
}

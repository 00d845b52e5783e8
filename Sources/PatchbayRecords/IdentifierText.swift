import PatchbayAdapterKit
package import PatchbayModel

/// The text of an identifier in a file, without the characters that spreadsheets and web pages put around it, and whether it
/// can belong to a person at all.
package struct IdentifierText: Hashable, Sendable {
    /// The reason why a text cannot be an identifier: several people may have the same one.
    package enum Damage: String, Sendable {
        case scientific = "a number in scientific notation, which has lost digits"
        case placeholder = "a word for a missing value, such as NULL"
        case noLetters = "no letter and no digit"
        case invisible = "an invisible character"
    }

    /// The text without surrounding invisible characters and white space, and without a spreadsheet's guard: `="0012"`,
    /// `'0012`.
    package let value: String
    /// The reason why the text cannot be an identifier; nil if it can.
    package let damage: Damage?

    /// Creates the identifier from the text of a field that is not blank.
    package init(_ text: String) {
        value = Self.cleaned(text)
        damage = Self.damage(of: value)
    }

    /// Whether a text can be an identifier and has no surrounding characters that a reader removes.
    package static func isSound(_ text: String) -> Bool {
        let read = IdentifierText(text)
        return read.damage == nil && read.value == text.trimmed
    }

    private static func cleaned(_ text: String) -> String {
        var rest = text.unicodeScalars[...]
        func trim() {
            rest = rest.drop(while: isRemoved)
            while let last = rest.last, isRemoved(last) { rest.removeLast() }
        }
        trim()
        if rest.count > 3, rest.starts(with: "=\"".unicodeScalars), rest.last == "\"" {
            rest = rest.dropFirst(2).dropLast()
        } else if rest.count > 1, rest.first == "'" {
            rest = rest.dropFirst()
            if rest.count > 1, rest.last == "'" { rest = rest.dropLast() }
        }
        trim()
        return String(rest)
    }

    private static func isRemoved(_ scalar: Unicode.Scalar) -> Bool {
        isInvisible(scalar) || scalar.properties.isWhitespace
    }

    /// Whether a character is a control character, or changes how other characters are displayed: U+200B, U+FEFF, U+00AD.
    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        let category = scalar.properties.generalCategory
        return category == .control || category == .format
    }

    private static func damage(of text: String) -> Damage? {
        if text.unicodeScalars.contains(where: isInvisible) { return .invisible }
        if isScientific(text.utf8) { return .scientific }
        let word = text.lowercased()
        // Spreadsheets write errors in the language of the user: #REF!, #WERT!, #NV, #N/D.
        let isError =
            text.hasPrefix("#") && text.contains(where: \.isLetter) && !text.contains(where: \.isNumber)
            && (text.hasSuffix("!") || text.hasSuffix("?") || text == text.uppercased())
        if isError || placeholders.contains(word) { return .placeholder }
        return text.contains { $0.isLetter || $0.isNumber } ? nil : .noLetters
    }

    /// Words that databases, programs, and spreadsheets write for a missing value.
    private static let placeholders: Set<String> = [
        "null", "(null)", "<null>", "[null]", "\\n", "nil", "none", "n/a", "#n/a", "na", "#na", "nan", "nat", "<na>",
        "n.a.", "n/d",
        "undefined", "unknown", "unbekannt", "(blank)", "(leer)", "(vide)", "[object object]", "=na()",
        "00000000-0000-0000-0000-000000000000",
    ]

    /// Whether a text is a number such as `1.23457E+12`. `12E4` is not: keys may look like that.
    private static func isScientific(_ bytes: String.UTF8View) -> Bool {
        func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }
        guard bytes.contains(where: { $0 | 0x20 == 0x65 }) else { return false }
        var rest = bytes[...]
        func take(_ signs: String) -> Bool {
            guard let first = rest.first, signs.utf8.contains(first) else { return false }
            rest = rest.dropFirst()
            return true
        }
        _ = take("+-")
        guard rest.first.map(isDigit) ?? false else { return false }
        rest = rest.drop(while: isDigit)
        let hasFraction = take(".,")
        if hasFraction { rest = rest.drop(while: isDigit) }
        guard take("eE") else { return false }
        let hasSign = take("+-")
        return (hasFraction || hasSign) && (1...3).contains(rest.count) && rest.allSatisfy(isDigit)
    }
}

extension PhoneNumber {
    /// Returns a text as a reader uses it: in ASCII, without `tel:` and the fraction that a spreadsheet adds, and with the calling
    /// code of a default country if it has none.
    package static func cleaned(_ text: String, in country: CountryCode?) -> String {
        var text = inASCII(text)
        if text.lowercased().hasPrefix("tel:") { text.removeFirst(4) }
        if text.hasSuffix(".0"), text.dropLast(2).allSatisfy({ ("0"..."9").contains($0) || $0 == "+" }) {
            text.removeLast(2)
        }
        guard let country, FieldForm.isPhone(text) else { return text }
        let number = PhoneNumber(text)
        guard !number.isInternational, let digits = number.international(in: country) else { return text }
        return "+\(digits)"
    }

    /// Returns the text with digits, spaces, dashes, and the plus sign of other scripts and layouts in ASCII.
    private static func inASCII(_ text: String) -> String {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text }
        return String(
            String.UnicodeScalarView(
                text.unicodeScalars.map { scalar in
                    let properties = scalar.properties
                    if properties.numericType == .decimal, let digit = properties.numericValue {
                        return Unicode.Scalar(0x30 + UInt8(digit))
                    }
                    if properties.isWhitespace { return " " }
                    if properties.isDash { return "-" }
                    return scalar == "\u{FF0B}" ? "+" : scalar
                }
            )
        )
    }
}

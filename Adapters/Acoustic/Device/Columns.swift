import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel

/// The types that an entry may name on the wire.
enum WireType: String, Codable, Sendable {
    case string, number, boolean, date
}

/// A value with its type, as an entry carries it.
package struct WireValue: Codable, Sendable, Equatable {
    /// The type by which the vendor reads the value.
    var type: WireType
    /// The value.
    var value: JSONValue

    init(_ type: WireType, _ value: JSONValue) { (self.type, self.value) = (type, value) }

    /// Whether the vendor would hold the same after either: `40` and `40.0` are one number, `1` and `"1"` are not (K6).
    func isSame(as other: WireValue) -> Bool {
        guard type == other.type else { return false }
        guard let left = value.number, let right = other.value.number else { return value == other.value }
        return Self.plain(left) == Self.plain(right)
    }

    /// Returns a number's digits without insignificant zeros.
    private static func plain(_ number: JSONNumber) -> String {
        let text = ExactDecimal(number)?.text ?? number.text
        guard text.contains(".") else { return text == "-0" ? "0" : text }
        var digits = text[...]
        while digits.hasSuffix("0") { digits.removeLast() }
        if digits.hasSuffix(".") { digits.removeLast() }
        return digits == "-0" ? "0" : String(digits)
    }

    /// A decimal as it is written: a whole number has no decimal point (C9), and a fraction keeps its digits.
    package static func written(_ decimal: ExactDecimal) -> String {
        let fraction = decimal.text.split(separator: ".").dropFirst().first ?? ""
        return fraction.allSatisfy { $0 == "0" } ? plain(decimal.json) : decimal.text
    }
}

/// A column of the account's database, as the configuration describes it.
package struct Column: Sendable, Equatable {
    /// The side that writes a column.
    package enum Owner: String, NeutralWord {
        case device, server
    }

    /// The column's type.
    package var type: ColumnType
    /// The values that a selection allows.
    package var values: [String] = []
    /// Whether the account uses the column to look up contacts.
    var isLookupKey = false
    /// The side that writes the column; a device by default.
    package var owner: Owner?

    /// Whether a selection allows a value, compared by Unicode scalars.
    package func allows(_ value: String) -> Bool { values.containsExactly(value) }
}

/// The vendor's column types.
package enum ColumnType: String, NeutralWord {
    case text, yesNo, numeric, date, time, country, selection, email, segmenting, system, smsOptIn, smsOptOutDate
    case smsPhoneNumber, phoneNumber, timestamp, syncId, multiSelection

    /// The properties of a column type.
    package struct Row: Sendable {
        /// The type.
        package let type: ColumnType
        /// The vendor's number for it.
        package let code: Int
        /// The form of an entry, as text for findings.
        let form: String
        /// The rule that defines the form.
        let rule: RuleID
        /// Encodes a value; nil if no device may write the type.
        let encode: (@Sendable (AttributeValue, Column) -> Form.Outcome)?

        init(
            _ type: ColumnType,
            _ code: Int,
            form: String,
            rule: String,
            _ encode: (@Sendable (AttributeValue, Column) -> Form.Outcome)? = nil
        ) {
            (self.type, self.code, self.form, self.rule) = (type, code, form, .acoustic(rule))
            self.encode = encode
        }
    }

    /// Every type.
    package static let table: [Row] = [
        Row(.text, 0, form: "string, up to 4000 characters", rule: "C13", Form.text),
        Row(.yesNo, 1, form: "boolean, true or false", rule: "C18", Form.flag),
        Row(.numeric, 2, form: "number, up to 255 digits", rule: "C9", Form.number),
        Row(.date, 3, form: "string, yyyy-MM-dd", rule: "C4", Form.date),
        Row(.time, 4, form: "string, HH:mm, 24 hours, no zone", rule: "C5", Form.time),
        Row(.country, 5, form: "string, two lower-case letters of ISO 3166-1", rule: "C3", Form.country),
        Row(.selection, 6, form: "string, one allowed value", rule: "C8", Form.selection),
        Row(.email, 7, form: "not from a device", rule: "C12"),
        Row(.segmenting, 8, form: "not from a device", rule: "C12"),
        Row(.system, 9, form: "not from a device", rule: "C12"),
        Row(.smsOptIn, 13, form: "not from a device", rule: "C12"),
        Row(.smsOptOutDate, 14, form: "not from a device", rule: "C12"),
        Row(.smsPhoneNumber, 15, form: "string, digits with the country's code", rule: "C16", Form.digits),
        Row(.phoneNumber, 16, form: "string, free text", rule: "C17", Form.phone),
        Row(.timestamp, 17, form: "date, an instant in UTC with milliseconds", rule: "C6", Form.timestamp),
        Row(.syncId, 19, form: "not from a device", rule: "C12"),
        Row(.multiSelection, 20, form: "string, allowed values joined by semicolons", rule: "C7", Form.multiSelection),
    ]

    /// The properties of this type.
    var row: Row { Self.table.first { $0.type == self } ?? Row(self, -1, form: "", rule: "C12") }
}

/// An encoded value, with the losses of the conversion.
struct Encoded: Sendable {
    var value: WireValue
    var note: FindingRow?

    init(_ type: WireType, _ value: JSONValue, note: FindingRow? = nil) {
        (self.value, self.note) = (WireValue(type, value), note)
    }
}

/// The reason why a value has no form for its column.
struct ValueProblem: Error {
    /// The finding to report.
    var row: FindingRow
    /// Sizes and names, never the value.
    var detail: String?

    init(_ row: FindingRow, _ detail: String? = nil) { (self.row, self.detail) = (row, detail) }
}

/// Encodes values in the forms of the columns.
package enum Form {
    typealias Outcome = Result<Encoded, ValueProblem>

    package static let textLimit = 4000
    package static let digitLimit = 255
    package static let choiceLimit = 100

    @Sendable static func text(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .string(let text) = value else { return mismatch(value, "text") }
        guard text.utf8.count <= textLimit || text.utf16.count <= textLimit else {
            return .failure(ValueProblem(.valueLong, "\(text.utf16.count) UTF-16 units, the limit is \(textLimit)"))
        }
        return .success(Encoded(.string, .string(text)))
    }

    @Sendable static func phone(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .string(let text) = value else { return mismatch(value, "text") }
        return .success(Encoded(.string, .string(text)))
    }

    @Sendable static func digits(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .string(let text) = value else { return mismatch(value, "text") }
        guard text.consentNumber == text else { return .failure(ValueProblem(.valuePhone)) }
        return .success(Encoded(.string, .string(text)))
    }

    @Sendable static func flag(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .boolean(let flag) = value else { return mismatch(value, "a boolean") }
        return .success(Encoded(.boolean, .bool(flag)))
    }

    @Sendable static func number(_ value: AttributeValue, _ column: Column) -> Outcome {
        let number: JSONNumber
        switch value {
        case .integer(let whole): number = JSONNumber(whole)
        case .decimal(let decimal): number = JSONNumber(text: WireValue.written(decimal)) ?? decimal.json
        default: return mismatch(value, "a number")
        }
        let digits = number.text.utf8.count { (0x30...0x39).contains($0) }
        guard digits <= digitLimit else {
            return .failure(ValueProblem(.valueDigits, "\(digits) digits, the limit is \(digitLimit)"))
        }
        return .success(Encoded(.number, .number(number)))
    }

    @Sendable static func date(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .date(let date)? = value.converted(to: .date) else { return mismatch(value, "a day, yyyy-MM-dd") }
        return .success(Encoded(.string, .string(date.text)))
    }

    @Sendable static func time(_ value: AttributeValue, _ column: Column) -> Outcome {
        if case .time(let time)? = value.converted(to: .time) {
            return .success(Encoded(.string, .string(time.text)))
        }
        guard case .string(let text) = value, let time = withoutSeconds(text) else {
            return mismatch(value, "a time, HH:mm")
        }
        return .success(Encoded(.string, .string(time.text), note: .valueSeconds))
    }

    /// Reads `HH:mm:ss` and removes the seconds (C5).
    private static func withoutSeconds(_ text: String) -> LocalTime? {
        // The seconds have the form of minutes: two ASCII digits up to 59.
        guard text.utf8.count == 8, LocalTime(text: "00:\(text.suffix(2))") != nil, text.dropLast(2).last == ":" else {
            return nil
        }
        return LocalTime(text: String(text.dropLast(3)))
    }

    @Sendable static func timestamp(_ value: AttributeValue, _ column: Column) -> Outcome {
        if case .string = value { return .failure(ValueProblem(.timestampText)) }
        guard case .timestamp(let instant) = value else { return mismatch(value, "an instant") }
        let isExact = instant.nanoseconds % 1_000_000 == 0
        return .success(
            Encoded(.date, .string(instant.text(fractionDigits: 3)), note: isExact ? nil : .timestampPrecision)
        )
    }

    @Sendable static func country(_ value: AttributeValue, _ column: Column) -> Outcome {
        if case .string(let text) = value, CountryCode(text: text) == nil { return .failure(ValueProblem(.country)) }
        guard case .country(let country)? = value.converted(to: .country) else {
            return mismatch(value, "a country, two letters")
        }
        return .success(Encoded(.string, .string(country.text.lowercased())))
    }

    @Sendable static func selection(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .string(let word) = value else { return mismatch(value, "text") }
        guard column.allows(word) else { return .failure(ValueProblem(.selection)) }
        return .success(Encoded(.string, .string(word)))
    }

    @Sendable static func multiSelection(_ value: AttributeValue, _ column: Column) -> Outcome {
        guard case .choices(let words)? = value.converted(to: .choices) else { return mismatch(value, "choices") }
        return choices(words, column)
    }

    /// Encodes the choices of a multi-selection column as one text.
    static func choices(_ words: [String], _ column: Column?) -> Outcome {
        if words.isEmpty { return .failure(ValueProblem(.choicesEmpty)) }
        if words.contains(where: { $0.unicodeScalars.contains(";") }) {
            return .failure(ValueProblem(.choicesSeparator))
        }
        if words.contains(where: { $0.isEmpty || $0.trimmed != $0 }) { return .failure(ValueProblem(.choicesBlank)) }
        if let place = words.firstIndex(where: { $0.utf16.count > choiceLimit }) {
            return .failure(ValueProblem(.choiceLong, "value \(place + 1), the limit is \(choiceLimit)"))
        }
        if let column, let place = words.firstIndex(where: { !column.allows($0) }) {
            return .failure(ValueProblem(.choices, "value \(place + 1) of \(words.count)"))
        }
        return .success(Encoded(.string, .string(words.joined(separator: ";"))))
    }

    /// Encodes a value of a column that the settings do not describe, by the value's own type (C15).
    static func untyped(_ value: AttributeValue) -> Outcome {
        switch value {
        case .string: text(value, anyColumn)
        case .boolean: flag(value, anyColumn)
        case .integer, .decimal: number(value, anyColumn)
        case .date: date(value, anyColumn)
        case .time: time(value, anyColumn)
        case .timestamp: timestamp(value, anyColumn)
        case .country: country(value, anyColumn)
        case .choices(let words): choices(words, nil)
        case .list, .object: .failure(ValueProblem(.valueNested))
        }
    }

    /// A placeholder for encodings that do not depend on the column.
    private static let anyColumn = Column(type: .text)

    private static func mismatch(_ value: AttributeValue, _ wanted: String) -> Outcome {
        switch value {
        case .list, .object: .failure(ValueProblem(.valueNested))
        default: .failure(ValueProblem(.valueType, "\(value.type.rawValue), the column takes \(wanted)"))
        }
    }
}

extension String {
    /// The number in the form of consents, as digits with the country code and without a leading zero; nil if it is
    /// invalid.
    package var consentNumber: String? {
        let digits = hasPrefix("+") ? String(dropFirst()) : self
        return (7...20).contains(digits.utf8.count) && digits.isVendorNumber && !digits.hasPrefix("0") ? digits : nil
    }

    /// Whether the text has the form of a number that the vendor assigns: 1 to 20 digits.
    package var isVendorNumber: Bool {
        (1...20).contains(utf8.count) && utf8.allSatisfy { (0x30...0x39).contains($0) }
    }
}

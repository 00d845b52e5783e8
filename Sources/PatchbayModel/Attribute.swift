public import PatchbayJSON

/// The neutral name of an attribute. Well-known attributes have a static member and a fixed type.
public struct AttributeName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    /// Given name (first name).
    public static let givenName: AttributeName = "given_name"
    /// Family name (last name).
    public static let familyName: AttributeName = "family_name"
    /// Full name, as one text.
    public static let fullName: AttributeName = "full_name"
    /// Birthday, a calendar day.
    public static let birthDate: AttributeName = "birth_date"
    /// Gender: `male`, `female`, or another word.
    public static let gender: AttributeName = "gender"
    /// Country of residence.
    public static let country: AttributeName = "country"
    /// City of residence.
    public static let city: AttributeName = "city"
    /// Postal code.
    public static let postalCode: AttributeName = "postal_code"
    /// Level in a loyalty program.
    public static let loyaltyTier: AttributeName = "loyalty_tier"
}

/// The value of an attribute. Its type determines how each vendor's format represents it.
///
/// In JSON, strings, integers, booleans, and lists are encoded as such, and a number with a fraction is a decimal. Every other
/// type is an object with one member that names the type: `{"date": "1990-04-01"}`.
public indirect enum AttributeValue: ScannedValue {
    /// Text. Empty text is different from unset.
    case string(String)
    /// A 64-bit integer.
    case integer(Int64)
    /// An exact decimal number.
    case decimal(ExactDecimal)
    /// True or false.
    case boolean(Bool)
    /// A calendar day.
    case date(CalendarDate)
    /// A time of day.
    case time(LocalTime)
    /// A point in time.
    case timestamp(Timestamp)
    /// A country.
    case country(CountryCode)
    /// Several of a set of allowed words, in order.
    case choices([String])
    /// A list of values.
    case list([AttributeValue])
    /// Named values.
    case object([AttributeName: AttributeValue])
}

/// The types of ``AttributeValue``, as used in capabilities and in the attribute catalogue.
public enum AttributeType: String, NeutralWord, Codable {
    case string, integer, decimal, boolean, date, time, timestamp, country, choices, list, object
}

extension AttributeValue {
    /// The value's type.
    public var type: AttributeType {
        switch self {
        case .string: .string
        case .integer: .integer
        case .decimal: .decimal
        case .boolean: .boolean
        case .date: .date
        case .time: .time
        case .timestamp: .timestamp
        case .country: .country
        case .choices: .choices
        case .list: .list
        case .object: .object
        }
    }

    /// The value as one line of text, if it is a scalar. Numbers and dates have the form that the model writes.
    ///
    /// Choices are joined by semicolons. Nil for lists and objects.
    public var plainText: String? {
        switch self {
        case .string(let value): value
        case .integer(let value): JSONNumber(value).text
        case .decimal(let value): value.text
        case .boolean(let value): value ? "true" : "false"
        case .date(let value): value.text
        case .time(let value): value.text
        case .timestamp(let value): value.text
        case .country(let value): value.text
        case .choices(let values): values.joined(separator: ";")
        case .list, .object: nil
        }
    }

    /// Creates a value of a type from a text; nil if the text is invalid. Choices are separated by semicolons, and white space
    /// around a semicolon is removed.
    public init?(text: String, as type: AttributeType) {
        let value: AttributeValue? =
            switch type {
            case .string: .string(text)
            case .integer: Int64(text).map(AttributeValue.integer)
            case .decimal: ExactDecimal(text: text).map(AttributeValue.decimal)
            case .boolean: Self.booleanWords[text.lowercased()].map(AttributeValue.boolean)
            case .date: CalendarDate(text: text).map(AttributeValue.date)
            case .time: LocalTime(text: text).map(AttributeValue.time)
            case .timestamp: Timestamp(text: text).map(AttributeValue.timestamp)
            case .country: CountryCode(text: text).map(AttributeValue.country)
            case .choices: .choices(text.words(between: ";"))
            case .list, .object: nil
            }
        guard let value else { return nil }
        self = value
    }

    /// Returns the value converted to another type without loss; nil if that is not possible.
    public func converted(to type: AttributeType) -> AttributeValue? {
        if type == self.type { return self }
        switch (self, type) {
        case (.string(let text), _): return AttributeValue(text: text, as: type)
        case (.integer(let number), .decimal): return .decimal(ExactDecimal(number))
        case (_, .string): return plainText.map(AttributeValue.string)
        case (.list(let values), .choices):
            let words = values.compactMap { if case .string(let word) = $0 { word } else { nil } }
            return words.count == values.count ? .choices(words) : nil
        default: return nil
        }
    }

    /// The meanings of texts as booleans, in lower case.
    package static let booleanWords = ["true": true, "false": false, "yes": true, "no": false, "1": true, "0": false]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        switch json {
        case .string(let text): self = .string(text)
        case .bool(let value): self = .boolean(value)
        case .array: self = .list(try [AttributeValue](json: json, at: path))
        case .number(let number):
            guard let value = Self(number: number) else {
                throw ModelError(
                    path: path,
                    reason: "has over 400 digits when written out",
                    remedy: "Give it as a string."
                )
            }
            self = value
        case .object(let object): try self.init(tagged: object, at: path)
        case .null:
            throw ModelError(path: path, reason: "is null", remedy: "Give a value, or leave it out.")
        }
    }

    /// Creates a 64-bit integer if possible, otherwise a decimal; nil if it has more than 400 digits.
    private init?(number: JSONNumber) {
        if let whole = number.integer {
            self = .integer(whole)
        } else if let decimal = ExactDecimal(number) {
            self = .decimal(decimal)
        } else {
            return nil
        }
    }

    private init(tagged object: JSONObject, at path: String) throws(ModelError) {
        guard object.count == 1, let member = object.first, let type = AttributeType(rawValue: member.name) else {
            throw ModelError(
                path: path,
                reason: "is an object without a type",
                remedy: "Write {\"<type>\": value}; nested members as {\"object\": {…}}."
            )
        }
        let place = path.dot(member.name)
        switch type {
        case .object:
            self = .object(try ObjectReader(.object(object), at: path, known: nil).dictionary(member.name))
        case .list: self = .list(try [AttributeValue](json: member.value, at: place))
        case .choices: self = .choices(try [String](json: member.value, at: place))
        case .boolean: self = .boolean(try Bool(json: member.value, at: place))
        case .integer where member.value.integer != nil: self = .integer(member.value.integer ?? 0)
        default:
            let text = member.value.string ?? member.value.number?.text
            guard let text, let value = AttributeValue(text: text, as: type) else {
                throw ModelError(
                    path: place,
                    reason: "is not of the type \(type.rawValue)",
                    remedy: Self.forms[type] ?? "Correct it."
                )
            }
            self = value
        }
    }

    /// Reads the types that are encoded as an object with one member.
    private init(scanningTagged scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        guard let name = try scanner.nextName(), let type = AttributeType(rawValue: name) else { throw NotPlain() }
        switch type {
        case .object: self = .object(try scanner.dictionary())
        case .choices: self = .choices(try [String](scanning: &scanner))
        case .date, .time, .timestamp, .country, .decimal:
            guard let value = AttributeValue(text: try scanner.string(), as: type) else { throw NotPlain() }
            self = value
        case .string, .integer, .boolean, .list: throw NotPlain()
        }
        try scanner.endObject()
    }

    private static let forms: [AttributeType: String] = [
        .date: "Write a day that exists as YYYY-MM-DD.",
        .time: "Write HH:MM.",
        .timestamp: "Write RFC 3339, for example 2031-03-09T07:05:11Z.",
        .country: "Write the two letters of ISO 3166-1.",
        .decimal: "Write a decimal number of at most 400 digits, for example 49.90.",
        .integer: "Write a whole number of 64 bits.",
    ]

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        switch scanner.next {
        case UInt8(ascii: "\""): self = .string(try scanner.string())
        case UInt8(ascii: "t"), UInt8(ascii: "f"): self = .boolean(try scanner.bool())
        case UInt8(ascii: "["): self = .list(try [AttributeValue](scanning: &scanner))
        case UInt8(ascii: "{"): try self.init(scanningTagged: &scanner)
        default:
            if let whole = scanner.integer() {
                self = .integer(whole)
            } else if let value = Self(number: try scanner.number()) {
                self = value
            } else {
                throw NotPlain()
            }
        }
    }

    public func write(to writer: inout JSONWriter) {
        switch self {
        case .string(let value): writer.string(value)
        case .integer(let value): writer.integer(value)
        case .boolean(let value): writer.bool(value)
        case .list(let values): values.write(to: &writer)
        case .decimal(let value):
            // A decimal without a decimal point would be read as an integer.
            if value.text.utf8.contains(0x2E) { writer.raw(value.text) } else { tagged(value.text, &writer) }
        case .date(let value): tagged(value.text, &writer)
        case .time(let value): tagged(value.text, &writer)
        case .timestamp(let value): tagged(value.text, &writer)
        case .country(let value): tagged(value.text, &writer)
        case .choices(let values): tagged(values, &writer)
        case .object(let members):
            writer.beginObject()
            writer.member(type.rawValue, members)
            writer.endObject()
        }
    }

    private func tagged(_ value: some NeutralValue, _ writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(type.rawValue, value)
        writer.endObject()
    }
}

extension AttributeValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral {
    public init(stringLiteral value: String) { self = .string(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
}

/// A change of one attribute. An attribute may be absent (not changed), unset, or set to an empty value.
public enum AttributeChange: ScannedValue {
    /// Sets the attribute to a value.
    case set(AttributeValue)
    /// Removes the attribute's value.
    case unset
    /// Adds a number, which may be negative.
    case increment(ExactDecimal)
    /// Adds values to a list.
    case append([AttributeValue])
    /// Removes values from a list.
    case remove([AttributeValue])

    package enum Member: MemberName, MemberTable {
        case set, unset, increment, append, remove
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, members: Member.allCases)
        guard reader.object.count == 1, let (name, value) = reader.object.first.map({ ($0.name, $0.value) }),
            let member = Member.allCases.first(where: { $0.isNamed(name) })
        else {
            throw ModelError(
                path: path,
                reason: "names no single change",
                remedy: "Give one of \(Member.names.joined(separator: ", "))."
            )
        }
        let place = path.dot(name)
        switch member {
        case .set:
            guard !value.isNull else {
                let remedy = "To remove the attribute use {\"unset\": true}."
                throw ModelError(path: place, reason: "is null", remedy: remedy)
            }
            self = .set(try AttributeValue(json: value, at: place))
        case .append: self = .append(try [AttributeValue](json: value, at: place))
        case .remove: self = .remove(try [AttributeValue](json: value, at: place))
        case .increment:
            guard let number = value.number.flatMap(ExactDecimal.init) else {
                throw ModelError(path: place, reason: "is not a number", remedy: "Give a number.")
            }
            self = .increment(number)
        case .unset:
            guard value == .bool(true) else {
                throw ModelError(path: place, reason: "is not true", remedy: "Write {\"unset\": true}.")
            }
            self = .unset
        }
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        guard let member = Member.allCases.first(where: { scanner.takesName($0) }) else { throw NotPlain() }
        switch member {
        case .set: self = .set(try AttributeValue(scanning: &scanner))
        case .unset:
            guard try scanner.bool() else { throw NotPlain() }
            self = .unset
        case .increment:
            guard let number = ExactDecimal(try scanner.number()) else { throw NotPlain() }
            self = .increment(number)
        case .append: self = .append(try [AttributeValue](scanning: &scanner))
        case .remove: self = .remove(try [AttributeValue](scanning: &scanner))
        }
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        switch self {
        case .set(let value): writer.member(Member.set, value)
        case .unset: writer.member(Member.unset, true)
        case .increment(let number):
            writer.name(Member.increment)
            writer.raw(number.text)
        case .append(let values): writer.member(Member.append, values)
        case .remove(let values): writer.member(Member.remove, values)
        }
        writer.endObject()
    }
}

extension String {
    /// Returns the words between separators, trimmed and without blank ones.
    ///
    /// It compares Unicode scalars, so that a separator before a combining mark counts as one, as it does for readers of bytes.
    package func words(between separator: Unicode.Scalar) -> [String] {
        unicodeScalars.split(separator: separator).map(\.trimmed).filter { !$0.isEmpty }
    }
}

extension Substring.UnicodeScalarView {
    /// The text without Unicode white space and line breaks at both ends. White space with a combining mark is not removed.
    package var trimmed: String {
        let start = drop { $0.properties.isWhitespace }
        return start.lastIndex { !$0.properties.isWhitespace }.map { String(start[...$0]) } ?? ""
    }
}

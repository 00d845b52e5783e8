public import PatchbayAdapterKit
public import PatchbayModel

/// The text forms of values in a field.
public struct FieldForms: Sendable {
    /// The form of days in written dates and timestamps.
    public var day: DayForm
    /// Additional forms that are read.
    public var alsoRead: [DayForm]
    /// The zone of timestamps in texts without a zone: `Z` or an offset.
    public var zone: String
    /// The text after hours and minutes: `:00` or empty.
    public var seconds: String
    /// The words for true and false. `true`, `false`, `yes`, `no`, `1`, and `0` are always read.
    public var booleans: (yes: String, no: String)
    /// The separator between several values.
    public var separator: Unicode.Scalar
    /// Whether countries are written as two lower-case letters.
    public var hasLowerCountries: Bool
    /// A character that is written doubled, and halved when it is read.
    public var doubled: Unicode.Scalar?
    /// Whether a field may contain a line break. Otherwise it is written as a space.
    public var takesLineBreaks: Bool
    /// The highest Unicode scalar that a text may contain.
    public var highestScalar: UInt32

    /// Creates text forms. The defaults are those of the neutral model.
    public init(
        day: DayForm = .iso,
        alsoRead: [DayForm] = [],
        zone: String = "Z",
        seconds: String = "",
        booleans: (yes: String, no: String) = ("true", "false"),
        separator: Unicode.Scalar = ";",
        hasLowerCountries: Bool = false,
        doubled: Unicode.Scalar? = nil,
        takesLineBreaks: Bool = true,
        highestScalar: UInt32 = 0x10FFFF
    ) {
        (self.day, self.alsoRead, self.zone, self.seconds) = (day, alsoRead, zone, seconds)
        (self.booleans, self.separator, self.hasLowerCountries) = (booleans, separator, hasLowerCountries)
        (self.doubled, self.takesLineBreaks, self.highestScalar) = (doubled, takesLineBreaks, highestScalar)
    }

    // MARK: Reading

    /// The forms of days that are read, the configured one first. If a configured form has the month first, forms with the day
    /// first are excluded, and vice versa.
    package var dayForms: [DayForm] {
        let excluded: [DayForm] = day == .american ? [.european] : day == .european ? [.american] : []
        return [day] + alsoRead.filter { $0 != day && !excluded.contains($0) }
    }

    /// Returns the possible moments of a text: several if day and month are ambiguous, none for a text in another form. A time
    /// with AM or PM does not tell them apart: countries with the day first write it, too.
    package func readings(_ text: String) -> [FileMoment] {
        if let own = FileMoment(text, forms: [day, .iso], zone: zone) { return [own] }
        var all: [FileMoment] = []
        for form in dayForms.dropFirst() {
            guard let moment = FileMoment(text, forms: [form], zone: zone) else { continue }
            if !all.contains(where: { $0.day == moment.day }) { all.append(moment) }
        }
        return all
    }

    /// Returns the day or point in time of a text; nil if it is invalid or ambiguous.
    package func moment(_ text: String) -> FileMoment? {
        let all = readings(text)
        return all.count == 1 ? all.first : nil
    }

    /// Returns the value of a type in a field's text; nil if it is invalid.
    package func value(_ text: String, as type: AttributeType) -> AttributeValue? {
        switch type {
        // A day does not need a midnight, which the first year does not have in every zone.
        case .date: (CalendarDate(text: text.trimmed) ?? moment(text)?.day).map(AttributeValue.date)
        case .timestamp: moment(text).map { .timestamp($0.timestamp) }
        case .time: FileTime(text).map { .time($0.time) }
        case .choices: .choices(words(of: text))
        default: AttributeValue(text: text, as: type)
        }
    }

    /// Returns the value of a type if the text contains exactly that value; nil if it contains another value, or more.
    package func exactValue(_ text: String, as type: AttributeType) -> AttributeValue? {
        if type == .time, FileTime(text)?.isCut == true { return nil }
        guard type == .date, CalendarDate(text: text.trimmed) == nil else { return value(text, as: type) }
        // A text with a zone is an instant, and a time other than midnight is more than a day.
        guard let moment = moment(text), !moment.hasZone,
            moment.timestamp == self.moment(moment.day.text)?.timestamp
        else { return nil }
        return .date(moment.day)
    }

    /// Returns the words of a field with several.
    package func words(of text: String) -> [String] { text.words(between: separator) }

    // MARK: Writing

    /// Returns the text of a value, and whether it is exact; nil if the value cannot be written.
    func text(_ value: AttributeValue) -> (text: String, isExact: Bool)? {
        switch value {
        case .date(let day): return (self.day.text(day), true)
        case .timestamp(let timestamp): return text(timestamp)
        case .time(let time): return (time.text + seconds, true)
        case .boolean(let isTrue): return (isTrue ? booleans.yes : booleans.no, true)
        case .country(let code): return (hasLowerCountries ? code.text.lowercased() : code.text, true)
        case .choices(let words): return joined(words).map { ($0, true) }
        case .list(let values):
            let words = values.compactMap { if case .string(let word) = $0 { word } else { nil } }
            return words.count == values.count ? joined(words).map { ($0, false) } : nil
        case .string, .integer, .decimal: return value.plainText.map { ($0, true) }
        case .object: return nil
        }
    }

    /// Returns several words as one text; nil if reading it would not return the same words.
    func joined(_ words: [String]) -> String? {
        let isPlain = words.allSatisfy { !$0.unicodeScalars.contains(separator) && $0 == $0.trimmed && !$0.isEmpty }
        return isPlain ? words.map { $0 }.joined(separator: String(separator)) : nil
    }

    /// Returns a point in time to the second, in the forms' zone; nil beyond four-digit years.
    func text(_ timestamp: Timestamp) -> (text: String, isExact: Bool)? {
        guard let local = Timestamp(seconds: timestamp.seconds + FileMoment.seconds(of: zone)) else { return nil }
        let clock = local.text(fractionDigits: 0).dropFirst(11).dropLast()
        return ("\(day.text(local.date)) \(clock)", timestamp.nanoseconds == 0)
    }
}

/// The required forms of texts in typed columns.
public enum FieldForm: Sendable {
    /// Whether a text is an e-mail address: something, an @, and a host with a dot; no white space; at most 254 characters.
    /// The signs that mail programs write around an address are no part of it.
    public static func isEmail(_ text: String) -> Bool {
        guard let first = text.utf8.first, let end = text.utf8.last, first != UInt8(ascii: "<"),
            first != UInt8(ascii: "\""), end >= 0x80 || end &- 0x30 < 10 || (end | 0x20) &- 0x61 < 26,
            !text.prefix(mailScheme.count).lowercased().elementsEqual(mailScheme)
        else { return false }
        var (hasAt, hasDot, last) = (false, false, UInt8(ascii: "@"))
        for byte in text.utf8 {
            switch byte {
            case 0x80...: return isEmailBeyondASCII(text)
            case UInt8(ascii: "@"):
                guard !hasAt, last != byte else { return false }
                hasAt = true
            case UInt8(ascii: ".") where hasAt:
                guard last != byte, last != UInt8(ascii: "@") else { return false }
                hasDot = true
            case UInt8(ascii: " "), 0x09...0x0D: return false
            default: break
            }
            last = byte
        }
        return hasDot && text.utf8.count <= 254
    }

    private static let mailScheme = "mailto:"

    /// Returns the address in a text that mail programs or people write around it: `Ana <ana@mail.example>`,
    /// `mailto:ana@mail.example`, `ana@mail.example;`. Returns the text if it has no address, or several.
    static func email(in text: String) -> String {
        if isEmail(text) || text.utf8.count(where: { $0 == UInt8(ascii: "@") }) != 1 { return text }
        var rest = text[...]
        if let start = rest.lastIndex(of: "<"), let end = rest.lastIndex(of: ">"), start < end {
            rest = rest[rest.index(after: start)..<end]
        }
        if rest.lowercased().hasPrefix(mailScheme) { rest = rest.dropFirst(mailScheme.count) }
        let around = " \"',;."
        rest = rest.drop(while: around.contains)
        while let last = rest.last, around.contains(last) { rest.removeLast() }
        let address = String(rest)
        return isEmail(address) ? address : text
    }

    private static func isEmailBeyondASCII(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, text.utf16.count <= 254 else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.allSatisfy { !$0.isEmpty } && !text.contains(where: \.isWhitespace)
    }

    /// Whether a text may be an identifier of a kind.
    static func fits(_ text: String, _ kind: IdentifierKind) -> Bool {
        switch kind {
        case .email: isEmail(text) && IdentifierText.isSound(text)
        case .phone: isPhone(text)
        default: IdentifierText.isSound(text)
        }
    }

    /// Whether a text is the name of a time zone rather than an offset: it contains a slash, or is `UTC`.
    package static func isZone(_ text: String) -> Bool { text.utf8.contains(UInt8(ascii: "/")) || text == "UTC" }

    /// Whether a text is a telephone number: four to fifteen digits as `PhoneNumber` reads them, with the usual characters
    /// between them.
    public static func isPhone(_ text: String) -> Bool {
        text.allSatisfy { ("0"..."9").contains($0) || "+-()./ ".contains($0) }
            && (4...15).contains(PhoneNumber(text).digits.utf8.count)
    }
}

/// An offset from UTC in exports: hours up to 14, or seconds in quarters of an hour.
package struct ExactHours {
    package let seconds: Int

    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let first = parts.first, let number = Int(first), parts.count <= 2 else { return nil }
        if parts.count == 2 {
            guard let quarters = ["0": 0, "00": 0, "25": 900, "5": 1800, "50": 1800, "75": 2700][String(parts[1])],
                abs(number) <= 14
            else { return nil }
            seconds = number * 3600 + (text.hasPrefix("-") ? -quarters : quarters)
        } else if abs(number) <= 14 {
            seconds = number * 3600
        } else if abs(number) <= 14 * 3600, number % 900 == 0 {
            seconds = number
        } else {
            return nil
        }
    }

    /// Returns the text of an offset in hours and quarters; nil if the offset is invalid.
    static func text(_ seconds: Int) -> String? {
        guard seconds % 900 == 0, abs(seconds) <= 14 * 3600 else { return nil }
        let quarters = ["", ".25", ".5", ".75"][abs(seconds) / 900 % 4]
        let hours = abs(seconds) / 3600
        return "\(seconds < 0 ? "-" : "")\(hours)\(quarters)"
    }
}

/// The character encodings of files.
public enum FileEncoding: String, NeutralWord {
    /// UTF-8.
    case utf8 = "utf-8"
    /// ISO 8859-1, one byte a character.
    case latin1 = "iso-8859-1"
    /// Windows 1252: ISO 8859-1 with letters, quotes and the euro sign in place of controls.
    case windows1252 = "windows-1252"
    /// UTF-16. The file is converted to UTF-8 when it is opened.
    case utf16 = "utf-16"

    /// Whether the reader receives UTF-8.
    package var isUTF8: Bool { self == .utf8 || self == .utf16 }

    /// The characters of Windows 1252 from 0x80 to 0x9F. A byte without one represents the control character.
    private static let windows: [UInt16] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0x8D,
        0x017D, 0x8F,
        0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D,
        0x017E, 0x0178,
    ]

    private static let windowsBytes: [UInt32: UInt8] = Dictionary(
        uniqueKeysWithValues: windows.enumerated().map { (UInt32($0.element), 0x80 + UInt8($0.offset)) }
    )

    /// Returns the bytes converted to UTF-8.
    public func decoded(_ bytes: [UInt8]) -> [UInt8] {
        guard !isUTF8, bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count + bytes.count / 8)
        for byte in bytes {
            if byte < 0x80 {
                decoded.append(byte)
            } else if self == .windows1252, byte < 0xA0 {
                let scalar = Self.windows[Int(byte) - 0x80]
                if scalar >= 0x800 { decoded.append(0xE0 | UInt8(scalar >> 12)) }
                decoded.append(scalar >= 0x800 ? 0x80 | UInt8(scalar >> 6 & 0x3F) : 0xC0 | UInt8(scalar >> 6))
                decoded.append(0x80 | UInt8(scalar & 0x3F))
            } else {
                decoded += [0xC0 | byte >> 6, 0x80 | byte & 0x3F]
            }
        }
        return decoded
    }

    /// Whether bytes that were read in this encoding probably have another one: all their non-ASCII bytes form valid UTF-8, or
    /// one is a control character that Windows 1252 uses for letters and quotes.
    func isUncertain(_ bytes: [UInt8]) -> Bool {
        guard !isUTF8, bytes.contains(where: { $0 >= 0x80 }) else { return false }
        return self == .latin1 && bytes.contains { (0x80..<0xA0).contains($0) }
            || String(validating: bytes, as: UTF8.self) != nil
    }

    /// Returns a UTF-8 text in this encoding, which must be able to represent it.
    package func encoded(_ bytes: [UInt8]) -> [UInt8] {
        guard !isUTF8, bytes.contains(where: { $0 >= 0x80 }) else { return bytes }
        return String(decoding: bytes, as: UTF8.self).unicodeScalars.map { scalar in
            let own = self == .windows1252 ? Self.windowsBytes[scalar.value] : nil
            return own ?? UInt8(truncatingIfNeeded: scalar.value)
        }
    }
}

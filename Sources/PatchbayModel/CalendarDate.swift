/// A calendar day in the proleptic Gregorian calendar, without a time zone, such as a birthday.
public struct CalendarDate: Hashable, Comparable, Sendable {
    /// The year, 0 to 9999.
    public let year: Int
    /// The month, 1 to 12.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Creates a day; nil if the calendar has no such day or the year does not have four digits.
    public init?(year: Int, month: Int, day: Int) {
        guard (0...9999).contains(year), (1...12).contains(month), day >= 1,
            day <= CalendarDate.daysIn(month: month, year: year)
        else { return nil }
        self.init(unchecked: (year, month, day))
    }

    /// Creates a day from `YYYY-MM-DD`; nil if the text is invalid.
    public init?(text: String) {
        var text = text
        let date = text.withUTF8 { utf8 -> CalendarDate? in
            var scanner = DigitScanner(utf8)
            let date = scanner.date()
            return scanner.isAtEnd ? date : nil
        }
        guard let date else { return nil }
        self = date
    }

    /// Creates a day from the number of days since 1970-01-01; nil outside the years 0 to 9999.
    init?(daysSince1970 days: Int64) {
        let parts = Self.parts(daysSince1970: days)
        guard (0...9999).contains(parts.year) else { return nil }
        self.init(unchecked: parts)
    }

    /// Returns the year, month, and day for a number of days since 1970-01-01, in any year.
    static func parts(daysSince1970 days: Int64) -> (year: Int, month: Int, day: Int) {
        // The calendar repeats every 400 years of 146,097 days; count from 0000-03-01, so that leap days come last.
        let (era, dayOfEra) = (days + 719_468).dividedRoundingDown(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = Int(shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9)
        let year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        return (year, month, Int(dayOfYear - (153 * shiftedMonth + 2) / 5) + 1)
    }

    private init(unchecked parts: (Int, Int, Int)) { (year, month, day) = parts }

    /// The number of days since 1970-01-01; negative before.
    var daysSince1970: Int64 {
        let shiftedYear = Int64(month <= 2 ? year - 1 : year)
        let (era, yearOfEra) = shiftedYear.dividedRoundingDown(by: 400)
        let dayOfYear = Int64((153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1)
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// The day as `YYYY-MM-DD`.
    public var text: String { "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))" }

    /// Orders days chronologically.
    public static func < (left: CalendarDate, right: CalendarDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }

    private static func daysIn(month: Int, year: Int) -> Int {
        switch month {
        case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}

/// Returns the decimal text of a non-negative number, with leading zeros up to `width` digits.
func padded(_ number: some BinaryInteger, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
}

/// Reads fixed-width digits and single characters from the beginning of a text.
struct DigitScanner {
    // The invariant: 0 <= position <= bytes.count, and a byte is read only below bytes.count. The bytes outlive the scanner,
    // which is created and used inside one `withUTF8`, or over bytes that the caller keeps alive.
    private let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(_ bytes: UnsafeBufferPointer<UInt8>) { self.bytes = bytes }

    var isAtEnd: Bool { position == bytes.count }

    /// Reads exactly `count` digits.
    mutating func digits(_ count: Int) -> Int? {
        guard bytes.count - position >= count else { return nil }
        var number = 0
        for index in position..<position + count {
            let digit = bytes[index] &- 0x30
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int(digit)
        }
        position += count
        return number
    }

    /// Reads one to nine digits after a decimal point, in billionths.
    mutating func fraction() -> Int32? {
        let start = position
        var number: Int32 = 0
        while position < bytes.count, bytes[position] &- 0x30 < 10 {
            guard position - start < 9 else { return nil }
            number = number * 10 + Int32(bytes[position] &- 0x30)
            position += 1
        }
        guard position > start else { return nil }
        for _ in position - start..<9 { number *= 10 }
        return number
    }

    /// Reads `YYYY-MM-DD`; nil if there is no such day.
    mutating func date() -> CalendarDate? {
        guard let year = digits(4), skip("-"), let month = digits(2), skip("-"), let day = digits(2) else { return nil }
        return CalendarDate(year: year, month: month, day: day)
    }

    /// Skips the next character if it equals `character`.
    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    /// Skips the next character if it equals one of these.
    mutating func skip(_ first: Unicode.Scalar, _ second: Unicode.Scalar, _ third: Unicode.Scalar? = nil) -> Bool {
        skip(first) || skip(second) || third.map { skip($0) } ?? false
    }
}

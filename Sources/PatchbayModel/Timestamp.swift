/// A point in time as a person's data holds it: to the nanosecond, in the years 0 to 9999.
///
/// Wider and finer than ``Instant``, so that a fraction of a second or a far date in an export comes through unharmed.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970, UTC, rounded down.
    public let seconds: Int64
    /// Nanoseconds after that second, 0 to 999,999,999.
    public let nanoseconds: Int32

    /// A point in time; nil outside the years 0 to 9999.
    public init?(seconds: Int64, nanoseconds: Int32 = 0) {
        guard (0..<1_000_000_000).contains(nanoseconds), (-62_167_219_200...253_402_300_799).contains(seconds) else {
            return nil
        }
        (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    /// The same point in time; an instant outside the years 0 to 9999 is moved to the nearest end.
    public init(_ instant: Instant) {
        let (seconds, remainder) = instant.milliseconds.dividedRoundingDown(by: 1000)
        self.seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
        nanoseconds = Int32(remainder) * 1_000_000
    }

    /// Reads RFC 3339: `T` or a space between date and time, `Z` or an offset, up to nine digits of a second.
    ///
    /// Nil if the text is anything else; a leap second (`:60`) is read as the next second.
    public init?(text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.digits(4), scanner.skip("-"), let month = scanner.digits(2), scanner.skip("-"),
            let day = scanner.digits(2), let date = CalendarDate(year: year, month: month, day: day),
            scanner.skip("Tt "),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60,
            scanner.skip(":"), let second = scanner.digits(2), second <= 60
        else { return nil }
        var nanoseconds: Int32 = 0
        if scanner.skip(".") {
            guard let digits = scanner.digitRun(), digits.utf8.count <= 9, let fraction = Int32(digits) else {
                return nil
            }
            nanoseconds = (digits.utf8.count..<9).reduce(fraction) { value, _ in value * 10 }
        }
        guard let offset = Timestamp.offset(&scanner), scanner.isAtEnd else { return nil }
        let time = Int64(hour * 3600 + minute * 60 + second)
        self.init(seconds: date.daysSince1970 * 86_400 + time - offset, nanoseconds: nanoseconds)
    }

    private static func offset(_ scanner: inout DigitScanner) -> Int64? {
        switch scanner.take("Zz+-") {
        case UInt8(ascii: "Z"), UInt8(ascii: "z"): return 0
        case let sign?:
            guard let hours = scanner.digits(2), hours < 24, scanner.skip(":"), let minutes = scanner.digits(2),
                minutes < 60
            else { return nil }
            let seconds = Int64(hours * 3600 + minutes * 60)
            return sign == UInt8(ascii: "-") ? -seconds : seconds
        case nil: return nil
        }
    }

    /// The same point in time in whole milliseconds, the rest cut.
    public var instant: Instant { Instant(milliseconds: seconds * 1000 + Int64(nanoseconds / 1_000_000)) }

    /// The day in UTC.
    public var date: CalendarDate {
        let days = seconds.dividedRoundingDown(by: 86_400).quotient
        guard let date = CalendarDate(daysSince1970: days) else { preconditionFailure("checked by every initialiser") }
        return date
    }

    /// RFC 3339 in UTC with as many digits of a second as the value needs: none, or up to nine.
    public var text: String {
        var digits = 9
        var rest = nanoseconds
        while digits > 0, rest % 10 == 0 { (rest, digits) = (rest / 10, digits - 1) }
        return text(fractionDigits: digits)
    }

    /// RFC 3339 in UTC with exactly that many digits of a second (0 to 9), the rest cut.
    public func text(fractionDigits: Int) -> String {
        let time = Int(seconds.dividedRoundingDown(by: 86_400).remainder)
        let date = date
        var text: [UInt8] = []
        text.reserveCapacity(32)
        func put(_ number: Int, _ count: Int, _ mark: Unicode.Scalar) {
            var divisor = 1
            for _ in 1..<count { divisor *= 10 }
            for _ in 0..<count {
                text.append(UInt8(truncatingIfNeeded: 48 + number / divisor % 10))
                divisor /= 10
            }
            text.append(UInt8(ascii: mark))
        }
        put(date.year, 4, "-")
        put(date.month, 2, "-")
        put(date.day, 2, "T")
        put(time / 3600, 2, ":")
        put(time / 60 % 60, 2, ":")
        put(time % 60, 2, fractionDigits == 0 ? "Z" : ".")
        if fractionDigits > 0 {
            var fraction = Int(nanoseconds)
            for _ in fractionDigits..<9 { fraction /= 10 }
            put(fraction, fractionDigits, "Z")
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// Earlier first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

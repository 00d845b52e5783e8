public import PatchbayJSON

/// A point in time in a person's data, with nanosecond precision, in the years 0 to 9999.
///
/// It has a greater range and precision than ``Instant``, so that fractions of a second and distant dates in an export are
/// preserved.
public struct Timestamp: Hashable, Comparable, Sendable {
    /// Whole seconds since 1970, UTC, rounded down.
    public let seconds: Int64
    /// Nanoseconds after that second, 0 to 999,999,999.
    public let nanoseconds: Int32

    /// Creates a point in time; nil outside the years 0 to 9999.
    public init?(seconds: Int64, nanoseconds: Int32 = 0) {
        guard (0..<1_000_000_000).contains(nanoseconds), (-62_167_219_200...253_402_300_799).contains(seconds) else {
            return nil
        }
        (self.seconds, self.nanoseconds) = (seconds, nanoseconds)
    }

    /// Creates a timestamp from an instant. An instant outside the years 0 to 9999 is moved to the nearest limit.
    public init(_ instant: Instant) {
        let (seconds, remainder) = instant.milliseconds.dividedRoundingDown(by: 1000)
        self.seconds = min(max(seconds, -62_167_219_200), 253_402_300_799)
        nanoseconds = Int32(remainder) * 1_000_000
    }

    /// Creates a timestamp from RFC 3339 text: `T` or a space between date and time, `Z` or an offset, up to nine fraction
    /// digits.
    ///
    /// Nil if the text has another form. A leap second (`:60`) is read as the following second.
    public init?(text: String) {
        var text = text
        guard let value = text.withUTF8({ Timestamp(utf8: $0) }) else { return nil }
        self = value
    }

    /// Creates a timestamp from the UTF-8 bytes of RFC 3339 text.
    init?(utf8: UnsafeBufferPointer<UInt8>) {
        var scanner = DigitScanner(utf8)
        guard let date = scanner.date(), scanner.skip("T", "t", " "),
            let hour = scanner.digits(2), hour < 24, scanner.skip(":"), let minute = scanner.digits(2), minute < 60,
            scanner.skip(":"), let second = scanner.digits(2), second <= 60
        else { return nil }
        var nanoseconds: Int32 = 0
        if scanner.skip(".") {
            guard let fraction = scanner.fraction() else { return nil }
            nanoseconds = fraction
        }
        guard let offset = Timestamp.offset(&scanner), scanner.isAtEnd else { return nil }
        let time = Int64(hour * 3600 + minute * 60 + second)
        self.init(seconds: date.daysSince1970 * 86_400 + time - offset, nanoseconds: nanoseconds)
    }

    private static func offset(_ scanner: inout DigitScanner) -> Int64? {
        if scanner.skip("Z", "z") { return 0 }
        let isWest = scanner.skip("-")
        guard isWest || scanner.skip("+"), let hours = scanner.digits(2), hours < 24, scanner.skip(":"),
            let minutes = scanner.digits(2), minutes < 60
        else { return nil }
        let seconds = Int64(hours * 3600 + minutes * 60)
        return isWest ? -seconds : seconds
    }

    /// The same point in time in whole milliseconds, truncated.
    public var instant: Instant { Instant(milliseconds: seconds * 1000 + Int64(nanoseconds / 1_000_000)) }

    /// The day in UTC.
    public var date: CalendarDate {
        let days = seconds.dividedRoundingDown(by: 86_400).quotient
        guard let date = CalendarDate(daysSince1970: days) else { preconditionFailure("checked by every initialiser") }
        return date
    }

    /// RFC 3339 text in UTC with as many fraction digits as the value needs (0 to 9).
    public var text: String { text(fractionDigits: neededDigits) }

    private var neededDigits: Int {
        var digits = 9
        var rest = nanoseconds
        while digits > 0, rest % 10 == 0 { (rest, digits) = (rest / 10, digits - 1) }
        return digits
    }

    /// Returns RFC 3339 text in UTC with exactly `fractionDigits` digits (0 to 9), truncated.
    public func text(fractionDigits: Int) -> String {
        String(unsafeUninitializedCapacity: Self.longest) { put(in: $0, from: 0, fractionDigits: fractionDigits) }
    }

    /// Writes the text as a JSON string.
    func write(to writer: inout JSONWriter, fractionDigits: Int) {
        writer.ascii(atMost: Self.longest + 2) { room in
            room[0] = UInt8(ascii: "\"")
            let end = put(in: room, from: 1, fractionDigits: fractionDigits)
            room[end] = UInt8(ascii: "\"")
            return end + 1
        }
    }

    /// Writes the text as a JSON string with as many fraction digits as the value needs.
    public func write(to writer: inout JSONWriter) { write(to: &writer, fractionDigits: neededDigits) }

    /// The length in bytes of `2031-03-09T07:05:11.123456789Z`.
    private static let longest = 30

    /// Writes the text into a buffer with space for ``longest`` bytes from `start`, and returns the end position.
    private func put(in room: UnsafeMutableBufferPointer<UInt8>, from start: Int, fractionDigits: Int) -> Int {
        let (days, time) = seconds.dividedRoundingDown(by: 86_400)
        let date = CalendarDate.parts(daysSince1970: days)
        var place = start
        func put(_ number: Int, _ count: Int, _ mark: Unicode.Scalar) {
            var rest = UInt32(truncatingIfNeeded: number)
            for digit in (place..<place + count).reversed() {
                room[digit] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
                rest /= 10
            }
            room[place + count] = UInt8(ascii: mark)
            place += count + 1
        }
        put(date.year, 4, "-")
        put(date.month, 2, "-")
        put(date.day, 2, "T")
        put(Int(time / 3600), 2, ":")
        put(Int(time / 60 % 60), 2, ":")
        put(Int(time % 60), 2, fractionDigits == 0 ? "Z" : ".")
        if fractionDigits > 0 {
            var fraction = nanoseconds
            for _ in fractionDigits..<9 { fraction /= 10 }
            put(Int(fraction), fractionDigits, "Z")
        }
        return place
    }

    /// Orders timestamps chronologically.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

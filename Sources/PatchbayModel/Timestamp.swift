public import PatchbayJSON

/// A point in time as a person's data holds it: to the nanosecond, in the years 0 to 9999.
///
/// Wider and finer than ``Instant``, so that a fraction of a second or a far date in an export comes through unharmed.
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
        var text = text
        guard let value = text.withUTF8({ Timestamp(utf8: $0) }) else { return nil }
        self = value
    }

    /// The same from bytes.
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

    /// The same point in time in whole milliseconds, the rest cut.
    public var instant: Instant { Instant(milliseconds: seconds * 1000 + Int64(nanoseconds / 1_000_000)) }

    /// The day in UTC.
    public var date: CalendarDate {
        let days = seconds.dividedRoundingDown(by: 86_400).quotient
        guard let date = CalendarDate(daysSince1970: days) else { preconditionFailure("checked by every initialiser") }
        return date
    }

    /// RFC 3339 in UTC with as many digits of a second as the value needs: none, or up to nine.
    public var text: String { text(fractionDigits: neededDigits) }

    private var neededDigits: Int {
        var digits = 9
        var rest = nanoseconds
        while digits > 0, rest % 10 == 0 { (rest, digits) = (rest / 10, digits - 1) }
        return digits
    }

    /// RFC 3339 in UTC with exactly that many digits of a second (0 to 9), the rest cut.
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

    /// Writes the text as a JSON string with as many digits of a second as the value needs.
    public func write(to writer: inout JSONWriter) { write(to: &writer, fractionDigits: neededDigits) }

    /// Bytes of `2031-03-09T07:05:11.123456789Z`.
    private static let longest = 30

    /// Puts the text into room for ``longest`` bytes from `start` and returns where it ends.
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

    /// Earlier first.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        (left.seconds, left.nanoseconds) < (right.seconds, right.nanoseconds)
    }
}

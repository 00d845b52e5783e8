/// A time of day to the minute, without a date or time zone, such as a delivery hour or an opening time.
public struct LocalTime: Hashable, Comparable, Sendable {
    /// The hour, 0 to 23.
    public let hour: Int
    /// The minute, 0 to 59.
    public let minute: Int

    /// Creates a time of day; nil outside 00:00 to 23:59.
    public init?(hour: Int, minute: Int) {
        guard (0...23).contains(hour), (0...59).contains(minute) else { return nil }
        (self.hour, self.minute) = (hour, minute)
    }

    /// Creates a time from `HH:MM`; nil if the text is invalid.
    public init?(text: String) {
        var text = text
        let time = text.withUTF8 { utf8 -> LocalTime? in
            var scanner = DigitScanner(utf8)
            guard let hour = scanner.digits(2), scanner.skip(":"), let minute = scanner.digits(2), scanner.isAtEnd
            else { return nil }
            return LocalTime(hour: hour, minute: minute)
        }
        guard let time else { return nil }
        self = time
    }

    /// The time as `HH:MM`.
    public var text: String { "\(padded(hour, 2)):\(padded(minute, 2))" }

    /// Orders times chronologically.
    public static func < (left: LocalTime, right: LocalTime) -> Bool {
        (left.hour, left.minute) < (right.hour, right.minute)
    }
}

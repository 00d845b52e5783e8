public import PatchbayModel

/// The order and the separators of a date's numbers in a file.
public enum DayForm: String, NeutralWord {
    case iso = "yyyy-MM-dd"
    case slashed = "yyyy/MM/dd"
    case american = "MM/dd/yyyy"
    case european = "dd/MM/yyyy"
    case dotted = "dd.MM.yyyy"

    /// The separator between the numbers.
    package var mark: Unicode.Scalar {
        switch self {
        case .iso: "-"
        case .slashed, .american, .european: "/"
        case .dotted: "."
        }
    }

    /// The positions of year, month, and day among the numbers.
    package var order: (year: Int, month: Int, day: Int) {
        switch self {
        case .iso, .slashed: (0, 1, 2)
        case .american: (2, 0, 1)
        case .european, .dotted: (2, 1, 0)
        }
    }

    /// Returns a day in this form.
    package func text(_ day: CalendarDate) -> String {
        let (iso, order) = (day.text.split(separator: "-").map(String.init), order)
        var parts = iso
        (parts[order.year], parts[order.month], parts[order.day]) = (iso[0], iso[1], iso[2])
        return parts.joined(separator: String(mark))
    }

    /// Whether a text has this form, but the calendar has no such day.
    package func isAbsentDay(_ text: String) -> Bool {
        guard day(text) == nil else { return false }
        let lengths = text.split(separator: Character(mark), omittingEmptySubsequences: false).map { part in
            part.allSatisfy(\.isASCIIDigit) ? part.count : 0
        }
        guard lengths.count == 3 else { return false }
        return lengths[order.year] == 4 && [order.month, order.day].allSatisfy { (1...2).contains(lengths[$0]) }
    }

    /// Returns the day of a text in this form, with or without leading zeros in day and month.
    package func day(_ text: String) -> CalendarDate? {
        let parts = text.split(separator: Character(mark), omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isASCIIDigit) ? Int(part) : nil }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        let (year, month, day) = order
        guard parts[year].count == 4, (1...2).contains(parts[month].count), (1...2).contains(parts[day].count)
        else { return nil }
        return CalendarDate(year: numbers[year], month: numbers[month], day: numbers[day])
    }
}

/// The digits of a 24-hour or 12-hour clock time in a file. Its reader checks whether the time exists.
private struct Clock {
    /// `HH:MM`.
    let minutes: String
    /// The seconds; nil if there are none.
    let seconds: String?
    /// Whether the text has AM or PM.
    let isTwelveHour: Bool

    /// Creates a clock time from a time and an optional `AM` or `PM`; nil for other words.
    init?(_ words: [String]) {
        guard let time = words.first, words.count <= 2 else { return nil }
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        isTwelveHour = words.count == 2
        guard (2...3).contains(parts.count), parts[1].count == 2, (1...2).contains(parts[0].count),
            parts[0].allSatisfy(\.isASCIIDigit), var hour = Int(parts[0])
        else { return nil }
        if isTwelveHour {
            guard (1...12).contains(hour) else { return nil }
            switch words[1].uppercased() {
            case "AM": hour %= 12
            case "PM": hour = hour % 12 + 12
            default: return nil
            }
        }
        minutes = "\(hour < 10 ? "0" : "")\(hour):\(parts[1])"
        seconds = parts.count == 3 ? String(parts[2]) : nil
    }
}

/// A time of day as written in a file.
public struct FileTime: Hashable, Sendable {
    /// The time to the minute.
    public let time: LocalTime
    /// Whether the text has seconds, which the time does not contain.
    public let isCut: Bool

    /// Creates a time from a 24-hour or 12-hour clock time, with or without seconds; nil if the text is invalid.
    public init?(_ text: String) {
        guard let clock = Clock(text.split(whereSeparator: \.isWhitespace).map(String.init)),
            let time = LocalTime(text: clock.minutes)
        else { return nil }
        let seconds = clock.seconds ?? "00"
        // Seconds have the same range as minutes.
        guard LocalTime(text: "00:\(seconds)") != nil else { return nil }
        (self.time, isCut) = (time, seconds != "00")
    }
}

/// A date or a point in time as written in a file.
public struct FileMoment: Hashable, Sendable {
    /// The calendar day in the text.
    public let day: CalendarDate
    /// The point in time; midnight if the text has no time.
    public let timestamp: Timestamp
    /// Whether the text contains a time zone.
    package let hasZone: Bool
    /// Whether the text contains a time of day.
    package let hasTime: Bool

    /// Creates a moment from an RFC 3339 text, or from a day in one of the forms with an optional 24-hour or 12-hour time and
    /// an optional `GMT`; nil if the text is invalid.
    ///
    /// - Parameters:
    ///   - text: The column's text.
    ///   - forms: The forms of days; `yyyy-MM-dd` is always accepted.
    ///   - zone: `Z` or an offset such as `-06:00`, for texts without a zone.
    public init?(_ text: String, forms: [DayForm], zone: String) {
        let text = text.trimmed
        if let timestamp = Timestamp(text: text), let day = CalendarDate(text: String(text.prefix(10))) {
            (self.timestamp, self.day, self.hasZone, hasTime) = (timestamp, day, true, true)
            return
        }
        let hasZone = text.hasSuffix(" GMT")
        let words = text.dropLast(hasZone ? 4 : 0).split(whereSeparator: { $0 == " " || $0 == "T" }).map(String.init)
        guard let first = words.first,
            let day = CalendarDate(text: first) ?? forms.lazy.compactMap({ $0.day(first) }).first,
            let clock = FileMoment.clock(Array(words.dropFirst())),
            let timestamp = Timestamp(text: "\(day.text)T\(clock)\(hasZone ? "Z" : zone)")
        else { return nil }
        (self.day, self.timestamp, self.hasZone, hasTime) = (day, timestamp, hasZone, words.count > 1)
    }

    /// Whether an opt-out at this moment applies to an opt-in at another one: it is not earlier, or both are on one day and
    /// one of them has no time.
    package func endsOptIn(at optIn: FileMoment) -> Bool {
        timestamp >= optIn.timestamp || day == optIn.day && !(hasTime && optIn.hasTime)
    }

    /// Returns `HH:MM:SS` with an optional fraction; midnight if there are no words.
    private static func clock(_ words: [String]) -> String? {
        if words.isEmpty { return "00:00:00" }
        guard let clock = Clock(words), clock.seconds != nil || clock.isTwelveHour else { return nil }
        return "\(clock.minutes):\(clock.seconds ?? "00")"
    }

    /// Returns the seconds by which an offset is east of UTC: `Z`, `-06:00`.
    package static func seconds(of zone: String) -> Int64 {
        guard let local = Timestamp(text: "2000-01-01T00:00:00\(zone)"),
            let utc = Timestamp(text: "2000-01-01T00:00:00Z")
        else { return 0 }
        return utc.seconds - local.seconds
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

import PatchbayAdapterKit
import PatchbayModel

/// A date as the vendor's exports write it.
struct VendorDate: Equatable, Sendable {
    /// The calendar day as it stands.
    let day: CalendarDate
    /// The point in time; midnight where the text has no time.
    let timestamp: Timestamp

    /// Reads `2031/3/9`, `3/9/2031 7:05:11 AM`, `2031-03-09 07:05:11` or ISO 8601; nil if the text is none of them.
    ///
    /// - Parameters:
    ///   - text: the column's text.
    ///   - zone: `Z` or an offset such as `-06:00`, for texts that name none.
    init?(_ text: String, zone: String) {
        let text = text.trimmed
        if let timestamp = Timestamp(text: text), let day = CalendarDate(text: String(text.prefix(10))) {
            (self.timestamp, self.day) = (timestamp, day)
            return
        }
        let words = text.split(whereSeparator: { $0 == " " || $0 == "T" }).map(String.init)
        guard let first = words.first, words.count <= 3, let day = VendorDate.day(first),
            let clock = VendorDate.clock(Array(words.dropFirst())),
            let timestamp = Timestamp(text: "\(day.text)T\(clock)\(zone)")
        else { return nil }
        (self.day, self.timestamp) = (day, timestamp)
    }

    private static func day(_ text: String) -> CalendarDate? {
        if let day = CalendarDate(text: text) { return day }
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        let numbers = parts.compactMap { part in part.allSatisfy(\.isASCIIDigit) ? Int(part) : nil }
        guard parts.count == 3, numbers.count == 3 else { return nil }
        return switch (parts[0].count, parts[2].count) {
        case (4, 1...2): CalendarDate(year: numbers[0], month: numbers[1], day: numbers[2])
        case (1...2, 4): CalendarDate(year: numbers[2], month: numbers[0], day: numbers[1])
        default: nil
        }
    }

    /// `HH:MM:SS` with a fraction if there is one; midnight without words.
    private static func clock(_ words: [String]) -> String? {
        guard let time = words.first else { return "00:00:00" }
        let parts = time.split(separator: ":", omittingEmptySubsequences: false)
        let isTwelveHour = words.count == 2
        guard parts.count == 3 || (isTwelveHour && parts.count == 2), parts[1].count == 2,
            (1...2).contains(parts[0].count), parts[0].allSatisfy(\.isASCIIDigit), var hour = Int(parts[0])
        else { return nil }
        if isTwelveHour {
            guard (1...12).contains(hour) else { return nil }
            switch words[1].uppercased() {
            case "AM": hour %= 12
            case "PM": hour = hour % 12 + 12
            default: return nil
            }
        }
        let seconds = parts.count == 3 ? parts[2] : "00"
        return "\(hour < 10 ? "0" : "")\(hour):\(parts[1]):\(seconds)"
    }
}

extension Character {
    fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}

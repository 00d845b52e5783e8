public import PatchbayModel

/// The delay that a server asks for (RFC 9110, `Retry-After`).
extension WireResponse {
    /// Returns the delay that the server asks for; nil if there is no valid `Retry-After`.
    ///
    /// The value is a number of seconds or a date in one of the three HTTP formats. A date is compared with the reply's own
    /// `Date`, so that a wrong local clock does no harm; without `Date`, with the local wall clock. A date in the past means no
    /// delay.
    ///
    /// - Parameter date: The wall clock time at which the reply was received.
    /// - Returns: The delay, at most 366 days. The adapter's retry policy limits it further.
    public func retryAfter(at date: Instant) -> Duration? {
        guard let text = self[header: "Retry-After"]?.trimmed, !text.isEmpty else { return nil }
        let longest = Duration.seconds(86_400 * 366)
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // A number with too many digits for an integer also means a very long delay.
            return Int64(text).map { min(.seconds($0), longest) } ?? longest
        }
        guard let until = HTTPDate.instant(text, near: date) else { return nil }
        let asked = until - (self[header: "Date"].flatMap { HTTPDate.instant($0.trimmed, near: date) } ?? date)
        return min(max(.zero, asked), longest)
    }
}

extension Exchange {
    /// The delay that the server asks for; nil if there is no reply or no valid `Retry-After`.
    public var retryAfter: Duration? { outcome.reply?.retryAfter(at: moment.date) }
}

/// The HTTP date formats: `Sun, 06 Nov 1994 08:49:37 GMT`, and the two obsolete ones that recipients must accept.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// Returns the instant of a date; nil if it is invalid. `near` determines the century of a two-digit year.
    static func instant(_ text: String, near: Instant) -> Instant? {
        let parts = text.split { $0 == " " || $0 == "," || $0 == "-" }.map(String.init)
        switch parts.count {
        // Sun, 06 Nov 1994 08:49:37 GMT, and Sunday, 06-Nov-94 08:49:37 GMT
        case 6 where parts[5] == "GMT": return instant(day: parts[1], parts[2], year: parts[3], parts[4], near)
        // Sun Nov  6 08:49:37 1994
        case 5: return instant(day: parts[2], parts[1], year: parts[4], parts[3], near)
        default: return nil
        }
    }

    private static func instant(day: String, _ month: String, year: String, _ time: String, _ near: Instant) -> Instant?
    {
        guard let month = months.firstIndex(of: month), let day = number(day), let year = self.year(year, near) else {
            return nil
        }
        func padded(_ number: Int, _ width: Int) -> String {
            String(repeating: "0", count: max(0, width - String(number).count)) + String(number)
        }
        return Instant(text: "\(padded(year, 4))-\(padded(month + 1, 2))-\(padded(day, 2))T\(time)Z")
    }

    private static func number(_ text: String) -> Int? {
        (1...4).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int(text) : nil
    }

    /// Returns a four-digit year as it is. A two-digit year is the latest one that is at most 50 years ahead.
    private static func year(_ text: String, _ near: Instant) -> Int? {
        guard let number = number(text), text.utf8.count != 2 else {
            guard let number = number(text) else { return nil }
            let present = 1970 + Int(near.milliseconds / 31_556_952_000)
            let year = present - present % 100 + number
            return year > present + 50 ? year - 100 : year
        }
        return text.utf8.count == 4 ? number : nil
    }
}

public import PatchbayModel

/// When the server wants to be asked again (RFC 9110, `Retry-After`).
extension WireResponse {
    /// How long the server asks to wait; nil if it asks for nothing that can be read.
    ///
    /// Seconds, or a date in one of the three forms of HTTP. A date is taken against the answer's own `Date`, so that a
    /// wrong clock here does no harm; without that, against the wall clock here. A date that has passed is no wait.
    ///
    /// - Parameter date: the wall clock when the answer came.
    /// - Returns: the wait, at most 366 days; the adapter's law cuts it further.
    public func retryAfter(at date: Instant) -> Duration? {
        guard let text = self[header: "Retry-After"]?.trimmed, !text.isEmpty else { return nil }
        let longest = Duration.seconds(86_400 * 366)
        if text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            // More digits than a number can hold are a very long wait all the same.
            return Int64(text).map { min(.seconds($0), longest) } ?? longest
        }
        guard let until = HTTPDate.instant(text, near: date) else { return nil }
        let asked = until - (self[header: "Date"].flatMap { HTTPDate.instant($0.trimmed, near: date) } ?? date)
        return min(max(.zero, asked), longest)
    }
}

extension Exchange {
    /// How long the server asks to wait; nil without an answer that says so.
    public var retryAfter: Duration? { outcome.reply?.retryAfter(at: moment.date) }
}

/// The dates of HTTP: `Sun, 06 Nov 1994 08:49:37 GMT`, and the two old forms that a reader must know.
enum HTTPDate {
    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    /// The instant of a date; nil if it is none. `near` settles the century of a year with two digits.
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

    /// A year of four digits; one of two is the latest that lies at most 50 years ahead.
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

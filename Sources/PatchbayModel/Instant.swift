/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// The engine uses it for two separate timelines: the wall clock (`capturedAt`, values on the wire) and its own monotonic
/// timeline (`since`, waiting, and pacing).
public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970, UTC.
    public var milliseconds: Int64

    /// Creates an instant from milliseconds since 1970, UTC.
    @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Whole seconds since 1970, UTC, rounded down.
    public var seconds: Int64 { milliseconds.dividedRoundingDown(by: 1000).quotient }

    /// Orders instants chronologically.
    @inlinable public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// Returns an instant later by a duration; saturates at the ends of the range.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        guard overflow else { return Instant(milliseconds: sum) }
        return Instant(milliseconds: duration < .zero ? .min : .max)
    }

    /// Returns the time from `right` to `left`; saturates at 64 bits of milliseconds.
    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        guard overflow else { return .milliseconds(difference) }
        return .milliseconds(left < right ? Int64.min : Int64.max)
    }

    /// The instant as RFC 3339 text in UTC with milliseconds: `2031-03-09T07:05:11.042Z`.
    public var text: String { Timestamp(self).text(fractionDigits: 3) }

    /// Creates an instant from RFC 3339 text with any offset; digits below milliseconds are truncated. Nil if the text is
    /// invalid.
    public init?(text: String) {
        guard let timestamp = Timestamp(text: text) else { return nil }
        self = timestamp.instant
    }
}

extension Instant: Codable {
    public init(from decoder: any Decoder) throws {
        milliseconds = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(milliseconds)
    }
}

extension Duration {
    /// The duration in whole milliseconds, truncated toward zero; saturates at the ends of the range.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Int64 {
    /// Returns quotient and remainder; the remainder is never negative.
    func dividedRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

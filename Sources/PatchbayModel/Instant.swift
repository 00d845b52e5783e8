/// A point in time, in whole milliseconds since 1970-01-01T00:00:00Z.
///
/// The engine uses it for two timelines that never mix: the wall clock (`capturedAt`, what is written on the wire) and
/// its own (`since`, waiting and pacing), which never runs back.
public struct Instant: Hashable, Comparable, Sendable {
    /// Milliseconds since 1970, UTC.
    public var milliseconds: Int64

    /// Creates an instant that many milliseconds after 1970, UTC.
    @inlinable public init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Whole seconds since 1970, UTC, rounded down.
    public var seconds: Int64 { milliseconds.dividedRoundingDown(by: 1000).quotient }

    /// Earlier first.
    @inlinable public static func < (left: Instant, right: Instant) -> Bool { left.milliseconds < right.milliseconds }

    /// The instant that much later; saturates at the ends of the range.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        let (sum, overflow) = instant.milliseconds.addingReportingOverflow(duration.wholeMilliseconds)
        guard overflow else { return Instant(milliseconds: sum) }
        return Instant(milliseconds: duration < .zero ? .min : .max)
    }

    /// The time from `right` to `left`; saturates at 64 bits of milliseconds.
    public static func - (left: Instant, right: Instant) -> Duration {
        let (difference, overflow) = left.milliseconds.subtractingReportingOverflow(right.milliseconds)
        guard overflow else { return .milliseconds(difference) }
        return .milliseconds(left < right ? Int64.min : Int64.max)
    }

    /// RFC 3339 in UTC with three digits of a second: `2031-03-09T07:05:11.042Z`.
    public var text: String { Timestamp(self).text(fractionDigits: 3) }

    /// Reads RFC 3339 text with any offset; digits past the milliseconds are cut. Nil if the text is no instant.
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
    /// The duration in whole milliseconds, cut towards zero; saturates at the ends of the range.
    public var wholeMilliseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1000)
        guard !overflow else { return seconds < 0 ? .min : .max }
        let (sum, carry) = product.addingReportingOverflow(attoseconds / 1_000_000_000_000_000)
        return carry ? (seconds < 0 ? .min : .max) : sum
    }
}

extension Int64 {
    /// Quotient and remainder with the remainder never negative.
    func dividedRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

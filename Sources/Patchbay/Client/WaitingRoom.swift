import PatchbayModel

/// Captures that wait in memory while another process holds the outbox's file.
struct WaitingRoom {
    /// The maximum number of captures that wait. Further ones are refused.
    static let capacity = 10_000
    /// The time after which the wait is reported.
    static let timeout = Duration.seconds(30)

    private var entries: [CaptureBuffer.Entry] = []
    private var since: Instant?
    private var hasComplained = false

    /// Whether no capture waits.
    var isEmpty: Bool { entries.isEmpty }

    /// Adds captures in order. Returns those that exceed the capacity.
    mutating func enter(_ new: [CaptureBuffer.Entry], now: Instant) -> [CaptureBuffer.Entry] {
        since = since ?? now
        let room = max(0, Self.capacity - entries.count)
        entries += new.prefix(room)
        return Array(new.dropFirst(room))
    }

    /// Removes and returns all captures, in order.
    mutating func leave() -> [CaptureBuffer.Entry] {
        defer { entries = [] }
        return entries
    }

    /// Notes that the file is free again.
    mutating func isFree() { (since, hasComplained) = (nil, false) }

    /// Returns the number of waiting captures after ``timeout``, once; nil before, and if it was returned already.
    mutating func complaint(now: Instant) -> Int? {
        guard !hasComplained, let since, now - since >= Self.timeout else { return nil }
        hasComplained = true
        return entries.count
    }
}

import PatchbayModel

/// Captures that wait in memory while another process holds the outbox's file.
struct WaitingRoom {
    /// So many may wait; more are refused.
    static let capacity = 10_000
    /// After so long somebody is told.
    static let timeout = Duration.seconds(30)

    private var entries: [CaptureBuffer.Entry] = []
    private var since: Instant?
    private var hasComplained = false

    /// Whether nobody waits.
    var isEmpty: Bool { entries.isEmpty }

    /// Takes captures in, in order; returns those for whom there is no room.
    mutating func enter(_ new: [CaptureBuffer.Entry], now: Instant) -> [CaptureBuffer.Entry] {
        since = since ?? now
        let room = max(0, Self.capacity - entries.count)
        entries += new.prefix(room)
        return Array(new.dropFirst(room))
    }

    /// Everybody who waits, in order; none is left.
    mutating func leave() -> [CaptureBuffer.Entry] {
        defer { entries = [] }
        return entries
    }

    /// The file is free again.
    mutating func isFree() { (since, hasComplained) = (nil, false) }

    /// How many wait, once they have waited for long; nil before, and when it was said already.
    mutating func complaint(now: Instant) -> Int? {
        guard !hasComplained, let since, now - since >= Self.timeout else { return nil }
        hasComplained = true
        return entries.count
    }
}

/// What deliberate faults do with an operation that has ended; without one of them, nothing.
///
/// A row that was put back bears more refusals than any adapter counts.
extension OutboxStore {
    private static let mark: Int64 = 1_000_000

    /// Puts what has ended back on its way, as if it were new, unless that was done before.
    func putBack(_ range: ClosedRange<Int64>, provider: String) throws(OutboxError) -> Bool {
        guard DeliberateFault.endedPutBack.isPresent || DeliberateFault.endedSentAgain.isPresent,
            try !isMarked(range, provider: provider)
        else { return false }
        let changed = try connection.run(
            """
            UPDATE route SET refusals = refusals + \(Self.mark),
                checksum = row_checksum('route', sequence, provider, lane, queue, hold, step, failures, refusals + \(Self.mark), kind, requests)
            WHERE sequence BETWEEN ?1 AND ?2 AND provider = ?3
            """,
            .integer(range.lowerBound),
            .integer(range.upperBound),
            .text(provider)
        )
        guard changed > 0 else { return false }
        try count(provider: provider, term: "created", code: "again", by: Int64(changed))
        noteUpheaval()
        return true
    }

    /// Whether this ending is one of a row that was put back, and is not to be remembered.
    func isSecondTime(_ range: ClosedRange<Int64>, provider: String) throws(OutboxError) -> Bool {
        guard DeliberateFault.endedSentAgain.isPresent else { return false }
        return try isMarked(range, provider: provider)
    }

    private func isMarked(_ range: ClosedRange<Int64>, provider: String) throws(OutboxError) -> Bool {
        try connection.number(
            "SELECT 1 FROM route WHERE sequence BETWEEN ?1 AND ?2 AND provider = ?3 AND refusals >= \(Self.mark) LIMIT 1",
            .integer(range.lowerBound),
            .integer(range.upperBound),
            .text(provider)
        ) != nil
    }
}

/// Mutations that make a completed operation pending again. Without an active mutation, these methods have no effect.
///
/// A row that was made pending again is marked by a refusal count that no adapter reaches.
extension OutboxStore {
    private static let mark: Int64 = 1_000_000

    /// Makes completed operations pending again, as if they were new. Does so only once per operation.
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

    /// Whether this is the second outcome of a row that was made pending again, so that it must not be added to the history.
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

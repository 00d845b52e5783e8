/// Whether a provider has received an operation, and whether it rejected the operation.
package enum Hearing: Int64, Sendable, Comparable {
    /// The provider never had the operation, the operation was moved to another provider, or it was part of a shadow run only.
    case none
    /// The provider rejected the operation.
    case refused
    /// The operation is pending there, or has another outcome.
    case taken

    /// Creates the value for an outcome with this term.
    init(ofTerm term: String) {
        switch term {
        case "moved", "shadowed": self = .none
        case "rejected": self = .refused
        default: self = .taken
        }
    }

    package static func < (left: Hearing, right: Hearing) -> Bool { left.rawValue < right.rawValue }
}

/// Lookups of whether an operation is known. They query one id at a time, because all ids may not fit in memory.
extension OutboxStore {
    /// Whether an operation is pending, or its outcome is still in the history.
    package func knows(_ id: String) throws(OutboxError) -> Bool {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try updateOutcomeIndex()
            return try connection.number(
                "SELECT 1 WHERE EXISTS (SELECT 1 FROM operation WHERE id = ?1) OR EXISTS (SELECT 1 FROM heard WHERE id = ?1)",
                .text(id)
            ) != nil
        }
    }

    /// Returns whether a provider has received an operation, according to the pending operations and the history.
    package func hearing(of id: String, provider: String) throws(OutboxError) -> Hearing {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try updateOutcomeIndex()
            let most = try connection.number(
                """
                SELECT max(hearing) FROM (
                    SELECT hearing FROM heard WHERE id = ?1 AND provider = ?2
                    UNION ALL SELECT ?3 FROM operation o, route r
                    WHERE o.id = ?1 AND r.sequence = o.sequence AND r.provider = ?2)
                """,
                .text(id),
                .text(provider),
                .integer(Hearing.taken.rawValue)
            )
            let noted = try notedHearing(of: id, provider: provider)
            return max(noted, most.flatMap(Hearing.init) ?? .none)
        }
    }

    // MARK: Operations pending for other providers

    /// Notes that a provider has completed the operations of a range while they are still pending for other providers. Without
    /// this note, the limit of the history could delete the outcome before the other providers have completed the operation.
    ///
    /// A row contains each provider and its result, encoded consecutively as a text and an integer of a row's image. The row is
    /// deleted with its operation, so there are never more of these rows than operations. With a single provider there are
    /// none. `othersAreExpected` notes the operations even if they have no other routes yet.
    func noteHearing(
        _ range: ClosedRange<Int64>,
        provider: String,
        term: String,
        othersAreExpected: Bool = false
    ) throws(OutboxError) {
        let hearing = Hearing(ofTerm: term)
        guard hearing != .none else { return }
        var image = StoredImage()
        var name = provider
        name.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) }
        image.append(integer: hearing.rawValue)
        try connection.run(
            Self.addHearing,
            .integer(range.lowerBound),
            .integer(range.upperBound),
            .blob(image.bytes),
            .integer(othersAreExpected ? 1 : 0)
        )
    }

    /// Deletes the notes of deleted operations.
    func removeHearings(_ range: ClosedRange<Int64>) throws(OutboxError) {
        try connection.run(Self.deleteHearings, .integer(range.lowerBound), .integer(range.upperBound))
    }

    private func notedHearing(of id: String, provider: String) throws(OutboxError) -> Hearing {
        let noted = try soundRows(.hearing, Self.hearingsOfOperation, .text(id)) { row in row.blob(1) }
        var most = Hearing.none
        for bytes in noted {
            var image = ImageReader(bytes)
            while let name = image.text(), let hearing = image.integer() {
                if name == provider { most = max(most, Hearing(rawValue: hearing) ?? .none) }
            }
        }
        return most
    }

    private static let addHearing = Query(
        """
        INSERT INTO hearing (sequence, providers, checksum)
        SELECT sequence, ?3, row_checksum('hearing', sequence, ?3) FROM operation
        WHERE sequence BETWEEN ?1 AND ?2
            AND (?4 OR EXISTS (SELECT 1 FROM route WHERE route.sequence = operation.sequence))
        ON CONFLICT (sequence) DO UPDATE SET providers = CAST(providers || ?3 AS BLOB),
            checksum = row_checksum('hearing', sequence, CAST(providers || ?3 AS BLOB))
        WHERE \(Table.hearing.isSound("hearing."))
        """
    )
    private static let deleteHearings = Query("DELETE FROM hearing WHERE sequence BETWEEN ?1 AND ?2")
    private static let hearingsOfOperation = Query(
        Table.hearing.select(where: "sequence = (SELECT sequence FROM operation WHERE id = ?1)", order: "sequence")
    )

    // MARK: The history by id

    /// Updates an index of the history by id. It is a temporary table on disk and is deleted with the connection.
    private func updateOutcomeIndex() throws(OutboxError) {
        if heardEnd == nil {
            try connection.script(
                """
                DROP TABLE IF EXISTS temp.heard;
                CREATE TEMP TABLE heard (
                    id TEXT NOT NULL, provider TEXT NOT NULL, hearing INTEGER NOT NULL,
                    PRIMARY KEY (id, provider, hearing)) WITHOUT ROWID
                """
            )
            heardEnd = 0
        }
        let end = try historyEnd()
        guard var known = heardEnd, known < end else { return }
        // Reads in parts, because all ids may not fit in memory.
        while case let part = try remembered(behind: known, limit: 1_024), let last = part.last {
            for outcome in part {
                try connection.run(
                    Self.recordOutcome,
                    .text(outcome.entry.id),
                    .text(outcome.entry.provider),
                    .integer(Hearing(ofTerm: outcome.entry.term).rawValue)
                )
            }
            known = last.number
        }
        heardEnd = end
    }

    private static let recordOutcome = Query("INSERT OR IGNORE INTO heard (id, provider, hearing) VALUES (?1, ?2, ?3)")
}

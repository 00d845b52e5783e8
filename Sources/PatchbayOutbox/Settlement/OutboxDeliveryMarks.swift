/// Whether a provider has received an operation, and whether it rejected the operation.
package enum DeliveryMark: Int64, Sendable, Comparable {
    /// The provider never had the operation, the operation was moved to another provider, or it was part of a shadow run only.
    case none
    /// The provider rejected the operation.
    case rejected
    /// The operation is pending there, or has another outcome.
    case received

    /// Creates the mark that an outcome with this term leaves.
    init(ofTerm term: String) {
        switch term {
        case "moved", "shadowed": self = .none
        case "rejected": self = .rejected
        default: self = .received
        }
    }

    package static func < (left: DeliveryMark, right: DeliveryMark) -> Bool { left.rawValue < right.rawValue }
}

/// Which providers have received which operations.
///
/// The answers come from the pending operations, the history, and the notes in the table `deliveryMark`. Lookups query one id
/// at a time, because all ids may not fit in memory.
package final class OutboxDeliveryMarks {
    private unowned let store: OutboxStore
    /// The number of the last outcome in the temporary index of the history by id; nil if the index does not exist yet.
    private var indexedNumber: Int64?

    init(store: OutboxStore) { self.store = store }

    /// Whether an operation is pending, or its outcome is still in the history.
    package func knows(_ id: String) throws(OutboxError) -> Bool {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            try updateIndex()
            return try store.connection.number(
                """
                SELECT 1 WHERE EXISTS (SELECT 1 FROM operation WHERE id = ?1)
                    OR EXISTS (SELECT 1 FROM outcomeIndex WHERE id = ?1)
                """,
                .text(id)
            ) != nil
        }
    }

    /// Returns whether a provider has received an operation, according to the pending operations and the history.
    package func mark(of id: String, provider: String) throws(OutboxError) -> DeliveryMark {
        try store.guarded { () throws(OutboxError) in
            try store.settlement.applyNoted()
            try updateIndex()
            let most = try store.connection.number(
                """
                SELECT max(mark) FROM (
                    SELECT mark FROM outcomeIndex WHERE id = ?1 AND provider = ?2
                    UNION ALL SELECT ?3 FROM operation o, route r
                    WHERE o.id = ?1 AND r.sequence = o.sequence AND r.provider = ?2)
                """,
                .text(id),
                .text(provider),
                .integer(DeliveryMark.received.rawValue)
            )
            let noted = try notedMark(of: id, provider: provider)
            return max(noted, most.flatMap(DeliveryMark.init) ?? .none)
        }
    }

    // MARK: Operations pending for other providers

    /// Notes that a provider has completed the operations of a range while they are still pending for other providers. Without
    /// this note, the limit of the history could delete the outcome before the other providers have completed the operation.
    ///
    /// A row contains each provider and its mark, encoded consecutively as a text and an integer of a row's image. The row is
    /// deleted with its operation, so there are never more of these rows than operations. With a single provider there are
    /// none. `othersAreExpected` notes the operations even if they have no other routes yet.
    func note(
        _ range: ClosedRange<Int64>,
        provider: String,
        term: String,
        othersAreExpected: Bool = false
    ) throws(OutboxError) {
        let mark = DeliveryMark(ofTerm: term)
        guard mark != .none else { return }
        var image = StoredImage()
        var name = provider
        name.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) }
        image.append(integer: mark.rawValue)
        try store.connection.run(
            Self.addMark,
            .integer(range.lowerBound),
            .integer(range.upperBound),
            .blob(image.bytes),
            .integer(othersAreExpected ? 1 : 0)
        )
    }

    /// Deletes the notes of deleted operations.
    func remove(_ range: ClosedRange<Int64>) throws(OutboxError) {
        try store.connection.run(Self.deleteMarks, .integer(range.lowerBound), .integer(range.upperBound))
    }

    private func notedMark(of id: String, provider: String) throws(OutboxError) -> DeliveryMark {
        let noted = try store.soundRows(.deliveryMark, Self.marksOfOperation, .text(id)) { row in row.blob(1) }
        var most = DeliveryMark.none
        for bytes in noted {
            var image = ImageReader(bytes)
            while let name = image.text(), let mark = image.integer() {
                if name == provider { most = max(most, DeliveryMark(rawValue: mark) ?? .none) }
            }
        }
        return most
    }

    private static let addMark = Query(
        """
        INSERT INTO deliveryMark (sequence, providers, checksum)
        SELECT sequence, ?3, row_checksum('deliveryMark', sequence, ?3) FROM operation
        WHERE sequence BETWEEN ?1 AND ?2
            AND (?4 OR EXISTS (SELECT 1 FROM route WHERE route.sequence = operation.sequence))
        ON CONFLICT (sequence) DO UPDATE SET providers = CAST(providers || ?3 AS BLOB),
            checksum = row_checksum('deliveryMark', sequence, CAST(providers || ?3 AS BLOB))
        WHERE \(Table.deliveryMark.isSound("deliveryMark."))
        """
    )
    private static let deleteMarks = Query("DELETE FROM deliveryMark WHERE sequence BETWEEN ?1 AND ?2")
    private static let marksOfOperation = Query(
        Table.deliveryMark.select(where: "sequence = (SELECT sequence FROM operation WHERE id = ?1)", order: "sequence")
    )

    // MARK: The history by id

    /// Discards the known state of the index, after a rollback or when the store has a new connection.
    func forgetIndex() { indexedNumber = nil }

    /// Updates an index of the history by id. It is a temporary table on disk and is deleted with the connection.
    private func updateIndex() throws(OutboxError) {
        if indexedNumber == nil {
            try store.connection.script(
                """
                DROP TABLE IF EXISTS temp.outcomeIndex;
                CREATE TEMP TABLE outcomeIndex (
                    id TEXT NOT NULL, provider TEXT NOT NULL, mark INTEGER NOT NULL,
                    PRIMARY KEY (id, provider, mark)) WITHOUT ROWID
                """
            )
            indexedNumber = 0
        }
        let end = try store.history.end()
        guard var known = indexedNumber, known < end else { return }
        // Reads in parts, because all ids may not fit in memory.
        while case let part = try store.history.stored(after: known, limit: 1_024), let last = part.last {
            for outcome in part {
                try store.connection.run(
                    Self.addToIndex,
                    .text(outcome.entry.id),
                    .text(outcome.entry.provider),
                    .integer(DeliveryMark(ofTerm: outcome.entry.term).rawValue)
                )
            }
            known = last.number
        }
        indexedNumber = end
    }

    private static let addToIndex = Query(
        "INSERT OR IGNORE INTO outcomeIndex (id, provider, mark) VALUES (?1, ?2, ?3)"
    )
}

/// What became of an operation at a provider.
package enum Hearing: Int64, Sendable, Comparable {
    /// The provider never had it, or let it move away.
    case none
    /// It refused it.
    case refused
    /// It waits there, or ended otherwise.
    case taken

    /// By the term of an ending.
    init(ofTerm term: String) {
        switch term {
        case "moved", "shadowed": self = .none
        case "rejected": self = .refused
        default: self = .taken
        }
    }

    package static func < (left: Hearing, right: Hearing) -> Bool { left.rawValue < right.rawValue }
}

/// Which operations were ever heard of, asked one by one: the ids are never all in memory.
extension OutboxStore {
    /// Whether an operation is pending, or ended as far back as the history goes.
    package func knows(_ id: String) throws(OutboxError) -> Bool {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try fillHeard()
            return try connection.number(
                "SELECT 1 WHERE EXISTS (SELECT 1 FROM operation WHERE id = ?1) OR EXISTS (SELECT 1 FROM heard WHERE id = ?1)",
                .text(id)
            ) != nil
        }
    }

    /// What became of an operation at a provider: whatever is pending, and otherwise as far back as the history goes.
    package func hearing(of id: String, provider: String) throws(OutboxError) -> Hearing {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            try fillHeard()
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

    // MARK: What is pending elsewhere

    /// Notes that a provider is done with the operations of a range that are on their way to others still. The history may
    /// forget that before they have all arrived.
    ///
    /// A row holds each provider and what became of the operation there, as a text and an integer of a row's image, one behind
    /// the other. It goes with its operation, so there are never more of them than operations; with one provider there is none.
    /// Where others are expected to follow, it does not matter that there are none yet.
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

    /// Forgets what is noted of operations that are gone.
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

    /// Brings an index of the history by id up to date; it lies beside the file, on the disk, and goes with the connection.
    private func fillHeard() throws(OutboxError) {
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
        // A part at a time: the ids are never all in memory.
        while case let part = try remembered(behind: known, limit: 1_024), let last = part.last {
            for ending in part {
                try connection.run(
                    Self.hear,
                    .text(ending.entry.id),
                    .text(ending.entry.provider),
                    .integer(Hearing(ofTerm: ending.entry.term).rawValue)
                )
            }
            known = last.number
        }
        heardEnd = end
    }

    private static let hear = Query("INSERT OR IGNORE INTO heard (id, provider, hearing) VALUES (?1, ?2, ?3)")
}

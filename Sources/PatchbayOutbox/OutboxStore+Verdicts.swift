extension OutboxStore {
    /// Stores the progress of an operation at one provider.
    ///
    /// - Returns: Whether the operation is still pending there.
    @discardableResult
    package func progress(
        provider: String,
        sequence: Int64,
        step: [UInt8]?,
        failures: Int,
        refusals: Int,
        requests: RequestHistory = []
    ) throws(OutboxError) -> Bool {
        try atomically { () throws(OutboxError) in
            let changed = try connection.run(
                Self.progressRoute,
                .integer(sequence),
                .text(provider),
                .optional(step),
                .integer(failures),
                .integer(refusals),
                .integer(requests.rawValue)
            )
            if changed == 0 { try quarantineIfDamaged(provider: provider, sequence: sequence) }
            return changed > 0
        }
    }

    private static let progressRoute = Query(
        """
        UPDATE route SET step = ?3, failures = ?4, refusals = ?5, requests = ?6,
            checksum = row_checksum('route', sequence, provider, lane, queue, hold, ?3, ?4, ?5, kind, ?6)
        WHERE sequence = ?1 AND provider = ?2 AND \(Table.route.isSound())
        """
    )

    /// Completes an operation at one provider and records the outcome.
    ///
    /// Deletes the route, adds one to the line of the provider's accounts with this term and code, and adds the outcome to the
    /// history. If `reject` (the finding, as JSON) is given, keeps a copy for replay. Deletes the operation with its last
    /// route, unless more routes will follow (`keepingOperation`). Does nothing if there is no such route. Pass `isIndexed` if
    /// you report the change to the lane's index; otherwise every index becomes stale.
    ///
    /// - Returns: Whether the operation was completed; false if there was no such route or it had to be quarantined.
    @discardableResult
    package func end(
        provider: String,
        sequence: Int64,
        term: String,
        code: String,
        at: Int64,
        reject: [UInt8]? = nil,
        keepingOperation: Bool = false,
        isIndexed: Bool = false
    ) throws(OutboxError) -> Bool {
        try atomically { () throws(OutboxError) in
            guard let found = try soundness(provider: provider, sequence: sequence) else { return false }
            if try quarantine(found, provider: provider, sequence: sequence) { return false }
            if let id = found.id {
                try remember(provider: provider, id: id, term: term, code: code, at: at)
            }
            if let reject {
                try connection.run(
                    """
                    INSERT INTO reject (provider, sequence, id, subject, grouping, captured_at, since, body, code, at, finding, checksum)
                    SELECT ?1, sequence, id, subject, grouping, captured_at, since, body, ?3, ?4, ?5, 0
                    FROM operation WHERE sequence = ?2
                    """,
                    .text(provider),
                    .integer(sequence),
                    .text(code),
                    .integer(at),
                    .blob(reject)
                )
                _ = try seal(.reject)
                current.usage.rejects += 1
            }
            try count(provider: provider, term: term, code: code, by: 1)
            try removeRoute(provider: provider, sequence: sequence)
            if !isIndexed { noteUpheaval() }
            try noteHearing(
                sequence...sequence,
                provider: provider,
                term: term,
                othersAreExpected: keepingOperation
            )
            if !keepingOperation { try discardIfUnrouted(sequence) }
            return true
        }
    }

    /// Deletes a route without changing the accounts or the history. The operation itself stays until the caller calls
    /// ``discardIfUnrouted(_:)``.
    package func remove(provider: String, sequence: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try removeRoute(provider: provider, sequence: sequence)
            noteUpheaval()
        }
    }

    private func removeRoute(provider: String, sequence: Int64) throws(OutboxError) {
        _ = try connection.run(Self.deleteRoute, .integer(sequence), .text(provider))
    }

    private static let deleteRoute = Query("DELETE FROM route WHERE sequence = ?1 AND provider = ?2")

    /// Adds a row with its checksum.
    func add(_ table: Table, _ values: SQLValue...) throws(OutboxError) {
        _ = try connection.run(table.insert, values, last: table.checksum(of: values))
    }

    /// Sets the checksum of the row that was just added, which covers the number that SQLite assigned to it. Returns the
    /// number.
    func seal(_ table: Table) throws(OutboxError) -> Int64 {
        try connection.run(
            "UPDATE \(table.name) SET checksum = \(table.checksum()) WHERE \(table.rowid) = last_insert_rowid()"
        )
        return try connection.number("SELECT last_insert_rowid()") ?? 0
    }
}

extension OutboxStore {
    /// Returns the rejected operations kept for replay, newest first.
    package func rejects(provider: String?, before number: Int64 = .max, limit: Int) throws(OutboxError)
        -> [RejectRecord]
    {
        try soundRows(
            .reject,
            where: "(?1 IS NULL OR provider = ?1) AND number < ?3",
            order: "number DESC LIMIT ?2",
            .optional(provider),
            .integer(limit),
            .integer(number),
            make: RejectRecord.init(row:)
        )
    }

    /// Passes every kept reject, or every one that contains a text, to `body`, oldest first, one page at a time. `body` may
    /// remove it.
    package func forEachReject(
        provider: String?,
        upTo newest: Int64 = .max,
        mentioning text: [UInt8]? = nil,
        _ body: (RejectRecord) throws -> Void
    ) throws {
        try walk(
            .reject,
            by: "number",
            from: .integer(0),
            where: "number <= ?1 AND (?2 IS NULL OR provider = ?2) AND (?3 IS NULL OR instr(body, ?3) > 0)",
            .integer(newest),
            .optional(provider),
            .optional(text),
            make: RejectRecord.init(row:),
            body: body
        )
    }

    /// Returns the rejects of one operation id at a provider, newest first.
    package func rejects(provider: String, id: String) throws(OutboxError) -> [RejectRecord] {
        try soundRows(
            .reject,
            where: "provider = ?1 AND id = ?2",
            order: "number DESC",
            .text(provider),
            .text(id),
            make: RejectRecord.init(row:)
        )
    }

    /// Returns the number of kept rejects.
    package func rejectCount() throws(OutboxError) -> Int { try rowCount(.reject) }

    /// Returns the number of staged captures that are not yet assigned to a route.
    package func stagedCaptureCount() throws(OutboxError) -> Int {
        var count = 0
        for number in try stagedCaptures() { count += try stagedCapture(number)?.captures.count ?? 0 }
        return count
    }

    /// Returns the number of quarantined rows.
    package func quarantineCount() throws(OutboxError) -> Int { try rowCount(.quarantine) }

    private func rowCount(_ table: Table) throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in
            Int(try connection.number("SELECT count(*) FROM \(table.name)") ?? 0)
        }
    }

    /// Deletes one reject, after it was replayed or dismissed.
    package func removeReject(_ number: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            current.usage.rejects -= Int64(try connection.run("DELETE FROM reject WHERE number = ?1", .integer(number)))
        }
    }

    /// Deletes the rejects of a subject, of one provider or of all.
    ///
    /// - Returns: The number of deleted rejects.
    @discardableResult
    package func removeRejects(provider: String?, subject: String) throws(OutboxError) -> Int {
        try atomically { () throws(OutboxError) in
            let count = try connection.run(
                "DELETE FROM reject WHERE subject = ?2 AND (?1 IS NULL OR provider = ?1)",
                .optional(provider),
                .text(subject)
            )
            current.usage.rejects -= Int64(count)
            return count
        }
    }

    /// Returns the rows that were quarantined because their checksum did not match, newest first.
    package func quarantine(limit: Int) throws(OutboxError) -> [QuarantineRecord] {
        try quarantine(where: "TRUE", limit: limit)
    }

    func quarantine(where condition: String, limit: Int, _ value: SQLValue = .null) throws(OutboxError)
        -> [QuarantineRecord]
    {
        try soundRows(
            .quarantine,
            where: "\(condition) AND ?1 IS ?1",
            order: "number DESC LIMIT ?2",
            value,
            .integer(limit)
        ) { row in
            QuarantineRecord(
                number: row.integer(0),
                table: row.text(1),
                sequence: row.optionalInteger(2),
                provider: row.optionalText(3),
                image: row.blob(4)
            )
        }
    }

    /// Verifies the file: its structure, every checksum, missing references, every provider's accounts, and the usage counts.
    ///
    /// The check sees a single state of the file, even if other processes write meanwhile. It changes nothing.
    package func verify() throws -> VerifyReport { try snapshot(proof) }

    private func proof() throws(OutboxError) -> VerifyReport {
        var report = VerifyReport()
        try checkStructure(&report)
        for table in Table.all {
            report.rowsChecked += Int(try connection.number("SELECT count(*) FROM \(table.name)") ?? 0)
            let bad = try connection.number("SELECT count(*) FROM \(table.name) WHERE NOT \(table.isSound())") ?? 0
            if bad > 0 { report.faults.append(.init(kind: .checksum, detail: "\(table.name): \(bad) rows")) }
        }
        report.operations = Int(try connection.number("SELECT count(*) FROM operation") ?? 0)
        report.routes = Int(try connection.number("SELECT count(*) FROM route") ?? 0)
        let unrouted =
            try connection.number(
                "SELECT count(*) FROM operation o WHERE NOT EXISTS (SELECT 1 FROM route r WHERE r.sequence = o.sequence)"
            ) ?? 0
        if unrouted > 0 {
            report.faults.append(.init(kind: .orphanOperation, detail: "\(unrouted) operations are on no route"))
        }
        let headless =
            try connection.number(
                "SELECT count(*) FROM route r WHERE NOT EXISTS (SELECT 1 FROM operation o WHERE o.sequence = r.sequence)"
            ) ?? 0
        if headless > 0 {
            report.faults.append(.init(kind: .orphanRoute, detail: "\(headless) routes have no operation"))
        }
        for (provider, difference) in try balances().sorted(by: { $0.key < $1.key }) where difference != 0 {
            let detail =
                difference > 0
                ? "\(provider): \(difference) operations are neither pending nor booked"
                : "\(provider): \(-difference) operations are pending or booked but were never counted in"
            report.faults.append(.init(kind: .balance, detail: detail))
        }
        let (noted, found) = (try notedUsage(), try countedUsage())
        if let noted, noted != found, !report.faults.contains(where: { $0.kind == .checksum }) {
            let detail = "\(noted) noted, \(found) found"
            report.faults.append(.init(kind: .usage, detail: detail))
        }
        return report
    }

    private func checkStructure(_ report: inout VerifyReport) throws(OutboxError) {
        let statement = try connection.statement("PRAGMA integrity_check(100)")
        defer { statement.reset() }
        while try statement.step() {
            let line = statement.text(0)
            if line != "ok" { report.faults.append(.init(kind: .structure, detail: line)) }
        }
    }
}

extension RejectRecord {
    /// Creates a record from the columns of its table.
    init(row: Statement) {
        self.init(
            number: row.integer(0),
            provider: row.text(1),
            operation: OutboxOperation(
                sequence: row.integer(2),
                id: row.text(3),
                subject: row.text(4),
                group: row.optionalText(5),
                capturedAt: row.integer(6),
                since: row.integer(7),
                body: row.blob(8)
            ),
            code: row.text(9),
            at: row.integer(10),
            finding: row.blob(11)
        )
    }
}

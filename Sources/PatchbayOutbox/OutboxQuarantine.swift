/// A row that was read and whose checksum does not match.
struct DamagedRow: Hashable {
    let table: String
    /// The row number in its table (for a route: its sequence).
    let number: Int64
    /// The provider of a route; nil for other tables.
    var provider: String?
}

/// Rows whose checksum does not match: detection, the quarantine itself, and its reports.
package final class OutboxQuarantine {
    private unowned let store: OutboxStore
    /// Called for every row that is quarantined because its checksum does not match, before the transaction commits.
    package var onQuarantine: ((QuarantineRecord) -> Void)?
    /// Called for every operation that loses its route to a provider because the row of the operation or of the route was
    /// damaged.
    package var onLoss: ((_ provider: String, _ id: String) -> Void)?
    /// The wall clock in milliseconds, for outcomes that the quarantine adds to the history.
    package var date: () -> Int64 = { 0 }
    /// The damaged rows that were found and are not quarantined yet.
    private var damaged: Set<DamagedRow> = []
    /// The number of damaged rows found so far. A reader compares the numbers before and after a read to detect damage.
    private(set) var damagedCount = 0

    init(store: OutboxStore) { self.store = store }

    // MARK: Detection

    /// Records a damaged row that was found while reading.
    func noteDamaged(_ row: DamagedRow) {
        if damaged.insert(row).inserted { damagedCount += 1 }
    }

    /// Quarantines the damaged rows found so far, in the current transaction or in a new one.
    ///
    /// A read-only store leaves them in place. Its readers skip them, and `verify` lists them.
    func setDamagedRowsAside() throws(OutboxError) {
        guard !damaged.isEmpty, !store.isReadOnly, !store.isInSnapshot else { return }
        try store.atomically { () throws(OutboxError) in try moveDamagedRows() }
    }

    /// Moves the damaged rows found so far to the quarantine, and counts their routes in the accounts as quarantined.
    func moveDamagedRows() throws(OutboxError) {
        while let row = damaged.popFirst() {
            switch row.table {
            case Table.operation.name: try moveOperation(row.number)
            case Table.route.name: try moveRoute(row.number, provider: row.provider ?? "")
            default: try moveRow(row)
            }
        }
    }

    // MARK: Operations and routes

    /// Quarantines a route, or its operation, if its checksum does not match. Returns whether it did.
    @discardableResult
    func moveIfDamaged(provider: String, sequence: Int64) throws(OutboxError) -> Bool {
        guard let found = try soundness(provider: provider, sequence: sequence) else { return false }
        return try moveIfDamaged(found, provider: provider, sequence: sequence)
    }

    /// Whether a route and its operation are sound, with the operation's id.
    struct Soundness {
        let isRouteSound, isOperationSound: Bool
        let id: String?
    }

    /// Checks a route and its operation; nil if there is no such route.
    func soundness(provider: String, sequence: Int64) throws(OutboxError) -> Soundness? {
        let statement = try store.connection.statement(Self.soundnessOfRoute)
        defer { statement.reset() }
        try statement.bind([.integer(sequence), .text(provider)])
        guard try statement.step() else { return nil }
        return Soundness(
            isRouteSound: statement.bool(0),
            isOperationSound: statement.bool(1),
            id: statement.optionalText(2)
        )
    }

    private static let soundnessOfRoute = Query(
        """
        SELECT \(Table.route.isSound("route.")), ifnull(\(Table.operation.isSound("operation.")), 0), operation.id
        FROM route LEFT JOIN operation ON operation.sequence = route.sequence
        WHERE route.sequence = ?1 AND route.provider = ?2
        """
    )

    /// Quarantines a route, or its operation, if it was found damaged. Returns whether it did.
    func moveIfDamaged(_ found: Soundness, provider: String, sequence: Int64) throws(OutboxError) -> Bool {
        if !found.isOperationSound {
            noteDamaged(DamagedRow(table: Table.operation.name, number: sequence))
        } else if !found.isRouteSound {
            noteDamaged(DamagedRow(table: Table.route.name, number: sequence, provider: provider))
        } else {
            return false
        }
        try moveDamagedRows()
        return true
    }

    /// Removes a damaged operation with all of its routes, and counts each route in the accounts as quarantined.
    private func moveOperation(_ sequence: Int64) throws(OutboxError) {
        try keepImage(
            of: .operation,
            sequence: "sequence",
            provider: "NULL",
            where: "sequence = ?1",
            .integer(sequence)
        )
        for provider in try routeProviders(sequence) { try moveRoute(sequence, provider: provider) }
        try store.operations.delete(sequence, evenRouted: true)
        // The usage of the operation before the damage is unknown.
        store.current.mustRecount = true
    }

    private func moveRoute(_ sequence: Int64, provider: String) throws(OutboxError) {
        let condition = "sequence = ?1 AND provider = ?2"
        try keepImage(
            of: .route,
            sequence: "sequence",
            provider: "provider",
            where: condition,
            .integer(sequence),
            .text(provider)
        )
        store.queues.invalidateIndexes()
        if try store.connection.run("DELETE FROM route WHERE \(condition)", .integer(sequence), .text(provider)) > 0 {
            try store.accounts.count(provider: provider, term: AccountTerm.quarantined, code: "checksum", by: 1)
            try reportLoss(of: sequence, provider: provider)
        }
        try store.operations.discardIfUnrouted(sequence)
    }

    /// Records the outcome under the operation's id, if its row still has one, and notifies the observer.
    private func reportLoss(of sequence: Int64, provider: String) throws(OutboxError) {
        guard
            let id = try store.connection.text(
                "SELECT CAST(id AS TEXT) FROM operation WHERE sequence = ?1",
                .integer(sequence)
            )
        else { return }
        try store.history.add(
            provider: provider,
            id: id,
            term: AccountTerm.quarantined,
            code: "checksum",
            at: date()
        )
        onLoss?(provider, id)
    }

    // MARK: Other rows

    /// Quarantines a subject's state whose row is sound but which its reader cannot decode.
    package func setSnapshotAside(subject: String) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            guard
                let number = try store.connection.number(
                    "SELECT rowid FROM snapshot WHERE subject = ?1",
                    .text(subject)
                )
            else { return }
            try moveRow(DamagedRow(table: Table.snapshot.name, number: number))
        }
    }

    /// Quarantines a row of staged captures that is sound but which its reader cannot decode completely.
    package func setStagedCaptureAside(_ number: Int64) throws(OutboxError) {
        try store.atomically { () throws(OutboxError) in
            try moveRow(DamagedRow(table: Table.stagedCapture.name, number: number))
        }
    }

    private func moveRow(_ row: DamagedRow) throws(OutboxError) {
        guard let table = Table.all.first(where: { $0.name == row.table }) else { return }
        try keepImage(of: table, sequence: "NULL", provider: "NULL", where: "\(table.rowid) = ?1", .integer(row.number))
        try store.connection.run("DELETE FROM \(table.name) WHERE \(table.rowid) = ?1", .integer(row.number))
        switch table.name {
        case Table.account.name: store.current.mustBalance = true
        case Table.usage.name: store.current.mustRecount = true
        case Table.reject.name: store.current.usage.rejects -= 1
        default: break
        }
    }

    /// Writes a row's image to the quarantine and notifies the observer.
    private func keepImage(
        of table: Table,
        sequence: String,
        provider: String,
        where condition: String,
        _ values: SQLValue...
    ) throws(OutboxError) {
        let added = try store.connection.run(
            """
            INSERT INTO quarantine (origin, sequence, provider, image, checksum)
            SELECT '\(table.name)', \(sequence), \(provider), row_image('\(table.name)', \(table.list())), 0
            FROM \(table.name) WHERE \(condition)
            """,
            values
        )
        guard added > 0 else { return }
        let number = try store.seal(.quarantine)
        guard let onQuarantine else { return }
        for record in try list(where: "number = ?1", limit: 1, .integer(number)) { onQuarantine(record) }
    }

    private func routeProviders(_ sequence: Int64) throws(OutboxError) -> [String] {
        let statement = try store.connection.statement("SELECT provider FROM route WHERE sequence = ?1")
        defer { statement.reset() }
        try statement.bind([.integer(sequence)])
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    // MARK: Contents

    /// Returns the rows that were quarantined because their checksum did not match, newest first.
    package func list(limit: Int) throws(OutboxError) -> [QuarantineRecord] {
        try list(where: "TRUE", limit: limit)
    }

    private func list(where condition: String, limit: Int, _ value: SQLValue = .null) throws(OutboxError)
        -> [QuarantineRecord]
    {
        try store.soundRows(
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

    /// Returns the number of quarantined rows.
    package func count() throws(OutboxError) -> Int { try store.rowCount(.quarantine) }

    /// Deletes the quarantined rows whose bytes contain a text.
    ///
    /// - Returns: The number of deleted rows.
    package func remove(mentioning text: [UInt8]) throws(OutboxError) -> Int {
        try store.change("DELETE FROM quarantine WHERE instr(image, ?1) > 0", .blob(text))
    }
}

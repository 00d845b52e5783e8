/// A row that was read and whose checksum does not match.
struct DamagedRow: Hashable {
    let table: String
    /// The row number in its table (for a route: its sequence).
    let number: Int64
    /// The provider of a route; nil for other tables.
    var provider: String?
}

extension OutboxStore {
    /// The number of damaged rows found so far. A reader compares the numbers before and after a read to detect damage.
    var damagedSoFar: Int { damagedCount }

    /// Records a damaged row that was found while reading.
    func noteDamaged(_ row: DamagedRow) {
        if damaged.insert(row).inserted { damagedCount += 1 }
    }

    /// Quarantines the damaged rows found so far, in the current transaction or in a new one.
    ///
    /// A read-only store leaves them in place. Its readers skip them, and `verify` lists them.
    func setDamagedRowsAside() throws(OutboxError) {
        guard !damaged.isEmpty, !isReadOnly, !isInSnapshot else { return }
        try atomically { () throws(OutboxError) in try quarantineDamagedRows() }
    }

    /// Moves the damaged rows found so far to the quarantine, and counts their routes in the accounts as quarantined.
    func quarantineDamagedRows() throws(OutboxError) {
        while let row = damaged.popFirst() {
            switch row.table {
            case Table.operation.name: try quarantineOperation(row.number)
            case Table.route.name: try quarantineRoute(row.number, provider: row.provider ?? "")
            default: try quarantineRow(row)
            }
        }
    }

    /// Quarantines a route, or its operation, if its checksum does not match. Returns whether it did.
    @discardableResult
    func quarantineIfDamaged(provider: String, sequence: Int64) throws(OutboxError) -> Bool {
        guard let found = try soundness(provider: provider, sequence: sequence) else { return false }
        return try quarantine(found, provider: provider, sequence: sequence)
    }

    /// Whether a route and its operation are sound, with the operation's id.
    struct Soundness {
        let isRouteSound, isOperationSound: Bool
        let id: String?
    }

    /// Checks a route and its operation; nil if there is no such route.
    func soundness(provider: String, sequence: Int64) throws(OutboxError) -> Soundness? {
        let statement = try connection.statement(Self.soundnessOfRoute)
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
    func quarantine(_ found: Soundness, provider: String, sequence: Int64) throws(OutboxError) -> Bool {
        if !found.isOperationSound {
            noteDamaged(DamagedRow(table: Table.operation.name, number: sequence))
        } else if !found.isRouteSound {
            noteDamaged(DamagedRow(table: Table.route.name, number: sequence, provider: provider))
        } else {
            return false
        }
        try quarantineDamagedRows()
        return true
    }

    /// Removes a damaged operation with all of its routes, and counts each route in the accounts as quarantined.
    private func quarantineOperation(_ sequence: Int64) throws(OutboxError) {
        try keepImage(
            of: .operation,
            sequence: "sequence",
            provider: "NULL",
            where: "sequence = ?1",
            .integer(sequence)
        )
        for provider in try routeProviders(sequence) { try quarantineRoute(sequence, provider: provider) }
        try deleteOperation(sequence, evenRouted: true)
        // The usage of the operation before the damage is unknown.
        current.mustRecount = true
    }

    private func quarantineRoute(_ sequence: Int64, provider: String) throws(OutboxError) {
        let condition = "sequence = ?1 AND provider = ?2"
        try keepImage(
            of: .route,
            sequence: "sequence",
            provider: "provider",
            where: condition,
            .integer(sequence),
            .text(provider)
        )
        noteUpheaval()
        if try connection.run("DELETE FROM route WHERE \(condition)", .integer(sequence), .text(provider)) > 0 {
            try count(provider: provider, term: AccountTerm.quarantined, code: "checksum", by: 1)
            try tellLoss(of: sequence, provider: provider)
        }
        try discardIfUnrouted(sequence)
    }

    /// Records the outcome under the operation's id, if its row still has one, and notifies the observer.
    private func tellLoss(of sequence: Int64, provider: String) throws(OutboxError) {
        guard
            let id = try connection.text(
                "SELECT CAST(id AS TEXT) FROM operation WHERE sequence = ?1",
                .integer(sequence)
            )
        else { return }
        try remember(provider: provider, id: id, term: AccountTerm.quarantined, code: "checksum", at: date())
        onLoss?(provider, id)
    }

    /// Quarantines a subject's state whose row is sound but which its reader cannot decode.
    package func setSnapshotAside(subject: String) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            guard let number = try connection.number("SELECT rowid FROM snapshot WHERE subject = ?1", .text(subject))
            else { return }
            try quarantineRow(DamagedRow(table: Table.snapshot.name, number: number))
        }
    }

    /// Quarantines a row of staged captures that is sound but which its reader cannot decode completely.
    package func setStagedCaptureAside(_ number: Int64) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            try quarantineRow(DamagedRow(table: Table.stagedCapture.name, number: number))
        }
    }

    private func quarantineRow(_ row: DamagedRow) throws(OutboxError) {
        guard let table = Table.all.first(where: { $0.name == row.table }) else { return }
        try keepImage(of: table, sequence: "NULL", provider: "NULL", where: "\(table.rowid) = ?1", .integer(row.number))
        try connection.run("DELETE FROM \(table.name) WHERE \(table.rowid) = ?1", .integer(row.number))
        switch table.name {
        case Table.account.name: current.mustBalance = true
        case Table.usage.name: current.mustRecount = true
        case Table.reject.name: current.usage.rejects -= 1
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
        let added = try connection.run(
            """
            INSERT INTO quarantine (origin, sequence, provider, image, checksum)
            SELECT '\(table.name)', \(sequence), \(provider), row_image('\(table.name)', \(table.list())), 0
            FROM \(table.name) WHERE \(condition)
            """,
            values
        )
        guard added > 0 else { return }
        let number = try seal(.quarantine)
        guard let onQuarantine else { return }
        for record in try quarantine(where: "number = ?1", limit: 1, .integer(number)) { onQuarantine(record) }
    }

    private func routeProviders(_ sequence: Int64) throws(OutboxError) -> [String] {
        let statement = try connection.statement("SELECT provider FROM route WHERE sequence = ?1")
        defer { statement.reset() }
        try statement.bind([.integer(sequence)])
        var names: [String] = []
        while try statement.step() { names.append(statement.text(0)) }
        return names
    }

    /// Corrects each provider's accounts to match the pending rows, after account lines or rows were lost.
    ///
    /// If operations are missing, counts them as quarantined. If the accounts contain too few captured operations, counts the
    /// difference as captured. Both lines have the code `recovery`.
    @discardableResult
    func balance() throws(OutboxError) -> (lost: [String: Int64], unaccounted: [String: Int64]) {
        var lost: [String: Int64] = [:]
        var unaccounted: [String: Int64] = [:]
        for (provider, difference) in try balances() where difference != 0 {
            if difference > 0 {
                lost[provider] = difference
                try count(provider: provider, term: AccountTerm.quarantined, code: "recovery", by: difference)
            } else {
                unaccounted[provider] = -difference
                try count(provider: provider, term: AccountTerm.captured, code: "recovery", by: -difference)
            }
        }
        return (lost, unaccounted)
    }

    /// Returns, by provider, the difference between its accounts and its pending rows.
    ///
    /// It is zero if the accounts balance, and positive if rows are missing.
    func balances() throws(OutboxError) -> [String: Int64] {
        if connection.isInTransaction, !isInSnapshot { try writeCounts() }
        let sources = AccountTerm.sources.map { "'\($0)'" }.joined(separator: ", ")
        let outcomes = AccountTerm.endings.map { "'\($0)'" }.joined(separator: ", ")
        let statement = try connection.statement(
            """
            SELECT provider, sum(number) FROM (
                SELECT provider, CASE WHEN term IN (\(sources)) THEN count WHEN term IN (\(outcomes)) THEN -count ELSE 0 END AS number
                FROM account
                UNION ALL SELECT provider, -count(*) FROM route GROUP BY provider)
            GROUP BY provider
            """
        )
        defer { statement.reset() }
        var found: [String: Int64] = [:]
        while try statement.step() { found[statement.text(0)] = statement.integer(1) }
        return found
    }
}

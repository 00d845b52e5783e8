/// Reads and writes of rows with checksums, for all parts.
extension OutboxStore {
    // MARK: Writing

    /// Adds a row with its checksum.
    func add(_ table: Table, _ values: SQLValue...) throws(OutboxError) {
        _ = try connection.run(table.insert, values, last: table.checksum(of: values))
    }

    /// Stores one row of a table with a key. A later call replaces the earlier one.
    func put(_ table: Table, _ values: SQLValue...) throws(OutboxError) {
        try atomically { () throws(OutboxError) in
            _ = try connection.run(table.replace, values, last: table.checksum(of: values))
        }
    }

    /// Sets the checksum of the row that was just added, which covers the number that SQLite assigned to it. Returns the
    /// number.
    func seal(_ table: Table) throws(OutboxError) -> Int64 {
        try connection.run(
            "UPDATE \(table.name) SET checksum = \(table.checksum()) WHERE \(table.rowid) = last_insert_rowid()"
        )
        return try connection.number("SELECT last_insert_rowid()") ?? 0
    }

    /// Runs one statement that changes rows and returns their number.
    @discardableResult
    func change(_ sql: String, _ values: SQLValue...) throws(OutboxError) -> Int {
        try atomically { () throws(OutboxError) in
            try connection.run(sql, values)
        }
    }

    // MARK: Reading

    /// Returns the number of rows in a table, damaged ones included.
    func rowCount(_ table: Table) throws(OutboxError) -> Int {
        try guarded { () throws(OutboxError) in
            Int(try connection.number("SELECT count(*) FROM \(table.name)") ?? 0)
        }
    }

    /// Reads rows of one table.
    ///
    /// Rows whose checksum does not match are quarantined and omitted.
    func soundRows<Element>(
        _ table: Table,
        where condition: String,
        order: String,
        _ values: SQLValue...,
        make: (Statement) -> Element
    ) throws(OutboxError) -> [Element] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(table.select(where: condition, order: order))
            return try soundRows(table, statement, values, make)
        }
    }

    /// Reads rows of one table with a query that the table's `select` method created.
    func soundRows<Element>(
        _ table: Table,
        _ query: Query,
        _ values: SQLValue...,
        make: (Statement) -> Element
    ) throws(OutboxError) -> [Element] {
        try guarded { () throws(OutboxError) in
            try soundRows(table, connection.statement(query), values, make)
        }
    }

    private func soundRows<Element>(
        _ table: Table,
        _ statement: Statement,
        _ values: [SQLValue],
        _ make: (Statement) -> Element
    ) throws(OutboxError) -> [Element] {
        var found: [Element] = []
        let last = Int32(table.columns.count)
        do {
            defer { statement.reset() }
            try statement.bind(values)
            while try statement.step() {
                if statement.bool(last) {
                    found.append(make(statement))
                } else {
                    quarantine.noteDamaged(DamagedRow(table: table.name, number: statement.integer(last + 1)))
                }
            }
        }
        try quarantine.setDamagedRowsAside()
        return found
    }

    /// Passes the sound rows that meet a condition to `body`, ordered by a column with unique values, one page at a time.
    /// `body` may change and remove its row.
    ///
    /// Uses constant memory. A page may end at a damaged row, so that damaged rows hide no later ones. `start` must not be
    /// above any value of the column. The condition refers to its values as `?1`, `?2`, and so on.
    func walk<Element>(
        _ table: Table,
        by column: String,
        from start: SQLValue,
        where condition: String = "TRUE",
        _ values: SQLValue...,
        make: (Statement) -> Element,
        body: (Element) throws -> Void
    ) throws {
        var (place, isBehind) = (start, ">=")
        while true {
            let rest = "\(column) \(isBehind) ?\(values.count + 1) AND (\(condition))"
            let ends = """
                SELECT max(\(column)) FROM (
                    SELECT \(column) FROM \(table.name) WHERE \(rest) ORDER BY \(column) LIMIT 256)
                """
            let end = try guarded { () throws(OutboxError) in try connection.value(ends, values + [place]) }
            if case .null = end { return }
            let rows = try guarded { () throws(OutboxError) in
                let page = table.select(where: "\(rest) AND \(column) <= ?\(values.count + 2)", order: column)
                return try soundRows(table, connection.statement(page), values + [place, end], make)
            }
            for row in rows { try body(row) }
            (place, isBehind) = (end, ">")
        }
    }
}

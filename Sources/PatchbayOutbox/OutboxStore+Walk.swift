/// Iteration over the rows of a table in constant memory.
extension OutboxStore {
    /// Passes the sound rows that meet a condition to `body`, ordered by a column with unique values, one page at a time.
    /// `body` may change and remove its row.
    ///
    /// A page may end at a damaged row, so that damaged rows hide no later ones. `start` must not be above any value of the
    /// column. The condition refers to its values as `?1`, `?2`, and so on.
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

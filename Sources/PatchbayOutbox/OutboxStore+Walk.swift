/// Rows of a table one after the other, however many there are.
extension OutboxStore {
    /// Shows the sound rows of a table that meet a condition, in the order of a column that tells them apart, a page at a time;
    /// `body` may change and remove what it is shown.
    ///
    /// A page ends at a row, whether its checksum holds or not, so damaged ones hide nothing behind them. The column has no
    /// value below `start`; the condition's values are `?1` and so on.
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

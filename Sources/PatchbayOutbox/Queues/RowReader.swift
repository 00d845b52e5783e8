/// Reads routes with their operations from the columns of one SELECT.
package enum RowReader {
    /// The columns of both tables in the order of the schema, each table's followed by its checksum.
    private static let columns = """
        SELECT \(Table.route.list("r.")), r.checksum, \(Table.operation.list("o.")), o.checksum

        """
    private static let route: Int32 = 0
    private static let operation = Int32(Table.route.columns.count + 1)
    /// Routes first. If the operation is missing, its columns are NULL.
    static let select = columns + "FROM route r LEFT JOIN operation o ON o.sequence = r.sequence "
    /// The row of a sequence and a provider.
    static let one = Query(select + "WHERE r.sequence = ?1 AND r.provider = ?2")
    /// The rows of a provider in a range of sequences. The unary plus prevents SQLite from scanning all of the provider's
    /// routes.
    package static let range = Query(
        select + "WHERE r.sequence BETWEEN ?1 AND ?2 AND +r.provider = ?3 ORDER BY r.sequence"
    )
    /// Operations of a subject first.
    static let selectBySubject = columns + "FROM operation o CROSS JOIN route r ON r.sequence = o.sequence "

    static func sequence(_ row: Statement) -> Int64 { row.integer(route) }

    /// Texts that are usually equal in consecutive rows.
    struct Words {
        var (subject, provider, lane, queue) = ("", "", "", "")
    }

    /// Returns the current row; nil if one of its two parts is damaged, which is reported to `note`.
    static func read(_ row: Statement, noting note: (DamagedRow) -> Void) -> OutboxRow? {
        var words = Words()
        return read(row, &words, noting: note)
    }

    /// Returns the current row, reusing the texts of the previous one.
    static func read(_ row: Statement, _ words: inout Words, noting note: (DamagedRow) -> Void) -> OutboxRow? {
        guard row.isSound(.operation, from: operation) else {
            note(DamagedRow(table: Table.operation.name, number: sequence(row)))
            return nil
        }
        guard row.isSound(.route, from: route) else {
            note(DamagedRow(table: Table.route.name, number: sequence(row), provider: row.text(route + 1)))
            return nil
        }
        words.subject = row.text(operation + 2, like: words.subject)
        words.provider = row.text(route + 1, like: words.provider)
        words.lane = row.text(route + 2, like: words.lane)
        words.queue = row.text(route + 3, like: words.queue)
        return OutboxRow(
            operation: OutboxOperation(
                sequence: row.integer(operation),
                id: row.text(operation + 1),
                subject: words.subject,
                group: row.optionalText(operation + 3),
                capturedAt: row.integer(operation + 4),
                since: row.integer(operation + 5),
                body: row.blob(operation + 6)
            ),
            provider: words.provider,
            lane: words.lane,
            queue: words.queue,
            hold: row.optionalText(route + 4),
            step: row.optionalBlob(route + 5),
            failures: Int(row.integer(route + 6)),
            refusals: Int(row.integer(route + 7)),
            kind: row.optionalText(route + 8),
            requests: RequestHistory(rawValue: row.integer(route + 9))
        )
    }
}

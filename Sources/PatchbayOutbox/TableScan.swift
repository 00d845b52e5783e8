/// Reads a table of a damaged file, as much of it as the file still gives.
///
/// A forward scan stops at a bad page, so a backward scan reads from the other end, and what lies between is searched in
/// smaller and smaller ranges of row numbers.
struct TableScan {
    /// One row as it stands in the file.
    struct Row {
        let number: Int64
        let isSound: Bool
        let values: [SQLValue]
        let image: [UInt8]
        /// A route's second key.
        let provider: String?
    }

    private let forward: Statement
    private let backward: Statement
    private let table: Table

    /// How many looks may fail before the rest is given up; a look at a bad page costs microseconds.
    ///
    /// While nothing at all was found, the root page is to blame and every look is in vain: then it is given up soon.
    private static func patience(found: Int) -> Int { found > 0 ? 50_000 : 500 }

    /// Row numbers above this are not believed.
    private static let highest: Int64 = 1 << 48
    /// Above this a range is cut into pieces that double, so that few looks reach the far end.
    private static let hugeRange: Int64 = 1 << 20

    init(_ table: Table, _ source: Connection) throws(OutboxError) {
        self.table = table
        let select = """
            SELECT \(table.list()), \(table.isSound()), \(table.rowid),
                CASE WHEN \(table.isSound()) THEN NULL ELSE row_image('\(table.name)', \(table.list())) END
            FROM \(table.name) WHERE \(table.rowid) BETWEEN ?1 AND ?2 ORDER BY \(table.rowid)
            """
        forward = try source.statement(select)
        backward = try source.statement(select + " DESC")
    }

    /// Shows every row that can be read; false when nothing at all could be, and something seems to be there.
    func everyRow(_ body: (Row) throws(OutboxError) -> Void) throws(OutboxError) -> Bool {
        var ranges: [ClosedRange<Int64>] = [0...Self.highest]
        var failures = 0
        var found = 0
        let counting = { (row: Row) throws(OutboxError) in
            found += 1
            try body(row)
        }
        while let range = ranges.popLast(), failures < Self.patience(found: found) {
            guard let low = try scan(forward, range, counting) else { continue }
            failures += 1
            let start = low == .min ? range.lowerBound : low + 1
            guard start <= range.upperBound else { continue }
            guard let high = try scan(backward, start...range.upperBound, counting) else { continue }
            failures += 1
            let end = high == .min ? range.upperBound : high - 1
            if start < end { ranges.append(contentsOf: Self.pieces(of: start...end)) }
        }
        return failures == 0 || found > 0
    }

    /// Shows the rows of a range; nil when all of it was read, else the last row number before the fault, or `.min`.
    private func scan(
        _ statement: Statement,
        _ range: ClosedRange<Int64>,
        _ body: (Row) throws(OutboxError) -> Void
    ) throws(OutboxError) -> Int64? {
        defer { statement.reset() }
        var last = Int64.min
        let columns = Int32(table.columns.count)
        guard (try? statement.bind([.integer(range.lowerBound), .integer(range.upperBound)])) != nil else {
            return last
        }
        while true {
            guard let hasRow = statement.stepIfReadable() else { return last }
            guard hasRow else { return nil }
            let number = statement.integer(columns + 1)
            try body(
                Row(
                    number: number,
                    isSound: statement.bool(columns),
                    values: (0..<columns).map(statement.value),
                    image: statement.blob(columns + 2),
                    provider: table.name == Table.route.name ? statement.text(1) : nil
                )
            )
            // A damaged page may hold numbers out of order: never leave the range, never turn back.
            let isInOrder = last == .min || (statement === forward ? number >= last : number <= last)
            guard isInOrder, range.contains(number) else { return last }
            last = number
        }
    }

    private static func pieces(of range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        let (start, end) = (range.lowerBound, range.upperBound)
        guard end - start > hugeRange else {
            let middle = start + (end - start) / 2
            return [middle + 1...end, start...middle]
        }
        var pieces: [ClosedRange<Int64>] = []
        var low = start
        var length = hugeRange
        while low <= end {
            let high = end - low < length ? end : low + length - 1
            pieces.append(low...high)
            if high == end { break }
            low = high + 1
            length *= 2
        }
        return pieces.reversed()
    }
}

/// Reads as many rows as possible from a table of a damaged file.
///
/// It scans the table from both ends, page by page, without using row numbers to navigate, because any of them may be damaged.
/// If bad pages stop both scans, the range between them is searched in smaller and smaller ranges of row numbers.
struct TableScan {
    /// A row as it is stored in the file.
    struct Row {
        let number: Int64
        let isSound: Bool
        let values: [SQLValue]
        let image: [UInt8]
        /// The provider of a route.
        let provider: String?
    }

    private let whole: Ways
    private let range: Ways
    private let table: Table

    /// The statements that read in either direction.
    private struct Ways {
        let forward: Statement
        let backward: Statement
    }

    /// The extent of a scan.
    private struct Sight {
        /// Whether the scan reached the end.
        var isWhole = false
        /// The number of the last sound row before the fault; nil if there was none, or if rows came out of order.
        var edge: Int64?
    }

    /// The maximum number of reads that may fail before the rest is abandoned. A read of a bad page takes microseconds.
    ///
    /// If nothing at all was found, the root page is probably damaged and every read fails, so the limit is low. If most pages
    /// are sound, a few reads find one.
    private static func maximumFailures(found: Int) -> Int { found > 0 ? 25_000 : 60 }

    /// The highest plausible row number.
    private static let highest: Int64 = 1 << 48
    /// The size from which a range is split into pieces of doubling length, so that few reads reach the far end.
    private static let hugeRange: Int64 = 1 << 20

    init(_ table: Table, _ source: Connection) throws(OutboxError) {
        self.table = table
        // NOT INDEXED: an index may be damaged even if its table is not.
        let select = """
            SELECT \(table.list()), \(table.isSound()), \(table.rowid),
                CASE WHEN \(table.isSound()) THEN NULL ELSE row_image('\(table.name)', \(table.list())) END
            FROM \(table.name) NOT INDEXED
            """
        func ways(_ condition: String) throws(OutboxError) -> Ways {
            let text = "\(select) \(condition) ORDER BY \(table.rowid)"
            return Ways(forward: try source.statement(text), backward: try source.statement(text + " DESC"))
        }
        whole = try ways("")
        range = try ways("WHERE \(table.rowid) BETWEEN ?1 AND ?2")
    }

    /// Passes every readable row to `body`, some of them more than once. Returns false if no row could be read although the
    /// table does not seem to be empty.
    func everyRow(_ body: (Row) throws(OutboxError) -> Void) throws(OutboxError) -> Bool {
        var found = 0
        let counting = { (row: Row) throws(OutboxError) in
            found += 1
            try body(row)
        }
        guard let rest = try look(whole, 0...Self.highest, [], counting) else { return true }
        var failures = 1
        var ranges = Self.pieces(of: rest)
        while let next = ranges.popLast(), failures < Self.maximumFailures(found: found) {
            let bounds: [SQLValue] = [.integer(next.lowerBound), .integer(next.upperBound)]
            guard let rest = try look(range, next, bounds, counting) else { continue }
            failures += 1
            // A single row number is not searched again, because both directions have been tried.
            if next.lowerBound < next.upperBound { ranges.append(contentsOf: Self.pieces(of: rest)) }
        }
        return found > 0
    }

    /// Passes the rows of a range to `body`, from both ends. Returns the range between the two scans, or nil if all rows were
    /// read.
    ///
    /// Rows may share a number, so the returned range includes the last rows read.
    private func look(
        _ ways: Ways,
        _ range: ClosedRange<Int64>,
        _ bounds: [SQLValue],
        _ body: (Row) throws(OutboxError) -> Void
    ) throws(OutboxError) -> ClosedRange<Int64>? {
        let low = try walk(ways.forward, isBackward: false, bounds, body)
        guard !low.isWhole else { return nil }
        let high = try walk(ways.backward, isBackward: true, bounds, body)
        guard !high.isWhole else { return nil }
        let start = low.edge.map { max($0, range.lowerBound) } ?? range.lowerBound
        let end = high.edge.map { min($0, range.upperBound) } ?? range.upperBound
        return start <= end ? start...end : range
    }

    private func walk(
        _ statement: Statement,
        isBackward: Bool,
        _ bounds: [SQLValue],
        _ body: (Row) throws(OutboxError) -> Void
    ) throws(OutboxError) -> Sight {
        defer { statement.reset() }
        var sight = Sight()
        var isInOrder = true
        let columns = Int32(table.columns.count)
        guard (try? statement.bind(bounds)) != nil else { return sight }
        while let hasRow = statement.stepIfReadable() {
            guard hasRow else {
                sight.isWhole = true
                return sight
            }
            let row = Row(
                number: statement.integer(columns + 1),
                isSound: statement.bool(columns),
                values: (0..<columns).map(statement.value),
                image: statement.blob(columns + 2),
                provider: table.name == Table.route.name ? statement.text(1) : nil
            )
            try body(row)
            guard row.isSound else { continue }
            if let edge = sight.edge, isBackward ? row.number > edge : row.number < edge { isInOrder = false }
            sight.edge = row.number
        }
        if !isInOrder { sight.edge = nil }
        return sight
    }

    private static func pieces(of range: ClosedRange<Int64>) -> [ClosedRange<Int64>] {
        let (start, end) = (range.lowerBound, range.upperBound)
        guard start < end else { return [range] }
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

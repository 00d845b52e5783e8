import PatchbaySystem

/// A copy of a damaged file whose header and schema pages come from a new, empty outbox.
///
/// Each table begins on the same page in every file of the same schema. The row checksums exclude wrong content.
struct SchemaGraft {
    let path: String
    private static let pageSize = 4096

    init(damaged: Connection, template: String, copy: String) throws(OutboxError) {
        path = copy
        remove()
        // Copy the file before its log: content copied from the log into the file meanwhile is still in the log.
        try damaged.copyBytes(to: copy)
        let log = damaged.name + "-wal"
        let hasLog = (OutboxFile.size(log) ?? 0) > 0
        if hasLog { try OutboxFile.copy(log, to: copy + "-wal") }
        var first = try OutboxFile.read(template, at: 0, count: Self.pageSize)
        guard first.count == Self.pageSize else { return }
        for page in Self.schemaPages(first) {
            let bytes = try OutboxFile.read(template, at: (page - 1) * Self.pageSize, count: Self.pageSize)
            try OutboxFile.write(bytes, to: copy, at: (page - 1) * Self.pageSize)
        }
        // The read and write versions: 2 enables the write-ahead log. The page count and the free list follow from the file's
        // size.
        for index in 18...19 { first[index] = hasLog ? 2 : 1 }
        for index in 28...39 { first[index] = 0 }
        try OutboxFile.write(first, to: copy, at: 0)
    }

    func remove() { for end in ["", "-wal", "-shm", "-journal"] { OutboxFile.delete(path + end) } }

    /// Returns the pages that contain the schema table besides page 1: the children of its root in page 1, if there are any.
    private static func schemaPages(_ first: [UInt8]) -> [Int] {
        let interior: UInt8 = 5
        guard first[100] == interior else { return [] }
        func number(_ place: Int, _ size: Int) -> Int {
            first[place..<min(place + size, first.count)].reduce(0) { $0 << 8 | Int($1) }
        }
        let cells = (0..<number(103, 2)).map { number(number(112 + 2 * $0, 2), 4) }
        return cells + [number(108, 4)]
    }
}

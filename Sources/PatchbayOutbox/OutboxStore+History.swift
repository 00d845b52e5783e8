import PatchbayJSON

/// How operations ended, as far back as `historyLimit` goes.
///
/// One ending by itself is a row of `history`. Endings that are carried out together and are alike share a row of `outcomeBatch`:
/// their ids and times stand one behind the other, each as a text and an integer of a row's image. Both are numbered together,
/// in the order of their commits; an outcome batch bears its last ending's number, and is forgotten when that one is.
extension OutboxStore {
    /// So many endings share a row at most: it fits into one page.
    private static let longestOutcomeBatch = 48

    /// Adds an ending to the history.
    func remember(provider: String, id: String, term: String, code: String, at: Int64) throws(OutboxError) {
        if DeliberateFault.endingNotRemembered.isPresent { return }
        let number = try newHistoryNumbers(1)
        try add(.history, .integer(number), .text(provider), .text(id), .text(term), .text(code), .integer(at))
    }

    /// Adds endings that are alike to the history, in their order.
    func remember(
        provider: String,
        term: String,
        code: String,
        _ endings: some Collection<(id: String, at: Int64)>
    ) throws(OutboxError) {
        if DeliberateFault.endingNotRemembered.isPresent { return }
        var rest = endings[...]
        while !rest.isEmpty {
            var image = StoredImage()
            let part = rest.prefix(Self.longestOutcomeBatch)
            image.bytes.reserveCapacity(64 * part.count)
            for ending in part {
                var id = ending.id
                id.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) }
                image.append(integer: ending.at)
            }
            let first = try newHistoryNumbers(part.count)
            try add(
                .outcomeBatch,
                .integer(first + Int64(part.count) - 1),
                .integer(first),
                .text(provider),
                .text(term),
                .text(code),
                .blob(image.bytes)
            )
            rest = rest.dropFirst(part.count)
        }
    }

    /// Takes so many numbers, and gives the first.
    private func newHistoryNumbers(_ count: Int) throws(OutboxError) -> Int64 {
        let last: Int64
        if let lastHistoryNumber { last = lastHistoryNumber } else { last = try historyEnd() }
        guard last < .max - Int64(count) else {
            throw OutboxError(.corrupt, "The count of endings is damaged.")
        }
        lastHistoryNumber = last + Int64(count)
        return last + 1
    }

    /// Forgets the oldest endings beyond `historyLimit`, if this transaction added any.
    func trimHistory() throws(OutboxError) {
        guard let lastHistoryNumber, lastHistoryNumber > Int64(historyLimit) else { return }
        let end = SQLValue.integer(lastHistoryNumber - Int64(historyLimit))
        try connection.run(Self.deleteOldHistory, end)
        try connection.run(Self.deleteOldOutcomeBatches, end)
    }

    private static let deleteOldHistory = Query("DELETE FROM history WHERE number <= ?1")
    private static let deleteOldOutcomeBatches = Query("DELETE FROM outcomeBatch WHERE number <= ?1")

    // MARK: Reading

    /// The number of the newest ending; 0 before the first. Endings are numbered in the order of their commits.
    package func historyEnd() throws(OutboxError) -> Int64 {
        try guarded { () throws(OutboxError) in
            try carryOutEndingsNow()
            return try connection.number(Self.newestRemembered) ?? 0
        }
    }

    private static let newestRemembered = Query(
        "SELECT max(seq) FROM sqlite_sequence WHERE name IN ('history', 'outcomeBatch')"
    )

    /// The number that the newest ending has in the history, or will have when it is carried out.
    package func newestEnding() throws(OutboxError) -> Int64 {
        try guarded { () throws(OutboxError) in
            try (connection.number(Self.newestRemembered) ?? 0)
                + (connection.number("SELECT count(*) FROM ending") ?? 0)
        }
    }

    /// How operations ended, newest first.
    package func history(provider: String?, limit: Int) throws(OutboxError) -> [HistoryEntry] {
        try carryOutEndingsNow()
        let found = try endings(
            where: "(?1 IS NULL OR provider = ?1)",
            order: "number DESC LIMIT ?2",
            .optional(provider),
            .integer(limit)
        )
        return found.sorted { $0.number > $1.number }.prefix(limit).map(\.entry)
    }

    /// How operations ended behind that number, oldest first, with the finding where a reject is kept.
    package func endings(behind number: Int64, limit: Int) throws -> [Ending] {
        try carryOutEndingsNow()
        // Endings stand in two tables: of one state of both none is missed that others add meanwhile.
        var endings = try snapshot { try remembered(behind: number, limit: limit) }
        let rejected = endings.indices.filter { endings[$0].entry.term == "rejected" }
        guard !rejected.isEmpty else { return endings }
        // One walk for all of them: rejects are found by their number, and there may be as many as endings.
        let ids = JSONValue.array(rejected.map { .string(endings[$0].entry.id) }).text
        var findings: [String: [String: [UInt8]]] = [:]
        let rejects = try soundRows(
            .reject,
            where: "id IN (SELECT value FROM json_each(?1))",
            order: "number",
            .text(ids)
        ) { row in (provider: row.text(1), id: row.text(3), finding: row.blob(11)) }
        for reject in rejects { findings[reject.provider, default: [:]][reject.id] = reject.finding }
        for place in rejected {
            endings[place].finding = findings[endings[place].entry.provider]?[endings[place].entry.id]
        }
        return endings
    }

    /// What the history holds behind a number, oldest first; at most so many.
    func remembered(behind number: Int64, limit: Int) throws(OutboxError) -> [Ending] {
        let found = try endings(where: "number > ?1", order: "number LIMIT ?2", .integer(number), .integer(limit))
        return Array(found.filter { $0.number > number }.sorted { $0.number < $1.number }.prefix(limit))
    }

    /// What rows of both kinds hold, those of one by itself first.
    private func endings(
        where condition: String,
        order: String,
        _ first: SQLValue,
        _ second: SQLValue
    ) throws(OutboxError) -> [Ending] {
        let single = try soundRows(.history, where: condition, order: order, first, second, make: Ending.init(row:))
        let many = try soundRows(
            .outcomeBatch,
            where: condition,
            order: order,
            first,
            second,
            make: Ending.outcomeBatch
        )
        return single + many.joined()
    }
}

extension Ending {
    /// An ending that has a row for itself.
    fileprivate init(row: Statement) {
        number = row.integer(0)
        entry = HistoryEntry(
            provider: row.text(1),
            id: row.text(2),
            term: row.text(3),
            code: row.text(4),
            at: row.integer(5)
        )
    }

    /// The endings of an outcome batch, in order; the checksum of its row says that they are whole.
    fileprivate static func outcomeBatch(_ row: Statement) -> [Ending] {
        var number = row.integer(1)
        let (provider, term, code) = (row.text(2), row.text(3), row.text(4))
        var endings: [Ending] = []
        var image = ImageReader(row.blob(5))
        while let id = image.text(), let at = image.integer() {
            let entry = HistoryEntry(provider: provider, id: id, term: term, code: code, at: at)
            endings.append(Ending(number: number, entry: entry))
            number += 1
        }
        return endings
    }
}

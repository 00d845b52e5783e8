/// An operation that ended on one route, for good and without anything to keep of it.
package struct PlainEnding: Sendable {
    package var sequence: Int64
    package var id: String
    package var term: String
    package var code: String

    package init(sequence: Int64, id: String, term: String, code: String) {
        (self.sequence, self.id, self.term, self.code) = (sequence, id, term, code)
    }
}

extension [AccountLine] {
    /// These lines with others added to them, in the order of their keys.
    func adding(_ others: [AccountLine]) -> [AccountLine] {
        var sums = self
        for other in others {
            if let place = sums.firstIndex(where: {
                ($0.provider, $0.term, $0.code) == (other.provider, other.term, other.code)
            }) {
                sums[place].count += other.count
            } else {
                sums.append(other)
            }
        }
        return sums.sorted { ($0.provider, $0.term, $0.code) < ($1.provider, $1.term, $1.code) }
    }
}

/// What was told to end is noted first, a short row each, and carried out later, many at once: with one operation a request
/// a verdict touches one page of the file, and not eleven. Where one answer ends many, they are carried out at once.
///
/// Until then the tables are as if the operation were still on its way: every reader of them carries the endings out first.
extension OutboxStore {
    /// So many endings wait at most.
    private static let mostNoted = 256
    /// So many at once are not noted: the next window would have them carried out anyway.
    private static let many = 16

    /// Notes endings of one provider; their rows must be on their way there, and the index of the lane is told of them.
    package func note(_ endings: [PlainEnding], provider: String, at: Int64) throws(OutboxError) {
        try guarded { () throws(OutboxError) in
            var number = try notedCount()
            guard endings.count < Self.many, number + endings.count < Self.mostNoted else {
                try carryOutEndings()
                return try carryOut(endings.map { NotedEnding(provider: provider, at: at, ending: $0) }[...])
            }
            for ending in endings {
                number += 1
                try add(
                    .ending,
                    .integer(number),
                    .text(provider),
                    .integer(ending.sequence),
                    .text(ending.id),
                    .text(ending.term),
                    .text(ending.code),
                    .integer(at)
                )
            }
            notedEndings = number
        }
    }

    /// Carries out what is noted, if anything is: whoever reads what is on its way calls this before.
    package func carryOutEndingsNow() throws(OutboxError) {
        guard !isReadOnly, !isSuspended, !connection.isInTransaction, try notedCount() > 0 else { return }
        // What a test lets die or fail is what the caller does, and this is nothing that the caller does.
        let hook = faultPoint
        faultPoint = nil
        defer { faultPoint = hook }
        try atomically { () throws(OutboxError) in try carryOutEndings() }
    }

    /// How many endings are noted.
    private func notedCount() throws(OutboxError) -> Int {
        if let notedEndings { return notedEndings }
        let count = Int(try connection.number(Self.newest) ?? 0)
        notedEndings = count
        return count
    }

    /// What is noted, counted as it will be booked: for a reader that carries nothing out.
    func notedLines() throws(OutboxError) -> [AccountLine] {
        try guarded { () throws(OutboxError) in
            let statement = try connection.statement(Self.sums)
            defer { statement.reset() }
            var lines: [AccountLine] = []
            while try statement.step() {
                lines.append(
                    AccountLine(
                        provider: statement.text(0),
                        term: statement.text(1),
                        code: statement.text(2),
                        count: statement.integer(3)
                    )
                )
            }
            return lines
        }
    }

    /// An ending with where and when it was noted.
    private struct NotedEnding {
        let provider: String
        let at: Int64
        let ending: PlainEnding
    }

    /// Carries out what is noted, in the transaction at hand.
    ///
    /// One whose row is gone has ended otherwise; one that was damaged is set aside, and its operation is on its way still.
    func carryOutEndings() throws(OutboxError) {
        // Another process may have noted some.
        guard try connection.number(Self.newest) != nil else { return notedEndings = 0 }
        var noted: [NotedEnding] = []
        do {
            let statement = try connection.statement(Self.everyNote)
            defer { statement.reset() }
            // Mostly the same from one to the next.
            var (provider, term, code) = ("", "", "")
            while try statement.step() {
                guard statement.isSound(.ending, from: 0) else {
                    noteDamaged(DamagedRow(table: Table.ending.name, number: statement.integer(0)))
                    continue
                }
                provider = statement.text(1, like: provider)
                term = statement.text(4, like: term)
                code = statement.text(5, like: code)
                let ending = PlainEnding(
                    sequence: statement.integer(2),
                    id: statement.text(3),
                    term: term,
                    code: code
                )
                noted.append(NotedEnding(provider: provider, at: statement.integer(6), ending: ending))
            }
        }
        try quarantineDamagedRows()
        try carryOut(noted[...])
        try connection.run(Self.deleteEndings)
        notedEndings = 0
    }

    /// Books and remembers endings, and takes what has ended from its way, one run of sequences at a time.
    private func carryOut(_ endings: ArraySlice<NotedEnding>) throws(OutboxError) {
        var rest = endings
        while let first = rest.first {
            var next = first.ending.sequence
            let run = rest.prefix { noted in
                guard noted.ending.sequence == next, noted.provider == first.provider else { return false }
                next += 1
                return true
            }
            rest = rest.dropFirst(run.count)
            let range = first.ending.sequence...next - 1
            let found = try connection.number(
                Self.routesInRange,
                .integer(range.lowerBound),
                .integer(range.upperBound),
                .text(first.provider)
            )
            if found == Int64(run.count) {
                try carryOut(run, range, provider: first.provider)
            } else if run.count > 1 {
                for ending in run { try carryOut([ending]) }
            }
        }
    }

    private func carryOut(
        _ run: ArraySlice<NotedEnding>,
        _ range: ClosedRange<Int64>,
        provider: String
    ) throws(OutboxError) {
        let times: Int64 = DeliberateFault.endingCountedTwice.isPresent ? 2 : 1
        var rest = run
        while let first = rest.first?.ending {
            let alike = rest.prefix { ($0.ending.term, $0.ending.code) == (first.term, first.code) }
            let endings = alike.lazy.map { (id: $0.ending.id, at: $0.at) }
            if try !isSecondTime(range, provider: provider) {
                try remember(provider: provider, term: first.term, code: first.code, endings)
            }
            try count(provider: provider, term: first.term, code: first.code, by: times * Int64(alike.count))
            rest = rest.dropFirst(alike.count)
        }
        if DeliberateFault.routeLeftBehind.isPresent { return }
        if try putBack(range, provider: provider) { return }
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        try deleteRoutes(range, provider: provider, count: run.count)
        guard try connection.number(Self.otherRoutes, start, end) == nil else {
            // Some are on their way to others still.
            rest = run
            while let first = rest.first?.ending {
                let alike = rest.prefix { $0.ending.term == first.term }
                let last = first.sequence + Int64(alike.count) - 1
                try noteHearing(first.sequence...last, provider: provider, term: first.term)
                rest = rest.dropFirst(alike.count)
            }
            for sequence in range { try deleteOperation(sequence) }
            return
        }
        try deleteOperations(range)
    }

    /// Deletes so many routes of a provider in a range.
    ///
    /// Mostly all of them stand in one lane. Then they are found through an index of that lane, whose entries go with them: to
    /// look for each entry of it again costs more than to look for the row.
    private func deleteRoutes(_ range: ClosedRange<Int64>, provider: String, count: Int) throws(OutboxError) {
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        var deleted = 0
        if let lane = try connection.text(Self.laneOfRoute, start, .text(provider)) {
            deleted = try connection.run(Self.deleteRoutesOfLane, start, end, .text(provider), .text(lane))
        }
        if deleted < count { try connection.run(Self.deleteRoutes, start, end, .text(provider)) }
    }

    /// Deletes the operations of a range, through the index of one person's if they are all of one.
    private func deleteOperations(_ range: ClosedRange<Int64>) throws(OutboxError) {
        let (start, end) = (SQLValue.integer(range.lowerBound), SQLValue.integer(range.upperBound))
        var count: Int64 = 0
        var subject: String?
        do {
            let statement = try connection.statement(Self.size)
            defer { statement.reset() }
            try statement.bind([start, end])
            guard try statement.step() else { return }
            count = statement.integer(0)
            usageChange += OutboxUsage(operations: -count, bytes: -statement.integer(1))
            subject = statement.optionalText(2)
        }
        guard let subject else { return }
        try removeHearings(range)
        let deleted = try connection.run(Self.deleteOperationsOfSubject, start, end, .text(subject))
        if deleted < count { try connection.run(Self.deleteOperations, start, end) }
    }

    private static let newest = Query("SELECT max(number) FROM ending")
    private static let sums = Query(
        """
        SELECT provider, term, code, count(*) FROM ending CROSS JOIN route USING (provider, sequence)
        GROUP BY provider, term, code
        """
    )
    private static let everyNote = Query("SELECT \(Table.ending.list()), checksum FROM ending ORDER BY number")
    // The plus keeps SQLite from walking through all of a provider's routes for each run.
    private static let routesInRange = Query(
        "SELECT count(*) FROM route WHERE sequence BETWEEN ?1 AND ?2 AND +provider = ?3"
    )
    private static let otherRoutes = Query("SELECT 1 FROM route WHERE sequence BETWEEN ?1 AND ?2 LIMIT 1")
    private static let size = Query(
        "SELECT count(*), ifnull(sum(length(body)), 0), subject FROM operation WHERE sequence BETWEEN ?1 AND ?2"
    )
    private static let deleteRoutes = Query(
        "DELETE FROM route WHERE sequence BETWEEN ?1 AND ?2 AND +provider = ?3"
    )
    private static let laneOfRoute = Query("SELECT lane FROM route WHERE sequence = ?1 AND provider = ?2")
    private static let deleteRoutesOfLane = Query(
        """
        DELETE FROM route INDEXED BY route_by_order
        WHERE provider = ?3 AND lane = ?4 AND hold IS NULL AND sequence BETWEEN ?1 AND ?2
        """
    )
    private static let deleteOperationsOfSubject = Query(
        """
        DELETE FROM operation INDEXED BY operation_by_subject WHERE subject = ?3 AND sequence BETWEEN ?1 AND ?2
        """
    )
    private static let deleteOperations = Query("DELETE FROM operation WHERE sequence BETWEEN ?1 AND ?2")
    private static let deleteEndings = Query("DELETE FROM ending")
    static let carryingOut = [
        sums, routesInRange, otherRoutes, size, laneOfRoute, deleteRoutes, deleteRoutesOfLane, deleteOperations,
        deleteOperationsOfSubject,
    ]
}

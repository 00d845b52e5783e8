import Testing

@testable import PatchbayMigration

@Suite("Marks in a file without a name") struct SpilledMarksTests {
    @Test(arguments: [(1, 128 << 10), (2, 100), (3, 7)])
    func `every mark is in one part, in order, and no part is much larger than said`(workers: Int, most: Int) throws {
        var spilled = SpilledMarks<KeyMark>(most: most)
        #expect(spilled.isEmpty)
        // Each digest three times, in several additions; the first share has more than others.
        let digests = (0..<5_000 as Range<UInt64>).map { KeyMark.mix($0) &>> ($0 % 10 == 0 ? 8 : 0) }
        for round in 0..<3 as Range<UInt64> {
            for start in stride(from: 0, to: digests.count, by: 700) {
                let some = digests[start..<min(start + 700, digests.count)]
                try spilled.add(some.map { KeyMark(folded: $0, exact: round) })
            }
        }
        #expect(!spilled.isEmpty)
        let found = try spilled.eachPart(workers: workers) { parts throws(FileError) in
            var (found, marks) = ([[KeyMark]](), [KeyMark]())
            while try parts.next(&marks) { found.append(marks) }
            return found
        }
        #expect(found.count == workers)
        var rounds: [UInt64: [UInt64]] = [:]
        for part in found.joined() {
            let digests = Set(part.map(\.folded))
            #expect(digests.allSatisfy { rounds[$0] == nil })
            for mark in part { rounds[mark.folded, default: []].append(mark.exact) }
            #expect(part.count <= 2 * most + 30)
        }
        #expect(rounds.count == 5_000)
        #expect(rounds.values.allSatisfy { $0 == [0, 1, 2] })
    }
}

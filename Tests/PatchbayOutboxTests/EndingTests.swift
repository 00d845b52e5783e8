import Testing

@testable import PatchbayOutbox

@Suite("Endings of the outbox are carried out, one by one or many at once") struct EndingTests {
    private let store: OutboxStore

    init() throws { store = try OutboxStore.open(.memory) }

    private func ending(_ sequence: Int64) -> PlainEnding {
        PlainEnding(sequence: sequence, id: "o-\(sequence)", term: "accepted", code: "")
    }

    private func capture(_ count: Int, alsoFor other: String? = nil) throws -> [Int64] {
        try store.transaction(.normal) {
            try (1...count).map { number in
                let sequence = try store.capture("o-\(number)")
                if let other {
                    try store.enter(sequence, provider: other, lane: "device", queue: "events", hold: nil)
                    try store.count(provider: other, term: "captured", code: "", by: 1)
                }
                return sequence
            }
        }
    }

    private func note(_ sequences: some Sequence<Int64>, provider: String = "acoustic") throws {
        try store.transaction(.normal, appends: true) {
            try store.note(sequences.map(ending), provider: provider, at: 7)
        }
    }

    private func accepted(_ provider: String) throws -> Int64 {
        try store.accounts().first { $0.provider == provider && $0.term == "accepted" }?.count ?? 0
    }

    @Test(arguments: [1, 15, 16, 100, 255, 256, 600])
    func `whatever their number, they are booked, remembered in order and gone`(count: Int) throws {
        let sequences = try capture(count + 3)
        try note(sequences.prefix(2))
        try note(sequences.dropFirst(2).prefix(count))
        #expect(try store.pendingCount(provider: "acoustic") == 1)
        #expect(try accepted("acoustic") == Int64(count + 2))
        let remembered = try store.history(provider: nil, limit: .max).reversed().map(\.id)
        #expect(remembered == sequences.dropLast().map { "o-\($0)" })
        #expect(try store.historyEnd() == Int64(count + 2))
        let last = try store.endings(behind: Int64(count), limit: 5)
        #expect(last.map(\.number) == [Int64(count + 1), Int64(count + 2)])
        #expect(last.map(\.entry.id) == sequences.dropFirst(count).prefix(2).map { "o-\($0)" })
        #expect(try store.usage() == store.countedUsage())
    }

    @Test(arguments: [2, 40]) func `an operation stays until its last provider is done with it`(count: Int) throws {
        let sequences = try capture(count, alsoFor: "des")
        try note(sequences)
        #expect(try store.pendingCount(provider: "acoustic") == 0)
        #expect(try store.pendingCount(provider: "des") == count)
        #expect(try store.countedUsage().operations == Int64(count))
        try note(sequences.reversed(), provider: "des")
        #expect(try store.pendingCount(provider: "des") == 0)
        #expect(try store.usage() == OutboxUsage())
        #expect(try store.countedUsage() == OutboxUsage())
    }

    @Test func `the history keeps its limit, and what shares a row with the last of it`() throws {
        store.historyLimit = 60
        let sequences = try capture(200)
        try note(sequences.prefix(150))
        try note(sequences.dropFirst(150))
        let ids = try store.history(provider: nil, limit: .max).reversed().map(\.id)
        #expect((60..<60 + 48).contains(ids.count))
        #expect(ids == sequences.suffix(ids.count).map { "o-\($0)" })
        #expect(try store.knows("o-\(sequences[199])"))
        #expect(try !store.knows("o-\(sequences[0])"))
    }

    @Test(arguments: [3, 40]) func `what had ended otherwise is neither booked nor remembered twice`(count: Int) throws
    {
        let sequences = try capture(count)
        try store.end(provider: "acoustic", sequence: sequences[1], term: "dropped", code: "", at: 1)
        try note(sequences + sequences)
        #expect(try accepted("acoustic") == Int64(count - 1))
        let ids = try store.history(provider: nil, limit: .max).map(\.id)
        #expect(ids.count == count && Set(ids).count == count)
        #expect(try store.pendingCount(provider: "acoustic") == 0)
    }
}

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

    private func hearings() throws -> Int64? {
        try store.carryOutEndingsNow()
        return try store.connection.number("SELECT count(*) FROM hearing")
    }

    @Test(
        arguments: [2, 40]
    ) func `who is done with an operation is known until nobody has it any more`(count: Int) throws {
        store.historyLimit = 1
        let sequences = try capture(count + 2, alsoFor: "des")
        try store.transaction(.normal) {
            for sequence in sequences {
                try store.enter(sequence, provider: "crm", lane: "device", queue: "events", hold: nil)
                try store.count(provider: "crm", term: "captured", code: "", by: 1)
            }
        }
        try note(sequences.dropLast(2))
        try store.end(provider: "acoustic", sequence: sequences[count], term: "rejected", code: "", at: 7)
        try store.end(provider: "acoustic", sequence: sequences[count + 1], term: "moved", code: "", at: 7)
        // The history has forgotten them.
        try note([try store.capture("later", provider: "other")], provider: "other")
        func heard(_ number: Int, _ provider: String) throws -> Hearing {
            try store.hearing(of: "o-\(sequences[number])", provider: provider)
        }
        #expect(try store.history(provider: "acoustic", limit: .max).count < count + 2)
        for number in 0..<count { #expect(try heard(number, "acoustic") == .taken) }
        #expect(try heard(count, "acoustic") == .refused)
        #expect(try heard(count + 1, "acoustic") == .none)
        #expect(try heard(0, "des") == .taken)
        #expect(try heard(0, "nobody") == .none)
        #expect(try hearings() == Int64(count + 1))
        // A second one is done with them, and then the last.
        try note(sequences, provider: "des")
        #expect(try hearings() == Int64(count + 2))
        #expect(try heard(0, "des") == .taken)
        #expect(try heard(count, "acoustic") == .refused)
        #expect(try store.verify().faults == [])
        try note(sequences.reversed(), provider: "crm")
        #expect(try hearings() == 0)
        #expect(try store.verify().faults == [])
    }

    @Test func `with one provider nothing is noted of who is done with it`() throws {
        let sequences = try capture(40)
        try note(sequences.prefix(20))
        for sequence in sequences.suffix(20) {
            try store.end(provider: "acoustic", sequence: sequence, term: "rejected", code: "", at: 7, reject: [1])
        }
        #expect(try hearings() == 0)
        #expect(try store.usage().operations == 0)
    }

    @Test func `what ends as it enters is known when it goes on its way to another`() throws {
        store.historyLimit = 1
        let sequence = try store.capture("o")
        let (term, at) = ("rejected", Int64(7))
        try store.end(provider: "acoustic", sequence: sequence, term: term, code: "", at: at, keepingOperation: true)
        try store.enter(sequence, provider: "des", lane: "device", queue: "events", hold: nil)
        try store.count(provider: "des", term: "captured", code: "", by: 1)
        for number in 0..<60 { try note([try store.capture("\(number)")]) }
        #expect(try store.hearing(of: "o", provider: "acoustic") == .refused)
        try store.end(provider: "des", sequence: sequence, term: "accepted", code: "", at: 8)
        #expect(try store.pendingCount(provider: "des") == 0)
        #expect(try hearings() == 0)
    }

    @Test func `a damaged note of who is done with an operation is set aside, and none is put on top of it`() throws {
        let sequences = try capture(3, alsoFor: "des")
        try note(sequences)
        try store.carryOutEndingsNow()
        try store.connection.run("UPDATE hearing SET providers = x'00' WHERE sequence = ?1", .integer(sequences[1]))
        #expect(try store.verify().faults.map(\.kind) == [.checksum])
        #expect(try store.hearing(of: "o-\(sequences[1])", provider: "acoustic") == .taken)
        #expect(try store.quarantineCount() == 1)
        #expect(try hearings() == 2)
        #expect(try store.verify().faults == [])
    }
}

import Testing

@testable import PatchbayOutbox

@Suite("Settlement of one or many outcomes") struct SettlementTests {
    private let store: OutboxStore

    init() throws { store = try OutboxStore.open(.memory) }

    private func outcome(_ sequence: Int64) -> PlainOutcome {
        PlainOutcome(sequence: sequence, id: "o-\(sequence)", term: "accepted", code: "")
    }

    private func capture(_ count: Int, alsoFor other: String? = nil) throws -> [Int64] {
        try store.transaction(.normal) {
            try (1...count).map { number in
                let sequence = try store.capture("o-\(number)")
                if let other {
                    try store.captures.enter(sequence, provider: other, lane: "device", queue: "events", hold: nil)
                    try store.accounts.count(provider: other, term: "captured", code: "", by: 1)
                }
                return sequence
            }
        }
    }

    private func note(_ sequences: some Sequence<Int64>, provider: String = "acoustic") throws {
        try store.transaction(.normal, appends: true) {
            try store.settlement.note(sequences.map(outcome), provider: provider, at: 7)
        }
    }

    private func accepted(_ provider: String) throws -> Int64 {
        try store.accounts.lines().first { $0.provider == provider && $0.term == "accepted" }?.count ?? 0
    }

    @Test(arguments: [1, 15, 16, 100, 255, 256, 600])
    func `counts any number of outcomes and adds them to the history in order`(count: Int) throws {
        let sequences = try capture(count + 3)
        try note(sequences.prefix(2))
        try note(sequences.dropFirst(2).prefix(count))
        #expect(try store.operations.pendingCount(provider: "acoustic") == 1)
        #expect(try accepted("acoustic") == Int64(count + 2))
        let remembered = try store.history.entries(provider: nil, limit: .max).reversed().map(\.id)
        #expect(remembered == sequences.dropLast().map { "o-\($0)" })
        #expect(try store.history.end() == Int64(count + 2))
        let last = try store.history.outcomes(after: Int64(count), limit: 5)
        #expect(last.map(\.number) == [Int64(count + 1), Int64(count + 2)])
        #expect(last.map(\.entry.id) == sequences.dropFirst(count).prefix(2).map { "o-\($0)" })
        #expect(try store.accounts.usage() == store.accounts.countedUsage())
    }

    @Test(arguments: [2, 40]) func `an operation stays until its last provider has completed it`(count: Int) throws {
        let sequences = try capture(count, alsoFor: "des")
        try note(sequences)
        #expect(try store.operations.pendingCount(provider: "acoustic") == 0)
        #expect(try store.operations.pendingCount(provider: "des") == count)
        #expect(try store.accounts.countedUsage().operations == Int64(count))
        try note(sequences.reversed(), provider: "des")
        #expect(try store.operations.pendingCount(provider: "des") == 0)
        #expect(try store.accounts.usage() == OutboxUsage())
        #expect(try store.accounts.countedUsage() == OutboxUsage())
    }

    @Test func `the history keeps whole rows of outcomes at its limit`() throws {
        store.history.limit = 60
        let sequences = try capture(200)
        try note(sequences.prefix(150))
        try note(sequences.dropFirst(150))
        let ids = try store.history.entries(provider: nil, limit: .max).reversed().map(\.id)
        #expect((60..<60 + 48).contains(ids.count))
        #expect(ids == sequences.suffix(ids.count).map { "o-\($0)" })
        #expect(try store.deliveryMarks.knows("o-\(sequences[199])"))
        #expect(try !store.deliveryMarks.knows("o-\(sequences[0])"))
    }

    @Test(arguments: [3, 40])
    func `a completed operation is counted and added to the history only once`(count: Int)
        throws
    {
        let sequences = try capture(count)
        try store.settlement.complete(provider: "acoustic", sequence: sequences[1], term: "dropped", code: "", at: 1)
        try note(sequences + sequences)
        #expect(try accepted("acoustic") == Int64(count - 1))
        let ids = try store.history.entries(provider: nil, limit: .max).map(\.id)
        #expect(ids.count == count && Set(ids).count == count)
        #expect(try store.operations.pendingCount(provider: "acoustic") == 0)
    }

    private func markCount() throws -> Int64? {
        try store.settlement.applyNoted()
        return try store.connection.number("SELECT count(*) FROM deliveryMark")
    }

    @Test(
        arguments: [2, 40]
    ) func `keeps delivery marks until an operation is pending for no provider`(count: Int) throws {
        store.history.limit = 1
        let sequences = try capture(count + 2, alsoFor: "des")
        try store.transaction(.normal) {
            for sequence in sequences {
                try store.captures.enter(sequence, provider: "crm", lane: "device", queue: "events", hold: nil)
                try store.accounts.count(provider: "crm", term: "captured", code: "", by: 1)
            }
        }
        try note(sequences.dropLast(2))
        try store.settlement.complete(
            provider: "acoustic",
            sequence: sequences[count],
            term: "rejected",
            code: "",
            at: 7
        )
        try store.settlement.complete(
            provider: "acoustic",
            sequence: sequences[count + 1],
            term: "moved",
            code: "",
            at: 7
        )
        // The history no longer contains them.
        try note([try store.capture("later", provider: "other")], provider: "other")
        func mark(_ number: Int, _ provider: String) throws -> DeliveryMark {
            try store.deliveryMarks.mark(of: "o-\(sequences[number])", provider: provider)
        }
        #expect(try store.history.entries(provider: "acoustic", limit: .max).count < count + 2)
        for number in 0..<count { #expect(try mark(number, "acoustic") == .received) }
        #expect(try mark(count, "acoustic") == .rejected)
        #expect(try mark(count + 1, "acoustic") == .none)
        #expect(try mark(0, "des") == .received)
        #expect(try mark(0, "unknown") == .none)
        #expect(try markCount() == Int64(count + 1))
        // A second provider completes them, and then the last one.
        try note(sequences, provider: "des")
        #expect(try markCount() == Int64(count + 2))
        #expect(try mark(0, "des") == .received)
        #expect(try mark(count, "acoustic") == .rejected)
        #expect(try store.maintenance.verify().faults == [])
        try note(sequences.reversed(), provider: "crm")
        #expect(try markCount() == 0)
        #expect(try store.maintenance.verify().faults == [])
    }

    @Test func `stores no delivery mark with a single provider`() throws {
        let sequences = try capture(40)
        try note(sequences.prefix(20))
        for sequence in sequences.suffix(20) {
            try store.settlement.complete(
                provider: "acoustic",
                sequence: sequence,
                term: "rejected",
                code: "",
                at: 7,
                reject: [1]
            )
        }
        #expect(try markCount() == 0)
        #expect(try store.accounts.usage().operations == 0)
    }

    @Test func `keeps the mark of an operation rejected on entry while another provider holds it`() throws {
        store.history.limit = 1
        let sequence = try store.capture("o")
        let (term, at) = ("rejected", Int64(7))
        try store.settlement.complete(
            provider: "acoustic",
            sequence: sequence,
            term: term,
            code: "",
            at: at,
            keepingOperation: true
        )
        try store.captures.enter(sequence, provider: "des", lane: "device", queue: "events", hold: nil)
        try store.accounts.count(provider: "des", term: "captured", code: "", by: 1)
        for number in 0..<60 { try note([try store.capture("\(number)")]) }
        #expect(try store.deliveryMarks.mark(of: "o", provider: "acoustic") == .rejected)
        try store.settlement.complete(provider: "des", sequence: sequence, term: "accepted", code: "", at: 8)
        #expect(try store.operations.pendingCount(provider: "des") == 0)
        #expect(try markCount() == 0)
    }

    @Test func `quarantines a damaged delivery mark`() throws {
        let sequences = try capture(3, alsoFor: "des")
        try note(sequences)
        try store.settlement.applyNoted()
        try store.connection.run(
            "UPDATE deliveryMark SET providers = x'00' WHERE sequence = ?1",
            .integer(sequences[1])
        )
        #expect(try store.maintenance.verify().faults.map(\.kind) == [.checksum])
        #expect(try store.deliveryMarks.mark(of: "o-\(sequences[1])", provider: "acoustic") == .received)
        #expect(try store.quarantine.count() == 1)
        #expect(try markCount() == 2)
        #expect(try store.maintenance.verify().faults == [])
    }
}

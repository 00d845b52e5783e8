import Testing

@testable import PatchbayOutbox

@Suite("Usage counts of an outbox") struct OutboxUsageTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func expectAgreement(_ store: OutboxStore, _ comment: Comment? = nil) throws {
        #expect(try store.accounts.usage() == store.accounts.countedUsage(), comment)
        #expect(try store.maintenance.verify().faults == [], comment)
    }

    @Test(arguments: StoreKind.allCases) func `the usage count is correct after random changes`(_ kind: StoreKind)
        throws
    {
        let store = try kind.open(folder)
        var random = SeededGenerator(seed: 7)
        var pending: [Int64] = []
        for round in 0..<60 {
            try? store.transaction(.normal) {
                for number in 0..<Int.random(in: 0...5, using: &random) {
                    let body = Array(repeating: UInt8(7), count: Int.random(in: 0...2_000, using: &random))
                    pending.append(try store.capture("o-\(round)-\(number)", subject: "s-\(round % 3)", body: body))
                    #expect(try store.accounts.usage() == store.accounts.countedUsage())
                }
                for _ in 0..<min(pending.count, 3) {
                    let place = Int.random(in: pending.indices, using: &random)
                    try store.settlement.complete(
                        provider: "acoustic",
                        sequence: pending.remove(at: place),
                        term: place % 2 == 0 ? "accepted" : "rejected",
                        code: "c",
                        at: 1,
                        reject: place % 2 == 0 ? nil : [1]
                    )
                }
                if round % 7 == 0 { try store.rejects.remove(provider: nil, subject: "s-1") }
                if round % 9 == 0, let reject = try store.rejects.list(provider: nil, limit: 1).first {
                    try store.rejects.remove(reject.number)
                }
                if round % 11 == 0 { throw OutboxError(.io, "the process dies") }
            }
            if round % 11 == 0 {
                pending = try store.queues.list(provider: "acoustic", limit: 10_000).map(\.operation.sequence)
            }
            try expectAgreement(store, "round \(round)")
        }
        #expect(try store.accounts.usage().operations > 0)
    }

    @Test func `two processes share one usage count`() throws {
        let stores = [try OutboxStore.open(.file(folder.outbox)), try OutboxStore.open(.file(folder.outbox))]
        for number in 0..<20 { try stores[number % 2].capture("o-\(number)") }
        for store in stores { #expect(try store.accounts.usage().operations == 20) }
        try expectAgreement(stores[0])
    }

    @Test func `the usage count excludes damaged rows and is rebuilt when damaged itself`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<4 { try store.capture("o-\(number)") }
        try store.settlement.complete(
            provider: "acoustic",
            sequence: 1,
            term: "rejected",
            code: "c",
            at: 1,
            reject: [1]
        )
        try store.connection.run("UPDATE operation SET body = x'00' WHERE id = 'o-1'")
        try store.connection.run("UPDATE reject SET code = 'other'")
        #expect(try store.windowIDs() == ["o-2", "o-3"])
        #expect(try store.rejects.list(provider: nil, limit: 10).isEmpty)
        try expectAgreement(store)
        try store.connection.run("UPDATE usage SET operations = 5")
        #expect(try store.accounts.usage().operations == 2)
        try store.capture("o-4")
        try expectAgreement(store)
        #expect(try store.quarantine.list(limit: 10).map(\.table).contains("usage"))
    }

    @Test func `verify reports a wrong usage count`() throws {
        let store = try OutboxStore.open(.memory)
        try store.capture("o-1")
        try store.connection.run(
            "UPDATE usage SET operations = 9, checksum = row_checksum('usage', 1, 9, bytes, rejects)"
        )
        #expect(try store.maintenance.verify().faults.map(\.kind) == [.usage])
    }

    @Test func `removes the oldest rejects over the limit and reports it`() throws {
        let store = try OutboxStore.open(.memory)
        store.rejects.limit = 3
        var forgotten: [String] = []
        store.rejects.onForgotten = { forgotten.append("\($0) \($1)") }
        for number in 0..<5 {
            let sequence = try store.capture("o-\(number)")
            try store.settlement.complete(
                provider: "acoustic",
                sequence: sequence,
                term: "rejected",
                code: "c",
                at: 1,
                reject: [1]
            )
        }
        #expect(try store.rejects.list(provider: nil, limit: 10).map(\.operation.id) == ["o-4", "o-3", "o-2"])
        #expect(forgotten == ["acoustic 1", "acoustic 1"])
        try expectAgreement(store)
    }

    @Test func `knows completed ids, and a moved operation has no delivery mark`() throws {
        let store = try OutboxStore.open(.file(folder.outbox))
        for number in 0..<4 { try store.capture("o-\(number)") }
        let terms = ["accepted", "moved", "rejected"]
        for (place, term) in terms.enumerated() {
            #expect(try store.deliveryMarks.knows("o-\(place)"))
            try store.settlement.complete(provider: "acoustic", sequence: Int64(place) + 1, term: term, code: "", at: 1)
            #expect(try store.deliveryMarks.knows("o-\(place)"))
            let mark: DeliveryMark = [.received, .none, .rejected][place]
            #expect(try store.deliveryMarks.mark(of: "o-\(place)", provider: "acoustic") == mark)
        }
        #expect(try store.deliveryMarks.mark(of: "o-3", provider: "acoustic") == .received)
        #expect(
            try store.deliveryMarks.mark(of: "o-3", provider: "adobe") == .none && !store.deliveryMarks.knows("o-4")
        )
        let reader = try OutboxStore.open(.file(folder.outbox), readOnly: true)
        #expect(try reader.deliveryMarks.knows("o-1") && !reader.deliveryMarks.knows("o-4"))
        try? store.transaction(.normal) {
            try store.settlement.complete(provider: "acoustic", sequence: 4, term: "moved", code: "", at: 1)
            #expect(try store.deliveryMarks.mark(of: "o-3", provider: "acoustic") == .none)
            throw OutboxError(.io, "the process dies")
        }
        #expect(try store.deliveryMarks.mark(of: "o-3", provider: "acoustic") == .received)
    }
}

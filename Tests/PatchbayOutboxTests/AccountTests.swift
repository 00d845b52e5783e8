import Testing

@testable import PatchbayOutbox

@Suite("Outbox accounts") struct AccountTests {
    /// The expected contents of the store in plain collections.
    struct Model {
        struct Key: Hashable {
            let provider: String
            let sequence: Int64
        }
        var routes: [Key: OutboxRow] = [:]
        var accounts: [[String]: Int64] = [:]

        mutating func count(_ provider: String, _ term: String, _ code: String) {
            accounts[[provider, term, code], default: 0] += 1
        }
    }

    struct Stop: Error {}
    static let providers = ["acoustic", "adobe", "salesforce"]
    static let outcomes = ["accepted", "unchanged", "superseded", "rejected", "dropped", "erased"]

    @Test(arguments: 0..<200) func `the accounts balance after random steps`(seed: Int) throws {
        var random = SeededGenerator(seed: seed)
        let folder = try TemporaryFolder()
        let location: OutboxLocation = seed % 10 == 0 ? .file(folder.outbox) : .memory
        var store = try OutboxStore.open(location)
        var model = Model()
        var lastSequence: Int64 = 0
        for step in 0..<60 {
            let before = model
            let fails = Int.random(in: 0..<6, using: &random) == 0
            do {
                try store.transaction(.normal) {
                    for part in 0..<Int.random(in: 1...5, using: &random) {
                        try applyRandomStep(
                            "\(step)-\(part)",
                            on: store,
                            &model,
                            last: fails ? nil : lastSequence,
                            using: &random
                        )
                    }
                    if fails { throw Stop() }
                }
                lastSequence = max(lastSequence, model.routes.keys.map(\.sequence).max() ?? 0)
            } catch is Stop {
                model = before
            }
            if case .file = location, step == 30 { store = try OutboxStore.open(location) }
        }
        try compare(store, model)
    }

    private func applyRandomStep(
        _ id: String,
        on store: OutboxStore,
        _ model: inout Model,
        last: Int64?,
        using random: inout SeededGenerator
    ) throws {
        let keys = model.routes.keys.sorted { ($0.sequence, $0.provider) < ($1.sequence, $1.provider) }
        let key = keys.randomElement(using: &random)
        switch (Int.random(in: 0..<10, using: &random), key) {
        case (0..<4, _), (_, nil):
            let subject = "s\(Int.random(in: 0..<4, using: &random))"
            var operation = OutboxOperation(
                id: id,
                subject: subject,
                capturedAt: 5,
                since: 6,
                body: Array("body of \(id)".utf8)
            )
            operation.sequence = try store.captures.insert(operation)
            if let last { #expect(operation.sequence > last) }
            for provider in Self.providers where Bool.random(using: &random) {
                let hold: String? = Int.random(in: 0..<4, using: &random) == 0 ? "consent" : nil
                let row = OutboxRow(
                    operation: operation,
                    provider: provider,
                    lane: "lane-\(subject)",
                    queue: subject,
                    hold: hold
                )
                try store.captures.enter(
                    operation.sequence,
                    provider: provider,
                    lane: row.lane,
                    queue: row.queue,
                    hold: hold
                )
                try store.accounts.count(provider: provider, term: "captured", code: "", by: 1)
                model.routes[.init(provider: provider, sequence: operation.sequence)] = row
                model.count(provider, "captured", "")
            }
            try store.operations.discardIfUnrouted(operation.sequence)
        case (4..<7, let key?):
            let term = Self.outcomes[Int.random(in: 0..<Self.outcomes.count, using: &random)]
            try store.settlement.complete(
                provider: key.provider,
                sequence: key.sequence,
                term: term,
                code: "c",
                at: 1,
                reject: term == "rejected" ? [1] : nil
            )
            model.routes[key] = nil
            model.count(key.provider, term, "c")
        case (7, let key?):
            try store.settlement.progress(
                provider: key.provider,
                sequence: key.sequence,
                step: Array(id.utf8),
                failures: 3,
                refusals: 1
            )
            model.routes[key]?.step = Array(id.utf8)
            model.routes[key]?.failures = 3
            model.routes[key]?.refusals = 1
        case (8, let key?):
            let subject = try #require(model.routes[key]).operation.subject
            let holds = Bool.random(using: &random)
            let expected = model.routes.filter {
                $0.value.operation.subject == subject && ($0.value.hold == nil) == holds
            }
            let changed =
                holds
                ? try store.operations.hold(provider: nil, subject: subject, hold: "consent")
                : try store.operations.release(provider: nil, subject: subject, hold: "consent")
            #expect(changed == expected.count)
            for key in expected.keys { model.routes[key]?.hold = holds ? "consent" : nil }
        case (_, let key?):
            guard
                let target = Self.providers.first(where: {
                    model.routes[.init(provider: $0, sequence: key.sequence)] == nil
                })
            else { return }
            guard var row = model.routes.removeValue(forKey: key) else { return }
            try store.captures.enter(key.sequence, provider: target, lane: row.lane, queue: row.queue, hold: row.hold)
            try store.operations.removeRoute(provider: key.provider, sequence: key.sequence)
            try store.accounts.count(provider: key.provider, term: "moved", code: target, by: 1)
            try store.accounts.count(provider: target, term: "created", code: key.provider, by: 1)
            (row.provider, row.step, row.failures, row.refusals) = (target, nil, 0, 0)
            model.routes[.init(provider: target, sequence: key.sequence)] = row
            model.count(key.provider, "moved", target)
            model.count(target, "created", key.provider)
        }
    }

    private func compare(_ store: OutboxStore, _ model: Model) throws {
        for provider in Self.providers {
            let expected = model.routes.values.filter { $0.provider == provider }
                .sorted { $0.operation.sequence < $1.operation.sequence }
            #expect(try store.queues.list(provider: provider, limit: 10_000) == expected)
            #expect(try store.operations.pendingCount(provider: provider) == expected.count)
        }
        let lines = try store.accounts.lines().map { (key: [$0.provider, $0.term, $0.code], count: $0.count) }
        #expect(Dictionary(uniqueKeysWithValues: lines) == model.accounts)
        let report = try store.maintenance.verify()
        #expect(report.faults == [])
        #expect(report.routes == model.routes.count)
        #expect(report.operations == Set(model.routes.keys.map(\.sequence)).count)
    }

    @Test func `verify reports accounts that do not balance`() throws {
        let store = try OutboxStore.open(.memory)
        let sequence = try store.capture("o-1")
        try store.operations.removeRoute(provider: "acoustic", sequence: sequence)
        let faults = try store.maintenance.verify().faults
        #expect(faults.map(\.kind) == [.orphanOperation, .balance])
        try store.operations.discardIfUnrouted(sequence)
        #expect(try store.maintenance.verify().faults.map(\.kind) == [.balance])
        try store.captures.enter(99, provider: "acoustic", lane: "l", queue: "q", hold: nil)
        #expect(try store.maintenance.verify().faults.map(\.kind) == [.orphanRoute])
    }
}

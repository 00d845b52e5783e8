import Testing

@testable import PatchbayOutbox

@Suite("Operations and rejects that contain a text") struct MentionTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: StoreKind.allCases)
    func `finds operations and rejects that contain a text, in order and for all subjects`(kind: StoreKind) throws {
        let store = try kind.open(folder)
        for number in 0..<600 {
            let sequence = try store.capture(
                "o-\(number)",
                subject: "s\(number % 3)",
                body: Array((number % 2 == 0 ? "{\"contact\":\"ann\"}" : "{\"contact\":\"annie\"}").utf8)
            )
            guard number >= 590 else { continue }
            try store.settlement.complete(
                provider: "acoustic",
                sequence: sequence,
                term: "rejected",
                code: "c",
                at: 1,
                reject: [1]
            )
        }
        try store.connection.run("UPDATE operation SET since = 7 WHERE id = 'o-4'")
        let text = Array("\"ann\"".utf8)
        var shown: [String] = []
        try store.operations.forEach(mentioning: text) { operation in
            shown.append(operation.id)
            try store.settlement.complete(
                provider: "acoustic",
                sequence: operation.sequence,
                term: "erased",
                code: "",
                at: 1
            )
        }
        #expect(shown == (0..<590).filter { $0 % 2 == 0 && $0 != 4 }.map { "o-\($0)" })
        #expect(try store.operations.pendingCount(provider: "acoustic") == 295)
        var refused: [String] = []
        try store.rejects.forEach(provider: nil, mentioning: text) { reject in
            refused.append(reject.operation.id)
            try store.rejects.remove(reject.number)
        }
        #expect(refused == ["o-590", "o-592", "o-594", "o-596", "o-598"])
        #expect(try store.rejects.count() == 5)
        #expect(try store.maintenance.verify().faults == [])
    }
}

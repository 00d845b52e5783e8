import Testing

@testable import PatchbayOutbox

@Suite("Outbox store") struct OutboxStoreTests {
    @Test func `a captured operation comes back in the window`() throws {
        let store = try OutboxStore.open(.memory)
        let operation = OutboxOperation(id: "o-1", subject: "s", capturedAt: 1, since: 2, body: [1, 2, 3])
        let sequence = try store.transaction(.full) {
            let sequence = try store.insert(operation)
            try store.enter(sequence, provider: "acoustic", lane: "device", queue: "events", hold: nil)
            return sequence
        }
        let window = try store.window(provider: "acoustic", lane: "device", limit: 10, closedQueues: [])
        #expect(window.rows.map(\.operation.sequence) == [sequence])
        #expect(window.rows.first?.operation.body == [1, 2, 3])
        #expect(!window.hasMore)
    }
}

import PatchbayAdapterKit
import PatchbayModel
import Testing

@Suite("Lane and queue names") struct PlaceTests {
    @Test func `encodes each lane name as a distinct ASCII name`() {
        let texts = ["Zo\u{EB}", "Zoe\u{308}", "%Zo%C3%AB", "Zo%C3%AB", "b7e2 f0c4@d91a", ""]
        let names = texts.map { Place(lane: $0).lane }
        #expect(names == ["%Zo%C3%AB", "%Zoe%CC%88", "%%25Zo%25C3%25AB", "Zo%C3%AB", "b7e2 f0c4@d91a", ""])
        #expect(texts.map { Place(lane: "", queue: $0).queue } == names)
    }
}

@Suite("Windows of pending operations") struct PendingTests {
    private func pending(_ action: Action, _ sequence: Int64, queue: String = "q") -> Pending<ProbeAdapter> {
        Pending(
            operation: EngagementOperation(
                id: OperationID(rawValue: "o-\(sequence)"),
                subject: "s",
                capturedAt: Instant(milliseconds: 1),
                action: action
            ),
            sequence: sequence,
            since: Instant(milliseconds: 1),
            queue: queue
        )
    }

    @Test func `finds operations by kind and knows the kinds in a window`() {
        let window = PendingOperations<ProbeAdapter>([
            pending(.track(.sessionStarted), 1), pending(.registerDevice(Device()), 2),
            pending(.track(.custom(name: "e", attributes: [:])), 3), pending(.registerDevice(Device()), 4),
        ])
        #expect(window.kinds == [.session, .registerDevice, .event])
        #expect(window.all(.registerDevice).map(\.sequence) == [2, 4])
        #expect(window.all([.session, .setConsent]).map(\.sequence) == [1])
        #expect(window.all([.setConsent, .leave]).isEmpty)
        #expect(PendingOperations(window.operations, kinds: [], hasMore: false).all(.registerDevice).isEmpty)
    }

    @Test func `plans the first head that acts, else the shortest wait`() {
        let window = PendingOperations<ProbeAdapter>([
            pending(.unregister, 1, queue: "a"), pending(.unregister, 2, queue: "a"),
            pending(.unregister, 3, queue: "b"),
            pending(.unregister, 4, queue: "c"),
        ])
        let reason = Finding(code: "r", severity: .note, path: "", reason: "It waits.", remedy: "")
        var asked: [Int64] = []
        let settled = window.soonest { head in
            asked.append(head.sequence)
            return head.queue == "b" ? .settle([head.id: .accepted()]) : .wait(until: nil, because: reason)
        }
        #expect(asked == [1, 3])
        #expect(settled == .settle(["o-3": .accepted()]))
        let waits = window.soonest { .wait(until: Instant(milliseconds: 10 - $0.sequence), because: reason) }
        #expect(waits == .wait(until: Instant(milliseconds: 6), because: reason))
    }
}

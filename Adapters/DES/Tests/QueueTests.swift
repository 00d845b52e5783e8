import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES queue") struct QueueTests {
    private static let kept: [Outcome] = [
        .status(408), .status(429), .status(500), .status(503), .status(599), .status(302), .status(100), .lost,
        .offline,
    ]
    private static let dropped = [400, 402, 403, 404, 410, 413, 418, 422, 499]

    private var other: Device {
        var device = Corpus.phone
        device.pushToken = PushToken("0aa1f0")
        return device
    }

    @Test(.shows("des/R31", "des/R37", "des/R36"), arguments: kept)
    func `a kept request stays at the head and everything stops, without a timer`(failure: Outcome) throws {
        let bench = try Bench.started(account: ["tokenLifetimeSeconds": 1_000_000])
        bench.script = [failure]
        bench.capture(together: .event("first"), .registerDevice(other))
        #expect(bench.endpoints == [.events] && bench.pendingCount == 2)
        bench.advance(86_400_000)
        #expect(bench.endpoints == [.events])
        #expect(bench.waits?.code == "des.queue.stopped")
        // An opt-out does not wait for a failed request. Its capture also repeats that request.
        bench.capture(.push(.unsubscribed))
        #expect(bench.endpoints == [.events, .pushTokenRemoval, .events])
        #expect(bench.sent[2].eventNames == ["first"])
        // The later registration sets no push token.
        bench.capture(.event("second"))
        #expect(bench.endpoints == [.events, .pushTokenRemoval, .events, .events])
        #expect(bench.sent[3].eventNames == ["second"])
    }

    @Test(arguments: [429, 503])
    func `a word of the server about time sets no timer and holds no later request back`(status: Int) throws {
        let bench = try Bench.started(account: ["tokenLifetimeSeconds": 1_000_000])
        let closed = Outcome.replied(WireResponse(status, headers: [WireHeader("Retry-After", "3600")]))
        bench.script = [closed, closed]
        bench.capture(.event("first"))
        bench.advance(7_200_000)
        #expect(bench.endpoints == [.events])
        bench.capture(.event("second"))
        bench.advance(1_000)
        #expect(bench.endpoints == [.events, .events] && bench.pendingCount == 2)
        bench.capture(.event("third"))
        #expect(bench.endpoints == [.events, .events, .events] && bench.pendingCount == 0)
        #expect(bench.sent[2].eventNames == ["first", "second", "third"])
    }

    @Test(.shows("des/R31")) func `a registration that is kept stops the events behind it`() throws {
        let bench = try Bench.started()
        bench.script = [.status(500)]
        bench.capture(together: .registerDevice(other), .event("x"))
        #expect(bench.endpoints == [.pushToken] && bench.pendingCount == 2)
        bench.wake()
        #expect(bench.endpoints == [.pushToken, .pushToken, .events])
    }

    @Test(.shows("des/R31", "des/A5"), arguments: dropped)
    func `other refusals end a request, and the queue goes on`(status: Int) throws {
        let bench = try Bench.started()
        bench.script = [.status(status)]
        let ids = bench.capture(together: .push(.unsubscribed), .event("x"))
        #expect(bench.verdicts[ids[0]]?.finding?.code == "des.reply.refused")
        #expect(bench.verdicts[ids[1]]?.isAccepted == true)
        // Each row of the table decides for one of these.
        bench.script = [.status(400), .status(404)]
        bench.capture(.event("a"))
        bench.capture(.event("b"))
    }

    @Test(.shows("des/R31")) func `a stop ends with what it was for`() throws {
        let bench = try Bench.started()
        // The request that stopped the queue has moved to another provider.
        bench.memory.stopped = DESDevice.Queue.requests.rawValue
        bench.capture(.registerDevice(other))
        #expect(bench.endpoints == [.pushToken] && bench.pendingCount == 0 && bench.memory.stopped == nil)
    }

    @Test(.shows("des/R34"))
    func `events that wait leave together, other requests keep their places`() throws {
        let bench = try Bench()
        bench.script = [.status(500)]
        bench.capture(together: .registerDevice(Corpus.phone), .event("A"), .registerDevice(other), .event("B"))
        bench.wake()
        #expect(bench.endpoints == [.client, .client, .anonymousContact, .pushToken, .events, .pushToken])
        #expect(bench.sent[4].eventNames == ["A", "B"])
    }

    @Test(.shows("des/R35")) func `events are never merged past a change of contact`() throws {
        let bench = try Bench.started()
        let actions: [Action] = [
            .event("Aino's"), .logIn("c-1002"), .view("7"), .event("José's"), .logOut, .event("nobody's"),
        ]
        bench.script = [.status(503)]
        bench.capture(together: actions.map { bench.operation($0) })
        bench.wake()
        #expect(
            bench.endpoints == [.events, .events, .contact, .events, .anonymousContact, .pushToken, .events]
                || bench.endpoints == [.events, .events, .contact, .events, .anonymousContact, .events, .pushToken]
        )
        #expect(bench.state.events.map(\.contact) == ["2575=c-1001", "2575=c-1002", "2575=c-1002", "anonymous"])
    }

    @Test(.shows("des/R32")) func `merged events share their end`() throws {
        let bench = try Bench.started()
        bench.script = [.status(413)]
        let ids = bench.capture(together: .event("a"), .event("b"), .event("c"))
        #expect(bench.endpoints == [.events])
        #expect(Set(ids.compactMap { bench.verdicts[$0]?.finding }).count == 1)
    }

    @Test(.shows("des/R3", "des/R4", "des/R36"))
    func `headers and batch are made anew at each attempt`() throws {
        let bench = try Bench.started()
        bench.script = [.status(503, state: "state-\(Corpus.installation.rawValue)-77")]
        bench.capture(.event("x"))
        bench.advance(90_000)
        bench.capture(.event("y"))
        let orders = bench.sent.compactMap { $0.request[header: "X-Request-Order"] }
        #expect(orders == ["1930806311042", "1930806401042"])
        let states = bench.sent.map { $0.request[header: "X-Client-State"]?.suffix(3) }
        #expect(states == ["0-1", "-77"])
        #expect(bench.sent[1].eventNames == ["x", "y"])
    }

    @Test(.shows("des/T5")) func `a host that is not found keeps or ends the request`() throws {
        let unknown = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))
        let bench = try Bench.started()
        bench.script = [unknown]
        bench.capture(.event("x"))
        #expect(bench.pendingCount == 1)
        try bench.restart(["onHostNotFound": "reject"])
        bench.script = [unknown]
        let id = bench.capture(.event("y"))
        #expect(bench.verdicts[id]?.finding?.code == "des.reply.hostNotFound" && bench.pendingCount == 0)
    }

    @Test(.shows("des/R38")) func `a question passes a stopped queue, and is not repeated`() throws {
        let bench = try Bench.started()
        bench.script = [.status(503), .status(503), .status(503)]
        bench.capture(.event("x"))
        let id = bench.capture(.inline("home-hero"))
        // A query wakes the queue and is sent first.
        #expect(bench.endpoints == [.events, .inlineMessages, .events])
        #expect(bench.verdicts[id]?.finding?.code == "des.reply.later")
        #expect(bench.pendingCount == 1)
        // The queue is as stopped as before.
        bench.advance(1_000)
        #expect(bench.endpoints == [.events, .inlineMessages, .events])
        bench.wake()
        #expect(bench.endpoints == [.events, .inlineMessages, .events, .events])
    }
}

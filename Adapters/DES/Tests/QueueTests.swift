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
    func `a failed request stays first and stops the queue without a timer`(failure: Outcome) throws {
        let driver = try Driver.started(account: ["tokenLifetimeSeconds": 1_000_000])
        driver.script = [failure]
        driver.capture(together: .event("first"), .registerDevice(other))
        #expect(driver.endpoints == [.events] && driver.pendingCount == 2)
        driver.advance(86_400_000)
        #expect(driver.endpoints == [.events])
        #expect(driver.waits?.code == "des.queue.stopped")
        // An opt-out does not wait for a failed request. Its capture also repeats that request.
        driver.capture(.push(.unsubscribed))
        #expect(driver.endpoints == [.events, .pushTokenRemoval, .events])
        #expect(driver.sent[2].eventNames == ["first"])
        // The later registration sets no push token.
        driver.capture(.event("second"))
        #expect(driver.endpoints == [.events, .pushTokenRemoval, .events, .events])
        #expect(driver.sent[3].eventNames == ["second"])
    }

    @Test(arguments: [429, 503])
    func `Retry-After sets no timer and does not delay later requests`(status: Int) throws {
        let driver = try Driver.started(account: ["tokenLifetimeSeconds": 1_000_000])
        let closed = Outcome.replied(WireResponse(status, headers: [WireHeader("Retry-After", "3600")]))
        driver.script = [closed, closed]
        driver.capture(.event("first"))
        driver.advance(7_200_000)
        #expect(driver.endpoints == [.events])
        driver.capture(.event("second"))
        driver.advance(1_000)
        #expect(driver.endpoints == [.events, .events] && driver.pendingCount == 2)
        driver.capture(.event("third"))
        #expect(driver.endpoints == [.events, .events, .events] && driver.pendingCount == 0)
        #expect(driver.sent[2].eventNames == ["first", "second", "third"])
    }

    @Test(.shows("des/R31")) func `a failed registration stops the events after it`() throws {
        let driver = try Driver.started()
        driver.script = [.status(500)]
        driver.capture(together: .registerDevice(other), .event("x"))
        #expect(driver.endpoints == [.pushToken] && driver.pendingCount == 2)
        driver.wake()
        #expect(driver.endpoints == [.pushToken, .pushToken, .events])
    }

    @Test(.shows("des/R31", "des/A5"), arguments: dropped)
    func `a refused request is rejected and the queue continues`(status: Int) throws {
        let driver = try Driver.started()
        driver.script = [.status(status)]
        let ids = driver.capture(together: .push(.unsubscribed), .event("x"))
        #expect(driver.verdicts[ids[0]]?.finding?.code == "des.reply.refused")
        #expect(driver.verdicts[ids[1]]?.isAccepted == true)
        // One row of the table applies to each of these.
        driver.script = [.status(400), .status(404)]
        driver.capture(.event("a"))
        driver.capture(.event("b"))
    }

    @Test(.shows("des/R31")) func `the queue continues once the request that stopped it is gone`() throws {
        let driver = try Driver.started()
        // The request that stopped the queue has moved to another provider.
        driver.memory.stopped = DESDevice.Queue.requests.rawValue
        driver.capture(.registerDevice(other))
        #expect(driver.endpoints == [.pushToken] && driver.pendingCount == 0 && driver.memory.stopped == nil)
    }

    @Test(.shows("des/R34"))
    func `merges waiting events, other requests keep their order`() throws {
        let driver = try Driver()
        driver.script = [.status(500)]
        driver.capture(together: .registerDevice(Corpus.phone), .event("A"), .registerDevice(other), .event("B"))
        driver.wake()
        #expect(driver.endpoints == [.client, .client, .anonymousContact, .pushToken, .events, .pushToken])
        #expect(driver.sent[4].eventNames == ["A", "B"])
    }

    @Test(.shows("des/R35")) func `does not merge events across a change of contact`() throws {
        let driver = try Driver.started()
        let actions: [Action] = [
            .event("Aino's"), .logIn("c-1002"), .view("7"), .event("José's"), .logOut, .event("anonymous"),
        ]
        driver.script = [.status(503)]
        driver.capture(together: actions.map { driver.operation($0) })
        driver.wake()
        #expect(
            driver.endpoints == [.events, .events, .contact, .events, .anonymousContact, .pushToken, .events]
                || driver.endpoints == [.events, .events, .contact, .events, .anonymousContact, .events, .pushToken]
        )
        #expect(driver.state.events.map(\.contact) == ["2575=c-1001", "2575=c-1002", "2575=c-1002", "anonymous"])
    }

    @Test(.shows("des/R32")) func `merged events share their outcome`() throws {
        let driver = try Driver.started()
        driver.script = [.status(413)]
        let ids = driver.capture(together: .event("a"), .event("b"), .event("c"))
        #expect(driver.endpoints == [.events])
        #expect(Set(ids.compactMap { driver.verdicts[$0]?.finding }).count == 1)
    }

    @Test(.shows("des/R3", "des/R4", "des/R36"))
    func `builds headers and batch again for each attempt`() throws {
        let driver = try Driver.started()
        driver.script = [.status(503, state: "state-\(Corpus.installation.rawValue)-77")]
        driver.capture(.event("x"))
        driver.advance(90_000)
        driver.capture(.event("y"))
        let orders = driver.sent.compactMap { $0.request[header: "X-Request-Order"] }
        #expect(orders == ["1930806311042", "1930806401042"])
        let states = driver.sent.map { $0.request[header: "X-Client-State"]?.suffix(3) }
        #expect(states == ["0-1", "-77"])
        #expect(driver.sent[1].eventNames == ["x", "y"])
    }

    @Test(.shows("des/T5")) func `retries or rejects a request to an unknown host as the setting says`() throws {
        let unknown = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))
        let driver = try Driver.started()
        driver.script = [unknown]
        driver.capture(.event("x"))
        #expect(driver.pendingCount == 1)
        try driver.restart(["onHostNotFound": "reject"])
        driver.script = [unknown]
        let id = driver.capture(.event("y"))
        #expect(driver.verdicts[id]?.finding?.code == "des.reply.hostNotFound" && driver.pendingCount == 0)
    }

    @Test(.shows("des/R38")) func `sends a query past a stopped queue and does not retry it`() throws {
        let driver = try Driver.started()
        driver.script = [.status(503), .status(503), .status(503)]
        driver.capture(.event("x"))
        let id = driver.capture(.inline("home-hero"))
        // A query wakes the queue and is sent first.
        #expect(driver.endpoints == [.events, .inlineMessages, .events])
        #expect(driver.verdicts[id]?.finding?.code == "des.reply.later")
        #expect(driver.pendingCount == 1)
        // The queue is still stopped.
        driver.advance(1_000)
        #expect(driver.endpoints == [.events, .inlineMessages, .events])
        driver.wake()
        #expect(driver.endpoints == [.events, .inlineMessages, .events, .events])
    }
}

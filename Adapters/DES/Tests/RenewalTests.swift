import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES renewal of the contact token") struct RenewalTests {
    @Test(.shows("des/R33", "des/B5", "des/R7", "des/H5"))
    func `401: renewed, and half a second later the same body again`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401)]
        bench.capture(together: .view("1"), .event("x"))
        #expect(bench.endpoints == [.events, .contactToken])
        #expect(bench.last?.body == ["refreshToken": "refresh-3"])
        #expect(bench.last?.request[header: "X-Contact-Token"] == nil)
        #expect(bench.last?.request[header: "X-Merchant-Id"] == "1428C8EE286EC34B")
        bench.advance(499)
        #expect(bench.sent.count == 2 && bench.waits?.code == "des.queue.renewed")
        bench.advance(1)
        // The push token was forgotten, so it is set again after the pending operations.
        #expect(bench.endpoints == [.events, .contactToken, .events, .pushToken])
        #expect(bench.sent[2].request.body == bench.sent[0].request.body)
        #expect(bench.sent[2].request[header: "X-Contact-Token"] != bench.sent[0].request[header: "X-Contact-Token"])
        #expect(bench.sent[2].at - bench.sent[1].at == .milliseconds(500))
        #expect(bench.pendingCount == 0 && bench.client?.views == ["1": 1])
    }

    @Test(.shows("des/R33", "des/R36"))
    func `what is captured meanwhile does not enter the repeated body`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401)]
        bench.capture(together: .view("1"), .event("x"))
        bench.capture(.view("2"))
        bench.advance(500)
        #expect(bench.sent[2].request.body == bench.sent[0].request.body)
        #expect(bench.sent.filter { $0.endpoint == .events }.count == 3)
        #expect(bench.client?.views == ["1": 1, "2": 1])
    }

    @Test(.shows("des/R33")) func `three renewals, then no more`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401), nil, .status(401), nil, .status(401), nil, .status(401)]
        let id = bench.capture(.event("x"))
        for _ in 0..<4 { bench.advance(500) }
        #expect(
            bench.endpoints.prefix(7) == [
                .events, .contactToken, .events, .contactToken, .events, .contactToken, .events,
            ]
        )
        #expect(bench.verdicts[id]?.finding?.code == "des.reply.renewalsSpent")
        #expect(bench.client?.renewals == 3)
    }

    @Test(.shows("des/R33")) func `the repeat after the third renewal may succeed`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401), nil, .status(401), nil, .status(401), nil]
        let id = bench.capture(.event("x"))
        for _ in 0..<4 { bench.advance(500) }
        #expect(bench.verdicts[id]?.isAccepted == true)
    }

    @Test(.shows("des/R33"), arguments: [Outcome.lost, .offline, .status(503), .status(429)])
    func `a renewal that is lost keeps the request`(failure: Outcome) throws {
        let bench = try Bench.started()
        bench.script = [.status(401), failure]
        bench.capture(together: .view("1"), .registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.events, .contactToken] && bench.pendingCount == 2)
        bench.advance(60_000)
        #expect(bench.sent.count == 2)
        bench.wake()
        #expect(bench.endpoints == [.events, .contactToken, .contactToken])
        bench.advance(500)
        #expect(bench.pendingCount == 0 && bench.client?.views == ["1": 1])
    }

    @Test(.shows("des/R33", "des/R27"))
    func `a renewal that is refused ends the request, and its views stay`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401), .status(403)]
        let id = bench.capture(.view("1"))
        #expect(bench.verdicts[id]?.finding?.code == "des.reply.renewalRefused")
        #expect(bench.endpoints == [.events, .contactToken] && bench.memory.views.count == 1)
    }

    @Test(.shows("des/R33")) func `without a refresh token 401 is a refusal like others`() throws {
        let bench = try Bench.started()
        bench.memory.refreshToken = nil
        bench.script = [.status(401)]
        let id = bench.capture(.event("x"))
        #expect(bench.verdicts[id]?.finding?.code == "des.reply.unauthenticated" && bench.endpoints == [.events])
    }

    @Test(.shows("des/R33", "des/R36")) func `a repeat that fails otherwise is made anew`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401), nil, .status(503)]
        bench.capture(.event("x"))
        bench.advance(500)
        #expect(bench.endpoints == [.events, .contactToken, .events])
        bench.advance(2_000)
        bench.capture(.event("y"))
        #expect(bench.sent[3].eventNames == ["x", "y"])
    }

    @Test(
        .shows("des/R33"),
        arguments: [
            Action.registerDevice(Device(pushToken: PushToken("0aa1"), facts: Corpus.phone.facts)),
            .push(.unsubscribed),
            .logIn("c-1002"), .logOut, .inline("home-hero"), .readBack(ReadRequest("inbox")),
            .readBack(ReadRequest("geofences")),
        ]
    )
    func `every request of a client is renewed`(action: Action) throws {
        let bench = try Bench.started()
        bench.script = [.status(401)]
        let id = bench.capture(action)
        bench.advance(500)
        #expect(bench.endpoints.count >= 3 && bench.endpoints[1] == .contactToken)
        #expect(bench.endpoints.dropFirst(2).contains(bench.endpoints[0]))
        #expect(bench.verdicts[id]?.isAccepted == true && bench.state.violations == [])
    }

    @Test(.shows("des/R33", "des/R25"))
    func `an inline request in the pause takes the clicks, and the repeat does not bring them again`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401)]
        bench.capture(together: .click("904418"), .view("904418"))
        #expect(bench.endpoints == [.events, .contactToken])
        bench.advance(100)
        bench.capture(.inline("home-hero"))
        #expect(bench.last?.endpoint == .inlineMessages && bench.last?.body.campaigns("clicks") == ["904418"])
        bench.advance(400)
        #expect(bench.sent[3].endpoint == .events && bench.sent[3].body["clicks"] == [])
        #expect(bench.client?.clicks == ["904418": 1] && bench.client?.views == ["904418": 1])
        #expect(bench.pendingCount == 0 && bench.state.violations == [])
    }

    @Test(.shows("des/R33")) func `a crash in the pause forgets nothing`() throws {
        let bench = try Bench.started()
        bench.script = [.status(401)]
        bench.capture(together: .view("1"), .event("x"))
        bench.restart()
        bench.advance(500)
        #expect(bench.sent[2].request.body == bench.sent[0].request.body && bench.pendingCount == 0)
    }
}

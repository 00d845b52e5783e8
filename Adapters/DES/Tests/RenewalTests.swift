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
    func `renews the token after 401 and repeats the same body half a second later`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401)]
        driver.capture(together: .view("1"), .event("x"))
        #expect(driver.endpoints == [.events, .contactToken])
        #expect(driver.last?.body == ["refreshToken": "refresh-3"])
        #expect(driver.last?.request[header: "X-Contact-Token"] == nil)
        #expect(driver.last?.request[header: "X-Merchant-Id"] == "1428C8EE286EC34B")
        driver.advance(499)
        #expect(driver.sent.count == 2 && driver.waits?.code == "des.queue.renewed")
        driver.advance(1)
        // The push token was removed from memory, so it is set again after the pending operations.
        #expect(driver.endpoints == [.events, .contactToken, .events, .pushToken])
        #expect(driver.sent[2].request.body == driver.sent[0].request.body)
        #expect(driver.sent[2].request[header: "X-Contact-Token"] != driver.sent[0].request[header: "X-Contact-Token"])
        #expect(driver.sent[2].at - driver.sent[1].at == .milliseconds(500))
        #expect(driver.pendingCount == 0 && driver.client?.views == ["1": 1])
    }

    @Test(.shows("des/R33", "des/R36"))
    func `excludes operations captured in the meantime from the repeated body`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401)]
        driver.capture(together: .view("1"), .event("x"))
        driver.capture(.view("2"))
        driver.advance(500)
        #expect(driver.sent[2].request.body == driver.sent[0].request.body)
        #expect(driver.sent.filter { $0.endpoint == .events }.count == 3)
        #expect(driver.client?.views == ["1": 1, "2": 1])
    }

    @Test(.shows("des/R33")) func `renews at most three times`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401), nil, .status(401), nil, .status(401), nil, .status(401)]
        let id = driver.capture(.event("x"))
        for _ in 0..<4 { driver.advance(500) }
        #expect(
            driver.endpoints.prefix(7) == [
                .events, .contactToken, .events, .contactToken, .events, .contactToken, .events,
            ]
        )
        #expect(driver.verdicts[id]?.finding?.code == "des.reply.renewalsSpent")
        #expect(driver.client?.renewals == 3)
    }

    @Test(.shows("des/R33")) func `accepts the repeat after the third renewal`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401), nil, .status(401), nil, .status(401), nil]
        let id = driver.capture(.event("x"))
        for _ in 0..<4 { driver.advance(500) }
        #expect(driver.verdicts[id]?.isAccepted == true)
    }

    @Test(.shows("des/R33"), arguments: [Outcome.lost, .offline, .status(503), .status(429)])
    func `keeps the request after a lost renewal`(failure: Outcome) throws {
        let driver = try Driver.started()
        driver.script = [.status(401), failure]
        driver.capture(together: .view("1"), .registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.events, .contactToken] && driver.pendingCount == 2)
        driver.advance(60_000)
        #expect(driver.sent.count == 2)
        driver.wake()
        #expect(driver.endpoints == [.events, .contactToken, .contactToken])
        driver.advance(500)
        #expect(driver.pendingCount == 0 && driver.client?.views == ["1": 1])
    }

    @Test(.shows("des/R33", "des/R27"))
    func `a refused renewal rejects the request and keeps its views`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401), .status(403)]
        let id = driver.capture(.view("1"))
        #expect(driver.verdicts[id]?.finding?.code == "des.reply.renewalRefused")
        #expect(driver.endpoints == [.events, .contactToken] && driver.memory.views.count == 1)
    }

    @Test(.shows("des/R33")) func `rejects on 401 without a refresh token`() throws {
        let driver = try Driver.started()
        driver.memory.refreshToken = nil
        driver.script = [.status(401)]
        let id = driver.capture(.event("x"))
        #expect(driver.verdicts[id]?.finding?.code == "des.reply.unauthenticated" && driver.endpoints == [.events])
    }

    @Test(.shows("des/R33", "des/R36")) func `builds a retry again if it failed for another reason`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401), nil, .status(503)]
        driver.capture(.event("x"))
        driver.advance(500)
        #expect(driver.endpoints == [.events, .contactToken, .events])
        driver.advance(2_000)
        driver.capture(.event("y"))
        #expect(driver.sent[3].eventNames == ["x", "y"])
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
    func `renews the token for every client request`(action: Action) throws {
        let driver = try Driver.started()
        driver.script = [.status(401)]
        let id = driver.capture(action)
        driver.advance(500)
        #expect(driver.endpoints.count >= 3 && driver.endpoints[1] == .contactToken)
        #expect(driver.endpoints.dropFirst(2).contains(driver.endpoints[0]))
        #expect(driver.verdicts[id]?.isAccepted == true && driver.state.violations == [])
    }

    @Test(.shows("des/R33", "des/R25"))
    func `an inline request during the pause takes the clicks, and the repeat omits them`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401)]
        driver.capture(together: .click("904418"), .view("904418"))
        #expect(driver.endpoints == [.events, .contactToken])
        driver.advance(100)
        driver.capture(.inline("home-hero"))
        #expect(driver.last?.endpoint == .inlineMessages && driver.last?.body.campaigns("clicks") == ["904418"])
        driver.advance(400)
        #expect(driver.sent[3].endpoint == .events && driver.sent[3].body["clicks"] == [])
        #expect(driver.client?.clicks == ["904418": 1] && driver.client?.views == ["904418": 1])
        #expect(driver.pendingCount == 0 && driver.state.violations == [])
    }

    @Test(.shows("des/R33")) func `keeps the repeated body across a crash during the pause`() throws {
        let driver = try Driver.started()
        driver.script = [.status(401)]
        driver.capture(together: .view("1"), .event("x"))
        driver.restart()
        driver.advance(500)
        #expect(driver.sent[2].request.body == driver.sent[0].request.body && driver.pendingCount == 0)
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES contact") struct ContactTests {
    @Test(.shows("des/B4", "des/R9", "des/H4", "des/H5"))
    func `a contact is set by field and value, and not again`() throws {
        let bench = try Bench.started(contact: nil)
        bench.capture(.logIn("c-1001"))
        let request = try #require(bench.last?.request)
        #expect(request.url == "https://me-client.eservice.emarsys.net/v3/apps/ABCD1-234E6/client/contact")
        #expect(request.json == ["contactFieldId": 2575, "contactFieldValue": "c-1001"])
        #expect(request[header: "X-Contact-Token"] == nil && request[header: "X-Merchant-Id"] == "1428C8EE286EC34B")
        #expect(bench.verdict(.logIn("c-1001"))?.isUnchanged == true)
        #expect(bench.verdict(.identify([Identifier(.external, "c-1001")]))?.isUnchanged == true)
        #expect(bench.endpoints == [.contact])
        bench.capture(.event("known"))
        #expect(bench.last?.request[header: "X-Contact-Token"] == bench.memory.contactToken?.value)
        #expect(bench.last?.request[header: "X-Merchant-Id"] == nil)
    }

    @Test(.shows("des/R9")) func `another field with the same value is another contact`() throws {
        let bench = try Bench.started()
        try bench.restart(["contactFieldId": 3])
        bench.capture(.logIn("c-1001"))
        #expect(bench.endpoints == [.contact] && bench.client?.contact == "3=c-1001")
    }

    @Test(.shows("des/R9")) func `a value that looks alike is another contact`() throws {
        let bench = try Bench.started(contact: nil)
        bench.capture(.logIn("Zo\u{EB}"))
        #expect(bench.verdict(.logIn("Zoe\u{308}"))?.isAccepted == true)
        #expect(bench.endpoints == [.contact, .contact])
        #expect(bench.last?.request.json?["contactFieldValue"] == "Zoe\u{308}")
    }

    @Test(.shows("des/R8", "des/R10")) func `without a value the contact is anonymous`() throws {
        let bench = try Bench.started(contact: nil)
        #expect(bench.verdict(.logOut)?.isUnchanged == true)
        #expect(bench.endpoints == [])
        bench.capture(.logIn("c-1001"))
        bench.forget()
        let blank = bench.capture(.logIn(" "))
        #expect(bench.verdicts[blank]?.isAccepted == true)
        #expect(bench.endpoints.first == .anonymousContact && bench.client?.contact == "anonymous")
    }

    @Test(.shows("des/R7")) func `who becomes anonymous has the push token set anew`() throws {
        let bench = try Bench.started()
        bench.capture(.logOut)
        #expect(bench.endpoints == [.anonymousContact, .pushToken])
        bench.forget()
        bench.capture(.logIn("c-1001"))
        #expect(bench.endpoints == [.contact])
    }

    @Test(.shows("des/R11")) func `a change of contact parts two sessions`() throws {
        let bench = try Bench.started()
        bench.capture(.track(.sessionStarted))
        bench.advance(5_000)
        bench.forget()
        let ids = bench.capture(together: .event("before"), .logIn("c-1002"), .event("after"))
        #expect(bench.endpoints == [.events, .contact, .events])
        #expect(bench.sent[0].eventNames == ["before"])
        #expect(bench.sent[2].eventNames == ["session:end", "session:start", "after"])
        let events = try #require(bench.sent[2].body["events"]?.array)
        #expect(events[0]["attributes"] == ["duration": "5000"])
        let sessions = events.map { $0["sessionId"]?.string }
        #expect(sessions[0] == bench.sent[0].body["events"]?[0]?["sessionId"]?.string)
        #expect(sessions[0] != sessions[1] && sessions[1] == sessions[2])
        #expect(ids.allSatisfy { bench.verdicts[$0]?.isAccepted == true })
    }

    @Test(.shows("des/R11"))
    func `after a failed change the old contact stays and the session goes on`() throws {
        let bench = try Bench.started()
        bench.capture(.track(.sessionStarted))
        let before = bench.memory
        bench.forget()
        bench.script = [.status(400)]
        let id = bench.capture(.logIn("c-1002"))
        #expect(bench.verdicts[id]?.finding?.code == "des.reply.refused" && bench.endpoints == [.contact])
        #expect(bench.memory.identity == before.identity && bench.memory.session == before.session)
        bench.advance(1_000)
        #expect(bench.verdict(.logIn("c-1001"))?.isUnchanged == true)
    }

    @Test(.shows("des/R9")) func `after uncertain delivery the contact is set again`() throws {
        let bench = try Bench.started()
        bench.script = [.lost, .status(400)]
        bench.capture(.logIn("c-1002"))
        bench.wake()
        bench.forget()
        bench.advance(1_000)
        bench.capture(.logIn("c-1001"))
        #expect(bench.endpoints == [.contact] && bench.client?.contact == "2575=c-1001")
    }

    @Test(.shows("des/B4", "des/R9"))
    func `an ID token proves who it is, and another one is a change`() throws {
        let bench = try Bench(["contactProof": "openIdToken"])
        bench.capture(.registerDevice(Corpus.phone))
        bench.forget()
        bench.capture(.logIn("c-1001"))
        #expect(bench.sent.isEmpty && bench.waits?.code == "des.credential.missing")
        bench.credential = Secret("eyJhbGciOiJub25lIn0.e30.x")
        bench.wake()
        #expect(bench.last?.body == ["contactFieldId": 2575, "openIdToken": "eyJhbGciOiJub25lIn0.e30.x"])
        #expect(bench.verdict(.logIn("c-1001"))?.isUnchanged == true)
        bench.credential = Secret("eyJhbGciOiJub25lIn0.e30.y")
        bench.capture(.logIn("c-1001"))
        #expect(bench.endpoints == [.contact, .contact])
        bench.capture(.logOut)
        #expect(bench.client?.contact == "anonymous")
        #expect(bench.memory.identity == nil)
    }

    @Test(.shows("des/H8"), arguments: [true, false])
    func `the anonymous contact is asked for with or without the token`(sends: Bool) throws {
        let bench = try Bench.started(["tokenWithAnonymous": .bool(sends)])
        bench.capture(.logOut)
        #expect((bench.sent.first?.request[header: "X-Contact-Token"] != nil) == sends)
    }

    @Test(.shows("des/A4")) func `tokens that an answer lacks stay`() throws {
        let bench = try Bench.started(contact: nil)
        let before = bench.memory
        bench.script = [.status(204)]
        bench.capture(.logIn("c-1001"))
        #expect(bench.memory.contactToken == before.contactToken && bench.memory.refreshToken == before.refreshToken)
        #expect(bench.memory.identity != nil)
    }
}

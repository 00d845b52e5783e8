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
    func `sets a contact by field and value once`() throws {
        let driver = try Driver.started(contact: nil)
        driver.capture(.logIn("c-1001"))
        let request = try #require(driver.last?.request)
        #expect(request.url == "https://me-client.eservice.emarsys.net/v3/apps/ABCD1-234E6/client/contact")
        #expect(request.json == ["contactFieldId": 2575, "contactFieldValue": "c-1001"])
        #expect(request[header: "X-Contact-Token"] == nil && request[header: "X-Merchant-Id"] == "1428C8EE286EC34B")
        #expect(driver.verdict(.logIn("c-1001"))?.isUnchanged == true)
        #expect(driver.verdict(.identify([Identifier(.external, "c-1001")]))?.isUnchanged == true)
        #expect(driver.endpoints == [.contact])
        driver.capture(.event("known"))
        #expect(driver.last?.request[header: "X-Contact-Token"] == driver.memory.contactToken?.value)
        #expect(driver.last?.request[header: "X-Merchant-Id"] == nil)
    }

    @Test(.shows("des/R9")) func `treats the same value in another field as another contact`() throws {
        let driver = try Driver.started()
        try driver.restart(["contactFieldId": 3])
        driver.capture(.logIn("c-1001"))
        #expect(driver.endpoints == [.contact] && driver.client?.contact == "3=c-1001")
    }

    @Test(.shows("des/R9")) func `compares contact values by Unicode scalars`() throws {
        let driver = try Driver.started(contact: nil)
        driver.capture(.logIn("Zo\u{EB}"))
        #expect(driver.verdict(.logIn("Zoe\u{308}"))?.isAccepted == true)
        #expect(driver.endpoints == [.contact, .contact])
        #expect(driver.last?.request.json?["contactFieldValue"] == "Zoe\u{308}")
    }

    @Test(.shows("des/R8", "des/R10")) func `uses the anonymous contact without a value`() throws {
        let driver = try Driver.started(contact: nil)
        #expect(driver.verdict(.logOut)?.isUnchanged == true)
        #expect(driver.endpoints == [])
        driver.capture(.logIn("c-1001"))
        driver.forget()
        let blank = driver.capture(.logIn(" "))
        #expect(driver.verdicts[blank]?.isAccepted == true)
        #expect(driver.endpoints.first == .anonymousContact && driver.client?.contact == "anonymous")
    }

    @Test(.shows("des/R7")) func `sets the push token again for the anonymous contact`() throws {
        let driver = try Driver.started()
        driver.capture(.logOut)
        #expect(driver.endpoints == [.anonymousContact, .pushToken])
        driver.forget()
        driver.capture(.logIn("c-1001"))
        #expect(driver.endpoints == [.contact])
    }

    @Test(.shows("des/R11")) func `a change of contact ends the session and starts another`() throws {
        let driver = try Driver.started()
        driver.capture(.track(.sessionStarted))
        driver.advance(5_000)
        driver.forget()
        let ids = driver.capture(together: .event("before"), .logIn("c-1002"), .event("after"))
        #expect(driver.endpoints == [.events, .contact, .events])
        #expect(driver.sent[0].eventNames == ["before"])
        #expect(driver.sent[2].eventNames == ["session:end", "session:start", "after"])
        let events = try #require(driver.sent[2].body["events"]?.array)
        #expect(events[0]["attributes"] == ["duration": "5000"])
        let sessions = events.map { $0["sessionId"]?.string }
        #expect(sessions[0] == driver.sent[0].body["events"]?[0]?["sessionId"]?.string)
        #expect(sessions[0] != sessions[1] && sessions[1] == sessions[2])
        #expect(ids.allSatisfy { driver.verdicts[$0]?.isAccepted == true })
    }

    @Test(.shows("des/R11"))
    func `keeps the contact and its session after a failed change of contact`() throws {
        let driver = try Driver.started()
        driver.capture(.track(.sessionStarted))
        let before = driver.memory
        driver.forget()
        driver.script = [.status(400)]
        let id = driver.capture(.logIn("c-1002"))
        #expect(driver.verdicts[id]?.finding?.code == "des.reply.refused" && driver.endpoints == [.contact])
        #expect(driver.memory.identity == before.identity && driver.memory.session == before.session)
        driver.advance(1_000)
        #expect(driver.verdict(.logIn("c-1001"))?.isUnchanged == true)
    }

    @Test(.shows("des/R9")) func `sets the contact again after uncertain delivery`() throws {
        let driver = try Driver.started()
        driver.script = [.lost, .status(400)]
        driver.capture(.logIn("c-1002"))
        driver.wake()
        driver.forget()
        driver.advance(1_000)
        driver.capture(.logIn("c-1001"))
        #expect(driver.endpoints == [.contact] && driver.client?.contact == "2575=c-1001")
    }

    @Test(.shows("des/B4", "des/R9"))
    func `identifies the contact by ID token and sends another token as a change`() throws {
        let driver = try Driver(["contactProof": "openIdToken"])
        driver.capture(.registerDevice(Corpus.phone))
        driver.forget()
        driver.capture(.logIn("c-1001"))
        #expect(driver.sent.isEmpty && driver.waits?.code == "des.credential.missing")
        driver.credential = Secret("eyJhbGciOiJub25lIn0.e30.x")
        driver.wake()
        #expect(driver.last?.body == ["contactFieldId": 2575, "openIdToken": "eyJhbGciOiJub25lIn0.e30.x"])
        #expect(driver.verdict(.logIn("c-1001"))?.isUnchanged == true)
        driver.credential = Secret("eyJhbGciOiJub25lIn0.e30.y")
        driver.capture(.logIn("c-1001"))
        #expect(driver.endpoints == [.contact, .contact])
        driver.capture(.logOut)
        #expect(driver.client?.contact == "anonymous")
        #expect(driver.memory.identity == nil)
    }

    @Test(.shows("des/H8"), arguments: [true, false])
    func `requests the anonymous contact with or without the contact token`(sends: Bool) throws {
        let driver = try Driver.started(["tokenWithAnonymous": .bool(sends)])
        driver.capture(.logOut)
        #expect((driver.sent.first?.request[header: "X-Contact-Token"] != nil) == sends)
    }

    @Test(.shows("des/A4")) func `keeps tokens that an answer omits`() throws {
        let driver = try Driver.started(contact: nil)
        let before = driver.memory
        driver.script = [.status(204)]
        driver.capture(.logIn("c-1001"))
        #expect(driver.memory.contactToken == before.contactToken && driver.memory.refreshToken == before.refreshToken)
        #expect(driver.memory.identity != nil)
    }
}

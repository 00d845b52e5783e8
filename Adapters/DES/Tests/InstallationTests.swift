import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES installation") struct InstallationTests {
    private func moved(_ change: (inout Device) -> Void) -> Device {
        var device = Corpus.phone
        change(&device)
        return device
    }

    @Test(
        .shows(
            "des/R5",
            "des/R6",
            "des/B1",
            "des/B2",
            "des/B3",
            "des/H1",
            "des/H2",
            "des/H3",
            "des/H6",
            "des/A4"
        )
    )
    func `a first start registers, asks for an anonymous contact, and sets the push token`() throws {
        let bench = try Bench()
        let id = bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.client, .anonymousContact, .pushToken])
        #expect(bench.verdicts[id]?.isAccepted == true)
        #expect(bench.client?.contact == "anonymous")
        #expect(bench.client?.pushToken == Corpus.phone.pushToken?.value)
        let first = try #require(bench.sent.first?.request)
        #expect(
            first.headers.map(\.name) == [
                "Content-Type", "X-Client-Id", "X-Request-Order", "X-EMARSYS-SDK-VERSION", "X-EMARSYS-SDK-MODE",
            ]
        )
        #expect(first[header: "X-Client-Id"] == Corpus.installation.rawValue)
        #expect(first[header: "X-Request-Order"] == "1930806311042")
        #expect(bench.sent[1].request.url.hasSuffix("/v3/apps/ABCD1-234E6/client/contact?anonymous=true"))
        #expect(bench.sent[1].body == [:])
        #expect(bench.memory.contactToken?.value == "contact-2" && bench.memory.refreshToken?.value == "refresh-1")
    }

    @Test(.shows("des/R5")) func `the same facts are not sent again, others are`() throws {
        let bench = try Bench.started()
        #expect(bench.verdict(.registerDevice(Corpus.phone))?.isUnchanged == true)
        #expect(bench.endpoints == [])
        bench.capture(.registerDevice(moved { $0.facts?.appVersion = "9.0" }))
        #expect(bench.endpoints == [.client])
        #expect(bench.last?.body["applicationVersion"] == "9.0")
        // A registration counts as accepted after its reply. A lost reply leaves it uncertain.
        bench.script = [.lost]
        bench.capture(.registerDevice(moved { $0.facts?.appVersion = "9.1" }))
        bench.wake()
        #expect(bench.endpoints == [.client, .client, .client])
    }

    @Test(.shows("des/R5")) func `without a client state the client is registered at each start`()
        throws
    {
        let bench = try Bench.started(account: ["clientState": false])
        bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.client])
    }

    @Test(
        .shows("des/B1"),
        arguments: [
            ("iOS", PushToken.Service.apns, "ios", "fi"), ("iPadOS", .apns, "ios", "fi"),
            ("Android", .fcm, "android", "fi-FI"), ("Android", .hms, "android-huawei", "fi-FI"),
        ]
    )
    func `platforms have the vendor's words`(
        row: (platform: String, service: PushToken.Service, word: String, language: String)
    )
        throws
    {
        let bench = try Bench()
        bench.capture(
            .registerDevice(
                moved {
                    $0.facts?.platform = row.platform
                    $0.pushToken?.service = row.service
                }
            )
        )
        let body = try #require(bench.sent.first?.body)
        #expect(body["platform"]?.string == row.word && body["language"]?.string == row.language)
        #expect(bench.state.violations == [])
    }

    @Test(
        .shows("des/B1"),
        arguments: [(7200, "+0200"), (0, "+0000"), (-12_600, "-0330"), (20_700, "+0545")]
    )
    func `the zone has four digits`(row: (seconds: Int, text: String)) throws {
        let bench = try Bench()
        bench.capture(.registerDevice(moved { $0.facts?.utcOffsetSeconds = row.seconds }))
        #expect(bench.sent.first?.body["timezone"]?.string == row.text)
    }

    @Test(.shows("des/B2"))
    func `push settings are what the app gives, else what follows from the permission`() throws {
        let bench = try Bench()
        bench.capture(
            .registerDevice(moved { $0.allowsPush = false }),
            options: ["pushSettings": ["alertStyle": "alert"]]
        )
        let settings = try #require(bench.sent.first?.body["pushSettings"])
        #expect(settings["authorizationStatus"] == "denied" && settings["soundSetting"] == "disabled")
        #expect(settings["alertStyle"] == "alert" && settings.object?.count == 13)
        // A setting stays until the app passes another value.
        bench.capture(.registerDevice(moved { $0.allowsPush = false }))
        #expect(bench.endpoints.count { $0 == .client } == 1)
    }

    @Test(.shows("des/H2")) func `an adopted client id is taken over and kept`() throws {
        let bench = try Bench()
        let adopted = "A1B2C3D4-0000-4000-8000-00000000D001"
        bench.capture(.registerDevice(moved { $0.identities = [DESDevice.adoptedClient: adopted] }))
        bench.capture(.registerDevice(moved { $0.facts?.appVersion = "9.0" }))
        #expect(bench.sent.allSatisfy { $0.request[header: "X-Client-Id"] == adopted })
        #expect(bench.state.clients.count == 1)
    }

    @Test(.shows("des/H2")) func `a subject that is no UUID gets one, always the same`() {
        let made = UUIDText.named("phone")
        #expect(UUIDText.isValid(made) && made == UUIDText.named("phone") && made != UUIDText.named("phone 2"))
        #expect(UUIDText.named("A1B2C3D4-0000-4000-8000-00000000D001") == "A1B2C3D4-0000-4000-8000-00000000D001")
        let headers = Headers(clientID: made, sdkVersion: "1.0.0", mode: "debug")
        #expect(headers.lines.contains(WireHeader("X-Client-Id", made)))
    }

    @Test(.shows("des/R6"))
    func `a push token is set once, and counts only after a success`() throws {
        let bench = try Bench.started()
        let other = moved { $0.pushToken = PushToken("0AA1F0") }
        bench.script = [.lost]
        bench.capture(.registerDevice(other))
        #expect(bench.memory.pushToken == nil)
        bench.wake()
        #expect(bench.endpoints == [.pushToken, .pushToken])
        #expect(bench.client?.pushToken == "0aa1f0" && bench.memory.pushToken == "0aa1f0")
        bench.capture(.registerDevice(other))
        #expect(bench.endpoints == [.pushToken, .pushToken])
    }

    @Test(.shows("des/R7"))
    func `no push: the token is forgotten before any answer and stays away`() throws {
        let bench = try Bench.started()
        bench.script = [.status(503)]
        let id = bench.capture(.push(.unsubscribed))
        #expect(bench.endpoints == [.pushTokenRemoval] && bench.last?.body == [:])
        #expect(bench.memory.pushToken == nil && bench.memory.mayHavePushToken)
        #expect(bench.client?.pushToken != nil)
        bench.wake()
        #expect(bench.verdicts[id]?.isAccepted == true && bench.client?.pushToken == nil)
        bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.pushTokenRemoval, .pushTokenRemoval])
        #expect(bench.verdict(.push(.suspended))?.isUnchanged == true)
        bench.capture(.push(.subscribed))
        #expect(bench.client?.pushToken == Corpus.phone.pushToken?.value)
        #expect(bench.verdict(.push(.subscribed))?.isUnchanged == true)
    }

    @Test(.shows("des/R6")) func `a wish for push without a token is kept for later`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(moved { $0.pushToken = nil }))
        let id = bench.capture(.push(.subscribed))
        #expect(bench.verdicts[id]?.finding?.code == "des.pushToken.later")
        bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.client?.pushToken == Corpus.phone.pushToken?.value)
    }

    @Test(.shows("des/N4"))
    func `everything waits for the registration, and it overtakes what waits`() throws {
        let bench = try Bench()
        bench.capture(together: .event("first"), .logIn("c-1001"), .event("second"))
        #expect(bench.sent.isEmpty && bench.waits?.code == "des.device.notRegistered")
        bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.client, .anonymousContact, .pushToken, .events, .contact, .events])
        #expect(bench.state.events.map(\.name) == ["first", "second"])
        #expect(bench.state.events.map(\.contact) == ["anonymous", "2575=c-1001"])
    }

    @Test(.shows("des/R8", "des/H8"))
    func `an account without anonymous contacts registers all the same`() throws {
        let bench = try Bench(account: ["anonymousContacts": false])
        bench.script = [nil, nil, .status(200)]
        let id = bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.client, .anonymousContact, .pushToken])
        #expect(bench.verdicts[id]?.finding?.code == "des.contact.anonymousRefused")
        bench.capture(.logIn("c-1001"))
        bench.capture(.logOut)
        #expect(bench.last?.endpoint == .anonymousContact && bench.last?.request[header: "X-Contact-Token"] != nil)
    }

    @Test(.shows("des/R39", "des/R35"), arguments: [true, false])
    func `a new application code leaves the old one, then begins anew`(keepsState: Bool) throws {
        let bench = try Bench.started()
        bench.capture(together: .view("904417"), .event("seen"))
        bench.script = [.status(500)]
        bench.capture(together: .view("904417"), .event("before"))
        bench.forget()
        let old = bench.memory
        try bench.restart([
            "applicationCode": "WXYZ9-876F5", "keepsStateOnNewCode": .bool(keepsState),
        ])
        bench.capture(.event("after"))
        // The engine registers the installation and its contact at the new application.
        #expect(
            bench.endpoints == [
                .events, .pushTokenRemoval, .anonymousContact, .client, .anonymousContact, .pushToken, .contact,
                .events,
            ]
        )
        let codes = bench.sent.map { $0.request.url.contains("WXYZ9-876F5") ? "new" : "old" }
        #expect(codes == ["old", "old", "old", "new", "new", "new", "new", "new"])
        #expect(bench.sent[0].eventNames.contains("before") && bench.last?.eventNames == ["after"])
        // The new application gets no state of the old one.
        #expect(bench.sent[3].request[header: "X-Client-State"] == nil)
        #expect(bench.sent[4].request[header: "X-Contact-Token"] == nil)
        #expect(bench.state.client(Corpus.installation.rawValue, application: "ABCD1-234E6")?.pushToken == nil)
        #expect(
            bench.memory.identity == old.identity && bench.memory.clientState != nil
                && bench.memory.contactToken != old.contactToken
        )
        #expect((bench.last?.body["deviceEventState"] != nil) == keepsState)
    }

    @Test(.shows("des/N3")) func `an unregister takes the token back and becomes anonymous`() throws {
        let bench = try Bench.started()
        let id = bench.capture(.unregister)
        #expect(bench.endpoints == [.pushTokenRemoval, .anonymousContact])
        #expect(bench.verdicts[id]?.isAccepted == true && bench.client?.pushToken == nil)
        #expect(bench.client?.contact == "anonymous")
        #expect(bench.verdict(.unregister)?.finding?.code == "des.unregister.nothing")
        let unknown = try Bench()
        let ids = unknown.capture(together: .event("never"), .unregister)
        #expect(unknown.sent.isEmpty && unknown.verdicts[ids[0]]?.finding?.code == "des.unregister.neverSent")
        #expect(unknown.verdicts[ids[1]]?.finding?.code == "des.unregister.nothing")
    }

    @Test(.shows("des/N2", "des/N1")) func `erasing forgets everything here, consent is kept here`()
        throws
    {
        let bench = try Bench.started()
        bench.capture(.view("904417"))
        #expect(bench.verdict(.erase)?.finding?.code == "des.erase.byHand")
        #expect(bench.memory == DESMemory())
        let consent = Action.setConsent(Consent(purpose: .tracking, state: .granted))
        #expect(bench.verdict(consent)?.finding?.code == "des.consent.kept")
    }
}

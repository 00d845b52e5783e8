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
    func `a first start registers, requests an anonymous contact and sets the push token`() throws {
        let driver = try Driver()
        let id = driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.client, .anonymousContact, .pushToken])
        #expect(driver.verdicts[id]?.isAccepted == true)
        #expect(driver.client?.contact == "anonymous")
        #expect(driver.client?.pushToken == Corpus.phone.pushToken?.value)
        let first = try #require(driver.sent.first?.request)
        #expect(
            first.headers.map(\.name) == [
                "Content-Type", "X-Client-Id", "X-Request-Order", "X-EMARSYS-SDK-VERSION", "X-EMARSYS-SDK-MODE",
            ]
        )
        #expect(first[header: "X-Client-Id"] == Corpus.installation.rawValue)
        #expect(first[header: "X-Request-Order"] == "1930806311042")
        #expect(driver.sent[1].request.url.hasSuffix("/v3/apps/ABCD1-234E6/client/contact?anonymous=true"))
        #expect(driver.sent[1].body == [:])
        #expect(driver.memory.contactToken?.value == "contact-2" && driver.memory.refreshToken?.value == "refresh-1")
    }

    @Test(.shows("des/R5")) func `sends device facts only if they changed`() throws {
        let driver = try Driver.started()
        #expect(driver.verdict(.registerDevice(Corpus.phone))?.isUnchanged == true)
        #expect(driver.endpoints == [])
        driver.capture(.registerDevice(moved { $0.facts?.appVersion = "9.0" }))
        #expect(driver.endpoints == [.client])
        #expect(driver.last?.body["applicationVersion"] == "9.0")
        // A registration counts as accepted after its reply. A lost reply leaves it uncertain.
        driver.script = [.lost]
        driver.capture(.registerDevice(moved { $0.facts?.appVersion = "9.1" }))
        driver.wake()
        #expect(driver.endpoints == [.client, .client, .client])
    }

    @Test(.shows("des/R5")) func `registers the client at each start without a client state`()
        throws
    {
        let driver = try Driver.started(account: ["clientState": false])
        driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.client])
    }

    @Test(
        .shows("des/B1"),
        arguments: [
            ("iOS", PushToken.Service.apns, "ios", "fi"), ("iPadOS", .apns, "ios", "fi"),
            ("Android", .fcm, "android", "fi-FI"), ("Android", .hms, "android-huawei", "fi-FI"),
        ]
    )
    func `uses the vendor's platform names`(
        row: (platform: String, service: PushToken.Service, word: String, language: String)
    )
        throws
    {
        let driver = try Driver()
        driver.capture(
            .registerDevice(
                moved {
                    $0.facts?.platform = row.platform
                    $0.pushToken?.service = row.service
                }
            )
        )
        let body = try #require(driver.sent.first?.body)
        #expect(body["platform"]?.string == row.word && body["language"]?.string == row.language)
        #expect(driver.state.violations == [])
    }

    @Test(
        .shows("des/B1"),
        arguments: [(7200, "+0200"), (0, "+0000"), (-12_600, "-0330"), (20_700, "+0545")]
    )
    func `writes the time zone offset with four digits`(row: (seconds: Int, text: String)) throws {
        let driver = try Driver()
        driver.capture(.registerDevice(moved { $0.facts?.utcOffsetSeconds = row.seconds }))
        #expect(driver.sent.first?.body["timezone"]?.string == row.text)
    }

    @Test(.shows("des/B2"))
    func `takes push settings from the app or derives them from the permission`() throws {
        let driver = try Driver()
        driver.capture(
            .registerDevice(moved { $0.allowsPush = false }),
            options: ["pushSettings": ["alertStyle": "alert"]]
        )
        let settings = try #require(driver.sent.first?.body["pushSettings"])
        #expect(settings["authorizationStatus"] == "denied" && settings["soundSetting"] == "disabled")
        #expect(settings["alertStyle"] == "alert" && settings.object?.count == 13)
        // A setting stays until the app passes another value.
        driver.capture(.registerDevice(moved { $0.allowsPush = false }))
        #expect(driver.endpoints.count { $0 == .client } == 1)
    }

    @Test(.shows("des/H2")) func `adopts and keeps an existing client id`() throws {
        let driver = try Driver()
        let adopted = "A1B2C3D4-0000-4000-8000-00000000D001"
        driver.capture(.registerDevice(moved { $0.identities = [DESDevice.adoptedClient: adopted] }))
        driver.capture(.registerDevice(moved { $0.facts?.appVersion = "9.0" }))
        #expect(driver.sent.allSatisfy { $0.request[header: "X-Client-Id"] == adopted })
        #expect(driver.state.clients.count == 1)
    }

    @Test(.shows("des/H2")) func `derives a stable UUID for a subject that is not a UUID`() {
        let made = UUIDText.named("phone")
        #expect(UUIDText.isValid(made) && made == UUIDText.named("phone") && made != UUIDText.named("phone 2"))
        #expect(UUIDText.named("A1B2C3D4-0000-4000-8000-00000000D001") == "A1B2C3D4-0000-4000-8000-00000000D001")
        let headers = Headers(clientID: made, sdkVersion: "1.0.0", mode: "debug")
        #expect(headers.lines.contains(WireHeader("X-Client-Id", made)))
    }

    @Test(.shows("des/R6"))
    func `sets a push token once and stores it only after a success`() throws {
        let driver = try Driver.started()
        let other = moved { $0.pushToken = PushToken("0AA1F0") }
        driver.script = [.lost]
        driver.capture(.registerDevice(other))
        #expect(driver.memory.pushToken == nil)
        driver.wake()
        #expect(driver.endpoints == [.pushToken, .pushToken])
        #expect(driver.client?.pushToken == "0aa1f0" && driver.memory.pushToken == "0aa1f0")
        driver.capture(.registerDevice(other))
        #expect(driver.endpoints == [.pushToken, .pushToken])
    }

    @Test(.shows("des/R7"))
    func `an opt-out forgets the push token before any answer and keeps it removed`() throws {
        let driver = try Driver.started()
        driver.script = [.status(503)]
        let id = driver.capture(.push(.unsubscribed))
        #expect(driver.endpoints == [.pushTokenRemoval] && driver.last?.body == [:])
        #expect(driver.memory.pushToken == nil && driver.memory.mayHavePushToken)
        #expect(driver.client?.pushToken != nil)
        driver.wake()
        #expect(driver.verdicts[id]?.isAccepted == true && driver.client?.pushToken == nil)
        driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.pushTokenRemoval, .pushTokenRemoval])
        #expect(driver.verdict(.push(.suspended))?.isUnchanged == true)
        driver.capture(.push(.subscribed))
        #expect(driver.client?.pushToken == Corpus.phone.pushToken?.value)
        #expect(driver.verdict(.push(.subscribed))?.isUnchanged == true)
    }

    @Test(.shows("des/R6")) func `keeps a push opt-in without a token until a token arrives`() throws {
        let driver = try Driver()
        driver.capture(.registerDevice(moved { $0.pushToken = nil }))
        let id = driver.capture(.push(.subscribed))
        #expect(driver.verdicts[id]?.finding?.code == "des.pushToken.later")
        driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.client?.pushToken == Corpus.phone.pushToken?.value)
    }

    @Test(.shows("des/N4"))
    func `all operations wait for the registration, which is sent first`() throws {
        let driver = try Driver()
        driver.capture(together: .event("first"), .logIn("c-1001"), .event("second"))
        #expect(driver.sent.isEmpty && driver.waits?.code == "des.device.notRegistered")
        driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.client, .anonymousContact, .pushToken, .events, .contact, .events])
        #expect(driver.state.events.map(\.name) == ["first", "second"])
        #expect(driver.state.events.map(\.contact) == ["anonymous", "2575=c-1001"])
    }

    @Test(.shows("des/R8", "des/H8"))
    func `registers at an account without anonymous contacts`() throws {
        let driver = try Driver(account: ["anonymousContacts": false])
        driver.script = [nil, nil, .status(200)]
        let id = driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.client, .anonymousContact, .pushToken])
        #expect(driver.verdicts[id]?.finding?.code == "des.contact.anonymousRefused")
        driver.capture(.logIn("c-1001"))
        driver.capture(.logOut)
        #expect(driver.last?.endpoint == .anonymousContact && driver.last?.request[header: "X-Contact-Token"] != nil)
    }

    @Test(.shows("des/R39", "des/R35"), arguments: [true, false])
    func `a new application code unregisters the old one and registers again`(keepsState: Bool) throws {
        let driver = try Driver.started()
        driver.capture(together: .view("904417"), .event("seen"))
        driver.script = [.status(500)]
        driver.capture(together: .view("904417"), .event("before"))
        driver.forget()
        let old = driver.memory
        try driver.restart([
            "applicationCode": "WXYZ9-876F5", "keepsStateOnNewCode": .bool(keepsState),
        ])
        driver.capture(.event("after"))
        // The engine registers the installation and its contact at the new application.
        #expect(
            driver.endpoints == [
                .events, .pushTokenRemoval, .anonymousContact, .client, .anonymousContact, .pushToken, .contact,
                .events,
            ]
        )
        let codes = driver.sent.map { $0.request.url.contains("WXYZ9-876F5") ? "new" : "old" }
        #expect(codes == ["old", "old", "old", "new", "new", "new", "new", "new"])
        #expect(driver.sent[0].eventNames.contains("before") && driver.last?.eventNames == ["after"])
        // The new application gets no state of the old one.
        #expect(driver.sent[3].request[header: "X-Client-State"] == nil)
        #expect(driver.sent[4].request[header: "X-Contact-Token"] == nil)
        #expect(driver.state.client(Corpus.installation.rawValue, application: "ABCD1-234E6")?.pushToken == nil)
        #expect(
            driver.memory.identity == old.identity && driver.memory.clientState != nil
                && driver.memory.contactToken != old.contactToken
        )
        #expect((driver.last?.body["deviceEventState"] != nil) == keepsState)
    }

    @Test(.shows("des/N3")) func `unregister removes the push token and sets the anonymous contact`() throws {
        let driver = try Driver.started()
        let id = driver.capture(.unregister)
        #expect(driver.endpoints == [.pushTokenRemoval, .anonymousContact])
        #expect(driver.verdicts[id]?.isAccepted == true && driver.client?.pushToken == nil)
        #expect(driver.client?.contact == "anonymous")
        #expect(driver.verdict(.unregister)?.finding?.code == "des.unregister.nothing")
        let unknown = try Driver()
        let ids = unknown.capture(together: .event("never"), .unregister)
        #expect(unknown.sent.isEmpty && unknown.verdicts[ids[0]]?.finding?.code == "des.unregister.neverSent")
        #expect(unknown.verdicts[ids[1]]?.finding?.code == "des.unregister.nothing")
    }

    @Test(.shows("des/N2", "des/N1")) func `an erasure clears local state, and consent stays local`()
        throws
    {
        let driver = try Driver.started()
        driver.capture(.view("904417"))
        #expect(driver.verdict(.erase)?.finding?.code == "des.erase.byHand")
        #expect(driver.memory == DESMemory())
        let consent = Action.setConsent(Consent(purpose: .tracking, state: .granted))
        #expect(driver.verdict(consent)?.finding?.code == "des.consent.kept")
    }
}

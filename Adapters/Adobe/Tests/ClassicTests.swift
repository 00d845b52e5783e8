import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe Campaign Classic") struct ClassicTests {
    private static let mira = Device(
        pushToken: PushToken("A1B2C3D4E5F60718"),
        facts: DeviceFacts(
            platform: "iOS",
            platformVersion: "17.4",
            model: "iPhone15,2",
            deviceName: "Mira’s iPhone",
            locale: "de_AT",
            appVersion: "1.0"
        )
    )
    private static let logIn = Action.switchContact(
        ContactSwitch(.logIn, identifiers: [Identifier(.email, "mira.kovac@example.net")])
    )

    private func registered(_ settings: JSONObject = ["userKey": "email"]) throws -> ClassicDriver {
        let driver = try ClassicDriver(settings)
        driver.deliver(.registerDevice(Self.mira))
        return driver
    }

    // MARK: Tracking

    @Test(
        .shows("adobe/C4", "adobe/C5", "adobe/C6", "adobe/C7"),
        arguments: [
            ("987654", "hf1206", "hf1206"), ("-1", "hffffffff", "hffffffff"), ("7", "h07", "h7"), ("0", "h00", "h0"),
            ("5000000000", "h12a05f200", "h12a05f200"), ("-2147483648", "h80000000", "h80000000"),
            (
                "0d6f3B52-77aa-4a0e-9c11-5be2a9e0f1c3", "h0d6f3B52-77aa-4a0e-9c11-5be2a9e0f1c3",
                "h0d6f3B52-77aa-4a0e-9c11-5be2a9e0f1c3"
            ),
        ]
    )
    func `converts a message id`(_ id: String, _ apple: String, _ android: String) throws {
        for (platform, text) in [("ios", apple), ("android", android)] {
            let settings = try ClassicFixture.adapter(["platform": .string(platform)]).settings
            #expect(ClassicMessageID.text(id, settings) == text)
        }
        let narrow = try ClassicFixture.adapter(["messageBits": "32"]).settings
        #expect(ClassicMessageID.text("5000000000", narrow) == "h2a05f200")
        let wide = try ClassicFixture.adapter().settings
        #expect(ClassicMessageID.text("7", wide) == "h07")
        #expect(ClassicMessageID.text("0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3", wide)?.count == 37)
    }

    @Test(
        .shows("adobe/C5", "adobe/G5"),
        arguments: ["h2f0aa1", "12.5", "99999999999999999999", "0d6f3b52-77aa-4a0e-9c11", "", "eins"]
    )
    func `rejects any other message id`(_ id: String) throws {
        let driver = try registered()
        var payload = ClassicFixture.payload
        payload["_mId"] = .string(id)
        let verdict = driver.deliver(.track(.push(.tapped, payload: payload)))
        #expect(verdict?.code == (id.isEmpty ? "adobe.push.idMissing" : "adobe.classic.id"))
        #expect(verdict?.finding?.path == "action.event.payload._mId")
        payload["_mId"] = nil
        #expect(driver.deliver(.track(.push(.tapped, payload: payload)))?.code == "adobe.push.idMissing")
        payload["_mId"] = "h2f"
        #expect(driver.deliver(.track(.push(.tapped, payload: payload)))?.code == "adobe.classic.id")
    }

    @Test(.shows("adobe/C1", "adobe/C2", "adobe/C3"))
    func `reports a message in one request with the numbers of Campaign Classic`() throws {
        let driver = try registered()
        driver.forgetHistory()
        var payload = ClassicFixture.payload
        // Unlike Campaign Standard, this product ignores the flag.
        payload["_acsDeliveryTracking"] = "off"
        for interaction in [PushInteraction.received, .tapped, .opened] {
            #expect(driver.deliver(.track(.push(interaction, payload: payload)))?.code == "accepted")
        }
        #expect(
            driver.requests.map { WireText.text($0) } == [
                "GET https://trk.shop.example/r/?id=hf1206,c81e4,1",
                "GET https://trk.shop.example/r/?id=hf1206,c81e4,2",
                "GET https://trk.shop.example/r/?id=hf1206,c81e4,2",
            ]
        )
        let dismissed = driver.deliver(.track(.push(.dismissed, payload: payload)))
        #expect(dismissed?.code == "adobe.classic.dismissed")
        let hosts = #expect(throws: SettingsError.self) {
            try ClassicFixture.adapter(["trackingServer": "https://trk.shop.example", "marketingServer": "mkt:443"])
        }
        #expect(hosts?.findings.map(\.path) == ["settings.marketingServer", "settings.trackingServer"])
    }

    // MARK: Registrations

    @Test(
        .shows("adobe/C8", "adobe/C9", "adobe/C10", "adobe/C11", "adobe/C13", "adobe/C15")
    )
    func `sends a registration byte for byte`() throws {
        let driver = try registered()
        driver.deliver(Self.logIn)
        driver.deliver(.changeAttributes(["visits": .set(7), "tier": .set("gold")]))
        let body =
            "registrationToken=a1b2c3d4e5f60718&mobileAppUuid=0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3"
            + "&userKey=mira.kovac%40example.net&deviceName=Mira%E2%80%99s%20iPhone&deviceModel=iPhone"
            + "&deviceBrand=Apple&deviceManufacturer=Apple&osName=iOS&osVersion=iOS%2017.4&osLanguage=de-AT"
            + "&additionalParams=%3CadditionalParams%3E%3Cparam%20name%3D%22tier%22%20value%3D%22gold%22%20%2F%3E"
            + "%3Cparam%20name%3D%22visits%22%20value%3D%227%22%20%2F%3E%3C%2FadditionalParams%3E"
        #expect(
            driver.requests.last.map { WireText.text($0) } == """
                POST https://mkt.shop.example/nms/mobile/1/registerIOS.jssp
                Content-Type: application/x-www-form-urlencoded;charset=UTF-8

                \(body)
                """
        )
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "gold", "visits": "7"]])
        #expect(driver.state.subscribers.map(\.userKey) == ["mira.kovac@example.net"])
    }

    @Test(.shows("adobe/C16"))
    func `does not resend an accepted registration`() throws {
        let driver = try registered()
        driver.deliver(Self.logIn)
        driver.deliver(.changeAttributes(["visits": .set(7), "tier": .set("gold")]))
        #expect(
            driver.memory.registeredHash == "aaf59a2f8ba9b925cb63a871dc2eca329298a77dedac0bc19caf6a0011898d37"
        )
        let count = driver.requests.count
        #expect(driver.deliver(.changeAttributes(["tier": .set("gold")]))?.code == "adobe.classic.known")
        #expect(driver.deliver(.registerDevice(Self.mira))?.code == "adobe.classic.known")
        #expect(driver.requests.count == count)
        driver.deliver(.changeAttributes(["tier": .unset]))
        #expect(driver.state.subscribers.map(\.parameters) == [["visits": "7"]])
    }

    @Test(.shows("adobe/C12"))
    func `sends Android's own device details`() throws {
        let driver = try ClassicDriver(["platform": "android"])
        var device = Self.mira
        device.facts?.platform = "Android"
        #expect(driver.deliver(.registerDevice(device))?.code == "adobe.token.service")
        device.pushToken = PushToken("fGx-1:APA", service: .fcm)
        driver.deliver(.registerDevice(device))
        driver.deliver(.changeAttributes(["tier": .set("gold")]))
        let request = try #require(driver.requests.last)
        #expect(request.url == "https://mkt.shop.example/nms/mobile/1/registerAndroid.jssp")
        let items = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        #expect(items.map(\.name)[2...3] == ["userKey", "deviceImei"])
        #expect(
            items.last?.value
                == "<additionalParameters><param name=\"tier\" value=\"gold\"/></additionalParameters>"
        )
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "gold"]])
    }

    @Test(.shows("adobe/C15"))
    func `sends unusual texts unchanged, rejects them or reports the loss`() throws {
        let driver = try registered()
        for (name, text) in Corpus.hostileTexts where name != "lines" {
            let verdict = driver.deliver(.changeAttributes(["note": .set(.string(text))]))
            #expect(verdict?.code == "accepted", "\(name)")
            #expect(driver.state.subscribers.first?.parameters["note"] == text, "\(name)")
        }
        let lines = Action.changeAttributes(["note": .set("one\r\ntwo")])
        #expect(driver.examine(lines).map(\.code) == ["adobe.classic.lines"])
        driver.deliver(lines)
        #expect(driver.state.subscribers.first?.parameters["note"] == "onetwo")
        #expect(driver.deliver(.changeAttributes(["note": .set("\u{1F}")]))?.code == "adobe.classic.control")
    }

    @Test(.shows("adobe/C13", "adobe/C14", "adobe/P5"))
    func `sends attributes and tags as parameters`() throws {
        let driver = try registered([
            "parameterNames": ["loyalty_tier": "tier"], "tagParameters": ["gold": "isGold", "silver": "isSilver"],
        ])
        driver.deliver(.changeAttributes(["loyalty_tier": .set("gold"), "city": .set("Turku")]))
        driver.deliver(.changeTags(TagChange(replace: ["gold"])))
        let parameters = driver.state.subscribers.first?.parameters
        #expect(parameters == ["tier": "gold", "city": "Turku", "isGold": "true", "isSilver": "false"])
        let refused: [(Action, String)] = [
            (.changeTags(TagChange(add: ["sports"])), "adobe.classic.tag"),
            (.changeTags(TagChange()), "adobe.tags.empty"),
            (.changeAttributes([:]), "adobe.attributes.empty"),
            (.changeAttributes(["a": .set(.list(["b"]))]), "adobe.classic.nested"),
            (.changeAttributes(["a": .increment(ExactDecimal(1))]), "adobe.classic.instruction"),
        ]
        for (action, code) in refused { #expect(driver.deliver(action)?.code == code) }
    }

    @Test(.shows("adobe/C11"))
    func `sends one identifier as the user key`() throws {
        let driver = try registered(["identifierParameters": ["email": "email"]])
        let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
        #expect(driver.deliver(logIn)?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == ["c-1001"])
        #expect(driver.state.subscribers.map(\.parameters) == [["email": "aino.virtanen@example.com"]])
        #expect(driver.examine(logIn).map(\.code) == ["adobe.classic.identifier"])
        #expect(driver.deliver(.identify([Corpus.aino[1]]))?.code == "adobe.classic.known")
        #expect(driver.deliver(.identify([Corpus.aino[2]]))?.code == "adobe.classic.userKey")
        let nameless = ContactSwitch(.logIn, identifiers: [Identifier(.email, "mira.kovac@example.net")])
        #expect(driver.deliver(.switchContact(nameless))?.code == "accepted")
        #expect(driver.state.subscribers.map(\.userKey) == [""])
        #expect(driver.examine(.switchContact(nameless)).map(\.code) == ["adobe.classic.userKey.none"])
    }

    @Test(.shows("adobe/C20"))
    func `never sends one person's values for the next person`() throws {
        let driver = try registered(["userKey": "email"])
        driver.deliver(.changeAttributes(["tier": .set("gold")]))
        driver.deliver(Self.logIn)
        #expect(driver.state.subscribers.map(\.parameters) == [["tier": "gold"]])
        let another = ContactSwitch(.logIn, identifiers: [Corpus.aino[1]])
        driver.deliver(.switchContact(another))
        #expect(driver.state.subscribers.map(\.parameters) == [[:]])
        driver.deliver(.changeAttributes(["tier": .set("silver")]))
        driver.deliver(.switchContact(ContactSwitch(.logOut)))
        #expect(driver.state.subscribers.map(\.userKey) == [""])
        #expect(driver.state.subscribers.map(\.parameters) == [[:]])
    }

    @Test(.shows("adobe/C9", "adobe/Q9", "adobe/S3"))
    func `registers nothing without a token`() throws {
        let driver = try ClassicDriver()
        #expect(driver.deliver(.registerDevice(Device(facts: Self.mira.facts)))?.code == "adobe.classic.tokenMissing")
        driver.capture(.changeAttributes(["tier": .set("gold")]))
        #expect(driver.waitReason?.code == "adobe.device.missing")
        let other = Device(pushToken: PushToken("x", service: .fcm))
        #expect(driver.deliver(.registerDevice(other))?.code == "adobe.token.service")
        #expect(driver.requests.isEmpty)
    }

    // MARK: Single delivery

    @Test func `ignores Retry-After`() throws {
        let driver = try registered()
        let received = Action.track(.push(.received, payload: ClassicFixture.payload))
        driver.nextOutcomes = [.replied(WireResponse(503, headers: [WireHeader("Retry-After", "3600")]))]
        #expect(driver.deliver(received)?.code == "adobe.classic.failed")
        #expect(driver.deliver(received)?.code == "accepted")
        #expect(driver.requests.count == 3)
        #expect(driver.intervals.allSatisfy { $0 < .seconds(2) })
    }

    @Test(
        .shows("adobe/C18", "adobe/C19"),
        arguments: [Outcome.status(503), .status(201), .status(404), NoReply.timedOut, NoReply.offline]
    )
    func `retries nothing, and rejected operations can be replayed`(_ outcome: Outcome) throws {
        let driver = try registered()
        driver.forgetHistory()
        for action in [Action.track(.push(.tapped, payload: ClassicFixture.payload)), Self.logIn] {
            driver.advance(by: .seconds(2))
            driver.nextOutcomes = [outcome]
            let verdict = driver.deliver(action)
            #expect(verdict?.isRejected == true)
            #expect(["adobe.classic.failed", "adobe.classic.lost", "adobe.classic.unsent"].contains(verdict?.code))
            #expect(driver.deliver(action)?.code == "accepted")
        }
        #expect(driver.requests.count == 4)
        let places = [
            Action.track(.push(.tapped, payload: ClassicFixture.payload)), Self.logIn, .registerDevice(Self.mira),
        ]
        .map { driver.adapter.place(driver.operation($0)) }
        #expect(places.map(\.waitsForConsent) == [false, false, false])
        #expect(Set(places.map(\.queue)).count == 2)
    }

    @Test func `resends an equal registration after uncertain delivery`() throws {
        let driver = try registered()
        driver.deliver(.changeAttributes(["tier": .set("gold")]))
        driver.nextOutcomes = [NoReply.timedOut]
        #expect(driver.deliver(.changeAttributes(["tier": .set("silver")]))?.isRejected == true)
        #expect(driver.deliver(.changeAttributes(["tier": .set("gold")]))?.code == "accepted")
    }

    @Test(.shows("adobe/C17", "adobe/V4", "adobe/V5"))
    func `an opt-out clears the person and the accepted registration`() throws {
        let driver = try registered()
        driver.deliver(Self.logIn)
        #expect(driver.deliver(.consent(.tracking, .denied))?.code == "adobe.consent.kept")
        #expect(driver.deliver(.consent(.messaging, .denied, on: .email))?.code == "adobe.consent.kept")
        #expect(driver.memory.userKey == "mira.kovac@example.net")
        #expect(driver.deliver(.consent(.profile, .denied))?.code == "adobe.classic.detached")
        #expect(driver.memory.registeredHash == nil)
        #expect(driver.memory.userKey == nil)
        #expect(driver.state.subscribers.map(\.userKey) == [""])
        #expect(driver.deliver(.erase)?.code == "adobe.erase.byHand")
    }

    @Test(.shows("adobe/N1", "adobe/N3"))
    func `rejects unsupported operations with a remedy`() throws {
        let driver = try registered()
        driver.forgetHistory()
        let refused: [(Action, String)] = [
            (.track(.sessionStarted), "adobe.classic.session"),
            (.track(.custom(name: "Ordered")), "adobe.event.custom"),
            (.changeSubscription(Subscription(channel: .push, state: .unsubscribed)), "adobe.subscription.push"),
            (.readBack(ReadRequest("profile")), "adobe.readBack"),
        ]
        for (action, code) in refused { #expect(driver.deliver(action)?.code == code) }
        #expect(driver.requests.isEmpty)
    }
}

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

    private func registered(_ settings: JSONObject = ["userKey": "email"]) throws -> ClassicPhone {
        let phone = try ClassicPhone(settings)
        phone.deliver(.registerDevice(Self.mira))
        return phone
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
    func `a message's id is converted`(_ id: String, _ apple: String, _ android: String) throws {
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
    func `any other id is refused`(_ id: String) throws {
        let phone = try registered()
        var payload = ClassicFixture.payload
        payload["_mId"] = .string(id)
        let verdict = phone.deliver(.track(.push(.tapped, payload: payload)))
        #expect(verdict?.code == (id.isEmpty ? "adobe.push.idMissing" : "adobe.classic.id"))
        #expect(verdict?.finding?.path == "action.event.payload._mId")
        payload["_mId"] = nil
        #expect(phone.deliver(.track(.push(.tapped, payload: payload)))?.code == "adobe.push.idMissing")
        payload["_mId"] = "h2f"
        #expect(phone.deliver(.track(.push(.tapped, payload: payload)))?.code == "adobe.classic.id")
    }

    @Test(.shows("adobe/C1", "adobe/C2", "adobe/C3"))
    func `one request tells of a message, in other numbers`() throws {
        let phone = try registered()
        phone.forgetHistory()
        var payload = ClassicFixture.payload
        // Unlike Campaign Standard, this product ignores the flag.
        payload["_acsDeliveryTracking"] = "off"
        for interaction in [PushInteraction.received, .tapped, .opened] {
            #expect(phone.deliver(.track(.push(interaction, payload: payload)))?.code == "accepted")
        }
        #expect(
            phone.requests.map { WireText.text($0) } == [
                "GET https://trk.shop.example/r/?id=hf1206,c81e4,1",
                "GET https://trk.shop.example/r/?id=hf1206,c81e4,2",
                "GET https://trk.shop.example/r/?id=hf1206,c81e4,2",
            ]
        )
        let dismissed = phone.deliver(.track(.push(.dismissed, payload: payload)))
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
    func `a registration, byte for byte`() throws {
        let phone = try registered()
        phone.deliver(Self.logIn)
        phone.deliver(.changeAttributes(["visits": .set(7), "tier": .set("gold")]))
        let body =
            "registrationToken=a1b2c3d4e5f60718&mobileAppUuid=0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3"
            + "&userKey=mira.kovac%40example.net&deviceName=Mira%E2%80%99s%20iPhone&deviceModel=iPhone"
            + "&deviceBrand=Apple&deviceManufacturer=Apple&osName=iOS&osVersion=iOS%2017.4&osLanguage=de-AT"
            + "&additionalParams=%3CadditionalParams%3E%3Cparam%20name%3D%22tier%22%20value%3D%22gold%22%20%2F%3E"
            + "%3Cparam%20name%3D%22visits%22%20value%3D%227%22%20%2F%3E%3C%2FadditionalParams%3E"
        #expect(
            phone.requests.last.map { WireText.text($0) } == """
                POST https://mkt.shop.example/nms/mobile/1/registerIOS.jssp
                Content-Type: application/x-www-form-urlencoded;charset=UTF-8

                \(body)
                """
        )
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "gold", "visits": "7"]])
        #expect(phone.state.subscribers.map(\.userKey) == ["mira.kovac@example.net"])
    }

    @Test(.shows("adobe/C16"))
    func `a registration that the vendor took is not sent again`() throws {
        let phone = try registered()
        phone.deliver(Self.logIn)
        phone.deliver(.changeAttributes(["visits": .set(7), "tier": .set("gold")]))
        #expect(
            phone.memory.registeredHash == "aaf59a2f8ba9b925cb63a871dc2eca329298a77dedac0bc19caf6a0011898d37"
        )
        let count = phone.requests.count
        #expect(phone.deliver(.changeAttributes(["tier": .set("gold")]))?.code == "adobe.classic.known")
        #expect(phone.deliver(.registerDevice(Self.mira))?.code == "adobe.classic.known")
        #expect(phone.requests.count == count)
        phone.deliver(.changeAttributes(["tier": .unset]))
        #expect(phone.state.subscribers.map(\.parameters) == [["visits": "7"]])
    }

    @Test(.shows("adobe/C12"))
    func `Android has details of its own`() throws {
        let phone = try ClassicPhone(["platform": "android"])
        var device = Self.mira
        device.facts?.platform = "Android"
        #expect(phone.deliver(.registerDevice(device))?.code == "adobe.token.service")
        device.pushToken = PushToken("fGx-1:APA", service: .fcm)
        phone.deliver(.registerDevice(device))
        phone.deliver(.changeAttributes(["tier": .set("gold")]))
        let request = try #require(phone.requests.last)
        #expect(request.url == "https://mkt.shop.example/nms/mobile/1/registerAndroid.jssp")
        let items = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        #expect(items.map(\.name)[2...3] == ["userKey", "deviceImei"])
        #expect(
            items.last?.value
                == "<additionalParameters><param name=\"tier\" value=\"gold\"/></additionalParameters>"
        )
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "gold"]])
    }

    @Test(.shows("adobe/C15"))
    func `hostile texts come through, or are refused, or say what they lose`() throws {
        let phone = try registered()
        for (name, text) in Corpus.hostileTexts where name != "lines" {
            let verdict = phone.deliver(.changeAttributes(["note": .set(.string(text))]))
            #expect(verdict?.code == "accepted", "\(name)")
            #expect(phone.state.subscribers.first?.parameters["note"] == text, "\(name)")
        }
        let lines = Action.changeAttributes(["note": .set("one\r\ntwo")])
        #expect(phone.examine(lines).map(\.code) == ["adobe.classic.lines"])
        phone.deliver(lines)
        #expect(phone.state.subscribers.first?.parameters["note"] == "onetwo")
        #expect(phone.deliver(.changeAttributes(["note": .set("\u{1F}")]))?.code == "adobe.classic.control")
    }

    @Test(.shows("adobe/C13", "adobe/C14", "adobe/P5"))
    func `attributes and tags are parameters`() throws {
        let phone = try registered([
            "parameterNames": ["loyalty_tier": "tier"], "tagParameters": ["gold": "isGold", "silver": "isSilver"],
        ])
        phone.deliver(.changeAttributes(["loyalty_tier": .set("gold"), "city": .set("Turku")]))
        phone.deliver(.changeTags(TagChange(replace: ["gold"])))
        let parameters = phone.state.subscribers.first?.parameters
        #expect(parameters == ["tier": "gold", "city": "Turku", "isGold": "true", "isSilver": "false"])
        let refused: [(Action, String)] = [
            (.changeTags(TagChange(add: ["sports"])), "adobe.classic.tag"),
            (.changeTags(TagChange()), "adobe.tags.empty"),
            (.changeAttributes([:]), "adobe.attributes.empty"),
            (.changeAttributes(["a": .set(.list(["b"]))]), "adobe.classic.nested"),
            (.changeAttributes(["a": .increment(ExactDecimal(1))]), "adobe.classic.instruction"),
        ]
        for (action, code) in refused { #expect(phone.deliver(action)?.code == code) }
    }

    @Test(.shows("adobe/C11"))
    func `one identifier is the user key`() throws {
        let phone = try registered(["identifierParameters": ["email": "email"]])
        let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
        #expect(phone.deliver(logIn)?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == ["c-1001"])
        #expect(phone.state.subscribers.map(\.parameters) == [["email": "aino.virtanen@example.com"]])
        #expect(phone.examine(logIn).map(\.code) == ["adobe.classic.identifier"])
        #expect(phone.deliver(.identify([Corpus.aino[1]]))?.code == "adobe.classic.known")
        #expect(phone.deliver(.identify([Corpus.aino[2]]))?.code == "adobe.classic.userKey")
        let nameless = ContactSwitch(.logIn, identifiers: [Identifier(.email, "mira.kovac@example.net")])
        #expect(phone.deliver(.switchContact(nameless))?.code == "accepted")
        #expect(phone.state.subscribers.map(\.userKey) == [""])
        #expect(phone.examine(.switchContact(nameless)).map(\.code) == ["adobe.classic.userKey.none"])
    }

    @Test(.shows("adobe/C20"))
    func `what was said of one person is never told of the next`() throws {
        let phone = try registered(["userKey": "email"])
        phone.deliver(.changeAttributes(["tier": .set("gold")]))
        phone.deliver(Self.logIn)
        #expect(phone.state.subscribers.map(\.parameters) == [["tier": "gold"]])
        let another = ContactSwitch(.logIn, identifiers: [Corpus.aino[1]])
        phone.deliver(.switchContact(another))
        #expect(phone.state.subscribers.map(\.parameters) == [[:]])
        phone.deliver(.changeAttributes(["tier": .set("silver")]))
        phone.deliver(.switchContact(ContactSwitch(.logOut)))
        #expect(phone.state.subscribers.map(\.userKey) == [""])
        #expect(phone.state.subscribers.map(\.parameters) == [[:]])
    }

    @Test(.shows("adobe/C9", "adobe/Q9", "adobe/S3"))
    func `without a token nothing is registered`() throws {
        let phone = try ClassicPhone()
        #expect(phone.deliver(.registerDevice(Device(facts: Self.mira.facts)))?.code == "adobe.classic.tokenMissing")
        phone.capture(.changeAttributes(["tier": .set("gold")]))
        #expect(phone.waitReason?.code == "adobe.device.missing")
        let other = Device(pushToken: PushToken("x", service: .fcm))
        #expect(phone.deliver(.registerDevice(other))?.code == "adobe.token.service")
        #expect(phone.requests.isEmpty)
    }

    // MARK: Once

    @Test func `a word of the server about time holds nothing back`() throws {
        let phone = try registered()
        let received = Action.track(.push(.received, payload: ClassicFixture.payload))
        phone.nextOutcomes = [.replied(WireResponse(503, headers: [WireHeader("Retry-After", "3600")]))]
        #expect(phone.deliver(received)?.code == "adobe.classic.failed")
        #expect(phone.deliver(received)?.code == "accepted")
        #expect(phone.requests.count == 3)
        #expect(phone.intervals.allSatisfy { $0 < .seconds(2) })
    }

    @Test(
        .shows("adobe/C18", "adobe/C19"),
        arguments: [Outcome.status(503), .status(201), .status(404), Silence.timedOut, Silence.offline]
    )
    func `nothing is repeated, and what failed can be replayed`(_ outcome: Outcome) throws {
        let phone = try registered()
        phone.forgetHistory()
        for action in [Action.track(.push(.tapped, payload: ClassicFixture.payload)), Self.logIn] {
            phone.advance(by: .seconds(2))
            phone.nextOutcomes = [outcome]
            let verdict = phone.deliver(action)
            #expect(verdict?.isRejected == true)
            #expect(["adobe.classic.failed", "adobe.classic.lost", "adobe.classic.unsent"].contains(verdict?.code))
            #expect(phone.deliver(action)?.code == "accepted")
        }
        #expect(phone.requests.count == 4)
        let places = [
            Action.track(.push(.tapped, payload: ClassicFixture.payload)), Self.logIn, .registerDevice(Self.mira),
        ]
        .map { phone.adapter.place(phone.operation($0)) }
        #expect(places.map(\.waitsForConsent) == [false, false, false])
        #expect(Set(places.map(\.queue)).count == 2)
    }

    @Test func `after uncertain delivery an equal registration is sent again`() throws {
        let phone = try registered()
        phone.deliver(.changeAttributes(["tier": .set("gold")]))
        phone.nextOutcomes = [Silence.timedOut]
        #expect(phone.deliver(.changeAttributes(["tier": .set("silver")]))?.isRejected == true)
        #expect(phone.deliver(.changeAttributes(["tier": .set("gold")]))?.code == "accepted")
    }

    @Test(.shows("adobe/C17", "adobe/V4", "adobe/V5"))
    func `an opt-out forgets the person and what the vendor took`() throws {
        let phone = try registered()
        phone.deliver(Self.logIn)
        #expect(phone.deliver(.consent(.tracking, .denied))?.code == "adobe.consent.kept")
        #expect(phone.deliver(.consent(.messaging, .denied, on: .email))?.code == "adobe.consent.kept")
        #expect(phone.memory.userKey == "mira.kovac@example.net")
        #expect(phone.deliver(.consent(.profile, .denied))?.code == "adobe.classic.detached")
        #expect(phone.memory.registeredHash == nil)
        #expect(phone.memory.userKey == nil)
        #expect(phone.state.subscribers.map(\.userKey) == [""])
        #expect(phone.deliver(.erase)?.code == "adobe.erase.byHand")
    }

    @Test(.shows("adobe/N1", "adobe/N3"))
    func `what no API takes is refused with a remedy`() throws {
        let phone = try registered()
        phone.forgetHistory()
        let refused: [(Action, String)] = [
            (.track(.sessionStarted), "adobe.classic.session"),
            (.track(.custom(name: "Ordered")), "adobe.event.custom"),
            (.changeSubscription(Subscription(channel: .push, state: .unsubscribed)), "adobe.subscription.push"),
            (.readBack(ReadRequest("profile")), "adobe.readBack"),
        ]
        for (action, code) in refused { #expect(phone.deliver(action)?.code == code) }
        #expect(phone.requests.isEmpty)
    }
}

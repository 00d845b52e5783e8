import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

@Suite("Adobe requests") struct RequestTests {
    private let ecid = "40218837610593347720158264903317755102"

    private func adopted(_ settings: JSONObject = [:]) throws -> StandardPhone {
        let phone = try StandardPhone(settings, device: nil)
        phone.deliver(.registerDevice(Fixture.adoptedPhone))
        return phone
    }

    @Test(.shows("adobe/T1", "adobe/T2", "adobe/T3", "adobe/T4", "adobe/S1", "adobe/I2"))
    func `a tracking request, byte for byte`() throws {
        let phone = try adopted()
        _ = phone.push(.dismissed)
        #expect(
            phone.requests.last.map { WireText.text($0) } == """
                GET https://shop.campaign.example/r/?id=h2f0aa1,c81e4,2&mcId=\(ecid)
                Accept: */*
                Content-Type: application/json
                """
        )
    }

    @Test func `ids are encoded and nothing else`() throws {
        let phone = try adopted()
        _ = phone.push(.received, ["_mId": "h2f 0a&a1", "_dId": "00C81E4"])
        #expect(phone.requests.last?.url.hasSuffix("/r/?id=h2f%200a%26a1,00C81E4,7&mcId=\(ecid)") == true)
        #expect(phone.state.reports.map(\.broadlogID) == ["h2f 0a&a1"])
    }

    @Test(.shows("adobe/T5", "adobe/T6"))
    func `the postback of old SDKs takes the request's place`() throws {
        let phone = try adopted(["trackingForm": "postback"])
        _ = phone.push(.tapped)
        _ = phone.deliver(.track(.push(.received, payload: ["broadlogId": "h3b07", "deliveryId": "c8200"])))
        #expect(
            phone.requests.dropFirst().map { WireText.text($0) } == [
                """
                POST https://shop.campaign.example/r/?id=h2f0aa1,c81e4,2&mcId=\(ecid)
                Content-Type: application/json

                {}
                """,
                """
                POST https://shop.campaign.example/r/?id=h2f0aa1,c81e4,1&mcId=\(ecid)
                Content-Type: application/json

                {}
                """,
                """
                POST https://shop.campaign.example/r/?id=h3b07,c8200,7&mcid=\(ecid)
                Content-Type: application/json

                {}
                """,
            ]
        )
        #expect(phone.state.violations == [])
        let place = phone.adapter.place(phone.operation(.track(.push(.tapped, payload: Fixture.payload))))
        #expect(place.queue == "postbacks")
    }

    @Test(.shows("adobe/R1", "adobe/R2", "adobe/R3"))
    func `a registration, byte for byte`() throws {
        let phone = try adopted()
        phone.deliver(.track(.sessionStarted))
        #expect(
            phone.requests.last.map { WireText.text($0) } == """
                POST https://shop.campaign.example/rest/head/mobileAppV5/b7e2f0c4d91a/subscriptions/\(ecid)
                Accept: */*
                Content-Type: application/json

                {"marketingCloudId":"\(ecid)","pushPlatform":"apns"}
                """
        )
        #expect(phone.state.profiles.map(\.registrations) == [1])
    }

    @Test(.shows("adobe/P1", "adobe/P2"))
    func `attributes, byte for byte`() throws {
        let phone = try adopted()
        phone.deliver(.changeAttributes(["loyalty_tier": .set("go\"ld"), "cusVisits": .set(7)]))
        #expect(
            phone.requests.last.map { WireText.text($0) } == """
                POST https://shop.campaign.example/rest/head/mobileAppV5/b7e2f0c4d91a/subscriptions/\(ecid)
                Content-Type: application/json

                {"marketingCloudId":"\(ecid)","pushPlatform":"apns","cusVisits":"7","cusLoyaltyTier":"go\\"ld"}
                """
        )
    }

    @Test(.shows("adobe/I3", "adobe/I4", "adobe/I5", "adobe/I6"))
    func `a push token goes to the identity service, each time`() throws {
        let phone = try adopted()
        let token = "0aa1f00d5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d97c1f3a"
        let start =
            "GET https://dpm.demdex.net/id?d_rtbd=json&d_ver=2&d_orgid=ACME1234@AdobeOrg&d_mid=\(ecid)&d_cid=20920%01"
        #expect(phone.requests.map { WireText.text($0) } == [start + token])
        phone.deliver(.registerDevice(Fixture.adoptedPhone))
        #expect(phone.requests.map { WireText.text($0) } == [start + token, start + token])
        phone.deliver(.registerDevice(Device(allowsPush: false)))
        #expect(phone.requests.last.map { WireText.text($0) } == start)
        #expect(phone.state.tokens.map(\.token) == [""])
        #expect(phone.deliver(.registerDevice(Device(allowsPush: false)))?.code == "adobe.device.remembered")
        #expect(phone.requests.count == 3)
    }

    @Test(.shows("adobe/R3", "adobe/I4", "adobe/S3"))
    func `Android has words of its own, other services none`() throws {
        let phone = try StandardPhone(device: nil)
        phone.deliver(.registerDevice(Device(pushToken: PushToken("fGx-1:APA", service: .fcm))))
        #expect(phone.requests.last?.url.hasSuffix("d_cid=20919%01fGx-1%3AAPA") == true)
        phone.deliver(.track(.sessionStarted))
        #expect(phone.requests.last?.json?["pushPlatform"] == "gcm")
        let huawei = Device(pushToken: PushToken("x", service: .hms))
        #expect(phone.deliver(.registerDevice(huawei))?.code == "adobe.token.service")
        var android = Corpus.phone
        android.facts?.platform = "Android"
        #expect(phone.deliver(.registerDevice(android))?.code == "adobe.token.service")
        android.facts?.platform = "iOS"
        android.pushToken = PushToken("fGx-1:APA", service: .fcm)
        #expect(phone.deliver(.registerDevice(android))?.code == "adobe.token.service")
    }

    @Test(.shows("adobe/I9"), arguments: ["", "xyz", "0aa", "0aa1 f0"])
    func `a malformed token is refused, and the one before stays`(_ token: String) throws {
        let phone = try StandardPhone()
        let held = phone.heldTokens
        #expect(phone.deliver(.registerDevice(Device(pushToken: PushToken(token))))?.code == "adobe.token.form")
        #expect(phone.requests.isEmpty && phone.heldTokens == held)
    }

    @Test(.shows("adobe/I6"))
    func `without an organisation the token is not told, and that is said`() throws {
        let phone = try StandardPhone(["organizationId": nil], device: nil)
        let verdict = phone.deliver(.registerDevice(Corpus.phone))
        #expect(verdict?.code == "adobe.token.untold")
        #expect(verdict?.isDropped == true)
        #expect(phone.requests.isEmpty)
        let findings = phone.examine(.registerDevice(Corpus.phone))
        #expect(findings.map(\.code) == ["adobe.token.untold"])
    }

    @Test(.shows("adobe/I1"))
    func `an identity is 38 digits and stays text`() throws {
        let phone = try StandardPhone()
        let made = phone.ecid
        #expect(Identity.isValid(made))
        #expect(made == Identity.made(for: "phone", 0))
        #expect(made != Identity.made(for: "another phone", 0) && made != Identity.made(for: "phone", 1))
        phone.deliver(.track(.sessionStarted))
        #expect(phone.state.profiles.map(\.ecid) == [made])
        for broken in ["4021883761059334772015826490331775510", "0x218837610593347720158264903317755102", ""] {
            var device = Corpus.phone
            device.identities = ["adobe.ecid": broken]
            #expect(phone.deliver(.registerDevice(device))?.code == "adobe.identity.form")
        }
        var zeros = Corpus.phone
        zeros.identities = ["adobe.ecid": "00018837610593347720000264903317755102"]
        phone.deliver(.registerDevice(zeros))
        _ = phone.push(.received)
        #expect(phone.state.reports.last?.ecid == "00018837610593347720000264903317755102")
    }

    @Test(.shows("adobe/S1", "adobe/S2"))
    func `a server is a bare host, and a sandbox takes the place of all hosts`() throws {
        for server in ["https://shop.example", "shop.example/", "shop.example:8443", "shop.example/r", "a b"] {
            let error = #expect(throws: SettingsError.self) { try Fixture.adapter(["server": .string(server)]) }
            #expect(error?.findings.map(\.path) == ["settings.server"])
        }
        #expect(throws: Never.self) { try Fixture.adapter(["server": "shop.campaign.example"]) }
        let phone = try StandardPhone(["testAddress": "http://127.0.0.1:8731/adobe"])
        phone.deliver(.registerDevice(Corpus.phone))
        _ = phone.push(.received)
        #expect(
            phone.requests.map { String($0.url.prefix { $0 != "?" }) } == [
                "http://127.0.0.1:8731/adobe/id", "http://127.0.0.1:8731/adobe/r/",
            ]
        )
    }
}

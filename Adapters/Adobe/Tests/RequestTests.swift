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

    private func adopted(_ settings: JSONObject = [:]) throws -> StandardDriver {
        let driver = try StandardDriver(settings, device: nil)
        driver.deliver(.registerDevice(Fixture.adoptedPhone))
        return driver
    }

    @Test(.shows("adobe/T1", "adobe/T2", "adobe/T3", "adobe/T4", "adobe/S1", "adobe/I2"))
    func `sends a tracking request byte for byte`() throws {
        let driver = try adopted()
        _ = driver.push(.dismissed)
        #expect(
            driver.requests.last.map { WireText.text($0) } == """
                GET https://shop.campaign.example/r/?id=h2f0aa1,c81e4,2&mcId=\(ecid)
                Accept: */*
                Content-Type: application/json
                """
        )
    }

    @Test func `percent-encodes only the ids`() throws {
        let driver = try adopted()
        _ = driver.push(.received, ["_mId": "h2f 0a&a1", "_dId": "00C81E4"])
        #expect(driver.requests.last?.url.hasSuffix("/r/?id=h2f%200a%26a1,00C81E4,7&mcId=\(ecid)") == true)
        #expect(driver.state.reports.map(\.broadlogID) == ["h2f 0a&a1"])
    }

    @Test(.shows("adobe/T5", "adobe/T6"))
    func `sends the postback of old SDKs if the settings say so`() throws {
        let driver = try adopted(["trackingForm": "postback"])
        _ = driver.push(.tapped)
        _ = driver.deliver(.track(.push(.received, payload: ["broadlogId": "h3b07", "deliveryId": "c8200"])))
        #expect(
            driver.requests.dropFirst().map { WireText.text($0) } == [
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
        #expect(driver.state.violations == [])
        let place = driver.adapter.place(driver.operation(.track(.push(.tapped, payload: Fixture.payload))))
        #expect(place.queue == "postbacks")
    }

    @Test(.shows("adobe/R1", "adobe/R2", "adobe/R3"))
    func `sends a registration byte for byte`() throws {
        let driver = try adopted()
        driver.deliver(.track(.sessionStarted))
        #expect(
            driver.requests.last.map { WireText.text($0) } == """
                POST https://shop.campaign.example/rest/head/mobileAppV5/b7e2f0c4d91a/subscriptions/\(ecid)
                Accept: */*
                Content-Type: application/json

                {"marketingCloudId":"\(ecid)","pushPlatform":"apns"}
                """
        )
        #expect(driver.state.profiles.map(\.registrations) == [1])
    }

    @Test(.shows("adobe/P1", "adobe/P2"))
    func `sends attributes byte for byte`() throws {
        let driver = try adopted()
        driver.deliver(.changeAttributes(["loyalty_tier": .set("go\"ld"), "cusVisits": .set(7)]))
        #expect(
            driver.requests.last.map { WireText.text($0) } == """
                POST https://shop.campaign.example/rest/head/mobileAppV5/b7e2f0c4d91a/subscriptions/\(ecid)
                Content-Type: application/json

                {"marketingCloudId":"\(ecid)","pushPlatform":"apns","cusVisits":"7","cusLoyaltyTier":"go\\"ld"}
                """
        )
    }

    @Test(.shows("adobe/I3", "adobe/I4", "adobe/I5", "adobe/I6"))
    func `sends a push token to the identity service on every registration`() throws {
        let driver = try adopted()
        let token = "0aa1f00d5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d97c1f3a"
        let start =
            "GET https://dpm.demdex.net/id?d_rtbd=json&d_ver=2&d_orgid=ACME1234@AdobeOrg&d_mid=\(ecid)&d_cid=20920%01"
        #expect(driver.requests.map { WireText.text($0) } == [start + token])
        driver.deliver(.registerDevice(Fixture.adoptedPhone))
        #expect(driver.requests.map { WireText.text($0) } == [start + token, start + token])
        driver.deliver(.registerDevice(Device(allowsPush: false)))
        #expect(driver.requests.last.map { WireText.text($0) } == start)
        #expect(driver.state.tokens.map(\.token) == [""])
        #expect(driver.deliver(.registerDevice(Device(allowsPush: false)))?.code == "adobe.device.remembered")
        #expect(driver.requests.count == 3)
    }

    @Test(.shows("adobe/R3", "adobe/I4", "adobe/S3"))
    func `uses Android's own names and rejects other push services`() throws {
        let driver = try StandardDriver(device: nil)
        driver.deliver(.registerDevice(Device(pushToken: PushToken("fGx-1:APA", service: .fcm))))
        #expect(driver.requests.last?.url.hasSuffix("d_cid=20919%01fGx-1%3AAPA") == true)
        driver.deliver(.track(.sessionStarted))
        #expect(driver.requests.last?.json?["pushPlatform"] == "gcm")
        let huawei = Device(pushToken: PushToken("x", service: .hms))
        #expect(driver.deliver(.registerDevice(huawei))?.code == "adobe.token.service")
        var android = Corpus.phone
        android.facts?.platform = "Android"
        #expect(driver.deliver(.registerDevice(android))?.code == "adobe.token.service")
        android.facts?.platform = "iOS"
        android.pushToken = PushToken("fGx-1:APA", service: .fcm)
        #expect(driver.deliver(.registerDevice(android))?.code == "adobe.token.service")
    }

    @Test(.shows("adobe/I9"), arguments: ["", "xyz", "0aa", "0aa1 f0"])
    func `rejects a malformed token and keeps the previous one`(_ token: String) throws {
        let driver = try StandardDriver()
        let held = driver.heldTokens
        #expect(driver.deliver(.registerDevice(Device(pushToken: PushToken(token))))?.code == "adobe.token.form")
        #expect(driver.requests.isEmpty && driver.heldTokens == held)
    }

    @Test(.shows("adobe/I6"))
    func `reports that a push token is not sent without an organisation`() throws {
        let driver = try StandardDriver(["organizationId": nil], device: nil)
        let verdict = driver.deliver(.registerDevice(Corpus.phone))
        #expect(verdict?.code == "adobe.token.untold")
        #expect(verdict?.isDropped == true)
        #expect(driver.requests.isEmpty)
        let findings = driver.examine(.registerDevice(Corpus.phone))
        #expect(findings.map(\.code) == ["adobe.token.untold"])
    }

    @Test(.shows("adobe/I1"))
    func `creates an identity of 38 digits and keeps it as text`() throws {
        let driver = try StandardDriver()
        let made = driver.ecid
        #expect(Identity.isValid(made))
        #expect(made == Identity.made(for: "phone", 0))
        #expect(made != Identity.made(for: "another phone", 0) && made != Identity.made(for: "phone", 1))
        driver.deliver(.track(.sessionStarted))
        #expect(driver.state.profiles.map(\.ecid) == [made])
        for broken in ["4021883761059334772015826490331775510", "0x218837610593347720158264903317755102", ""] {
            var device = Corpus.phone
            device.identities = ["adobe.ecid": broken]
            #expect(driver.deliver(.registerDevice(device))?.code == "adobe.identity.form")
        }
        var zeros = Corpus.phone
        zeros.identities = ["adobe.ecid": "00018837610593347720000264903317755102"]
        driver.deliver(.registerDevice(zeros))
        _ = driver.push(.received)
        #expect(driver.state.reports.last?.ecid == "00018837610593347720000264903317755102")
    }

    @Test(.shows("adobe/S1", "adobe/S2"))
    func `requires a bare host name, and a test address replaces all hosts`() throws {
        for server in ["https://shop.example", "shop.example/", "shop.example:8443", "shop.example/r", "a b"] {
            let error = #expect(throws: SettingsError.self) { try Fixture.adapter(["server": .string(server)]) }
            #expect(error?.findings.map(\.path) == ["settings.server"])
        }
        #expect(throws: Never.self) { try Fixture.adapter(["server": "shop.campaign.example"]) }
        let driver = try StandardDriver(["testAddress": "http://127.0.0.1:8731/adobe"])
        driver.deliver(.registerDevice(Corpus.phone))
        _ = driver.push(.received)
        #expect(
            driver.requests.map { String($0.url.prefix { $0 != "?" }) } == [
                "http://127.0.0.1:8731/adobe/id", "http://127.0.0.1:8731/adobe/r/",
            ]
        )
    }
}

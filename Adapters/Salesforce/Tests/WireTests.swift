import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce wire") struct WireTests {
    @Test(
        .shows("salesforce/W1", "salesforce/W2", "salesforce/W3", "salesforce/W4", "salesforce/W5", "salesforce/W6"),
        .shows("salesforce/W7", "salesforce/W8", "salesforce/W9", "salesforce/W10", "salesforce/W11", "salesforce/W13"),
        .shows("salesforce/W14", "salesforce/W15", "salesforce/W16", "salesforce/W17", "salesforce/W18"),
        .shows(
            "salesforce/W19",
            "salesforce/W20",
            "salesforce/W21",
            "salesforce/W22",
            "salesforce/W24",
            "salesforce/W25",
            "salesforce/W26"
        )
    )
    func `encodes a complete registration`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(.identify("member-480013"), at: 0)
        driver.capture(.changeAttributes(["LoyaltyTier": .set("silver"), "HomeStore": .set("")]), at: 0)
        driver.capture(.add("theatre", "sports"), at: 0)
        let request = try driver.transmission(at: 0).request
        #expect(request.method == "POST")
        #expect(
            request.url == "https://mc0123456789abcdefghijklmnop.device.marketingcloudapis.com/device/v1/registration"
        )
        #expect(
            String(decoding: request.body, as: UTF8.self) == """
                {"etAppId":"c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d","deviceID":"6B0C7E51-2F6D-4D0B-9A51-0E5E7B1C9D22",\
                "registrationId":"6b0c7e51-2f6d-4d0b-9a51-0e5e7b1c9d22","registrationDateUtc":"2031-03-09T07:05:11.042Z",\
                "subscriberKey":"member-480013","device_Token":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","push_Enabled":true,\
                "quietPushEnabled":false,"location_Enabled":false,"proximity_Enabled":false,"platform":"iOS",\
                "platform_Version":"19.2","hwid":"iPhone17,3","app_Version":"4.11.0","sdk_Version":"Patchbay/0.1.0",\
                "locale":"fi_FI","language":"fi_FI","timeZone":"7200","dST":false,\
                "attributes":[{"key":"HomeStore","value":""},{"key":"LoyaltyTier","value":"silver"}],\
                "tags":["ALL","IOS","sports","theatre"]}
                """
        )
        #expect(
            request.headers.map { "\($0.name): \($0.value)" } == [
                "Authorization: Bearer q1w2e3r4t5y6u7i8o9p0zxcv", "Content-Type: application/json",
                "Accept: application/json",
                "User-Agent: Patchbay/0.1.0 (iOS 19.2; fi_FI; iPhone17,3) com.example.shop/4.11.0",
                "X-SDK-Version: Patchbay/0.1.0",
            ]
        )
        #expect(request[header: "User-Agent"]?.hasPrefix(Sender.name) == true)
        #expect(request.headers.filter(\.isSecret).map(\.name) == ["Authorization"])
    }

    @Test(.shows("salesforce/W19"), arguments: [(0, "0"), (-14_400, "-14400"), (20_700, "20700")])
    func `writes the time zone as seconds in text`(offset: Int, text: String) throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.facts?.utcOffsetSeconds = offset
        driver.capture(.registerDevice(device), at: 0)
        #expect(try driver.body(at: 0)["timeZone"] == .string(text))
    }

    @Test(.shows("salesforce/W6")) func `omits an unknown or invalid push token`() throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.pushToken = nil
        driver.capture(.registerDevice(device), at: 0)
        #expect(try driver.body(at: 0)["device_Token"] == nil)
        let tokens = [
            PushToken(" "), PushToken("not hex"), PushToken("ａｆ"), PushToken("x", service: .hms),
            PushToken("f:x", service: .fcm),
        ]
        let words = tokens.map { token in
            device.pushToken = token
            return driver.words(.registerDevice(device))
        }
        #expect(
            words == [
                ["error salesforce.device.tokenBlank"], ["error salesforce.device.tokenInvalid"],
                ["error salesforce.device.tokenInvalid"], ["warning salesforce.device.tokenService"],
                ["warning salesforce.device.tokenService"],
            ]
        )
        let sent = tokens.map { token in
            device.pushToken = token
            return RegistrationRecord.of(device)?["device_Token"]?.string
        }
        #expect(sent == [nil, nil, nil, nil, nil])
        device.facts?.platform = "Android"
        for (token, sent) in [("f:x", "f:x"), ("f x", nil)] {
            device.pushToken = PushToken(token, service: .fcm)
            #expect(RegistrationRecord.of(device)?["device_Token"]?.string == sent)
        }
    }

    @Test(.shows("salesforce/W3")) func `names the registration's id uuid if the settings say so`() throws {
        let driver = try TestDriver(["registrationIdKey": "uuid"])
        driver.capture(.registerDevice(.sample), at: 0)
        let names = try #require(driver.body(at: 0).object).names
        #expect(names.contains("uuid") && !names.contains("registrationId"))
    }

    @Test(.shows("salesforce/W4", "salesforce/S6")) func `a new date alone does not cause a registration`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.registerDevice(.sample), at: 5000)
        driver.settle(at: 5000)
        #expect(driver.pending.isEmpty)
    }

    @Test(.shows("salesforce/W2")) func `keeps an adopted device id unchanged`() throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.identities = ["salesforce.deviceID": " 1eb8c21d-ca72-41ac-930d-cec9a311d699 "]
        driver.capture(.registerDevice(device), at: 0)
        #expect(try driver.exchange(at: 0).json?["deviceID"] == "1eb8c21d-ca72-41ac-930d-cec9a311d699")
        driver.capture(.registerDevice(.sample), at: 0)
        driver.settle(at: 0)
        device.identities = ["salesforce.deviceID": "not-a-uuid"]
        #expect(driver.words(.registerDevice(device)) == ["warning salesforce.device.idInvalid"])
    }

    @Test(.shows("salesforce/W2")) func `keeps the first device id if the app passes another one later`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        let own = try driver.exchange(at: 0, lost).json?["deviceID"]
        var device = Device.sample
        device.identities = ["salesforce.deviceID": "A1B2C3D4-0000-4000-8000-00000000D001"]
        let id = driver.capture(.registerDevice(device), at: 1)
        #expect(try driver.exchange(at: 61).json?["deviceID"] == own)
        #expect(driver.summary(of: id) == "accepted salesforce.device.idLate")
        let again = driver.capture(.registerDevice(device), at: 200)
        driver.settle(at: 200)
        #expect(driver.summary(of: again) == "unchanged salesforce.device.idLate")
    }

    @Test func `adopts a device id after the first registration was refused`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, WireResponse(400))
        var device = Device.sample
        device.identities = ["salesforce.deviceID": "A1B2C3D4-0000-4000-8000-00000000D001"]
        driver.capture(.registerDevice(device), at: 1)
        #expect(try driver.exchange(at: 61).json?["deviceID"] == "A1B2C3D4-0000-4000-8000-00000000D001")
    }

    @Test func `derives a stable version 8 UUID for a subject that is not a UUID`() {
        let id = RegistrationRecord.deviceID(of: "installation-1", Registration())
        #expect(id == RegistrationRecord.deviceID(of: "installation-1", Registration()))
        #expect(id != RegistrationRecord.deviceID(of: "installation-2", Registration()))
        #expect(id.wholeMatch(of: /[0-9A-F]{8}-[0-9A-F]{4}-8[0-9A-F]{3}-[89AB][0-9A-F]{3}-[0-9A-F]{12}/) != nil)
    }

    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (String(repeating: "a", count: 1_000), "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3"),
    ])
    func `computes SHA-256 digests`(text: String, digest: String) {
        #expect(SHA256.digest(of: text.utf8).hexText == digest)
    }

    @Test func `replaces line breaks and non-ASCII characters in a header`() throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.facts?.model = "Puhelin\r\nX-Evil: ä"
        driver.capture(.registerDevice(device), at: 0)
        let agent = try #require(driver.transmission(at: 0).request[header: "User-Agent"])
        #expect(agent.contains("Puhelin??X-Evil: ?"))
    }

    @Test(.shows("salesforce/W27")) func `the newest subscriber token is sent with registrations too`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 0)
        let request = try driver.exchange(
            at: 60,
            WireResponse(500, headers: [WireHeader("X-Subscriber-Token", "jwt-2")])
        )
        #expect(request[header: "X-Subscriber-Token"] == "jwt-1")
        #expect(try driver.transmission(at: 120).request[header: "X-Subscriber-Token"] == "jwt-2")
    }

    @Test func `a dump of the memory reveals no secret`() throws {
        let driver = try TestDriver.registered()
        var dumped = ""
        dump(driver.memory, to: &dumped)
        #expect(!dumped.contains("jwt-1") && !dumped.contains("0f1e2d3c4b5a"))
    }
}

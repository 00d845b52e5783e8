import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce device facts") struct FactTests {
    private func device(_ change: (inout DeviceFacts) -> Void) -> Device {
        var device = Device.sample
        device.pushToken = nil
        if var facts = device.facts {
            change(&facts)
            device.facts = facts
        }
        return device
    }

    @Test(.shows("salesforce/W12"), arguments: ["platform", "platformVersion", "model", "locale", "appVersion"])
    func `rejects a blank device fact and reports its path`(_ name: String) throws {
        let paths: [String: WritableKeyPath<DeviceFacts, String>] = [
            "platform": \.platform, "platformVersion": \.platformVersion, "model": \.model, "locale": \.locale,
            "appVersion": \.appVersion,
        ]
        let path = try #require(paths[name])
        let findings = try TestDriver().examine(.registerDevice(device { $0[keyPath: path] = " \t" }))
        #expect(findings.map(\.code) == ["salesforce.device.factBlank"])
        #expect(findings.map(\.path) == ["action.device.facts.\(name)"])
    }

    @Test(
        .shows("salesforce/W11"),
        arguments: [("iOS", "iOS"), ("ios", "iOS"), ("iPadOS", "iOS"), (" ANDROID ", "Android")]
    )
    func `sends platforms in the vendor's spelling`(name: String, sent: String) throws {
        let device = device { $0.platform = name }
        #expect(try TestDriver().words(.registerDevice(device)) == [])
        #expect(RegistrationRecord.of(device)?["platform"] == .string(sent))
        // Any other name is rejected.
        #expect(try TestDriver().words(.registerDevice(self.device { $0.platform = "\(name)2" })).count == 1)
    }

    @Test(.shows("salesforce/W11"), arguments: ["macOS", "watchOS", "Windows", "iOS 19"])
    func `rejects an unsupported platform at capture`(_ name: String) throws {
        #expect(
            try TestDriver().words(.registerDevice(device { $0.platform = name })) == [
                "error salesforce.device.platform"
            ]
        )
    }

    @Test(
        .shows("salesforce/W21", "salesforce/W22"),
        arguments: [
            ("fi_FI", "fi_FI", false), (" fi_FI ", "fi_FI", false), ("fi-FI", "fi_FI", true),
            ("zh-Hans_CN", "zh_Hans_CN", true), ("en_US@calendar=japanese", "en_US", true), ("es_419", "es_419", false),
            ("de", "de", false),
        ]
    )
    func `normalizes a locale to underscores without suffixes`(given: String, sent: String, isReported: Bool) throws {
        let device = device { $0.locale = given }
        #expect(
            try TestDriver().words(.registerDevice(device))
                == (isReported ? ["note salesforce.device.localeRespelt"] : [])
        )
        let body = RegistrationRecord.of(device)
        #expect(body?["locale"] == .string(sent) && body?["language"] == .string(sent))
    }

    @Test(.shows("salesforce/W21"), arguments: ["f", "fi__FI", "Suomi, Suomi", "_FI", "fi_", "日本"])
    func `rejects an invalid locale`(_ text: String) throws {
        #expect(
            try TestDriver().words(.registerDevice(device { $0.locale = text })) == ["error salesforce.device.locale"]
        )
    }

    @Test(.shows("salesforce/W19"), arguments: [86_400, -86_400, 7_200_000])
    func `rejects a UTC offset of a day or more`(_ offset: Int) throws {
        #expect(
            try TestDriver().words(.registerDevice(device { $0.utcOffsetSeconds = offset })) == [
                "error salesforce.device.offset"
            ]
        )
    }

    @Test func `trims device facts`() throws {
        let body = RegistrationRecord.of(device { ($0.model, $0.appVersion) = (" iPhone17,3\n", "4.11.0 ") })
        #expect(body?["hwid"] == "iPhone17,3" && body?["app_Version"] == "4.11.0")
    }
}

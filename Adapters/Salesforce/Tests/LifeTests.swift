import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce unregistration, erasure and settings") struct LifeTests {
    @Test(.shows("salesforce/D2")) func `unregisters with one last registration with push disabled`() throws {
        let driver = try TestDriver.registered([:], .set("tier", "gold"))
        let id = driver.capture(.unregister, at: 0)
        let request = try driver.exchange(at: 60)
        #expect(request.json?["push_Enabled"] == false)
        #expect(request.json?.pairs == ["tier=gold"])
        #expect(driver.summary(of: id) == "accepted salesforce.left")
    }

    @Test func `enables push when a device registers again after an unregistration`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.unregister, at: 0)
        try driver.exchange(at: 60)
        driver.capture(.registerDevice(.sample), at: 60)
        #expect(try driver.exchange(at: 120).json?["push_Enabled"] == true)
    }

    @Test(.shows("salesforce/D2")) func `does not register an unknown device in order to unregister it`() throws {
        let driver = try TestDriver()
        let ids = [Action.registerDevice(.sample), .identify("member-1"), .unregister].map { driver.capture($0, at: 0) }
        driver.settle(at: 0)
        #expect(
            ids.map { driver.summary(of: $0) } == [
                "dropped salesforce.neverSent", "dropped salesforce.neverSent", "unchanged salesforce.nothingToLeave",
            ]
        )
    }

    @Test func `an unregistration completes operations that waited for a contact key`() throws {
        let driver = try TestDriver(["delayRegistrationUntilContactKeyIsSet": true])
        let ids = [Action.registerDevice(.sample), .unregister].map { driver.capture($0, at: 0) }
        driver.settle(at: 0)
        #expect(ids.allSatisfy { driver.summary(of: $0) != nil })
    }

    @Test func `unregisters an adopted device`() throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.identities = ["salesforce.deviceID": "1EB8C21D-CA72-41AC-930D-CEC9A311D699"]
        driver.capture(.registerDevice(device), at: 0)
        driver.capture(.unregister, at: 0)
        #expect(try driver.exchange(at: 0).json?["push_Enabled"] == false)
    }

    @Test(.shows("salesforce/D3")) func `an erasure clears the values that a registration can clear`() throws {
        let driver = try TestDriver.registered([:], .identify("member-1"), .set("tier", "gold"), .add("sports"))
        let id = driver.capture(.erase, at: 0)
        let later = driver.capture(.add("music"), at: 0)
        let body = try #require(driver.exchange(at: 60).json)
        #expect(body.pairs == ["tier="])
        #expect(body.tags == ["ALL", "IOS"])
        #expect(body["push_Enabled"] == false)
        #expect(body["device_Token"] == nil)
        #expect(driver.summary(of: id) == "accepted salesforce.erase.byHand")
        #expect(driver.pending.map(\.operation.id) == [later])
    }

    @Test(.shows("salesforce/D7", "salesforce/S1", "salesforce/S3"))
    func `registers again after an erasure as soon as the spacing permits`() throws {
        let driver = try TestDriver.registered([:], .identify("member-1"), .set("tier", "gold"))
        driver.capture(.erase, at: 0)
        try driver.exchange(at: 60, WireResponse(201, headers: [WireHeader("Retry-After", "90")]))
        let text = String(decoding: try JSONEncoder().encode(driver.memory), as: UTF8.self)
        #expect(!text.contains("member-1") && !text.contains("gold") && !text.contains("jwt"))
        driver.capture(.registerDevice(.sample), at: 61)
        #expect(driver.due(at: 61) == 150)
        driver.memory.closedUntil = [:]
        #expect(driver.due(at: 61) == 120)
        let body = try driver.body(at: 120)
        #expect(body.pairs == [] && body["subscriberKey"] == nil && body["push_Enabled"] == true)
    }

    @Test(.shows("salesforce/D2"))
    func `does not unregister a device whose registration was refused`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, WireResponse(400))
        let id = driver.capture(.unregister, at: 1)
        driver.settle(at: 1)
        #expect(driver.summary(of: id) == "unchanged salesforce.nothingToLeave")
    }

    @Test(.shows("salesforce/D3")) func `an erasure of an unknown device only asks for a manual deletion`() throws {
        let driver = try TestDriver()
        let id = driver.capture(.erase, at: 0)
        driver.settle(at: 0)
        #expect(driver.summary(of: id) == "unchanged salesforce.erase.byHand")
    }

    @Test(.shows("salesforce/D1", "salesforce/D4")) func `rejects queries and applies consents locally`() throws {
        let driver = try TestDriver()
        #expect(driver.words(.readBack(ReadRequest("profile"))) == ["error salesforce.readBack"])
        let id = driver.capture(.setConsent(Consent(purpose: .tracking, state: .granted)), at: 0)
        driver.settle(at: 0)
        #expect(driver.summary(of: id) == "unchanged salesforce.consent")
    }

    @Test(.shows("salesforce/R1"), arguments: [200, 201, 202, 204]) func `accepts any 2xx status as success`(
        _ status: Int
    ) throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, WireResponse(status))
        #expect(driver.pending.isEmpty)
    }

    @Test func `reports all invalid settings at once`() {
        let error = #expect(throws: SettingsError.self) {
            try TestDriver.settings([
                "endpoint": "ftp://x", "applicationId": "\t7", "accessToken": "short", "unset": "never",
                "clientSecret": "x",
            ])
        }
        #expect(
            error?.findings.map(\.path).sorted() == [
                "settings.accessToken", "settings.applicationId", "settings.clientSecret", "settings.endpoint",
                "settings.unset",
            ]
        )
        #expect(error?.description.contains("short") == false)
    }

    @Test(
        .shows("salesforce/W1", "salesforce/W25", "salesforce/W26", "salesforce/S12", "salesforce/A7", "salesforce/T4")
    )
    func `trims settings`() throws {
        let settings = try TestDriver.settings([
            "endpoint": "https://x.example//", "applicationId": "\tc0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
            "accessToken": "q1w2e3r4t5y6u7i8o9p0zxcv", "delayRegistrationUntilContactKeyIsSet": true,
            "unset": "stopSending", "tagsIgnoreCase": false,
        ])
        #expect(settings.applicationID.hasPrefix("c0a1"))
        #expect(settings.endpoint == "https://x.example")
    }

    @Test func `rejects colliding and reserved attribute names at the start`() throws {
        var object = TestDriver.configuration
        object["attributeNames"] = ["a": "tier", "b": "tier ", "c": "Status"]
        let settings = try TestDriver.settings(object)
        let error = #expect(throws: SettingsError.self) { try SalesforceDevice(settings: settings) }
        #expect(error?.findings.map(\.path) == ["attributeNames.b", "attributeNames.c"])
        #expect(error?.findings.allSatisfy { $0.severity == .error } == true)
    }

    @Test func `descriptor tables are consistent with one another`() {
        let descriptor = SalesforceDevice.descriptor
        let rules = Set(descriptor.tables.rules.map(\.id))
        #expect(rules.count == descriptor.tables.rules.count)
        #expect(Set(descriptor.tables.findings.map(\.code)).count == descriptor.tables.findings.count)
        let named =
            descriptor.tables.findings.compactMap(\.rule) + SalesforceSettings.table.rows.compactMap(\.rule)
            + descriptor.tables.fields.flatMap { $0.rows.map(\.rule) } + descriptor.tables.replies.rows.map(\.rule)
            + descriptor.tables.limits.compactMap(\.rule)
        #expect(named.filter { !rules.contains($0) } == [])
        #expect(
            descriptor.tables.findings.allSatisfy { !$0.remedy.isEmpty && ($0.severity != .error || $0.error != nil) }
        )
    }
}

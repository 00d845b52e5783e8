import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce beginnings and ends") struct LifeTests {
    @Test(.shows("salesforce/D2")) func `an unregister is one last registration without push`() throws {
        let bench = try Bench.registered([:], .set("tier", "gold"))
        let id = bench.capture(.unregister, at: 0)
        let request = try bench.exchange(at: 60)
        #expect(request.json?["push_Enabled"] == false)
        #expect(request.json?.pairs == ["tier=gold"])
        #expect(bench.summary(of: id) == "accepted salesforce.left")
    }

    @Test func `a device that comes back has push again`() throws {
        let bench = try Bench.registered()
        bench.capture(.unregister, at: 0)
        try bench.exchange(at: 60)
        bench.capture(.registerDevice(.sample), at: 60)
        #expect(try bench.exchange(at: 120).json?["push_Enabled"] == true)
    }

    @Test(.shows("salesforce/D2")) func `a device that was never registered is not registered to leave`() throws {
        let bench = try Bench()
        let ids = [Action.registerDevice(.sample), .identify("member-1"), .unregister].map { bench.capture($0, at: 0) }
        bench.settle(at: 0)
        #expect(
            ids.map { bench.summary(of: $0) } == [
                "dropped salesforce.neverSent", "dropped salesforce.neverSent", "unchanged salesforce.nothingToLeave",
            ]
        )
    }

    @Test func `an unregister in delay mode ends what waited for a key`() throws {
        let bench = try Bench(["delayRegistrationUntilContactKeyIsSet": true])
        let ids = [Action.registerDevice(.sample), .unregister].map { bench.capture($0, at: 0) }
        bench.settle(at: 0)
        #expect(ids.allSatisfy { bench.summary(of: $0) != nil })
    }

    @Test func `an adopted device is told to leave`() throws {
        let bench = try Bench()
        var device = Device.sample
        device.identities = ["salesforce.deviceID": "1EB8C21D-CA72-41AC-930D-CEC9A311D699"]
        bench.capture(.registerDevice(device), at: 0)
        bench.capture(.unregister, at: 0)
        #expect(try bench.exchange(at: 0).json?["push_Enabled"] == false)
    }

    @Test(.shows("salesforce/D3")) func `an erase empties what a registration can empty`() throws {
        let bench = try Bench.registered([:], .identify("member-1"), .set("tier", "gold"), .add("sports"))
        let id = bench.capture(.erase, at: 0)
        let later = bench.capture(.add("music"), at: 0)
        let body = try #require(bench.exchange(at: 60).json)
        #expect(body.pairs == ["tier="])
        #expect(body.tags == ["ALL", "IOS"])
        #expect(body["push_Enabled"] == false)
        #expect(body["device_Token"] == nil)
        #expect(bench.summary(of: id) == "accepted salesforce.erase.byHand")
        #expect(bench.pending.map(\.operation.id) == [later])
    }

    @Test(.shows("salesforce/D7", "salesforce/S1", "salesforce/S3"))
    func `a new life after an erase begins at once, as far as the pacing allows`() throws {
        let bench = try Bench.registered([:], .identify("member-1"), .set("tier", "gold"))
        bench.capture(.erase, at: 0)
        try bench.exchange(at: 60, WireResponse(201, headers: [WireHeader("Retry-After", "90")]))
        let text = String(decoding: try JSONEncoder().encode(bench.memory), as: UTF8.self)
        #expect(!text.contains("member-1") && !text.contains("gold") && !text.contains("jwt"))
        bench.capture(.registerDevice(.sample), at: 61)
        #expect(bench.due(at: 61) == 150)
        bench.memory.closedUntil = [:]
        #expect(bench.due(at: 61) == 120)
        let body = try bench.body(at: 120)
        #expect(body.pairs == [] && body["subscriberKey"] == nil && body["push_Enabled"] == true)
    }

    @Test(.shows("salesforce/D2"))
    func `a device that was refused without uncertain delivery is not registered to leave`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, WireResponse(400))
        let id = bench.capture(.unregister, at: 1)
        bench.settle(at: 1)
        #expect(bench.summary(of: id) == "unchanged salesforce.nothingToLeave")
    }

    @Test(.shows("salesforce/D3")) func `an erase of a device that nobody knows asks for the hand alone`() throws {
        let bench = try Bench()
        let id = bench.capture(.erase, at: 0)
        bench.settle(at: 0)
        #expect(bench.summary(of: id) == "unchanged salesforce.erase.byHand")
    }

    @Test(.shows("salesforce/D1", "salesforce/D4")) func `reading is refused, and a consent is applied here`() throws {
        let bench = try Bench()
        #expect(bench.words(.readBack(ReadRequest("profile"))) == ["error salesforce.readBack"])
        let id = bench.capture(.setConsent(Consent(purpose: .tracking, state: .granted)), at: 0)
        bench.settle(at: 0)
        #expect(bench.summary(of: id) == "unchanged salesforce.consent")
    }

    @Test(.shows("salesforce/R1"), arguments: [200, 201, 202, 204]) func `any 2xx is a yes`(_ status: Int) throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, WireResponse(status))
        #expect(bench.pending.isEmpty)
    }

    @Test func `all settings' mistakes are found at once`() {
        let error = #expect(throws: SettingsError.self) {
            try Bench.settings([
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
    func `settings are trimmed`() throws {
        let settings = try Bench.settings([
            "endpoint": "https://x.example//", "applicationId": "\tc0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
            "accessToken": "q1w2e3r4t5y6u7i8o9p0zxcv", "delayRegistrationUntilContactKeyIsSet": true,
            "unset": "stopSending", "tagsIgnoreCase": false,
        ])
        #expect(settings.applicationID.hasPrefix("c0a1"))
        #expect(settings.endpoint == "https://x.example")
    }

    @Test func `attribute names that collide or are reserved are refused at the start`() throws {
        var object = Bench.configuration
        object["attributeNames"] = ["a": "tier", "b": "tier ", "c": "Status"]
        let settings = try Bench.settings(object)
        let error = #expect(throws: SettingsError.self) { try SalesforceDevice(settings: settings) }
        #expect(error?.findings.map(\.path) == ["attributeNames.b", "attributeNames.c"])
        #expect(error?.findings.allSatisfy { $0.severity == .error } == true)
    }

    @Test func `tables agree with one another`() {
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

import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce schedule") struct ScheduleTests {
    @Test(.shows("salesforce/S1")) func `sends the first registration at once`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        #expect(driver.due(at: 0) == 0)
    }

    @Test(.shows("salesforce/S2", "salesforce/S3", "salesforce/S4", "salesforce/S5"))
    func `collects changes for one minute from the first one`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 100)
        #expect(driver.due(at: 100) == 160)
        driver.capture(.set("tier", "gold"), at: 140)
        #expect(driver.due(at: 140) == 160)
        #expect(driver.reason(at: 159) == "salesforce.paced")
        #expect(try driver.transmission(at: 160).operations.count == 2)
    }

    @Test(arguments: [(change: 1, due: 61), (change: 0, due: 60), (change: 59, due: 119), (change: 600, due: 660)])
    func `the next registration starts a minute after the change and the last start`(change: Int, due: Int) throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: change)
        #expect(driver.due(at: change) == due)
    }

    @Test(.shows("salesforce/S3"), arguments: [(change: 10, due: 60), (change: 100, due: 100)])
    func `a flush skips the collection interval but not the spacing`(change: Int, due: Int) throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: change)
        #expect(driver.due(at: change, flush: true) == due)
    }

    @Test(
        .shows("salesforce/S5"),
        arguments: [
            Action.identify("member-1"), .set("tier", "gold"), .add("sports"), .push(.unsubscribed),
            .registerDevice(Device.sample.travelling),
        ]
    )
    func `every kind of change causes a registration`(_ action: Action) throws {
        let driver = try TestDriver.registered()
        let id = driver.capture(action, at: 0)
        try driver.exchange(at: 60)
        #expect(driver.summary(of: id)?.hasPrefix("accepted") == true)
    }

    @Test(.shows("salesforce/S5", "salesforce/W13", "salesforce/W15", "salesforce/W20"), arguments: Device.changed)
    func `a registration follows each change of a device value that it contains, and no other`(_ change: Device.Change)
        throws
    {
        let driver = try TestDriver.registered([:], .identify("member-1"))
        let id = driver.capture(.registerDevice(change.device), at: 0)
        guard !change.keys.isEmpty else {
            driver.settle(at: 0)
            return #expect(driver.summary(of: id) == "unchanged")
        }
        let before = try #require(RegistrationRecord.of(.sample))
        let body = try #require(driver.exchange(at: 60).json?.object)
        let keys = body.names.filter { body[$0] != before[$0] && $0 != "subscriberKey" && $0 != "registrationDateUtc" }
        #expect(keys == change.keys)
    }

    @Test(.shows("salesforce/S5", "salesforce/W16"))
    func `a new version of the sender causes a registration at the next start`() throws {
        let driver = try TestDriver.registered()
        driver.memory.acceptedAs = driver.memory.acceptedAs?.replacing(Sender.name, with: "Patchbay/0.9.0")
        driver.capture(.registerDevice(.sample), at: 0)
        #expect(driver.due(at: 0) == 60)
    }

    @Test(.shows("salesforce/S16")) func `a retry includes changes captured since the failure`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 60, WireResponse(503))
        driver.capture(.add("music"), at: 70)
        #expect(driver.due(at: 70) == 120)
        #expect(try driver.exchange(at: 120).json?.tags == ["ALL", "IOS", "music", "sports"])
    }

    @Test(.shows("salesforce/S14")) func `an attribute that changes at every start causes a registration each time`()
        throws
    {
        let driver = try TestDriver.registered()
        for start in 1...5 {
            driver.appState = .background
            let action = Action.set("last_used", .integer(Int64(start)))
            #expect(driver.examine(action).map(\.code) == ["salesforce.capturedInBackground"])
            driver.capture(action, at: start * 1000)
            try driver.exchange(at: start * 1000 + 60)
        }
    }

    @Test(
        .shows("salesforce/S6"),
        arguments: [
            [Action.registerDevice(.sample)], [.add("sports"), .remove("sports")], [.remove("absent")],
            [.set("tier", "silver")], [.set("tier", "gold"), .set("tier", "silver")], [.identify("member-1")],
        ]
    )
    func `completes operations without effect without a request`(_ actions: [Action]) throws {
        let driver = try TestDriver.registered([:], .identify("member-1"), .set("tier", "silver"))
        let ids = actions.map { driver.capture($0, at: 10) }
        driver.settle(at: 10)
        #expect(ids.map { driver.summary(of: $0) } == actions.map { _ in "unchanged" })
    }

    @Test(.shows("salesforce/S6", "salesforce/W7"))
    func `remembers an opt-in until the device permits notifications`() throws {
        let driver = try TestDriver.registered()
        var device = Device.sample
        device.allowsPush = false
        for action in [Action.push(.unsubscribed), .registerDevice(device)] { driver.capture(action, at: 0) }
        #expect(try driver.exchange(at: 60).json?["push_Enabled"] == false)
        let optIn = driver.capture(.push(.subscribed), at: 100)
        driver.settle(at: 100)
        #expect(driver.summary(of: optIn) == "unchanged")
        driver.capture(.registerDevice(.sample), at: 200)
        #expect(try driver.exchange(at: 260).json?["push_Enabled"] == true)
    }

    @Test(.shows("salesforce/S6")) func `a tag added and removed while the first request waits sends nothing`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 10)
        #expect(driver.due(at: 10) == 70)
        driver.capture(.remove("sports"), at: 30)
        driver.settle(at: 30)
        #expect(driver.pending.isEmpty)
    }

    @Test func `changed settings cause another registration`() throws {
        let driver = try TestDriver.registered()
        try driver.restart(with: TestDriver.adapter(["debug": true]))
        driver.capture(.remove("absent"), at: 100)
        #expect(driver.due(at: 100) == 160)
    }

    @Test(.shows("salesforce/S7", "salesforce/S8", "salesforce/R4"))
    func `delays double from a minute to a day, without a limit on attempts`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        var starts = [0]
        for _ in 0..<14 {
            try driver.exchange(at: starts[starts.count - 1], WireResponse(400))
            starts.append(try #require(driver.due(at: starts[starts.count - 1])))
        }
        #expect(
            starts == [
                0, 60, 180, 420, 900, 1860, 3780, 7620, 15_300, 30_660, 61_380, 122_820, 209_220, 295_620, 382_020,
            ]
        )
        #expect(driver.reason(at: starts[13] + 1) == "salesforce.retrying")
    }

    @Test(.shows("salesforce/S9")) func `a new change does not shorten the retry delay`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        for start in [0, 60, 180, 420] { try driver.exchange(at: start, WireResponse(503)) }
        #expect(driver.due(at: 500) == 900)
        driver.capture(.add("sports"), at: 500)
        #expect(driver.due(at: 500) == 900)
        try driver.exchange(at: 900, WireResponse(503))
        #expect(driver.due(at: 900) == 1860)
        try driver.exchange(at: 1860)
        driver.capture(.add("music"), at: 1900)
        #expect(driver.due(at: 1900) == 1960)
    }

    @Test(.shows("salesforce/S11")) func `retry delays grow after long and short Retry-After values`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        var (start, waits): (Int, [Int]) = (0, [])
        for asked in ["1", "1", "1000", "1", "1", "90"] {
            try driver.exchange(at: start, WireResponse(503, headers: [WireHeader("Retry-After", asked)]))
            let next = try #require(driver.due(at: start))
            waits.append(next - start)
            start = next
        }
        #expect(waits == [60, 120, 1000, 1920, 3840, 7680])
    }

    @Test(.shows("salesforce/S9")) func `a success resets the retry delay`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        for start in [0, 60, 180] { try driver.exchange(at: start, WireResponse(503)) }
        try driver.exchange(at: 420)
        driver.capture(.add("sports"), at: 500)
        try driver.exchange(at: 560, WireResponse(503))
        #expect(driver.due(at: 560) == 620)
    }

    @Test(.shows("salesforce/S10", "salesforce/R6")) func `retry delays, spacing and expected state survive a restart`()
        throws
    {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, interrupted)
        try driver.restart()
        #expect(driver.due(at: 1) == 60)
        try driver.exchange(at: 60, notSent)
        #expect(driver.due(at: 61) == 180)
        #expect(SalesforceDevice.Endpoint.registration.isJournaled)
    }

    @Test(
        .shows("salesforce/S11", "salesforce/R2"),
        arguments: [
            (seconds: "30", due: 60), ("300", 300), ("999999", 86_400),
        ]
    )
    func `a longer Retry-After replaces the retry delay, up to one day`(seconds: String, due: Int) throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, WireResponse(429, headers: [WireHeader("Retry-After", seconds)]))
        #expect(driver.due(at: 1) == due)
        driver.capture(.add("sports"), at: 2)
        #expect(driver.due(at: 2) == due)
    }

    @Test(.shows("salesforce/S11")) func `applies the Retry-After of a successful reply`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, WireResponse(201, headers: [WireHeader("Retry-After", "500")]))
        driver.capture(.add("sports"), at: 1)
        #expect(driver.due(at: 1) == 500)
        #expect(driver.reason(at: 1) == "salesforce.closed")
    }

    @Test(.shows("salesforce/S12")) func `delayed registration waits for the contact key and is then sent at once`()
        throws
    {
        let driver = try TestDriver(["delayRegistrationUntilContactKeyIsSet": true])
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(.add("sports"), at: 5)
        #expect(driver.due(at: 5) == nil && driver.wait(at: 5) == FindingRow.contactKeyMissing.at())
        driver.capture(.identify("member-1"), at: 1000)
        #expect(driver.due(at: 1000) == 1000)
    }

    @Test(.shows("salesforce/S13")) func `reports that an accepted change becomes visible later`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        let id = driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 0)
        #expect(driver.summary(of: id) == "accepted salesforce.visibleLater")
    }

    @Test(.shows("salesforce/S14")) func `warns about changes in the background, except device facts`() throws {
        let driver = try TestDriver()
        driver.appState = .background
        let change = driver.examine(.add("sports"))
        #expect(change.map(\.code) == ["salesforce.capturedInBackground"])
        #expect(change.map(\.severity) == [.warning])
        #expect(driver.examine(.registerDevice(.sample)).isEmpty)
    }

    @Test(
        .shows("salesforce/R5"),
        arguments: [lost, interrupted, .replied(WireResponse(500)), .replied(WireResponse(408))]
    )
    func `sends the former state again after an uncertain delivery`(_ outcome: Outcome) throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 60, outcome)
        driver.capture(.remove("sports"), at: 61)
        let request = try driver.exchange(at: 121)
        #expect(request.json?.tags == ["ALL", "IOS"])
        #expect(driver.pending.isEmpty)
    }

    @Test func `a refusal does not make the vendor state uncertain`() throws {
        let driver = try TestDriver.registered()
        driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 60, WireResponse(400))
        driver.capture(.remove("sports"), at: 61)
        driver.settle(at: 61)
        #expect(driver.pending.isEmpty)
    }

    @Test(.shows("salesforce/R3")) func `the reason for waiting names the refused token`() throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        try driver.exchange(at: 0, WireResponse(401))
        let reason = try #require(driver.wait(at: 1))
        #expect(reason.reason.contains("HTTP 401"))
        #expect(reason.remedy.contains("accessToken"))
    }

    @Test(.shows("salesforce/W12")) func `sends no registration without device facts`() throws {
        let driver = try TestDriver()
        driver.capture(.identify("member-1"), at: 0)
        #expect(driver.reason(at: 0) == "salesforce.device.factsMissing")
        var device = Device.sample
        device.facts?.model = " "
        #expect(driver.words(.registerDevice(device)) == ["error salesforce.device.factBlank"])
    }
}

extension Device {
    /// A change of the sample, with the keys of a registration that it changes.
    struct Change: Sendable, CustomTestStringConvertible {
        let name: String
        let device: Device
        let keys: [String]
        var testDescription: String { name }
    }

    static let changed: [Change] = [
        change("time zone", "timeZone") { $0.facts?.utcOffsetSeconds = -18_000 },
        change("daylight saving", "dST") { $0.facts?.isDaylightSaving = true },
        change("locale", "locale", "language") { $0.facts?.locale = "sv_FI" },
        change("app version", "app_Version") { $0.facts?.appVersion = "4.12.0" },
        change("system version", "platform_Version") { $0.facts?.platformVersion = "19.3" },
        change("model", "hwid") { $0.facts?.model = "iPhone18,1" },
        change("push permission", "push_Enabled") { $0.allowsPush = false },
        change("background push", "quietPushEnabled") { $0.allowsBackgroundPush = true },
        change("location", "location_Enabled") { $0.allowsLocation = true },
        change("proximity", "proximity_Enabled") { $0.allowsProximity = true },
        change("push token", "device_Token") { $0.pushToken = PushToken("ff00") },
        change("a fact that a registration does not contain") { $0.facts?.deviceName = "Aino's phone" },
    ]

    private static func change(_ name: String, _ keys: String..., by change: (inout Device) -> Void) -> Change {
        var device = Device.sample
        change(&device)
        return Change(name: name, device: device, keys: keys)
    }

    var travelling: Device {
        var device = self
        device.facts?.utcOffsetSeconds = 20_700
        return device
    }
}

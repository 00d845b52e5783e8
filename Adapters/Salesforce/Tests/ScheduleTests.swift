import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce schedule") struct ScheduleTests {
    @Test(.shows("salesforce/S1")) func `the first registration leaves at once`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        #expect(bench.due(at: 0) == 0)
    }

    @Test(.shows("salesforce/S2", "salesforce/S3", "salesforce/S4", "salesforce/S5"))
    func `changes are gathered for a minute from the first one`() throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 100)
        #expect(bench.due(at: 100) == 160)
        bench.capture(.set("tier", "gold"), at: 140)
        #expect(bench.due(at: 140) == 160)
        #expect(bench.reason(at: 159) == "salesforce.paced")
        #expect(try bench.transmission(at: 160).operations.count == 2)
    }

    @Test(arguments: [(change: 1, due: 61), (change: 0, due: 60), (change: 59, due: 119), (change: 600, due: 660)])
    func `the next registration starts a minute after the change and the last start`(change: Int, due: Int) throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: change)
        #expect(bench.due(at: change) == due)
    }

    @Test(.shows("salesforce/S3"), arguments: [(change: 10, due: 60), (change: 100, due: 100)])
    func `a flush skips the gathering and not the spacing`(change: Int, due: Int) throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: change)
        #expect(bench.due(at: change, flush: true) == due)
    }

    @Test(
        .shows("salesforce/S5"),
        arguments: [
            Action.identify("member-1"), .set("tier", "gold"), .add("sports"), .push(.unsubscribed),
            .registerDevice(Device.sample.travelling),
        ]
    )
    func `every sort of change causes a registration`(_ action: Action) throws {
        let bench = try Bench.registered()
        let id = bench.capture(action, at: 0)
        try bench.exchange(at: 60)
        #expect(bench.summary(of: id)?.hasPrefix("accepted") == true)
    }

    @Test(.shows("salesforce/S5", "salesforce/W13", "salesforce/W15", "salesforce/W20"), arguments: Device.changed)
    func `everything that a device says of itself causes a registration, and nothing else`(_ change: Device.Change)
        throws
    {
        let bench = try Bench.registered([:], .identify("member-1"))
        let id = bench.capture(.registerDevice(change.device), at: 0)
        guard !change.keys.isEmpty else {
            bench.settle(at: 0)
            return #expect(bench.summary(of: id) == "unchanged")
        }
        let before = try #require(RegistrationRecord.of(.sample))
        let body = try #require(bench.exchange(at: 60).json?.object)
        let keys = body.names.filter { body[$0] != before[$0] && $0 != "subscriberKey" && $0 != "registrationDateUtc" }
        #expect(keys == change.keys)
    }

    @Test(.shows("salesforce/S5", "salesforce/W16"))
    func `a new version of the sender causes a registration at the next start`() throws {
        let bench = try Bench.registered()
        bench.memory.acceptedAs = bench.memory.acceptedAs?.replacing(Sender.name, with: "Patchbay/0.9.0")
        bench.capture(.registerDevice(.sample), at: 0)
        #expect(bench.due(at: 0) == 60)
    }

    @Test(.shows("salesforce/S16")) func `a retry carries what changed in the meantime`() throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 60, WireResponse(503))
        bench.capture(.add("music"), at: 70)
        #expect(bench.due(at: 70) == 120)
        #expect(try bench.exchange(at: 120).json?.tags == ["ALL", "IOS", "music", "sports"])
    }

    @Test(.shows("salesforce/S14")) func `a time stamp at every start costs a registration a start`() throws {
        let bench = try Bench.registered()
        for start in 1...5 {
            bench.appState = .background
            let action = Action.set("last_used", .integer(Int64(start)))
            #expect(bench.examine(action).map(\.code) == ["salesforce.capturedInBackground"])
            bench.capture(action, at: start * 1000)
            try bench.exchange(at: start * 1000 + 60)
        }
    }

    @Test(
        .shows("salesforce/S6"),
        arguments: [
            [Action.registerDevice(.sample)], [.add("sports"), .remove("sports")], [.remove("absent")],
            [.set("tier", "silver")], [.set("tier", "gold"), .set("tier", "silver")], [.identify("member-1")],
        ]
    )
    func `what changes nothing is settled without a request`(_ actions: [Action]) throws {
        let bench = try Bench.registered([:], .identify("member-1"), .set("tier", "silver"))
        let ids = actions.map { bench.capture($0, at: 10) }
        bench.settle(at: 10)
        #expect(ids.map { bench.summary(of: $0) } == actions.map { _ in "unchanged" })
    }

    @Test(.shows("salesforce/S6", "salesforce/W7"))
    func `what shows nowhere yet is remembered: a yes counts once the device permits it`() throws {
        let bench = try Bench.registered()
        var device = Device.sample
        device.allowsPush = false
        for action in [Action.push(.unsubscribed), .registerDevice(device)] { bench.capture(action, at: 0) }
        #expect(try bench.exchange(at: 60).json?["push_Enabled"] == false)
        let yes = bench.capture(.push(.subscribed), at: 100)
        bench.settle(at: 100)
        #expect(bench.summary(of: yes) == "unchanged")
        bench.capture(.registerDevice(.sample), at: 200)
        #expect(try bench.exchange(at: 260).json?["push_Enabled"] == true)
    }

    @Test(.shows("salesforce/S6")) func `a tag added and removed while the first request waits sends nothing`() throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 10)
        #expect(bench.due(at: 10) == 70)
        bench.capture(.remove("sports"), at: 30)
        bench.settle(at: 30)
        #expect(bench.pending.isEmpty)
    }

    @Test func `other settings make another payload`() throws {
        let bench = try Bench.registered()
        try bench.restart(with: Bench.adapter(["debug": true]))
        bench.capture(.remove("absent"), at: 100)
        #expect(bench.due(at: 100) == 160)
    }

    @Test(.shows("salesforce/S7", "salesforce/S8", "salesforce/R4"))
    func `delays double from a minute to a day and go on for ever`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        var starts = [0]
        for _ in 0..<14 {
            try bench.exchange(at: starts[starts.count - 1], WireResponse(400))
            starts.append(try #require(bench.due(at: starts[starts.count - 1])))
        }
        #expect(
            starts == [
                0, 60, 180, 420, 900, 1860, 3780, 7620, 15_300, 30_660, 61_380, 122_820, 209_220, 295_620, 382_020,
            ]
        )
        #expect(bench.reason(at: starts[13] + 1) == "salesforce.retrying")
    }

    @Test(.shows("salesforce/S9")) func `a new change does not shorten the delays`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        for start in [0, 60, 180, 420] { try bench.exchange(at: start, WireResponse(503)) }
        #expect(bench.due(at: 500) == 900)
        bench.capture(.add("sports"), at: 500)
        #expect(bench.due(at: 500) == 900)
        try bench.exchange(at: 900, WireResponse(503))
        #expect(bench.due(at: 900) == 1860)
        try bench.exchange(at: 1860)
        bench.capture(.add("music"), at: 1900)
        #expect(bench.due(at: 1900) == 1960)
    }

    @Test(.shows("salesforce/S11")) func `delays grow after a long and after a short Retry-After`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        var (start, waits): (Int, [Int]) = (0, [])
        for asked in ["1", "1", "1000", "1", "1", "90"] {
            try bench.exchange(at: start, WireResponse(503, headers: [WireHeader("Retry-After", asked)]))
            let next = try #require(bench.due(at: start))
            waits.append(next - start)
            start = next
        }
        #expect(waits == [60, 120, 1000, 1920, 3840, 7680])
    }

    @Test(.shows("salesforce/S9")) func `success starts the delays again`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        for start in [0, 60, 180] { try bench.exchange(at: start, WireResponse(503)) }
        try bench.exchange(at: 420)
        bench.capture(.add("sports"), at: 500)
        try bench.exchange(at: 560, WireResponse(503))
        #expect(bench.due(at: 560) == 620)
    }

    @Test(.shows("salesforce/S10", "salesforce/R6")) func `delays, spacing and knowledge survive a restart`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, interrupted)
        try bench.restart()
        #expect(bench.due(at: 1) == 60)
        try bench.exchange(at: 60, notSent)
        #expect(bench.due(at: 61) == 180)
        #expect(SalesforceDevice.Endpoint.registration.isJournaled)
    }

    @Test(
        .shows("salesforce/S11", "salesforce/R2"),
        arguments: [
            (seconds: "30", due: 60), ("300", 300), ("999999", 86_400),
        ]
    )
    func `Retry-After beats the delay and is capped`(seconds: String, due: Int) throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, WireResponse(429, headers: [WireHeader("Retry-After", seconds)]))
        #expect(bench.due(at: 1) == due)
        bench.capture(.add("sports"), at: 2)
        #expect(bench.due(at: 2) == due)
    }

    @Test(.shows("salesforce/S11")) func `Retry-After of a success holds too`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, WireResponse(201, headers: [WireHeader("Retry-After", "500")]))
        bench.capture(.add("sports"), at: 1)
        #expect(bench.due(at: 1) == 500)
        #expect(bench.reason(at: 1) == "salesforce.closed")
    }

    @Test(.shows("salesforce/S12")) func `in delay mode nothing leaves before the contact key, then at once`() throws {
        let bench = try Bench(["delayRegistrationUntilContactKeyIsSet": true])
        bench.capture(.registerDevice(.sample), at: 0)
        bench.capture(.add("sports"), at: 5)
        #expect(bench.due(at: 5) == nil && bench.wait(at: 5) == FindingRow.contactKeyMissing.at())
        bench.capture(.identify("member-1"), at: 1000)
        #expect(bench.due(at: 1000) == 1000)
    }

    @Test(.shows("salesforce/S13")) func `an accepted change shows later`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        let id = bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 0)
        #expect(bench.summary(of: id) == "accepted salesforce.visibleLater")
    }

    @Test(.shows("salesforce/S14")) func `a change in the background is warned about, facts are not`() throws {
        let bench = try Bench()
        bench.appState = .background
        let change = bench.examine(.add("sports"))
        #expect(change.map(\.code) == ["salesforce.capturedInBackground"])
        #expect(change.map(\.severity) == [.warning])
        #expect(bench.examine(.registerDevice(.sample)).isEmpty)
    }

    @Test(
        .shows("salesforce/R5"),
        arguments: [lost, interrupted, .replied(WireResponse(500)), .replied(WireResponse(408))]
    )
    func `after uncertain delivery nothing is suppressed`(_ outcome: Outcome) throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 60, outcome)
        bench.capture(.remove("sports"), at: 61)
        let request = try bench.exchange(at: 121)
        #expect(request.json?.tags == ["ALL", "IOS"])
        #expect(bench.pending.isEmpty)
    }

    @Test func `a refusal leaves no uncertain delivery`() throws {
        let bench = try Bench.registered()
        bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 60, WireResponse(400))
        bench.capture(.remove("sports"), at: 61)
        bench.settle(at: 61)
        #expect(bench.pending.isEmpty)
    }

    @Test(.shows("salesforce/R3")) func `a person who asks why it waits hears of the refused token`() throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        try bench.exchange(at: 0, WireResponse(401))
        let because = try #require(bench.wait(at: 1))
        #expect(because.reason.contains("HTTP 401"))
        #expect(because.remedy.contains("accessToken"))
    }

    @Test(.shows("salesforce/W12")) func `without device facts nothing leaves`() throws {
        let bench = try Bench()
        bench.capture(.identify("member-1"), at: 0)
        #expect(bench.reason(at: 0) == "salesforce.device.factsMissing")
        var device = Device.sample
        device.facts?.model = " "
        #expect(bench.words(.registerDevice(device)) == ["error salesforce.device.factBlank"])
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
        change("what the vendor does not ask") { $0.facts?.deviceName = "Aino's phone" },
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

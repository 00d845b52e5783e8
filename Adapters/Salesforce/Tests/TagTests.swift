import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce tags and subscriptions") struct TagTests {
    private func tags(_ settings: JSONObject = [:], _ actions: Action...) throws -> [String] {
        let driver = try TestDriver(settings)
        driver.capture(.registerDevice(.sample), at: 0)
        for action in actions { driver.capture(action, at: 0) }
        return try driver.body(at: 0).tags
    }

    @Test(.shows("salesforce/T5", "salesforce/T11", "salesforce/T2", "salesforce/W18"))
    func `trims tags and sorts them with the automatic ones`() throws {
        #expect(try tags([:], .add(" theatre ", "sports")) == ["ALL", "IOS", "sports", "theatre"])
        #expect(try tags(["debug": true], .add("DISCOUNT")) == ["ALL", "DEBUG", "DISCOUNT", "IOS"])
    }

    @Test func `an Android device has its own automatic tag`() throws {
        var device = Device.sample
        device.facts?.platform = "Android"
        #expect(try tags([:], .registerDevice(device)) == ["ALL", "Android"])
    }

    @Test(.shows("salesforce/T3")) func `sends each tag once`() throws {
        #expect(try tags([:], .add("sports", "sports"), .add("sports")) == ["ALL", "IOS", "sports"])
    }

    @Test(.shows("salesforce/T4")) func `the last spelling of a tag applies`() throws {
        #expect(try tags([:], .add("Sports"), .add("SPORTS")) == ["ALL", "IOS", "SPORTS"])
        #expect(try tags([:], .add("Sports"), .remove("sports")) == ["ALL", "IOS"])
        let exact: JSONObject = ["tagsIgnoreCase": false]
        #expect(try tags(exact, .add("Sports"), .add("SPORTS")) == ["ALL", "IOS", "SPORTS", "Sports"])
    }

    @Test(.shows("salesforce/T1"), arguments: ["", "  ", "\n"]) func `rejects a blank tag`(_ tag: String) throws {
        #expect(try TestDriver().words(.add(PatchbayModel.Tag(rawValue: tag))) == ["error salesforce.tag.blank"])
    }

    @Test(.shows("salesforce/T6"), arguments: ["ALL", "ios", "Debug", "Android"])
    func `an automatic tag can be neither added nor removed`(_ tag: String) throws {
        let tag = PatchbayModel.Tag(rawValue: tag)
        #expect(try TestDriver().words(.add(tag)) == ["error salesforce.tag.reserved"])
        #expect(
            try TestDriver().words(.changeTags(TagChange(add: ["sports"], remove: [tag]))) == [
                "warning salesforce.tag.reserved"
            ]
        )
        #expect(try TestDriver().words(.changeTags(TagChange(replace: [tag]))) == ["error salesforce.tag.reserved"])
        #expect(try tags([:], .changeTags(TagChange(add: ["sports"], remove: [tag]))) == ["ALL", "IOS", "sports"])
    }

    @Test(.shows("salesforce/T7")) func `removing all tags keeps the automatic ones`() throws {
        #expect(try tags([:], .add("sports"), .changeTags(TagChange(replace: []))) == ["ALL", "IOS"])
        #expect(try TestDriver().words(.changeTags(TagChange(replace: []))).isEmpty)
        #expect(try TestDriver().words(.changeTags(TagChange())) == ["error salesforce.tags.empty"])
    }

    @Test(.shows("salesforce/T8")) func `removing an absent tag sends nothing`() throws {
        let driver = try TestDriver.registered([:], .add("sports"))
        driver.capture(.remove("music"), at: 1)
        driver.settle(at: 1)
        #expect(driver.pending.isEmpty)
    }

    @Test func `applies removals before additions`() throws {
        #expect(try tags([:], .changeTags(TagChange(add: ["a"], remove: ["a"]))) == ["ALL", "IOS", "a"])
    }

    @Test(
        .shows("salesforce/W7", "salesforce/W6"),
        arguments: [
            (Subscription.State.subscribed, true, true), (.unsubscribed, false, true), (.suspended, false, true),
            (.unknown, false, false),
        ]
    )
    func `maps the push subscription to push_Enabled`(state: Subscription.State, isOn: Bool, hasToken: Bool) throws {
        let driver = try TestDriver()
        driver.capture(.registerDevice(.sample), at: 0)
        driver.capture(.push(state), at: 0)
        let body = try driver.body(at: 0)
        #expect(body["push_Enabled"] == .bool(isOn))
        #expect((body["device_Token"] != nil) == hasToken)
    }

    @Test func `a missing push permission overrides an opt-in`() throws {
        let driver = try TestDriver()
        var device = Device.sample
        device.allowsPush = false
        driver.capture(.registerDevice(device), at: 0)
        driver.capture(.push(.subscribed), at: 0)
        #expect(try driver.body(at: 0)["push_Enabled"] == false)
    }

    @Test(.shows("salesforce/D5")) func `writes a push topic as a tag`() throws {
        #expect(try tags([:], .push(.subscribed, topic: "theatre")) == ["ALL", "IOS", "theatre"])
        #expect(try tags([:], .add("theatre"), .push(.unsubscribed, topic: "theatre")) == ["ALL", "IOS"])
        #expect(try TestDriver().words(.push(.subscribed, topic: "theatre")) == ["note salesforce.subscription.topic"])
        #expect(try TestDriver().words(.push(.subscribed, topic: "IOS")) == ["error salesforce.tag.reserved"])
    }

    @Test(arguments: [Channel.email, .sms, .inApp, "whatsapp"]) func `rejects subscriptions of other channels`(
        _ channel: Channel
    )
        throws
    {
        let words = try TestDriver().words(.changeSubscription(Subscription(channel: channel, state: .subscribed)))
        #expect(words == ["error salesforce.subscription.channel"])
    }

    @Test func `warns about subscription details that a registration cannot contain`() throws {
        let rich = Subscription(channel: .push, state: .suspended, source: "checkout")
        #expect(
            try TestDriver().words(.changeSubscription(rich)) == [
                "warning salesforce.subscription.suspended", "warning salesforce.subscription.details",
            ]
        )
    }
}

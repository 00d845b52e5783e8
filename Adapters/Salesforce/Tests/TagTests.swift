import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce tags and subscriptions") struct TagTests {
    private func tags(_ settings: JSONObject = [:], _ actions: Action...) throws -> [String] {
        let bench = try Bench(settings)
        bench.capture(.registerDevice(.sample), at: 0)
        for action in actions { bench.capture(action, at: 0) }
        return try bench.body(at: 0).tags
    }

    @Test(.shows("salesforce/T5", "salesforce/T11", "salesforce/T2", "salesforce/W18"))
    func `tags are trimmed and sorted with the automatic ones`() throws {
        #expect(try tags([:], .add(" weather ", "sports")) == ["ALL", "IOS", "sports", "weather"])
        #expect(try tags(["debug": true], .add("DISCOUNT")) == ["ALL", "DEBUG", "DISCOUNT", "IOS"])
    }

    @Test func `an Android device has its own automatic tag`() throws {
        var device = Device.sample
        device.facts?.platform = "Android"
        #expect(try tags([:], .registerDevice(device)) == ["ALL", "Android"])
    }

    @Test(.shows("salesforce/T3")) func `tags are a set`() throws {
        #expect(try tags([:], .add("sports", "sports"), .add("sports")) == ["ALL", "IOS", "sports"])
    }

    @Test(.shows("salesforce/T4")) func `the last spelling wins`() throws {
        #expect(try tags([:], .add("Sports"), .add("SPORTS")) == ["ALL", "IOS", "SPORTS"])
        #expect(try tags([:], .add("Sports"), .remove("sports")) == ["ALL", "IOS"])
        let exact: JSONObject = ["tagsIgnoreCase": false]
        #expect(try tags(exact, .add("Sports"), .add("SPORTS")) == ["ALL", "IOS", "SPORTS", "Sports"])
    }

    @Test(.shows("salesforce/T1"), arguments: ["", "  ", "\n"]) func `a blank tag is refused`(_ tag: String) throws {
        #expect(try Bench().words(.add(PatchbayModel.Tag(rawValue: tag))) == ["error salesforce.tag.blank"])
    }

    @Test(.shows("salesforce/T6"), arguments: ["ALL", "ios", "Debug", "Android"])
    func `an automatic tag can be neither added nor removed`(_ tag: String) throws {
        let tag = PatchbayModel.Tag(rawValue: tag)
        #expect(try Bench().words(.add(tag)) == ["error salesforce.tag.reserved"])
        #expect(
            try Bench().words(.changeTags(TagChange(add: ["sports"], remove: [tag]))) == [
                "warning salesforce.tag.reserved"
            ]
        )
        #expect(try Bench().words(.changeTags(TagChange(replace: [tag]))) == ["error salesforce.tag.reserved"])
        #expect(try tags([:], .changeTags(TagChange(add: ["sports"], remove: [tag]))) == ["ALL", "IOS", "sports"])
    }

    @Test(.shows("salesforce/T7")) func `removing all tags keeps the automatic ones`() throws {
        #expect(try tags([:], .add("sports"), .changeTags(TagChange(replace: []))) == ["ALL", "IOS"])
        #expect(try Bench().words(.changeTags(TagChange(replace: []))).isEmpty)
        #expect(try Bench().words(.changeTags(TagChange())) == ["error salesforce.tags.empty"])
    }

    @Test(.shows("salesforce/T8")) func `removing an absent tag sends nothing`() throws {
        let bench = try Bench.registered([:], .add("sports"))
        bench.capture(.remove("music"), at: 1)
        bench.settle(at: 1)
        #expect(bench.pending.isEmpty)
    }

    @Test func `removing comes before adding`() throws {
        #expect(try tags([:], .changeTags(TagChange(add: ["a"], remove: ["a"]))) == ["ALL", "IOS", "a"])
    }

    @Test(
        .shows("salesforce/W7", "salesforce/W6"),
        arguments: [
            (Subscription.State.subscribed, true, true), (.unsubscribed, false, true), (.suspended, false, true),
            (.unknown, false, false),
        ]
    )
    func `the push subscription is one switch`(state: Subscription.State, isOn: Bool, hasToken: Bool) throws {
        let bench = try Bench()
        bench.capture(.registerDevice(.sample), at: 0)
        bench.capture(.push(state), at: 0)
        let body = try bench.body(at: 0)
        #expect(body["push_Enabled"] == .bool(isOn))
        #expect((body["device_Token"] != nil) == hasToken)
    }

    @Test func `a refused permission wins over a subscription`() throws {
        let bench = try Bench()
        var device = Device.sample
        device.allowsPush = false
        bench.capture(.registerDevice(device), at: 0)
        bench.capture(.push(.subscribed), at: 0)
        #expect(try bench.body(at: 0)["push_Enabled"] == false)
    }

    @Test(.shows("salesforce/D5")) func `a topic of push is a tag`() throws {
        #expect(try tags([:], .push(.subscribed, topic: "weather")) == ["ALL", "IOS", "weather"])
        #expect(try tags([:], .add("weather"), .push(.unsubscribed, topic: "weather")) == ["ALL", "IOS"])
        #expect(try Bench().words(.push(.subscribed, topic: "weather")) == ["note salesforce.subscription.topic"])
        #expect(try Bench().words(.push(.subscribed, topic: "IOS")) == ["error salesforce.tag.reserved"])
    }

    @Test(arguments: [Channel.email, .sms, .inApp, "whatsapp"]) func `other channels are refused`(_ channel: Channel)
        throws
    {
        let words = try Bench().words(.changeSubscription(Subscription(channel: channel, state: .subscribed)))
        #expect(words == ["error salesforce.subscription.channel"])
    }

    @Test func `what a switch can't say is warned about`() throws {
        let rich = Subscription(channel: .push, state: .suspended, source: "checkout")
        #expect(
            try Bench().words(.changeSubscription(rich)) == [
                "warning salesforce.subscription.suspended", "warning salesforce.subscription.details",
            ]
        )
    }
}

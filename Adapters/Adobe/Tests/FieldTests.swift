import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

@Suite("Adobe attributes, tags, identifiers") struct FieldTests {
    @Test(.shows("adobe/P3"))
    func `every value travels as a text`() throws {
        let date = try #require(AttributeValue(text: "2031-05-06", as: .date))
        let time = try #require(AttributeValue(text: "2031-05-06T07:08:09.1234Z", as: .timestamp))
        let decimal = try #require(AttributeValue(text: "1249.90", as: .decimal))
        let values: [(AttributeValue, String)] = [
            ("", ""), ("gold", "gold"), (42, "42"), (.integer(.min), "-9223372036854775808"), (true, "true"),
            (false, "false"), (date, "2031-05-06"), (time, "2031-05-06 07:08:09.123Z"), (decimal, "1249.90"),
        ]
        for (value, text) in values {
            let phone = try StandardPhone()
            #expect(phone.deliver(.changeAttributes(["cusX": .set(value)]))?.code == "adobe.attributes.later")
            #expect(phone.requests.last?.json?["cusX"] == .string(text))
        }
        let phone = try StandardPhone(["timeForm": "iso"])
        phone.deliver(.changeAttributes(["cusX": .set(time)]))
        #expect(phone.requests.last?.json?["cusX"] == "2031-05-06T07:08:09.123Z")
    }

    @Test(.shows("adobe/P4"))
    func `what a field can't hold is refused at its place`() throws {
        let phone = try StandardPhone()
        let changes: [(AttributeChange, String)] = [
            (.set(.list(["a"])), "adobe.attribute.nested"), (.set(.choices(["a"])), "adobe.attribute.nested"),
            (.set(.object(["a": "b"])), "adobe.attribute.nested"),
            (.increment(ExactDecimal(1)), "adobe.attribute.instruction"),
            (.append(["a"]), "adobe.attribute.instruction"), (.remove(["a"]), "adobe.attribute.instruction"),
        ]
        for (change, code) in changes {
            let verdict = phone.deliver(.changeAttributes(["cusX": change]))
            #expect(verdict?.code == code)
            #expect(verdict?.finding?.path == "action.changes.cusX")
        }
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/P2"))
    func `an attribute without a field is refused, and so are two for one`() throws {
        let phone = try StandardPhone()
        for name in ["shoe_size", "cus", "cus-tier", "marketingCloudId", "Cus1"] {
            let verdict = phone.deliver(.changeAttributes([AttributeName(rawValue: name): .set("x")]))
            #expect(verdict?.code == "adobe.attribute.unmapped")
            #expect(verdict?.finding?.path == "action.changes".dot(name))
        }
        let twice = phone.deliver(.changeAttributes(["loyalty_tier": .set("a"), "cusLoyaltyTier": .set("b")]))
        #expect(twice?.code == "adobe.field.twice")
        #expect(phone.requests.isEmpty)
        let error = #expect(throws: SettingsError.self) {
            try Fixture.adapter(["attributeFields": ["tier": "pushPlatform"], "tagFields": ["x": "marketingCloudId"]])
        }
        #expect(error?.findings.map(\.path) == ["settings.attributeFields.tier", "settings.tagFields.x"])
    }

    @Test(.shows("adobe/P5"))
    func `an empty change is refused`() throws {
        let phone = try StandardPhone()
        #expect(phone.deliver(.changeAttributes([:]))?.code == "adobe.attributes.empty")
        #expect(phone.deliver(.changeTags(TagChange()))?.code == "adobe.tags.empty")
    }

    @Test(.shows("adobe/P6", "adobe/P10"))
    func `a value that the vendor took is left out`() throws {
        let phone = try StandardPhone()
        let both = Action.changeAttributes(["cusTier": .set("gold"), "cusCity": .set("Turku")])
        #expect(phone.deliver(both)?.code == "adobe.attributes.later")
        #expect(phone.deliver(both)?.code == "adobe.attributes.known")
        phone.deliver(.changeAttributes(["cusTier": .set("silver"), "cusCity": .set("Turku")]))
        #expect(phone.requests.last?.json?["cusCity"] == nil)
        #expect(phone.state.profiles.map(\.fields) == [["cusTier": "silver", "cusCity": "Turku"]])
        #expect(!"\(phone.memory)".contains("Turku"))
        let eager = try StandardPhone(["onlyChanges": false])
        for _ in 0..<2 { eager.deliver(both) }
        #expect(eager.requests.count == 2)
    }

    @Test func `after uncertain delivery a value is sent again`() throws {
        let phone = try StandardPhone()
        func set(_ value: String) -> Action { .changeAttributes(["cusTier": .set(.string(value))]) }
        phone.deliver(set("gold"))
        phone.nextOutcomes = [.status(500)]
        #expect(phone.deliver(set("silver"))?.isRejected == true)
        #expect(phone.deliver(set("gold"))?.code == "adobe.attributes.later")
        #expect(phone.requests.count == 3)
    }

    @Test(.shows("adobe/P7"))
    func `an attribute is cleared by an empty text, or not at all`() throws {
        let phone = try StandardPhone()
        phone.deliver(.changeAttributes(["cusTier": .unset]))
        #expect(phone.requests.last?.json?["cusTier"] == "")
        let strict = try StandardPhone(["unsetAttributes": "refuse"])
        #expect(strict.deliver(.changeAttributes(["cusTier": .unset]))?.code == "adobe.attribute.unset")
        #expect(strict.requests.isEmpty)
    }

    @Test(.shows("adobe/P8"))
    func `a tag is a field that says true or false`() throws {
        let phone = try StandardPhone(["tagFields": ["gold": "cusGold", "silver": "cusSilver", "music": "cusMusic"]])
        phone.deliver(.changeTags(TagChange(add: ["gold"], remove: ["silver"])))
        phone.deliver(.changeTags(TagChange(replace: ["music"])))
        #expect(phone.state.profiles.first?.fields == ["cusGold": "false", "cusSilver": "false", "cusMusic": "true"])
        let unknown = phone.deliver(.changeTags(TagChange(add: ["sports"])))
        #expect(unknown?.code == "adobe.tag.unmapped")
        #expect(unknown?.finding?.path == "action.tags.sports")
    }

    @Test(.shows("adobe/P9"))
    func `identifiers are fields that reconcile`() throws {
        let phone = try StandardPhone(["identifierFields": ["email": "cusEmail"]])
        let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
        #expect(phone.deliver(logIn)?.isAccepted == true)
        #expect(phone.state.profiles.first?.fields == ["cusEmail": "aino.virtanen@example.com"])
        let findings = phone.examine(logIn)
        #expect(findings.map(\.code) == Array(repeating: "adobe.identifier.unmapped", count: 2))
        #expect(phone.deliver(.identify([Corpus.aino[0]]))?.code == "adobe.identifiers.none")
    }

    @Test(
        .shows("adobe/N1", "adobe/N2", "adobe/N3", "adobe/N5")
    )
    func `what no API takes is refused with a remedy`() throws {
        let phone = try StandardPhone()
        let refused: [(Action, String)] = [
            (.changeSubscription(Subscription(channel: .push, state: .unsubscribed)), "adobe.subscription.push"),
            (
                .changeSubscription(Subscription(channel: .email, topic: "news", state: .subscribed)),
                "adobe.subscription.channel"
            ),
            (.track(.custom(name: "Ordered")), "adobe.event.custom"),
            (.track(.sessionEnded), "adobe.event.sessionEnded"),
            (.track(.messageViewed(messageID: "m")), "adobe.event.inApp"),
            (.track(.messageClicked(messageID: "m")), "adobe.event.inApp"),
            (.readBack(ReadRequest("profile")), "adobe.readBack"),
        ]
        for (action, code) in refused {
            let verdict = phone.deliver(action)
            #expect(verdict?.code == code)
            #expect(verdict?.finding?.remedy.isEmpty == false)
        }
        #expect(phone.requests.isEmpty)
    }

    @Test(.shows("adobe/N6"))
    func `an option is refused by name`() throws {
        let phone = try StandardPhone()
        var operation = phone.operation(.track(.sessionStarted))
        operation.options = ["adobe": ["urgent": true], "altcraft": ["sync": true]]
        #expect(phone.adapter.examine(operation).map(\.path) == ["options.adobe.urgent"])
    }

    @Test(.shows("adobe/N7", "adobe/I5"))
    func `an unregister takes the push token back`() throws {
        let phone = try StandardPhone()
        #expect(phone.deliver(.unregister)?.code == "adobe.unregister.left")
        #expect(phone.state.tokens.map(\.token) == [""])
        #expect(phone.deliver(.unregister)?.code == "adobe.unregister.nothing")
        #expect(phone.requests.count == 1)
    }
}

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
    func `sends every value as text`() throws {
        let date = try #require(AttributeValue(text: "2031-05-06", as: .date))
        let time = try #require(AttributeValue(text: "2031-05-06T07:08:09.1234Z", as: .timestamp))
        let decimal = try #require(AttributeValue(text: "1249.90", as: .decimal))
        let values: [(AttributeValue, String)] = [
            ("", ""), ("gold", "gold"), (42, "42"), (.integer(.min), "-9223372036854775808"), (true, "true"),
            (false, "false"), (date, "2031-05-06"), (time, "2031-05-06 07:08:09.123Z"), (decimal, "1249.90"),
        ]
        for (value, text) in values {
            let driver = try StandardDriver()
            #expect(driver.deliver(.changeAttributes(["cusX": .set(value)]))?.code == "adobe.attributes.later")
            #expect(driver.requests.last?.json?["cusX"] == .string(text))
        }
        let driver = try StandardDriver(["timeForm": "iso"])
        driver.deliver(.changeAttributes(["cusX": .set(time)]))
        #expect(driver.requests.last?.json?["cusX"] == "2031-05-06T07:08:09.123Z")
    }

    @Test(.shows("adobe/P4"))
    func `rejects a value that a field cannot hold and names its path`() throws {
        let driver = try StandardDriver()
        let changes: [(AttributeChange, String)] = [
            (.set(.list(["a"])), "adobe.attribute.nested"), (.set(.choices(["a"])), "adobe.attribute.nested"),
            (.set(.object(["a": "b"])), "adobe.attribute.nested"),
            (.increment(ExactDecimal(1)), "adobe.attribute.instruction"),
            (.append(["a"]), "adobe.attribute.instruction"), (.remove(["a"]), "adobe.attribute.instruction"),
        ]
        for (change, code) in changes {
            let verdict = driver.deliver(.changeAttributes(["cusX": change]))
            #expect(verdict?.code == code)
            #expect(verdict?.finding?.path == "action.changes.cusX")
        }
        #expect(driver.requests.isEmpty)
    }

    @Test(.shows("adobe/P2"))
    func `rejects an attribute without a field and two attributes for one field`() throws {
        let driver = try StandardDriver()
        for name in ["shoe_size", "cus", "cus-tier", "marketingCloudId", "Cus1"] {
            let verdict = driver.deliver(.changeAttributes([AttributeName(rawValue: name): .set("x")]))
            #expect(verdict?.code == "adobe.attribute.unmapped")
            #expect(verdict?.finding?.path == "action.changes".dot(name))
        }
        let twice = driver.deliver(.changeAttributes(["loyalty_tier": .set("a"), "cusLoyaltyTier": .set("b")]))
        #expect(twice?.code == "adobe.field.twice")
        #expect(driver.requests.isEmpty)
        let error = #expect(throws: SettingsError.self) {
            try Fixture.adapter(["attributeFields": ["tier": "pushPlatform"], "tagFields": ["x": "marketingCloudId"]])
        }
        #expect(error?.findings.map(\.path) == ["settings.attributeFields.tier", "settings.tagFields.x"])
    }

    @Test(.shows("adobe/P5"))
    func `rejects an empty change`() throws {
        let driver = try StandardDriver()
        #expect(driver.deliver(.changeAttributes([:]))?.code == "adobe.attributes.empty")
        #expect(driver.deliver(.changeTags(TagChange()))?.code == "adobe.tags.empty")
    }

    @Test(.shows("adobe/P6", "adobe/P10"))
    func `omits a value that the vendor already accepted`() throws {
        let driver = try StandardDriver()
        let both = Action.changeAttributes(["cusTier": .set("gold"), "cusCity": .set("Turku")])
        #expect(driver.deliver(both)?.code == "adobe.attributes.later")
        #expect(driver.deliver(both)?.code == "adobe.attributes.known")
        driver.deliver(.changeAttributes(["cusTier": .set("silver"), "cusCity": .set("Turku")]))
        #expect(driver.requests.last?.json?["cusCity"] == nil)
        #expect(driver.state.profiles.map(\.fields) == [["cusTier": "silver", "cusCity": "Turku"]])
        #expect(!"\(driver.memory)".contains("Turku"))
        let repeating = try StandardDriver(["onlyChanges": false])
        for _ in 0..<2 { repeating.deliver(both) }
        #expect(repeating.requests.count == 2)
    }

    @Test func `resends a value after uncertain delivery`() throws {
        let driver = try StandardDriver()
        func set(_ value: String) -> Action { .changeAttributes(["cusTier": .set(.string(value))]) }
        driver.deliver(set("gold"))
        driver.nextOutcomes = [.status(500)]
        #expect(driver.deliver(set("silver"))?.isRejected == true)
        #expect(driver.deliver(set("gold"))?.code == "adobe.attributes.later")
        #expect(driver.requests.count == 3)
    }

    @Test(.shows("adobe/P7"))
    func `clears an attribute with an empty text, or rejects the change`() throws {
        let driver = try StandardDriver()
        driver.deliver(.changeAttributes(["cusTier": .unset]))
        #expect(driver.requests.last?.json?["cusTier"] == "")
        let strict = try StandardDriver(["unsetAttributes": "refuse"])
        #expect(strict.deliver(.changeAttributes(["cusTier": .unset]))?.code == "adobe.attribute.unset")
        #expect(strict.requests.isEmpty)
    }

    @Test(.shows("adobe/P8"))
    func `sends a tag as a field with true or false`() throws {
        let driver = try StandardDriver(["tagFields": ["gold": "cusGold", "silver": "cusSilver", "music": "cusMusic"]])
        driver.deliver(.changeTags(TagChange(add: ["gold"], remove: ["silver"])))
        driver.deliver(.changeTags(TagChange(replace: ["music"])))
        #expect(driver.state.profiles.first?.fields == ["cusGold": "false", "cusSilver": "false", "cusMusic": "true"])
        let unknown = driver.deliver(.changeTags(TagChange(add: ["sports"])))
        #expect(unknown?.code == "adobe.tag.unmapped")
        #expect(unknown?.finding?.path == "action.tags.sports")
    }

    @Test(.shows("adobe/P9"))
    func `sends identifiers as reconciliation fields`() throws {
        let driver = try StandardDriver(["identifierFields": ["email": "cusEmail"]])
        let logIn = Action.switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
        #expect(driver.deliver(logIn)?.isAccepted == true)
        #expect(driver.state.profiles.first?.fields == ["cusEmail": "aino.virtanen@example.com"])
        let findings = driver.examine(logIn)
        #expect(findings.map(\.code) == Array(repeating: "adobe.identifier.unmapped", count: 2))
        #expect(driver.deliver(.identify([Corpus.aino[0]]))?.code == "adobe.identifiers.none")
    }

    @Test(
        .shows("adobe/N1", "adobe/N2", "adobe/N3", "adobe/N5")
    )
    func `rejects unsupported operations with a remedy`() throws {
        let driver = try StandardDriver()
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
            let verdict = driver.deliver(action)
            #expect(verdict?.code == code)
            #expect(verdict?.finding?.remedy.isEmpty == false)
        }
        #expect(driver.requests.isEmpty)
    }

    @Test(.shows("adobe/N6"))
    func `rejects an unknown option by name`() throws {
        let driver = try StandardDriver()
        var operation = driver.operation(.track(.sessionStarted))
        operation.options = ["adobe": ["urgent": true], "altcraft": ["sync": true]]
        #expect(driver.adapter.examine(operation).map(\.path) == ["options.adobe.urgent"])
    }

    @Test(.shows("adobe/N7", "adobe/I5"))
    func `unregister removes the push token`() throws {
        let driver = try StandardDriver()
        #expect(driver.deliver(.unregister)?.code == "adobe.unregister.left")
        #expect(driver.state.tokens.map(\.token) == [""])
        #expect(driver.deliver(.unregister)?.code == "adobe.unregister.nothing")
        #expect(driver.requests.count == 1)
    }
}

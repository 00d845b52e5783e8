import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

@Suite("Altcraft subscriptions and tokens") struct SubscriptionTests {
    private static func topic(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .push, topic: "tips", state: state))
    }

    @Test(.shows("altcraft/B11", "altcraft/B12", "altcraft/B5"))
    func `changes a topic as a category and keeps the subscription status`() throws {
        var fixture = try PlanFixture()
        for state in [Subscription.State.subscribed, .unsubscribed] {
            #expect(fixture.request(Self.topic(state))?.method == "GET")
        }
        fixture.show(nil)
        let fresh = fixture.request(Self.topic(.subscribed))?.json?["subscription"]
        #expect(fresh?["status"] == "subscribed")
        #expect(fresh?["cats"] == [["name": "tips", "active": true]])
        fixture.show("subscribed")
        let left = fixture.request(Self.topic(.unsubscribed), options: ["cats": [["name": "tips"], ["name": "news"]]])
        #expect(left?.json?["subscription"]?["status"] == "subscribed")
        #expect(left?.json?["subscription"]?["cats"] == [["name": "news"], ["name": "tips", "active": false]])
        fixture.show("unsubscribed")
        let (verdict, _) = fixture.verdict(Self.topic(.subscribed), .replied(WireResponse(200, json: ["error": 0])))
        #expect(verdict?.finding?.code == "altcraft.topic.underOptOut")
        fixture.show(nil)
        let nothing = fixture.plan(fixture.pending(Self.topic(.unsubscribed))).settled
        #expect(nothing?.finding?.code == "altcraft.topic.nothing")
        #expect(fixture.examine(Self.topic(.suspended)).map(\.severity) == [.note])
    }

    @Test(.shows("altcraft/B3", "altcraft/F2"))
    func `rejects unsupported subscription parts, all at once`() throws {
        let action = Action.changeSubscription(
            Subscription(channel: .email, state: .unknown, fields: ["a": .list([1]), "b": 1])
        )
        let findings = try PlanFixture().examine(action)
        #expect(
            findings.map(\.path) == [
                "action.subscription.channel", "action.subscription.state", "action.subscription.fields.a",
            ]
        )
    }

    @Test(.shows("altcraft/T5", "altcraft/T8"))
    func `subscribing needs a token and permission, unsubscribing needs no permission`() throws {
        var withoutPermission = Corpus.phone
        withoutPermission.allowsPush = false
        let fixture = try PlanFixture(device: withoutPermission)
        #expect(fixture.plan(fixture.pending(RequestTests.subscribe)).waitsFor == "altcraft.permission.missing")
        #expect(fixture.request(.changeSubscription(Subscription(channel: .push, state: .unsubscribed))) != nil)
        let bare = try PlanFixture(device: nil)
        #expect(bare.plan(bare.pending(RequestTests.subscribe)).waitsFor == "altcraft.token.missing")
        let login = Action.switchContact(ContactSwitch(.logIn))
        #expect(bare.plan(bare.pending(login)).settled?.finding?.code == "altcraft.switch.noToken")
        #expect(bare.plan(bare.pending(.unregister)).settled?.finding?.code == "altcraft.unregister.nothing")
    }

    @Test(.shows("altcraft/T9"))
    func `a waiting subscribe is superseded by a later decision`() throws {
        let fixture = try PlanFixture(device: nil)
        let first = fixture.pending(RequestTests.subscribe, id: "first", sequence: 1)
        let second = fixture.pending(.switchContact(ContactSwitch(.logOut)), id: "second", sequence: 2)
        #expect(fixture.plan(first, second).settled == .superseded(by: "second"))
        let topic = fixture.pending(Self.topic(.subscribed), id: "third", sequence: 3)
        #expect(fixture.plan(first, topic).waitsFor == "altcraft.token.missing")
    }

    @Test(.shows("altcraft/T1", "altcraft/B8", "altcraft/Q3", "altcraft/T2"))
    func `sends a changed token before any other request uses it`() throws {
        var fixture = try PlanFixture()
        fixture.memory.saved = PushAddress(provider: "ios-firebase", token: "old")
        let update = try #require(fixture.request(.registerDevice(Corpus.phone)))
        #expect(
            update.url == "https://push.altcraft.example/subscription/push/update/"
                + "?provider=ios-apns&subscription_id=old&sync=false"
        )
        #expect(
            update.json == [
                "old_token": "old", "old_provider": "ios-firebase", "new_token": .string(Fixture.token),
                "new_provider": "ios-apns",
            ]
        )
        // A subscription waits for the registration that carries the update, in the window or not. Without one, it updates
        // itself.
        let registration = HiddenOperations.Entry(
            Driver.operation(.registerDevice(Corpus.phone), "r", contact: "aino"),
            sequence: 1
        )
        var window = PendingOperations([fixture.pending(RequestTests.subscribe, sequence: 2)], hasMore: true)
        window.hidden = HiddenOperations([.registerDevice: (registration, registration)])
        let moment = Moment(now: Corpus.start, date: Corpus.start)
        #expect(
            fixture.adapter.plan(window, memory: fixture.memory, at: moment).waitsFor == "altcraft.token.updatePending"
        )
        #expect(fixture.request(RequestTests.subscribe)?.json == update.json)
    }

    @Test(.shows("altcraft/T3"))
    func `does not retry a refused token update and still subscribes`() throws {
        var fixture = try PlanFixture()
        fixture.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        let (verdict, _) = fixture.verdict(.registerDevice(Corpus.phone), .replied(WireResponse(400)))
        #expect(verdict?.isRejected == true)
        #expect(fixture.memory.saved?.token == "old")
        #expect(fixture.request(RequestTests.subscribe) != nil)
        let again = fixture.plan(fixture.pending(.registerDevice(Corpus.phone)))
        #expect(again.settled == .unchanged(FindingRow.deviceKept.at()))
    }

    @Test func `a token update keeps its person's subscription state and leaves others unchanged`() throws {
        let old = PushAddress(provider: "ios-apns", token: "old")
        var fixture = try PlanFixture()
        fixture.memory.hold("suspended", of: "another", at: old)
        fixture.memory.hold("subscribed", at: old)
        _ = fixture.verdict(.registerDevice(Corpus.phone), .replied(WireResponse(200, json: ["error": 0])))
        #expect(fixture.memory.holding(of: "aino", at: PushAddress(Corpus.phone))?.status == "subscribed")
        #expect(fixture.memory.holding(of: "aino", at: old) == nil)
        #expect(fixture.memory.holding(of: "another", at: old)?.status == "suspended")
    }

    @Test func `sends a token update for the profile that holds the token, with its credential`() throws {
        var fixture = try PlanFixture()
        fixture.memory.hold("subscribed", of: "another", at: PushAddress(provider: "ios-apns", token: "old"))
        let kept = fixture.plan(fixture.pending(.registerDevice(Corpus.phone))).settled
        #expect(kept == .unchanged(FindingRow.deviceKept.at()))
        let own = fixture.pending(.registerDevice(Corpus.phone), contact: "another")
        #expect(fixture.plan(own).request?.json?["old_token"] == "old")
    }

    @Test func `does not assume the old token after uncertain delivery of a token update`() throws {
        var fixture = try PlanFixture()
        let old = PushAddress(provider: "ios-apns", token: Fixture.token)
        fixture.memory.saved = old
        _ = fixture.verdict(.registerDevice(Fixture.renewedPhone), .failed(TransportFailure(.lost, "timedOut")))
        #expect(fixture.memory.saved == old)
        let back = fixture.request(.registerDevice(Corpus.phone))?.json
        // The unacknowledged update is repeated first, because the vendor may hold either of its two tokens.
        #expect(back?["old_token"] == .string(Fixture.token))
        #expect(back?["new_token"] == .string(Fixture.renewedPhone.pushToken?.value ?? ""))
        _ = fixture.verdict(.registerDevice(Corpus.phone), .replied(WireResponse(200, json: ["error": 0])))
        let next = fixture.request(.registerDevice(Corpus.phone))?.json
        #expect(next?["old_token"] == .string(Fixture.renewedPhone.pushToken?.value ?? ""))
        #expect(next?["new_token"] == .string(Fixture.token))
    }

    @Test(.shows("altcraft/T4"))
    func `stores the token of a successful subscription persistently`() throws {
        let driver = try Driver()
        #expect(driver.memory.saved == nil)
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        #expect(driver.memory.saved == PushAddress(provider: "ios-apns", token: Fixture.token))
        let stored = try JSONEncoder().encode(driver.memory)
        #expect(try JSONDecoder().decode(AltcraftMemory.self, from: stored) == driver.memory)
        driver.deliver(Driver.operation(.registerDevice(Fixture.renewedPhone), "r", contact: "aino"))
        #expect(driver.endpoints == [.subscribe, .tokenUpdate])
        let held = driver.state.profiles(in: 12).first?.subscriptions.map(\.token)
        #expect(held == [try #require(driver.memory.saved?.token)])
    }

    @Test func `uses the newest of several registrations and its system fields`() throws {
        let fixture = try PlanFixture(device: nil)
        let first = fixture.pending(.registerDevice(Corpus.phone), id: "first", sequence: 1)
        let second = fixture.pending(.registerDevice(Fixture.renewedPhone), id: "second", sequence: 2)
        #expect(fixture.plan(first, second).settled == .superseded(by: "second"))
        let subscribe = fixture.pending(RequestTests.subscribe, id: "third", sequence: 0)
        let body = fixture.plan(subscribe, second).request?.json
        #expect(body?["subscription_id"]?.string?.hasPrefix("0AA1F00D") == true)
    }

    @Test(
        .shows("altcraft/T7"),
        arguments: [
            ("iOS", PushToken.Service.apns, "ios-apns"), ("iPadOS", .fcm, "ios-firebase"), ("iOS", .hms, "ios-huawei"),
            ("Android", .fcm, "android-firebase"), ("android", .hms, "android-huawei"),
            ("Android", .rustore, "android-rustore"), (nil, .apns, "ios-apns"), (nil, .rustore, "android-rustore"),
            (nil, .fcm, nil), ("Android", .apns, nil), ("macOS", .apns, nil),
        ] as [(String?, PushToken.Service, String?)]
    )
    func `derives the push provider from platform and service`(
        _ platform: String?,
        _ service: PushToken.Service,
        _ name: String?
    )
        throws
    {
        let token = PushToken("0a", service: service)
        #expect(PushProvider.name(of: token, on: platform) == name)
        guard let platform else { return }
        var device = Corpus.phone
        device.pushToken = token
        device.facts?.platform = platform
        let findings = try PlanFixture().examine(.registerDevice(device))
        #expect(findings.map(\.code) == (name == nil ? ["altcraft.token.provider"] : []))
    }

    @Test(
        .shows("altcraft/T11"),
        arguments: [
            ("not a token", PushToken.Service.apns, false), ("abc", .apns, false), ("7C1F", .apns, true),
            ("7c1f", .apns, true), ("a b", .fcm, false), ("tök", .fcm, false), ("c1:APA91b-_", .fcm, true),
        ]
    )
    func `rejects a malformed token at capture and passes a valid one unchanged`(
        _ text: String,
        _ service: PushToken.Service,
        _ isGood: Bool
    ) throws {
        var device = Corpus.phone
        device.pushToken = PushToken(text, service: service)
        let codes = try PlanFixture().examine(.registerDevice(device)).map(\.code)
        #expect(codes == (isGood ? [] : ["altcraft.token.form"]))
        #expect(PushAddress(device)?.token == text)
    }

    @Test(.shows("altcraft/E1"))
    func `unregister suspends the subscription under the token that the vendor knows`() throws {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        #expect(driver.deliver(Driver.operation(.unregister, "f", contact: "aino"))?.isAccepted == true)
        let subscription = driver.state.profiles(in: 12).first?.subscriptions.first
        #expect(subscription?.status == "suspended")
        #expect(subscription?.optOuts == 0)
    }

    @Test(arguments: [true, false])
    func `unregister suspends both tokens after uncertain delivery of a token update`(_ vendorWorked: Bool)
        throws
    {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        // When the process crashes and the vendor is left, the vendor may or may not have processed the request.
        driver.processesReplacedRequests = vendorWorked
        driver.nextOutcomesByEndpoint[.tokenUpdate] = [.failed(TransportFailure(.lost, "timedOut"))]
        driver.capture(together: [Driver.operation(.registerDevice(Fixture.renewedPhone), "r", contact: "aino")])
        driver.restart()
        #expect(driver.deliver(Driver.operation(.unregister, "f", contact: "aino"))?.isAccepted == true)
        #expect(Set(statuses(driver)) == ["suspended"])
    }

    /// Returns an installation whose person was subscribed when the vendor was left.
    private func away() throws -> Driver {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        driver.deliver(Driver.operation(.unregister, "f", contact: "aino"))
        driver.forgetHistory()
        return driver
    }

    private func statuses(_ driver: Driver) -> [String] {
        driver.state.profiles(in: 12).flatMap(\.subscriptions).map(\.status)
    }

    @Test func `subscribes a returning person again, once`() throws {
        let driver = try away()
        for (id, isSent) in [("r0", true), ("r1", false)] {
            let device = Driver.operation(.registerDevice(Corpus.phone), id, contact: "aino")
            #expect(driver.deliver(device)?.term == (isSent ? .accepted : .unchanged))
        }
        #expect(driver.endpoints == [.status, .subscribe])
        #expect(statuses(driver) == ["subscribed"])
        #expect(driver.memory.departures.isEmpty)
    }

    @Test func `subscribes a returning person again under a new push token`() throws {
        let driver = try away()
        let device = Driver.operation(.registerDevice(Fixture.renewedPhone), "r", contact: "aino")
        #expect(driver.deliver(device)?.isAccepted == true)
        #expect(driver.endpoints == [.tokenUpdate, .status, .subscribe])
        #expect(statuses(driver) == ["subscribed"])
    }

    @Test func `a return resubscribes after an unregister whose reply was lost`() throws {
        var fixture = try PlanFixture()
        fixture.show("subscribed")
        _ = fixture.verdict(.unregister, .failed(TransportFailure(.lost, "timedOut")))
        let back = fixture.pending(.registerDevice(Corpus.phone), id: "back", sequence: 2)
        #expect(fixture.plan(back).request?.method == "GET")
        fixture.show("suspended")
        #expect(fixture.plan(back).request?.json?["subscription"]?["status"] == "subscribed")
    }

    @Test func `a return keeps the person's own decisions and other people's state`() throws {
        let device = Action.registerDevice(Corpus.phone)
        let registered = try away()
        registered.state.profiles[0].subscriptions[0].status = "unsubscribed"
        registered.deliver(Driver.operation(device, "r", contact: "aino"))
        #expect(statuses(registered) == ["unsubscribed"])

        let paused = try Driver()
        for (id, state) in [("s", Subscription.State.subscribed), ("p", .suspended)] {
            let word = Action.changeSubscription(Subscription(channel: .push, state: state))
            paused.deliver(Driver.operation(word, id, contact: "aino"))
        }
        paused.deliver(Driver.operation(.unregister, "f", contact: "aino"))
        paused.deliver(Driver.operation(device, "r", contact: "aino"))
        #expect(statuses(paused) == ["suspended"])

        for channel in [nil, Channel.push] {
            let denied = try away()
            let denial = Consent(purpose: .messaging, channel: channel, state: .denied)
            denied.deliver(Driver.operation(.setConsent(denial), "no", contact: "aino"))
            denied.deliver(Driver.operation(device, "r", contact: "aino"))
            #expect(statuses(denied) == ["suspended"])
        }

        let unknown = try away()
        unknown.deliver(Driver.operation(device, "r"))
        #expect(unknown.endpoints.isEmpty)
        #expect(statuses(unknown) == ["suspended"])
    }

    @Test
    func `a return does not subscribe before a pending decision or for an earlier registration`() throws {
        var fixture = try PlanFixture()
        fixture.memory.noteDeparture(.init(contact: "aino", sequence: 5))
        fixture.show("suspended")
        let late = fixture.pending(.registerDevice(Corpus.phone), id: "late", sequence: 4)
        #expect(fixture.plan(late).settled == .unchanged(FindingRow.deviceKept.at()))
        let back = fixture.pending(.registerDevice(Corpus.phone), id: "back", sequence: 6)
        #expect(fixture.plan(back).request?.json?["subscription"]?["status"] == "subscribed")
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let kept = Verdict<AltcraftDevice>.unchanged(FindingRow.deviceKept.at())
        #expect(fixture.plan(back, fixture.pending(optOut, id: "no", sequence: 7)).settled == kept)
        var withoutPermission = Corpus.phone
        withoutPermission.allowsPush = false
        #expect(fixture.plan(fixture.pending(.registerDevice(withoutPermission), sequence: 8)).settled == kept)
    }

    @Test(.shows("altcraft/E5"))
    func `an unregister keeps an opt-out and queries an unknown state`() throws {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        driver.deliver(Driver.operation(optOut, "u", contact: "aino"))
        driver.memory.forgetStates()
        driver.forgetHistory()
        let verdict = driver.deliver(Driver.operation(.unregister, "f", contact: "aino"))
        #expect(verdict?.summary == "unchanged altcraft.unregister.nothing")
        #expect(driver.endpoints == [.status])
        #expect(driver.state.profiles(in: 12).first?.subscriptions.map(\.status) == ["unsubscribed"])
    }

    @Test(.shows("altcraft/B15"))
    func `only an opt-out counts as an opt-out, a suspension does not`() throws {
        let driver = try Driver()
        for (state, optOuts) in [(Subscription.State.subscribed, 0), (.suspended, 0), (.unsubscribed, 1)] {
            let change = Action.changeSubscription(Subscription(channel: .push, state: state))
            #expect(driver.deliver(Driver.operation(change, state.rawValue, contact: "aino"))?.isAccepted == true)
            let held = driver.state.profiles(in: 12).flatMap(\.subscriptions)
            #expect(held.map(\.status) == [state.rawValue])
            #expect(held.map(\.optOuts) == [optOuts])
        }
    }

    @Test(.shows("altcraft/B16"))
    func `sends the whole category list if a list replaces the stored one`() throws {
        let driver = try Driver(settings: ["categoryLists": "replace"], account: ["replacesCategories": true])
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        for topic in ["tips", "news", "games"] {
            let change = Action.changeSubscription(
                Subscription(channel: .push, topic: topic, state: .subscribed)
            )
            #expect(driver.deliver(Driver.operation(change, topic, contact: "aino"))?.isAccepted == true)
        }
        driver.memory.forgetStates()
        #expect(driver.deliver(Driver.operation(Self.topic(.unsubscribed), "t", contact: "aino"))?.isAccepted == true)
        let held = driver.state.profiles(in: 12).first?.subscriptions.first?.categories
        #expect(held?.canonical == ["games": true, "news": true, "tips": false])
        let merging = try PlanFixture()
        #expect(merging.request(RequestTests.subscribe)?.json?["subscription"]?["cats"] == [])
    }

    @Test(.shows("altcraft/T2"))
    func `a change of person waits for its own token update, not for a former person's`() throws {
        var fixture = try PlanFixture()
        fixture.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        let login = Action.switchContact(ContactSwitch(.logIn))
        #expect(fixture.request(login)?.url.contains("/update/") == true)
        let come = fixture.pending(login, id: "in", sequence: 2, contact: "jose")
        fixture.credential = nil
        let gone = fixture.pending(.registerDevice(Corpus.phone), id: "device")
        #expect(fixture.plan(gone, come).request?.url.contains("/unsuspend/") == true)
    }

    @Test func `sends an opt-out for the last known token if the device has none`() throws {
        var fixture = try PlanFixture(device: nil)
        fixture.memory.saved = PushAddress(provider: "ios-apns", token: "last")
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        #expect(fixture.request(optOut)?.json?["subscription_id"] == "last")
    }

    @Test func `does not supersede a subscribe with extra fields or an opt-out`() throws {
        let fixture = try PlanFixture(device: nil)
        let later = fixture.pending(.switchContact(ContactSwitch(.logOut)), id: "second", sequence: 2)
        let options: JSONObject = ["profileFields": ["visits": 1]]
        let head = fixture.pending(RequestTests.subscribe, id: "first", sequence: 1, options: options)
        #expect(fixture.plan(head, later).waitsFor == "altcraft.token.missing")
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let denial = fixture.pending(optOut, id: "first", sequence: 1)
        #expect(fixture.plan(denial, later).settled?.finding?.code == "altcraft.subscription.none")
    }

    @Test func `an answer about another device does not change this device's state`() throws {
        var fixture = try PlanFixture()
        fixture.show("subscribed")
        let other: JSONValue = ["error": 0, "profile": ["subscription": ["status": "unsubscribed"]]]
        for what in ["latest", "latestForProvider"] {
            _ = fixture.verdict(.readBack(ReadRequest(what)), .replied(WireResponse(200, json: other)))
            #expect(fixture.memory.shownSubscription?.status == "subscribed")
        }
        _ = fixture.verdict(.readBack(ReadRequest("current")), .replied(WireResponse(200)))
        #expect(fixture.memory.shownSubscription?.status == "subscribed")
        _ = fixture.verdict(.readBack(ReadRequest("current")), .replied(WireResponse(200, json: other)))
        #expect(fixture.memory.shownSubscription?.status == "unsubscribed")
    }
}

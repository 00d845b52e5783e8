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
    func `a topic is a category, and the subscription stays as it is`() throws {
        var scene = try Scene()
        for state in [Subscription.State.subscribed, .unsubscribed] {
            #expect(scene.request(Self.topic(state))?.method == "GET")
        }
        scene.stand(nil)
        let fresh = scene.request(Self.topic(.subscribed))?.json?["subscription"]
        #expect(fresh?["status"] == "subscribed")
        #expect(fresh?["cats"] == [["name": "tips", "active": true]])
        scene.stand("subscribed")
        let left = scene.request(Self.topic(.unsubscribed), options: ["cats": [["name": "tips"], ["name": "news"]]])
        #expect(left?.json?["subscription"]?["status"] == "subscribed")
        #expect(left?.json?["subscription"]?["cats"] == [["name": "news"], ["name": "tips", "active": false]])
        scene.stand("unsubscribed")
        let (verdict, _) = scene.verdict(Self.topic(.subscribed), .replied(WireResponse(200, json: ["error": 0])))
        #expect(verdict?.finding?.code == "altcraft.topic.underOptOut")
        scene.stand(nil)
        let nothing = scene.plan(scene.pending(Self.topic(.unsubscribed))).settled
        #expect(nothing?.finding?.code == "altcraft.topic.nothing")
        #expect(scene.examine(Self.topic(.suspended)).map(\.severity) == [.note])
    }

    @Test(.shows("altcraft/B3", "altcraft/F2"))
    func `what has no place is refused, all at once`() throws {
        let action = Action.changeSubscription(
            Subscription(channel: .email, state: .unknown, fields: ["a": .list([1]), "b": 1])
        )
        let findings = try Scene().examine(action)
        #expect(
            findings.map(\.path) == [
                "action.subscription.channel", "action.subscription.state", "action.subscription.fields.a",
            ]
        )
    }

    @Test(.shows("altcraft/T5", "altcraft/T8"))
    func `subscribing needs a token and permission, leaving needs no permission`() throws {
        var silent = Corpus.phone
        silent.allowsPush = false
        let scene = try Scene(device: silent)
        #expect(scene.plan(scene.pending(RequestTests.subscribe)).waitsFor == "altcraft.permission.missing")
        #expect(scene.request(.changeSubscription(Subscription(channel: .push, state: .unsubscribed))) != nil)
        let bare = try Scene(device: nil)
        #expect(bare.plan(bare.pending(RequestTests.subscribe)).waitsFor == "altcraft.token.missing")
        let login = Action.switchContact(ContactSwitch(.logIn))
        #expect(bare.plan(bare.pending(login)).settled?.finding?.code == "altcraft.switch.noToken")
        #expect(bare.plan(bare.pending(.unregister)).settled?.finding?.code == "altcraft.unregister.nothing")
    }

    @Test(.shows("altcraft/T9"))
    func `a subscribe that waits gives way to a later word`() throws {
        let scene = try Scene(device: nil)
        let first = scene.pending(RequestTests.subscribe, id: "first", sequence: 1)
        let second = scene.pending(.switchContact(ContactSwitch(.logOut)), id: "second", sequence: 2)
        #expect(scene.plan(first, second).settled == .superseded(by: "second"))
        let topic = scene.pending(Self.topic(.subscribed), id: "third", sequence: 3)
        #expect(scene.plan(first, topic).waitsFor == "altcraft.token.missing")
    }

    @Test(.shows("altcraft/T1", "altcraft/B8", "altcraft/Q3", "altcraft/T2"))
    func `a token that changed is told before anything else uses it`() throws {
        var scene = try Scene()
        scene.memory.saved = PushAddress(provider: "ios-firebase", token: "old")
        let update = try #require(scene.request(.registerDevice(Corpus.phone)))
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
        var window = PendingOperations([scene.pending(RequestTests.subscribe, sequence: 2)], hasMore: true)
        window.hidden = HiddenOperations([.registerDevice: (registration, registration)])
        let moment = Moment(now: Corpus.start, date: Corpus.start)
        #expect(scene.adapter.plan(window, memory: scene.memory, at: moment).waitsFor == "altcraft.token.updatePending")
        #expect(scene.request(RequestTests.subscribe)?.json == update.json)
    }

    @Test(.shows("altcraft/T3"))
    func `a refused token update is not repeated, and subscribing goes on`() throws {
        var scene = try Scene()
        scene.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        let (verdict, _) = scene.verdict(.registerDevice(Corpus.phone), .replied(WireResponse(400)))
        #expect(verdict?.isRejected == true)
        #expect(scene.memory.saved?.token == "old")
        #expect(scene.request(RequestTests.subscribe) != nil)
        let again = scene.plan(scene.pending(.registerDevice(Corpus.phone)))
        #expect(again.settled == .unchanged(FindingRow.deviceKept.at()))
    }

    @Test func `a token update keeps the state of its person's subscription, and touches no other's`() throws {
        let old = PushAddress(provider: "ios-apns", token: "old")
        var scene = try Scene()
        scene.memory.hold("suspended", of: "another", at: old)
        scene.memory.hold("subscribed", at: old)
        _ = scene.verdict(.registerDevice(Corpus.phone), .replied(WireResponse(200, json: ["error": 0])))
        #expect(scene.memory.holding(of: "aino", at: PushAddress(Corpus.phone))?.status == "subscribed")
        #expect(scene.memory.holding(of: "aino", at: old) == nil)
        #expect(scene.memory.holding(of: "another", at: old)?.status == "suspended")
    }

    @Test func `a token update goes to the profile that holds the token, with that person's credential`() throws {
        var scene = try Scene()
        scene.memory.hold("subscribed", of: "another", at: PushAddress(provider: "ios-apns", token: "old"))
        let kept = scene.plan(scene.pending(.registerDevice(Corpus.phone))).settled
        #expect(kept == .unchanged(FindingRow.deviceKept.at()))
        let own = scene.pending(.registerDevice(Corpus.phone), contact: "another")
        #expect(scene.plan(own).request?.json?["old_token"] == "old")
    }

    @Test func `after uncertain delivery about a token update the old token is not taken for granted`() throws {
        var scene = try Scene()
        let old = PushAddress(provider: "ios-apns", token: Fixture.token)
        scene.memory.saved = old
        _ = scene.verdict(.registerDevice(Fixture.renewedPhone), .failed(TransportFailure(.lost, "timedOut")))
        #expect(scene.memory.saved == old)
        let back = scene.request(.registerDevice(Corpus.phone))?.json
        // The unacknowledged update is repeated first, because the vendor may hold either of its two tokens.
        #expect(back?["old_token"] == .string(Fixture.token))
        #expect(back?["new_token"] == .string(Fixture.renewedPhone.pushToken?.value ?? ""))
        _ = scene.verdict(.registerDevice(Corpus.phone), .replied(WireResponse(200, json: ["error": 0])))
        let next = scene.request(.registerDevice(Corpus.phone))?.json
        #expect(next?["old_token"] == .string(Fixture.renewedPhone.pushToken?.value ?? ""))
        #expect(next?["new_token"] == .string(Fixture.token))
    }

    @Test(.shows("altcraft/T4"))
    func `the token of a subscription that worked is remembered, and survives storage`() throws {
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

    @Test func `of several registrations the newest counts, and system fields are read anew`() throws {
        let scene = try Scene(device: nil)
        let first = scene.pending(.registerDevice(Corpus.phone), id: "first", sequence: 1)
        let second = scene.pending(.registerDevice(Fixture.renewedPhone), id: "second", sequence: 2)
        #expect(scene.plan(first, second).settled == .superseded(by: "second"))
        let subscribe = scene.pending(RequestTests.subscribe, id: "third", sequence: 0)
        let body = scene.plan(subscribe, second).request?.json
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
    func `platform and service make a provider`(_ platform: String?, _ service: PushToken.Service, _ name: String?)
        throws
    {
        let token = PushToken("0a", service: service)
        #expect(PushProvider.name(of: token, on: platform) == name)
        guard let platform else { return }
        var device = Corpus.phone
        device.pushToken = token
        device.facts?.platform = platform
        let findings = try Scene().examine(.registerDevice(device))
        #expect(findings.map(\.code) == (name == nil ? ["altcraft.token.provider"] : []))
    }

    @Test(
        .shows("altcraft/T11"),
        arguments: [
            ("not a token", PushToken.Service.apns, false), ("abc", .apns, false), ("7C1F", .apns, true),
            ("7c1f", .apns, true), ("a b", .fcm, false), ("tök", .fcm, false), ("c1:APA91b-_", .fcm, true),
        ]
    )
    func `a malformed token is refused at capture, a good one is passed on unchanged`(
        _ text: String,
        _ service: PushToken.Service,
        _ isGood: Bool
    ) throws {
        var device = Corpus.phone
        device.pushToken = PushToken(text, service: service)
        let codes = try Scene().examine(.registerDevice(device)).map(\.code)
        #expect(codes == (isGood ? [] : ["altcraft.token.form"]))
        #expect(PushAddress(device)?.token == text)
    }

    @Test(.shows("altcraft/E1"))
    func `leaving suspends under the token that the vendor knows`() throws {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        #expect(driver.deliver(Driver.operation(.unregister, "f", contact: "aino"))?.isAccepted == true)
        let subscription = driver.state.profiles(in: 12).first?.subscriptions.first
        #expect(subscription?.status == "suspended")
        #expect(subscription?.optOuts == 0)
    }

    @Test(arguments: [true, false])
    func `who leaves while a token update is in uncertain delivery is reached under neither`(_ vendorWorked: Bool)
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

    @Test func `whoever comes back is subscribed again, once`() throws {
        let driver = try away()
        for (id, isSent) in [("r0", true), ("r1", false)] {
            let device = Driver.operation(.registerDevice(Corpus.phone), id, contact: "aino")
            #expect(driver.deliver(device)?.term == (isSent ? .accepted : .unchanged))
        }
        #expect(driver.endpoints == [.status, .subscribe])
        #expect(statuses(driver) == ["subscribed"])
        #expect(driver.memory.departures.isEmpty)
    }

    @Test func `whoever comes back with a new push token is subscribed again under that one`() throws {
        let driver = try away()
        let device = Driver.operation(.registerDevice(Fixture.renewedPhone), "r", contact: "aino")
        #expect(driver.deliver(device)?.isAccepted == true)
        #expect(driver.endpoints == [.tokenUpdate, .status, .subscribe])
        #expect(statuses(driver) == ["subscribed"])
    }

    @Test func `an unregister whose answer was lost is undone by a return, too`() throws {
        var scene = try Scene()
        scene.stand("subscribed")
        _ = scene.verdict(.unregister, .failed(TransportFailure(.lost, "timedOut")))
        let back = scene.pending(.registerDevice(Corpus.phone), id: "back", sequence: 2)
        #expect(scene.plan(back).request?.method == "GET")
        scene.stand("suspended")
        #expect(scene.plan(back).request?.json?["subscription"]?["status"] == "subscribed")
    }

    @Test func `a return undoes no word of the person's, and nothing of somebody else's`() throws {
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
            let no = Consent(purpose: .messaging, channel: channel, state: .denied)
            denied.deliver(Driver.operation(.setConsent(no), "no", contact: "aino"))
            denied.deliver(Driver.operation(device, "r", contact: "aino"))
            #expect(statuses(denied) == ["suspended"])
        }

        let unknown = try away()
        unknown.deliver(Driver.operation(device, "r"))
        #expect(unknown.endpoints.isEmpty)
        #expect(statuses(unknown) == ["suspended"])
    }

    @Test func `a return subscribes nobody before a word that waits, nor for what was captured before the unregister`()
        throws
    {
        var scene = try Scene()
        scene.memory.noteDeparture(.init(contact: "aino", sequence: 5))
        scene.stand("suspended")
        let late = scene.pending(.registerDevice(Corpus.phone), id: "late", sequence: 4)
        #expect(scene.plan(late).settled == .unchanged(FindingRow.deviceKept.at()))
        let back = scene.pending(.registerDevice(Corpus.phone), id: "back", sequence: 6)
        #expect(scene.plan(back).request?.json?["subscription"]?["status"] == "subscribed")
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let kept = Verdict<AltcraftDevice>.unchanged(FindingRow.deviceKept.at())
        #expect(scene.plan(back, scene.pending(optOut, id: "no", sequence: 7)).settled == kept)
        var silent = Corpus.phone
        silent.allowsPush = false
        #expect(scene.plan(scene.pending(.registerDevice(silent), sequence: 8)).settled == kept)
    }

    @Test(.shows("altcraft/E5"))
    func `leaving never touches an opt-out, and asks where nobody knows`() throws {
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
    func `a suspension records no opt-out, an opt-out does`() throws {
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
    func `where a list replaces the stored one, the whole list is sent`() throws {
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
        let merging = try Scene()
        #expect(merging.request(RequestTests.subscribe)?.json?["subscription"]?["cats"] == [])
    }

    @Test(.shows("altcraft/T2"))
    func `a change of person waits for the token, but not for somebody who is gone`() throws {
        var scene = try Scene()
        scene.memory.saved = PushAddress(provider: "ios-apns", token: "old")
        let login = Action.switchContact(ContactSwitch(.logIn))
        #expect(scene.request(login)?.url.contains("/update/") == true)
        let come = scene.pending(login, id: "in", sequence: 2, contact: "jose")
        scene.credential = nil
        let gone = scene.pending(.registerDevice(Corpus.phone), id: "device")
        #expect(scene.plan(gone, come).request?.url.contains("/unsuspend/") == true)
    }

    @Test func `who wants no messages is taken off the last token when there is none any more`() throws {
        var scene = try Scene(device: nil)
        scene.memory.saved = PushAddress(provider: "ios-apns", token: "last")
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        #expect(scene.request(optOut)?.json?["subscription_id"] == "last")
    }

    @Test func `what says more than subscribed never gives way`() throws {
        let scene = try Scene(device: nil)
        let later = scene.pending(.switchContact(ContactSwitch(.logOut)), id: "second", sequence: 2)
        let options: JSONObject = ["profileFields": ["visits": 1]]
        let head = scene.pending(RequestTests.subscribe, id: "first", sequence: 1, options: options)
        #expect(scene.plan(head, later).waitsFor == "altcraft.token.missing")
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let no = scene.pending(optOut, id: "first", sequence: 1)
        #expect(scene.plan(no, later).settled?.finding?.code == "altcraft.subscription.none")
    }

    @Test func `an answer about another device is no knowledge about this one`() throws {
        var scene = try Scene()
        scene.stand("subscribed")
        let other: JSONValue = ["error": 0, "profile": ["subscription": ["status": "unsubscribed"]]]
        for what in ["latest", "latestForProvider"] {
            _ = scene.verdict(.readBack(ReadRequest(what)), .replied(WireResponse(200, json: other)))
            #expect(scene.memory.standing?.status == "subscribed")
        }
        _ = scene.verdict(.readBack(ReadRequest("current")), .replied(WireResponse(200)))
        #expect(scene.memory.standing?.status == "subscribed")
        _ = scene.verdict(.readBack(ReadRequest("current")), .replied(WireResponse(200, json: other)))
        #expect(scene.memory.standing?.status == "unsubscribed")
    }
}

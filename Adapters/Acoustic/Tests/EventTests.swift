import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic events") struct EventTests {
    /// Returns the event that is sent for an action.
    private func event(_ action: Action, options: JSONObject = [:], _ settings: JSONObject = [:]) throws -> JSONValue {
        let driver = try TestDriver.ready(settings)
        driver.capture(action, at: 0, options: options)
        return try #require(driver.transmission(at: 0, flush: true).request.json?["events"]?[0])
    }

    private func words(_ event: JSONValue) -> String {
        let attributes = (event["attributes"]?.array ?? []).map {
            "\($0["key"]?.string ?? "?")=\($0["value"]?.string ?? $0["value"]?.text ?? "?")"
        }
        return (["\(event["type"]?.string ?? "?")/\(event["name"]?.string ?? "?")"] + attributes).joined(separator: " ")
    }

    struct Row: Sendable, CustomTestStringConvertible {
        let action: Action
        let options: JSONObject
        let words: String
        var testDescription: String { words }

        init(_ action: Action, _ words: String, options: JSONObject = [:]) {
            (self.action, self.options, self.words) = (action, options, words)
        }
    }

    private static let pairs: [Row] = [
        Row(.event("cartAbandoned"), "custom/cartAbandoned"),
        Row(
            .event("exit", ["locationId": "harbour"]),
            "ibeacon/exit locationId=harbour",
            options: ["type": "ibeacon"]
        ),
        Row(.track(.sessionStarted), "application/sessionStarted"),
        Row(.track(.sessionEnded), "application/sessionEnded sessionLength=7", options: ["sessionLength": 7]),
        Row(.push(.subscribed), "application/uiPushEnabled"),
        Row(.push(.unsubscribed), "application/uiPushDisabled"),
        Row(.push(.suspended), "application/uiPushDisabled"),
        Row(.track(.push(.tapped, payload: Fixture.push)), "simpleNotification/appOpened"),
        Row(
            .track(.push(.tapped, payload: Fixture.push, actionID: "call")),
            "simpleNotification/phoneNumberClicked actionTaken=call phoneNumber=+358",
            options: ["phoneNumber": "+358"]
        ),
        Row(
            .track(.push(.opened, payload: Fixture.push)),
            "simpleNotification/inboxMessageOpened richContentId=r-1",
            options: ["richContentId": "r-1"]
        ),
        Row(
            .track(.messageViewed(messageID: "m-1")),
            "inbox/messageOpened inboxMessageId=m-1 richContentId=r-1",
            options: ["richContentId": "r-1"]
        ),
        Row(
            .track(.messageClicked(messageID: "m-1", buttonID: "b")),
            "inboxMessage/urlClicked actionTaken=b url=https://x.example inboxMessageId=m-1",
            options: ["url": "https://x.example"]
        ),
        Row(
            .track(.messageClicked(messageID: "m-1", buttonID: "b")),
            "inAppMessage/appOpened actionTaken=b",
            options: ["message": "inApp"]
        ),
    ]

    @Test(
        .shows(
            "acoustic/E1",
            "acoustic/E2",
            "acoustic/E3",
            "acoustic/E4",
            "acoustic/E5",
            "acoustic/E10",
            "acoustic/E11",
            "acoustic/P2",
            "acoustic/P4",
            "acoustic/W3"
        ),
        arguments: pairs
    )
    func `encodes each kind of event with the vendor's type and name`(_ row: Row) throws {
        let event = try event(row.action, options: row.options)
        #expect(words(event) == row.words)
        #expect(event["timestamp"] == "2031-03-09T07:05:11.042Z")
    }

    @Test(.shows("acoustic/E1")) func `rejects a blank event name`() throws {
        let driver = try TestDriver.ready()
        #expect(driver.words(.event(" ")) == ["error event.name"])
        #expect(driver.words(.track(.messageViewed(messageID: ""))) == ["error event.name"])
    }

    @Test(.shows("acoustic/E3")) func `location events accept only the vendor's names`() throws {
        let driver = try TestDriver.ready()
        #expect(driver.words(.event("arrived"), options: ["type": "geofence"]) == ["error event.pair"])
        #expect(driver.words(.event("x"), options: ["type": "application"]) == ["warning option.invalid"])
        #expect(driver.words(.event("x"), options: ["colour": "blue"]) == ["warning option.unknown"])
    }

    @Test(.shows("acoustic/E5")) func `omits a nested attribute and warns`() throws {
        let action = Action.event("order", ["total": 7, "lines": .list([1, 2]), "to": .object(["city": "x"])])
        #expect(try TestDriver.ready().words(action) == ["warning event.nested", "warning event.nested"])
        #expect(words(try event(action)) == "custom/order total=7")
    }

    @Test(.shows("acoustic/E6", "acoustic/E7", "acoustic/P1"))
    func `takes campaign and mailing id from the push message or the app's options`() throws {
        let push = try event(.track(.push(.tapped, payload: Fixture.push)))
        #expect(push["attribution"] == "SpringPromo" && push["mailingId"] == "990017")
        let own = try event(.event("x"), options: ["attribution": "Autumn", "mailingId": 7])
        #expect(own["attribution"] == "Autumn" && own["mailingId"] == 7)
        #expect(
            try TestDriver.ready().words(.track(.push(.tapped, payload: Corpus.foreignPush))) == [
                "foreign push.foreign"
            ]
        )
    }

    @Test(.shows("acoustic/E7"), arguments: [#""spring""#, #""""#, "7.5", "true", #"["a"]"#])
    func `omits a mailing id that is not a number and warns`(_ mailing: String) throws {
        let options: JSONObject = ["mailingId": try JSONValue(parsing: mailing)]
        #expect(try TestDriver.ready().words(.event("x"), options: options) == ["warning event.mailing"])
        #expect(try event(.event("x"), options: options)["mailingId"] == nil)
    }

    @Test(.shows("acoustic/E10")) func `warns about a session end without a length`() throws {
        #expect(try TestDriver.ready().words(.track(.sessionEnded)) == ["warning event.sessionLength"])
    }

    @Test(.shows("acoustic/P3", "acoustic/P4", "acoustic/P5", "acoustic/P6"))
    func `rejects events and subscriptions that a device cannot report`() throws {
        let driver = try TestDriver.ready()
        #expect(driver.words(.track(.push(.received, payload: Fixture.push))) == ["error push.silent"])
        #expect(driver.words(.track(.push(.dismissed, payload: Fixture.push))) == ["error push.silent"])
        #expect(driver.words(.push(.subscribed, topic: "news")) == ["error subscription.topic"])
        #expect(driver.words(.push(.unknown)) == ["error subscription.unknown"])
        #expect(driver.words(.push(.suspended)) == ["warning subscription.paused"])
        let email = Action.changeSubscription(Subscription(channel: .email, state: .subscribed))
        #expect(driver.words(email) == ["error subscription.channel"])
        let evident = Action.changeSubscription(Subscription(channel: .push, state: .subscribed, source: "form"))
        #expect(driver.words(evident) == ["warning subscription.details"])
    }

    @Test(.shows("acoustic/E8", "acoustic/E12")) func `events wait for the interval, a flush or a full request`() throws
    {
        let driver = try TestDriver.ready()
        driver.capture(.event("first"), at: 100)
        driver.capture(.event("second"), at: 200)
        #expect(driver.due(at: 200) == 100 + 1200)
        #expect(driver.reason(at: 200) == "acoustic.wait.interval")
        #expect(try driver.exchange(at: 1300).words == "POST events custom/first custom/second")
        let flushed = try TestDriver.ready()
        flushed.capture(.event("first"), at: 100)
        #expect(flushed.due(at: 200, flush: true) == 200)
        let small = try TestDriver.ready(["eventsPerRequest": 2, "eventMinutes": 15])
        for name in ["a", "b", "c"] { small.capture(.event(name), at: 0) }
        #expect(try small.exchange(at: 0).words == "POST events custom/a custom/b")
        #expect(small.due(at: 0) == 900)
    }

    @Test(.shows("acoustic/E8")) func `an immediate event is sent together with all waiting events`() throws {
        let driver = try TestDriver.ready()
        driver.capture(.event("calm"), at: 0)
        driver.capture(.event("urgent"), at: 5, options: ["immediate": true])
        #expect(try driver.exchange(at: 5).words == "POST events custom/calm custom/urgent")
    }

    @Test(.shows("acoustic/E9")) func `reports that the vendor may never show an event`() throws {
        let driver = try TestDriver.ready()
        let custom = driver.capture(.event("x"), at: 0)
        let session = driver.capture(.track(.sessionStarted), at: 0)
        try driver.exchange(at: 0, flush: true)
        #expect(driver.summary(custom) == "accepted event.unseen")
        #expect(driver.summary(session) == "accepted event.taken")
    }

    @Test(.shows("acoustic/Q6", "acoustic/G3")) func `rejects only the event that the vendor refuses`() throws {
        let driver = try TestDriver.ready()
        let ids = (0..<5).map { driver.capture(.event("event-\($0)"), at: 0) }
        for second in 0..<20 where !driver.pending.isEmpty {
            let isBad = try driver.transmission(at: second, flush: true).request.words.contains("event-3")
            try driver.exchange(at: second, flush: true, reply(isBad ? 400 : 200))
        }
        #expect(ids.map { driver.summary($0) == "rejected event.refused" } == [false, false, false, true, false])
        #expect(driver.pending.isEmpty)
    }
}

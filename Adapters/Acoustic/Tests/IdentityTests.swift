import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic identity") struct IdentityTests {
    private let idsReply = Outcome.replied(WireResponse(200, json: TestDriver.ids))
    private let requested: JSONObject = ["registration": "requested"]

    /// A driver whose installation registered at second 0.
    private func registered(_ settings: JSONObject = [:]) throws -> TestDriver {
        var all = requested
        for member in settings { all[member.name] = member.value }
        let driver = try TestDriver(all)
        driver.capture(.registerDevice(Corpus.phone), at: 0)
        try driver.exchange(at: 0, idsReply)
        driver.settle(at: 0)
        return driver
    }

    @Test(.shows("acoustic/Q4", "acoustic/I1")) func `sends no request before the ids are known`() throws {
        let driver = try TestDriver()
        driver.capture(.set("City", "Turku"), at: 0)
        driver.capture(.event("x"), at: 0)
        #expect(driver.reason(at: 5000) == "acoustic.ids.missing")
        driver.capture(.registerDevice(Fixture.adopted), at: 5001)
        #expect(try driver.exchange(at: 5001).words == "PATCH attributes City=Turku")
    }

    @Test(.shows("acoustic/I1", "acoustic/I2")) func `sends the registration to the configured address`() throws {
        let driver = try TestDriver(requested)
        let id = driver.capture(.registerDevice(Corpus.phone), at: 0)
        let request = try driver.exchange(at: 0, idsReply)
        #expect(request.method == "POST" && request.url.hasSuffix("/3.0/apps/gcb4hVDsXq/registrations"))
        #expect(request.json?["installId"] == .string(TestDriver.subject.rawValue))
        #expect(request.json?["timezone"] == "7200000000")
        driver.settle(at: 0)
        #expect(driver.summary(id) == "accepted device.kept")
        #expect(driver.memory.ids == .init(user: "user-1", channel: "channel-1"))
    }

    @Test(.shows("acoustic/I2")) func `reports a device again only if one of its facts changed`() throws {
        let driver = try registered()
        let same = driver.capture(.registerDevice(Corpus.phone), at: 10)
        driver.settle(at: 10)
        #expect(driver.summary(same) == "unchanged")
        var travelling = Corpus.phone
        travelling.facts?.utcOffsetSeconds = -3600
        driver.capture(.registerDevice(travelling), at: 20)
        #expect(try driver.exchange(at: 20, idsReply).json?["timezone"] == "-3600000000")
    }

    @Test(.shows("acoustic/I1")) func `treats a successful reply without ids as a failure`() throws {
        let driver = try TestDriver(requested)
        driver.capture(.registerDevice(Corpus.phone), at: 0)
        try driver.exchange(at: 0)
        #expect(driver.memory.ids == nil && driver.pending.count == 1)
        #expect(driver.due(at: 0) == 60)
    }

    @Test(.shows("acoustic/Q6")) func `rejects a registration that the vendor refuses`() throws {
        let driver = try TestDriver(requested)
        let id = driver.capture(.registerDevice(Corpus.phone), at: 0)
        try driver.exchange(at: 0, reply(400))
        #expect(driver.summary(id) == "rejected registration.refused")
    }

    @Test func `reports a denial after a success without ids, which may have enabled push`() throws {
        func answer(_ state: Consent.State) -> Action { .setConsent(Consent(purpose: .messaging, state: state)) }
        let driver = try TestDriver(requested)
        driver.capture(answer(.denied), at: 0)
        driver.capture(.registerDevice(Corpus.phone), at: 0)
        try driver.exchange(at: 0, idsReply)
        driver.settle(at: 0)
        driver.capture(answer(.granted), at: 10)
        driver.capture(.registerDevice(Corpus.phone), at: 10)
        #expect(try driver.exchange(at: 10).json?["pushEnabled"] == true)
        driver.capture(answer(.denied), at: 20)
        #expect(try driver.exchange(at: 20).words == "POST events application/uiPushDisabled")
    }

    @Test func `unregisters after a registration with an unclear reply`() throws {
        for first in [lost, .replied(WireResponse(200, json: [:]))] {
            let driver = try TestDriver(requested)
            driver.capture(.registerDevice(Corpus.phone), at: 0)
            try driver.exchange(at: 0, first)
            try driver.exchange(at: 100, reply(400))
            let leave = driver.capture(.unregister, at: 110)
            #expect(try driver.exchange(at: 110, idsReply).json?["pushEnabled"] == false)
            #expect(try driver.exchange(at: 110).words == "POST events application/uiPushDisabled")
            #expect(driver.summary(leave) == "accepted unregister.left")
        }
    }

    @Test func `rejects an unregistration that the vendor refuses`() throws {
        let driver = try TestDriver(requested)
        driver.capture(.registerDevice(Corpus.phone), at: 0)
        try driver.exchange(at: 0, lost)
        try driver.exchange(at: 100, reply(400))
        let leave = driver.capture(.unregister, at: 110)
        try driver.exchange(at: 110, reply(400))
        #expect(driver.summary(leave) == "rejected registration.refused")
    }

    @Test(.shows("acoustic/P4")) func `reports a changed push permission as an event`() throws {
        let driver = try registered()
        var silent = Corpus.phone
        silent.allowsPush = false
        let id = driver.capture(.registerDevice(silent), at: 10)
        #expect(try driver.exchange(at: 10, idsReply).method == "POST")
        #expect(try driver.exchange(at: 10).words == "POST events application/uiPushDisabled")
        driver.settle(at: 10)
        #expect(driver.summary(id)?.hasPrefix("accepted") == true && driver.memory.reportedPush == false)
    }

    @Test(.shows("acoustic/K7", "acoustic/P4"))
    func `resends a push opt-out after an uncertain delivery, never as an opt-in`() throws {
        let driver = try registered()
        let optOut = driver.capture(.push(.unsubscribed), at: 10)
        _ = try driver.exchange(at: 10, flush: true, .failed(TransportFailure(.lost, "timedOut")))
        try driver.exchange(at: 200, flush: true, reply(400))
        #expect(driver.summary(optOut)?.hasPrefix("rejected") == true)
        // The vendor may have received the opt-out.
        driver.capture(.registerDevice(Corpus.phone), at: 300)
        #expect(try driver.exchange(at: 300, idsReply).json?["pushEnabled"] == false)
        #expect(try driver.exchange(at: 300).words == "POST events application/uiPushDisabled")
    }

    @Test(.shows("acoustic/I2", "acoustic/P4"))
    func `keeps a push opt-out when a registration reports the system's permission`() throws {
        let driver = try registered()
        driver.capture(.push(.unsubscribed), at: 10)
        #expect(try driver.exchange(at: 10, flush: true).words == "POST events application/uiPushDisabled")
        let device = driver.capture(.registerDevice(Corpus.phone), at: 20)
        #expect(try driver.exchange(at: 20, idsReply).json?["pushEnabled"] == false)
        driver.settle(at: 20)
        #expect(driver.summary(device) == "accepted device.kept" && driver.memory.reportedPush == false)
        let again = driver.capture(.registerDevice(Corpus.phone), at: 25)
        driver.settle(at: 25)
        #expect(driver.summary(again) == "unchanged")
        driver.capture(.push(.subscribed), at: 30)
        #expect(try driver.exchange(at: 30, flush: true).words == "POST events application/uiPushEnabled")
    }

    @Test(.shows("acoustic/P4", "acoustic/L3"))
    func `enables push when a device registers again after an unregistration`() throws {
        let driver = try registered()
        driver.capture(.unregister, at: 10)
        try driver.exchange(at: 10)
        driver.capture(.registerDevice(Corpus.phone), at: 20)
        #expect(try driver.exchange(at: 20).words == "POST events application/uiPushEnabled")
    }

    @Test(.shows("acoustic/Q3")) func `retries a registration independently of the event interval`() throws {
        let driver = try registered()
        driver.capture(.event("calm"), at: 10)
        var device = Corpus.phone
        device.facts?.appVersion = "9"
        driver.capture(.registerDevice(device), at: 10)
        try driver.exchange(at: 10, reply(503))
        #expect(driver.due(at: 10) == 70)
    }

    @Test(.shows("acoustic/I3")) func `queries the ids once a day`() throws {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 86_399)
        #expect(try driver.exchange(at: 86_399, flush: true).words.hasPrefix("PATCH"))
        driver.capture(.set("City", "Oulu"), at: 86_400)
        let query = try driver.exchange(at: 86_400, idsReply)
        #expect(query.method == "GET" && query.url.hasSuffix("/users/user-1/channels/channel-1"))
        #expect(try driver.exchange(at: 86_500).words == "PATCH attributes City=Oulu")
        driver.capture(.set("City", "Turku"), at: 86_600)
        #expect(try driver.exchange(at: 86_700).words.hasPrefix("PATCH"))
    }

    @Test(.shows("acoustic/I3")) func `a failed query for ids blocks no request and is not repeated that day`() throws {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 90_000)
        try driver.exchange(at: 90_000, reply(503))
        #expect(try driver.exchange(at: 90_010).words == "PATCH attributes City=Turku")
        driver.capture(.set("City", "Oulu"), at: 100_000)
        #expect(try driver.exchange(at: 100_010).words == "PATCH attributes City=Oulu")
    }

    @Test(.shows("acoustic/K5", "acoustic/I3")) func `forgets every value when the ids changed at the vendor`() throws {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 5)
        driver.capture(.set("City", "Turku"), at: 90_000)
        try driver.exchange(
            at: 90_000,
            .replied(WireResponse(200, json: ["userId": "user-2", "channelId": "channel-1"]))
        )
        let again = try driver.exchange(at: 90_010)
        #expect(again.words == "PATCH attributes City=Turku" && again.url.contains("/users/user-2/"))
    }

    @Test(.shows("acoustic/I3", "acoustic/I5")) func `a log-in queries the ids at once, after earlier operations`()
        throws
    {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 10)
        driver.capture(.event("before"), at: 10)
        let id = driver.capture(.logIn("c-2"), at: 10)
        driver.capture(.set("City", "Oulu"), at: 10)
        driver.capture(.event("after"), at: 10)
        #expect(try driver.exchange(at: 10).words == "PATCH attributes City=Turku")
        #expect(try driver.exchange(at: 10).words == "POST events custom/before")
        #expect(try driver.exchange(at: 10, idsReply).method == "GET")
        #expect(driver.summary(id) == "accepted logIn.backEnd")
        #expect(try driver.exchange(at: 12).words == "PATCH attributes City=Oulu")
        #expect(driver.due(at: 12) == 10 + 1200)
    }

    @Test func `sends events after a log-in that lies beyond a full window`() throws {
        let driver = try registered()
        for number in 0..<AcousticDevice.window {
            driver.capture(.unset(AttributeName(rawValue: "col\(number)")), at: 10)
        }
        driver.capture(.logIn("c-2"), at: 10)
        driver.capture(.event("after"), at: 10, options: ["immediate": true])
        var sent: [String] = []
        for _ in 0..<100 where !driver.pending.isEmpty {
            let isQuery = try driver.transmission(at: 20, flush: true).request.method == "GET"
            sent.append(try driver.exchange(at: 20, isQuery ? idsReply : reply(200)).words)
        }
        let (query, event) = (sent.firstIndex { $0.hasPrefix("GET") }, sent.firstIndex { $0.contains("after") })
        #expect(driver.pending.isEmpty && query != nil && event != nil)
        #expect((query ?? .max) < (event ?? 0))
    }

    @Test(.shows("acoustic/I5", "acoustic/I6")) func `rejects identification and log-out on a device`() throws {
        let driver = try TestDriver.ready()
        let both = Action.identify([Identifier(.external, "c-1"), Identifier(.email, "a@b.example")])
        #expect(driver.words(both) == ["error identify.backEnd", "error identify.backEnd"])
        #expect(driver.words(.switchContact(ContactSwitch(.logOut))) == ["error logOut"])
    }

    @Test(.shows("acoustic/I8", "acoustic/I1")) func `requires the user id and the channel id together`() throws {
        var device = Corpus.phone
        device.identities = ["acoustic.userId": "u"]
        #expect(try TestDriver().words(.registerDevice(device)) == ["error ids.pair"])
        #expect(try TestDriver().words(.registerDevice(Corpus.phone)) == ["warning ids.notGiven"])
        #expect(try TestDriver(requested).words(.registerDevice(Corpus.phone)) == [])
        #expect(try TestDriver().words(.registerDevice(Fixture.adopted)) == [])
    }

    @Test(.shows("acoustic/I4")) func `sends invalidateExistingUser and warns about it in production`() throws {
        let on: JSONObject = ["registration": "requested", "invalidateExistingUser": true]
        #expect(try TestDriver(on).words(.registerDevice(Corpus.phone)) == ["warning user.invalidated.production"])
        var development = on
        development["environment"] = "development"
        let driver = try TestDriver(development)
        #expect(driver.words(.registerDevice(Corpus.phone)) == [])
        driver.capture(.registerDevice(Corpus.phone), at: 0)
        #expect(try driver.exchange(at: 0, idsReply).json?["invalidateExistingUser"] == true)
    }

    @Test(.shows("acoustic/I4", "acoustic/K7"))
    func `forgets values after an unacknowledged registration that may create a user`() throws {
        let driver = try registered(["invalidateExistingUser": true])
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 5)
        var device = Corpus.phone
        device.facts?.appVersion = "9"
        driver.capture(.registerDevice(device), at: 10)
        try driver.exchange(at: 10, lost)
        #expect(driver.memory.known.isEmpty)
        #expect(driver.pending.count == 1)
    }

    @Test(.shows("acoustic/Q5", "acoustic/I3")) func `queries the ids first after a suspension`() throws {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 10)
        try driver.exchange(at: 20, reply(404))
        #expect(driver.suspension != nil)
        driver.resume()
        #expect(
            try driver.exchange(at: 30, .replied(WireResponse(200, json: ["userId": "u2", "channelId": "c2"]))).method
                == "GET"
        )
        #expect(try driver.exchange(at: 30).url.contains("/users/u2/"))
        driver.capture(.set("City", "Oulu"), at: 40)
        try driver.exchange(at: 50, reply(410))
        driver.resume()
        try driver.exchange(at: 60, reply(404))
        #expect(driver.memory.registered == nil)
        driver.capture(.registerDevice(Corpus.phone), at: 70)
        driver.resume()
        #expect(try driver.exchange(at: 70, idsReply).url.hasSuffix("/registrations"))
    }

    @Test(.shows("acoustic/I7", "acoustic/L4", "acoustic/K5"))
    func `sends nothing after an erasure until the device registers again`() throws {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 5)
        let erase = driver.capture(.erase, at: 10)
        let change = driver.capture(.set("City", "Turku"), at: 11)
        driver.capture(.event("x"), at: 11)
        #expect(try driver.exchange(at: 11).words == "POST events application/uiPushDisabled")
        #expect(driver.summary(erase) == "accepted erase.backEnd")
        #expect(driver.memory.known.isEmpty && driver.memory.ids == nil)
        #expect(driver.reason(at: 5000) == "acoustic.user.reset")
        driver.capture(.registerDevice(Corpus.phone), at: 5000)
        try driver.exchange(at: 5000, .replied(WireResponse(200, json: ["userId": "new", "channelId": "c"])))
        #expect(try driver.exchange(at: 5010).url.contains("/users/new/"))
        #expect(driver.summary(change) == "accepted update.visibleLater")
    }

    @Test(.shows("acoustic/I7")) func `drops operations after an erasure if autoReinitialize is off`() throws {
        let driver = try registered(["autoReinitialize": false])
        driver.capture(.erase, at: 10)
        let ids = [Action.set("City", "Turku"), .unset("City"), .event("x")].map { driver.capture($0, at: 11) }
        try driver.exchange(at: 11)
        driver.settle(at: 11)
        #expect(ids.allSatisfy { driver.summary($0) == "dropped user.invalidated" })
        driver.capture(.registerDevice(Corpus.phone), at: 20)
        try driver.exchange(at: 20, idsReply)
        #expect(!driver.memory.isReset)
    }

    @Test(.shows("acoustic/L3")) func `an unregistration reports push as disabled in the last request`() throws {
        let driver = try registered()
        driver.capture(.set("City", "Turku"), at: 10)
        let id = driver.capture(.unregister, at: 10)
        #expect(try driver.exchange(at: 10).words == "PATCH attributes City=Turku")
        #expect(try driver.exchange(at: 10).words == "POST events application/uiPushDisabled")
        #expect(driver.summary(id) == "accepted unregister.left")
    }

    @Test(.shows("acoustic/L3", "acoustic/Q4")) func `an unregistration before any registration needs no request`()
        throws
    {
        let driver = try TestDriver()
        let ids = [Action.set("City", "Turku"), .unregister].map { driver.capture($0, at: 0) }
        driver.settle(at: 0)
        #expect(ids.map { driver.summary($0) } == ["dropped user.neverSent", "unchanged unregister.nothing"])
    }

    @Test(.shows("acoustic/L2")) func `stores a tracking consent without sending it`() throws {
        let driver = try TestDriver.ready()
        let id = driver.capture(.setConsent(Consent(purpose: .tracking, state: .denied)), at: 0)
        driver.settle(at: 0)
        #expect(driver.summary(id) == "unchanged consent.kept")
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic identity") struct IdentityTests {
    private let yes = Outcome.replied(WireResponse(200, json: Bench.ids))
    private let requested: JSONObject = ["registration": "requested"]

    /// A bench that has registered at second 0.
    private func registered(_ settings: JSONObject = [:]) throws -> Bench {
        var all = requested
        for member in settings { all[member.name] = member.value }
        let bench = try Bench(all)
        bench.capture(.registerDevice(Corpus.phone), at: 0)
        try bench.exchange(at: 0, yes)
        bench.settle(at: 0)
        return bench
    }

    @Test(.shows("acoustic/Q4", "acoustic/I1")) func `nothing leaves before the ids are known`() throws {
        let bench = try Bench()
        bench.capture(.set("City", "Turku"), at: 0)
        bench.capture(.event("x"), at: 0)
        #expect(bench.reason(at: 5000) == "acoustic.ids.missing")
        bench.capture(.registerDevice(Fixture.adopted), at: 5001)
        #expect(try bench.exchange(at: 5001).words == "PATCH attributes City=Turku")
    }

    @Test(.shows("acoustic/I1", "acoustic/I2")) func `the registration goes to the configured address`() throws {
        let bench = try Bench(requested)
        let id = bench.capture(.registerDevice(Corpus.phone), at: 0)
        let request = try bench.exchange(at: 0, yes)
        #expect(request.method == "POST" && request.url.hasSuffix("/3.0/apps/gcb4hVDsXq/registrations"))
        #expect(request.json?["installId"] == .string(Bench.subject.rawValue))
        #expect(request.json?["timezone"] == "7200000000")
        bench.settle(at: 0)
        #expect(bench.summary(id) == "accepted device.kept")
        #expect(bench.memory.ids == .init(user: "user-1", channel: "channel-1"))
    }

    @Test(.shows("acoustic/I2")) func `the same device is not told again, another fact is`() throws {
        let bench = try registered()
        let same = bench.capture(.registerDevice(Corpus.phone), at: 10)
        bench.settle(at: 10)
        #expect(bench.summary(same) == "unchanged")
        var travelling = Corpus.phone
        travelling.facts?.utcOffsetSeconds = -3600
        bench.capture(.registerDevice(travelling), at: 20)
        #expect(try bench.exchange(at: 20, yes).json?["timezone"] == "-3600000000")
    }

    @Test(.shows("acoustic/I1")) func `a yes without ids is no yes`() throws {
        let bench = try Bench(requested)
        bench.capture(.registerDevice(Corpus.phone), at: 0)
        try bench.exchange(at: 0)
        #expect(bench.memory.ids == nil && bench.pending.count == 1)
        #expect(bench.due(at: 0) == 60)
    }

    @Test(.shows("acoustic/Q6")) func `a refused registration ends with its reason`() throws {
        let bench = try Bench(requested)
        let id = bench.capture(.registerDevice(Corpus.phone), at: 0)
        try bench.exchange(at: 0, reply(400))
        #expect(bench.summary(id) == "rejected registration.refused")
    }

    @Test func `a success without ids may have enabled push, so a denial is reported`() throws {
        func answer(_ state: Consent.State) -> Action { .setConsent(Consent(purpose: .messaging, state: state)) }
        let bench = try Bench(requested)
        bench.capture(answer(.denied), at: 0)
        bench.capture(.registerDevice(Corpus.phone), at: 0)
        try bench.exchange(at: 0, yes)
        bench.settle(at: 0)
        bench.capture(answer(.granted), at: 10)
        bench.capture(.registerDevice(Corpus.phone), at: 10)
        #expect(try bench.exchange(at: 10).json?["pushEnabled"] == true)
        bench.capture(answer(.denied), at: 20)
        #expect(try bench.exchange(at: 20).words == "POST events application/uiPushDisabled")
    }

    @Test func `an unregistration follows a registration without a clear reply`() throws {
        for first in [lost, .replied(WireResponse(200, json: [:]))] {
            let bench = try Bench(requested)
            bench.capture(.registerDevice(Corpus.phone), at: 0)
            try bench.exchange(at: 0, first)
            try bench.exchange(at: 100, reply(400))
            let leave = bench.capture(.unregister, at: 110)
            #expect(try bench.exchange(at: 110, yes).json?["pushEnabled"] == false)
            #expect(try bench.exchange(at: 110).words == "POST events application/uiPushDisabled")
            #expect(bench.summary(leave) == "accepted unregister.left")
        }
    }

    @Test func `an unregistration that the vendor refuses is kept`() throws {
        let bench = try Bench(requested)
        bench.capture(.registerDevice(Corpus.phone), at: 0)
        try bench.exchange(at: 0, lost)
        try bench.exchange(at: 100, reply(400))
        let leave = bench.capture(.unregister, at: 110)
        try bench.exchange(at: 110, reply(400))
        #expect(bench.summary(leave) == "rejected registration.refused")
    }

    @Test(.shows("acoustic/P4")) func `a permission that the person changed is reported as an event`() throws {
        let bench = try registered()
        var silent = Corpus.phone
        silent.allowsPush = false
        let id = bench.capture(.registerDevice(silent), at: 10)
        #expect(try bench.exchange(at: 10, yes).method == "POST")
        #expect(try bench.exchange(at: 10).words == "POST events application/uiPushDisabled")
        bench.settle(at: 10)
        #expect(bench.summary(id)?.hasPrefix("accepted") == true && bench.memory.reportedPush == false)
    }

    @Test(.shows("acoustic/K7", "acoustic/P4"))
    func `a word on push in uncertain delivery is told again, and never as a yes`()
        throws
    {
        let bench = try registered()
        let word = bench.capture(.push(.unsubscribed), at: 10)
        _ = try bench.exchange(at: 10, flush: true, .failed(TransportFailure(.lost, "timedOut")))
        try bench.exchange(at: 200, flush: true, reply(400))
        #expect(bench.summary(word)?.hasPrefix("rejected") == true)
        // The vendor may have received the opt-out.
        bench.capture(.registerDevice(Corpus.phone), at: 300)
        #expect(try bench.exchange(at: 300, yes).json?["pushEnabled"] == false)
        #expect(try bench.exchange(at: 300).words == "POST events application/uiPushDisabled")
    }

    @Test(.shows("acoustic/I2", "acoustic/P4")) func `the person's own no outlives the system's yes`() throws {
        let bench = try registered()
        bench.capture(.push(.unsubscribed), at: 10)
        #expect(try bench.exchange(at: 10, flush: true).words == "POST events application/uiPushDisabled")
        let device = bench.capture(.registerDevice(Corpus.phone), at: 20)
        #expect(try bench.exchange(at: 20, yes).json?["pushEnabled"] == false)
        bench.settle(at: 20)
        #expect(bench.summary(device) == "accepted device.kept" && bench.memory.reportedPush == false)
        let again = bench.capture(.registerDevice(Corpus.phone), at: 25)
        bench.settle(at: 25)
        #expect(bench.summary(again) == "unchanged")
        bench.capture(.push(.subscribed), at: 30)
        #expect(try bench.exchange(at: 30, flush: true).words == "POST events application/uiPushEnabled")
    }

    @Test(.shows("acoustic/P4", "acoustic/L3")) func `who comes back after an unregister has push again`() throws {
        let bench = try registered()
        bench.capture(.unregister, at: 10)
        try bench.exchange(at: 10)
        bench.capture(.registerDevice(Corpus.phone), at: 20)
        #expect(try bench.exchange(at: 20).words == "POST events application/uiPushEnabled")
    }

    @Test(.shows("acoustic/Q3")) func `a registration that waits for its time does not wait for events`() throws {
        let bench = try registered()
        bench.capture(.event("calm"), at: 10)
        var device = Corpus.phone
        device.facts?.appVersion = "9"
        bench.capture(.registerDevice(device), at: 10)
        try bench.exchange(at: 10, reply(503))
        #expect(bench.due(at: 10) == 70)
    }

    @Test(.shows("acoustic/I3")) func `the ids are asked for once a day`() throws {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 86_399)
        #expect(try bench.exchange(at: 86_399, flush: true).words.hasPrefix("PATCH"))
        bench.capture(.set("City", "Oulu"), at: 86_400)
        let phone = try bench.exchange(at: 86_400, yes)
        #expect(phone.method == "GET" && phone.url.hasSuffix("/users/user-1/channels/channel-1"))
        #expect(try bench.exchange(at: 86_500).words == "PATCH attributes City=Oulu")
        bench.capture(.set("City", "Turku"), at: 86_600)
        #expect(try bench.exchange(at: 86_700).words.hasPrefix("PATCH"))
    }

    @Test(.shows("acoustic/I3")) func `a question that fails holds nothing up, and is not asked again that day`() throws
    {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 90_000)
        try bench.exchange(at: 90_000, reply(503))
        #expect(try bench.exchange(at: 90_010).words == "PATCH attributes City=Turku")
        bench.capture(.set("City", "Oulu"), at: 100_000)
        #expect(try bench.exchange(at: 100_010).words == "PATCH attributes City=Oulu")
    }

    @Test(.shows("acoustic/K5", "acoustic/I3")) func `ids that changed at the vendor forget every value`() throws {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 5)
        bench.capture(.set("City", "Turku"), at: 90_000)
        try bench.exchange(
            at: 90_000,
            .replied(WireResponse(200, json: ["userId": "user-2", "channelId": "channel-1"]))
        )
        let again = try bench.exchange(at: 90_010)
        #expect(again.words == "PATCH attributes City=Turku" && again.url.contains("/users/user-2/"))
    }

    @Test(.shows("acoustic/I3", "acoustic/I5")) func `a log-in asks for the ids at once, after what came before`()
        throws
    {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 10)
        bench.capture(.event("before"), at: 10)
        let id = bench.capture(.logIn("c-2"), at: 10)
        bench.capture(.set("City", "Oulu"), at: 10)
        bench.capture(.event("after"), at: 10)
        #expect(try bench.exchange(at: 10).words == "PATCH attributes City=Turku")
        #expect(try bench.exchange(at: 10).words == "POST events custom/before")
        #expect(try bench.exchange(at: 10, yes).method == "GET")
        #expect(bench.summary(id) == "accepted logIn.backEnd")
        #expect(try bench.exchange(at: 12).words == "PATCH attributes City=Oulu")
        #expect(bench.due(at: 12) == 10 + 1200)
    }

    @Test func `events do not pass a log-in that a full window may hide`() throws {
        let bench = try registered()
        for number in 0..<AcousticDevice.window {
            bench.capture(.unset(AttributeName(rawValue: "col\(number)")), at: 10)
        }
        bench.capture(.logIn("c-2"), at: 10)
        bench.capture(.event("after"), at: 10, options: ["immediate": true])
        var sent: [String] = []
        for _ in 0..<100 where !bench.pending.isEmpty {
            let isQuestion = try bench.transmission(at: 20, flush: true).request.method == "GET"
            sent.append(try bench.exchange(at: 20, isQuestion ? yes : reply(200)).words)
        }
        let (question, event) = (sent.firstIndex { $0.hasPrefix("GET") }, sent.firstIndex { $0.contains("after") })
        #expect(bench.pending.isEmpty && question != nil && event != nil)
        #expect((question ?? .max) < (event ?? 0))
    }

    @Test(.shows("acoustic/I5", "acoustic/I6")) func `who the person is and that nobody is, a device can't say`() throws
    {
        let bench = try Bench.ready()
        let both = Action.identify([Identifier(.external, "c-1"), Identifier(.email, "a@b.example")])
        #expect(bench.words(both) == ["error identify.backEnd", "error identify.backEnd"])
        #expect(bench.words(.switchContact(ContactSwitch(.logOut))) == ["error logOut"])
    }

    @Test(.shows("acoustic/I8", "acoustic/I1")) func `ids come together`() throws {
        var device = Corpus.phone
        device.identities = ["acoustic.userId": "u"]
        #expect(try Bench().words(.registerDevice(device)) == ["error ids.pair"])
        #expect(try Bench().words(.registerDevice(Corpus.phone)) == ["warning ids.notGiven"])
        #expect(try Bench(requested).words(.registerDevice(Corpus.phone)) == [])
        #expect(try Bench().words(.registerDevice(Fixture.adopted)) == [])
    }

    @Test(.shows("acoustic/I4")) func `invalidateExistingUser is sent, and warned of in production`() throws {
        let on: JSONObject = ["registration": "requested", "invalidateExistingUser": true]
        #expect(try Bench(on).words(.registerDevice(Corpus.phone)) == ["warning user.invalidated.production"])
        var development = on
        development["environment"] = "development"
        let bench = try Bench(development)
        #expect(bench.words(.registerDevice(Corpus.phone)) == [])
        bench.capture(.registerDevice(Corpus.phone), at: 0)
        #expect(try bench.exchange(at: 0, yes).json?["invalidateExistingUser"] == true)
    }

    @Test(.shows("acoustic/I4", "acoustic/K7"))
    func `a registration in uncertain delivery that may have made a new user forgets the values`() throws {
        let bench = try registered(["invalidateExistingUser": true])
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 5)
        var device = Corpus.phone
        device.facts?.appVersion = "9"
        bench.capture(.registerDevice(device), at: 10)
        try bench.exchange(at: 10, lost)
        #expect(bench.memory.known.isEmpty)
        #expect(bench.pending.count == 1)
    }

    @Test(.shows("acoustic/Q5", "acoustic/I3")) func `after a stop the ids are asked for first`() throws {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 10)
        try bench.exchange(at: 20, reply(404))
        #expect(bench.suspension != nil)
        bench.resume()
        #expect(
            try bench.exchange(at: 30, .replied(WireResponse(200, json: ["userId": "u2", "channelId": "c2"]))).method
                == "GET"
        )
        #expect(try bench.exchange(at: 30).url.contains("/users/u2/"))
        bench.capture(.set("City", "Oulu"), at: 40)
        try bench.exchange(at: 50, reply(410))
        bench.resume()
        try bench.exchange(at: 60, reply(404))
        #expect(bench.memory.registered == nil)
        bench.capture(.registerDevice(Corpus.phone), at: 70)
        bench.resume()
        #expect(try bench.exchange(at: 70, yes).url.hasSuffix("/registrations"))
    }

    @Test(.shows("acoustic/I7", "acoustic/L4", "acoustic/K5"))
    func `after an erasure nothing is sent until the device registers again`() throws {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 5)
        let erase = bench.capture(.erase, at: 10)
        let change = bench.capture(.set("City", "Turku"), at: 11)
        bench.capture(.event("x"), at: 11)
        #expect(try bench.exchange(at: 11).words == "POST events application/uiPushDisabled")
        #expect(bench.summary(erase) == "accepted erase.backEnd")
        #expect(bench.memory.known.isEmpty && bench.memory.ids == nil)
        #expect(bench.reason(at: 5000) == "acoustic.user.reset")
        bench.capture(.registerDevice(Corpus.phone), at: 5000)
        try bench.exchange(at: 5000, .replied(WireResponse(200, json: ["userId": "new", "channelId": "c"])))
        #expect(try bench.exchange(at: 5010).url.contains("/users/new/"))
        #expect(bench.summary(change) == "accepted update.visibleLater")
    }

    @Test(.shows("acoustic/I7")) func `where nothing registers by itself, what is said in between is dropped`() throws {
        let bench = try registered(["autoReinitialize": false])
        bench.capture(.erase, at: 10)
        let ids = [Action.set("City", "Turku"), .unset("City"), .event("x")].map { bench.capture($0, at: 11) }
        try bench.exchange(at: 11)
        bench.settle(at: 11)
        #expect(ids.allSatisfy { bench.summary($0) == "dropped user.invalidated" })
        bench.capture(.registerDevice(Corpus.phone), at: 20)
        try bench.exchange(at: 20, yes)
        #expect(!bench.memory.isReset)
    }

    @Test(.shows("acoustic/L3")) func `an unregister reports push as disabled, last`() throws {
        let bench = try registered()
        bench.capture(.set("City", "Turku"), at: 10)
        let id = bench.capture(.unregister, at: 10)
        #expect(try bench.exchange(at: 10).words == "PATCH attributes City=Turku")
        #expect(try bench.exchange(at: 10).words == "POST events application/uiPushDisabled")
        #expect(bench.summary(id) == "accepted unregister.left")
    }

    @Test(.shows("acoustic/L3", "acoustic/Q4")) func `who never registered has nothing to leave`() throws {
        let bench = try Bench()
        let ids = [Action.set("City", "Turku"), .unregister].map { bench.capture($0, at: 0) }
        bench.settle(at: 0)
        #expect(ids.map { bench.summary($0) } == ["dropped user.neverSent", "unchanged unregister.nothing"])
    }

    @Test(.shows("acoustic/L2")) func `consent is kept here`() throws {
        let bench = try Bench.ready()
        let id = bench.capture(.setConsent(Consent(purpose: .tracking, state: .denied)), at: 0)
        bench.settle(at: 0)
        #expect(bench.summary(id) == "unchanged consent.kept")
    }
}

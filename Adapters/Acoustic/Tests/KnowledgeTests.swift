import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic knowledge") struct KnowledgeTests {
    @Test(.shows("acoustic/K1")) func `a value that the vendor holds is not sent, however long ago`() throws {
        let bench = try Bench.ready([:], .set("City", "Turku"))
        let id = bench.capture(.set("City", "Turku"), at: 400 * 86_400)
        bench.settle(at: 400 * 86_400)
        #expect(bench.summary(id) == "unchanged unchanged")
        #expect(bench.pending.isEmpty)
    }

    @Test(.shows("acoustic/K2")) func `of a group only what changes is sent`() throws {
        let bench = try Bench.ready([:], .set("City", "Turku"))
        bench.capture(.changeAttributes(["City": .set("Turku"), "Visits": .set(3)]), at: 10)
        #expect(try bench.exchange(at: 10, flush: true).words == "PATCH attributes Visits=3")
    }

    @Test(.shows("acoustic/K2")) func `of values that are held and deletes only the deletes are sent`() throws {
        let bench = try Bench.ready([:], .set("City", "Turku"))
        let id = bench.capture(.changeAttributes(["City": .set("Turku"), "Visits": .unset]), at: 10)
        #expect(try bench.exchange(at: 20).words == "DELETE attributes Visits")
        #expect(bench.summary(id)?.hasPrefix("accepted") == true)
    }

    @Test(
        .shows("acoustic/K6"),
        arguments: [
            ("40", "40.0", true), ("40", "40.00", true), ("40.5", "40.50", true), ("40", "41", false),
            ("0", "-0", true),
        ]
    )
    func `numbers are compared as numbers`(_ row: (before: String, after: String, isSame: Bool)) throws {
        let bench = try Bench.ready([:], .set("LifetimeValue", try typed(row.before, .decimal)))
        let id = bench.capture(.set("LifetimeValue", try typed(row.after, .decimal)), at: 10)
        bench.advance(to: 20)
        #expect((bench.summary(id) == "unchanged unchanged") == row.isSame)
    }

    @Test(.shows("acoustic/K6")) func `a number and its digits are two values`() throws {
        #expect(!WireValue(.number, 1).isSame(as: WireValue(.string, "1")))
    }

    @Test(.shows("acoustic/K6")) func `a text that looks alike is another value`() throws {
        let bench = try Bench.ready([:], .set("City", "Malm\u{F6}"))
        bench.capture(.set("City", "Malmo\u{308}"), at: 10)
        let sent = try bench.exchange(at: 10, flush: true)
        #expect(sent.json?["attributes"]?[0]?["value"] == "Malmo\u{308}")
        #expect(bench.memory.known["City"]?.value == "Malmo\u{308}")
    }

    @Test(.shows("acoustic/K3")) func `after a delete the same value is sent again`() throws {
        let bench = try Bench.ready([:], .set("City", "Turku"), .unset("City"))
        bench.capture(.set("City", "Turku"), at: 10)
        #expect(try bench.exchange(at: 10, flush: true).words == "PATCH attributes City=Turku")
    }

    @Test(.shows("acoustic/G6", "acoustic/K3")) func `update, delete and update of one column keep their order`() throws
    {
        let bench = try Bench.ready([:], .set("City", "Turku"))
        for action in [Action.set("City", "Oulu"), .unset("City"), .set("City", "Oulu")] {
            bench.capture(action, at: 10)
        }
        let sent = try (0..<3).map { _ in try bench.exchange(at: 20).words }
        #expect(
            sent == ["PATCH attributes City=Oulu", "DELETE attributes City", "PATCH attributes City=Oulu"]
        )
    }

    @Test(.shows("acoustic/K7"), arguments: [lost, reply(500), reply(408), reply(503)])
    func `set b, answer lost, set a again is sent`(_ uncertainty: Outcome) throws {
        let bench = try Bench.ready([:], .set("City", "a"))
        let second = bench.capture(.set("City", "b"), at: 10)
        try bench.exchange(at: 20, uncertainty)
        #expect(bench.memory.known["City"] == nil)
        let third = bench.capture(.set("City", "a"), at: 25)
        #expect(try bench.exchange(at: 200, flush: true).words == "PATCH attributes City=a")
        #expect(bench.summary(second) == "superseded by \(third.rawValue)")
        #expect(bench.pending.isEmpty)
    }

    @Test(.shows("acoustic/K7", "acoustic/G5")) func `a value set back before anyone knows whether it left is sent`()
        throws
    {
        // The process may have died with b on its way: nothing was interpreted, b is still pending.
        let bench = try Bench.ready([:], .set("City", "a"))
        bench.capture(.set("City", "b"), at: 10)
        bench.capture(.set("City", "a"), at: 11)
        #expect(try bench.exchange(at: 20).words == "PATCH attributes City=a")
    }

    @Test(.shows("acoustic/K7"), arguments: [notSent, reply(429), reply(425), reply(400)])
    func `what surely did not happen leaves the knowledge as it is`(_ outcome: Outcome) throws {
        let bench = try Bench.ready([:], .set("City", "a"), .set("Visits", 1))
        bench.capture(.set("City", "b"), at: 10)
        try bench.exchange(at: 20, outcome)
        #expect(bench.memory.known["City"]?.value == "a")
        #expect(bench.memory.known["Visits"]?.value == 1)
        // The rule is shown by the uncertain delivery that follows.
        bench.capture(.set("Visits", 2), at: 30)
        try bench.exchange(at: 200, flush: true, lost)
        #expect(bench.memory.known["Visits"] == nil)
    }

    @Test(.shows("acoustic/K5")) func `other ids forget every value`() throws {
        let bench = try Bench.ready([:], .set("City", "Turku"))
        var device = Fixture.adopted
        device.identities["acoustic.userId"] = "another"
        bench.capture(.registerDevice(device), at: 10)
        bench.capture(.set("City", "Turku"), at: 11)
        #expect(try bench.exchange(at: 20).words == "POST events application/uiPushDisabled")
        #expect(try bench.exchange(at: 20).words == "POST events application/uiPushEnabled")
        let request = try bench.exchange(at: 20)
        #expect(request.words == "PATCH attributes City=Turku")
        #expect(request.url.contains("/users/another/"))
    }

    @Test(.shows("acoustic/K5")) func `another person forgets every value and the tags`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"], .logIn("c-1"), .set("City", "Turku"), .add("music"))
        #expect(bench.memory.tags == ["music"])
        bench.capture(.logIn("c-2"), at: 10)
        bench.capture(.set("City", "Turku"), at: 11)
        bench.capture(.add("sports"), at: 12)
        #expect(try bench.exchange(at: 20).words == "PATCH attributes City=Turku Tags=sports")
    }

    @Test(.shows("acoustic/K5")) func `whose identifier looks alike is another person`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"], .logIn("Zo\u{EB}"), .add("music"))
        bench.capture(.logIn("Zoe\u{308}"), at: 10)
        bench.capture(.add("sports"), at: 12)
        #expect(try bench.exchange(at: 20).words == "PATCH attributes Tags=sports")
    }

    @Test(.shows("acoustic/K5")) func `the same person keeps the tags`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"], .add("music"))
        bench.capture(.logIn("c-1"), at: 10)
        bench.capture(.logIn("c-1"), at: 11)
        bench.capture(.add("sports"), at: 12)
        #expect(try bench.exchange(at: 20).words == "PATCH attributes Tags=music;sports")
    }

    @Test(.shows("acoustic/L1")) func `the installation answers for itself`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"], .set("City", "Turku"), .add("music"))
        let ids = ["attributes", "tags", "ids"].map { bench.capture(.readBack(ReadRequest($0)), at: 10) }
        bench.settle(at: 10)
        let answers = ids.map { bench.outcome(of: $0)?.answer }
        #expect(answers[0] == ["City": "Turku", "Tags": "music"])
        #expect(answers[1] == ["music"])
        #expect(answers[2] == ["userId": "user-from-sdk", "channelId": "channel-from-sdk"])
        #expect(bench.words(.readBack(ReadRequest("history"))) == ["error read.unknown"])
    }

    @Test(.shows("acoustic/K8", "acoustic/K9", "acoustic/V1")) func `endings tell how far, and name their columns`()
        throws
    {
        let bench = try Bench.ready()
        let update = bench.capture(.changeAttributes(["City": .set("Turku"), "Visits": .set(1)]), at: 0)
        try bench.exchange(at: 10)
        #expect(bench.summary(update) == "accepted update.visibleLater")
        #expect(bench.finding(update)?.reason.contains("set: City, Visits") == true)
        let delete = bench.capture(.unset("City"), at: 20)
        try bench.exchange(at: 30)
        #expect(bench.summary(delete) == "accepted delete.accepted")
        #expect(bench.finding(delete)?.reason.contains("deleted: City") == true)
        let blind = try Bench.ready(["columns": [:]])
        let unseen = blind.capture(.set("City", "Turku"), at: 0)
        try blind.exchange(at: 10)
        #expect(blind.summary(unseen) == "accepted update.unseen")
    }
}

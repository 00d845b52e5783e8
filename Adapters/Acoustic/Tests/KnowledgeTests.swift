import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic expected vendor state") struct KnowledgeTests {
    @Test(.shows("acoustic/K1")) func `does not resend a value that the vendor holds, however old`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Turku"))
        let id = driver.capture(.set("City", "Turku"), at: 400 * 86_400)
        driver.settle(at: 400 * 86_400)
        #expect(driver.summary(id) == "unchanged unchanged")
        #expect(driver.pending.isEmpty)
    }

    @Test(.shows("acoustic/K2")) func `sends only the changed values of a group`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Turku"))
        driver.capture(.changeAttributes(["City": .set("Turku"), "Visits": .set(3)]), at: 10)
        #expect(try driver.exchange(at: 10, flush: true).words == "PATCH attributes Visits=3")
    }

    @Test(.shows("acoustic/K2")) func `sends only the deletes if the vendor already holds the values`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Turku"))
        let id = driver.capture(.changeAttributes(["City": .set("Turku"), "Visits": .unset]), at: 10)
        #expect(try driver.exchange(at: 20).words == "DELETE attributes Visits")
        #expect(driver.summary(id)?.hasPrefix("accepted") == true)
    }

    @Test(
        .shows("acoustic/K6"),
        arguments: [
            ("40", "40.0", true), ("40", "40.00", true), ("40.5", "40.50", true), ("40", "41", false),
            ("0", "-0", true),
        ]
    )
    func `compares numbers by value`(_ row: (before: String, after: String, isSame: Bool)) throws {
        let driver = try TestDriver.ready([:], .set("LifetimeValue", try typed(row.before, .decimal)))
        let id = driver.capture(.set("LifetimeValue", try typed(row.after, .decimal)), at: 10)
        driver.advance(to: 20)
        #expect((driver.summary(id) == "unchanged unchanged") == row.isSame)
    }

    @Test(.shows("acoustic/K6")) func `distinguishes a number from a text of the same digits`() throws {
        #expect(!WireValue(.number, 1).isSame(as: WireValue(.string, "1")))
    }

    @Test(.shows("acoustic/K6")) func `distinguishes canonically equivalent texts`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Malm\u{F6}"))
        driver.capture(.set("City", "Malmo\u{308}"), at: 10)
        let sent = try driver.exchange(at: 10, flush: true)
        #expect(sent.json?["attributes"]?[0]?["value"] == "Malmo\u{308}")
        #expect(driver.memory.known["City"]?.value == "Malmo\u{308}")
    }

    @Test(.shows("acoustic/K3")) func `resends a value after it was deleted`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Turku"), .unset("City"))
        driver.capture(.set("City", "Turku"), at: 10)
        #expect(try driver.exchange(at: 10, flush: true).words == "PATCH attributes City=Turku")
    }

    @Test(.shows("acoustic/G6", "acoustic/K3")) func `update, delete and update of one column keep their order`() throws
    {
        let driver = try TestDriver.ready([:], .set("City", "Turku"))
        for action in [Action.set("City", "Oulu"), .unset("City"), .set("City", "Oulu")] {
            driver.capture(action, at: 10)
        }
        let sent = try (0..<3).map { _ in try driver.exchange(at: 20).words }
        #expect(
            sent == ["PATCH attributes City=Oulu", "DELETE attributes City", "PATCH attributes City=Oulu"]
        )
    }

    @Test(.shows("acoustic/K7"), arguments: [lost, reply(500), reply(408), reply(503)])
    func `sends the former value again after an unacknowledged change`(_ uncertainty: Outcome) throws {
        let driver = try TestDriver.ready([:], .set("City", "a"))
        let second = driver.capture(.set("City", "b"), at: 10)
        try driver.exchange(at: 20, uncertainty)
        #expect(driver.memory.known["City"] == nil)
        let third = driver.capture(.set("City", "a"), at: 25)
        #expect(try driver.exchange(at: 200, flush: true).words == "PATCH attributes City=a")
        #expect(driver.summary(second) == "superseded by \(third.rawValue)")
        #expect(driver.pending.isEmpty)
    }

    @Test(.shows("acoustic/K7", "acoustic/G5")) func `sends a value that is set back while its change is pending`()
        throws
    {
        // The process may have crashed while the request with b was in flight: b is still pending.
        let driver = try TestDriver.ready([:], .set("City", "a"))
        driver.capture(.set("City", "b"), at: 10)
        driver.capture(.set("City", "a"), at: 11)
        #expect(try driver.exchange(at: 20).words == "PATCH attributes City=a")
    }

    @Test(.shows("acoustic/K7"), arguments: [notSent, reply(429), reply(425), reply(400)])
    func `keeps the expected values if the vendor did not process the request`(_ outcome: Outcome) throws {
        let driver = try TestDriver.ready([:], .set("City", "a"), .set("Visits", 1))
        driver.capture(.set("City", "b"), at: 10)
        try driver.exchange(at: 20, outcome)
        #expect(driver.memory.known["City"]?.value == "a")
        #expect(driver.memory.known["Visits"]?.value == 1)
        // An uncertain delivery does forget the value.
        driver.capture(.set("Visits", 2), at: 30)
        try driver.exchange(at: 200, flush: true, lost)
        #expect(driver.memory.known["Visits"] == nil)
    }

    @Test(.shows("acoustic/K5")) func `forgets every value when the ids change`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Turku"))
        var device = Fixture.adopted
        device.identities["acoustic.userId"] = "another"
        driver.capture(.registerDevice(device), at: 10)
        driver.capture(.set("City", "Turku"), at: 11)
        #expect(try driver.exchange(at: 20).words == "POST events application/uiPushDisabled")
        #expect(try driver.exchange(at: 20).words == "POST events application/uiPushEnabled")
        let request = try driver.exchange(at: 20)
        #expect(request.words == "PATCH attributes City=Turku")
        #expect(request.url.contains("/users/another/"))
    }

    @Test(.shows("acoustic/K5")) func `forgets every value and the tags when another person logs in`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"], .logIn("c-1"), .set("City", "Turku"), .add("music"))
        #expect(driver.memory.tags == ["music"])
        driver.capture(.logIn("c-2"), at: 10)
        driver.capture(.set("City", "Turku"), at: 11)
        driver.capture(.add("sports"), at: 12)
        #expect(try driver.exchange(at: 20).words == "PATCH attributes City=Turku Tags=sports")
    }

    @Test(.shows("acoustic/K5")) func `distinguishes persons with canonically equivalent identifiers`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"], .logIn("Zo\u{EB}"), .add("music"))
        driver.capture(.logIn("Zoe\u{308}"), at: 10)
        driver.capture(.add("sports"), at: 12)
        #expect(try driver.exchange(at: 20).words == "PATCH attributes Tags=sports")
    }

    @Test(.shows("acoustic/K5")) func `keeps the tags when the same person logs in again`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"], .add("music"))
        driver.capture(.logIn("c-1"), at: 10)
        driver.capture(.logIn("c-1"), at: 11)
        driver.capture(.add("sports"), at: 12)
        #expect(try driver.exchange(at: 20).words == "PATCH attributes Tags=music;sports")
    }

    @Test(.shows("acoustic/L1")) func `answers queries from the installation's memory`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"], .set("City", "Turku"), .add("music"))
        let ids = ["attributes", "tags", "ids"].map { driver.capture(.readBack(ReadRequest($0)), at: 10) }
        driver.settle(at: 10)
        let answers = ids.map { driver.outcome(of: $0)?.answer }
        #expect(answers[0] == ["City": "Turku", "Tags": "music"])
        #expect(answers[1] == ["music"])
        #expect(answers[2] == ["userId": "user-from-sdk", "channelId": "channel-from-sdk"])
        #expect(driver.words(.readBack(ReadRequest("history"))) == ["error read.unknown"])
    }

    @Test(.shows("acoustic/K8", "acoustic/K9", "acoustic/V1"))
    func `outcomes name their columns and the delay until they are visible`() throws {
        let driver = try TestDriver.ready()
        let update = driver.capture(.changeAttributes(["City": .set("Turku"), "Visits": .set(1)]), at: 0)
        try driver.exchange(at: 10)
        #expect(driver.summary(update) == "accepted update.visibleLater")
        #expect(driver.finding(update)?.reason.contains("set: City, Visits") == true)
        let delete = driver.capture(.unset("City"), at: 20)
        try driver.exchange(at: 30)
        #expect(driver.summary(delete) == "accepted delete.accepted")
        #expect(driver.finding(delete)?.reason.contains("deleted: City") == true)
        let blind = try TestDriver.ready(["columns": [:]])
        let unseen = blind.capture(.set("City", "Turku"), at: 0)
        try blind.exchange(at: 10)
        #expect(blind.summary(unseen) == "accepted update.unseen")
    }
}

import Patchbay
import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic groups") struct GroupTests {
    @Test(.shows("acoustic/G4")) func `collects changes for two seconds from the first one`() throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 10)
        #expect(driver.due(at: 10) == 12)
        #expect(driver.reason(at: 11) == "acoustic.wait.gathering")
        driver.capture(.set("Visits", 1), at: 11)
        #expect(driver.due(at: 11) == 12)
        #expect(try driver.exchange(at: 12).words == "PATCH attributes City=Turku Visits=1")
    }

    @Test(.shows("acoustic/G4")) func `sends an explicit group at once, and any change at a flush`() throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 10)
        #expect(driver.due(at: 10, flush: true) == 10)
        let grouped = try TestDriver.ready()
        grouped.capture(.set("City", "Turku"), at: 10, group: "screen")
        grouped.capture(.set("Visits", 1), at: 10, group: "screen")
        #expect(grouped.due(at: 10) == 10)
        #expect(try grouped.exchange(at: 10).words == "PATCH attributes City=Turku Visits=1")
    }

    @Test(.shows("acoustic/G4")) func `sends an explicit group in one request of its own, regardless of size`() throws {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        driver.capture(.set("before", "x"), at: 0)
        for number in 0..<300 { driver.capture(.set(AttributeName(rawValue: "col\(number)"), "x"), at: 0, group: "g") }
        driver.capture(.set("after", "x"), at: 0)
        let sent = try (0..<3).map { _ in try driver.exchange(at: 5).words.split(separator: " ").dropFirst(2) }
        #expect(sent.map(\.count) == [1, 300, 1], "\(sent.map { "\($0.first ?? "") to \($0.last ?? "")" })")
    }

    @Test func `splits ungrouped changes at 200 entries`() throws {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        for number in 0..<250 { driver.capture(.set(AttributeName(rawValue: "col\(number)"), "x"), at: 0) }
        let counts = try (0..<2).map { _ in try driver.exchange(at: 5).json?["attributes"]?.array?.count }
        #expect(counts == [200, 50])
    }

    @Test(.shows("acoustic/G5")) func `sends the last of two values for one column`() throws {
        let driver = try TestDriver.ready()
        let ids = [Action.set("City", "Turku"), .set("City", "Oulu")].map { driver.capture($0, at: 0) }
        #expect(try driver.exchange(at: 5).words == "PATCH attributes City=Oulu")
        #expect(driver.summary(ids[0]) == "superseded by \(ids[1].rawValue)")
        #expect(driver.summary(ids[1]) == "accepted update.visibleLater")
    }

    @Test(.shows("acoustic/G5")) func `sends the remaining part of a partly replaced change`() throws {
        let driver = try TestDriver.ready()
        let first = driver.capture(.changeAttributes(["City": .set("Turku"), "Visits": .set(1)]), at: 0)
        driver.capture(.set("City", "Oulu"), at: 1)
        #expect(try driver.exchange(at: 5).words == "PATCH attributes City=Oulu Visits=1")
        #expect(driver.summary(first) == "accepted update.visibleLater")
    }

    @Test(.shows("acoustic/G6"))
    func `sends values and deletes of one change in two requests with one outcome`() throws {
        let driver = try TestDriver.ready()
        let id = driver.capture(.changeAttributes(["City": .set("Turku"), "Visits": .unset]), at: 0)
        #expect(try driver.transmission(at: 5).request.words == "PATCH attributes City=Turku")
        driver.capture(.set("City", "Oulu"), at: 5)
        try driver.exchange(at: 5)
        #expect(driver.summary(id) == nil)
        #expect(try driver.exchange(at: 6).words == "DELETE attributes Visits")
        #expect(driver.finding(id)?.reason.contains("set: City; deleted: Visits") == true)
    }

    /// Exchanges requests until none is pending. The vendor refuses requests with a poisonous column.
    ///
    /// - Returns: The sent requests.
    private func drive(_ driver: TestDriver, poison: Set<String>) throws -> [String] {
        var sent: [String] = []
        for second in 10..<200 {
            driver.advance(to: second)
            guard !driver.pending.isEmpty else { return sent }
            let request = try driver.transmission(at: second, flush: true).request
            let isBad = poison.contains { request.words.contains($0) }
            sent.append(try driver.exchange(at: second, flush: true, reply(isBad ? 400 : 200)).words)
        }
        return sent + ["still pending"]
    }

    @Test(.shows("acoustic/G3", "acoustic/Q6")) func `halves a refused group until the bad entry is isolated`()
        throws
    {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        let ids = (0..<16).map { driver.capture(.set(AttributeName(rawValue: "col\($0)x"), "x"), at: 0) }
        let sent = try drive(driver, poison: ["col7x"])
        #expect(sent.count == 9)
        #expect(sent.filter { $0.contains("col7x") }.last == "PATCH attributes col7x=x")
        #expect(driver.summary(ids[7]) == "rejected update.refused")
        #expect(
            ids.enumerated().allSatisfy { $0.offset == 7 || driver.summary($0.element) == "accepted update.unseen" }
        )
    }

    @Test(.shows("acoustic/G3", "acoustic/V1")) func `reports the refused columns of a partly accepted change`() throws
    {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        let changes = Dictionary(
            uniqueKeysWithValues: (0..<10).map { (AttributeName(rawValue: "col\($0)x"), AttributeChange.set("x")) }
        )
        let id = driver.capture(.changeAttributes(changes), at: 0)
        _ = try drive(driver, poison: ["col3x", "col8x"])
        #expect(driver.summary(id) == "accepted update.partly")
        #expect(driver.finding(id)?.reason.contains("col3x, col8x") == true)
        #expect(driver.memory.known.json.count == 8)
    }

    @Test(.shows("acoustic/G3"), arguments: [1, 2, 3, 5, 16, 33])
    func `rejects all operations if the vendor refuses every request`(_ count: Int) throws {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        let ids = (0..<count).map { driver.capture(.set(AttributeName(rawValue: "col\($0)x"), "x"), at: 0) }
        // A single column is not a group, so another operation is added.
        let other = driver.capture(.changeAttributes(["one": .set("x"), "two": .unset, "three": .set("y")]), at: 0)
        let sent = try drive(driver, poison: ["attributes"])
        #expect(sent.count <= 3 * (count + 3))
        #expect((ids + [other]).allSatisfy { driver.summary($0) == "rejected update.refused" })
    }

    @Test(.shows("acoustic/G3"))
    func `isolates the bad columns of a change of a hundred columns through the engine`() throws {
        let world = try VirtualWorld()
        let adapter = try AcousticDevice(settings: TestDriver.settings(["columns": [:], "attributeNames": [:]]))
        try world.start(RoutingPlan(providers: [.init(name: "a", adapter: adapter, mode: .live)]))
        world.network = { sent in
            let isBad = sent.request.words.contains("bad")
            return .outcome(.replied(WireResponse(isBad ? 400 : 200, json: [:])))
        }
        try world.capture(.registerDevice(Fixture.adopted))
        let names = (0..<100).map { AttributeName(rawValue: $0.isMultiple(of: 3) ? "bad\($0)" : "col\($0)") }
        let changes = Dictionary(uniqueKeysWithValues: names.map { ($0, AttributeChange.set("x")) })
        let operation = try world.capture(.changeAttributes(changes))
        #expect(try world.drain())
        #expect(try world.suspended("a") == nil)
        #expect(world.outcome(of: operation.id, on: "a")?.finding?.code == "acoustic.update.partly")
    }

    @Test(.shows("acoustic/G3")) func `rejects only the delete that the vendor refuses`() throws {
        let driver = try TestDriver.ready()
        let ids = ["City", "Visits", "LastVisit"].map { driver.capture(.unset(AttributeName(rawValue: $0)), at: 0) }
        _ = try drive(driver, poison: ["Visits"])
        #expect(
            ids.map { driver.summary($0) } == [
                "accepted delete.accepted", "rejected delete.refused", "accepted delete.accepted",
            ]
        )
    }

    @Test(.shows("acoustic/G3")) func `a refused tag does not affect other tags and columns`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"])
        let good = driver.capture(.set("City", "Turku"), at: 0)
        let bad = driver.capture(.add("vip"), at: 0)
        let later = driver.capture(.add("music"), at: 0)
        _ = try drive(driver, poison: ["vip"])
        #expect(driver.summary(good) == "accepted update.visibleLater")
        #expect(driver.summary(bad) == "rejected update.refused")
        #expect(driver.summary(later) == "accepted update.visibleLater")
        #expect(driver.memory.tags == ["music"])
    }

    @Test func `resumes an interrupted search for the bad column where it was`() throws {
        let driver = try TestDriver.ready(["columns": [:], "attributeNames": [:]])
        for number in 0..<4 { driver.capture(.set(AttributeName(rawValue: "col\(number)x"), "x"), at: 0) }
        try driver.exchange(at: 2, reply(400))
        #expect(driver.pending.map { $0.step?.suspect } == [2, 2, 2, 2])
        #expect(driver.due(at: 2) == 3)
        try driver.exchange(at: 3, lost)
        #expect(driver.pending.map { $0.step?.suspect } == [2, 2, 2, 2])
        #expect(try driver.exchange(at: 100).words == "PATCH attributes col0x=x col1x=x")
        #expect(driver.pending.count == 2)
    }

    @Test(.shows("acoustic/T1")) func `writes tags as one column with the whole set`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"])
        let ids = [Action.add("music"), .add("sports"), .remove("music")].map { driver.capture($0, at: 0) }
        #expect(try driver.exchange(at: 5).words == "PATCH attributes Tags=sports")
        #expect(ids.allSatisfy { driver.summary($0) == "accepted update.visibleLater" })
        let again = driver.capture(.add("sports"), at: 10)
        driver.settle(at: 20)
        #expect(driver.summary(again) == "unchanged unchanged")
        driver.capture(.remove("sports"), at: 30)
        #expect(try driver.exchange(at: 40).words == "DELETE attributes Tags")
        #expect(driver.memory.tags == [])
    }

    @Test(.shows("acoustic/T1", "acoustic/K7")) func `keeps the tag set after an uncertain delivery`() throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"], .add("music"))
        driver.capture(.add("sports"), at: 0)
        try driver.exchange(at: 5, lost)
        #expect(driver.memory.tags == ["music"])
        driver.capture(.remove("sports"), at: 6)
        #expect(try driver.exchange(at: 100).words == "PATCH attributes Tags=music")
    }

    @Test(.shows("acoustic/T2")) func `writes a tag to its own column if the settings name one`() throws {
        let driver = try TestDriver.ready(["tagColumns": ["vip": "IsVIP"], "tagsColumn": "Tags"])
        driver.capture(.add("vip", "music"), at: 0)
        #expect(try driver.exchange(at: 5).words == "PATCH attributes IsVIP=true Tags=music")
        driver.capture(.replace("sports"), at: 10)
        #expect(try driver.exchange(at: 20).words == "PATCH attributes IsVIP=false Tags=sports")
        let alone = try TestDriver.ready(["tagColumns": ["vip": "IsVIP"]])
        #expect(alone.words(.add("vip")) == [])
        #expect(alone.words(.add("music")) == ["error tag.column"])
    }

    @Test(
        .shows("acoustic/T3", "acoustic/T1"),
        arguments: [
            ("a;b", "error tag.value"), ("unheard", "error tag.value"), (" music", "error tag.value"),
            ("", "error tag.value"),
        ]
    )
    func `rejects a tag that the column does not allow`(_ row: (tag: String, word: String)) throws {
        let driver = try TestDriver.ready(["tagsColumn": "Tags"])
        let action = Action.add(PatchbayModel.Tag(rawValue: row.tag))
        #expect(driver.words(action) == [row.word])
        #expect(try TestDriver.ready().words(action) == ["error tags.column"])
        #expect(driver.words(.changeTags(TagChange())) == ["error tags.nothing"])
        #expect(driver.words(.set("Tags", .choices(["music"]))) == ["error column.tags"])
    }
}

extension Action {
    fileprivate static func replace(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(replace: tags)) }
}

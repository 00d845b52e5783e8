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
    @Test(.shows("acoustic/G4")) func `changes are gathered for two seconds from the first`() throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 10)
        #expect(bench.due(at: 10) == 12)
        #expect(bench.reason(at: 11) == "acoustic.wait.gathering")
        bench.capture(.set("Visits", 1), at: 11)
        #expect(bench.due(at: 11) == 12)
        #expect(try bench.exchange(at: 12).words == "PATCH attributes City=Turku Visits=1")
    }

    @Test(.shows("acoustic/G4")) func `a flush and an explicit group do not wait`() throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 10)
        #expect(bench.due(at: 10, flush: true) == 10)
        let grouped = try Bench.ready()
        grouped.capture(.set("City", "Turku"), at: 10, group: "screen")
        grouped.capture(.set("Visits", 1), at: 10, group: "screen")
        #expect(grouped.due(at: 10) == 10)
        #expect(try grouped.exchange(at: 10).words == "PATCH attributes City=Turku Visits=1")
    }

    @Test(.shows("acoustic/G4")) func `an explicit group goes alone and whole, however large`() throws {
        let bench = try Bench.ready(["columns": [:], "attributeNames": [:]])
        bench.capture(.set("before", "x"), at: 0)
        for number in 0..<300 { bench.capture(.set(AttributeName(rawValue: "col\(number)"), "x"), at: 0, group: "g") }
        bench.capture(.set("after", "x"), at: 0)
        let sent = try (0..<3).map { _ in try bench.exchange(at: 5).words.split(separator: " ").dropFirst(2) }
        #expect(sent.map(\.count) == [1, 300, 1], "\(sent.map { "\($0.first ?? "") to \($0.last ?? "")" })")
    }

    @Test func `what is no group is parted at two hundred entries`() throws {
        let bench = try Bench.ready(["columns": [:], "attributeNames": [:]])
        for number in 0..<250 { bench.capture(.set(AttributeName(rawValue: "col\(number)"), "x"), at: 0) }
        let counts = try (0..<2).map { _ in try bench.exchange(at: 5).json?["attributes"]?.array?.count }
        #expect(counts == [200, 50])
    }

    @Test(.shows("acoustic/G5")) func `of two values for one column the last one goes`() throws {
        let bench = try Bench.ready()
        let ids = [Action.set("City", "Turku"), .set("City", "Oulu")].map { bench.capture($0, at: 0) }
        #expect(try bench.exchange(at: 5).words == "PATCH attributes City=Oulu")
        #expect(bench.summary(ids[0]) == "superseded by \(ids[1].rawValue)")
        #expect(bench.summary(ids[1]) == "accepted update.visibleLater")
    }

    @Test(.shows("acoustic/G5")) func `a change that is replaced in part goes with its other part`() throws {
        let bench = try Bench.ready()
        let first = bench.capture(.changeAttributes(["City": .set("Turku"), "Visits": .set(1)]), at: 0)
        bench.capture(.set("City", "Oulu"), at: 1)
        #expect(try bench.exchange(at: 5).words == "PATCH attributes City=Oulu Visits=1")
        #expect(bench.summary(first) == "accepted update.visibleLater")
    }

    @Test(.shows("acoustic/G6")) func `values and deletes of one change are two requests and one ending`() throws {
        let bench = try Bench.ready()
        let id = bench.capture(.changeAttributes(["City": .set("Turku"), "Visits": .unset]), at: 0)
        #expect(try bench.transmission(at: 5).request.words == "PATCH attributes City=Turku")
        bench.capture(.set("City", "Oulu"), at: 5)
        try bench.exchange(at: 5)
        #expect(bench.summary(id) == nil)
        #expect(try bench.exchange(at: 6).words == "DELETE attributes Visits")
        #expect(bench.finding(id)?.reason.contains("set: City; deleted: Visits") == true)
    }

    /// Drives a bench against a vendor that refuses requests with a poisonous column.
    private func drive(_ bench: Bench, poison: Set<String>) throws -> [String] {
        var sent: [String] = []
        for second in 10..<200 {
            bench.advance(to: second)
            guard !bench.pending.isEmpty else { return sent }
            let request = try bench.transmission(at: second, flush: true).request
            let isBad = poison.contains { request.words.contains($0) }
            sent.append(try bench.exchange(at: second, flush: true, reply(isBad ? 400 : 200)).words)
        }
        return sent + ["without end"]
    }

    @Test(.shows("acoustic/G3", "acoustic/Q6")) func `a refused group is halved until the bad entry stands alone`()
        throws
    {
        let bench = try Bench.ready(["columns": [:], "attributeNames": [:]])
        let ids = (0..<16).map { bench.capture(.set(AttributeName(rawValue: "col\($0)x"), "x"), at: 0) }
        let sent = try drive(bench, poison: ["col7x"])
        #expect(sent.count == 9)
        #expect(sent.filter { $0.contains("col7x") }.last == "PATCH attributes col7x=x")
        #expect(bench.summary(ids[7]) == "rejected update.refused")
        #expect(ids.enumerated().allSatisfy { $0.offset == 7 || bench.summary($0.element) == "accepted update.unseen" })
    }

    @Test(.shows("acoustic/G3", "acoustic/V1")) func `of one change the bad entry falls, and is named`() throws {
        let bench = try Bench.ready(["columns": [:], "attributeNames": [:]])
        let changes = Dictionary(
            uniqueKeysWithValues: (0..<10).map { (AttributeName(rawValue: "col\($0)x"), AttributeChange.set("x")) }
        )
        let id = bench.capture(.changeAttributes(changes), at: 0)
        _ = try drive(bench, poison: ["col3x", "col8x"])
        #expect(bench.summary(id) == "accepted update.partly")
        #expect(bench.finding(id)?.reason.contains("col3x, col8x") == true)
        #expect(bench.memory.known.json.count == 8)
    }

    @Test(.shows("acoustic/G3"), arguments: [1, 2, 3, 5, 16, 33])
    func `a vendor that refuses everything ends everything`(_ count: Int) throws {
        let bench = try Bench.ready(["columns": [:], "attributeNames": [:]])
        let ids = (0..<count).map { bench.capture(.set(AttributeName(rawValue: "col\($0)x"), "x"), at: 0) }
        // One column alone is no group; a second operation makes it one.
        let other = bench.capture(.changeAttributes(["one": .set("x"), "two": .unset, "three": .set("y")]), at: 0)
        let sent = try drive(bench, poison: ["attributes"])
        #expect(sent.count <= 3 * (count + 3))
        #expect((ids + [other]).allSatisfy { bench.summary($0) == "rejected update.refused" })
    }

    @Test(.shows("acoustic/G3")) func `a change of a hundred columns with bad ones goes on through the engine`() throws
    {
        let world = try VirtualWorld()
        let adapter = try AcousticDevice(settings: Bench.settings(["columns": [:], "attributeNames": [:]]))
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

    @Test(.shows("acoustic/G3")) func `a refused delete falls alone, too`() throws {
        let bench = try Bench.ready()
        let ids = ["City", "Visits", "LastVisit"].map { bench.capture(.unset(AttributeName(rawValue: $0)), at: 0) }
        _ = try drive(bench, poison: ["Visits"])
        #expect(
            ids.map { bench.summary($0) } == [
                "accepted delete.accepted", "rejected delete.refused", "accepted delete.accepted",
            ]
        )
    }

    @Test(.shows("acoustic/G3")) func `a poisonous tag does not take the others along`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"])
        let good = bench.capture(.set("City", "Turku"), at: 0)
        let bad = bench.capture(.add("vip"), at: 0)
        let later = bench.capture(.add("music"), at: 0)
        _ = try drive(bench, poison: ["vip"])
        #expect(bench.summary(good) == "accepted update.visibleLater")
        #expect(bench.summary(bad) == "rejected update.refused")
        #expect(bench.summary(later) == "accepted update.visibleLater")
        #expect(bench.memory.tags == ["music"])
    }

    @Test func `a search that a failure interrupts goes on where it was`() throws {
        let bench = try Bench.ready(["columns": [:], "attributeNames": [:]])
        for number in 0..<4 { bench.capture(.set(AttributeName(rawValue: "col\(number)x"), "x"), at: 0) }
        try bench.exchange(at: 2, reply(400))
        #expect(bench.pending.map { $0.step?.suspect } == [2, 2, 2, 2])
        #expect(bench.due(at: 2) == 3)
        try bench.exchange(at: 3, lost)
        #expect(bench.pending.map { $0.step?.suspect } == [2, 2, 2, 2])
        #expect(try bench.exchange(at: 100).words == "PATCH attributes col0x=x col1x=x")
        #expect(bench.pending.count == 2)
    }

    @Test(.shows("acoustic/T1")) func `tags are one column, sent whole`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"])
        let ids = [Action.add("music"), .add("sports"), .remove("music")].map { bench.capture($0, at: 0) }
        #expect(try bench.exchange(at: 5).words == "PATCH attributes Tags=sports")
        #expect(ids.allSatisfy { bench.summary($0) == "accepted update.visibleLater" })
        let again = bench.capture(.add("sports"), at: 10)
        bench.settle(at: 20)
        #expect(bench.summary(again) == "unchanged unchanged")
        bench.capture(.remove("sports"), at: 30)
        #expect(try bench.exchange(at: 40).words == "DELETE attributes Tags")
        #expect(bench.memory.tags == [])
    }

    @Test(.shows("acoustic/T1", "acoustic/K7")) func `the set of tags outlives an uncertain delivery`() throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"], .add("music"))
        bench.capture(.add("sports"), at: 0)
        try bench.exchange(at: 5, lost)
        #expect(bench.memory.tags == ["music"])
        bench.capture(.remove("sports"), at: 6)
        #expect(try bench.exchange(at: 100).words == "PATCH attributes Tags=music")
    }

    @Test(.shows("acoustic/T2")) func `a tag may have a column of its own`() throws {
        let bench = try Bench.ready(["tagColumns": ["vip": "IsVIP"], "tagsColumn": "Tags"])
        bench.capture(.add("vip", "music"), at: 0)
        #expect(try bench.exchange(at: 5).words == "PATCH attributes IsVIP=true Tags=music")
        bench.capture(.replace("sports"), at: 10)
        #expect(try bench.exchange(at: 20).words == "PATCH attributes IsVIP=false Tags=sports")
        let alone = try Bench.ready(["tagColumns": ["vip": "IsVIP"]])
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
    func `a tag that the column can't hold is refused`(_ row: (tag: String, word: String)) throws {
        let bench = try Bench.ready(["tagsColumn": "Tags"])
        let action = Action.add(PatchbayModel.Tag(rawValue: row.tag))
        #expect(bench.words(action) == [row.word])
        #expect(try Bench.ready().words(action) == ["error tags.column"])
        #expect(bench.words(.changeTags(TagChange())) == ["error tags.nothing"])
        #expect(bench.words(.set("Tags", .choices(["music"]))) == ["error column.tags"])
    }
}

extension Action {
    fileprivate static func replace(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(replace: tags)) }
}

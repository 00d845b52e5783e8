import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic schedule") struct ScheduleTests {
    @Test(.shows("acoustic/Q1", "acoustic/R2")) func `delays go from one minute to sixty and on without end`() throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 0)
        var starts = [2]
        for _ in 0..<9 {
            try bench.exchange(at: starts[starts.count - 1], reply(503))
            starts.append(try #require(bench.due(at: starts[starts.count - 1])))
        }
        #expect(zip(starts, starts.dropFirst()).map { $1 - $0 } == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(bench.reason(at: starts[9] - 1) == "acoustic.wait.retrying")
        #expect(bench.due(at: starts[9] - 1, flush: true) == starts[9])
        try bench.exchange(at: starts[9])
        #expect(bench.memory.paces.isEmpty)
    }

    @Test(.shows("acoustic/Q1"), arguments: [(0.0, 48), (0.5, 60), (1.0, 72)])
    func `chance moves a delay up to a fifth`(_ row: (chance: Double, delay: Int)) throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 0)
        bench.world.host.fix(chance: row.chance)
        try bench.exchange(at: 2, lost)
        #expect(bench.due(at: 2) == 2 + row.delay)
    }

    @Test(
        .shows("acoustic/Q2", "acoustic/R3"),
        arguments: [(10, 60), (600, 600), (1_000_000, 86_400)]
    )
    func `Retry-After decides if it is longer`(_ row: (asked: Int, delay: Int)) throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 2, reply(429, retryAfter: row.asked))
        #expect(bench.due(at: 2) == 2 + row.delay)
    }

    @Test(.shows("acoustic/Q3")) func `each stream waits for itself`() throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 2, reply(503))
        bench.capture(.event("x"), at: 3, options: ["immediate": true])
        #expect(try bench.exchange(at: 3).words == "POST events custom/x")
        #expect(bench.due(at: 3) == 62)
    }

    @Test(.shows("acoustic/Q5"), arguments: [401, 403, 404, 410])
    func `these statuses stop the provider and keep everything`(_ status: Int) throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 2, reply(status))
        #expect(bench.suspension?.code == "acoustic.reply.stopped")
        #expect(bench.suspension?.reason.contains("HTTP \(status) to update") == true)
        #expect(bench.pending.count == 1)
        #expect(bench.memory.mustPhone)
        bench.advance(to: 9)
        bench.resume()
        #expect(try bench.exchange(at: 10).words == "PATCH attributes City=Turku")
    }

    @Test(
        .shows("acoustic/Q6", "acoustic/R1"),
        arguments: [
            (400, "rejected update.refused"), (409, "rejected update.refused"), (422, "rejected update.refused"),
            (200, "accepted update.visibleLater"), (204, "accepted update.visibleLater"),
        ]
    )
    func `another answer ends it`(_ row: (status: Int, ending: String)) throws {
        let bench = try Bench.ready()
        let id = bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 2, reply(row.status))
        #expect(bench.summary(id) == row.ending)
        // Both ways are rules of the same table.
        _ = ReplyTable.acoustic.row(for: reply(200))
        _ = ReplyTable.acoustic.row(for: reply(418))
    }

    @Test(.shows("acoustic/R2", "acoustic/R4", "acoustic/R5"), arguments: [408, 425, 500, 503, 302, 999, -1])
    func `the rest is tried again`(_ status: Int) throws {
        let bench = try Bench.ready()
        bench.capture(.set("City", "Turku"), at: 0)
        try bench.exchange(at: 2, status < 0 ? notSent : reply(status))
        #expect(bench.pending.count == 1 && bench.due(at: 2) == 62)
    }

    @Test(.shows("acoustic/W4", "acoustic/W7", "acoustic/W8")) func `verbs, paths and wrappers are data`() throws {
        let bench = try Bench.ready([
            "baseUrl": "https://host.example/base", "appKey": "a/b",
            "profile": [
                "update": ["method": "PUT", "path": "/4.0/{appKey}/of/{userId}", "wrapper": "columns"],
                "delete": ["method": "POST", "path": "/4.0/{appKey}/of/{userId}/gone", "wrapper": "names"],
            ],
        ])
        bench.capture(.set("City", "Turku"), at: 0)
        let update = try bench.exchange(at: 5)
        #expect(update.method == "PUT" && update.url == "https://host.example/base/4.0/a%2Fb/of/user-from-sdk")
        #expect(update.json?["columns"]?[0]?["key"] == "City")
        bench.capture(.unset("City"), at: 10)
        let delete = try bench.exchange(at: 20)
        #expect(delete.url.hasSuffix("/gone") && delete.json == ["names": ["City"]])
    }

    @Test(
        .shows("acoustic/W4"),
        arguments: ["https://host.example", "https://host.example/3.0", "https://host.example/3.0/"]
    )
    func `the base address may name the version`(_ base: String) throws {
        let bench = try Bench.ready(["baseUrl": .string(base)])
        bench.capture(.set("City", "Turku"), at: 0)
        #expect(
            try bench.exchange(at: 5).url == "https://host.example/3.0/apps/gcb4hVDsXq/users/user-from-sdk/attributes"
        )
    }

    @Test(.shows("acoustic/W2", "acoustic/W6")) func `requests name what they change and nothing else`() throws {
        let bench = try Bench.ready([:], .set("City", "Turku"))
        bench.capture(.set("Visits", 1), at: 0)
        #expect(try bench.exchange(at: 5).json == ["attributes": [["key": "Visits", "type": "number", "value": 1]]])
        bench.capture(.unset("Visits"), at: 6)
        #expect(try bench.exchange(at: 10).json == ["keys": ["Visits"]])
    }

    static let faults: [(settings: JSONObject, path: String)] = [
        (["profile": ["update": ["method": "SEND"]]], "settings.profile"),
        (["profile": ["update": ["path": "attributes"]]], "settings.profile"),
        (["profile": ["update": ["path": "/{person}"]]], "settings.profile"),
        (["profile": ["register": ["wrapper": "x"]]], "settings.profile"),
        (["profile": ["upsert": [:]]], "settings.profile"), (["profile": ["userMember": ""]], "settings.profile"),
        (["columns": ["City": ["type": "varchar"]]], "settings.columns"),
        (["columns": ["City": "text"]], "settings.columns"),
        (["columns": ["Tier": ["type": "selection"]]], "settings.columns"),
        (["columns": ["City": ["type": "text", "values": ["a"]]]], "settings.columns"),
        (["columns": ["City": ["type": "text", "owner": "both"]]], "settings.columns"),
        (["columns": ["City": ["type": "text", "lookupKey": "yes"]]], "settings.columns"),
        (["columns": ["City": ["type": "text", "unique": true]]], "settings.columns"),
        (["tagsColumn": "City"], "tagsColumn"), (["tagsColumn": "Labels"], "tagsColumn"),
        (["tagColumns": ["vip": "Interests"]], "tagColumns.vip"),
        (["attributeNames": ["a": "City", "b": "City"]], "attributeNames.b"),
        (["attributeNames": ["a": "Town"]], "attributeNames.a"),
        (["attributeNames": ["a": "Tags"], "tagsColumn": "Tags"], "attributeNames.a"),
    ]

    @Test(.shows("acoustic/C1", "acoustic/T1"), arguments: faults.indices)
    func `a bad setting is named with its place`(_ number: Int) throws {
        let row = Self.faults[number]
        let error = #expect(throws: SettingsError.self) { try AcousticDevice(settings: Bench.settings(row.settings)) }
        #expect(error?.findings.map(\.path).contains(row.path) == true)
        #expect(error?.findings.allSatisfy { !$0.remedy.isEmpty } == true)
        _ = try? AcousticDevice(settings: Bench.settings(["attributeNames": ["a": "Tags"], "tagsColumn": "Tags"]))
        _ = try? AcousticDevice(settings: Bench.settings(["attributeNames": ["a": "Town"]]))
    }
}

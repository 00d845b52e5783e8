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
    @Test(.shows("acoustic/Q1", "acoustic/R2")) func `retries after one minute, doubling to one hour, without a limit`()
        throws
    {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 0)
        var starts = [2]
        for _ in 0..<9 {
            try driver.exchange(at: starts[starts.count - 1], reply(503))
            starts.append(try #require(driver.due(at: starts[starts.count - 1])))
        }
        #expect(zip(starts, starts.dropFirst()).map { $1 - $0 } == [60, 120, 240, 480, 960, 1920, 3600, 3600, 3600])
        #expect(driver.reason(at: starts[9] - 1) == "acoustic.wait.retrying")
        #expect(driver.due(at: starts[9] - 1, flush: true) == starts[9])
        try driver.exchange(at: starts[9])
        #expect(driver.memory.paces.isEmpty)
    }

    @Test(.shows("acoustic/Q1"), arguments: [(0.0, 48), (0.5, 60), (1.0, 72)])
    func `randomizes a retry delay by up to 20 percent`(_ row: (chance: Double, delay: Int)) throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 0)
        driver.world.host.fix(chance: row.chance)
        try driver.exchange(at: 2, lost)
        #expect(driver.due(at: 2) == 2 + row.delay)
    }

    @Test(
        .shows("acoustic/Q2", "acoustic/R3"),
        arguments: [(10, 60), (600, 600), (1_000_000, 86_400)]
    )
    func `Retry-After applies if it is longer than the retry delay`(_ row: (asked: Int, delay: Int)) throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 2, reply(429, retryAfter: row.asked))
        #expect(driver.due(at: 2) == 2 + row.delay)
    }

    @Test(.shows("acoustic/Q3")) func `each stream has its own retry delay`() throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 2, reply(503))
        driver.capture(.event("x"), at: 3, options: ["immediate": true])
        #expect(try driver.exchange(at: 3).words == "POST events custom/x")
        #expect(driver.due(at: 3) == 62)
    }

    @Test(.shows("acoustic/Q5"), arguments: [401, 403, 404, 410])
    func `statuses 401, 403, 404 and 410 suspend the provider and keep all operations`(_ status: Int) throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 2, reply(status))
        #expect(driver.suspension?.code == "acoustic.reply.stopped")
        #expect(driver.suspension?.reason.contains("HTTP \(status) to update") == true)
        #expect(driver.pending.count == 1)
        #expect(driver.memory.mustPhone)
        driver.advance(to: 9)
        driver.resume()
        #expect(try driver.exchange(at: 10).words == "PATCH attributes City=Turku")
    }

    @Test(
        .shows("acoustic/Q6", "acoustic/R1"),
        arguments: [
            (400, "rejected update.refused"), (409, "rejected update.refused"), (422, "rejected update.refused"),
            (200, "accepted update.visibleLater"), (204, "accepted update.visibleLater"),
        ]
    )
    func `other statuses complete the operation`(_ row: (status: Int, outcome: String)) throws {
        let driver = try TestDriver.ready()
        let id = driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 2, reply(row.status))
        #expect(driver.summary(id) == row.outcome)
        // Both outcomes are rules of the same table.
        _ = ReplyTable.acoustic.row(for: reply(200))
        _ = ReplyTable.acoustic.row(for: reply(418))
    }

    @Test(.shows("acoustic/R2", "acoustic/R4", "acoustic/R5"), arguments: [408, 425, 500, 503, 302, 999, -1])
    func `retries after any other status or failure`(_ status: Int) throws {
        let driver = try TestDriver.ready()
        driver.capture(.set("City", "Turku"), at: 0)
        try driver.exchange(at: 2, status < 0 ? notSent : reply(status))
        #expect(driver.pending.count == 1 && driver.due(at: 2) == 62)
    }

    @Test(.shows("acoustic/W4", "acoustic/W7", "acoustic/W8"))
    func `takes methods, paths and wrappers from the profile setting`() throws {
        let driver = try TestDriver.ready([
            "baseUrl": "https://host.example/base", "appKey": "a/b",
            "profile": [
                "update": ["method": "PUT", "path": "/4.0/{appKey}/of/{userId}", "wrapper": "columns"],
                "delete": ["method": "POST", "path": "/4.0/{appKey}/of/{userId}/gone", "wrapper": "names"],
            ],
        ])
        driver.capture(.set("City", "Turku"), at: 0)
        let update = try driver.exchange(at: 5)
        #expect(update.method == "PUT" && update.url == "https://host.example/base/4.0/a%2Fb/of/user-from-sdk")
        #expect(update.json?["columns"]?[0]?["key"] == "City")
        driver.capture(.unset("City"), at: 10)
        let delete = try driver.exchange(at: 20)
        #expect(delete.url.hasSuffix("/gone") && delete.json == ["names": ["City"]])
    }

    @Test(
        .shows("acoustic/W4"),
        arguments: ["https://host.example", "https://host.example/3.0", "https://host.example/3.0/"]
    )
    func `accepts a base URL with or without the version`(_ base: String) throws {
        let driver = try TestDriver.ready(["baseUrl": .string(base)])
        driver.capture(.set("City", "Turku"), at: 0)
        #expect(
            try driver.exchange(at: 5).url == "https://host.example/3.0/apps/gcb4hVDsXq/users/user-from-sdk/attributes"
        )
    }

    @Test(.shows("acoustic/W2", "acoustic/W6")) func `requests contain only the changed columns`() throws {
        let driver = try TestDriver.ready([:], .set("City", "Turku"))
        driver.capture(.set("Visits", 1), at: 0)
        #expect(try driver.exchange(at: 5).json == ["attributes": [["key": "Visits", "type": "number", "value": 1]]])
        driver.capture(.unset("Visits"), at: 6)
        #expect(try driver.exchange(at: 10).json == ["keys": ["Visits"]])
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
    func `reports the path of an invalid setting`(_ number: Int) throws {
        let row = Self.faults[number]
        let error = #expect(throws: SettingsError.self) {
            try AcousticDevice(settings: TestDriver.settings(row.settings))
        }
        #expect(error?.findings.map(\.path).contains(row.path) == true)
        #expect(error?.findings.allSatisfy { !$0.remedy.isEmpty } == true)
        _ = try? AcousticDevice(settings: TestDriver.settings(["attributeNames": ["a": "Tags"], "tagsColumn": "Tags"]))
        _ = try? AcousticDevice(settings: TestDriver.settings(["attributeNames": ["a": "Town"]]))
    }
}

import Foundation
import PatchbayJSON
import Testing

@Suite("patchbay check --outbox") struct CheckOutboxTests {
    private let driver: CommandDriver

    init() throws { driver = try CommandDriver() }

    /// Creates a configuration with two providers whose addresses do not answer.
    private func configuration(
        _ name: String,
        routed: String,
        settings: JSONObject = [:],
        policy: JSONObject = [:]
    ) throws -> String {
        var crm: JSONObject = [
            "endpoint": "http://127.0.0.1:9/salesforce", "applicationId": "3f2a1c9e-6b5d-4e8f-9a70-1b2c3d4e5f60",
            "accessToken": "${ACCESS_TOKEN}",
        ]
        for member in settings { crm[member.name] = member.value }
        var json: JSONObject = [
            "outbox": ["path": "outbox.sqlite"],
            "providers": [
                "crm": ["adapter": "salesforce", "settings": .object(crm)],
                "news": [
                    "adapter": "altcraft",
                    "settings": ["apiUrl": "http://127.0.0.1:9/altcraft", "pixel": "shop", "tagsField": "labels"],
                ],
            ],
            "routes": [["provider": .string(routed), "mode": "live"]],
        ]
        for member in policy { json[member.name] = member.value }
        return try driver.write(name, JSONValue.object(json).text)
    }

    private static func operation(_ id: String, _ action: String) -> String {
        #"{"id":"\#(id)","subject":"installation-1","capturedAt":"2031-03-09T06:00:00.000Z","action":\#(action)}"#
    }

    private static let input = [
        operation("tag", #"{"kind":"changeTags","tags":{"add":["vip"]}}"#),
        operation("name", #"{"kind":"changeAttributes","changes":{"given_name":{"set":"Aino"}}}"#),
        operation(
            "opt-out",
            #"{"kind":"changeSubscription","subscription":{"channel":"push","state":"unsubscribed"}}"#
        ),
    ].joined(separator: "\n")

    private func capture(policy: JSONObject = [:]) async throws {
        let old = try configuration("old.json", routed: "crm", policy: policy)
        _ = try await driver.run("send", "--config", old, "--until-idle", "0", input: Self.input)
    }

    @Test func `an unchanged configuration changes nothing in the outbox file`() async throws {
        try await capture()
        let same = try configuration("same.json", routed: "crm")
        let before = try Data(contentsOf: URL(filePath: driver.path("outbox.sqlite")))
        let result = try await driver.run("check", "--config", same, "--outbox", "outbox.sqlite")
        #expect(result.status == 0, "\(result.messages)")
        #expect(result.messages.contains("0 would be rejected. Nothing was changed."))
        #expect(try Data(contentsOf: URL(filePath: driver.path("outbox.sqlite"))) == before)
    }

    @Test func `lists the operations that new settings reject, with reasons`() async throws {
        try await capture()
        let narrow = try configuration("narrow.json", routed: "crm", settings: ["accountAttributes": ["email"]])
        let result = try await driver.run("check", narrow, "--outbox", "outbox.sqlite", "--json")
        let rejected = try result.lines.filter { $0["severity"] == "error" }
        #expect(result.status == 1)
        #expect(rejected.map { $0["operation"] } == ["name"])
        #expect(rejected.allSatisfy { $0["provider"] == "crm" && $0["remedy"]?.string != nil })
    }

    @Test func `lists the moved operations of a switch that retargets`() async throws {
        try await capture()
        let next = try configuration("next.json", routed: "news", policy: ["onSwitch": "retarget", "onLoss": "reject"])
        let lines = try await driver.run("check", next, "--outbox", "outbox.sqlite", "--json").lines
        #expect(lines.contains { $0["code"] == "switch.moved" && $0["provider"] == "crm" })
    }

    @Test func `lists the opt-outs that stay with the old provider when a switch retargets`() async throws {
        let paused: JSONValue = [["provider": "news", "mode": "live"], ["provider": "crm", "mode": "paused"]]
        try await capture(policy: ["routes": paused])
        let next = try configuration("next.json", routed: "news", policy: ["onSwitch": "retarget", "onLoss": "reject"])
        let lines = try await driver.run("check", next, "--outbox", "outbox.sqlite", "--json").lines
        #expect(lines.contains { $0["code"] == "switch.stays.optOut" && $0["operation"] == "opt-out" })
    }

    @Test func `lists the remaining operations of a switch that drains`() async throws {
        try await capture()
        let next = try configuration("next.json", routed: "news", policy: ["onSwitch": "drain"])
        let result = try await driver.run("check", next, "--outbox", "outbox.sqlite")
        #expect(result.output.contains("(switch.drained)"))
        #expect(result.output.contains("1 changeAttributes, 1 changeTags"))
    }

    @Test func `reports a missing outbox and creates none`() async throws {
        let same = try configuration("same.json", routed: "crm")
        let result = try await driver.run("check", same, "--outbox", "none.sqlite")
        #expect(result.status != 0 && !driver.files.contains("none.sqlite"))
    }
}

import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Testing

@Suite("Configuration") struct ConfigurationTests {
    static let environment = ["PROBE_TOKEN": "s3cret", "PROBE_HOST": "crm.example", "CONTACT_TOKEN": "jwt"]

    static func load(_ text: String, path: String = "app/patchbay.json") throws(ConfigurationError) -> Configuration {
        try .load(bytes: Array(text.utf8), path: path, environment: environment, modules: [.probes])
    }

    // MARK: Valid files

    @Test func `loads adapters, routes and a catalogue from a full file`() throws {
        let configuration = try Self.load(Example.text("valid/full"))
        #expect(configuration.providers.map(\.name) == ["crm", "next"])
        #expect(configuration.routes.map(\.provider) == ["crm", "next"])
        #expect(configuration.routes.map(\.mode) == [.live, .paused])
        #expect(configuration.onSwitch == .retarget)
        #expect(configuration.requiredConsent == [.tracking, .profile, Consent.Scope(.messaging, channel: .sms)])
        let limits = OutboxLimits(operations: 200_000, bytes: 104_857_600, age: .seconds(30 * 86_400), rejects: 5_000)
        #expect(configuration.outbox == .init(path: "app/data/patchbay.sqlite", history: 5000, limits: limits))
        #expect(configuration.catalogue.entries[.birthDate]?.type == .date)
        #expect(configuration.catalogue.entries["points"]?.owner == .server)
        #expect(configuration.findings.isEmpty)
        let crm = try #require(configuration.provider("crm")?.adapter as? ConfigurationProbe)
        #expect(crm.settings.endpoint == "https://crm.example/v1")
        #expect(crm.settings.token == Secret("s3cret"))
        #expect(crm.settings.limit == 3)
    }

    @Test func `passes the attribute names of the catalogue and of the settings to the adapter`() throws {
        let configuration = try Self.load(Example.text("valid/full"))
        let crm = try #require(configuration.provider("crm")?.adapter as? ConfigurationProbe)
        let next = try #require(configuration.provider("next")?.adapter as? ConfigurationProbe)
        #expect(crm.settings.attributeNames == [.loyaltyTier: "Tier", .birthDate: "BirthDate"])
        #expect(next.settings.attributeNames == [.birthDate: "BirthDate"])
    }

    @Test func `the plan lists each provider with its route and drains a provider without a route`() throws {
        let text = Example.text("valid/full").replacing(
            ",\n    { \"provider\": \"next\", \"mode\": \"paused\" }",
            with: ""
        )
        let plan = try Self.load(text).plan
        #expect(plan.providers.map(\.name) == ["crm", "next"])
        #expect(plan.providers.map(\.mode) == [.live, nil])
        #expect(plan.providers.map(\.rate) == [Rate(10, per: .seconds(1), burst: 5), nil])
        #expect(plan.onSwitch == .retarget)
        #expect(plan.requiredConsent == [.tracking, .profile, Consent.Scope(.messaging, channel: .sms)])
    }

    @Test func `gives percentage routes consecutive shares and lets a shadow send`() throws {
        let configuration = try Self.load(Example.text("valid/routes"))
        #expect(configuration.routes.map(\.mode) == [.percentage, .percentage, .shadow])
        #expect(configuration.routes.map(\.share) == [Share(0..<1250), Share(1250..<10_000), .all])
        #expect(configuration.routes.map(\.sends) == [false, false, true])
        let plan = configuration.plan
        #expect((plan.onSwitch, plan.onLoss) == (.both, .reject))
        #expect(plan.providers.first { $0.name == "next" }?.share == Share(0..<1250))
        #expect(plan.providers.first { $0.name == "trial" }?.sendsShadow == true)
    }

    @Test func `accepts server APIs only in a back-end configuration`() throws {
        let text = Example.text("valid/back-end")
        let configuration = try Self.load(text)
        #expect(configuration.side == .server)
        #expect(configuration.providers.map(\.descriptor.side) == [.server])
        let inAnApp = [text.replacing("\"side\": \"server\"", with: "\"side\": \"device\"")]
        for text in inAnApp + [text.replacing("\"side\": \"server\",", with: "")] {
            let error = #expect(throws: ConfigurationError.self) { try Self.load(text) }
            #expect(error?.findings.map(\.code) == ["configuration.provider.side"])
            #expect(error?.findings.map(\.path) == ["providers.rows.adapter"])
        }
    }

    @Test func `applies the defaults to a minimal file`() throws {
        let configuration = try Self.load(Example.text("valid/minimal"), path: "patchbay.json")
        #expect(configuration.side == .device)
        #expect(configuration.onSwitch == .drain)
        #expect(configuration.outbox == .init(path: "patchbay.sqlite", history: 100_000))
        #expect(configuration.requiredConsent.isEmpty)
        #expect(configuration.catalogue.entries.isEmpty)
    }

    @Test func `keeps an absolute outbox path unchanged`() throws {
        let text = Example.text("valid/full").replacing("data/patchbay.sqlite", with: "/var/lib/patchbay.sqlite")
        #expect(try Self.load(text).outbox.path == "/var/lib/patchbay.sqlite")
    }

    @Test func `reads a doubled dollar sign as literal text`() throws {
        let next = try Self.load(Example.text("valid/full")).provider("next")?.adapter as? ConfigurationProbe
        #expect(next?.settings.token == Secret("prefix-s3cret-${literal}"))
    }

    @Test func `uses a contact's own credential and the default for all others`() throws {
        let credentials = try #require(try Self.load(Example.text("valid/full")).provider("crm")?.credentials)
        #expect(credentials["c-1"] == Secret("Bearer jwt"))
        #expect(credentials["c-2"] == Secret("jwt"))
        #expect(credentials[nil] == Secret("jwt"))
    }

    @Test func `distinguishes the credentials of contacts whose names look alike`() {
        let names = ["Zo\u{EB}", "Zoe\u{308}"]
        let credentials = Configuration.Credentials(contacts: names.map { ($0, Secret("\($0.utf8.count)")) })
        #expect(names.map { credentials[$0] } == [Secret("4"), Secret("5")])
    }

    // MARK: The digest

    private func digest(_ edit: (String) -> String) throws -> String {
        try #require(try Self.load(edit(Example.text("valid/full"))).provider("crm")).settingsDigest
    }

    @Test func `the digest changes with a setting and with a name in the catalogue`() throws {
        let digest = try digest { $0 }
        #expect(digest.utf8.count == 16)
        #expect(try self.digest { $0.replacing("\"limit\": 3", with: "\"limit\": 4") } != digest)
        #expect(try self.digest { $0.replacing("\"BirthDate\"", with: "\"Birthday\"") } != digest)
    }

    @Test func `the digest ignores secrets and the order of members`() throws {
        let digest = try digest { $0 }
        #expect(
            try self.digest { $0.replacing("\"token\": \"${PROBE_TOKEN}\",", with: "\"token\": \"${PROBE_HOST}\",") }
                == digest
        )
        #expect(
            try self.digest {
                $0.replacing("\"limit\": 3,", with: "").replacing(
                    "\"settings\": {\n        \"e",
                    with: "\"settings\": { \"limit\": 3,\n        \"e"
                )
            } == digest
        )
    }

    // MARK: Invalid files

    @Test(arguments: Example.all) func `every example configuration reports exactly its listed findings`(
        _ example: Example
    ) throws {
        var found: [Example.Row]
        do throws(ConfigurationError) {
            let configuration = try Self.load(Example.text(example.name))
            #expect(example.name.hasPrefix("valid/"))
            found = configuration.findings.map { Example.Row($0, nil) }
        } catch {
            #expect(example.name.hasPrefix("invalid/"))
            found = error.placed.map(Example.Row.init)
        }
        let expected = try Example.rows(example.name)
        let listing = found.map(\.text).joined(separator: ",\n")
        #expect(found == expected, "The findings are now:\n\(listing)")
    }

    @Test(arguments: Example.all) func `no finding contains an environment value or a secret`(_ example: Example) {
        do throws(ConfigurationError) {
            _ = try Self.load(Example.text(example.name))
        } catch {
            for secret in Self.environment.values { #expect(!error.description.contains(secret)) }
        }
    }

    @Test func `ignores a byte-order mark and does not count it in positions`() throws {
        let text = Example.text("valid/full")
        #expect(try Self.load("\u{FEFF}" + text).providers.map(\.name) == ["crm", "next"])
        let bare = #expect(throws: ConfigurationError.self) { try Self.load(#"{"x": 1}"#) }
        let marked = #expect(throws: ConfigurationError.self) { try Self.load("\u{FEFF}" + #"{"x": 1}"#) }
        #expect(bare != nil && marked?.description == bare?.description)
    }

    @Test func `suggests a known adapter for a misspelled one`() throws {
        let error = #expect(throws: ConfigurationError.self) {
            try Self.load(Example.text("invalid/everything-at-once"))
        }
        let finding = error?.findings.first { $0.code == "configuration.adapter.unknown" }
        #expect(finding?.reason == "The adapter is unknown (did you mean \"probe\"? known: driver, mute, probe).")
    }

    @Test func `an error message states file, line, column, path and remedy`() {
        let error = #expect(throws: ConfigurationError.self) { try Self.load(Example.text("invalid/no-live-route")) }
        #expect(
            error?.description
                == "app/patchbay.json:3:3: routes: No route is live, so nothing would be sent. Set the mode of one route "
                + "to \"live\" or \"percentage\". (configuration.route.none)"
        )
    }

    @Test func `no error repeats a contact's id from the credentials`() {
        let text = Example.text("valid/full").replacing("\"Bearer ${CONTACT_TOKEN}\"", with: "7, \"c-1\": \"${GONE}\"")
        let error = #expect(throws: ConfigurationError.self) { try Self.load(text) }
        #expect(error?.findings.count == 2)
        #expect(error?.description.contains("c-1") == false)
    }
}

/// One file of `Schemas/configuration/examples`.
struct Example: CustomTestStringConvertible {
    /// A finding in the format of the lists beside the examples.
    struct Row: Equatable {
        let severity: String
        let code: String
        let path: String
        let line: Int?

        init(_ finding: Finding, _ position: SourcePosition?) {
            (severity, code, path) = (finding.severity.rawValue, finding.code, finding.path)
            line = position?.line
        }

        init(_ json: JSONValue) {
            (severity, code) = (json["severity"]?.string ?? "", json["code"]?.string ?? "")
            (path, line) = (json["path"]?.string ?? "", json["line"]?.integer.map { Int($0) })
        }

        var text: String {
            var object: JSONObject = ["severity": .string(severity), "code": .string(code), "path": .string(path)]
            object["line"] = line.map(JSONValue.integer)
            return JSONValue.object(object).text
        }
    }

    private static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Schemas/configuration/examples")

    static let all: [Example] = ["valid", "invalid"].flatMap { kind -> [Example] in
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.appending(path: kind).path)) ?? []
        return files.filter { $0.hasSuffix(".json") && !$0.hasSuffix(".findings.json") }.sorted()
            .map { Example(name: "\(kind)/\($0.dropLast(5))") }
    }

    let name: String
    var testDescription: String { name }

    static func text(_ name: String) -> String {
        (try? String(contentsOf: folder.appending(path: "\(name).json"), encoding: .utf8)) ?? ""
    }

    static func rows(_ name: String) throws -> [Row] {
        let text = text("\(name).findings")
        return try text.isEmpty ? [] : #require(JSONValue(parsing: text).array).map(Row.init)
    }
}

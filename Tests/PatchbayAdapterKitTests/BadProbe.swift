import Foundation
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

/// An adapter of a server API with errors in each of its tables.
struct BadProbe: VendorAdapter {
    struct Settings: AdapterSettings {
        var key: Secret?
        static var table: SettingsTable<Settings> {
            SettingsTable([
                .secret(
                    "key",
                    \.key,
                    rule: RuleID("bad", "no such rule"),
                    "A key.",
                    check: { $0.hasPrefix("bad") ? nil : .init("It is \($0).", "Begin it with bad.") }
                )
            ])
        }
    }

    enum Endpoint: String, AdapterEndpoint {
        case token, say, never
        var isJournaled: Bool { self == .say }
    }

    struct Memory: AdapterMemory {
        var token: String?
        var state: String?
    }

    static let descriptor = AdapterDescriptor(
        id: "bad",
        title: "Bad",
        side: .server,
        memory: .provider,
        capabilities: [
            .operation(.track): .native(), .event(.custom): .native(), .event(.push): .native(),
            .push(.tapped): .native(), .operation(.changeAttributes): .native(), .attribute(.object): .native(),
        ],
        tables: .init(
            rules: [
                Rule(RuleID("bad", "1"), "One.", source: "Unknown"), Rule(RuleID("bad", "1"), "One again.", source: ""),
                Rule(RuleID("worse", "2"), "Another's.", source: "Unknown"),
            ],
            findings: [
                FindingRow(.error("worse.code"), reason: "No cause and no remedy", remedy: ""),
                FindingRow(.note("worse.code"), reason: "Twice", remedy: "No action is needed."),
            ],
            reasonsOfState: ["bad.absent"],
            replies: ReplyTable(
                [
                    .status(200...299, .accepted, rule: RuleID("bad", "1")),
                    .reply(
                        "a body that never comes",
                        .refused,
                        rule: RuleID("bad", "1"),
                        where: .json("never", .exists)
                    ),
                    .status(400...499, .refused, rule: RuleID("bad", "1")),
                ],
                otherwise: .otherwise(.retry, rule: RuleID("bad", "1"))
            ),
            fields: [
                FieldTable<String>("Saying", [.required("text", \.self, .text, from: "text", rule: RuleID("bad", "1"))])
                    .summary
            ]
        )
    )

    init(settings: Settings) {}

    func plan(_ pending: PendingOperations<BadProbe>, memory: Memory, at moment: Moment) -> Plan<BadProbe> {
        let token = WireRequest("POST", "https://bad.example.com/token")
        guard memory.token != nil else { return .send(Transmission(maintenanceRequest: .token, token)) }
        // The request loses numbers and the contents of objects, and returns only the length of the vendor's state.
        let body: JSONValue = ["text": "something", "state": .integer(Int64(memory.state?.count ?? 0))]
        let request = WireRequest("POST", "https://bad.example.com/say", body: Array(body.text.utf8))
        return .send(Transmission(.say, request, carrying: [pending[0]]))
    }

    func interpret(_ exchange: Exchange<BadProbe>, memory: inout Memory) -> Interpretation<BadProbe> {
        let isAccepted = exchange.outcome.reply?.isSuccess ?? false
        if exchange.endpoint == .token, isAccepted { memory.token = "token" }
        if exchange.endpoint == .say { memory.state = exchange.outcome.reply?.json?["state"]?.text }
        return Interpretation(exchange.operations) { _ in
            isAccepted ? .accepted() : .retry(.at(exchange.moment.now + .seconds(60)))
        }
    }

    /// Returns a harness with missing parts and with goldens that belong to no sample.
    static func harness(in folder: URL) throws -> AdapterHarness<BadProbe> {
        for name in ["Requests/absent.txt", "Replies/absent.txt", "Conversations/absent.ndjson"] {
            let file = folder.appendingPathComponent(name)
            try FileManager.default.createDirectory(
                at: file.deletingLastPathComponent(),
                withIntermediateDirectories: true
            )
            try Data("? bad-key-1\n".utf8).write(to: file)
        }
        return try AdapterHarness(
            settings: ["key": "bad-key-1"],
            vendor: .init(
                simulator: BadSimulator(settings: [:]),
                echoes: [
                    Echo(
                        "state",
                        from: "say",
                        giving: "track-plain",
                        returning: "track-order",
                        reply: { WireResponse(200, json: ["state": $0]) },
                        returned: { $0.json?["state"] }
                    )
                ]
            ),
            secrets: .init(handedOut: ["absent-token"]),
            exemptions: [Exemption(check: "no such check", sample: "track-plain", rule: RuleID("bad", "1"))],
            goldens: Goldens(folder: folder, environment: [:]),
            wireSchemas: schemas(in: folder)
        )
    }

    private static func schemas(in folder: URL) throws -> URL {
        let schemas = folder.appendingPathComponent("schemas")
        try FileManager.default.createDirectory(at: schemas, withIntermediateDirectories: true)
        let index = #"{"tables": {"Saying": "say.schema.json#/$defs/saying"}}"#
        let schema = #"{"$defs": {"saying": {"type": "object", "properties": {"words": {"type": "string"}}}}}"#
        try Data(index.utf8).write(to: schemas.appendingPathComponent("index.json"))
        try Data(schema.utf8).write(to: schemas.appendingPathComponent("say.schema.json"))
        return schemas
    }
}

/// A vendor that accepts every request.
struct BadSimulator: VendorSimulator {
    struct State: Codable, Sendable, Equatable {}

    static let id: AdapterID = "bad"
    var initialState: State { State() }

    init(settings: JSONObject) throws(SettingsError) {}

    func respond(to request: WireRequest, state: inout State, now: Instant) -> WireResponse {
        WireResponse(200, json: ["state": "something"])
    }
}

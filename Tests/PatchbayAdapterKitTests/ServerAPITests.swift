import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

/// A minimal server API. Attribute changes are rows, and a request carries many of them.
private struct RowAPI: ServerAPI {
    struct Settings: AdapterSettings {
        static var table: SettingsTable<Settings> { SettingsTable([]) }
    }

    enum Endpoint: String, AdapterEndpoint { case token, rows }

    struct Step: ServerStep, Codable, Sendable, Equatable {
        static let initial = Step()
        var most: Int?
    }

    typealias Memory = ServerMemory

    private static let rule = RuleID("rows", "1")

    enum Findings: ServerFindings {
        static let vendor: AdapterID = "rows"
        static let optionUnknown = FindingRow(
            .warning("rows.server.option", .invalid),
            reason: "No options",
            remedy: "Remove it."
        )
        static let keyBlank = row(.keyBlank)
        static let push = row(.push)
        static let contactSwitch = row(.contactSwitch)
        static let device = row(.device)
        static let consent = row(.consent)
        static let closed = row(.closed)
        static let forbidden = row(.forbidden)
        static let refused = row(.refused)
    }

    static let conventions = ServerConventions<Endpoint>(
        replies: ReplyTable(
            [
                .status(200...299, .accepted, rule: rule), .status(403...403, .suspend, rule: rule),
                .status(400...499, .refused, rule: rule),
            ],
            otherwise: .otherwise(.retry, rule: rule)
        ),
        pace: TokenPolicy(backoff: .doubling(from: .seconds(2), upTo: .seconds(8)), life: 600),
        tokenEndpoint: .token,
        findings: Findings.self
    )

    static let descriptor = AdapterDescriptor(
        id: "rows",
        title: "Rows",
        side: .server,
        memory: .provider,
        capabilities: Capabilities([]),
        tables: .init(rules: [], findings: [], replies: conventions.replies)
    )

    let keyKind = IdentifierKind.external

    init(settings: Settings) {}

    func problems(ofKeyOf operation: EngagementOperation) -> [Finding] {
        operation.contactKey.isEmpty ? [Findings.keyBlank.at("contact")] : []
    }

    func problems(ofContentOf operation: EngagementOperation) -> [Finding] {
        operation.action.kind == .track ? [Findings.push.at("action.event")] : []
    }

    func verdictWithoutRequest(_ pending: Pending<Self>) -> Verdict<Self>? {
        pending.operation.action == .unregister ? .unchanged() : nil
    }

    func tokenRequest(_ memory: Memory) -> WireRequest? { WireRequest("POST", "https://rows.example/token") }

    func transmission(for head: Pending<Self>, in pending: PendingOperations<Self>, _ memory: Memory)
        -> Transmission<Self>
    {
        let headers = [WireHeader("Authorization", memory.authorization, isSecret: true)]
        let group = group(of: head, in: pending, atMost: 4) { $0.operation.action.kind == .changeAttributes }
        return Transmission(.rows, WireRequest("POST", "https://rows.example/rows", headers: headers), carrying: group)
    }

    func interpretAccepted(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self>? {
        guard exchange.outcome.reply?.json?["ok"]?.bool == true else { return nil }
        return Interpretation(exchange.operations) { _ in .accepted() }
    }

    func interpretRefusal(_ exchange: Exchange<Self>, _ finding: FindingRow) -> Interpretation<Self> {
        halved(exchange.operations, rejecting: finding.at("action"))
    }

    func work(for amount: ServerAmount) -> [ServerWork] { [] }
}

@Suite("The base of server APIs") struct ServerAPITests {
    private static let moment = Moment(now: Corpus.start, date: Corpus.start)
    private let api = RowAPI(settings: RowAPI.Settings())

    private func pending(_ count: Int, most: Int? = nil) -> [Pending<RowAPI>] {
        (0..<count).map { place in
            Pending(
                operation: Corpus().operation(1, place, .changeAttributes(["visits": .set(.integer(7))])),
                sequence: Int64(place),
                since: Corpus.start,
                queue: "q-\(place)",
                step: most.map { RowAPI.Step(most: $0) }
            )
        }
    }

    private func exchange(_ operations: [Pending<RowAPI>], _ outcome: Outcome, _ memory: ServerMemory) -> Exchange<
        RowAPI
    > {
        Exchange(
            endpoint: .rows,
            operations: operations,
            request: WireRequest(
                "POST",
                "https://rows.example/rows",
                headers: [WireHeader("Authorization", memory.authorization, isSecret: true)]
            ),
            outcome: outcome,
            startedAt: Corpus.start,
            moment: Self.moment
        )
    }

    /// A memory with a token.
    private var ready: ServerMemory {
        var memory = ServerMemory()
        let reply = Outcome.replied(WireResponse(200, json: ["access_token": "t-1"]))
        let request = Exchange<RowAPI>(
            endpoint: .token,
            operations: [],
            request: WireRequest("POST", "https://rows.example/token"),
            outcome: reply,
            startedAt: Corpus.start,
            moment: Self.moment
        )
        _ = api.interpret(request, memory: &memory)
        return memory
    }

    @Test func `rejects log-ins and consents, and reports no other finding for an event`() {
        let corpus = Corpus()
        let options: [AdapterID: JSONObject] = ["rows": ["colour": "red"]]
        let actions: [Action] = [
            .switchContact(ContactSwitch(.logOut)), .setConsent(Consent(purpose: .messaging, state: .denied)),
        ]
        let codes = actions.map { api.examine(corpus.operation(1, 0, $0)).map(\.code) }
        #expect(codes == [["rows.server.contactSwitch"], ["rows.server.consent"]])
        let unnamed = corpus.operation(1, 0, contact: " ", options: options, .erase)
        #expect(api.examine(unnamed).map(\.code) == ["rows.server.key.blank", "rows.server.option"])
        let event = corpus.operation(1, 0, contact: " ", options: options, .track(.sessionStarted))
        #expect(api.examine(event).map(\.code) == ["rows.server.event.push"])
    }

    @Test func `settles operations without a request, then requests a token, then sends a group`() throws {
        var window = pending(6)
        let leave = Pending<RowAPI>(
            operation: Corpus().operation(1, 9, .unregister),
            sequence: 9,
            since: Corpus.start,
            queue: "q"
        )
        let plan = api.plan(PendingOperations(window + [leave]), memory: ServerMemory(), at: Self.moment)
        guard case .settle(let settled, _) = plan else { return #expect(Bool(false), "\(plan)") }
        #expect(settled == [leave.id: .unchanged()])
        guard case .send(let token) = api.plan(PendingOperations(window), memory: ServerMemory(), at: Self.moment),
            case .send(let rows) = api.plan(PendingOperations(window), memory: ready, at: Self.moment)
        else { return #expect(Bool(false), "nothing is sent") }
        #expect(token.endpoint == .token && token.operations.isEmpty)
        #expect(rows.endpoint == .rows && rows.operations == window.prefix(4).map(\.id))
        // An operation with a lower limit is grouped only with operations of the same limit.
        window = pending(2, most: 1) + window.suffix(2)
        guard case .send(let half) = api.plan(PendingOperations(window), memory: ready, at: Self.moment) else {
            return #expect(Bool(false), "nothing is sent")
        }
        #expect(half.operations == [window[0].id])
    }

    @Test func `splits a refused group in halves and rejects a single refused operation`() {
        var memory = ready
        let refusal = Outcome.replied(WireResponse(400))
        let group = pending(3)
        let halves = api.interpret(exchange(group, refusal, memory), memory: &memory)
        #expect(halves.verdicts.values.allSatisfy { $0 == .inProgress(RowAPI.Step(most: 2)) })
        let alone = api.interpret(exchange([group[0]], refusal, memory), memory: &memory)
        guard case .rejected(let finding, _)? = alone.verdicts[group[0].id] else {
            return #expect(Bool(false), "\(alone)")
        }
        #expect(finding.code == "rows.server.reply.refused")
    }

    @Test(arguments: [Outcome.replied(WireResponse(503)), .replied(WireResponse(200, json: ["ok": false]))])
    func `a failure or an unreadable success makes every lane wait`(_ outcome: Outcome) {
        var memory = ready
        let group = pending(1)
        let meaning = api.interpret(exchange(group, outcome, memory), memory: &memory)
        #expect(meaning.verdicts[group[0].id] == .retry(.at(Corpus.start + .seconds(2))))
        guard case .wait(let end, let finding) = api.plan(PendingOperations(group), memory: memory, at: Self.moment)
        else { return #expect(Bool(false), "the lane does not wait") }
        #expect(end == Corpus.start + .seconds(2) && finding.code == "rows.server.closed")
    }

    @Test func `renews a refused token and keeps the operations of a suspension`() {
        var memory = ready
        let group = pending(2)
        let again = api.interpret(exchange(group, .replied(WireResponse(401)), memory), memory: &memory)
        #expect(again.verdicts.values.allSatisfy { $0 == .retry(.now) } && memory.token == nil)
        memory = ready
        let suspended = api.interpret(exchange(group, .replied(WireResponse(403)), memory), memory: &memory)
        #expect(suspended.suspension?.code == "rows.server.reply.forbidden")
        #expect(suspended.verdicts.values.allSatisfy { !$0.isFinal })
    }
}

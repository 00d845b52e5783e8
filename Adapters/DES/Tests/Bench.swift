import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayDES

/// One installation and its vendor: the smallest engine there can be, with time, blocked queues and wakes.
struct Bench {
    private struct Entry {
        let operation: EngagementOperation
        let sequence: Int64
        let since: Instant
        var step: DESDevice.Step?
        var isImmediate: Bool { operation.action.kind == .readBack }
    }

    /// A request that left.
    struct Sent {
        let endpoint: DESDevice.Endpoint
        let request: WireRequest
        let at: Instant
        let operations: [OperationID]
        var body: JSONValue { request.json ?? .null }
        var eventNames: [String] { body["events"]?.array?.compactMap { $0["name"]?.string } ?? [] }
    }

    var adapter: DESDevice
    let simulator: DESSimulator
    var state: DESState
    var memory = DESMemory()
    var now = Corpus.start
    var credential: Secret?
    /// The next outcomes, in order; nil lets the vendor answer, and so does an empty list.
    var script: [Outcome?] = []
    private(set) var sent: [Sent] = []
    private(set) var verdicts: [OperationID: Verdict<DESDevice>] = [:]
    private(set) var incoming: [JSONValue] = []
    /// Why the installation waits.
    private(set) var waits: Finding?
    private var entries: [Entry] = []
    private var blocks: [String: When] = [:]
    private var count: Int64 = 0

    /// An installation that was never started; `account` is the vendor's side.
    init(_ settings: JSONObject = [:], account: JSONObject = Fixture.account) throws {
        adapter = try Fixture.adapter(settings)
        simulator = try DESSimulator(settings: account)
        state = simulator.initialState
    }

    /// An installation that was registered; what was sent for that is forgotten.
    static func started(
        _ settings: JSONObject = [:],
        account: JSONObject = Fixture.account,
        contact: String? = "c-1001"
    ) throws -> Bench {
        var bench = try Bench(settings, account: account)
        bench.capture(.registerDevice(Corpus.phone))
        if let contact { bench.capture(.logIn(contact)) }
        bench.forget()
        return bench
    }

    mutating func forget() { (sent, verdicts, incoming) = ([], [:], []) }

    var endpoints: [DESDevice.Endpoint] { sent.map(\.endpoint) }
    var last: Sent? { sent.last }
    var client: DESState.Client? { state.clients.last }

    // MARK: What happens

    /// Captures an action and does what can be done now. A capture wakes what waits for something to happen.
    @discardableResult
    mutating func capture(_ action: Action, options: JSONObject = [:], delivering: Bool = true) -> OperationID {
        count += 1
        let tail = String(String(1_000_000_000_000 + count).dropFirst())
        let operation = EngagementOperation(
            id: OperationID(rawValue: "0b5e4c1a-2d3f-4a6b-8c7d-\(tail)"),
            subject: Corpus.installation,
            contact: "c-1001",
            capturedAt: now,
            options: options.isEmpty ? [:] : ["des": options],
            action: action
        )
        let findings = adapter.examine(operation)
        if let finding = findings.first(where: { $0.severity == .error || $0.severity == .foreign }) {
            verdicts[operation.id] = .rejected(finding)
        } else {
            entries.append(Entry(operation: operation, sequence: count, since: now))
        }
        if delivering { wake() }
        return operation.id
    }

    /// Captures an action and gives what became of it.
    mutating func verdict(_ action: Action) -> Verdict<DESDevice>? {
        let id = capture(action)
        return verdicts[id]
    }

    /// Captures several actions before anything leaves.
    @discardableResult
    mutating func capture(together actions: Action...) -> [OperationID] {
        let ids = actions.map { capture($0, delivering: false) }
        wake()
        return ids
    }

    /// The network, the foreground, a flush.
    mutating func wake() {
        blocks = blocks.filter { !$0.value.orWoken }
        deliver()
    }

    mutating func advance(_ milliseconds: Int64) {
        now = now + .milliseconds(milliseconds)
        deliver()
    }

    /// The process dies and another starts: memory and what is pending are all that is left.
    mutating func restart() { wake() }

    // MARK: The engine

    private mutating func deliver() {
        for _ in 0..<200 {
            let window = entries.filter { isOpen($0) }.map(pending)
            guard !window.isEmpty else { return }
            let moment = Moment(now: now, date: now)
            let shown = window.filter(\.isImmediate) + window.filter { !$0.isImmediate }
            switch adapter.plan(
                PendingOperations(shown, hasMore: shown.count < entries.count),
                memory: memory,
                at: moment
            ) {
            case .wait(_, let because):
                waits = because
                return
            case .settle(let verdicts, let remembered):
                memory = remembered ?? memory
                apply(verdicts)
            case .send(let transmission): exchange(transmission, shown, moment)
            }
            waits = nil
        }
    }

    private func isOpen(_ entry: Entry) -> Bool {
        guard !entry.isImmediate, let block = blocks[adapter.place(entry.operation).queue] else { return true }
        return block.until.map { $0 <= now } ?? block.isNow
    }

    private func pending(_ entry: Entry) -> Pending<DESDevice> {
        Pending(
            operation: entry.operation,
            sequence: entry.sequence,
            since: entry.since,
            queue: adapter.place(entry.operation).queue,
            isImmediate: entry.isImmediate,
            step: entry.step,
            credential: credential
        )
    }

    private mutating func exchange(
        _ transmission: Transmission<DESDevice>,
        _ window: [Pending<DESDevice>],
        _ moment: Moment
    ) {
        sent.append(
            Sent(
                endpoint: transmission.endpoint,
                request: transmission.request,
                at: now,
                operations: transmission.operations
            )
        )
        let scripted = script.isEmpty ? nil : script.removeFirst()
        let outcome = scripted ?? .replied(simulator.respond(to: transmission.request, state: &state, now: now))
        let exchange = Exchange<DESDevice>(
            endpoint: transmission.endpoint,
            operations: window.filter { transmission.operations.contains($0.id) },
            request: transmission.request,
            outcome: outcome,
            startedAt: now,
            moment: moment
        )
        let meaning = adapter.interpret(exchange, memory: &memory)
        incoming += meaning.incoming
        apply(meaning.verdicts)
        for followUp in meaning.followUps { capture(followUp.action, delivering: false) }
    }

    private mutating func apply(_ verdicts: [OperationID: Verdict<DESDevice>]) {
        for place in entries.indices.reversed() {
            guard let verdict = verdicts[entries[place].operation.id] else { continue }
            let queue = adapter.place(entries[place].operation).queue
            switch verdict {
            case .underway(let step, let when):
                entries[place].step = step
                if !when.isNow { block(place, queue, when) }
            case .retry(let when): block(place, queue, when)
            default:
                self.verdicts[entries[place].operation.id] = verdict
                entries.remove(at: place)
            }
        }
    }

    private mutating func block(_ place: Int, _ queue: String, _ when: When) {
        if entries[place].isImmediate {
            // A read waits by itself, and nothing else waits with it.
            now = max(now, when.until ?? now)
        } else {
            blocks[queue] = when
        }
    }

    /// How many operations wait.
    var pendingCount: Int { entries.count }
}

extension Action {
    static func logIn(_ value: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, value)]))
    }
    static let logOut = Action.switchContact(ContactSwitch(.logOut))
    static func event(_ name: String, _ attributes: [AttributeName: AttributeValue] = [:]) -> Action {
        .track(.custom(name: name, attributes: attributes))
    }
    static func view(_ campaign: String) -> Action { .track(.messageViewed(messageID: campaign)) }
    static func click(_ campaign: String, _ button: String? = "cta") -> Action {
        .track(.messageClicked(messageID: campaign, buttonID: button))
    }
    static func push(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .push, state: state))
    }
    static func inApp(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .inApp, state: state))
    }
    static func inline(_ view: String) -> Action {
        .readBack(ReadRequest("inline", arguments: ["viewId": .string(view)]))
    }
    static func tag(_ name: String, _ message: String, _ tag: String) -> Action {
        .event(name, ["messageId": .string(message), "tag": .string(tag)])
    }
}

extension Outcome {
    static func status(_ status: Int, _ json: JSONValue? = nil, state: String? = nil) -> Outcome {
        let headers = state.map { [WireHeader("X-CLIENT-STATE", $0)] } ?? []
        return .replied(
            json.map { WireResponse(status, headers: headers, json: $0) } ?? WireResponse(status, headers: headers)
        )
    }
    static let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let offline = Outcome.failed(TransportFailure(.notSent, "offline"))
}

extension Verdict {
    var finding: Finding? {
        switch self {
        case .accepted(let finding, _), .unchanged(let finding): finding
        case .rejected(let finding, _), .dropped(let finding): finding
        default: nil
        }
    }
    var answer: JSONValue? {
        if case .accepted(_, let answer) = self { answer } else { nil }
    }
    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var isUnchanged: Bool { if case .unchanged = self { true } else { false } }
    var isRejected: Bool { if case .rejected = self { true } else { false } }
}

extension JSONValue {
    /// The campaigns of a list of views or clicks.
    func campaigns(_ name: String) -> [String] { self[name]?.array?.compactMap { $0["campaignId"]?.string } ?? [] }
}

extension Optional<JSONValue> {
    func campaigns(_ name: String) -> [String] { self?.campaigns(name) ?? [] }
}

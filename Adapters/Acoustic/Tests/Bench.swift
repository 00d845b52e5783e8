import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

/// One installation at the adapter's door, by hand: what is pending, what is remembered, what time it is.
struct Bench {
    static let subject: Subject = "3f2a8c1e-6b54-4d0f-9a77-51c0de2b8e90"
    static let wall = Instant(milliseconds: 1_930_806_311_042)
    static let ids: JSONValue = ["userId": "user-1", "channelId": "channel-1"]

    let adapter: AcousticDevice
    var memory = AcousticDevice.Memory()
    var pending: [Pending<AcousticDevice>] = []
    private(set) var ended: [OperationID: Verdict<AcousticDevice>] = [:]
    private(set) var parked: Finding?
    private var sequence: Int64 = 0

    init(_ settings: JSONObject = [:]) throws {
        adapter = try AcousticDevice(settings: Bench.settings(settings))
    }

    static func settings(_ more: JSONObject = [:]) throws(SettingsError) -> AcousticSettings {
        try AcousticSettings.table.read(Fixture.settings(more), over: AcousticSettings(), at: "settings")
    }

    /// A bench whose ids are known, with these changes taken by the vendor at second 0.
    static func ready(_ settings: JSONObject = [:], _ actions: Action...) throws -> Bench {
        var bench = try Bench(settings)
        bench.capture(.registerDevice(Fixture.adopted), at: 0)
        try bench.settleAll(at: 0)
        for action in actions {
            bench.capture(action, at: 0)
            try bench.settleAll(at: 0, flush: true)
            if !bench.pending.isEmpty { try bench.exchange(at: 0, flush: true) }
        }
        return bench
    }

    static func at(_ seconds: Int) -> Instant { Instant(milliseconds: Int64(seconds) * 1000) }

    static func operation(
        _ action: Action,
        number: Int64 = 1,
        group: String? = nil,
        options: JSONObject = [:]
    ) -> EngagementOperation {
        EngagementOperation(
            id: OperationID(rawValue: "op-\(number)"),
            subject: subject,
            group: group,
            capturedAt: wall,
            appState: .active,
            options: options.isEmpty ? [:] : ["acoustic": options],
            action: action
        )
    }

    func examine(_ action: Action, options: JSONObject = [:]) -> [Finding] {
        adapter.examine(Bench.operation(action, options: options))
    }

    /// The codes of findings, each with its severity: `error value.type`.
    func words(_ action: Action, options: JSONObject = [:]) -> [String] {
        examine(action, options: options).map { "\($0.severity.rawValue) \($0.code.dropFirst("acoustic.".count))" }
    }

    @discardableResult
    mutating func capture(
        _ action: Action,
        at seconds: Int,
        group: String? = nil,
        options: JSONObject = [:]
    ) -> OperationID {
        sequence += 1
        let operation = Bench.operation(action, number: sequence, group: group, options: options)
        pending.append(
            Pending(
                operation: operation,
                sequence: sequence,
                since: Bench.at(seconds),
                queue: adapter.place(operation).queue,
                isImmediate: action.kind == .readBack
            )
        )
        return operation.id
    }

    func moment(_ seconds: Int, flush: Bool = false, chance: Double = 0.5) -> Moment {
        Moment(now: Bench.at(seconds), date: Bench.wall + .seconds(seconds), flush: flush, chance: chance)
    }

    func plan(at seconds: Int, flush: Bool = false, hasMore: Bool = false) -> Plan<AcousticDevice> {
        adapter.plan(
            PendingOperations(pending, hasMore: hasMore),
            memory: memory,
            at: moment(seconds, flush: flush)
        )
    }

    /// The instant, in seconds, at which the plan wants to act; nil if it waits for something else.
    func due(at seconds: Int, flush: Bool = false) -> Int? {
        switch plan(at: seconds, flush: flush) {
        case .send: seconds
        case .wait(let until, _): until.map { Int($0.seconds) }
        case .settle: nil
        }
    }

    func reason(at seconds: Int) -> String? {
        if case .wait(_, let because) = plan(at: seconds) { because.code } else { nil }
    }

    func transmission(at seconds: Int, flush: Bool = false) throws -> Transmission<AcousticDevice> {
        guard case .send(let transmission) = plan(at: seconds, flush: flush) else {
            throw Surprise("nothing is sent at \(seconds): \(plan(at: seconds, flush: flush))")
        }
        return transmission
    }

    /// Settles what needs no request, sends what is due and lets the vendor answer at once.
    @discardableResult
    mutating func exchange(
        at seconds: Int,
        flush: Bool = false,
        _ outcome: Outcome = .replied(WireResponse(200, json: [:])),
        chance: Double = 0.5
    ) throws -> WireRequest {
        try settleAll(at: seconds, flush: flush)
        let transmission = try transmission(at: seconds, flush: flush)
        let exchange = Exchange<AcousticDevice>(
            endpoint: transmission.endpoint,
            operations: pending.filter { transmission.operations.contains($0.id) },
            request: transmission.request,
            outcome: outcome,
            startedAt: Bench.at(seconds),
            moment: moment(seconds, chance: chance)
        )
        let meaning = adapter.interpret(exchange, memory: &memory)
        parked = meaning.park
        apply(meaning.verdicts)
        return transmission.request
    }

    /// Ends what the plan settles without a request, until it wants something else.
    mutating func settleAll(at seconds: Int, flush: Bool = false) throws {
        for _ in 0..<100 {
            guard !pending.isEmpty, case .settle(let verdicts, let remembering) = plan(at: seconds, flush: flush) else {
                return
            }
            if let remembering { memory = remembering }
            apply(verdicts)
        }
        throw Surprise("plans settle without end")
    }

    private mutating func apply(_ verdicts: [OperationID: Verdict<AcousticDevice>]) {
        pending = pending.compactMap { waiting in
            guard let verdict = verdicts[waiting.id] else { return waiting }
            if verdict.isFinal {
                ended[waiting.id] = verdict
                return nil
            }
            var step = waiting.step
            if case .underway(let new, _) = verdict { step = new }
            return Pending(
                operation: waiting.operation,
                sequence: waiting.sequence,
                since: waiting.since,
                queue: waiting.queue,
                isImmediate: waiting.isImmediate,
                step: step
            )
        }
    }

    /// The word and the finding's code of an operation that ended: `accepted update.visibleLater`.
    func ending(_ id: OperationID) -> String? {
        func text(_ word: String, _ finding: Finding?) -> String {
            word + (finding.map { " \($0.code.dropFirst("acoustic.".count))" } ?? "")
        }
        return switch ended[id] {
        case .accepted(let finding, _): text("accepted", finding)
        case .unchanged(let finding): text("unchanged", finding)
        case .dropped(let finding): text("dropped", finding)
        case .rejected(let finding, _): text("rejected", finding)
        case .superseded(let other): "superseded by \(other.rawValue)"
        case .underway, .retry, nil: nil
        }
    }

    /// The finding of an operation that ended.
    func finding(_ id: OperationID) -> Finding? {
        switch ended[id] {
        case .accepted(let finding, _), .unchanged(let finding): finding
        case .rejected(let finding, _), .dropped(let finding): finding
        default: nil
        }
    }
}

/// Something that a test did not expect.
struct Surprise: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension Action {
    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }
    static func unset(_ name: AttributeName) -> Action { .changeAttributes([name: .unset]) }
    static func add(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(add: tags)) }
    static func remove(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(remove: tags)) }
    static func push(_ state: Subscription.State, topic: String? = nil) -> Action {
        .changeSubscription(Subscription(channel: .push, topic: topic, state: state))
    }
    static func event(_ name: String, _ attributes: [AttributeName: AttributeValue] = [:]) -> Action {
        .track(.custom(name: name, attributes: attributes))
    }
    static func logIn(_ member: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, member)]))
    }
}

extension WireRequest {
    /// Verb, last word of the path, and what it says: `PATCH attributes City=Turku`.
    var words: String {
        let parts = URLText.path(of: url).split(separator: "/")
        let entries = (json?["attributes"]?.array ?? []).map {
            "\($0["key"]?.string ?? "?")=\($0["value"]?.string ?? $0["value"]?.text ?? "?")"
        }
        let keys = (json?["keys"]?.array ?? []).compactMap(\.string)
        let events = (json?["events"]?.array ?? []).map { "\($0["type"]?.string ?? "?")/\($0["name"]?.string ?? "?")" }
        return ([method, String(parts.last ?? "")] + entries + keys + events).joined(separator: " ")
    }
}

let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
let notSent = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))

/// An answer without a body.
func reply(_ status: Int, retryAfter: Int? = nil) -> Outcome {
    .replied(WireResponse(status, headers: retryAfter.map { [WireHeader("Retry-After", String($0))] } ?? []))
}

/// The value of that type in a text.
func typed(_ text: String, _ type: AttributeType) throws -> AttributeValue {
    try #require(AttributeValue(text: text, as: type))
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import Testing

@testable import PatchbaySalesforce

/// One installation at the adapter's door, by hand: what is pending, what is remembered, what time it is.
struct Bench {
    static let configuration: JSONObject = [
        "endpoint": "https://mc0123456789abcdefghijklmnop.device.marketingcloudapis.com/",
        "applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d",
        "accessToken": "q1w2e3r4t5y6u7i8o9p0zxcv",
    ]
    static let subject: Subject = "6b0c7e51-2f6d-4d0b-9a51-0e5e7b1c9d22"
    static let wall = Instant(milliseconds: 1_930_806_311_042)

    let adapter: SalesforceDevice
    var memory = SalesforceDevice.Memory()
    var pending: [Pending<SalesforceDevice>] = []
    private(set) var ended: [OperationID: Verdict<SalesforceDevice>] = [:]
    private var sequence: Int64 = 0

    init(_ settings: JSONObject = [:]) throws {
        var configuration = Bench.configuration
        for member in settings { configuration[member.name] = member.value }
        adapter = try SalesforceDevice(settings: Bench.settings(configuration))
    }

    static func settings(_ object: JSONObject) throws(SettingsError) -> SalesforceSettings {
        try SalesforceSettings.table.read(object, over: SalesforceSettings(), at: "settings")
    }

    /// A bench whose device is registered, at second 0, with what else is said.
    static func registered(_ settings: JSONObject = [:], _ actions: Action...) throws -> Bench {
        var bench = try Bench(settings)
        bench.capture(.registerDevice(.sample), at: 0)
        for action in actions { bench.capture(action, at: 0) }
        try bench.exchange(at: 0, WireResponse(201, headers: [WireHeader("X-Subscriber-Token", "jwt-1")]))
        return bench
    }

    static func at(_ seconds: Int) -> Instant { Instant(milliseconds: Int64(seconds) * 1000) }

    static func operation(
        _ action: Action,
        number: Int64 = 1,
        appState: AppState? = .active,
        options: JSONObject = [:]
    ) -> EngagementOperation {
        EngagementOperation(
            id: OperationID(rawValue: "op-\(number)"),
            subject: subject,
            capturedAt: wall,
            appState: appState,
            options: options.isEmpty ? [:] : ["salesforce": options],
            action: action
        )
    }

    func examine(_ action: Action) -> [Finding] { adapter.examine(Bench.operation(action)) }

    /// The codes of findings, each with its severity: `error salesforce.tag.blank`.
    func words(_ action: Action) -> [String] { examine(action).map { "\($0.severity.rawValue) \($0.code)" } }

    @discardableResult
    mutating func capture(_ action: Action, at seconds: Int, options: JSONObject = [:]) -> OperationID {
        sequence += 1
        let operation = Bench.operation(action, number: sequence, options: options)
        pending.append(
            Pending(
                operation: operation,
                sequence: sequence,
                since: Bench.at(seconds),
                queue: adapter.place(operation).queue
            )
        )
        return operation.id
    }

    func moment(_ seconds: Int, flush: Bool = false) -> Moment {
        Moment(now: Bench.at(seconds), date: Bench.wall + .seconds(seconds), flush: flush)
    }

    func plan(at seconds: Int, flush: Bool = false) -> Plan<SalesforceDevice> {
        adapter.plan(PendingOperations(pending), memory: memory, at: moment(seconds, flush: flush))
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

    func transmission(at seconds: Int) throws -> Transmission<SalesforceDevice> {
        guard case .send(let transmission) = plan(at: seconds) else {
            throw Surprise("nothing is sent at \(seconds): \(plan(at: seconds))")
        }
        return transmission
    }

    /// The body that leaves at that second.
    func body(at seconds: Int) throws -> JSONValue { try #require(transmission(at: seconds).request.json) }

    /// Sends what is due and lets the vendor answer at once.
    @discardableResult
    mutating func exchange(at seconds: Int, _ response: WireResponse = WireResponse(201)) throws -> WireRequest {
        try exchange(at: seconds, .replied(response))
    }

    @discardableResult
    mutating func exchange(at seconds: Int, _ outcome: Outcome) throws -> WireRequest {
        let transmission = try transmission(at: seconds)
        let carried = pending.filter { transmission.operations.contains($0.id) }
        let exchange = Exchange<SalesforceDevice>(
            endpoint: transmission.endpoint,
            operations: carried,
            request: transmission.request,
            outcome: outcome,
            startedAt: Bench.at(seconds),
            moment: moment(seconds)
        )
        apply(adapter.interpret(exchange, memory: &memory).verdicts)
        return transmission.request
    }

    /// Ends what the plan settles without a request.
    mutating func settle(at seconds: Int) throws {
        guard case .settle(let verdicts, let remembered) = plan(at: seconds) else {
            throw Surprise("nothing is settled at \(seconds): \(plan(at: seconds))")
        }
        if let remembered { memory = remembered }
        apply(verdicts)
    }

    private mutating func apply(_ verdicts: [OperationID: Verdict<SalesforceDevice>]) {
        pending = pending.compactMap { waiting in
            guard let verdict = verdicts[waiting.id] else { return waiting }
            if verdict.isFinal {
                ended[waiting.id] = verdict
                return nil
            }
            return Pending(
                operation: waiting.operation,
                sequence: waiting.sequence,
                since: waiting.since,
                queue: waiting.queue,
                failures: waiting.failures + 1
            )
        }
    }

    /// The word and the finding's code of an operation that ended.
    func ending(_ id: OperationID) -> String? {
        switch ended[id] {
        case .accepted(let finding, _): "accepted \(finding?.code ?? "")"
        case .unchanged(let finding): finding.map { "unchanged \($0.code)" } ?? "unchanged"
        case .dropped(let finding): "dropped \(finding.code)"
        case .rejected(let finding, _): "rejected \(finding.code)"
        case .superseded(let later): "superseded by \(later.rawValue)"
        case .underway, .retry, nil: nil
        }
    }

    /// What the app is handed when an operation was accepted.
    func answer(_ id: OperationID) -> JSONValue? {
        if case .accepted(_, let answer) = ended[id] { answer } else { nil }
    }
}

/// Something that a test did not expect.
struct Surprise: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

extension RegistrationRecord {
    /// What a registration of that device alone says.
    static func of(_ device: Device) -> JSONObject? {
        guard var bench = try? Bench() else { return nil }
        bench.capture(.registerDevice(device), at: 0)
        return try? bench.body(at: 0).object
    }
}

extension Device {
    static let sample = Device(
        pushToken: PushToken("0f1e2d3c4b5a69788796a5b4c3d2e1f0"),
        facts: DeviceFacts(
            platform: "iOS",
            platformVersion: "19.2",
            model: "iPhone17,3",
            locale: "fi_FI",
            utcOffsetSeconds: 7200,
            appID: "com.example.shop",
            appVersion: "4.11.0"
        )
    )
}

extension Action {
    static func identify(_ key: String) -> Action { .identify([Identifier(.external, key)]) }
    static func logIn(_ key: String) -> Action {
        .switchContact(ContactSwitch(.logIn, identifiers: [Identifier(.external, key)]))
    }
    static func set(_ name: AttributeName, _ value: AttributeValue) -> Action { .changeAttributes([name: .set(value)]) }
    static func add(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(add: tags)) }
    static func remove(_ tags: PatchbayModel.Tag...) -> Action { .changeTags(TagChange(remove: tags)) }
    static func push(_ state: Subscription.State, topic: String? = nil) -> Action {
        .changeSubscription(Subscription(channel: .push, topic: topic, state: state))
    }
}

extension JSONValue {
    /// The attributes of a registration as `name=value`.
    var pairs: [String] {
        (self["attributes"]?.array ?? []).map { "\($0["key"]?.string ?? "?")=\($0["value"]?.string ?? "?")" }
    }

    /// The tags of a registration.
    var tags: [String] { self["tags"]?.array?.compactMap(\.string) ?? [] }
}

let lost = Outcome.failed(TransportFailure(.lost, "timedOut"))
let notSent = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))
let interrupted = Outcome.failed(TransportFailure(.interrupted, "processDied"))

import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAltcraft

/// One installation that talks to the simulator: the smallest engine there can be.
struct Phone {
    let adapter: AltcraftDevice
    let simulator: AltcraftSimulator
    var state: AltcraftState
    var memory = AltcraftMemory()
    /// What the app gives for each contact; the anonymous person is `""`.
    var credentials: [String: Secret] = ["": Token.nobody, "aino": Token.aino]
    /// Answers that take the vendor's place, by endpoint, each once.
    var instead: [AltcraftDevice.Endpoint: Outcome] = [:]
    var endpoints: [AltcraftDevice.Endpoint] = []
    var now = Corpus.start
    /// The place of the newest operation.
    private var sequence: Int64 = 0
    /// What the app was told beside verdicts.
    var incoming: [JSONValue] = []

    init(settings: JSONObject = [:], account: JSONObject = [:]) throws {
        adapter = try Fixture.adapter(settings)
        simulator = try AltcraftSimulator(settings: account)
        state = simulator.initialState
        deliver(Phone.operation(.registerDevice(Corpus.phone), "install"))
    }

    static func operation(_ action: Action, _ id: String, contact: String? = nil, options: JSONObject = [:])
        -> EngagementOperation
    {
        EngagementOperation(
            id: OperationID(rawValue: id),
            subject: "phone",
            contact: contact,
            capturedAt: Corpus.start,
            options: options.isEmpty ? [:] : ["altcraft": options],
            action: action
        )
    }

    /// Captures an operation and drives it to its end; nil if it waits.
    @discardableResult
    mutating func deliver(_ operation: EngagementOperation) -> Verdict<AltcraftDevice>? {
        var step: AltcraftDevice.Step?
        var failures = 0
        sequence += 1
        for _ in 0..<20 {
            let pending = Pending<AltcraftDevice>(
                operation: operation,
                sequence: sequence,
                since: now,
                queue: adapter.place(operation).queue,
                isImmediate: operation.action.kind == .readBack,
                step: step,
                failures: failures,
                refusals: failures,
                credential: credentials[operation.contact ?? ""]
            )
            let moment = Moment(now: now, date: now)
            switch adapter.plan(PendingOperations([pending]), memory: memory, at: moment) {
            case .wait: return nil
            case .settle(let verdicts, let remembered):
                if let remembered { memory = remembered }
                if let verdict = verdicts[operation.id] { return verdict }
            case .send(let transmission):
                endpoints.append(transmission.endpoint)
                let outcome =
                    instead.removeValue(forKey: transmission.endpoint)
                    ?? .replied(simulator.respond(to: transmission.request, state: &state, now: now))
                let exchange = Exchange<AltcraftDevice>(
                    endpoint: transmission.endpoint,
                    operations: [pending],
                    request: transmission.request,
                    outcome: outcome,
                    startedAt: now,
                    moment: moment
                )
                let interpretation = adapter.interpret(exchange, memory: &memory)
                incoming += interpretation.incoming
                guard let verdict = interpretation.verdicts[operation.id] else { return nil }
                switch verdict {
                case .underway(let next, _): (step, failures) = (next, 0)
                case .retry(let when):
                    now = when.until ?? now
                    failures += 1
                default: return verdict
                }
            }
        }
        return nil
    }
}

/// A plan made of hand-made values.
struct Scene {
    var adapter: AltcraftDevice
    var memory = AltcraftMemory()
    var credential: Secret? = Token.aino

    init(_ settings: JSONObject = [:], device: Device? = Corpus.phone) throws {
        adapter = try Fixture.adapter(settings)
        memory.device = device
        guard adapter.settings.usedRoleToken != nil else { return }
        memory.signature = .init(mark: AltcraftMemory.Signature.mark(of: adapter.settings), since: .beforeAll)
    }

    /// The contact's push subscription, as the vendor last showed it.
    mutating func stand(_ status: String?, of contact: String? = "aino", categories: [String: Bool]? = nil) {
        memory.standing = .init(contact: contact, status: status, categories: categories)
    }

    func pending(
        _ action: Action,
        id: String = "0b5e4c1a-2d3f-4a6b-8c7d-000000000001",
        sequence: Int64 = 1,
        options: JSONObject = [:],
        step: AltcraftDevice.Step? = nil,
        failures: Int = 0,
        refusals: Int = 0,
        contact: String? = "aino",
        since: Instant = Corpus.start
    ) -> Pending<AltcraftDevice> {
        let operation = Phone.operation(action, id, contact: contact, options: options)
        return Pending(
            operation: operation,
            sequence: sequence,
            since: since,
            queue: adapter.place(operation).queue,
            isImmediate: action.kind == .readBack,
            step: step,
            failures: failures,
            refusals: refusals,
            credential: credential
        )
    }

    func plan(_ pending: Pending<AltcraftDevice>...) -> Plan<AltcraftDevice> {
        adapter.plan(PendingOperations(pending), memory: memory, at: Moment(now: Corpus.start, date: Corpus.start))
    }

    /// The request that an operation becomes; nil if it does not leave.
    func request(_ action: Action, options: JSONObject = [:], step: AltcraftDevice.Step? = nil) -> WireRequest? {
        plan(pending(action, options: options, step: step)).request
    }

    func examine(_ action: Action, options: JSONObject = [:]) -> [Finding] {
        adapter.examine(Phone.operation(action, "op", contact: "aino", options: options))
    }

    /// What an outcome means for an operation whose request this scene plans.
    mutating func verdict(
        _ action: Action,
        _ outcome: Outcome,
        options: JSONObject = [:],
        failures: Int = 0,
        refusals: Int = 0
    ) -> (verdict: Verdict<AltcraftDevice>?, park: Finding?) {
        let pending = pending(action, options: options, failures: failures, refusals: refusals)
        guard case .send(let transmission) = plan(pending) else { return (nil, nil) }
        let exchange = Exchange<AltcraftDevice>(
            endpoint: transmission.endpoint,
            operations: [pending],
            request: transmission.request,
            outcome: outcome,
            startedAt: Corpus.start,
            moment: Moment(now: Corpus.start, date: Corpus.start)
        )
        let interpretation = adapter.interpret(exchange, memory: &memory)
        return (interpretation.verdicts[pending.id], interpretation.park)
    }
}

extension Plan {
    var request: WireRequest? { if case .send(let transmission) = self { transmission.request } else { nil } }
    var waitsFor: String? { if case .wait(nil, let because) = self { because.code } else { nil } }
    /// The only verdict that is settled without a request.
    var settled: Verdict<Adapter>? { if case .settle(let verdicts, _) = self { verdicts.first?.value } else { nil } }
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
        switch self {
        case .accepted(_, let answer), .rejected(_, let answer): answer
        default: nil
        }
    }
    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var isRejected: Bool { if case .rejected = self { true } else { false } }
}

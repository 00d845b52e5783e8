import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAdobe

/// One installation that talks to the simulator: the smallest engine there can be, one operation at a time.
struct Phone<Adapter: VendorAdapter, Simulator: VendorSimulator> where Adapter.Memory: Sendable {
    let adapter: Adapter
    let simulator: Simulator
    var state: Simulator.State
    var memory = Adapter.Memory()
    var now = Corpus.start
    /// Answers that take the vendor's place, in order.
    var instead: [Outcome] = []
    /// What left.
    var requests: [WireRequest] = []
    /// The waits between attempts.
    var waits: [Duration] = []

    init(_ adapter: Adapter, _ simulator: Simulator) {
        (self.adapter, self.simulator, state) = (adapter, simulator, simulator.initialState)
    }

    func pending(_ operation: EngagementOperation, step: Adapter.Step? = nil, failures: Int = 0) -> Pending<Adapter> {
        Pending(
            operation: operation,
            sequence: 1,
            since: now,
            queue: adapter.place(operation).queue,
            step: step,
            failures: failures,
            refusals: failures
        )
    }

    func operation(_ action: Action, appState: AppState? = .active) -> EngagementOperation {
        EngagementOperation(
            id: OperationID(rawValue: "op-\(requests.count)-\(action.kind.rawValue)"),
            subject: "phone",
            capturedAt: now,
            appState: appState,
            action: action
        )
    }

    func plan(_ pending: Pending<Adapter>...) -> Plan<Adapter> {
        adapter.plan(PendingOperations(pending), memory: memory, at: Moment(now: now, date: now))
    }

    /// Captures an operation and drives it to its end; nil if it waits for something else. `examine` may refuse it.
    @discardableResult
    mutating func deliver(_ action: Action, appState: AppState? = .active) -> Verdict<Adapter>? {
        let operation = operation(action, appState: appState)
        if let error = adapter.examine(operation).first(where: { $0.severity == .error }) { return .rejected(error) }
        var pending = pending(operation)
        for _ in 0..<40 {
            switch plan(pending) {
            case .wait: return nil
            case .settle(let verdicts, let remembered):
                if let remembered { memory = remembered }
                guard let verdict = verdicts[operation.id], !verdict.isFinal else { return verdicts[operation.id] }
                pending = next(pending, verdict)
            case .send(let transmission):
                let verdict = exchange(transmission, pending)
                guard !verdict.isFinal else { return verdict }
                pending = next(pending, verdict)
            }
        }
        return nil
    }

    private mutating func exchange(_ transmission: Transmission<Adapter>, _ pending: Pending<Adapter>)
        -> Verdict<Adapter>
    {
        requests.append(transmission.request)
        let outcome =
            instead.isEmpty
            ? .replied(simulator.respond(to: transmission.request, state: &state, now: now)) : instead.removeFirst()
        let exchange = Exchange<Adapter>(
            endpoint: transmission.endpoint,
            operations: [pending],
            request: transmission.request,
            outcome: outcome,
            startedAt: now,
            moment: Moment(now: now, date: now)
        )
        return adapter.interpret(exchange, memory: &memory).verdicts[pending.id] ?? .retry(.now)
    }

    private mutating func next(_ old: Pending<Adapter>, _ verdict: Verdict<Adapter>) -> Pending<Adapter> {
        var (step, failures) = (old.step, old.failures)
        switch verdict {
        case .underway(let reached, _): (step, failures) = (reached, 0)
        case .retry(let when):
            failures += 1
            waits.append(when.until.map { $0 - now } ?? .zero)
            now = when.until ?? now
        default: break
        }
        return Pending(
            operation: old.operation,
            sequence: old.sequence,
            since: old.since,
            queue: old.queue,
            step: step,
            failures: failures,
            refusals: failures
        )
    }
}

typealias StandardPhone = Phone<AdobeDevice, AdobeSimulator>
typealias ClassicPhone = Phone<AdobeClassicDevice, AdobeClassicSimulator>

extension Phone where Adapter == AdobeDevice, Simulator == AdobeSimulator {
    /// A phone that is registered at the engine; nothing but its push token has left.
    init(_ settings: JSONObject = [:], account: JSONObject = [:]) throws {
        self.init(try Fixture.adapter(settings), try AdobeSimulator(settings: account))
        deliver(.registerDevice(Corpus.phone))
        requests = []
    }

    /// The identity that the phone has now.
    var ecid: String { Identity.ecid(of: "phone", memory) }

    mutating func push(
        _ interaction: PushInteraction,
        _ changes: [String: JSONValue?] = [:],
        appState: AppState = .active
    )
        -> Verdict<AdobeDevice>?
    {
        deliver(.track(.push(interaction, payload: Fixture.payload(changes))), appState: appState)
    }
}

extension Phone where Adapter == AdobeClassicDevice, Simulator == AdobeClassicSimulator {
    init(_ settings: JSONObject = [:], account: JSONObject = [:]) throws {
        self.init(try ClassicFixture.adapter(settings), try AdobeClassicSimulator(settings: account))
    }
}

extension Verdict {
    var finding: Finding? {
        switch self {
        case .accepted(let finding, _), .unchanged(let finding): finding
        case .rejected(let finding, _), .dropped(let finding): finding
        default: nil
        }
    }
    /// The finding's code, or the verdict in a word.
    var code: String {
        switch self {
        case .accepted(nil, _): "accepted"
        case .unchanged(nil): "unchanged"
        default: finding?.code ?? "\(self)"
        }
    }
    var isAccepted: Bool { if case .accepted = self { true } else { false } }
    var isRejected: Bool { if case .rejected = self { true } else { false } }
    var isDropped: Bool { if case .dropped = self { true } else { false } }
}

/// No answer, of several sorts.
enum Silence {
    static let timedOut = Outcome.failed(TransportFailure(.lost, "timedOut"))
    static let offline = Outcome.failed(TransportFailure(.notSent, "offline"))
    static let unknownHost = Outcome.failed(TransportFailure(.notSent, "hostNotFound"))
}

extension Outcome {
    static func status(_ status: Int) -> Outcome { .replied(WireResponse(status)) }
}

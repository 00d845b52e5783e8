import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting

@testable import PatchbayAltcraft

/// One installation that delivers to the vendor simulator through the engine.
typealias Driver = AdapterTestDriver<AltcraftDevice, AltcraftSimulator>

extension AdapterTestDriver<AltcraftDevice, AltcraftSimulator> {
    /// Creates an installation that is registered, and an app that has credentials of the anonymous contact and of Aino.
    convenience init(settings: JSONObject = [:], account: JSONObject = [:]) throws {
        try self.init(Fixture.adapter(settings), AltcraftSimulator(settings: account), subject: "phone")
        credentials = ["": Token.visitor, "aino": Token.aino]
        deliver(Self.operation(.registerDevice(Corpus.phone), "install"))
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

    /// Captures an operation and advances the time until it has an outcome; nil if it still waits after a day.
    @discardableResult
    func deliver(_ operation: EngagementOperation) -> OperationOutcome? {
        advance(by: .seconds(1))
        capture(together: [operation])
        for _ in 0..<24 where outcome(of: operation.id) == nil { advance(by: .seconds(3600)) }
        return outcome(of: operation.id)
    }
}

extension AltcraftMemory {
    /// The address of the last confirmed subscription. Setting it creates a subscription of Aino with that address.
    var saved: PushAddress? {
        get { holdings.last { $0.certainty == .held }?.address }
        set {
            holdings = []
            if let newValue { hold(nil, at: newValue) }
        }
    }

    /// The subscription whose state is known, the last one; nil if no state is known.
    var shownSubscription: Holding? { holdings.last { $0.status != nil || $0.certainty == .absent } }

    /// Removes the states of all subscriptions.
    mutating func forgetStates() {
        for place in holdings.indices { (holdings[place].status, holdings[place].mayBeSubscribed) = (nil, true) }
    }

    /// Records a subscription as the vendor last showed it. Without a status it is unknown; `absent` means that there is none.
    mutating func hold(_ status: String?, of contact: String? = "aino", at address: PushAddress, isAbsent: Bool = false)
    {
        note(
            .init(
                contact: contact,
                address: address,
                certainty: isAbsent ? .absent : .held,
                status: status,
                mayBeSubscribed: !isAbsent && (status ?? "subscribed") == "subscribed"
            )
        )
    }
}

/// A planning situation from handwritten values.
struct PlanFixture {
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
    mutating func show(_ status: String?, of contact: String? = "aino", categories: [String: Bool]? = nil) {
        guard let address = PushAddress(memory.device) else { return }
        memory.hold(status, of: adapter.person(contact), at: address, isAbsent: status == nil)
        memory.change(adapter.person(contact), at: address) { $0.categories = categories }
        if status == nil { memory.hold(nil, of: adapter.person(contact), at: address, isAbsent: true) }
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
        let operation = Driver.operation(action, id, contact: contact, options: options)
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

    /// Returns the request of an operation; nil if it is not sent.
    func request(_ action: Action, options: JSONObject = [:], step: AltcraftDevice.Step? = nil) -> WireRequest? {
        plan(pending(action, options: options, step: step)).request
    }

    func examine(_ action: Action, options: JSONObject = [:]) -> [Finding] {
        adapter.examine(Driver.operation(action, "op", contact: "aino", options: options))
    }

    /// Returns the verdict of an operation whose request gets an outcome.
    mutating func verdict(
        _ action: Action,
        _ outcome: Outcome,
        options: JSONObject = [:],
        failures: Int = 0,
        refusals: Int = 0
    ) -> (verdict: Verdict<AltcraftDevice>?, suspension: Finding?) {
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
        return (interpretation.verdicts[pending.id], interpretation.suspension)
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

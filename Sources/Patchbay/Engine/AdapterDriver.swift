import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import Synchronization

/// The interface through which the engine calls an adapter.
///
/// It hides the adapter's types: only the implementations of this protocol know them. The engine is compiled once, not once
/// for each adapter, and stores and returns an adapter's values without reading them.
protocol AdapterDriver: Sendable {
    var descriptor: AdapterDescriptor { get }
    func examine(_ operation: EngagementOperation) -> [Finding]
    func place(_ operation: EngagementOperation) -> Place

    /// Returns an operation in the adapter's own form. The driver itself must have made its `step`.
    func view(of pending: Waiting.Facts) -> any AnyObject & Sendable
    /// Returns what to do now with pending operations.
    func plan(_ pending: Window, memory: Memory, at moment: Moment) throws -> Intent
    /// Returns the meaning of an exchange, and the memory after it: the same memory if the exchange changed nothing.
    func interpret(_ ended: Ended, memory: Memory) throws -> (Meaning, Memory)

    /// Returns the kind of request with a name; nil if the adapter has none.
    func endpoint(_ name: String) -> Endpoint?
    /// Decodes stored memory; nil gives empty memory.
    func memory(_ stored: [UInt8]?) throws -> Memory
    /// Decodes the stored progress of an operation.
    func step(_ stored: [UInt8]) throws -> Step
    /// Returns whether the memory belongs to another account than the settings name.
    func mustRegisterAgain(_ memory: Memory) -> Bool
    /// Converts stored state of an older version to the current version.
    func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue
}

/// A kind of request.
struct Endpoint: Hashable, Sendable {
    let name: String
    let isJournaled: Bool
}

/// An adapter's memory.
struct Memory: Equatable, Sendable {
    fileprivate let form: any MemoryForm

    /// Returns the memory in its stored form.
    func bytes() throws -> [UInt8] { try form.bytes() }
    /// The part of the memory that may be kept when the person is erased.
    var afterErase: Memory { form.afterErase }
    /// Returns the memory without the parts that denied scopes cover.
    func afterDenial(of scopes: [Consent.Scope]) -> Memory { form.afterDenial(of: scopes) }
    /// Returns the memory without an erased contact that left the installation before.
    func withoutContact(_ contact: String) -> Memory { form.withoutContact(contact) }

    /// The contacts that an unregistration concerns.
    var registeredContacts: [String?] { form.registeredContacts }

    static func == (left: Memory, right: Memory) -> Bool { left.form === right.form || left.form.isEqual(to: right) }
}

private protocol MemoryForm: AnyObject, Sendable {
    func bytes() throws -> [UInt8]
    var afterErase: Memory { get }
    func afterDenial(of scopes: [Consent.Scope]) -> Memory
    func withoutContact(_ contact: String) -> Memory
    var registeredContacts: [String?] { get }
    func isEqual(to other: Memory) -> Bool
}

/// Held by reference, so that unchanged memory is recognized by identity.
private final class Remembering<Value: AdapterMemory>: MemoryForm {
    let value: Value

    init(_ value: Value) { self.value = value }

    func bytes() throws -> [UInt8] { try StateEncoder.bytes(of: value) }
    var afterErase: Memory { Memory(value.afterErase) }
    func afterDenial(of scopes: [Consent.Scope]) -> Memory {
        Memory(scopes.reduce(value) { memory, scope in memory.afterDenial(of: scope) })
    }
    func withoutContact(_ contact: String) -> Memory { Memory(value.withoutContact(contact)) }
    var registeredContacts: [String?] { value.registeredContacts }
    func isEqual(to other: Memory) -> Bool { (other.form as? Remembering)?.value == value }
}

extension Memory {
    fileprivate init(_ value: some AdapterMemory) { form = Remembering(value) }
}

/// The progress of an operation, decoded by its adapter and as it is stored.
struct Step: Sendable {
    let bytes: [UInt8]
    fileprivate let value: any Sendable
}

/// A pending operation. Immutable, and held by reference because windows are long and passed on at every plan.
final class Waiting: Sendable {
    /// The engine's data about the operation.
    struct Facts: Sendable {
        let operation: EngagementOperation
        let sequence: Int64
        let since: Instant
        let queue: String
        var isImmediate = false
        var step: Step?
        var failures = 0
        var refusals = 0
        var requests: RequestHistory = []
        var credential: Secret?
    }

    let facts: Facts
    /// The kind of the operation.
    let kinds: ActionKinds
    /// The operation in the adapter's form, an immutable `Pending`.
    let view: any AnyObject & Sendable

    init(_ facts: consuming Facts, _ driver: any AdapterDriver) {
        self.facts = facts
        kinds = ActionKinds(self.facts.operation.action)
        view = driver.view(of: self.facts)
    }

    var id: OperationID { facts.operation.id }
    var operation: EngagementOperation { facts.operation }
    var sequence: Int64 { facts.sequence }
    var queue: String { facts.queue }
    var isImmediate: Bool { facts.isImmediate }
    var isErasure: Bool { if case .erase = facts.operation.action { true } else { false } }
    var step: Step? { facts.step }
    var failures: Int { facts.failures }
    var refusals: Int { facts.refusals }
    var requests: RequestHistory { facts.requests }
    /// Returns the request history of the operation's next step, after a request that was acknowledged or not.
    func requests(behind isAcknowledged: Bool) -> RequestHistory {
        requests.intersection(.acknowledged).union(isAcknowledged ? .acknowledged : [])
    }
    var credential: Secret? { facts.credential }
}

/// The operations that a plan sees, each with its view.
struct Window {
    var operations: ArraySlice<Waiting> = []
    var views: ArraySlice<AnyObject> = []
    /// The kinds of operations in the window.
    var kinds: ActionKinds = []
    /// Whether more operations wait than the window shows.
    var hasMore = true
    /// The operations that are not shown, by kind.
    var hidden = HiddenOperations()

    /// Whether the configuration gives the provider no route.
    var isUnrouted = false
    /// Whether the current person allows push messages.
    var allowsPushMessages = true
    var hasEndedPush = false
    var formerlyWithoutPush: Set<String> = []
    var cameAfter: Int64?

    /// Whether the provider is being left: it has no route, or an unregistration waits in the lane, whether shown or not.
    var isLeaving: Bool {
        isUnrouted || hidden.first(.unregister) != nil
            || kinds.contains(.leave) && operations.contains { $0.operation.action == .unregister }
    }
}

/// A decision of a plan.
enum Intent {
    /// Send a request that carries operations (a maintenance request carries none). `unacknowledged` is the memory to keep if
    /// the process dies before the reply; nil if it does not differ.
    case send(Endpoint, WireRequest, [OperationID], unacknowledged: Memory?)
    /// End or advance operations of the window without a request.
    case settle(Meaning, [Waiting], remembering: Memory?)
    case wait(until: Instant?, because: Finding)
}

/// A request in flight. Held by reference because it is large and passed on often, as is its end.
final class Flight: Sendable {
    let ticket: Int
    let endpoint: Endpoint
    let operations: [Waiting]
    let request: WireRequest
    let startedAt: Instant
    /// Whether the request is noted in the outbox's journal.
    let isJournaled: Bool

    init(
        ticket: Int,
        endpoint: Endpoint,
        operations: [Waiting],
        request: WireRequest,
        startedAt: Instant,
        isJournaled: Bool
    ) {
        (self.ticket, self.endpoint, self.operations) = (ticket, endpoint, operations)
        (self.request, self.startedAt, self.isJournaled) = (request, startedAt, isJournaled)
    }
}

/// A finished exchange.
final class Ended: Sendable {
    let flight: Flight
    let outcome: Outcome
    let moment: Moment

    init(flight: Flight, outcome: Outcome, moment: Moment) {
        (self.flight, self.outcome, self.moment) = (flight, outcome, moment)
    }
}

/// The meaning of an exchange for the engine.
struct Meaning: Sendable {
    /// The verdict about each operation, in their order; nil if the adapter gave none.
    var judgements: [Judgement?]
    /// Whether the adapter gave a verdict about an operation that the request did not carry.
    var namesUnknownOperations = false
    var followUps: [FollowUp] = []
    var incoming: [JSONValue] = []
    var suspension: Finding?
}

/// A verdict about an operation. Outcomes are held by reference because they are large and passed on often.
enum Judgement: Sendable {
    indirect case ended(OperationOutcome)
    case inProgress(Step?, When)
    case retry(When)

    /// The most frequent verdict, created once.
    static let accepted = Judgement.ended(OperationOutcome(.accepted))

    /// The outcome of a completed operation; nil while it is pending.
    var outcome: OperationOutcome? { if case .ended(let outcome) = self { outcome } else { nil } }
    var isFinal: Bool { if case .ended = self { true } else { false } }
    /// The verdict for an operation that no request has carried: `unchanged` instead of `accepted`.
    var withoutRequest: Judgement {
        guard case .ended(var outcome) = self, outcome.term == .accepted else { return self }
        outcome.term = .unchanged
        return .ended(outcome)
    }
    /// Whether the verdict reports a failure that the vendor's own message may explain, or explains already.
    var hasFault: Bool {
        if case .ended(let outcome) = self {
            outcome.finding.map { $0.error != nil || $0.vendor != nil } ?? false
        } else {
            false
        }
    }
}

/// The driver of one adapter type. Held by reference because a descriptor is large to copy.
final class Driver<Adapter: VendorAdapter>: AdapterDriver {
    private let adapter: Adapter
    let descriptor: AdapterDescriptor
    private let noSteps: [Adapter.Step] = []
    private let lastStep = Mutex<(step: Adapter.Step, bytes: [UInt8])?>(nil)

    init(_ adapter: Adapter) {
        self.adapter = adapter
        var descriptor = Adapter.descriptor
        descriptor.delivery.window = min(descriptor.delivery.window, adapter.window)
        self.descriptor = descriptor
    }

    func examine(_ operation: EngagementOperation) -> [Finding] { adapter.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { adapter.place(operation) }

    func view(of facts: Waiting.Facts) -> any AnyObject & Sendable {
        Pending<Adapter>(
            facts.operation,
            sequence: facts.sequence,
            since: facts.since,
            queue: facts.queue,
            isImmediate: facts.isImmediate,
            steps: steps(facts.step),
            failures: facts.failures,
            refusals: facts.refusals,
            credential: facts.credential
        )
    }

    private func steps(_ step: Step?) -> [Adapter.Step] {
        guard let step else { return noSteps }
        return (step.value as? Adapter.Step).map { [$0] } ?? noSteps
    }

    /// Casts views to the adapter's form.
    private func known(_ views: some Collection<AnyObject>) -> [Pending<Adapter>] { views.map(own) }

    private func value(_ memory: Memory) -> Adapter.Memory {
        let form: Remembering<Adapter.Memory> = own(memory.form)
        return form.value
    }

    /// Casts a view or a memory, which a runner gets from its own driver only.
    private func own<Form: AnyObject>(_ object: AnyObject) -> Form {
        guard let own = object as? Form else { preconditionFailure("Another driver made this \(type(of: object)).") }
        return own
    }

    func mustRegisterAgain(_ memory: Memory) -> Bool { adapter.mustRegisterAgain(value(memory)) }

    func plan(_ pending: Window, memory: Memory, at moment: Moment) throws -> Intent {
        var window = PendingOperations<Adapter>(
            known(pending.views)[...],
            kinds: pending.kinds,
            hasMore: pending.hasMore
        )
        (window.hidden, window.isLeaving) = (pending.hidden, pending.isLeaving)
        (window.allowsPushMessages, window.hasEndedPush) = (pending.allowsPushMessages, pending.hasEndedPush)
        (window.formerlyWithoutPush, window.cameAfter) = (pending.formerlyWithoutPush, pending.cameAfter)
        switch adapter.plan(window, memory: value(memory), at: moment) {
        case .wait(let until, let because): return .wait(until: until, because: because)
        case .send(let transmission):
            return .send(
                endpoint(transmission.endpoint),
                transmission.request,
                transmission.operations,
                unacknowledged: transmission.unacknowledged.flatMap { $0 == value(memory) ? nil : Memory($0) }
            )
        case .settle(let verdicts, let remembered): return try settlement(verdicts, remembered, of: pending)
        }
    }

    private func settlement(
        _ verdicts: [OperationID: Verdict<Adapter>],
        _ remembered: Adapter.Memory?,
        of pending: Window
    ) throws -> Intent {
        var judgements: [OperationID: Judgement] = Dictionary(minimumCapacity: verdicts.count)
        for (id, verdict) in verdicts { judgements[id] = try judgement(verdict) }
        var meant: [Waiting] = []
        for candidate in pending.operations where meant.count < judgements.count && judgements[candidate.id] != nil {
            meant.append(candidate)
        }
        let meaning = Meaning(
            judgements: meant.map { judgements[$0.id] },
            namesUnknownOperations: meant.count != judgements.count
        )
        return .settle(meaning, meant, remembering: remembered.map { Memory($0) })
    }

    func interpret(_ ended: Ended, memory: Memory) throws -> (Meaning, Memory) {
        let before = value(memory)
        var after = before
        let flight = ended.flight
        guard let endpoint = Adapter.Endpoint(rawValue: flight.endpoint.name) else {
            preconditionFailure("An endpoint of another adapter.")
        }
        let exchange = Exchange<Adapter>(
            endpoint: endpoint,
            operations: known(flight.operations.map { $0.view as AnyObject }),
            request: flight.request,
            outcome: ended.outcome,
            startedAt: flight.startedAt,
            moment: ended.moment
        )
        let said = adapter.interpret(exchange, memory: &after)
        var meaning = try meaning(said, flight)
        if meaning.suspension != nil || meaning.judgements.contains(where: { $0?.hasFault ?? false }) {
            // Most exchanges have no failure to explain.
            let named = said.naming(ended.outcome, to: flight.request, by: descriptor.tables.replies)
            meaning = try self.meaning(named, flight)
        }
        return (meaning, after == before ? memory : Memory(after))
    }

    private func meaning(_ said: Interpretation<Adapter>, _ flight: Flight) throws -> Meaning {
        var meaning = Meaning(
            judgements: [],
            followUps: said.followUps,
            incoming: said.incoming,
            suspension: said.suspension
        )
        meaning.judgements.reserveCapacity(flight.operations.count)
        var count = 0
        for pending in flight.operations {
            guard let verdict = said.verdicts[pending.id] else {
                meaning.judgements.append(nil)
                continue
            }
            count += 1
            meaning.judgements.append(try judgement(verdict))
        }
        meaning.namesUnknownOperations = count != said.verdicts.count
        return meaning
    }

    private func judgement(_ verdict: Verdict<Adapter>) throws -> Judgement {
        switch verdict {
        case .accepted(nil, nil): Judgement.accepted
        case .accepted(let finding, let answer): .ended(OperationOutcome(.accepted, finding: finding, answer: answer))
        case .unchanged(let finding): .ended(OperationOutcome(.unchanged, finding: finding))
        case .superseded: .ended(OperationOutcome(.superseded))
        case .rejected(let finding, let answer): .ended(OperationOutcome(.rejected, finding: finding, answer: answer))
        case .dropped(let finding): .ended(OperationOutcome(.dropped, finding: finding))
        case .inProgress(let step, let when):
            .inProgress(try step.map(stored), when)
        case .retry(let when): .retry(when)
        }
    }

    /// Returns a step in its stored form. Encoding is skipped if the step equals the last one, as it usually does.
    private func stored(_ step: Adapter.Step) throws -> Step {
        try lastStep.withLock { last in
            if let last, last.step == step { return Step(bytes: last.bytes, value: step) }
            let bytes = try StateEncoder.bytes(of: step)
            last = (step, bytes)
            return Step(bytes: bytes, value: step)
        }
    }

    private func endpoint(_ endpoint: Adapter.Endpoint) -> Endpoint {
        Endpoint(name: endpoint.rawValue, isJournaled: endpoint.isJournaled)
    }

    func endpoint(_ name: String) -> Endpoint? { Adapter.Endpoint(rawValue: name).map(endpoint) }

    func memory(_ stored: [UInt8]?) throws -> Memory {
        guard let stored else { return Memory(Adapter.Memory()) }
        return Memory(try StateDecoder.value(Adapter.Memory.self, from: stored))
    }

    func step(_ stored: [UInt8]) throws -> Step {
        Step(bytes: stored, value: try StateDecoder.value(Adapter.Step.self, from: stored))
    }

    func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue {
        try Adapter.upgrade(state, of: part, from: version)
    }
}

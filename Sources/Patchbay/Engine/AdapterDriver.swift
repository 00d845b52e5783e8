import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox
import Synchronization

/// An adapter as the engine calls it.
///
/// The engine is compiled once, not once for each adapter. Only the implementations of this protocol know the adapter's types;
/// the engine stores and returns its values without looking into them.
protocol AdapterDriver: Sendable {
    var descriptor: AdapterDescriptor { get }
    func examine(_ operation: EngagementOperation) -> [Finding]
    func place(_ operation: EngagementOperation) -> Place

    /// An operation in the adapter's own form. `step` was made here.
    func view(of pending: Waiting.Facts) -> any AnyObject & Sendable
    /// What is to be done now.
    func plan(_ pending: Window, memory: Memory, at moment: Moment) throws -> Intent
    /// What an exchange means, and what is remembered after it: the same memory if nothing was learnt.
    func interpret(_ ended: Ended, memory: Memory) throws -> (Meaning, Memory)

    /// The kind of request of that name; nil if the adapter knows none.
    func endpoint(_ name: String) -> Endpoint?
    /// What is remembered, as it was stored; nothing known without it.
    func memory(_ stored: [UInt8]?) throws -> Memory
    /// How far an operation got, as it was stored.
    func step(_ stored: [UInt8]) throws -> Step
    /// Whether what is remembered belongs to another account than the settings name.
    func mustRegisterAgain(_ memory: Memory) -> Bool
    /// Turns stored state of an older version into the present form.
    func upgrade(_ state: JSONValue, of part: StatePart, from version: Int) throws -> JSONValue
}

/// A kind of request.
struct Endpoint: Hashable, Sendable {
    let name: String
    let isJournaled: Bool
}

/// What an adapter remembers.
struct Memory: Equatable, Sendable {
    fileprivate let form: any MemoryForm

    /// As it is stored.
    func bytes() throws -> [UInt8] { try form.bytes() }
    /// What may be kept when the person is forgotten.
    var afterErase: Memory { form.afterErase }
    /// Returns the memory without what denied scopes cover.
    func afterDenial(of scopes: [Consent.Scope]) -> Memory { form.afterDenial(of: scopes) }
    /// Returns the memory without an erased contact that left the installation before.
    func withoutContact(_ contact: String) -> Memory { form.withoutContact(contact) }

    /// The contacts that an unregister concerns.
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

/// Held by reference: what has not changed is known at a glance.
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

/// How far an operation got, in its adapter's words and as it is stored.
struct Step: Sendable {
    let bytes: [UInt8]
    fileprivate let value: any Sendable
}

/// One operation that waits. A value that never changes; held by reference, because windows are long and are handed on at
/// every plan.
final class Waiting: Sendable {
    /// What the engine knows of it.
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
    /// What sort of operation it is.
    let kinds: ActionKinds
    /// The same in the adapter's form, made here: a `Pending`, which never changes either.
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
    /// The same when the operation continues at its next step, behind a request that was acknowledged or not.
    func requests(behind isAcknowledged: Bool) -> RequestHistory {
        requests.intersection(.acknowledged).union(isAcknowledged ? .acknowledged : [])
    }
    var credential: Secret? { facts.credential }
}

/// What a plan is shown: operations, and beside each its view.
struct Window {
    var operations: ArraySlice<Waiting> = []
    var views: ArraySlice<AnyObject> = []
    /// Sorts of operations: no other is among them.
    var kinds: ActionKinds = []
    /// Whether more wait than is shown.
    var hasMore = true
    /// What is not shown, by kind.
    var hidden = HiddenOperations()

    /// Whether the configuration gives the provider no route any more.
    var isUnrouted = false
    /// Whether the person who is there allows push messages.
    var allowsPushMessages = true
    var hasEndedPush = false
    var formerlyWithoutPush: Set<String> = []
    var cameAfter: Int64?

    /// Whether the provider is being left: it has no route, or an unregister waits in the lane, shown or hidden.
    var isLeaving: Bool {
        isUnrouted || hidden.first(.unregister) != nil
            || kinds.contains(.leave) && operations.contains { $0.operation.action == .unregister }
    }
}

/// What is to be done now, in the engine's words.
enum Intent {
    /// One request, the operations that it carries (none is a maintenance request), and what is remembered if the process dies of it, where
    /// that is less than before.
    case send(Endpoint, WireRequest, [OperationID], unacknowledged: Memory?)
    /// These of the window end or go on without a request.
    case settle(Meaning, [Waiting], remembering: Memory?)
    case wait(until: Instant?, because: Finding)
}

/// A request that left. Held by reference, as its end is: it is large, and handed on often.
final class Flight: Sendable {
    let ticket: Int
    let endpoint: Endpoint
    let operations: [Waiting]
    let request: WireRequest
    let startedAt: Instant
    /// Whether the outbox has noted that it left.
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

/// What an exchange means, in the engine's words.
struct Meaning: Sendable {
    /// What became of each operation, in their order; nil where nothing is said.
    var judgements: [Judgement?]
    /// Whether something is said of an operation that was not meant.
    var namesUnknownOperations = false
    var followUps: [FollowUp] = []
    var incoming: [JSONValue] = []
    var suspension: Finding?
}

/// What became of one operation. An outcome is large and handed on often: it is held by reference.
enum Judgement: Sendable {
    indirect case ended(OperationOutcome)
    case underway(Step?, When)
    case retry(When)

    /// What most operations come to, made once.
    static let accepted = Judgement.ended(OperationOutcome(.accepted))

    /// The outcome of an operation that ended; nil while it is pending.
    var outcome: OperationOutcome? { if case .ended(let outcome) = self { outcome } else { nil } }
    var isFinal: Bool { if case .ended = self { true } else { false } }
    /// The same for an operation that no request has carried: nothing was sent, so the vendor accepted nothing.
    var withoutRequest: Judgement {
        guard case .ended(var outcome) = self, outcome.term == .accepted else { return self }
        outcome.term = .unchanged
        return .ended(outcome)
    }
    /// Whether it tells of something that went wrong, and the vendor's own words may say how, or say it already.
    var hasFault: Bool {
        if case .ended(let outcome) = self {
            outcome.finding.map { $0.error != nil || $0.vendor != nil } ?? false
        } else {
            false
        }
    }
}

/// The implementation for one kind of adapter. Held by reference: a descriptor is large to copy.
final class Driver<Adapter: VendorAdapter>: AdapterDriver {
    private let adapter: Adapter
    let descriptor: AdapterDescriptor
    private let noSteps: [Adapter.Step] = []
    private let lastStep = Mutex<(step: Adapter.Step, bytes: [UInt8])?>(nil)

    init(_ adapter: Adapter) {
        self.adapter = adapter
        var descriptor = Adapter.descriptor
        descriptor.window = min(descriptor.window, adapter.window)
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

    // Every view that a runner has was made by `view(of:)` of its own driver, so each is a `Pending<Adapter>`; an array that Swift
    // made, and a slice of it, look the same whatever the class of their objects. To ask each would cost more than many a plan.
    // Memory, too, is the adapter's own.

    /// Views in the adapter's form.
    private func known(_ views: ArraySlice<AnyObject>) -> ArraySlice<Pending<Adapter>> {
        unsafeBitCast(views, to: ArraySlice<Pending<Adapter>>.self)
    }

    /// Views in the adapter's form.
    private func known(_ views: [AnyObject]) -> [Pending<Adapter>] {
        unsafeBitCast(views, to: [Pending<Adapter>].self)
    }

    private func value(_ memory: Memory) -> Adapter.Memory {
        unsafeDowncast(memory.form, to: Remembering<Adapter.Memory>.self).value
    }

    func mustRegisterAgain(_ memory: Memory) -> Bool { adapter.mustRegisterAgain(value(memory)) }

    func plan(_ pending: Window, memory: Memory, at moment: Moment) throws -> Intent {
        var window = PendingOperations<Adapter>(known(pending.views), kinds: pending.kinds, hasMore: pending.hasMore)
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
            // Mostly nothing went wrong, and nothing has to be named.
            let named = said.naming(ended.outcome, to: flight.request, by: descriptor.replies)
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
        case .underway(let step, let when):
            .underway(try step.map(stored), when)
        case .retry(let when): .retry(when)
        }
    }

    /// A step as it is stored. Most operations take the same steps: the last is not encoded again.
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

public import PatchbayJSON
public import PatchbayModel

/// The next step for the pending operations of a lane.
public enum Plan<Adapter: VendorAdapter>: Sendable, Equatable {
    /// Sends a request immediately.
    case send(Transmission<Adapter>)
    /// Completes operations without a request, for example because nothing has changed. May update the adapter's memory.
    case settle([OperationID: Verdict<Adapter>], remembering: Adapter.Memory? = nil)
    /// Waits until an instant, or for the next event if it is nil. The engine calls `plan` again at every event in any case.
    case wait(until: Instant?, because: Finding)

    /// Returns the first plan that acts, otherwise the shortest wait; nil if there is no plan.
    public static func soonest(_ plans: Plan?...) -> Plan? {
        var best: Plan?
        for plan in plans { best = sooner(best, plan) }
        return best
    }

    /// Returns the first of two plans that acts, otherwise the shorter wait; nil if there is no plan.
    @inlinable public static func sooner(_ first: Plan?, _ second: Plan?) -> Plan? {
        guard let second else { return first }
        guard case .wait(let earlier, _)? = first else { return first ?? second }
        guard case .wait(let later, _) = second else { return second }
        guard let later, later < (earlier ?? Instant(milliseconds: .max)) else { return first }
        return second
    }
}

/// A request and the operations that it is made for.
public struct Transmission<Adapter: VendorAdapter>: Sendable, Equatable {
    /// The kind of request.
    public var endpoint: Adapter.Endpoint
    /// The request.
    public var request: WireRequest
    /// The operations that the request carries or is made for; each gets a verdict. Empty for a maintenance request (a token).
    public var operations: [OperationID]
    /// The memory to store before the request is sent: the memory without everything that the request may change at the vendor.
    ///
    /// The engine uses it if the process dies during the request. Nil if the memory does not describe that state, if lanes
    /// share the memory, or if the endpoint is journaled, because then `interpret` receives the interruption.
    ///
    /// The operations of an interrupted request may be gone before they are planned again: moved to another vendor, withdrawn,
    /// or rejected.
    public var unacknowledged: Adapter.Memory?

    /// Creates a transmission.
    @inlinable public init(
        _ endpoint: Adapter.Endpoint,
        _ request: WireRequest,
        carrying operations: some Sequence<Pending<Adapter>>,
        unacknowledged: Adapter.Memory? = nil
    ) {
        // A closure, because Swift would create a key path of a generic type again at every call.
        (self.endpoint, self.request, self.operations) = (endpoint, request, operations.map { $0.id })
        self.unacknowledged = unacknowledged
    }

    /// Creates a maintenance request, which serves no particular operation. One lane sends it for all lanes that share the
    /// memory.
    public init(maintenanceRequest endpoint: Adapter.Endpoint, _ request: WireRequest) {
        (self.endpoint, self.request, self.operations) = (endpoint, request, [])
    }
}

/// A finished exchange.
public struct Exchange<Adapter: VendorAdapter>: Sendable {
    /// The kind of request.
    public let endpoint: Adapter.Endpoint
    /// The operations that the request carried, in their state at `plan`.
    public let operations: [Pending<Adapter>]
    /// The request. After a crash, its secret headers have no values.
    public let request: WireRequest
    /// The outcome of the exchange.
    public let outcome: Outcome
    /// The time at which the request was sent, on the engine's timeline.
    public let startedAt: Instant
    /// The time at which the outcome was known.
    public let moment: Moment

    /// Creates an exchange.
    public init(
        endpoint: Adapter.Endpoint,
        operations: [Pending<Adapter>],
        request: WireRequest,
        outcome: Outcome,
        startedAt: Instant,
        moment: Moment
    ) {
        (self.endpoint, self.operations, self.request) = (endpoint, operations, request)
        (self.outcome, self.startedAt, self.moment) = (outcome, startedAt, moment)
    }

    /// Whether the vendor may have processed the request without confirming it. If true, discard what the request may have
    /// changed from the memory.
    public var mayHaveWorked: Bool {
        switch outcome {
        case .replied(let response):
            response.status >= 500 || response.status == 408 || response.isDetour
        case .failed(let failure): failure.delivery != .notSent
        }
    }
}

/// The result of interpreting an exchange.
public struct Interpretation<Adapter: VendorAdapter>: Sendable, Equatable {
    /// A verdict for every carried operation.
    public var verdicts: [OperationID: Verdict<Adapter>]
    /// New operations for this provider only, added at the end of their queue.
    public var followUps: [FollowUp]
    /// Content for the app, such as a message to show; not stored.
    public var incoming: [JSONValue]
    /// A finding that suspends this provider. Its data is kept until a person acts.
    public var suspension: Finding?

    /// Creates an interpretation.
    public init(
        _ verdicts: [OperationID: Verdict<Adapter>] = [:],
        followUps: [FollowUp] = [],
        incoming: [JSONValue] = [],
        suspension: Finding? = nil
    ) {
        (self.verdicts, self.followUps, self.incoming, self.suspension) = (verdicts, followUps, incoming, suspension)
    }

    /// Creates an interpretation by asking `verdict` for each operation.
    @inlinable public init(
        _ operations: some Sequence<Pending<Adapter>>,
        _ verdict: (Pending<Adapter>) -> Verdict<Adapter>
    ) {
        var verdicts: [OperationID: Verdict<Adapter>] = Dictionary(minimumCapacity: operations.underestimatedCount)
        for pending in operations { verdicts[pending.id] = verdict(pending) }
        self.init(verdicts)
    }
}

/// A new operation that a reply requires.
public struct FollowUp: Hashable, Sendable {
    /// The operation whose exchange requires it. It determines the subject and the contact.
    public var cause: OperationID
    /// The action to perform.
    public var action: Action

    /// Creates a follow-up.
    public init(cause: OperationID, action: Action) { (self.cause, self.action) = (cause, action) }
}

/// The result of an exchange or a plan for one operation.
public enum Verdict<Adapter: VendorAdapter>: Sendable, Equatable {
    /// Final: the vendor accepted the operation. The finding describes limitations (visible later, in part); the answer goes to
    /// the waiting caller. If no request carried the operation, the engine reports `unchanged` instead.
    case accepted(Finding? = nil, answer: JSONValue? = nil)
    /// Final: nothing had to be sent. The vendor already has it, or it concerns only this device; the finding states which.
    case unchanged(Finding? = nil)
    /// Final: a later operation replaced it before it was sent.
    case superseded(by: OperationID)
    /// Final: the vendor or the adapter rejected it or gave up. It is kept for replay.
    case rejected(Finding, answer: JSONValue? = nil)
    /// Final: a rule forbids sending it.
    case dropped(Finding)
    /// Pending with this step (nil resets it to the beginning). Its failures are reset.
    case inProgress(Adapter.Step?, When = .now)
    /// Pending with the same step; one more failure is counted.
    case retry(When)

    /// Whether the operation is completed.
    public var isFinal: Bool {
        switch self {
        case .accepted, .unchanged, .superseded, .rejected, .dropped: true
        case .inProgress, .retry: false
        }
    }
}

/// The time at which an operation's whole queue is planned again.
public struct When: Hashable, Sendable {
    /// The instant before which the queue is not planned; nil if there is none.
    public var until: Instant?
    /// Whether a wake opens the queue at once: the network, the foreground, a flush, or a start. A capture or a query opens
    /// only queues without an instant, so that captures during an outage do not shorten the intervals between attempts.
    public var orWoken: Bool

    /// Creates a time.
    public init(until: Instant?, orWoken: Bool) { (self.until, self.orWoken) = (until, orWoken) }

    /// The queue is not blocked.
    public static let now = When(until: nil, orWoken: false)
    /// The queue is blocked until the lane is woken.
    public static let woken = When(until: nil, orWoken: true)

    /// The queue is blocked until an instant or, if `orWoken` is true, until the lane is woken.
    public static func at(_ instant: Instant, orWoken: Bool = false) -> When { When(until: instant, orWoken: orWoken) }

    /// Whether the queue is not blocked.
    public var isNow: Bool { until == nil && !orWoken }
}

public import PatchbayJSON
public import PatchbayModel

/// What is to be done now.
public enum Plan<Adapter: VendorAdapter>: Sendable, Equatable {
    /// Send this; its bytes leave at once.
    case send(Transmission<Adapter>)
    /// These operations end without a request: unchanged, gated, learnt.
    case settle([OperationID: Verdict<Adapter>], remembering: Adapter.Memory? = nil)
    /// Nothing before that instant, or until something happens (nil). `plan` is asked again at every event all the same.
    case wait(until: Instant?, because: Finding)

    /// Joins the plans of several queues: the first that acts, else the shortest wait. Nil if there is none.
    public static func soonest(_ plans: Plan?...) -> Plan? {
        var best: Plan?
        for plan in plans { best = sooner(best, plan) }
        return best
    }

    /// Joins the plans of two queues: the first that acts, else the shorter wait. Nil if there is none.
    @inlinable public static func sooner(_ first: Plan?, _ second: Plan?) -> Plan? {
        guard let second else { return first }
        guard case .wait(let earlier, _)? = first else { return first ?? second }
        guard case .wait(let later, _) = second else { return second }
        guard let later, later < (earlier ?? Instant(milliseconds: .max)) else { return first }
        return second
    }
}

/// One request and what it is made for.
public struct Transmission<Adapter: VendorAdapter>: Sendable, Equatable {
    /// What kind of request.
    public var endpoint: Adapter.Endpoint
    /// The request.
    public var request: WireRequest
    /// The operations that it carries, or on whose behalf it is made; each gets a verdict. None is a maintenance request (a token).
    public var operations: [OperationID]
    /// What is remembered if the process dies while the request is under way: memory without what the request may change at
    /// the vendor unseen. Nil where memory knows nothing of that, where lanes share it, and where the endpoint is journaled,
    /// so that `interpret` is told.
    ///
    /// What died may be gone before it is planned again: moved to another vendor, withdrawn, refused.
    public var unacknowledged: Adapter.Memory?

    /// A transmission.
    @inlinable public init(
        _ endpoint: Adapter.Endpoint,
        _ request: WireRequest,
        carrying operations: some Sequence<Pending<Adapter>>,
        unacknowledged: Adapter.Memory? = nil
    ) {
        // A key path of a generic type is made anew at every call; a closure is not.
        (self.endpoint, self.request, self.operations) = (endpoint, request, operations.map { $0.id })
        self.unacknowledged = unacknowledged
    }

    /// A maintenance request: a request on nobody's behalf, which one lane does for all that share the memory.
    public init(maintenanceRequest endpoint: Adapter.Endpoint, _ request: WireRequest) {
        (self.endpoint, self.request, self.operations) = (endpoint, request, [])
    }
}

/// A finished exchange.
public struct Exchange<Adapter: VendorAdapter>: Sendable {
    /// What kind of request.
    public let endpoint: Adapter.Endpoint
    /// The operations that it carried, as they were at `plan`.
    public let operations: [Pending<Adapter>]
    /// The request; after a crash without the values of its secret headers.
    public let request: WireRequest
    /// How it ended.
    public let outcome: Outcome
    /// When it left, on the engine's timeline.
    public let startedAt: Instant
    /// When the outcome was known.
    public let moment: Moment

    /// An exchange.
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

    /// Whether the vendor may have done it without a clear yes: forget what this request may have changed there.
    public var mayHaveWorked: Bool {
        switch outcome {
        case .replied(let response):
            response.status >= 500 || response.status == 408 || response.isDetour
        case .failed(let failure): failure.delivery != .notSent
        }
    }
}

/// What an exchange means.
public struct Interpretation<Adapter: VendorAdapter>: Sendable, Equatable {
    /// A verdict for every carried operation.
    public var verdicts: [OperationID: Verdict<Adapter>]
    /// New operations for this provider alone, at the end of their queue.
    public var followUps: [FollowUp]
    /// Content for the app, such as a message to show; not stored.
    public var incoming: [JSONValue]
    /// Stop this provider and keep its data: a person has to act.
    public var suspension: Finding?

    /// An interpretation.
    public init(
        _ verdicts: [OperationID: Verdict<Adapter>] = [:],
        followUps: [FollowUp] = [],
        incoming: [JSONValue] = [],
        suspension: Finding? = nil
    ) {
        (self.verdicts, self.followUps, self.incoming, self.suspension) = (verdicts, followUps, incoming, suspension)
    }

    /// The same question answered for each operation.
    @inlinable public init(
        _ operations: some Sequence<Pending<Adapter>>,
        _ verdict: (Pending<Adapter>) -> Verdict<Adapter>
    ) {
        var verdicts: [OperationID: Verdict<Adapter>] = Dictionary(minimumCapacity: operations.underestimatedCount)
        for pending in operations { verdicts[pending.id] = verdict(pending) }
        self.init(verdicts)
    }
}

/// A new operation that a reply asks for.
public struct FollowUp: Hashable, Sendable {
    /// The operation whose exchange asked for it; it gives subject and contact.
    public var cause: OperationID
    /// What is to be done.
    public var action: Action

    /// A follow-up.
    public init(cause: OperationID, action: Action) { (self.cause, self.action) = (cause, action) }
}

/// What became of one operation.
public enum Verdict<Adapter: VendorAdapter>: Sendable, Equatable {
    /// Final: the vendor took it. The finding says how far (visible later, partly); the answer goes to whoever waits. Of an
    /// operation that no request carried the engine says `unchanged` instead.
    case accepted(Finding? = nil, answer: JSONValue? = nil)
    /// Final: nothing was left to send. The vendor holds it already, or it is for this device alone; the finding says which.
    case unchanged(Finding? = nil)
    /// Final: a later operation replaced it before it left.
    case superseded(by: OperationID)
    /// Final: the vendor or the adapter says no, or gives up. Kept for replay.
    case rejected(Finding, answer: JSONValue? = nil)
    /// Final: a rule says that it must not be sent.
    case dropped(Finding)
    /// Pending, now at this step (nil is as if new); its failures are forgotten.
    case underway(Adapter.Step?, When = .now)
    /// Pending, at the same step, one failure more.
    case retry(When)

    /// Whether the operation ends here.
    public var isFinal: Bool {
        switch self {
        case .accepted, .unchanged, .superseded, .rejected, .dropped: true
        case .underway, .retry: false
        }
    }
}

/// When an operation's whole queue is looked at again.
public struct When: Hashable, Sendable {
    /// Not before that instant.
    public var until: Instant?
    /// But at once when the lane is woken: the network, the foreground, a flush, a start. A capture or a read opens only what
    /// names no instant, so that captures during an outage do not shorten the intervals between attempts.
    public var orWoken: Bool

    /// A moment to look again.
    public init(until: Instant?, orWoken: Bool) { (self.until, self.orWoken) = (until, orWoken) }

    /// Not blocked at all.
    public static let now = When(until: nil, orWoken: false)
    /// Blocked until the lane is woken.
    public static let woken = When(until: nil, orWoken: true)

    /// Blocked until that instant, or until the lane is woken if that is said.
    public static func at(_ instant: Instant, orWoken: Bool = false) -> When { When(until: instant, orWoken: orWoken) }

    /// Whether nothing is blocked.
    public var isNow: Bool { until == nil && !orWoken }
}

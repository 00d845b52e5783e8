public import PatchbayModel

/// A pending operation, as `plan` receives it.
///
/// It is immutable. It is a class because windows are long and are passed on at every plan.
public final class Pending<Adapter: VendorAdapter>: Sendable {
    /// The operation.
    public let operation: EngagementOperation
    /// The position in the order of capture.
    public let sequence: Int64
    /// The time of capture, on the timeline of ``Moment/now``.
    public let since: Instant
    /// Its queue.
    public let queue: String
    /// Whether it is a query whose caller is waiting. Such a query is not stored and comes first in the window.
    public let isImmediate: Bool
    /// The progress of the operation; nil if it has not started.
    @inlinable public var step: Adapter.Step? { steps.first }
    /// An array of one step or none. Creating and releasing an array does not need the metadata of an optional of an adapter's
    /// type, which Swift would look up again for every operation.
    @usableFromInline let steps: [Adapter.Step]
    /// The number of retry verdicts since the last progress.
    public let failures: Int
    /// The number of these failures to which the vendor replied; outages do not count.
    public let refusals: Int
    /// The credential of this operation's contact; nil while no usable one is known.
    ///
    /// An adapter that needs one waits without it (`until: nil`, with a finding whose error is `unauthenticated`). The engine
    /// plans again as soon as a credential is known. Expired and refused credentials are not shown.
    public let credential: Secret?

    /// Creates a pending operation with one step or none, in the stored form.
    package init(
        _ operation: EngagementOperation,
        sequence: Int64,
        since: Instant,
        queue: String,
        isImmediate: Bool,
        steps: [Adapter.Step],
        failures: Int,
        refusals: Int,
        credential: Secret?
    ) {
        (self.operation, self.sequence, self.since, self.queue) = (operation, sequence, since, queue)
        (self.isImmediate, self.steps, self.failures) = (isImmediate, steps, failures)
        (self.refusals, self.credential) = (refusals, credential)
    }

    /// Creates a pending operation.
    public init(
        operation: EngagementOperation,
        sequence: Int64,
        since: Instant,
        queue: String,
        isImmediate: Bool = false,
        step: Adapter.Step? = nil,
        failures: Int = 0,
        refusals: Int = 0,
        credential: Secret? = nil
    ) {
        (self.operation, self.sequence, self.since, self.queue) = (operation, sequence, since, queue)
        (self.isImmediate, self.failures) = (isImmediate, failures)
        steps = step.map { [$0] } ?? []
        (self.refusals, self.credential) = (refusals, credential)
    }

    /// The operation's id.
    @inlinable public var id: OperationID { operation.id }
}

/// A window of a lane's pending operations: immediate queries first, then the operations that are neither blocked nor held, in
/// the order of capture. It is never empty.
public struct PendingOperations<Adapter: VendorAdapter>: RandomAccessCollection, Sendable {
    /// The operations.
    public let operations: ArraySlice<Pending<Adapter>>
    /// A superset of the kinds of operations in the window.
    public let kinds: ActionKinds
    /// Whether more operations are pending than the window contains: after it, or in a closed queue.
    public let hasMore: Bool
    /// The pending operations of the lane that the window does not show, summarized by kind.
    public var hidden = HiddenOperations()
    /// Whether the provider is being left: the configuration gives it no route, or an unregistration (`Action.unregister`) is
    /// pending in this lane, shown or hidden.
    ///
    /// A push token, a permission or a consent that arrives from now on belongs to the next provider. An operation that
    /// waits for one must end with a finding instead, and the unregistration is the last request.
    public var isLeaving = false
    /// Whether the consent of the person who is there now allows push messages: the purpose messaging on the channel push is
    /// neither denied nor required and unanswered, nor is the purpose profile, which covers the registration. Always true in a
    /// lane that several subjects share.
    ///
    /// An adapter whose registration, or whose change of person, makes the vendor send push messages sends it with push
    /// disabled while this is false, and disables push that the vendor may have enabled. The engine plans again when a
    /// consent or a subscription is captured, because the capture enters the lane.
    public var allowsPushMessages = true
    /// Whether the current person has ended or paused the subscription to push as a whole, at this provider or at another.
    /// Always false if the vendor has no such subscription, and in a lane that several subjects share.
    public var hasEndedPush = false
    /// The contacts who used the installation before and did not allow push messages when they left. Empty in a lane that
    /// several subjects share.
    public var formerlyWithoutPush: Set<String> = []
    /// The sequence after which the current person came; nil if there was no other person before, and in a lane that several
    /// subjects share. The change of person itself may be held for a consent, so that no pending operation shows it.
    public var cameAfter: Int64?

    /// Whether the vendor may send push messages to a contact. The current person must allow push messages and not have opted
    /// out of them. A contact who has left must not have done so either.
    ///
    /// While a log-in or a log-out is pending, or if the vendor has no log-out, the vendor still has the contact of a person
    /// who has left. Pass the contact that the vendor will have after the request, not the operation's contact.
    public func allowsPushMessages(to contact: String?) -> Bool {
        allowsPushMessages && !hasEndedPush && !(contact.map(formerlyWithoutPush.contains) ?? false)
    }

    /// Creates a window.
    @inlinable public init(_ operations: [Pending<Adapter>], hasMore: Bool = false) {
        self.init(operations[operations.startIndex..<operations.endIndex], hasMore: hasMore)
    }

    /// Creates a window.
    @inlinable public init(_ operations: ArraySlice<Pending<Adapter>>, hasMore: Bool = false) {
        var kinds: ActionKinds = []
        for pending in operations { kinds.formUnion(ActionKinds(pending.operation.action)) }
        self.init(operations, kinds: kinds, hasMore: hasMore)
    }

    /// Creates a window with a superset of the kinds of operations in it.
    @inlinable public init(_ operations: ArraySlice<Pending<Adapter>>, kinds: ActionKinds, hasMore: Bool) {
        (self.operations, self.kinds, self.hasMore) = (operations, kinds, hasMore)
    }

    /// Returns the operations of these kinds. If the window contains none of the kinds, it is not searched.
    @inlinable public func all(_ wanted: ActionKinds) -> [Pending<Adapter>] {
        guard !kinds.isDisjoint(with: wanted) else { return [] }
        return operations.filter { wanted.contains(ActionKinds($0.operation.action)) }
    }

    /// Iterates over the operations directly, which is faster than by index.
    @inlinable public func makeIterator() -> IndexingIterator<ArraySlice<Pending<Adapter>>> {
        operations.makeIterator()
    }
    @inlinable public var startIndex: Int { 0 }
    @inlinable public var endIndex: Int { operations.count }
    @inlinable public subscript(position: Int) -> Pending<Adapter> { operations[operations.startIndex + position] }

    /// Plans the head of each queue, in the order of capture, until one plan acts. Otherwise returns the shortest wait, or nil
    /// if no plan exists.
    @inlinable public func soonest(_ plan: (Pending<Adapter>) -> Plan<Adapter>) -> Plan<Adapter>? {
        var best: Plan<Adapter>?
        var waiting: Set<String> = []
        for pending in operations where !waiting.contains(pending.queue) {
            best = .sooner(best, plan(pending))
            guard case .wait = best else { return best }
            waiting.insert(pending.queue)
        }
        return best
    }

    /// Returns up to `limit` operations that pass, never one before an earlier operation of its own queue.
    @inlinable public func batch(
        _ limit: Int,
        oncePerQueue: Bool = false,
        where test: (Pending<Adapter>) -> Bool
    ) -> [Pending<Adapter>] {
        var batch: [Pending<Adapter>] = []
        var closed: Set<String> = []
        for pending in operations where !closed.contains(pending.queue) {
            guard batch.count < limit else { break }
            let passes = test(pending)
            if passes { batch.append(pending) }
            if oncePerQueue || !passes { closed.insert(pending.queue) }
        }
        return batch
    }
}

extension Collection {
    /// The size of the first half, at least 1, which a bisection sends next.
    public var halfCount: Int { Swift.max(1, (count + 1) / 2) }
}

/// The pending operations of a lane that the window does not show: behind it, or in a blocked queue.
///
/// The engine summarizes the kinds that later operations depend on: the first and the last operation of each, in order of
/// capture. Use it for a decision that must not depend on the size of the window, for example whether a contact key is
/// about to be set. A request cannot carry a hidden operation.
public struct HiddenOperations: Sendable {
    /// A hidden operation.
    public struct Entry: Sendable {
        /// The operation.
        public let operation: EngagementOperation
        /// Its order of capture.
        public let sequence: Int64

        /// Creates an entry.
        public init(_ operation: EngagementOperation, sequence: Int64) {
            (self.operation, self.sequence) = (operation, sequence)
        }
    }

    /// The kinds that the engine summarizes.
    public static let kinds: Set<Action.Kind> = [
        .registerDevice, .identify, .switchContact, .setConsent, .changeSubscription, .unregister, .erase,
    ]

    private let entries: [Action.Kind: (first: Entry, last: Entry)]

    /// Creates a summary.
    ///
    /// - Parameter entries: The first and the last hidden operation of each kind.
    public init(_ entries: [Action.Kind: (first: Entry, last: Entry)] = [:]) { self.entries = entries }

    /// Returns the first hidden operation of a kind.
    public func first(_ kind: Action.Kind) -> Entry? { entries[kind]?.first }

    /// Returns the last hidden operation of a kind.
    public func last(_ kind: Action.Kind) -> Entry? { entries[kind]?.last }
}

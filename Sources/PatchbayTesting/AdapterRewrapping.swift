import PatchbayAdapterKit

// Conversions of one adapter's values to those of another with the same steps, for adapters that forward to another one.

extension Pending {
    /// Creates the same pending operation for another adapter.
    convenience init<Other>(_ other: Pending<Other>) where Other.Step == Adapter.Step {
        self.init(
            operation: other.operation,
            sequence: other.sequence,
            since: other.since,
            queue: other.queue,
            isImmediate: other.isImmediate,
            step: other.step,
            failures: other.failures,
            refusals: other.refusals,
            credential: other.credential
        )
    }
}

extension PendingOperations {
    /// Creates the window for another adapter.
    init<Other>(_ other: PendingOperations<Other>, _ convert: (Pending<Other>) -> Pending<Adapter>) {
        self.init(other.operations.map(convert)[...], kinds: other.kinds, hasMore: other.hasMore)
        (hidden, isLeaving) = (other.hidden, other.isLeaving)
        (allowsPushMessages, hasEndedPush) = (other.allowsPushMessages, other.hasEndedPush)
        formerlyWithoutPush = other.formerlyWithoutPush
        cameAfter = other.cameAfter
    }
}

extension Verdict {
    /// Creates the verdict of another adapter, with converted waits.
    init<Other>(_ other: Verdict<Other>, _ change: (When) -> When = { $0 }) where Other.Step == Adapter.Step {
        self =
            switch other {
            case .accepted(let finding, let answer): .accepted(finding, answer: answer)
            case .unchanged(let finding): .unchanged(finding)
            case .superseded(let id): .superseded(by: id)
            case .rejected(let finding, let answer): .rejected(finding, answer: answer)
            case .dropped(let finding): .dropped(finding)
            case .inProgress(let step, let when): .inProgress(step, change(when))
            case .retry(let when): .retry(change(when))
            }
    }
}

public import PatchbayModel

/// An operation that has an outcome on a provider's route.
public struct EndedOperation: Hashable, Sendable {
    /// The operation.
    public let id: OperationID
    /// The provider, by its name in the configuration.
    public let provider: String
    /// The outcome.
    public let outcome: OperationOutcome
    /// The number of outcomes just before this one that the listener missed because its buffer was full.
    public let missed: Int
}

/// A sequence of outcomes, from now on until the client is closed.
///
/// ```swift
/// for await ended in client.outcomes() where ended.outcome.term == .rejected {
///     print(ended.id, ended.provider, ended.outcome.finding?.remedy ?? "")
/// }
/// ```
///
/// Every caller gets its own sequence with all outcomes. If a slow reader's buffer is full, new outcomes are left out; the
/// next one that fits has their number in ``EndedOperation/missed``. The outbox's history and the accounts contain every
/// outcome.
public struct Outcomes: AsyncSequence, Sendable {
    /// The type of the elements.
    public typealias Element = EndedOperation
    /// The sequence never fails.
    public typealias Failure = Never

    /// Iterates over the outcomes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncStream<EndedOperation>.Iterator

        /// Returns the next outcome; nil when the client is closed.
        public mutating func next() async -> EndedOperation? { await base.next() }

        /// Returns the next outcome, in the caller's isolation; nil when the client is closed.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> EndedOperation? {
            await base.next(isolation: actor)
        }
    }

    let stream: AsyncStream<EndedOperation>

    /// Starts reading.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }
}

@available(*, unavailable)
extension Outcomes.AsyncIterator: Sendable {}

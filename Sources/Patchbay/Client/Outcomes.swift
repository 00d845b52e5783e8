public import PatchbayModel

/// An operation that has ended on a provider's route.
public struct EndedOperation: Hashable, Sendable {
    /// The operation.
    public let id: OperationID
    /// The provider, by its name in the configuration.
    public let provider: String
    /// What became of it.
    public let outcome: OperationOutcome
    /// How many endings just before it this listener missed, because it had not read what waited for it.
    public let missed: Int
}

/// What becomes of operations, from now on, until the client is closed:
///
/// ```swift
/// for await ended in client.outcomes() where ended.outcome.term == .rejected {
///     print(ended.id, ended.provider, ended.outcome.finding?.remedy ?? "")
/// }
/// ```
///
/// Everybody who asks gets all of it. A slow reader has a buffer; when that is full new endings are left out, and the next
/// one that fits says how many. Every ending stays in the outbox's history and the accounts all the same.
public struct Outcomes: AsyncSequence, Sendable {
    /// What it gives.
    public typealias Element = EndedOperation
    /// It never fails.
    public typealias Failure = Never

    /// Gives the endings one by one.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var base: AsyncStream<EndedOperation>.Iterator

        /// The next ending; nil when the client is closed.
        public mutating func next() async -> EndedOperation? { await base.next() }

        /// The next ending, in the caller's isolation; nil when the client is closed.
        public mutating func next(isolation actor: isolated (any Actor)?) async -> EndedOperation? {
            await base.next(isolation: actor)
        }
    }

    let stream: AsyncStream<EndedOperation>

    /// Begins to read.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }
}

@available(*, unavailable)
extension Outcomes.AsyncIterator: Sendable {}

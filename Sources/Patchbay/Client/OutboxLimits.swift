/// Limits on the size of an outbox.
///
/// If a capture exceeds a limit, the oldest tracking events whose delivery has not begun are dropped first. An explicit group
/// is dropped as a whole or not at all. Each dropped event ends as ``OperationOutcome/Term/dropped`` on all its routes, with
/// the finding `engine.outbox.full` or `engine.outbox.aged`. The outcome is stored in the transaction of the capture and
/// appears in the accounts and as an event.
///
/// Operations about identity, attributes and consent are never dropped. If nothing else can be dropped:
///
/// - A new tracking event is dropped.
/// - A consent decision or an erasure is captured.
/// - Any other capture throws a ``CaptureError`` of code `storage`.
///
/// A process that does not deliver cannot know which events are being delivered. It drops its own new events only.
public struct OutboxLimits: Hashable, Sendable {
    /// The maximum number of pending operations.
    public var operations: Int
    /// The maximum size of pending operations in bytes: their JSON, plus 512 bytes per operation for rows and indexes.
    public var bytes: Int
    /// The age at which tracking events are dropped; nil keeps them without a time limit.
    public var age: Duration?
    /// The maximum number of rejected operations kept for replay. The oldest are deleted first, which is reported.
    public var rejects: Int

    /// Creates limits. The defaults are 1,000,000 operations, 1 GiB, no maximum age, and 100,000 rejects.
    public init(operations: Int = 1_000_000, bytes: Int = 1 << 30, age: Duration? = nil, rejects: Int = 100_000) {
        (self.operations, self.bytes, self.age, self.rejects) = (operations, bytes, age, rejects)
    }
}

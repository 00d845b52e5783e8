/// How much an outbox may hold.
///
/// When a capture goes beyond a limit, the oldest tracking events go first: those that nobody has begun to deliver, an
/// explicit group whole or not at all. Each ends as ``OperationOutcome/Term/dropped`` on every route that it was on, with the
/// finding `engine.outbox.full` or `engine.outbox.aged`, in the accounts and as an event, in the transaction of the capture.
/// What says who somebody is, how they are or what they allow is never dropped. Where nothing else can go, a new tracking
/// event is dropped as it comes, and any other capture is refused with a ``CaptureError`` of code `storage`; words on consent
/// and erasures are taken all the same.
///
/// A process that does not deliver can't know what is on its way: it drops of its own new events alone.
public struct OutboxLimits: Hashable, Sendable {
    /// So many operations may be pending.
    public var operations: Int
    /// So many bytes may what is pending take in the file: its JSON, and 512 bytes for each operation's rows and indexes.
    public var bytes: Int
    /// Tracking events that have waited so long are dropped; nil keeps them for ever.
    public var age: Duration?
    /// So many rejected operations are kept for replay; the oldest beyond are forgotten, and that is told.
    public var rejects: Int

    /// Limits. Unless said otherwise: a million operations, a gibibyte, any age, a hundred thousand rejects.
    public init(operations: Int = 1_000_000, bytes: Int = 1 << 30, age: Duration? = nil, rejects: Int = 100_000) {
        (self.operations, self.bytes, self.age, self.rejects) = (operations, bytes, age, rejects)
    }
}

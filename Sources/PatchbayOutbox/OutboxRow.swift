/// The location of an outbox.
package enum OutboxLocation: Sendable, Equatable {
    case file(String)
    case memory
    /// In memory, shared by all stores in this process that open the same name. Simulations of several processes use it.
    case shared(String)
}

/// The durability that a commit guarantees when it returns.
package enum Durability: Sendable, Equatable {
    /// Synced to disk; survives a power failure.
    case full
    /// Handed to the operating system; survives the death of the process.
    case normal
}

/// A captured operation as the outbox stores it: an opaque body with the columns that queries need.
package struct OutboxOperation: Sendable, Equatable {
    /// The position in the order of capture. `insert` assigns it; it rises strictly and is never reused.
    package var sequence: Int64
    package var id: String
    package var subject: String
    package var group: String?
    /// The time of capture by the wall clock, in milliseconds.
    package var capturedAt: Int64
    /// The time of capture on the engine's own timeline, in milliseconds.
    package var since: Int64
    package var body: [UInt8]

    package init(
        sequence: Int64 = 0,
        id: String,
        subject: String,
        group: String? = nil,
        capturedAt: Int64,
        since: Int64,
        body: [UInt8]
    ) {
        self.sequence = sequence
        self.id = id
        self.subject = subject
        self.group = group
        self.capturedAt = capturedAt
        self.since = since
        self.body = body
    }
}

/// The history of the requests that carried an operation to one provider.
package struct RequestHistory: OptionSet, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The last request was sent, and no reply reports its result.
    package static let uncertain = RequestHistory(rawValue: 1)
    /// The vendor acknowledged a request, after which the operation continued with its next step.
    package static let acknowledged = RequestHistory(rawValue: 2)
}

/// A pending operation of one provider.
package struct OutboxRow: Sendable, Equatable {
    package var operation: OutboxOperation
    package var provider: String
    package var lane: String
    package var queue: String
    /// The name of the hold that prevents planning this row; nil if there is none.
    package var hold: String?
    package var step: [UInt8]?
    package var failures: Int
    package var refusals: Int
    /// The kind of operation, if the caller needs to find it by kind; nil for most operations.
    package var kind: String?
    /// The history of the requests that carried the operation so far.
    package var requests: RequestHistory

    package init(
        operation: OutboxOperation,
        provider: String,
        lane: String,
        queue: String,
        hold: String? = nil,
        step: [UInt8]? = nil,
        failures: Int = 0,
        refusals: Int = 0,
        kind: String? = nil,
        requests: RequestHistory = []
    ) {
        self.operation = operation
        self.provider = provider
        self.lane = lane
        self.queue = queue
        self.hold = hold
        self.step = step
        self.failures = failures
        self.refusals = refusals
        self.kind = kind
        self.requests = requests
    }
}

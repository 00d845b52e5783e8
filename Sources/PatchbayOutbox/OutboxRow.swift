/// Where an outbox lives.
package enum OutboxLocation: Sendable, Equatable {
    case file(String)
    case memory
    /// In memory, shared by all that open that name in this process: for simulations of several processes.
    case shared(String)
}

/// How far a commit must have got before it returns.
package enum Durability: Sendable, Equatable {
    /// Synced to the disk: survives a power failure.
    case full
    /// Handed to the operating system: survives the death of the process.
    case normal
}

/// One captured operation, as the outbox sees it: an opaque body with the columns that queries need.
package struct OutboxOperation: Sendable, Equatable {
    /// Order of capture; assigned by `insert`, strictly rising, never used twice.
    package var sequence: Int64
    package var id: String
    package var subject: String
    package var group: String?
    /// Milliseconds by the wall clock.
    package var capturedAt: Int64
    /// Milliseconds on the engine's own timeline.
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

/// What became of the requests that carried an operation to one provider.
package struct RequestHistory: OptionSet, Sendable {
    package let rawValue: Int64

    package init(rawValue: Int64) { self.rawValue = rawValue }

    /// The last request left, and no reply says what became of it.
    package static let uncertain = RequestHistory(rawValue: 1)
    /// The vendor acknowledged a request, after which the operation continued at its next step.
    package static let acknowledged = RequestHistory(rawValue: 2)
}

/// One operation on its way to one provider.
package struct OutboxRow: Sendable, Equatable {
    package var operation: OutboxOperation
    package var provider: String
    package var lane: String
    package var queue: String
    /// The named reason why this row may not be planned; nil when it may.
    package var hold: String?
    package var step: [UInt8]?
    package var failures: Int
    package var refusals: Int
    /// The kind of operation, where the caller wants to find it by kind; nil for the bulk of operations.
    package var kind: String?
    /// What became of the requests that carried the operation so far.
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

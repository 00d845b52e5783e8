/// A queue that is closed until an instant, until its lane is woken, or until the earlier of both.
package struct QueueBlock: Sendable, Equatable {
    package var lane: String
    package var queue: String
    /// Milliseconds on the engine's timeline; nil means no timer.
    package var until: Int64?
    package var orWoken: Bool

    package init(lane: String, queue: String, until: Int64?, orWoken: Bool) {
        self.lane = lane
        self.queue = queue
        self.until = until
        self.orWoken = orWoken
    }
}

/// A request that was about to be sent. An entry found after a crash may have reached the vendor.
package struct JournalEntry: Sendable, Equatable {
    package var lane: String
    package var endpoint: String
    /// The ids of the operations in the request.
    package var operations: [String]
    package var request: [UInt8]
    package var startedAt: Int64

    package init(lane: String, endpoint: String, operations: [String], request: [UInt8], startedAt: Int64) {
        self.lane = lane
        self.endpoint = endpoint
        self.operations = operations
        self.request = request
        self.startedAt = startedAt
    }
}

/// One line of a provider's accounts.
package struct AccountLine: Sendable, Hashable {
    package var provider: String
    package var term: String
    package var code: String
    package var count: Int64

    package init(provider: String, term: String, code: String, count: Int64) {
        self.provider = provider
        self.term = term
        self.code = code
        self.count = count
    }
}

/// The state of a provider that the outbox keeps between two starts.
package struct ProviderRecord: Sendable, Equatable {
    package var name: String
    package var adapter: String
    package var stateVersion: Int
    /// The state of the route as the engine names it ("live", "draining", "gone", …).
    package var state: String
    /// The reason for a suspension, as the engine encoded it; nil if the provider is not suspended.
    package var suspended: [UInt8]?
    package var settingsDigest: String

    package init(
        name: String,
        adapter: String,
        stateVersion: Int,
        state: String,
        suspended: [UInt8]? = nil,
        settingsDigest: String
    ) {
        self.name = name
        self.adapter = adapter
        self.stateVersion = stateVersion
        self.state = state
        self.suspended = suspended
        self.settingsDigest = settingsDigest
    }
}

/// An adapter's memory for one lane, or for the whole provider under a lane name that the engine chose.
package struct MemoryRecord: Sendable, Equatable {
    package var lane: String
    package var version: Int
    package var body: [UInt8]
}

/// The outcome of one operation for one provider.
package struct HistoryEntry: Sendable, Equatable {
    package var provider: String
    package var id: String
    package var term: String
    package var code: String
    package var at: Int64
}

/// An outcome with its position in the order of all outcomes.
package struct NumberedOutcome: Sendable, Equatable {
    package var number: Int64
    package var entry: HistoryEntry
    /// The finding of a rejected operation, as the engine encoded it (JSON).
    package var finding: [UInt8]?
}

/// A rejected operation, kept for replay.
package struct RejectRecord: Sendable, Equatable {
    /// The number that identifies this record in ``OutboxRejects/remove(_:)``. Numbers rise over time.
    package var number: Int64
    package var provider: String
    package var operation: OutboxOperation
    package var code: String
    package var at: Int64
    /// The finding, as the engine encoded it (JSON).
    package var finding: [UInt8]
}

/// A row whose checksum did not match, stored as it was found.
package struct QuarantineRecord: Sendable, Equatable {
    package var number: Int64
    /// The table that contained the row.
    package var table: String
    package var sequence: Int64?
    package var provider: String?
    /// All fields of the row, in the encoding that the checksum covers (see `RowImage`).
    package var image: [UInt8]
}

/// A queue that is closed until an instant, until its lane is woken, or whichever comes first.
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

/// A request that was about to leave: what stands here after a crash may have reached the vendor.
package struct JournalEntry: Sendable, Equatable {
    package var lane: String
    package var endpoint: String
    /// Ids of the operations the request carried.
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

/// One line of a provider's balance.
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

/// What the outbox knows of a provider between two starts.
package struct ProviderRecord: Sendable, Equatable {
    package var name: String
    package var adapter: String
    package var stateVersion: Int
    /// The route's state in the engine's own words ("live", "draining", "gone", …).
    package var state: String
    /// Why the provider is suspended, as the engine wrote it; nil when it is not.
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

/// What an adapter remembers for one lane, or for the whole provider under the lane name the engine chose.
package struct MemoryRecord: Sendable, Equatable {
    package var lane: String
    package var version: Int
    package var body: [UInt8]
}

/// How one operation ended on one route.
package struct HistoryEntry: Sendable, Equatable {
    package var provider: String
    package var id: String
    package var term: String
    package var code: String
    package var at: Int64
}

/// An ending with its place in the order of all of them.
package struct Ending: Sendable, Equatable {
    package var number: Int64
    package var entry: HistoryEntry
    /// The finding of a reject as the engine wrote it (JSON).
    package var finding: [UInt8]?
}

/// A rejected operation, kept for replay.
package struct RejectRecord: Sendable, Equatable {
    /// Names this record in `removeReject`; rising with time.
    package var number: Int64
    package var provider: String
    package var operation: OutboxOperation
    package var code: String
    package var at: Int64
    /// The finding as the engine wrote it (JSON).
    package var finding: [UInt8]
}

/// A row whose checksum did not hold, set aside as it was found.
package struct QuarantineRecord: Sendable, Equatable {
    package var number: Int64
    /// The table the row stood in.
    package var table: String
    package var sequence: Int64?
    package var provider: String?
    /// All fields of the row, in the form the checksum is made of (see `RowImage`).
    package var image: [UInt8]
}

import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What each lane is doing, in this process.
extension Runner {
    /// What one lane is doing. Lives in the process; what must survive stands in the outbox.
    struct Lane {
        /// Closed queues. One whose instant has passed is open; its row goes when something in it ends.
        var blocks: [String: When] = [:]
        /// Whether `blocks` has been read from the outbox.
        var isRead = false
        /// Queues that a wake opens are open here, and perhaps not yet in the outbox.
        var isWoken = false
        var flight: Flight?
        /// An exchange whose outcome could not be stored: it is settled before anything else is planned.
        var unsettled: Ended?
        var reads: [Read] = []
        /// When the lane wants to be planned; nil is not before something happens.
        var due: Instant?
        var flush = false
        var because: Finding?
        /// Why the last exchange has to be repeated.
        var failure: Finding?
        /// Plans in a row without time passing.
        var spins = 0
        var lastPlan: Instant?
        /// Exchanges in a row that ended nothing and wait for nothing.
        var barren = 0
        var lastExchangeFailed = false
        /// The network or the app came back while a request was in flight: what it says of waiting for that is outdated.
        var wokenInFlight = false
        var lastWake: Instant?
        /// When the wakes are due that were put off, because the vendor is failing.
        var wakeAt: Instant?
        /// Queues that were closed after those captures: they do not open them.
        var closedSince: Set<String> = []
        /// A chore that another lane does is waited for.
        var awaitsChore = false

        /// Wants to be planned at that instant, or earlier if it did already.
        mutating func want(_ instant: Instant) { due = min(due ?? instant, instant) }
    }

    struct Read {
        var operation: EngagementOperation
        var since: Instant
        var deadline: Instant
        var step: Step?
        var failures = 0
        var refusals = 0
        var block = When.now
    }

    @discardableResult
    func update<Result>(_ key: String, _ change: (inout Lane) -> Result) -> Result {
        if !resting.isEmpty, lanes[key] == nil, let rest = resting.take(key) {
            lanes[key] = Lane(due: rest.due, flush: rest.flush, because: rest.because)
        }
        return change(&lanes[key, default: Lane()])
    }

    /// A lane with its closed queues, which are read from the outbox the first time.
    func lane(_ key: String) throws -> Lane {
        if let lane = lanes[key], lane.isRead { return lane }
        let stored = try context.store.blocks(provider: name, lane: key)
        return update(key) { lane in
            for block in stored {
                let until = block.until.map(Instant.init(milliseconds:))
                if lane.isWoken, block.orWoken { continue }
                lane.blocks[block.queue] = When(until: until, orWoken: block.orWoken)
            }
            lane.isRead = true
            return lane
        }
    }

    func unblockWoken(_ key: String, but closed: Set<String> = []) {
        update(key) { lane in
            lane.isWoken = true
            for (queue, when) in lane.blocks where when.orWoken && !closed.contains(queue) { lane.blocks[queue] = nil }
            for place in lane.reads.indices where lane.reads[place].block.orWoken { lane.reads[place].block = .now }
        }
    }

    /// Answers callers whose time is up, and all of them when nothing is sent.
    func expireReads() {
        let now = context.now
        let isStill = isPaused || shadow == .inside
        let stops = parked ?? (isStill ? FindingRow.Engine.providerParked.at() : nil)
        for (key, lane) in lanes where !lane.reads.isEmpty {
            let inFlight = Set(lane.flight?.operations.map(\.id) ?? [])
            let ended = lane.reads.filter { read in
                read.deadline <= now || (stops != nil && !inFlight.contains(read.operation.id))
            }
            guard !ended.isEmpty else { continue }
            let ids = Set(ended.map(\.operation.id))
            update(key) { lane in lane.reads.removeAll { ids.contains($0.operation.id) } }
            context.emit(
                ended.map { read in
                    let finding = stops ?? FindingRow.Engine.deadline.at()
                    return .answered(read.operation.id, provider: name, OperationOutcome(.rejected, finding: finding))
                }
            )
        }
    }

    /// Hands the questions of callers over.
    func takeQuestions() -> [Question] {
        lanes.keys.sorted().flatMap { key in
            update(key) { lane in
                defer { lane.reads = [] }
                return lane.reads.map { Question(operation: $0.operation, provider: name, deadline: $0.deadline) }
            }
        }
    }

    func park(_ finding: Finding) throws {
        try store { try saveRecord { $0.parked = finding.jsonBytes } }
        parked = finding
        context.emit([.parked(provider: name, finding)])
    }

    func store(_ body: () throws -> Void) throws { try context.transaction(.normal, body) }
}

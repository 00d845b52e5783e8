import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What one lane of a provider is doing. Lives in the process; what must survive stands in the outbox.
final class Lane {
    let key: String
    var waits = Waits()
    /// Whether it has been looked up in the outbox which queues are closed.
    var isRead = false
    /// A wake came, and the queues that it opens are not open yet, except those that were closed since the captures it is for.
    var isWoken = false { didSet { if !isWoken { opensTimed = false } } }
    /// Whether that wake also opens queues that are closed until an instant: a capture or a read does not.
    private(set) var opensTimed = false
    var spared: [String: When] = [:]
    var flight: Flight?
    /// An exchange whose outcome could not be stored: it is settled before anything else is planned.
    var unsettled: Ended?
    /// When the lane wants to be planned; nil is not before something happens.
    var due: Instant?
    var flush: Bool
    var because: Finding?
    /// The maximum number of queues whose failure is kept; the provider's last failure explains the others.
    static var explainedQueues: Int { 4_096 }
    /// Why the last exchange of each queue has to be repeated.
    var failures: [String: Finding] = [:]
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
    /// A maintenance request that another lane does is waited for.
    var awaitsMaintenanceRequest = false
    /// What the last plan was shown, and is shown on.
    var window: KeptWindow?
    /// What the adapter remembers, once it was read; always nil where the lanes of a provider share one memory.
    var memory: Memory?
    /// Whether the outbox stores the memory under a digest, because the person was erased.
    var isErased = false
    /// Whether the journal still notes a request that is settled: the note of the next request replaces it, for less than a
    /// removal costs.
    var hasSettledNote = false
    /// What the outbox holds instead while a request is under way, that may change what is remembered.
    var uncertainty: StoredUncertainty?

    init(_ key: String, _ rest: RestingLanes.Rest? = nil) {
        (self.key, due, flush, because) = (key, rest?.due, rest?.flush ?? false, rest?.because)
    }

    /// Wants to be planned at that instant, or earlier if it did already.
    func want(_ instant: Instant) { due = min(due ?? instant, instant) }

    /// What opens at a wake is to be opened.
    func openWoken(but closed: [String: When] = [:], timed: Bool = false) {
        spared = isWoken ? spared.filter { closed[$0.key] != nil } : closed
        isWoken = true
        opensTimed = opensTimed || timed
        for place in waits.reads.indices {
            let block = waits.reads[place].block
            if block.orWoken, timed || block.until == nil { waits.reads[place].block = .now }
        }
    }

    func wake(_ now: Instant, but closed: [String: When] = [:], timed: Bool = false) {
        openWoken(but: closed, timed: timed)
        (lastWake, wakeAt, waits.closedSince) = (now, nil, [:])
        want(now)
    }

    /// Whether the wake that came may open any queue.
    var mayOpenWoken: Bool {
        isWoken && (opensTimed ? waits.closings.mayBeWoken : waits.closings.mayBeOpenedByCapture)
    }

    /// Whether nothing is known of the lane that the outbox does not hold, but when it is due and why it waits.
    var mayRest: Bool {
        flight == nil && unsettled == nil && !hasSettledNote && waits.reads.isEmpty && wakeAt == nil
            && !awaitsMaintenanceRequest
            && barren == 0
    }
}

extension Lane {
    /// What is to be remembered if the process dies of the request in flight, and what is remembered as long as it lives.
    struct StoredUncertainty {
        let stored: Memory
        let full: Memory
        /// How many opt-outs had emptied memories when it was stored: any that comes later is about the full one, too.
        let denials: String?
    }

    /// Who waits in a lane and for what: changed as one, when the transaction that says so has committed.
    struct Waits {
        /// What is known of closed queues; which they are stands in the outbox alone.
        var closings = QueueClosings()
        /// Queues that were closed after the captures whose wake was put off: they do not open them.
        var closedSince: [String: When] = [:]
        /// What callers ask, and nothing stores.
        var reads: [Read] = []
    }

    /// What a caller asks, and how far that has got.
    struct Read {
        var operation: EngagementOperation
        var since: Instant
        var deadline: Instant
        var step: Step?
        var failures = 0
        var refusals = 0
        var block = When.now
    }
}

import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The state of a provider's lane in this process. State that must survive is in the outbox.
final class Lane {
    let key: String
    var waits = Waits()
    /// Whether the closed queues were read from the outbox.
    var isRead = false
    /// Whether a wake has arrived whose queues are still closed. Queues that closed after the captures of the wake stay
    /// closed.
    var isWoken = false { didSet { if !isWoken { opensTimed = false } } }
    /// Whether that wake also opens queues that are closed until an instant. A capture or a query does not open them.
    private(set) var opensTimed = false
    var spared: [String: When] = [:]
    var flight: Flight?
    /// An exchange whose outcome could not be stored. It is settled before the next plan.
    var unsettled: Ended?
    /// The time of the next plan; nil if it depends on an event.
    var due: Instant?
    var flush: Bool
    var because: Finding?
    /// The maximum number of queues whose failure is kept. The provider's last failure explains the others.
    static var explainedQueues: Int { 4_096 }
    /// The reason that the last exchange of each queue has to be repeated.
    var failures: [String: Finding] = [:]
    /// The number of plans in a row without time passing.
    var spins = 0
    var lastPlan: Instant?
    /// The number of exchanges in a row that completed nothing and wait for nothing.
    var barren = 0
    var lastExchangeFailed = false
    /// Whether the network or the app came back while a request was in flight, so that its wait for them is outdated.
    var wokenInFlight = false
    var lastWake: Instant?
    /// The time of the wakes that were postponed because the vendor is failing.
    var wakeAt: Instant?
    /// Whether the lane waits for a maintenance request of another lane.
    var awaitsMaintenanceRequest = false
    /// The operations of the last plan, which the next plan reuses.
    var window: KeptWindow?
    /// The adapter's memory once it was read; always nil if the lanes of a provider share one memory.
    var memory: Memory?
    /// Whether the outbox stores the memory under a digest because the person was erased.
    var isErased = false
    /// Whether the journal still has the note of a settled request. The note of the next request replaces it, which costs
    /// less than removing it.
    var hasSettledNote = false
    /// The memory that the outbox stores while a request is in flight that may change it.
    var uncertainty: StoredUncertainty?

    init(_ key: String, _ rest: RestingLanes.Rest? = nil) {
        (self.key, due, flush, because) = (key, rest?.due, rest?.flush ?? false, rest?.because)
    }

    /// Requests a plan at an instant, unless one is requested earlier.
    func want(_ instant: Instant) { due = min(due ?? instant, instant) }

    /// Requests that the queues that a wake opens are opened.
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

    /// Whether the wake may open any queue.
    var mayOpenWoken: Bool {
        isWoken && (opensTimed ? waits.closings.mayBeWoken : waits.closings.mayBeOpenedByCapture)
    }

    /// Whether everything about the lane is in the outbox, except when it is due and why it waits.
    var mayRest: Bool {
        flight == nil && unsettled == nil && !hasSettledNote && waits.reads.isEmpty && wakeAt == nil
            && !awaitsMaintenanceRequest
            && barren == 0
    }
}

extension Lane {
    /// The memory that counts if the process dies during the request, and the memory that counts while it lives.
    struct StoredUncertainty {
        let stored: Memory
        let full: Memory
        /// The number of opt-outs that had changed memories when it was stored. A later opt-out also applies to the full
        /// memory.
        let denials: String?
    }

    /// The queues and queries that wait in a lane. Replaced as a whole when the transaction has committed.
    struct Waits {
        /// Summary data about closed queues. The outbox has the list.
        var closings = QueueClosings()
        /// Queues that closed after the captures whose wake was postponed. That wake does not open them.
        var closedSince: [String: When] = [:]
        /// The callers' queries, which are not stored.
        var reads: [Read] = []
    }

    /// A caller's query and its progress.
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

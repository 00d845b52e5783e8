import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What all providers of one engine share: the outbox, the time, the lease, the way to the app.
final class EngineContext {
    let store: OutboxStore
    let host: any EngineHost
    private let timeline: Timeline
    private let credentials: (_ provider: String, _ contact: String?) -> Secret?
    private var ticket = 0
    private(set) var events: [EngineEvent] = []
    /// The epoch of this engine's right to deliver; nil while another process has it.
    var epoch: Int64?

    init(store: OutboxStore, host: any EngineHost, credentials: @escaping (String, String?) -> Secret?) throws {
        (self.store, self.host, self.credentials) = (store, host, credentials)
        timeline = Timeline(after: try store.meta("timeline"), on: host)
    }

    var now: Instant { timeline.now(at: host.uptime()) }
    var date: Instant { host.date() }

    /// The engine's timeline at a reading of the clock that counts sleep.
    func now(at uptime: Instant) -> Instant { timeline.now(at: uptime) }

    func moment(flush: Bool) -> Moment { Moment(now: now, date: date, flush: flush, chance: host.chance()) }

    func credential(_ provider: String, _ contact: String?) -> Secret? { credentials(provider, contact) }

    func makeTicket() -> Int {
        ticket += 1
        return ticket
    }

    /// One transaction, with the timeline's mark in it.
    func transaction(_ durability: Durability, _ body: () throws -> Void) throws {
        try store.transaction(durability) {
            try body()
            try store.setMeta("timeline", timeline.mark(on: host))
        }
    }

    /// Inside a settle: another process may have taken over meanwhile, and then nothing of ours counts any more.
    func requireLease() throws {
        guard let epoch, try store.leaseEpoch() == epoch else { throw LeaseLost() }
    }

    /// Tells the app, once the transaction that it is about has committed.
    func emit(_ new: [EngineEvent]) { events += new }

    func takeEvents() -> [EngineEvent] {
        defer { events = [] }
        return events
    }

    /// Stores an operation that a reply asked for, and puts it on its way to that provider alone. Returns its lane.
    func enter(_ action: Action, causedBy cause: EngagementOperation, runner: any ProviderRunner) throws -> String {
        let operation = EngagementOperation(
            id: host.makeID(),
            subject: cause.subject,
            contact: cause.contact,
            capturedAt: date,
            appState: cause.appState,
            action: action
        )
        return try enter(operation, created: "followUp", runner: runner).lane
    }

    /// Stores an operation that nobody captured, and puts it on its way to one provider.
    func enter(_ operation: EngagementOperation, created: String, runner: any ProviderRunner) throws
        -> (sequence: Int64, lane: String)
    {
        let sequence = try store.insert(OutboxOperation(operation, since: now))
        let place = runner.place(operation)
        try store.enter(sequence, provider: runner.name, lane: place.lane, queue: place.queue, hold: nil)
        try store.count(provider: runner.name, term: "created", code: created, by: 1)
        return (sequence, place.lane)
    }
}

/// Another process delivers now.
struct LeaseLost: Error {}

extension OutboxOperation {
    /// An operation as the outbox keeps it.
    init(_ operation: EngagementOperation, since: Instant) {
        self.init(
            sequence: 0,
            id: operation.id.rawValue,
            subject: operation.subject.rawValue,
            group: operation.group,
            capturedAt: operation.capturedAt.milliseconds,
            since: since.milliseconds,
            body: operation.jsonBytes
        )
    }
}

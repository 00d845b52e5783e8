import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Drives one adapter: windows, plans, exchanges, verdicts. It knows nothing of any vendor.
final class Runner<Adapter: VendorAdapter>: ProviderRunner {
    let name: String
    let adapter: Adapter
    let descriptor = Adapter.descriptor
    let context: EngineContext
    var lanes: [String: Lane] = [:]
    var windows: [String: KeptWindow] = [:]
    var memories: [String: Adapter.Memory] = [:]
    var choresInFlight: Set<Adapter.Endpoint> = []
    var flights: [Int: String] = [:]
    var parked: Finding?
    var isPaused = false
    var shadow: Rehearsal?

    init(name: String, adapter: Adapter, context: EngineContext) {
        (self.name, self.adapter, self.context) = (name, adapter, context)
    }

    var isBusy: Bool { !flights.isEmpty }

    var nextPlan: Instant? {
        // Without a free slot nothing can be planned: the outcome that frees one comes first.
        guard parked == nil, !isPaused, flights.count < descriptor.concurrency else { return nextDeadline }
        let due = lanes.values.compactMap { $0.flight == nil ? $0.due : nil }.min()
        return [due, nextDeadline].compactMap { $0 }.min()
    }

    var nextDeadline: Instant? {
        var next: Instant?
        for lane in lanes.values where !lane.reads.isEmpty {
            for read in lane.reads { next = min(next ?? read.deadline, read.deadline) }
        }
        return next
    }

    var reasons: [String: Finding] { lanes.compactMapValues(\.because) }

    func examine(_ operation: EngagementOperation) -> [Finding] { adapter.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { adapter.place(operation) }

    /// Captures entered a lane: they wake the lane, at most once a second while the vendor is failing.
    func noteEntered(lane key: String, _ entries: [LaneEntry]) {
        if windows[key] != nil {
            for entry in entries { windows[key]?.index.enter(entry.sequence, queue: entry.queue) }
        }
        let now = context.now
        let isPutOff = update(key) { lane in
            guard lane.lastExchangeFailed, let last = lane.lastWake, last + .seconds(1) > now else { return false }
            lane.wakeAt = last + .seconds(1)
            lane.want(last + .seconds(1))
            return true
        }
        if !isPutOff { wakeNow(key, now) }
    }

    func wakeNow(_ key: String, _ now: Instant) {
        unblockWoken(key)
        update(key) { lane in
            (lane.lastWake, lane.wakeAt) = (now, nil)
            lane.want(now)
        }
    }

    /// Another process may have captured: every lane with pending work is planned once, on the memory as it is stored.
    func lookAround() throws {
        for key in memories.keys where descriptor.memory == .lane && lanes[key]?.flight == nil { memories[key] = nil }
        for key in try context.store.lanes(provider: name) { update(key) { $0.want(context.now) } }
    }

    func wake(lane: String?) throws {
        try context.store.clearWokenBlocks(provider: name, lane: lane)
        let now = context.now
        for key in try lane.map({ [$0] }) ?? knownLanes() {
            wakeNow(key, now)
            update(key) { $0.wokenInFlight = $0.flight != nil || $0.unsettled != nil }
        }
    }

    func flush() throws {
        for key in try knownLanes() { update(key) { $0.flush = true } }
        try wake(lane: nil)
    }

    func resume() throws {
        if parked != nil { try takeUpState() }
        try wake(lane: nil)
    }

    func read(_ operation: EngagementOperation, deadline: Instant) {
        let key = adapter.place(operation).lane
        update(key) { lane in
            lane.reads.append(Read(operation: operation, since: context.now, deadline: deadline))
            lane.want(context.now)
        }
        unblockWoken(key)
    }

    func reread(lane key: String) { memories[key] = nil }

    /// Answers callers who ask about a person at once.
    func refuseReads(of subject: Subject, because finding: Finding) {
        for (key, lane) in lanes {
            let ended = lane.reads.filter { $0.operation.subject == subject }
            guard !ended.isEmpty else { continue }
            update(key) { lane in lane.reads.removeAll { $0.operation.subject == subject } }
            let outcome = OperationOutcome(.dropped, finding: finding)
            context.emit(ended.map { .answered($0.operation.id, provider: name, outcome) })
        }
    }

    /// Whether an operation is in flight, or its outcome not yet stored.
    func isCommitted(_ operation: OperationID) -> Bool {
        lanes.values.contains { lane in
            (lane.flight ?? lane.unsettled?.flight)?.operations.contains { $0.id == operation } ?? false
        }
    }
}

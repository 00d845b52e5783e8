import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Drives one adapter: windows, plans, exchanges, verdicts. It knows nothing of any vendor.
final class Runner {
    let name: String
    let desk: any AdapterDesk
    let descriptor: AdapterDescriptor
    let context: EngineContext
    /// The lanes in which something goes on; the others rest.
    var lanes: [String: Lane] = [:]
    var resting = RestingLanes()
    /// Goes through every lane of the outbox by and by.
    var sweep: Sweep?
    /// What others had committed when memory was read, and when every lane was looked at.
    var memoryVersion: Int64?
    var laneVersion: Int64?
    var windows: [String: KeptWindow] = [:]
    var memories: [String: Memory] = [:]
    var choresInFlight: Set<Endpoint> = []
    var flights: [Int: String] = [:]
    var parked: Finding?
    var isPaused = false
    /// Whether this is a rehearsal: then nothing of it counts as delivered.
    var shadow: Rehearsal?
    /// How often the provider may be asked, if that is limited; what is left of it, and whether it is down.
    var rate: Rate?
    var rateGate: RateGate?
    var breaker = Breaker()

    init(name: String, desk: any AdapterDesk, context: EngineContext) {
        (self.name, self.desk, self.context) = (name, desk, context)
        descriptor = desk.descriptor
        rate = descriptor.rate
    }

    /// Whether something is in flight.
    var isBusy: Bool { !flights.isEmpty }

    /// The earliest instant at which a lane wants to be planned; in the past if it wants to be planned now.
    var nextPlan: Instant? {
        // Without a free slot nothing can be planned: the outcome that frees one comes first.
        guard parked == nil, !isPaused, flights.count < descriptor.concurrency else { return nextDeadline }
        let due = lanes.values.compactMap { $0.flight == nil ? $0.due : nil }.min()
        return [pastGate([due, nextAdmission].compactMap { $0 }.min()), nextDeadline].compactMap { $0 }.min()
    }

    /// The earliest deadline of a caller who waits for an answer.
    var nextDeadline: Instant? {
        var next: Instant?
        for lane in lanes.values where !lane.reads.isEmpty {
            for read in lane.reads { next = min(next ?? read.deadline, read.deadline) }
        }
        return next
    }

    func examine(_ operation: EngagementOperation) -> [Finding] { desk.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { desk.place(operation) }

    /// Captures entered a lane: they wake the lane, at most once a second while the vendor is failing.
    func noteEntered(lane key: String, _ entries: [LaneEntry]) {
        // Where another process delivers, nothing goes on here.
        guard context.epoch != nil else { return }
        windows[key]?.enter(entries)
        let now = context.now
        let isPutOff = update(key) { lane in
            guard lane.lastExchangeFailed, let last = lane.lastWake, last + .seconds(1) > now else { return false }
            (lane.wakeAt, lane.closedSince) = (last + .seconds(1), [])
            lane.want(last + .seconds(1))
            return true
        }
        if !isPutOff { wakeNow(key, now) }
        tidy()
    }

    func wakeNow(_ key: String, _ now: Instant, but closed: Set<String> = []) {
        unblockWoken(key, but: closed)
        update(key) { lane in
            (lane.lastWake, lane.wakeAt, lane.closedSince) = (now, nil, [])
            lane.want(now)
        }
    }

    /// Where another process has committed something, every lane with pending work is planned once.
    func lookAround() throws {
        let version = try context.store.foreignVersion()
        guard version != laneVersion else { return }
        for key in try everyLane() { update(key) { $0.want(context.now) } }
        laneVersion = version
    }

    func wake(lane: String?) throws {
        if lane == nil { breaker.probe(at: context.now) }
        try context.store.clearWokenBlocks(provider: name, lane: lane)
        let now = context.now
        for key in try lane.map({ [$0] }) ?? everyLane() {
            wakeNow(key, now)
            update(key) { $0.wokenInFlight = $0.flight != nil || $0.unsettled != nil }
        }
    }

    func flush() throws {
        for key in try everyLane(isFlush: true) { update(key) { $0.flush = true } }
        try wake(lane: nil)
    }

    func resume() throws {
        if parked != nil { try takeUpState() }
        try wake(lane: nil)
    }

    func read(_ operation: EngagementOperation, deadline: Instant) {
        let key = desk.place(operation).lane
        let deadline = DeliberateFault.deadlineIgnored.isPresent ? deadline + .seconds(1_000_000_000) : deadline
        update(key) { lane in
            lane.reads.append(Read(operation: operation, since: context.now, deadline: deadline))
            lane.want(context.now)
        }
        unblockWoken(key)
    }

    /// What another hand changed in the outbox is read again.
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

import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Drives one adapter: windows, plans, exchanges, verdicts. It knows nothing of any vendor.
final class Runner {
    let name: String
    let driver: any AdapterDriver
    let descriptor: AdapterDescriptor
    let context: EngineContext
    /// The lanes in which something goes on, by key; the others rest.
    var lanes: [String: Lane] = [:]
    var resting = RestingLanes()
    /// Goes through every lane of the outbox by and by.
    var sweep: Sweep?
    /// What others had committed when memory was read, and when every lane was looked at.
    var memoryVersion: Int64?
    var laneVersion: Int64?
    /// What the adapter remembers, where its lanes share that and once it was read.
    var sharedMemory: Memory?
    var maintenanceRequestsInFlight: Set<Endpoint> = []
    /// The lanes with a request in flight, by its ticket.
    var flights: [Int: Lane] = [:]
    /// Why it stands still until a person acts; whether it does is asked often, and a finding is large to copy.
    var suspended: Finding? { didSet { isSuspended = suspended != nil } }
    private(set) var isSuspended = false
    var isPaused = false
    /// Whether the configuration gives the provider no route.
    var isUnrouted = false
    /// The contacts that the provider receives.
    var share = Share.all
    /// Whether this is a shadow run: then nothing of it counts as delivered.
    var shadow: ShadowRun?
    /// How often the provider may be asked, if that is limited; what is left of it, and whether it is down.
    var rate: Rate?
    var rateGate: RateGate?
    var breaker = Breaker()

    init(name: String, driver: any AdapterDriver, context: EngineContext) {
        (self.name, self.driver, self.context) = (name, driver, context)
        descriptor = driver.descriptor
        rate = descriptor.rate
    }

    /// Whether something is in flight.
    var isBusy: Bool { !flights.isEmpty }

    /// The earliest instant at which a lane wants to be planned; in the past if it wants to be planned now.
    var nextPlan: Instant? {
        // Without a free slot nothing can be planned: the outcome that frees one comes first.
        guard !isSuspended, !isPaused, flights.count < descriptor.concurrency else { return nextDeadline }
        var due = nextAdmission
        for lane in lanes.values where lane.flight == nil { due = due.orEarlier(lane.due) }
        return pastGate(due).orEarlier(nextDeadline)
    }

    /// The earliest deadline of a caller who waits for an answer.
    var nextDeadline: Instant? {
        var next: Instant?
        for lane in lanes.values where !lane.waits.reads.isEmpty {
            for read in lane.waits.reads { next = min(next ?? read.deadline, read.deadline) }
        }
        return next
    }

    func examine(_ operation: EngagementOperation) -> [Finding] { driver.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { driver.place(operation) }

    /// Captures entered a lane; it may rest again at once, if too many are held.
    func noteEntered(lane key: String, _ entries: [LaneEntry]) {
        // Where another process delivers, nothing goes on here.
        guard context.epoch != nil else { return }
        enter(entries, lane(key))
        tidy()
    }

    /// Captures entered a lane: they wake it, at most once a second while the vendor is failing.
    func enter(_ entries: [LaneEntry], _ lane: Lane) {
        lane.window?.enter(entries)
        let now = context.now
        guard lane.lastExchangeFailed, let last = lane.lastWake, last + .seconds(1) > now else { return lane.wake(now) }
        (lane.wakeAt, lane.waits.closedSince) = (last + .seconds(1), [:])
        lane.want(last + .seconds(1))
    }

    /// Where another process has committed something, every lane with pending work is planned once.
    func lookAround() throws {
        let version = try context.store.foreignVersion()
        guard version != laneVersion else { return }
        for key in try everyLane() { lane(key).want(context.now) }
        laneVersion = version
    }

    func wake(lane: String?) throws {
        if lane == nil {
            breaker.probe(at: context.now)
            try context.store.openWokenQueues(provider: name)
        }
        let now = context.now
        for key in try lane.map({ [$0] }) ?? everyLane() {
            let lane = self.lane(key)
            lane.wake(now, timed: true)
            lane.wokenInFlight = lane.flight != nil || lane.unsettled != nil
        }
    }

    /// Plans every lane again, in the order in which they wait; closed queues stay closed.
    func planAgain() {
        for lane in lanes.values { lane.want(context.now) }
        wakeResting()
    }

    func flush() throws {
        for key in try everyLane(isFlush: true) { lane(key).flush = true }
        try wake(lane: nil)
    }

    func resume() throws {
        if isSuspended { try takeUpState() }
        try wake(lane: nil)
    }

    func read(_ operation: EngagementOperation, deadline: Instant) {
        let lane = lane(driver.place(operation).lane)
        let deadline = DeliberateFault.deadlineIgnored.isPresent ? deadline + .seconds(1_000_000_000) : deadline
        lane.waits.reads.append(Lane.Read(operation: operation, since: context.now, deadline: deadline))
        lane.want(context.now)
        lane.openWoken()
    }

    /// What another hand changed in the outbox is read again.
    func reread(lane key: String) { lanes[key]?.memory = nil }

    /// Answers callers who ask about a person at once.
    func refuseReads(of subject: Subject, because finding: Finding) {
        for lane in lanes.values {
            let ended = lane.waits.reads.filter { $0.operation.subject == subject }
            guard !ended.isEmpty else { continue }
            lane.waits.reads.removeAll { $0.operation.subject == subject }
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

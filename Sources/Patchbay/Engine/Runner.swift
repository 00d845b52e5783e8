import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Drives one adapter: windows, plans, exchanges and verdicts. It contains nothing specific to a vendor.
final class Runner {
    let name: String
    let driver: any AdapterDriver
    let descriptor: AdapterDescriptor
    let context: EngineContext
    /// The lanes in memory, by key. The others rest.
    var lanes: [String: Lane] = [:]
    var resting = RestingLanes()
    /// The current pass over all lanes of the outbox.
    var sweep: Sweep?
    /// The version of other processes' commits when memory was read, and when every lane was checked.
    var memoryVersion: Int64?
    var laneVersion: Int64?
    /// The adapter's memory once it was read, if its lanes share one.
    var sharedMemory: Memory?
    var maintenanceRequestsInFlight: Set<Endpoint> = []
    /// The lanes with a request in flight, by its ticket.
    var flights: [Int: Lane] = [:]
    /// The reason for a suspension until a person acts. `isSuspended` is separate because it is read often and a finding is
    /// large.
    var suspended: Finding? { didSet { isSuspended = suspended != nil } }
    private(set) var isSuspended = false
    var isPaused = false
    /// Whether the configuration gives the provider no route.
    var isUnrouted = false
    /// The contacts that the provider receives.
    var share = Share.all
    /// The kind of shadow run, in which nothing counts as delivered; nil if the provider is not a shadow.
    var shadow: ShadowRun?
    /// The maximum request rate, the remaining rate, and the state of the breaker.
    var rate: Rate?
    var rateGate: RateGate?
    var breaker = Breaker()

    init(name: String, driver: any AdapterDriver, context: EngineContext) {
        (self.name, self.driver, self.context) = (name, driver, context)
        descriptor = driver.descriptor
        rate = descriptor.delivery.rate
    }

    /// Whether a request is in flight.
    var isBusy: Bool { !flights.isEmpty }

    /// The earliest instant at which a lane is due. It may be in the past.
    var nextPlan: Instant? {
        // Without a free slot, no lane can be planned. The next outcome frees one.
        guard !isSuspended, !isPaused, flights.count < descriptor.delivery.concurrency else { return nextDeadline }
        var due = nextAdmission
        for lane in lanes.values where lane.flight == nil { due = due.orEarlier(lane.due) }
        return pastGate(due).orEarlier(nextDeadline)
    }

    /// The earliest timeout of a caller's query.
    var nextDeadline: Instant? {
        var next: Instant?
        for lane in lanes.values where !lane.waits.reads.isEmpty {
            for read in lane.waits.reads { next = min(next ?? read.deadline, read.deadline) }
        }
        return next
    }

    func examine(_ operation: EngagementOperation) -> [Finding] { driver.examine(operation) }
    func place(_ operation: EngagementOperation) -> Place { driver.place(operation) }

    /// Adds captures that entered a lane. If too many lanes are in memory, idle ones are released.
    func noteEntered(lane key: String, _ entries: [LaneEntry]) {
        // Another process delivers, so this one keeps no lanes.
        guard context.epoch != nil else { return }
        enter(entries, lane(key))
        tidy()
    }

    /// Adds captures that entered a lane. They wake it, at most once a second while the vendor is failing.
    func enter(_ entries: [LaneEntry], _ lane: Lane) {
        lane.window?.enter(entries)
        let now = context.now
        guard lane.lastExchangeFailed, let last = lane.lastWake, last + .seconds(1) > now else { return lane.wake(now) }
        (lane.wakeAt, lane.waits.closedSince) = (last + .seconds(1), [:])
        lane.want(last + .seconds(1))
    }

    /// Plans every lane with pending work once if another process has committed.
    func pollForeignCommits() throws {
        let version = try context.store.foreignVersion()
        guard version != laneVersion else { return }
        for key in try everyLane() { lane(key).want(context.now) }
        laneVersion = version
    }

    func wake(lane: String?) throws {
        if lane == nil {
            breaker.probe(at: context.now)
            try context.store.closedQueues.openWoken(provider: name)
        }
        let now = context.now
        for key in try lane.map({ [$0] }) ?? everyLane() {
            let lane = self.lane(key)
            lane.wake(now, timed: true)
            lane.wokenInFlight = lane.flight != nil || lane.unsettled != nil
        }
    }

    /// Plans every lane again, in the order in which they wait. Closed queues stay closed.
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
        lane.waits.reads.append(Lane.Read(operation: operation, since: context.now, deadline: deadline))
        lane.want(context.now)
        lane.openWoken()
    }

    /// Reads a lane's memory again, because it was changed in the outbox.
    func reread(lane key: String) { lanes[key]?.memory = nil }

    /// Answers the queries about a subject at once.
    func refuseReads(of subject: Subject, because finding: Finding) {
        for lane in lanes.values {
            let ended = lane.waits.reads.filter { $0.operation.subject == subject }
            guard !ended.isEmpty else { continue }
            lane.waits.reads.removeAll { $0.operation.subject == subject }
            let outcome = OperationOutcome(.dropped, finding: finding)
            context.emit(ended.map { .answered($0.operation.id, provider: name, outcome) })
        }
    }

    /// Whether an operation is in flight, or its outcome is not stored yet.
    func isCommitted(_ operation: OperationID) -> Bool {
        lanes.values.contains { lane in
            (lane.flight ?? lane.unsettled?.flight)?.operations.contains { $0.id == operation } ?? false
        }
    }
}

import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The lanes in this process, and the callers' queries in them.
extension Runner {
    /// Returns a lane, and keeps it in memory from now on.
    func lane(_ key: String) -> Lane {
        if let lane = lanes[key] { return lane }
        let lane = Lane(key, resting.take(key))
        lanes[key] = lane
        return lane
    }

    /// Reads a lane's closed queues from the outbox, if that has not been done.
    func readWaits(of lane: Lane) throws {
        guard !lane.isRead else { return }
        lane.waits.closings = try context.store.closedQueues.closings(provider: name, lane: lane.key)
        lane.isRead = true
    }

    /// The minimum number of due queues that are opened at a time. If a plan can use more, more are opened.
    private static var portion: Int { 64 }

    /// Opens the due queues of a lane, as many as a plan can use, and all queues that a wake opens.
    func openQueues(of lane: Lane, now: Instant) throws {
        try readWaits(of: lane)
        let isDue = lane.waits.closings.first.map { $0 <= now.milliseconds } ?? false
        guard isDue || lane.mayOpenWoken else { return lane.isWoken = false }
        var (waits, opened): (Lane.Waits, [String]) = (lane.waits, [])
        try store {
            try context.requireLease()
            try openWoken(lane, &waits)
            guard isDue else { return }
            opened = try context.store.closedQueues.openDue(
                provider: name,
                lane: lane.key,
                at: now.milliseconds,
                limit: max(descriptor.delivery.window, Self.portion)
            )
            try context.store.closedQueues.refresh(&waits.closings, provider: name, lane: lane.key)
        }
        (lane.waits, lane.isWoken) = (waits, false)
        guard !opened.isEmpty else { return }
        lane.window?.open(opened)
        // Opening the next queues counts as progress.
        lane.spins = 0
    }

    /// Opens the queues of a wake that has arrived, inside the caller's transaction.
    func openWoken(_ lane: Lane, _ waits: inout Lane.Waits) throws {
        guard lane.mayOpenWoken else { return }
        try context.store.closedQueues.openWoken(provider: name, lane: lane.key, timed: lane.opensTimed)
        waits.closings.noteOpened(timed: lane.opensTimed)
        for (queue, when) in lane.spared { try close(queue, when, in: lane, &waits) }
        try context.store.closedQueues.refresh(&waits.closings, provider: name, lane: lane.key)
    }

    /// Closes a queue, inside the caller's transaction.
    func close(_ queue: String, _ when: When, in lane: Lane, _ waits: inout Lane.Waits) throws {
        let until = when.until?.milliseconds
        try context.store.closedQueues.close(
            provider: name,
            lane: lane.key,
            queue: queue,
            until: until,
            orWoken: when.orWoken
        )
        waits.closings.add(until: until, orWoken: when.orWoken)
    }

    /// Answers queries whose timeout has passed, and all queries if nothing is sent.
    func expireReads() {
        guard lanes.values.contains(where: { !$0.waits.reads.isEmpty }) else { return }
        let now = context.now
        let isStill = isPaused || shadow == .inside
        let stops = suspended ?? (isStill ? FindingRow.Engine.providerSuspended.at() : nil)
        for lane in lanes.values where !lane.waits.reads.isEmpty {
            let inFlight = Set(lane.flight?.operations.map(\.id) ?? [])
            let ended = lane.waits.reads.filter { read in
                read.deadline <= now || (stops != nil && !inFlight.contains(read.operation.id))
            }
            guard !ended.isEmpty else { continue }
            let ids = Set(ended.map(\.operation.id))
            lane.waits.reads.removeAll { ids.contains($0.operation.id) }
            context.emit(
                ended.map { read in
                    let finding = stops ?? FindingRow.Engine.deadline.at()
                    return .answered(read.operation.id, provider: name, OperationOutcome(.rejected, finding: finding))
                }
            )
        }
    }

    /// Removes and returns the queries of callers, for another engine.
    func takeQuestions() -> [Question] {
        lanes.values.sorted { $0.key < $1.key }.flatMap { lane in
            defer { lane.waits.reads = [] }
            return lane.waits.reads.map { Question(operation: $0.operation, provider: name, deadline: $0.deadline) }
        }
    }

    func suspend(_ finding: Finding) throws {
        try store { try saveRecord { $0.suspended = finding.jsonBytes } }
        suspended = finding
        context.emit([.suspended(provider: name, finding)])
    }

    func store(_ body: () throws -> Void) throws { try context.transaction(.normal, body) }
}

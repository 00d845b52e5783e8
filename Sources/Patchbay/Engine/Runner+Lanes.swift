import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Which lanes there are in this process, and what callers ask in them.
extension Runner {
    /// A lane, held from now on.
    func lane(_ key: String) -> Lane {
        if let lane = lanes[key] { return lane }
        let lane = Lane(key, resting.take(key))
        lanes[key] = lane
        return lane
    }

    /// Looks up what the outbox knows of a lane's closed queues, the first time.
    func readWaits(of lane: Lane) throws {
        guard !lane.isRead else { return }
        lane.waits.closings = try context.store.closings(provider: name, lane: lane.key)
        lane.isRead = true
    }

    /// So many queues are opened at least, when their time has come: more than that, if more fit into a plan.
    private static var portion: Int { 64 }

    /// Opens queues of a lane whose time has come, as many as a plan can use, and behind a wake all that it opens.
    func openQueues(of lane: Lane, now: Instant) throws {
        try readWaits(of: lane)
        let now = DeliberateFault.waitIgnored.isPresent ? Instant(milliseconds: .max) : now
        let isDue = lane.waits.closings.first.map { $0 <= now.milliseconds } ?? false
        guard isDue || lane.mayOpenWoken else { return lane.isWoken = false }
        var (waits, opened): (Lane.Waits, [String]) = (lane.waits, [])
        try store {
            try context.requireLease()
            try openWoken(lane, &waits)
            guard isDue else { return }
            opened = try context.store.openDueQueues(
                provider: name,
                lane: lane.key,
                at: now.milliseconds,
                limit: max(descriptor.window, Self.portion)
            )
            try context.store.refresh(&waits.closings, provider: name, lane: lane.key)
        }
        (lane.waits, lane.isWoken) = (waits, false)
        guard !opened.isEmpty else { return }
        lane.window?.open(opened)
        // To open the next ones is a step forward.
        lane.spins = 0
    }

    /// Opens what a wake opens, if one came, inside the caller's transaction.
    func openWoken(_ lane: Lane, _ waits: inout Lane.Waits) throws {
        guard lane.mayOpenWoken else { return }
        try context.store.openWokenQueues(provider: name, lane: lane.key, timed: lane.opensTimed)
        waits.closings.noteOpened(timed: lane.opensTimed)
        for (queue, when) in lane.spared { try close(queue, when, in: lane, &waits) }
        try context.store.refresh(&waits.closings, provider: name, lane: lane.key)
    }

    /// Closes a queue, inside the caller's transaction.
    func close(_ queue: String, _ when: When, in lane: Lane, _ waits: inout Lane.Waits) throws {
        let until = when.until?.milliseconds
        try context.store.setBlock(
            provider: name,
            lane: lane.key,
            queue: queue,
            until: until,
            orWoken: when.orWoken
        )
        waits.closings.add(until: until, orWoken: when.orWoken)
    }

    /// Answers callers whose time is up, and all of them when nothing is sent.
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

    /// Hands the questions of callers over.
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

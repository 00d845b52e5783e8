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

    /// Reads a lane's closed queues from the outbox, the first time.
    func readWaits(of lane: Lane) throws {
        guard !lane.isRead else { return }
        for block in try context.store.blocks(provider: name, lane: lane.key) {
            if lane.isWoken, block.orWoken { continue }
            let until = block.until.map(Instant.init(milliseconds:))
            lane.waits.closed[block.queue] = When(until: until, orWoken: block.orWoken)
        }
        lane.isRead = true
    }

    /// Answers callers whose time is up, and all of them when nothing is sent.
    func expireReads() {
        let now = context.now
        let isStill = isPaused || shadow == .inside
        let stops = parked ?? (isStill ? FindingRow.Engine.providerParked.at() : nil)
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

    func park(_ finding: Finding) throws {
        try store { try saveRecord { $0.parked = finding.jsonBytes } }
        parked = finding
        context.emit([.parked(provider: name, finding)])
    }

    func store(_ body: () throws -> Void) throws { try context.transaction(.normal, body) }
}

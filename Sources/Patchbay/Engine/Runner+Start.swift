import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// Resumption of an earlier process's work.
extension Runner {
    /// Resumes an earlier process's work: upgrades state, settles interrupted requests, and wakes every lane.
    func restore() throws {
        abandon()
        laneVersion = try context.store.foreignVersion()
        if try context.store.state.meta(waitsKey) != nil {
            try store { try context.store.state.setMeta(waitsKey, nil) }
        }
        try takeUpState()
        for entry in try context.store.state.journal(provider: name) where !isSuspended { try interrupt(entry) }
        if !isSuspended, try context.store.state.meta(reexaminationKey) != nil { try store { try examineAgain() } }
        try wake(lane: nil)
        try restoreGates()
    }

    /// Drops all state except the callers' queries, because another process delivers or has delivered.
    func abandon() {
        (flights, sharedMemory, maintenanceRequestsInFlight) = ([:], nil, [])
        (resting, sweep) = (RestingLanes(), nil)
        lanes = lanes.compactMapValues { lane in
            guard !lane.waits.reads.isEmpty else { return nil }
            let kept = Lane(lane.key)
            kept.waits.reads = lane.waits.reads
            return kept
        }
    }

    /// Upgrades the stored state to this release's form and resumes the provider. A start and a resume both try this.
    ///
    /// State that is newer or unreadable suspends the provider and stays unchanged.
    func takeUpState() throws {
        let record = try context.store.state.providers().first { $0.name == name }
        if let record, record.stateVersion != descriptor.stateVersion {
            guard record.stateVersion < descriptor.stateVersion else {
                return try suspend(FindingRow.Engine.stateNewer.at())
            }
            do {
                try upgrade(from: record.stateVersion)
            } catch let error where !isOfStorage(error) {
                return try suspend(FindingRow.Engine.stateUnreadable.at())
            }
        }
        if record?.suspended != nil { try store { try saveRecord { $0.suspended = nil } } }
        suspended = nil
    }

    /// Whether an error concerns the storage and not the state that was read.
    func isOfStorage(_ error: any Error) -> Bool { error is OutboxError || error is LeaseLost }

    func upgrade(from version: Int) throws {
        forgetMemories()
        try store {
            try context.store.state.forEachMemory(provider: name) { memory in
                let state = try driver.upgrade(JSONValue(parsing: memory.body), of: .memory, from: version)
                try save(driver.memory(Array(state.text.utf8)), key: memory.lane)
            }
            try context.store.queues.forEachRow(provider: name, subject: nil) { row in
                guard let step = row.step else { return }
                let state = try driver.upgrade(JSONValue(parsing: step), of: .step, from: version)
                let stepNow = try driver.step(Array(state.text.utf8))
                try context.store.settlement.progress(
                    provider: name,
                    sequence: row.operation.sequence,
                    step: stepNow.bytes,
                    failures: row.failures,
                    refusals: row.refusals,
                    requests: row.requests
                )
            }
            try placeAgain()
            try saveRecord { $0.stateVersion = descriptor.stateVersion }
        }
    }

    /// Routes pending operations to the lanes and queues that the adapter names now, inside the caller's transaction.
    ///
    /// Operations that may have been in flight stay where their journal entry expects them.
    func placeAgain() throws {
        let journaled = Set(try context.store.state.journal(provider: name).flatMap(\.operations))
        try context.store.queues.forEachRow(provider: name, subject: nil) { row in
            let sequence = row.operation.sequence
            guard !journaled.contains(row.operation.id),
                let operation = try? EngagementOperation(jsonBytes: row.operation.body)
            else { return }
            let place = driver.place(operation)
            guard (place.lane, place.queue) != (row.lane, row.queue) else { return }
            try context.store.operations.removeRoute(provider: name, sequence: sequence)
            try context.store.captures.enter(
                sequence,
                provider: name,
                lane: place.lane,
                queue: place.queue,
                hold: row.hold,
                kind: kindName(of: operation)
            )
            try context.store.settlement.progress(
                provider: name,
                sequence: sequence,
                step: row.step,
                failures: row.failures,
                refusals: row.refusals,
                requests: row.requests
            )
        }
    }

    func saveRecord(_ change: (inout ProviderRecord) -> Void) throws {
        guard var record = try context.store.state.providers().first(where: { $0.name == name }) else { return }
        change(&record)
        try context.store.state.setProvider(record)
    }

    /// Examines pending operations under the present settings, inside the caller's transaction.
    ///
    /// An operation that no longer fits is rejected with its finding and kept for replay; nothing is shortened. Operations in
    /// flight are examined when their outcome is known. An unregistration is never rejected.
    func examineAgain() throws {
        let inFlight = Set(try context.store.state.journal(provider: name).flatMap(\.operations))
        try context.store.state.setMeta(reexaminationKey, inFlight.isEmpty ? nil : "due")
        try context.store.queues.forEachRow(provider: name, subject: nil) { row in
            guard !inFlight.contains(row.operation.id),
                let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                operation.action != .unregister,
                let finding = driver.examine(operation).first(where: {
                    $0.severity == .error || $0.severity == .foreign
                })
            else { return }
            let outcome = booked(OperationOutcome(.rejected, finding: finding))
            try context.end(row, name, outcome, keepsReject: operation.action != .erase)
        }
    }

    /// The key that is set while a request from before a change of settings has no outcome.
    private var reexaminationKey: String { "examine.\(name)" }

    /// Settles a journaled request that was in flight when a process died: the adapter decides about it. If only a note
    /// without a body was stored, its operations may have been processed, and are planned again.
    func interrupt(_ entry: JournalEntry) throws {
        guard let endpoint = driver.endpoint(entry.endpoint), !entry.request.isEmpty else {
            return try store {
                for row in try context.store.queues.rows(provider: name, lane: entry.lane, ids: entry.operations) {
                    try context.store.settlement.progress(
                        provider: name,
                        sequence: row.operation.sequence,
                        step: row.step,
                        failures: row.failures,
                        refusals: row.refusals,
                        requests: row.requests.union(.uncertain)
                    )
                }
                try context.store.state.clearJournal(provider: name, lane: entry.lane)
            }
        }
        let rows = try context.store.queues.rows(provider: name, lane: entry.lane, ids: entry.operations)
        // Operations may have been withdrawn. The adapter still learns of the request, for the vendor's pacing.
        var operations: [Waiting] = []
        for row in rows {
            guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { continue }
            guard let step = step(of: row) else { return try suspend(FindingRow.Engine.stateUnreadable.at()) }
            operations.append(pending(row, operation, step))
        }
        let flight = Flight(
            ticket: 0,
            endpoint: endpoint,
            operations: operations,
            request: WireRequest(journal: entry.request),
            startedAt: Instant(milliseconds: entry.startedAt),
            isJournaled: true
        )
        let outcome = Outcome.failed(TransportFailure(.interrupted, "processEnded"))
        let ended = Ended(flight: flight, outcome: outcome, moment: context.moment(flush: false))
        try settle(ended, in: lane(entry.lane))
    }
}

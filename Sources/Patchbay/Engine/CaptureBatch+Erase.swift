import PatchbayAdapterKit
package import PatchbayModel
import PatchbayOutbox

/// Erasures.
extension CaptureBatch {
    /// Erases a person inside the capture's transaction: pending operations, rejects, the subject snapshot, damaged rows that
    /// name the subject, and the bodies of requests in flight.
    ///
    /// The adapter's memory stays until the vendor's deletion has completed, because the deletion may need it. A pending
    /// earlier erasure stays, too, because it may concern another contact.
    mutating func erase(_ operation: EngagementOperation, _ before: SubjectSnapshot, _ snapshot: SubjectSnapshot) throws
    {
        let (store, subject) = (context.store, operation.subject.rawValue)
        let hadSnapshot = try before != SubjectSnapshot() || store.state.snapshot(subject: subject) != nil
        var erasure = Erasure(operation: operation.id, hadSnapshot: hadSnapshot)
        try store.state.clearSnapshot(subject: subject)
        storedSnapshots[operation.subject] = nil
        unreadable[operation.subject] = FindingRow.Engine.personForgotten.at()
        let known = Dictionary(try store.state.providers().map { ($0.name, $0) }) { first, _ in first }
        for name in try providersOfOutbox() {
            var part = Erasure.Part()
            var withdrawn: Set<String> = []
            try store.queues.forEachRow(provider: name, subject: subject) { row in
                let pending = try? EngagementOperation(jsonBytes: row.operation.body)
                // A removed provider's vendor still needs the unregistration.
                guard pending?.action != .erase, pending?.action != .unregister else { return }
                try context.end(row, name, OperationOutcome(.erased))
                part.withdrawn[pending?.action.kind.rawValue ?? "unreadable", default: 0] += 1
                withdrawn.insert(row.operation.id)
            }
            part.rejects = try store.rejects.remove(provider: name, subject: subject)
            try emptyJournal(of: name, withdrawn)
            if let record = known[name], !runners.contains(where: { $0.name == name }) {
                part.memory = try forgetMemory(ofGone: name, subject)
                part.manualStep = FindingRow.Engine.eraseGone.at(detail: record.adapter).description
            }
            if known[name] != nil
                || runners.indices.contains(where: { runners[$0].name == name && routed.contains($0) })
            {
                erasure.parts[name] = part
            }
        }
        try store.rejects.remove(provider: nil, subject: subject)
        erasure.damagedRows = try store.quarantine.remove(mentioning: Array(subject.utf8))
        try store.maintenance.requireSweep()
        erasures.add(erasure, of: operation.subject)
        try record(ConsentChanges(from: before, to: snapshot), of: operation, ConsentEffects())
    }

    /// Removes the content of journaled requests that carried withdrawn operations. The entry itself stays, because a restart
    /// must know that a request left.
    func emptyJournal(of provider: String, _ withdrawn: Set<String>) throws {
        for entry in try context.store.state.journal(provider: provider) where !entry.request.isEmpty {
            let rows = try context.store.queues.rows(provider: provider, lane: entry.lane, ids: entry.operations)
            guard rows.isEmpty || !withdrawn.isDisjoint(with: entry.operations) else { continue }
            let left = WireRequest(WireRequest(journal: entry.request).method, "", headers: [], body: [])
            try context.store.state.setJournalRequest(left.journal, provider: provider, lane: entry.lane)
        }
    }

    /// Deletes the memory of a provider that no deletion will reach: that of the lane, or all of it if no other person is
    /// known.
    private func forgetMemory(ofGone provider: String, _ subject: String) throws -> Erasure.Memory {
        let before = try context.store.state.memories(provider: provider).count
        let isAlone = try context.store.state.snapshotCount() == 0
        let lane = Place.name(subject)
        for key in isAlone ? [nil] : [lane, try context.erasedKey(lane)] {
            try context.store.state.clearMemory(provider: provider, lane: key)
        }
        return try context.store.state.memories(provider: provider).count < before ? .forgotten : .none
    }

    /// Sends an erasure also to providers that may know the person from before: providers that are being drained, and
    /// providers whose share holds other contacts. The outbox does not record which contacts an installation had in the past.
    mutating func enterErasure(_ operation: EngagementOperation, _ sequence: Int64, _ snapshot: SubjectSnapshot) throws
    {
        let known = Set(try context.store.state.providers().map(\.name))
        for position in runners.indices where known.contains(runners[position].name) {
            let share = recipients.shares[position]
            if routed.contains(position), share.holds(operation.contact, on: operation.subject) { continue }
            let findings = runners[position].examine(operation)
            guard !findings.contains(where: { $0.severity == .foreign }) else { continue }
            try enter(operation, sequence, position, snapshot, findings)
        }
    }

    /// Records how an erasure entered a route. If it cannot be carried out there, the memory is deleted at once.
    mutating func noteErasure(_ operation: EngagementOperation, _ position: Int, _ entry: EngineContext.Entry) throws {
        let runner = runners[position]
        var part = Erasure.Part()
        if entry.end == nil {
            part.isRequested = true
            part.memory = runner.descriptor.memory == .lane ? .untilDeletion : .none
        } else {
            if try runner.erase(lane: entry.lane) {
                forgotten.append((position, entry.lane))
                part.memory = .forgotten
            }
            try context.store.closedQueues.openEmpty(named: Place.name(operation.subject.rawValue))
        }
        switch runner.descriptor.capabilities[.operation(.erase)] {
        case .native: break
        case .emulated(_, let rest): part.manualStep = rest
        case .unsupported(let reason): part.manualStep = reason
        }
        erasures.merge(part, of: operation.id, provider: runner.name)
    }
}

/// The effects of one erasure before any vendor has answered.
package struct Erasure: Sendable {
    /// The state of an adapter's memory.
    package enum Memory: String, Sendable {
        case none, forgotten, untilDeletion
    }

    /// The effects at one provider.
    package struct Part: Sendable {
        /// The number of pending operations that were deleted, by kind.
        package var withdrawn: [String: Int] = [:]
        package var rejects = 0
        package var memory = Memory.none
        /// Whether the erasure is sent to the vendor.
        package var isRequested = false
        /// What a person has to do at the vendor; nil if the vendor's deletion covers everything.
        package var manualStep: String?
    }

    package let operation: OperationID
    package let hadSnapshot: Bool
    package var damagedRows = 0
    package var parts: [String: Part] = [:]
}

/// The erasures of one transaction.
struct Erasures {
    private(set) var all: [Erasure] = []
    private var subjects: Set<Subject> = []

    mutating func add(_ erasure: Erasure, of subject: Subject) {
        all.append(erasure)
        subjects.insert(subject)
    }

    /// Whether a subject has no new state since it was erased.
    func isForgotten(_ subject: Subject, _ snapshot: SubjectSnapshot) -> Bool {
        subjects.contains(subject) && snapshot == SubjectSnapshot()
    }

    mutating func merge(_ part: Erasure.Part, of operation: OperationID, provider: String) {
        guard let place = all.firstIndex(where: { $0.operation == operation }) else { return }
        var merged = all[place].parts[provider] ?? Erasure.Part()
        (merged.memory, merged.isRequested, merged.manualStep) = (part.memory, part.isRequested, part.manualStep)
        all[place].parts[provider] = merged
    }

    /// Adds the operations and rejects that an erasure deleted for other subjects.
    mutating func add(_ parts: [String: Erasure.Part], damagedRows: Int, to operation: OperationID) {
        guard let place = all.firstIndex(where: { $0.operation == operation }) else { return }
        all[place].damagedRows += damagedRows
        for (provider, part) in parts {
            var merged = all[place].parts[provider] ?? Erasure.Part()
            merged.withdrawn.merge(part.withdrawn) { $0 + $1 }
            merged.rejects += part.rejects
            all[place].parts[provider] = merged
        }
    }
}

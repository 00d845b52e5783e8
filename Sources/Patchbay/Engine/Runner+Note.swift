import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The bulk path for the results of most exchanges: all operations completed well or advance at once.
extension Runner {
    /// Stores verdicts that consist only of completed and advanced operations. Returns false if the general path is needed.
    ///
    /// No other process may have changed the lane since the plan. Each row is then where it was, and a short record of each
    /// outcome is enough.
    func settlePlainly(
        _ meaning: Meaning,
        _ verdicts: [(pending: Waiting, verdict: Judgement)],
        remembering after: Memory,
        in lane: Lane,
        isAcknowledged: Bool,
        _ journaled: Flight?
    ) throws -> Bool {
        guard let (completed, advanced) = plain(meaning, verdicts, isAcknowledged: isAcknowledged),
            let version = lane.window?.index.version
        else { return false }
        // If the lane sends another request, that request's note replaces this one.
        let isNoted = journaled.map { !$0.endpoint.isJournaled } ?? false
        let keepsNote = isNoted && (lane.window?.count ?? 0) > verdicts.count - advanced.count
        var isCurrent = false
        try context.transaction(.normal, appends: true) {
            try context.requireLease()
            isCurrent = try context.store.queues.isCurrent(version)
            if descriptor.memory == .lane {
                isCurrent = try isCurrent && memoryVersion == context.store.foreignVersion()
            }
            guard isCurrent else { return }
            for pending in advanced { try store(pending) }
            if !completed.isEmpty {
                try context.store.settlement.note(
                    completed.map(\.record),
                    provider: name,
                    at: context.date.milliseconds
                )
            }
            if after != keptMemory(of: lane) || lane.uncertainty != nil {
                try save(after, key: memoryKey(of: lane))
            }
            guard let journaled else { return }
            if keepsNote {
                if !advanced.isEmpty {
                    try context.store.state.setJournal(provider: name, journaled.settledNote(in: lane.key))
                }
            } else {
                try context.store.state.clearJournal(provider: name, lane: lane.key)
            }
        }
        guard isCurrent else { return false }
        keep(after, of: lane)
        lane.uncertainty = nil
        if journaled != nil { lane.hasSettledNote = keepsNote }
        lane.window?.change(replacing: advanced, leaving: completed.lazy.map(\.pending))
        if !completed.isEmpty { lane.spins = 0 }
        lane.wokenInFlight = false
        if !meaning.incoming.isEmpty { context.emit(meaning.incoming.map { .incoming(provider: name, $0) }) }
        context.emit(completed.map(\.event))
        return true
    }

    /// Returns the completed operations and those that advance at once; nil if there is any other verdict.
    private func plain(
        _ meaning: Meaning,
        _ verdicts: [(pending: Waiting, verdict: Judgement)],
        isAcknowledged: Bool
    ) -> (completed: [PlainEnd], advanced: [Waiting])? {
        guard meaning.suspension == nil, meaning.followUps.isEmpty, !verdicts.isEmpty else { return nil }
        var completed: [PlainEnd] = []
        var advanced: [Waiting] = []
        completed.reserveCapacity(verdicts.count)
        for (pending, verdict) in verdicts {
            guard !pending.isImmediate, !pending.isErasure else { return nil }
            if case .inProgress(let step, .now) = verdict {
                advanced.append(
                    pending.advanced(
                        to: step,
                        failures: 0,
                        refusals: 0,
                        requests: pending.requests(behind: isAcknowledged),
                        by: driver
                    )
                )
            } else if let outcome = verdict.outcome, outcome.term != .rejected {
                completed.append(end(of: pending, booked(outcome)))
            } else {
                return nil
            }
        }
        return (completed, advanced)
    }

    /// A completed operation: its record for the history, and its event.
    private struct PlainEnd {
        let pending: Waiting
        let record: PlainOutcome
        let event: EngineEvent
    }

    private func end(of pending: Waiting, _ outcome: OperationOutcome) -> PlainEnd {
        let record = PlainOutcome(
            sequence: pending.sequence,
            id: pending.id.rawValue,
            term: outcome.term.rawValue,
            code: outcome.finding?.code ?? ""
        )
        return PlainEnd(pending: pending, record: record, event: .ended(pending.id, provider: name, outcome))
    }

    /// Stores the progress of an operation.
    private func store(_ pending: Waiting) throws {
        try context.store.settlement.progress(
            provider: name,
            sequence: pending.sequence,
            step: pending.step?.bytes,
            failures: pending.failures,
            refusals: pending.refusals,
            requests: pending.requests
        )
    }
}

extension Flight {
    /// The journal's note of the request, without the operations that it carried.
    fileprivate func settledNote(in lane: String) -> JournalEntry {
        JournalEntry(
            lane: lane,
            endpoint: endpoint.name,
            operations: [],
            request: [],
            startedAt: startedAt.milliseconds
        )
    }
}

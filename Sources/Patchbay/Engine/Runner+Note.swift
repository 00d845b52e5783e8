import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// The short way for what most exchanges come to: everything ended well, or goes on at once.
extension Runner {
    /// Stores verdicts that leave nothing behind but their endings, if they are such; false where the long way is needed.
    ///
    /// Nothing but this process may have touched the lane since the plan: then every row is where it was, and a short note of
    /// each ending will do.
    func settlePlainly(
        _ meaning: Meaning,
        _ verdicts: [(pending: Waiting, verdict: Judgement)],
        remembering after: Memory,
        in lane: Lane,
        isAcknowledged: Bool,
        _ journaled: Flight?
    ) throws -> Bool {
        guard let (endings, advanced) = plain(meaning, verdicts, isAcknowledged: isAcknowledged),
            let version = lane.window?.index.version
        else { return false }
        // The next request of the lane notes itself in place of this one, if another follows.
        let isNoted = journaled.map { !$0.endpoint.isJournaled } ?? false
        let keepsNote = isNoted && (lane.window?.count ?? 0) > verdicts.count - advanced.count
        var isCurrent = false
        try context.transaction(.normal, appends: true) {
            try context.requireLease()
            isCurrent = try context.store.isCurrent(version)
            if descriptor.memory == .lane {
                isCurrent = try isCurrent && memoryVersion == context.store.foreignVersion()
            }
            guard isCurrent else { return }
            for pending in advanced { try store(pending) }
            if !endings.isEmpty {
                try context.store.note(endings.map(\.ending), provider: name, at: context.date.milliseconds)
            }
            if after != keptMemory(of: lane) || lane.uncertainty != nil, !DeliberateFault.memoryNotStored.isPresent {
                try save(after, key: memoryKey(of: lane))
            }
            guard let journaled else { return }
            if keepsNote {
                if !advanced.isEmpty {
                    try context.store.setJournal(provider: name, journaled.settledNote(in: lane.key))
                }
            } else {
                try context.store.clearJournal(provider: name, lane: lane.key)
            }
        }
        guard isCurrent else { return false }
        keep(after, of: lane)
        lane.uncertainty = nil
        if journaled != nil { lane.hasSettledNote = keepsNote }
        lane.window?.change(replacing: advanced, leaving: endings.lazy.map(\.pending))
        if !endings.isEmpty { lane.spins = 0 }
        lane.wokenInFlight = false
        if !meaning.incoming.isEmpty { context.emit(meaning.incoming.map { .incoming(provider: name, $0) }) }
        context.emit(endings.map(\.event))
        return true
    }

    /// What ended well and what goes on at once; nil if there is anything else.
    private func plain(
        _ meaning: Meaning,
        _ verdicts: [(pending: Waiting, verdict: Judgement)],
        isAcknowledged: Bool
    ) -> (endings: [PlainEnd], advanced: [Waiting])? {
        guard meaning.suspension == nil, meaning.followUps.isEmpty, !verdicts.isEmpty else { return nil }
        var endings: [PlainEnd] = []
        var advanced: [Waiting] = []
        endings.reserveCapacity(verdicts.count)
        for (pending, verdict) in verdicts {
            guard !pending.isImmediate, !pending.isErasure else { return nil }
            if case .underway(let step, .now) = verdict {
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
                endings.append(end(of: pending, booked(outcome)))
            } else {
                return nil
            }
        }
        return (endings, advanced)
    }

    /// An operation that ended plainly: what is noted of it, and what is told.
    private struct PlainEnd {
        let pending: Waiting
        let ending: PlainEnding
        let event: EngineEvent
    }

    private func end(of pending: Waiting, _ outcome: OperationOutcome) -> PlainEnd {
        let ending = PlainEnding(
            sequence: pending.sequence,
            id: pending.id.rawValue,
            term: outcome.term.rawValue,
            code: outcome.finding?.code ?? ""
        )
        return PlainEnd(pending: pending, ending: ending, event: .ended(pending.id, provider: name, outcome))
    }

    /// Stores how far an operation got.
    private func store(_ pending: Waiting) throws {
        try context.store.progress(
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
    /// Its note in the journal, without the operations that it carried.
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

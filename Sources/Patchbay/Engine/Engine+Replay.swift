public import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel
import PatchbayOutbox

/// What became of an operation when it was replayed.
public enum ReplayResult: Hashable, Sendable {
    /// It is pending again.
    case pending
    /// It is pending again and waits for a consent.
    case held
    /// It ended at once: the provider's rules or the person's consent refuse it again.
    case ended(OperationOutcome)
    /// An operation with this id is pending: at this provider, or elsewhere with other content. Nothing was changed.
    case alreadyPending
    /// The operation ended at this provider meanwhile, and not as rejected. Nothing was changed.
    case alreadyEnded
    /// It cannot be replayed: the provider is not in the configuration, the operation is not for this vendor, it breaks the
    /// attribute catalogue, or this release cannot read it. Nothing was changed.
    case refused(Finding)
}

/// Rejected operations that go on their way again.
extension Engine {
    /// An operation, perhaps corrected, and the provider that it is for.
    package struct Replay: Sendable {
        package let provider: String
        package let operation: EngagementOperation

        package init(_ operation: EngagementOperation, on provider: String) {
            (self.provider, self.operation) = (provider, operation)
        }
    }

    /// Puts operations on the routes that had rejected them, in one transaction; the copies kept of them there go.
    ///
    /// Each is examined again, waits for consent again, and counts as created with the code `replayed`; it keeps its id and
    /// its place in the order of capture, so that what was said later still counts. The subject snapshot stays as it is: it took the operation when it was
    /// captured, and what was said since must not be undone by what was said before. The right to deliver is not needed.
    ///
    /// - Throws: ``OutboxError`` where the outbox has no room.
    package func replay(_ replays: [Replay]) throws -> [ReplayResult] {
        var results: [ReplayResult] = []
        var entered: [(runner: Runner, entry: EngineContext.Entry)] = []
        try committing(.full, replays.map(\.operation)) {
            for replay in replays {
                guard let runner = runners.first(where: { $0.name == replay.provider }) else {
                    results.append(.refused(FindingRow.Engine.replayProviderGone.at()))
                    continue
                }
                let (result, entry) = try self.replay(replay.operation, on: runner)
                results.append(result)
                if let entry { entered.append((runner, entry)) }
            }
        }
        for (runner, entry) in entered where entry.end == nil {
            runner.noteEntered(lane: entry.lane, entry.ready.map { [$0] } ?? [])
        }
        return results
    }

    private func replay(_ operation: EngagementOperation, on runner: Runner) throws
        -> (ReplayResult, EngineContext.Entry?)
    {
        let findings = runner.examine(operation)
        if let foreign = findings.first(where: { $0.severity == .foreign }) { return (.refused(foreign), nil) }
        let stored = OutboxOperation(operation, since: context.now)
        let rejects = try store.rejects(provider: runner.name, id: stored.id)
        let known = try store.operation(id: stored.id)
        if let known {
            guard known.body == stored.body,
                try !store.routes(of: known.sequence).providers.contains(runner.name)
            else { return (.alreadyPending, nil) }
        }
        // It is not pending there: what was taken has ended.
        if rejects.isEmpty, try store.hearing(of: stored.id, provider: runner.name) == .taken {
            return (.alreadyEnded, nil)
        }
        let snapshot = try context.snapshot(of: operation.subject)
        let place = rejects.map(\.operation.sequence).min()
        if snapshot.isAnotherPerson(thanAuthorOf: operation, place ?? known?.sequence) {
            return (.refused(FindingRow.Engine.personLeft.at("contact")), nil)
        }
        let sequence = try known?.sequence ?? store.insert(stored, at: place)
        for reject in rejects { try store.removeReject(reject.number) }
        try store.count(provider: runner.name, term: "created", code: "replayed", by: 1)
        let entry = try context.enter(
            operation,
            sequence,
            runner,
            snapshot,
            findings: findings,
            keepsRejects: true,
            isShadowed: true
        )
        try store.discardIfUnrouted(sequence)
        return (entry.end.map { .ended($0) } ?? (entry.ready == nil ? .held : .pending), entry)
    }
}

extension SubjectSnapshot {
    /// Returns whether another person captured an operation than the one who is there now. `sequence` is its number when it was
    /// captured; nil if that is not known.
    fileprivate func isAnotherPerson(thanAuthorOf operation: EngagementOperation, _ sequence: Int64?) -> Bool {
        guard operation.contact.map(ScalarString.init) == contact.map(ScalarString.init) else {
            return operation.contact != nil || cameAfter != nil
        }
        // Two anonymous people are not the same person if a known person used the installation between them.
        guard contact == nil, let cameAfter, let sequence else { return false }
        return sequence <= cameAfter
    }
}

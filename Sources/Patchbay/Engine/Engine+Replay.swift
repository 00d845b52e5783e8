public import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel
import PatchbayOutbox

/// The result of replaying an operation.
public enum ReplayResult: Hashable, Sendable {
    /// It is pending again.
    case pending
    /// It is pending again and waits for a consent.
    case held
    /// It ended at once: the provider or the person's consents do not allow it.
    case ended(OperationOutcome)
    /// An operation with this id is pending: at this provider, or elsewhere with other content. Nothing was changed.
    case alreadyPending
    /// The operation has another outcome at this provider than rejected. Nothing was changed.
    case alreadyEnded
    /// It cannot be replayed: the provider is not in the configuration, the operation is not for this vendor, it breaks the
    /// attribute catalogue, or this release cannot read it. Nothing was changed.
    case refused(Finding)
}

/// Replay of rejected operations.
extension Engine {
    /// An operation, which may be corrected, and its provider.
    package struct Replay: Sendable {
        package let provider: String
        package let operation: EngagementOperation

        package init(_ operation: EngagementOperation, on provider: String) {
            (self.provider, self.operation) = (provider, operation)
        }
    }

    /// Replays rejected operations on their routes in one transaction, and removes the kept copies there.
    ///
    /// Each operation is examined and checked for consent again, and counts as created with the code `replayed`. It keeps its
    /// id and its number in the order of capture, so that later operations still take precedence. The subject snapshot does
    /// not change: it includes the operation since its capture, and later operations must not be undone. This does not need
    /// the right to deliver.
    ///
    /// - Throws: ``OutboxError`` if the outbox is full.
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
        let rejects = try store.rejects.list(provider: runner.name, id: stored.id)
        let known = try store.operations.find(id: stored.id)
        if let known {
            guard known.body == stored.body,
                try !store.operations.routes(of: known.sequence).providers.contains(runner.name)
            else { return (.alreadyPending, nil) }
        }
        // It is not pending there, so an accepted one has an outcome.
        if rejects.isEmpty, try store.deliveryMarks.mark(of: stored.id, provider: runner.name) == .received {
            return (.alreadyEnded, nil)
        }
        let snapshot = try context.snapshot(of: operation.subject)
        let place = rejects.map(\.operation.sequence).min()
        if snapshot.isAnotherPerson(thanAuthorOf: operation, place ?? known?.sequence) {
            return (.refused(FindingRow.Engine.personLeft.at("contact")), nil)
        }
        let sequence = try known?.sequence ?? store.captures.insert(stored, at: place)
        for reject in rejects { try store.rejects.remove(reject.number) }
        try store.accounts.count(provider: runner.name, term: "created", code: "replayed", by: 1)
        let entry = try context.enter(
            operation,
            sequence,
            runner,
            snapshot,
            findings: findings,
            keepsRejects: true,
            isShadowed: true
        )
        try store.operations.discardIfUnrouted(sequence)
        return (entry.end.map { .ended($0) } ?? (entry.ready == nil ? .held : .pending), entry)
    }
}

extension SubjectSnapshot {
    /// Returns whether a person other than the current one captured an operation. `sequence` is its number at capture; nil if
    /// unknown.
    fileprivate func isAnotherPerson(thanAuthorOf operation: EngagementOperation, _ sequence: Int64?) -> Bool {
        guard operation.contact.map(ScalarString.init) == contact.map(ScalarString.init) else {
            return operation.contact != nil || cameAfter != nil
        }
        // Two anonymous people are not the same person if a known person used the installation between them.
        guard contact == nil, let cameAfter, let sequence else { return false }
        return sequence <= cameAfter
    }
}

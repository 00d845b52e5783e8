import PatchbayAdapterKit
package import PatchbayModel
import PatchbayOutbox

extension Engine {
    /// The clock that includes sleep, for new captures.
    package var uptime: Instant { context.host.uptime() }

    /// Returns the subjects whose state belongs to a contact: the contact is logged in or is one of the identifiers.
    package func subjects(of contact: String) throws -> [Subject] {
        try context.store.state.subjects(mentioning: contact.storedBytes).compactMap { subject, body in
            guard let snapshot = try? SubjectSnapshot(jsonBytes: body) else { return nil }
            let names = snapshot.identifiers.map(\.value) + [snapshot.contact].compactMap(\.self)
            return names.contains(where: contact.isSame) ? Subject(rawValue: subject) : nil
        }
    }

    /// Applies the configuration's required consents to pending operations if they changed since the last start.
    ///
    /// Operations that now need an opt-in wait for it, and operations that no longer need one are released. An operation that
    /// needs the opt-in of a person who has left ends, because no other person can give it.
    func reviewConsent() throws {
        let required = context.gate.required.sorted().map { ConsentGate.hold(for: [$0]) }.joined(separator: " ")
        let known = try context.store.state.meta("consentRequired") ?? ""
        guard known != required else { return }
        let before = ConsentGate(
            required: Set(known.split(separator: " ").flatMap { ConsentGate.scopes(ofHold: String($0)) ?? [] })
        )
        try context.transaction(.full) {
            for name in Set(try context.store.state.providers().map(\.name)).union(runners.map(\.name)).sorted() {
                let runner = runners.first { $0.name == name }
                var snapshots: [Subject: SubjectSnapshot] = [:]
                try context.store.queues.forEachRow(provider: name, subject: nil) { row in
                    guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { return }
                    let snapshot = try snapshots[operation.subject] ?? context.snapshot(of: operation.subject)
                    if snapshots.count < 10_000 { snapshots[operation.subject] = snapshot }
                    if snapshot.isOfAnother(operation, row.operation.sequence) {
                        if isNewlyRequired(operation, before) {
                            let reason = FindingRow.Engine.consentUnanswered.at()
                            try context.end(row, name, OperationOutcome(.dropped, finding: reason))
                        }
                        return
                    }
                    guard runner?.place(operation).waitsForConsent ?? true else { return }
                    // A denial was applied when it was captured.
                    let hold: String?
                    switch context.gate.decision(for: operation.action, snapshot) {
                    case .pass, .deny: hold = nil
                    case .hold(let name): hold = name
                    }
                    guard hold != row.hold else { return }
                    try context.store.operations.setHold(hold, provider: name, sequence: row.operation.sequence)
                }
            }
            try context.store.state.setMeta("consentRequired", required)
        }
    }

    /// Whether an operation needs an opt-in that it did not need before.
    private func isNewlyRequired(_ operation: EngagementOperation, _ before: ConsentGate) -> Bool {
        context.gate.requirements(of: operation.action).contains { scope in
            before.decision(on: scope, .unknown) == .pass && context.gate.decision(on: scope, .unknown) != .pass
        }
    }
}

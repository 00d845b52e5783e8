import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// What a person's word does to what is pending.
extension CaptureBatch {
    /// A word on consent reaches what is pending: yes releases what waited for it, no ends it, and an answer that is taken
    /// back makes it wait again.
    ///
    /// A no also empties what the adapters remember of the vendor's side; what is still allowed is told again after it,
    /// and so is, after a no is taken back, what the person said meanwhile. What the person did meanwhile is never told.
    mutating func enforce(
        _ operation: EngagementOperation,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot
    ) throws {
        let changes = ConsentChanges(from: before, to: snapshot)
        var effects = ConsentEffects()
        if changes.all.contains(where: { $0.to != .denied }) {
            try release(operation.subject, changes, before, snapshot, &effects)
        }
        if changes.all.contains(where: { $0.to != .granted }) {
            try holdOrEnd(operation.subject, changes, before, snapshot, &effects)
        }
        if let refusal = context.gate.refusal(toRead: snapshot) { unreadable[operation.subject] = refusal }
        // A no frees, too: what makes the vendor send less leaves now, and nothing else may come to wake its lane.
        for position in runners.indices where !changes.all.isEmpty {
            for lane in try context.store.lanes(provider: runners[position].name, subject: operation.subject.rawValue) {
                touched[position, default: [:]][lane, default: []] += []
            }
        }
        let denied = changes.all.filter { $0.to == .denied }.map(\.scope)
        if !denied.isEmpty {
            for position in runners.indices {
                let lane = runners[position].place(operation).lane
                guard try runners[position].forget(lane: lane, denied: denied) else { continue }
                forgotten.append((position, lane))
                if receives(position, operation, snapshot) {
                    try tellAgain(position, operation, snapshot) { _ in true }
                }
            }
        }
        if changes.all.contains(where: { $0.from == .denied }) {
            let gate = context.gate
            for position in routed where receives(position, operation, snapshot) {
                try tellAgain(position, operation, snapshot) { gate.decision(for: $0, before) == .deny }
            }
        }
        try record(changes, of: operation, effects)
    }

    /// Frees what waited for an answer that is there now.
    private func release(
        _ subject: Subject,
        _ changes: ConsentChanges,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot,
        _ effects: inout ConsentEffects
    ) throws {
        for (provider, hold, _) in try context.store.holds(subject: subject.rawValue) {
            guard let scopes = ConsentGate.scopes(ofHold: hold), let change = changes.reaching(scopes, before, snapshot)
            else { continue }
            let remaining: String?
            switch context.gate.decision(on: scopes, snapshot) {
            case .pass: remaining = nil
            case .hold(let name) where name != hold: remaining = name
            case .hold, .deny: continue
            }
            let count = try context.store.release(
                provider: provider,
                subject: subject.rawValue,
                hold: hold,
                to: remaining
            )
            if remaining == nil { effects[change, provider].released += count }
        }
    }

    /// Holds again, or ends, what was pending under another answer; also what is in flight.
    ///
    /// Providers that the configuration no longer names hold work of the subject too. What this release can't read stays, and
    /// so does what another person did who was there before.
    private func holdOrEnd(
        _ subject: Subject,
        _ changes: ConsentChanges,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot,
        _ effects: inout ConsentEffects
    ) throws {
        for name in try providersOfOutbox() {
            let runner = runners.first { $0.name == name }
            // People who have left, and whose ids the provider does not receive any more.
            var withoutIDs: [ScalarString: Int64] = [:]
            try context.store.forEachRow(provider: name, subject: subject.rawValue) { row in
                guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { return }
                guard !snapshot.isOfAnother(operation, row.operation.sequence) else {
                    guard let author = operation.contact, let since = withoutIDs[ScalarString(author)],
                        row.operation.sequence > since, !operation.action.isOptOut, !isInFlight(operation.id, name)
                    else { return }
                    let outcome = OperationOutcome(.rejected, finding: FindingRow.Engine.personLeft.at("contact"))
                    return try context.end(row, name, outcome, keepsReject: true)
                }
                let scopes = context.gate.requirements(of: operation.action)
                guard let change = changes.reaching(scopes, before, snapshot) else { return }
                switch context.gate.decision(for: operation.action, snapshot) {
                case .pass:
                    guard row.hold != nil else { return }
                    try context.store.setHold(nil, provider: name, sequence: row.operation.sequence)
                    effects[change, name].released += 1
                case .hold(let hold) where runner?.place(operation).waitsForConsent ?? true:
                    guard hold != row.hold else { return }
                    try context.store.setHold(hold, provider: name, sequence: row.operation.sequence)
                    if row.hold == nil { effects[change, name].held += 1 }
                case .hold:
                    try end(row, name, isInFlight(operation.id, name) ? .consentWithdrawn : .consentUnknown)
                    effects[change, name].ended += 1
                case .deny:
                    if case .registerDevice(let device) = operation.action, !device.identities.isEmpty,
                        let author = operation.contact, !author.isSame(as: snapshot.contact)
                    {
                        withoutIDs[ScalarString(author)] = row.operation.sequence
                    }
                    try end(row, name, isInFlight(operation.id, name) ? .consentWithdrawn : .consentDenied)
                    effects[change, name].ended += 1
                }
            }
        }
    }

    /// Ends what waited for an answer of the person who left: the next person cannot give it. A registration of the
    /// installation stays, and waits for the next person's consents.
    func endUnanswered(_ subject: Subject, _ snapshot: SubjectSnapshot) throws {
        for name in try providersOfOutbox() {
            try context.store.forEachRow(provider: name, subject: subject.rawValue) { row in
                guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { return }
                let waits = row.hold != nil
                guard operation.action.kind == .registerDevice else {
                    return waits ? try end(row, name, .consentUnanswered) : ()
                }
                var hold: String?
                if case .hold(let reason) = context.gate.decision(for: operation.action, snapshot) { hold = reason }
                guard hold != row.hold, waits || row.hold == nil else { return }
                try context.store.setHold(hold, provider: name, sequence: row.operation.sequence)
            }
        }
    }

    /// Registers the installation again for the next person, where a denial of the person who left had ended or prevented
    /// that, or the delivery of push messages: the denial does not bind anybody else.
    mutating func registerAgain(
        _ operation: EngagementOperation,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot
    ) throws {
        let gate = context.gate
        // No known person follows a log-out: the person who denied may be the one who comes back.
        let deniedPush = before.consent(for: .messaging, channel: .push) == .denied && !snapshot.identifiers.isEmpty
        for position in routed where receives(position, operation, snapshot) {
            try tellAgain(position, operation, snapshot) { action in
                action.kind == .registerDevice && (deniedPush || gate.decision(for: action, before) == .deny)
            }
        }
    }

    /// Logs a person out at each provider that does not receive the log-in of the next person now, because that one's consent
    /// is missing: the provider would still reach the person who has left.
    mutating func logOut(
        _ before: SubjectSnapshot,
        aheadOf operation: EngagementOperation,
        _ snapshot: SubjectSnapshot
    ) throws {
        guard before.isAnotherPerson(after: operation.action) else { return }
        let isDenied: Bool
        switch context.gate.decision(for: operation.action, snapshot) {
        case .pass: return
        case .hold: isDenied = false
        case .deny: isDenied = true
        }
        let (subject, logOut) = (operation.subject, Action.switchContact(ContactSwitch(.logOut)))
        for position in routed
        where shares[position].holds(before.contact, on: subject) && receives(position, operation, snapshot) {
            let runner = runners[position]
            guard isDenied || runner.place(operation).waitsForConsent,
                context.isTaken(logOut, for: subject, snapshot, runner)
            else { continue }
            try create(logOut, position, subject, snapshot, contact: .some(nil))
        }
    }

    /// Repeats the opt-outs of a person who logs in, behind the log-in.
    ///
    /// A provider may not have received those of a person who comes back, or its log-in may resume them. Those of a visitor
    /// need it where the log-in is not sent: the provider cannot know whose they are.
    mutating func repeatOptOuts(
        _ operation: EngagementOperation,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot
    ) throws {
        guard [.switchContact, .identify].contains(operation.action.kind) else { return }
        let isAnother = before.isAnotherPerson(after: operation.action)
        let isUnannounced =
            before.identifiers.isEmpty && context.gate.decision(for: operation.action, snapshot) != .pass
        let recalled = snapshot.subscriptions.filter { key, subscription in
            isAnother || isUnannounced && subscription.state.isOptOut || subscription != before.subscriptions[key]
        }
        guard !recalled.isEmpty else { return }
        for position in routed where receives(position, operation, snapshot) {
            let (context, runner) = (context, runners[position])
            try tellAgain(position, operation, snapshot) { action in
                guard case .changeSubscription(let subscription) = action, recalled[subscription.key] != nil else {
                    return false
                }
                return context.isTaken(action, for: operation.subject, snapshot, runner)
            }
        }
    }

    private func isInFlight(_ id: OperationID, _ provider: String) -> Bool {
        runners.first { $0.name == provider }?.isCommitted(id) ?? false
    }

    /// What the snapshot holds, is wanted and may reach a provider goes to it once more; what waits for an answer waits.
    mutating func tellAgain(
        _ position: Int,
        _ operation: EngagementOperation,
        _ snapshot: SubjectSnapshot,
        where isWanted: (Action) -> Bool
    ) throws {
        let (subject, runner, gate) = (operation.subject, runners[position], context.gate)
        for action in snapshot.replay.flatMap({ context.portions(of: $0, for: subject, snapshot, runner) })
        where !gate.scopes(of: action).isEmpty && gate.decision(for: action, snapshot) != .deny && isWanted(action) {
            try create(action, position, subject, snapshot)
        }
    }

    /// Creates an operation for one provider, which is looked at if it may be sent.
    private mutating func create(
        _ action: Action,
        _ position: Int,
        _ subject: Subject,
        _ snapshot: SubjectSnapshot,
        contact: String?? = nil
    ) throws {
        let entry = try context.create(
            action,
            for: subject,
            snapshot,
            because: "snapshot",
            runners[position],
            contact: contact
        )
        guard let entry, let ready = entry.ready else { return }
        touched[position, default: [:]][entry.lane, default: []] += [ready]
    }

    // MARK: Endings

    /// Every provider that the outbox or the configuration knows, sorted.
    func providersOfOutbox() throws -> [String] {
        Set(try context.store.providers().map(\.name)).union(runners.map(\.name)).sorted()
    }

    private func end(_ row: OutboxRow, _ provider: String, _ reason: FindingRow) throws {
        try context.end(row, provider, OperationOutcome(.dropped, finding: reason.at()))
    }

    // MARK: The trail

    /// Writes each change of an effective answer into the trail, with what it did, inside the capture's transaction.
    func record(_ changes: ConsentChanges, of operation: EngagementOperation, _ effects: ConsentEffects) throws {
        guard !changes.all.isEmpty else { return }
        let subject = try context.digest(of: operation.subject)
        for change in changes.all {
            try context.store.recordConsent(
                ConsentRecord(
                    at: context.date.milliseconds,
                    subject: subject,
                    purpose: change.scope.purpose.rawValue,
                    channel: change.scope.channel?.rawValue,
                    before: change.from.rawValue,
                    after: change.to.rawValue,
                    operation: operation.id.rawValue,
                    effects: effects.byChange[change] ?? [:]
                )
            )
        }
    }

    /// After the commit: what the runners keep of what has changed.
    func tellRunners() {
        for (position, lane) in forgotten { runners[position].reread(lane: lane) }
        for (subject, finding) in unreadable {
            for runner in runners { runner.refuseReads(of: subject, because: finding) }
        }
    }
}

/// What the changes of one operation did to what was pending, by change and provider.
struct ConsentEffects {
    private(set) var byChange: [ConsentChanges.Change: [String: ConsentRecord.Effect]] = [:]

    subscript(change: ConsentChanges.Change, provider: String) -> ConsentRecord.Effect {
        get { byChange[change]?[provider] ?? ConsentRecord.Effect() }
        set { byChange[change, default: [:]][provider] = newValue }
    }
}

extension FindingRow {
    fileprivate static let consentUnknown = Engine.consentUnknown
    fileprivate static let consentUnanswered = Engine.consentUnanswered
    fileprivate static let consentDenied = Engine.consentDenied
    fileprivate static let consentWithdrawn = Engine.consentWithdrawn
}

extension EngineContext {
    /// A subject as the trail names it: who knows the subject finds it, and nobody else reads who it is.
    func digest(of subject: Subject) throws -> String {
        if let digest = try ConsentTrail.digest(of: subject, in: store) { return digest }
        try store.setMeta(ConsentTrail.saltKey, host.makeSalt())
        return try ConsentTrail.digest(of: subject, in: store) ?? ""
    }

    /// The name under which the outbox keeps what may stay of an erased person's lane.
    func erasedKey(_ lane: String) throws -> String {
        _ = try digest(of: Subject(rawValue: lane))
        return try ConsentTrail.erasedKey(lane, in: store) ?? ""
    }
}

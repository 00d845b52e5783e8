import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The effects of a consent decision on pending operations.
extension CaptureBatch {
    /// Applies a consent decision to pending operations: an opt-in releases the operations that waited for it, an opt-out
    /// ends those that need it, and a withdrawn decision makes them wait again.
    ///
    /// An opt-out also clears the parts of the adapters' memories that it covers. The state that is still allowed is then
    /// sent again. When an opt-out is withdrawn, the state that was recorded meanwhile is sent. Events from that time are
    /// never sent.
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
        // An opt-out also wakes lanes: operations that make the vendor send less leave now, and nothing else may wake the
        // lane.
        for position in runners.indices where !changes.all.isEmpty {
            for lane in try context.store.queues.lanes(
                provider: runners[position].name,
                subject: operation.subject.rawValue
            ) {
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

    /// Releases operations whose consent is now given.
    private func release(
        _ subject: Subject,
        _ changes: ConsentChanges,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot,
        _ effects: inout ConsentEffects
    ) throws {
        for (provider, hold, _) in try context.store.operations.holds(subject: subject.rawValue) {
            guard let scopes = ConsentGate.scopes(ofHold: hold), let change = changes.reaching(scopes, before, snapshot)
            else { continue }
            let remaining: String?
            switch context.gate.decision(on: scopes, snapshot) {
            case .pass: remaining = nil
            case .hold(let name) where name != hold: remaining = name
            case .hold, .deny: continue
            }
            let count = try context.store.operations.release(
                provider: provider,
                subject: subject.rawValue,
                hold: hold,
                to: remaining
            )
            if remaining == nil { effects[change, provider].released += count }
        }
    }

    /// Holds or ends pending operations whose consent has changed, including those in flight.
    ///
    /// This also covers providers that the configuration no longer names. Operations that this release cannot read are left
    /// alone, as are those of a former person.
    private func holdOrEnd(
        _ subject: Subject,
        _ changes: ConsentChanges,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot,
        _ effects: inout ConsentEffects
    ) throws {
        for name in try providersOfOutbox() {
            let runner = runners.first { $0.name == name }
            // Former people whose ids the provider no longer receives, with the number of the registration that would have
            // sent them.
            var withoutIDs: [ScalarString: Int64] = [:]
            try context.store.queues.forEachRow(provider: name, subject: subject.rawValue) { row in
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
                    try context.store.operations.setHold(nil, provider: name, sequence: row.operation.sequence)
                    effects[change, name].released += 1
                case .hold(let hold) where runner?.place(operation).waitsForConsent ?? true:
                    guard hold != row.hold else { return }
                    try context.store.operations.setHold(hold, provider: name, sequence: row.operation.sequence)
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

    /// Ends operations that wait for the consent of a person who left, because the next person cannot give it. A registration
    /// belongs to the installation: it stays and waits for the next person's consents.
    func endUnanswered(_ subject: Subject, _ snapshot: SubjectSnapshot) throws {
        for name in try providersOfOutbox() {
            try context.store.queues.forEachRow(provider: name, subject: subject.rawValue) { row in
                guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { return }
                let waits = row.hold != nil
                guard operation.action.kind == .registerDevice else {
                    return waits ? try end(row, name, .consentUnanswered) : ()
                }
                var hold: String?
                if case .hold(let reason) = context.gate.decision(for: operation.action, snapshot) { hold = reason }
                guard hold != row.hold, waits || row.hold == nil else { return }
                try context.store.operations.setHold(hold, provider: name, sequence: row.operation.sequence)
            }
        }
    }

    /// Registers the installation again for the next person if an opt-out of the former person had ended or prevented the
    /// registration or push messages. That opt-out does not apply to the next person.
    mutating func registerAgain(
        _ operation: EngagementOperation,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot
    ) throws {
        let gate = context.gate
        // A log-out is not followed by a known person: the person who opted out may come back.
        let deniedPush = before.consent(for: .messaging, channel: .push) == .denied && !snapshot.identifiers.isEmpty
        for position in routed where receives(position, operation, snapshot) {
            try tellAgain(position, operation, snapshot) { action in
                action.kind == .registerDevice && (deniedPush || gate.decision(for: action, before) == .deny)
            }
        }
    }

    /// Logs the former person out at each provider that does not receive the next person's log-in now for lack of consent.
    /// Otherwise, the provider would still reach the former person.
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

    /// Repeats the opt-outs of a person who logs in, after the log-in.
    ///
    /// A provider may have missed the opt-outs of a person who comes back, or its log-in may undo them. A visitor's opt-outs
    /// are repeated if the log-in is not sent, because the provider cannot know whose they are.
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

    /// Sends the parts of the snapshot that are wanted and not denied to a provider again. Parts without a consent wait.
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

    /// Creates an operation for one provider and notes it as ready if it may be sent.
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

    // MARK: Outcomes

    /// Returns the names of all providers in the outbox or the configuration, sorted.
    func providersOfOutbox() throws -> [String] {
        Set(try context.store.state.providers().map(\.name)).union(runners.map(\.name)).sorted()
    }

    private func end(_ row: OutboxRow, _ provider: String, _ reason: FindingRow) throws {
        try context.end(row, provider, OperationOutcome(.dropped, finding: reason.at()))
    }

    // MARK: Consent trail

    /// Records each change of an effective consent in the trail, with its effects, inside the capture's transaction.
    func record(_ changes: ConsentChanges, of operation: EngagementOperation, _ effects: ConsentEffects) throws {
        guard !changes.all.isEmpty else { return }
        let subject = try context.digest(of: operation.subject)
        for change in changes.all {
            try context.store.state.recordConsent(
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

    /// Updates the cached state of the runners after the commit.
    func tellRunners() {
        for (position, lane) in forgotten { runners[position].reread(lane: lane) }
        for (subject, finding) in unreadable {
            for runner in runners { runner.refuseReads(of: subject, because: finding) }
        }
    }
}

/// The effects of one operation's consent changes on pending operations, by change and provider.
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
    /// Returns the name of a subject in the trail. It can be computed from the subject, but not the other way round.
    func digest(of subject: Subject) throws -> String {
        if let digest = try ConsentTrail.digest(of: subject, in: store) { return digest }
        try store.state.setMeta(ConsentTrail.saltKey, host.makeSalt())
        return try ConsentTrail.digest(of: subject, in: store) ?? ""
    }

    /// Returns the key of the data that may be kept of an erased person's lane.
    func erasedKey(_ lane: String) throws -> String {
        _ = try digest(of: Subject(rawValue: lane))
        return try ConsentTrail.erasedKey(lane, in: store) ?? ""
    }
}

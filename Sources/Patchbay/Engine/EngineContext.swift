import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The state that all providers of an engine share: outbox, time, lease and events.
final class EngineContext {
    let store: OutboxStore
    let host: any EngineHost
    let gate: ConsentGate
    let shadowRuns: ShadowRunBook
    private let timeline: Timeline
    /// When the timeline's mark was last stored.
    private var lastMark: Instant?
    /// Whether a transaction without outcomes is in progress: one with the timeline's mark, or a request that is about to
    /// leave.
    var isMarking = false
    let credentials: CredentialCache
    private var ticket = 0
    private(set) var events: [EngineEvent] = []
    /// The epoch of this engine's right to deliver; nil while another process has it.
    var epoch: Int64?

    init(
        store: OutboxStore,
        host: any EngineHost,
        gate: ConsentGate,
        credentials: CredentialCache
    ) throws {
        (self.store, self.host, self.gate, self.credentials) = (store, host, gate, credentials)
        shadowRuns = ShadowRunBook(store)
        timeline = Timeline(after: try store.state.meta("timeline"), on: host)
    }

    /// Subscribes to the store's callbacks. With several engines over one store, the last one that was started receives them.
    func listen() {
        store.quarantine.date = { [host] in host.date().milliseconds }
        store.quarantine.onLoss = { [weak self] provider, id in
            let outcome = OperationOutcome(.quarantined, finding: FindingRow.Engine.rowDamaged.at())
            self?.emit([.ended(OperationID(rawValue: id), provider: provider, outcome)])
        }
        store.rejects.onForgotten = { [weak self] provider, count in
            let finding = FindingRow.Engine.rejectsForgotten.at(detail: "\(count)")
            self?.emit([.noticed(provider: provider, finding)])
        }
    }

    var now: Instant { timeline.now(at: host.uptime()) }
    var date: Instant { host.date() }

    /// Returns the time on the engine's timeline for a reading of the clock that includes sleep.
    func now(at uptime: Instant) -> Instant { timeline.now(at: uptime) }

    func moment(flush: Bool) -> Moment { Moment(now: now, date: date, flush: flush, chance: host.chance()) }

    func credential(_ provider: String, _ contact: ScalarString?) -> Secret? {
        credentials.credential(of: provider, for: contact, at: date, uptime: host.uptime())
    }

    func makeTicket() -> Int {
        ticket += 1
        return ticket
    }

    /// Runs a transaction. It also stores the timeline's mark once a second, and in every full transaction other than
    /// appends.
    ///
    /// Within a boot, any mark leads to the same time, even an older one. Events are emitted only if the transaction commits.
    func transaction(_ durability: Durability, appends: Bool = false, _ body: () throws -> Void) throws {
        let eventCount = events.count
        let now = now
        let isMarked = durability == .full && !appends || lastMark.map { now - $0 >= Timeline.markPause } ?? true
        do {
            try store.transaction(durability, appends: appends) {
                try body()
                if isMarked { try store.state.setMeta("timeline", timeline.mark(on: host)) }
            }
            if isMarked { lastMark = now }
        } catch {
            events.removeLast(events.count - eventCount)
            throw error
        }
    }

    /// Stores the mark before a request leaves without a transaction. After a reboot, no request may leave at an earlier
    /// time.
    func markIfDue() throws {
        guard lastMark.map({ now - $0 >= Timeline.markPause }) ?? true else { return }
        isMarking = true
        defer { isMarking = false }
        try transaction(.normal) {}
    }

    /// Throws if another process has taken over, in which case this process must not store outcomes.
    func requireLease() throws {
        guard let epoch, try store.lease.epoch() == epoch else { throw LeaseLost() }
    }

    /// Emits events to the app once the current transaction has committed.
    func emit(_ new: [EngineEvent]) {
        events += new
    }

    /// Emits the events that another engine over the same outbox has not reported yet, before all others.
    func emitFirst(_ earlier: [EngineEvent]) { events = earlier + events }

    func takeEvents() -> [EngineEvent] {
        defer { events = [] }
        return events
    }

    /// Returns the subject snapshot of a subject.
    ///
    /// A snapshot that this release cannot read is set aside, which is reported once. A new one starts with the person's
    /// denials.
    func snapshot(of subject: Subject) throws -> SubjectSnapshot {
        try storedSnapshot(of: subject) ?? rebuiltSnapshot(of: subject)
    }

    /// Returns a snapshot for a subject that has none in the outbox: the subject is new, or its row was damaged or lost in a
    /// recovery. The person's denials are restored from the consent trail.
    func rebuiltSnapshot(of subject: Subject) throws -> SubjectSnapshot {
        var snapshot = SubjectSnapshot()
        snapshot.consents = try ConsentTrail.refusals(of: subject, in: store)
        return snapshot
    }

    /// Returns the stored snapshot of a subject; nil if the outbox has none.
    func storedSnapshot(of subject: Subject) throws -> SubjectSnapshot? {
        if let snapshot = keptSnapshots.snapshots[subject], try keptSnapshots.version == store.foreignVersion() {
            return snapshot
        }
        return try store.state.snapshot(subject: subject.rawValue).flatMap { try snapshot($0, of: subject) }
    }

    /// Returns the snapshot of a subject for a plan. It is cached for the next plan, so call this outside of transactions
    /// only.
    func snapshotForPlan(of subject: Subject) throws -> SubjectSnapshot {
        let version = try store.foreignVersion()
        let kept = keptSnapshots.version == version ? keptSnapshots.snapshots : [:]
        if let known = kept[subject] { return known }
        guard let snapshot = try storedSnapshot(of: subject) else { return try rebuiltSnapshot(of: subject) }
        keep(kept.merging([subject: snapshot]) { _, new in new }, version)
        return snapshot
    }

    /// The snapshots of the last captures or plans, valid until another process commits.
    private var keptSnapshots: (snapshots: [Subject: SubjectSnapshot], version: Int64) = ([:], 0)

    /// Caches the snapshots that are stored now, if they are few.
    func keep(_ snapshots: [Subject: SubjectSnapshot], _ version: Int64) {
        keptSnapshots = (snapshots.count <= 8 ? snapshots : [:], version)
    }

    /// Decodes a stored snapshot; nil if it had to be set aside.
    func snapshot(_ stored: [UInt8], of subject: Subject) throws -> SubjectSnapshot? {
        if let snapshot = try? SubjectSnapshot(jsonBytes: stored) { return snapshot }
        try store.quarantine.setSnapshotAside(subject: subject.rawValue)
        emit([.setAside(FindingRow.Engine.snapshotUnreadable.at())])
        return nil
    }

    /// Stores an operation that a reply caused, and puts it on the route of that provider only.
    ///
    /// It ends at once if the person's consents do not allow it. At a removed provider it never waits for a consent, because
    /// an operation that is released later would not be sent there.
    func enter(_ action: Action, causedBy cause: EngagementOperation, runner: Runner) throws -> Entry {
        let operation = EngagementOperation(
            id: host.makeID(),
            subject: cause.subject,
            contact: cause.contact,
            capturedAt: date,
            appState: cause.appState,
            action: action
        )
        let sequence = try store.captures.insert(OutboxOperation(operation, since: now))
        try store.accounts.count(provider: runner.name, term: "created", code: "followUp", by: 1)
        let snapshot = try snapshot(of: cause.subject)
        let isLeft = runner.isUnrouted || !runner.share.holds(snapshot.contact, on: cause.subject)
        let entry = try enter(
            operation,
            sequence,
            runner,
            snapshot,
            findings: [],
            keepsRejects: false,
            mayWait: !isLeft
        )
        try store.operations.discardIfUnrouted(sequence)
        return entry
    }

    /// Stores an operation that the engine creates: a part of the subject snapshot, or an unregistration.
    ///
    /// If the vendor has no API for it, no captured operation is lost: it ends at once with its reason and is not kept for
    /// replay.
    ///
    /// - Returns: The entry on the route; nil if the operation does not apply to the provider.
    @discardableResult
    func create(
        _ action: Action,
        for subject: Subject,
        _ snapshot: SubjectSnapshot,
        because reason: String,
        _ runner: Runner,
        contact: String?? = nil,
        at place: Int64? = nil
    ) throws -> Entry? {
        var operation = operation(action, host.makeID(), of: subject, snapshot)
        operation.contact = contact ?? operation.contact
        let findings = runner.examine(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return nil }
        let sequence = try store.captures.insert(OutboxOperation(operation, since: now), at: place)
        try store.accounts.count(provider: runner.name, term: "created", code: reason, by: 1)
        let entry = try enter(operation, sequence, runner, snapshot, findings: findings, keepsRejects: false)
        try store.operations.discardIfUnrouted(sequence)
        return entry
    }

    /// Stores the unregistrations of a subject at a removed provider, behind all pending operations.
    ///
    /// There is one for the current contact. If the adapter uses credentials, there is one more for each contact under whom
    /// the vendor may hold a registration: those that the adapter's memory names, and those of pending operations.
    ///
    /// - Returns: How they entered the route.
    func unregister(_ subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) throws -> [Entry] {
        var contacts = [snapshot.contact]
        if runner.descriptor.delivery.usesCredentials, runner.descriptor.memory == .lane {
            contacts = try runner.registeredContacts(subject, snapshot)
            try store.queues.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
                guard row.kind != nil, let operation = try? EngagementOperation(jsonBytes: row.operation.body) else {
                    return
                }
                contacts.append(operation.contact)
            }
            contacts.append(snapshot.contact)
        }
        var seen: Set<ScalarString?> = []
        return try contacts.filter { seen.insert($0.map(ScalarString.init)).inserted }.compactMap { contact in
            try create(.unregister, for: subject, snapshot, because: "unregister", runner, contact: .some(contact))
        }
    }

    /// Creates an operation of the engine itself, on behalf of the current person and with the current time.
    private func operation(
        _ action: Action,
        _ id: OperationID,
        of subject: Subject,
        _ snapshot: SubjectSnapshot
    ) -> EngagementOperation {
        EngagementOperation(
            id: id,
            subject: subject,
            contact: snapshot.contact,
            capturedAt: date,
            appState: .active,
            action: action
        )
    }

    /// Returns the log-out that precedes a replayed state; nil if none is needed, or if the provider does not support
    /// log-outs.
    ///
    /// The state of an anonymous person has no contact. Without the log-out, the vendor would attribute it to the former
    /// person, whom it may know or whose pending log-in it may receive first.
    func logOut(of subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) -> Action? {
        guard snapshot.cameAfter != nil, snapshot.contact == nil, snapshot.identifiers.isEmpty else { return nil }
        let logOut = Action.switchContact(ContactSwitch(.logOut))
        return isTaken(logOut, for: subject, snapshot, runner) ? logOut : nil
    }

    /// Creates the last change of person for a provider that did not receive it, before the operations of that person.
    ///
    /// The number before that change is reserved for it. An operation with that number for another provider is used again.
    func createPersonChange(of subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) throws {
        guard let place = snapshot.personChanges.last.map({ Int64($0 - 1) }),
            try store.queues.row(place, provider: runner.name) == nil
        else { return }
        if let other = try store.operations.routes(of: place).providers.first,
            let row = try store.queues.row(place, provider: other)
        {
            guard try store.deliveryMarks.mark(of: row.operation.id, provider: runner.name) == .none else { return }
            let earlier = try EngagementOperation(jsonBytes: row.operation.body)
            try store.accounts.count(provider: runner.name, term: "created", code: "snapshot", by: 1)
            _ = try enter(earlier, place, runner, snapshot, findings: runner.examine(earlier), keepsRejects: false)
            return
        }
        let said = snapshot.contactSwitch.map(Action.switchContact)
        let known = snapshot.identifiers.isEmpty ? nil : Action.identify(snapshot.identifiers)
        let actions = [said, known].compactMap(\.self)
        guard let action = actions.first(where: { isTaken($0, for: subject, snapshot, runner) }) else { return }
        try create(action, for: subject, snapshot, because: "snapshot", runner, at: place)
    }

    /// Whether a provider accepts an action that the engine creates.
    func isTaken(_ action: Action, for subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) -> Bool {
        let trial = operation(action, "00000000-0000-4000-8000-000000000000", of: subject, snapshot)
        return !runner.examine(trial).contains { $0.severity == .error }
    }

    /// Splits an action of a replayed state, so that the parts that a provider refuses do not affect the others.
    func portions(of action: Action, for subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner)
        -> [Action]
    {
        func isRefused(_ action: Action) -> Bool { !isTaken(action, for: subject, snapshot, runner) }
        guard isRefused(action) else { return [action] }
        switch action {
        case .changeAttributes(let changes) where changes.count > 1:
            let refused = changes.filter { isRefused(.changeAttributes([$0.key: $0.value])) }
            let rest = changes.filter { refused[$0.key] == nil }
            return (rest.isEmpty ? [] : [.changeAttributes(rest)])
                + refused.inOrder.map { .changeAttributes([$0.key: $0.value]) }
        case .changeTags(let change) where change.add.count > 1:
            let refused = change.add.filter { isRefused(.changeTags(TagChange(add: [$0]))) }
            let rest = change.add.filter(Set(change.add).subtracting(refused).contains)
            return (rest.isEmpty ? [] : [.changeTags(TagChange(add: rest))])
                + refused.map { .changeTags(TagChange(add: [$0])) }
        default: return [action]
        }
    }

    /// Withdraws a provider's pending unregistrations of a subject, because it receives the subject again.
    func takeBackUnregisters(_ runner: Runner, of subject: Subject) throws {
        var journaled: Set<String>?
        try store.queues.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
            guard row.step == nil, let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                operation.action == .unregister
            else { return }
            let inFlight = try journaled ?? Set(store.state.journal(provider: runner.name).flatMap(\.operations))
            journaled = inFlight
            guard !inFlight.contains(row.operation.id) else { return }
            let outcome = OperationOutcome(.superseded)
            try store.settlement.complete(
                provider: runner.name,
                sequence: row.operation.sequence,
                term: outcome.term.rawValue,
                code: "",
                at: date.milliseconds
            )
            emit([.ended(operation.id, provider: runner.name, outcome)])
        }
    }

    /// The result of putting an operation on a route.
    struct Entry {
        let lane: String
        /// The outcome, if the operation was refused or is not allowed.
        let end: OperationOutcome?
        /// The entry for the lane's window; nil if the operation has an outcome or is held.
        let ready: LaneEntry?
    }

    /// Ends a stored operation and reports the outcome. A later reply of the vendor does not change it. With `keepsReject`,
    /// the operation can be replayed.
    func end(_ row: OutboxRow, _ provider: String, _ outcome: OperationOutcome, keepsReject: Bool = false) throws {
        try store.settlement.complete(
            provider: provider,
            sequence: row.operation.sequence,
            term: outcome.term.rawValue,
            code: outcome.finding?.code ?? "",
            at: date.milliseconds,
            reject: keepsReject ? outcome.finding?.jsonBytes : nil
        )
        emit([.ended(OperationID(rawValue: row.operation.id), provider: provider, outcome)])
    }

    /// Rejects an operation that waits for a consent at a removed provider, because it could not be sent there after its
    /// release.
    func rejectHeld(_ row: OutboxRow, at provider: String) throws {
        let outcome = OperationOutcome(.rejected, finding: FindingRow.Engine.providerLeft.at())
        try end(row, provider, outcome, keepsReject: true)
    }

    /// Ends held registrations of an installation that a later one replaces. Released after it, they would restore outdated
    /// data.
    private func supersedeHeld(by device: Device, _ sequence: Int64, of subject: Subject, _ runner: Runner) throws {
        guard try store.operations.holds(subject: subject.rawValue).contains(where: { $0.provider == runner.name })
        else { return }
        try store.queues.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
            guard row.hold != nil, row.operation.sequence < sequence,
                let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                case .registerDevice(let earlier) = operation.action,
                earlier.identities.allSatisfy({ device.identities[$0.key] != nil })
            else { return }
            try end(row, runner.name, OperationOutcome(.superseded))
        }
    }

    /// Puts a stored operation on a provider's route. It ends there at once if examination refuses it or if the person's
    /// consents do not allow it. Pending operations of a former person were allowed by that person.
    ///
    /// The operation stays for its other routes. The caller discards it if there are none.
    func enter(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ runner: Runner,
        _ snapshot: SubjectSnapshot,
        findings: [Finding],
        keepsRejects: Bool,
        isShadowed: Bool = false,
        mayWait: Bool = true
    ) throws -> Entry {
        let place = runner.place(operation)
        var hold: String?
        var end = findings.first { $0.severity == .error }.map { OperationOutcome(.rejected, finding: $0) }
        if end == nil, !snapshot.isOfAnother(operation, sequence) {
            switch gate.decision(for: operation.action, snapshot) {
            case .pass: break
            case .hold where !mayWait: end = OperationOutcome(.dropped, finding: FindingRow.Engine.providerLeft.at())
            case .hold(let reason) where place.waitsForConsent: hold = reason
            case .hold: end = OperationOutcome(.dropped, finding: FindingRow.Engine.consentUnknown.at())
            case .deny: end = OperationOutcome(.dropped, finding: FindingRow.Engine.consentDenied.at())
            }
        }
        if isShadowed, runner.shadow == .inside { end = end ?? OperationOutcome(.shadowed) }
        end = end.map { runner.booked($0, isEntering: isShadowed) }
        try store.captures.enter(
            sequence,
            provider: runner.name,
            lane: place.lane,
            queue: place.queue,
            hold: hold,
            kind: runner.kindName(of: operation)
        )
        guard let end else {
            if case .registerDevice(let device) = operation.action, runner.descriptor.memory == .lane {
                try supersedeHeld(by: device, sequence, of: operation.subject, runner)
            }
            let ready = hold == nil ? LaneEntry(sequence: sequence, queue: place.queue) : nil
            return Entry(lane: place.lane, end: nil, ready: ready)
        }
        try store.settlement.complete(
            provider: runner.name,
            sequence: sequence,
            term: end.term.rawValue,
            code: end.finding?.code ?? "",
            at: date.milliseconds,
            reject: keepsRejects && end.term == .rejected ? end.finding?.jsonBytes : nil,
            keepingOperation: true,
            isIndexed: true
        )
        emit([.ended(operation.id, provider: runner.name, end)])
        return Entry(lane: place.lane, end: end, ready: nil)
    }
}

/// The error that another process delivers now.
struct LeaseLost: Error {}

extension OutboxOperation {
    /// Creates the stored form of an operation.
    init(_ operation: EngagementOperation, since: Instant) {
        self.init(
            sequence: 0,
            id: operation.id.rawValue,
            subject: operation.subject.rawValue,
            group: operation.group,
            capturedAt: operation.capturedAt.milliseconds,
            since: since.milliseconds,
            body: operation.jsonBytes
        )
    }

    /// Creates the stored form of an operation that is encoded already.
    init(_ operation: EngagementOperation, since: Int64, body: [UInt8]) {
        self.init(
            sequence: 0,
            id: operation.id.rawValue,
            subject: operation.subject.rawValue,
            group: operation.group,
            capturedAt: operation.capturedAt.milliseconds,
            since: since,
            body: body
        )
    }
}

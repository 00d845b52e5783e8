import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// What all providers of one engine share: the outbox, the time, the lease, the way to the app.
final class EngineContext {
    let store: OutboxStore
    let host: any EngineHost
    let gate: ConsentGate
    let shadowRuns: ShadowRunBook
    private let timeline: Timeline
    /// When the timeline's mark was last stored.
    private var lastMark: Instant?
    /// Whether a transaction is in progress that stores no outcome: the timeline's mark, or a request that is about to leave.
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
        timeline = Timeline(after: try store.meta("timeline"), on: host)
    }

    /// Hears what the store does by itself. Of several engines over one store, the one that was started last does.
    func listen() {
        store.date = { [host] in host.date().milliseconds }
        store.onLoss = { [weak self] provider, id in
            let outcome = OperationOutcome(.quarantined, finding: FindingRow.Engine.rowDamaged.at())
            self?.emit([.ended(OperationID(rawValue: id), provider: provider, outcome)])
        }
        store.onForgotten = { [weak self] provider, count in
            let finding = FindingRow.Engine.rejectsForgotten.at(detail: "\(count)")
            self?.emit([.noticed(provider: provider, finding)])
        }
    }

    var now: Instant { timeline.now(at: host.uptime()) }
    var date: Instant { host.date() }

    /// The engine's timeline at a reading of the clock that counts sleep.
    func now(at uptime: Instant) -> Instant { timeline.now(at: uptime) }

    func moment(flush: Bool) -> Moment { Moment(now: now, date: date, flush: flush, chance: host.chance()) }

    func credential(_ provider: String, _ contact: ScalarString?) -> Secret? {
        credentials.credential(of: provider, for: contact, at: date, uptime: host.uptime())
    }

    func makeTicket() -> Int {
        ticket += 1
        return ticket
    }

    /// One transaction, with the timeline's mark in it: once a second, and where more is synced than captures that wait for
    /// their places.
    ///
    /// Within a boot any mark leads to the same time, an older one too. What it emits is told only if it commits.
    func transaction(_ durability: Durability, appends: Bool = false, _ body: () throws -> Void) throws {
        let told = events.count
        let now = now
        let isMarked = durability == .full && !appends || lastMark.map { now - $0 >= Timeline.markPause } ?? true
        do {
            try store.transaction(durability, appends: appends) {
                try body()
                if isMarked { try store.setMeta("timeline", timeline.mark(on: host)) }
            }
            if isMarked { lastMark = now }
        } catch {
            events.removeLast(events.count - told)
            throw error
        }
    }

    /// Before a request leaves that no transaction goes with: none may leave, after a reboot, earlier than this one.
    func markIfDue() throws {
        guard lastMark.map({ now - $0 >= Timeline.markPause }) ?? true else { return }
        isMarking = true
        defer { isMarking = false }
        try transaction(.normal) {}
    }

    /// Inside a settle: another process may have taken over meanwhile, and then nothing of ours counts any more.
    func requireLease() throws {
        guard let epoch, try store.leaseEpoch() == epoch else { throw LeaseLost() }
    }

    /// Tells the app, as soon as the transaction at hand has committed.
    func emit(_ new: [EngineEvent]) {
        events += new
        guard DeliberateFault.answerToldTwice.isPresent else { return }
        events += new.filter { if case .answered = $0 { true } else { false } }
    }

    /// Tells what another engine over the same outbox has not told, before everything else.
    func emitFirst(_ earlier: [EngineEvent]) { events = earlier + events }

    func takeEvents() -> [EngineEvent] {
        defer { events = [] }
        return events
    }

    /// The last neutral state of a subject, as the outbox holds it.
    ///
    /// A state that this release can't read is set aside, told of once, and begins anew with what the person refused.
    func snapshot(of subject: Subject) throws -> SubjectSnapshot {
        try storedSnapshot(of: subject) ?? rebuiltSnapshot(of: subject)
    }

    /// The state of a subject for whom the outbox holds none. Nobody was there before, or the row was lost: set aside as
    /// damaged, or thrown away when the file was recovered. What the person refused stands in the trail, too.
    func rebuiltSnapshot(of subject: Subject) throws -> SubjectSnapshot {
        var snapshot = SubjectSnapshot()
        snapshot.consents = try ConsentTrail.refusals(of: subject, in: store)
        return snapshot
    }

    /// The same; nil if the outbox holds none.
    func storedSnapshot(of subject: Subject) throws -> SubjectSnapshot? {
        if let snapshot = keptSnapshots.snapshots[subject], try keptSnapshots.version == store.foreignVersion() {
            return snapshot
        }
        return try store.snapshot(subject: subject.rawValue).flatMap { try snapshot($0, of: subject) }
    }

    /// The state of a subject for a plan. It is kept for the next one, so call this outside of transactions only.
    func snapshotForPlan(of subject: Subject) throws -> SubjectSnapshot {
        let version = try store.foreignVersion()
        let kept = keptSnapshots.version == version ? keptSnapshots.snapshots : [:]
        if let known = kept[subject] { return known }
        guard let snapshot = try storedSnapshot(of: subject) else { return try rebuiltSnapshot(of: subject) }
        keep(kept.merging([subject: snapshot]) { _, new in new }, version)
        return snapshot
    }

    /// The states that were captured or planned with last, as long as nobody else may have changed them.
    private var keptSnapshots: (snapshots: [Subject: SubjectSnapshot], version: Int64) = ([:], 0)

    /// Keeps the states that are stored now, of a few subjects.
    func keep(_ snapshots: [Subject: SubjectSnapshot], _ version: Int64) {
        keptSnapshots = (snapshots.count <= 8 ? snapshots : [:], version)
    }

    /// Reads a stored state; nil if it had to be set aside.
    func snapshot(_ stored: [UInt8], of subject: Subject) throws -> SubjectSnapshot? {
        if let snapshot = try? SubjectSnapshot(jsonBytes: stored) { return snapshot }
        try store.setSnapshotAside(subject: subject.rawValue)
        emit([.setAside(FindingRow.Engine.snapshotUnreadable.at())])
        return nil
    }

    /// Stores an operation that a reply asked for, and puts it on its way to that provider alone.
    ///
    /// It ends there at once if the person does not allow it. At a provider that was left it never waits for a consent: whatever
    /// is released later is not carried out there.
    func enter(_ action: Action, causedBy cause: EngagementOperation, runner: Runner) throws -> Entry {
        let operation = EngagementOperation(
            id: host.makeID(),
            subject: cause.subject,
            contact: cause.contact,
            capturedAt: date,
            appState: cause.appState,
            action: action
        )
        let sequence = try store.insert(OutboxOperation(operation, since: now))
        try store.count(provider: runner.name, term: "created", code: "followUp", by: 1)
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
        try store.discardIfUnrouted(sequence)
        return entry
    }

    /// Stores an operation that the engine creates: a part of the subject snapshot, an unregister.
    ///
    /// What the vendor has no API for is no loss of anything captured: it ends at once, with its reason and no copy.
    ///
    /// - Returns: how it entered the route; nil if it is none of the provider's business.
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
        let sequence = try store.insert(OutboxOperation(operation, since: now), at: place)
        try store.count(provider: runner.name, term: "created", code: reason, by: 1)
        let entry = try enter(operation, sequence, runner, snapshot, findings: findings, keepsRejects: false)
        try store.discardIfUnrouted(sequence)
        return entry
    }

    /// Stores the unregisters of a subject at a provider that is left, behind everything that is pending.
    ///
    /// There is one for the current contact. Where the adapter uses credentials, there is one more for each contact under whom
    /// the vendor may hold a registration: those that the adapter's memory names, and those of pending operations.
    ///
    /// - Returns: How they entered the route.
    func unregister(_ subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) throws -> [Entry] {
        var contacts = [snapshot.contact]
        if runner.descriptor.usesCredentials, runner.descriptor.memory == .lane {
            contacts = try runner.registeredContacts(subject, snapshot)
            try store.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
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

    /// Something that the engine says itself, now, on behalf of whoever is there.
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

    /// Returns the log-out that precedes a replayed state; nil if it needs none, or if the provider cannot log anybody out.
    ///
    /// The state of an anonymous person has no contact, so that it would be joined to the person before: the vendor may hold that
    /// person, or receive that person's pending log-in first.
    func logOut(of subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) -> Action? {
        guard snapshot.cameAfter != nil, snapshot.contact == nil, snapshot.identifiers.isEmpty else { return nil }
        let logOut = Action.switchContact(ContactSwitch(.logOut))
        return isTaken(logOut, for: subject, snapshot, runner) ? logOut : nil
    }

    /// Creates the last change of person for a provider that did not receive it, in front of what the person did.
    ///
    /// The number in front of that change is free for it. An operation that stands there for another provider is used again.
    func createPersonChange(of subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) throws {
        guard let place = snapshot.personChanges.last.map({ Int64($0 - 1) }),
            try store.row(place, provider: runner.name) == nil
        else { return }
        if let other = try store.routes(of: place).providers.first, let row = try store.row(place, provider: other) {
            guard try store.hearing(of: row.operation.id, provider: runner.name) == .none else { return }
            let earlier = try EngagementOperation(jsonBytes: row.operation.body)
            try store.count(provider: runner.name, term: "created", code: "snapshot", by: 1)
            _ = try enter(earlier, place, runner, snapshot, findings: runner.examine(earlier), keepsRejects: false)
            return
        }
        let said = snapshot.contactSwitch.map(Action.switchContact)
        let known = snapshot.identifiers.isEmpty ? nil : Action.identify(snapshot.identifiers)
        let actions = [said, known].compactMap(\.self)
        guard let action = actions.first(where: { isTaken($0, for: subject, snapshot, runner) }) else { return }
        try create(action, for: subject, snapshot, because: "snapshot", runner, at: place)
    }

    /// Whether a provider raises no objection to an action that the engine itself makes.
    func isTaken(_ action: Action, for subject: Subject, _ snapshot: SubjectSnapshot, _ runner: Runner) -> Bool {
        let trial = operation(action, "00000000-0000-4000-8000-000000000000", of: subject, snapshot)
        return !runner.examine(trial).contains { $0.severity == .error }
    }

    /// What of a replayed state can go together: what a provider refuses stands alone, and takes nothing else with it.
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
                + refused.sorted { $0.key < $1.key }.map { .changeAttributes([$0.key: $0.value]) }
        case .changeTags(let change) where change.add.count > 1:
            let refused = change.add.filter { isRefused(.changeTags(TagChange(add: [$0]))) }
            let rest = change.add.filter(Set(change.add).subtracting(refused).contains)
            return (rest.isEmpty ? [] : [.changeTags(TagChange(add: rest))])
                + refused.map { .changeTags(TagChange(add: [$0])) }
        default: return [action]
        }
    }

    /// A provider that hears a subject again before its unregister left is not told one.
    func takeBackUnregisters(_ runner: Runner, of subject: Subject) throws {
        var journaled: Set<String>?
        try store.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
            guard row.step == nil, let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                operation.action == .unregister
            else { return }
            let inFlight = try journaled ?? Set(store.journal(provider: runner.name).flatMap(\.operations))
            journaled = inFlight
            guard !inFlight.contains(row.operation.id) else { return }
            let outcome = OperationOutcome(.superseded)
            try store.end(
                provider: runner.name,
                sequence: row.operation.sequence,
                term: outcome.term.rawValue,
                code: "",
                at: date.milliseconds
            )
            emit([.ended(operation.id, provider: runner.name, outcome)])
        }
    }

    /// How an operation entered a route.
    struct Entry {
        let lane: String
        /// Its end, if it was refused or is not allowed.
        let end: OperationOutcome?
        /// What the lane's window is told; nil if the operation has ended or is held back.
        let ready: LaneEntry?
    }

    /// Ends a stored operation, and reports it: what the vendor replies to it later changes nothing. With `keepsReject` it can be
    /// replayed.
    func end(_ row: OutboxRow, _ provider: String, _ outcome: OperationOutcome, keepsReject: Bool = false) throws {
        try store.end(
            provider: provider,
            sequence: row.operation.sequence,
            term: outcome.term.rawValue,
            code: outcome.finding?.code ?? "",
            at: date.milliseconds,
            reject: keepsReject ? outcome.finding?.jsonBytes : nil
        )
        emit([.ended(OperationID(rawValue: row.operation.id), provider: provider, outcome)])
    }

    /// Rejects what waits for a consent at a provider that is left: once it is released, nothing may leave there any more.
    func rejectHeld(_ row: OutboxRow, at provider: String) throws {
        let outcome = OperationOutcome(.rejected, finding: FindingRow.Engine.providerLeft.at())
        try end(row, provider, outcome, keepsReject: true)
    }

    /// Ends the registrations of an installation that wait for a consent and that a later one replaces: released behind it,
    /// they would bring back what no longer holds.
    private func supersedeHeld(by device: Device, _ sequence: Int64, of subject: Subject, _ runner: Runner) throws {
        guard try store.holds(subject: subject.rawValue).contains(where: { $0.provider == runner.name }) else { return }
        try store.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
            guard row.hold != nil, row.operation.sequence < sequence,
                let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                case .registerDevice(let earlier) = operation.action,
                earlier.identities.allSatisfy({ device.identities[$0.key] != nil })
            else { return }
            try end(row, runner.name, OperationOutcome(.superseded))
        }
    }

    /// Puts a stored operation on its way to a provider, or ends it there: what examination refuses, and what the person
    /// does not allow, never leaves. What is pending of a person who has left was allowed by that person. The operation stays
    /// for its other routes: the caller discards it if it has none.
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
            case .deny where DeliberateFault.denialIgnored.isPresent: break
            case .hold where DeliberateFault.holdIgnored.isPresent: break
            case .hold where !mayWait: end = OperationOutcome(.dropped, finding: FindingRow.Engine.providerLeft.at())
            case .hold(let reason) where place.waitsForConsent: hold = reason
            case .hold: end = OperationOutcome(.dropped, finding: FindingRow.Engine.consentUnknown.at())
            case .deny: end = OperationOutcome(.dropped, finding: FindingRow.Engine.consentDenied.at())
            }
        }
        if isShadowed, runner.shadow == .inside { end = end ?? OperationOutcome(.shadowed) }
        end = end.map { runner.booked($0, isEntering: isShadowed) }
        try store.enter(
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
        try store.end(
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

/// Another process delivers now.
struct LeaseLost: Error {}

extension OutboxOperation {
    /// An operation as the outbox keeps it.
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

    /// The same with a body that is there already.
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

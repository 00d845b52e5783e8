import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The switch: applies the changes of the configuration since this outbox was last delivered.
extension Engine {
    /// A provider as the outbox remembers it and as the configuration defines it.
    struct Change {
        let name: String
        var record: ProviderRecord?
        let runner: Runner?
        let provider: RoutingPlan.Provider?
        let old: Share
        let new: Share

        /// Whether the provider starts receiving a subject or an operation with this contact.
        func joins(_ contact: String?, _ subject: Subject) -> Bool {
            new.holds(contact, on: subject) && !old.holds(contact, on: subject)
        }

        /// Whether the provider stops receiving a subject or an operation with this contact.
        func leaves(_ contact: String?, _ subject: Subject) -> Bool {
            old.holds(contact, on: subject) && !new.holds(contact, on: subject)
        }

        /// Whether the provider becomes a shadow with its own sandbox.
        var isNewSandbox: Bool { state == "shadow" && record?.state != "shadow" }

        /// The state of the route to store in the outbox.
        var state: String {
            switch (runner, provider) {
            case (nil, _): "gone"
            case (_, .some(let provider)) where provider.isRouted: "live"
            case (_, .some(let provider)) where provider.sendsShadowRequests: "shadow"
            default: "left"
            }
        }
    }

    /// Compares the configuration with the outbox and moves pending work, in one transaction.
    ///
    /// Captures that an earlier process staged are routed first, under that process's configuration.
    func carryOutSwitch() throws {
        var batch = CaptureBatch(context: context, runners: runners, recipients: Recipients(plan))
        var placed: [Int64] = []
        try context.transaction(.full) {
            // First, so that captures that are routed now are sent for real.
            for change in try findChanges() where change.record?.state == "shadow" && change.state != "shadow" {
                try endShadowRun(change)
            }
            placed = try placeWaiting(&batch, before: findChanges())
            try batch.finish()
            let changes = try findChanges()
            let addedProviders = Dictionary(uniqueKeysWithValues: changes.map { ($0.name, $0) })
            for change in changes { try adopt(change) }
            var lost = Losses()
            for change in changes.sorted(by: { $0.name < $1.name }) where !change.old.isNone {
                try takeLeave(change, to: addedProviders, &lost)
            }
            try noteUnnamed(changes.filter { $0.runner == nil }.map(\.name))
            if let refusal = lost.refusal { throw refusal }
        }
        stagedCaptures.remove(placed)
        tell(of: batch)
    }

    /// Moves operations that a provider has not begun to the other routed providers, regardless of the configured switch
    /// policy.
    ///
    /// - Returns: The number of operations that are no longer pending at the provider.
    /// - Throws: ``SwitchRefusal`` if no provider accepts some of them. Nothing has moved then.
    package func retarget(from name: String) throws -> Int {
        let before = try context.store.operations.pendingCount(provider: name)
        try context.transaction(.full) {
            try context.requireLease()
            let others = try findChanges().filter { $0.name != name }
            let removedProvider = Change(name: name, runner: nil, provider: nil, old: .all, new: .none)
            var lost = Losses()
            lost.isAskedFor = true
            try retarget(
                removedProvider,
                to: Dictionary(uniqueKeysWithValues: others.map { ($0.name, $0) }),
                .retarget,
                &lost
            )
            if let refusal = lost.refusal { throw refusal }
        }
        return try before - context.store.operations.pendingCount(provider: name)
    }

    private func findChanges() throws -> [Change] {
        let known = Dictionary(try context.store.state.providers().map { ($0.name, $0) }) { first, _ in first }
        let configured = zip(runners, plan.providers).map { ($0 as Runner?, $1 as RoutingPlan.Provider?) }
        let gone = known.keys.sorted().filter { name in !runners.contains { $0.name == name } }
        let candidates = configured.map { ($0.1?.name ?? "", $0.0, $0.1) } + gone.map { ($0, nil, nil) }
        return try candidates.map { name, runner, provider in
            let record = known[name]
            // A provider that the configuration no longer named has not received its unregistration yet.
            let wasReceiving = record?.state == "live" || (record?.state == "gone" && provider?.isRouted != true)
            let remembered = try context.store.state.meta(Self.shareKey(name)).flatMap(Share.init(text:)) ?? .all
            return Change(
                name: name,
                record: record,
                runner: runner,
                provider: provider,
                old: wasReceiving ? remembered : .none,
                new: provider.map { $0.isRouted ? $0.share : .none } ?? .none
            )
        }
    }

    private static func shareKey(_ provider: String) -> String { "share.\(provider)" }

    /// Stores a provider's present state. A provider that starts receiving a contact receives the whole state first.
    private func adopt(_ change: Change) throws {
        guard let runner = change.runner, let provider = change.provider else { return }
        var change = change
        try replaceVendor(of: &change.record, by: runner.descriptor, wasLeft: change.old.isNone)
        let isNew = change.record?.state != change.state
        let joins = !change.new.isNone && change.old != change.new
        guard provider.isRouted || provider.sendsShadowRequests else {
            try placeAgainIfChanged(change)
            return
        }
        if provider.sendsShadowRequests, isNew, change.record != nil {
            let pending = try context.store.operations.pendingCount(provider: change.name)
            guard pending == 0, change.old.isNone else {
                throw SwitchRefusal(shadowing: change.name, pending: pending)
            }
            // The memory about the real account does not apply to the sandbox.
            try context.store.state.clearProvider(change.name)
        }
        guard isNew || joins else { return try placeAgainIfChanged(change) }
        try placeAgainIfChanged(change)
        try context.store.state.setProvider(
            ProviderRecord(
                name: change.name,
                adapter: runner.descriptor.id.rawValue,
                stateVersion: change.record?.stateVersion ?? runner.descriptor.stateVersion,
                state: change.state,
                suspended: isNew ? nil : change.record?.suspended,
                settingsDigest: provider.settingsDigest
            )
        )
        try context.store.state.setMeta(Self.shareKey(change.name), change.new.text)
        try forEachSnapshot { subject, snapshot in
            guard provider.sendsShadowRequests || change.joins(snapshot.contact, subject) else { return }
            try context.takeBackUnregisters(runner, of: subject)
            let isKnown = change.record != nil
            if let logOut = context.logOut(of: subject, snapshot, runner), try isKnown || hasPending(of: subject) {
                try context.create(logOut, for: subject, snapshot, because: "snapshot", runner)
            }
            for action in snapshot.replay.flatMap({ context.portions(of: $0, for: subject, snapshot, runner) }) {
                try context.create(action, for: subject, snapshot, because: "snapshot", runner)
            }
        }
    }

    /// Whether an operation with a contact is pending for a subject at any provider.
    private func hasPending(of subject: Subject) throws -> Bool {
        var isFound = false
        for record in try context.store.state.providers() where !isFound {
            try context.store.queues.forEachRow(provider: record.name, subject: subject.rawValue) { row in
                isFound = isFound || (try? EngagementOperation(jsonBytes: row.operation.body))?.contact != nil
            }
        }
        return isFound
    }

    /// Replaces the vendor of a provider whose work is done. The former adapter's memory is deleted.
    private func replaceVendor(
        of record: inout ProviderRecord?,
        by descriptor: AdapterDescriptor,
        wasLeft: Bool
    ) throws {
        guard var replaced = record, replaced.adapter != descriptor.id.rawValue else { return }
        let pending = try context.store.operations.pendingCount(provider: replaced.name)
        guard pending == 0, wasLeft else { throw SwitchRefusal(replacing: replaced, pending: pending) }
        try context.store.state.clearProvider(replaced.name)
        (replaced.adapter, replaced.stateVersion) = (descriptor.id.rawValue, descriptor.stateVersion)
        replaced.suspended = nil
        try context.store.state.setProvider(replaced)
        record = replaced
    }

    private func placeAgainIfChanged(_ change: Change) throws {
        guard let runner = change.runner, let provider = change.provider, var record = change.record,
            record.settingsDigest != provider.settingsDigest
        else { return }
        try runner.placeAgain()
        try runner.examineAgain()
        try registerAgain(change, runner)
        record.settingsDigest = provider.settingsDigest
        try context.store.state.setProvider(record)
    }

    /// Registers installations and people again if the settings name another account of the vendor. The registration comes
    /// after the pending operations, which belong to the former account; later captures belong to the new one.
    private func registerAgain(_ change: Change, _ runner: Runner) throws {
        try forEachSnapshot { subject, snapshot in
            guard change.old.holds(snapshot.contact, on: subject), change.new.holds(snapshot.contact, on: subject),
                try runner.mustRegisterAgain(subject, snapshot)
            else { return }
            for action in snapshot.replay where [.registerDevice, .identify].contains(action.kind) {
                try context.create(action, for: subject, snapshot, because: "snapshot", runner)
            }
        }
    }

    /// Stores which providers the configuration does not name, for tools that read the outbox, and reports what is pending
    /// for them.
    private func noteUnnamed(_ names: [String]) throws {
        let text = names.isEmpty ? nil : JSONValue.array(names.map(JSONValue.string)).text
        if try context.store.state.meta(Self.unnamedKey) != text {
            try context.store.state.setMeta(Self.unnamedKey, text)
        }
        for name in names {
            let count = try context.store.operations.pendingCount(provider: name)
            guard count > 0 else { continue }
            context.emit([.noticed(provider: name, FindingRow.Engine.providerGone.at(detail: "\(count)"))])
        }
    }

    private static let unnamedKey = "providers.unnamed"

    /// Returns the providers in the outbox that the configuration of the last start did not name.
    static func unnamed(in store: OutboxStore) throws -> Set<String> {
        let names = try store.state.meta(unnamedKey).flatMap { try? JSONValue(parsing: $0) }?.array ?? []
        return Set(names.compactMap(\.string))
    }

    /// Ends the service of a provider: it finishes the work that it has begun and receives an unregistration. Its other work is
    /// handled by the switch policy.
    ///
    /// A provider that the configuration no longer names cannot be served. This is caught up on when it is named again.
    private func takeLeave(_ change: Change, to all: [String: Change], _ lost: inout Losses) throws {
        guard change.old != change.new else { return }
        if change.new.isNone, var record = change.record {
            record.state = change.state
            if let provider = change.provider { record.settingsDigest = provider.settingsDigest }
            try context.store.state.setProvider(record)
            // A routed provider with an empty share counts as having no contacts when its share grows again.
            if record.state == "live" { try context.store.state.setMeta(Self.shareKey(change.name), change.new.text) }
        }
        if plan.onSwitch != .drain { try retarget(change, to: all, plan.onSwitch, &lost) }
        try retargetHeld(change, to: all)
        guard let runner = change.runner else { return }
        try forEachSnapshot { subject, snapshot in
            guard change.leaves(snapshot.contact, subject) else { return }
            _ = try context.unregister(subject, snapshot, runner)
        }
    }

    /// Moves operations that wait for a consent. They cannot be drained, because the provider will have been left when they
    /// are released.
    ///
    /// Under every policy, they move to the providers that take over and wait there. Operations that none of them accepts are
    /// rejected and kept for replay.
    private func retargetHeld(_ change: Change, to all: [String: Change]) throws {
        let takers = try takers(behind: change, all)
        // A provider that the configuration does not name may be named again.
        guard change.runner != nil || !takers.isEmpty else { return }
        try context.store.queues.forEachRow(provider: change.name, subject: nil) { row in
            guard row.hold != nil, let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                change.leaves(operation.contact, operation.subject)
            else { return }
            let snapshot = try context.snapshot(of: operation.subject)
            var isTaken = false
            for taker in examined(operation, snapshot, takers) where !taker.refuses {
                let mark = try context.store.deliveryMarks.mark(of: row.operation.id, provider: taker.runner.name)
                isTaken = isTaken || mark != .rejected
                if mark == .none { try move(operation, row.operation.sequence, to: taker, snapshot, isLost: false) }
            }
            if isTaken { return try end(row, operation, from: change.name, takers.map(\.runner.name)) }
            try context.rejectHeld(row, at: change.name)
        }
    }

    /// Returns the providers that take over from a provider.
    private func takers(behind change: Change, _ all: [String: Change]) throws -> [Successor] {
        try runners.compactMap { runner in
            guard let own = all[runner.name], !own.new.isNone, own.name != change.name else { return nil }
            var last: [String: Int64] = [:]
            try forEachPersonChange(at: runner.name) { last[$0.operation.subject] = $0.operation.sequence }
            return Successor(runner: runner, change: own, lastPersonChanges: last)
        }
    }

    /// Returns the providers that an operation concerns, each with its findings.
    private func examined(
        _ operation: EngagementOperation,
        _ snapshot: SubjectSnapshot,
        _ takers: [Successor]
    ) -> [Taker] {
        takers.filter { $0.change.new.holds(operation.contact, on: operation.subject) }
            .map { Taker($0, operation, snapshot) }
            .filter { !$0.isForeign }
    }

    /// Moves operations that the old provider has not begun. A provider that refuses one rejects it, with its finding.
    ///
    /// An operation is not sent again to a provider that has received it. Without a provider that takes over, everything
    /// stays.
    ///
    /// An added provider receives all operations in order, and the snapshot after them. A provider that was routed before has
    /// the state already, through its own snapshot or because it received the operations. It receives events only. It does
    /// not accept operations of a person who has left, because it never had that person's state.
    private func retarget(
        _ change: Change,
        to all: [String: Change],
        _ policy: RoutingPlan.SwitchPolicy,
        _ lost: inout Losses
    ) throws {
        let takers = try takers(behind: change, all)
        guard !takers.isEmpty else { return }
        // A request that was only noted moves with its operations if the configuration allows that.
        let journal = try context.store.state.journal(provider: change.name)
            .filter { !$0.request.isEmpty || plan.onUnacknowledged == .keep }
        let journaled = Set(journal.flatMap(\.operations))
        var changes: Set<Int64> = []
        try forEachPersonChange(at: change.name) { row in
            guard row.step == nil, !journaled.contains(row.operation.id) else { return }
            changes.insert(row.operation.sequence)
        }
        try context.store.queues.forEachRow(provider: change.name, subject: nil) { row in
            // An operation that may have been processed stays. The new provider receives the resulting state with the
            // snapshot.
            let mayBeDone = row.requests.contains(.uncertain) && policy == .retarget && plan.onUnacknowledged == .keep
            guard row.step == nil, !journaled.contains(row.operation.id), !mayBeDone,
                let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                // Both concern the vendor that knows the person.
                operation.action != .unregister, operation.action != .erase,
                change.leaves(operation.contact, operation.subject)
            else { return }
            // An opt-out goes to the new provider and also stays with the old one.
            let policy = operation.action.isOptOut ? .both : policy
            let snapshot = try context.snapshot(of: operation.subject)
            if change.runner != nil, summarizesPeople(change),
                snapshot.belongsToFormerPerson(
                    operation,
                    row.operation.sequence,
                    movingChanges: changes,
                    isKnownToTaker: takers.contains { $0.change.record != nil }
                )
            {
                return
            }
            let examined = examined(operation, snapshot, takers)
            // A push of the old vendor does not concern other vendors and stays.
            if examined.isEmpty { return }
            let marks = try examined.map { taker in
                try context.store.deliveryMarks.mark(of: row.operation.id, provider: taker.runner.name)
            }
            let addedProviders = zip(examined, marks).filter { $0.1 == .none }.map(\.0)
            let hasTaker = marks.contains(.received) || addedProviders.contains { !$0.refuses }
            let isLost = policy == .retarget && !hasTaker
            if isLost, plan.onLoss == .refuse {
                try lost.add(operation, from: change.name, examined.map { ($0.runner.name, try whyNot($0, operation)) })
            }
            for taker in addedProviders {
                try move(operation, row.operation.sequence, to: taker, snapshot, isLost: isLost)
            }
            if policy == .retarget { try end(row, operation, from: change.name, takers.map(\.runner.name)) }
        }
    }

    /// Calls a closure with the log-ins, log-outs and identifications that are pending at a provider, in order of capture.
    private func forEachPersonChange(at provider: String, _ body: (OutboxRow) -> Void) throws {
        let kinds = [Action.Kind.identify, .switchContact].map(\.rawValue)
        try context.store.queues.forEachRow(provider: provider, subject: nil) { row in
            if kinds.contains(row.kind ?? "") { body(row) }
        }
    }

    /// Whether several people may use the installations of a provider. On a server, each contact has its own subject.
    private func summarizesPeople(_ change: Change) -> Bool { change.runner?.descriptor.side == .device }

    /// Returns a provider's findings against an operation: its present ones, or those of the earlier rejection.
    private func whyNot(_ taker: Taker, _ operation: EngagementOperation) throws -> [Finding] {
        guard !taker.refuses else { return taker.findings }
        let rejects = try context.store.rejects.list(provider: taker.runner.name, id: operation.id.rawValue)
        return rejects.compactMap { try? Finding(jsonBytes: $0.finding) }
    }

    /// Puts an operation on the route of a provider that has not received it. With `isLost`, providers that refuse it record
    /// the rejection.
    private func move(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        to taker: Taker,
        _ snapshot: SubjectSnapshot,
        isLost: Bool
    ) throws {
        guard taker.joins || operation.action.kind == .track || isLost else { return }
        if let change = snapshot.personChanges.last, sequence > change,
            taker.joins || taker.lastPersonChange.map({ $0 > sequence }) ?? false,
            try context.store.queues.row(Int64(change), provider: taker.runner.name) == nil
        {
            try context.createPersonChange(of: operation.subject, snapshot, taker.runner)
        }
        try context.store.accounts.count(provider: taker.runner.name, term: "created", code: "retargeted", by: 1)
        _ = try context.enter(
            operation,
            sequence,
            taker.runner,
            snapshot,
            findings: taker.findings,
            keepsRejects: true
        )
    }

    private func end(
        _ row: OutboxRow,
        _ operation: EngagementOperation,
        from old: String,
        _ takers: [String]
    ) throws {
        try context.store.settlement.complete(
            provider: old,
            sequence: row.operation.sequence,
            term: OperationOutcome.Term.moved.rawValue,
            code: takers.joined(separator: ","),
            at: context.date.milliseconds
        )
        context.emit([.ended(operation.id, provider: old, OperationOutcome(.moved))])
    }

    /// Ends a shadow run: pending operations end as shadowed, and the sandbox's memory is deleted.
    private func endShadowRun(_ change: Change) throws {
        try context.store.queues.forEachRow(provider: change.name, subject: nil) { row in
            try context.store.settlement.complete(
                provider: change.name,
                sequence: row.operation.sequence,
                term: OperationOutcome.Term.shadowed.rawValue,
                code: "over",
                at: context.date.milliseconds
            )
        }
        try context.store.state.clearProvider(change.name)
        // Late pushes without a route do not belong to the shadow run, so they must not be ended with it again.
        guard var record = change.record else { return }
        record.state = "left"
        try context.store.state.setProvider(record)
    }

    private func forEachSnapshot(_ body: (Subject, SubjectSnapshot) throws -> Void) throws {
        try context.store.state.forEachSnapshot { subject, bytes in
            let subject = Subject(rawValue: subject)
            if let snapshot = try context.snapshot(bytes, of: subject) { try body(subject, snapshot) }
        }
    }
}

extension SubjectSnapshot {
    /// The maximum number of person changes that are kept.
    private static let personChangeLimit = 16

    /// Records that another person came with an operation.
    mutating func notePersonChange(_ sequence: Int64) {
        personChanges = Array((personChanges + [Int(sequence)]).suffix(Self.personChangeLimit))
    }

    /// Returns whether a pending operation must stay at its provider in a switch, because its person has left and the next
    /// provider could not attribute it.
    ///
    /// `movingChanges` are the numbers of the changes of person that the next provider receives, too. `isKnownToTaker` is true
    /// if that provider may remember a person from before.
    fileprivate func belongsToFormerPerson(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        movingChanges: Set<Int64>,
        isKnownToTaker: Bool
    ) -> Bool {
        guard let last = personChanges.last, sequence < last else { return false }
        let begin = personChanges.last { $0 <= sequence }
        let end = personChanges.first { $0 > sequence } ?? last
        let beginMoves =
            begin.map { begin in movingChanges.contains { Int64(begin) <= $0 && $0 <= sequence } }
            ?? (personChanges.count < Self.personChangeLimit)
        // An anonymous person becomes the person who logs in next; the next provider receives the current person in any case.
        guard operation.contact == nil else { return !beginMoves }
        return !beginMoves && isKnownToTaker || end != last && !movingChanges.contains(Int64(end))
    }
}

/// A provider that takes over from another one.
private struct Successor {
    let runner: Runner
    let change: Engine.Change
    /// The number of the last pending log-in, log-out or identification of each subject.
    let lastPersonChanges: [String: Int64]
}

/// A provider that may take over an operation that is pending at another.
private struct Taker {
    let runner: Runner
    /// The number of the subject's last pending log-in, log-out or identification there; nil without one.
    let lastPersonChange: Int64?
    /// Whether the provider starts receiving the contact with this switch.
    let joins: Bool
    /// The provider's findings about the operation.
    let findings: [Finding]

    /// Examines the operation. A provider that was routed before knows only the person in the snapshot.
    init(_ successor: Successor, _ operation: EngagementOperation, _ snapshot: SubjectSnapshot) {
        runner = successor.runner
        lastPersonChange = successor.lastPersonChanges[operation.subject.rawValue]
        joins = successor.change.joins(operation.contact, operation.subject)
        let found = runner.examine(operation)
        let hasLeft = operation.contact.map { ScalarString($0) != snapshot.contact.map(ScalarString.init) } ?? false
        let isHidden = !joins && hasLeft && !found.contains { $0.severity == .foreign }
        findings = isHidden ? [FindingRow.Engine.personLeft.at("contact")] : found
    }

    /// Whether the operation does not apply to the provider.
    var isForeign: Bool { findings.contains { $0.severity == .foreign } }

    /// Whether the provider refuses the operation.
    var refuses: Bool { findings.contains { $0.severity == .error } }
}

/// Pending operations that a switch would lose.
private struct Losses {
    /// Whether a person requested the move, independently of the configuration.
    var isAskedFor = false
    private var operations: [SwitchRefusal.Operation] = []
    private var count = 0

    mutating func add(_ operation: EngagementOperation, from provider: String, _ examined: [(String, [Finding])]) {
        count += 1
        guard operations.count < SwitchRefusal.limit else { return }
        let refusals = examined.compactMap { name, findings in
            findings.first { $0.severity == .error }.map { (name, $0) }
        }
        operations.append(
            SwitchRefusal.Operation(
                id: operation.id,
                kind: operation.action.kind,
                provider: provider,
                refusals: Dictionary(refusals) { first, _ in first }
            )
        )
    }

    var refusal: SwitchRefusal? {
        count > 0 ? SwitchRefusal(lost: operations, count: count, isAskedFor: isAskedFor) : nil
    }
}

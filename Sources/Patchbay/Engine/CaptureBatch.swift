import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The captures of one transaction: examines and routes them, and applies them to the subject snapshots.
struct CaptureBatch {
    let context: EngineContext
    let runners: [Runner]
    /// The providers that receive the operations that are added now.
    var recipients: Recipients
    /// The number of operations that were added.
    private(set) var count = 0
    /// The snapshots of the changed subjects. They are read inside the transaction, because other processes may capture, too.
    var snapshots: [Subject: SubjectSnapshot] = [:]
    /// The same snapshots as the outbox stores them. An unchanged one is not written.
    var storedSnapshots: [Subject: SubjectSnapshot] = [:]
    /// The version of other processes' commits at that time.
    private(set) var version: Int64 = 0
    /// The ready operations that entered each lane, by position of the runner. Empty if a lane only has to be planned again.
    var touched: [Int: [String: [LaneEntry]]] = [:]
    private var captured: [String: Int64] = [:]
    /// Whether the current operation is pending at any provider.
    private var isRouted = false
    /// The lanes whose memory was changed, by position of the runner.
    var forgotten: [(position: Int, lane: String)] = []
    /// The effects of this transaction's erasures.
    var erasures = Erasures()
    /// The reasons for which vendors may no longer be queried about a person, by subject.
    var unreadable: [Subject: Finding] = [:]

    init(context: EngineContext, runners: [Runner], recipients: Recipients) {
        (self.context, self.runners, self.recipients) = (context, runners, recipients)
    }

    var routed: [Int] { recipients.routed }
    var shares: [Share] { recipients.shares }

    mutating func add(_ operation: EngagementOperation, _ stored: OutboxOperation) throws {
        count += 1
        var snapshot: SubjectSnapshot
        if let known = snapshots[operation.subject] {
            snapshot = known
        } else {
            let found = try context.storedSnapshot(of: operation.subject)
            storedSnapshots[operation.subject] = found
            snapshot = try found ?? context.rebuiltSnapshot(of: operation.subject)
        }
        let before = snapshot
        snapshot.apply(operation)
        // A registration that every provider rejects, because its push token is malformed, does not replace a valid one.
        if operation.action.kind == .registerDevice, isRefusedByAll(operation) { snapshot.keepDevice(of: before) }
        if before.isAnotherPerson(after: operation.action) {
            snapshot.cameAfter = Int(try context.store.captures.newestSequence())
        }
        snapshots[operation.subject] = snapshot
        switch operation.action {
        case .erase: try erase(operation, before, snapshot)
        case .switchContact, .identify:
            if before.isAnotherPerson(after: operation.action) {
                try endUnanswered(operation.subject, snapshot)
                try registerAgain(operation, before, snapshot)
            }
            try record(ConsentChanges(from: before, to: snapshot), of: operation, ConsentEffects())
        case .setConsent: try enforce(operation, before, snapshot)
        default: break
        }
        try logOut(before, aheadOf: operation, snapshot)
        let changesPerson =
            before.isAnotherPerson(after: operation.action)
            || before.identifiers.isEmpty && !snapshot.identifiers.isEmpty
        let sequence = try context.store.captures.insert(stored, behindGap: changesPerson)
        if changesPerson { snapshots[operation.subject]?.notePersonChange(sequence) }
        isRouted = false
        var examined: [[Finding]] = []
        for position in routed where shares[position].holds(operation.contact, on: operation.subject) {
            examined.append(try enter(operation, sequence, position, snapshot))
        }
        try repeatOptOuts(operation, before, snapshot)
        if operation.action != .erase {
            for position in routed where !shares[position].isAll {
                try changeSides(operation, position, before, snapshot)
            }
        }
        let knownProviders = operation.action == .erase ? Set(try context.store.state.providers().map(\.name)) : []
        // A shadow that may know the person from an earlier route receives the erasure for real.
        for position in recipients.shadows where !knownProviders.contains(runners[position].name) {
            try runShadow(operation, sequence, position, snapshot, examined)
        }
        if operation.action == .erase { try enterErasure(operation, sequence, snapshot) }
        if operation.action.isPush {
            for position in recipients.unrouted { try enterLate(operation, sequence, position, snapshot) }
        }
        if !isRouted { try context.store.operations.discardIfUnrouted(sequence) }
    }

    /// Whether all providers that an operation concerns reject it.
    private func isRefusedByAll(_ operation: EngagementOperation) -> Bool {
        let concerned = routed.filter { shares[$0].holds(operation.contact, on: operation.subject) }
        return !concerned.isEmpty
            && concerned.allSatisfy { runners[$0].examine(operation).contains { $0.severity == .error } }
    }

    mutating func finish() throws {
        version = try context.store.foreignVersion()
        context.keep([:], 0)
        for (provider, count) in captured.inOrder {
            try context.store.accounts.count(provider: provider, term: "captured", code: "", by: count)
        }
        for (subject, snapshot) in snapshots
        where !erasures.isForgotten(subject, snapshot) && snapshot != storedSnapshots[subject] {
            try context.store.state.setSnapshot(subject: subject.rawValue, body: snapshot.jsonBytes)
        }
    }

    private mutating func enter(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ snapshot: SubjectSnapshot
    ) throws -> [Finding] {
        let runner = runners[position]
        let findings = runner.examine(operation)
        if let foreign = findings.first(where: { $0.severity == .foreign }) {
            context.emit([.passedOver(operation.id, provider: runner.name, foreign)])
        } else {
            try enter(operation, sequence, position, snapshot, findings)
        }
        return findings
    }

    /// Whether a provider receives data about the current person.
    func receives(_ position: Int, _ operation: EngagementOperation, _ snapshot: SubjectSnapshot) -> Bool {
        routed.contains(position) && shares[position].holds(snapshot.contact, on: operation.subject)
    }

    /// Handles a change of contact that crosses the border of a provider's share. A provider that now receives the contact
    /// gets the whole state; one that no longer does gets an unregistration.
    private mutating func changeSides(
        _ operation: EngagementOperation,
        _ position: Int,
        _ before: SubjectSnapshot,
        _ snapshot: SubjectSnapshot
    ) throws {
        guard before != SubjectSnapshot() else { return }
        let (subject, runner, share) = (operation.subject, runners[position], shares[position])
        let (did, does) = (share.holds(before.contact, on: subject), share.holds(snapshot.contact, on: subject))
        if does, !did {
            try context.takeBackUnregisters(runner, of: subject)
            try tellAgain(position, operation, snapshot) { _ in true }
        } else if did, !does {
            // The provider that takes over receives the whole state and holds it there.
            try context.store.queues.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
                if row.hold != nil { try context.rejectHeld(row, at: runner.name) }
            }
            for entry in try context.unregister(subject, before, runner) {
                touched[position, default: [:]][entry.lane, default: []] += entry.ready.map { [$0] } ?? []
            }
        }
    }

    /// Records how a shadow would treat an operation, compared with the live providers.
    private mutating func runShadow(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ snapshot: SubjectSnapshot,
        _ live: [[Finding]]
    ) throws {
        let runner = runners[position]
        let findings = runner.examine(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return }
        let lines = ShadowRunLine.lines(of: operation, findings: findings, live: live)
        try context.shadowRuns.add(lines, provider: runner.name)
        try enter(operation, sequence, position, snapshot, findings, isShadowed: true)
    }

    /// Tracks a push at the provider that sent it, although its route is gone. If the adapter does not support that, the
    /// operation is reported as passed over and does not enter the accounts.
    private mutating func enterLate(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ snapshot: SubjectSnapshot
    ) throws {
        let findings = runners[position].examine(operation)
        if let refusal = findings.first(where: { $0.severity == .foreign || $0.severity == .error }) {
            return context.emit([.passedOver(operation.id, provider: runners[position].name, refusal)])
        }
        let (runner, known) = (runners[position], try context.store.state.providers())
        if !known.contains(where: { $0.name == runner.name }) {
            // The provider was never routed, but its state has a version from now on.
            try context.store.state.setProvider(
                ProviderRecord(
                    name: runner.name,
                    adapter: runner.descriptor.id.rawValue,
                    stateVersion: runner.descriptor.stateVersion,
                    state: "left",
                    suspended: nil,
                    settingsDigest: ""
                )
            )
        }
        try enter(operation, sequence, position, snapshot, findings)
    }

    mutating func enter(
        _ operation: EngagementOperation,
        _ sequence: Int64,
        _ position: Int,
        _ snapshot: SubjectSnapshot,
        _ findings: [Finding],
        isShadowed: Bool = false
    ) throws {
        let runner = runners[position]
        captured[runner.name, default: 0] += 1
        // A rejected erasure is not kept, because it names the person.
        let keepsRejects = operation.action != .erase
        let entry = try context.enter(
            operation,
            sequence,
            runner,
            snapshot,
            findings: findings,
            keepsRejects: keepsRejects,
            isShadowed: isShadowed
        )
        if operation.action == .erase { try noteErasure(operation, position, entry) }
        if entry.end == nil {
            isRouted = true
            touched[position, default: [:]][entry.lane, default: []] += entry.ready.map { [$0] } ?? []
        }
        context.emit(
            findings.filter { $0.severity != .error }.map { .noticed(provider: runner.name, $0) }
        )
    }
}

/// The providers that receive captures, by their position in the plan.
struct Recipients {
    /// The providers that receive operations of the contacts in their share.
    let routed: [Int]
    /// The share of each provider, by position.
    let shares: [Share]
    /// The providers that are shadowed.
    var shadows: [Int]
    /// The providers without a route. They receive only pushes that they recognize as their own.
    let unrouted: [Int]

    /// Creates the routes of a plan.
    init(_ plan: RoutingPlan) {
        self.init(plan, plan.providers.map { $0.isRouted ? $0.share : nil })
    }

    /// Creates the routes that another process stored with `text`; nil if a provider of them is not in the plan.
    init?(_ plan: RoutingPlan, routes: String) {
        guard let shares = (try? JSONValue(parsing: routes))?.object,
            shares.allSatisfy({ entry in plan.providers.contains { $0.name == entry.name } })
        else { return nil }
        self.init(plan, plan.providers.map { shares[$0.name]?.string.flatMap(Share.init(text:)) })
    }

    /// Creates the routes before a switch; nil if no provider of the plan had one.
    init?(_ plan: RoutingPlan, before changes: [Engine.Change]) {
        let shares = Dictionary(changes.filter { !$0.old.isNone }.map { ($0.name, $0.old) }) { first, _ in first }
        let routes = plan.providers.map { shares[$0.name] }
        guard routes.contains(where: { $0 != nil }) else { return nil }
        self.init(plan, routes)
    }

    /// Creates routes from the share of each provider; nil stands for a provider without a route.
    private init(_ plan: RoutingPlan, _ routes: [Share?]) {
        let providers = plan.providers
        let routed = providers.indices.filter { routes[$0] != nil }
        let shadows = providers.indices.filter { providers[$0].mode == .shadow && routes[$0] == nil }
        (self.routed, self.shadows, shares) = (routed, shadows, routes.map { $0 ?? .none })
        unrouted = providers.indices.filter { !routed.contains($0) && !shadows.contains($0) }
    }

    /// Whether a routed provider receives an operation.
    func containsRecipient(of operation: EngagementOperation) -> Bool {
        routed.contains { shares[$0].holds(operation.contact, on: operation.subject) }
    }

    /// Returns the routed providers and their shares as text for another process.
    func text(_ plan: RoutingPlan) -> String {
        JSONValue.object(JSONObject(routed.map { (plan.providers[$0].name, .string(shares[$0].text)) })).text
    }
}

extension Action {
    /// Whether the action is a person's reaction to a push notification. Its payload names the vendor.
    var isPush: Bool { if case .track(.push) = self { true } else { false } }
}

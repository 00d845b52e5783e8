import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayOutbox

/// The captures of one transaction on their way in: examined and placed for each route, folded into the subject snapshots.
struct CaptureBatch {
    let context: EngineContext
    let runners: [Runner]
    /// Who hears the operations that are added now.
    var hearing: Hearing
    /// How many operations were added.
    private(set) var count = 0
    /// The states of the subjects that changed, read inside the transaction: another process may capture too.
    var snapshots: [Subject: SubjectSnapshot] = [:]
    /// The same as the outbox holds them: what has not changed is not written.
    var storedSnapshots: [Subject: SubjectSnapshot] = [:]
    /// What others had committed then.
    private(set) var version: Int64 = 0
    /// What entered each lane and is ready, by position of the runner; nothing where a lane is only to be looked at.
    var touched: [Int: [String: [LaneEntry]]] = [:]
    private var captured: [String: Int64] = [:]
    /// Whether the operation at hand is on its way to anybody.
    private var isRouted = false
    /// Lanes whose memory was emptied, by position of the runner, and people who said no to being asked about.
    var forgotten: [(position: Int, lane: String)] = []
    /// What the erasures of this transaction did.
    var erasures = Erasures()
    var unreadable: [Subject: Finding] = [:]

    init(context: EngineContext, runners: [Runner], hearing: Hearing) {
        (self.context, self.runners, self.hearing) = (context, runners, hearing)
    }

    var routed: [Int] { hearing.routed }
    var shares: [Share] { hearing.shares }

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
        // A registration that no provider accepts, because its push token is malformed, does not replace a good one.
        if operation.action.kind == .registerDevice, isRefusedByAll(operation) { snapshot.keepDevice(of: before) }
        if before.isAnotherPerson(after: operation.action) {
            snapshot.cameAfter = Int(try context.store.newestSequence())
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
        let sequence = try context.store.insert(stored, behindGap: changesPerson)
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
        let told = operation.action == .erase ? Set(try context.store.providers().map(\.name)) : []
        // An erasure goes for real to whoever was told of the person before.
        for position in hearing.shadows where !told.contains(runners[position].name) {
            try runShadow(operation, sequence, position, snapshot, examined)
        }
        if operation.action == .erase { try enterErasure(operation, sequence, snapshot) }
        if operation.action.isPush {
            for position in hearing.unrouted { try enterLate(operation, sequence, position, snapshot) }
        }
        if !isRouted { try context.store.discardIfUnrouted(sequence) }
    }

    /// Whether every provider that an operation concerns refuses it.
    private func isRefusedByAll(_ operation: EngagementOperation) -> Bool {
        let concerned = routed.filter { shares[$0].holds(operation.contact, on: operation.subject) }
        return !concerned.isEmpty
            && concerned.allSatisfy { runners[$0].examine(operation).contains { $0.severity == .error } }
    }

    mutating func finish() throws {
        version = try context.store.foreignVersion()
        context.keep([:], 0)
        for (provider, count) in captured.sorted(by: { $0.key < $1.key }) {
            try context.store.count(provider: provider, term: "captured", code: "", by: count)
        }
        for (subject, snapshot) in snapshots
        where !erasures.isForgotten(subject, snapshot) && snapshot != storedSnapshots[subject] {
            try context.store.setSnapshot(subject: subject.rawValue, body: snapshot.jsonBytes)
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

    /// Whether a provider receives what concerns the person who is there now.
    func receives(_ position: Int, _ operation: EngagementOperation, _ snapshot: SubjectSnapshot) -> Bool {
        routed.contains(position) && shares[position].holds(snapshot.contact, on: operation.subject)
    }

    /// A contact that a provider did not hear so far came to an installation, or one that it heard has left: the one side
    /// hears the whole state, the other its unregister.
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
            // The other side receives the whole state, where it waits on.
            try context.store.forEachRow(provider: runner.name, subject: subject.rawValue) { row in
                if row.hold != nil { try context.rejectHeld(row, at: runner.name) }
            }
            for entry in try context.unregister(subject, before, runner) {
                touched[position, default: [:]][entry.lane, default: []] += entry.ready.map { [$0] } ?? []
            }
        }
    }

    /// Notes how an operation would fare with a provider that is shadowed, beside the live ones.
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

    /// A push whose route is gone is still tracked where it came from; what its vendor has no API for is told, not booked.
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
        let (runner, known) = (runners[position], try context.store.providers())
        if !known.contains(where: { $0.name == runner.name }) {
            // Its state has a version from now on, though it was never routed.
            try context.store.setProvider(
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
        // A refused erasure names the person, and is not kept.
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

/// Who hears what is captured: providers by their position in the plan.
struct Hearing {
    /// Providers that hear everything, of the contacts that are theirs.
    let routed: [Int]
    /// Which contacts each provider hears, by its position.
    let shares: [Share]
    /// Providers that are shadowed.
    var shadows: [Int]
    /// Providers without a route: they take the pushes that they know as their own, and nothing else.
    let unrouted: [Int]

    /// As the configuration says.
    init(_ plan: RoutingPlan) {
        self.init(plan, plan.providers.map { $0.isRouted ? $0.share : nil })
    }

    /// As the configuration of another process said, in the words of `text`; nil if it names a provider that is not known here.
    init?(_ plan: RoutingPlan, routes: String) {
        guard let shares = (try? JSONValue(parsing: routes))?.object,
            shares.allSatisfy({ entry in plan.providers.contains { $0.name == entry.name } })
        else { return nil }
        self.init(plan, plan.providers.map { shares[$0.name]?.string.flatMap(Share.init(text:)) })
    }

    /// As it was before a switch; nil if nobody who is known here heard anything.
    init?(_ plan: RoutingPlan, before changes: [Engine.Change]) {
        let shares = Dictionary(changes.filter { !$0.old.isNone }.map { ($0.name, $0.old) }) { first, _ in first }
        let routes = plan.providers.map { shares[$0.name] }
        guard routes.contains(where: { $0 != nil }) else { return nil }
        self.init(plan, routes)
    }

    /// Each provider's share; nil for one without a route.
    private init(_ plan: RoutingPlan, _ routes: [Share?]) {
        let providers = plan.providers
        let routed = providers.indices.filter { routes[$0] != nil }
        let shadows = providers.indices.filter { providers[$0].mode == .shadow && routes[$0] == nil }
        (self.routed, self.shadows, shares) = (routed, shadows, routes.map { $0 ?? .none })
        unrouted = providers.indices.filter { !routed.contains($0) && !shadows.contains($0) }
    }

    /// Whether a provider with a route hears it.
    func isHeard(_ operation: EngagementOperation) -> Bool {
        routed.contains { shares[$0].holds(operation.contact, on: operation.subject) }
    }

    /// The routed providers and their shares, for another process.
    func text(_ plan: RoutingPlan) -> String {
        JSONValue.object(JSONObject(routed.map { (plan.providers[$0].name, .string(shares[$0].text)) })).text
    }
}

extension Action {
    /// Whether a person did something with a push notification: its payload says whose it is.
    var isPush: Bool { if case .track(.push) = self { true } else { false } }
}

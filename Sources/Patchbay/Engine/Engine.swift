package import PatchbayAdapterKit
package import PatchbayModel
package import PatchbayOutbox

/// The delivery engine: a state machine that does no I/O but the outbox's, and never waits.
///
/// Whoever drives it tells it what happened (captures, outcomes, time) and carries out what it says (requests, when to
/// come back). The app's driver does so with real clocks and sockets, the simulator with virtual ones: the engine is the
/// same. It belongs to one serial executor.
package final class Engine {
    private let context: EngineContext
    private let plan: RoutingPlan
    private var runners: [any ProviderRunner] = []
    private static let leaseDuration: Int64 = 30_000

    /// An engine over an open outbox. It captures at once and delivers after ``start()``.
    package init(
        store: OutboxStore,
        plan: RoutingPlan,
        host: any EngineHost,
        credentials: @escaping (_ provider: String, _ contact: String?) -> Secret?
    ) throws {
        self.plan = plan
        context = try EngineContext(store: store, host: host, credentials: credentials)
        for provider in plan.providers {
            let runner = provider.adapter.makeRunner(name: provider.name, context: context)
            runner.isPaused = provider.mode == .paused
            runners.append(runner)
        }
    }

    /// The engine's timeline.
    package var now: Instant { context.now }

    /// The outbox, for looking inside.
    package var store: OutboxStore { context.store }

    /// What happened since the last call; everything in it is committed.
    package func takeEvents() -> [EngineEvent] { context.takeEvents() }

    // MARK: Start and lease

    /// Takes the right to deliver, carries out a switch if the configuration changed, and takes up what is pending.
    ///
    /// Returns false while another process delivers; capturing works all the same.
    package func start() throws -> Bool {
        guard try takeLease() else { return false }
        try carryOutSwitch()
        for runner in runners { try runner.restore() }
        return true
    }

    /// Whether this engine may deliver.
    package var delivers: Bool { context.epoch != nil }

    private func takeLease() throws -> Bool {
        // A holder that is surely dead holds nothing: nobody waits for its time to run out.
        let epoch = try context.store.acquireLease(
            owner: context.host.process,
            now: context.date.milliseconds,
            duration: Self.leaseDuration,
            isDead: context.host.isDead
        )
        guard let epoch else { return false }
        context.epoch = epoch
        return true
    }

    /// Keeps the right to deliver; call it about every ten seconds. False if another process took it.
    package func renewLease() throws -> Bool {
        guard let epoch = context.epoch else { return try start() }
        let isHeld = try context.store.renewLease(
            owner: context.host.process,
            epoch: epoch,
            now: context.date.milliseconds,
            duration: Self.leaseDuration
        )
        if !isHeld { context.epoch = nil }
        return isHeld
    }

    /// Gives the right to deliver back, so that the next process need not wait.
    package func stop() throws {
        guard let epoch = context.epoch else { return }
        context.epoch = nil
        try context.store.releaseLease(owner: context.host.process, epoch: epoch)
    }

    // MARK: Capture

    /// An operation with the moment at which the app handed it over.
    package struct Capture: Sendable {
        package let operation: EngagementOperation
        package let uptime: Instant

        package init(_ operation: EngagementOperation, uptime: Instant) {
            (self.operation, self.uptime) = (operation, uptime)
        }
    }

    /// Stores captured operations, their places and the mirror in one transaction that reaches the disk.
    package func commit(_ captures: [Capture]) throws {
        var batch = CaptureBatch(context: context, runners: runners, plan: plan)
        try context.transaction(.full) {
            for capture in captures { try batch.add(capture.operation, since: context.now(at: capture.uptime)) }
            try batch.finish()
        }
        for (runner, lanes) in batch.touched {
            for lane in lanes { runners[runner].noteEntered(lane: lane) }
        }
        context.emit(batch.events)
    }

    /// The last neutral state of a subject.
    package func mirror(of subject: Subject) throws -> SubjectMirror {
        try context.store.mirror(subject: subject.rawValue).map { try SubjectMirror(jsonBytes: $0) } ?? SubjectMirror()
    }

    /// Asks a vendor at once; the answer comes as ``EngineEvent/answered(_:provider:_:)``.
    package func read(_ operation: EngagementOperation, provider: String, timeout: Duration) -> Bool {
        guard let runner = runners.first(where: { $0.name == provider }) else { return false }
        if let finding = runner.examine(operation).first(where: { $0.severity == .error }) {
            context.emit([.answered(operation.id, provider: provider, OperationOutcome(.rejected, finding: finding))])
            return true
        }
        runner.read(operation, deadline: context.now + timeout)
        return true
    }

    // MARK: Delivery

    /// Plans whatever wants to be planned; the returned requests must leave at once.
    package func advance() throws -> [Dispatch] {
        guard delivers else { return [] }
        return try runners.flatMap { try $0.plan() }
    }

    /// Takes the outcome of a request.
    package func finish(_ dispatch: Dispatch, _ outcome: Outcome) throws {
        guard delivers, let runner = runners.first(where: { $0.name == dispatch.provider }) else { return }
        do {
            _ = try runner.finish(dispatch.ticket, outcome)
        } catch is LeaseLost {
            context.epoch = nil
        }
    }

    /// When to call ``advance()`` again, on the engine's timeline; nil is not before something happens.
    package var nextAdvance: Instant? {
        delivers ? runners.compactMap(\.nextPlan).min() : nil
    }

    /// Whether a request is in flight.
    package var isBusy: Bool { runners.contains(where: \.isBusy) }

    /// Looks for what other processes captured.
    package func lookAround() throws { for runner in runners { try runner.lookAround() } }

    /// The network came back, or the app came to the foreground.
    package func wake() throws { for runner in runners { try runner.wake(lane: nil) } }

    /// Send now what may be sent: courtesy delays are skipped, the vendors' pacing is not.
    package func flush() throws { for runner in runners { try runner.flush() } }

    /// Lets a stopped provider go on.
    package func resume(_ provider: String) throws {
        for runner in runners where runner.name == provider { try runner.resume() }
    }

    /// How each provider stands.
    package func standings() throws -> [ProviderStanding] {
        try runners.map { runner in
            ProviderStanding(
                provider: runner.name,
                pending: try context.store.pendingCount(provider: runner.name),
                parked: runner.parked,
                waits: runner.reasons
            )
        }
    }

    // MARK: Switch

    /// Compares the configuration with what the outbox remembers, and moves what must move.
    private func carryOutSwitch() throws {
        let known = Dictionary(try context.store.providers().map { ($0.name, $0) }) { first, _ in first }
        var newcomers: [any ProviderRunner] = []
        for provider in plan.providers where provider.isRouted && known[provider.name]?.state != "live" {
            if let runner = runners.first(where: { $0.name == provider.name }) { newcomers.append(runner) }
        }
        let leavers = known.values.filter { record in
            record.state == "live" && !plan.providers.contains { $0.name == record.name && $0.isRouted }
        }
        try context.transaction(.full) {
            for runner in newcomers { try welcome(runner, known[runner.name]) }
            for record in leavers.sorted(by: { $0.name < $1.name }) {
                try takeLeave(of: record, to: newcomers)
            }
        }
    }

    /// A new provider hears the whole state of every subject first.
    private func welcome(_ runner: any ProviderRunner, _ record: ProviderRecord?) throws {
        try context.store.setProvider(
            ProviderRecord(
                name: runner.name,
                adapter: runner.descriptor.id.rawValue,
                stateVersion: record?.stateVersion ?? runner.descriptor.stateVersion,
                state: "live",
                parked: nil,
                settingsDigest: plan.providers.first { $0.name == runner.name }?.settingsDigest ?? ""
            )
        )
        try forEachMirror { subject, mirror in
            for action in mirror.replay {
                let operation = EngagementOperation(
                    id: context.host.makeID(),
                    subject: subject,
                    contact: mirror.contact,
                    capturedAt: context.date,
                    appState: .active,
                    action: action
                )
                try createIfWanted(operation, because: "mirror", runner)
            }
        }
    }

    /// The old provider finishes what it has begun and says farewell; the rest goes where the policy says.
    private func takeLeave(of record: ProviderRecord, to newcomers: [any ProviderRunner]) throws {
        var record = record
        record.state = "left"
        try context.store.setProvider(record)
        if plan.onSwitch == .retarget { try retarget(from: record.name, to: newcomers) }
        guard let runner = runners.first(where: { $0.name == record.name }) else {
            guard try context.store.pendingCount(provider: record.name) > 0 else { return }
            return context.emit([.noticed(provider: record.name, FindingRow.Engine.providerGone.at())])
        }
        try forEachMirror { subject, mirror in
            let farewell = EngagementOperation(
                id: context.host.makeID(),
                subject: subject,
                contact: mirror.contact,
                capturedAt: context.date,
                appState: .active,
                action: .farewell
            )
            try createIfWanted(farewell, because: "farewell", runner)
        }
    }

    private func createIfWanted(_ operation: EngagementOperation, because reason: String, _ runner: any ProviderRunner)
        throws
    {
        let findings = runner.examine(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return }
        let entered = try context.enter(operation, created: reason, runner: runner)
        guard let finding = findings.first(where: { $0.severity == .error }) else { return }
        // What the vendor has no door for is no loss of anything captured: it ends here, with its reason and no copy.
        try context.store.end(
            provider: runner.name,
            sequence: entered.sequence,
            term: OperationOutcome.Term.rejected.rawValue,
            code: finding.code,
            at: context.date.milliseconds
        )
    }

    /// Moves what the old provider has not begun; what a newcomer refuses is rejected there, with its reason.
    private func retarget(from old: String, to newcomers: [any ProviderRunner]) throws {
        let journaled = Set(try context.store.journal(provider: old).flatMap(\.operations))
        var rows: [OutboxRow] = []
        try context.store.forEachRow(provider: old, subject: nil) { row in
            if row.step == nil, !journaled.contains(row.operation.id) { rows.append(row) }
        }
        for row in rows {
            guard let operation = try? EngagementOperation(jsonBytes: row.operation.body) else { continue }
            if case .farewell = operation.action { continue }
            for runner in newcomers { try retarget(row, operation, to: runner) }
            try context.store.end(
                provider: old,
                sequence: row.operation.sequence,
                term: OperationOutcome.Term.moved.rawValue,
                code: newcomers.map(\.name).joined(separator: ","),
                at: context.date.milliseconds
            )
        }
    }

    private func retarget(_ row: OutboxRow, _ operation: EngagementOperation, to runner: any ProviderRunner) throws {
        let findings = runner.examine(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return }
        let place = runner.place(operation)
        let sequence = row.operation.sequence
        try context.store.enter(sequence, provider: runner.name, lane: place.lane, queue: place.queue, hold: row.hold)
        try context.store.count(provider: runner.name, term: "created", code: "retargeted", by: 1)
        guard let finding = findings.first(where: { $0.severity == .error }) else { return }
        try context.store.end(
            provider: runner.name,
            sequence: sequence,
            term: OperationOutcome.Term.rejected.rawValue,
            code: finding.code,
            at: context.date.milliseconds,
            reject: finding.jsonBytes
        )
    }

    private func forEachMirror(_ body: (Subject, SubjectMirror) throws -> Void) throws {
        try context.store.forEachMirror { subject, bytes in
            try body(Subject(rawValue: subject), SubjectMirror(jsonBytes: bytes))
        }
    }
}

/// How a provider stands.
package struct ProviderStanding: Sendable {
    /// The provider.
    package let provider: String
    /// Operations that have not ended.
    package let pending: Int
    /// Why it is stopped, if it is.
    package let parked: Finding?
    /// Why each lane waits.
    package let waits: [String: Finding]
}

extension VendorAdapter {
    fileprivate func makeRunner(name: String, context: EngineContext) -> any ProviderRunner {
        Runner(name: name, adapter: self, context: context)
    }
}

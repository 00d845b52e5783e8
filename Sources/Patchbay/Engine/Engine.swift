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
    /// The last ending, by its number in the history, that this engine knows of.
    private var heardEnd: Int64
    private static let leaseDuration: Int64 = 30_000

    /// An engine over an open outbox. It captures at once and delivers after ``start()``.
    package init(
        store: OutboxStore,
        plan: RoutingPlan,
        host: any EngineHost,
        credentials: @escaping (_ provider: String, _ contact: String?) -> Secret?
    ) throws {
        self.plan = plan
        let gate = ConsentGate(required: plan.requiredConsent)
        context = try EngineContext(store: store, host: host, gate: gate, credentials: credentials)
        heardEnd = try store.historyEnd()
        for provider in plan.providers {
            let runner = provider.adapter.makeRunner(name: provider.name, context: context)
            runner.isPaused = provider.mode == .paused
            if let rate = provider.rate { runner.rate = rate }
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
        do {
            try carryOutSwitch()
            for runner in runners { try runner.restore() }
        } catch {
            // A start is whole or has not happened: the next try, here or elsewhere, begins anew.
            try? stop()
            throw error
        }
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
        if !isHeld { loseLease() }
        return isHeld
    }

    /// Another process delivers now: what was in flight here is its business.
    private func loseLease() {
        context.epoch = nil
        heardEnd = max(heardEnd, store.newestHistoryNumber)
        for runner in runners { runner.abandon() }
    }

    /// What ended since the last call in a process that delivers while this one does not.
    ///
    /// Endings of this process may be among them. The outbox keeps the whole reason of what was rejected, and the code of
    /// any other.
    package func endingsElsewhere() throws -> [EngineEvent] {
        var events: [EngineEvent] = []
        while true {
            let endings = try store.endings(behind: heardEnd, limit: 256)
            for ending in endings {
                guard let term = OperationOutcome.Term(rawValue: ending.entry.term) else { continue }
                var finding = ending.finding.flatMap { try? Finding(jsonBytes: $0) }
                if finding == nil, !ending.entry.code.isEmpty, term != .moved {
                    finding = FindingRow.Engine.endedElsewhere.at(detail: ending.entry.code)
                }
                let id = OperationID(rawValue: ending.entry.id)
                events.append(.ended(id, provider: ending.entry.provider, OperationOutcome(term, finding: finding)))
            }
            heardEnd = endings.last?.number ?? heardEnd
            if endings.count < 256 { return events }
        }
    }

    /// Gives the right to deliver back, so that the next process need not wait.
    package func stop() throws {
        guard let epoch = context.epoch else { return }
        loseLease()
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
        batch.tellRunners()
        for (runner, lanes) in batch.touched {
            for (lane, entries) in lanes { runners[runner].noteEntered(lane: lane, entries) }
        }
    }

    /// The last neutral state of a subject.
    package func mirror(of subject: Subject) throws -> SubjectMirror { try context.mirror(of: subject) }

    /// Asks a vendor at once; the answer comes as ``EngineEvent/answered(_:provider:_:)``.
    package func read(_ operation: EngagementOperation, provider: String, timeout: Duration) -> Bool {
        guard let runner = runners.first(where: { $0.name == provider }) else { return false }
        if let finding = runner.examine(operation).first(where: { $0.severity == .error }) {
            context.emit([.answered(operation.id, provider: provider, OperationOutcome(.rejected, finding: finding))])
            return true
        }
        if let refusal = try? context.gate.refusal(toRead: context.mirror(of: operation.subject)) {
            let outcome = OperationOutcome(.dropped, finding: refusal)
            context.emit([.answered(operation.id, provider: provider, outcome)])
            return true
        }
        runner.read(operation, deadline: context.now + timeout)
        return true
    }

    // MARK: Delivery

    /// Plans whatever wants to be planned; the requests handed to `send` must leave at once.
    ///
    /// One provider's failing storage does not stop the others: the first error is thrown when all have been planned.
    package func advance(_ send: (Dispatch) -> Void) throws {
        guard delivers else { return runners.forEach { $0.expireReads() } }
        var failure: (any Error)?
        for runner in runners where delivers {
            do {
                try fenced { try runner.plan(send) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Takes the outcome of a request.
    package func finish(_ dispatch: Dispatch, _ outcome: Outcome) throws {
        guard delivers, let runner = runners.first(where: { $0.name == dispatch.provider }) else { return }
        try fenced { try runner.finish(dispatch.ticket, outcome) }
    }

    /// Runs what may find that another process has taken over.
    private func fenced(_ body: () throws -> Void) throws {
        do {
            try body()
        } catch is LeaseLost {
            loseLease()
        }
    }

    /// When to call ``advance(_:)`` again, on the engine's timeline; nil is not before something happens.
    package var nextAdvance: Instant? {
        runners.compactMap { delivers ? $0.nextPlan : $0.nextDeadline }.min()
    }

    /// Whether a request is in flight.
    package var isBusy: Bool { runners.contains(where: \.isBusy) }

    /// Looks for what other processes captured.
    package func lookAround() throws { for runner in runners { try runner.lookAround() } }

    /// The network came back, or the app came to the foreground.
    package func wake() throws { for runner in runners where delivers { try runner.wake(lane: nil) } }

    /// Send now what may be sent: courtesy delays are skipped, the vendors' pacing is not.
    package func flush() throws { for runner in runners where delivers { try runner.flush() } }

    /// Lets a stopped provider go on.
    package func resume(_ provider: String) throws {
        for runner in runners where delivers && runner.name == provider { try fenced { try runner.resume() } }
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
        let routed = Dictionary(plan.providers.filter(\.isRouted).map { ($0.name, $0) }) { first, _ in first }
        let leavers = known.values.filter { record in
            routed[record.name] == nil && (record.state == "live" || record.state == "gone")
        }
        try context.transaction(.full) {
            var welcomed: Set<String> = []
            for runner in runners {
                guard let provider = plan.providers.first(where: { $0.name == runner.name }) else { continue }
                let record = known[runner.name]
                if provider.isRouted, record?.state != "live" {
                    try welcome(runner, record, provider)
                    welcomed.insert(runner.name)
                } else if var record, record.settingsDigest != provider.settingsDigest {
                    try runner.placeAgain()
                    record.settingsDigest = provider.settingsDigest
                    try context.store.setProvider(record)
                }
            }
            for record in leavers.sorted(by: { $0.name < $1.name }) {
                try takeLeave(of: record, to: runners.filter { routed[$0.name] != nil }, welcomed: welcomed)
            }
        }
    }

    /// A new provider hears the whole state of every subject first.
    private func welcome(
        _ runner: any ProviderRunner,
        _ record: ProviderRecord?,
        _ provider: RoutingPlan.Provider
    ) throws {
        if record != nil { try takeBackFarewells(runner) }
        try context.store.setProvider(
            ProviderRecord(
                name: runner.name,
                adapter: runner.descriptor.id.rawValue,
                stateVersion: record?.stateVersion ?? runner.descriptor.stateVersion,
                state: "live",
                parked: nil,
                settingsDigest: provider.settingsDigest
            )
        )
        try forEachMirror { subject, mirror in
            for action in mirror.replay.flatMap({ context.portions(of: $0, for: subject, mirror, runner) }) {
                try context.create(action, for: subject, mirror, because: "mirror", runner)
            }
        }
    }

    /// A provider that comes back before its farewell left is not told one.
    private func takeBackFarewells(_ runner: any ProviderRunner) throws {
        let journaled = Set(try context.store.journal(provider: runner.name).flatMap(\.operations))
        try context.store.forEachRow(provider: runner.name, subject: nil) { row in
            guard row.step == nil, !journaled.contains(row.operation.id),
                let operation = try? EngagementOperation(jsonBytes: row.operation.body),
                case .farewell = operation.action
            else { return }
            let outcome = OperationOutcome(.superseded)
            try context.store.end(
                provider: runner.name,
                sequence: row.operation.sequence,
                term: outcome.term.rawValue,
                code: "",
                at: context.date.milliseconds
            )
            context.emit([.ended(operation.id, provider: runner.name, outcome)])
        }
    }

    /// The old provider finishes what it has begun and says farewell; the rest goes where the policy says.
    ///
    /// One that the configuration no longer names at all can't be served; that is made up for when it is named again.
    private func takeLeave(
        of record: ProviderRecord,
        to routed: [any ProviderRunner],
        welcomed: Set<String>
    ) throws {
        let runner = runners.first { $0.name == record.name }
        var record = record
        record.state = runner == nil ? "gone" : "left"
        try context.store.setProvider(record)
        if plan.onSwitch == .retarget { try retarget(from: record.name, to: routed, welcomed: welcomed) }
        guard let runner else {
            guard try context.store.pendingCount(provider: record.name) > 0 else { return }
            return context.emit([.noticed(provider: record.name, FindingRow.Engine.providerGone.at())])
        }
        try forEachMirror { subject, mirror in
            try context.create(.farewell, for: subject, mirror, because: "farewell", runner)
        }
    }

    /// Moves what the old provider has not begun; what another refuses is rejected there, with its reason.
    ///
    /// One that heard an operation already does not hear it again. Without anybody to take it, everything stays.
    ///
    /// A newcomer gets everything, in order, and the mirror behind it. One that was there before has the state already, with
    /// its own mirror or because it heard the operation: it gets what happened, and nothing that changes the state.
    private func retarget(from old: String, to routed: [any ProviderRunner], welcomed: Set<String>) throws {
        guard !routed.isEmpty else { return }
        let journaled = Set(try context.store.journal(provider: old).flatMap(\.operations))
        var heard: [String: Set<String>] = [:]
        for runner in routed { heard[runner.name] = try heardOperations(runner.name) }
        try context.store.forEachRow(provider: old, subject: nil) { row in
            guard row.step == nil, !journaled.contains(row.operation.id),
                let operation = try? EngagementOperation(jsonBytes: row.operation.body)
            else { return }
            if case .farewell = operation.action { return }
            let sequence = row.operation.sequence
            let mirror = try context.mirror(of: operation.subject)
            let examined = routed.map { ($0, $0.examine(operation)) }
            let takers = examined.filter { !$0.1.contains { $0.severity == .foreign } }
            // A push of the old vendor's is nobody else's: it stays.
            if takers.isEmpty { return }
            for (runner, examination) in takers where heard[runner.name]?.contains(row.operation.id) != true {
                var findings = examination
                if !welcomed.contains(runner.name) {
                    guard operation.action.kind == .track else { continue }
                    // What one person did is not told of the next.
                    if let contact = operation.contact, contact != mirror.contact {
                        findings = [FindingRow.Engine.personLeft.at("contact")]
                    }
                }
                try context.store.count(provider: runner.name, term: "created", code: "retargeted", by: 1)
                _ = try context.enter(operation, sequence, runner, mirror, findings: findings, keepsRejects: true)
            }
            let outcome = OperationOutcome(.moved)
            try context.store.end(
                provider: old,
                sequence: sequence,
                term: outcome.term.rawValue,
                code: routed.map(\.name).joined(separator: ","),
                at: context.date.milliseconds
            )
            context.emit([.ended(operation.id, provider: old, outcome)])
        }
    }

    /// The operations that are pending with a provider, or ended there otherwise than by moving away.
    private func heardOperations(_ provider: String) throws -> Set<String> {
        let endings = try context.store.history(provider: provider, limit: .max)
        var heard = Set(endings.filter { $0.term != OperationOutcome.Term.moved.rawValue }.map(\.id))
        try context.store.forEachRow(provider: provider, subject: nil) { heard.insert($0.operation.id) }
        return heard
    }

    private func forEachMirror(_ body: (Subject, SubjectMirror) throws -> Void) throws {
        try context.store.forEachMirror { subject, bytes in
            let subject = Subject(rawValue: subject)
            if let mirror = try context.mirror(bytes, of: subject) { try body(subject, mirror) }
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

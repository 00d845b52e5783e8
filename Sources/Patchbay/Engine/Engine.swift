package import PatchbayAdapterKit
package import PatchbayModel
package import PatchbayOutbox

/// The delivery engine: a state machine that does no I/O but the outbox's, and never waits.
///
/// Whoever drives it tells it what happened (captures, outcomes, time) and carries out what it says (requests, when to
/// come back). The app's driver does so with real clocks and sockets, the simulator with virtual ones: the engine is the
/// same. It belongs to one serial executor.
package final class Engine {
    let context: EngineContext
    let plan: RoutingPlan
    /// Who hears what is captured, for the engine that will give it its places.
    private(set) lazy var routes = Hearing(plan).text(plan)
    private(set) var runners: [Runner] = []
    /// The last ending, by its number in the history, that this engine knows of.
    private var heardEnd: Int64
    private static let leaseDuration: Int64 = 30_000
    var bounds: OutboxBounds
    /// What was captured and has no place yet.
    var stagedCaptures = StagedCaptures()

    /// An engine over an open outbox. It captures at once and delivers after ``start()``.
    package init(
        store: OutboxStore,
        plan: RoutingPlan,
        host: any EngineHost,
        limits: OutboxLimits = OutboxLimits(),
        credentials: CredentialCache
    ) throws {
        self.plan = plan
        bounds = OutboxBounds(limits)
        let gate = ConsentGate(required: plan.requiredConsent)
        context = try EngineContext(store: store, host: host, gate: gate, credentials: credentials)
        heardEnd = try store.historyEnd()
        for provider in plan.providers {
            let runner = Runner(name: provider.name, driver: provider.adapter.driver, context: context)
            runner.isPaused = provider.mode == .paused
            runner.isUnrouted = provider.mode == nil
            runner.share = provider.share
            runner.shadow = ShadowRun(provider)
            if let rate = provider.rate { runner.rate = rate }
            runners.append(runner)
        }
        takeStore()
    }

    /// An engine whose credentials are known at once.
    package convenience init(
        store: OutboxStore,
        plan: RoutingPlan,
        host: any EngineHost,
        limits: OutboxLimits = OutboxLimits(),
        credentials: @escaping (_ provider: String, _ contact: String?) -> Secret?
    ) throws {
        let cache = CredentialCache(.immediate { credentials($0.provider, $0.contact) })
        try self.init(store: store, plan: plan, host: host, limits: limits, credentials: cache)
    }

    /// Makes the store this engine's: another one over it may have been refused.
    private func takeStore() {
        context.listen()
        store.rejectLimit = bounds.limits.rejects
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
    ///
    /// - Throws: ``SwitchRefusal`` if the switch would lose something; then nothing has changed.
    package func start() throws -> Bool {
        takeStore()
        guard try takeLease() else { return false }
        do {
            try reviewConsent()
            try carryOutSwitch()
            try placeStagedCaptures()
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
            uptime: context.host.uptime().milliseconds,
            duration: Self.leaseDuration,
            isDead: context.host.isDead
        )
        guard let epoch else { return false }
        context.epoch = epoch
        noteLease()
        return true
    }

    private func noteLease() {
        let length = Duration.milliseconds(Self.leaseDuration)
        leaseEnd = (context.date + length, context.host.uptime() + length)
    }

    /// Whether the right to deliver may have run out unnoticed: the machine slept, or its clock was moved.
    private var isLeaseDue: Bool {
        leaseEnd.map { $0.date <= context.date || $0.uptime <= context.host.uptime() } ?? true
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
        if isHeld { noteLease() } else { loseLease() }
        return isHeld
    }

    /// Another process delivers now: what was in flight here is its business.
    private func loseLease() {
        context.epoch = nil
        heardEnd = max(heardEnd, store.newestHistoryNumber)
        for runner in runners { runner.abandon() }
    }

    /// What ended since the last call in a process that delivers while this one does not: a page of it, empty at the end.
    ///
    /// Endings of this process may be among them. The outbox keeps the whole reason of what was rejected, and the code of
    /// any other.
    package func endingsElsewhere() throws -> [EngineEvent] {
        var events: [EngineEvent] = []
        while events.isEmpty {
            let endings = try store.endings(behind: heardEnd, limit: 256)
            guard let last = endings.last else { break }
            for ending in endings {
                guard let outcome = OperationOutcome(ending) else { continue }
                let id = OperationID(rawValue: ending.entry.id)
                events.append(.ended(id, provider: ending.entry.provider, outcome))
            }
            heardEnd = last.number
        }
        return events
    }

    /// The epoch in which this engine delivered when it was suspended.
    private var epochBefore: Int64?
    /// When the right to deliver runs out, by both clocks.
    private var leaseEnd: (date: Instant, uptime: Instant)?

    /// Lets go of the outbox's file and of the right to deliver, for a while: another process may have both.
    ///
    /// What is in flight is not forgotten: its outcome may be brought after ``wakeUp()``.
    package func suspend() throws {
        // Where the storage fails, all are made up for by whoever opens the outbox next: letting go of it must not wait.
        try? placeStagedCaptures()
        try? settleAnswers()
        try? store.carryOutEndingsNow()
        // Who keeps the file keeps the right to deliver, too, and what is in flight stays known.
        try store.suspend { restLease() }
        stagedCaptures.look()
    }

    /// Gives the right to deliver back for the time of a suspension.
    private func restLease() {
        guard let epoch = context.epoch else { return }
        (context.epoch, epochBefore) = (nil, epoch)
        heardEnd = max(heardEnd, store.newestHistoryNumber)
        // If that fails, the right runs out by itself.
        try? store.releaseLease(owner: context.host.process, epoch: epoch)
    }

    /// Opens the outbox again, and delivers if nobody else does.
    ///
    /// Where somebody delivered meanwhile, what was in flight here is their business.
    ///
    /// - Throws: what opening throws, or an error of the storage: then it is suspended still, and may be woken again.
    ///   ``SwitchRefusal`` if somebody delivered with another configuration, and this one's would lose something: then it
    ///   is awake and does not deliver.
    package func wakeUp() throws {
        try store.wakeUp()
        guard let before = epochBefore else { return }
        do {
            let hasLease = try takeLease()
            epochBefore = nil
            guard hasLease else { return loseLease() }
            if context.epoch == before + 1 {
                for runner in runners { try runner.lookAround() }
            } else {
                loseLease()
                _ = try start()
            }
        } catch let refusal as SwitchRefusal {
            throw refusal
        } catch {
            // Whoever tries again finds it suspended, and what was in flight as it was.
            try? store.suspend { restLease() }
            throw error
        }
    }

    /// Gives the right to deliver back, so that the next process need not wait.
    package func stop() throws {
        // What can't be stored even now is asked for again.
        try? settleAnswers()
        guard let epoch = context.epoch else { return }
        try? store.carryOutEndingsNow()
        for runner in runners { try? runner.keepWaits() }
        loseLease()
        try context.store.releaseLease(owner: context.host.process, epoch: epoch)
    }

    // MARK: Capture

    /// Stores captured operations, their places and the subject snapshots in one transaction that reaches the disk.
    ///
    /// What arrived before gets its places first. With a contact, what waits of that contact anywhere goes with the erasures
    /// among them.
    /// - Returns: what the erasures among them did.
    @discardableResult
    package func commit(_ captures: [Capture], forgetting contact: String? = nil) throws -> [Erasure] {
        var batch = CaptureBatch(context: context, runners: runners, hearing: Hearing(plan))
        var placed: [Int64] = []
        try placing(.full, &batch, captures.map(\.operation)) { batch in
            placed = try placeWaiting(&batch)
            for capture in captures {
                let since = context.now(at: capture.uptime)
                let stored = OutboxOperation(capture.operation, since: since.milliseconds, body: capture.body)
                try batch.add(capture.operation, stored)
            }
            if let contact, let first = captures.first {
                try batch.withdraw(contact: contact, with: first.operation.id)
            }
        }
        stagedCaptures.remove(placed)
        return batch.erasures.all
    }

    /// One transaction in which operations get their places; afterwards the lanes are told.
    func placing(
        _ durability: Durability,
        _ batch: inout CaptureBatch,
        _ refusable: [EngagementOperation] = [],
        _ body: (inout CaptureBatch) throws -> Void
    ) throws {
        try committing(durability, refusable) {
            try body(&batch)
            try batch.finish()
        }
        tell(of: batch)
    }

    /// After the commit: what is known of the subjects and the lanes.
    func tell(of batch: CaptureBatch) {
        context.keep(batch.erasures.all.isEmpty ? batch.snapshots : [:], batch.version)
        batch.tellRunners()
        for (runner, lanes) in batch.touched {
            for (lane, entries) in lanes { runners[runner].noteEntered(lane: lane, entries) }
        }
    }

    /// One transaction that brings operations in; what is beyond the outbox's limits then goes in it.
    func committing(
        _ durability: Durability,
        _ operations: [EngagementOperation],
        _ body: () throws -> Void
    ) throws {
        do {
            try context.transaction(durability) {
                let last = try store.newestSequence()
                try body()
                try bounds.makeRoom(for: operations, behind: last, context, runners)
            }
        } catch {
            bounds.rewind()
            throw error
        }
    }

    /// The last neutral state of a subject.
    package func snapshot(of subject: Subject) throws -> SubjectSnapshot { try context.snapshot(of: subject) }

    /// Asks a vendor at once; the answer comes as ``EngineEvent/answered(_:provider:_:)``.
    ///
    /// - Returns: whether the provider is known.
    /// - Throws: an error of the storage: where nobody can tell what the person allows, nobody is asked.
    package func read(_ operation: EngagementOperation, provider: String, timeout: Duration) throws -> Bool {
        guard let runner = runners.first(where: { $0.name == provider }) else { return false }
        if let finding = runner.examine(operation).first(where: { $0.severity == .error }) {
            context.emit([.answered(operation.id, provider: provider, OperationOutcome(.rejected, finding: finding))])
            return true
        }
        if let refusal = try context.gate.refusal(toRead: context.snapshot(of: operation.subject)) {
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
        // Somebody else may deliver by now: then nothing leaves here any more.
        if delivers, !isQuiet, isLeaseDue { _ = try renewLease() }
        guard delivers, !isQuiet else { return runners.forEach { $0.expireReads() } }
        var failure: (any Error)?
        let isOut = DeliberateFault.outageOfAll.isPresent && runners.contains(where: \.isFailing)
        for runner in runners where delivers {
            if isOut, !runner.isFailing { runner.putOff() }
            do {
                try fenced { try runner.plan(send) }
            } catch {
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Takes the outcome of a request.
    ///
    /// - Returns: whether it was waited for; where another process has taken over, it is nobody's.
    @discardableResult
    package func finish(_ dispatch: Dispatch, _ outcome: Outcome) throws -> Bool {
        guard delivers, let runner = runners.first(where: { $0.name == dispatch.provider }) else { return false }
        return try fenced { try runner.finish(dispatch.ticket, outcome) } ?? false
    }

    /// Runs what may find that another process has taken over; nil if one has.
    @discardableResult
    private func fenced<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch is LeaseLost {
            loseLease()
            return nil
        }
    }

    /// When to call ``advance(_:)`` again, on the engine's timeline; nil is not before something happens.
    package var nextAdvance: Instant? {
        runners.reduce(hasStagedCaptures ? stagedCaptures.nextTry : nil) { next, runner in
            next.orEarlier(delivers && !isQuiet ? runner.nextPlan : runner.nextDeadline)
        }
    }

    /// Whether nothing new is sent, because the configuration is about to change.
    package var isQuiet = false

    /// Stores what vendors have said where that has failed so far.
    private func settleAnswers() throws {
        for runner in runners where delivers { try fenced { try runner.settleAnswers() } }
    }

    /// Gives everything to another engine over the same outbox, with the configuration that it has: call it when nothing is in
    /// flight. If that engine refuses, or what vendors have said can't be stored, this one goes on.
    package func handOver(to next: Engine) throws {
        do {
            try placeStagedCaptures()
            try settleAnswers()
        } catch {
            takeStore()
            throw error
        }
        let questions = runners.flatMap { $0.takeQuestions() }
        do {
            try stop()
            _ = try next.start()
        } catch {
            isQuiet = false
            ask(questions)
            _ = try start()
            throw error
        }
        next.context.emitFirst(takeEvents())
        next.ask(questions)
    }

    /// Takes over the questions of callers; one whose provider is gone is answered at once.
    private func ask(_ questions: [Question]) {
        for question in questions {
            guard let runner = runners.first(where: { $0.name == question.provider }) else {
                let outcome = OperationOutcome(.rejected, finding: FindingRow.Engine.providerGone.at())
                context.emit([.answered(question.operation.id, provider: question.provider, outcome)])
                continue
            }
            runner.read(question.operation, deadline: question.deadline)
        }
    }

    /// Whether a request is in flight.
    package var isBusy: Bool { runners.contains(where: \.isBusy) }

    /// Looks for what other processes captured, and for what has waited too long.
    package func lookAround() throws {
        stagedCaptures.look()
        try placeStagedCaptures()
        for runner in runners { try runner.lookAround() }
        bounds.rewind()
        try dropAged()
    }

    /// Drops what has waited longer than the outbox keeps it, some thousands at a time.
    private func dropAged() throws {
        guard delivers, bounds.limits.age != nil else { return }
        do {
            try context.transaction(.normal) {
                try context.requireLease()
                try bounds.dropAged(atMost: 4_096, context, runners)
            }
        } catch is LeaseLost {
            loseLease()
        } catch {
            bounds.rewind()
            throw error
        }
    }

    /// Takes the app's answer to a request for a credential; what waited for it is planned again.
    package func receive(_ answer: Result<Secret?, any Error>, for request: CredentialRequest) {
        context.credentials.receive(answer, for: request)
        for runner in runners where runner.name == request.provider { runner.planAgain() }
    }

    /// Forgets what is known of a contact's credentials and wakes what waits for them.
    package func credentialDidChange(for contact: String?) throws {
        context.credentials.forget(contact)
        for runner in runners where delivers && runner.descriptor.usesCredentials { try runner.wake(lane: nil) }
    }

    /// The network came back, or the app came to the foreground.
    package func wake() throws {
        context.credentials.askAgain()
        for runner in runners where delivers { try runner.wake(lane: nil) }
    }

    /// Send now what may be sent: courtesy delays are skipped, the vendors' pacing is not.
    package func flush() throws {
        context.credentials.askAgain()
        for runner in runners where delivers { try runner.flush() }
    }

    /// Lets a stopped provider go on.
    package func resume(_ provider: String) throws {
        guard let runner = runners.first(where: { $0.name == provider }) else { throw CaptureError.unknownProvider }
        if delivers { try fenced { try runner.resume() } }
    }

    /// How each provider stands.
    package func standings() throws -> [ProviderStanding] {
        try runners.map { runner in
            ProviderStanding(
                provider: runner.name,
                pending: try context.store.pendingCount(provider: runner.name),
                suspended: runner.suspended,
                waits: runner.reasons
            )
        }
    }
}

/// A caller's question to a vendor that waits for its answer.
struct Question: Sendable {
    let operation: EngagementOperation
    let provider: String
    let deadline: Instant
}

/// How a provider stands.
package struct ProviderStanding: Sendable {
    /// The provider.
    package let provider: String
    /// Operations that have not ended.
    package let pending: Int
    /// Why it is stopped, if it is.
    package let suspended: Finding?
    /// Why each lane waits.
    package let waits: [String: Finding]
}

extension VendorAdapter {
    fileprivate var driver: any AdapterDriver { Driver(self) }
}

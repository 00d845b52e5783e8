package import PatchbayAdapterKit
package import PatchbayModel
package import PatchbayOutbox

/// The delivery engine: a state machine that performs no I/O except on the outbox, and never waits.
///
/// A driver passes captures, outcomes and the time to the engine, and carries out its requests and wake-up times. The app's
/// driver uses real clocks and sockets, and the simulator's uses virtual ones. An engine belongs to one serial executor.
package final class Engine {
    let context: EngineContext
    let plan: RoutingPlan
    /// The routes of new captures, stored with them for the engine that will route them.
    private(set) lazy var routes = Recipients(plan).text(plan)
    private(set) var runners: [Runner] = []
    /// The number of the last outcome in the history that this engine has reported or knows.
    private var reportedHistoryEnd: Int64
    private static let leaseDuration: Int64 = 30_000
    var bounds: OutboxBounds
    /// The captures that are stored but not routed yet.
    var stagedCaptures = StagedCaptures()

    /// Creates an engine over an open outbox. It captures at once and delivers after ``start()``.
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
        reportedHistoryEnd = try store.history.end()
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

    /// Creates an engine whose credentials are available at once.
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

    /// Sets the store up for this engine, also after another engine over it was refused.
    private func takeStore() {
        context.listen()
        store.rejects.limit = bounds.limits.rejects
    }

    /// The engine's timeline.
    package var now: Instant { context.now }

    /// The outbox, for inspection.
    package var store: OutboxStore { context.store }

    /// Returns the events since the last call. All of them are committed.
    package func takeEvents() -> [EngineEvent] { context.takeEvents() }

    // MARK: Start and lease

    /// Takes the right to deliver, carries out a switch if the configuration has changed, and resumes pending work.
    ///
    /// - Returns: Whether this engine delivers; false while another process does. Capturing works in both cases.
    /// - Throws: ``SwitchRefusal`` if the switch would lose operations. Nothing has changed then.
    package func start() throws -> Bool {
        takeStore()
        guard try takeLease() else { return false }
        do {
            try reviewConsent()
            try carryOutSwitch()
            try placeStagedCaptures()
            for runner in runners { try runner.restore() }
        } catch {
            // A failed start leaves no partial state: the next attempt, here or in another process, starts from the
            // beginning.
            try? stop()
            throw error
        }
        return true
    }

    /// Whether this engine may deliver.
    package var delivers: Bool { context.epoch != nil }

    private func takeLease() throws -> Bool {
        // The lease of a process that is known to be dead is taken at once, without waiting for its end.
        let epoch = try context.store.lease.acquire(
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

    /// Whether the lease may have expired unnoticed: the machine slept, or its clock was changed.
    private var isLeaseDue: Bool {
        leaseEnd.map { $0.date <= context.date || $0.uptime <= context.host.uptime() } ?? true
    }

    /// Renews the right to deliver. Call it about every ten seconds. Returns false if another process has taken it.
    package func renewLease() throws -> Bool {
        guard let epoch = context.epoch else { return try start() }
        let isHeld = try context.store.lease.renew(
            owner: context.host.process,
            epoch: epoch,
            now: context.date.milliseconds,
            duration: Self.leaseDuration
        )
        if isHeld { noteLease() } else { loseLease() }
        return isHeld
    }

    /// Gives up requests in flight, because another process delivers now.
    private func loseLease() {
        context.epoch = nil
        reportedHistoryEnd = max(reportedHistoryEnd, store.history.newestNumber)
        for runner in runners { runner.abandon() }
    }

    /// Returns a page of the outcomes since the last call that another process has stored; empty at the end.
    ///
    /// Outcomes of this process may be among them. The outbox keeps the full finding of a rejected operation, and the code of
    /// any other.
    package func outcomesOfOtherProcesses() throws -> [EngineEvent] {
        var events: [EngineEvent] = []
        while events.isEmpty {
            let page = try store.history.outcomes(after: reportedHistoryEnd, limit: 256)
            guard let last = page.last else { break }
            for stored in page {
                guard let outcome = OperationOutcome(stored) else { continue }
                let id = OperationID(rawValue: stored.entry.id)
                events.append(.ended(id, provider: stored.entry.provider, outcome))
            }
            reportedHistoryEnd = last.number
        }
        return events
    }

    /// The epoch in which this engine delivered when it was suspended.
    private var epochBefore: Int64?
    /// The time at which the right to deliver expires, by both clocks.
    private var leaseEnd: (date: Instant, uptime: Instant)?

    /// Releases the outbox file and the right to deliver until ``wakeUp()``, so that another process can have both.
    ///
    /// Requests in flight are remembered: their outcomes may be passed in after ``wakeUp()``.
    package func suspend() throws {
        // If the storage fails, the next process that opens the outbox catches up on all three steps. Releasing it must not
        // wait.
        try? placeStagedCaptures()
        try? settleAnswers()
        try? store.settlement.applyNoted()
        // If the file cannot be released, the right to deliver is kept, too, and requests in flight stay known.
        try store.suspend { restLease() }
        stagedCaptures.look()
    }

    /// Releases the right to deliver for a suspension.
    private func restLease() {
        guard let epoch = context.epoch else { return }
        (context.epoch, epochBefore) = (nil, epoch)
        reportedHistoryEnd = max(reportedHistoryEnd, store.history.newestNumber)
        // If this fails, the lease expires.
        try? store.lease.release(owner: context.host.process, epoch: epoch)
    }

    /// Opens the outbox again, and delivers unless another process does.
    ///
    /// If another process has delivered meanwhile, it has taken over the requests in flight.
    ///
    /// - Throws: An error of opening or of the storage; the engine is then still suspended and may be woken again.
    ///   ``SwitchRefusal`` if another process has delivered with another configuration and a switch to this one would lose
    ///   operations; the engine is then awake and does not deliver.
    package func wakeUp() throws {
        try store.wakeUp()
        guard let before = epochBefore else { return }
        do {
            let hasLease = try takeLease()
            epochBefore = nil
            guard hasLease else { return loseLease() }
            if context.epoch == before + 1 {
                for runner in runners { try runner.pollForeignCommits() }
            } else {
                loseLease()
                _ = try start()
            }
        } catch let refusal as SwitchRefusal {
            throw refusal
        } catch {
            // The next attempt finds the engine suspended, and the requests in flight unchanged.
            try? store.suspend { restLease() }
            throw error
        }
    }

    /// Releases the right to deliver, so that the next process need not wait for the lease to expire.
    package func stop() throws {
        // Replies that cannot be stored even now are requested again by the next process.
        try? settleAnswers()
        guard let epoch = context.epoch else { return }
        try? store.settlement.applyNoted()
        for runner in runners { try? runner.keepWaits() }
        loseLease()
        try context.store.lease.release(owner: context.host.process, epoch: epoch)
    }

    // MARK: Capture

    /// Stores captured operations, their routes and the subject snapshots in one transaction that reaches the disk.
    ///
    /// Staged captures are routed first. With a contact, the erasures also delete that contact's other pending operations.
    ///
    /// - Returns: The effects of the erasures among the captures.
    @discardableResult
    package func commit(_ captures: [Capture], forgetting contact: String? = nil) throws -> [Erasure] {
        var batch = CaptureBatch(context: context, runners: runners, recipients: Recipients(plan))
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

    /// Routes operations in one transaction, then notifies their lanes.
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

    /// Updates the cached state of subjects and lanes after the commit.
    func tell(of batch: CaptureBatch) {
        context.keep(batch.erasures.all.isEmpty ? batch.snapshots : [:], batch.version)
        batch.tellRunners()
        for (runner, lanes) in batch.touched {
            for (lane, entries) in lanes { runners[runner].noteEntered(lane: lane, entries) }
        }
    }

    /// Adds operations in one transaction, in which the outbox is also brought back within its limits.
    func committing(
        _ durability: Durability,
        _ operations: [EngagementOperation],
        _ body: () throws -> Void
    ) throws {
        do {
            try context.transaction(durability) {
                let last = try store.captures.newestSequence()
                try body()
                try bounds.makeRoom(for: operations, behind: last, context, runners)
            }
        } catch {
            bounds.rewind()
            throw error
        }
    }

    /// Returns the subject snapshot of a subject.
    package func snapshot(of subject: Subject) throws -> SubjectSnapshot { try context.snapshot(of: subject) }

    /// Sends a query to a vendor at once. The answer arrives as ``EngineEvent/answered(_:provider:_:)``.
    ///
    /// - Returns: Whether the provider is known.
    /// - Throws: An error of the storage. No vendor is queried if the person's consents cannot be read.
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

    /// Plans all lanes that are due. The requests passed to `send` must leave at once.
    ///
    /// A storage error at one provider does not stop the others. The first error is thrown after all providers were planned.
    package func advance(_ send: (Dispatch) -> Void) throws {
        // Another process may have taken the lease; this engine must not send then.
        if delivers, !isQuiet, isLeaseDue { _ = try renewLease() }
        guard delivers, !isQuiet else { return runners.forEach { $0.expireReads() } }
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

    /// Handles the outcome of a request.
    ///
    /// - Returns: Whether the engine awaited it; false if another process has taken over.
    @discardableResult
    package func finish(_ dispatch: Dispatch, _ outcome: Outcome) throws -> Bool {
        guard delivers, let runner = runners.first(where: { $0.name == dispatch.provider }) else { return false }
        return try fenced { try runner.finish(dispatch.ticket, outcome) } ?? false
    }

    /// Runs a closure that may find that another process has taken over; returns nil if it does.
    @discardableResult
    private func fenced<Result>(_ body: () throws -> Result) throws -> Result? {
        do {
            return try body()
        } catch is LeaseLost {
            loseLease()
            return nil
        }
    }

    /// The time of the next call of ``advance(_:)``, on the engine's timeline; nil if it depends on an event.
    package var nextAdvance: Instant? {
        runners.reduce(hasStagedCaptures ? stagedCaptures.nextTry : nil) { next, runner in
            next.orEarlier(delivers && !isQuiet ? runner.nextPlan : runner.nextDeadline)
        }
    }

    /// Whether no new requests are sent, because the configuration is about to change.
    package var isQuiet = false

    /// Stores outcomes that could not be stored before.
    private func settleAnswers() throws {
        for runner in runners where delivers { try fenced { try runner.settleAnswers() } }
    }

    /// Hands over to another engine over the same outbox. Call it when no request is in flight.
    ///
    /// If that engine's start fails, or if outcomes cannot be stored, this engine continues.
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

    /// Takes over the queries of callers. A query to a removed provider is answered at once.
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

    /// Routes captures of other processes, and drops operations that are older than the limit.
    package func pollForeignCommits() throws {
        stagedCaptures.look()
        try placeStagedCaptures()
        for runner in runners { try runner.pollForeignCommits() }
        bounds.rewind()
        try dropAged()
    }

    /// Drops operations that are older than the limit, up to 4,096 at a time.
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

    /// Handles the app's answer to a request for a credential, and plans the operations that waited for it.
    package func receive(_ answer: Result<Secret?, any Error>, for request: CredentialRequest) {
        context.credentials.receive(answer, for: request)
        for runner in runners where runner.name == request.provider { runner.planAgain() }
    }

    /// Forgets a contact's credentials and wakes the operations that wait for one.
    package func credentialDidChange(for contact: String?) throws {
        context.credentials.forget(contact)
        for runner in runners where delivers && runner.descriptor.delivery.usesCredentials {
            try runner.wake(lane: nil)
        }
    }

    /// Wakes delivery: the network connection returned, or the app entered the foreground.
    package func wake() throws {
        context.credentials.askAgain()
        for runner in runners where delivers { try runner.wake(lane: nil) }
    }

    /// Sends everything that may be sent now. Skips courtesy delays, but not the vendors' pacing.
    package func flush() throws {
        context.credentials.askAgain()
        for runner in runners where delivers { try runner.flush() }
    }

    /// Resumes a suspended provider.
    package func resume(_ provider: String) throws {
        guard let runner = runners.first(where: { $0.name == provider }) else { throw CaptureError.unknownProvider }
        if delivers { try fenced { try runner.resume() } }
    }

    /// Returns the state of each provider.
    package func standings() throws -> [ProviderStanding] {
        try runners.map { runner in
            ProviderStanding(
                provider: runner.name,
                pending: try context.store.operations.pendingCount(provider: runner.name),
                suspended: runner.suspended,
                waits: runner.reasons
            )
        }
    }
}

/// A caller's query that waits for the vendor's answer.
struct Question: Sendable {
    let operation: EngagementOperation
    let provider: String
    let deadline: Instant
}

/// The state of a provider.
package struct ProviderStanding: Sendable {
    /// The provider's name.
    package let provider: String
    /// The number of operations without an outcome.
    package let pending: Int
    /// The reason for which it is suspended; nil if it is not.
    package let suspended: Finding?
    /// The reason that each lane waits, by lane.
    package let waits: [String: Finding]
}

extension VendorAdapter {
    fileprivate var driver: any AdapterDriver { Driver(self) }
}

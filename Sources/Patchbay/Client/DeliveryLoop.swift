import Dispatch
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Drives the engine with real clocks and sockets on its own thread, so that disk access never blocks the app's threads.
actor DeliveryLoop {
    private let executor: LoopExecutor
    private let buffer: CaptureBuffer
    private let receipts: ReceiptBook
    private let transport: any Transport
    private let host: any EngineHost
    private let log: Log
    private let observer: @Sendable ([EngineEvent]) -> Void
    private let observerOfOthers: @Sendable ([EngineEvent]) -> Void
    private let makeEngine: @Sendable (CredentialCache) throws -> Engine
    private var engine: Engine?
    /// The source of credentials. It outlives the engine when the configuration changes.
    private var source: CredentialSource
    private var credentials: CredentialCache?
    /// The requests for credentials that are running or wait for their next attempt.
    private var credentialRequests: [CredentialRequest: (number: Int, task: Task<Void, Never>)] = [:]
    private var credentialRequestCount = 0
    /// Callers that wait until nothing is in flight, so that the configuration can change.
    private let quietWaiters = WaitingList<Bool, Void>()
    private var isReconfiguring = false
    /// When routing of staged captures was requested; nil if none is scheduled.
    private var gatheringSince: DispatchTime?
    /// The time of the last commit of captures.
    private var lastCommit: DispatchTime?
    private var wakeUp: Task<Void, Never>?
    private var wakeUpAt: Instant?
    private var housekeeping: Task<Void, Never>?
    private var exchanges: [Int: Task<Void, Never>] = [:]
    private var exchangeCount = 0
    private let idleWaiters = WaitingList<Bool, Void>()
    private var waitingRoom = WaitingRoom()
    private var nextTry: Task<Void, Never>?
    /// Whether the outbox is closed, between ``suspend()`` and ``endSuspension()``. Outcomes that arrive meanwhile are kept
    /// in ``outcomes``.
    private var isSuspended = false
    private var outcomes: [(dispatch: Dispatch, outcome: Outcome)] = []
    /// The reason that was last reported for not delivering; nil if this process may deliver.
    private var refusal: SwitchRefusal?

    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    init(
        buffer: CaptureBuffer,
        receipts: ReceiptBook,
        transport: any Transport,
        host: any EngineHost,
        log: Log,
        observer: @escaping @Sendable ([EngineEvent]) -> Void,
        observerOfOthers: @escaping @Sendable ([EngineEvent]) -> Void,
        credentials: CredentialSource,
        makeEngine: @escaping @Sendable (CredentialCache) throws -> Engine
    ) {
        executor = LoopExecutor(label: "patchbay.delivery")
        (self.buffer, self.receipts, self.transport, self.host, self.log) = (buffer, receipts, transport, host, log)
        (self.observer, self.observerOfOthers, self.makeEngine) = (observer, observerOfOthers, makeEngine)
        source = credentials
        executor.begin { [weak self] errand in self?.assumeIsolated { $0.run(errand) } }
    }

    /// Opens the outbox and resumes pending work.
    func start() throws {
        let credentials = makeCache(source)
        let engine = try makeEngine(credentials)
        (self.engine, self.credentials) = (engine, credentials)
        tellOfRecovery(engine.store)
        let delivers = try engine.start()
        log(.info, delivers ? "started" : "started; another process delivers", [])
        engine.store.maintenance.lengthenLogIfShort(Self.aside)
        if delivers { advance() }
        // From here on, waiting for the lock has no benefit: captures stay in memory, and verdicts are stored later.
        engine.store.setTimeout(1_000)
        housekeeping = Task { [weak self] in
            while let pause = await self?.housekeepingPause, (try? await Task.sleep(for: pause)) != nil {
                await self?.performMaintenance()
            }
        }
    }

    /// Reports that the file was damaged, and how much of it was recovered.
    private func tellOfRecovery(_ store: OutboxStore) {
        guard let recovery = store.openReport.recovery else { return }
        log(
            .warning,
            "the outbox was damaged and is recovered",
            [.saved(recovery.savedOperations), .lost(recovery.lostOperations), .damagedRows(recovery.damagedRows)]
        )
        observer([.setAside(recovery.finding)])
    }

    deinit {
        wakeUp?.cancel()
        housekeeping?.cancel()
    }

    /// The delay between the first capture and its commit, so that one transaction stores captures made in quick succession.
    /// A caller that waits for the disk ends the delay.
    private static let commitDelay = DispatchTimeInterval.milliseconds(2)
    /// The delay between the commit and the plan, so that captures made in quick succession are planned together.
    private static let planDelay = DispatchTimeInterval.milliseconds(5)

    /// Runs work on a utility thread that no caller waits for.
    private static func aside(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global(qos: .utility).async(execute: work)
    }

    /// Notifies the loop of new captures. Call it from any thread; it returns at once.
    nonisolated func noteCaptures(_ errand: CaptureBuffer.Errand) {
        switch errand {
        case .none: return
        case .fetch: executor.call(.store, at: .now() + Self.commitDelay)
        case .fetchNow: hurry()
        }
    }

    /// Requests storing at once. Call it from any thread; it returns at once.
    nonisolated private func hurry() { executor.call(.store, at: .now()) }

    /// Stores captures because a caller waits for the disk: on the calling thread if the loop is idle, else on the loop's.
    nonisolated func store() {
        if !executor.doNow(.store) { hurry() }
    }

    private func run(_ errand: LoopExecutor.Errand) {
        switch errand {
        case .store: commitAndGather()
        case .place: placeAndAdvance()
        }
    }

    /// Stores captures and schedules a plan.
    private func commitAndGather() {
        commitBuffer()
        engine?.store.maintenance.lengthenLogIfShort(Self.aside)
        guard gatheringSince == nil else { return }
        let now = DispatchTime.now()
        gatheringSince = now
        executor.call(.place, at: now + Self.planDelay)
    }

    /// The maximum time that staged captures wait for routing while more captures come in. A caller may wait for each
    /// capture, but no caller waits for routing.
    private static let timeout = DispatchTimeInterval.milliseconds(500)
    /// After ``timeout``, routing gets one part in ``share`` of the thread's time. After ``limit``, it gets all of it:
    /// nothing is sent before routing has finished.
    private static let share = 8.0
    private static let limit = DispatchTimeInterval.seconds(5)
    /// The number of captures that are routed at a time: when no captures come in, and while they do.
    private static let (portion, smallPortion) = (256, 64)

    /// Routes staged captures in portions, then plans. Captures made meanwhile are stored between the portions.
    ///
    /// Each call schedules the next until no staged capture is left; ``gatheringSince`` is set while one is scheduled.
    private func placeAndAdvance() {
        guard let engine, let start = gatheringSince, !isSuspended, engine.hasStagedCaptures else {
            return stopGathering()
        }
        let begun = DispatchTime.now()
        let isBusy = lastCommit.map { begun < $0 + Self.commitDelay } ?? false && begun < start + Self.limit
        if isBusy, begun < start + Self.timeout { return executor.call(.place, at: begun + Self.planDelay) }
        if !isBusy { buffer.freeKept() }
        do {
            try engine.placeStagedCaptures(atMost: isBusy ? Self.smallPortion : Self.portion)
        } catch {
            note(error)
            return stopGathering()
        }
        let now = DispatchTime.now()
        let took = Double(now.uptimeNanoseconds - begun.uptimeNanoseconds)
        executor.call(.place, at: now + .nanoseconds(isBusy ? Int(took * (Self.share - 1)) : 0))
    }

    private func stopGathering() {
        gatheringSince = nil
        advance()
    }

    /// Routes all staged captures. Those that cannot be routed now wait for the next attempt.
    private func place() {
        do {
            try engine?.placeStagedCaptures()
        } catch {
            note(error)
        }
    }

    /// Stores captures, then sends the requests that may be sent.
    func commitCaptures() {
        commitBuffer()
        advance()
    }

    /// Stores captures.
    private func commitBuffer() {
        switch buffer.callForFreeing() {
        case .later: break
        // Freed while this thread waits for the disk, so that the memory is available for the next captures.
        case .soon: Self.aside { [buffer, host] in buffer.freeKept(host.giveWay) }
        case .now: buffer.freeKept(host.giveWay)
        }
        var taken = buffer.take()
        commit(&taken)
        buffer.keep(&taken)
    }

    /// Stores new captures, behind those that wait for the file.
    private func commit(_ captured: inout [CaptureBuffer.Entry]) {
        receipts.add(heldIn: &captured)
        guard !isSuspended else { return wait(captured) }
        if !waitingRoom.isEmpty { captured.insert(contentsOf: waitingRoom.leave(), at: 0) }
        store(&captured, captured.indices)
    }

    /// - Returns: The reason that the captures wait for the file; nil if they do not wait.
    @discardableResult
    private func store(_ entries: inout [CaptureBuffer.Entry], _ places: Range<Int>) -> OutboxError? {
        guard let engine, !places.isEmpty else { return nil }
        do {
            try engine.takeIn(places.map { entries[$0].capture })
            for place in places where !entries[place].isForgotten {
                entries[place].receipt.settleDurability(.success(()))
            }
            waitingRoom.isFree()
            lastCommit = .now()
        } catch let error as OutboxError where error.code == .busy {
            wait(Array(entries[places]), for: error)
            return error
        } catch {
            guard places.count == 1 || isOfTheFile(error) else {
                // An invalid or large capture must not prevent the others from being stored.
                for place in places {
                    guard let error = store(&entries, place..<place + 1) else { continue }
                    // Captures keep their order: those after a waiting one wait, too.
                    if place + 1 < places.upperBound { wait(Array(entries[place + 1..<places.upperBound]), for: error) }
                    return error
                }
                return nil
            }
            refuse(Array(entries[places]), error)
        }
        return nil
    }

    /// Keeps captures in memory because another process holds the file. They are stored when it is free.
    private func wait(_ entries: [CaptureBuffer.Entry], for error: OutboxError) {
        let now = host.uptime()
        refuse(waitingRoom.enter(entries, now: now), error)
        if let count = waitingRoom.complaint(now: now) { observer([.storageFailed(.waiting(count, error))]) }
        guard nextTry == nil else { return }
        nextTry = Task { [weak self] in
            guard (try? await Task.sleep(for: .milliseconds(250))) != nil else { return }
            await self?.tryAgain()
        }
    }

    /// Keeps captures in memory while the outbox is closed by ``suspend()``.
    private func wait(_ entries: [CaptureBuffer.Entry]) {
        refuse(waitingRoom.enter(entries, now: host.uptime()), OutboxError.suspended)
    }

    /// Stores pending captures, for a caller whose own operation must come after them.
    ///
    /// - Throws: ``CaptureError`` while another process holds the file.
    func storeCaptures() throws {
        commitCaptures()
        guard waitingRoom.isEmpty else {
            throw CaptureError(storage: OutboxError(.busy, "Another process holds the outbox.", remedy: "Try again."))
        }
    }

    private func tryAgain() {
        nextTry = nil
        commitCaptures()
    }

    private func refuse(_ entries: [CaptureBuffer.Entry], _ error: any Error) {
        guard !entries.isEmpty else { return }
        let refusal = CaptureError(storing: error)
        if refusal.code == .storage { observer([.storageFailed(refusal)]) }
        for entry in entries { entry.receipt.settleDurability(.failure(refusal)) }
    }

    /// Whether an error concerns the file as a whole, so that every capture would fail with it.
    private func isOfTheFile(_ error: any Error) -> Bool {
        guard let error = error as? OutboxError else { return false }
        return switch error.code {
        case .misuse, .full: false
        case .cannotOpen, .readOnly, .busy, .otherVersion, .corrupt, .io: true
        }
    }

    /// Plans and sends until no request may leave now, then sleeps until the time that the engine names.
    private func advance() {
        buffer.freeKept()
        guard let engine, !isSuspended else { return }
        plan(engine) { send($0) }
        tell()
        sleep()
    }

    private func plan(_ engine: Engine, _ send: (Dispatch) -> Void) {
        place()
        do {
            try engine.advance { dispatch in
                log(.trace, "request", [.provider(dispatch.provider), .endpoint(dispatch.endpoint)])
                send(dispatch)
            }
        } catch {
            note(error)
        }
        requestCredentials()
    }

    /// Starts an exchange. If its end starts another one, both run in the same task.
    private func send(_ dispatch: Dispatch) {
        exchangeCount += 1
        let number = exchangeCount
        // The transport starts on this thread: it only issues the request and waits, which needs no other thread.
        exchanges[number] = Task(executorPreference: executor) { [transport] in
            var next: Dispatch? = dispatch
            while let dispatch = next {
                let outcome = await transport.send(dispatch.request, timeout: dispatch.timeout)
                next = await self.finish(dispatch, outcome, number)
            }
        }
    }

    /// Handles an outcome and plans. Returns the first request that must leave; it continues under the same number.
    private func finish(_ dispatch: Dispatch, _ outcome: Outcome, _ number: Int) -> Dispatch? {
        // The exchange was abandoned at closing, so its outcome is ignored.
        guard exchanges[number] != nil else { return nil }
        var next: Dispatch?
        defer { if next == nil { exchanges[number] = nil } }
        guard !isSuspended else {
            outcomes.append((dispatch, outcome))
            return nil
        }
        let isYes = outcome.reply?.isSuccess ?? false
        log(
            isYes ? .trace : .info,
            isYes ? "answer" : "request failed",
            [.provider(dispatch.provider), .endpoint(dispatch.endpoint), .outcome(outcome)]
        )
        // The settlement and the next plan share one check for commits of other processes.
        engine?.store.look {
            guard let engine else { return }
            do {
                try engine.finish(dispatch, outcome)
            } catch {
                note(error)
            }
            plan(engine) { dispatch in
                if next == nil { next = dispatch } else { send(dispatch) }
            }
        }
        tell()
        sleep()
        if isReconfiguring { answerIfQuiet() }
        return next
    }

    private func sleep() {
        guard let engine else { return }
        try? engine.store.maintenance.checkpointIfLong()
        if !engine.isBusy { try? engine.store.settlement.applyNoted() }
        let next = engine.nextAdvance
        answerIfIdle()
        guard next != wakeUpAt || wakeUp == nil else { return }
        wakeUp?.cancel()
        wakeUpAt = next
        wakeUp = next.map { next in
            let pause = max(.milliseconds(1), host.realTime(next - engine.now))
            return Task { [weak self] in
                guard (try? await Task.sleep(for: pause)) != nil else { return }
                await self?.wakeNow()
            }
        }
    }

    private func wakeNow() {
        wakeUpAt = nil
        wakeUp = nil
        advance()
    }

    /// While another process delivers, this one checks more often for its progress and its lease.
    private var housekeepingPause: Duration {
        engine?.delivers ?? true || refusal != nil ? .seconds(10) : .seconds(1)
    }

    private func performMaintenance() {
        guard let engine, !isSuspended else { return }
        // First, because on a full disk the checkpoint is the one step that may free space.
        try? engine.store.maintenance.checkpoint()
        do {
            let wasElsewhere = !engine.delivers
            let isHere = try takeOver(engine)
            if wasElsewhere == isHere { log(.info, isHere ? "delivers now" : "another process delivers now", []) }
            if wasElsewhere || !isHere { try reportOutcomesOfOtherProcesses() }
            if isHere {
                try engine.pollForeignCommits()
                advance()
            }
            try engine.store.maintenance.sweep()
        } catch {
            note(error)
        }
    }

    /// Keeps or takes the right to deliver. Returns false also if the switch that must come first is refused.
    private func takeOver(_ engine: Engine) throws -> Bool {
        do {
            let isHere = try engine.renewLease()
            refusal = nil
            return isHere
        } catch let error as SwitchRefusal {
            note(error)
            return false
        }
    }

    /// Reports the outcomes of another process, after all events of this one.
    ///
    /// The history that it reads also contains this process's outcomes; those are not reported twice.
    func reportOutcomesOfOtherProcesses() throws {
        guard let engine else { return }
        tell()
        while case let events = try engine.outcomesOfOtherProcesses(), !events.isEmpty { observerOfOthers(events) }
    }

    private func tell() {
        let events = engine?.takeEvents() ?? []
        if !events.isEmpty { observer(events) }
    }

    /// Reports an error. A switch that stays refused is reported once.
    private func note(_ error: any Error) {
        guard let refused = error as? SwitchRefusal else {
            return observer([.storageFailed(CaptureError(storage: error))])
        }
        guard refused != refusal else { return }
        refusal = refused
        observer([.switchRefused(refused)])
    }

    /// Whether no request is in flight and none may be sent now.
    private var isIdle: Bool {
        guard let engine, !isSuspended else { return true }
        guard credentials?.isWaiting != true else { return false }
        return !engine.isBusy && engine.nextAdvance.map { $0 > engine.now } ?? true
    }

    // MARK: Another configuration

    /// Continues with another engine over the same outbox when the requests in flight have their verdicts.
    ///
    /// Captures are accepted meanwhile and take part in the switch.
    ///
    /// - Parameters:
    ///   - source: The source of credentials; nil keeps the present source and its answers.
    ///   - makeNext: Makes the other engine.
    /// - Throws: The error of `makeNext` or of the other engine's start. The present engine then continues.
    func reconfigure(
        _ source: CredentialSource?,
        _ makeNext: @Sendable (OutboxStore, CredentialCache) throws -> Engine
    ) async throws {
        while isReconfiguring { try await Task.sleep(for: .milliseconds(20)) }
        guard let old = engine else { throw CaptureError.closed }
        guard !isSuspended else { throw CaptureError(storage: OutboxError.suspended) }
        isReconfiguring = true
        old.isQuiet = true
        defer {
            isReconfiguring = false
            old.isQuiet = false
            advance()
        }
        commitCaptures()
        if old.isBusy {
            try await quietWaiters.value(for: true) {
                Task { await self.answerIfQuiet() }
                return nil
            }
        }
        guard engine === old else { throw CaptureError.closed }
        guard !isSuspended else { throw CaptureError(storage: OutboxError.suspended) }
        let cache = source.map(makeCache) ?? credentials ?? makeCache(self.source)
        let next = try makeNext(old.store, cache)
        tell()
        try old.handOver(to: next)
        (engine, refusal) = (next, nil)
        guard let source else { return }
        cancelCredentialRequests()
        (self.source, credentials) = (source, cache)
    }

    // MARK: Credentials

    private func makeCache(_ source: CredentialSource) -> CredentialCache {
        switch source.answering {
        case .immediately(let ask): CredentialCache(.immediate(ask))
        case .asynchronously: CredentialCache(.asynchronous)
        }
    }

    /// Requests the credentials that the last plan lacked.
    private func requestCredentials() {
        guard case .asynchronously(let ask) = source.answering else { return }
        for request in credentials?.takeRequests() ?? [] { requestCredential(request, ask) }
    }

    /// Requests a credential from the app, and repeats the request until the app answers without an error.
    private func requestCredential(
        _ request: CredentialRequest,
        _ source: @escaping @Sendable (CredentialRequest) async throws -> Secret?
    ) {
        credentialRequestCount += 1
        let (number, place) = (credentialRequestCount, request.withoutCredential)
        credentialRequests[place]?.task.cancel()
        let task = Task { [weak self] in
            var pause = Duration.seconds(5)
            while !Task.isCancelled {
                do {
                    let credential = try await source(request)
                    return await self?.receive(.success(credential), for: request, number) ?? ()
                } catch {
                    await self?.receive(.failure(error), for: request, number)
                }
                guard (try? await Task.sleep(for: pause)) != nil else { return }
                pause = min(pause * 2, .seconds(300))
            }
        }
        credentialRequests[place] = (number, task)
    }

    /// Handles the app's answer and sends the operations that waited for it.
    private func receive(_ answer: Result<Secret?, any Error>, for request: CredentialRequest, _ number: Int) {
        let place = request.withoutCredential
        guard let engine, credentialRequests[place]?.number == number else { return }
        if case .success = answer { credentialRequests[place] = nil }
        engine.receive(answer, for: request)
        advance()
    }

    private func cancelCredentialRequests() {
        for request in credentialRequests.values { request.task.cancel() }
        credentialRequests = [:]
    }

    private func answerIfQuiet() {
        if engine?.isBusy != true { quietWaiters.resume(true, with: .success(())) }
    }

    // MARK: Requests of the client

    /// Calls a closure with the engine.
    func withEngine<Value: Sendable>(_ body: @Sendable (Engine) throws -> Value) throws -> Value {
        guard let engine else { throw CaptureError.closed }
        guard !isSuspended else { throw CaptureError(storage: OutboxError.suspended) }
        commitBuffer()
        place()
        defer { advance() }
        return try body(engine)
    }

    /// Returns when no request is in flight and none may be sent now.
    func idle() async {
        commitCaptures()
        try? await idleWaiters.value(for: true) {
            // Requested while the list is locked, so that the answer cannot come before the caller waits.
            Task { await self.answerIfIdle() }
            return nil
        }
    }

    private func answerIfIdle() {
        if isIdle { idleWaiters.resume(true, with: .success(())) }
    }

    /// Stores captures, and releases the outbox file and the right to deliver.
    func suspend() {
        guard let engine, !isSuspended else { return }
        commitBuffer()
        tell()
        do {
            try engine.suspend()
        } catch {
            return note(error)
        }
        isSuspended = true
        // Callers that wait to change the configuration fail now and can try again after waking, because the suspension may
        // be long.
        quietWaiters.resume(true, with: .success(()))
        wakeUp?.cancel()
        nextTry?.cancel()
        (wakeUp, wakeUpAt, nextTry) = (nil, nil, nil)
        answerIfIdle()
    }

    /// Opens the outbox again, stores the captures that waited, and resumes delivery.
    func endSuspension() throws {
        guard let engine, isSuspended else { return }
        do {
            try engine.wakeUp()
        } catch let error as SwitchRefusal {
            // The loop is awake and captures, but another process has delivered with another configuration.
            note(error)
        }
        try reportOutcomesOfOtherProcesses()
        isSuspended = false
        let ended = outcomes
        outcomes = []
        for (dispatch, outcome) in ended {
            do {
                try engine.finish(dispatch, outcome)
            } catch {
                note(error)
            }
        }
        commitCaptures()
        answerIfQuiet()
    }

    /// Stores captures, stops sending, and releases the right to deliver.
    ///
    /// Requests in flight are not awaited: their operations stay pending, and the next process queries or resends them.
    func close() {
        // Captures that waited for the outbox are stored even now, if it can be opened.
        if isSuspended, (try? engine?.store.wakeUp()) != nil { isSuspended = false }
        var last = buffer.close()
        commit(&last)
        refuse(
            waitingRoom.leave(),
            OutboxError(.busy, "The client was closed while the outbox could not be had.")
        )
        wakeUp?.cancel()
        housekeeping?.cancel()
        nextTry?.cancel()
        for exchange in exchanges.values { exchange.cancel() }
        exchanges = [:]
        cancelCredentialRequests()
        place()
        try? engine?.stop()
        try? engine?.store.maintenance.checkpoint()
        _ = try? engine?.store.maintenance.sweep()
        tell()
        engine = nil
        idleWaiters.resume(true, with: .success(()))
        quietWaiters.resume(true, with: .success(()))
    }
}

extension CaptureError {
    /// Creates an error for a capture that could not be stored.
    init(storing error: any Error) {
        guard let known = error as? OutboxError, known.code == .misuse else {
            self.init(storage: error)
            return
        }
        self.init(
            code: .duplicate,
            reason: "An operation of the same id is pending.",
            remedy: "Give each operation a new id."
        )
    }

    /// Creates an error for a failure of the outbox.
    init(storage error: any Error) {
        let known = error as? OutboxError
        self.init(
            code: .storage,
            reason: known?.detail ?? "The outbox failed: \(type(of: error)).",
            remedy: known?.remedy ?? "Check the outbox's file."
        )
    }
}

extension OutboxError {
    /// The outbox is closed because the client is suspended.
    fileprivate static let suspended = OutboxError(
        .io,
        "The client is suspended: its outbox is closed.",
        remedy: "Call wakeUp() first. Until then, at most ten thousand captures are kept in memory."
    )
}

extension CaptureError {
    /// Captures have waited for the file for longer than ``WaitingRoom/timeout``.
    fileprivate static func waiting(_ count: Int, _ error: OutboxError) -> CaptureError {
        CaptureError(
            code: .storage,
            reason: "\(count) captures wait in memory: another process holds the outbox. \(error.detail)",
            remedy:
                "Look for a process that hangs. The captures are stored when the file is free, and lost if this "
                + "process ends before that."
        )
    }
}

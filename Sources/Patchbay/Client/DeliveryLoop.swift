import Dispatch
import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Drives the engine with real clocks and sockets, on one thread of its own: the disk never blocks the app's threads.
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
    /// Where credentials come from; it outlives the engine when the configuration changes.
    private var source: CredentialSource
    private var credentials: CredentialCache?
    /// Requests for credentials, which run or wait to be repeated.
    private var credentialRequests: [CredentialRequest: (number: Int, task: Task<Void, Never>)] = [:]
    private var credentialRequestCount = 0
    /// Callers that wait until nothing is in flight, so that the configuration can change.
    private let quietWaiters = WaitingList<Bool, Void>()
    private var isReconfiguring = false
    /// Since when what arrived waits for its places; nil if nothing does.
    private var gatheringSince: DispatchTime?
    /// When captures were stored last.
    private var lastCommit: DispatchTime?
    private var wakeUp: Task<Void, Never>?
    private var wakeUpAt: Instant?
    private var housekeeping: Task<Void, Never>?
    private var exchanges: [Int: Task<Void, Never>] = [:]
    private var exchangeCount = 0
    private let idleWaiters = WaitingList<Bool, Void>()
    private var waitingRoom = WaitingRoom()
    private var nextTry: Task<Void, Never>?
    /// Between ``suspend()`` and ``wakeUp()`` the outbox is closed; what arrives meanwhile waits here.
    private var isSuspended = false
    private var outcomes: [(dispatch: Dispatch, outcome: Outcome)] = []
    /// Why this process does not deliver although it could, as it was told last.
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

    /// Opens the outbox and takes up what is pending.
    func start() throws {
        let credentials = makeCache(source)
        let engine = try makeEngine(credentials)
        (self.engine, self.credentials) = (engine, credentials)
        tellOfRecovery(engine.store)
        let delivers = try engine.start()
        log(.info, delivers ? "started" : "started; another process delivers", [])
        engine.store.lengthenLogIfShort(Self.aside)
        if delivers { advance() }
        // From now on nothing is lost by not waiting: captures stay in memory, and verdicts are stored later.
        engine.store.setTimeout(1_000)
        housekeeping = Task { [weak self] in
            while let pause = await self?.housekeepingPause, (try? await Task.sleep(for: pause)) != nil {
                await self?.keepHouse()
            }
        }
    }

    /// Tells that the file was found damaged, and what of it could be saved.
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

    /// What an app says in one breath is stored together, so long after the first capture, unless somebody waits for it.
    private static let halfBreath = DispatchTimeInterval.milliseconds(2)
    /// And it is planned together, so long after it was stored.
    private static let breath = DispatchTimeInterval.milliseconds(5)

    /// Has something done by a thread for which nobody waits.
    private static func aside(_ work: @escaping @Sendable () -> Void) {
        DispatchQueue.global(qos: .utility).async(execute: work)
    }

    /// Tells the loop that captures wait. Called from any thread; returns at once.
    nonisolated func noteCaptures(_ errand: CaptureBuffer.Errand) {
        switch errand {
        case .none: return
        case .fetch: executor.call(.store, at: .now() + Self.halfBreath)
        case .fetchNow: hurry()
        }
    }

    /// A heap of captures waits. Called from any thread; returns at once.
    nonisolated private func hurry() { executor.call(.store, at: .now()) }

    /// Somebody waits for a capture to be on the disk: who has nothing else to do brings it there, if the loop rests.
    nonisolated func store() {
        if !executor.doNow(.store) { hurry() }
    }

    private func run(_ errand: LoopExecutor.Errand) {
        switch errand {
        case .store: commitAndGather()
        case .place: placeAndAdvance()
        }
    }

    /// Stores what was captured, and plans a moment later.
    private func commitAndGather() {
        commitBuffer()
        engine?.store.lengthenLogIfShort(Self.aside)
        guard gatheringSince == nil else { return }
        let now = DispatchTime.now()
        gatheringSince = now
        executor.call(.place, at: now + Self.breath)
    }

    /// So long what arrived waits for its places at most, while more comes in: somebody may wait for each capture, and nobody
    /// for a place.
    private static let timeout = DispatchTimeInterval.milliseconds(500)
    /// From then on places have this part of the time, and all of it when so long has passed: nothing is sent before.
    private static let share = 8.0
    private static let limit = DispatchTimeInterval.seconds(5)
    /// So many get their places in one go, and so many while captures come in.
    private static let (portion, smallPortion) = (256, 64)

    /// Gives what arrived its places, a part at a time: what is captured meanwhile is stored in between. Then plans.
    ///
    /// One call leads to the next until nothing waits; ``gatheringSince`` says that one is to come.
    private func placeAndAdvance() {
        guard let engine, let start = gatheringSince, !isSuspended, engine.hasStagedCaptures else {
            return stopGathering()
        }
        let begun = DispatchTime.now()
        let isBusy = lastCommit.map { begun < $0 + Self.halfBreath } ?? false && begun < start + Self.limit
        if isBusy, begun < start + Self.timeout { return executor.call(.place, at: begun + Self.breath) }
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

    /// Gives what arrived its places; what can't have one now waits for the next time.
    private func place() {
        do {
            try engine?.placeStagedCaptures()
        } catch {
            note(error)
        }
    }

    /// Commits what was captured, then sends what may be sent.
    func commitCaptures() {
        commitBuffer()
        advance()
    }

    /// Stores what was captured.
    private func commitBuffer() {
        switch buffer.callForFreeing() {
        case .later: break
        // While this thread waits for the disk: its room is there again for what comes next.
        case .soon: Self.aside { [buffer, host] in buffer.freeKept(host.giveWay) }
        case .now: buffer.freeKept(host.giveWay)
        }
        var taken = buffer.take()
        commit(&taken)
        buffer.keep(&taken)
    }

    /// Stores what was captured just now, behind what waits for the file.
    private func commit(_ captured: inout [CaptureBuffer.Entry]) {
        receipts.add(heldIn: &captured)
        guard !isSuspended else { return wait(captured) }
        if !waitingRoom.isEmpty { captured.insert(contentsOf: waitingRoom.leave(), at: 0) }
        store(&captured, captured.indices)
    }

    /// - Returns: why they wait for the file, if they do.
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
                // One bad or large capture must not take the others with it.
                for place in places {
                    guard let error = store(&entries, place..<place + 1) else { continue }
                    // Nothing overtakes what has to wait.
                    if place + 1 < places.upperBound { wait(Array(entries[place + 1..<places.upperBound]), for: error) }
                    return error
                }
                return nil
            }
            refuse(Array(entries[places]), error)
        }
        return nil
    }

    /// Another process holds the file: captures wait in memory, and are stored when it is free.
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

    /// The outbox is closed for a while: captures wait in memory until it is open again.
    private func wait(_ entries: [CaptureBuffer.Entry]) {
        refuse(waitingRoom.enter(entries, now: host.uptime()), OutboxError.suspended)
    }

    /// Stores what was captured before something that must not overtake it.
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

    /// Whether an error would meet every capture alike.
    private func isOfTheFile(_ error: any Error) -> Bool {
        guard let error = error as? OutboxError else { return false }
        return switch error.code {
        case .misuse, .full: false
        case .cannotOpen, .readOnly, .busy, .otherVersion, .corrupt, .io: true
        }
    }

    /// Plans and sends until there is nothing to do now, then sleeps until the engine says.
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
    }

    /// Begins an exchange. Mostly its end is where the next begins: both go on in one task.
    private func send(_ dispatch: Dispatch) {
        exchangeCount += 1
        let number = exchangeCount
        // The transport begins on this thread: it only asks and waits, and no other thread has to wake for that.
        exchanges[number] = Task(executorPreference: executor) { [transport] in
            var next: Dispatch? = dispatch
            while let dispatch = next {
                let outcome = await transport.send(dispatch.request, timeout: dispatch.timeout)
                next = await self.finish(dispatch, outcome, number)
            }
        }
    }

    /// Takes an outcome and plans; the first of what must leave then is the exchange that goes on under the same number.
    private func finish(_ dispatch: Dispatch, _ outcome: Outcome, _ number: Int) -> Dispatch? {
        // What was given up at the closing is over: nothing came of it that is worth a word.
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
        // What the settle saw of other processes is what the next plan rests on: one look for both.
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
        try? engine.store.checkpointIfLong()
        if !engine.isBusy { try? engine.store.carryOutEndingsNow() }
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

    /// While another process delivers, this one asks more often how it goes, and whether it still lives.
    private var housekeepingPause: Duration {
        engine?.delivers ?? true || refusal != nil ? .seconds(10) : .seconds(1)
    }

    private func keepHouse() {
        guard let engine, !isSuspended else { return }
        // First of all: on a full disk it is the one step that may make room.
        try? engine.store.checkpoint()
        do {
            let wasElsewhere = !engine.delivers
            let isHere = try takeOver(engine)
            if wasElsewhere == isHere { log(.info, isHere ? "delivers now" : "another process delivers now", []) }
            if wasElsewhere || !isHere { try hearOthers() }
            if isHere {
                try engine.lookAround()
                advance()
            }
            try engine.store.sweep()
        } catch {
            note(error)
        }
    }

    /// Keeps the right to deliver, or takes it; false also where the switch is refused that would come first.
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

    /// Tells what ended in another process, behind everything that this one has to tell: what ended here stands in the same
    /// history, and is not told twice.
    func hearOthers() throws {
        guard let engine else { return }
        tell()
        while case let events = try engine.endingsElsewhere(), !events.isEmpty { observerOfOthers(events) }
    }

    private func tell() {
        let events = engine?.takeEvents() ?? []
        if !events.isEmpty { observer(events) }
    }

    /// Tells what went wrong; a switch that stays refused is told once.
    private func note(_ error: any Error) {
        guard let refused = error as? SwitchRefusal else {
            return observer([.storageFailed(CaptureError(storage: error))])
        }
        guard refused != refusal else { return }
        refusal = refused
        observer([.switchRefused(refused)])
    }

    /// Whether nothing is in flight and nothing may be sent now.
    private var isIdle: Bool {
        guard let engine, !isSuspended else { return true }
        guard credentials?.isWaiting != true else { return false }
        return !engine.isBusy && engine.nextAdvance.map { $0 > engine.now } ?? true
    }

    // MARK: Another configuration

    /// Goes on with another engine over the same outbox, once what is in flight has its verdict.
    ///
    /// Captures go on meanwhile, and are switched with the rest. If the new engine refuses, the old one goes on.
    ///
    /// - Parameters:
    ///   - source: Where credentials come from; nil keeps the present source and what it has answered.
    ///   - makeNext: Makes the other engine.
    /// - Throws: What `makeNext` and the other engine's start throw; then the present engine goes on.
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
        case .asynchronously(let ask):
            CredentialCache(
                .asynchronous { [weak self] request in self?.assumeIsolated { $0.ask(request, ask) } }
            )
        }
    }

    /// Asks the app for a credential, again and again until it answers without an error.
    private func ask(
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

    /// Takes the app's answer, and sends what waited for it.
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

    // MARK: What the client asks

    /// Runs something on the engine.
    func withEngine<Value: Sendable>(_ body: @Sendable (Engine) throws -> Value) throws -> Value {
        guard let engine else { throw CaptureError.closed }
        guard !isSuspended else { throw CaptureError(storage: OutboxError.suspended) }
        commitBuffer()
        place()
        defer { advance() }
        return try body(engine)
    }

    /// Returns when nothing is in flight and nothing may be sent now.
    func idle() async {
        commitCaptures()
        try? await idleWaiters.value(for: true) {
            // Asked while the list is locked: the answer does not come before its caller waits.
            Task { await self.answerIfIdle() }
            return nil
        }
    }

    private func answerIfIdle() {
        if isIdle { idleWaiters.resume(true, with: .success(())) }
    }

    /// Stores what was captured, and lets go of the outbox's file and of the right to deliver.
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
        // Whoever waits for another configuration is told, and asks again after waking: that may be long.
        quietWaiters.resume(true, with: .success(()))
        wakeUp?.cancel()
        nextTry?.cancel()
        (wakeUp, wakeUpAt, nextTry) = (nil, nil, nil)
        answerIfIdle()
    }

    /// Opens the outbox again, stores what waited, and goes on.
    func endSuspension() throws {
        guard let engine, isSuspended else { return }
        do {
            try engine.wakeUp()
        } catch let error as SwitchRefusal {
            // It is awake, and captures; whoever delivered meanwhile did so with another configuration.
            note(error)
        }
        try hearOthers()
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

    /// Stores what was captured, stops sending, and gives the right to deliver back.
    ///
    /// What is in flight is not waited for: its operations are pending, and the next process asks or sends again.
    func close() {
        // What waits for the outbox is stored even now, if it can be opened.
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
        try? engine?.store.checkpoint()
        _ = try? engine?.store.sweep()
        tell()
        engine = nil
        idleWaiters.resume(true, with: .success(()))
        quietWaiters.resume(true, with: .success(()))
    }
}

extension CaptureError {
    /// Why a capture could not be stored.
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

    /// What is the matter with the outbox.
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
    /// The client let go of the file.
    fileprivate static let suspended = OutboxError(
        .io,
        "The client is suspended: its outbox is closed.",
        remedy: "Call wakeUp() first. Until then, at most ten thousand captures are kept in memory."
    )
}

extension CaptureError {
    /// Captures have waited long for the file.
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

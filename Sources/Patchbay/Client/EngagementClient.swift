import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox
import Synchronization

/// What an app speaks to: it takes operations at once, keeps them safe, and brings them to every provider that the
/// configuration names.
///
/// ```swift
/// let client = try await EngagementClient(
///     configuration: configuration, subject: installation, transport: HTTPTransport(configuration))
/// let receipt = try client.track("Order Placed", attributes: ["total": 49])
/// try await receipt.durable()
/// ```
public final class EngagementClient: Sendable {
    /// Where operations are kept until they have ended.
    public enum Outbox: Sendable {
        /// In a file, made when missing.
        case file(String)
        /// In memory: gone with the process. For tests.
        case memory
    }

    private let buffer = CaptureBuffer()
    let loop: DeliveryLoop
    let host: any EngineHost
    let audience: Mutex<Audience>
    /// The file of the configuration that is in use; nil if the caller chose another outbox.
    let outboxPath: String?
    let receipts = ReceiptBook()
    private let listeners = Listeners<EngineEvent>()
    private let outcomeListeners = Listeners<EndedOperation>()
    let log: Log
    private let reads = WaitingList<OperationID, OperationOutcome>()
    let current: Mutex<Current>
    private let relay: EventRelay
    /// One for all receipts: somebody waits for the disk.
    private let store: @Sendable () -> Void

    /// Who and where the operations are about, unless an operation says otherwise.
    struct Current {
        var subject: Subject
        var contact: String?
        var appState: AppState?
    }

    /// Opens the outbox and starts to deliver what is pending. The contact who was logged in still is.
    ///
    /// - Parameters:
    ///   - configuration: Providers, routes, attribute types and owners, required consent, and the outbox with its limits.
    ///   - subject: The installation, the same at every start.
    ///   - transport: Sends requests.
    ///   - credentials: Provides the contacts' credentials; nil for those in the configuration.
    ///   - outbox: Where operations are kept; nil for the file that the configuration names.
    ///   - host: Clocks, ids and random numbers.
    ///   - log: Receives records of what happens, without personal values or secrets; nil for none.
    /// - Throws: ``ConfigurationError`` with everything that is wrong with the configuration, as `patchbay check` reports it;
    ///   ``SwitchRefusal`` if the configuration has changed and the change would lose pending work; ``CaptureError`` of code
    ///   `storage` if the outbox cannot be opened.
    public convenience init(
        configuration: Configuration,
        subject: Subject,
        transport: any Transport,
        credentials: CredentialSource? = nil,
        outbox: Outbox? = nil,
        host: any EngineHost = SystemHost(),
        log: (any LogHandler)? = nil
    ) async throws {
        try configuration.requireSound()
        try await self.init(
            outbox: outbox ?? .file(configuration.outbox.path),
            subject: subject,
            plan: configuration.plan,
            transport: transport,
            historyLimit: configuration.outbox.history,
            limits: configuration.outbox.limits,
            audience: Audience(configuration, hasCredentialSource: credentials != nil),
            outboxPath: outbox == nil ? configuration.outbox.path : nil,
            credentials: credentials ?? .configured(in: configuration),
            host: host,
            log: log
        )
    }

    /// Opens an outbox with a routing plan, without a configuration.
    package init(
        outbox: Outbox,
        subject: Subject,
        plan: RoutingPlan,
        transport: any Transport,
        historyLimit: Int = 100_000,
        limits: OutboxLimits = OutboxLimits(),
        audience: Audience? = nil,
        outboxPath: String? = nil,
        credentials: CredentialSource = .constant(nil),
        host: any EngineHost = SystemHost(),
        log: (any LogHandler)? = nil
    ) async throws {
        let log = Log(handler: log)
        (self.host, self.log, self.outboxPath) = (host, log, outboxPath)
        self.audience = Mutex(audience ?? Audience(plan, limits: limits, history: historyLimit))
        current = Mutex(Current(subject: subject))
        let relay = EventRelay()
        self.relay = relay
        loop = DeliveryLoop(
            buffer: buffer,
            receipts: receipts,
            transport: transport,
            host: host,
            log: log,
            observer: { relay.hand(over: $0) },
            observerOfOthers: { relay.hand(over: $0, areElsewhere: true) },
            credentials: credentials,
            makeEngine: { credentials in
                let location: OutboxLocation =
                    switch outbox {
                    case .file(let path): .file(path)
                    case .memory: .memory
                    }
                let store = try OutboxStore.open(location)
                store.historyLimit = historyLimit
                return try Engine(store: store, plan: plan, host: host, limits: limits, credentials: credentials)
            }
        )
        store = { [weak loop] in loop?.store() }
        relay.connect { [weak self] events, areElsewhere in
            if areElsewhere { self?.receiveFromOthers(events) } else { self?.receive(events) }
        }
        log.providers(of: plan)
        do {
            try await loop.start()
            // Whoever was logged in when the app ended is so still.
            let contact = try await loop.withEngine { try $0.snapshot(of: subject).contact }
            current.withLock { $0.contact = contact }
        } catch let refusal as SwitchRefusal {
            throw refusal
        } catch {
            let error = CaptureError(storing: error)
            log(.critical, "the outbox can't be opened", [.storage(error.code)])
            throw error
        }
    }

    // MARK: Capture

    /// Takes an operation. It returns at once; the operation is on the disk a few milliseconds later.
    ///
    /// - Parameter operation: the operation, complete.
    /// - Returns: its receipt.
    /// - Throws: ``CaptureError`` if the client is closed, or the attribute catalogue does not allow the operation.
    @discardableResult
    public func capture(_ operation: EngagementOperation) throws(CaptureError) -> Receipt {
        try capture(operation, hasNewID: false)
    }

    /// Takes many operations in one step: nothing comes between them, and none is sent before all can be.
    ///
    /// - Parameter operations: the operations, complete, in order.
    /// - Returns: their receipts, in the same order.
    /// - Throws: ``CaptureError`` if the client is closed, or the attribute catalogue does not allow one of them: then none is
    ///   captured.
    @discardableResult
    public func capture(_ operations: [EngagementOperation]) throws(CaptureError) -> [Receipt] {
        var entries: [CaptureBuffer.Entry] = []
        for operation in operations { entries.append(try entry(operation, hasNewID: false)) }
        loop.noteCaptures(try buffer.append(contentsOf: entries))
        return entries.map(\.receipt)
    }

    private func capture(_ operation: consuming EngagementOperation, hasNewID: Bool) throws(CaptureError) -> Receipt {
        let entry = try entry(operation, hasNewID: hasNewID)
        let receipt = entry.receipt
        loop.noteCaptures(try buffer.append(entry))
        return receipt
    }

    private func entry(_ given: consuming EngagementOperation, hasNewID: Bool) throws(CaptureError)
        -> CaptureBuffer.Entry
    {
        var operation = given
        let isPush = operation.action.isPush
        let (providers, rules) = audience.withLock { ($0.providers(isPush: isPush), $0.catalogued) }
        if let rules, case .changeAttributes = operation.action {
            let (admitted, findings) = rules.admit(operation)
            guard findings.isEmpty else { throw CaptureError(findings) }
            operation = admitted
        }
        let receipt = Receipt(id: operation.id, providers: providers, store: store)
        let capture = Engine.Capture(operation, uptime: host.uptime(), hasNewID: hasNewID)
        guard capture.isWithinLimits else { throw CaptureError.tooLarge }
        return CaptureBuffer.Entry(capture: capture, receipt: receipt)
    }

    /// Takes an action of the current person, now.
    ///
    /// - Parameters:
    ///   - action: what is said.
    ///   - group: operations of one group are never cut apart.
    ///   - options: words for one adapter alone.
    /// - Returns: the receipt.
    /// - Throws: ``CaptureError`` if the client is closed.
    @discardableResult
    public func capture(
        _ action: Action,
        group: String? = nil,
        options: [AdapterID: JSONObject] = [:]
    ) throws(CaptureError) -> Receipt {
        let now = current.withLock { current in
            if case .switchContact(let change) = action { current.contact = change.identifiers.first?.value }
            return current
        }
        return try capture(
            EngagementOperation(
                id: host.makeID(),
                subject: now.subject,
                contact: now.contact,
                group: group,
                capturedAt: host.date(),
                appState: now.appState,
                options: options,
                action: action
            ),
            hasNewID: true
        )
    }

    /// Something happened.
    @discardableResult
    public func track(
        _ name: String,
        attributes: [AttributeName: AttributeValue] = [:]
    ) throws(CaptureError) -> Receipt {
        try capture(.track(.custom(name: name, attributes: attributes)))
    }

    /// These identifiers belong to the person who is there.
    @discardableResult
    public func identify(_ identifiers: Identifier...) throws(CaptureError) -> Receipt {
        try capture(.identify(identifiers))
    }

    /// Attributes have these values from now on.
    @discardableResult
    public func set(_ attributes: [AttributeName: AttributeValue]) throws(CaptureError) -> Receipt {
        try capture(.changeAttributes(attributes.mapValues(AttributeChange.set)))
    }

    /// Attributes have no value from now on.
    @discardableResult
    public func unset(_ names: AttributeName...) throws(CaptureError) -> Receipt {
        try capture(.changeAttributes(Dictionary(names.map { ($0, .unset) }) { first, _ in first }))
    }

    /// These tags are there from now on.
    @discardableResult
    public func add(_ tags: Tag...) throws(CaptureError) -> Receipt { try capture(.changeTags(TagChange(add: tags))) }

    /// These tags are gone from now on.
    @discardableResult
    public func remove(_ tags: Tag...) throws(CaptureError) -> Receipt {
        try capture(.changeTags(TagChange(remove: tags)))
    }

    /// The person wants to hear, or not.
    @discardableResult
    public func subscribe(_ subscription: Subscription) throws(CaptureError) -> Receipt {
        try capture(.changeSubscription(subscription))
    }

    /// What the app is doing; it goes with every operation captured from now on.
    public func appState(_ state: AppState) async throws {
        current.withLock { $0.appState = state }
        if state == .active { try await loop.withEngine { try $0.wake() } }
    }

    // MARK: Delivery

    /// Sends now what may be sent: courtesy delays are skipped, the vendors' pacing is not.
    public func flush() async throws { try await loop.withEngine { try $0.flush() } }

    /// The network came back.
    public func networkIsBack() async throws { try await loop.withEngine { try $0.wake() } }

    /// Lets a provider go on that had stopped for a person to act.
    ///
    /// - Throws: ``CaptureError`` if the configuration names no such provider, or the outbox can't be used.
    public func resume(_ provider: String) async throws { try await loop.withEngine { try $0.resume(provider) } }

    /// Returns when nothing is in flight and nothing may be sent now.
    public func idle() async { await loop.idle() }

    /// Asks a vendor at once; the question is not stored.
    ///
    /// - Parameters:
    ///   - request: the question, in the adapter's words.
    ///   - provider: whom to ask.
    ///   - contact: about whom, where a back end asks for one of many; nil is the current subject and contact.
    ///   - timeout: how long the caller is ready to wait.
    /// - Returns: the outcome, with the vendor's typed answer.
    /// - Throws: ``CaptureError`` if the provider is unknown, the client is closed, or the outbox can't tell what the person
    ///   allows: then the vendor is not asked.
    public func read(
        _ request: ReadRequest,
        from provider: String,
        about contact: String? = nil,
        timeout: Duration = .seconds(30)
    ) async throws -> OperationOutcome {
        let now = current.withLock { $0 }
        let operation = EngagementOperation(
            id: host.makeID(),
            subject: contact.map(Subject.init(rawValue:)) ?? now.subject,
            contact: contact ?? now.contact,
            capturedAt: host.date(),
            appState: now.appState,
            action: .readBack(request)
        )
        return try await reads.value(for: operation.id) {
            // Asked while the list is locked: no answer comes before its caller waits.
            Task { await ask(operation, provider, timeout) }
            return nil
        }
    }

    private func ask(_ operation: EngagementOperation, _ provider: String, _ timeout: Duration) async {
        do {
            let isKnown = try await loop.withEngine { try $0.read(operation, provider: provider, timeout: timeout) }
            if !isKnown { reads.resume(operation.id, with: .failure(CaptureError.unknownProvider)) }
        } catch {
            reads.resume(operation.id, with: .failure(error as? CaptureError ?? CaptureError(storage: error)))
        }
    }

    /// The last neutral state of the current subject, from this device alone: no vendor is asked.
    public func snapshot() async throws -> SubjectSnapshot {
        let subject = current.withLock { $0.subject }
        return try await loop.withEngine { try $0.snapshot(of: subject) }
    }

    /// Returns the accounts of every provider: what was captured, what became of it, and what waits for which reason.
    ///
    /// Reads every pending operation once.
    public func accounts() async throws -> [ProviderAccounts] { try await accounts(explainingWaits: true) }

    /// Returns the accounts of every provider, with or without the reasons to wait.
    package func accounts(explainingWaits: Bool) async throws -> [ProviderAccounts] {
        try await loop.withEngine { try ProviderAccounts.read($0, explainsWaits: explainingWaits) }
    }

    /// Forgets the credentials of a contact, asks the credential source again, and wakes operations that wait for one.
    ///
    /// Call it after a log-in, or when the back end has issued a new token. A credential that was refused may be used again.
    ///
    /// - Parameter contact: The contact; nil for the anonymous person.
    /// - Throws: ``CaptureError`` if the client is closed or suspended, or an error of the outbox.
    public func credentialDidChange(for contact: String?) async throws {
        try await loop.withEngine { try $0.credentialDidChange(for: contact) }
    }

    /// Those among operations that the outbox knows: pending, or ended as far back as it remembers.
    public func known(among operations: [OperationID]) async throws -> Set<OperationID> {
        try await loop.withEngine { engine in
            Set(try operations.filter { try engine.store.knows($0.rawValue) })
        }
    }

    /// What happens, told after it is stored; one stream per listener, from now on. The first also hears what a person should
    /// know of the start: that the outbox was damaged and recovered, or that operations wait for nobody.
    public func events() -> AsyncStream<EngineEvent> { listeners.listen() }

    /// What becomes of operations, told after it is stored; from now on, until the client is closed.
    ///
    /// What another process delivered is told only where somebody waits for it here.
    ///
    /// - Parameter buffer: how many endings wait for a slow reader; past that they are left out and counted.
    /// - Returns: the endings, for this caller alone.
    public func outcomes(buffer: Int = 10_000) -> Outcomes {
        Outcomes(stream: outcomeListeners.listen(.bufferingOldest(max(1, buffer))))
    }

    /// Lets go of the outbox for as long as the system suspends the app: what was captured is stored, the file is closed, no
    /// lock is left on it, and another process (an extension) may deliver.
    ///
    /// A system that suspends an app while it holds a file's lock ends it, so call this when the app goes to the background,
    /// and ``wakeUp()`` when it comes back. Nothing in flight is cancelled: what is answered before the app sleeps is settled
    /// after it wakes, if nobody else delivered meanwhile; otherwise it is theirs, and may be sent twice. Where the system
    /// grants time, wait for ``idle()`` before. What is captured meanwhile waits in memory, ten thousand operations at most,
    /// and its receipt is durable after ``wakeUp()``. Everything else that asks the outbox throws.
    public func suspend() async { await loop.suspend() }

    /// Takes the outbox up again after ``suspend()``: what waited is stored, and delivery goes on if nobody else delivers.
    ///
    /// - Throws: ``CaptureError`` of code `storage` if the file can't be opened. The client stays suspended, and what waits
    ///   stays in memory; call it again.
    public func wakeUp() async throws {
        do {
            try await loop.endSuspension()
        } catch {
            throw CaptureError(storage: error)
        }
    }

    /// Stores everything captured, stops, and lets the next process deliver. What is pending stays pending.
    public func close() async {
        await loop.close()
        for receipt in receipts.all { receipt.close() }
        listeners.finish()
        outcomeListeners.finish()
        reads.resumeAll(with: .failure(CaptureError.closed))
        log(.info, "closed", [])
    }

    /// A client that nobody holds any more closes by itself: what was captured is stored, and stays pending.
    deinit {
        let (loop, receipts, listeners, outcomeListeners) = (loop, receipts, listeners, outcomeListeners)
        Task {
            await loop.close()
            for receipt in receipts.all { receipt.close() }
            listeners.finish()
            outcomeListeners.finish()
        }
    }

    /// What another process delivered concerns this one as far as somebody waits for it here.
    private func receiveFromOthers(_ events: [EngineEvent]) {
        let awaited = events.filter { event in
            guard case .ended(let id, let provider, _) = event else { return false }
            return receipts.receipts(for: id).contains { $0.known(on: provider) == nil }
        }
        if !awaited.isEmpty { receive(awaited) }
    }

    private func receive(_ events: [EngineEvent]) {
        log(events)
        for event in events {
            switch event {
            case .ended(let id, let provider, let outcome):
                for receipt in receipts.receipts(for: id) { receipt.settle(outcome, on: provider) }
                outcomeListeners.tell { EndedOperation(id: id, provider: provider, outcome: outcome, missed: $0) }
            case .answered(let id, _, let outcome): reads.resume(id, with: .success(outcome))
            case .passedOver(let id, let provider, let finding):
                let outcome = OperationOutcome(.dropped, finding: finding)
                for receipt in receipts.receipts(for: id) { receipt.settle(outcome, on: provider) }
            case .incoming, .suspended, .outage, .recovered, .noticed, .setAside, .storageFailed, .switchRefused: break
            }
        }
        for event in events { listeners.tell(keeping: event.isNotice) { _ in event } }
    }
}

/// Carries events from the loop to the client that owns it, without owning the client.
private final class EventRelay: Sendable {
    /// A closure that stands in a generic place by itself is wrapped anew at every access, one layer around the other.
    private struct Receiver {
        var receive: (@Sendable ([EngineEvent], _ areElsewhere: Bool) -> Void)?
    }

    private let receiver = Mutex(Receiver())

    func connect(_ receive: @escaping @Sendable ([EngineEvent], _ areElsewhere: Bool) -> Void) {
        receiver.withLock { $0 = Receiver(receive: receive) }
    }

    func hand(over events: [EngineEvent], areElsewhere: Bool = false) {
        receiver.withLock { $0 }.receive?(events, areElsewhere)
    }
}

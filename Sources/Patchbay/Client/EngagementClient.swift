import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
import PatchbayOutbox
import Synchronization

/// Captures operations and delivers them to every provider of the configuration.
///
/// Capturing returns at once. The client stores operations durably and delivers them in the background.
///
/// ```swift
/// let client = try await EngagementClient(
///     configuration: configuration, subject: installation, transport: HTTPTransport(configuration))
/// let receipt = try client.track("Order Placed", attributes: ["total": 49])
/// try await receipt.durable()
/// ```
public final class EngagementClient: Sendable {
    /// Where operations are stored until they have an outcome.
    public enum Outbox: Sendable {
        /// In a file, which is created if it does not exist.
        case file(String)
        /// In memory, for tests. The operations are lost when the process ends.
        case memory
    }

    private let buffer = CaptureBuffer()
    let loop: DeliveryLoop
    let host: any EngineHost
    let audience: Mutex<Audience>
    /// The outbox file of the current configuration; nil if the caller chose another outbox.
    let outboxPath: String?
    let receipts = ReceiptBook()
    private let listeners = Listeners<EngineEvent>()
    private let outcomeListeners = Listeners<EndedOperation>()
    let log: Log
    private let reads = WaitingList<OperationID, OperationOutcome>()
    let current: Mutex<Current>
    private let relay: EventRelay
    /// Shared by all receipts: stores captures because a caller waits for the disk.
    private let store: @Sendable () -> Void

    /// The subject, contact and app state of new operations, unless an operation has its own.
    struct Current {
        var subject: Subject
        var contact: String?
        var appState: AppState?
    }

    /// Opens the outbox and starts delivering pending operations. A contact who was logged in stays logged in.
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
                store.history.limit = historyLimit
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
            // A contact who was logged in when the app ended stays logged in.
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

    /// Captures an operation. Returns at once; the operation is on the disk a few milliseconds later.
    ///
    /// - Parameter operation: The complete operation.
    /// - Returns: The receipt of the operation.
    /// - Throws: ``CaptureError`` if the client is closed, or if the attribute catalogue does not allow the operation.
    @discardableResult
    public func capture(_ operation: EngagementOperation) throws(CaptureError) -> Receipt {
        try capture(operation, hasNewID: false)
    }

    /// Captures operations together: no other operation comes between them, and none is sent before all can be.
    ///
    /// - Parameter operations: The complete operations, in order.
    /// - Returns: Their receipts, in the same order.
    /// - Throws: ``CaptureError`` if the client is closed, or if the attribute catalogue does not allow one of them. None is
    ///   captured then.
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

    /// Captures an action of the current person, with the current time.
    ///
    /// - Parameters:
    ///   - action: The action.
    ///   - group: A name that operations share if they are never split up.
    ///   - options: Settings for individual adapters.
    /// - Returns: The receipt of the operation.
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

    /// Records a custom event.
    @discardableResult
    public func track(
        _ name: String,
        attributes: [AttributeName: AttributeValue] = [:]
    ) throws(CaptureError) -> Receipt {
        try capture(.track(.custom(name: name, attributes: attributes)))
    }

    /// Adds identifiers to the current person.
    @discardableResult
    public func identify(_ identifiers: Identifier...) throws(CaptureError) -> Receipt {
        try capture(.identify(identifiers))
    }

    /// Sets attributes of the current contact.
    @discardableResult
    public func set(_ attributes: [AttributeName: AttributeValue]) throws(CaptureError) -> Receipt {
        try capture(.changeAttributes(attributes.mapValues(AttributeChange.set)))
    }

    /// Removes the values of attributes of the current contact.
    @discardableResult
    public func unset(_ names: AttributeName...) throws(CaptureError) -> Receipt {
        try capture(.changeAttributes(Dictionary(names.map { ($0, .unset) }) { first, _ in first }))
    }

    /// Adds tags to the current contact.
    @discardableResult
    public func add(_ tags: Tag...) throws(CaptureError) -> Receipt { try capture(.changeTags(TagChange(add: tags))) }

    /// Removes tags from the current contact.
    @discardableResult
    public func remove(_ tags: Tag...) throws(CaptureError) -> Receipt {
        try capture(.changeTags(TagChange(remove: tags)))
    }

    /// Subscribes the current contact, or unsubscribes it.
    @discardableResult
    public func subscribe(_ subscription: Subscription) throws(CaptureError) -> Receipt {
        try capture(.changeSubscription(subscription))
    }

    /// Sets the app's state, which every later operation carries. The active state wakes delivery.
    public func appState(_ state: AppState) async throws {
        current.withLock { $0.appState = state }
        if state == .active { try await loop.withEngine { try $0.wake() } }
    }

    // MARK: Delivery

    /// Sends everything that may be sent now. Skips courtesy delays, but not the vendors' pacing.
    public func flush() async throws { try await loop.withEngine { try $0.flush() } }

    /// Resumes delivery after the network connection returned.
    public func networkIsBack() async throws { try await loop.withEngine { try $0.wake() } }

    /// Resumes a suspended provider.
    ///
    /// - Throws: ``CaptureError`` if the configuration has no such provider, or if the outbox cannot be used.
    public func resume(_ provider: String) async throws { try await loop.withEngine { try $0.resume(provider) } }

    /// Returns when no request is in flight and none may be sent now.
    public func idle() async { await loop.idle() }

    /// Sends a query to a vendor at once, without storing it.
    ///
    /// - Parameters:
    ///   - request: The query, in the adapter's format.
    ///   - provider: The provider to query.
    ///   - contact: The contact that a back end asks about; nil for the current subject and contact.
    ///   - timeout: The maximum time to wait for an answer.
    /// - Returns: The outcome, with the vendor's typed answer.
    /// - Throws: ``CaptureError`` if the provider is unknown, if the client is closed, or if the outbox cannot report the
    ///   person's consents. The vendor is not queried then.
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
            // Requested while the list is locked, so that the answer cannot come before the caller waits.
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

    /// Returns the subject snapshot of the current subject from this device. No vendor is queried.
    public func snapshot() async throws -> SubjectSnapshot {
        let subject = current.withLock { $0.subject }
        return try await loop.withEngine { try $0.snapshot(of: subject) }
    }

    /// Returns the accounts of every provider: captured and completed operations, and the reasons for which others wait.
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

    /// Returns the operations that the outbox knows: pending ones, and completed ones in its history.
    public func known(among operations: [OperationID]) async throws -> Set<OperationID> {
        try await loop.withEngine { engine in
            Set(try operations.filter { try engine.store.deliveryMarks.knows($0.rawValue) })
        }
    }

    /// Returns a stream of engine events, which are reported after they are stored. Each listener has its own stream.
    ///
    /// The first listener also receives notices from the start: the outbox was damaged and recovered, or operations are
    /// pending for a provider that the configuration no longer names.
    public func events() -> AsyncStream<EngineEvent> { listeners.listen() }

    /// Returns a sequence of outcomes, which are reported after they are stored, until the client is closed.
    ///
    /// Outcomes of another process are reported only if a caller awaits them here.
    ///
    /// - Parameter buffer: The maximum number of outcomes that wait for a slow reader. Further outcomes are dropped and
    ///   counted.
    /// - Returns: A sequence for this caller alone.
    public func outcomes(buffer: Int = 10_000) -> Outcomes {
        Outcomes(stream: outcomeListeners.listen(.bufferingOldest(max(1, buffer))))
    }

    /// Stores captures and releases the outbox while the system suspends the app: closes the file, and releases its lock and
    /// the right to deliver, so that another process (such as an extension) can deliver.
    ///
    /// A system terminates an app that holds a file lock while it is suspended. Call this when the app enters the background,
    /// and ``wakeUp()`` when it returns. If the system grants time, wait for ``idle()`` first.
    ///
    /// - Requests in flight are not cancelled. Outcomes that arrive before the app sleeps are settled after it wakes, unless
    ///   another process has delivered meanwhile. That process may send their operations again.
    /// - Captures wait in memory, at most 10,000. Their receipts become durable after ``wakeUp()``.
    /// - All other calls that need the outbox throw.
    public func suspend() async { await loop.suspend() }

    /// Opens the outbox again after ``suspend()``, stores the captures that waited, and resumes delivery unless another
    /// process delivers.
    ///
    /// - Throws: ``CaptureError`` of code `storage` if the file cannot be opened. The client stays suspended, and captures
    ///   stay in memory; call it again.
    public func wakeUp() async throws {
        do {
            try await loop.endSuspension()
        } catch {
            throw CaptureError(storage: error)
        }
    }

    /// Stores all captures, stops delivery, and releases the right to deliver. Pending operations stay pending.
    public func close() async {
        await loop.close()
        for receipt in receipts.all { receipt.close() }
        listeners.finish()
        outcomeListeners.finish()
        reads.resumeAll(with: .failure(CaptureError.closed))
        log(.info, "closed", [])
    }

    /// Closes the client when the last reference to it is released. Captures are stored and stay pending.
    deinit {
        let (loop, receipts, listeners, outcomeListeners) = (loop, receipts, listeners, outcomeListeners)
        Task {
            await loop.close()
            for receipt in receipts.all { receipt.close() }
            listeners.finish()
            outcomeListeners.finish()
        }
    }

    /// Passes on the outcomes of another process that a caller awaits here.
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
    /// A wrapper for the closure: a closure stored directly in a `Mutex` gets one more wrapper at every access.
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

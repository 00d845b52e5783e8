public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device door of Salesforce Marketing Cloud Engagement (MobilePush).
///
/// Everything about an installation is one registration, sent whole: pending operations are folded onto the state that
/// the vendor last took, at most once a minute. Custom events go beside it in a queue of their own.
public struct SalesforceDevice: VendorAdapter {
    public typealias Settings = SalesforceSettings

    /// The requests of this door.
    public enum Endpoint: String, AdapterEndpoint {
        /// The whole registration. Journaled, because the vendor counts how often it comes.
        case registration
        /// Custom events.
        case events

        public var isJournaled: Bool { self == .registration }

        var path: String {
            switch self {
            case .registration: "/device/v1/registration"
            case .events: "/devicestatistics/v1/event"
            }
        }
    }

    private let settings: SalesforceSettings

    /// An adapter for one app.
    ///
    /// - Throws: ``SettingsError`` if attribute names collide or can't be used.
    public init(settings: SalesforceSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let options = SalesforceOptions(operation)
        var findings = judge(operation.action)
        if findings.contains(where: { $0.severity == .foreign }) { return findings }
        findings += options.unknown.map { FindingRow.optionUnknown.at("options.salesforce.\($0)") }
        if case .ignored = options.signedString {
            findings.append(FindingRow.signedStringInvalid.at("options.salesforce.signedString"))
        }
        if operation.appState == .background, operation.action.kind.changesContactData {
            findings.append(FindingRow.capturedInBackground.at("appState"))
        }
        return findings
    }

    private func judge(_ action: Action) -> [Finding] {
        switch action {
        case .identify(let identifiers):
            return ContactKeyRules.judge(identifiers, at: "action.identifiers", settings: settings)
        case .switchContact(let change):
            let key = ContactKeyRules.key(of: change.identifiers, settings: settings)
            if change.direction == .logOut, key == nil { return [FindingRow.contactKeyNotCleared.at("action.switch")] }
            return ContactKeyRules.judge(change.identifiers, at: "action.switch.identifiers", settings: settings)
                + [FindingRow.attributesCarriedOver.at("action.switch")]
        case .registerDevice(let device): return DeviceRules.judge(device)
        case .changeAttributes(let changes):
            if changes.isEmpty { return [FindingRow.attributesEmpty.at("action.changes")] }
            let (kept, findings) = AttributeRules.judge(changes, settings: settings)
            return kept.isEmpty ? findings.map(\.asError) : findings
        case .changeTags(let change):
            let (kept, findings) = TagRules.judge(change)
            guard kept.isEmpty else { return findings }
            return findings.isEmpty ? [FindingRow.tagsEmpty.at("action.tags")] : findings.map(\.asError)
        case .changeSubscription(let subscription): return judge(subscription)
        case .track(let event): return EventRules.judge(event).findings
        case .farewell, .erase: return []
        case .setConsent: return [FindingRow.consentKept.at("action")]
        case .readBack: return [FindingRow.readBackImpossible.at("action")]
        @unknown default: return [FindingRow.actionUnknown.at("action")]
        }
    }

    private func judge(_ subscription: Subscription) -> [Finding] {
        let path = "action.subscription"
        var findings: [Finding] = []
        if subscription.channel != .push { findings.append(FindingRow.subscriptionChannel.at("\(path).channel")) }
        if let topic = subscription.topic, subscription.channel == .push {
            let problem = TagRules.problem(of: topic)?.at("\(path).topic").asError
            findings.append(problem ?? FindingRow.subscriptionTopic.at("\(path).topic"))
        }
        if subscription.state == .suspended { findings.append(FindingRow.subscriptionSuspended.at("\(path).state")) }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil
            || !subscription.fields.isEmpty
        {
            findings.append(FindingRow.subscriptionDetails.at(path))
        }
        return findings
    }

    public func place(_ operation: EngagementOperation) -> Place {
        let endpoint: Endpoint = operation.action.kind == .track ? .events : .registration
        return Place(lane: operation.subject.rawValue, queue: endpoint.rawValue)
    }

    // MARK: Delivery

    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let events = pending.filter { $0.queue == Endpoint.events.rawValue }
        let changes = pending.filter { $0.queue != Endpoint.events.rawValue }
        let plan: Plan<Self>? = .soonest(
            planRegistration(changes, memory: memory, at: moment),
            planEvents(events, memory: memory, at: moment)
        )
        return plan ?? .wait(until: nil, because: FindingRow.paced.at())
    }

    private func planRegistration(_ pending: [Pending<Self>], memory: Memory, at moment: Moment) -> Plan<Self>? {
        // What is captured after an erase belongs to a new life, which begins with an empty memory.
        let erase = pending.firstIndex { $0.operation.action == .erase }
        let pending = erase.map { Array(pending[...$0]) } ?? pending
        guard let first = pending.first else { return nil }
        let state = memory.registration.applying(pending, settings: settings)
        let record = RegistrationRecord(
            state,
            of: first.operation.subject,
            settings: settings,
            date: moment.date
        )
        let waitsForKey = settings.delayRegistrationUntilContactKeyIsSet && state.contactKey == nil
        let isUnheardOf = memory.lastStart == nil && state.adoptedID == nil
        if state.hasLeft, record == nil || waitsForKey || isUnheardOf {
            return .settle(Dictionary(pending.map { ($0.id, farewellUnsent($0)) }) { first, _ in first })
        }
        if waitsForKey { return .wait(until: nil, because: FindingRow.contactKeyMissing.at()) }
        guard let record else { return .wait(until: nil, because: FindingRow.deviceFactsMissing.at()) }

        let accepted = RegistrationRecord(
            memory.registration,
            of: first.operation.subject,
            settings: settings,
            date: moment.date
        )
        if memory.acceptedAs == settings.sentAs, record.saysTheSame(as: accepted) {
            RuleID.salesforce("S6").fire()
            return .settle(Dictionary(pending.map { ($0.id, .unchanged(unsentFinding($0))) }) { first, _ in first })
        }
        RuleID.salesforce("S5").fire()
        let (due, reason) = dueTime(of: pending, memory: memory, at: moment)
        guard due <= moment.now else { return .wait(until: due, because: reason.at(detail: memory.lastRefusal)) }
        if pending.count > 1 { RuleID.salesforce("S4").fire() }
        let request = settings.post(Endpoint.registration.path, record.payload, memory: memory, facts: state.facts)
        return .send(Transmission(.registration, request, carrying: pending))
    }

    /// When the next registration may leave, and what a person is told until then.
    private func dueTime(
        of pending: [Pending<Self>],
        memory: Memory,
        at moment: Moment
    ) -> (due: Instant, reason: FindingRow) {
        guard let lastStart = memory.lastStart else {
            RuleID.salesforce("S1").fire()
            return (moment.now, .paced)
        }
        let spaced = lastStart + Pace.spacing
        let isNew = { (pending: Pending<Self>) in memory.failures == 0 || pending.sequence > memory.lastTried }
        var due = memory.retryAt ?? spaced
        var reason = FindingRow.retrying
        if let change = pending.first(where: isNew) {
            RuleID.salesforce("S2").fire()
            RuleID.salesforce("S3").fire()
            let gathered = max(moment.flush ? moment.now : change.since + Pace.gathering, spaced)
            if memory.failures == 0 || gathered < due { (due, reason) = (gathered, .paced) }
        }
        if let closed = memory.closedUntil[Endpoint.registration.rawValue], closed > due {
            (due, reason) = (closed, .closed)
        }
        return (max(due, spaced), reason)
    }

    /// What becomes of operations when the vendor is left before it ever heard of the device.
    private func farewellUnsent(_ pending: Pending<Self>) -> Verdict<Self> {
        switch pending.operation.action {
        case .farewell: .unchanged(FindingRow.nothingToLeave.at())
        case .erase: .accepted(FindingRow.eraseByHand.at())
        default: .dropped(FindingRow.neverSent.at())
        }
    }

    private func unsentFinding(_ pending: Pending<Self>) -> Finding? {
        switch pending.operation.action {
        case .farewell: FindingRow.left.at()
        case .erase: FindingRow.eraseByHand.at()
        default: nil
        }
    }

    private func planEvents(_ pending: [Pending<Self>], memory: Memory, at moment: Moment) -> Plan<Self>? {
        guard let first = pending.first else { return nil }
        guard memory.subscriberToken != nil else {
            return .wait(until: nil, because: FindingRow.subscriberTokenMissing.at())
        }
        if let closed = memory.closedUntil[Endpoint.events.rawValue], closed > moment.now {
            return .wait(until: closed, because: FindingRow.closed.at())
        }
        let batch = pending.prefix(EventRules.batchLimit)
        let body = EventRecord.envelope(
            batch.compactMap { EventRecord($0.operation) },
            applicationID: settings.applicationID,
            deviceID: RegistrationRecord.deviceID(of: first.operation.subject, memory.registration)
        )
        let request = settings.post(Endpoint.events.path, body, memory: memory, facts: memory.registration.facts)
        return .send(Transmission(.events, request, carrying: batch))
    }

    // MARK: Replies

    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let meaning = ReplyTable.salesforce.row(for: exchange.outcome).meaning
        let now = exchange.moment.now
        if let token = exchange.outcome.reply?[header: "X-Subscriber-Token"]?.trimmed, !token.isEmpty {
            RuleID.salesforce("W27").fire()
            memory.subscriberToken = Secret(token)
        }
        let asked = exchange.outcome.reply?.retryAfter.map { now + min($0, Pace.longestDelay) }
        memory.closedUntil = memory.closedUntil.filter { $0.value > now }
        if let asked {
            RuleID.salesforce("S11").fire()
            memory.closedUntil[exchange.endpoint.rawValue] = asked
        }
        return switch exchange.endpoint {
        case .events: interpretEvents(exchange, isAccepted: meaning == .accepted, asked: asked)
        case .registration:
            interpretRegistration(exchange, isAccepted: meaning == .accepted, asked: asked, memory: &memory)
        }
    }

    private func interpretRegistration(
        _ exchange: Exchange<Self>,
        isAccepted: Bool,
        asked: Instant?,
        memory: inout Memory
    ) -> Interpretation<Self> {
        let newest = exchange.operations.map(\.sequence).max() ?? memory.lastTried
        if isAccepted || newest > memory.lastTried {
            RuleID.salesforce("S9").fire()
            memory.failures = 0
        }
        memory.lastTried = max(newest, memory.lastTried)
        memory.lastStart = exchange.startedAt
        guard isAccepted else {
            RuleID.salesforce("S7").fire()
            if case .failed(let failure) = exchange.outcome, failure.doubt == .interrupted {
                RuleID.salesforce("S10").fire()
            }
            if exchange.mayHaveWorked { memory.acceptedAs = nil }
            memory.retryAt = asked ?? exchange.moment.now + Pace.delay(afterFailures: memory.failures)
            memory.failures += 1
            memory.refusedWith = exchange.outcome.reply?.status
            return Interpretation(exchange.operations) { _ in .retry(.now) }  // `plan` paces.
        }
        let before = memory
        memory.registration = before.registration.applying(exchange.operations, settings: settings)
        memory.acceptedAs = settings.sentAs
        (memory.retryAt, memory.refusedWith) = (nil, nil)
        return Interpretation(exchange.operations) { .accepted(acceptedFinding($0, after: before)) }
    }

    /// What is to be known of a change that the vendor received.
    private func acceptedFinding(_ pending: Pending<Self>, after before: Memory) -> Finding {
        let identifiers: [Identifier]
        switch pending.operation.action {
        case .farewell: return FindingRow.left.at()
        case .erase: return FindingRow.eraseByHand.at()
        case .identify(let given): identifiers = given
        case .switchContact(let change): identifiers = change.identifiers
        default: return FindingRow.visibleLater.at()
        }
        let key = ContactKeyRules.key(of: identifiers, settings: settings) ?? ""
        switch before.registration.contactKey {
        case let old? where !ContactKeyRules.areSame(old, key): return FindingRow.contactKeyChanged.at()
        case nil where before.acceptedAs != nil: return FindingRow.contactKeyLate.at()
        default: return FindingRow.visibleLater.at()
        }
    }

    private func interpretEvents(
        _ exchange: Exchange<Self>,
        isAccepted: Bool,
        asked: Instant?
    ) -> Interpretation<Self> {
        RuleID.salesforce("E12").fire()
        if isAccepted {
            return Interpretation(exchange.operations) { _ in .accepted(FindingRow.eventNeedsDefinition.at()) }
        }
        let failures = exchange.operations.map(\.failures).max() ?? 0
        let next = asked ?? exchange.moment.now + Pace.delay(afterFailures: failures)
        return Interpretation(exchange.operations) { _ in .retry(.at(next)) }
    }
}

/// The vendor's times.
enum Pace: Sendable {
    /// Between the starts of two registrations.
    static let spacing = Duration.seconds(60)
    /// From the first unsent change to its registration.
    static let gathering = Duration.seconds(60)
    /// The longest delay, also of Retry-After.
    static let longestDelay = Duration.seconds(86_400)

    /// 60 s, doubled with each failure before, at most a day (S8).
    static func delay(afterFailures failures: Int) -> Duration {
        RuleID.salesforce("S8").fire()
        return min(longestDelay, .seconds(60 << min(failures, 20)))
    }
}

extension SalesforceDevice.Memory {
    /// The status of the last failed attempt, for a finding.
    fileprivate var lastRefusal: String? { refusedWith.map { "last answer HTTP \($0)" } }
}

extension Action.Kind {
    /// Whether it changes what the vendor calls contact data, which should happen in the foreground (S14).
    fileprivate var changesContactData: Bool {
        switch self {
        case .identify, .switchContact, .changeAttributes, .changeTags, .changeSubscription: true
        case .registerDevice, .setConsent, .track, .farewell, .erase, .readBack: false
        }
    }
}

extension Finding {
    /// The same, where nothing else is left of the operation.
    fileprivate var asError: Finding {
        var copy = self
        copy.severity = .error
        return copy
    }
}

public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension SalesforceDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let meaning = ReplyTable.salesforce.row(for: exchange.outcome).meaning
        let now = exchange.moment.now
        if exchange.endpoint == .events, settings.renewSubscriberToken, exchange.isTokenRefused {
            (memory.subscriberToken, memory.mustRenewToken) = (nil, true)
        }
        if let token = exchange.outcome.reply?[header: "X-Subscriber-Token"]?.trimmed, !token.isEmpty {
            (memory.subscriberToken, memory.mustRenewToken) = (Secret(token), nil)
        }
        if !memory.closedUntil.isEmpty { memory.closedUntil = memory.closedUntil.filter { $0.value > now } }
        if let asked = exchange.retryAfter {
            memory.closedUntil[exchange.endpoint.rawValue] = now + min(asked, Pace.longestDelay)
        }
        return switch exchange.endpoint {
        case .events: interpretEvents(exchange, isAccepted: meaning == .accepted, memory: &memory)
        case .registration: interpretRegistration(exchange, isAccepted: meaning == .accepted, memory: &memory)
        }
    }

    // MARK: Registration

    private func interpretRegistration(
        _ exchange: Exchange<Self>,
        isAccepted: Bool,
        memory: inout Memory
    ) -> Interpretation<Self> {
        // The exchange carries an event if the registration was sent to get a new token for it. The event changes
        // nothing itself.
        let changes = exchange.operations.filter { $0.operation.action.kind != .track }
        memory.lastStart = exchange.startedAt
        let before = memory
        var after = before.registration.applying(changes, settings: settings)
        if isAccepted || exchange.mayHaveWorked {
            // A request that may have been processed counts as processed, so that an operation that overtakes it finds
            // the device known.
            let body = exchange.request.json ?? .object([:])
            after.learn(from: body, before: (changes.map(\.sequence).max() ?? 0) + 1, settings: settings)
            after.knownAs = body["deviceID"]?.string ?? after.knownAs
            after.mayMessage(body["push_Enabled"]?.bool != false)
            memory.markStateUnknown()
            memory.registration = after
            if after.contactKey == nil { memory.mayBeKeyless = true }
            if changes.contains(where: { $0.operation.action.kind.isOfProfile }) { memory.isProfileDenied = nil }
        }
        guard isAccepted else {
            let delay = Pace.delay(counting: &memory.failures, asked: exchange.retryAfter)
            memory.retryAt = exchange.moment.now + delay
            memory.refusedWith = exchange.outcome.reply?.status
            return Interpretation(exchange.operations) { _ in .retry(.now) }  // `plan` paces.
        }
        (memory.acceptedAs, memory.heldKey, memory.registration.handOver) = (settings.sentAs, after.contactKey, nil)
        memory.mayHoldOtherKey = nil
        if after.contactKey != nil { memory.mayBeKeyless = nil }
        (memory.failures, memory.retryAt, memory.refusedWith) = (0, nil, nil)
        if memory.subscriberToken == nil { memory.mustRenewToken = nil }
        memory.isErased = nil
        if changes.contains(where: { $0.operation.action == .erase }) {
            (memory.registration, memory.isErased) = (Registration(), true)
        }

        let replaced = Superseding(settings: settings).find(in: changes)
        let registration = RegistrationRecord.callback(exchange.request)
        return Interpretation(exchange.operations) { pending in
            if pending.operation.action.kind == .track { return .retry(.now) }
            if let verdict = after.verdict(onFormer: pending, among: changes, settings: settings) { return verdict }
            if let refusal = refusal(of: pending.operation) { return .rejected(refusal) }
            if let later = replaced[pending.id] { return .superseded(by: later) }
            return .accepted(receivedFinding(pending, before: before, after: after), answer: registration)
        }
    }

    /// Returns the reason why an operation is rejected although a registration carried it.
    func refusal(of operation: EngagementOperation) -> Finding? {
        guard case .switchContact(let change) = operation.action else { return nil }
        return ContactKeyRules.refusal(of: change, settings: settings)
    }

    /// Returns the finding about a change that the vendor received.
    private func receivedFinding(_ pending: Pending<Self>, before: Memory, after: Registration) -> Finding {
        let action = pending.operation.action
        switch action {
        case .unregister: return FindingRow.left.at()
        case .erase: return FindingRow.eraseByHand.at()
        case .registerDevice(let device):
            return before.registration.adoptionFinding(of: device)
                ?? Orphans.finding(before: before, after: after)
                ?? FindingRow.visibleLater.at()
        case .identify(let identifiers):
            return receivedFinding(identifiers, row: .contactKeyChanged, before: before, after: after)
        case .switchContact(let change):
            return receivedFinding(change.identifiers, row: .contactKeyOfAnother, before: before, after: after)
        default: return FindingRow.visibleLater.at()
        }
    }

    private func receivedFinding(_ identifiers: [Identifier], row: FindingRow, before: Memory, after: Registration)
        -> Finding
    {
        let key = ContactKeyRules.key(of: identifiers, settings: settings)
        return Orphans.finding(of: key, before: before, after: after, row: row, change: settings.contactChange)
            ?? Orphans.finding(ofHandOver: after, change: settings.contactChange) ?? FindingRow.visibleLater.at()
    }

    // MARK: Events

    private func interpretEvents(
        _ exchange: Exchange<Self>,
        isAccepted: Bool,
        memory: inout Memory
    ) -> Interpretation<Self> {
        if isAccepted {
            memory.eventFailures = nil
            let finding = FindingRow.eventNeedsDefinition.at()
            return Interpretation(exchange.operations) { _ in .accepted(finding) }
        }
        var failures = memory.eventFailures ?? 0
        let next = exchange.moment.now + Pace.delay(counting: &failures, asked: exchange.retryAfter)
        memory.eventFailures = failures
        return Interpretation(exchange.operations) { _ in .retry(.at(next)) }
    }
}

extension Exchange<SalesforceDevice> {
    /// Whether the vendor may have refused the subscriber token. Its reply does not distinguish it from the access
    /// token.
    fileprivate var isTokenRefused: Bool { outcome.reply.map { [401, 403].contains($0.status) } ?? false }
}

extension Registration {
    /// Returns the verdict of a personal operation of an earlier user of the device; nil for any other operation.
    ///
    /// A later change of person supersedes it. If that change is already complete, the operation is rejected and kept.
    func verdict(
        onFormer pending: Pending<SalesforceDevice>,
        among changes: [Pending<SalesforceDevice>],
        settings: SalesforceSettings
    ) -> Verdict<SalesforceDevice>? {
        let action = pending.operation.action
        guard isOfFormer(pending.operation, sequence: pending.sequence, settings: settings) else { return nil }
        let later = changes.last { [.identify, .switchContact].contains($0.operation.action.kind) }
        if action.kind != .track, let later, later.sequence > pending.sequence { return .superseded(by: later.id) }
        return .rejected(FindingRow.contactFormer.at("action"))
    }
}

extension Action.Kind {
    /// Whether the profile purpose covers the operation, which is then sent only while that purpose is not denied.
    var isOfProfile: Bool {
        switch self {
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags: true
        case .changeSubscription, .setConsent, .track, .unregister, .erase, .readBack: false
        }
    }
}

extension RegistrationRecord {
    /// Returns the answer for an app that observes registrations: the registration as it was sent, without the app's
    /// signed string.
    static func callback(_ request: WireRequest) -> JSONValue? {
        guard var registration = request.json?.object else { return nil }
        registration["signedString"] = nil
        return .object(registration)
    }
}

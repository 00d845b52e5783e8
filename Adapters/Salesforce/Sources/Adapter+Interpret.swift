public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension SalesforceDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let meaning = ReplyTable.salesforce.row(for: exchange.outcome).meaning
        let now = exchange.moment.now
        if exchange.endpoint == .events, settings.renewSubscriberToken, exchange.isTokenRefused {
            RuleID.salesforce("E14").fire()
            (memory.subscriberToken, memory.mustRenewToken) = (nil, true)
        }
        if let token = exchange.outcome.reply?[header: "X-Subscriber-Token"]?.trimmed, !token.isEmpty {
            RuleID.salesforce("W27").fire()
            (memory.subscriberToken, memory.mustRenewToken) = (Secret(token), nil)
        }
        let asked = exchange.retryAfter.map { now + min($0, Pace.longestDelay) }
        if !memory.closedUntil.isEmpty { memory.closedUntil = memory.closedUntil.filter { $0.value > now } }
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

    // MARK: Registration

    private func interpretRegistration(
        _ exchange: Exchange<Self>,
        isAccepted: Bool,
        asked: Instant?,
        memory: inout Memory
    ) -> Interpretation<Self> {
        // An event is carried where a registration was sent for a new token on its behalf; it says nothing itself.
        let changes = exchange.operations.filter { $0.operation.action.kind != .track }
        let newest = changes.map(\.sequence).max() ?? memory.lastTried
        if isAccepted || newest > memory.lastTried {
            RuleID.salesforce("S9").fire()
            memory.failures = 0
        }
        memory.lastTried = max(newest, memory.lastTried)
        memory.lastStart = exchange.startedAt
        let before = memory
        let after = before.registration.applying(changes, settings: settings)
        if isAccepted || exchange.mayHaveWorked, let subject = exchange.operations.first?.operation.subject {
            memory.registration.knownAs = RegistrationRecord.deviceID(of: subject, after)
        }
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
        let knownAs = memory.registration.knownAs
        memory.registration = after
        memory.registration.knownAs = knownAs
        memory.acceptedAs = settings.sentAs
        (memory.retryAt, memory.refusedWith) = (nil, nil)
        if memory.subscriberToken == nil { memory.mustRenewToken = nil }

        let replaced = Superseding(settings: settings).find(in: changes)
        let registration = RegistrationRecord.callback(exchange.request)
        return Interpretation(exchange.operations) { pending in
            if pending.operation.action.kind == .track { return .retry(.now) }
            if let later = replaced[pending.id] { return .superseded(by: later) }
            return .accepted(receivedFinding(pending, before: before, after: after), answer: registration)
        }
    }

    /// What is to be known of a change that the vendor received.
    private func receivedFinding(_ pending: Pending<Self>, before: Memory, after: Registration) -> Finding {
        let action = pending.operation.action
        switch action {
        case .farewell: return FindingRow.left.at()
        case .erase: return FindingRow.eraseByHand.at()
        case .registerDevice(let device):
            return before.registration.adoptionFinding(of: device)
                ?? Orphans.finding(before: before, after: after)
                ?? FindingRow.visibleLater.at()
        case .identify(let identifiers):
            let key = ContactKeyRules.key(of: identifiers, settings: settings)
            return Orphans.finding(of: key, before: before, row: .contactKeyChanged) ?? FindingRow.visibleLater.at()
        case .switchContact(let change):
            let key = ContactKeyRules.key(of: change.identifiers, settings: settings)
            return Orphans.finding(of: key, before: before, row: .contactKeyOfAnother) ?? FindingRow.visibleLater.at()
        default: return FindingRow.visibleLater.at()
        }
    }

    // MARK: Events

    private func interpretEvents(
        _ exchange: Exchange<Self>,
        isAccepted: Bool,
        asked: Instant?
    ) -> Interpretation<Self> {
        RuleID.salesforce("E12").fire()
        if isAccepted {
            let finding = FindingRow.eventNeedsDefinition.at()
            return Interpretation(exchange.operations) { _ in .accepted(finding) }
        }
        let failures = exchange.operations.map(\.failures).max() ?? 0
        let next = asked ?? exchange.moment.now + Pace.delay(afterFailures: failures)
        return Interpretation(exchange.operations) { _ in .retry(.at(next)) }
    }
}

extension Exchange<SalesforceDevice> {
    /// Whether the vendor may have refused the subscriber token; it does not tell it from the access token.
    fileprivate var isTokenRefused: Bool { outcome.reply.map { [401, 403].contains($0.status) } ?? false }
}

extension RegistrationRecord {
    /// What an app that asked to hear of registrations is handed: the registration as it was sent, without the app's
    /// signed string.
    static func callback(_ request: WireRequest) -> JSONValue? {
        guard var registration = request.json?.object else { return nil }
        RuleID.salesforce("R7").fire()
        registration["signedString"] = nil
        return .object(registration)
    }
}

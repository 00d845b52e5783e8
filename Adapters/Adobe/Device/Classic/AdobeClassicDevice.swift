public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device API of Adobe Campaign Classic (v7, v8): device registrations with parameters, and push interactions.
///
/// The vendor's client stores nothing and retries nothing. Like it, the adapter rejects a failed request's operation, which
/// can be replayed.
public struct AdobeClassicDevice: VendorAdapter {
    public typealias Settings = AdobeClassicSettings
    public typealias Memory = AdobeClassicMemory

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Registers the device with its user key and parameters.
        case registration
        /// Reports a push interaction.
        case tracking
    }

    /// The progress of an operation.
    public enum Step: String, Codable, Sendable, Equatable {
        /// The memory has the operation's change; the registration follows.
        case register
    }

    let settings: AdobeClassicSettings

    public init(settings: AdobeClassicSettings) { self.settings = settings }

    public func place(_ operation: EngagementOperation) -> Place {
        let queue =
            switch operation.action {
            case .track: String(joining: "push/", operation.id.rawValue)
            case .setConsent: String(joining: "consent/", operation.id.rawValue)
            case .erase: "local"
            default: "registration"
            }
        return Place(lane: operation.subject.rawValue, queue: queue, waitsForConsent: false)
    }
}

// MARK: - Examine

extension AdobeClassicDevice {
    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let content = examineAction(operation)
        if content.contains(where: { $0.severity == .foreign }) { return content }
        guard let options = operation.options[Self.descriptor.id] else { return content }
        return content + options.names.map { FindingRow.optionUnknown.at("options.adobe-classic".dot($0)) }
    }

    private func examineAction(_ operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .registerDevice(let device):
            guard let token = device.pushToken else { return [FindingRow.tokenNeeded.at("action.device.pushToken")] }
            let service: PushToken.Service = settings.platform == .ios ? .apns : .fcm
            guard token.service == service, PushService(device) != nil else {
                return [FindingRow.pushService.at("action.device.pushToken.service")]
            }
            return PushService.text(of: token) == nil ? [FindingRow.tokenForm.at("action.device.pushToken.value")] : []
        case .changeAttributes, .changeTags, .identify, .switchContact:
            return ClassicChange(operation, settings).findings
        case .track(let event): return examine(event)
        case .changeSubscription(let subscription):
            let row: FindingRow = subscription.channel == .push ? .subscriptionPush : .subscriptionChannel
            return [row.at("action.subscription.channel")]
        case .readBack: return [FindingRow.readBack.at("action.read")]
        case .setConsent, .unregister, .erase: return []
        @unknown default: return [FindingRow.actionUnknown.at("action")]
        }
    }

    private func examine(_ event: TrackingEvent) -> [Finding] {
        let path = "action.event"
        switch event {
        case .push(let interaction, let payload, _):
            guard let message = PushMessage(payload), message.origin == .remote else {
                return [FindingRow.pushForeign.at(path.dot("payload"))]
            }
            if ClassicAction(interaction) == nil { return [FindingRow.classicDismissed.at(path.dot("interaction"))] }
            let problems = message.problems(missing: .idMissing, form: .idForm, at: path.dot("payload"))
            guard problems.isEmpty, let id = message.broadlogID, ClassicMessageID.text(id, settings) == nil else {
                return problems
            }
            return [FindingRow.classicID.at(path.dot("payload._mId"))]
        case .sessionStarted, .sessionEnded: return [FindingRow.classicSession.at(path)]
        case .custom: return [FindingRow.eventCustom.at(path.dot("name"))]
        case .messageViewed, .messageClicked: return [FindingRow.eventInApp.at(path)]
        }
    }
}

// MARK: - Plan

extension AdobeClassicDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        var planner = ClassicPlanner(settings: settings, memory: memory, pending: pending)
        if let decision = planner.decide() { return decision }
        return pending.soonest(planner.plan) ?? .wait(until: nil, because: FindingRow.deviceMissing.at())
    }
}

/// Plans the first operation of each queue.
private struct ClassicPlanner {
    typealias Adapter = AdobeClassicDevice
    typealias Head = Pending<Adapter>

    let settings: AdobeClassicSettings
    var memory: AdobeClassicMemory
    let pending: PendingOperations<Adapter>

    // MARK: Decisions at capture

    /// Stores devices and applies consent decisions at once, whatever their position in the queue.
    mutating func decide() -> Plan<Adapter>? {
        let stored = memory
        // Operations after an erasure belong to no erased person and are not erased.
        if let erasure = pending.firstErasure, erasure != memory.erasure { memory.begin(erasure: erasure) }
        var verdicts: [OperationID: Verdict<Adapter>] = [:]
        for head in pending.all([.registerDevice, .setConsent]) {
            switch head.operation.action {
            // After a loss of memory, the pending registration provides the device.
            case .registerDevice(let device) where head.step == nil || memory.device == nil:
                verdicts[head.id] = remember(device, head)
            case .setConsent(let consent) where head.step == nil: verdicts[head.id] = apply(consent, head)
            default: break
            }
        }
        if memory.token == nil, let hidden = pending.hidden.last(.registerDevice),
            case .registerDevice(let device) = hidden.operation.action
        {
            take(device)
        }
        let hasChanged = memory != stored
        return verdicts.isEmpty && !hasChanged ? nil : .settle(verdicts, remembering: hasChanged ? memory : nil)
    }

    private mutating func take(_ device: Device) {
        guard let token = device.pushToken, let text = PushService.text(of: token) else { return }
        memory.token = Secret(text)
        memory.facts = device.facts ?? memory.facts
    }

    private mutating func remember(_ device: Device, _ head: Head) -> Verdict<Adapter> {
        if let last = memory.device, head.sequence < last.sequence {
            return .superseded(by: OperationID(rawValue: last.id))
        }
        guard device.pushToken != nil else { return .unchanged(FindingRow.tokenNeeded.at("action.device.pushToken")) }
        take(device)
        memory.device = DeviceRegistration(sequence: head.sequence, id: head.id.rawValue)
        return .inProgress(.register)
    }

    private mutating func apply(_ consent: Consent, _ head: Head) -> Verdict<Adapter> {
        memory.consents.note(consent, head.sequence)
        if memory.consents.deniesProfile { memory.forgetPerson() }
        let isDue = allowsToken ? isOptIn(consent) && dueRegistration != nil : !memory.held.isEmpty
        return isDue ? .inProgress(.register) : .accepted(FindingRow.consentKept.at("action.consent"))
    }

    /// Whether a decision may permit the person's registration again. After a decision on the profile the engine itself
    /// captures the device again.
    private func isOptIn(_ consent: Consent) -> Bool { consent.purpose == .messaging && consent.state != .denied }

    /// Whether the vendor may have the push token under the person of the memory.
    private var allowsToken: Bool { pending.allowsToken(of: memory.who, memory.consents) }

    /// The registration of the memory; nil if the vendor already holds it, or without a push token.
    private var dueRegistration: ClassicRegistrationCall? {
        guard let call = ClassicRegistrationCall(memory, settings) else { return nil }
        return call.hash == memory.registeredHash && memory.account == settings.account ? nil : call
    }

    // MARK: Heads

    func plan(_ head: Head) -> Plan<Adapter> {
        switch head.operation.action {
        case .track(.push(let interaction, let payload, _)): return track(interaction, payload, head)
        case .setConsent(let consent):
            if allowsToken, isOptIn(consent), isOfPresent(head), let call = dueRegistration { return send(call, head) }
            let row: FindingRow = consent.state == .denied && !allowsToken ? .classicDetached : .consentKept
            return (allowsToken ? nil : detach(head))
                ?? .settle([head.id: .accepted(row.at("action.consent"))])
        case .unregister:
            if pending.hasEarlier(than: head) { return .wait(until: nil, because: FindingRow.leavesLast.at()) }
            let row = head.step == nil ? FindingRow.nothingToLeave : .classicLeft
            return detach(head)
                ?? .settle([head.id: head.step == nil ? .unchanged(row.at()) : .accepted(row.at())])
        case .erase:
            return detach(head) { $0.person == HeldRegistration.erased }
                ?? .settle([head.id: .accepted(FindingRow.eraseByHand.at())])
        default: return change(head)
        }
    }

    private func track(_ interaction: PushInteraction, _ payload: JSONObject, _ head: Head) -> Plan<Adapter> {
        guard let message = PushMessage(payload), let action = ClassicAction(interaction),
            let id = message.broadlogID.flatMap({ ClassicMessageID.text($0, settings) }),
            let delivery = message.deliveryID
        else { return .settle([head.id: .rejected(FindingRow.classicID.at("action.event.payload"))]) }
        let call = ClassicTrackingCall(id: String(joining: id, ",", delivery, ",", action.rawValue))
        let start = String(joining: settings.trackingBase, "/r/")
        let url = ClassicTrackingCall.table.query(call, after: start, leaving: ",")
        return .send(Transmission(.tracking, WireRequest("GET", url), carrying: [head]))
    }

    /// Plans a change of device, person or parameters. The new person counts at once, the values after the vendor's reply.
    private func change(_ head: Head) -> Plan<Adapter> {
        let change = ClassicChange(head.operation, settings)
        let arrived = change.person(in: memory, contact: head.operation.contact, head.sequence)
        if arrived != memory { return .settle([:], remembering: arrived) }
        let path = "action"
        // Another app of the vendor, or another push token, which the installation had before, still reaches the person.
        if change.isSwitch, let detachment = detach(head, where: { !$0.isAt(settings) || $0.token != memory.token }) {
            return detachment
        }
        if let end = obsolete(head) { return .settle([head.id: end]) }
        guard allowsToken else { return withhold(change, head) }
        guard memory.token != nil else {
            if change.isLogOut { return .settle([head.id: .unchanged(FindingRow.personChanged.at("action.switch"))]) }
            if pending.isLeaving { return .settle([head.id: .dropped(FindingRow.providerLeft.at(path))]) }
            return .wait(until: nil, because: FindingRow.deviceMissing.at())
        }
        return register(head, change.applied(to: memory))
    }

    /// Stores a change for the registration that follows when the person allows push messages, and removes the previous person
    /// from the device.
    private func withhold(_ change: ClassicChange, _ head: Head) -> Plan<Adapter> {
        if change.isSwitch, let detachment = detach(head) { return detachment }
        let finding = (change.isLogOut ? FindingRow.personChanged : .tokenWithheld).at("action")
        let verdict: Verdict<Adapter> =
            change.isSwitch && head.step != nil
            ? .accepted(finding) : change.isLogOut ? .unchanged(finding) : .dropped(finding)
        let next = memory.consents.deniesProfile ? memory : change.applied(to: memory)
        return .settle([head.id: verdict], remembering: next == memory ? nil : next)
    }

    /// Whether an operation is the present person's. A later person's consent is not an earlier one's.
    private func isOfPresent(_ head: Head) -> Bool { !(head.operation.contact.map(memory.who.differs) ?? false) }

    /// Returns the verdict of an operation of a person who logged out before the device was registered. The registration then
    /// belongs to the current person.
    private func obsolete(_ head: Head) -> Verdict<Adapter>? {
        let later = pending.first { $0.sequence > head.sequence && $0.operation.action.kind == .switchContact }
        let hidden = pending.hidden.first(.switchContact).flatMap { $0.sequence > head.sequence ? $0 : nil }
        guard let successor = later?.operation ?? hidden?.operation, let token = memory.token,
            let left = later?.sequence ?? hidden?.sequence, let device = memory.device, device.sequence > left,
            let own = HeldRegistration(settings, token: token, userKey: memory.userKey ?? "", hasParameters: true),
            !ClassicChange(head.operation, settings).isLogOut
        else { return nil }
        if memory.held.contains(own) { return nil }
        if case .registerDevice = head.operation.action {
            return memory.userKey == nil && memory.parameters.isEmpty ? nil : .superseded(by: successor.id)
        }
        return .rejected(FindingRow.personLeft.at("action"))
    }

    private func register(_ head: Head, _ next: AdobeClassicMemory) -> Plan<Adapter> {
        guard let call = ClassicRegistrationCall(next, settings) else {
            return .wait(until: nil, because: FindingRow.deviceMissing.at())
        }
        if call.hash == memory.registeredHash, memory.account == settings.account {
            return .settle(
                [head.id: .unchanged(FindingRow.registrationKnown.at("action"))],
                remembering: next == memory ? nil : next
            )
        }
        return send(call, head)
    }

    /// Returns the registration that removes a person from the device; nil if the vendor holds none.
    private func detach(_ head: Head, where isMeant: (HeldRegistration) -> Bool = { _ in true }) -> Plan<Adapter>? {
        guard let held = memory.held.first(where: isMeant) else { return nil }
        var former = settings
        (former.marketingServer, former.integrationKey) = (held.server, held.key)
        let call = ClassicRegistrationCall(
            token: held.token.value,
            settings: former,
            userKey: "",
            facts: memory.facts,
            parameters: [:]
        )
        return send(call, head)
    }

    private func send(_ call: ClassicRegistrationCall, _ head: Head) -> Plan<Adapter> {
        var unacknowledged = memory
        unacknowledged.markUncertain(call.held)
        return .send(Transmission(.registration, call.request(), carrying: [head], unacknowledged: unacknowledged))
    }
}

extension ClassicRegistrationCall {
    /// Creates the registration of the present state; nil without a push token.
    init?(_ memory: AdobeClassicMemory, _ settings: AdobeClassicSettings) {
        guard let token = memory.token else { return nil }
        self.init(
            token: token.value,
            settings: settings,
            userKey: memory.userKey ?? "",
            facts: memory.facts,
            parameters: memory.parameters
        )
    }

    /// The person's data at the vendor after the registration.
    var held: HeldRegistration? {
        HeldRegistration(settings, token: Secret(token), userKey: userKey, hasParameters: !parameters.isEmpty)
    }
}

// MARK: - Interpret

extension AdobeClassicDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let row = ReplyTable.adobeClassic.row(for: exchange.outcome)
        guard exchange.endpoint == .registration, let pending = exchange.operations.first else {
            return Interpretation(exchange.operations) { _ in
                row.meaning == .accepted ? .accepted() : .rejected(refusal(row, exchange))
            }
        }
        var sent = SentRegistration(exchange.request, settings)
        if memory.isErased(pending.sequence) { sent.held?.person = HeldRegistration.erased }
        let verdict = registered(pending, sent, row, exchange, &memory)
        return Interpretation([pending.id: verdict])
    }

    private func registered(
        _ pending: Pending<Self>,
        _ sent: SentRegistration,
        _ row: ReplyRow,
        _ exchange: Exchange<Self>,
        _ memory: inout Memory
    ) -> Verdict<Self> {
        let removesPerson = memory.held.contains { $0.replaces(sent.any) && $0 != sent.held }
        // A page of a network or proxy in the vendor's place is no registration.
        let isDetour = exchange.outcome.reply?.isDetour ?? false
        guard row.meaning == .accepted, !isDetour else {
            if exchange.mayHaveWorked { memory.markUncertain(sent.held) }
            guard removesPerson, exchange.outcome.isTemporaryFailure else { return .rejected(refusal(row, exchange)) }
            let asked = exchange.retryAfter
            return .retry(.at(Self.backoff.next(after: pending.failures, asked: asked, at: exchange.moment)))
        }
        memory.held.removeAll { $0.replaces(sent.any) }
        if let held = sent.held { memory.held.append(held) }
        memory.registeredHash = nil
        if memory.isErased(pending.sequence) { return .accepted() }
        var next = memory
        switch pending.operation.action {
        case .setConsent(let consent) where consent.state != .denied: break
        case .setConsent, .unregister, .erase: return .inProgress(.register)
        default: next = ClassicChange(pending.operation, settings).applied(to: memory)
        }
        // Otherwise the request removed a person from the device, and the registration follows.
        guard sent.any.isAt(settings), ClassicRegistrationCall(next, settings)?.hash == sent.hash else {
            return .inProgress(.register)
        }
        memory = next
        (memory.registeredHash, memory.account) = (sent.hash, settings.account)
        return .accepted()
    }

    /// The delays between attempts of a registration that removes a person from the device.
    static let backoff = Backoff.doubling(from: .seconds(30), upTo: .seconds(3600))

    private func refusal(_ row: ReplyRow, _ exchange: Exchange<Self>) -> Finding {
        var finding = row.finding ?? .classicFailed
        if case .failed(let failure) = exchange.outcome, failure.delivery == .notSent { finding = .classicUnsent }
        return finding.at(detail: exchange.outcome.reply.map { "HTTP \($0.status)" })
    }
}

/// The content of a registration, read from the request itself.
private struct SentRegistration {
    /// The device's registration, regardless of the person.
    let any: HeldRegistration
    /// The person's data at the vendor after the registration.
    var held: HeldRegistration?
    /// A digest that identifies the state that the request registers.
    let hash: String

    init(_ request: WireRequest, _ settings: AdobeClassicSettings) {
        let items = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        func item(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
        let (userKey, parameters) = (item("userKey"), item("additionalParams"))
        any = HeldRegistration(
            server: settings.testAddress.isEmpty ? WebAddress(request.url)?.host ?? "" : settings.marketingServer,
            key: item("mobileAppUuid"),
            token: Secret(item("registrationToken")),
            person: Person.digest(userKey)
        )
        hash = ClassicRegistrationCall.hash(of: any.token.value, userKey, parameters)
        held = userKey.isEmpty && !parameters.contains("<param ") ? nil : any
    }
}

extension Outcome {
    /// Whether the same request may succeed later.
    fileprivate var isTemporaryFailure: Bool {
        guard let reply else { return true }
        return [408, 429].contains(reply.status) || reply.status >= 500 || reply.isDetour
    }
}

extension ReplyTable {
    /// Only 200 is a success, and no request is repeated.
    static let adobeClassic = ReplyTable(
        [.status(200...200, .accepted, rule: .adobe("C19")), .noAnswer(.refused, .classicLost, rule: .adobe("C18"))],
        otherwise: .otherwise(.refused, .classicFailed, rule: .adobe("C18"))
    )
}

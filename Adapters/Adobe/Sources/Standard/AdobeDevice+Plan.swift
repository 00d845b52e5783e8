public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AdobeDevice {
    public func plan(_ pending: PendingOperations<Self>, memory: Memory, at moment: Moment) -> Plan<Self> {
        let planner = Planner(adapter: self, memory: memory)
        if let decision = planner.decide(pending) { return decision }
        return pending.soonest(planner.plan) ?? .wait(until: nil, because: FindingRow.deviceMissing.at())
    }
}

/// Decides about the head of each queue.
private struct Planner {
    typealias Head = Pending<AdobeDevice>
    typealias Step = AdobeDevice.Step
    typealias Result = Verdict<AdobeDevice>

    let adapter: AdobeDevice
    let memory: AdobeMemory

    private var settings: AdobeSettings { adapter.settings }

    // MARK: Decisions of the moment

    /// Heeds the person's words before anything leaves, remembers devices, and decides whether the sessions of the window
    /// register: by what was known when they began, not by what the requests before them will change.
    func decide(_ pending: PendingOperations<AdobeDevice>) -> Plan<AdobeDevice>? {
        let heads = pending.all([.setConsent, .registerDevice, .session]).filter { $0.step == nil }
        if heads.isEmpty { return nil }
        var next = memory
        var verdicts: [OperationID: Result] = [:]
        for head in heads {
            switch head.operation.action {
            case .setConsent(let consent): verdicts[head.id] = heed(consent, &next)
            case .registerDevice(let device): verdicts[head.id] = remember(device, &next)
            case .track(.sessionStarted): verdicts[head.id] = session(head, &next)
            default: break
            }
        }
        return verdicts.isEmpty ? nil : .settle(verdicts, remembering: next == memory ? nil : next)
    }

    /// The engine may have forgotten everything already, for a purpose that needs consent.
    private func heed(_ consent: Consent, _ next: inout AdobeMemory) -> Result {
        let isOptOut =
            consent.state == .denied && consent.channel == nil && [.tracking, .profile].contains(consent.purpose)
        guard isOptOut else { return .accepted(FindingRow.consentKept.at("action.consent")) }
        if !next.isUnused { next = next.afterErase }
        return .accepted(FindingRow.optedOut.at("action.consent.state"))
    }

    private func remember(_ device: Device, _ next: inout AdobeMemory) -> Result {
        next.platform = PushService(device)?.platform
        if let given = device.identities[Identity.name] { next.adopted = given }
        let hasNews = device.pushToken != nil || memory.hasToken
        if hasNews, !settings.organizationID.isEmpty { return .underway(Step(.token)) }
        return .accepted(device.pushToken == nil ? nil : FindingRow.tokenUntold.at("action.device.pushToken"))
    }

    /// Nil while no device is registered: then nobody knows what to register.
    private func session(_ head: Head, _ next: inout AdobeMemory) -> Result? {
        guard next.platform != nil else { return nil }
        RuleID.adobe("A8").fire()
        if settings.registrationPaused { return .dropped(FindingRow.registrationPaused.at("action.event")) }
        let ecid = Identity.ecid(of: head.operation.subject, next)
        guard next.registeredECID == ecid else {
            RuleID.adobe("R4").fire()
            next.registeredECID = ecid
            return .underway(Step(.register))
        }
        RuleID.adobe("R5").fire()
        guard let last = next.registeredAt else { return .underway(Step(.register)) }
        let isDue = head.since - last >= .seconds(settings.registrationDelay * 86_400)
        return isDue ? .underway(Step(.register)) : .unchanged(FindingRow.registrationNotDue.at("action.event"))
    }

    // MARK: Heads

    func plan(_ head: Head) -> Plan<AdobeDevice> {
        switch head.operation.action {
        case .track(.push(let interaction, let payload, let actionID)):
            return track(interaction, payload, actionID, head)
        case .track(.sessionStarted): return register(head)
        case .changeAttributes, .changeTags, .identify, .switchContact: return post(head)
        case .registerDevice(let device): return tell(device.pushToken, head)
        case .farewell: return leave(head)
        case .erase: return .settle([head.id: .accepted(FindingRow.eraseByHand.at())])
        default: return .settle([head.id: .rejected(FindingRow.actionUnknown.at("action"))])
        }
    }

    private func maker(_ head: Head) -> RequestMaker {
        RequestMaker(settings: settings, ecid: Identity.ecid(of: head.operation.subject, memory))
    }

    /// A request; with the fields of it whose values the vendor may have taken should the process die.
    private func send(
        _ endpoint: AdobeDevice.Endpoint,
        _ request: WireRequest,
        _ head: Head,
        fields: [JSONObject.Member] = []
    ) -> Plan<AdobeDevice> {
        guard endpoint == .attributes || endpoint == .pushToken else {
            return .send(Transmission(endpoint, request, carrying: [head]))
        }
        var doubting = memory
        doubting.doubt(endpoint, head.operation, fields: fields)
        return .send(Transmission(endpoint, request, carrying: [head], doubting: doubting))
    }

    private var waitsForDevice: Plan<AdobeDevice> { .wait(until: nil, because: FindingRow.deviceMissing.at()) }

    // MARK: Hits

    private func track(
        _ interaction: PushInteraction,
        _ payload: JSONObject,
        _ actionID: String?,
        _ head: Head
    ) -> Plan<AdobeDevice> {
        guard let message = PushMessage(payload), message.isTracked else {
            return .settle([head.id: .dropped(FindingRow.trackingOff.at("action.event.payload".dot(PushMessage.flag)))])
        }
        guard memory.platform != nil else { return waitsForDevice }
        let actions = adapter.actions(interaction, actionID: actionID, appState: head.operation.appState)
        let action = head.step?.stage == .open ? actions.last : actions.first
        return send(.tracking, maker(head).tracking(message, action ?? .click), head)
    }

    private func register(_ head: Head) -> Plan<AdobeDevice> {
        guard let platform = memory.platform else { return waitsForDevice }
        return send(.registration, maker(head).registration(platform), head)
    }

    // MARK: Attributes

    private func post(_ head: Head) -> Plan<AdobeDevice> {
        guard let platform = memory.platform else { return waitsForDevice }
        let fields = ProfileFields(head.operation, settings).texts
        let news = settings.onlyChanges ? fields.filter { memory.known[$0.name] != $0.digest } : Array(fields)
        guard !news.isEmpty else { return .settle([head.id: .unchanged(FindingRow.attributesKnown.at("action"))]) }
        let changed = JSONObject(news.map { ($0.name, $0.value) })
        return send(.attributes, maker(head).attributes(platform, changed), head, fields: news)
    }

    // MARK: Push tokens

    private func tell(_ token: PushToken?, _ head: Head) -> Plan<AdobeDevice> {
        guard let service = memory.platform.flatMap(PushService.init(platform:)) else { return waitsForDevice }
        RuleID.adobe(token == nil ? "I5" : "I3").fire()
        let text = token.map { $0.service == .apns ? $0.value.lowercased() : $0.value } ?? ""
        return send(.pushToken, maker(head).token(text, service), head)
    }

    /// The vendor can't be left; without a push token nobody is reached any more.
    private func leave(_ head: Head) -> Plan<AdobeDevice> {
        guard memory.hasToken, memory.platform != nil, !settings.organizationID.isEmpty else {
            return .settle([head.id: .unchanged(FindingRow.nothingToLeave.at())])
        }
        return tell(nil, head)
    }
}

extension JSONObject.Member {
    /// Tells whether a value is the one that was sent before, without keeping it.
    var digest: String { String(SHA256.digest(of: (value.string ?? "").utf8).prefix(12).hexText) }
}

public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// Adobe Campaign Classic (v7, v8) for apps: the device with its parameters, and what became of push messages.
///
/// The vendor's client keeps nothing and repeats nothing. Here what fails is rejected, and can be replayed.
public struct AdobeClassicDevice: VendorAdapter {
    public typealias Settings = AdobeClassicSettings
    public typealias Memory = AdobeClassicMemory

    /// Every kind of request.
    public enum Endpoint: String, AdapterEndpoint {
        /// Registers the device with its user key and parameters.
        case registration
        /// Tells what became of a push message.
        case tracking
    }

    /// How far the registration of a device has got.
    public enum Step: String, Codable, Sendable, Equatable {
        /// The device is remembered, and told next.
        case register
    }

    let settings: AdobeClassicSettings

    public init(settings: AdobeClassicSettings) { self.settings = settings }

    public func place(_ operation: EngagementOperation) -> Place {
        RuleID.adobe("C18").fire()
        let queue =
            switch operation.action {
            case .track: String(joining: "push/", operation.id.rawValue)
            case .setConsent, .erase: "local"
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
            return token.service == service ? [] : [FindingRow.pushService.at("action.device.pushToken.service")]
        case .changeAttributes, .changeTags, .identify, .switchContact:
            return ClassicChange(operation, settings).findings
        case .track(let event): return examine(event)
        case .changeSubscription(let subscription):
            let row: FindingRow = subscription.channel == .push ? .subscriptionPush : .subscriptionChannel
            return [row.at("action.subscription.channel")]
        case .readBack: return [FindingRow.readBack.at("action.read")]
        case .farewell: return [FindingRow.classicFarewell.at("action")]
        case .setConsent, .erase: return []
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
        if let decision = remember(pending, memory) { return decision }
        return pending.soonest { plan($0, memory) } ?? .wait(until: nil, because: FindingRow.deviceMissing.at())
    }

    /// Remembers devices at once: what waits for a push token waits no longer.
    private func remember(_ pending: PendingOperations<Self>, _ memory: Memory) -> Plan<Self>? {
        // A device that is registered again behind an erasure must not be forgotten with it.
        let end = pending.first { $0.operation.action == .erase }?.sequence ?? .max
        let heads = pending.all(.registerDevice).filter { $0.step == nil && $0.sequence < end }
        if heads.isEmpty { return nil }
        var next = memory
        var verdicts: [OperationID: Verdict<Self>] = [:]
        for head in heads {
            guard case .registerDevice(let device) = head.operation.action else { continue }
            guard let token = device.pushToken else {
                verdicts[head.id] = .unchanged(FindingRow.tokenNeeded.at("action.device.pushToken"))
                continue
            }
            next.token = Secret(token.service == .apns ? token.value.lowercased() : token.value)
            next.facts = device.facts ?? next.facts
            verdicts[head.id] = .underway(.register)
        }
        return .settle(verdicts, remembering: next == memory ? nil : next)
    }

    private func plan(_ head: Pending<Self>, _ memory: Memory) -> Plan<Self> {
        switch head.operation.action {
        case .track(.push(let interaction, let payload, _)): return track(interaction, payload, head)
        case .setConsent(let consent):
            guard consent.state == .denied, consent.channel == nil else {
                return .settle([head.id: .accepted(FindingRow.consentKept.at("action.consent"))])
            }
            RuleID.adobe("C17").fire()
            return .settle(
                [head.id: .accepted(FindingRow.consentKept.at("action.consent"))],
                remembering: memory.afterOptOut
            )
        case .erase: return .settle([head.id: .accepted(FindingRow.eraseByHand.at())])
        default: return register(head, memory)
        }
    }

    private func track(_ interaction: PushInteraction, _ payload: JSONObject, _ head: Pending<Self>) -> Plan<Self> {
        guard let message = PushMessage(payload), let action = ClassicAction(interaction),
            let id = message.broadlogID.flatMap({ ClassicMessageID.text($0, settings) }),
            let delivery = message.deliveryID
        else { return .settle([head.id: .rejected(FindingRow.classicID.at("action.event.payload"))]) }
        RuleID.adobe("C3").fire()
        let call = ClassicTrackingCall(id: String(joining: id, ",", delivery, ",", action.rawValue))
        let start = String(joining: settings.trackingBase, "/r/")
        let url = ClassicTrackingCall.table.query(call, after: start, leaving: ",")
        return .send(Transmission(.tracking, WireRequest("GET", url), carrying: [head]))
    }

    private func register(_ head: Pending<Self>, _ memory: Memory) -> Plan<Self> {
        guard memory.token != nil else { return .wait(until: nil, because: FindingRow.deviceMissing.at()) }
        let next = ClassicChange(head.operation, settings).applied(to: memory)
        guard let call = call(next) else { return .wait(until: nil, because: FindingRow.deviceMissing.at()) }
        if call.hash == memory.registeredHash {
            return .settle([head.id: .unchanged(FindingRow.registrationKnown.at("action"))], remembering: next)
        }
        var doubting = memory
        doubting.registeredHash = nil
        return .send(Transmission(.registration, call.request(), carrying: [head], doubting: doubting))
    }

    private func call(_ memory: Memory) -> ClassicRegistrationCall? {
        guard let token = memory.token else { return nil }
        return ClassicRegistrationCall(
            token: token.value,
            settings: settings,
            userKey: memory.userKey ?? "",
            facts: memory.facts,
            parameters: memory.parameters
        )
    }
}

// MARK: - Interpret

extension AdobeClassicDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        let row = ReplyTable.adobeClassic.row(for: exchange.outcome)
        var detail: String? { exchange.outcome.reply.map { "HTTP \($0.status)" } }
        if exchange.endpoint == .registration, exchange.mayHaveWorked { memory.registeredHash = nil }
        if row.meaning == .accepted, exchange.endpoint == .registration, let pending = exchange.operations.first {
            memory = ClassicChange(pending.operation, settings).applied(to: memory)
            memory.registeredHash = call(memory)?.hash
        }
        var finding = row.finding ?? .classicFailed
        if case .failed(let failure) = exchange.outcome, failure.doubt == .notSent { finding = .classicUnsent }
        return Interpretation(exchange.operations) { _ in
            row.meaning == .accepted ? .accepted() : .rejected(finding.at(detail: detail))
        }
    }
}

extension ReplyTable {
    /// 200 alone is a yes, and nothing is repeated.
    static let adobeClassic = ReplyTable(
        [.status(200...200, .accepted, rule: .adobe("C19")), .noAnswer(.refused, .classicLost, rule: .adobe("C18"))],
        otherwise: .otherwise(.refused, .classicFailed, rule: .adobe("C18"))
    )
}

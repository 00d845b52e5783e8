public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AdobeDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        var interpretation = Interpretation<Self>()
        for pending in exchange.operations {
            let interpreter = Interpreter(exchange: exchange, pending: pending, adapter: self)
            interpretation.verdicts[pending.id] = interpreter.verdict(&memory)
            if let followUp = interpreter.followUp(&memory) { interpretation.followUps.append(followUp) }
        }
        return interpretation
    }
}

/// Interprets an exchange for the operation that it carried.
private struct Interpreter {
    typealias Result = Verdict<AdobeDevice>

    let exchange: Exchange<AdobeDevice>
    let pending: Pending<AdobeDevice>
    let adapter: AdobeDevice
    let sent: SentRequest

    init(exchange: Exchange<AdobeDevice>, pending: Pending<AdobeDevice>, adapter: AdobeDevice) {
        (self.exchange, self.pending, self.adapter) = (exchange, pending, adapter)
        sent = SentRequest(exchange.endpoint, exchange.request, of: pending.operation.subject)
    }

    private var settings: AdobeSettings { adapter.settings }
    private var status: Int { exchange.outcome.reply?.status ?? 0 }
    private var detail: String? { exchange.outcome.reply.map { "HTTP \($0.status)" } }
    /// Whether the request takes a push token back or reports an opt-out.
    private var endsReach: Bool {
        exchange.endpoint == .optOut || exchange.endpoint == .pushToken && !sent.setsToken
    }

    func verdict(_ memory: inout AdobeMemory) -> Result {
        let place = sent.place(in: memory)
        let policy = RetryPolicy.policy(of: exchange.endpoint, settings)
        let row = policy.row(for: exchange.outcome)
        let meaning = policy.meaning(row, exchange.outcome, settings, endsReach: endsReach)
        if let place { memory.use(place, as: sent.ecid) }
        if meaning != .accepted, exchange.mayHaveWorked { memory.markUncertain(sent) }
        switch meaning {
        case .accepted: return accepted(at: place, &memory)
        case .retry:
            let next = RetryPolicy.backoff.next(after: 0, asked: exchange.retryAfter, at: exchange.moment)
            return .retry(.at(next))
        case .refused, .suspend:
            return refused(refusal(row).at(path, detail: detail), &memory)
        }
    }

    private func refusal(_ row: ReplyRow) -> FindingRow {
        switch exchange.outcome {
        case .replied: row.finding ?? .replyRefused
        case .failed(let failure): failure.delivery == .notSent ? .replyUnsent : .replyLost
        }
    }

    private func accepted(at place: Int?, _ memory: inout AdobeMemory) -> Result {
        switch exchange.endpoint {
        case .tracking:
            if settings.trackingForm == .request { postpone(&memory, .anyHit) }
            return reported(clickRefused: nil)
        case .registration:
            postpone(&memory, .registration)
            return .accepted()
        case .attributes:
            if let place {
                for field in sent.fields {
                    memory.identities[place].known[field.name] = field.digest
                    memory.identities[place].written[field.name] = pending.sequence
                }
            }
            if let kept = pending.step?.refusal(.tokenKept, at: "action.switch") { return .rejected(kept) }
            return .accepted(FindingRow.visibleLater.at("action"))
        case .pushToken where sent.setsToken:
            if let place { memory.identities[place].tokenOrganization = sent.organization }
            return .accepted(endedIdentity(memory))
        case .pushToken:
            memory.takeBack(sent.ecid, of: pending.operation.subject)
            return .inProgress(next)
        case .optOut:
            if let place { memory.identities[place].owesOptOut = false }
            return .inProgress(next)
        }
    }

    /// The step after a request that ended push reachability: the same step, or the one after the first.
    private var next: AdobeDevice.Step { pending.step ?? AdobeDevice.Step(.applied) }

    /// Returns a finding if the identity that the app passes is no longer used.
    private func endedIdentity(_ memory: AdobeMemory) -> Finding? {
        guard case .registerDevice(let device) = pending.operation.action,
            let given = device.identities[Identity.name], given != memory.identities.last?.given
        else { return nil }
        return FindingRow.identityEnded.at("action.device.identities".dot(Identity.name.rawValue))
    }

    private func refused(_ finding: Finding, _ memory: inout AdobeMemory) -> Result {
        switch exchange.endpoint {
        case .tracking: return reported(clickRefused: finding)
        case .optOut:
            // The vendor's SDK sends it once and does not read the reply.
            if let place = sent.place(in: memory) { memory.identities[place].owesOptOut = false }
            return .inProgress(next)
        case .pushToken
        where !sent.setsToken && sent.place(in: memory) == memory.identities.count - 1
            && memory.identities.last?.tokenOrganization == nil:
            return .inProgress(next)
        case .pushToken where !sent.setsToken:
            switch pending.operation.action {
            case .switchContact, .identify: return .inProgress(AdobeDevice.Step(.applied, refused: status))
            default: return .rejected(finding)
            }
        default: return .rejected(finding)
        }
    }

    /// Registers the installation for the current person once no other person can be reached, if consent permits it.
    func followUp(_ memory: inout AdobeMemory) -> FollowUp? {
        guard [.switchContact, .identify, .setConsent].contains(pending.operation.action.kind), memory.lacksToken,
            !adapter.settings.organizationID.isEmpty, let token = memory.token
        else { return nil }
        memory.identities[memory.identities.count - 1].isRegistrationRequested = true
        let service: PushToken.Service = memory.platform == "gcm" ? .fcm : .apns
        var device = Device(pushToken: PushToken(token.value, service: service))
        device.identities[AdobeDevice.repeatedRegistration] = "true"
        return FollowUp(cause: pending.id, action: .registerDevice(device))
    }

    /// Continues a click with its open, whatever the reply. Both share one verdict.
    private func reported(clickRefused finding: Finding?) -> Result {
        guard case .track(.push(let interaction, _, let actionID)) = pending.operation.action else {
            return .accepted()
        }
        let actions = adapter.actions(interaction, actionID: actionID, appState: pending.operation.appState)
        if actions.count > 1, pending.step == nil {
            return .inProgress(AdobeDevice.Step(.open, refused: finding == nil ? nil : status, ecid: sent.ecid))
        }
        if let finding { return .rejected(finding) }
        return pending.step?.refusal(.clickRefused, at: path).map { .rejected($0) } ?? .accepted()
    }

    /// Postpones the next registration. The stored time is that of the request's own event, not of the reply.
    private func postpone(_ memory: inout AdobeMemory, _ clock: AdobeSettings.RegistrationClock) {
        guard clock == .registration || settings.registrationClock == .anyHit else { return }
        let mark = RegistrationMark(at: pending.since, notedAt: exchange.moment.now)
        memory.registrations = Array((memory.registrations + [mark]).suffix(2))
    }

    private var path: String {
        switch exchange.endpoint {
        case .tracking: "action.event.payload"
        case .registration: "action.event"
        case .attributes, .optOut: "action"
        case .pushToken: "action.device.pushToken"
        }
    }
}

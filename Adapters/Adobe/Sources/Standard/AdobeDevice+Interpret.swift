public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AdobeDevice {
    public func interpret(_ exchange: Exchange<Self>, memory: inout Memory) -> Interpretation<Self> {
        var verdicts: [OperationID: Verdict<Self>] = [:]
        memory.isUnused = false
        for pending in exchange.operations {
            let reading = Reading(exchange: exchange, pending: pending, adapter: self)
            verdicts[pending.id] = reading.verdict(&memory)
        }
        return Interpretation(verdicts)
    }
}

/// What one exchange means for the operation it carried.
private struct Reading {
    typealias Result = Verdict<AdobeDevice>

    let exchange: Exchange<AdobeDevice>
    let pending: Pending<AdobeDevice>
    let adapter: AdobeDevice

    private var settings: AdobeSettings { adapter.settings }
    private var status: Int { exchange.outcome.reply?.status ?? 0 }
    private var detail: String? { exchange.outcome.reply.map { "HTTP \($0.status)" } }

    func verdict(_ memory: inout AdobeMemory) -> Result {
        let law = RetryLaw.law(of: exchange.endpoint, settings)
        let row = law.row(for: exchange.outcome)
        let meaning = law.meaning(row, exchange.outcome, settings)
        if meaning != .accepted, exchange.mayHaveWorked {
            memory.doubt(exchange.endpoint, pending.operation, fields: sentFields)
        }
        switch meaning {
        case .accepted: return accepted(&memory)
        case .retry:
            RuleID.adobe("Q3").fire()
            return .retry(.at(exchange.moment.now + RetryLaw.pause))
        case .refused, .park:
            return refused(refusal(row).at(path, detail: detail))
        }
    }

    private func refusal(_ row: ReplyRow) -> FindingRow {
        switch exchange.outcome {
        case .replied: row.finding ?? .replyRefused
        case .failed(let failure): failure.doubt == .notSent ? .replyUnsent : .replyLost
        }
    }

    private func accepted(_ memory: inout AdobeMemory) -> Result {
        switch exchange.endpoint {
        case .tracking:
            if settings.trackingForm == .request { postpone(&memory, .anyHit) }
            return told(clickRefused: nil)
        case .registration:
            postpone(&memory, .registration)
            return .accepted()
        case .attributes:
            for field in sentFields { memory.known[field.name] = field.digest }
            return .accepted(FindingRow.visibleLater.at("action"))
        case .pushToken:
            memory.hasToken = pending.operation.hasPushToken
            return .accepted(pending.operation.action == .farewell ? FindingRow.left.at() : nil)
        }
    }

    private func refused(_ finding: Finding) -> Result {
        exchange.endpoint == .tracking ? told(clickRefused: finding) : .rejected(finding)
    }

    /// The click is followed by the open, whatever the vendor thought of it; then both have one verdict.
    private func told(clickRefused finding: Finding?) -> Result {
        guard case .track(.push(let interaction, _, let actionID)) = pending.operation.action else {
            return .accepted()
        }
        let actions = adapter.actions(interaction, actionID: actionID, appState: pending.operation.appState)
        if actions.count > 1, pending.step == nil {
            return .underway(AdobeDevice.Step(.open, refused: finding == nil ? nil : status))
        }
        if let finding { return .rejected(finding) }
        guard let refused = pending.step?.refused else { return .accepted() }
        return .rejected(FindingRow.clickRefused.at(path, detail: refused == 0 ? nil : "HTTP \(refused)"))
    }

    /// The stored time is that of the request's own event, not of the answer.
    private func postpone(_ memory: inout AdobeMemory, _ clock: AdobeSettings.RegistrationClock) {
        guard clock == .registration || settings.registrationClock == .anyHit else { return }
        RuleID.adobe("R7").fire()
        memory.registeredAt = pending.since
    }

    private var sentFields: [JSONObject.Member] {
        (exchange.request.json?.object ?? [:]).filter { !ProfileFields.reserved.contains($0.name) }
    }

    private var path: String {
        switch exchange.endpoint {
        case .tracking: "action.event.payload"
        case .registration: "action.event"
        case .attributes: "action"
        case .pushToken: "action.device.pushToken"
        }
    }
}

extension EngagementOperation {
    /// Whether the operation registers a device that has a push token.
    var hasPushToken: Bool {
        if case .registerDevice(let device) = action { device.pushToken != nil } else { false }
    }
}

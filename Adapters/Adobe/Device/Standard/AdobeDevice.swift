public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device API of Adobe Campaign Standard: push tracking, registrations, attributes of the mobile profile, push tokens.
///
/// As in the vendor's SDKs, tracking and registrations share one queue, strictly first in, first out. Attributes have a
/// queue of their own, and so have push tokens, which another service receives.
public struct AdobeDevice: VendorAdapter {
    public typealias Settings = AdobeSettings
    public typealias Memory = AdobeMemory

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Reports a push interaction.
        case tracking
        /// Creates or confirms the mobile profile.
        case registration
        /// Writes attributes of the mobile profile.
        case attributes
        /// Gives the identity service a push token.
        case pushToken
        /// Notifies the identity service of an opt-out.
        case optOut
    }

    /// The progress of an operation.
    public struct Step: Codable, Sendable, Equatable {
        /// The next request.
        public enum Stage: String, Codable, Sendable {
            /// The registration, which was due when the session began.
            case register
            /// The push token. The memory already has the device itself.
            case token
            /// The open, after the click.
            case open
            /// The requests after a change of person, a consent decision, an erasure or an unregistration: push tokens are
            /// taken back, then a log-in's fields are posted.
            case applied
        }

        /// The next request.
        public var stage: Stage
        /// The status with which the vendor refused the previous request; 0 without a reply, nil if it was accepted.
        public var refused: Int?
        /// The identity of the earlier requests, which the later ones carry too.
        public var ecid: String?

        init(_ stage: Stage, refused: Int? = nil, ecid: String? = nil) {
            (self.stage, self.refused, self.ecid) = (stage, refused, ecid)
        }

        /// Returns the finding about the refusal of the previous request; nil if that was accepted.
        func refusal(_ row: FindingRow, at path: String) -> Finding? {
            refused.map { row.at(path, detail: $0 == 0 ? nil : "HTTP \($0)") }
        }
    }

    /// Marks a registration that the adapter itself requests, to give the next person the newest push token.
    static let repeatedRegistration: Device.IdentityName = "adobe.repeated"

    let settings: AdobeSettings
    /// A digest of the server and the app that the settings name.
    let account: String

    /// Creates an adapter for one mobile app.
    ///
    /// - Throws: ``SettingsError`` if a field is the vendor's own.
    public init(settings: AdobeSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
        account = Person.digest("\(settings.server)\n\(settings.pkey)")
    }
}

// MARK: - Place

extension AdobeDevice {
    /// The streams of an installation; each is first in, first out.
    enum Queue: String {
        /// Tracking and registrations.
        case hits
        /// Attributes, and tracking by the postback of old SDKs.
        case postbacks
        /// The unregistration.
        case identity
        /// Erasures, and operations that need no request.
        case local
    }

    public func place(_ operation: EngagementOperation) -> Place {
        let queue: Queue
        var waitsForConsent = true
        switch operation.action {
        case .track(.sessionStarted):
            queue = .hits
        case .track:
            (queue, waitsForConsent) = (settings.trackingForm == .postback ? .postbacks : .hits, false)
        case .changeAttributes, .changeTags: queue = .postbacks
        // Not after a request that is retried: later operations belong to another person, identity or consent.
        case .identify, .switchContact, .registerDevice, .setConsent:
            let name = String(joining: operation.action.kind.rawValue, "/", operation.id.rawValue)
            return Place(lane: operation.subject.rawValue, queue: name)
        case .unregister: queue = .identity
        case .erase, .changeSubscription, .readBack: queue = .local
        @unknown default: queue = .local
        }
        return Place(lane: operation.subject.rawValue, queue: queue.rawValue, waitsForConsent: waitsForConsent)
    }
}

// MARK: - Examine

extension AdobeDevice {
    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let content = examineAction(operation)
        if content.contains(where: { $0.severity == .foreign }) { return content }
        guard let options = operation.options[Self.descriptor.id] else { return content }
        return content + options.names.map { FindingRow.optionUnknown.at("options.adobe".dot($0)) }
    }

    private func examineAction(_ operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .registerDevice(let device): return examine(device)
        case .switchContact(let change) where change.direction == .logOut: return []
        case .changeAttributes, .changeTags, .identify, .switchContact: return examineFields(operation)
        case .changeSubscription(let subscription):
            let row: FindingRow = subscription.channel == .push ? .subscriptionPush : .subscriptionChannel
            return [row.at("action.subscription.channel")]
        case .track(let event): return examine(event, operation)
        case .readBack: return [FindingRow.readBack.at("action.read")]
        case .setConsent, .unregister, .erase: return []
        @unknown default: return [FindingRow.actionUnknown.at("action")]
        }
    }

    private func examine(_ device: Device) -> [Finding] {
        let path = "action.device"
        var findings: [Finding] = []
        if PushService(device) == nil {
            findings.append(FindingRow.pushService.at("\(path).pushToken.service"))
        } else if let token = device.pushToken, PushService.text(of: token) == nil {
            findings.append(FindingRow.tokenForm.at("\(path).pushToken.value"))
        }
        if let given = device.identities[Identity.name], !Identity.isValid(given) {
            findings.append(FindingRow.identityForm.at("\(path).identities".dot(Identity.name.rawValue)))
        }
        if device.pushToken != nil, settings.organizationID.isEmpty {
            findings.append(FindingRow.organizationMissing.at("\(path).pushToken"))
        }
        return findings
    }

    private func examineFields(_ operation: EngagementOperation) -> [Finding] {
        let fields = ProfileFields(operation, settings)
        let findings = fields.findings
        // A change of person counts, whether the vendor has a field for it or not.
        if case .switchContact = operation.action, fields.texts.isEmpty { return findings }
        return settings.pkey.isEmpty ? findings + [FindingRow.pkeyMissing.at("action")] : findings
    }

    private func examine(_ event: TrackingEvent, _ operation: EngagementOperation) -> [Finding] {
        let path = "action.event"
        switch event {
        case .push(let interaction, let payload, _):
            guard let message = PushMessage(payload) else { return [FindingRow.pushForeign.at(path.dot("payload"))] }
            return examine(message, interaction, operation)
        case .sessionStarted: return settings.pkey.isEmpty ? [FindingRow.pkeyMissing.at(path)] : []
        case .sessionEnded: return [FindingRow.sessionEnded.at(path)]
        case .custom: return [FindingRow.eventCustom.at(path.dot("name"))]
        case .messageViewed, .messageClicked: return [FindingRow.eventInApp.at(path)]
        }
    }

    private func examine(_ message: PushMessage, _ interaction: PushInteraction, _ operation: EngagementOperation)
        -> [Finding]
    {
        let path = "action.event.payload"
        guard message.isTracked else { return [FindingRow.trackingOff.at(path.dot(PushMessage.flag))] }
        var findings = message.problems(missing: .idMissing, form: .idForm, at: path)
        // Only messages of APNs are subject to these rules of the system.
        guard message.origin == .remote, message.isForApple else { return findings }
        if interaction == .received, operation.appState == .background, !message.isSilent {
            findings.append(FindingRow.impressionsMissed.at("\(path).aps.content-available"))
        }
        if interaction == .dismissed, message.category == nil {
            findings.append(FindingRow.dismissalsMissed.at("\(path).aps.category"))
        }
        return findings
    }
}

// MARK: - Actions

extension AdobeDevice {
    /// Returns the actions to report for a push interaction, in order. The second is sent after the reply to the first.
    func actions(_ interaction: PushInteraction, actionID: String?, appState: AppState?) -> [PushAction] {
        switch interaction {
        case .received:
            return [.impression]
        case .dismissed:
            return [.click]
        case .tapped where actionID != nil:
            return settings.backgroundActions == .click && appState == .background ? [.click] : [.click, .open]
        case .tapped, .opened:
            return [.click, .open]
        }
    }
}

public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device API of DES, the Device Event Service of SAP Emarsys, with its client service, inbox and remote configuration.
///
/// As in the vendor's SDKs, all operations of an installation form one queue, first in, first out, and a request that must
/// be kept stops it. Pending events are sent together. The adapter stores the vendor's client state, tokens and device event
/// state in ``DESMemory`` and returns them unread.
public struct DESDevice: VendorAdapter {
    public typealias Settings = DESSettings
    public typealias Memory = DESMemory

    /// The progress of an operation. Several members can be true at once.
    public struct Step: Codable, Sendable, Equatable {
        /// The renewal of the contact token; nil if none is in progress.
        var renewal: Renewal?
        /// Whether the vendor accepted the installation's registration.
        var isRegistered = false
        /// Whether the anonymous contact was requested.
        var hasContact = false
        /// Whether the anonymous contact was refused.
        var isAnonymousRefused = false
        /// Whether its push token was set.
        var hasToken = false
        /// Whether the old application's push token was taken back.
        var leftToken = false
        /// Whether the old application's contact was removed.
        var leftContact = false
        /// The time of the completed change of contact, by the wall clock. The change of session is not reported yet.
        var changedAt: Instant?
        /// The progress of taking the push token back although the contact token is refused.
        var recovery: Recovery?
        /// A mark of the contact token that the vendor refused, until another one is available.
        var refusedToken: String?

        init() {}
    }

    /// The steps of taking a push token back although the contact token is refused. The present contact is set again, which
    /// returns another token, and the request is repeated once.
    enum Recovery: String, Codable { case setContact, repeatRequest, done }

    /// A renewal of the contact token, and the repeat after it.
    struct Renewal: Codable, Sendable, Equatable {
        /// The next request.
        enum Stage: String, Codable { case renew, repeatRequest }

        /// The next request.
        var stage: Stage
        /// The number of this renewal, from 1.
        var count: Int
        /// The number of views and clicks in the first request.
        var views: Int
        var clicks: Int
        /// The earliest time of the repeat.
        var resumesAt: Instant?

        /// The maximum number of renewals for one request.
        static let limit = 3
        /// The pause before the repeat, in which the vendor distributes the new token.
        static let pause = Duration.milliseconds(500)
    }

    /// Stored by reference, because settings are expensive to copy.
    private final class Content: Sendable {
        let settings: DESSettings

        init(_ settings: DESSettings) { self.settings = settings }
    }

    private let content: Content
    var settings: DESSettings { content.settings }

    /// Creates an adapter for one application.
    ///
    /// - Throws: ``SettingsError`` if the application code or the contact field is missing.
    public init(settings: DESSettings) throws(SettingsError) {
        let missing = [
            settings.applicationCode.isEmpty ? "applicationCode" : nil,
            settings.contactFieldID == 0 ? "contactFieldId" : nil,
        ].compactMap(\.self)
        guard missing.isEmpty else {
            throw SettingsError(
                missing.map {
                    Finding(
                        code: "setting.missing",
                        severity: .error,
                        error: .missing,
                        path: $0,
                        rule: .des("R2"),
                        reason: "The setting is missing.",
                        remedy: "Add it. Without it nothing can be sent."
                    )
                }
            )
        }
        content = Content(settings)
    }

    /// Returns the operation's options for this vendor.
    func options(_ operation: EngagementOperation) -> JSONObject {
        operation.options[Self.descriptor.id] ?? JSONObject()
    }
}

// MARK: - Place

extension DESDevice {
    /// The queues of an installation, apart from one for each click. To the vendor, all except `local` are one queue.
    ///
    /// - `device` is separate, so that many operations that wait for the registration never move it out of the window.
    /// - Views and clicks are separate, so that they are recorded while a request that is repeated blocks `requests`.
    /// - Each click has its own queue, so that no other click blocks it: a query for an inline message carries every earlier
    ///   click.
    enum Queue: String {
        case device, requests, views, optOuts, local
    }

    public func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: queue(of: operation))
    }

    private func queue(of operation: EngagementOperation) -> String {
        let queue: Queue
        switch operation.action {
        case .registerDevice: queue = .device
        case .setConsent:
            switch operation.action.pushMessageConsent {
            case nil: queue = .local
            case .granted?: queue = .requests
            case .denied?, .unknown?: queue = .optOuts
            }
        case .changeSubscription(let subscription) where subscription.channel == .inApp: queue = .local
        // An earlier request without a reply does not block them.
        case .changeSubscription(let subscription) where subscription.state != .subscribed: queue = .optOuts
        case .erase, .unregister: queue = .optOuts
        case .track(.messageViewed): queue = .views
        case .track(.messageClicked): return "click/\(operation.id.rawValue)"
        default: queue = .requests
        }
        return queue.rawValue
    }
}

// MARK: - Examine

extension DESDevice {
    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let findings = examine(operation.action)
        if findings.contains(where: { $0.severity == .foreign }) { return findings }
        return findings + CallOption.problems(options(operation), for: operation.action)
    }

    private func examine(_ action: Action) -> [Finding] {
        switch action {
        case .identify(let identifiers): examine(identifiers, at: "action.identifiers")
        case .switchContact(let change): examine(change)
        case .registerDevice(let device): examine(device)
        case .changeAttributes: [FindingRow.attributes.at("action.changes")]
        case .changeTags: [FindingRow.tags.at("action.tags")]
        case .changeSubscription(let subscription): examine(subscription)
        case .setConsent, .unregister, .erase: []
        case .track(let event): examine(event)
        case .readBack(let request): Query.problems(request, settings)
        @unknown default: [FindingRow.actionUnknown.at("action")]
        }
    }

    private func examine(_ change: ContactSwitch) -> [Finding] {
        guard change.direction == .logIn else { return [] }
        return examine(change.identifiers, at: "action.switch.identifiers")
    }

    /// Validates identifiers. One kind of identifier names the contact; the others have no counterpart.
    private func examine(_ identifiers: [Identifier], at path: String) -> [Finding] {
        let own = IdentifierKind(rawValue: settings.contactIdentifier)
        let unknowns = identifiers.enumerated().filter { $0.element.kind != own }
            .map { FindingRow.identifierUnused.at("\(path)[\($0.offset)].kind") }
        guard settings.contactProof == .value else { return unknowns }
        guard let value = identifiers.first(own) else {
            return [FindingRow.identifierMissing.at(path, detail: "the kind \(own.rawValue) is configured")]
        }
        return unknowns + (value.trimmed.isEmpty ? [FindingRow.contactAnonymous.at(path)] : [])
    }

    private func examine(_ device: Device) -> [Finding] {
        let path = "action.device"
        var findings: [Finding] = []
        if device.facts == nil {
            findings.append(FindingRow.factsMissing.at(path.dot("facts")))
        } else if Platform(device) == nil {
            findings.append(FindingRow.platform.at(path.dot("facts.platform")))
        }
        if let token = device.pushToken, PushAddress.text(token) == nil {
            findings.append(FindingRow.tokenForm.at(path.dot("pushToken.value")))
        }
        if let adopted = device.identities[DESDevice.adoptedClient], !UUIDText.isValid(adopted) {
            findings.append(FindingRow.adoptedForm.at(path.dot("identities").dot(DESDevice.adoptedClient.rawValue)))
        }
        return findings
    }

    private func examine(_ subscription: Subscription) -> [Finding] {
        let path = "action.subscription"
        var findings: [Finding] = []
        if ![.push, .inApp].contains(subscription.channel) {
            findings.append(FindingRow.channel.at(path.dot("channel")))
        } else {
            if subscription.topic != nil { findings.append(FindingRow.topic.at(path.dot("topic"))) }
            if subscription.state == .unknown { findings.append(FindingRow.subscriptionUnknown.at(path.dot("state"))) }
            if subscription.state == .suspended { findings.append(FindingRow.suspended.at(path.dot("state"))) }
        }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil
            || !subscription.fields.isEmpty
        {
            findings.append(FindingRow.subscriptionDetails.at(path))
        }
        return findings
    }

    private func examine(_ event: TrackingEvent) -> [Finding] {
        let path = "action.event"
        switch event {
        case .push(let interaction, let payload, _):
            guard payload["u"] != nil else { return [FindingRow.pushForeign.at(path.dot("payload"))] }
            if PushPayload.origin(interaction) == nil {
                return [FindingRow.pushInteraction.at(path.dot("interaction"))]
            }
            return PushPayload.messageID(payload) == nil ? [FindingRow.pushWithoutID.at(path.dot("payload.u.sid"))] : []
        case .messageViewed(let campaign): return examine(campaign: campaign)
        case .messageClicked(let campaign, let button):
            let lacksButton = (button ?? "").isEmpty
            return examine(campaign: campaign)
                + (lacksButton ? [FindingRow.buttonMissing.at(path.dot("buttonID"))] : [])
        case .sessionStarted, .sessionEnded: return []
        case .custom(let name, let attributes): return CustomEvent.problems(name, attributes)
        }
    }

    private func examine(campaign: String) -> [Finding] {
        let path = "action.event.messageID"
        if campaign.isEmpty { return [FindingRow.campaignMissing.at(path)] }
        guard settings.campaignIDs == .number, JSONNumber(text: campaign)?.text.allSatisfy(\.isNumber) != true else {
            return []
        }
        return [FindingRow.campaignNumber.at(path)]
    }

    /// The name under which an app passes the client id of the vendor's own SDK.
    static let adoptedClient: Device.IdentityName = "des.clientID"

    /// Marks a registration that the adapter itself requests, to set the push token again.
    static let repeatedRegistration: Device.IdentityName = "des.repeated"
}

/// Validates push tokens for the vendor.
enum PushAddress {
    /// Returns the token's text on the wire; nil if it has no usable form.
    static func text(_ token: PushToken) -> String? {
        let value = token.value
        guard token.service == .apns else {
            return value.isEmpty || value.contains(where: \.isWhitespace) ? nil : value
        }
        guard !value.isEmpty, value.utf8.count.isMultiple(of: 2), value.utf8.allSatisfy(UUIDText.isHexDigit) else {
            return nil
        }
        return value.lowercased()
    }
}

/// Reads the vendor's push messages.
enum PushPayload {
    /// The message's id, a text or a number: `sid` in `u`, which is an object or the text of one.
    static func messageID(_ payload: JSONObject) -> String? {
        let inner = payload["u"]?.string.flatMap { try? JSONValue(parsing: $0) } ?? payload["u"]
        guard let id = inner?["sid"]?.idText, !id.isEmpty else { return nil }
        return id
    }

    /// Returns the origin of a tap; nil if the vendor has no event for it.
    static func origin(_ interaction: PushInteraction) -> String? {
        switch interaction {
        case .tapped, .opened: "main"
        case .received, .dismissed: nil
        }
    }
}

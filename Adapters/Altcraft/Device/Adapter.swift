public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device API of Altcraft: push subscriptions, profile fields, push events and custom events, one request each.
///
/// A change of person is a multi-step exchange: the adapter releases the suspended subscription of the new person, and
/// subscribes only if there was none. ``AltcraftMemory`` holds all other state.
public struct AltcraftDevice: VendorAdapter {
    public typealias Settings = AltcraftSettings
    public typealias Memory = AltcraftMemory

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Subscribes, unsubscribes or suspends.
        case subscribe
        /// Changes profile fields.
        case profileUpdate
        /// Puts a new push token in the place of an old one.
        case tokenUpdate
        /// Releases a suspension at a change of person. A crash must not repeat it.
        case unsuspend
        /// Queries a subscription.
        case status
        /// Reports a push that arrived or was opened.
        case pushEvent
        /// Reports a custom event.
        case customEvent

        public var isJournaled: Bool { self == .unsuspend }
    }

    /// The progress of an operation with two requests.
    public enum Step: String, Codable, Sendable, Equatable {
        /// Subscribes the new person, who had no subscription.
        case subscribe
        /// Reverts a release without a clear reply that may have subscribed a person who has decided otherwise.
        case restore
        /// The old tags are deleted: the new ones are added.
        case addTags
    }

    /// Stored by reference, because settings are expensive to copy.
    private final class Content: Sendable {
        let settings: AltcraftSettings
        let claims = ClaimReader()
        let address: ServiceAddress

        init(_ settings: AltcraftSettings) {
            (self.settings, address) = (settings, ServiceAddress(settings.apiURL))
        }
    }

    private let content: Content
    var settings: AltcraftSettings { content.settings }
    /// Reads the claims of contacts' tokens.
    var claims: ClaimReader { content.claims }
    /// The address of every request.
    var address: ServiceAddress { content.address }

    /// Creates an adapter for one resource.
    ///
    /// - Throws: ``SettingsError`` if the address is missing.
    public init(settings: AltcraftSettings) throws(SettingsError) {
        guard !settings.apiURL.isEmpty else {
            let finding = Finding(
                code: "setting.missing",
                severity: .error,
                error: .missing,
                path: "settings.apiUrl",
                reason: "The setting is missing.",
                remedy: "Add the address of the mobile interface."
            )
            throw SettingsError([finding])
        }
        guard !settings.apiURL.contains("#") else {
            let reason = "Paths can't be appended to an address with a number sign."
            throw SettingsError([.invalidSetting("settings.apiUrl", reason, "Leave out what follows the number sign.")])
        }
        content = Content(settings)
    }

    /// Returns the operation's options for this vendor.
    func options(_ operation: EngagementOperation) -> JSONObject {
        operation.options[Self.descriptor.id] ?? JSONObject()
    }
}

// MARK: - Place

extension AltcraftDevice {
    /// The streams of an installation; each is first in, first out.
    enum Queue: String {
        case device, subscriptions, optOuts, unregister, profile, events, local
    }

    public func place(_ operation: EngagementOperation) -> Place {
        Place(lane: operation.subject.rawValue, queue: queue(of: operation))
    }

    /// Returns the queue of an operation.
    ///
    /// Profile changes and events have a queue for each person. Operations of a person who logged out, and whose token is gone,
    /// therefore block no other person's. Subscriptions share a queue, so that a change of person never overtakes earlier ones.
    /// Opt-outs have their own queues and overtake operations that can't be sent.
    private func queue(of operation: EngagementOperation) -> String {
        let profile: Queue = settings.profileCarrier == .subscribe ? .subscriptions : .profile
        let queue: Queue
        switch operation.action {
        case .registerDevice: queue = .device
        case .changeSubscription(let subscription):
            queue = subscription.state == .subscribed ? .subscriptions : .optOuts
        case .switchContact, .readBack: queue = .subscriptions
        case .unregister: queue = .unregister
        case .changeAttributes, .changeTags: queue = profile
        case .identify: queue = settings.identifiersAsFields ? profile : .local
        case .track(.push):
            return "push/\(operation.id.rawValue)"
        case .track: queue = .events
        case .setConsent:
            queue = operation.action.pushMessageConsent.map { $0 == .granted ? .subscriptions : .optOuts } ?? .local
        case .erase: queue = .local
        @unknown default: queue = .local
        }
        guard [.profile, .events, .optOuts, .unregister].contains(queue), let contact = operation.contact else {
            return queue.rawValue
        }
        return "\(queue.rawValue)/\(RequestID.mark(of: contact))"
    }
}

// MARK: - Examine

extension AltcraftDevice {
    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let findings = examineAction(operation)
        if findings.contains(where: { $0.severity == .foreign }) { return findings }
        let time = operation.capturedAt.seconds > 0 ? [] : [FindingRow.timeMissing.at("capturedAt")]
        return findings + CallOption.problems(options(operation), for: use(of: operation.action), settings) + time
    }

    public func examine(_ credential: Secret) -> Finding? {
        guard settings.usedRoleToken == nil else { return nil }
        do throws(Held) {
            _ = try MatchingClaim(credential)
            return nil
        } catch {
            return error.finding
        }
    }

    /// Returns the kind of request that an operation's options are for; nil if its request accepts none.
    private func use(of action: Action) -> CallOption.Use? {
        switch action {
        case .changeSubscription, .switchContact, .unregister: .subscription
        case .changeAttributes, .changeTags, .identify:
            settings.profileCarrier == .subscribe ? .subscription : .profile
        case .track(.push): .pushEvent
        case .track(.custom): .customEvent
        default: nil
        }
    }

    private func examineAction(_ operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .registerDevice(let device): examine(device)
        case .changeSubscription(let subscription): examine(subscription)
        case .changeAttributes(let changes): examine(changes, operation)
        case .changeTags:
            (settings.tagsField.isEmpty ? [FindingRow.tagsField.at("action.tags")] : []) + unidentifiedProfile
        case .identify(let identifiers): examine(identifiers)
        case .switchContact: settings.usedRoleToken == nil ? [] : [FindingRow.switchRoleToken.at("action.switch")]
        case .track(let event): examine(event, operation)
        case .readBack(let request): examine(request)
        case .setConsent, .unregister, .erase: []
        @unknown default: [FindingRow.actionUnknown.at("action")]
        }
    }

    /// The finding about a profile change whose request identifies no profile.
    private var unidentifiedProfile: [Finding] {
        guard settings.usedRoleToken != nil, settings.profileCarrier == .profileUpdate else { return [] }
        return [FindingRow.profileWhose.at("settings.profileUpdates")]
    }

    private func examine(_ device: Device) -> [Finding] {
        guard let token = device.pushToken else { return [] }
        if token.value.trimmed.isEmpty { return [FindingRow.tokenBlank.at("action.device.pushToken.value")] }
        if let form = PushProvider.missingForm(of: token) {
            return [FindingRow.tokenForm.at("action.device.pushToken.value", detail: form)]
        }
        guard PushProvider.name(of: token, on: device.facts?.platform) == nil else { return [] }
        return [FindingRow.tokenProvider.at("action.device.pushToken.service")]
    }

    private func examine(_ subscription: Subscription) -> [Finding] {
        let path = "action.subscription"
        var findings: [Finding] = []
        if subscription.channel != .push { findings.append(FindingRow.subscriptionChannel.at(path.dot("channel"))) }
        if subscription.state == .unknown { findings.append(FindingRow.subscriptionUnknown.at(path.dot("state"))) }
        if subscription.state == .suspended, subscription.topic != nil {
            findings.append(FindingRow.topicPaused.at(path.dot("state")))
        }
        if subscription.topic?.trimmed.isEmpty == true { findings.append(FindingRow.topicBlank.at(path.dot("topic"))) }
        return findings + examine(subscription.fields, at: path.dot("fields"), nested: .subscriptionNested)
    }

    /// Returns the findings about fields that have a name and one plain value each.
    private func examine(
        _ fields: [AttributeName: AttributeValue],
        at path: String,
        nested: FindingRow
    ) -> [Finding] {
        let isBad = { (name: AttributeName, value: AttributeValue) in
            !value.isScalar || name.rawValue.trimmed.isEmpty
        }
        // Usually all fields are good, and nothing is copied or sorted.
        guard fields.contains(where: isBad) else { return [] }
        return fields.filter(isBad).inOrder.flatMap { name, value in
            let path = path.dot(name.rawValue)
            return (value.isScalar ? [] : [nested.at(path)])
                + (name.rawValue.trimmed.isEmpty ? [FindingRow.fieldBlank.at(path)] : [])
        }
    }

    private func examine(_ changes: [AttributeName: AttributeChange], _ operation: EngagementOperation) -> [Finding] {
        if changes.isEmpty { return [FindingRow.attributesEmpty.at("action.changes")] }
        let fields = profileFields(of: operation)
        let none = fields.object.isEmpty ? [FindingRow.attributesNone.at("action.changes")] : []
        return fields.findings + none + unidentifiedProfile
    }

    private func examine(_ identifiers: [Identifier]) -> [Finding] {
        let unsupported = identifiers.enumerated().filter { ![.external, .email, .phone].contains($0.element.kind) }
        let findings = unsupported.map { FindingRow.identityKind.at("action.identifiers[\($0.offset)].kind") }
        guard settings.identifiersAsFields else { return findings }
        var fields = ProfileFields(settings)
        fields.add(identifiers)
        return findings + fields.findings + (fields.object.isEmpty ? [] : unidentifiedProfile)
    }

    private func examine(_ event: TrackingEvent, _ operation: EngagementOperation) -> [Finding] {
        let path = "action.event"
        switch event {
        case .push(let interaction, let payload, _):
            // An app that has no payload at hand may name the message itself.
            let isNamed = payload.isEmpty && messageID(payload, operation) != nil
            guard payload["_ac_push"] != nil || isNamed else { return [FindingRow.pushForeign.at(path.dot("payload"))] }
            let kind = kind(of: interaction) == nil ? [FindingRow.pushDismissed.at(path.dot("interaction"))] : []
            let uid =
                messageID(payload, operation) == nil ? [FindingRow.pushWithoutUID.at(path.dot("payload._uid"))] : []
            return kind + uid
        case .custom(let name, let attributes):
            var findings = pixel(options(operation)) == nil ? [FindingRow.eventPixel.at(path)] : []
            if name.trimmed.isEmpty { findings.append(FindingRow.eventName.at(path.dot("name"))) }
            findings += examine(attributes, at: path.dot("attributes"), nested: .eventNested)
            return findings + examineOwner(of: operation)
        default: return [FindingRow.eventKind.at(path.dot("kind"))]
        }
    }

    /// Returns a finding about an event's fields with a role token, which does not identify the profile.
    private func examineOwner(of operation: EngagementOperation) -> [Finding] {
        let options = options(operation)
        guard let option = ["profileFields", "subscription"].first(where: { options[$0] != nil }),
            settings.usedRoleToken != nil, options["matchingIDs"] == nil
        else { return [] }
        return [FindingRow.eventWhose.at("options.altcraft".dot(option))]
    }

    private func examine(_ request: ReadRequest) -> [Finding] {
        guard let mode = StatusQueryMode(rawValue: request.what) else {
            return [FindingRow.readUnknown.at("action.read.what")]
        }
        guard mode == .latestForProvider, let provider = request.arguments["provider"], !provider.isNull else {
            return []
        }
        let isKnown = provider.string.map(PushProvider.isKnown) ?? false
        return isKnown ? [] : [FindingRow.readProvider.at("action.read.arguments.provider")]
    }
}

// MARK: - Content

extension AltcraftDevice {
    /// Returns the vendor's name of a push interaction; nil if it has none.
    func kind(of interaction: PushInteraction) -> String? {
        switch interaction {
        case .received: "delivery"
        case .tapped, .opened: "open"
        case .dismissed: nil
        }
    }

    /// Returns the message of a push: the payload's own id, otherwise the one that the app passes.
    func messageID(_ payload: JSONObject, _ operation: EngagementOperation) -> String? {
        let own = payload["_uid"]?.string ?? payload["_uid"]?.number?.text
        return [own, options(operation)["uid"]?.string].compactMap(\.self).first { !$0.isEmpty }
    }

    /// Returns the pixel that receives an event: the event's own, otherwise the configuration's.
    func pixel(_ options: JSONObject) -> String? {
        if let own = options["pixel"]?.string, !own.isEmpty { return own }
        return settings.pixel.isEmpty ? nil : settings.pixel
    }

    /// The profile fields that an operation changes.
    func profileFields(of operation: EngagementOperation) -> ProfileFields {
        var fields = ProfileFields(settings)
        switch operation.action {
        case .changeAttributes(let changes): fields.add(changes, at: "action.changes")
        case .identify(let identifiers) where settings.identifiersAsFields: fields.add(identifiers)
        default: break
        }
        if let own = options(operation)["profileFields"]?.object { fields.add(settings.sent(own)) }
        return fields
    }

    /// Returns the change of the field with the tags: first the removals; the additions need a second request.
    func tagFields(_ change: TagChange, _ step: Step?) -> JSONObject {
        func texts(_ tags: some Sequence<Tag>) -> JSONValue { .array(tags.map { .string($0.rawValue) }) }
        if change.replace != nil { return [settings.tagsField: texts(change.applied(to: []).sorted())] }
        let deletes = step != .addTags && !change.remove.isEmpty
        let value = texts(deletes ? change.remove : change.add)
        return [settings.tagsField: ProfileFields.update(deletes ? "delete" : "add", value)]
    }

    /// Whether a change of tags needs a second request.
    func needsSecondRequest(_ change: TagChange, _ step: Step?) -> Bool {
        change.replace == nil && step != .addTags && !change.remove.isEmpty && !change.add.isEmpty
    }
}

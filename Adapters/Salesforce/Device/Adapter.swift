public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The device API of Salesforce Marketing Cloud Engagement (MobilePush).
///
/// A complete registration describes an installation. The adapter folds pending operations onto the state that the
/// vendor last accepted, and sends the result at most once a minute. Custom events have a queue of their own.
public struct SalesforceDevice: VendorAdapter {
    public typealias Settings = SalesforceSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Sends the whole registration. Journaled, because the vendor counts registrations.
        case registration
        /// Sends custom events.
        case events

        public var isJournaled: Bool { self == .registration }

        var path: String {
            switch self {
            case .registration: "/device/v1/registration"
            case .events: "/devicestatistics/v1/event"
            }
        }
    }

    let settings: SalesforceSettings

    /// An adapter for one app.
    ///
    /// - Throws: ``SettingsError`` if attribute names collide or can't be used.
    public init(settings: SalesforceSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let options = SalesforceOptions(operation)
        var findings = judge(operation.action, at: operation.capturedAt)
        if findings.contains(where: { $0.severity == .foreign }) { return findings }
        findings += options.unknown.map { FindingRow.optionUnknown.at("options.salesforce.\($0)") }
        if case .ignored = options.signedString {
            findings.append(FindingRow.signedStringInvalid.at("options.salesforce.signedString"))
        }
        if operation.appState == .background, operation.action.kind.changesContactData {
            findings.append(FindingRow.capturedInBackground.at("appState"))
        }
        return findings
    }

    private func judge(_ action: Action, at date: Instant) -> [Finding] {
        switch action {
        case .identify(let identifiers):
            return ContactKeyRules.judge(identifiers, at: "action.identifiers", settings: settings)
        case .switchContact(let change):
            // A change without a contact key is rejected in its turn, too. The previous person has logged out
            // nevertheless.
            if let refusal = ContactKeyRules.refusal(of: change, settings: settings) { return [refusal.asWarning] }
            let row: FindingRow = settings.contactChange == .keep ? .attributesCarriedOver : .attributesCleared
            return ContactKeyRules.judge(change.identifiers, at: "action.switch.identifiers", settings: settings)
                + [row.at("action.switch")]
        case .registerDevice(let device): return DeviceRules.judge(device, at: date)
        case .changeAttributes(let changes):
            if changes.isEmpty { return [FindingRow.attributesEmpty.at("action.changes")] }
            let (kept, findings) = AttributeRules.judge(changes, settings: settings)
            return kept.isEmpty ? findings.map(\.asError) : findings
        case .changeTags(let change):
            let (kept, findings) = TagRules.judge(change)
            guard kept.isEmpty else { return findings }
            return findings.isEmpty ? [FindingRow.tagsEmpty.at("action.tags")] : findings.map(\.asError)
        case .changeSubscription(let subscription): return judge(subscription)
        case .track(.custom(let name, let attributes)) where EventRules.isOrdinary(name, attributes): return []
        case .track(let event): return EventRules.judge(event).findings
        case .setConsent, .unregister, .erase: return []
        case .readBack: return [FindingRow.readBackImpossible.at("action")]
        @unknown default: return [FindingRow.actionUnknown.at("action")]
        }
    }

    private func judge(_ subscription: Subscription) -> [Finding] {
        let path = "action.subscription"
        var findings: [Finding] = []
        if subscription.channel != .push { findings.append(FindingRow.subscriptionChannel.at("\(path).channel")) }
        if let topic = subscription.topic, subscription.channel == .push {
            let problem = TagRules.problem(of: topic)?.at("\(path).topic").asError
            findings.append(problem ?? FindingRow.subscriptionTopic.at("\(path).topic"))
        }
        if subscription.state == .suspended { findings.append(FindingRow.subscriptionSuspended.at("\(path).state")) }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil
            || !subscription.fields.isEmpty
        {
            findings.append(FindingRow.subscriptionDetails.at(path))
        }
        return findings
    }

    public func place(_ operation: EngagementOperation) -> Place {
        let endpoint: Endpoint = operation.action.kind == .track ? .events : .registration
        return Place(lane: operation.subject.rawValue, queue: endpoint.rawValue)
    }
}

extension Action.Kind {
    /// Whether the operation changes contact data in the vendor's sense, which should happen in the foreground (S14).
    fileprivate var changesContactData: Bool {
        switch self {
        case .identify, .switchContact, .changeAttributes, .changeTags, .changeSubscription: true
        case .registerDevice, .setConsent, .track, .unregister, .erase, .readBack: false
        }
    }
}

extension Finding {
    /// The finding as an error, for an operation without other content.
    var asError: Finding { with(.error) }

    /// The finding as a warning, for an operation that is rejected later.
    fileprivate var asWarning: Finding { with(.warning) }

    private func with(_ severity: Severity) -> Finding {
        var copy = self
        copy.severity = severity
        return copy
    }
}

public import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
public import PatchbayModel

/// The server API of Altcraft: its documented API, for back ends and migrations.
///
/// A subject is a contact, and the platform finds its profile by the contact's key. Fields, tags and subscriptions are
/// imported, many profiles per request, with a result for each. Events are goals. All lanes share one retry time.
public struct AltcraftServer: ServerAPI {
    public typealias Settings = AltcraftServerSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// Creates or changes profiles.
        case importProfiles
        /// Creates or changes profiles with increments. Journaled, because a repeat would count twice.
        case increment
        /// Which addresses profiles have, before their subscriptions are changed.
        case lookUp
        /// A profile to be forgotten.
        case deleteProfile
        /// Records a custom event. Journaled, because a repeat would count twice.
        case goal
        /// A push message that arrived or was opened.
        case pushEvent
        /// A page of profiles.
        case listProfiles

        public var isJournaled: Bool { self == .increment || self == .goal }
    }

    /// The progress of an operation.
    public struct Step: Codable, Sendable, Equatable {
        public var most: Int?
        /// The old tags are deleted: the new ones are added.
        var addsTags: Bool?
        /// The subscriptions of the profile that the operation changes.
        var targets: [SubscriptionTarget]?
        /// The opt-outs owed to the contact of the operation, which the vendor has accepted; the first is applied next.
        var owed: [Memory.Owed]?
    }

    let settings: AltcraftServerSettings

    /// An adapter for one database.
    ///
    /// - Throws: ``SettingsError`` if the matching has no field, or a resource no number.
    public init(settings: AltcraftServerSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func problems(ofContentOf operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags: return ProfileRow(operation, nil, settings).findings
        case .changeSubscription(let subscription): return problems(of: subscription)
        case .track(.custom(let name, let attributes)): return GoalRecord.problems(name, attributes, settings)
        case .track(.push(let interaction, let payload, _)):
            return PushRecord.problems(interaction, payload, settings)
        case .track: return [ServerFinding.eventKind.at("action.event")]
        case .readBack(let request):
            return PageQuestion(request) == nil ? [ServerFinding.question.at("action.request")] : []
        case .unregister, .erase: return []
        default: return [FindingRow.actionUnknown.at("action")]
        }
    }

    /// Push events refer to a message, and a page of profiles to no contact.
    public func problems(ofKeyOf operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .track(.push), .readBack: return []
        default: break
        }
        if operation.contactKey.isEmpty { return [ServerFinding.keyBlank.at("contact")] }
        return ProfileKey(operation, settings) == nil ? [ServerFinding.keyForm.at("contact")] : []
    }

    private func problems(of subscription: Subscription) -> [Finding] {
        let path = "action.subscription"
        var findings: [Finding] = []
        if SubscriptionTarget.addressed(subscription.channel) == nil {
            findings.append(ServerFinding.subscriptionChannel.at(path.dot("channel")))
        } else if settings.resource(subscription.channel, subscription.topic) == nil {
            findings.append(ServerFinding.resource.at(path))
        }
        if subscription.state == .unknown { findings.append(ServerFinding.subscriptionUnknown.at(path.dot("state"))) }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil {
            findings.append(ServerFinding.subscriptionDetails.at(path))
        }
        for (name, value) in subscription.fields.inOrder where !value.isScalar {
            findings.append(ServerFinding.subscriptionNested.at(path.dot("fields").dot(name.rawValue)))
        }
        return findings
    }

    /// As many as a request may carry.
    public var window: Int { max(256, settings.profilesPerRequest) }

    public func place(_ operation: EngagementOperation) -> Place {
        Place(of: operation.subject, inPoolOf: settings.lanes)
    }
}

extension AltcraftServer.Step: ServerStep {
    public static var initial: Self { Self() }
}

/// The key by which the platform finds a contact's profile.
struct ProfileKey: Hashable, Sendable {
    /// The profile field of the key.
    let field: String
    /// The key as the platform compares it.
    let text: String
    let matching: AltcraftServerSettings.Matching

    /// Creates the key of an operation's contact; nil if it does not have the form that the matching needs.
    init?(_ operation: EngagementOperation, _ settings: AltcraftServerSettings) {
        self.init(text: operation.contactKey, settings)
    }

    /// Two keys are one if they are the same scalar by scalar, as the platform compares them.
    static func == (left: ProfileKey, right: ProfileKey) -> Bool {
        left.field == right.field && left.matching == right.matching && ScalarString.equal(left.text, right.text)
    }

    func hash(into hasher: inout Hasher) { hasher.combine(ScalarString(text)) }

    /// Creates the key from a text; nil if it does not have the form that the matching needs.
    init?(text key: String, _ settings: AltcraftServerSettings) {
        matching = settings.matching
        switch settings.matching {
        case .custom: (field, text) = (settings.matchingField, key)
        case .email, .emailOfProfile:
            guard Address.isEmail(key) else { return nil }
            (field, text) = ("email", key)
        case .phone:
            guard let number = Address.phone(key) else { return nil }
            (field, text) = ("phones", number)
        }
        if text.isEmpty { return nil }
    }

    var email: String? { field == "email" && matching != .custom ? text : nil }
    var phone: String? { matching == .phone ? text : nil }
    var fieldName: String? { matching == .custom ? field : nil }
    var fieldValue: String? { matching == .custom ? text : nil }

    /// The key among the profile's own fields.
    var value: JSONValue { matching == .phone ? [.string(text)] : .string(text) }

    /// The spellings to query. The platform may store an address in lower case.
    var spellings: [String] {
        let lower = text.lowercased()
        return email == nil || ScalarString.equal(lower, text) ? [text] : [text, lower]
    }

    /// The profile that has this key among those that the platform shows: one that spells it alike before one that spells it
    /// in other case.
    func profile(among profiles: [JSONValue]) -> JSONValue? {
        let exact = profiles.first { holds($0) { ScalarString.equal($0, text) } }
        if exact != nil || matching == .custom { return exact }
        let lower = text.lowercased()
        return profiles.first { holds($0) { ScalarString.equal($0.lowercased(), lower) } }
    }

    private func holds(_ profile: JSONValue, _ isKey: (String) -> Bool) -> Bool {
        guard let held = profile[field] else { return false }
        return (held.array ?? [held]).contains { one in (one.string ?? one.number?.text).map(isKey) ?? false }
    }
}

public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The server API of Adobe Campaign Standard: its REST interface, for back ends and migrations.
///
/// A subject is a contact here. Its profile is looked for by the contact's key, and then made or changed; a topic is a
/// service, to which the profile is subscribed by a record of its own. The vendor's keys of profiles must not be kept, so
/// each operation finds them anew and forgets them when it ends. A few lanes share one token and one word to stay away.
public struct AdobeServer: VendorAdapter {
    public typealias Settings = AdobeServerSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// A token for all the others: a maintenance request.
        case token
        /// Whether the account has the contact's profile.
        case find
        /// A profile that is not there. Journaled, because a repeat would make another.
        case create
        /// A profile that is there.
        case update
        /// A profile to be forgotten.
        case delete
        /// The service that a topic means.
        case service
        /// A service that is not there. Journaled, because a repeat might make another.
        case makeService
        /// To what a profile is subscribed.
        case subscriptions
        /// A profile is subscribed. Journaled, because nobody knows what a repeat does.
        case subscribe
        /// A subscription ends.
        case unsubscribe
        /// A page of a collection.
        case page

        public var isJournaled: Bool { [.create, .makeService, .subscribe].contains(self) }
    }

    /// How far an operation got. The profile is looked for first, so that is no stage.
    public struct Step: Codable, Sendable, Equatable {
        /// What comes next.
        enum Stage: String, Codable, Sendable {
            /// The profile is made.
            case create
            /// The profile is changed or deleted.
            case write
            /// The service is looked for.
            case service
            /// The service is made.
            case makeService
            /// The subscriptions are looked through.
            case list
            /// The profile is subscribed.
            case subscribe
            /// The subscription ends.
            case end
        }

        /// What comes next; nil while the profile is looked for.
        var stage: Stage?
        /// Where to, behind the API's address; nil where that follows from the rest.
        var address: String?
        /// The vendor's key of the service.
        var service: String?
        /// Pages of the collection that were looked through.
        var pages: Int?
        /// Most operations that it may go together with, because one of them was refused.
        var most: Int?
        /// How often it began anew: because nobody knew whether it was done, and because its profile vanished.
        var uncertainties: Int?
        var vanishings: Int?
        /// Answers that said no and not why.
        var faults: Int?
        /// Where an opt-out continues, because several profiles have the contact's key.
        var others: [String]?

        /// The profile is looked for again.
        var searched: Verdict<AdobeServer> {
            var step = next(nil)
            step.others = nil
            return step.asVerdict
        }

        /// The operation continues with this step.
        var asVerdict: Verdict<AdobeServer> { .underway(self) }

        /// The same stage at the next of the profiles; nil behind the last.
        func atNextProfile(_ stage: Stage) -> Step? {
            guard let others, let address = others.first else { return nil }
            var step = next(stage, address)
            step.others = others.count > 1 ? Array(others.dropFirst()) : nil
            return step
        }

        /// The step at another stage.
        func next(_ stage: Stage?, _ address: String? = nil, service: String? = nil) -> Step {
            var step = self
            (step.stage, step.address, step.service, step.pages) = (stage, address, service, nil)
            return step
        }
    }

    let settings: AdobeServerSettings

    /// An adapter for one account.
    ///
    /// - Throws: ``SettingsError`` if the settings do not say how a profile is found, or fields collide.
    public init(settings: AdobeServerSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func examine(_ operation: EngagementOperation) -> [Finding] {
        let content = judge(operation)
        if content.contains(where: { $0.severity == .foreign }) { return content }
        let options = (operation.options[Self.descriptor.id] ?? [:]).map { option in
            ServerFinding.option.at("options.\(Self.descriptor.id.rawValue)".dot(option.name))
        }
        return problems(ofKeyOf: operation) + options + content
    }

    private func judge(_ operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags: return ServerFields(operation, settings).findings
        case .changeSubscription(let subscription):
            return TopicPlace(subscription, settings)?.findings ?? ServerFields(operation, settings).findings
        case .switchContact: return [ServerFinding.contactSwitch.at("action.switch")]
        case .registerDevice: return [ServerFinding.device.at("action.device")]
        case .setConsent: return [ServerFinding.consent.at("action")]
        case .track(.push): return [ServerFinding.push.at("action.event")]
        case .track: return [ServerFinding.event.at("action.event")]
        case .readBack(let request):
            return ServerQuestion(request, settings) == nil ? [ServerFinding.question.at("action.request")] : []
        case .unregister, .erase: return []
        @unknown default: return [ServerFinding.actionUnknown.at("action")]
        }
    }

    private func problems(ofKeyOf operation: EngagementOperation) -> [Finding] {
        let key = operation.adobeKey
        if key.isEmpty { return [ServerFinding.keyBlank.at("contact")] }
        let isPath = settings.matching == .key && [".", ".."].contains(key)
        let isAddress = settings.matching != .email || Self.isAddress(key)
        guard !isPath, isAddress, !key.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return [ServerFinding.keyForm.at("contact")] }
        let limit = ProfileField.named(settings.keyField)?.limit
        guard let limit, key.utf16.count > limit else { return [] }
        return [ServerFinding.keyLong.at("contact", detail: "\(key.utf16.count) characters")]
    }

    private static func isAddress(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty && !$0.contains(where: \.isWhitespace) }
    }

    /// The lane is the contact's: of two subjects that speak of one contact both would make its profile at once.
    public func place(_ operation: EngagementOperation) -> Place {
        let lane = Place(of: Subject(rawValue: operation.adobeKey), inPoolOf: settings.lanes).lane
        return Place(lane: lane, queue: operation.subject.rawValue)
    }
}

extension EngagementOperation {
    /// The contact's key: the contact that it was captured for, else the subject, which is the contact at a back end (B36).
    var adobeKey: String {
        RuleID.adobe("B36").fire()
        return (contact ?? subject.rawValue).trimmed
    }
}

/// The service that a subscription to a topic means.
struct TopicPlace: Sendable {
    /// The channel that messages of the service use.
    let channel: Channel
    /// The service's name; nil where the settings have none, or the state is none.
    private(set) var service: String?
    /// Whether the person wants messages.
    let isOn: Bool
    /// What is to be said.
    private(set) var findings: [Finding]

    /// The place of a subscription with a topic; nil without one.
    init?(_ subscription: Subscription, _ settings: AdobeServerSettings) {
        guard let topic = subscription.topic else { return nil }
        RuleID.adobe("B21").fire()
        (channel, isOn) = (subscription.channel, subscription.state == .subscribed)
        findings = subscription.adobeFindings
        let name = AdobeSourceName(rawValue: "\(subscription.channel.rawValue).\(topic)")
        let isServed = [.email, .sms].contains(subscription.channel)
        if !isServed {
            findings = [ServerFinding.topicChannel.at("action.subscription.channel")]
        } else if let known = settings.services[name] {
            if subscription.state != .unknown { service = known }
        } else {
            findings.append(ServerFinding.serviceUnnamed.at("action.subscription.topic"))
        }
    }
}

extension Subscription {
    /// What neither a flag nor a service can hold of it.
    var adobeFindings: [Finding] {
        let path = "action.subscription"
        if state == .unknown { return [ServerFinding.subscriptionUnknown.at(path.dot("state"))] }
        let hasDetails = changedAt != nil || source != nil || evidence != nil || !fields.isEmpty
        return (state == .suspended ? [ServerFinding.subscriptionSuspended.at(path.dot("state"))] : [])
            + (hasDetails ? [ServerFinding.subscriptionDetails.at(path)] : [])
    }
}

/// What can be asked of the account.
enum ServerQuestion: Sendable, Equatable {
    /// The contact's profile.
    case profile
    /// Every profile with the contact's key, and where its subscriptions are.
    case contact
    /// A page of a collection: the address of its first or its next page.
    case page(String)
    /// A page of a profile's subscriptions: the address that its profile or the page before named.
    case subscriptions(String)

    private static let alone: [String: ServerQuestion] = ["profile": .profile, "contact": .contact]
    /// The collections by the question's word.
    private static let collections = ["profiles": "profile", "services": "service"]

    init?(_ request: ReadRequest, _ settings: AdobeServerSettings) {
        if let alone = Self.alone[request.what], request.arguments.isEmpty {
            self = alone
            return
        }
        let isList = request.what == "subscriptions"
        let collection = Self.collections[request.what]
        guard isList || collection != nil else { return nil }
        var (next, rows): (String?, Int64?)
        for member in request.arguments {
            switch member.name {
            case "next":
                guard let text = member.value.string, let address = ServerAddress(behind: text, settings) else {
                    return nil
                }
                next = address.rest
            case "rows" where !isList:
                guard let number = member.value.integer, (1...1000).contains(number) else { return nil }
                rows = number
            default: return nil
            }
        }
        guard let collection else {
            guard let next else { return nil }
            self = .subscriptions(next)
            return
        }
        let first = "\(settings.resource.rawValue)/\(collection)?_lineCount=\(rows ?? Int64(ServerPace.rowsOfPage))"
        self = .page(next ?? first + "&_forcePagination=true")
    }
}

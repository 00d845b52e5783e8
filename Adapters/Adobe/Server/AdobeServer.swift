public import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayJSON
public import PatchbayModel

/// The server API of Adobe Campaign Standard: its REST interface, for back ends and migrations.
///
/// A subject is a contact. The adapter queries its profile by the contact's key, and then creates or changes the profile. A
/// topic is a service, to which a record of its own subscribes the profile.
///
/// The vendor's profile keys must not be stored. Each operation therefore queries them again and forgets them when it is
/// complete. All lanes share one token and one retry time.
public struct AdobeServer: ServerAPI {
    public typealias Settings = AdobeServerSettings

    /// The requests of this API.
    public enum Endpoint: String, AdapterEndpoint {
        /// A token for all the others: a maintenance request.
        case token
        /// Whether the account has the contact's profile.
        case find
        /// A profile that is not there. Journaled, because a repeat would make another.
        case create
        /// Updates an existing profile.
        case update
        /// A profile to be forgotten.
        case delete
        /// The service that a topic means.
        case service
        /// A service that is not there. Journaled, because a repeat might make another.
        case makeService
        /// Queries the subscriptions of a profile.
        case subscriptions
        /// Subscribes a profile. Journaled, because the effect of a repeated request is unknown.
        case subscribe
        /// A subscription ends.
        case unsubscribe
        /// A page of a collection.
        case page

        public var isJournaled: Bool { [.create, .makeService, .subscribe].contains(self) }
    }

    /// The progress of an operation. The initial query for the profile is no stage.
    public struct Step: Codable, Sendable, Equatable {
        /// The next request.
        enum Stage: String, Codable, Sendable {
            /// Creates the profile.
            case create
            /// Changes or deletes the profile.
            case write
            /// Queries the service.
            case service
            /// Creates the service.
            case makeService
            /// Queries the subscriptions.
            case list
            /// Subscribes the profile.
            case subscribe
            /// Ends the subscription.
            case end
        }

        /// The next request; nil while the profile is queried.
        var stage: Stage?
        /// The address of the next request, relative to the API's address; nil if the other members determine it.
        var address: String?
        /// The vendor's key of the service.
        var service: String?
        /// Pages of the collection that were looked through.
        var pages: Int?
        public var most: Int?
        /// The number of restarts, after uncertain deliveries and because the profile vanished.
        var uncertainties: Int?
        var vanishings: Int?
        /// The number of error replies without a known reason.
        var faults: Int?
        /// The other profiles with the contact's key, at which an opt-out continues.
        var others: [String]?

        /// The verdict that queries the profile again.
        var searched: Verdict<AdobeServer> {
            var step = next(nil)
            step.others = nil
            return step.asVerdict
        }

        /// The operation continues with this step.
        var asVerdict: Verdict<AdobeServer> { .inProgress(self) }

        /// Returns the same stage at the next profile; nil after the last.
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

    /// Creates an adapter for one account.
    ///
    /// - Throws: ``SettingsError`` if the settings do not define how a profile is found, or if fields collide.
    public init(settings: AdobeServerSettings) throws(SettingsError) {
        let problems = settings.problems
        if !problems.isEmpty { throw SettingsError(problems) }
        self.settings = settings
    }

    // MARK: Capture

    public func problems(ofContentOf operation: EngagementOperation) -> [Finding] {
        switch operation.action {
        case .identify, .changeAttributes, .changeTags: return ServerFields(operation, settings).findings
        case .changeSubscription(let subscription):
            return TopicPlace(subscription, settings)?.findings ?? ServerFields(operation, settings).findings
        case .track(.push): return [ServerFinding.push.at("action.event")]
        case .track: return [ServerFinding.event.at("action.event")]
        case .readBack(let request):
            return ServerQuestion(request, settings) == nil ? [ServerFinding.question.at("action.request")] : []
        case .unregister, .erase: return []
        default: return [ServerFinding.actionUnknown.at("action")]
        }
    }

    public func problems(ofKeyOf operation: EngagementOperation) -> [Finding] {
        let key = operation.contactKey
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

    /// Routes by contact, because two subjects with the same contact would otherwise create its profile at the same time.
    public func place(_ operation: EngagementOperation) -> Place {
        let lane = Place(of: Subject(rawValue: operation.contactKey), inPoolOf: settings.lanes).lane
        return Place(lane: lane, queue: operation.subject.rawValue)
    }
}

extension AdobeServer.Step: ServerStep {
    public static var initial: Self { Self() }
}

/// The service of a topic's subscription.
struct TopicPlace: Sendable {
    /// The channel that messages of the service use.
    let channel: Channel
    /// The service's name; nil if the settings name none, or if the state is unknown.
    private(set) var service: String?
    /// Whether the person wants messages.
    let isOn: Bool
    /// The findings about the subscription.
    private(set) var findings: [Finding]

    /// Creates the service of a subscription with a topic; nil without a topic.
    init?(_ subscription: Subscription, _ settings: AdobeServerSettings) {
        guard let topic = subscription.topic else { return nil }
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
    /// The findings about parts that neither a flag nor a service can hold.
    var adobeFindings: [Finding] {
        let path = "action.subscription"
        if state == .unknown { return [ServerFinding.subscriptionUnknown.at(path.dot("state"))] }
        let hasDetails = changedAt != nil || source != nil || evidence != nil || !fields.isEmpty
        return (state == .suspended ? [ServerFinding.subscriptionSuspended.at(path.dot("state"))] : [])
            + (hasDetails ? [ServerFinding.subscriptionDetails.at(path)] : [])
    }
}

/// A query for the account's data.
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
    /// The collections by the query's name.
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

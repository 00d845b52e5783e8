public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// A push token as the vendor names it: provider and token text.
package struct PushAddress: Codable, Sendable, Equatable {
    /// One of the vendor's providers: `ios-apns`.
    package var provider: String
    /// The token.
    package var token: String
}

/// The vendor state that an installation expects.
public struct AltcraftMemory: AdapterMemory {
    /// A push subscription of one contact that this installation created, or may have created.
    struct Holding: Codable, Sendable, Equatable {
        /// The degree of certainty that the vendor has the subscription.
        enum Certainty: String, Codable, Sendable {
            /// The vendor confirmed it.
            case held
            /// A token update without a clear reply may have created it.
            case updating
            /// Another request without a clear reply may have created it.
            case possible
            /// The vendor replied that the subscription does not exist.
            case absent
        }

        /// The subscription's contact; nil for the anonymous person.
        var contact: String?
        /// The push token under which it is.
        var address: PushAddress
        /// The degree of certainty that the vendor has the subscription.
        var certainty: Certainty
        /// The vendor's status, `subscribed`, `unsubscribed` or `suspended`; nil if it is unknown.
        var status: String?
        /// The categories with their states; nil if they are not needed.
        var categories: [String: Bool]?
        /// Whether the vendor may send messages because of it.
        var mayBeSubscribed: Bool

        func isOf(_ contact: String?) -> Bool { self.contact.isExactly(contact) }
    }

    /// The last decision of a contact about the push subscription, or about one topic of it, that was sent or kept.
    struct Decision: Codable, Sendable, Equatable {
        /// The contact who decided; nil for the anonymous person.
        var contact: String?
        /// The topic; nil for the whole subscription.
        var topic: String?
        /// The vendor's status for the decision.
        var status: String
        /// The operation, and its place in the order of capture.
        var operation: String
        var sequence: Int64
    }

    /// A change that concerns a contact, at a position in the order of capture.
    struct Mark: Codable, Sendable, Equatable {
        /// The contact; nil for the anonymous person.
        var contact: String?
        /// The place of the operation that did it.
        var sequence: Int64
    }

    /// A subscription that a log-in creates once the person allows messages.
    struct Owed: Codable, Sendable, Equatable {
        /// The contact; nil for the anonymous person.
        var contact: String?
        /// Whether a subscription that the vendor had was ended so that the release could not resume it.
        var isEnded = false
    }

    /// The role token of the installation, and the start of its use.
    struct Signature: Codable, Sendable, Equatable {
        /// A mark of the role token; empty without one; nil if an older release did not record it.
        var mark: String?
        /// The start of this signature's use. Operations that were captured earlier, on the timeline of `now`, are older.
        var since: Instant
    }

    /// The newest registered installation, as neutral JSON.
    private var registered: Remembered<Device>?
    /// The push subscriptions of all contacts, the one that was confirmed last at the end.
    var holdings: [Holding] = []
    /// A token whose update the vendor refused. It is not sent again.
    var refused: PushAddress?
    /// The last decisions about push, one for each contact and topic.
    var decisions: [Decision] = []
    /// The last change of person whose request was sent.
    var begunPersonChange: Mark?
    /// The position of the last log-in of a known person in the order of capture; nil if there was none.
    var logInAt: Int64?
    /// The log-in or log-out whose person was not subscribed, because that person had not allowed messages (L11).
    var owed: Owed?
    /// The unregistrations and missing permissions after which the contact has not come back.
    var departures: [Mark] = []
    /// The position of the last completed unregistration. Operations that were captured before it subscribe no contact.
    var leftAt: Int64?
    /// The role token's mark; nil if no role token was ever used.
    var signature: Signature?

    /// Nothing known.
    public init() {}

    /// All of it: the token and how it is subscribed, no value of a profile.
    public func afterDenial(of scope: Consent.Scope) -> AltcraftMemory { self }

    /// Subscriptions that the vendor may still have stay: the next log-in or unregistration ends them.
    public func withoutContact(_ contact: String) -> AltcraftMemory {
        var memory = self
        memory.holdings.removeAll { $0.isOf(contact) && !$0.mayBeSubscribed }
        memory.decisions.removeAll { $0.contact.isExactly(contact) }
        memory.forgetDepartures(of: contact)
        if owed?.contact.isExactly(contact) == true { memory.owed = nil }
        return memory
    }

    /// The contacts under whom the vendor may still reach this installation.
    public var registeredContacts: [String?] { holdings.filter(\.mayBeSubscribed).map(\.contact) }

    /// The newest registered installation.
    var device: Device? {
        get { registered?.value }
        set { registered = newValue.map(Remembered.init) }
    }

    /// The installation's time zone as seconds east of UTC; nil while it is unknown.
    var utcOffsetSeconds: Int? { registered?.map { $0.facts?.utcOffsetSeconds } }

    /// Returns the memory after a change of the role token: the installation, without the vendor state under the old token.
    func signed(_ signature: Signature) -> AltcraftMemory {
        var next = AltcraftMemory()
        (next.registered, next.signature) = (registered, signature)
        return next
    }

    /// The maximum number of entries per list. Entries that may be subscribed are never removed.
    static let entryLimit = 64
}

/// The vendor's names of the states of a subscription.
enum SubscriptionStatus {
    static let subscribed = Subscription.State.subscribed.rawValue
    static let unsubscribed = Subscription.State.unsubscribed.rawValue
    static let suspended = Subscription.State.suspended.rawValue
}

extension String? {
    /// Whether the other contact or topic has exactly the same Unicode scalars, or both are nil.
    func isExactly(_ other: String?) -> Bool { map(ScalarString.init) == other.map(ScalarString.init) }
}

// MARK: - Subscriptions

extension AltcraftMemory {
    /// Returns the subscription of a contact under a token; nil if it is unknown.
    func holding(of contact: String?, at address: PushAddress?) -> Holding? {
        holdings.last { $0.isOf(contact) && $0.address == address }
    }

    /// Returns the contact's subscription that the vendor confirmed last; nil if there is none.
    func confirmed(of contact: String?) -> Holding? { holdings.last { $0.isOf(contact) && $0.certainty == .held } }

    /// The subscriptions under which the vendor may reach a contact.
    func reachable(_ contact: String?) -> [Holding] { holdings.filter { $0.isOf(contact) && $0.mayBeSubscribed } }

    /// The subscriptions under which the vendor may reach other contacts than this one.
    func reachableOthers(than contact: String?) -> [Holding] {
        holdings.filter { $0.mayBeSubscribed && !$0.isOf(contact) }
    }

    /// Returns the token update that moves a contact's subscription to `address`; nil if it needs none.
    ///
    /// An update without a clear reply comes first, because the vendor may hold either of its two tokens.
    func move(of contact: String?, to address: PushAddress?) -> (old: PushAddress, new: PushAddress)? {
        guard let address, let old = confirmed(of: contact)?.address else { return nil }
        if let open = holdings.last(where: { $0.isOf(contact) && $0.certainty == .updating })?.address {
            return (old, open)
        }
        return old == address || address == refused ? nil : (old, address)
    }

    /// Stores a subscription's state as the newest.
    mutating func note(_ holding: Holding) {
        holdings.removeAll { $0.isOf(holding.contact) && $0.address == holding.address }
        holdings.append(holding)
        while holdings.count > Self.entryLimit, let place = holdings.firstIndex(where: { !$0.mayBeSubscribed }) {
            holdings.remove(at: place)
        }
    }

    /// Changes the state of a contact's subscription under a token. An unknown subscription starts as `possible`.
    mutating func change(_ contact: String?, at address: PushAddress, _ change: (inout Holding) -> Void) {
        var next =
            holding(of: contact, at: address)
            ?? Holding(contact: contact, address: address, certainty: .possible, mayBeSubscribed: false)
        if next.certainty == .absent { next.certainty = .possible }
        change(&next)
        if let place = holdings.lastIndex(where: { $0.isOf(contact) && $0.address == address }) {
            holdings[place] = next
        } else {
            note(next)
        }
    }

    /// Changes the states of other contacts' subscriptions under a token.
    mutating func changeOthers(than contact: String?, at address: PushAddress, _ change: (inout Holding) -> Void) {
        for place in holdings.indices where !holdings[place].isOf(contact) && holdings[place].address == address {
            change(&holdings[place])
        }
    }

    /// Records that the vendor replaced a token.
    mutating func moved(_ contact: String?, from old: PushAddress, to new: PushAddress) {
        var next =
            holding(of: contact, at: old)
            ?? Holding(contact: contact, address: old, certainty: .held, mayBeSubscribed: true)
        holdings.removeAll { $0.isOf(contact) && ($0.address == old || $0.certainty == .updating) }
        (next.address, next.certainty) = (new, .held)
        note(next)
        refused = nil
    }

    /// Forgets state that a request may have changed at the vendor without a reply.
    ///
    /// - Parameters:
    ///   - endpoint: The kind of request.
    ///   - contact: The contact whose credential signed the request.
    ///   - request: The request.
    ///   - pending: The operation that the request carries.
    mutating func markUncertain(
        _ endpoint: AltcraftDevice.Endpoint,
        _ contact: String?,
        _ request: SentSubscription,
        _ pending: Pending<AltcraftDevice>
    ) {
        guard let address = request.address else { return }
        switch endpoint {
        case .tokenUpdate:
            guard let old = request.oldAddress else { return }
            let isReachable = holding(of: contact, at: old)?.mayBeSubscribed ?? true
            change(contact, at: old) { $0.status = nil }
            change(contact, at: address) {
                if $0.certainty != .held { $0.certainty = .updating }
                ($0.status, $0.mayBeSubscribed) = (nil, $0.mayBeSubscribed || isReachable)
            }
        case .subscribe:
            change(contact, at: address) {
                $0.status = nil
                if request.status == SubscriptionStatus.subscribed { $0.mayBeSubscribed = true }
            }
            if request.replaces { changeOthers(than: contact, at: address) { $0.status = nil } }
        case .unsuspend:
            change(contact, at: address) { ($0.status, $0.mayBeSubscribed) = (nil, true) }
            changeOthers(than: contact, at: address) { $0.status = nil }
        default: break
        }
        if endpoint == .subscribe, isUnrequestedSuspension(pending.operation.action, request.status, contact) {
            noteDeparture(.init(contact: contact, sequence: pending.sequence))
        }
    }

    /// Whether a subscription request suspends a person who has not asked for it. An unregistration does, and so does a
    /// missing permission for notifications.
    func isUnrequestedSuspension(_ action: Action, _ status: String?, _ contact: String?) -> Bool {
        if action == .unregister { return true }
        return [.registerDevice, .switchContact, .setConsent].contains(action.kind)
            && status == SubscriptionStatus.suspended && optOutStatus(of: contact) == nil
    }
}

// MARK: - People and their decisions

extension AltcraftMemory {
    /// The last decision of a contact about a topic, or about the whole subscription.
    func decision(of contact: String?, on topic: String?) -> Decision? {
        decisions.last { $0.contact.isExactly(contact) && $0.topic.isExactly(topic) }
    }

    /// Returns the status of a contact's opt-out from the whole subscription; nil if the last decision is no opt-out.
    func optOutStatus(of contact: String?) -> String? {
        let status = decision(of: contact, on: nil)?.status
        return status == SubscriptionStatus.subscribed ? nil : status
    }

    /// Records a decision, unless a later one is known.
    mutating func note(_ decision: Decision) {
        if let known = self.decision(of: decision.contact, on: decision.topic) {
            guard known.sequence <= decision.sequence else { return }
            decisions.removeAll { $0 == known }
        }
        decisions.append(decision)
        if decisions.count > Self.entryLimit { decisions.removeFirst() }
    }

    /// Records a change of person whose request was sent.
    mutating func beginPersonChange(_ mark: Mark) {
        if mark.contact != nil { logInAt = max(logInAt ?? .min, mark.sequence) }
        guard begunPersonChange.map({ $0.sequence < mark.sequence }) ?? true else { return }
        begunPersonChange = mark
        if let owed, !owed.contact.isExactly(mark.contact) { self.owed = nil }
    }

    /// Returns the unregistration that a contact's operation at a position reverts; nil if there is none.
    func departure(of contact: String?, before place: Int64 = .max) -> Mark? {
        departures.last { $0.contact.isExactly(contact) && $0.sequence < place }
    }

    /// Records an unregistration, or a suspension for lack of a permission.
    mutating func noteDeparture(_ mark: Mark) {
        forgetDepartures(of: mark.contact)
        departures.append(mark)
        if departures.count > Self.entryLimit { departures.removeFirst() }
    }

    /// Records that an unregistration is complete.
    mutating func completeUnregistration(at sequence: Int64) { leftAt = max(leftAt ?? sequence, sequence) }

    /// Forgets a contact's unregistrations, for example because the contact has come back.
    mutating func forgetDepartures(of contact: String?) { departures.removeAll { $0.contact.isExactly(contact) } }
}

/// The content of a subscription request, a token update or a release, read from its body.
struct SentSubscription {
    /// The token that the request concerns; for an update, the new one.
    let address: PushAddress?
    /// The token that an update replaces.
    let oldAddress: PushAddress?
    /// The status of a subscription request.
    let status: String?
    /// Whether the same push token is unsubscribed in other profiles.
    let replaces: Bool

    init(_ endpoint: AltcraftDevice.Endpoint, _ body: JSONValue?) {
        func address(_ provider: JSONValue?, _ token: JSONValue?) -> PushAddress? {
            guard let provider = provider?.string, let token = token?.string else { return nil }
            return PushAddress(provider: provider, token: token)
        }
        let subscription = body?["subscription"]
        let isUpdate = endpoint == .tokenUpdate
        self.address =
            isUpdate
            ? address(body?["new_provider"], body?["new_token"])
            : address(subscription?["provider"], subscription?["subscription_id"])
        oldAddress = isUpdate ? address(body?["old_provider"], body?["old_token"]) : nil
        status = endpoint == .subscribe ? subscription?["status"]?.string : nil
        replaces = endpoint == .subscribe && body?["replace"]?.bool == true
    }
}

extension AltcraftMemory.Signature {
    /// The period before a changed role token is first noticed. Operations captured in it count as captured under the new
    /// token.
    static let grace = Duration.seconds(5)

    /// The mark of a configuration: enough to see a change, too little to find the token.
    static func mark(of settings: AltcraftSettings) -> String {
        settings.usedRoleToken.map(RequestID.mark) ?? ""
    }
}

extension Instant {
    /// Before everything that was ever captured.
    static let beforeAll = Instant(milliseconds: 0)
}

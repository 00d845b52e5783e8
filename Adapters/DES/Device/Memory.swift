public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The identity of the vendor's contact.
struct Identity: Codable, Sendable, Equatable {
    /// The field's number.
    var field: Int
    /// The field's value; nil if an ID token proves the identity.
    var value: String?
    /// A mark that distinguishes ID tokens without containing one.
    var tokenMark: String?

    /// Values are compared by Unicode scalars, because canonically equivalent texts may be different contacts.
    static func == (left: Identity, right: Identity) -> Bool {
        left.field == right.field && left.tokenMark == right.tokenMark
            && left.value.map(ScalarString.init) == right.value.map(ScalarString.init)
    }
}

/// A session in progress.
struct Session: Codable, Sendable, Equatable {
    /// Its id, a UUID.
    var id: String
    /// The start of the session, by the wall clock.
    var startedAt: Instant
}

extension Session {
    /// Returns the session in progress after an operation.
    static func running(_ session: Session?, after pending: Pending<DESDevice>) -> Session? {
        let operation = pending.operation
        if let changedAt = pending.step?.changedAt {
            // A change of contact ends the session and starts another one.
            return session == nil
                ? nil : Session(id: UUIDText.named(operation.id.rawValue, part: "session"), startedAt: changedAt)
        }
        switch operation.action {
        case .track(.sessionStarted):
            return Session(id: UUIDText.named(operation.id.rawValue), startedAt: operation.capturedAt)
        case .track(.sessionEnded): return nil
        default: return session
        }
    }
}

/// A person in the neutral model; without a contact it is the anonymous person.
struct Person: Codable, Sendable, Equatable {
    var contact: String?

    init(_ contact: String?) { self.contact = contact }

    /// Compares contacts scalar by scalar, as ``Identity`` does.
    static func == (left: Person, right: Person) -> Bool {
        left.contact.map(ScalarString.init) == right.contact.map(ScalarString.init)
    }
}

/// A view of a message, or a click on a button of it.
struct EngagementRow: Codable, Sendable, Equatable {
    /// The message's campaign.
    var campaignID: String
    /// The button; nil for a view.
    var buttonID: String?
    /// The time of the interaction, by the wall clock.
    var at: Instant
    /// The operation that captured it. Nil in rows stored by earlier releases.
    var operation: String?
    /// The person who captured it. Nil in rows stored by earlier releases.
    var person: Person?
    /// Whether the vendor has accepted the event of the operation; nil counts as false.
    var isReported: Bool?
}

/// The vendor state that an installation expects.
///
/// Three parts are the vendor's and stay unread: the client state, the tokens, and the device event state.
public struct DESMemory: AdapterMemory {
    /// The id under which the vendor knows this installation.
    var clientID: String?
    /// The application code under which the installation is registered.
    var applicationCode: String?
    /// Whether the vendor has ever accepted a registration under that code.
    var isRegistered = false
    /// The body of the registration that the vendor last accepted; nil if unknown.
    var registration: JSONValue?
    /// The newest registered installation, as neutral JSON.
    private var registered: Remembered<Device>?
    /// The push settings that the app last passed.
    var pushSettings: JSONValue?
    /// The vendor's client state, which every request returns.
    var clientState: String?
    /// The token that represents the contact.
    var contactToken: Secret?
    /// The token with which a new contact token is requested.
    var refreshToken: Secret?
    /// The identified contact; nil for the anonymous contact.
    var identity: Identity?
    /// The person for whom the contact was set; nil if an earlier release set it.
    var person: Person?
    /// The last persons whose log-in was overtaken before it was sent. Their operations do not go to the anonymous contact. Nil
    /// counts as empty.
    var overtaken: [Person]?
    /// Whether a change of contact has no clear reply.
    var isIdentityUncertain = false
    /// The push token that the vendor certainly holds.
    var pushToken: String?
    /// Whether the person has opted out of push.
    var refusesPush = false
    /// The latest push decisions of people; nil without any.
    var decisions: PushDecisions?
    /// Whether the vendor may hold a push token that is not known here for certain.
    var isPushUncertain = false
    /// Whether a forgotten push token has to be registered again.
    var owesPushToken = false
    /// The session in progress.
    var session: Session?
    /// Whether messages inside the app are not to be shown.
    var isDisplayPaused = false
    /// The state that the vendor expects back, unchanged.
    var eventState: EventState?
    /// Views that no successful request has carried, in order; in v3 all views.
    var views: [EngagementRow] = []
    /// Clicks that no successful request has carried, in order; in v3 all clicks.
    var clicks: [EngagementRow] = []
    /// Operations whose view or click the vendor has counted without accepting their event, oldest first. A later attempt or a
    /// replay must not count it again.
    var counted: [String]?
    /// The tags of each message of the inbox as last fetched for the present contact; nil before the first fetch.
    var inbox: [String: [String]]? { didSet { if inbox == nil { uncertainTags = nil } } }
    /// The messages and tags that a request without a reply may have changed.
    var uncertainTags: [[String]]?
    /// The remote configuration.
    var remote = RemoteConfig()
    /// The queue whose first operation is kept. It blocks other requests until its next attempt.
    var stopped: String?
    /// Whether the device event state was removed after a denial, so that the next request of the event service needs another
    /// registration first; nil counts as false.
    var mustRegister: Bool?
    /// The sequence of the last completed unregistration: earlier operations are not carried out any more.
    var leftAt: Int64?
    /// Whether the installation has not been registered since the last complete unregistration; nil counts as false.
    var isLeft: Bool?

    /// Creates an empty memory.
    public init() {}

    /// The memory after an erasure: empty, unless the vendor may still hold the push token or a contact of this installation.
    /// Then it contains the data that taking them back needs.
    public var afterErase: DESMemory {
        var next = DESMemory()
        guard mayHavePushToken || mayHaveContact else { return next }
        (next.clientID, next.applicationCode) = (clientID, applicationCode)
        (next.isPushUncertain, next.isIdentityUncertain) = (mayHavePushToken, mayHaveContact)
        return next
    }

    public func withoutContact(_ contact: String) -> DESMemory {
        var memory = self
        memory.decisions?.forget(contact)
        return memory
    }

    /// Removes the state that a denied purpose covers on every channel. For tracking: the views, clicks, session, and device
    /// event state. For the profile: the registration and the inbox.
    ///
    /// The client, its contact, and its push token stay, because an unregistration and an opt-out need them.
    public func afterDenial(of scope: Consent.Scope) -> DESMemory {
        var memory = self
        if scope.covers(.tracking) {
            if memory.eventState != nil { memory.mustRegister = true }
            (memory.session, memory.eventState) = (nil, nil)
            (memory.views, memory.clicks) = ([], [])
        }
        if scope.covers(.profile) { (memory.registration, memory.inbox) = (nil, nil) }
        return memory
    }

    /// The newest registered installation.
    var device: Device? {
        get { registered?.value }
        set {
            var device = newValue
            device?.identities[DESDevice.repeatedRegistration] = nil
            registered = device.map(Remembered.init)
        }
    }

    // Inlined: the memory, which is large, would be copied for the call.

    /// The installation's time zone as seconds east of UTC; nil if unknown.
    @inline(__always) var utcOffsetSeconds: Int? { registered?.map { $0.facts?.utcOffsetSeconds } }

    /// The installation's facts in a request with events; nil if they are unknown.
    @inline(__always) var eventFacts: (language: String, appVersion: String)? {
        registered?.map { device in device.facts.map { ($0.localization, $0.appVersion) } }
    }

    /// Whether the memory belongs to another application than that of the settings.
    func isOfAnotherApplication(than settings: DESSettings) -> Bool {
        applicationCode.map { $0 != settings.applicationCode } ?? false
    }

    /// Whether the vendor's contact is known to be set for another person than this one.
    ///
    /// The anonymous contact belongs to no other person. Operations that are captured while a log-in is impossible go to it,
    /// unless another person has logged in meanwhile.
    func holdsContact(ofAnotherThan contact: String?) -> Bool {
        if overtaken?.contains(Person(contact)) == true { return true }
        guard identity != nil, let person else { return false }
        return person != Person(contact)
    }

    /// A mark that identifies the contact token without revealing it.
    var contactTokenMark: String? { contactToken.map { TextMark($0.value).digits } }

    /// Records that a person's log-in is never sent, because another person logged in.
    mutating func noteOvertaken(_ other: Person) {
        overtaken = Array(((overtaken ?? []).filter { $0 != other } + [other]).suffix(16))
    }

    /// Records the person for whom the contact is set. Operations of an unknown person belong to the next person.
    mutating func setPerson(_ next: Person) {
        if person == Person(nil) { changeRows { if $0.person == Person(nil) { $0.person = next } } }
        person = next
        overtaken?.removeAll { $0 == next }
        if overtaken?.isEmpty == true { overtaken = nil }
    }

    /// Returns the names of an operation's person for push decisions. Without a contact, it is the current person.
    private func names(of head: Pending<DESDevice>) -> [String] {
        let present = person?.contact == nil ? identity?.value : nil
        return [head.operation.contact ?? present].compactMap(\.self)
    }

    /// Records a person's push decision.
    mutating func decide(_ state: Subscription.State, in head: Pending<DESDevice>) {
        var decisions = decisions ?? PushDecisions()
        decisions.note(state, of: names(of: head), at: head.sequence)
        self.decisions = decisions
    }

    /// Whether a later push decision counts instead: of the same person, of an anonymous person, or of the current person.
    func isOvertaken(_ head: Pending<DESDevice>) -> Bool {
        let present = [person?.contact, identity?.value].compactMap(\.self)
        return [names(of: head), [], present].contains {
            decisions?.isOvertaken(of: $0, at: head.sequence) ?? false
        }
    }

    /// Whether the last statement of a person is an opt-in to push.
    func wantsPush(_ names: [String]) -> Bool { decisions?.state(of: names) == .subscribed }

    /// Records the person for whom an operation sets the contact, and restores that person's last push decision.
    mutating func arrive(_ next: Person, _ names: [String], at sequence: Int64) {
        setPerson(next)
        guard let state = restorePush(of: names, at: sequence) else { return }
        refusesPush = state != .subscribed
    }

    /// Returns the last push decision of a person who logs in; nil if there is none. An opt-out that overtook the change of
    /// contact counts.
    mutating func restorePush(of names: [String], at sequence: Int64) -> Subscription.State? {
        let state = decisions?.arrive(names, at: sequence)
        return decisions?.isNextOptedOut == true ? .unsubscribed : state
    }

    /// Whether a row may be sent under the present contact: the contact of its person, or the anonymous one.
    func maySend(_ row: EngagementRow) -> Bool {
        guard identity != nil, let person, let other = row.person else { return true }
        return person == other
    }

    /// The number of operations in ``counted`` that are remembered.
    private static let mostCounted = 1_000

    /// Removes the first views and clicks that may be sent under the present contact, after the vendor has counted them.
    mutating func removeCounted(views viewCount: Int, clicks clickCount: Int) {
        note(take(viewCount, from: &views) + take(clickCount, from: &clicks))
    }

    /// Removes the views and clicks of campaigns that the vendor no longer counts.
    mutating func removeRows(of campaigns: Set<String>) {
        note((views + clicks).filter { campaigns.contains($0.campaignID) })
        views.removeAll { campaigns.contains($0.campaignID) }
        clicks.removeAll { campaigns.contains($0.campaignID) }
    }

    /// Records that the vendor has accepted the events of these operations.
    mutating func noteReported(_ operations: Set<String>) {
        counted?.removeAll(where: operations.contains)
        if counted?.isEmpty == true { counted = nil }
        changeRows { if $0.operation.map(operations.contains) == true { $0.isReported = true } }
    }

    /// Changes all stored views and clicks.
    private mutating func changeRows(_ change: (inout EngagementRow) -> Void) {
        for index in views.indices { change(&views[index]) }
        for index in clicks.indices { change(&clicks[index]) }
    }

    /// Records removed rows whose event the vendor has not accepted yet.
    private mutating func note(_ removed: [EngagementRow]) {
        let open = removed.filter { $0.isReported != true }.compactMap(\.operation)
        guard !open.isEmpty else { return }
        counted = ((counted ?? []) + open).suffix(Self.mostCounted)
    }

    private func take(_ count: Int, from rows: inout [EngagementRow]) -> [EngagementRow] {
        guard count > 0 else { return [] }
        var (taken, rest): ([EngagementRow], [EngagementRow]) = ([], [])
        for row in rows {
            if taken.count < count, maySend(row) { taken.append(row) } else { rest.append(row) }
        }
        rows = rest
        return taken
    }

    /// Whether the vendor may have another contact than the anonymous one for this installation.
    var mayHaveContact: Bool { identity != nil || isIdentityUncertain }

    /// Whether the device has a push token that the vendor does not hold for certain.
    var lacksPushToken: Bool { device?.pushToken.flatMap(PushAddress.text).map { $0 != pushToken } ?? false }

    /// Whether the vendor may hold a push token.
    var mayHavePushToken: Bool { pushToken != nil || isPushUncertain }

    /// Forgets the push token. The vendor still holds it for now.
    mutating func forgetPushToken() {
        if pushToken != nil { (pushToken, isPushUncertain) = (nil, true) }
    }

    /// Forgets state that a request may have changed at the vendor without a reply.
    mutating func markUnacknowledged(_ endpoint: DESDevice.Endpoint, _ operations: [Pending<DESDevice>]) {
        switch endpoint {
        case .client: registration = nil
        case .pushToken, .pushTokenRemoval: (pushToken, isPushUncertain) = (nil, true)
        case .contact, .anonymousContact: isIdentityUncertain = true
        case .events where inbox != nil:
            for place in operations.compactMap({ InboxTag(of: $0.operation)?.place }) {
                let others = (uncertainTags ?? []).filter { $0 != place }
                uncertainTags = others + [place]
            }
        default: break
        }
    }

    /// Forgets the state of an application code: client state, tokens, contact.
    mutating func forgetApplication(keepingState: Bool) {
        var next = DESMemory()
        (next.clientID, next.registered, next.refusesPush) = (clientID, registered, refusesPush)
        (next.counted, next.leftAt, next.overtaken, next.decisions) = (counted, leftAt, overtaken, decisions)
        next.pushSettings = pushSettings
        (next.session, next.isDisplayPaused, next.remote) = (session, isDisplayPaused, remote)
        if keepingState { (next.eventState, next.views, next.clicks) = (eventState, views, clicks) }
        self = next
    }
}

/// The part of the remote configuration that this adapter applies.
struct RemoteConfig: Codable, Sendable, Equatable {
    /// Whether v4 is enabled; nil if the configuration does not state it.
    var usesV4: Bool?
    /// Addresses that replace the configured ones, by the vendor's names of the services.
    var services: [String: String] = [:]

    init() {}

    /// Reads the vendor's reply. An address outside the vendor's hosts is left out.
    init(_ json: JSONValue) {
        usesV4 = json["features"]?["eventServiceV4"]?.bool
        for service in Service.allCases {
            guard let name = service.remoteName, let address = json["serviceUrls"]?[name]?.string else { continue }
            if VendorHost.isTrusted(address) { services[name] = VendorHost.trimmed(address) }
        }
    }
}

/// The vendor's hosts. A remote configuration may name no other hosts.
enum VendorHost {
    private static let domains = [".emarsys.net", ".emarsys.com"]

    /// Whether an address is https at one of the vendor's hosts.
    static func isTrusted(_ address: String) -> Bool {
        let lowered = address.lowercased()
        guard lowered.hasPrefix("https://"), !lowered.contains(where: { $0.isWhitespace || $0 == "\\" }) else {
            return false
        }
        let authority = lowered.dropFirst("https://".count).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return false }
        let host = authority.prefix { $0 != ":" }
        return domains.contains { host.hasSuffix($0) }
    }

    /// The address without slashes at its end.
    static func trimmed(_ address: String) -> String {
        var address = address
        while address.hasSuffix("/") { address.removeLast() }
        return address
    }
}

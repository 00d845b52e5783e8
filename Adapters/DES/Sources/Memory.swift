public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// Who is set as contact.
struct Identity: Codable, Sendable, Equatable {
    /// The field's number.
    var field: Int
    /// The field's value; nil if an ID token proves who it is.
    var value: String?
    /// What tells one ID token from another without being one.
    var tokenMark: String?

    /// Values are compared scalar by scalar: what looks alike may be another contact.
    static func == (left: Identity, right: Identity) -> Bool {
        left.field == right.field && left.tokenMark == right.tokenMark
            && left.value.map(ScalarString.init) == right.value.map(ScalarString.init)
    }
}

/// A session that runs.
struct Session: Codable, Sendable, Equatable {
    /// Its id, a UUID.
    var id: String
    /// When it began, by the wall clock.
    var startedAt: Instant
}

extension Session {
    /// The session that runs after an operation.
    static func running(_ session: Session?, after pending: Pending<DESDevice>) -> Session? {
        let operation = pending.operation
        if let changedAt = pending.step?.changedAt {
            // A change of contact parts two sessions.
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

/// One view of a message, or one click on a button of it.
struct EngagementRow: Codable, Sendable, Equatable {
    /// The message's campaign.
    var campaignID: String
    /// The button; nil for a view.
    var buttonID: String?
    /// When, by the wall clock.
    var at: Instant
}

/// What one installation remembers of its vendor side.
///
/// Three things in it are the vendor's and never looked into: the client state, the tokens, and the device event state.
public struct DESMemory: AdapterMemory {
    /// The id that the vendor knows this installation by.
    var clientID: String?
    /// The application code under which the installation is registered.
    var applicationCode: String?
    /// Whether the vendor has ever taken a registration under that code.
    var isRegistered = false
    /// The body of the registration that the vendor last took; nil if that is not known.
    var registration: JSONValue?
    /// The newest registered installation, as neutral JSON.
    private var registered: Remembered<Device>?
    /// The push settings that the app last handed over.
    var pushSettings: JSONValue?
    /// Sent back with every request.
    var clientState: String?
    /// Stands for the contact.
    var contactToken: Secret?
    /// Buys a new contact token.
    var refreshToken: Secret?
    /// Who is identified; nil is the anonymous contact.
    var identity: Identity?
    /// Whether a change of contact ended without a clear answer.
    var isIdentityDoubtful = false
    /// The push token that the vendor holds for certain.
    var pushToken: String?
    /// Whether the person wants no push.
    var refusesPush = false
    /// Whether the vendor may hold a push token that is not known here for certain.
    var isPushDoubtful = false
    /// Whether a push token was forgotten that has to be registered anew.
    var owesPushToken = false
    /// The session that runs.
    var session: Session?
    /// Whether messages inside the app are not to be shown.
    var isDisplayPaused = false
    /// What the vendor asked to be given back, as it came.
    var eventState: JSONValue?
    /// Views that no successful request has carried, in order; in v3 all.
    var views: [EngagementRow] = []
    /// Clicks that no successful request has carried, in order; in v3 all.
    var clicks: [EngagementRow] = []
    /// The tags of each message of the inbox as last fetched; nil if it never was.
    var inbox: [String: [String]]?
    /// What the configuration from afar says.
    var remote = RemoteConfig()
    /// The queue whose head is kept: nothing else leaves before it is looked at again.
    var stopped: String?

    /// Nothing known.
    public init() {}

    /// The client, its contact and its push token stay: what takes the token back goes under their names.
    public func afterDenial(of scope: Consent.Scope) -> DESMemory {
        var memory = self
        (memory.registration, memory.session, memory.inbox, memory.eventState) = (nil, nil, nil, nil)
        (memory.views, memory.clicks) = ([], [])
        return memory
    }

    /// The newest registered installation.
    var device: Device? {
        get { registered?.value }
        set { registered = newValue.map(Remembered.init) }
    }

    // Inlined: the memory, which is large, would be copied for the call.

    /// Seconds east of UTC where the installation is; nil as long as nobody knows.
    @inline(__always) var utcOffsetSeconds: Int? { registered?.map { $0.facts?.utcOffsetSeconds } }

    /// What a request with events says of the installation; nil as long as nobody knows.
    @inline(__always) var eventFacts: (language: String, appVersion: String)? {
        registered?.map { device in device.facts.map { ($0.language, $0.appVersion) } }
    }

    /// Whether there is a push token at the vendor, as far as anybody knows.
    var mayHavePushToken: Bool { pushToken != nil || isPushDoubtful }

    /// Forgets the push token, which the vendor goes on holding for now.
    mutating func forgetPushToken() {
        RuleID.des("R7").fire()
        if pushToken != nil { (pushToken, isPushDoubtful) = (nil, true) }
    }

    /// Forgets what a request may have changed at the vendor unseen.
    mutating func doubt(_ endpoint: DESDevice.Endpoint) {
        switch endpoint {
        case .client: registration = nil
        case .pushToken, .pushTokenRemoval: (pushToken, isPushDoubtful) = (nil, true)
        case .contact, .anonymousContact: isIdentityDoubtful = true
        default: break
        }
    }

    /// Forgets what belongs to an application code: state, tokens, contact.
    mutating func forgetApplication(keepingState: Bool) {
        var next = DESMemory()
        (next.clientID, next.registered, next.refusesPush) = (clientID, registered, refusesPush)
        next.pushSettings = pushSettings
        (next.session, next.isDisplayPaused, next.remote) = (session, isDisplayPaused, remote)
        if keepingState { (next.eventState, next.views, next.clicks) = (eventState, views, clicks) }
        self = next
    }
}

/// What the configuration from afar says, as far as this adapter obeys it.
struct RemoteConfig: Codable, Sendable, Equatable {
    /// Whether v4 is on; nil if nothing is said.
    var usesV4: Bool?
    /// Addresses that replace the configured ones, by the vendor's names of the services.
    var services: [String: String] = [:]

    init() {}

    /// Reads the vendor's answer; an address that is not at the vendor's hosts is left out.
    init(_ json: JSONValue) {
        RuleID.des("C1").fire()
        usesV4 = json["features"]?["eventServiceV4"]?.bool
        for service in Service.allCases {
            guard let name = service.remoteName, let address = json["serviceUrls"]?[name]?.string else { continue }
            RuleID.des("T4").fire()
            if VendorHost.isTrusted(address) { services[name] = VendorHost.trimmed(address) }
        }
    }
}

/// The vendor's hosts: what comes from afar may lead nowhere else.
enum VendorHost {
    private static let endings = [".emarsys.net", ".emarsys.com"]

    /// Whether an address is https at one of the vendor's hosts.
    static func isTrusted(_ address: String) -> Bool {
        let lowered = address.lowercased()
        guard lowered.hasPrefix("https://"), !lowered.contains(where: { $0.isWhitespace || $0 == "\\" }) else {
            return false
        }
        let authority = lowered.dropFirst("https://".count).prefix { !"/?#".contains($0) }
        guard !authority.contains("@") else { return false }
        let host = authority.prefix { $0 != ":" }
        return endings.contains { host.hasSuffix($0) }
    }

    /// The address without slashes at its end.
    static func trimmed(_ address: String) -> String {
        var address = address
        while address.hasSuffix("/") { address.removeLast() }
        return address
    }
}

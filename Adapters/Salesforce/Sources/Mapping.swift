import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The state of one installation as registrations describe it: what pending operations are folded onto.
struct Registration: Codable, Sendable, Equatable {
    /// The device id that the vendor's own SDK made here before, if one was adopted.
    var adoptedID: String?
    /// The device id that a registration has left with: from then on it is the device's, whatever is adopted later.
    var knownAs: String?
    /// The contact key; nil until one is known, never nil again.
    var contactKey: String?
    /// The app's opaque token.
    var signedString: Secret?
    /// The push token.
    var pushToken: Secret?
    /// What the device says about itself; nil until it did.
    var facts: Facts?
    /// What the person permits on the device.
    var permissions = Permissions()
    /// The push subscription's state; nil while nobody said anything.
    var pushState: Subscription.State?
    /// Whether the vendor was left or told to forget, so that push stays off.
    var hasLeft = false
    /// Attributes by the vendor's names.
    var attributes: [String: String] = [:]
    /// The app's tags, sorted, without the automatic ones.
    var tags: [String] = []

    /// The device facts that a registration carries.
    struct Facts: Codable, Sendable, Equatable {
        var platform: String
        var platformVersion: String
        var model: String
        var locale: String
        var utcOffsetSeconds: Int
        var isDaylightSaving: Bool
        var appID: String?
        var appVersion: String

        init(_ facts: DeviceFacts) {
            platform = FactRules.platform(facts.platform) ?? facts.platform
            (platformVersion, model) = (facts.platformVersion.trimmed, facts.model.trimmed)
            (locale, utcOffsetSeconds) = (FactRules.locale(facts.locale), facts.utcOffsetSeconds)
            (isDaylightSaving, appID, appVersion) = (facts.isDaylightSaving, facts.appID, facts.appVersion.trimmed)
        }
    }

    /// What the person permits on the device.
    struct Permissions: Codable, Sendable, Equatable {
        var push = false
        var backgroundPush = false
        var location = false
        var proximity = false
    }

    /// Whether push is wanted and permitted (W7).
    var isPushEnabled: Bool {
        permissions.push && !hasLeft && (pushState == nil || pushState == .subscribed)
    }

    /// The warning that a device id was handed over too late to be adopted.
    func adoptionFinding(of device: Device) -> Finding? {
        guard let knownAs, let adopted = DeviceRules.adoptedID(of: device), adopted != knownAs else { return nil }
        return FindingRow.deviceIDLate.at("action.device.identities.\(DeviceRules.identityName.rawValue)")
    }

    /// The state after these operations, each as far as the vendor takes it.
    func applying(
        _ operations: some Sequence<Pending<SalesforceDevice>>,
        settings: SalesforceSettings
    ) -> Registration {
        var state = self
        for pending in operations { state.apply(pending.operation, settings: settings) }
        return state
    }

    private mutating func apply(_ operation: EngagementOperation, settings: SalesforceSettings) {
        switch SalesforceOptions(operation).signedString {
        case .set(let text): signedString = Secret(text)
        case .removed: signedString = nil
        case .absent, .ignored: break
        }
        switch operation.action {
        case .identify(let identifiers):
            contactKey = ContactKeyRules.key(of: identifiers, settings: settings) ?? contactKey
        case .switchContact(let change):
            contactKey = ContactKeyRules.key(of: change.identifiers, settings: settings) ?? contactKey
        case .registerDevice(let device): apply(device)
        case .changeAttributes(let changes):
            for pair in AttributeRules.judge(changes, settings: settings).kept { attributes[pair.name] = pair.value }
        case .changeTags(let change):
            let kept = TagRules.judge(change).kept
            tags = TagRules.applying(kept, to: tags, ignoringCase: settings.tagsIgnoreCase)
        case .changeSubscription(let subscription):
            guard let topic = subscription.topic?.trimmed else {
                pushState = subscription.state
                return
            }
            RuleID.salesforce("D5").fire()
            let change: TagRules.Change =
                subscription.state == .subscribed ? .init(add: [topic]) : .init(remove: [topic])
            tags = TagRules.applying(change, to: tags, ignoringCase: settings.tagsIgnoreCase)
        case .farewell: hasLeft = true
        case .erase:
            (hasLeft, signedString, pushToken, tags) = (true, nil, nil, [])
            attributes = attributes.mapValues { _ in "" }
        case .track, .setConsent, .readBack: break
        @unknown default: break
        }
    }

    private mutating func apply(_ device: Device) {
        adoptedID = DeviceRules.adoptedID(of: device) ?? adoptedID
        pushToken = DeviceRules.token(of: device).map(Secret.init)
        facts = device.facts.map(Facts.init) ?? facts
        permissions = Permissions(
            push: device.allowsPush,
            backgroundPush: device.allowsBackgroundPush,
            location: device.allowsLocation,
            proximity: device.allowsProximity
        )
        hasLeft = false
    }
}

/// What the vendor takes of a device.
enum DeviceRules: Sendable {
    /// Under which name an app hands over the device id of the vendor's own SDK.
    static let identityName: Device.IdentityName = "salesforce.deviceID"

    /// The adopted device id, if there is a good one.
    static func adoptedID(of device: Device) -> String? {
        device.identities[identityName]?.trimmed.nilUnlessUUID
    }

    /// The push token, if the vendor can use it.
    static func token(of device: Device) -> String? {
        guard let token = device.pushToken, problem(of: token, on: device.facts?.platform) == nil else { return nil }
        return token.value.trimmed
    }

    /// What is to be said of a device.
    static func judge(_ device: Device) -> [Finding] {
        var findings = device.facts.map(FactRules.judge) ?? []
        if device.identities[identityName] != nil, adoptedID(of: device) == nil {
            findings.append(FindingRow.deviceIDInvalid.at("action.device.identities.\(identityName.rawValue)"))
        }
        if let token = device.pushToken, let row = problem(of: token, on: device.facts?.platform) {
            findings.append(row.at("action.device.pushToken"))
        }
        return findings
    }

    /// The push service of each platform.
    private static let services: [String: PushToken.Service] = ["iOS": .apns, "Android": .fcm]

    private static func problem(of token: PushToken, on platform: String?) -> FindingRow? {
        let service = platform.flatMap(FactRules.platform).flatMap { services[$0] }
        guard services.values.contains(token.service), service == nil || service == token.service else {
            return .tokenService
        }
        let text = token.value.trimmed
        if text.isEmpty { return .tokenBlank }
        let isFine =
            token.service == .apns
            ? text.utf8.allSatisfy(UUIDText.isHexDigit) : !text.contains(where: \.isWhitespace)
        return isFine ? nil : .tokenInvalid
    }
}

extension String {
    fileprivate var nilUnlessUUID: String? { UUIDText.isValid(self) ? self : nil }
}

/// An operation's words for this adapter alone.
struct SalesforceOptions: Sendable {
    /// What becomes of the signed string (K10).
    enum SignedString: Sendable {
        case absent
        case set(String)
        case removed
        case ignored
    }

    /// What becomes of the signed string.
    let signedString: SignedString
    /// Option names that nobody knows.
    let unknown: [String]

    init(_ operation: EngagementOperation) {
        guard let options = operation.options[SalesforceDevice.descriptor.id] else {
            (signedString, unknown) = (.absent, [])
            return
        }
        unknown = options.names.filter { $0 != "signedString" }
        switch options["signedString"] {
        case nil: signedString = .absent
        case .null?:
            RuleID.salesforce("K10").fire()
            signedString = .removed
        case .string(let text)? where !text.trimmed.isEmpty: signedString = .set(text.trimmed)
        default: signedString = .ignored
        }
    }
}

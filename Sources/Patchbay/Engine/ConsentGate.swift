import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Decides by the subject's consents whether an operation may be sent.
///
/// A denial always counts. Without a decision, an operation passes unless the configuration requires an opt-in for it.
struct ConsentGate {
    enum Decision: Equatable { case pass, hold(String), deny }

    /// The scopes that require an opt-in.
    let required: Set<Consent.Scope>

    /// Returns the consents that concern an action; empty if the action needs none.
    func scopes(of action: Action) -> [Consent.Scope] {
        switch action {
        case .track(.push): [Consent.Scope(.tracking, channel: .push)]
        case .track: [.tracking]
        // A subscription to push messages needs the registration that it depends on.
        case .changeSubscription(let subscription)
        where subscription.channel == .push && subscription.state == .subscribed:
            [Consent.Scope(.messaging, channel: .push), Self.registration]
        case .changeSubscription(let subscription): [Consent.Scope(.messaging, channel: subscription.channel)]
        case .registerDevice(let device) where device.pushToken != nil: [Self.registration]
        // A log-out separates the installation from a person. It waits for no consent, and no denial drops it.
        case .switchContact(let change) where change.direction == .logOut: []
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags: [.profile]
        case .setConsent, .unregister, .erase, .readBack: []
        }
    }

    private static let registration = Consent.Scope(.profile, channel: .push)

    /// Returns the consents that an action needs. An opt-out needs none and is sent in spite of a denial.
    func requirements(of action: Action) -> [Consent.Scope] { action.isOptOut ? [] : scopes(of: action) }

    /// Returns whether an action may be sent under the person's consents.
    func decision(for action: Action, _ snapshot: SubjectSnapshot) -> Decision {
        decision(on: requirements(of: action), snapshot)
    }

    /// Returns whether an action that needs several consents may be sent. One denial is enough to drop it.
    func decision(on scopes: [Consent.Scope], _ snapshot: SubjectSnapshot) -> Decision {
        var missing: [Consent.Scope] = []
        for scope in scopes {
            switch decision(on: scope, snapshot.consent(for: scope.purpose, channel: scope.channel)) {
            case .pass: break
            case .hold: missing.append(scope)
            case .deny: return .deny
            }
        }
        return missing.isEmpty ? .pass : .hold(Self.hold(for: missing))
    }

    func decision(on scope: Consent.Scope, _ state: Consent.State) -> Decision {
        switch state {
        case .granted: .pass
        case .denied: .deny
        case .unknown: required.contains { $0.covers(scope) } ? .hold(Self.hold(for: [scope])) : .pass
        }
    }

    /// Whether a registration with a push token may be sent under the person's consents.
    func allowsPushRegistration(_ snapshot: SubjectSnapshot) -> Bool {
        decision(on: [Self.registration], snapshot) == .pass
    }

    /// Returns why no vendor may be queried about the person; nil if queries are allowed. The answer is part of the profile.
    func refusal(toRead snapshot: SubjectSnapshot) -> Finding? {
        switch decision(on: .profile, snapshot.consent(for: .profile)) {
        case .pass: nil
        case .hold: FindingRow.Engine.consentUnknown.at()
        case .deny: FindingRow.Engine.consentDenied.at()
        }
    }

    // MARK: Names of holds

    /// Returns the name of a hold for consents: `consent.messaging.sms`, or `consent.messaging.push+consent.profile.push`.
    static func hold(for scopes: [Consent.Scope]) -> String {
        scopes.map { scope in
            let parts = [scope.purpose.rawValue] + (scope.channel.map { [$0.rawValue] } ?? [])
            return "consent." + parts.map(escaped).joined(separator: ".")
        }.joined(separator: "+")
    }

    /// Returns the consents that a hold waits for; nil if it waits for something else.
    static func scopes(ofHold hold: String) -> [Consent.Scope]? {
        var scopes: [Consent.Scope] = []
        for name in hold.split(separator: "+", omittingEmptySubsequences: false) {
            let parts = name.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
            guard (2...3).contains(parts.count), parts[0] == "consent" else { return nil }
            let channel = parts.count == 3 ? Channel(rawValue: unescaped(parts[2])) : nil
            scopes.append(Consent.Scope(Purpose(rawValue: unescaped(parts[1])), channel: channel))
        }
        return scopes
    }

    /// Purposes and channels are open sets, so their names may contain the separators.
    private static func escaped(_ name: String) -> String {
        name.replacing("%", with: "%25").replacing(".", with: "%2E").replacing("+", with: "%2B")
    }

    private static func unescaped(_ name: String) -> String {
        name.replacing("%2B", with: "+").replacing("%2E", with: ".").replacing("%25", with: "%")
    }
}

extension SubjectSnapshot {
    /// Whether a former person captured an operation. That person's consents were applied to it, and the current person's are
    /// not.
    ///
    /// An operation without a contact counts as the former person's. A registration belongs to the installation and is sent
    /// on behalf of the current person. The operations of a person who comes back count as the current person's.
    func isOfAnother(_ operation: EngagementOperation, _ sequence: Int64) -> Bool {
        guard let cameAfter, sequence <= cameAfter, operation.action.kind != .registerDevice else { return false }
        guard let author = operation.contact else { return true }
        return !author.isSame(as: contact) && !identifiers.contains { author.isSame(as: $0.value) }
    }
}

extension Action {
    /// Whether the action reduces what the vendor may do: an unsubscription, a denial, an erasure or an unregistration.
    var isOptOut: Bool {
        switch self {
        case .changeSubscription(let subscription):
            subscription.state.isOptOut
        case .setConsent(let consent): consent.state == .denied
        case .erase, .unregister: true
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags, .track, .readBack: false
        }
    }
}

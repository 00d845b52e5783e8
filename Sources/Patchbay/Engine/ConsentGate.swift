import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Decides by the subject's consents whether an operation may be sent.
///
/// A no always counts. Without an answer everything passes but what the configuration requires a yes for.
struct ConsentGate {
    enum Decision: Equatable { case pass, hold(String), deny }

    /// What needs a yes.
    let required: Set<Consent.Scope>

    /// What an action serves; nil for what serves nothing that a person is asked about.
    func scope(of action: Action) -> Consent.Scope? {
        switch action {
        case .track(.push): Consent.Scope(.tracking, channel: .push)
        case .track: .tracking
        case .changeSubscription(let subscription): Consent.Scope(.messaging, channel: subscription.channel)
        case .registerDevice(let device) where device.pushToken != nil: Consent.Scope(.profile, channel: .push)
        // A log-out parts the installation from a person: it waits for no consent, and no denial drops it.
        case .switchContact(let change) where change.direction == .logOut: nil
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags: .profile
        case .setConsent, .farewell, .erase, .readBack: nil
        }
    }

    /// What an action needs a consent for. An opt-out waits for none and is sent in spite of a denial.
    func requirement(of action: Action) -> Consent.Scope? { action.isOptOut ? nil : scope(of: action) }

    /// Whether an action may be sent, as the person's consents stand.
    func decision(for action: Action, _ mirror: SubjectSnapshot) -> Decision {
        guard let scope = requirement(of: action) else { return .pass }
        return decision(on: scope, mirror.consent(for: scope.purpose, channel: scope.channel))
    }

    func decision(on scope: Consent.Scope, _ state: Consent.State) -> Decision {
        switch state {
        case .granted: .pass
        case .denied: .deny
        case .unknown: required.contains { $0.covers(scope) } ? .hold(Self.hold(for: scope)) : .pass
        }
    }

    /// Whether a registration with a push token may be sent, as the person's consents are.
    func allowsPushRegistration(_ snapshot: SubjectSnapshot) -> Bool {
        decision(on: Consent.Scope(.profile, channel: .push), snapshot.consent(for: .profile, channel: .push)) == .pass
    }

    /// Why nobody may be asked about the person now; nil if they may. An answer is part of the profile.
    func refusal(toRead mirror: SubjectSnapshot) -> Finding? {
        switch decision(on: .profile, mirror.consent(for: .profile)) {
        case .pass: nil
        case .hold: FindingRow.Engine.consentUnknown.at()
        case .deny: FindingRow.Engine.consentDenied.at()
        }
    }

    // MARK: Names of holds

    /// The name under which an operation waits for a yes: `consent.messaging`, `consent.messaging.sms`.
    static func hold(for scope: Consent.Scope) -> String {
        let parts = [scope.purpose.rawValue] + (scope.channel.map { [$0.rawValue] } ?? [])
        return "consent." + parts.map(escaped).joined(separator: ".")
    }

    /// What waits under that name; nil if it is not for consent that it waits.
    static func scope(ofHold hold: String) -> Consent.Scope? {
        let parts = hold.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard (2...3).contains(parts.count), parts[0] == "consent" else { return nil }
        return Consent.Scope(
            Purpose(rawValue: unescaped(parts[1])),
            channel: parts.count == 3 ? Channel(rawValue: unescaped(parts[2])) : nil
        )
    }

    /// Purposes and channels are open sets: a dot in one of their names is not the dot between the two.
    private static func escaped(_ name: String) -> String {
        name.replacing("%", with: "%25").replacing(".", with: "%2E")
    }

    private static func unescaped(_ name: String) -> String {
        name.replacing("%2E", with: ".").replacing("%25", with: "%")
    }
}

extension SubjectSnapshot {
    /// Whether somebody else did it, who was there before: that person's words were about it, and the words of whoever is
    /// there now are not.
    ///
    /// What nobody known did goes with whoever came next. A registration is the installation's, and on behalf of whoever is
    /// there. Who comes back finds what the same person did.
    func isOfAnother(_ operation: EngagementOperation, _ sequence: Int64) -> Bool {
        guard let cameAfter, sequence <= cameAfter, operation.action.kind != .registerDevice,
            !DeliberateFault.denialOfOthers.isPresent
        else { return false }
        guard let author = operation.contact else { return true }
        return !author.isSame(as: contact) && !identifiers.contains { author.isSame(as: $0.value) }
    }
}

extension Action {
    /// Whether it takes something away from what the vendor may do: an unsubscription, a denial, an erasure, an unregister.
    var isOptOut: Bool {
        switch self {
        case .changeSubscription(let subscription):
            subscription.state.isOptOut
        case .setConsent(let consent): consent.state == .denied
        case .erase, .farewell: true
        case .identify, .switchContact, .registerDevice, .changeAttributes, .changeTags, .track, .readBack: false
        }
    }
}

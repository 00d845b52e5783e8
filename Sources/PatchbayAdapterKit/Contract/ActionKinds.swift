public import PatchbayModel

/// Sorts of operations, several at once: tells at a glance what a window does not hold.
public struct ActionKinds: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// A registration of the installation.
    public static let registerDevice = ActionKinds(rawValue: 1)
    /// A word of the person on what is allowed.
    public static let setConsent = ActionKinds(rawValue: 1 << 1)
    /// A change of person.
    public static let switchContact = ActionKinds(rawValue: 1 << 2)
    /// The vendor is left, or the person forgotten.
    public static let leave = ActionKinds(rawValue: 1 << 3)
    /// A question to the vendor.
    public static let readBack = ActionKinds(rawValue: 1 << 4)
    /// What is known of the person: identifiers, attributes, tags, subscriptions.
    public static let changes = ActionKinds(rawValue: 1 << 5)
    /// The begin or the end of a session.
    public static let session = ActionKinds(rawValue: 1 << 6)
    /// Any other event.
    public static let event = ActionKinds(rawValue: 1 << 7)

    /// The sort of one action.
    public init(_ action: Action) {
        self =
            switch action {
            case .registerDevice: .registerDevice
            case .setConsent: .setConsent
            case .switchContact: .switchContact
            case .unregister, .erase: .leave
            case .readBack: .readBack
            case .identify, .changeAttributes, .changeTags, .changeSubscription: .changes
            case .track(.sessionStarted), .track(.sessionEnded): .session
            case .track: .event
            }
    }
}

extension Action {
    /// The state of a consent that decides whether push messages are allowed: to messages or to a profile on that channel. Nil
    /// for any other action.
    public var pushMessageConsent: Consent.State? {
        guard case .setConsent(let consent) = self,
            consent.scope.covers(Consent.Scope(.messaging, channel: .push))
                || consent.scope.covers(Consent.Scope(.profile, channel: .push))
        else { return nil }
        return consent.state
    }
}

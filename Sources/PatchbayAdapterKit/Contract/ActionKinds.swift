public import PatchbayModel

/// A set of operation kinds, which quickly shows what a window does not contain.
public struct ActionKinds: OptionSet, Hashable, Sendable {
    public let rawValue: UInt16

    @inlinable public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// Registers the installation.
    public static let registerDevice = ActionKinds(rawValue: 1)
    /// Sets the person's consent.
    public static let setConsent = ActionKinds(rawValue: 1 << 1)
    /// Switches to another contact.
    public static let switchContact = ActionKinds(rawValue: 1 << 2)
    /// Unregisters the device from the vendor, or erases the person.
    public static let leave = ActionKinds(rawValue: 1 << 3)
    /// Queries the vendor.
    public static let readBack = ActionKinds(rawValue: 1 << 4)
    /// Changes the person's data: identifiers, attributes, tags, or subscriptions.
    public static let changes = ActionKinds(rawValue: 1 << 5)
    /// Starts or ends a session.
    public static let session = ActionKinds(rawValue: 1 << 6)
    /// Records any other event.
    public static let event = ActionKinds(rawValue: 1 << 7)

    /// Creates the kind of one action.
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
    /// The consent state that decides whether push messages are allowed: for the purpose messaging or profile on the channel
    /// push. Nil for any other action.
    public var pushMessageConsent: Consent.State? {
        guard case .setConsent(let consent) = self,
            consent.scope.covers(Consent.Scope(.messaging, channel: .push))
                || consent.scope.covers(Consent.Scope(.profile, channel: .push))
        else { return nil }
        return consent.state
    }
}

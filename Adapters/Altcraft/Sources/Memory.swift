public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// A push token as the vendor names it: provider and token text.
struct PushAddress: Codable, Sendable, Equatable {
    /// One of the vendor's providers: `ios-apns`.
    var provider: String
    /// The token.
    var token: String
}

/// What one installation remembers of its vendor side.
public struct AltcraftMemory: AdapterMemory {
    /// The push subscription of one contact, as the vendor last confirmed it.
    struct Standing: Codable, Sendable, Equatable {
        /// Whose it is; nil is the anonymous person.
        var contact: String?
        /// The vendor's word: `subscribed`, `unsubscribed`, `suspended`; nil: there is none.
        var status: String?
        /// The categories with whether they are active; nil if nobody needs to know.
        var categories: [String: Bool]?
    }

    /// Under which role token the installation speaks, and since when.
    struct Signature: Codable, Sendable, Equatable {
        /// A mark of the role token; empty without one; nil where an older release did not note it.
        var mark: String?
        /// What was captured before is older than this signature, on the timeline of `now`.
        var since: Instant
    }

    /// A farewell that suspended a subscription, or may have.
    struct Leave: Codable, Sendable, Equatable {
        /// Whose subscription; nil is the anonymous person's.
        var contact: String?
        /// The farewell's place in the outbox: only what comes behind it is a return.
        var sequence: Int64
    }

    /// The newest registered installation, as neutral JSON.
    private var registered: Remembered<Device>?
    /// The token under which the vendor holds this installation.
    var saved: PushAddress?
    /// A token that an update without a clear answer may have made the vendor's.
    var doubtful: PushAddress?
    /// A token whose update the vendor refused; it is not offered again.
    var refused: PushAddress?
    /// The present push subscription, if it is known.
    var standing: Standing?
    /// The farewell that nobody has come back from, and after which the person said nothing about the subscription.
    var leave: Leave?
    /// The role token's mark; nil as long as there never was a role token.
    var signature: Signature?

    /// Nothing known.
    public init() {}

    /// All of it: the token and how it is subscribed, no value of a profile.
    public func afterDenial(of scope: Consent.Scope) -> AltcraftMemory { self }

    /// The newest registered installation.
    var device: Device? {
        get { registered?.value }
        set { registered = newValue.map(Remembered.init) }
    }

    /// Seconds east of UTC where the installation is; nil as long as nobody knows.
    var utcOffsetSeconds: Int? { registered?.map { $0.facts?.utcOffsetSeconds } }

    /// The token from which the vendor must be moved to `address`; nil if there is nothing to move.
    func outdated(by address: PushAddress?) -> PushAddress? {
        guard let address, let saved, address != refused else { return nil }
        return address == saved ? doubtful : saved
    }

    /// What the vendor holds for that contact; nil if nobody knows.
    func status(of contact: String?) -> Standing? {
        standing.flatMap { $0.contact.map(ScalarString.init) == contact.map(ScalarString.init) ? $0 : nil }
    }

    /// The farewell that the contact comes back from with what was captured at that place; nil if there is none.
    func leave(of contact: String?, before place: Int64 = .max) -> Leave? {
        guard let leave, leave.sequence < place else { return nil }
        return leave.contact.map(ScalarString.init) == contact.map(ScalarString.init) ? leave : nil
    }

    /// Forgets what a request may have changed at the vendor unseen.
    ///
    /// - Parameters:
    ///   - endpoint: where it goes.
    ///   - address: the token that it is about.
    ///   - pending: what it carries.
    mutating func doubt(
        _ endpoint: AltcraftDevice.Endpoint,
        _ address: PushAddress?,
        _ pending: Pending<AltcraftDevice>
    ) {
        switch endpoint {
        case .tokenUpdate: (doubtful, standing) = (address, nil)
        case .subscribe, .unsuspend: standing = nil
        default: break
        }
        if endpoint == .subscribe, pending.operation.action == .farewell {
            leave = .init(contact: pending.operation.contact, sequence: pending.sequence)
        }
    }

    /// What is left when the role token is another: the installation itself, nothing that the vendor knew under the old.
    func signed(_ signature: Signature) -> AltcraftMemory {
        var next = AltcraftMemory()
        (next.registered, next.signature) = (registered, signature)
        return next
    }
}

extension AltcraftMemory.Signature {
    /// Captures of the last moments before a changed role token was first seen count as made under it.
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

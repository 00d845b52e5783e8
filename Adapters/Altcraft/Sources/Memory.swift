public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

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
    }

    /// The newest registered installation, as neutral JSON.
    private var registered: JSONValue?
    /// The token under which the vendor holds this installation.
    var saved: PushAddress?
    /// A token that an update without a clear answer may have made the vendor's.
    var doubtful: PushAddress?
    /// A token whose update the vendor refused; it is not offered again.
    var refused: PushAddress?
    /// The present push subscription, if it is known.
    var standing: Standing?

    /// Nothing known.
    public init() {}

    /// The newest registered installation.
    var device: Device? {
        get { registered.flatMap { try? Device(json: $0, at: "") } }
        set { registered = newValue?.json }
    }

    /// The token from which the vendor must be moved to `address`; nil if there is nothing to move.
    func outdated(by address: PushAddress?) -> PushAddress? {
        guard let address, let saved, address != refused else { return nil }
        return address == saved ? doubtful : saved
    }

    /// What the vendor holds for that contact; nil if nobody knows.
    func status(of contact: String?) -> Standing? { standing.flatMap { $0.contact == contact ? $0 : nil } }
}

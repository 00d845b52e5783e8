public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What one installation remembers of its vendor side.
public struct AdobeMemory: AdapterMemory {
    /// How often this installation began anew: each opt-out makes another identity.
    var generation = 0
    /// The identity that the app gave, as the vendor's own SDK made it; counts until the first opt-out.
    var adopted: String?
    /// The vendor's word for the push service; nil until a device was registered.
    var platform: String?
    /// Whether the vendor was told a push token.
    var hasToken = false
    /// The identity under which a registration was last decided, whether it got through or not.
    var registeredECID: String?
    /// When the request was captured whose success postpones the next registration.
    var registeredAt: Instant?
    /// Whether nothing has left under this identity: then an opt-out needs no other.
    var isUnused = false
    /// What the vendor took of each field: a digest, never the value.
    var known: [String: String] = [:]

    /// Nothing known.
    public init() {}

    /// Forgets what a request may have changed at the vendor unseen.
    mutating func doubt(
        _ endpoint: AdobeDevice.Endpoint,
        _ operation: EngagementOperation,
        fields: [JSONObject.Member]
    ) {
        switch endpoint {
        case .attributes: for field in fields { known[field.name] = nil }
        case .pushToken: hasToken = hasToken || operation.hasPushToken
        case .tracking, .registration: break
        }
    }

    /// After an opt-out or an erasure the person's traces are gone, and the device begins anew under another identity.
    ///
    /// The stored time stays, as on iOS: another identity registers at once anyway.
    public var afterErase: AdobeMemory {
        var next = AdobeMemory()
        (next.generation, next.isUnused) = (generation + 1, true)
        (next.platform, next.registeredAt) = (platform, registeredAt)
        return next
    }
}

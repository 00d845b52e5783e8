public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What one installation remembers of its vendor side.
public struct AdobeClassicMemory: AdapterMemory {
    /// The push token; nothing is registered without one.
    var token: Secret?
    /// What the device says about itself, as neutral JSON.
    private var deviceFacts: JSONValue?
    /// Who is there, by the kind of identifier that the settings name.
    var userKey: String?
    /// The additional parameters, by name.
    var parameters: [String: String] = [:]
    /// The digest of the last registration that the vendor took.
    var registeredHash: String?

    /// Nothing known.
    public init() {}

    /// What the device says about itself.
    var facts: DeviceFacts? {
        get { deviceFacts.flatMap { try? DeviceFacts(json: $0, at: "") } }
        set { deviceFacts = newValue?.json }
    }

    /// After an opt-out only the device is known.
    var afterOptOut: AdobeClassicMemory {
        var next = AdobeClassicMemory()
        (next.token, next.deviceFacts) = (token, deviceFacts)
        return next
    }
}

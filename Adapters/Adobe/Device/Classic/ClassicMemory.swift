public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The vendor state that the adapter expects for one installation.
public struct AdobeClassicMemory: AdapterMemory {
    /// The push token. Without a token the device is not registered.
    var token: Secret?
    /// The device's facts, as neutral JSON.
    private var deviceFacts: JSONValue?
    /// The newest device registration.
    var device: DeviceRegistration?
    /// The current person's identifier of the kind that the settings name.
    var userKey: String?
    /// The additional parameters, by name.
    var parameters: [String: String] = [:]
    /// The current person, as far as operations identify one.
    var who = Person()
    /// The consents of that person.
    var consents = PushConsents()
    /// The digest of the last registration that the vendor accepted.
    var registeredHash: String?
    /// A digest of the server and the app that `registeredHash` belongs to.
    var account: String?
    /// The registrations of a person that the vendor may hold, oldest first.
    var held: [HeldRegistration] = []

    /// The position of the first pending erasure in the order of capture. The state is that of later operations.
    var erasure: Int64?

    /// Creates an empty memory.
    public init() {}

    /// The device's facts.
    var facts: DeviceFacts? {
        get { deviceFacts.flatMap { try? DeviceFacts(json: $0, at: "") } }
        set { deviceFacts = newValue?.json }
    }

    /// The memory that may be kept after an erasure: the state of later operations, and the devices that still have to be
    /// registered without a person.
    public var afterErase: AdobeClassicMemory {
        var next = self
        if erasure == nil { next.begin(erasure: .max) }
        next.erasure = nil
        if next.device == nil { next.deviceFacts = nil }
        return next
    }

    /// Forgets the state before an erasure, except for registrations that the erasure has to replace.
    mutating func begin(erasure sequence: Int64) {
        var next = AdobeClassicMemory()
        (next.erasure, next.deviceFacts) = (sequence, deviceFacts)
        next.consents = consents
        next.consents.forget(before: sequence)
        next.held = held
        for place in next.held.indices { next.held[place].person = HeldRegistration.erased }
        self = next
    }

    /// Whether an erasure was captured after an operation.
    func isErased(_ sequence: Int64) -> Bool { erasure.map { sequence < $0 } ?? false }

    /// Returns the memory unchanged: the denial itself is an operation, whose plan removes the person from the registration.
    public func afterDenial(of scope: Consent.Scope) -> AdobeClassicMemory { self }

    /// Forgets the person: the device stays.
    mutating func forgetPerson() { (userKey, parameters) = (nil, [:]) }

    /// Starts the state of another person. Consent decisions are forgotten unless `keepingConsents` is set.
    mutating func begin(_ person: Person, userKey: String?, _ sequence: Int64, keepingConsents: Bool = false) {
        forgetPerson()
        (who, self.userKey) = (person, userKey)
        if !keepingConsents { consents.forget(before: sequence) }
    }

    /// Records the data that the vendor may hold after a request, regardless of its reply.
    mutating func markUncertain(_ sent: HeldRegistration?) {
        registeredHash = nil
        guard let sent, !held.contains(sent) else { return }
        held = Array((held + [sent]).suffix(8))
    }
}

/// A registration at the vendor that identifies a person.
struct HeldRegistration: Codable, Sendable, Equatable {
    /// The host that holds the registration.
    var server: String
    /// The app's key there.
    var key: String
    /// The push token.
    var token: Secret
    /// A digest of the user key; `erased` if the person's data is to be erased.
    var person: String

    /// The mark of a registration that an erasure must end.
    static let erased = ""
}

extension HeldRegistration {
    /// Creates the person's data of a registration; nil without a user key and parameters.
    init?(_ settings: AdobeClassicSettings, token: Secret, userKey: String, hasParameters: Bool) {
        guard !userKey.isEmpty || hasParameters else { return nil }
        (server, key) = (settings.marketingServer, settings.integrationKey)
        (self.token, person) = (token, Person.digest(userKey))
    }

    /// Whether both are registrations of the same device at the same app.
    func replaces(_ other: HeldRegistration) -> Bool {
        (server, key, token) == (other.server, other.key, other.token)
    }

    /// Whether it is at the app that the settings name.
    func isAt(_ settings: AdobeClassicSettings) -> Bool {
        server == settings.marketingServer && key == settings.integrationKey
    }
}

public import PatchbayModel
import PatchbayAdapterKit

/// The state of a simulated instance of Campaign Standard. Every list has a fixed order, so that equal states have equal
/// JSON.
public struct AdobeAccount: Codable, Sendable, Equatable {
    /// The mobile profiles, by app and identity.
    public var profiles: [MobileProfile] = []
    /// The app and the identity of the latest post.
    public var newest: [String]?
    /// The reported push interactions, in the order of their first reports.
    public var reports: [PushReport] = []
    /// The push tokens that the identity service holds, by identity.
    public var tokens: [KnownToken] = []
    /// The identities with a reported opt-out, in the order of the first reports.
    public var optOuts: [String] = []
    /// The client's violations of the vendor's rules that the server accepts nevertheless, oldest first.
    public var violations: [String] = []
    /// Requests by kind and status: `tracking 200`.
    public var counts: [String: Int] = [:]

    /// Creates an instance without requests.
    public init() {}

    /// Returns the reports about one message as action numbers, in the order of the first reports.
    public func actions(of broadlogID: String) -> [String] {
        reports.filter { $0.broadlogID == broadlogID }.map(\.action)
    }
}

/// One app on one device: a subscription to an application, as the vendor calls it.
public struct MobileProfile: Codable, Sendable, Equatable {
    /// The app.
    public var pkey: String
    /// The device's identity.
    public var ecid: String
    /// `apns` or `gcm`.
    public var platform: String
    /// The fields by id.
    public var fields: [String: String] = [:]
    /// Posts without a field: registrations.
    public var registrations = 0
    /// Posts with fields.
    public var updates = 0
    /// The time of the last post.
    public var lastAt: Instant
}

/// A reported push interaction.
public struct PushReport: Codable, Sendable, Equatable {
    /// The message.
    public var broadlogID: String
    /// The delivery.
    public var deliveryID: String
    /// `1`, `2` or `7`.
    public var action: String
    /// The identity (ECID) of the reporting device.
    public var ecid: String
    /// The number of reports; the server counts each.
    public var count = 1
}

/// A device's push token at the identity service.
public struct KnownToken: Codable, Sendable, Equatable {
    /// The device's identity.
    public var ecid: String
    /// The number of the push service.
    public var source: String
    /// The token. If empty, push is off.
    public var token: String
    /// The number of reports.
    public var count = 1
}

/// The settings of a simulated instance. An empty list means that every value is known.
struct AccountSettings: AdapterSettings {
    var apps: [String] = []
    var fields: [String] = []
    var untracked: [String] = []
    var organizations: [String] = []

    static let table = SettingsTable<AccountSettings>([
        .list("apps", \.apps, "Ids of the mobile apps that exist."),
        .list("fields", \.fields, "Field ids of the extended resource; without a list every id that begins with cus."),
        .list("untracked", \.untracked, "Deliveries whose tracking is off: they are answered with 404."),
        .list("organizations", \.organizations, "Organisations that the identity service knows."),
    ])

    func knowsField(_ name: String) -> Bool { fields.isEmpty ? name.hasPrefix("cus") : fields.contains(name) }
}

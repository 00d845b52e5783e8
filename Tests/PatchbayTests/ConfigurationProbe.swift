import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// An adapter for tests that only read its settings.
struct ConfigurationProbe: VendorAdapter {
    struct Settings: AdapterSettings, Equatable {
        var endpoint = ""
        var token: Secret?
        var limit = 5
        var attributeNames: [AttributeName: String] = [:]

        static var table: SettingsTable<Settings> {
            SettingsTable([
                .url("endpoint", \.endpoint, "Where it is."),
                .secret("token", \.token, "What lets us in."),
                .integer("limit", \.limit, in: 1...10, default: 5, "How many at once."),
                .names("attributeNames", \.attributeNames, "Names of attributes."),
            ])
        }
    }

    enum Endpoint: String, AdapterEndpoint { case send }

    let settings: Settings

    init(settings: Settings) throws(SettingsError) { self.settings = settings }

    static var descriptor: AdapterDescriptor { .probe("probe", usesCredentials: true) }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .settle(Dictionary(uniqueKeysWithValues: pending.map { ($0.id, .unchanged()) }))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in .accepted() }
    }
}

/// An adapter that cannot rename attributes and uses no credentials.
struct MuteProbe: VendorAdapter {
    struct Settings: AdapterSettings {
        static var table: SettingsTable<Settings> { SettingsTable([]) }
    }

    enum Endpoint: String, AdapterEndpoint { case send }

    init(settings: Settings) throws(SettingsError) {}

    static var descriptor: AdapterDescriptor { .probe("mute", usesCredentials: false) }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .settle(Dictionary(uniqueKeysWithValues: pending.map { ($0.id, .unchanged()) }))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in .accepted() }
    }
}

/// A server API for tests that only read its side.
struct DriverProbe: VendorAdapter {
    typealias Settings = MuteProbe.Settings

    enum Endpoint: String, AdapterEndpoint { case send }

    init(settings: Settings) throws(SettingsError) {}

    static var descriptor: AdapterDescriptor { .probe("driver", side: .server, usesCredentials: false) }

    func plan(_ pending: PendingOperations<Self>, memory: NoMemory, at moment: Moment) -> Plan<Self> {
        .settle(Dictionary(uniqueKeysWithValues: pending.map { ($0.id, .unchanged()) }))
    }

    func interpret(_ exchange: Exchange<Self>, memory: inout NoMemory) -> Interpretation<Self> {
        Interpretation(exchange.operations) { _ in .accepted() }
    }
}

extension AdapterDescriptor {
    fileprivate static func probe(_ id: AdapterID, side: Side = .device, usesCredentials: Bool) -> AdapterDescriptor {
        AdapterDescriptor(
            id: id,
            title: "Probe",
            side: side,
            delivery: .init(usesCredentials: usesCredentials),
            capabilities: [:],
            tables: .init(
                rules: [],
                findings: [],
                replies: ReplyTable([], otherwise: .otherwise(.accepted, rule: RuleID(id, "1")))
            )
        )
    }
}

extension AdapterModule {
    /// The probes as a vendor's module.
    static let probes = AdapterModule(
        id: "probe",
        title: "Probe",
        apis: [ConfigurationProbe.self, MuteProbe.self, DriverProbe.self]
    )
}

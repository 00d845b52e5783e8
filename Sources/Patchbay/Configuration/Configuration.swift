public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// The providers, the routes to them, and the outbox: the content of a configuration file (`Schemas/configuration`).
///
/// To switch vendors, change the file. Loading it reports all errors at once.
public struct Configuration: Sendable {
    /// A vendor account, by the name that routes use.
    public struct Provider: Sendable {
        /// The name in the configuration.
        public let name: String
        /// The adapter, created from the settings.
        public let adapter: any VendorAdapter
        /// A digest of all settings that are not secret, in 16 hexadecimal digits.
        public let settingsDigest: String
        /// The credentials in the configuration.
        public let credentials: Credentials
        /// The maximum request rate; nil for the adapter's default.
        public let rate: Rate?

        /// Creates a provider.
        public init(
            name: String,
            adapter: any VendorAdapter,
            settingsDigest: String = "",
            credentials: Credentials = Credentials(),
            rate: Rate? = nil
        ) {
            (self.name, self.adapter) = (name, adapter)
            (self.settingsDigest, self.credentials, self.rate) = (settingsDigest, credentials, rate)
        }

        /// The descriptor of the adapter.
        public var descriptor: AdapterDescriptor { type(of: adapter).descriptor }

        /// The adapter's id.
        public var adapterID: AdapterID { descriptor.id }
    }

    /// The credentials by which a vendor authenticates the sender of a request.
    public struct Credentials: Hashable, Sendable {
        /// The credential for contacts without their own, and for the anonymous person.
        public let fallback: Secret?
        /// The credentials by contact. Contacts are compared by Unicode scalars, so that equivalent texts stay distinct.
        private let contacts: [ScalarString: Secret]

        /// Creates credentials. If a contact occurs twice, the last entry counts.
        public init(fallback: Secret? = nil, contacts: [(contact: String, secret: Secret)] = []) {
            self.fallback = fallback
            self.contacts = Dictionary(contacts.map { (ScalarString($0.contact), $0.secret) }) { _, last in last }
        }

        /// Returns the credential of a contact; nil stands for the anonymous person.
        public subscript(contact: String?) -> Secret? { contact.flatMap { contacts[ScalarString($0)] } ?? fallback }
    }

    /// A route from the app or back end to a provider.
    public struct Route: Hashable, Sendable {
        /// The way in which a route serves its provider.
        public typealias Mode = RoutingPlan.Mode

        /// The provider's name.
        public let provider: String
        /// The mode.
        public let mode: Mode
        /// The share of contacts that a percentage route sends to its provider. Other contacts belong to another route or to
        /// none.
        public let share: Share
        /// Whether a shadow's requests are sent to the sandbox in the provider's settings.
        public let sends: Bool

        /// Creates a route.
        public init(to provider: String, mode: Mode = .live, share: Share = .all, sends: Bool = false) {
            (self.provider, self.mode, self.share, self.sends) = (provider, mode, share, sends)
        }
    }

    /// The policy for pending work of a provider that is no longer routed.
    public typealias SwitchPolicy = RoutingPlan.SwitchPolicy
    /// The policy for pending work that is moved and that no provider accepts.
    public typealias LossPolicy = RoutingPlan.LossPolicy

    /// The outbox, which stores operations until they have an outcome at every provider.
    public struct Outbox: Hashable, Sendable {
        /// The database file. A relative path in a configuration file starts at that file's folder.
        public let path: String
        /// The maximum number of completed operations that are kept for `outbox list`.
        public let history: Int
        /// The limits of the outbox.
        public let limits: OutboxLimits

        /// Creates an outbox.
        public init(path: String, history: Int = 100_000, limits: OutboxLimits = OutboxLimits()) {
            (self.path, self.history, self.limits) = (path, history, limits)
        }
    }

    /// The side of the configuration: a device, whose subjects are installations, or a server, whose subjects are contacts.
    ///
    /// All providers use APIs of that side, so that an app never contains a server's secret.
    public let side: AdapterDescriptor.Side
    /// The providers, sorted by name.
    public let providers: [Provider]
    /// The routes, in the order of the file.
    public let routes: [Route]
    /// The policy for pending work of a provider that is no longer routed.
    public let onSwitch: SwitchPolicy
    /// The policy for pending work that is moved and that no provider accepts.
    public let onLoss: LossPolicy
    /// The policy of `retarget` for an operation whose request was never answered.
    public let onUnacknowledged: RoutingPlan.UnacknowledgedPolicy
    /// The types, owners and names of attributes.
    public let catalogue: AttributeCatalogue
    /// The consents that operations wait for: purposes, for all channels or for one.
    public let requiredConsent: Set<Consent.Scope>
    /// The outbox.
    public let outbox: Outbox
    /// The proxy for requests to other machines, such as `http://proxy.example:3128`; nil sends directly.
    public let proxy: String?
    /// The warnings and notes of loading.
    public let findings: [Finding]

    /// Creates a configuration without a file. Each route must name a provider in `providers`; each provider has at most one
    /// route.
    public init(
        side: AdapterDescriptor.Side = .device,
        providers: [Provider],
        routes: [Route],
        onSwitch: SwitchPolicy = .drain,
        onLoss: LossPolicy = .refuse,
        onUnacknowledged: RoutingPlan.UnacknowledgedPolicy = .keep,
        catalogue: AttributeCatalogue = AttributeCatalogue(),
        requiredConsent: Set<Consent.Scope> = [],
        outbox: Outbox,
        proxy: String? = nil,
        findings: [Finding] = []
    ) {
        (self.side, self.providers, self.routes) = (side, providers, routes)
        (self.onSwitch, self.onLoss, self.onUnacknowledged) = (onSwitch, onLoss, onUnacknowledged)
        (self.catalogue, self.requiredConsent) = (catalogue, requiredConsent)
        (self.outbox, self.proxy, self.findings) = (outbox, proxy, findings)
    }

    /// Returns the provider with a name; nil if there is none.
    public func provider(_ name: String) -> Provider? { providers.first { $0.name == name } }

    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - bytes: The file's content.
    ///   - path: The file's path, for messages and as the base of relative paths.
    ///   - environment: The variables for `${NAME}`.
    ///   - modules: The vendors that this program was built with.
    /// - Returns: The configuration, with its adapters.
    /// - Throws: ``ConfigurationError`` with all errors.
    public static func load(
        bytes: [UInt8],
        path: String,
        environment: [String: String],
        modules: [AdapterModule]
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationReader.read(bytes, path: path, environment: environment, apis: modules.flatMap(\.apis))
    }
}

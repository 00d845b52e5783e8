public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// Which vendors hear the app, and how: the content of one JSON file (`Schemas/configuration`).
///
/// Switching a vendor is a change of this file. Every mistake in it is found when it is loaded.
public struct Configuration: Sendable {
    /// One vendor's account, by the name that routes use.
    public struct Provider: Sendable {
        /// The name in the configuration.
        public let name: String
        /// The adapter, made from the settings.
        public let adapter: any VendorAdapter
        /// Changes when a setting changes that is no secret: 16 hexadecimal digits.
        public let settingsDigest: String
        /// The credentials that the configuration knows.
        public let credentials: Credentials
        /// How often it may be asked; nil is as its adapter says.
        public let rate: Rate?

        /// A provider.
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

        /// What the adapter is, can do and knows.
        public var descriptor: AdapterDescriptor { type(of: adapter).descriptor }

        /// The adapter's id.
        public var adapterID: AdapterID { descriptor.id }
    }

    /// What proves to a vendor who is asking.
    public struct Credentials: Hashable, Sendable {
        /// For everybody who has none of their own, and for the anonymous person.
        public let fallback: Secret?
        /// By contact; contacts that only look alike have each their own.
        private let contacts: [ScalarString: Secret]

        /// Credentials; of a contact that stands there twice, the last.
        public init(fallback: Secret? = nil, contacts: [(contact: String, secret: Secret)] = []) {
            self.fallback = fallback
            self.contacts = Dictionary(contacts.map { (ScalarString($0.contact), $0.secret) }) { _, last in last }
        }

        /// The credential of a contact; nil is the anonymous person.
        public subscript(contact: String?) -> Secret? { contact.flatMap { contacts[ScalarString($0)] } ?? fallback }
    }

    /// Where operations go.
    public struct Route: Hashable, Sendable {
        /// What becomes of operations on a route.
        public typealias Mode = RoutingPlan.Mode

        /// The provider's name.
        public let provider: String
        /// What becomes of operations.
        public let mode: Mode
        /// The part of the contacts that a percentage route hears; everybody else is heard by none or by another.
        public let share: Share
        /// Whether a shadow's requests are sent, to the sandbox that the provider's settings name.
        public let sends: Bool

        /// A route.
        public init(to provider: String, mode: Mode = .live, share: Share = .all, sends: Bool = false) {
            (self.provider, self.mode, self.share, self.sends) = (provider, mode, share, sends)
        }
    }

    /// What happens to pending work of a provider that is no longer routed.
    public typealias SwitchPolicy = RoutingPlan.SwitchPolicy
    /// What happens when pending work moves and no provider would take it.
    public typealias LossPolicy = RoutingPlan.LossPolicy

    /// Where operations are kept until every vendor has answered.
    public struct Outbox: Hashable, Sendable {
        /// The database file; a relative path in the configuration starts at the configuration's folder.
        public let path: String
        /// How many finished operations are kept for `outbox list`.
        public let history: Int
        /// How much it may hold.
        public let limits: OutboxLimits

        /// An outbox.
        public init(path: String, history: Int = 100_000, limits: OutboxLimits = OutboxLimits()) {
            (self.path, self.history, self.limits) = (path, history, limits)
        }
    }

    /// Whose configuration it is: a device's, whose subjects are installations, or a back end's, whose subjects are contacts.
    /// It holds APIs of that side alone, so that no app ever holds a server's secret.
    public let side: AdapterDescriptor.Side
    /// The providers, sorted by name.
    public let providers: [Provider]
    /// The routes, in the order of the file.
    public let routes: [Route]
    /// What happens to pending work of a provider that is no longer routed.
    public let onSwitch: SwitchPolicy
    /// What happens when pending work moves and no provider would take it.
    public let onLoss: LossPolicy
    /// What `retarget` does with an operation whose request was never answered.
    public let onUnacknowledged: RoutingPlan.UnacknowledgedPolicy
    /// What the attributes are.
    public let catalogue: AttributeCatalogue
    /// What a person must have said yes to before it is done: purposes, for every channel or for one.
    public let requiredConsent: Set<Consent.Scope>
    /// Where operations are kept.
    public let outbox: Outbox
    /// The proxy for requests to other machines, such as `http://proxy.example:3128`; nil sends directly.
    public let proxy: String?
    /// What is not wrong, but worth knowing: warnings and notes.
    public let findings: [Finding]

    /// A configuration made in code, without a file. Routes lead to providers of the list, one at most to each.
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

    /// The provider of that name.
    public func provider(_ name: String) -> Provider? { providers.first { $0.name == name } }

    /// Reads a configuration.
    ///
    /// - Parameters:
    ///   - bytes: the file's content.
    ///   - path: where the file stands: for messages, and as the start of relative paths.
    ///   - environment: the variables that `${NAME}` stands for.
    ///   - modules: the vendors that this program was built with.
    /// - Returns: the configuration, with adapters that are ready.
    /// - Throws: ``ConfigurationError`` with every problem.
    public static func load(
        bytes: [UInt8],
        path: String,
        environment: [String: String],
        modules: [AdapterModule]
    ) throws(ConfigurationError) -> Configuration {
        try ConfigurationReader.read(bytes, path: path, environment: environment, apis: modules.flatMap(\.apis))
    }
}

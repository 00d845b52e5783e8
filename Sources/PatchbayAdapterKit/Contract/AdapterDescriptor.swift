public import PatchbayModel

/// The scope of an adapter's memory.
public enum MemoryScope: Sendable {
    /// One memory for each lane: the expected state of the vendor for this installation.
    case lane
    /// One memory for the provider, shared by all lanes.
    case provider
}

/// A limit that the vendor documents.
public struct VendorLimit: Hashable, Sendable {
    /// The limited quantity, for example `attribute key length`.
    public var what: String
    /// The limit with its unit, for example `128 characters`.
    public var limit: String
    /// The rule that states the limit.
    public var rule: RuleID?

    /// Creates a limit.
    public init(_ what: String, _ limit: String, rule: RuleID? = nil) {
        (self.what, self.limit, self.rule) = (what, limit, rule)
    }
}

/// The description of a vendor API: its identity, capabilities, limits, and rules.
public struct AdapterDescriptor: Sendable {
    /// The kinds of vendor API.
    public enum Side: String, Sendable {
        /// A device API, which an app may use.
        case device
        /// A server API, which needs secrets and must never be used in an app.
        case server
    }

    /// The id that configurations use.
    public var id: AdapterID
    /// The name of the vendor's product, for display.
    public var title: String
    /// Whether it is a device API or a server API.
    public var side: Side
    /// The scope of the adapter's memory.
    public var memory: MemoryScope
    /// The version of the encoding of memory and steps.
    public var stateVersion: Int
    /// The engine's limits for requests to the API.
    public var delivery: Delivery
    /// The capabilities of the API.
    public var capabilities: Capabilities
    /// The vendor's rules, findings, replies and wire records.
    public var tables: Tables

    /// Creates a descriptor.
    ///
    /// - Parameters:
    ///   - id: The id that configurations use.
    ///   - title: The name of the vendor's product, for display.
    ///   - side: Whether it is a device API or a server API.
    ///   - memory: The scope of the adapter's memory.
    ///   - stateVersion: The version of the encoding of memory and steps.
    ///   - delivery: The engine's limits for requests to the API.
    ///   - capabilities: The capabilities of the API.
    ///   - tables: The vendor's rules, findings, replies and wire records.
    public init(
        id: AdapterID,
        title: String,
        side: Side = .device,
        memory: MemoryScope = .lane,
        stateVersion: Int = 1,
        delivery: Delivery = Delivery(),
        capabilities: Capabilities,
        tables: Tables
    ) {
        (self.id, self.title, self.side) = (id, title, side)
        (self.memory, self.stateVersion) = (memory, stateVersion)
        (self.delivery, self.capabilities, self.tables) = (delivery, capabilities, tables)
    }
}

extension AdapterDescriptor {
    /// The limits that the engine keeps for requests to an API.
    public struct Delivery: Sendable {
        /// The maximum number of operations that a plan examines.
        public var window: Int
        /// The maximum number of requests in flight for the provider, over all lanes.
        public var concurrency: Int
        /// The maximum request rate over all lanes; nil if the vendor documents none. A configuration may override it.
        public var rate: Rate?
        /// The time that the engine waits for a reply.
        public var timeout: Duration
        /// Whether operations carry their contact's credential (``Pending/credential``).
        ///
        /// The engine asks the app, keeps expired and refused credentials back, and asks again. If an exchange whose request
        /// contains the credential would end operations, or stop the provider, with the error `unauthenticated` (or after
        /// HTTP 401), the engine discards that interpretation and keeps the operations pending, unless a second, different
        /// credential was refused.
        public var usesCredentials: Bool

        /// Creates limits.
        public init(
            window: Int = 256,
            concurrency: Int = 4,
            rate: Rate? = nil,
            timeout: Duration = .seconds(60),
            usesCredentials: Bool = false
        ) {
            (self.window, self.concurrency, self.rate) = (window, concurrency, rate)
            (self.timeout, self.usesCredentials) = (timeout, usesCredentials)
        }
    }

    /// The tables that describe the vendor's rules and that documentation and tests read.
    public struct Tables: Sendable {
        /// The vendor's rules.
        public var rules: [Rule]
        /// All findings that the adapter may report about an operation.
        public var findings: [FindingRow]
        /// The finding codes with which `plan` may reject an operation that `examine` accepted, for reasons of state.
        public var reasonsOfState: [String]
        /// The meanings of the vendor's replies.
        public var replies: ReplyTable
        /// The fields of each wire record. They are computed on access.
        public var fields: [FieldTableSummary] { makeFields() }
        private let makeFields: @Sendable () -> [FieldTableSummary]
        /// The limits that the vendor documents.
        public var limits: [VendorLimit]

        /// Creates tables.
        public init(
            rules: [Rule],
            findings: [FindingRow],
            reasonsOfState: [String] = [],
            replies: ReplyTable,
            fields: @autoclosure @escaping @Sendable () -> [FieldTableSummary] = [],
            limits: [VendorLimit] = []
        ) {
            (self.rules, self.findings, self.reasonsOfState) = (rules, findings, reasonsOfState)
            (self.replies, self.makeFields, self.limits) = (replies, fields, limits)
        }
    }
}

/// APIs of one vendor, which a composition root registers: an app the device API, a back end also the server API.
public struct AdapterModule: Sendable {
    /// The vendor's id, which equals the id of its device API.
    public let id: AdapterID
    /// The name of the vendor's product, for display.
    public let title: String
    /// The vendor's APIs.
    public let apis: [any VendorAdapter.Type]

    /// Creates a module.
    public init(id: AdapterID, title: String, apis: [any VendorAdapter.Type]) {
        (self.id, self.title, self.apis) = (id, title, apis)
    }
}

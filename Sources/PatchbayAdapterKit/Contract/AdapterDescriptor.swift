public import PatchbayModel

/// Whose memory it is.
public enum MemoryScope: Sendable {
    /// One for each lane: what this installation's vendor side is known to hold.
    case lane
    /// One for the provider: what all lanes share.
    case provider
}

/// A limit that a vendor states.
public struct VendorLimit: Hashable, Sendable {
    /// What is limited: `attribute key length`.
    public var what: String
    /// The limit with its unit: `128 characters`.
    public var limit: String
    /// The rule behind it.
    public var rule: RuleID?

    /// A limit.
    public init(_ what: String, _ limit: String, rule: RuleID? = nil) {
        (self.what, self.limit, self.rule) = (what, limit, rule)
    }
}

/// What an API of a vendor is, can do and knows.
public struct AdapterDescriptor: Sendable {
    /// Which side of the vendor.
    public enum Side: String, Sendable {
        /// May live in an app.
        case device
        /// Needs secrets; never in an app.
        case server
    }

    /// The id that configurations use.
    public var id: AdapterID
    /// The vendor's product, for people.
    public var title: String
    /// Which side of the vendor.
    public var side: Side
    /// Whose memory it is.
    public var memory: MemoryScope
    /// Version of the form of memory and step.
    public var stateVersion: Int
    /// Most operations that one plan looks at.
    public var window: Int
    /// Most requests in flight for the provider, over all lanes.
    public var concurrency: Int
    /// How often the vendor may be asked, over all lanes; nil where its documents state no rate. A configuration may say
    /// otherwise.
    public var rate: Rate?
    /// Whether operations carry their contact's credential (``Pending/credential``).
    ///
    /// The engine asks the app, keeps expired and refused credentials back, and asks again. If an exchange whose request
    /// contains the credential would end operations, or stop the provider, with the error `unauthenticated` (or after HTTP
    /// 401), the engine discards that interpretation and keeps the operations pending, unless a second, different credential
    /// was refused.
    public var usesCredentials: Bool
    /// How long the engine waits for an answer.
    public var timeout: Duration
    /// What it can do.
    public var capabilities: Capabilities
    /// Limits that the vendor states.
    public var limits: [VendorLimit]
    /// The vendor's rules.
    public var rules: [Rule]
    /// Everything that the adapter may say about an operation.
    public var findings: [FindingRow]
    /// Codes of findings with which `plan` may reject an operation that `examine` let pass: reasons of state.
    public var reasonsOfState: [String]
    /// The fields of each wire record: for documentation and proofs, made when they are asked for.
    public var fields: [FieldTableSummary] { makeFields() }
    private let makeFields: @Sendable () -> [FieldTableSummary]
    /// What the vendor's answers mean.
    public var replies: ReplyTable

    /// A descriptor.
    public init(
        id: AdapterID,
        title: String,
        side: Side = .device,
        memory: MemoryScope = .lane,
        stateVersion: Int = 1,
        window: Int = 256,
        concurrency: Int = 4,
        rate: Rate? = nil,
        usesCredentials: Bool = false,
        timeout: Duration = .seconds(60),
        capabilities: Capabilities,
        limits: [VendorLimit] = [],
        rules: [Rule],
        findings: [FindingRow],
        reasonsOfState: [String] = [],
        fields: @autoclosure @escaping @Sendable () -> [FieldTableSummary] = [],
        replies: ReplyTable
    ) {
        (self.id, self.title, self.side, self.memory) = (id, title, side, memory)
        (self.stateVersion, self.window, self.concurrency) = (stateVersion, window, concurrency)
        self.rate = rate
        (self.usesCredentials, self.timeout, self.capabilities) = (usesCredentials, timeout, capabilities)
        (self.limits, self.rules, self.findings) = (limits, rules, findings)
        (self.reasonsOfState, self.makeFields, self.replies) = (reasonsOfState, fields, replies)
    }
}

/// What one vendor's module offers to a composition root: its APIs and its files.
public struct AdapterModule: Sendable {
    /// The vendor's id: the same as its device API's.
    public let id: AdapterID
    /// The vendor's product, for people.
    public let title: String
    /// Its APIs.
    public let apis: [any VendorAdapter.Type]
    /// How contacts get into the vendor in bulk, as its documents state it.
    public let loads: [ImportRoute]
    /// Its export and import files.
    public let formats: [RecordFormat]

    /// A module.
    public init(
        id: AdapterID,
        title: String,
        apis: [any VendorAdapter.Type],
        loads: [ImportRoute] = [],
        formats: [RecordFormat] = []
    ) {
        (self.id, self.title, self.apis, self.loads, self.formats) = (id, title, apis, loads, formats)
    }
}

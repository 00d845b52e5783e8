public import PatchbayAdapterKit
public import PatchbayModel

/// The settings of the Toy vendor.
public struct ToySettings: AdapterSettings {
    /// The vendor's address.
    public var address = ""
    /// The app's key.
    public var key = Secret("")

    public init() {}

    private var keyIfGiven: Secret? {
        get { key }
        set { key = newValue ?? Secret("") }
    }

    public static var table: SettingsTable<ToySettings> {
        SettingsTable([
            .url("address", \.address, rule: .toy("5"), "Where the vendor is."),
            .secret("key", \.keyIfGiven, rule: .toy("6"), "The app's key."),
        ])
    }
}

extension RuleID {
    static func toy(_ number: String) -> RuleID { RuleID("toy", number) }
}

enum ToyFindings {
    static let unsupported = FindingRow(
        .error("toy.unsupported", .unsupported, rule: "3"),
        reason: "Toy has no place for it",
        remedy: "Send it to a vendor that has one."
    )
    static let tooLong = FindingRow(
        .error("toy.tooLong", .tooLarge, rule: "4"),
        reason: "The text is over 200 bytes",
        remedy: "Shorten it."
    )
    static let foreignPush = FindingRow(
        .foreign("toy.push.foreign"),
        reason: "Toy sends no push messages, so this is another vendor's",
        remedy: "No action is needed."
    )
    static let refused = FindingRow(
        .error("toy.refused", .invalid, rule: "7"),
        reason: "The vendor refused it",
        remedy: "Correct it and replay it."
    )
    static let badKey = FindingRow(
        .error("toy.key", .unauthenticated, rule: "6"),
        reason: "The vendor does not know the key",
        remedy: "Correct \"key\" in the settings."
    )
    static let all = [unsupported, tooLong, foreignPush, refused, badKey]
}

extension ToyAdapter {
    private static let source = "The Toy vendor's imagination"
    private static let none = Support.unsupported(reason: "Toy accepts only tags and events.")

    /// Id, capabilities, rules and tables.
    public static let descriptor = AdapterDescriptor(
        id: "toy",
        title: "Toy",
        capabilities: capabilities,
        tables: .init(
            rules: [
                Rule(.toy("1"), "A saying has the operation's id, so that a repeat is known again.", source: source),
                Rule(.toy("2"), "A saying names the contact, if there is one.", source: source),
                Rule(.toy("3"), "A saying is about tags or an event.", source: source),
                Rule(.toy("4"), "A text has at most 200 bytes.", source: source),
                Rule(.toy("5"), "Sayings go to /say.", source: source),
                Rule(.toy("6"), "The key stands in Authorization; 401 means that it is wrong.", source: source),
                Rule(.toy("7"), "Every 4xx but 401, 408 and 429 is final.", source: source),
                Rule(.toy("8"), "Everything else is tried again after Retry-After or a minute.", source: source),
            ],
            findings: ToyFindings.all,
            replies: ReplyTable(
                [
                    .webPage(.retry, rule: .toy("8")),
                    .status(200...299, .accepted, rule: .toy("1")),
                    .status(401...401, .suspend, ToyFindings.badKey, rule: .toy("6")),
                    .status(408...408, .retry, rule: .toy("8")),
                    .status(429...429, .retry, rule: .toy("8")),
                    .status(400...499, .refused, ToyFindings.refused, rule: .toy("7")),
                ],
                otherwise: .otherwise(.retry, rule: .toy("8"))
            ),
            fields: [ToySaying.fields.summary],
            limits: [VendorLimit("text", "200 bytes", rule: .toy("4"))]
        )
    )

    private static let capabilities = Capabilities(
        Capability.known.map { ($0, none) } + [
            (.operation(.changeTags), .native()), (.tags, .native()), (.operation(.track), .native()),
            (.event(.custom), .emulated(how: "its name is said", cost: "attributes are lost")),
        ]
    )
}

public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel
import PatchbaySalesforce

/// The name of contact data other than attributes: `identifier.email`, `tag.sports`, `subscription.email`.
public struct SalesforceSourceName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A back end's settings for one business unit of the account. They contain a client secret, so they must never be part
/// of an app.
public struct SalesforceServerSettings: AdapterSettings {
    /// The route of a contact's data.
    public enum Route: String, NeutralWord, Codable {
        /// Rows of a data extension, 50 in a request, answered at once.
        case rows
        /// Rows of a data extension, up to 2,500 in a job whose state is queried later.
        case asyncRows
        /// Attribute sets of the contact itself, one contact in a request.
        case contacts
    }

    /// The first request for a contact that may or may not exist in the account.
    public enum Verb: String, NeutralWord, Codable {
        /// POST, then PATCH if the contact already exists.
        case create
        /// PATCH, then POST if the contact does not exist.
        case update

        var other: Verb { self == .create ? .update : .create }
    }

    /// The effect of removing a value at the vendor.
    public enum Unset: String, NeutralWord {
        /// An empty text is written.
        case blank
        /// A JSON null is written.
        case null
    }

    /// The treatment of an event whose delivery is uncertain.
    public enum UncertainDelivery: String, NeutralWord {
        /// The event is rejected with an unknown outcome and kept for manual review.
        case reject
        /// The event is sent again, and may start a journey twice.
        case `repeat`
    }

    /// The host that issues tokens.
    public var authURL = ""
    /// The REST host; if empty, the host in the token's reply.
    public var restURL = ""
    /// The installed package's client id.
    public var clientID = ""
    /// The installed package's secret.
    public var clientSecret: Secret?
    /// The business unit; if empty, the owner of the package.
    public var accountID = ""
    /// The requested scopes, separated by spaces; if empty, all of the package.
    public var scope = ""
    /// The route of a contact's data; an operation's options override it.
    public var route = Route.rows
    /// The external key of the data extension.
    public var dataExtension = ""
    /// The data extension's primary key, whose values are contact keys.
    public var keyColumn = "ContactKey"
    /// The columns of attributes whose names differ from the neutral ones.
    public var attributeNames: [AttributeName: String] = [:]
    /// The columns of identifiers, by kind.
    public var identifierColumns: [IdentifierKind: String] = [:]
    /// The columns of tags.
    public var tagColumns: [Tag: String] = [:]
    /// The columns of subscriptions, by `channel` or `channel.topic`.
    public var subscriptionColumns: [SalesforceSourceName: String] = [:]
    /// The columns of the data extension; if empty, columns are not checked.
    public var columns: [String] = []
    /// The contact's attributes, as `set/attribute`, by the name of their data.
    public var contactAttributes: [SalesforceSourceName: String] = [:]
    /// Values, by `set/attribute`, that complete a set in a contact's request if its operations do not contain them.
    public var contactDefaults: [SalesforceSourceName: String] = [:]
    /// The first request for a contact.
    public var contactsFirst = Verb.create
    /// The effect of removing a value.
    public var unset = Unset.blank
    /// Journey entry events by the neutral event's name.
    public var eventKeys: [SalesforceSourceName: String] = [:]
    /// The treatment of an event whose delivery is uncertain.
    public var uncertainEvents = UncertainDelivery.reject
    /// The maximum number of rows in a synchronous request.
    public var rowsPerRequest = 50
    /// The maximum number of rows in a job.
    public var rowsPerJob = 2500
    /// The maximum size of a job, in bytes.
    public var bytesPerJob = 5_500_000
    /// The interval between two queries for a job, in seconds.
    public var pollSeconds = 5
    /// The maximum number of concurrent requests.
    public var lanes = 4

    /// The defaults; hosts, client and data extension are empty.
    public init() {}

    /// Every setting.
    public static let table = SettingsTable<SalesforceServerSettings>([
        .url(
            "authUrl",
            \.authURL,
            rule: .salesforce("V1"),
            "The account's host for tokens, for example `https://mc….auth.marketingcloudapis.com`."
        ),
        .url(
            "restUrl",
            \.restURL,
            isRequired: false,
            rule: .salesforce("V4"),
            "The account's REST host; without it the one that the token's reply names."
        ),
        .text("clientId", \.clientID, isRequired: true, rule: .salesforce("V1"), "The installed package's client id."),
        .secret("clientSecret", \.clientSecret, rule: .salesforce("V1"), "The installed package's client secret."),
        .text(
            "accountId",
            \.accountID,
            rule: .salesforce("V5"),
            "The business unit's MID, digits; without it the unit that owns the package.",
            check: { text in
                text.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    ? nil : .init("The value is not a number.", "Copy the MID from the account's menu.")
            }
        ),
        .text("scope", \.scope, rule: .salesforce("V5"), "The scopes to ask for, parted by spaces; without it all."),
        .choice(
            "route",
            \.route,
            default: .rows,
            rule: .salesforce("V6"),
            "Where what is said of a contact goes; an operation's option `route` says otherwise for itself."
        ),
        .text(
            "dataExtension",
            \.dataExtension,
            rule: .salesforce("V8"),
            "The data extension's external key; needed for `rows` and `asyncRows`, and to read rows.",
            check: { text in
                [".", ".."].contains(text)
                    ? .init("A web address cannot contain it.", "Give the data extension another external key.") : nil
            }
        ),
        .text(
            "keyColumn",
            \.keyColumn,
            default: "ContactKey",
            rule: .salesforce("V8"),
            "The data extension's primary key column, which holds the contact key."
        ),
        .names(
            "attributeNames",
            \.attributeNames,
            rule: .salesforce("V7"),
            "Columns by neutral attribute name, where they differ."
        ),
        .names("identifierColumns", \.identifierColumns, rule: .salesforce("V7"), "Columns by kind of identifier."),
        .names("tagColumns", \.tagColumns, rule: .salesforce("V40"), "Boolean columns by tag."),
        .names(
            "subscriptionColumns",
            \.subscriptionColumns,
            rule: .salesforce("V41"),
            "Boolean columns by `channel`, or by `channel.topic`."
        ),
        .list(
            "columns",
            \.columns,
            default: "[]",
            rule: .salesforce("V35"),
            "The columns that the data extension has; if given, a value for any other is left out with a finding."
        ),
        .names(
            "contactAttributes",
            \.contactAttributes,
            rule: .salesforce("V19"),
            "For the route `contacts`: `set/attribute` by neutral attribute name, `identifier.kind`, `tag.name` or "
                + "`subscription.channel`.",
        ),
        .names(
            "contactDefaults",
            \.contactDefaults,
            rule: .salesforce("V47"),
            "For the route `contacts`: values by `set/attribute` that complete a set, for example "
                + "`\"Email Addresses/HTML Enabled\": \"true\"`; what an operation says counts first."
        ),
        .choice(
            "contactsFirst",
            \.contactsFirst,
            default: .create,
            rule: .salesforce("V18"),
            "Which request comes first for a contact; where it does not fit, the other follows."
        ),
        .choice("unset", \.unset, default: .blank, rule: .salesforce("V42"), "What removing a value writes."),
        .names(
            "eventKeys",
            \.eventKeys,
            rule: .salesforce("V23"),
            "Event definition keys by neutral event name; an event without one has its own name as key."
        ),
        .choice(
            "uncertainEvents",
            \.uncertainEvents,
            default: .reject,
            rule: .salesforce("V25"),
            "What to do with an event whose delivery is uncertain: reject it, or send it again."
        ),
        .integer(
            "rowsPerRequest",
            \.rowsPerRequest,
            in: 1...50,
            default: 50,
            rule: .salesforce("V9"),
            "Most operations whose rows go in one request of the route `rows`."
        ),
        .integer(
            "rowsPerJob",
            \.rowsPerJob,
            in: 1...2500,
            default: 2500,
            rule: .salesforce("V17"),
            "Most operations whose rows go in one job of the route `asyncRows`."
        ),
        .integer(
            "bytesPerJob",
            \.bytesPerJob,
            in: 1_000...5_500_000,
            default: 5_500_000,
            rule: .salesforce("V17"),
            "Most bytes of a job; a larger row goes alone."
        ),
        .integer(
            "pollSeconds",
            \.pollSeconds,
            in: 1...3600,
            default: 5,
            rule: .salesforce("V15"),
            "Seconds between two questions for a job."
        ),
        .integer("lanes", \.lanes, in: 1...4, default: 4, "How many requests may be under way at once."),
    ])

    /// The findings about combinations of settings.
    var problems: [Finding] {
        var problems: [Finding] = []
        func refuse(_ name: String, _ reason: String, _ remedy: String) {
            problems.append(.invalidSetting("settings.\(name)", reason, remedy))
        }
        if route != .contacts, dataExtension.isEmpty {
            refuse(
                "dataExtension",
                "The route \(route.rawValue) needs a data extension.",
                "Add \"dataExtension\": its external key, as Contact Builder shows it."
            )
        }
        for (name, path) in contactAttributes.inOrder where AttributeSetPlace(path) == nil {
            refuse(
                "contactAttributes".dot(name.rawValue),
                "It does not name a set and an attribute.",
                "Write it like \"Email Addresses/Email Address\"."
            )
        }
        for (path, _) in contactDefaults.inOrder
        where AttributeSetPlace(path.rawValue) == nil {
            refuse(
                "contactDefaults".dot(path.rawValue),
                "It does not name a set and an attribute.",
                "Write it like \"Email Addresses/HTML Enabled\"."
            )
        }
        let named = attributeNames.map(\.value) + identifierColumns.map(\.value) + tagColumns.map(\.value)
        let taken = Dictionary(grouping: named + subscriptionColumns.map(\.value)) { $0.lowercased() }
        for name in taken.filter({ $0.value.count > 1 }).keys.sorted() {
            refuse("attributeNames", "The column \(name) has two sources.", "Give each source a column of its own.")
        }
        if let name = taken[keyColumn.lowercased()]?.first {
            refuse("attributeNames", "The column \(name) is the key's.", "Give the value another column.")
        }
        return problems
    }
}

extension SalesforceServerSettings {
    /// Returns the defaults of the sets that these values use, except for attributes with a value.
    func defaults(besides said: [ServerCells.Cell]) -> [ServerCells.Cell] {
        guard !contactDefaults.isEmpty else { return [] }
        let sets = Set(said.compactMap { AttributeSetPlace($0.name)?.set })
        return contactDefaults.inOrder.compactMap { ContactAddress.cell($0.key.rawValue, $0.value) }
            .filter { cell in
                sets.contains(AttributeSetPlace(cell.name)?.set ?? "") && !said.contains { $0.place == cell.place }
            }
    }
}

/// An attribute of a contact: the names of its set and of itself, as shown in Contact Builder.
struct AttributeSetPlace: Hashable, Sendable {
    let set: String
    let attribute: String

    /// Reads `set/attribute`; nil if it has another form. The set's name ends at the first slash.
    init?(_ path: String) {
        let parts = path.split(separator: "/", maxSplits: 1).map(\.trimmed)
        guard parts.count == 2, parts.allSatisfy({ !$0.isEmpty }) else { return nil }
        (set, attribute) = (parts[0], parts[1])
    }

    /// The text `set/attribute`.
    var path: String { "\(set)/\(attribute)" }
}

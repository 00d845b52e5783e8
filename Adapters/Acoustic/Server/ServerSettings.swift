import PatchbayAcoustic
public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// A name to which the account assigns a code or a column, such as an event's name, or `email` and `email.offers` for
/// subscriptions.
public struct AcousticSourceName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A back end's settings for one database of the account. They contain secrets, so they must never be part of an app.
public struct AcousticServerSettings: AdapterSettings {
    /// How the database identifies its contacts.
    enum Database: String, NeutralWord {
        /// By sync fields that each call names.
        case flexible
        /// By unique key columns.
        case keyed
    }

    /// The origin of a new contact, for the vendor's own records.
    enum CreatedFrom: String, NeutralWord {
        case imported, manual, optedIn

        /// The vendor's number.
        var code: String {
            switch self {
            case .imported: "0"
            case .manual: "1"
            case .optedIn: "2"
            }
        }
    }

    /// The treatment of changes to a contact that the database does not have.
    enum Unknown: String, NeutralWord {
        case add, refuse
    }

    /// The effect of removing a value.
    enum Unset: String, NeutralWord {
        /// An empty value is written.
        case blank
        /// It is refused.
        case refuse
    }

    /// The form of country codes.
    enum Countries: String, NeutralWord {
        case lower, upper
    }

    /// The treatment of an event whose delivery is uncertain.
    enum UncertainDelivery: String, NeutralWord {
        case reject
        case `repeat`
    }

    /// The method of erasing a contact.
    enum Erasure: String, NeutralWord {
        /// By a job of the vendor's that erases everything of the person.
        case gdpr
        /// By a call that removes the contact from the database.
        case remove
    }

    var baseURL = ""
    var clientID = ""
    var clientSecret: Secret?
    var refreshToken: Secret?
    var databaseID = ""
    var database = Database.flexible
    var keyColumn = ""
    var emailColumn = "Email"
    var unknownContacts = Unknown.add
    var createdFrom = CreatedFrom.manual
    var allowsHTML = false
    var columns: [ScalarString: Column] = [:]
    var attributeNames: [AttributeName: String] = [:]
    var identifierColumns: [IdentifierKind: String] = [:]
    var tagColumns: [Tag: String] = [:]
    var subscriptionColumns: [AcousticSourceName: String] = [:]
    var tagLists: [Tag: String] = [:]
    var subscriptionLists: [AcousticSourceName: String] = [:]
    var consentQualifiers: [AcousticSourceName: String] = [:]
    var consentPaths: [AcousticSourceName: String] = [:]
    var onInvalid = AcousticSettings.Invalid.rejectAll
    var unset = Unset.blank
    var countries = Countries.lower
    var eventCodes: [AcousticSourceName: String] = [:]
    var uncertainEvents = UncertainDelivery.reject
    var eventsPerRequest = 50
    var eventErrorsPath = "/rest/events/errors"
    var erasure = Erasure.gdpr
    var erasuresPerJob = 100
    var pollSeconds = 30
    var jobSeconds = 25
    var lanes = 4

    /// The defaults; host, client, database and key column are empty.
    public init() {}

    /// Every setting.
    public static let table = SettingsTable<AcousticServerSettings>([
        .url(
            "baseUrl",
            \.baseURL,
            rule: .acoustic("S1"),
            "The account's API host, for example `https://api-campaign-eu-1.goacoustic.com`."
        ),
        .text("clientId", \.clientID, isRequired: true, rule: .acoustic("S1"), "The organisation's client id."),
        .secret("clientSecret", \.clientSecret, rule: .acoustic("S1"), "The organisation's client secret."),
        .secret("refreshToken", \.refreshToken, rule: .acoustic("S1"), "The API user's refresh token."),
        .text(
            "databaseId",
            \.databaseID,
            isRequired: true,
            rule: .acoustic("S6"),
            "The database's id, digits; the vendor also calls it a list.",
            check: { text in
                text.isVendorNumber
                    ? nil : .init("The value is not a number.", "Copy the id from the database's page in the account.")
            }
        ),
        .choice(
            "database",
            \.database,
            default: .flexible,
            rule: .acoustic("S9"),
            "How the database finds contacts: `flexible` by sync fields, `keyed` by its unique key."
        ),
        .text(
            "keyColumn",
            \.keyColumn,
            isRequired: true,
            rule: .acoustic("S9"),
            "The column that holds the contact's key: a sync field, or the unique key."
        ),
        .text(
            "emailColumn",
            \.emailColumn,
            default: "Email",
            rule: .acoustic("S31"),
            "The column of addresses, spelt as the database spells it."
        ),
        .choice(
            "unknownContacts",
            \.unknownContacts,
            default: .add,
            rule: .acoustic("S7"),
            "What becomes of what is said of a contact that the database does not have."
        ),
        .choice(
            "createdFrom",
            \.createdFrom,
            default: .manual,
            rule: .acoustic("S6"),
            "What the vendor notes of how a new contact came."
        ),
        .flag(
            "allowHtml",
            \.allowsHTML,
            default: false,
            rule: .acoustic("S21"),
            "Markup in texts is kept as it is; else the vendor stores it as character entities."
        ),
        .columns(\.columns, rule: .acoustic("S14")),
        .names(
            "attributeNames",
            \.attributeNames,
            rule: .acoustic("S14"),
            "Columns by neutral name, where they differ."
        ),
        .names("identifierColumns", \.identifierColumns, rule: .acoustic("S14"), "Columns by kind of identifier."),
        .names("tagColumns", \.tagColumns, rule: .acoustic("S28"), "Yes/No columns by tag."),
        .names(
            "subscriptionColumns",
            \.subscriptionColumns,
            rule: .acoustic("S29"),
            "Yes/No columns by `channel`, or by `channel.topic`."
        ),
        .names(
            "tagLists",
            \.tagLists,
            rule: .acoustic("S55"),
            "Ids of contact lists by tag: the contact joins the list, and no call takes it out again."
        ),
        .names(
            "subscriptionLists",
            \.subscriptionLists,
            rule: .acoustic("S55"),
            "Ids of contact lists by `channel.topic`: a yes joins the list, and a no is refused."
        ),
        .names(
            "consentQualifiers",
            \.consentQualifiers,
            rule: .acoustic("S50"),
            "Consents that the vendor keeps of a channel, by `channel` or `channel.topic`: the app key for `push`, the text-to-join programme for `sms`."
        ),
        .names(
            "consentPaths",
            \.consentPaths,
            rule: .acoustic("S50"),
            "Where consents stand, by channel, with `{databaseId}`, `{qualifier}`, `{key}` and `{destination}`, where the account's differ from the table below."
        ),
        .choice(
            "onInvalid",
            \.onInvalid,
            default: .rejectAll,
            rule: .acoustic("S24"),
            "What becomes of an operation with an invalid entry: `rejectAll`, or `sendValid` sends the rest."
        ),
        .choice(
            "unset",
            \.unset,
            default: .blank,
            rule: .acoustic("S20"),
            "What removing a value does; that an empty value clears a column is inferred."
        ),
        .choice(
            "countries",
            \.countries,
            default: .lower,
            rule: .acoustic("S17"),
            "The letters of a country's code, as the account's columns hold them; `lower` is what devices write."
        ),
        .names(
            "eventCodes",
            \.eventCodes,
            rule: .acoustic("S37"),
            "Event type codes, digits, by neutral event name; an event without one is a named event, code 17."
        ),
        .choice(
            "uncertainEvents",
            \.uncertainEvents,
            default: .reject,
            rule: .acoustic("S38"),
            "What to do with an event whose delivery is uncertain: reject it, or send it again."
        ),
        .integer(
            "eventsPerRequest",
            \.eventsPerRequest,
            in: 1...1000,
            default: 50,
            rule: .acoustic("S40"),
            "The most events of one request; the vendor names no number."
        ),
        .text(
            "eventErrorsPath",
            \.eventErrorsPath,
            default: "/rest/events/errors",
            rule: .acoustic("S61"),
            "Where events that the vendor took and rejected later are listed; its beginning is inferred.",
            check: { text in
                let isPath =
                    text.hasPrefix("/rest/")
                    && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != 0x3F && $0 != 0x23 }
                return isPath
                    ? nil
                    : .init("The value is not a path of the vendor's API.", "Begin it with /rest/, without a query.")
            }
        ),
        .choice(
            "erasure",
            \.erasure,
            default: .gdpr,
            rule: .acoustic("S32"),
            "How a contact is forgotten, unless the operation's option `erasure` says otherwise."
        ),
        .integer(
            "erasuresPerJob",
            \.erasuresPerJob,
            in: 1...1000,
            default: 100,
            rule: .acoustic("S33"),
            "The most contacts of one erasure job; the vendor names no number."
        ),
        .integer(
            "pollSeconds",
            \.pollSeconds,
            in: 1...3600,
            default: 30,
            rule: .acoustic("S34"),
            "Seconds between two questions for a job, at most; the vendor names no number."
        ),
        .integer(
            "jobSeconds",
            \.jobSeconds,
            in: 1...86_400,
            default: 25,
            rule: .acoustic("S63"),
            "Seconds for which a query waits for its job before the job's number is the answer. Keep it below the timeout of "
                + "the reader, which is 30 s by default."
        ),
        .integer(
            "lanes",
            \.lanes,
            in: 1...10,
            default: 4,
            rule: .acoustic("S4"),
            "How many requests may be under way at once; the vendor takes ten from a whole organisation."
        ),
    ])

    /// Whether the contact's key is the address itself.
    var isKeyedByEmail: Bool { isKey(emailColumn) }

    /// Whether a column contains the contact's key.
    func isKey(_ column: String) -> Bool { ScalarString.equal(column, keyColumn) }

    /// The findings about combinations of settings.
    var problems: [Finding] {
        var problems: [Finding] = []
        var owners: [ScalarString: String] = [:]
        let named =
            attributeNames.map { ("attributeNames".dot($0.key.rawValue), $0.value) }
            + identifierColumns.map { ("identifierColumns".dot($0.key.rawValue), $0.value) }
            + tagColumns.map { ("tagColumns".dot($0.key.rawValue), $0.value) }
            + subscriptionColumns.map { ("subscriptionColumns".dot($0.key.rawValue), $0.value) }
        for (path, column) in named.sorted(by: { $0.0 < $1.0 }) {
            if isKey(column) {
                problems.append(ServerFinding.columnKey.at("settings.\(path)"))
            } else if let owner = owners.updateValue(path, forKey: ScalarString(column)) {
                problems.append(ServerFinding.columnTwice.at("settings.\(path)", detail: "the same as \(owner)"))
            }
            if !columns.isEmpty, columns[ScalarString(column)] == nil {
                problems.append(ServerFinding.columnUnknown.at("settings.\(path)"))
            }
        }
        if !columns.isEmpty, columns[ScalarString(keyColumn)] == nil {
            problems.append(ServerFinding.columnUnknown.at("settings.keyColumn"))
        }
        for (name, code) in eventCodes.inOrder where !code.isVendorNumber {
            problems.append(ServerFinding.eventCode.at("settings.\("eventCodes".dot(name.rawValue))"))
        }
        return problems + consentProblems + listProblems
    }
}

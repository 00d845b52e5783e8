public import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayJSON
public import PatchbayModel

/// A channel and topic for which an account has a service, such as `email.offers`.
public struct AdobeSourceName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A back end's settings for one account. They contain a client secret, so they must never be part of an app.
public struct AdobeServerSettings: AdapterSettings {
    /// The vendor's resource for profiles.
    enum Resource: String, NeutralWord {
        /// The vendor's own fields alone.
        case profileAndServices
        /// The account's own fields, too.
        case profileAndServicesExt
    }

    /// How a profile is found by the contact's key.
    enum Matching: String, NeutralWord {
        /// The key is an e-mail address, and the vendor's own filter finds it.
        case email
        /// By the vendor's text search in a field, which matches prefixes.
        case text
        /// By a filter that the account defines.
        case filter
        /// By the key in the address, in place of the vendor's key.
        case key
    }

    /// The treatment of changes to a contact that the account does not have.
    enum Unknown: String, NeutralWord {
        case add, refuse
    }

    /// The treatment of a subscription to a service that the account does not have. The name in the settings may be misspelt.
    enum UnknownService: String, NeutralWord {
        case add, refuse
    }

    /// The consent value of a profile without a subscription to a service. The vendor does not record who left a service.
    enum NotSubscribed: String, NeutralWord {
        case unsubscribed, unknown

        var state: Subscription.State { self == .unsubscribed ? .unsubscribed : .unknown }
    }

    /// The effect of removing a value.
    enum Unset: String, NeutralWord {
        /// An empty text is written.
        case blank
        /// A JSON null is written.
        case null
    }

    var apiURL = "https://mc.adobe.io"
    var tokenURL = "https://ims-na1.adobelogin.com"
    var organization = ""
    var clientID = ""
    var clientSecret: Secret?
    var scope = ""
    var resource = Resource.profileAndServices
    var matching = Matching.email
    var keyField = "email"
    var filter = ""
    var filterParameter = ""
    var unknownContacts = Unknown.add
    var fieldNames: [AttributeName: String] = [:]
    var identifierFields: [IdentifierKind: String] = [.email: "email", .phone: "mobilePhone"]
    var tagFields: [Tag: String] = [:]
    var services: [AdobeSourceName: String] = [:]
    var unknownServices = UnknownService.refuse
    var notOptedOut = NotOptedOut.subscribed
    var notSubscribed = NotSubscribed.unsubscribed
    var unset = Unset.blank
    var timeForm = AdobeSettings.TimeForm.spaced
    var faultAttempts = 16
    var lanes = 4

    /// The defaults; organisation, client and scope are empty.
    public init() {}

    /// The prefix of every path of the API.
    var root: String { "/\(URLText.encode(organization))/campaign/" }
    /// The prefix of every address of the API.
    var base: String { apiURL + root }

    /// Every setting.
    public static let table = SettingsTable<AdobeServerSettings>([
        .url(
            "apiUrl",
            \.apiURL,
            isRequired: false,
            rule: .adobe("B5"),
            "The gateway; without it `https://mc.adobe.io`."
        ),
        .url(
            "tokenUrl",
            \.tokenURL,
            isRequired: false,
            rule: .adobe("B1"),
            "The host that hands out tokens; without it `https://ims-na1.adobelogin.com`."
        ),
        .text(
            "organization",
            \.organization,
            isRequired: true,
            rule: .adobe("B5"),
            "The account's name in addresses: `name`, or `name-mkt-stage`.",
            check: { text in
                let isName = text.utf8.allSatisfy { byte in
                    switch byte {
                    case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D, 0x5F: true
                    default: false
                    }
                }
                return isName
                    ? nil : .init("The value is not a name.", "Copy it from the address of the vendor's interface.")
            }
        ),
        .text(
            "clientId",
            \.clientID,
            isRequired: true,
            rule: .adobe("B1"),
            "The client id of the OAuth server-to-server credential; it is the API key, too.",
            check: { text in
                text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
                    ? nil : .init("A header cannot contain it.", "Copy it from the vendor's developer console.")
            }
        ),
        .secret("clientSecret", \.clientSecret, rule: .adobe("B1"), "The credential's secret."),
        .text(
            "scope",
            \.scope,
            isRequired: true,
            rule: .adobe("B1"),
            "The credential's scopes, as the vendor's developer console shows them."
        ),
        .choice(
            "resource",
            \.resource,
            default: .profileAndServices,
            rule: .adobe("B16"),
            "Which resource is spoken to; fields that the account added need `profileAndServicesExt`."
        ),
        .choice(
            "matching",
            \.matching,
            default: .email,
            rule: .adobe("B6"),
            "How a profile is found by the contact's key: by its address, by text, by a filter of the account, or in addresses."
        ),
        .text(
            "keyField",
            \.keyField,
            default: "email",
            rule: .adobe("B7"),
            "The profile's field that holds the contact's key.",
            check: { text in
                ProfileField.named(text)?.limit != nil || ProfileField.isCustom(text)
                    ? nil
                    : .init("No profile has a text field of that name.", "Name one such as externalId or cusNumber.")
            }
        ),
        .text(
            "filter",
            \.filter,
            rule: .adobe("B6"),
            "With `filter`: its name, for example `byCusNumber`.",
            check: { text in
                [".", ".."].contains(text)
                    ? .init("A web address cannot contain it.", "Give the filter another name.") : nil
            }
        ),
        .text(
            "filterParameter",
            \.filterParameter,
            rule: .adobe("B6"),
            "With `filter`: the name of its parameter, for example `cusNumber_parameter`."
        ),
        .choice(
            "unknownContacts",
            \.unknownContacts,
            default: .add,
            rule: .adobe("B10"),
            "What becomes of what is said of a contact that the account does not have."
        ),
        .names(
            "fieldNames",
            \.fieldNames,
            rule: .adobe("B14"),
            "The profile's fields by attribute name, where the data model has none or another."
        ),
        .names(
            "identifierFields",
            \.identifierFields,
            default: "email=email phone=mobilePhone",
            rule: .adobe("B14"),
            "The profile's fields by kind of identifier."
        ),
        .names("tagFields", \.tagFields, rule: .adobe("B19"), "Boolean fields of the account's own by tag."),
        .names(
            "services",
            \.services,
            rule: .adobe("B21"),
            "The names of services by `channel.topic`; channels are `email` and `sms`."
        ),
        .choice(
            "unknownServices",
            \.unknownServices,
            default: .refuse,
            rule: .adobe("B41"),
            "What becomes of a subscription to a service that the account does not have: it is refused, or the service is made."
        ),
        .choice(
            "notOptedOut",
            \.notOptedOut,
            default: .subscribed,
            rule: .adobe("B39"),
            "How to read a blackList flag that is false: as an opt-in, or as no known decision."
        ),
        .choice(
            "notSubscribed",
            \.notSubscribed,
            default: .unsubscribed,
            rule: .adobe("B40"),
            "How to read a profile without a subscription to a service: as an opt-out, which a migration keeps, or as no known decision."
        ),
        .choice("unset", \.unset, default: .blank, rule: .adobe("B18"), "What removing a value writes."),
        .choice(
            "timeForm",
            \.timeForm,
            default: .spaced,
            rule: .adobe("B17"),
            "How a point in time is written: with a space between day and time, or as `iso`."
        ),
        .integer(
            "faultAttempts",
            \.faultAttempts,
            in: 1...1000,
            default: 16,
            rule: .adobe("B31"),
            "How often an operation is tried that the vendor answers with HTTP 500 and no known code."
        ),
        .integer("lanes", \.lanes, in: 1...4, default: 4, "How many requests may be under way at once."),
    ])

    /// The findings about combinations of settings.
    var problems: [Finding] {
        var problems: [Finding] = []
        func refuse(_ name: String, _ reason: String, _ remedy: String) {
            problems.append(.invalidSetting("settings.\(name)", reason, remedy))
        }
        if matching == .email, keyField != "email" {
            refuse("keyField", "Matching by e-mail finds the field email.", "Remove it, or take another matching.")
        }
        if matching == .filter {
            for (name, text) in [("filter", filter), ("filterParameter", filterParameter)] where text.isEmpty {
                refuse(name, "Matching by a filter needs it.", "Add \"\(name)\", as the account's resource defines it.")
            }
        }
        let needsExtension = matching == .filter || matching == .key || ProfileField.isCustom(keyField)
        if needsExtension, resource == .profileAndServices {
            refuse(
                "resource",
                "Filters, keys and fields of the account's own are not seen there.",
                "Set it to profileAndServicesExt."
            )
        }
        let named: [(String, String, String)] =
            fieldNames.map { ("fieldNames", $0.key.rawValue, $0.value) }
            + identifierFields.map { ("identifierFields", $0.key.rawValue, $0.value) }
            + tagFields.map { ("tagFields", $0.key.rawValue, $0.value) }
        for (setting, name, field) in named.sorted(by: { ($0.0, $0.1) < ($1.0, $1.1) }) {
            let path = setting.dot(name)
            if let own = ProfileField.named(field) {
                if !own.isWritten { refuse(path, "The field is computed, or another record.", "Name another field.") }
            } else if !ProfileField.isCustom(field) {
                refuse(path, "No profile has a field of that name.", "Fields of the account's own begin with cus.")
            } else if resource == .profileAndServices {
                refuse(path, "The field is not seen by profileAndServices.", "Set resource to profileAndServicesExt.")
            }
        }
        let sources = Dictionary(grouping: named.map(\.2)) { $0 }
        for field in sources.keys.sorted() where sources[field]?.count ?? 0 > 1 {
            refuse("fieldNames", "The field \(field) has two sources.", "Give each source a field of its own.")
        }
        for name in services.keys.sorted() {
            let parts = name.rawValue.split(separator: ".", maxSplits: 1)
            if parts.count != 2 || !["email", "sms"].contains(parts[0]) || [".", ".."].contains(services[name]) {
                refuse(
                    "services".dot(name.rawValue),
                    "The value is not a topic of a service.",
                    "Write it like email.offers."
                )
            } else if unknownServices == .add, let length = services[name]?.utf16.count,
                length > ServiceRecord.longestName
            {
                refuse(
                    "services".dot(name.rawValue),
                    "No service can be made with a name of \(length) characters.",
                    "Take a name of at most \(ServiceRecord.longestName), or set unknownServices to refuse."
                )
            }
        }
        return problems
    }
}

public import PatchbayAdapterKit
public import PatchbayAltcraft
import PatchbayJSON
public import PatchbayModel

/// The name of a subscription at a back end: `email`, `push.weekly_offers`.
public struct AltcraftSourceName: NeutralKey {
    public let rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }
}

/// A back end's settings for one database of the platform. They contain the platform's API token, so they must never be part
/// of an app.
public struct AltcraftServerSettings: AdapterSettings {
    /// How the platform finds a contact's profile.
    public enum Matching: String, NeutralWord {
        /// By a field of the database with the contact's key.
        case custom
        /// By e-mail address, of the profile or of its subscriptions.
        case email
        /// By the profile's e-mail address.
        case emailOfProfile = "email_profile"
        /// By phone number, of the profile or of its subscriptions.
        case phone
    }

    /// The treatment of goals and increments whose delivery is uncertain.
    public enum UncertainDelivery: String, NeutralWord {
        /// It is rejected as unknown, and kept for a person to look at.
        case reject
        /// The operation is sent again, and may count twice.
        case `repeat`
    }

    /// The platform's address.
    public var apiURL = ""
    /// The API token.
    public var apiToken: Secret?
    /// The number of the database.
    public var database = 0
    /// How the platform finds a contact's profile.
    public var matching = Matching.custom
    /// With `custom`: the field with the contact's key.
    public var matchingField = ""
    /// Profile fields by kind of identifier.
    public var identifierFields: [IdentifierKind: String] = [.email: "email", .phone: "phones"]
    /// Profile fields of attributes, where they are called otherwise.
    public var fieldNames = AltcraftField.systemNames
    /// The profile field of type tags; empty for none.
    public var tagsField = ""
    /// The form of a gender.
    public var genderForm = AltcraftSettings.GenderForm.code
    /// The numbers of resources, by `channel` or `channel.topic`.
    public var resources: [AltcraftSourceName: String] = [:]
    /// The number of the pixel that receives goals; 0 for none.
    public var pixel = 0
    /// The attribute of an event that is the goal's value, where it is a number.
    public var valueAttribute = "value"
    /// The member of a push message's payload that names it for this interface.
    public var uidKey = "_uid"
    /// Whether triggers of campaigns and scenarios ignore the requests.
    public var skipTriggers = false
    /// The treatment of goals and increments whose delivery is uncertain.
    public var uncertainDelivery = UncertainDelivery.reject
    /// Most profiles of one request.
    public var profilesPerRequest = 1000
    /// Most bytes of one request's profiles.
    public var bytesPerRequest = 10_000_000
    /// The maximum number of concurrent requests.
    public var lanes = 4

    /// The defaults; address, token and database are empty.
    public init() {}

    /// Every setting.
    public static let table = SettingsTable<AltcraftServerSettings>([
        .url(
            "apiUrl",
            \.apiURL,
            rule: .altcraft("V1"),
            "The platform's address, for example `https://ru.altkraft.com`."
        ),
        .secret("apiToken", \.apiToken, rule: .altcraft("V2"), "The API token, from the platform's settings.") {
            token in
            Authorization.isWritable(token)
                ? nil
                : .init(
                    "The value contains a character that an HTTP header cannot contain.",
                    "Write only the token: letters, digits and signs."
                )
        },
        SettingRow(
            "dbId",
            form: "whole number from 1",
            schema: ["type": "integer", "minimum": 1],
            isRequired: true,
            rule: .altcraft("V3"),
            "The number of the database."
        ) { value, settings in
            guard let number = value.integer, number > 0, number <= Int64(Int32.max) else {
                return .init(
                    "The value is not a whole number from 1.",
                    "Write the number that the platform shows beside the database's name."
                )
            }
            settings.database = Int(number)
            return nil
        },
        .choice(
            "matching",
            \.matching,
            default: .custom,
            rule: .altcraft("V4"),
            "How the platform finds a profile: what a contact's key is."
        ),
        .text(
            "matchingField",
            \.matchingField,
            rule: .altcraft("V4"),
            "With `custom`: the field of the database that holds the contact's key."
        ),
        .names(
            "identifierFields",
            \.identifierFields,
            default: "email=email phone=phones",
            rule: .altcraft("V5"),
            "Profile fields by kind of identifier."
        ),
        .names("fieldNames", \.fieldNames, rule: .altcraft("F20"), "Profile fields by attribute name."),
        .text("tagsField", \.tagsField, rule: .altcraft("F14"), "The profile field of type tags that holds the tags."),
        .choice(
            "genderForm",
            \.genderForm,
            default: .code,
            rule: .altcraft("F12"),
            "How `_sex` is written: the vendor's pages differ; its import takes a number."
        ),
        .names(
            "resources",
            \.resources,
            rule: .altcraft("V12"),
            "The numbers of resources by `channel`, or by `channel.topic`."
        ),
        .integer(
            "pixelId",
            \.pixel,
            in: 0...Int(Int32.max),
            default: 0,
            rule: .altcraft("V16"),
            "The number of the pixel that receives custom events as goals; 0: none."
        ),
        .text(
            "valueAttribute",
            \.valueAttribute,
            default: "value",
            rule: .altcraft("V17"),
            "The attribute of an event that is the goal's value, where it is a number."
        ),
        .text(
            "uidKey",
            \.uidKey,
            default: "_uid",
            rule: .altcraft("V19"),
            "The member of a push message's payload that names it; the platform puts it there on request."
        ),
        .flag(
            "skipTriggers",
            \.skipTriggers,
            default: false,
            rule: .altcraft("V6"),
            "Whether triggers of campaigns and scenarios ignore what is sent."
        ),
        .choice(
            "uncertainDelivery",
            \.uncertainDelivery,
            default: .reject,
            rule: .altcraft("V18"),
            "What to do with goals and increments whose delivery is uncertain: reject them, or send them again."
        ),
        .integer(
            "profilesPerRequest",
            \.profilesPerRequest,
            in: 1...2500,
            default: 1000,
            rule: .altcraft("V7"),
            "Most profiles of one request."
        ),
        .integer(
            "bytesPerRequest",
            \.bytesPerRequest,
            in: 1_000...10_000_000,
            default: 10_000_000,
            rule: .altcraft("V7"),
            "Most bytes of one request; a larger profile goes alone."
        ),
        .integer("lanes", \.lanes, in: 1...4, default: 4, "How many requests may be under way at once."),
    ])

    /// The device API's settings for fields, which both APIs write alike.
    var fields: AltcraftSettings {
        var settings = AltcraftSettings()
        (settings.fieldNames, settings.genderForm, settings.tagsField) = (fieldNames, genderForm, tagsField)
        return settings
    }

    /// Returns the resource of a channel, or of one of its topics; nil if the settings name none.
    func resource(_ channel: Channel, _ topic: String?) -> Int? {
        let name = AltcraftSourceName(rawValue: Subscription.Key(channel: channel, topic: topic).settingName)
        return resources[name].flatMap(Int.init)
    }

    /// Returns the subscriptions that a change sets: its own, and for an opt-out from a whole channel also those of the
    /// channel's topics in ``resources``. Empty if the settings name no resource for its own.
    func keys(setBy subscription: Subscription) -> [Subscription.Key] {
        let own = subscription.key
        guard resource(own.channel, own.topic) != nil else { return [] }
        guard own.topic == nil, subscription.state == .unsubscribed else { return [own] }
        let topics = resources.keys.map { Subscription.Key(settingName: $0.rawValue) }
            .filter { $0.channel == own.channel && $0.topic != nil }
        return [own] + topics.sorted()
    }

    /// Returns the resources whose status a change of a subscription sets.
    func resources(setBy subscription: Subscription) -> [Int] {
        keys(setBy: subscription).compactMap { resource($0.channel, $0.topic) }
    }

    /// The findings about combinations of settings.
    var problems: [Finding] {
        var problems: [Finding] = []
        func refuse(_ name: String, _ reason: String, _ remedy: String) {
            problems.append(.invalidSetting("settings.\(name)", reason, remedy))
        }
        if matching == .custom, ["", "id", "_id", ProfileRow.subscriptions].contains(matchingField) {
            refuse(
                "matchingField",
                "Matching by a field needs the name of one of the database's own fields.",
                "Name the field that holds the contact's key."
            )
        }
        // Channels may share a resource: an entry names its channel.
        let channel = { (name: AltcraftSourceName) in String(name.rawValue.prefix { $0 != "." }) }
        problems += ResourceProblems(resources, at: "settings.resources", within: channel).findings
        return problems
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The settings of a simulated account. An empty list means that every value is known.
struct Account: AdapterSettings {
    var databases: [String] = []
    var roleToken: Secret?
    var roleDatabase = 1
    var profileFields: [String] = []
    var subscriptionFields: [String] = []
    var categories: [String] = []
    var steadyCategories: [String] = []
    var replacesCategories = false
    var releasesEveryToken = false
    var pixels: [String] = []
    var apiToken: Secret?

    static let table = SettingsTable<Account>([
        .list("databases", \.databases, "Numbers of the databases that exist."),
        .secret("rToken", \.roleToken, isRequired: false, "The role token of the resource."),
        .integer("rTokenDatabase", \.roleDatabase, in: 1...1_000_000, default: 1, "The role token's database."),
        .list("profileFields", \.profileFields, "Profile fields that were created in the platform."),
        .list("subscriptionFields", \.subscriptionFields, "Subscription fields that were created in the platform."),
        .list("categories", \.categories, "Categories that are attached to the resource."),
        .list("steadyCategories", \.steadyCategories, "Categories that can't be changed: they stay active."),
        .flag(
            "replacesCategories",
            \.replacesCategories,
            default: false,
            "Whether a list of categories takes the place of the stored one."
        ),
        .flag(
            "releasesEveryToken",
            \.releasesEveryToken,
            default: false,
            "Whether a release subscribes the person's suspended subscriptions of other push tokens, too."
        ),
        .list("pixels", \.pixels, "Pixels that exist."),
        .secret("apiToken", \.apiToken, isRequired: false, "The token of the server interface (profiles/import)."),
    ])

    func knowsProfileField(_ name: String) -> Bool {
        SystemFields.profile.contains(name) || profileFields.isEmpty && !name.hasPrefix("_")
            || profileFields.contains(name)
    }

    func knowsSubscriptionField(_ name: String) -> Bool {
        SystemFields.subscription.contains(name) || subscriptionFields.isEmpty && !name.hasPrefix("_")
            || subscriptionFields.contains(name)
    }

    func knowsCategory(_ name: String) -> Bool { categories.isEmpty || categories.contains(name) }
    func knowsPixel(_ name: String) -> Bool { pixels.isEmpty || pixels.contains(name) }
    func knowsDatabase(_ number: Int64) -> Bool { databases.isEmpty || databases.contains(String(number)) }
}

/// The names of the vendor's own fields.
enum SystemFields {
    static let profile: Set<String> = [
        "email", "phones", "_fname", "_lname", "_bdate", "_sex", "_city", "_region", "_country", "_postal_code", "_tz",
        "_ip", "_status", "_browser", "_vendor", "_regdate", "_regip", "_regurl", "_regcity", "_regcountry",
    ]
    static let subscription: Set<String> = [
        "_os", "_os_tz", "_os_language", "_device_type", "_device_model", "_device_name", "_os_ver", "_ad_track",
        "_ad_id", "_app_id", "_app_iid", "_app_ver",
    ]
}

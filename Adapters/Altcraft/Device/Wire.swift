import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

// The fields of every request, one row each.

/// A subscription request: subscribe, unsubscribe or suspend.
struct SubscriptionCall: WireRecord {
    var time: Int
    var address: PushAddress
    var status: String
    var fields: JSONObject
    var categories: [Category]
    var profileFields: JSONValue?
    var replace: Bool
    var skipTriggers: Bool

    var subscription: JSONValue { .object(Self.subscriptionTable.object(self)) }
    var fieldValues: JSONValue { .object(fields) }
    var categoryList: JSONValue { .array(categories.map { .object(Category.table.object($0)) }) }

    static let table = FieldTable<SubscriptionCall>(
        "Subscribe, unsubscribe, suspend",
        [
            .required("time", \.time, .integer, from: "operation.capturedAt", rule: .altcraft("B1")),
            .required("subscription_id", \.address.token, .text, from: "device.pushToken.value", rule: .altcraft("B2")),
            .required("subscription", \.subscription, .json, from: "action.subscription", rule: .altcraft("B3")),
            .optional("profile_fields", \.profileFields, .json, from: "options.profileFields", rule: .altcraft("B6")),
            .required("replace", \.replace, .flag, from: "options.replace", rule: .altcraft("B7")),
            .required("skip_triggers", \.skipTriggers, .flag, from: "options.skipTriggers", rule: .altcraft("B7")),
        ]
    )

    static let subscriptionTable = FieldTable<SubscriptionCall>(
        "The subscription in it",
        [
            .required("subscription_id", \.address.token, .text, from: "device.pushToken.value", rule: .altcraft("B2")),
            .required("provider", \.address.provider, .text, from: "device.pushToken.service", rule: .altcraft("T7")),
            .required("status", \.status, .text, from: "action.subscription.state", rule: .altcraft("B3")),
            .required("fields", \.fieldValues, .json, from: "device.facts", rule: .altcraft("B4")),
            .required("cats", \.categoryList, .json, from: "action.subscription.topic", rule: .altcraft("B5")),
        ]
    )
}

/// A category of a subscription in a request.
struct Category: Sendable, Equatable {
    var name: String
    var active: Bool?

    static let table = FieldTable<Category>(
        "A category in it",
        [
            .required("name", \.name, .text, from: "action.subscription.topic", rule: .altcraft("B11")),
            .optional("active", \.active, .flag, from: "action.subscription.state", rule: .altcraft("B5")),
        ]
    )
}

/// The device facts among a subscription's fields.
struct CollectedFacts: Sendable {
    var facts: DeviceFacts
    var installation: String?
    var settings: AltcraftSettings

    var system: String {
        ["ios": "IOS", "ipados": "IOS", "android": "Android"][facts.platform.lowercased()] ?? facts.platform
    }
    var deviceType: String { settings.deviceType.rawValue }
    var advertisingID: String? { facts.allowsAdTracking ? facts.advertisingID : nil }
    var appID: String? { settings.appFields ? facts.appID : nil }
    var appInstallation: String? { settings.appFields ? installation : nil }
    var appVersion: String? { settings.appFields && !facts.appVersion.isEmpty ? facts.appVersion : nil }

    static let table = FieldTable<CollectedFacts>(
        "Fields collected from the device",
        [
            .required("_os", \.system, .text, from: "device.facts.platform", rule: .altcraft("F3")),
            .required(
                "_os_tz",
                \.facts.utcOffsetSeconds,
                .zone,
                from: "device.facts.utcOffsetSeconds",
                rule: .altcraft("F3")
            ),
            .required("_os_language", \.facts.language, .text, from: "device.facts.locale", rule: .altcraft("F3")),
            .required("_device_type", \.deviceType, .text, from: "settings.deviceType", rule: .altcraft("F3")),
            .required("_device_model", \.facts.model, .text, from: "device.facts.model", rule: .altcraft("F3")),
            .optional(
                "_device_name",
                \.facts.deviceName,
                .text,
                from: "device.facts.deviceName",
                rule: .altcraft("F3")
            ),
            .required(
                "_os_ver",
                \.facts.platformVersion,
                .text,
                from: "device.facts.platformVersion",
                rule: .altcraft("F3")
            ),
            .required(
                "_ad_track",
                \.facts.allowsAdTracking,
                .flag,
                from: "device.facts.allowsAdTracking",
                rule: .altcraft("F3")
            ),
            .optional("_ad_id", \.advertisingID, .text, from: "device.facts.advertisingID", rule: .altcraft("F5")),
            .optional("_app_id", \.appID, .text, from: "device.facts.appID", rule: .altcraft("F6")),
            .optional(
                "_app_iid",
                \.appInstallation,
                .text,
                from: "device.identities.altcraft.app_iid",
                rule: .altcraft("F6")
            ),
            .optional("_app_ver", \.appVersion, .text, from: "device.facts.appVersion", rule: .altcraft("F6")),
        ]
    )

    init?(_ device: Device?, _ settings: AltcraftSettings) {
        guard let device, let facts = device.facts else { return nil }
        (self.facts, self.settings) = (facts, settings)
        installation = device.identities["altcraft.app_iid"]
    }
}

extension WireFormat<Int> {
    /// Seconds east of UTC as `+hhmm` or `-hhmm`.
    static let zone = WireFormat(
        "offset from UTC as +hhmm",
        schema: ["type": "string", "pattern": "^[+-][0-9]{4}$"]
    ) { seconds in
        let minutes = abs(seconds) / 60
        let digits = String(10_000 + minutes / 60 * 100 + minutes % 60).dropFirst()
        return .string((seconds < 0 ? "-" : "+") + digits)
    }
}

/// A push token that replaces another.
struct TokenUpdateCall: WireRecord {
    var old: PushAddress
    var new: PushAddress

    static let table = FieldTable<TokenUpdateCall>(
        "Token update",
        [
            .required("old_token", \.old.token, .text, from: "memory.saved", rule: .altcraft("B8")),
            .required("old_provider", \.old.provider, .text, from: "memory.saved", rule: .altcraft("B8")),
            .required("new_token", \.new.token, .text, from: "device.pushToken.value", rule: .altcraft("B8")),
            .required("new_provider", \.new.provider, .text, from: "device.pushToken.service", rule: .altcraft("T7")),
        ]
    )
}

/// The release of a suspension at a change of person.
struct ReleaseCall: WireRecord {
    var address: PushAddress

    var subscription: JSONValue {
        ["subscription_id": .string(address.token), "provider": .string(address.provider)]
    }

    static let table = FieldTable<ReleaseCall>(
        "Release of a suspension",
        [
            .required("subscription", \.subscription, .json, from: "device.pushToken", rule: .altcraft("B9")),
            .required("replace", { _ in true }, .flag, from: "always true", rule: .altcraft("B9")),
        ]
    )
}

/// A push that arrived or was opened.
struct PushEventCall: WireRecord {
    var time: Int
    var messageID: String

    static let table = FieldTable<PushEventCall>(
        "Push event",
        [
            .required("time", \.time, .integer, from: "operation.capturedAt", rule: .altcraft("P5")),
            .required("smid", \.messageID, .text, from: "event.payload._uid", rule: .altcraft("P2")),
        ]
    )
}

/// Fields of a profile that change.
struct ProfileUpdateCall: WireRecord {
    var profileFields: JSONValue
    var skipTriggers: Bool

    static let table = FieldTable<ProfileUpdateCall>(
        "Profile update",
        [
            .required("profile_fields", \.profileFields, .json, from: "action.changes", rule: .altcraft("B10")),
            .required("skip_triggers", \.skipTriggers, .flag, from: "options.skipTriggers", rule: .altcraft("B10")),
        ]
    )
}

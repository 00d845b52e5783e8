import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

// The fields of every record that goes to the vendor, one row each.

/// A subscription request: subscribe, unsubscribe or suspend.
struct SubscriptionCall: Sendable {
    var time: Int
    var address: PushAddress
    var status: String
    var fields: JSONObject
    var categories: [Category]
    var profileFields: JSONValue?
    var replace: Bool
    var skipTriggers: Bool

    var token: String { address.token }
    var provider: String { address.provider }
    var subscription: JSONValue { .object(Self.subscriptionTable.object(self)) }
    var fieldValues: JSONValue { .object(fields) }
    var categoryList: JSONValue { .array(categories.map { .object(Category.table.object($0)) }) }

    static let table = FieldTable<SubscriptionCall>(
        "Subscribe, unsubscribe, suspend",
        [
            .required("time", \.time, .integer, from: "operation.capturedAt", rule: .altcraft("B1")),
            .required("subscription_id", \.token, .text, from: "device.pushToken.value", rule: .altcraft("B2")),
            .required("subscription", \.subscription, .json, from: "action.subscription", rule: .altcraft("B3")),
            .optional("profile_fields", \.profileFields, .json, from: "options.profileFields", rule: .altcraft("B6")),
            .required("replace", \.replace, .flag, from: "options.replace", rule: .altcraft("B7")),
            .required("skip_triggers", \.skipTriggers, .flag, from: "options.skipTriggers", rule: .altcraft("B7")),
        ]
    )

    static let subscriptionTable = FieldTable<SubscriptionCall>(
        "The subscription in it",
        [
            .required("subscription_id", \.token, .text, from: "device.pushToken.value", rule: .altcraft("B2")),
            .required("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("T7")),
            .required("status", \.status, .text, from: "action.subscription.state", rule: .altcraft("B3")),
            .required("fields", \.fieldValues, .json, from: "device.facts", rule: .altcraft("B4")),
            .required("cats", \.categoryList, .json, from: "action.subscription.topic", rule: .altcraft("B5")),
        ]
    )
}

/// A category of a subscription, as it is sent.
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

/// Facts of the device that stand among a subscription's fields.
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

/// A push token that takes the place of another.
struct TokenUpdateCall: Sendable {
    var old: PushAddress?
    var new: PushAddress

    var oldToken: JSONValue { old.map { .string($0.token) } ?? .null }
    var oldProvider: JSONValue { old.map { .string($0.provider) } ?? .null }
    var newToken: String { new.token }
    var newProvider: String { new.provider }

    static let table = FieldTable<TokenUpdateCall>(
        "Token update",
        [
            .required("old_token", \.oldToken, .json, from: "memory.saved", rule: .altcraft("B8")),
            .required("old_provider", \.oldProvider, .json, from: "memory.saved", rule: .altcraft("B8")),
            .required("new_token", \.newToken, .text, from: "device.pushToken.value", rule: .altcraft("B8")),
            .required("new_provider", \.newProvider, .text, from: "device.pushToken.service", rule: .altcraft("T7")),
        ]
    )
}

/// The release of a suspension at a change of person.
struct ReleaseCall: Sendable {
    var address: PushAddress

    var subscription: JSONValue {
        ["subscription_id": .string(address.token), "provider": .string(address.provider)]
    }
    var replace: Bool { true }

    static let table = FieldTable<ReleaseCall>(
        "Release of a suspension",
        [
            .required("subscription", \.subscription, .json, from: "device.pushToken", rule: .altcraft("B9")),
            .required("replace", \.replace, .flag, from: "always true", rule: .altcraft("B9")),
        ]
    )
}

/// A push that arrived or was opened.
struct PushEventCall: Sendable {
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
struct ProfileUpdateCall: Sendable {
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

/// What a request's query may say; each request has its own rows.
struct Query: Sendable {
    var provider: String?
    var token: String?
    var matchingMode: String?
    var sync: String?
    var pixel: String?

    var eventKind: String? { pixel.map { _ in "px" } }
    var eventType: String? { pixel.map { _ in "open" } }
    var eventVersion: String? { pixel.map { _ in "2" } }

    static let subscribe = FieldTable<Query>(
        "Query of a subscription request",
        [
            .optional("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("Q2")),
            .optional("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q2")),
            .optional("sync", \.sync, .text, from: "options.sync", rule: .altcraft("Q10")),
        ]
    )
    static let tokenUpdate = FieldTable<Query>(
        "Query of a token update",
        [
            .optional("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("Q3")),
            .optional("subscription_id", \.token, .text, from: "memory.saved", rule: .altcraft("Q3")),
            .optional("sync", \.sync, .text, from: "settings.rToken", rule: .altcraft("Q3")),
        ]
    )
    static let release = FieldTable<Query>(
        "Query of a release",
        [
            .optional("provider", \.provider, .text, from: "device.pushToken.service", rule: .altcraft("Q4")),
            .optional("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q4")),
            .optional("subscription_id", \.token, .text, from: "device.pushToken.value", rule: .altcraft("Q4")),
        ]
    )
    static let status = FieldTable<Query>(
        "Query of a question",
        [
            .optional("provider", \.provider, .text, from: "read.arguments.provider", rule: .altcraft("Q5")),
            .optional("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q5")),
            .optional("subscription_id", \.token, .text, from: "device.pushToken.value", rule: .altcraft("Q5")),
        ]
    )
    static let pushEvent = FieldTable<Query>(
        "Query of a push event",
        [.optional("matching_mode", \.matchingMode, .text, from: "credential", rule: .altcraft("Q6"))]
    )
    static let customEvent = FieldTable<Query>(
        "Query of a custom event",
        [
            .optional("i", \.pixel, .text, from: "settings.pixel", rule: .altcraft("Q7")),
            .optional("tr", \.eventKind, .text, from: "always px", rule: .altcraft("Q7")),
            .optional("t", \.eventType, .text, from: "always open", rule: .altcraft("Q7")),
            .optional("v", \.eventVersion, .text, from: "always 2", rule: .altcraft("Q7")),
        ]
    )
    static let none = FieldTable<Query>("No query", [])
}

/// Makes requests: address, headers, body.
struct RequestMaker {
    let settings: AltcraftSettings
    let authorization: Authorization
    let operation: OperationID
    /// Which of an operation's several requests; nil for the first.
    let part: String?

    /// A request with a JSON body.
    func post<Record>(
        _ path: String,
        _ query: FieldTable<Query>,
        _ values: Query,
        _ table: FieldTable<Record>,
        _ record: Record
    )
        -> WireRequest
    {
        let body = JSONValue.object(table.object(record)).text
        return WireRequest(
            "POST",
            url(path, query, values),
            headers: headers("application/json"),
            body: Array(body.utf8)
        )
    }

    /// A question without a body.
    func get(_ path: String, _ query: FieldTable<Query>, _ values: Query) -> WireRequest {
        WireRequest("GET", url(path, query, values), headers: headers("application/json"))
    }

    /// A request with a form.
    func post(_ path: String, _ query: FieldTable<Query>, _ values: Query, form: Form) -> WireRequest {
        let type = "multipart/form-data; boundary=\(form.boundary)"
        return WireRequest("POST", url(path, query, values), headers: headers(type), body: form.bytes)
    }

    private func headers(_ contentType: String) -> [WireHeader] {
        for rule in ["H1", "H2", "H3"] { RuleID.altcraft(rule).fire() }
        return [
            WireHeader("Authorization", authorization.header, isSecret: true),
            WireHeader("Request-ID", RequestID.text(for: operation, part: part)),
            WireHeader("Content-Type", contentType),
        ]
    }

    private func url(_ path: String, _ table: FieldTable<Query>, _ values: Query) -> String {
        for rule in ["Q1", "Q9"] { RuleID.altcraft(rule).fire() }
        let parts = settings.apiURL.split(separator: "?", maxSplits: 1)
        var base = String(parts.first ?? "")
        while base.hasSuffix("/") { base.removeLast() }
        let query = URLText.query(table.object(values).map { ($0.name, $0.value.string) })
        guard parts.count == 2 else { return base + path + query }
        return base + path + "?" + parts[1] + (query.isEmpty ? "" : "&" + query.dropFirst())
    }
}

import PatchbayAdapterKit
public import PatchbayJSON

/// The vendor's reply to a subscription request, a change of person or a query. It is the typed content of a verdict's
/// `answer`.
public struct AltcraftAnswer: Hashable, Sendable {
    /// A profile, with the members that the vendor shows.
    public struct Profile: Hashable, Sendable {
        /// The vendor's id.
        public var id: String?
        /// The vendor's status of the profile.
        public var status: String?
        /// Whether it is a profile for tests.
        public var isTest: Bool?
        /// The subscription that was changed or queried; nil if the profile has none.
        public var subscription: Subscription?
    }

    /// A push subscription.
    public struct Subscription: Hashable, Sendable {
        /// The push token.
        public var subscriptionID: String?
        /// The vendor's short id.
        public var hashID: String?
        /// The provider: `ios-apns`.
        public var provider: String?
        /// `subscribed`, `unsubscribed` or `suspended`.
        public var status: String?
        /// Every stored field, including the app's own ones. `_os_ver` is returned as an object.
        public var fields: JSONObject?
        /// The categories.
        public var categories: [Category]?
    }

    /// A category of a subscription.
    public struct Category: Hashable, Sendable {
        /// Its name.
        public var name: String?
        /// Its title for people.
        public var title: String?
        /// Whether it can't be changed.
        public var isSteady: Bool?
        /// Whether messages of it are sent.
        public var isActive: Bool?
    }

    /// The HTTP status; nil without a reply.
    public var httpCode: Int?
    /// The vendor's error number; 0 means no error.
    public var error: Int?
    /// The vendor's error text.
    public var errorText: String?
    /// The profile; nil if the request was not synchronous, failed, or found no profile.
    public var profile: Profile?
    /// The vendor's number for the outcome, as on its page.
    public var eventCode: Int?
    /// The vendor's number for the outcome, as in newer SDKs.
    public var renumberedEventCode: Int?

    /// Reads a verdict's answer; nil if it is not an answer of this adapter.
    public init?(_ json: JSONValue) {
        guard json["httpCode"] != nil else { return nil }
        httpCode = json["httpCode"]?.integer.map(Int.init)
        error = json["error"]?.integer.map(Int.init)
        errorText = json["errorText"]?.string
        profile = json["profile"].flatMap { $0.isNull ? nil : Profile($0, .neutral) }
        eventCode = json["eventCode"]?.integer.map(Int.init)
        renumberedEventCode = json["renumberedEventCode"]?.integer.map(Int.init)
    }

    /// Reads a reply.
    init(status: Int?, _ body: JSONValue?, _ codes: EventCodes?, _ number: (EventCodes.Numbers) -> Int?) {
        httpCode = status
        error = body?["error"]?.integer.map(Int.init)
        errorText = body?["error_text"]?.string
        profile = body?["profile"].flatMap { $0.object == nil ? nil : Profile($0, .wire) }
        eventCode = codes?.first.flatMap(number)
        renumberedEventCode = codes.flatMap { number($0.renumbered) }
    }

    /// The answer as JSON: `httpCode`, `error`, `errorText`, `profile`, `eventCode`, `renumberedEventCode`.
    public var json: JSONValue {
        // Every success creates one, so it is built member by member and not from a list.
        var object = JSONObject()
        object.reserveCapacity(6)
        object["httpCode"] = httpCode.map(JSONValue.integer) ?? .null
        object["error"] = error.map(JSONValue.integer)
        object["errorText"] = errorText.map(JSONValue.string)
        object["profile"] = profile?.json ?? .null
        object["eventCode"] = eventCode.map(JSONValue.integer)
        object["renumberedEventCode"] = renumberedEventCode.map(JSONValue.integer)
        return .object(object)
    }
}

/// The names of the members, on the wire and in an answer to the app.
private struct Spelling {
    let isTest: String
    let subscriptionID: String
    let hashID: String

    static let wire = Spelling(isTest: "is_test", subscriptionID: "subscription_id", hashID: "hash_id")
    static let neutral = Spelling(isTest: "isTest", subscriptionID: "subscriptionId", hashID: "hashId")
}

extension AltcraftAnswer.Profile {
    fileprivate init(_ json: JSONValue, _ names: Spelling) {
        id = json["id"]?.string
        status = json["status"]?.string
        isTest = json[names.isTest]?.bool
        subscription = json["subscription"].flatMap { $0.object == nil ? nil : .init($0, names) }
        // The vendor's page shows the categories in the subscription, and once beside it.
        if subscription != nil, subscription?.categories == nil {
            subscription?.categories = json["cats"]?.array?.map(AltcraftAnswer.Category.init)
        }
    }

    fileprivate var json: JSONValue {
        .compact([
            ("id", id.map(JSONValue.string)), ("status", status.map(JSONValue.string)),
            ("isTest", isTest.map(JSONValue.bool)), ("subscription", subscription?.json ?? .null),
        ])
    }
}

extension AltcraftAnswer.Subscription {
    fileprivate init(_ json: JSONValue, _ names: Spelling) {
        subscriptionID = json[names.subscriptionID]?.string
        hashID = json[names.hashID]?.string
        provider = json["provider"]?.string
        status = json["status"]?.string
        fields = json["fields"]?.object
        categories = json["cats"]?.array?.map(AltcraftAnswer.Category.init)
    }

    fileprivate var json: JSONValue {
        .compact([
            ("subscriptionId", subscriptionID.map(JSONValue.string)), ("hashId", hashID.map(JSONValue.string)),
            ("provider", provider.map(JSONValue.string)), ("status", status.map(JSONValue.string)),
            ("fields", fields.map(JSONValue.object)), ("cats", categories.map { .array($0.map(\.json)) }),
        ])
    }
}

extension AltcraftAnswer.Category {
    fileprivate init(_ json: JSONValue) {
        (name, title) = (json["name"]?.string, json["title"]?.string)
        (isSteady, isActive) = (json["steady"]?.bool, json["active"]?.bool)
    }

    fileprivate var json: JSONValue {
        .compact([
            ("name", name.map(JSONValue.string)), ("title", title.map(JSONValue.string)),
            ("steady", isSteady.map(JSONValue.bool)), ("active", isActive.map(JSONValue.bool)),
        ])
    }
}

extension JSONValue {
    /// An object of the members that have a value.
    fileprivate static func compact(_ members: [(String, JSONValue?)]) -> JSONValue {
        var object = JSONObject()
        for case (let name, let value?) in members { object[name] = value }
        return .object(object)
    }
}

import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayJSON
import PatchbayModel

/// A request for a token, as a form.
struct AdobeTokenRequest: Sendable {
    let settings: AdobeServerSettings

    static let table = FieldTable<AdobeTokenRequest>(
        "Token",
        [
            .required("client_id", \.settings.clientID, .text, from: "settings.clientId", rule: .adobe("B1")),
            .required(
                "client_secret",
                { $0.settings.clientSecret?.value ?? "" },
                .text,
                from: "settings.clientSecret",
                rule: .adobe("B1")
            ),
            .required("grant_type", { _ in "client_credentials" }, .text, from: "fixed", rule: .adobe("B1")),
            .required("scope", \.settings.scope, .text, from: "settings.scope", rule: .adobe("B1")),
        ]
    )
}

/// A profile's subscription to a service.
struct SubscriptionRecord: Sendable {
    let service: String

    static let table = FieldTable<SubscriptionRecord>(
        "Subscription",
        [.required("service", { ["PKey": .string($0.service)] }, .json, from: "settings.services", rule: .adobe("B23"))]
    )
}

/// A service that is created for a topic.
struct ServiceRecord: Sendable {
    /// UTF-16 units of a name, by the vendor's data model.
    static let longestName = 64

    let topic: TopicPlace

    static let table = FieldTable<ServiceRecord>(
        "Service",
        [
            .required("name", { $0.topic.service ?? "" }, .text, from: "settings.services", rule: .adobe("B41")),
            .required("label", { $0.topic.service ?? "" }, .text, from: "settings.services", rule: .adobe("B41")),
            .required(
                "messageType",
                \.topic.channel.rawValue,
                .text,
                from: "action.subscription.channel",
                rule: .adobe("B41")
            ),
        ]
    )
}

/// An address in a reply. Only the part after the API's own address is used, so that no other host gets the token (B8).
struct ServerAddress: Sendable, Equatable {
    /// The part after the API's address.
    let rest: String

    /// Reads an address in a reply, regardless of its host; nil if it belongs to another account or is too long to store.
    init?(_ href: String, _ settings: AdobeServerSettings) {
        guard let address = WebAddress(href), address.path.hasPrefix(settings.root),
            let start = href.firstRange(of: settings.root)?.upperBound
        else { return nil }
        self.init(behind: String(href[start...]), settings)
    }

    /// Reads the part after the API's address, as a caller passes it back.
    init?(behind rest: String, _ settings: AdobeServerSettings) {
        guard (1...ServerPace.longestAddress).contains(rest.utf8.count), !rest.contains("#"), !rest.hasPrefix("/"),
            let address = WebAddress(settings.base + rest), !address.climbs,
            rest.hasPrefix("profileAndServices/") || rest.hasPrefix("profileAndServicesExt/")
        else { return nil }
        self.rest = rest
    }

    /// Returns the collection to which a page's address belongs.
    static func collection(of page: String) -> String { String(page.prefix { $0 != "?" }) }
}

/// Addresses of profiles.
enum ProfileAddress: Sendable {
    /// Returns the address by the vendor's key, which needs no encoding.
    static func keyed(_ key: String, _ settings: AdobeServerSettings) -> String {
        "\(settings.resource.rawValue)/profile/\(key)"
    }

    /// By a key of the account's own.
    static func named(_ key: String, _ settings: AdobeServerSettings) -> String {
        keyed(URLText.encode(key), settings)
    }
}

/// A record in a reply.
struct ServerRecord: Sendable {
    let json: JSONValue
    /// The vendor's own key.
    let key: String

    /// Reads the record of a reply, alone or as the only one of a list; nil if there is none with a usable key.
    init?(_ json: JSONValue?) {
        let wrapped = json?["content"]?.array
        guard let record = wrapped == nil ? json : wrapped?.count == 1 ? wrapped?.first : nil,
            let key = record["PKey"]?.string, Self.isKey(key)
        else { return nil }
        (self.json, self.key) = (record, key)
    }

    /// Whether a key can be part of an address without encoding.
    private static func isKey(_ text: String) -> Bool {
        (1...ServerPace.longestKey).contains(text.utf8.count) && text != "." && text != ".."
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2B, 0x2D, 0x2E, 0x3D, 0x40, 0x5F, 0x7E: true
                default: false
                }
            }
    }

    /// Whether the record's key field equals the key. A search also returns records whose field only begins with it (B7).
    func has(_ key: String, _ settings: AdobeServerSettings) -> Bool {
        guard settings.matching != .key else { return true }
        guard let held = json[settings.keyField].flatMap({ $0.string ?? $0.number?.text }) else { return false }
        let ignoresCase = settings.matching == .email
        return ScalarString.equal(ignoresCase ? held.lowercased() : held, ignoresCase ? key.lowercased() : key)
    }

    /// Returns the address of its subscriptions.
    func subscriptions(_ settings: AdobeServerSettings) -> String? {
        json["subscriptions"]?["href"]?.string.flatMap { ServerAddress($0, settings)?.rest }
    }

    /// Its own address.
    func address(_ settings: AdobeServerSettings) -> String? {
        json["href"]?.string.flatMap { ServerAddress($0, settings)?.rest }
    }

    /// Whether it is a subscription to that service.
    func isSubscription(to name: String?, _ key: String?) -> Bool {
        let (service, names) = (json["service"], [json["serviceName"]?.string, json["service"]?["name"]?.string])
        return key != nil && service?["PKey"]?.string == key || name != nil && names.contains(name)
    }
}

/// A page of a collection.
struct ServerPage: Sendable {
    let records: [ServerRecord]
    /// The address of the next page; nil on the last page.
    let next: String?
    private let content: [JSONValue]
    private let rest: String?

    /// Reads the page of a reply; nil if it is none. A query for one record may return the record alone.
    init?(_ json: JSONValue?, isSingle: Bool, _ settings: AdobeServerSettings) {
        if isSingle, json?["content"] == nil {
            guard let record = ServerRecord(json) else { return nil }
            (records, next, content, rest) = ([record], nil, [record.json], nil)
            return
        }
        guard let content = json?["content"]?.array else { return nil }
        let records = content.compactMap { ServerRecord($0) }
        guard records.count == content.count else { return nil }
        (self.records, self.content) = (records, content)
        next = json?["next"]?["href"]?.string
        rest = next.flatMap { ServerAddress($0, settings)?.rest }
    }

    /// Whether a next page exists without a usable address.
    var isCut: Bool { next != nil && rest == nil }

    /// The answer for the caller: the records, and the parameter that queries the next page.
    var answer: JSONValue {
        ["content": .array(content), "next": rest.map(JSONValue.string) ?? .null, "isLast": .bool(next == nil)]
    }
}

/// The answer to a query for a contact: the profiles with its key, usually one, and the address of that one's subscriptions.
struct ContactAnswer: Sendable {
    let json: JSONValue

    init(_ profiles: [ServerRecord], _ list: String?) {
        json = ["profiles": .array(profiles.map(\.json)), "subscriptions": list.map(JSONValue.string) ?? .null]
    }
}

/// Makes requests. All except the token request carry the token.
struct ServerRequests: Sendable {
    let settings: AdobeServerSettings
    let memory: AdobeServer.Memory

    private func request(
        _ method: String,
        _ address: String,
        _ body: [UInt8] = [],
        replyLimit: Int = WireRequest.usualReplyLimit
    ) -> WireRequest {
        WireRequest(
            method,
            settings.base + address,
            headers: [
                WireHeader("Authorization", memory.authorization, isSecret: true),
                WireHeader("X-Api-Key", settings.clientID), WireHeader("Cache-Control", "no-cache"),
                WireHeader("Content-Type", "application/json"),
            ],
            body: body,
            replyLimit: replyLimit
        )
    }

    /// Returns the request for a token. Its body contains the client's secret.
    func token() -> WireRequest {
        let form = AdobeTokenRequest.table.query(AdobeTokenRequest(settings: settings)).dropFirst()
        return WireRequest(
            "POST",
            settings.tokenURL + "/ims/token/v3",
            headers: [WireHeader("Content-Type", "application/x-www-form-urlencoded")],
            body: Array(form.utf8),
            hidesBody: true
        )
    }

    private var profiles: String { "\(settings.resource.rawValue)/profile" }

    /// Returns the query for the profile with a key.
    func find(_ key: String) -> WireRequest {
        let text = URLText.encode(key)
        return switch settings.matching {
        case .email: request("GET", "\(profiles)/byEmail?email=\(text)")
        case .text:
            request(
                "GET",
                "\(profiles)/byText?text=\(text)&filterType=\(URLText.encode(settings.keyField))"
                    + "&_lineCount=\(ServerPace.rowsOfPage)&_forcePagination=true"
            )
        case .filter:
            request(
                "GET",
                "\(profiles)/\(URLText.encode(settings.filter))?\(URLText.encode(settings.filterParameter))=\(text)"
            )
        case .key: request("GET", ProfileAddress.named(key, settings))
        }
    }

    func get(_ address: String, replyLimit: Int = WireRequest.usualReplyLimit) -> WireRequest {
        request("GET", address, replyLimit: replyLimit)
    }

    func create(_ row: ProfileRow) -> WireRequest { request("POST", profiles, row.made.bytes) }

    func update(_ row: ProfileRow, at address: String) -> WireRequest {
        request("PATCH", address, row.changed.bytes)
    }

    func delete(_ address: String) -> WireRequest { request("DELETE", address) }

    /// Returns the query for a service by its name, which the vendor accepts in place of its key.
    func service(_ name: String) -> WireRequest {
        request("GET", "\(settings.resource.rawValue)/service/\(URLText.encode(name))")
    }

    func makeService(_ record: ServiceRecord?) -> WireRequest {
        request("POST", "\(settings.resource.rawValue)/service", record.map { ServiceRecord.table.bytes($0) } ?? [])
    }

    func subscribe(_ record: SubscriptionRecord, at address: String) -> WireRequest {
        request("POST", address, SubscriptionRecord.table.bytes(record))
    }
}

public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the REST interface of one Campaign Standard account and of its token host, as a pure value.
///
/// It is as strict as the documents:
///
/// - Each request carries a token, an API key and a content type.
/// - A text search matches prefixes and is case-sensitive.
/// - A collection is returned in pages, and enumerations are text.
/// - A client error is status 500 with a code; for a wrong organization the code is a number.
///
/// Where the documents state nothing, it makes these choices:
///
/// - The filter for addresses ignores case.
/// - An existing subscription is created again.
/// - The account's own key identifies one profile if the account's settings say so.
/// - An empty value clears a field, and so does null.
/// - A profile contains each of its flags, false by default.
public struct AdobeServerSimulator: VendorSimulator {
    public static let id: AdapterID = "adobe-server"

    private let settings: AdobeServerSimulatorSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try AdobeServerSimulatorSettings.table.read(
            settings,
            over: AdobeServerSimulatorSettings(),
            at: ""
        )
    }

    public var initialState: AdobeServerAccount {
        var account = AdobeServerAccount()
        account.services = settings.services.map { AdobeServerAccount.Service(name: $0) }
        return account
    }

    public func respond(to request: WireRequest, state: inout AdobeServerAccount, now: Instant) -> WireResponse {
        let parts = URLText.path(of: request.url).split(separator: "/").map { URLText.decode($0) ?? "" }
        // The host's paths may be below a folder of a sandbox.
        if parts.suffix(3) == ["ims", "token", "v3"] {
            let response = token(request, &state, now)
            state.counts["POST /ims/token/v3 \(response.status)", default: 0] += 1
            return response
        }
        let start = parts.firstIndex(of: "campaign") ?? parts.endIndex
        let path = Array(parts.dropFirst(start + 1))
        let organization = start > 0 && start < parts.count ? parts[start - 1] : ""
        var call = Call(request, path)
        let response = answer(&call, organization, &state, now)
        let name = path.map { $0.hasPrefix("@") ? "{PKey}" : $0 }.joined(separator: "/")
        state.counts["\(request.method) /\(name) \(response.status)", default: 0] += 1
        return response
    }

    // MARK: Tokens

    private func token(_ request: WireRequest, _ state: inout AdobeServerAccount, _ now: Instant) -> WireResponse {
        guard request.method == "POST", request.isType("application/x-www-form-urlencoded") else {
            return WireResponse(400, json: ["error": "invalid_request"])
        }
        let form = URLText.queryItems(of: "?" + String(decoding: request.body, as: UTF8.self))
        let items = Dictionary(form.map { ($0.name, $0.value) }) { $1 }
        func isKnown(_ name: String, _ wanted: String?) -> Bool {
            items[name].map { !$0.isEmpty && (wanted ?? $0) == $0 } ?? false
        }
        guard items["grant_type"] == "client_credentials", items.count == 4 else {
            return WireResponse(400, json: ["error": "unsupported_grant_type"])
        }
        guard isKnown("client_id", settings.clientID.given), isKnown("client_secret", settings.clientSecret?.value)
        else { return WireResponse(400, json: ["error": "invalid_client"]) }
        guard isKnown("scope", nil) else { return WireResponse(400, json: ["error": "invalid_scope"]) }
        let token = "token-\(state.tokens.count + 1)"
        state.tokens.append(.init(text: token, until: now + .seconds(settings.tokenLife)))
        return WireResponse(
            200,
            json: [
                "access_token": .string(token), "token_type": "bearer", "expires_in": .integer(settings.tokenLife),
            ]
        )
    }

    // MARK: Routes

    /// A request, and the base of its addresses.
    private struct Call {
        let request: WireRequest
        let path: [String]
        let base: String
        let query: [String: String]

        init(_ request: WireRequest, _ path: [String]) {
            (self.request, self.path) = (request, path)
            let end = request.url.firstRange(of: "/campaign/")?.upperBound
            base = end.map { String(request.url[..<$0]) } ?? ""
            query = Dictionary(URLText.queryItems(of: request.url).map { ($0.name, $0.value) }) { $1 }
        }

        var resource: String { path.first ?? "" }
    }

    private func answer(
        _ call: inout Call,
        _ organization: String,
        _ state: inout AdobeServerAccount,
        _ now: Instant
    ) -> WireResponse {
        let request = call.request
        guard
            state.tokens.contains(where: { request[header: "Authorization"] == "Bearer \($0.text)" && $0.until > now })
        else { return WireResponse(401, json: ["error_code": "401013", "message": "Oauth token is not valid"]) }
        guard let key = request[header: "X-Api-Key"], settings.clientID.given.map({ $0 == key }) ?? true else {
            return WireResponse(403, json: ["error_code": "403000", "message": "Api Key is invalid"])
        }
        guard settings.organization.given.map({ $0 == organization }) ?? true else {
            return WireResponse(500, json: ["code": 500, "message": "Oops. Something went wrong. Check your URI."])
        }
        if request[header: "Cache-Control"] != "no-cache" || !request.isType("application/json") {
            state.violations.append("a request without its headers")
        }
        guard ["profileAndServices", "profileAndServicesExt"].contains(call.resource), call.path.count > 1 else {
            return Self.missing
        }
        let path = Array(call.path.dropFirst())
        switch (request.method, path.count, path[0]) {
        case ("POST", 1, "profile"): return make(call, &state)
        case ("GET", 1, "profile"): return page(call, profiles(state.profiles, call, state))
        case ("GET", 1, "service"): return page(call, state.services.indices.map { service($0, call, state) })
        case ("POST", 1, "service"): return makeService(call, &state)
        case ("GET", 2, "profile") where path[1].hasPrefix("by"): return search(call, path[1], state)
        case (_, 2, "profile"): return profile(call, path[1], &state)
        case ("GET", 2, "service"): return look(call, path[1], &state)
        case (_, 3, "profile") where path[2] == "subscriptions": return subscriptions(call, path[1], &state)
        case ("DELETE", 4, "service") where path[2] == "subscriptions": return end(call, path[3], &state)
        case ("DELETE", 2, "service"):
            state.violations.append("a service was deleted")
            return WireResponse(204)
        default: return Self.missing
        }
    }

    private static let missing = text(404, "RST-360011 An error has occurred - unable to find document")

    private static func text(_ status: Int, _ text: String) -> WireResponse {
        WireResponse(status, headers: [WireHeader("Content-Type", "text/plain")], body: Array(text.utf8))
    }

    // MARK: Collections

    /// Returns a page of records with as many as requested, 25 by default, and the start of the next page.
    private func page(_ call: Call, _ records: [JSONValue]) -> WireResponse {
        let count =
            call.query["_lineCount"].flatMap(Int.init).map { min($0, settings.mostRows) } ?? min(25, settings.mostRows)
        let start = call.query["_lineStart"].flatMap { Int($0.dropFirst()) } ?? 0
        let rows = records.dropFirst(start).prefix(count)
        var body: JSONObject = ["content": .array(Array(rows)), "serverSidePagination": true]
        body["count"] = ["href": .string(call.base + call.path.joined(separator: "/") + "/_count")]
        if start + rows.count < records.count {
            let items = URLText.queryItems(of: call.request.url).filter { $0.name != "_lineStart" }
            let query = URLText.query((items + [("_lineStart", "@\(start + rows.count)")]).map { ($0.name, $0.value) })
            let path = call.path.map { $0.hasPrefix("@") ? $0 : URLText.encode($0) }.joined(separator: "/")
            body["next"] = ["href": .string(call.base + path + query)]
        }
        return WireResponse(200, json: .object(body))
    }

    private func search(_ call: Call, _ filter: String, _ state: AdobeServerAccount) -> WireResponse {
        let hits: [AdobeServerAccount.Profile]
        func text(_ profile: AdobeServerAccount.Profile, _ field: String) -> String {
            profile.fields[field]?.string ?? ""
        }
        switch filter {
        case "byEmail":
            guard let email = call.query["email"]?.lowercased() else { return Self.missing }
            hits = state.profiles.filter { text($0, "email").lowercased() == email }
        case "byText":
            guard let start = call.query["text"], let field = call.query["filterType"] else { return Self.missing }
            hits = state.profiles.filter { text($0, field).hasPrefix(start) }
        case settings.filter where call.resource == "profileAndServicesExt":
            guard let value = call.query[settings.filterParameter] else { return Self.missing }
            hits = state.profiles.filter { text($0, settings.keyField) == value }
        default: return Self.missing
        }
        return page(call, profiles(hits, call, state))
    }

    // MARK: Profiles

    private func profiles(_ profiles: [AdobeServerAccount.Profile], _ call: Call, _ state: AdobeServerAccount)
        -> [JSONValue]
    {
        profiles.map { show($0, call) }
    }

    /// A profile as the vendor shows it: fields of the account's own only where they are seen.
    private func show(_ profile: AdobeServerAccount.Profile, _ call: Call) -> JSONValue {
        var record: JSONObject = ["PKey": .string(profile.key)]
        for flag in Self.flags { record[flag] = false }
        for (name, value) in profile.fields.inOrder
        where call.resource == "profileAndServicesExt" || !name.hasPrefix("cus") {
            record[name] = value
        }
        let address = "\(call.base)\(call.resource)/profile/\(profile.key)"
        record["href"] = .string(address)
        record["subscriptions"] = ["href": .string(address + "/subscriptions/")]
        return .object(record)
    }

    /// Returns the index of the profile with an address: by the vendor's key, or by the account's own.
    private func place(of name: String, _ call: Call, _ state: AdobeServerAccount) -> Int? {
        state.profiles.firstIndex { profile in
            profile.key == name
                || call.resource == "profileAndServicesExt" && !settings.keyField.isEmpty
                    && profile.fields[settings.keyField]?.string == name
        }
    }

    private func make(_ call: Call, _ state: inout AdobeServerAccount) -> WireResponse {
        guard let body = call.request.json?.object else { return Self.text(400, "The body is no JSON object.") }
        if let fault = fault(body, call) { return fault }
        let key = body[settings.keyField]?.string
        if settings.isKeyUnique, let key,
            state.profiles.contains(where: { $0.fields[settings.keyField]?.string == key })
        {
            return Self.text(500, "PGS-220000 PostgreSQL error: ERROR: duplicate key value violates unique constraint")
        }
        state.made += 1
        var profile = AdobeServerAccount.Profile(key: "@p\(state.made)", fields: [:])
        write(body, to: &profile)
        state.profiles.append(profile)
        return WireResponse(201, json: show(profile, call))
    }

    private func write(_ body: JSONObject, to profile: inout AdobeServerAccount.Profile) {
        for member in body {
            profile.fields[member.name] = member.value == "" || member.value.isNull ? nil : member.value
        }
    }

    private func profile(_ call: Call, _ name: String, _ state: inout AdobeServerAccount) -> WireResponse {
        guard let place = place(of: name, call, state) else { return Self.missing }
        let profile = state.profiles[place]
        switch call.request.method {
        case "GET": return WireResponse(200, json: show(profile, call))
        case "DELETE":
            state.profiles.remove(at: place)
            state.subscriptions.removeAll { $0.profile == profile.key }
            let key = profile.fields[settings.keyField]?.string ?? ""
            if !state.deleted.contains(key) { state.deleted.append(key) }
            return WireResponse(200)
        case "PATCH":
            guard let body = call.request.json?.object else { return Self.text(400, "The body is no JSON object.") }
            if let key = body[settings.keyField], key != profile.fields[settings.keyField] {
                return Self.text(500, "RST-360012 The key of the entity can't be changed")
            }
            if let fault = fault(body, call) { return fault }
            write(body, to: &state.profiles[place])
            let address = "\(call.base)\(call.resource)/profile/\(profile.key)"
            return WireResponse(200, json: ["PKey": .string(profile.key), "href": .string(address)])
        default: return WireResponse(405)
        }
    }

    private static let flags = [
        "blackList", "blackListEmail", "blackListFax", "blackListMobile", "blackListPhone", "blackListPostalMail",
        "blackListPushnotification", "ccpaOptOut",
    ]
    private static let words: [String: [String]] = [
        "gender": ["unknown", "male", "female"], "emailFormat": ["unknown", "text", "html"],
    ]
    private static let texts: [String: Int] = [
        "email": 128, "firstName": 30, "lastName": 50, "middleName": 30, "salutation": 20, "phone": 32,
        "mobilePhone": 32, "fax": 32, "externalId": 100, "timeZone": 64, "birthDate": 10,
    ]

    /// Returns the error reply for the fields of a body; nil if they are valid.
    private func fault(_ body: JSONObject, _ call: Call) -> WireResponse? {
        for member in body {
            let isCustom = member.name.hasPrefix("cus")
            let isFlag = Self.flags.contains(member.name)
            let isKnown = isCustom || isFlag || Self.words[member.name] != nil || Self.texts[member.name] != nil
            guard isKnown, !isCustom || call.resource == "profileAndServicesExt" else {
                return Self.text(500, "RST-360011 An error has occurred: no such field")
            }
            if member.value == "" || member.value.isNull { continue }
            if let words = Self.words[member.name], !words.contains(member.value.string ?? "") {
                return Self.text(500, "RST-360011 An error has occurred: no such value of an enumeration")
            }
            let isType = isFlag ? member.value.bool != nil : isCustom || member.value.string != nil
            guard isType, member.value.array == nil, member.value.object == nil else {
                return WireResponse(500, json: "BAS-010040 The value has another type")
            }
            if let limit = Self.texts[member.name], member.value.string?.utf16.count ?? 0 > limit {
                return Self.text(500, "RST-360011 An error has occurred: the value is too long")
            }
            if let poison = settings.poison.given, member.value.string == poison {
                return WireResponse(500, json: ["error_code": "500", "message": "RST-360011 Bad value"])
            }
        }
        return nil
    }

    // MARK: Services

    private func serviceKey(_ place: Int) -> String { "@s\(place + 1)" }

    private func service(_ place: Int, _ call: Call, _ state: AdobeServerAccount) -> JSONValue {
        let address = "\(call.base)\(call.resource)/service/\(serviceKey(place))"
        let service = state.services[place]
        return [
            "PKey": .string(serviceKey(place)), "name": .string(service.name), "label": .string(service.name),
            "messageType": .string(service.messageType), "mode": "newsletter",
            "href": .string(address), "subscriptions": ["href": .string(address + "/subscriptions/")],
        ]
    }

    private func look(_ call: Call, _ name: String, _ state: inout AdobeServerAccount) -> WireResponse {
        let known = state.services.indices.first { state.services[$0].name == name || serviceKey($0) == name }
        if known == nil, !settings.services.isEmpty { return Self.missing }
        if known == nil { state.services.append(AdobeServerAccount.Service(name: name)) }
        return WireResponse(200, json: service(known ?? state.services.count - 1, call, state))
    }

    /// Creates a service with the body's name, label and channel. Names are unique.
    private func makeService(_ call: Call, _ state: inout AdobeServerAccount) -> WireResponse {
        let body = call.request.json?.object ?? [:]
        let isKnown = body.allSatisfy { ["name", "label", "messageType"].contains($0.name) }
        guard isKnown, let name = body["name"]?.string, (1...64).contains(name.utf16.count),
            let label = body["label"]?.string, (1...128).contains(label.utf16.count),
            let type = body["messageType"]?.string, ["email", "sms"].contains(type)
        else { return Self.text(500, "RST-360011 An error has occurred: no such value of a service") }
        guard !state.services.contains(where: { $0.name == name }) else {
            return Self.text(500, "PGS-220000 duplicate key value")
        }
        state.services.append(AdobeServerAccount.Service(name: name, messageType: type))
        return WireResponse(201, json: service(state.services.count - 1, call, state))
    }

    private func show(_ subscription: AdobeServerAccount.Subscription, _ call: Call, _ state: AdobeServerAccount)
        -> JSONValue
    {
        let place = state.services.firstIndex { $0.name == subscription.service } ?? 0
        let address = "\(call.base)\(call.resource)/service/\(serviceKey(place))/subscriptions/\(subscription.key)"
        return [
            "PKey": .string(subscription.key), "href": .string(address), "metadata": "subscriptionRcp",
            "serviceName": .string(subscription.service),
            "service": ["PKey": .string(serviceKey(place)), "title": .string(subscription.service)],
            "subscriber": ["PKey": .string(subscription.profile)],
        ]
    }

    private func subscriptions(_ call: Call, _ name: String, _ state: inout AdobeServerAccount) -> WireResponse {
        guard let place = place(of: name, call, state) else { return Self.missing }
        let profile = state.profiles[place].key
        if call.request.method == "GET" {
            return page(call, state.subscriptions.filter { $0.profile == profile }.map { show($0, call, state) })
        }
        guard call.request.method == "POST", call.request.json?.object?.count == 1,
            let key = call.request.json?["service"]?["PKey"]?.string,
            let service = state.services.indices.first(where: { serviceKey($0) == key })
        else { return Self.text(500, "XTK-170036 Unable to parse the key") }
        state.made += 1
        let subscription = AdobeServerAccount.Subscription(
            key: "@b\(state.made)",
            profile: profile,
            service: state.services[service].name
        )
        state.subscriptions.append(subscription)
        return WireResponse(201, json: show(subscription, call, state))
    }

    private func end(_ call: Call, _ key: String, _ state: inout AdobeServerAccount) -> WireResponse {
        guard let place = state.subscriptions.firstIndex(where: { $0.key == key }) else { return Self.missing }
        state.subscriptions.remove(at: place)
        return WireResponse(204)
    }
}

extension String {
    /// The text; nil if it is empty.
    fileprivate var given: String? { isEmpty ? nil : self }
}

extension WireRequest {
    /// Whether the request's content type is the given one.
    fileprivate func isType(_ type: String) -> Bool {
        self[header: "Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased() == type
    }
}

/// The settings of a simulated account.
struct AdobeServerSimulatorSettings: Sendable {
    var organization = ""
    var clientID = ""
    var clientSecret: Secret?
    var services: [String] = []
    var keyField = "email"
    var isKeyUnique = false
    var filter = ""
    var filterParameter = ""
    var mostRows = 1000
    var poison = ""
    var tokenLife = 86_399

    static let table = SettingsTable<AdobeServerSimulatorSettings>([
        .text("organization", \.organization, "The only organisation; any if not given."),
        .text("clientId", \.clientID, "The only client; any if not given."),
        .secret("clientSecret", \.clientSecret, isRequired: false, "Its secret; any if not given."),
        .list("services", \.services, default: "[]", "Names of services; any if not given."),
        .text("keyField", \.keyField, default: "email", "The field that holds keys of contacts."),
        .flag("uniqueKeys", \.isKeyUnique, default: false, "Whether two profiles can't have the same key."),
        .text("filter", \.filter, "The account's own filter by that field; none if not given."),
        .text("filterParameter", \.filterParameter, "The filter's parameter."),
        .integer("mostRows", \.mostRows, in: 1...1000, default: 1000, "Most rows of a page."),
        .text("poison", \.poison, "A text that no field takes."),
        .integer("tokenLife", \.tokenLife, in: 1...86_399, default: 86_399, "Seconds for which a token is good."),
    ])
}

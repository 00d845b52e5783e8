public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of the platform's API, as a pure value: imports, deletions, goals, push events and pages of one database.
///
/// It is as strict as the documents: every request needs a token and an existing database, and an import returns a result
/// for each profile. Where the documents state nothing, it makes these choices:
///
/// - An error's number is the HTTP status, too.
/// - A missing profile is 404 for deletions and goals.
/// - A page begins after the profile that its pointer names.
/// - With a setting, one bad profile refuses its whole request.
public struct AltcraftServerSimulator: VendorSimulator {
    public static let id: AdapterID = "altcraft-server"

    private let settings: AltcraftServerSimulatorSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try AltcraftServerSimulatorSettings.table.read(
            settings,
            over: AltcraftServerSimulatorSettings(),
            at: ""
        )
    }

    public var initialState: AltcraftServerAccount { AltcraftServerAccount() }

    public func respond(to request: WireRequest, state: inout AltcraftServerAccount, now: Instant) -> WireResponse {
        let path = URLText.path(of: request.url)
        let method = path.firstRange(of: "/api/v1.1/").map { String(path[$0.upperBound...]) } ?? ""
        let response: WireResponse
        do {
            response = try answer(request, method, &state)
        } catch {
            response = Self.error(error.status, error.text)
        }
        state.counts["\(method.isEmpty ? "elsewhere" : method) \(response.status)", default: 0] += 1
        return response
    }

    private typealias Route = (JSONObject, inout AltcraftServerAccount) throws(Refusal) -> JSONObject

    private func answer(
        _ request: WireRequest,
        _ method: String,
        _ state: inout AltcraftServerAccount
    ) throws(Refusal) -> WireResponse {
        let routes: [String: Route] = [
            "profiles/import_batch": importProfiles, "profiles/delete": delete, "profiles/list": list,
            "goals/register": goal, "pushes/post_events": push,
        ]
        guard request.method == "POST", let route = routes[method] else { throw Refusal(404, "Method not found") }
        guard request[header: "Content-Type"]?.hasPrefix("application/json") == true else {
            throw .bad("Content type must be application/json")
        }
        let body = try Body(request.json).object
        let bearer = request[header: "Authorization"].flatMap {
            $0.hasPrefix("Bearer ") ? String($0.dropFirst(7)) : nil
        }
        guard let token = body["token"]?.string ?? bearer, token == settings.apiToken?.value ?? token, !token.isEmpty
        else { throw Refusal(401, "API token required") }
        if URLText.queryItems(of: request.url).contains(where: { $0.name == "token" }) {
            state.violations.append("a token in an address")
        }
        if request.body.count > 10_000_000, body["data"]?.array?.count != 1 {
            state.violations.append("\(request.body.count) bytes in one request")
        }
        var reply = try route(body, &state)
        if reply["error"] == nil { (reply["error"], reply["error_text"]) = (0, "Successful operation") }
        return WireResponse(200, json: .object(reply))
    }

    private static func error(_ status: Int, _ text: String) -> WireResponse {
        WireResponse(status, json: ["error": .integer(status), "error_text": .string(text)])
    }

    // MARK: Profiles

    private func checkDatabase(_ body: JSONObject) throws(Refusal) {
        guard let number = body["db_id"]?.integer, number == Int64(settings.database) else {
            throw .bad("unknown db_id")
        }
    }

    /// Returns the field and the value that identify a profile.
    private func key(_ body: JSONObject, _ data: JSONObject?) throws(Refusal) -> (field: String, value: String) {
        switch body["matching"]?.string ?? "email" {
        case "email", "email_profile":
            if let email = (data ?? body)["email"]?.string, !email.isEmpty { return ("email", email) }
        case "phone":
            let phones = data.map { $0["phones"]?.array?.first } ?? body["phone"]
            if let phone = phones?.string, !phone.isEmpty { return ("phones", phone) }
        case "custom":
            guard let field = body["field_name"]?.string, !field.isEmpty else { throw .bad("field_name is required") }
            let value = data.map { $0[field] } ?? body["field_value"]
            if let text = value?.string ?? value?.number?.text, !text.isEmpty { return (field, text) }
        default: throw .bad("unknown matching")
        }
        throw .bad("no value for matching")
    }

    private func place(_ key: (field: String, value: String), _ state: inout AltcraftServerAccount) -> Int? {
        state.place(of: key.value, in: key.field)
    }

    private func importProfiles(_ body: JSONObject, _ state: inout AltcraftServerAccount) throws(Refusal) -> JSONObject
    {
        try checkDatabase(body)
        guard let rows = body["data"]?.array, !rows.isEmpty else { throw .bad("data is no list of profiles") }
        if rows.count > 10_000 { state.violations.append("\(rows.count) profiles at once") }
        guard body["skip_triggers"].map({ $0.bool != nil }) ?? true else { throw .bad("skip_triggers is no boolean") }
        let before = settings.refusesWhole ? state : nil
        var results: [JSONValue] = []
        for row in rows {
            do {
                let id = try importProfile(row, body, &state)
                results.append(["error": 0, "error_text": "Successful operation", "profile_id": .string(id)])
            } catch {
                if let before {
                    state = before
                    throw error
                }
                results.append(["error": .integer(error.status), "error_text": .string(error.text)])
            }
        }
        return ["result": .array(results)]
    }

    private func importProfile(_ row: JSONValue, _ body: JSONObject, _ state: inout AltcraftServerAccount)
        throws(Refusal) -> String
    {
        guard var data = row.object else { throw .bad("a profile is no object") }
        let key = try key(body, data)
        let subscriptions = data["subscriptions"]?.array ?? []
        data["subscriptions"] = nil
        let found = place(key, &state)
        var profile = found.map { state.profiles[$0] } ?? .init(id: Self.id(state.made + 1))
        if found == nil, settings.pushResource > 0 {
            // A phone of everybody's, registered by an app.
            let data: JSONValue = ["provider": "ios-apns", "subscription_id": .string("device-\(profile.id)")]
            profile.subscriptions.append([
                "channel": "push", "resource_id": .integer(settings.pushResource), "push_data": data,
                "status": "subscribed", "is_delete": false,
            ])
        }
        if !settings.poison.isEmpty, let bad = data.first(where: { $0.value.string == settings.poison }) {
            throw .profileField(bad.name)
        }
        var account = Account()
        account.profileFields = settings.profileFields
        profile.fields = try ProfileChange(account: account).apply(data, to: profile.fields)
        for subscription in subscriptions { try attach(subscription, to: &profile) }
        if let found {
            state.replace(found, with: profile)
        } else {
            state.made += 1
            state.append(profile)
        }
        return profile.id
    }

    private static func id(_ number: Int) -> String {
        let digits = String(number, radix: 16)
        return "65117f62736a0e15" + String(repeating: "0", count: max(0, 8 - digits.count)) + digits
    }

    /// Adds a subscription, or changes the one with the same resource and address.
    private func attach(_ json: JSONValue, to profile: inout AltcraftServerAccount.Profile) throws(Refusal) {
        let addresses: [String: [String]] = [
            "email": ["email"], "sms": ["phone"], "push": ["provider", "subscription_id"],
        ]
        guard let body = json.object, let channel = body["channel"]?.string, let names = addresses[channel],
            let resource = body["resource_id"]?.integer,
            settings.resources.isEmpty || settings.resources.contains(String(resource))
        else { throw .bad("a subscription names no channel and resource") }
        var address = JSONObject()
        for name in names {
            guard let text = body[name]?.string, !text.isEmpty else { throw .bad("a subscription has no \(name)") }
            address[name] = .string(text)
        }
        guard let status = body["status"]?.string, ["subscribed", "unsubscribed", "suspended"].contains(status) else {
            throw .bad("a subscription has no such status")
        }
        let known = ["channel", "resource_id", "status", "priority", "custom_fields", "cats"] + names
        guard body.names.allSatisfy(known.contains) else { throw .bad("unexpected part of a subscription") }
        if let fields = body["custom_fields"] {
            guard fields.object?.allSatisfy({ $0.value.isPlain }) == true else {
                throw .bad("failed convert custom field")
            }
        }
        let place = profile.subscriptions.firstIndex { one in
            one["resource_id"]?.integer == resource && one["\(channel)_data"]?.object == address
        }
        if status == "unsubscribed" { profile.optOuts += 1 }
        var shown: JSONObject = [
            "channel": .string(channel), "resource_id": .integer(resource), "\(channel)_data": .object(address),
            "status": .string(status), "is_delete": false,
        ]
        if let fields = body["custom_fields"] { shown["fields"] = fields }
        if let place {
            profile.subscriptions[place] = .object(shown)
        } else {
            profile.subscriptions.append(.object(shown))
        }
    }

    private func delete(_ body: JSONObject, _ state: inout AltcraftServerAccount) throws(Refusal) -> JSONObject {
        try checkDatabase(body)
        guard let place = place(try key(body, nil), &state) else { throw Refusal(404, "profile not found") }
        let id = state.remove(at: place).id
        state.goals.removeAll { $0.profile == id }
        state.deletions.append(id)
        return ["data": ["profile_id": .string(id)]]
    }

    // MARK: Reading

    private func list(_ body: JSONObject, _ state: inout AltcraftServerAccount) throws(Refusal) -> JSONObject {
        try checkDatabase(body)
        let limit = body["limit"]?.integer ?? 1000
        guard (1...1000).contains(limit) else { throw .bad("no such limit") }
        let from = body["from_id"]?.string ?? ""
        let names = body["fields"]?.array?.compactMap(\.string)
        let next = state.profiles.partitioningIndex { $0.id > from }
        let shown: [AltcraftServerAccount.Profile]
        if let places = Self.places(body["query"], &state) {
            let all = places.filter { $0 >= next }.map { state.profiles[$0] }
            shown = Array(all.lazy.filter { Self.matches($0, body["query"]) }.prefix(Int(limit)))
        } else {
            shown = Array(state.profiles[next...].lazy.filter { Self.matches($0, body["query"]) }.prefix(Int(limit)))
        }
        return [
            "data": .array(
                shown.map { profile in
                    var all = profile.fields.object ?? [:]
                    all["subscriptions"] = .array(profile.subscriptions)
                    let some = names.map { names in
                        JSONObject(all.filter { names.contains($0.name) }.map { ($0.name, $0.value) })
                    }
                    var object = some ?? all
                    object["id"] = .string(profile.id)
                    return .object(object)
                }
            )
        ]
    }

    /// Returns the indices of the profiles that match a query for texts in one field, oldest first; nil for any other query.
    private static func places(_ query: JSONValue?, _ state: inout AltcraftServerAccount) -> [Int]? {
        guard let condition = query?.object?.first, query?.object?.count == 1, condition.name != "$or",
            let wanted = condition.value["$in"]?.array
        else { return nil }
        let texts = wanted.compactMap(\.string)
        guard texts.count == wanted.count else { return nil }
        return Set(texts.flatMap { state.places(of: $0, in: condition.name) }).sorted()
    }

    /// A small part of the database's query language: equality, `$in` and `$or`.
    private static func matches(_ profile: AltcraftServerAccount.Profile, _ query: JSONValue?) -> Bool {
        (query?.object ?? [:]).allSatisfy { condition in
            if condition.name == "$or" { return condition.value.array?.contains { matches(profile, $0) } ?? false }
            let held = profile.fields[condition.name]
            let values = held?.array ?? held.map { [$0] } ?? []
            let wanted = condition.value["$in"]?.array ?? [condition.value]
            return values.contains { wanted.contains($0) }
        }
    }

    // MARK: Events

    private func goal(_ body: JSONObject, _ state: inout AltcraftServerAccount) throws(Refusal) -> JSONObject {
        try checkDatabase(body)
        guard let pixel = body["pixel_id"]?.integer,
            settings.pixels.isEmpty || settings.pixels.contains(String(pixel))
        else { throw Refusal(404, "pixel not found") }
        guard let name = body["goal"]?.string, (1...128).contains(name.count) else { throw .bad("goal is required") }
        guard body["date"].map({ $0.string.flatMap(Timestamp.init(text:)) != nil }) ?? true else {
            throw .bad("bad date")
        }
        guard body["value"].map({ $0.number != nil }) ?? true else { throw .bad("value is no number") }
        if let data = body["pixel_data"] {
            guard data.object?.allSatisfy({ $0.value.isPlain }) == true, data.text.utf8.count <= 1024 else {
                throw .bad("pixel_data is nested, or larger than 1 KB")
            }
        }
        guard let place = place(try key(body, nil), &state) else { throw Refusal(404, "profile not found") }
        let content = JSONObject(["value", "date", "pixel_data"].compactMap { name in body[name].map { (name, $0) } })
        state.goals.append(.init(profile: state.profiles[place].id, name: name, content: .object(content)))
        return [:]
    }

    private func push(_ body: JSONObject, _ state: inout AltcraftServerAccount) throws(Refusal) -> JSONObject {
        guard let events = body["events"]?.integer, (1...3).contains(events), let uid = body["uid"]?.string,
            !uid.isEmpty
        else { throw .bad("events and uid are required") }
        let event = "\(events) \(uid)"
        if !state.pushEvents.contains(event) { state.pushEvents.append(event) }
        return [:]
    }
}

/// The settings of a simulated platform.
struct AltcraftServerSimulatorSettings: Sendable {
    var apiToken: Secret?
    var database = 1
    var profileFields: [String] = []
    var resources: [String] = []
    var pixels: [String] = []
    var pushResource = 0
    var poison = ""
    var refusesWhole = false

    static let table = SettingsTable<AltcraftServerSimulatorSettings>([
        .secret("apiToken", \.apiToken, isRequired: false, "The only API token; any if not given."),
        .integer("dbId", \.database, in: 1...Int(Int32.max), default: 1, "The number of the only database."),
        .list("profileFields", \.profileFields, default: "[]", "Fields of the database; any if not given."),
        .list("resources", \.resources, default: "[]", "Numbers of resources; any if not given."),
        .list("pixels", \.pixels, default: "[]", "Numbers of pixels; any if not given."),
        .integer(
            "pushResource",
            \.pushResource,
            in: 0...Int(Int32.max),
            default: 0,
            "The resource in which every profile has a phone; 0: no profile has one."
        ),
        .text("poison", \.poison, "A text that no field takes."),
        .flag("refusesWhole", \.refusesWhole, default: false, "Whether one bad profile refuses its whole request."),
    ])
}

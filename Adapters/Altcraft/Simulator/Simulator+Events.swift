import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension AltcraftSimulator {
    /// Records a push that arrived or was opened.
    func pushEvent(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        try QueryReader(request, only: ["matching_mode"]).matching(caller)
        let body = try Body(request.json, only: ["time", "smid"])
        let kind = URLText.path(of: request.url).hasSuffix("/open") ? "open" : "delivery"
        let event = State.PushEvent(kind: kind, message: try body.text("smid"), time: try body.time("time"))
        state.pushEvents.append(event)
        return answer()
    }

    private static let partOrder = [
        "tz", "t", "aci", "wn", "mm", "cn", "cc", "ck", "cm", "cs", "ct", "wd", "mi", "ma", "sn", "pf",
    ]
    private static let jsonParts: Set<String> = ["wd", "mi", "ma", "sn", "pf"]

    /// Records a custom event with its profile fields and subscription.
    func customEvent(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        let query = try QueryReader(request, only: ["i", "tr", "t", "v"])
        let pixel = try query.required("i")
        guard query["tr"] == "px", query["t"] == "open", query["v"] == "2" else { throw .bad("no event of a pixel") }
        guard account.knowsPixel(pixel) else { throw Refusal(404, "pixel not found") }
        let parts = try FormReader.read(request)
        guard parts.map(\.name) == Self.partOrder.filter({ name in parts.contains { $0.name == name } }) else {
            throw .bad("parts in another order")
        }
        var json: [String: JSONValue] = [:]
        for part in parts {
            let isJSON = Self.jsonParts.contains(part.name)
            guard part.type == (isJSON ? "application/json" : "text/plain") + "; charset=utf-8" else {
                throw .bad("part \(part.name) has another type")
            }
            guard isJSON else { continue }
            guard let value = try? JSONValue(parsing: part.text) else { throw .bad("part \(part.name) is not JSON") }
            json[part.name] = value
        }
        let event = State.CustomEvent(pixel: pixel, parts: parts.map { [$0.name, $0.text] })
        guard event["aci"] != nil, event["wn"].map({ !$0.isEmpty }) == true, event["tz"].flatMap(Int.init) != nil,
            event["t"].flatMap(Int.init).map({ (1..<100_000_000_000).contains($0) }) == true
        else { throw .bad("tz, t, aci or wn is missing") }
        guard json["wd"].map({ $0.object?.allSatisfy(\.value.isPlain) ?? false }) ?? true,
            json["mi"].map({ $0.string != nil }) ?? true, json["ma"].map({ $0.object != nil }) ?? true
        else { throw .bad("wd, mi or ma has another form") }
        try attach(json, caller, &state)
        state.customEvents.append(event)
        return answer()
    }

    private func attach(_ json: [String: JSONValue], _ caller: Caller, _ state: inout State) throws(Refusal) {
        guard json["pf"] != nil || json["sn"] != nil else { return }
        // With a role token, only the event's identifiers determine the profile of the fields.
        let token = json["ma"].flatMap { ids in
            ids["provider"]?.string.flatMap { provider in
                ids["subscription_id"]?.string.map { (provider: provider, token: $0) }
            }
        }
        let found = place(of: caller, token, in: state)
        guard caller.key != nil || found != nil else { throw .bad("profile not found") }
        let old = found.map { state.profiles[$0].fields } ?? [:]
        if let fields = json["pf"], fields.object == nil { throw .bad("pf is not an object") }
        let fields = try ProfileChange(account: account).apply(json["pf"]?.object ?? [:], to: old)
        if let subscription = json["sn"] { try AttachedForm.check(subscription) }
        let place = found ?? create(caller, in: &state)
        state.profiles[place].fields = fields
        if let subscription = json["sn"] { state.profiles[place].attached.append(subscription) }
    }

    /// Changes profile fields. A role token does not identify the profile.
    func updateProfile(_ request: WireRequest, _ caller: Caller, _ state: inout State) throws(Refusal) -> WireResponse {
        _ = try QueryReader(request, only: [])
        let body = try Body(request.json, only: ["profile_fields", "skip_triggers"])
        _ = try body.flag("skip_triggers")
        guard let changes = body.object["profile_fields"]?.object else { throw .bad("profile_fields is not an object") }
        guard caller.key != nil else { throw .bad("profile not found") }
        let found = place(of: caller, nil, in: state)
        let old = found.map { state.profiles[$0].fields } ?? [:]
        let fields = try ProfileChange(account: account).apply(changes, to: old)
        let place = found ?? create(caller, in: &state)
        state.profiles[place].fields = fields
        return answer()
    }

    /// Takes one profile of an import: the server interface, with its own token.
    func importProfile(_ request: WireRequest, _ state: inout State) throws(Refusal) -> WireResponse {
        let body = try Body(request.json)
        let bearer = request[header: "Authorization"].map { $0.dropFirst("Bearer ".count) }.map(String.init)
        guard let token = account.apiToken?.value, (body.object["token"]?.string ?? bearer) == token else {
            throw Refusal(401, "token required")
        }
        guard let database = body.object["db_id"]?.integer, account.knowsDatabase(database) else {
            throw .bad("unknown db_id")
        }
        let matching = body.object["matching"]?.string ?? "email"
        guard let key = Caller.key(body.object, matching) else { throw .bad("no value for matching") }
        guard var data = body.object["data"]?.object else { throw .bad("data is not an object") }
        let subscriptions = data["subscriptions"]?.array ?? []
        data["subscriptions"] = nil
        let found = state.profiles.firstIndex { $0.database == database && $0.keys.contains(key) }
        let old = found.map { state.profiles[$0].fields } ?? [:]
        let fields = try ProfileChange(account: account).apply(data, to: old)
        for subscription in subscriptions
        where subscription["channel"]?.string == nil || subscription["resource_id"]?.integer == nil {
            throw .bad("a subscription names no channel and resource")
        }
        if found == nil {
            let id = "profile-\(state.number())"
            state.profiles.append(State.Profile(id: id, database: database, keys: Caller.keys(body.object)))
        }
        let place = found ?? state.profiles.count - 1
        state.profiles[place].fields = fields
        state.profiles[place].attached += subscriptions
        return WireResponse(200, json: ["error": 0, "error_text": "", "profile_id": .string(state.profiles[place].id)])
    }
}

/// A subscription of another channel that an event attaches.
private enum AttachedForm {
    private static let needed: [String: [String]] = [
        "email": ["email"], "sms": ["phone"], "push": ["provider", "subscription_id"], "telegram_bot": ["cc_data"],
        "whatsapp": ["cc_data"], "viber": ["cc_data"], "notify": ["cc_data"],
    ]
    private static let others = ["channel", "resource_id", "status", "priority", "custom_fields", "cats"]

    static func check(_ value: JSONValue) throws(Refusal) {
        guard let object = value.object, object["resource_id"]?.integer != nil,
            let names = object["channel"]?.string.flatMap({ needed[$0] })
        else { throw .bad("sn names no channel and resource") }
        for name in names {
            let isGood = name == "cc_data" ? object[name]?.object != nil : object[name]?.string?.isEmpty == false
            guard isGood else { throw .bad("sn has no \(name)") }
        }
        if let provider = object["provider"]?.string { _ = try Providers.checked(provider) }
        if let unknown = object.names.first(where: { !names.contains($0) && !others.contains($0) }) {
            throw .bad("unexpected field \(unknown) in sn")
        }
        if let cats = object["cats"], cats.array?.allSatisfy({ $0.string != nil }) != true {
            throw .bad("cats of sn are texts")
        }
    }
}

public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A simulator of one account's device service, as a pure value.
///
/// Like the vendor, it accepts every update that it can read, and may lose it afterwards. One bad entry loses the whole
/// group, stays in the first cache, and breaks later updates until it is deleted or the user changes. Paths, methods
/// and bodies follow the adapter's reference profile.
///
/// Where the vendor's reply is unknown, the simulator refuses: 404 for an unknown path or user, 405 for another method,
/// 415 for another content type, 400 for another form of body.
public struct AcousticSimulator: VendorSimulator {
    public static let id: AdapterID = "acoustic"

    private let settings: AcousticSimulatorSettings

    public init(settings: JSONObject) throws(SettingsError) {
        self.settings = try AcousticSimulatorSettings.table.read(settings, over: AcousticSimulatorSettings(), at: "")
    }

    public var initialState: AcousticAccount { AcousticAccount() }

    public func respond(to request: WireRequest, state: inout AcousticAccount, now: Instant) -> WireResponse {
        let call = Call(request)
        let response = answer(call, request, &state, now)
        state.counts["\(call?.name ?? "unknown") \(response.status)", default: 0] += 1
        if response.status >= 400 {
            state.violations.append(Violation(at: now, what: "\(call?.name ?? "unknown path"): \(response.status)"))
        }
        return response
    }

    /// The operation that a path addresses.
    private struct Call {
        var name: String
        var app: String
        var user = ""
        var channel = ""
        var method: String

        init?(_ request: WireRequest) {
            let parts = URLText.path(of: request.url).split(separator: "/").compactMap { URLText.decode($0) }
            guard let start = parts.firstIndex(of: "3.0"), parts.count > start + 2, parts[start + 1] == "apps" else {
                return nil
            }
            app = parts[start + 2]
            let rest = Array(parts[(start + 3)...])
            method = request.method
            if rest == ["registrations"] {
                name = "register"
            } else if rest.count == 3, rest[0] == "users", rest[2] == "attributes" {
                (name, user) = (request.method == "DELETE" ? "delete" : "update", rest[1])
            } else if rest.count == 5, rest[0] == "users", rest[2] == "channels", rest[4] == "events" {
                (name, user, channel) = ("events", rest[1], rest[3])
            } else if rest.count == 4, rest[0] == "users", rest[2] == "channels" {
                (name, user, channel) = ("phoneHome", rest[1], rest[3])
            } else {
                return nil
            }
        }

        private static let methods = [
            "register": "POST", "delete": "DELETE", "update": "PATCH", "events": "POST", "phoneHome": "GET",
        ]

        var hasMethod: Bool { Self.methods[name] == method }
    }

    private func answer(
        _ call: Call?,
        _ request: WireRequest,
        _ state: inout AcousticAccount,
        _ now: Instant
    ) -> WireResponse {
        guard let call else { return error(404, "No such path.") }
        guard settings.appKey.isEmpty || settings.appKey == call.app else { return error(404, "No such app.") }
        guard call.hasMethod else { return error(405, "Not that method.") }
        if call.name == "phoneHome" { return phoneHome(call, state) }
        let type = request[header: "Content-Type"]?.prefix { $0 != ";" }.trimmed.lowercased()
        guard type == "application/json" else { return error(415, "The content type is not application/json.") }
        guard let body = request.json?.object else { return error(400, "The body is no JSON object.") }
        if call.name == "register" { return register(body, &state, now) }
        if state.user(call.user) == nil, settings.knowsEveryUser { adopt(call, &state) }
        guard state.user(call.user) != nil else { return error(404, "No such user.") }
        switch call.name {
        case "update": return update(call, body, &state, now)
        case "delete": return delete(call, body, &state, now)
        default: return track(call, body, &state, now)
        }
    }

    private func error(_ status: Int, _ message: String, headers: [WireHeader] = []) -> WireResponse {
        WireResponse(status, headers: headers, json: ["message": .string(message)])
    }

    // MARK: Registration

    private func register(_ body: JSONObject, _ state: inout AcousticAccount, _ now: Instant) -> WireResponse {
        guard let install = body["installId"]?.string, !install.isEmpty,
            body["pushEnabled"]?.bool != nil, body["invalidateExistingUser"]?.bool != nil
        else { return error(400, "A registration has installId, pushEnabled and invalidateExistingUser.") }
        if body["invalidateExistingUser"] == true, !isSame(body, state, install) {
            state.users.removeAll { $0.installID == install }
        }
        if !state.users.contains(where: { $0.installID == install }) {
            state.made += 1
            state.users.append(
                SimulatedUser(id: "user-\(state.made)", channels: ["channel-\(state.made)"], installID: install)
            )
        }
        guard let user = state.users.first(where: { $0.installID == install }) else { return error(500, "No user.") }
        state.update(user.id) { user in
            user.registration = .object(body)
            user.mayPush = body["pushEnabled"]?.bool
        }
        return ids(user.id, user.channels[0])
    }

    /// Whether a registration is for the existing user. Only a reinstalled app invalidates its user.
    private func isSame(_ body: JSONObject, _ state: AcousticAccount, _ install: String) -> Bool {
        let old = state.users.first { $0.installID == install }?.registration
        return old?["pushToken"] == body["pushToken"]
    }

    private func phoneHome(_ call: Call, _ state: AcousticAccount) -> WireResponse {
        if let heir = settings.merged[Subject(rawValue: call.user)], let user = state.user(heir) {
            return ids(user.id, user.channels[0])
        }
        guard let user = state.user(call.user), user.channels.contains(call.channel) else {
            return error(404, "No such user.")
        }
        return ids(user.id, call.channel)
    }

    private func ids(_ user: String, _ channel: String) -> WireResponse {
        WireResponse(200, json: ["userId": .string(user), "channelId": .string(channel)])
    }

    private func adopt(_ call: Call, _ state: inout AcousticAccount) {
        state.users.append(
            SimulatedUser(id: call.user, channels: call.channel.isEmpty ? [] : [call.channel], installID: call.user)
        )
    }

    // MARK: Attributes

    private struct Entry {
        var key: String
        var type: String
        var value: JSONValue
    }

    private func update(
        _ call: Call,
        _ body: JSONObject,
        _ state: inout AcousticAccount,
        _ now: Instant
    ) -> WireResponse {
        guard body.names == ["attributes"], let list = body["attributes"]?.array, !list.isEmpty else {
            return error(400, "An update has a list \"attributes\" that is not empty.")
        }
        let entries = list.compactMap(entry)
        guard entries.count == list.count, Set(entries.map(\.key)).count == entries.count else {
            return error(400, "An entry has key, type and value of that type, each key once.")
        }
        if let throttled = throttle(call.user, &state, now) { return throttled }
        if entries.contains(where: { settings.refusedColumns.contains($0.key) }) {
            return error(400, "An entry is refused.")
        }
        state.update(call.user) { user in
            // Entries that the cache already holds are ignored. The others are one write.
            let news = entries.filter { user.cache[$0.key] != $0.value }
            for entry in news { user.cache[entry.key] = entry.value }
            guard !news.isEmpty else { return }
            let problems = news.compactMap { entry in problem(entry).map { "\(entry.key) \($0)" } }
            let poison = news.filter { problem($0) != nil }.map(\.key)
            let reasons = problems + user.poison.map { "\($0) spoils it from an earlier update" }
            user.poison = Set(user.poison + poison).sorted()
            guard reasons.isEmpty else {
                user.lost.append(.init(at: now, columns: news.map(\.key), reasons: reasons))
                return
            }
            user.writes += news.map { SimulatedUser.Write(at: now, column: $0.key, value: $0.value) }
        }
        for entry in entries {
            guard let what = settings.columns[entry.key]?.unqueryable(entry.value) else { continue }
            state.violations.append(Violation(at: now, what: "\(entry.key) \(what)"))
        }
        return WireResponse(200, json: [:])
    }

    private func delete(
        _ call: Call,
        _ body: JSONObject,
        _ state: inout AcousticAccount,
        _ now: Instant
    ) -> WireResponse {
        guard body.names == ["keys"], let list = body["keys"]?.array, !list.isEmpty else {
            return error(400, "A delete has a list \"keys\" that is not empty.")
        }
        let keys = list.compactMap(\.string)
        guard keys.count == list.count, Set(keys).count == keys.count, !keys.contains("") else {
            return error(400, "A key is a text, each once.")
        }
        if let throttled = throttle(call.user, &state, now) { return throttled }
        if keys.contains(where: settings.refusedColumns.contains) { return error(400, "A key is refused.") }
        state.update(call.user) { user in
            for key in keys {
                user.cache[key] = nil
                user.poison.removeAll { $0 == key }
            }
            let columns = keys.filter { settings.columns.isEmpty || settings.columns[$0]?.isLookupKey == false }
            user.writes += columns.map { SimulatedUser.Write(at: now, column: $0, value: nil) }
        }
        return WireResponse(200, json: [:])
    }

    private func entry(_ json: JSONValue) -> Entry? {
        guard let object = json.object, object.names.sorted() == ["key", "type", "value"],
            let key = object["key"]?.string, !key.isEmpty, let type = object["type"]?.string,
            let value = object["value"]
        else { return nil }
        let fits =
            switch type {
            case "string": value.string != nil
            case "number": value.number != nil
            case "boolean": value.bool != nil
            case "date": value.string.map(isInstant) ?? false
            default: false
            }
        return fits ? Entry(key: key, type: type, value: value) : nil
    }

    private func isInstant(_ text: String) -> Bool { text.hasSuffix("Z") && Timestamp(text: text) != nil }

    /// Returns the reason why the database would refuse an entry; nil if it would accept it or has no described
    /// columns.
    private func problem(_ entry: Entry) -> String? {
        guard !settings.columns.isEmpty else { return nil }
        guard let column = settings.columns[entry.key] else { return "is no column" }
        return column.problem(entry.type, entry.value)
    }

    private func throttle(_ user: String, _ state: inout AcousticAccount, _ now: Instant) -> WireResponse? {
        let recent = (state.user(user)?.updates ?? []).filter { now - $0 < .seconds(60) }
        guard recent.count < settings.updatesPerMinute else {
            return error(429, "Too many updates.", headers: [WireHeader("Retry-After", "60")])
        }
        state.update(user) { $0.updates = recent + [now] }
        return nil
    }

    // MARK: Events

    private func track(
        _ call: Call,
        _ body: JSONObject,
        _ state: inout AcousticAccount,
        _ now: Instant
    ) -> WireResponse {
        guard body.names == ["events"], let list = body["events"]?.array, !list.isEmpty else {
            return error(400, "A request has a list \"events\" that is not empty.")
        }
        guard list.count <= settings.eventLimit else { return error(413, "Too many events.") }
        let events = list.compactMap(event)
        guard events.count == list.count else { return error(400, "An event is wrong.") }
        state.update(call.user) { user in
            if !user.channels.contains(call.channel) { user.channels.append(call.channel) }
            user.events += events
            let word = events.last { $0.type == "application" && $0.name.hasPrefix("uiPush") }
            user.mayPush = word.map { $0.name == "uiPushEnabled" } ?? user.mayPush
        }
        return WireResponse(200, json: [:])
    }

    private static let eventMembers = ["attributes", "attribution", "mailingId", "name", "timestamp", "type"]
    private static let names: [String: Set<String>] = [
        "application": ["sessionStarted", "sessionEnded", "uiPushEnabled", "uiPushDisabled"],
        "simpleNotification": ["urlClicked", "appOpened", "phoneNumberClicked", "inboxMessageOpened"],
        "inboxMessage": ["urlClicked", "appOpened", "phoneNumberClicked", "inboxMessageOpened"],
        "inAppMessage": ["urlClicked", "appOpened", "phoneNumberClicked", "inboxMessageOpened"],
        "inbox": ["messageOpened"],
        "geofence": ["enabled", "disabled", "enter", "exit", "dwell"],
        "ibeacon": ["enabled", "disabled", "enter", "exit", "dwell"],
    ]

    private func event(_ json: JSONValue) -> SimulatedEvent? {
        guard let object = json.object, Set(object.names).isSubset(of: Self.eventMembers),
            let type = object["type"]?.string, let name = object["name"]?.string, !name.trimmed.isEmpty,
            type == "custom" || Self.names[type]?.contains(name) == true,
            let timestamp = object["timestamp"]?.string, isInstant(timestamp)
        else { return nil }
        if let attributes = object["attributes"] {
            guard let list = attributes.array, list.allSatisfy({ entry($0) != nil }) else { return nil }
        }
        if let campaign = object["attribution"], campaign.string == nil { return nil }
        if let mailing = object["mailingId"] {
            guard mailing.integer != nil || mailing.string.map({ Int64($0) != nil }) ?? false else { return nil }
        }
        let isVisible = type != "custom" || settings.showsCustomEvents
        return SimulatedEvent(type: type, name: name, timestamp: timestamp, isVisible: isVisible, body: json)
    }
}

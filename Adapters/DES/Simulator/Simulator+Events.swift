import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The event service and the inbox.
extension DESSimulator {
    func takeEvents(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try authorized(call, state)
        let optional = ["dnd", "language", "ems_sdk", "application_version"]
        let body = try Body(
            call.request.json,
            ["viewedMessages", "clicks", "events"],
            optional: optional + stateName(call)
        )
        let isPaused = try body.flag("dnd") ?? false
        for name in optional.dropFirst() { _ = try body.optionalText(name) }
        let rows = try Rows(body, views: true)
        let events = try events(body, state.clients[place], isPaused: isPaused)
        let stats = try stats(after: rows, echo: body.object["deviceEventState"], call, place, state)
        // Nothing is changed before everything was found good.
        state.events += events
        for event in events { tag(event, &state) }
        let reply = settle(rows, stats, call, place, &state)
        if account.answersEmpty { return answer(204, state.clients[place]) }
        var json = reply
        let names = events.map(\.name)
        if !isPaused, let message = names.lazy.compactMap({ account.messages[$0] }).first { json["message"] = message }
        if let actions = names.lazy.compactMap({ account.actions[$0] }).first { json["onEventAction"] = actions }
        return answer(200, state.clients[place], .object(json))
    }

    func answerInline(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try authorized(call, state)
        let views = account.takesInlineViews ? ["viewedMessages"] : []
        let body = try Body(call.request.json, ["viewIds", "clicks"] + views, optional: stateName(call))
        let ids = try body.list("viewIds").compactMap(\.string)
        guard !ids.isEmpty, !ids.contains("") else { throw .bad("viewIds names no view") }
        let rows = try Rows(body, views: account.takesInlineViews)
        let stats = try stats(after: rows, echo: body.object["deviceEventState"], call, place, state)
        var json = settle(rows, stats, call, place, &state)
        let wanted = ids.map { $0.lowercased() }
        json["inlineMessages"] = .array(
            account.inlineMessages.filter { $0["viewId"]?.string.map { wanted.contains($0.lowercased()) } ?? false }
        )
        return answer(200, state.clients[place], .object(json))
    }

    func answerInbox(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try authorized(call, state)
        let messages = account.inbox.map { message -> JSONValue in
            guard var object = message.object, let id = object["id"]?.string, let tags = state.tags[id] else {
                return message
            }
            object["tags"] = .array(tags.map(JSONValue.string))
            return .object(object)
        }
        return answer(200, state.clients[place], ["messages": .array(messages)])
    }

    func answerGeofences(_ call: Call, _ state: inout State) throws(Refusal) -> WireResponse {
        let place = try authorized(call, state)
        return answer(200, state.clients[place], .object(account.geofences))
    }

    // MARK: Events

    private func events(_ body: Body, _ client: State.Client, isPaused: Bool) throws(Refusal) -> [State.Event] {
        let list = try body.list("events")
        guard !list.isEmpty else { throw .bad("events is empty") }
        var events: [State.Event] = []
        for json in list {
            let event = try Body(json, ["type", "name", "timestamp"], optional: ["attributes", "sessionId"])
            let (type, name) = (try event.text("type"), try event.text("name"))
            guard ["custom", "internal"].contains(type) else { throw .bad("there is no type \(type)") }
            _ = try event.instant("timestamp")
            if event.object["attributes"] != nil, event.object["attributes"]?.object?.isEmpty != false {
                throw .bad("attributes is no object, or empty")
            }
            let attributes = event.object["attributes"]
            try EventForm.check(name, attributes?.object ?? [:], isInternal: type == "internal")
            events.append(
                State.Event(
                    client: client.id,
                    contact: client.contact,
                    type: type,
                    name: name,
                    attributes: attributes,
                    session: try event.optionalText("sessionId"),
                    isPaused: isPaused
                )
            )
        }
        return events
    }

    private func tag(_ event: State.Event, _ state: inout State) {
        guard event.name.hasPrefix("inbox:tag:"), let message = event.attributes?["messageId"]?.string,
            let tag = event.attributes?["tag"]?.string
        else { return }
        let own = account.inbox.first { $0["id"]?.string == message }?["tags"]?.array?.compactMap(\.string)
        var tags = state.tags[message] ?? own ?? []
        tags.removeAll { $0 == tag }
        if event.name == "inbox:tag:add" { tags.append(tag) }
        state.tags[message] = tags
    }

    // MARK: Views, clicks and the returned state

    private func stateName(_ call: Call) -> [String] { call.version == "v4" ? ["deviceEventState"] : [] }

    /// Returns the counts after the rows, on top of the counts that the client returned.
    private func stats(after rows: Rows, echo: JSONValue?, _ call: Call, _ place: Int, _ state: State) throws(Refusal)
        -> JSONObject
    {
        guard call.version == "v4" else { return [:] }
        let client = state.clients[place]
        guard let echo else {
            if client.hasEchoed { throw .bad("the device event state that was handed out is missing") }
            return rows.added(to: [:])
        }
        // A device keeps its state when its application code changes.
        let isKnown = state.clients.contains { $0.id == client.id && $0.states.contains(echo.text) }
        guard isKnown else { throw .bad("the device event state came back changed") }
        var stats = echo["campaignStats"]?.object ?? [:]
        for campaign in account.cancelledCampaigns { stats[campaign] = nil }
        return rows.added(to: stats)
    }

    /// Counts the rows of v3. Each request repeats the rows that the device still stores, and every row counts once.
    private func count(_ rows: Rows, _ client: inout State.Client) {
        var times: [String: Int] = [:]
        for (row, isView) in rows.views.map({ ($0, true) }) + rows.clicks.map({ ($0, false) }) {
            let key = "\(isView ? "view" : "click") \(row.campaign) \(row.text)"
            times[key, default: 0] += 1
            guard times[key, default: 0] > client.rows[key, default: 0] else { continue }
            client.rows[key] = times[key]
            if isView {
                client.views[row.campaign, default: 0] += 1
            } else {
                client.clicks[row.campaign, default: 0] += 1
            }
        }
    }

    /// Stores a request's rows and returns the reply's part about them.
    private func settle(_ rows: Rows, _ stats: JSONObject, _ call: Call, _ place: Int, _ state: inout State)
        -> JSONObject
    {
        if call.version == "v4" {
            for row in rows.views { state.clients[place].views[row.campaign, default: 0] += 1 }
            for row in rows.clicks { state.clients[place].clicks[row.campaign, default: 0] += 1 }
        } else {
            count(rows, &state.clients[place])
        }
        guard call.version == "v4" else {
            return [
                "oldCampaigns": .array(account.cancelledCampaigns.map { Int64($0).map { .integer($0) } ?? .string($0) })
            ]
        }
        // The state is opaque to clients. The number's text shows whether a client changes it.
        let weight = JSONNumber(text: "1.50").map(JSONValue.number) ?? .null
        let next: JSONValue = [
            "campaignStats": .object(stats), "server": ["hint": nil, "weight": weight, "seen": [nil, "é"]],
        ]
        let echo = call.request.json?["deviceEventState"]?.text
        var states = state.clients[place].states
        // The client has received the state that it returned, so it can't return older ones.
        if let echo, let known = states.firstIndex(of: echo) {
            states.removeFirst(known)
            state.clients[place].hasEchoed = true
        }
        states.removeAll { $0 == next.text }
        state.clients[place].states = states + [next.text]
        return ["deviceEventState": next]
    }
}

/// The views and clicks of a request.
struct Rows {
    struct Row {
        let campaign: String
        let at: Instant
        let text: String
    }

    private(set) var views: [Row] = []
    private(set) var clicks: [Row] = []

    init(_ body: Body, views wantsViews: Bool) throws(Refusal) {
        if wantsViews {
            for json in try body.list("viewedMessages") {
                views.append(try Rows.row(Body(json, ["campaignId", "timestamp"])))
            }
        }
        for json in try body.list("clicks") {
            let row = try Body(json, ["campaignId", "buttonId", "timestamp"])
            _ = try row.text("buttonId")
            clicks.append(try Rows.row(row))
        }
    }

    private static func row(_ body: Body) throws(Refusal) -> Row {
        let id = body.object["campaignId"]
        guard let campaign = id?.string ?? id?.number?.text, !campaign.isEmpty else {
            throw .bad("campaignId is no id")
        }
        return Row(campaign: campaign, at: try body.instant("timestamp"), text: try body.text("timestamp"))
    }

    /// Statistics with these rows counted in.
    func added(to stats: JSONObject) -> JSONObject {
        var stats = stats
        func add(_ rows: [Row], _ count: String, _ last: String) {
            for row in rows {
                var entry = stats[row.campaign]?.object ?? ["views": 0, "clicks": 0]
                entry[count] = .integer((entry[count]?.integer ?? 0) + 1)
                let known = entry[last]?.string.flatMap(Instant.init(text:))
                if known.map({ $0 <= row.at }) ?? true { entry[last] = .string(row.text) }
                stats[row.campaign] = .object(entry)
            }
        }
        add(views, "views", "lastViewAt")
        add(clicks, "clicks", "lastClickAt")
        return stats
    }
}

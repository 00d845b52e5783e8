import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension JSONValue {
    /// The same value without the members and elements that are null, at any depth.
    var withoutNulls: JSONValue {
        guard hasNulls else { return self }
        return switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map(\.withoutNulls))
        case .object(let object):
            .object(JSONObject(object.filter { !$0.value.isNull }.map { ($0.name, $0.value.withoutNulls) }))
        default: self
        }
    }

    private var hasNulls: Bool {
        switch self {
        case .null: true
        case .array(let elements): elements.contains(where: \.hasNulls)
        case .object(let object): object.contains { $0.value.hasNulls }
        default: false
        }
    }

    /// A text, or the digits of a number: how an id is read.
    var idText: String? { string ?? number?.text }
}

/// A successful reply of the event service.
struct EventAnswer {
    /// The new device event state, unchanged; nil if there is none.
    let eventState: EventState?
    /// The rest, without nulls.
    let body: JSONValue
    /// Whether a part of the answer could not be read.
    let isDamaged: Bool

    /// Reads a reply. A reply without JSON is empty.
    init(_ response: WireResponse) {
        let reply = ReplyObject(response.body)
        (eventState, body, isDamaged) = (reply.eventState, reply.json, reply.isDamaged)
    }

    /// Whether the answer may have held a device event state that could not be read.
    var lacksState: Bool { isDamaged && eventState == nil }

    /// The message to show; nil without HTML.
    var message: JSONValue? {
        guard let message = body["message"], let html = message["html"]?.string else { return nil }
        var content: JSONObject = ["kind": "message"]
        content["campaignId"] = message["campaignId"]?.idText.map(JSONValue.string)
        content["html"] = .string(html)
        return .object(content)
    }

    /// The campaigns whose views and clicks the vendor no longer expects (v3).
    var oldCampaigns: Set<String> { Set(body["oldCampaigns"]?.array?.compactMap(\.idText) ?? []) }

    /// Returns the message for a view, ignoring case; nil if there is none with HTML.
    func inlineMessage(for view: String, choice: DESSettings.InlineChoice) -> JSONValue? {
        let fitting = (body["inlineMessages"]?.array ?? []).filter { message in
            message["viewId"]?.string?.lowercased() == view.lowercased()
        }
        let chosen = choice == .last ? fitting.last : fitting.first
        return chosen?["html"]?.string == nil ? nil : chosen
    }
}

/// An action in a reply.
enum AnswerAction {
    /// The app does something.
    case app(JSONObject)
    /// A custom event happened.
    case event(name: String, attributes: [AttributeName: AttributeValue])

    /// Reads an action; nil if it is unknown or incomplete.
    init?(_ json: JSONValue) {
        switch json["type"]?.string {
        case "MEAppEvent":
            guard let name = json["name"]?.string else { return nil }
            var content: JSONObject = ["kind": "appEvent", "name": .string(name)]
            content["payload"] = json["payload"]?.object.map(JSONValue.object)
            self = .app(content)
        case "MECustomEvent":
            guard let name = json["name"]?.string, !name.trimmed.isEmpty else { return nil }
            let members = json["payload"]?.object ?? [:]
            let pairs = members.filter { !$0.name.isEmpty }.map {
                (AttributeName(rawValue: $0.name), AttributeValue(plain: $0.value))
            }
            self = .event(name: name, attributes: Dictionary(pairs) { _, last in last })
        case "OpenExternalUrl":
            guard let url = json["url"]?.string else { return nil }
            self = .app(["kind": "openUrl", "url": .string(url)])
        case "BadgeCount":
            guard let method = json["method"]?.string, let value = json["value"]?.number else { return nil }
            let word = method.lowercased() == "add" ? "add" : "set"
            self = .app(["kind": "badgeCount", "method": .string(word), "value": .number(value)])
        default: return nil
        }
    }
}

extension AttributeValue {
    /// A JSON value of an answer as an event's attribute: text stays, everything else becomes its text.
    fileprivate init(plain json: JSONValue) { self = .string(json.string ?? json.text) }
}

/// The actions after an event.
struct OnEventAction {
    /// The campaign of the actions; nil if the reply does not name it.
    let campaign: String?
    /// The actions, in order.
    let actions: [AnswerAction]

    /// Reads the actions of a reply; nil if it has none.
    init?(_ body: JSONValue) {
        guard let whole = body["onEventAction"], let list = whole["actions"]?.array else { return nil }
        campaign = whole["campaignId"]?.idText
        actions = list.compactMap(AnswerAction.init)
    }

    /// The content for the app.
    var incoming: [JSONValue] {
        actions.compactMap { if case .app(let content) = $0 { .object(content) } else { nil } }
    }

    /// The operations to capture: the actions that are events, then a view of the campaign.
    var captured: [Action] {
        let events = actions.compactMap { action -> Action? in
            guard case .event(let name, let attributes) = action else { return nil }
            return .track(.custom(name: name, attributes: attributes))
        }
        return events + (campaign.map { [.track(.messageViewed(messageID: $0))] } ?? [])
    }
}

/// Reads a person's inbox.
enum Inbox {
    /// Returns the messages with all required members.
    static func messages(_ body: JSONValue) -> [JSONValue] {
        (body["messages"]?.array ?? []).filter { message in
            ["id", "campaignId", "title", "body"].allSatisfy { message[$0]?.string != nil }
                && message["receivedAt"]?.number != nil
        }
    }

    /// The tags of each message.
    static func tags(_ messages: [JSONValue]) -> [String: [String]] {
        let pairs = messages.compactMap { message in
            message["id"]?.string.map { ($0, message["tags"]?.array?.compactMap { $0.string?.lowercased() } ?? []) }
        }
        return Dictionary(pairs) { _, last in last }
    }
}

/// Reads geofences, which are places with actions.
enum Geofences {
    private static let triggers = ["ENTER", "EXIT", "DWELLING"]
    private static let defaultRatio: JSONValue = .number(JSONNumber(text: "0.5") ?? JSONNumber(0))

    /// Returns the reply without incomplete geofences.
    static func answer(_ body: JSONValue) -> JSONValue {
        let groups = (body["groups"]?.array ?? []).compactMap { group in
            group["id"]?.string == nil ? nil : with(group, "geofences", fences(group))
        }
        let ratio = body["refreshRadiusRatio"]?.number.map(JSONValue.number) ?? defaultRatio
        return ["refreshRadiusRatio": ratio, "groups": .array(groups)]
    }

    private static func fences(_ group: JSONValue) -> [JSONValue] {
        (group["geofences"]?.array ?? []).compactMap { fence in
            let isComplete = fence["id"]?.string != nil && ["lat", "lon", "r"].allSatisfy { fence[$0]?.number != nil }
            let usable = (fence["triggers"]?.array ?? []).filter { isUsable($0) }
            return isComplete ? with(fence, "triggers", usable) : nil
        }
    }

    private static func isUsable(_ trigger: JSONValue) -> Bool {
        guard trigger["id"]?.string != nil, trigger["action"]?.object != nil,
            let type = trigger["type"]?.string, triggers.contains(type)
        else { return false }
        return type != "DWELLING" || trigger["loiteringDelay"]?.number != nil
    }

    private static func with(_ json: JSONValue, _ name: String, _ list: [JSONValue]) -> JSONValue? {
        guard var object = json.object, !list.isEmpty else { return nil }
        object[name] = .array(list)
        return .object(object)
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension JSONValue {
    /// The same value without the members and elements that are null, at any depth.
    var withoutNulls: JSONValue {
        switch self {
        case .array(let elements): .array(elements.filter { !$0.isNull }.map(\.withoutNulls))
        case .object(let object):
            .object(JSONObject(object.filter { !$0.value.isNull }.map { ($0.name, $0.value.withoutNulls) }))
        default: self
        }
    }

    /// An id: a text, or the digits of a number.
    var idText: String? { string ?? number?.text }
}

/// The content of a reply of the event service.
extension ReplyObject {
    /// Whether the reply may contain a device event state that could not be read.
    var lacksState: Bool { isDamaged && eventState == nil }

    /// The message to show; nil without HTML.
    var message: JSONValue? {
        guard let message = json["message"], let html = message["html"]?.string else { return nil }
        var content: JSONObject = ["kind": "message"]
        content["campaignId"] = message["campaignId"]?.idText.map(JSONValue.string)
        content["html"] = .string(html)
        return .object(content)
    }

    /// The campaigns whose views and clicks the vendor no longer expects (v3).
    var oldCampaigns: Set<String> { Set(json["oldCampaigns"]?.array?.compactMap(\.idText) ?? []) }

    /// Returns the message for a view, ignoring case; nil if there is none with HTML.
    func inlineMessage(for view: String, choice: DESSettings.InlineChoice) -> JSONValue? {
        let fitting = (json["inlineMessages"]?.array ?? []).filter { message in
            message["viewId"]?.string?.lowercased() == view.lowercased()
        }
        let chosen = choice == .last ? fitting.last : fitting.first
        return chosen?["html"]?.string == nil ? nil : chosen
    }
}

/// The actions that a reply requires after an event. Unknown and incomplete ones are omitted.
struct OnEventAction {
    /// The content for the app.
    let incoming: [JSONValue]
    /// The operations to capture: the actions that are custom events, then a view of the campaign if the reply names one.
    let captured: [Action]

    /// Reads the actions of a reply; nil if it has none.
    init?(_ body: JSONValue) {
        guard let whole = body["onEventAction"], let actions = whole["actions"]?.array else { return nil }
        incoming = actions.compactMap(Self.content)
        let view = whole["campaignId"]?.idText.map { Action.track(.messageViewed(messageID: $0)) }
        captured = actions.compactMap(Self.event) + [view].compactMap(\.self)
    }

    /// Returns the content of an action of the app; nil for any other action.
    private static func content(_ action: JSONValue) -> JSONValue? {
        switch action["type"]?.string {
        case "MEAppEvent":
            guard let name = action["name"]?.string else { return nil }
            var content: JSONObject = ["kind": "appEvent", "name": .string(name)]
            content["payload"] = action["payload"]?.object.map(JSONValue.object)
            return .object(content)
        case "OpenExternalUrl":
            return action["url"]?.string.map { ["kind": "openUrl", "url": .string($0)] }
        case "BadgeCount":
            guard let method = action["method"]?.string, let value = action["value"]?.number else { return nil }
            let word = method.lowercased() == "add" ? "add" : "set"
            return ["kind": "badgeCount", "method": .string(word), "value": .number(value)]
        default: return nil
        }
    }

    /// Returns the custom event of an action; nil for any other action. Attributes other than texts become their JSON text.
    private static func event(_ action: JSONValue) -> Action? {
        guard action["type"]?.string == "MECustomEvent", let name = action["name"]?.string, !name.trimmed.isEmpty else {
            return nil
        }
        let attributes = (action["payload"]?.object ?? [:]).filter { !$0.name.isEmpty }.map {
            (AttributeName(rawValue: $0.name), AttributeValue.string($0.value.string ?? $0.value.text))
        }
        return .track(.custom(name: name, attributes: Dictionary(attributes) { _, last in last }))
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

    /// Returns the tags of each message, by id.
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

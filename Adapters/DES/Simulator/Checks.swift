import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A refusal by the vendor.
struct Refusal: Error {
    let status: Int
    let text: String

    init(_ status: Int, _ text: String) { (self.status, self.text) = (status, text) }

    static func bad(_ text: String) -> Refusal { Refusal(400, text) }
}

// These checks avoid regular expressions, which would be compiled at each use, several times per request.
extension String {
    /// The text with a zero for each ASCII digit.
    var form: String { String(decoding: utf8.map { (0x30...0x39).contains($0) ? 0x30 : $0 }, as: UTF8.self) }

    /// Whether the text is the hexadecimal form of some bytes, in lower case.
    var isLowerHex: Bool {
        !isEmpty && utf8.count.isMultiple(of: 2)
            && utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
    }

    /// Whether the text is a UUID.
    var isUUID: Bool {
        let parts = lowercased().split(separator: "-", omittingEmptySubsequences: false)
        return parts.map(\.utf8.count) == [8, 4, 4, 4, 12] && parts.allSatisfy { String($0).isLowerHex }
    }
}

/// A JSON object that the simulator parses strictly.
struct Body {
    let object: JSONObject

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - json: The value.
    ///   - required: The required members.
    ///   - optional: The optional members; any other member is refused.
    /// - Throws: The refusal of an invalid object.
    init(_ json: JSONValue?, _ required: [String], optional: [String] = []) throws(Refusal) {
        guard let object = json?.object else { throw .bad("the body is no JSON object") }
        for name in required where object[name] == nil { throw .bad("\(name) is missing") }
        if let unknown = object.names.first(where: { !required.contains($0) && !optional.contains($0) }) {
            throw .bad("unexpected member \(unknown)")
        }
        if let null = object.first(where: { $0.value.isNull }) { throw .bad("\(null.name) is null") }
        self.object = object
    }

    func text(_ name: String) throws(Refusal) -> String {
        guard let text = object[name]?.string, !text.isEmpty else { throw .bad("\(name) is no text") }
        return text
    }

    func optionalText(_ name: String) throws(Refusal) -> String? { object[name] == nil ? nil : try text(name) }

    func list(_ name: String) throws(Refusal) -> [JSONValue] {
        guard let list = object[name]?.array else { throw .bad("\(name) is no list") }
        return list
    }

    func flag(_ name: String) throws(Refusal) -> Bool? {
        guard let value = object[name] else { return nil }
        guard let flag = value.bool else { throw .bad("\(name) is no boolean") }
        return flag
    }

    func instant(_ name: String) throws(Refusal) -> Instant {
        let text = try text(name)
        let form = ["0000-00-00T00:00:00.000Z", "0000-00-00T00:00:00.000+00:00", "0000-00-00T00:00:00.000-00:00"]
        guard form.contains(text.form), let instant = Instant(text: text) else {
            throw .bad("\(name) is no point in time")
        }
        return instant
    }

    func text(_ name: String, where hasForm: (String) -> Bool) throws(Refusal) -> String {
        let text = try text(name)
        guard hasForm(text) else { throw .bad("\(name) has another form") }
        return text
    }
}

/// The members of a registration's push settings, by platform.
enum PushForm {
    private static let setting = ["enabled", "disabled", "notSupported"]
    private static let ios: [(String, [String])] = [
        ("authorizationStatus", ["authorized", "denied", "provisional", "ephemeral", "notDetermined"]),
        ("soundSetting", setting), ("badgeSetting", setting), ("alertSetting", setting),
        ("notificationCenterSetting", setting), ("lockScreenSetting", setting), ("carPlaySetting", setting),
        ("alertStyle", ["alert", "banner", "none"]), ("showPreviewsSetting", ["always", "whenAuthenticated", "never"]),
        ("criticalAlertSetting", setting), ("scheduledDeliverySetting", setting), ("timeSensitiveSetting", setting),
    ]

    static func check(_ json: JSONValue?, platform: String) throws(Refusal) {
        guard platform == "ios" else {
            let body = try Body(json, ["areNotificationsEnabled", "importance"], optional: ["channelSettings"])
            guard try body.flag("areNotificationsEnabled") != nil, body.object["importance"]?.integer != nil else {
                throw .bad("importance is no number")
            }
            return
        }
        let body = try Body(json, ios.map(\.0) + ["providesAppNotificationSettings"])
        _ = try body.flag("providesAppNotificationSettings")
        for (name, words) in ios where !words.contains(try body.text(name)) {
            throw .bad("\(name) has no such value")
        }
    }
}

/// The required and optional attributes of the vendor's own events.
enum EventForm {
    private static let forms: [String: (must: [String], may: [String])] = [
        "app:start": ([], []), "session:start": ([], []), "session:end": (["duration"], []),
        "push:click": (["origin", "sid"], ["button_id"]), "inapp:viewed": (["campaignId"], ["sid", "url"]),
        "inapp:click": (["campaignId", "buttonId"], ["sid", "url"]), "inbox:tag:add": (["messageId", "tag"], []),
        "inbox:tag:remove": (["messageId", "tag"], []),
    ]

    static func check(_ name: String, _ attributes: JSONObject, isInternal: Bool) throws(Refusal) {
        for attribute in attributes where attribute.value.string == nil {
            throw .bad("the attribute \(attribute.name) is no text")
        }
        guard isInternal else {
            if forms[name] != nil { throw .bad("\(name) is no custom event") }
            return
        }
        guard let form = forms[name] else { throw .bad("there is no internal event \(name)") }
        for must in form.must where attributes[must] == nil { throw .bad("\(name) lacks \(must)") }
        if let unknown = attributes.names.first(where: { !form.must.contains($0) && !form.may.contains($0) }) {
            throw .bad("\(name) has no \(unknown)")
        }
        if name.hasPrefix("inbox:"), attributes["tag"]?.string != attributes["tag"]?.string?.lowercased() {
            throw .bad("the tag is not lower-case")
        }
        if name == "push:click", (attributes["origin"]?.string == "button") != (attributes["button_id"] != nil) {
            throw .bad("origin and button_id disagree")
        }
    }
}

import PatchbayAdapterKit
import PatchbayJSON

/// The verbs, paths and names of the device API, which the vendor has not published.
///
/// The defaults are inferred from names in the vendor's published SDK documents. The configuration can correct them
/// after a capture of an account's verbose log, without a change of code (W7).
struct DeviceProfile: Sendable, Equatable {
    /// One call.
    struct Call: Sendable, Equatable {
        /// The method.
        var method: String
        /// The path after the base address, with the placeholders `{appKey}`, `{userId}` and `{channelId}`.
        var path: String
        /// The member of the body that contains the entries; nil if the body is the record itself.
        var wrapper: String?
    }

    var update = Call(method: "PATCH", path: "/3.0/apps/{appKey}/users/{userId}/attributes", wrapper: "attributes")
    var delete = Call(method: "DELETE", path: "/3.0/apps/{appKey}/users/{userId}/attributes", wrapper: "keys")
    var events = Call(
        method: "POST",
        path: "/3.0/apps/{appKey}/users/{userId}/channels/{channelId}/events",
        wrapper: "events"
    )
    var register = Call(method: "POST", path: "/3.0/apps/{appKey}/registrations", wrapper: nil)
    var phoneHome = Call(
        method: "GET",
        path: "/3.0/apps/{appKey}/users/{userId}/channels/{channelId}",
        wrapper: nil
    )
    /// The name of the user's id in replies.
    var userMember = "userId"
    /// The name of the channel's id in replies.
    var channelMember = "channelId"

    /// The call of a request.
    subscript(endpoint: AcousticDevice.Endpoint) -> Call {
        switch endpoint {
        case .update: update
        case .delete: delete
        case .events: events
        case .register: register
        case .phoneHome: phoneHome
        }
    }

    /// The calls by their names in a configuration.
    static let calls: [(name: String, path: any WritableKeyPath<DeviceProfile, Call> & Sendable)] = [
        ("update", \.update), ("delete", \.delete), ("events", \.events), ("register", \.register),
        ("phoneHome", \.phoneHome),
    ]

    private static let methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
    private static let placeholders = ["{appKey}", "{userId}", "{channelId}"]

    /// The form of the setting.
    static let schema: JSONObject = {
        let text: JSONValue = ["type": "string", "minLength": 1]
        let method: JSONValue = ["enum": .array(methods.map(JSONValue.string))]
        let path: JSONValue = ["type": "string", "pattern": "^/"]
        let call: JSONValue = [
            "type": "object", "properties": ["method": method, "path": path, "wrapper": text],
            "additionalProperties": false,
        ]
        var properties = JSONObject(calls.map { ($0.name, call) })
        properties["userMember"] = text
        properties["channelMember"] = text
        return ["type": "object", "properties": .object(properties), "additionalProperties": false]
    }()

    typealias Problem = SettingRow<AcousticSettings>.Problem

    /// Applies the corrections of a configuration.
    mutating func read(_ value: JSONValue) -> Problem? {
        guard let object = value.object else { return Problem("The value is \(value.typePhrase).", "Give an object.") }
        for member in object {
            switch member.name {
            case "userMember", "channelMember":
                guard let text = member.value.string?.trimmed, !text.isEmpty else {
                    return Problem("The value of \(member.name) is not text.", "Give the name of the reply's member.")
                }
                if member.name == "userMember" { userMember = text } else { channelMember = text }
            default:
                guard let call = Self.calls.first(where: { $0.name == member.name }) else {
                    let known = Self.calls.map(\.name) + ["userMember", "channelMember"]
                    return Problem("A member does not name a call.", "Use one of: \(known.joined(separator: ", ")).")
                }
                if let problem = Self.read(member.value, into: &self[keyPath: call.path], called: call.name) {
                    return problem
                }
            }
        }
        return nil
    }

    private static func read(_ value: JSONValue, into call: inout Call, called name: String) -> Problem? {
        guard let object = value.object else {
            return Problem("The value of \(name) is not an object.", "Give method, path, wrapper.")
        }
        for member in object {
            guard let text = member.value.string, !text.isEmpty else {
                return Problem("A member of \(name) is not text.", "Give text.")
            }
            switch member.name {
            case "method" where methods.contains(text): call.method = text
            case "method":
                return Problem("\(name).method is no method.", "Use one of \(methods.joined(separator: ", ")).")
            case "path":
                guard isPath(text) else {
                    return Problem(
                        "\(name).path is no path.",
                        "Begin with a slash; only \(placeholders.joined(separator: ", ")) are filled in."
                    )
                }
                call.path = text
            case "wrapper" where call.wrapper != nil: call.wrapper = text
            default: return Problem("A member of \(name) is unknown.", "Use one of: method, path, wrapper.")
            }
        }
        return nil
    }

    private static func isPath(_ text: String) -> Bool {
        let plain = placeholders.reduce(text) { $0.replacing($1, with: "x") }
        return plain.hasPrefix("/") && !plain.contains { "{}?# ".contains($0) || $0.isWhitespace }
    }
}

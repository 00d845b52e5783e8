import Foundation
public import PatchbayJSON

/// A system callback about a push notification: one of the calls that Apple's frameworks make.
///
/// The app passes the call on unchanged, and ``TrackingEvent/init(_:userInfo:)`` determines the event.
public enum PushCallback: Hashable, Sendable {
    /// A notification is about to be shown while the app is on the screen
    /// (`userNotificationCenter(_:willPresent:…)`).
    case willPresent
    /// The app was woken for a notification (`application(_:didReceiveRemoteNotification:…)`), in that state.
    case didReceiveRemote(AppState)
    /// The person answered a notification (`userNotificationCenter(_:didReceive:…)`): the response's `actionIdentifier`.
    case didRespond(action: String)

    /// The action identifier for a tap on the notification itself (`UNNotificationDefaultActionIdentifier`).
    public static let defaultAction = "com.apple.UNNotificationDefaultActionIdentifier"
    /// The action identifier for dismissing the notification (`UNNotificationDismissActionIdentifier`). The system sends it
    /// only for a category that was registered with `customDismissAction`.
    public static let dismissAction = "com.apple.UNNotificationDismissActionIdentifier"
}

extension TrackingEvent {
    /// Creates the event for a system callback. Nil if another callback reports the same event: while the app is active, the
    /// system calls both `willPresent` and `didReceiveRemoteNotification`.
    public init?(_ callback: PushCallback, payload: JSONObject) {
        switch callback {
        case .willPresent: self = .push(.received, payload: payload)
        case .didReceiveRemote(.active): return nil
        case .didReceiveRemote: self = .push(.received, payload: payload)
        case .didRespond(PushCallback.defaultAction): self = .push(.tapped, payload: payload)
        case .didRespond(PushCallback.dismissAction): self = .push(.dismissed, payload: payload)
        case .didRespond(let action): self = .push(.tapped, payload: payload, actionID: action)
        }
    }

    /// Creates the event from the `userInfo` of a notification, as the system passes it.
    ///
    /// - Throws: ``ModelError`` if it contains a value that a push message cannot contain, such as a date.
    public init?(_ callback: PushCallback, userInfo: [AnyHashable: Any]) throws(ModelError) {
        self.init(callback, payload: try JSONObject(userInfo: userInfo))
    }
}

extension JSONObject {
    /// Creates JSON from the `userInfo` of a notification. Members are sorted by name, because a dictionary has no order.
    ///
    /// - Throws: ``ModelError`` if it contains a value that is not JSON.
    public init(userInfo: [AnyHashable: Any]) throws(ModelError) { try self.init(userInfo, at: "") }

    fileprivate init(_ userInfo: [AnyHashable: Any], at path: String) throws(ModelError) {
        self.init()
        for (key, value) in userInfo {
            guard let name = key.base as? String else {
                throw ModelError(
                    path: path,
                    reason: "has a name that is not text",
                    remedy: "Give the notification's userInfo."
                )
            }
            self[name] = try JSONValue(userInfo: value, at: path.dot(name))
        }
        self = sorted
    }
}

extension JSONValue {
    fileprivate init(userInfo value: Any, at path: String) throws(ModelError) {
        switch value {
        case let text as String: self = .string(text)
        case let number as NSNumber: self = try JSONValue(number, at: path)
        case let flag as Bool: self = .bool(flag)
        case let number as any BinaryInteger: self = .integer(number)
        case let number as Double: self = try JSONValue(number: "\(number)", at: path)
        case is NSNull: self = .null
        case let elements as [Any]:
            var values: [JSONValue] = []
            for (position, element) in elements.enumerated() {
                values.append(try JSONValue(userInfo: element, at: "\(path)[\(position)]"))
            }
            self = .array(values)
        case let members as [AnyHashable: Any]: self = .object(try JSONObject(members, at: path))
        default:
            throw ModelError(path: path, reason: "is not JSON", remedy: "Give the notification's userInfo unchanged.")
        }
    }

    /// Creates JSON from a Foundation number, which may represent a boolean.
    private init(_ number: NSNumber, at path: String) throws(ModelError) {
        if String(cString: number.objCType) == "c" {
            self = .bool(number.boolValue)
        } else {
            self = try JSONValue(number: number.stringValue, at: path)
        }
    }

    private init(number text: String, at path: String) throws(ModelError) {
        guard let number = JSONNumber(text: text) else {
            throw ModelError(
                path: path,
                reason: "is not a number",
                remedy: "Give the notification's userInfo unchanged."
            )
        }
        self = .number(number)
    }
}

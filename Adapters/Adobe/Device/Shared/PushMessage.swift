public import PatchbayJSON
public import PatchbayModel
import PatchbayAdapterKit

/// A push message of this vendor, as an app received it.
struct PushMessage {
    /// The product that sent the message, which determines the names of its ids.
    enum Origin: String {
        /// A push message: `_mId`, `_dId`, and a flag.
        case remote
        /// A local notification of the in-app channel: no flag.
        case local

        /// The names of the message's id and of the delivery's.
        var names: (message: String, delivery: String) {
            switch self {
            case .remote: ("_mId", "_dId")
            case .local: ("broadlogId", "deliveryId")
            }
        }
    }

    static let flag = "_acsDeliveryTracking"

    /// The product that sent the message.
    let origin: Origin
    private let payload: JSONObject

    /// Reads a message; nil if the payload has no member of this vendor.
    init?(_ payload: JSONObject) {
        guard let origin = Self.marks.first(where: { $0.names.contains { payload[$0] != nil } })?.origin else {
            return nil
        }
        (self.origin, self.payload) = (origin, payload)
    }

    private static let marks: [(origin: Origin, names: [String])] = [
        // Other vendors have a deliveryId of their own: it is no mark.
        (.remote, ["_mId", "_dId", flag]), (.local, ["broadlogId"]),
    ]

    /// The message's id, unchanged; nil unless it is a text that is not empty.
    var broadlogID: String? { text(origin.names.message) }
    /// The delivery's id, unchanged; nil unless it is a text that is not empty.
    var deliveryID: String? { text(origin.names.delivery) }

    /// Whether the delivery is tracked. A flag that is missing or is no text counts as on.
    var isTracked: Bool {
        guard origin == .remote, let flag = payload[Self.flag]?.string else { return true }
        return flag.lowercased() == "on"
    }

    /// Whether the message arrived through APNs.
    var isForApple: Bool { payload["aps"] != nil }
    /// Whether the message wakes an app in the background.
    var isSilent: Bool { payload["aps"]?["content-available"]?.integer == 1 }
    /// The category of the message, which has to be one that the app registered.
    var category: String? { payload["aps"]?["category"]?.string }

    /// Returns the findings about its ids, with their paths.
    func problems(missing: FindingRow, form: FindingRow, at path: String) -> [Finding] {
        [origin.names.message, origin.names.delivery].compactMap { name in
            guard let text = text(name) else {
                let detail = payload[name].map { $0.string == nil ? "it is \($0.typePhrase)" : "it is empty" }
                return missing.at(path.dot(name), detail: detail ?? "it is missing")
            }
            return text.utf8.contains(where: { $0 == UInt8(ascii: ",") || $0 < 0x20 }) ? form.at(path.dot(name)) : nil
        }
    }

    private func text(_ name: String) -> String? { payload[name]?.string.flatMap { $0.isEmpty ? nil : $0 } }
}

/// Converts the system's callbacks about notifications of Campaign Standard to events.
public enum AdobeNotification: Sendable {
    /// Returns the event to capture.
    ///
    /// The system makes no callback for a notification that arrives while the app is not running, so no event reports
    /// it.
    ///
    /// - Returns: Nil if there is nothing to report: for another vendor's notification, and for the background handler while
    ///   the app is active, because `willPresent` was called already.
    public static func event(_ callback: PushCallback, payload: JSONObject) -> TrackingEvent? {
        guard PushMessage(payload) != nil else { return nil }
        return TrackingEvent(callback, payload: payload)
    }

    /// Returns the event to capture for a notification's `userInfo` dictionary.
    ///
    /// - Throws: ``ModelError`` if the dictionary contains a value that no push message can have.
    public static func event(_ callback: PushCallback, userInfo: [AnyHashable: Any]) throws(ModelError)
        -> TrackingEvent?
    {
        event(callback, payload: try JSONObject(userInfo: userInfo))
    }
}

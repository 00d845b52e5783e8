import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// An entry of the push settings in a registration.
///
/// An app passes the system's values as the option `pushSettings`. By default, an entry follows from the person's
/// permission for notifications; these defaults are this adapter's choice.
struct PushSettings: Sendable {
    /// The entry's name on the wire.
    let name: String
    /// The platforms that have it.
    let platforms: Set<Platform>
    /// The accepted values, as text for findings.
    let form: String
    /// The defaults where notifications are permitted and where they are not; nil if the entry is then left out.
    let otherwise: (allowed: JSONValue, denied: JSONValue)?
    private let accepts: @Sendable (JSONValue) -> Bool

    private init(
        _ name: String,
        _ platforms: Set<Platform>,
        _ form: String,
        _ otherwise: (JSONValue, JSONValue)?,
        where accepts: @escaping @Sendable (JSONValue) -> Bool
    ) {
        (self.name, self.platforms, self.form, self.otherwise) = (name, platforms, form, otherwise)
        self.accepts = accepts
    }

    private static func word(_ name: String, _ words: [String], _ allowed: String, _ denied: String) -> PushSettings {
        PushSettings(name, [.ios], words.joined(separator: ", "), (.string(allowed), .string(denied))) {
            $0.string.map(words.contains) ?? false
        }
    }

    private static func setting(_ name: String, _ allowed: String = "enabled", _ denied: String = "disabled")
        -> PushSettings
    {
        word(name, ["enabled", "disabled", "notSupported"], allowed, denied)
    }

    private static let states = ["authorized", "denied", "provisional", "ephemeral", "notDetermined"]
    private static let previews = ["always", "whenAuthenticated", "never"]
    private static let channel = [
        "channelId", "importance", "canShowBadge", "canBypassDnd", "shouldVibrate", "shouldShowLights",
    ]

    /// Every entry, in the order of writing.
    static let all: [PushSettings] = [
        word("authorizationStatus", states, "authorized", "denied"),
        setting("soundSetting"), setting("badgeSetting"), setting("alertSetting"), setting("notificationCenterSetting"),
        setting("lockScreenSetting"), setting("carPlaySetting", "notSupported", "notSupported"),
        word("alertStyle", ["alert", "banner", "none"], "banner", "none"),
        word("showPreviewsSetting", previews, "whenAuthenticated", "never"),
        setting("criticalAlertSetting", "notSupported", "notSupported"),
        PushSettings("providesAppNotificationSettings", [.ios], "true or false", (false, false)) { $0.bool != nil },
        setting("scheduledDeliverySetting", "disabled", "disabled"),
        setting("timeSensitiveSetting", "notSupported", "notSupported"),
        PushSettings("areNotificationsEnabled", [.android, .androidHuawei], "true or false", (true, false)) {
            $0.bool != nil
        },
        PushSettings("importance", [.android, .androidHuawei], "whole number", (3, 0)) { $0.integer != nil },
        PushSettings("channelSettings", [.android, .androidHuawei], "a list of channels", nil) { value in
            value.array?.allSatisfy { entry in
                guard let object = entry.object, object["channelId"]?.string != nil else { return false }
                return object.names.allSatisfy(channel.contains)
            } ?? false
        },
    ]

    /// Returns the push settings of a platform: the app's values, otherwise the defaults.
    static func object(for platform: Platform, allowed: Bool, given: JSONObject) -> JSONObject {
        JSONObject(
            all.filter { $0.platforms.contains(platform) }.compactMap { entry in
                let value = given[entry.name] ?? entry.otherwise.map { allowed ? $0.allowed : $0.denied }
                return value.map { (entry.name, $0) }
            }
        )
    }

    /// Returns the findings about an app's push settings.
    static func problems(_ value: JSONValue, _ path: String) -> [Finding] {
        guard let object = value.object else {
            return [FindingRow.optionInvalid.at(path, detail: "it takes an object")]
        }
        return object.flatMap { member -> [Finding] in
            let place = path.dot(member.name)
            guard let entry = all.first(where: { $0.name == member.name }) else {
                return [FindingRow.optionUnknown.at(place)]
            }
            return entry.accepts(member.value)
                ? [] : [FindingRow.optionInvalid.at(place, detail: "it takes \(entry.form)")]
        }
    }
}

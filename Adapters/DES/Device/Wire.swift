import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

// The fields of every body, one row each.

/// A registration of the installation.
struct ClientCall: Sendable {
    var platform: String
    var facts: DeviceFacts
    var language: String
    var sdkVersion: String
    var pushSettings: JSONValue

    static let table = FieldTable<ClientCall>(
        "Client registration",
        [
            .required("platform", \.platform, .text, from: "device.facts.platform", rule: .des("B1")),
            .required(
                "applicationVersion",
                \.facts.appVersion,
                .text,
                from: "device.facts.appVersion",
                rule: .des("B1")
            ),
            .required("deviceModel", \.facts.model, .text, from: "device.facts.model", rule: .des("B1")),
            .required(
                "osVersion",
                \.facts.platformVersion,
                .text,
                from: "device.facts.platformVersion",
                rule: .des("B1")
            ),
            .required("sdkVersion", \.sdkVersion, .text, from: "settings.sdkVersion", rule: .des("B1")),
            .required("language", \.language, .text, from: "device.facts.locale", rule: .des("B1")),
            .required(
                "timezone",
                \.facts.utcOffsetSeconds,
                .zone,
                from: "device.facts.utcOffsetSeconds",
                rule: .des("B1")
            ),
            .required("pushSettings", \.pushSettings, .json, from: "options.des.pushSettings", rule: .des("B2")),
        ]
    )

    /// Creates a registration; nil without facts, or if the vendor has no name for the platform.
    init?(_ device: Device, _ settings: DESSettings, given: JSONObject) {
        guard let facts = device.facts, let platform = Platform(device) else { return nil }
        (self.platform, self.facts, sdkVersion) = (platform.rawValue, facts, settings.sdkVersion)
        if facts.appVersion.isEmpty { self.facts.appVersion = "unknown" }
        language = platform == .ios ? facts.localization : facts.locale.replacing("_", with: "-")
        pushSettings = .object(PushSettings.object(for: platform, allowed: device.allowsPush, given: given))
    }
}

extension DeviceFacts {
    /// The language as a bundle names its localization: with the script where the locale has one, without the region, as
    /// in `de` or `zh-Hant`.
    var localization: String {
        let parts = locale.split { $0 == "_" || $0 == "-" }
        guard parts.count > 1, parts[1].utf8.count == 4,
            parts[1].utf8.allSatisfy({ $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A })
        else { return language }
        return "\(language)-\(parts[1])"
    }
}

/// The vendor's names of platforms.
enum Platform: String, CaseIterable {
    case ios, android
    case androidHuawei = "android-huawei"

    /// Creates the platform of a device; nil if the vendor has no name for it.
    init?(_ device: Device) {
        switch device.facts?.platform.lowercased() {
        case "ios", "ipados": self = .ios
        case "android": self = device.pushToken?.service == .hms ? .androidHuawei : .android
        default: return nil
        }
    }
}

extension WireFormat<Int> {
    /// Seconds east of UTC as `+hhmm` or `-hhmm`.
    static let zone = WireFormat(
        "offset from UTC as +hhmm",
        schema: ["type": "string", "pattern": "^[+-][0-9]{4}$"]
    ) {
        .string(Offset.text($0, separator: ""))
    }
}

/// Offsets from UTC as text.
enum Offset {
    /// Sign, hours, separator, minutes.
    static func text(_ seconds: Int, separator: String) -> String {
        let minutes = abs(seconds) / 60
        let digits = String(10_000 + minutes / 60 * 100 + minutes % 60).dropFirst()
        return (seconds < 0 ? "-" : "+") + digits.prefix(2) + separator + digits.suffix(2)
    }
}

/// A push token to set.
struct PushTokenCall: Sendable {
    var token: String

    static let table = FieldTable<PushTokenCall>(
        "Push token",
        [.required("pushToken", \.token, .text, from: "device.pushToken.value", rule: .des("B3"))]
    )
}

/// A contact to set.
struct ContactCall: Sendable {
    var field: Int
    var value: String?
    var idToken: String?

    static let table = FieldTable<ContactCall>(
        "Contact",
        [
            .required("contactFieldId", \.field, .integer, from: "settings.contactFieldId", rule: .des("B4")),
            .optional("contactFieldValue", \.value, .text, from: "switch.identifiers", rule: .des("B4")),
            .optional("openIdToken", \.idToken, .text, from: "credential", rule: .des("B4")),
        ]
    )
}

/// A contact token to renew.
struct RenewalCall: Sendable {
    var refreshToken: String

    static let table = FieldTable<RenewalCall>(
        "Contact token",
        [.required("refreshToken", \.refreshToken, .text, from: "memory.refreshToken", rule: .des("B5"))]
    )
}

/// A request with events, views and clicks.
struct EventsCall: Sendable {
    var views: [RowCall]
    var clicks: [RowCall]
    var events: [EventCall]
    var isDisplayPaused: Bool?
    var eventState: EventState?
    var language: String?
    var sdkVersion: String?
    var appVersion: String?

    static let table = FieldTable<EventsCall>(
        "Events",
        [
            .required("viewedMessages", \.views, .list(of: RowCall.table), from: "memory.views", rule: .des("R18")),
            .required("clicks", \.clicks, .list(of: RowCall.table), from: "memory.clicks", rule: .des("R18")),
            .required("events", \.events, .list(of: EventCall.table), from: "action.event", rule: .des("R34")),
            .optional("dnd", \.isDisplayPaused, .flag, from: "action.subscription.state", rule: .des("B8")),
            .optional("deviceEventState", \.eventState, .eventState, from: "memory.eventState", rule: .des("R17")),
            .optional("language", \.language, .text, from: "device.facts.locale", rule: .des("B9")),
            .optional("ems_sdk", \.sdkVersion, .text, from: "settings.sdkVersion", rule: .des("B9")),
            .optional("application_version", \.appVersion, .text, from: "device.facts.appVersion", rule: .des("B9")),
        ]
    )
}

/// A query for the inline message of a view.
struct InlineCall: Sendable {
    var viewIDs: JSONValue
    var clicks: [RowCall]
    var views: [RowCall]?
    var eventState: EventState?

    static let table = FieldTable<InlineCall>(
        "Inline messages",
        [
            .required("viewIds", \.viewIDs, .json, from: "read.arguments.viewId", rule: .des("B11")),
            .required("clicks", \.clicks, .list(of: RowCall.table), from: "memory.clicks", rule: .des("R20")),
            .optional("viewedMessages", \.views, .list(of: RowCall.table), from: "memory.views", rule: .des("R20")),
            .optional("deviceEventState", \.eventState, .eventState, from: "memory.eventState", rule: .des("R17")),
        ]
    )
}

/// A view or click in the vendor's form.
struct RowCall: Sendable {
    var campaignID: JSONValue
    var buttonID: String?
    var timestamp: String

    static let table = FieldTable<RowCall>(
        "A view or click",
        [
            .required("campaignId", \.campaignID, .json, from: "event.messageID", rule: .des("R29")),
            .optional("buttonId", \.buttonID, .text, from: "event.buttonID", rule: .des("R15")),
            .required("timestamp", \.timestamp, .text, from: "operation.capturedAt", rule: .des("R30")),
        ]
    )

    /// Rows in their order, one for each time.
    static func list(_ rows: some Collection<EngagementRow>, _ writer: WireWriter) -> [RowCall] {
        rows.map { row in
            let number = writer.campaignIDs == .number ? JSONNumber(text: row.campaignID) : nil
            return RowCall(
                campaignID: number.map(JSONValue.number) ?? .string(row.campaignID),
                buttonID: row.buttonID,
                timestamp: writer.text(row.at)
            )
        }
    }
}

/// An event in the vendor's form.
struct EventCall: Sendable {
    var type: String
    var name: String
    var timestamp: String
    var attributes: [Attribute]?
    var sessionID: String?

    /// A name and its text value.
    struct Attribute: Sendable {
        var name: String
        var text: String
    }

    static let table = FieldTable<EventCall>(
        "An event",
        [
            .required("type", \.type, .text, from: "action.event.kind", rule: .des("B6")),
            .required("name", \.name, .text, from: "action.event.name", rule: .des("B6")),
            .required("timestamp", \.timestamp, .text, from: "operation.capturedAt", rule: .des("R30")),
            .optional("attributes", \.attributes, .texts, from: "action.event.attributes", rule: .des("T1")),
            .optional("sessionId", \.sessionID, .text, from: "memory.session", rule: .des("B6")),
        ]
    )
}

extension WireFormat<[EventCall.Attribute]> {
    /// An object of texts with distinct names.
    static let texts = WireFormat("JSON", schema: [:]) { attributes, writer in
        writer.beginObject()
        for attribute in attributes {
            writer.name(attribute.name)
            writer.string(attribute.text)
        }
        writer.endObject()
    }
}

/// Formats points in time.
struct WireWriter {
    let timestamps: DESSettings.Timestamps
    let campaignIDs: DESSettings.CampaignIDs
    /// Seconds east of UTC where the installation is.
    let offset: Int

    init(_ planner: Planner) {
        (timestamps, campaignIDs) = (planner.settings.timestamps, planner.settings.campaignIDs)
        offset = timestamps == .local ? planner.memory.utcOffsetSeconds ?? 0 : 0
    }

    /// A point in time as ISO 8601 with milliseconds.
    func text(_ instant: Instant) -> String {
        guard timestamps == .local else { return instant.text }
        let local = (instant + .seconds(offset)).text
        return local.dropLast() + Offset.text(offset, separator: ":")
    }
}

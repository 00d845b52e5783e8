package import PatchbayAdapterKit
import PatchbayJSON
package import PatchbayModel

/// The vendor's names of event types (E3).
enum EventType: Sendable {
    static let application = "application"
    static let simpleNotification = "simpleNotification"
    static let inboxMessage = "inboxMessage"
    static let inAppMessage = "inAppMessage"
    static let inbox = "inbox"
    static let custom = "custom"
    /// The types of location events, which an app selects with the option `type`.
    static let locations = ["geofence", "ibeacon"]
    /// The names of location events.
    static let locationNames = ["enabled", "disabled", "enter", "exit", "dwell"]
}

/// An event in the vendor's form.
struct EventRecord: Sendable, Equatable {
    var type: String
    var name: String
    var timestamp: Instant
    var attributes: [AttributeEntry] = []
    var attribution: String?
    var mailingID: JSONValue?

    /// A name and a typed value, of an event or of a column.
    struct AttributeEntry: Sendable, Equatable {
        var key: String
        var value: WireValue

        var type: String { value.type.rawValue }
        var json: JSONValue { value.value }

        static let table = FieldTable<AttributeEntry>(
            "Entry",
            [
                .required("key", \.key, .text, from: "column or attribute name", rule: .acoustic("W1")),
                .required("type", \.type, .wireType, from: "column type", rule: .acoustic("W5")),
                .required("value", \.json, .wireValue, from: "attribute value", rule: .acoustic("W5")),
            ]
        )
    }

    private var attributeList: [AttributeEntry]? { attributes.isEmpty ? nil : attributes }

    static let table = FieldTable<EventRecord>(
        "Event",
        [
            .required("type", \.type, .text, from: "event.kind", rule: .acoustic("E1")),
            .required("name", \.name, .text, from: "event.name", rule: .acoustic("E1")),
            .required("timestamp", \.timestamp, .instant, from: "capturedAt", rule: .acoustic("E4")),
            .optional("attributes", \.attributeList, .entries, from: "event.attributes", rule: .acoustic("E5")),
            .optional(
                "attribution",
                \.attribution,
                .text,
                from: "options.attribution or the push",
                rule: .acoustic("E6")
            ),
            .optional("mailingId", \.mailingID, .mailing, from: "options.mailingId or the push", rule: .acoustic("E7")),
        ]
    )

    /// The permission to show notifications as an event.
    static func permission(_ isGranted: Bool, at instant: Instant) -> EventRecord {
        EventRecord(
            type: EventType.application,
            name: isGranted ? "uiPushEnabled" : "uiPushDisabled",
            timestamp: instant
        )
    }
}

/// Validates events and maps them to the vendor's form.
enum EventRules: Sendable {
    /// Returns an operation's event and its findings; the event is nil if the vendor has no counterpart.
    static func judge(
        _ operation: EngagementOperation,
        settings: AcousticSettings
    ) -> (event: EventRecord?, findings: [Finding]) {
        switch operation.action {
        case .changeSubscription(let subscription): judge(subscription, operation)
        case .track(let event): judge(event, operation, settings)
        default: (nil, [])
        }
    }

    // MARK: Permission

    private static func judge(
        _ subscription: Subscription,
        _ operation: EngagementOperation
    ) -> (EventRecord?, [Finding]) {
        let path = "action.subscription"
        var findings: [Finding] = []
        if subscription.channel != .push { findings.append(FindingRow.subscriptionChannel.at(path.dot("channel"))) }
        if subscription.channel == .push, subscription.topic != nil {
            findings.append(FindingRow.subscriptionTopic.at(path.dot("topic")))
        }
        if subscription.state == .unknown { findings.append(FindingRow.subscriptionUnknown.at(path.dot("state"))) }
        if subscription.state == .suspended { findings.append(FindingRow.subscriptionPaused.at(path.dot("state"))) }
        if subscription.changedAt != nil || subscription.source != nil || subscription.evidence != nil
            || !subscription.fields.isEmpty
        {
            findings.append(FindingRow.subscriptionDetails.at(path))
        }
        guard !findings.contains(where: { $0.severity == .error }) else { return (nil, findings) }
        return (.permission(subscription.state == .subscribed, at: operation.capturedAt), findings)
    }

    // MARK: Tracking

    private static func judge(
        _ event: TrackingEvent,
        _ operation: EngagementOperation,
        _ settings: AcousticSettings
    ) -> (EventRecord?, [Finding]) {
        let options = Options(operation)
        var (record, findings) = content(event, operation, options, settings)
        if findings.contains(where: { $0.severity == .foreign || $0.severity == .error }) { return (nil, findings) }
        // The operation's options take precedence over the push payload.
        let push: JSONValue? = if case .push(_, let payload, _) = event { payload["mce"] } else { nil }
        record?.attribution = options["attribution"]?.string ?? push?["attribution"]?.string
        let own = options["mailingId"]
        guard let mailing = own ?? push?["mailingId"], !mailing.isNull else { return (record, findings) }
        if isMailingID(mailing) {
            record?.mailingID = mailing
        } else {
            let path = own == nil ? "action.event.payload.mce.mailingId" : "options.acoustic.mailingId"
            findings.append(FindingRow.mailingID.at(path))
        }
        return (record, findings)
    }

    /// Whether a value is a whole number, or a text of digits (E7).
    private static func isMailingID(_ value: JSONValue) -> Bool {
        if let number = value.number { return number.integer != nil }
        guard let text = value.string, !text.isEmpty else { return false }
        return text.utf8.allSatisfy { (0x30...0x39).contains($0) }
    }

    private static func content(
        _ event: TrackingEvent,
        _ operation: EngagementOperation,
        _ options: Options,
        _ settings: AcousticSettings
    ) -> (EventRecord?, [Finding]) {
        let path = "action.event"
        func record(_ type: String, _ name: String, _ attributes: [EventRecord.AttributeEntry] = []) -> EventRecord {
            EventRecord(type: type, name: name, timestamp: operation.capturedAt, attributes: attributes)
        }
        switch event {
        case .custom(let name, let attributes):
            if name.trimmed.isEmpty { return (nil, [FindingRow.eventName.at(path.dot("name"))]) }
            let (entries, findings) = entries(attributes, at: "action.event.attributes")
            if let type = options["type"]?.string {
                guard EventType.locationNames.contains(name) else {
                    return (nil, findings + [FindingRow.eventPair.at(path.dot("name"))])
                }
                return (record(type, name, entries), findings)
            }
            return (record(EventType.custom, name, entries), findings)
        case .sessionStarted: return (record(EventType.application, "sessionStarted"), [])
        case .sessionEnded:
            guard let length = options["sessionLength"] else {
                return (record(EventType.application, "sessionEnded"), [FindingRow.sessionLength.at(path)])
            }
            let entry = EventRecord.AttributeEntry(key: "sessionLength", value: WireValue(.number, length))
            return (record(EventType.application, "sessionEnded", [entry]), [])
        case .messageViewed(let id):
            if id.trimmed.isEmpty { return (nil, [FindingRow.eventName.at(path.dot("messageID"))]) }
            let rich = options["richContentId"]?.string.map { [text("richContentId", $0)] } ?? []
            return (record(EventType.inbox, "messageOpened", [text("inboxMessageId", id)] + rich), [])
        case .messageClicked(let id, let button):
            let kind = options["message"]?.string.flatMap(AcousticSettings.Messages.init) ?? settings.messages
            let type = kind == .inbox ? EventType.inboxMessage : EventType.inAppMessage
            let own = kind == .inbox ? [text("inboxMessageId", id)] : []
            let (name, entries) = action(options, button)
            return (record(type, name, entries + own), [])
        case .push(let interaction, let payload, let button):
            guard payload["mce"] != nil else { return (nil, [FindingRow.pushForeign.at(path.dot("payload"))]) }
            guard interaction == .tapped || interaction == .opened else {
                return (nil, [FindingRow.pushSilent.at(path.dot("interaction"))])
            }
            let (name, entries) = action(options, button)
            return (record(EventType.simpleNotification, name, entries), [])
        }
    }

    /// Returns the name of a click's action and its attributes (E11).
    private static func action(_ options: Options, _ button: String?) -> (String, [EventRecord.AttributeEntry]) {
        let taken = button.map { [text("actionTaken", $0)] } ?? []
        for action in Options.actions {
            if let value = options[action.option]?.string {
                return (action.event, taken + [text(action.option, value)])
            }
        }
        return ("appOpened", taken)
    }

    private static func text(_ key: String, _ value: String) -> EventRecord.AttributeEntry {
        EventRecord.AttributeEntry(key: key, value: WireValue(.string, .string(value)))
    }

    private static func entries(
        _ attributes: [AttributeName: AttributeValue],
        at path: String
    ) -> ([EventRecord.AttributeEntry], [Finding]) {
        var entries: [EventRecord.AttributeEntry] = []
        var findings: [Finding] = []
        entries.reserveCapacity(attributes.count)
        for (name, value) in attributes.inOrder {
            var place: String { path.dot(name.rawValue) }
            switch Form.untyped(value) {
            case .success(let encoded):
                entries.append(EventRecord.AttributeEntry(key: name.rawValue, value: encoded.value))
                if let note = encoded.note { findings.append(note.at(place)) }
            case .failure(let problem) where problem.row == .valueNested:
                findings.append(FindingRow.eventNested.at(place))
            case .failure(let problem):
                var finding = problem.row.at(place, detail: problem.detail)
                finding.severity = .warning
                findings.append(finding)
            }
        }
        return (entries, findings)
    }
}

extension WireFormat<String> {
    /// One of the four types.
    static let wireType = WireFormat(
        "string, number, boolean or date",
        schema: ["enum": ["string", "number", "boolean", "date"]],
        text: { $0 }
    )
}

extension WireFormat<Instant> {
    /// `2031-03-09T07:05:11.042Z`
    package static let instant = WireFormat(
        "UTC, ISO 8601 with milliseconds",
        schema: ["type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z$"],
        encode: { .string($0.text) },
        write: { $0.write(to: &$1) }
    )
}

extension WireFormat<[EventRecord.AttributeEntry]> {
    /// A list of entries.
    static let entries = list("list of entries", schema: ["type": "array"], of: EventRecord.AttributeEntry.table)
}

extension WireFormat<JSONValue> {
    /// Text, a number or a boolean.
    static let wireValue = WireFormat(
        "text, number or boolean",
        schema: ["type": ["string", "number", "boolean"]],
        encode: { $0 },
        write: { $1.value($0) }
    )
    /// A number, or digits in a text.
    static let mailing = WireFormat("number, or digits as text", schema: ["type": ["integer", "string"]]) { $0 }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A registration in the vendor's form: every key of the vendor, with the present values.
struct RegistrationRecord: Equatable, Sendable {
    var applicationID: String
    var deviceID: String
    var registrationID: String?
    var uuid: String?
    var date: Instant
    var contactKey: String?
    var pushToken: String?
    var signedString: String?
    var isPushEnabled: Bool
    var permissions: Registration.Permissions
    var facts: Registration.Facts
    var sdkVersion: String
    var attributes: [String: String]
    var tags: [String]

    /// Creates the record of a state; nil without the device's facts, because the vendor would make the device
    /// inactive.
    init?(_ state: Registration, of subject: Subject, settings: SalesforceSettings, date: Instant) {
        guard let facts = state.facts else { return nil }
        self.facts = facts
        applicationID = settings.applicationID
        deviceID = RegistrationRecord.deviceID(of: subject, state)
        let id = deviceID.lowercased()
        (registrationID, uuid) = settings.registrationIDKey == .uuid ? (nil, id) : (id, nil)
        self.date = date
        contactKey = state.contactKey
        pushToken = state.pushState == .unknown ? nil : state.pushToken?.value
        signedString = state.signedString?.value
        (isPushEnabled, permissions) = (state.isPushEnabled, state.permissions)
        sdkVersion = Sender.name
        attributes = state.attributes.filter { AttributeRules.isDefined($0.key, in: settings) }
        let automatic = TagRules.automatic(on: facts.platform, isDebugBuild: settings.isDebugBuild)
        tags = (automatic + state.tags).sorted { $0.precedes($1) }
    }

    /// Returns the device id: the known one, otherwise an adopted one unchanged, otherwise the subject if it is a UUID,
    /// otherwise one derived from it (W2).
    static func deviceID(of subject: Subject, _ state: Registration) -> String {
        state.knownAs ?? state.adoptedID
            ?? UUIDText.named(subject.rawValue, in: "patchbay.salesforce.device").uppercased()
    }

    /// The keys of a registration.
    static let table = FieldTable<RegistrationRecord>(
        "Registration",
        [
            .required("etAppId", \.applicationID, .text, from: "settings.applicationId", rule: .salesforce("W1")),
            .required("deviceID", \.deviceID, .text, from: "device.identities or subject", rule: .salesforce("W2")),
            .optional("registrationId", \.registrationID, .text, from: "deviceID", rule: .salesforce("W3")),
            .optional("uuid", \.uuid, .text, from: "deviceID", rule: .salesforce("W3")),
            .required("registrationDateUtc", \.date, .utcDate, from: "clock", rule: .salesforce("W4")),
            .optional("subscriberKey", \.contactKey, .text, from: "identifiers", rule: .salesforce("W5")),
            .optional("device_Token", \.pushToken, .text, from: "device.pushToken", rule: .salesforce("W6")),
            .optional("signedString", \.signedString, .text, from: "options.signedString", rule: .salesforce("W23")),
            .required(
                "push_Enabled",
                \.isPushEnabled,
                .flag,
                from: "device.allowsPush, subscription",
                rule: .salesforce("W7")
            ),
            .required(
                "quietPushEnabled",
                \.permissions.backgroundPush,
                .flag,
                from: "device.allowsBackgroundPush",
                rule: .salesforce("W8")
            ),
            .required(
                "location_Enabled",
                \.permissions.location,
                .flag,
                from: "device.allowsLocation",
                rule: .salesforce("W9")
            ),
            .required(
                "proximity_Enabled",
                \.permissions.proximity,
                .flag,
                from: "device.allowsProximity",
                rule: .salesforce("W10")
            ),
            .required("platform", \.facts.platform, .text, from: "device.facts.platform", rule: .salesforce("W11")),
            .required(
                "platform_Version",
                \.facts.platformVersion,
                .text,
                from: "device.facts.platformVersion",
                rule: .salesforce("W13")
            ),
            .required("hwid", \.facts.model, .text, from: "device.facts.model", rule: .salesforce("W14")),
            .required(
                "app_Version",
                \.facts.appVersion,
                .text,
                from: "device.facts.appVersion",
                rule: .salesforce("W15")
            ),
            .required("sdk_Version", \.sdkVersion, .text, from: "Patchbay's version", rule: .salesforce("W16")),
            .required("locale", \.facts.locale, .text, from: "device.facts.locale", rule: .salesforce("W21")),
            .required("language", \.facts.locale, .text, from: "device.facts.locale", rule: .salesforce("W22")),
            .required(
                "timeZone",
                \.facts.utcOffsetSeconds,
                .decimalText,
                from: "device.facts.utcOffsetSeconds",
                rule: .salesforce("W19")
            ),
            .required(
                "dST",
                \.facts.isDaylightSaving,
                .flag,
                from: "device.facts.isDaylightSaving",
                rule: .salesforce("W20")
            ),
            .required("attributes", \.attributes, .pairs, from: "attributes", rule: .salesforce("W17")),
            .required("tags", \.tags, .texts, from: "tags", rule: .salesforce("W18")),
        ]
    )

    /// The body of the request.
    var body: [UInt8] { Array(JSONValue.object(RegistrationRecord.table.object(self)).text.utf8) }

    /// Whether two records are equal for the vendor. The date changes with every request and does not count (S6).
    func isEquivalent(to other: RegistrationRecord?) -> Bool {
        guard var other else { return false }
        other.date = date
        // Canonically equivalent texts are equal in Swift but different for the vendor.
        return other == self && other.body == body
    }
}

extension WireFormat<Instant> {
    /// A point in time in UTC with milliseconds.
    static let utcDate = WireFormat(
        "UTC, ISO 8601 with milliseconds",
        schema: ["type": "string", "format": "date-time", "pattern": "\\.[0-9]{3}Z$"],
        encode: { .string($0.text) },
        write: { $0.write(to: &$1) }
    )
}

extension WireFormat<[String: String]> {
    /// Pairs of name and value, ordered by name.
    static let pairs = WireFormat(
        "array of {key, value}, ordered by key",
        schema: [
            "type": "array",
            "items": [
                "type": "object",
                "properties": ["key": ["type": "string"], "value": ["type": "string"]],
                "required": ["key", "value"],
                "additionalProperties": false,
            ],
        ]
    ) { attributes in
        let pairs = attributes.sorted { $0.key.precedes($1.key) }
        return .array(pairs.map { ["key": .string($0.key), "value": .string($0.value)] })
    }
}

extension WireFormat<[String]> {
    /// Texts without duplicates.
    static let texts = WireFormat(
        "array of text, ascending",
        schema: ["type": "array", "items": ["type": "string"], "uniqueItems": true]
    ) { .array($0.map(JSONValue.string)) }
}

/// An event in the vendor's form. The names of its keys are inferred and are defined in this table only.
struct EventRecord: Sendable {
    var id: String
    var name: String
    var date: Instant
    var attributes: JSONValue

    /// Creates an operation's event; nil if the vendor accepts none from it.
    init?(_ operation: EngagementOperation) {
        guard case .track(let event) = operation.action, let kept = EventRules.judge(event).kept else { return nil }
        id = UUIDText.named(operation.id.rawValue, in: "patchbay.salesforce.event")
        (name, date, attributes) = (kept.name, operation.capturedAt, .object(kept.attributes))
    }

    /// The keys of an event.
    static let table = FieldTable<EventRecord>(
        "Event",
        [
            .required("eventId", \.id, .text, from: "id", rule: .salesforce("E13")),
            .required("eventName", \.name, .text, from: "event.name", rule: .salesforce("E1")),
            .required("eventDateUtc", \.date, .utcDate, from: "capturedAt", rule: .salesforce("E13")),
            .required("attributes", \.attributes, .json, from: "event.attributes", rule: .salesforce("E1")),
        ]
    )

    /// The vendor's number for a custom event.
    private static let customEvent: Int64 = 105

    // Encoded once, because every event has these members.
    private static let typeName = JSONName("eventType")
    private static let eventName = JSONName("event")

    /// Returns the body of a request with events.
    static func body(of events: [EventRecord], applicationID: String, deviceID: String) -> [UInt8] {
        var writer = JSONWriter(expecting: 256 + 256 * events.count)
        writer.beginObject()
        writer.member("applicationId", applicationID)
        writer.member("deviceId", deviceID)
        writer.name("nodes")
        writer.beginArray()
        writer.beginObject()
        writer.member("name", "event")
        writer.member("version", 1)
        writer.name("items")
        writer.beginArray()
        for event in events {
            writer.beginObject()
            writer.name(typeName)
            writer.integer(customEvent)
            writer.name(eventName)
            table.write(event, to: &writer)
            writer.endObject()
        }
        writer.endArray()
        writer.endObject()
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }
}

extension SalesforceSettings {
    /// The identity of the sender. With another account, application, build or sender, the registration is sent again.
    var sentAs: String {
        [endpoint, applicationID, Sender.name, isDebugBuild ? "debug" : "release"].joined(separator: " ")
    }

    /// A POST to the account's device host, with the headers of every request.
    func post(_ path: String, _ body: [UInt8], memory: SalesforceDevice.Memory, facts: Registration.Facts?)
        -> WireRequest
    {
        var headers = [
            WireHeader("Authorization", String(joining: "Bearer ", accessToken?.value ?? ""), isSecret: true),
            WireHeader("Content-Type", "application/json"),
            WireHeader("Accept", "application/json"),
            WireHeader("User-Agent", userAgent(facts)),
            WireHeader("X-SDK-Version", Sender.name),
        ]
        if let token = memory.subscriberToken {
            headers.append(WireHeader("X-Subscriber-Token", token.value, isSecret: true))
        }
        return WireRequest(
            "POST",
            String(joining: endpoint, path),
            headers: headers,
            body: body
        )
    }

    /// Returns the value of the header `User-Agent`: the sender's name, then the platform. Question marks replace
    /// characters that a header can't hold.
    private func userAgent(_ facts: Registration.Facts?) -> String {
        guard let facts else { return Sender.name }
        let text = String(
            joining: Sender.name,
            " (",
            facts.platform,
            " ",
            facts.platformVersion,
            "; ",
            facts.locale,
            "; ",
            facts.model,
            ") ",
            facts.appID ?? "app",
            "/",
            facts.appVersion
        )
        if text.allBytes({ (0x20...0x7E).contains($0) }) { return text }
        return String(
            decoding: text.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? UInt8($0.value) : 0x3F },
            as: UTF8.self
        )
    }
}

public import PatchbayJSON

/// A push token, to which push notifications of an installation are sent.
public struct PushToken: ScannedValue {
    /// The service that issued the token: an open set.
    public struct Service: NeutralKey {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Apple Push Notification service; the token is lower-case hex text.
        public static let apns: Service = "apns"
        /// Firebase Cloud Messaging.
        public static let fcm: Service = "fcm"
        /// Huawei Mobile Services.
        public static let hms: Service = "hms"
        /// RuStore.
        public static let rustore: Service = "rustore"
    }

    /// The environment of a push token.
    public enum Environment: String, NeutralWord {
        /// Released apps.
        case production
        /// Test builds.
        case sandbox
    }

    /// The token's text.
    public var value: String
    /// The service that issued it.
    public var service: Service
    /// The environment, if known.
    public var environment: Environment?
    /// The id of the app that the token belongs to, if known.
    public var appID: String?

    /// Creates a push token.
    public init(_ value: String, service: Service = .apns, environment: Environment? = nil, appID: String? = nil) {
        (self.value, self.service, self.environment, self.appID) = (value, service, environment, appID)
    }

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: ["value", "service", "environment", "appID"])
        value = try reader.required("value")
        service = try reader.optional("service") ?? .apns
        environment = try reader.optional("environment")
        appID = try reader.optional("appID")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        value = try scanner.required("value")
        service = try scanner.optional("service") ?? .apns
        environment = try scanner.optional("environment")
        appID = try scanner.optional("appID")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "value", value)
        writer.member(known: "service", service)
        writer.member(known: "environment", ifPresent: environment)
        writer.member(known: "appID", ifPresent: appID)
        writer.endObject()
    }
}

/// The properties of a device and its app.
public struct DeviceFacts: ScannedValue {
    /// The platform: `iOS`, `Android`, `macOS`, ….
    public var platform: String
    /// The version of the operating system.
    public var platformVersion: String
    /// The hardware model: `iPhone17,3`.
    public var model: String
    /// The person's name for the device.
    public var deviceName: String?
    /// The locale with an underscore: `fi_FI`.
    public var locale: String
    /// The IANA name of the time zone: `Europe/Helsinki`.
    public var timeZone: String?
    /// The current offset from UTC in seconds, including daylight saving time; positive to the east.
    public var utcOffsetSeconds: Int
    /// Whether daylight saving time is in effect.
    public var isDaylightSaving: Bool
    /// The app's bundle identifier.
    public var appID: String?
    /// The app's version.
    public var appVersion: String
    /// The advertising id, only with the person's permission.
    public var advertisingID: String?
    /// Whether the person permits tracking across apps.
    public var allowsAdTracking: Bool

    /// Facts of a device.
    public init(
        platform: String,
        platformVersion: String,
        model: String,
        deviceName: String? = nil,
        locale: String,
        timeZone: String? = nil,
        utcOffsetSeconds: Int = 0,
        isDaylightSaving: Bool = false,
        appID: String? = nil,
        appVersion: String,
        advertisingID: String? = nil,
        allowsAdTracking: Bool = false
    ) {
        (self.platform, self.platformVersion, self.model, self.deviceName) = (
            platform, platformVersion, model, deviceName
        )
        (self.locale, self.timeZone) = (locale, timeZone)
        (self.utcOffsetSeconds, self.isDaylightSaving) = (utcOffsetSeconds, isDaylightSaving)
        (self.appID, self.appVersion) = (appID, appVersion)
        (self.advertisingID, self.allowsAdTracking) = (advertisingID, allowsAdTracking)
    }

    /// The language of the locale, for example `fi`.
    public var language: String {
        // The characters of an ASCII locale are its bytes. In another text, a mark may combine with the separator.
        guard locale.utf8.allSatisfy({ $0 < 0x80 }) else { return String(locale.prefix { $0 != "_" && $0 != "-" }) }
        return String(Substring(locale.utf8.prefix { $0 != UInt8(ascii: "_") && $0 != UInt8(ascii: "-") }))
    }

    private static let known = [
        "platform", "platformVersion", "model", "deviceName", "locale", "timeZone", "utcOffsetSeconds",
        "isDaylightSaving",
        "appID", "appVersion", "advertisingID", "allowsAdTracking",
    ]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: Self.known)
        platform = try reader.required("platform")
        platformVersion = try reader.required("platformVersion")
        model = try reader.required("model")
        deviceName = try reader.optional("deviceName")
        locale = try reader.required("locale")
        timeZone = try reader.optional("timeZone")
        utcOffsetSeconds = try reader.optional("utcOffsetSeconds") ?? 0
        isDaylightSaving = try reader.optional("isDaylightSaving") ?? false
        appID = try reader.optional("appID")
        appVersion = try reader.required("appVersion")
        advertisingID = try reader.optional("advertisingID")
        allowsAdTracking = try reader.optional("allowsAdTracking") ?? false
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        platform = try scanner.required("platform")
        platformVersion = try scanner.required("platformVersion")
        model = try scanner.required("model")
        deviceName = try scanner.optional("deviceName")
        locale = try scanner.required("locale")
        timeZone = try scanner.optional("timeZone")
        utcOffsetSeconds = try scanner.optional("utcOffsetSeconds") ?? 0
        isDaylightSaving = try scanner.optional("isDaylightSaving") ?? false
        appID = try scanner.optional("appID")
        appVersion = try scanner.required("appVersion")
        advertisingID = try scanner.optional("advertisingID")
        allowsAdTracking = try scanner.optional("allowsAdTracking") ?? false
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "platform", platform)
        writer.member(known: "platformVersion", platformVersion)
        writer.member(known: "model", model)
        writer.member(known: "deviceName", ifPresent: deviceName)
        writer.member(known: "locale", locale)
        writer.member(known: "timeZone", ifPresent: timeZone)
        writer.member(known: "utcOffsetSeconds", utcOffsetSeconds)
        writer.member(known: "isDaylightSaving", isDaylightSaving)
        writer.member(known: "appID", ifPresent: appID)
        writer.member(known: "appVersion", appVersion)
        writer.member(known: "advertisingID", ifPresent: advertisingID)
        writer.member(known: "allowsAdTracking", allowsAdTracking)
        writer.endObject()
    }
}

/// An installation of the app: its push token, its properties, its permissions, and its existing ids.
public struct Device: ScannedValue {
    /// The push token; nil until it is known, or if the permission is refused.
    public var pushToken: PushToken?
    /// The device's properties; nil if they are unknown, as in an import.
    public var facts: DeviceFacts?
    /// Whether the person permits notifications.
    public var allowsPush: Bool
    /// Whether silent background pushes are possible.
    public var allowsBackgroundPush: Bool
    /// Whether geofences are enabled.
    public var allowsLocation: Bool
    /// Whether beacons are enabled.
    public var allowsProximity: Bool
    /// Identities that a vendor's own SDK has created on this device, by `<adapter>.<name>`. The adapter adopts them, so that
    /// switching to Patchbay does not create a second device.
    public var identities: [IdentityName: String]

    /// The name of an adopted identity: `<adapter>.<name>`.
    public struct IdentityName: NeutralKey {
        public let rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
    }

    /// Creates a device.
    public init(
        pushToken: PushToken? = nil,
        facts: DeviceFacts? = nil,
        allowsPush: Bool = true,
        allowsBackgroundPush: Bool = false,
        allowsLocation: Bool = false,
        allowsProximity: Bool = false,
        identities: [IdentityName: String] = [:]
    ) {
        (self.pushToken, self.facts, self.identities) = (pushToken, facts, identities)
        (self.allowsPush, self.allowsBackgroundPush) = (allowsPush, allowsBackgroundPush)
        (self.allowsLocation, self.allowsProximity) = (allowsLocation, allowsProximity)
    }

    private static let known = [
        "pushToken", "facts", "allowsPush", "allowsBackgroundPush", "allowsLocation", "allowsProximity", "identities",
    ]

    public init(json: JSONValue, at path: String) throws(ModelError) {
        let reader = try ObjectReader(json, at: path, known: Self.known)
        pushToken = try reader.optional("pushToken")
        facts = try reader.optional("facts")
        allowsPush = try reader.optional("allowsPush") ?? true
        allowsBackgroundPush = try reader.optional("allowsBackgroundPush") ?? false
        allowsLocation = try reader.optional("allowsLocation") ?? false
        allowsProximity = try reader.optional("allowsProximity") ?? false
        identities = try reader.dictionary("identities")
    }

    package init(scanning scanner: inout JSONScanner) throws(NotPlain) {
        try scanner.beginObject()
        pushToken = try scanner.optional("pushToken")
        facts = try scanner.optional("facts")
        allowsPush = try scanner.optional("allowsPush") ?? true
        allowsBackgroundPush = try scanner.optional("allowsBackgroundPush") ?? false
        allowsLocation = try scanner.optional("allowsLocation") ?? false
        allowsProximity = try scanner.optional("allowsProximity") ?? false
        identities = try scanner.dictionary("identities")
        try scanner.endObject()
    }

    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.member(known: "pushToken", ifPresent: pushToken)
        writer.member(known: "facts", ifPresent: facts)
        writer.member(known: "allowsPush", allowsPush)
        writer.member(known: "allowsBackgroundPush", allowsBackgroundPush)
        writer.member(known: "allowsLocation", allowsLocation)
        writer.member(known: "allowsProximity", allowsProximity)
        writer.member(known: "identities", ifNotEmpty: identities)
        writer.endObject()
    }
}

package import PatchbayJSON

/// A push token, to which push notifications of an installation are sent.
public struct PushToken: ObjectValue {
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

    package enum Member: MemberName, MemberTable {
        case value, service, environment, appID
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        value = try reader.required(Member.value)
        service = try reader.optional(Member.service) ?? .apns
        environment = try reader.optional(Member.environment)
        appID = try reader.optional(Member.appID)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.value, value)
        writer.member(Member.service, service)
        writer.member(Member.environment, ifPresent: environment)
        writer.member(Member.appID, ifPresent: appID)
    }
}

/// The properties of a device and its app.
public struct DeviceFacts: ObjectValue {
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

    package enum Member: MemberName, MemberTable {
        case platform, platformVersion, model, deviceName, locale, timeZone, utcOffsetSeconds, isDaylightSaving
        case appID, appVersion, advertisingID, allowsAdTracking
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        platform = try reader.required(Member.platform)
        platformVersion = try reader.required(Member.platformVersion)
        model = try reader.required(Member.model)
        deviceName = try reader.optional(Member.deviceName)
        locale = try reader.required(Member.locale)
        timeZone = try reader.optional(Member.timeZone)
        utcOffsetSeconds = try reader.optional(Member.utcOffsetSeconds) ?? 0
        isDaylightSaving = try reader.optional(Member.isDaylightSaving) ?? false
        appID = try reader.optional(Member.appID)
        appVersion = try reader.required(Member.appVersion)
        advertisingID = try reader.optional(Member.advertisingID)
        allowsAdTracking = try reader.optional(Member.allowsAdTracking) ?? false
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.platform, platform)
        writer.member(Member.platformVersion, platformVersion)
        writer.member(Member.model, model)
        writer.member(Member.deviceName, ifPresent: deviceName)
        writer.member(Member.locale, locale)
        writer.member(Member.timeZone, ifPresent: timeZone)
        writer.member(Member.utcOffsetSeconds, utcOffsetSeconds)
        writer.member(Member.isDaylightSaving, isDaylightSaving)
        writer.member(Member.appID, ifPresent: appID)
        writer.member(Member.appVersion, appVersion)
        writer.member(Member.advertisingID, ifPresent: advertisingID)
        writer.member(Member.allowsAdTracking, allowsAdTracking)
    }
}

/// An installation of the app: its push token, its properties, its permissions, and its existing ids.
public struct Device: ObjectValue {
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

    package enum Member: MemberName, MemberTable {
        case pushToken, facts, allowsPush, allowsBackgroundPush, allowsLocation, allowsProximity, identities
    }

    package init<Reader: MemberReader & ~Copyable>(members reader: inout Reader) throws(Reader.Failure) {
        pushToken = try reader.optional(Member.pushToken)
        facts = try reader.optional(Member.facts)
        allowsPush = try reader.optional(Member.allowsPush) ?? true
        allowsBackgroundPush = try reader.optional(Member.allowsBackgroundPush) ?? false
        allowsLocation = try reader.optional(Member.allowsLocation) ?? false
        allowsProximity = try reader.optional(Member.allowsProximity) ?? false
        identities = try reader.dictionary(Member.identities)
    }

    package func write(members writer: inout JSONWriter) {
        writer.member(Member.pushToken, ifPresent: pushToken)
        writer.member(Member.facts, ifPresent: facts)
        writer.member(Member.allowsPush, allowsPush)
        writer.member(Member.allowsBackgroundPush, allowsBackgroundPush)
        writer.member(Member.allowsLocation, allowsLocation)
        writer.member(Member.allowsProximity, allowsProximity)
        writer.member(Member.identities, ifNotEmpty: identities)
    }
}

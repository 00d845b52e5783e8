import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The ids of a user and its channel, from the app or from the vendor's reply.
enum Identity: Sendable {
    /// The name of the user's id among a device's identities.
    static let userName: Device.IdentityName = "acoustic.userId"
    static let channelName: Device.IdentityName = "acoustic.channelId"

    /// Returns the ids that the app passes; nil unless it passes both.
    static func ids(of device: Device) -> AcousticDevice.Memory.IDs? {
        .init(user: device.identities[userName], channel: device.identities[channelName])
    }

    /// Returns the ids in a reply; nil unless it contains both.
    static func ids(in reply: WireResponse, _ profile: DeviceProfile) -> AcousticDevice.Memory.IDs? {
        let json = reply.json
        return .init(user: json?[profile.userMember]?.string, channel: json?[profile.channelMember]?.string)
    }

    /// Returns the findings about a device.
    static func judge(_ device: Device, settings: AcousticSettings) -> [Finding] {
        var findings: [Finding] = []
        let path = "action.device"
        let given = [userName, channelName].filter { device.identities[$0]?.isEmpty == false }
        if given.count == 1 {
            let missing = given[0] == userName ? channelName : userName
            findings.append(FindingRow.idsPair.at(path.dot("identities").dot(missing.rawValue)))
        } else if given.isEmpty, settings.registration == .given {
            findings.append(FindingRow.idsNotGiven.at(path.dot("identities")))
        }
        if let token = device.pushToken, !token.isWellFormed {
            findings.append(FindingRow.pushToken.at(path.dot("pushToken")))
        }
        if settings.invalidateExistingUser, settings.environment == .production {
            findings.append(FindingRow.invalidateInProduction.at("settings.invalidateExistingUser"))
        }
        return findings
    }
}

extension PushToken {
    /// Whether the text is a valid token: visible ASCII without spaces; for Apple's service, hexadecimal bytes.
    fileprivate var isWellFormed: Bool {
        guard (1...4096).contains(value.utf8.count), value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            return false
        }
        guard service == .apns else { return true }
        return value.utf8.count.isMultiple(of: 2) && value.allSatisfy { $0.isASCII && $0.isHexDigit }
    }
}

/// The registration of an installation. The facts are documented; their names on the wire are inferred.
struct RegistrationRecord: Sendable {
    var installID: String
    var invalidatesUser: Bool
    var isPushEnabled: Bool
    var pushToken: String?
    var sdkVersion = Sender.name
    var facts: DeviceFacts?

    init(_ device: Device, of subject: Subject, mayPush: Bool, settings: AcousticSettings) {
        installID = subject.rawValue
        invalidatesUser = settings.invalidateExistingUser
        isPushEnabled = mayPush
        pushToken = device.pushToken?.value
        facts = device.facts
    }

    /// Creates the registration of an installation that is unregistered after an unacknowledged registration.
    init(leaving subject: Subject, settings: AcousticSettings) {
        installID = subject.rawValue
        invalidatesUser = false
        isPushEnabled = false
    }

    private var osVersion: String? { facts?.platformVersion }
    /// Microseconds east of UTC, as text.
    private var timeZone: String? { facts.map { String(Int64($0.utcOffsetSeconds) * 1_000_000) } }

    static let table = FieldTable<RegistrationRecord>(
        "Registration",
        [
            .required("installId", \.installID, .text, from: "subject", rule: .acoustic("I2")),
            .required(
                "invalidateExistingUser",
                \.invalidatesUser,
                .flag,
                from: "settings.invalidateExistingUser",
                rule: .acoustic("I4")
            ),
            .required("pushEnabled", \.isPushEnabled, .flag, from: "device.allowsPush", rule: .acoustic("I2")),
            .required("sdkVersion", \.sdkVersion, .text, from: "Patchbay's version", rule: .acoustic("I2")),
            .optional("pushToken", \.pushToken, .text, from: "device.pushToken", rule: .acoustic("I2")),
            .optional("platform", \.facts?.platform, .text, from: "device.facts.platform", rule: .acoustic("I2")),
            .optional("osVersion", \.osVersion, .text, from: "device.facts.platformVersion", rule: .acoustic("I2")),
            .optional("deviceModel", \.facts?.model, .text, from: "device.facts.model", rule: .acoustic("I2")),
            .optional("appVersion", \.facts?.appVersion, .text, from: "device.facts.appVersion", rule: .acoustic("I2")),
            .optional("locale", \.facts?.locale, .text, from: "device.facts.locale", rule: .acoustic("I2")),
            .optional("timezone", \.timeZone, .text, from: "device.facts.utcOffsetSeconds", rule: .acoustic("I2")),
        ]
    )

    /// The body.
    var json: JSONValue { .object(Self.table.object(self)) }

    /// Returns a short digest that changes with every fact that the registration contains, and reveals none of them.
    func digest(_ settings: AcousticSettings) -> String {
        let text = json.text + "\u{0}" + settings.baseURL + "\u{0}" + settings.appKey
        return String(TextMark.short(text), radix: 16)
    }
}

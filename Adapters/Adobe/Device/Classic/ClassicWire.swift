import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The push interactions of this product. Their numbers differ from those of Campaign Standard.
enum ClassicAction: String {
    /// It arrived.
    case received = "1"
    /// It was tapped, or the app was opened through it.
    case clicked = "2"

    /// Creates the vendor's action for an interaction; nil if the vendor has none.
    init?(_ interaction: PushInteraction) {
        switch interaction {
        case .received: self = .received
        case .tapped, .opened: self = .clicked
        case .dismissed: return nil
        }
    }
}

/// A message's id in the form of the tracking server.
enum ClassicMessageID {
    /// Returns the id on the wire: `h`, then a UUID unchanged or a decimal number as hexadecimal digits; nil for any other id.
    static func text(_ id: String, _ settings: AdobeClassicSettings) -> String? {
        if UUIDText.isValid(id) {
            return String(joining: "h", id)
        }
        guard let number = Int64(id) else { return nil }
        let digits = hex(number, settings)
        guard settings.platform == .ios, digits.utf8.count < 2 else { return String(joining: "h", digits) }
        return String(joining: "h0", digits)
    }

    /// A negative number of 32 bits is written in its two's complement.
    private static func hex(_ number: Int64, _ settings: AdobeClassicSettings) -> String {
        let isNarrow = settings.messageBits == .low || Int32(exactly: number).map { $0 < 0 } ?? false
        return isNarrow
            ? String(UInt32(truncatingIfNeeded: number), radix: 16)
            : String(UInt64(bitPattern: number), radix: 16)
    }
}

/// A report of a push interaction.
struct ClassicTrackingCall: Sendable {
    var id: String

    static let table = FieldTable<ClassicTrackingCall>(
        "Query of a Classic tracking request",
        [.required("id", \.id, .text, from: "event.payload._mId, _dId", rule: .adobe("C2"))]
    )
}

/// A complete device registration.
struct ClassicRegistrationCall: Sendable {
    var token: String
    var settings: AdobeClassicSettings
    var userKey: String
    var facts: DeviceFacts?
    var parameters: [String: String]

    private var isApple: Bool { settings.platform == .ios }
    var key: String { settings.integrationKey }
    var imei: String? { isApple ? nil : "" }
    var name: String { facts?.deviceName ?? "" }
    /// `iPhone` of `iPhone17,3`, as the system names the model.
    var model: String {
        let model = facts?.model ?? ""
        return isApple ? String(model.prefix { $0.isLetter }) : model
    }
    var maker: String { isApple ? "Apple" : "" }
    var system: String { facts?.platform ?? "" }
    var version: String { facts.map { "\($0.platform) \($0.platformVersion)" } ?? "" }
    var language: String { facts?.locale.replacing("_", with: "-") ?? "" }

    /// The parameters as XML, sorted by name.
    var xml: String {
        let (root, end) = isApple ? ("additionalParams", " />") : ("additionalParameters", "/>")
        let rows = parameters.sorted { $0.key.precedes($1.key) }
            .map { "<param name=\"\(Self.escaped($0.key))\" value=\"\(Self.escaped($0.value))\"\(end)" }
        return "<\(root)>\(rows.joined())</\(root)>"
    }

    /// A digest that identifies the registration, to compare it with the one at the vendor.
    var hash: String { Self.hash(of: token, userKey, xml) }

    static func hash(of token: String, _ userKey: String, _ xml: String) -> String {
        SHA256.digest(of: "\(token)\(userKey)\(URLText.encode(xml))".utf8).hexText
    }

    private static func escaped(_ text: String) -> String {
        let entities = [("&", "&amp;"), ("\"", "&quot;"), ("'", "&#x27;"), (">", "&gt;"), ("<", "&lt;")]
        let lines = String(String.UnicodeScalarView(text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" }))
        return entities.reduce(lines) { $0.replacing($1.0, with: $1.1) }
    }

    static let table = FieldTable<ClassicRegistrationCall>(
        "Form of a Classic registration",
        [
            .required("registrationToken", \.token, .text, from: "device.pushToken.value", rule: .adobe("C9")),
            .required("mobileAppUuid", \.key, .text, from: "settings.integrationKey", rule: .adobe("C10")),
            .required("userKey", \.userKey, .text, from: "action.identifiers", rule: .adobe("C11")),
            .optional("deviceImei", \.imei, .text, from: "always empty, Android alone", rule: .adobe("C12")),
            .required("deviceName", \.name, .text, from: "device.facts.deviceName", rule: .adobe("C8")),
            .required("deviceModel", \.model, .text, from: "device.facts.model", rule: .adobe("C8")),
            .required("deviceBrand", \.maker, .text, from: "settings.platform", rule: .adobe("C8")),
            .required("deviceManufacturer", \.maker, .text, from: "settings.platform", rule: .adobe("C8")),
            .required("osName", \.system, .text, from: "device.facts.platform", rule: .adobe("C8")),
            .required("osVersion", \.version, .text, from: "device.facts.platformVersion", rule: .adobe("C8")),
            .required("osLanguage", \.language, .text, from: "device.facts.locale", rule: .adobe("C8")),
            .required("additionalParams", \.xml, .text, from: "action.changes", rule: .adobe("C15")),
        ]
    )

    func request() -> WireRequest {
        let object = Self.table.object(self)
        let script = isApple ? "registerIOS.jssp" : "registerAndroid.jssp"
        let body = object.map { "\($0.name)=\(URLText.encode($0.value.string ?? ""))" }.joined(separator: "&")
        return WireRequest(
            "POST",
            "\(settings.marketingBase)/nms/mobile/1/\(script)",
            headers: [WireHeader("Content-Type", "application/x-www-form-urlencoded;charset=UTF-8")],
            body: Array(body.utf8)
        )
    }
}

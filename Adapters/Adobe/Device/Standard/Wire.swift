import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

// The requests to the vendor, one row per field.

/// The push interactions, with the vendor's numbers.
enum PushAction: String, Codable, Sendable {
    /// The app was opened through it.
    case open = "1"
    /// It was tapped or dismissed.
    case click = "2"
    /// It arrived.
    case impression = "7"
}

/// A report of a push interaction.
struct TrackingCall: Sendable {
    var broadlogID: String
    var deliveryID: String
    var action: PushAction
    var ecid: String
    /// Whether the query names the identity `mcid`, as the postback of old SDKs does for a message inside the app.
    var usesLowercaseName: Bool

    var id: String { String(joining: broadlogID, ",", deliveryID, ",", action.rawValue) }
    var identity: String? { usesLowercaseName ? nil : ecid }
    var lowercaseIdentity: String? { usesLowercaseName ? ecid : nil }

    static let table = FieldTable<TrackingCall>(
        "Query of a tracking request",
        [
            .required("id", \.id, .text, from: "event.payload._mId, _dId", rule: .adobe("T1")),
            .optional("mcId", \.identity, .text, from: "device.identities.adobe.ecid", rule: .adobe("T3")),
            .optional("mcid", \.lowercaseIdentity, .text, from: "device.identities.adobe.ecid", rule: .adobe("T6")),
        ]
    )
}

/// A mobile profile. The attributes follow these two fields.
struct ProfileCall: Sendable {
    var ecid: String
    var platform: String

    static let table = FieldTable<ProfileCall>(
        "Registration and attributes",
        [
            .required("marketingCloudId", \.ecid, .text, from: "device.identities.adobe.ecid", rule: .adobe("R1")),
            .required("pushPlatform", \.platform, .text, from: "device.pushToken.service", rule: .adobe("R3")),
        ]
    )
}

/// A push token for the identity service.
struct TokenCall: Sendable {
    var organizationID: String
    var ecid: String
    var source: String
    var token: String

    var identifier: String { "\(source)\u{1}\(token)" }

    static let table = FieldTable<TokenCall>(
        "Query of a push token",
        [
            .required("d_rtbd", { _ in "json" }, .text, from: "always json", rule: .adobe("I4")),
            .required("d_ver", { _ in "2" }, .text, from: "always 2", rule: .adobe("I4")),
            .required("d_orgid", \.organizationID, .text, from: "settings.organizationId", rule: .adobe("I6")),
            .required("d_mid", \.ecid, .text, from: "device.identities.adobe.ecid", rule: .adobe("I1")),
            .required("d_cid", \.identifier, .text, from: "device.pushToken", rule: .adobe("I4")),
        ]
    )
}

/// An opt-out for the identity service.
struct OptOutCall: Sendable {
    var organizationID: String
    var ecid: String

    static let table = FieldTable<OptOutCall>(
        "Query of an opt-out",
        [
            .required("d_orgid", \.organizationID, .text, from: "settings.organizationId", rule: .adobe("I8")),
            .required("d_mid", \.ecid, .text, from: "device.identities.adobe.ecid", rule: .adobe("I8")),
        ]
    )
}

/// Makes the requests of this API.
struct RequestMaker {
    let settings: AdobeSettings
    let ecid: String

    /// Content type and accepted types: on requests without a body, too.
    private static let headers = [WireHeader("Content-Type", "application/json"), WireHeader("Accept", "*/*")]
    private static let contentType = [WireHeader("Content-Type", "application/json")]

    func tracking(_ message: PushMessage, _ action: PushAction) -> WireRequest {
        let isPostback = settings.trackingForm == .postback
        let call = TrackingCall(
            broadlogID: message.broadlogID ?? "",
            deliveryID: message.deliveryID ?? "",
            action: action,
            ecid: ecid,
            usesLowercaseName: isPostback && message.origin == .local
        )
        let url = TrackingCall.table.query(call, after: String(joining: settings.base, "/r/"), leaving: ",")
        guard isPostback else { return WireRequest("GET", url, headers: Self.headers) }
        return WireRequest("POST", url, headers: Self.contentType, body: Array("{}".utf8))
    }

    func registration(_ platform: String) -> WireRequest { profile(platform, [:], Self.headers) }

    func attributes(_ platform: String, _ fields: JSONObject) -> WireRequest {
        profile(platform, fields, Self.contentType)
    }

    private func profile(_ platform: String, _ fields: JSONObject, _ headers: [WireHeader]) -> WireRequest {
        var body = ProfileCall.table.object(ProfileCall(ecid: ecid, platform: platform))
        for field in fields { body[field.name] = field.value }
        let path = "/rest/head/mobileAppV5/\(URLText.encode(settings.pkey))/subscriptions/\(URLText.encode(ecid))"
        return WireRequest(
            "POST",
            settings.base + path,
            headers: headers,
            body: Array(JSONValue.object(body).text.utf8)
        )
    }

    /// A token for the organization, or for the one of the settings if that is empty.
    func token(_ token: String, _ service: PushService, organization: String = "") -> WireRequest {
        let call = TokenCall(
            organizationID: organization.isEmpty ? settings.organizationID : organization,
            ecid: ecid,
            source: service.source,
            token: token
        )
        let url = TokenCall.table.query(call, after: String(joining: settings.identityBase, "/id"), leaving: "@")
        return WireRequest("GET", url)
    }

    func optOut() -> WireRequest {
        let call = OptOutCall(organizationID: settings.organizationID, ecid: ecid)
        let address = String(joining: settings.identityBase, "/demoptout.jpg")
        return WireRequest("GET", OptOutCall.table.query(call, after: address, leaving: "@"))
    }
}

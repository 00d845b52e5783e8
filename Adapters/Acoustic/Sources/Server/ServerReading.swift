import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The contact of a device, as its channel knows it (S54).
struct ChannelContact: Sendable {
    /// The app key.
    let qualifier: String
    /// User and channel id.
    let device: String

    /// The contact of the device that a question names; nil where the settings have no app key of that name.
    init?(_ name: AcousticSourceName, _ device: String, _ settings: AcousticServerSettings) {
        guard name.consentChannel == .push, let qualifier = settings.consentQualifiers[name] else { return nil }
        (self.qualifier, self.device) = (qualifier, device)
    }

    /// Where it stands at the vendor's host.
    func path(_ settings: AcousticServerSettings) -> String {
        RuleID.acoustic("S54").fire()
        return URLText.path("/rest/databases/{databaseId}/contactbychannel/PUSH-{qualifier}/{device}") { name in
            switch name {
            case "databaseId": settings.databaseID
            case "qualifier": qualifier
            case "device": device
            default: nil
            }
        }
    }

    /// What the reader gets; nil where the answer holds none.
    static func json(_ answer: JSONValue?) -> JSONValue? {
        guard let data = answer?["data"], data.object != nil else { return nil }
        var contact: JSONObject = [:]
        for name in ["email", "emailType", "leadSource", "optInDetails"] {
            if let text = data[name]?.string { contact[name] = .string(text) }
        }
        let fields = (data["customFields"]?.array ?? []).compactMap { field in
            field["name"]?.string.map { ($0, JSONValue.string(field["value"]?.string ?? "")) }
        }
        contact["columns"] = .object(fields.reduce(into: JSONObject()) { $0[$1.0] = $1.1 })
        return .object(contact)
    }
}

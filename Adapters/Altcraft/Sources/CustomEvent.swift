import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A custom event: the parts of a form, in the vendor's order. Held by reference, because each row looks at it.
final class CustomEvent: Sendable {
    let name: String
    let time: Int
    let utcOffsetSeconds: Int
    let attributes: [AttributeName: AttributeValue]
    let options: JSONObject
    let settings: AltcraftSettings

    init(
        name: String,
        time: Int,
        utcOffsetSeconds: Int,
        attributes: [AttributeName: AttributeValue],
        options: JSONObject,
        settings: AltcraftSettings
    ) {
        (self.name, self.time, self.utcOffsetSeconds) = (name, time, utcOffsetSeconds)
        (self.attributes, self.options, self.settings) = (attributes, options, settings)
    }

    var zone: Int { -(utcOffsetSeconds / 60) }
    var matching: String? { text("matching") }
    var campaign: String? { word(.campaign) }
    var content: String? { word(.content) }
    var keyword: String? { word(.keyword) }
    var medium: String? { word(.medium) }
    var source: String? { word(.source) }
    var temp: String? { word(.temp) }
    var clientID: String { text("clientID") ?? settings.clientID }
    var message: JSONValue? { text("messageID").map(JSONValue.string) }
    var matchingIDs: JSONValue? { options["matchingIDs"] }
    var subscription: JSONValue? { options["subscription"] }
    var profileFields: JSONValue? { options["profileFields"]?.object.map { .object(settings.sent($0)) } }
    var payload: JSONValue? {
        var object = JSONObject()
        for (name, value) in attributes.sorted(by: { $0.key < $1.key }) { object[name.rawValue] = value.scalar }
        return object.isEmpty ? nil : .object(object)
    }

    private func text(_ option: String) -> String? { options[option]?.string.flatMap { $0.isEmpty ? nil : $0 } }
    private func word(_ word: CampaignWord) -> String? {
        options["utm"]?[word.rawValue]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    static let table = FieldTable<CustomEvent>(
        "Parts of a custom event",
        [
            .required("tz", \.zone, .decimalText, from: "device.facts.utcOffsetSeconds", rule: .altcraft("M4")),
            .required("t", \.time, .decimalText, from: "operation.capturedAt", rule: .altcraft("M3")),
            .required("aci", \.clientID, .text, from: "settings.clientId", rule: .altcraft("M3")),
            .required("wn", \.name, .text, from: "event.name", rule: .altcraft("M3")),
            .optional("mm", \.matching, .text, from: "options.matching", rule: .altcraft("M6")),
            .optional("cn", \.campaign, .text, from: "options.utm.campaign", rule: .altcraft("M6")),
            .optional("cc", \.content, .text, from: "options.utm.content", rule: .altcraft("M6")),
            .optional("ck", \.keyword, .text, from: "options.utm.keyword", rule: .altcraft("M6")),
            .optional("cm", \.medium, .text, from: "options.utm.medium", rule: .altcraft("M6")),
            .optional("cs", \.source, .text, from: "options.utm.source", rule: .altcraft("M6")),
            .optional("ct", \.temp, .text, from: "options.utm.temp", rule: .altcraft("M6")),
            .optional("wd", \.payload, .json, from: "event.attributes", rule: .altcraft("M5")),
            .optional("mi", \.message, .json, from: "options.messageID", rule: .altcraft("M7")),
            .optional("ma", \.matchingIDs, .json, from: "options.matchingIDs", rule: .altcraft("M6")),
            .optional("sn", \.subscription, .json, from: "options.subscription", rule: .altcraft("M8")),
            .optional("pf", \.profileFields, .json, from: "options.profileFields", rule: .altcraft("F1")),
        ]
    )

    /// The parts that are JSON; all others are plain text.
    static let jsonParts: Set<String> = ["wd", "mi", "ma", "sn", "pf"]

    /// A part as it is written.
    func written(_ name: String, _ value: JSONValue, isJSON: Bool) -> String {
        let isText = !isJSON || name == "mi" && settings.messageIDForm == .text
        return isText ? value.string ?? "" : value.text
    }
}

/// The body of a `multipart/form-data` request.
struct Form {
    /// What stands between the parts; no part contains it.
    let boundary: String
    /// The bytes.
    let bytes: [UInt8]

    private static let json = Array("\"\r\nContent-Type: application/json; charset=utf-8\r\n\r\n".utf8)
    private static let plain = Array("\"\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n".utf8)
    private static let end = Array("\r\n".utf8)

    /// The parts of an event, in their order.
    init(_ event: CustomEvent, id: OperationID) {
        RuleID.altcraft("M2").fire()
        RuleID.altcraft("M9").fire()
        var parts: [(name: String, isJSON: Bool, text: String)] = []
        parts.reserveCapacity(CustomEvent.table.rows.count)
        CustomEvent.table.forEach(of: event) { name, value in
            let isJSON = CustomEvent.jsonParts.contains(name)
            parts.append((name, isJSON, event.written(name, value, isJSON: isJSON)))
        }
        var boundary = "Boundary-" + RequestID.text(for: id)
        // A part that is shorter holds none; to search it would take longer than to write it.
        let suspects = parts.filter { $0.text.utf8.count >= boundary.utf8.count }
        while suspects.contains(where: { $0.text.hasBytes(of: boundary) }) { boundary += "-0" }
        self.boundary = boundary
        let head = Array("--\(boundary)\r\nContent-Disposition: form-data; name=\"".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(parts.reduce(64) { $0 + 168 + $1.text.utf8.count })
        for part in parts {
            bytes += head
            bytes += part.name.utf8
            bytes += part.isJSON ? Self.json : Self.plain
            bytes += part.text.utf8
            bytes += Self.end
        }
        bytes += "--\(boundary)--\r\n".utf8
        self.bytes = bytes
    }
}

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
    let adapter: AltcraftDevice

    init(
        name: String,
        time: Int,
        utcOffsetSeconds: Int,
        attributes: [AttributeName: AttributeValue],
        options: JSONObject,
        adapter: AltcraftDevice
    ) {
        (self.name, self.time, self.utcOffsetSeconds) = (name, time, utcOffsetSeconds)
        (self.attributes, self.options, self.adapter) = (attributes, options, adapter)
    }

    var zone: Int { -(utcOffsetSeconds / 60) }
    var matching: String? { text("matching") }
    var campaign: String? { word(.campaign) }
    var content: String? { word(.content) }
    var keyword: String? { word(.keyword) }
    var medium: String? { word(.medium) }
    var source: String? { word(.source) }
    var temp: String? { word(.temp) }
    var clientID: String { text("clientID") ?? adapter.settings.clientID }
    var message: JSONValue? { text("messageID").map(JSONValue.string) }
    var matchingIDs: JSONValue? { options["matchingIDs"] }
    var subscription: JSONValue? { options["subscription"] }
    var profileFields: JSONValue? { options["profileFields"]?.object.map { .object(adapter.settings.sent($0)) } }
    var payload: JSONValue? {
        if attributes.isEmpty { return nil }
        var object = JSONObject()
        object.reserveCapacity(attributes.count)
        for (name, value) in attributes.inOrder { object[name.rawValue] = value.scalar }
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

    /// The parts that are JSON, by their rows; all others are plain text.
    static let jsonParts: [Bool] = table.rows.map { ["wd", "mi", "ma", "sn", "pf"].contains($0.name) }

    /// The parts that are the caller's own words: without such words there is none of them.
    private static let wordParts: [Bool] = table.rows.map { $0.source.hasPrefix("options.") }

    /// A part as it is written; nil if the event has none.
    func part(at row: Int) -> String? {
        if options.isEmpty, Self.wordParts[row] { return nil }
        guard Self.jsonParts[row] else { return Self.table.text(of: self, at: row) }
        guard let value = Self.table.value(of: self, at: row) else { return nil }
        let isText = Self.table.rows[row].name == "mi" && adapter.settings.messageIDForm == .text
        return isText ? value.string ?? "" : value.text
    }
}

/// The body of a `multipart/form-data` request.
struct Form {
    /// What stands between the parts; no part contains it.
    let boundary: String
    /// The bytes.
    let bytes: [UInt8]

    /// What stands between the mark and the content of each part.
    private static let heads: [[UInt8]] = CustomEvent.table.rows.indices.map { row in
        let type = CustomEvent.jsonParts[row] ? "application/json" : "text/plain"
        let name = CustomEvent.table.rows[row].name
        let disposition = "Content-Disposition: form-data; name=\"\(name)\"\r\n"
        return Array((disposition + "Content-Type: \(type); charset=utf-8\r\n\r\n").utf8)
    }

    /// The parts of an event, in their order.
    init(_ event: CustomEvent, id: OperationID) {
        RuleID.altcraft("M2").fire()
        RuleID.altcraft("M9").fire()
        var parts: [(row: Int, text: String)] = []
        parts.reserveCapacity(Self.heads.count)
        var boundary = String(joining: "Boundary-", RequestID.text(for: id))
        let length = boundary.utf8.count
        var (count, hasSuspects) = (64, false)
        for row in Self.heads.indices {
            guard let text = event.part(at: row) else { continue }
            parts.append((row, text))
            count += 168 + text.utf8.count
            // A part that is shorter holds none; to search it would take longer than to write it.
            if text.utf8.count >= length { hasSuspects = true }
        }
        while hasSuspects, parts.contains(where: { $0.text.hasBytes(of: boundary) }) { boundary += "-0" }
        self.boundary = boundary
        // Between two parts; the first has no line before it.
        let mark = Array("\r\n--".utf8) + boundary.utf8 + "\r\n".utf8
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        for part in parts.indices {
            bytes.append(contentsOf: part == 0 ? mark[2...] : mark[...])
            bytes.append(contentsOf: Self.heads[parts[part].row])
            bytes.append(contentsOf: parts[part].text.utf8)
        }
        bytes.append(contentsOf: mark.dropLast(2))
        bytes.append(contentsOf: "--\r\n".utf8)
        self.bytes = bytes
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A custom event: the parts of a form, in the vendor's order. Stored by reference, because each row accesses it.
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

    private var zone: Int { -(utcOffsetSeconds / 60) }
    private var clientID: String { text("clientID") ?? adapter.settings.clientID }
    private var message: JSONValue? { text("messageID").map(JSONValue.string) }
    private var profileFields: JSONValue? {
        options["profileFields"]?.object.map { .object(adapter.settings.sent($0)) }
    }
    private var payload: [AttributeName: AttributeValue]? {
        attributes.contains { $0.value.isScalar } ? attributes : nil
    }

    /// Returns the text of an option that is not empty.
    private func text(_ option: String) -> String? { options[option]?.string.flatMap { $0.isEmpty ? nil : $0 } }

    /// Returns a campaign parameter that is not empty.
    private func utm(_ parameter: CampaignParameter) -> String? {
        options["utm"]?[parameter.rawValue]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }

    static let table = FieldTable<CustomEvent>(
        "Parts of a custom event",
        [
            .required("tz", \.zone, .decimalText, from: "device.facts.utcOffsetSeconds", rule: .altcraft("M4")),
            .required("t", \.time, .decimalText, from: "operation.capturedAt", rule: .altcraft("M3")),
            .required("aci", \.clientID, .text, from: "settings.clientId", rule: .altcraft("M3")),
            .required("wn", \.name, .text, from: "event.name", rule: .altcraft("M3")),
            .optional("mm", { $0.text("matching") }, .text, from: "options.matching", rule: .altcraft("M6")),
            .optional("cn", { $0.utm(.campaign) }, .text, from: "options.utm.campaign", rule: .altcraft("M6")),
            .optional("cc", { $0.utm(.content) }, .text, from: "options.utm.content", rule: .altcraft("M6")),
            .optional("ck", { $0.utm(.keyword) }, .text, from: "options.utm.keyword", rule: .altcraft("M6")),
            .optional("cm", { $0.utm(.medium) }, .text, from: "options.utm.medium", rule: .altcraft("M6")),
            .optional("cs", { $0.utm(.source) }, .text, from: "options.utm.source", rule: .altcraft("M6")),
            .optional("ct", { $0.utm(.temp) }, .text, from: "options.utm.temp", rule: .altcraft("M6")),
            .optional("wd", \.payload, .scalars, from: "event.attributes", rule: .altcraft("M5")),
            .optional("mi", \.message, .json, from: "options.messageID", rule: .altcraft("M7")),
            .optional("ma", { $0.options["matchingIDs"] }, .json, from: "options.matchingIDs", rule: .altcraft("M6")),
            .optional("sn", { $0.options["subscription"] }, .json, from: "options.subscription", rule: .altcraft("M8")),
            .optional("pf", \.profileFields, .json, from: "options.profileFields", rule: .altcraft("F1")),
        ]
    )

    /// The parts that are JSON, by their rows; all others are plain text.
    static let jsonParts: [Bool] = table.rows.map { ["wd", "mi", "ma", "sn", "pf"].contains($0.name) }

    /// The parts that do not come from the caller's options. Without options, the form has no other parts.
    private static let ownParts = table.rows.indices.filter { !table.rows[$0].source.hasPrefix("options.") }
    private static let messagePart = table.rows.firstIndex { $0.name == "mi" }

    /// The parts that the event may have, by their rows.
    var rows: [Int] { options.isEmpty ? Self.ownParts : Array(Self.table.rows.indices) }

    /// Appends a part in its written form. Returns false if the event lacks it.
    func append(_ row: Int, to bytes: inout [UInt8]) -> Bool {
        let isJSON = Self.jsonParts[row] && (row != Self.messagePart || adapter.settings.messageIDForm != .text)
        return Self.table.append(row, of: self, asJSON: isJSON, to: &bytes)
    }
}

extension WireFormat<[AttributeName: AttributeValue]> {
    /// Plain values by their names, in order. Lists and objects are left out.
    static let scalars = WireFormat("JSON", schema: [:]) { attributes, writer in
        writer.beginObject()
        for (name, value) in attributes.inOrder where value.isScalar {
            writer.name(name.rawValue)
            writer.value(value.wire)
        }
        writer.endObject()
    }
}

/// The body of a `multipart/form-data` request.
struct Form {
    /// The text between the parts. No part contains it.
    let boundary: String
    /// The bytes.
    let bytes: [UInt8]

    /// The bytes between a boundary and the content of each part.
    private static let heads: [[UInt8]] = CustomEvent.table.rows.indices.map { row in
        let type = CustomEvent.jsonParts[row] ? "application/json" : "text/plain"
        let name = CustomEvent.table.rows[row].name
        let disposition = "\r\nContent-Disposition: form-data; name=\"\(name)\"\r\n"
        return Array((disposition + "Content-Type: \(type); charset=utf-8\r\n\r\n").utf8)
    }

    /// Writes the parts of an event in their order; `id` is the request's.
    init(_ event: CustomEvent, id: String) {
        var boundary = String(joining: "Boundary-", id)
        while true {
            if let bytes = Self.bytes(of: event, between: boundary) {
                (self.boundary, self.bytes) = (boundary, bytes)
                return
            }
            boundary += "-0"
        }
    }

    /// Returns the parts with a boundary between them; nil if one of them contains the boundary.
    private static func bytes(of event: CustomEvent, between boundary: String) -> [UInt8]? {
        let boundary = Array(boundary.utf8)
        // After each part. The first part has no line break before it.
        let mark = Array("\r\n--".utf8) + boundary
        let rows = event.rows
        var bytes: [UInt8] = []
        bytes.reserveCapacity(256 * rows.count)
        bytes += mark[2...]
        for row in rows {
            bytes += heads[row]
            let start = bytes.count
            guard event.append(row, to: &bytes) else {
                bytes.removeLast(heads[row].count)
                continue
            }
            let isHeld = bytes.withUnsafeBufferPointer { all in
                boundary.withUnsafeBufferPointer(UnsafeBufferPointer(rebasing: all[start...]).holds)
            }
            if isHeld { return nil }
            bytes += mark
        }
        bytes += "--\r\n".utf8
        return bytes
    }
}

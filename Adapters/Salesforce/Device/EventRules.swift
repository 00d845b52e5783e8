import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Validates events and maps them to the vendor's form.
enum EventRules: Sendable {
    /// The maximum number of events in a request (E11).
    static let batchLimit = 1000

    /// A valid event.
    struct Event: Equatable, Sendable {
        var name: String
        var attributes: JSONObject
    }

    /// Returns the event in the vendor's form and the findings; the event is nil if it can't be sent.
    static func judge(_ event: TrackingEvent) -> (kept: Event?, findings: [Finding]) {
        switch event {
        case .custom(let name, let attributes): return judge(name: name, attributes)
        case .push(_, let payload, _):
            let isOwn = payload["_sid"]?.string == "SFMC"
            return (nil, [(isOwn ? FindingRow.eventPushOwn : .eventPushForeign).at("action.event")])
        case .messageViewed, .messageClicked, .sessionStarted, .sessionEnded:
            return (nil, [FindingRow.eventKind.at("action.event", detail: event.kind.rawValue)])
        }
    }

    private static func judge(
        name: String,
        _ attributes: [AttributeName: AttributeValue]
    ) -> (kept: Event?, findings: [Finding]) {
        if isOrdinary(name, attributes) {
            var kept = JSONObject()
            kept.reserveCapacity(attributes.count)
            for (name, value) in attributes.inOrder { kept[name.rawValue] = json(of: value) }
            return (Event(name: name, attributes: kept), [])
        }
        let trimmed = name.trimmed
        var findings: [Finding] = []
        let isNameGood = !trimmed.isEmpty && trimmed.utf8.allSatisfy(isOfName)
        if !isNameGood { findings.append(FindingRow.eventNameInvalid.at("action.event.name")) }
        var kept = JSONObject()
        var seen = Set<String>(minimumCapacity: attributes.count)
        for (name, value) in attributes.inOrder {
            var path: String { "action.event.attributes.\(name.rawValue)" }
            let key = name.rawValue.trimmed
            if !isKey(key) {
                findings.append(FindingRow.eventAttributeKey.at(path))
            } else if !seen.insert(key.lowercased()).inserted {
                findings.append(FindingRow.eventAttributeRepeated.at(path))
            } else if let json = json(of: value) {
                kept[key] = json
            } else {
                findings.append(FindingRow.eventAttributeNested.at(path))
            }
        }
        return (isNameGood ? Event(name: trimmed, attributes: kept) : nil, findings)
    }

    /// Whether an event is valid without further checks, because its names are plain and its attributes' names are in
    /// lower case. Two such names never differ in case alone.
    static func isOrdinary(_ name: String, _ attributes: [AttributeName: AttributeValue]) -> Bool {
        !name.isEmpty && name.allBytes(isPlain)
            && attributes.allSatisfy { name, value in
                switch value {
                case .list, .object: false
                default:
                    !name.rawValue.isEmpty
                        && name.rawValue.allBytes { isPlain($0) && !(0x41...0x5A).contains($0) }
                }
            }
    }

    private static func isOfName(_ byte: UInt8) -> Bool { isPlain(byte) || byte == UInt8(ascii: " ") }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x61...0x7A, 0x41...0x5A, 0x30...0x39, UInt8(ascii: "_"): true
        default: false
        }
    }

    private static func isKey(_ key: String) -> Bool {
        if key.utf8.allSatisfy(isPlain) { return !key.isEmpty }
        return !key.hasPrefix("$") && !key.contains { $0.isNewline || $0 == "." }
    }

    /// Returns a value as text, number or Boolean (E4). Dates, times, countries and choices have the text of an
    /// attribute.
    private static func json(of value: AttributeValue) -> JSONValue? {
        switch value {
        case .integer(let number): .integer(number)
        case .decimal(let number): .number(number.json)
        case .boolean(let flag): .bool(flag)
        default: value.plainText.map(JSONValue.string)
        }
    }
}

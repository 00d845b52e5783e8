import PatchbayJSON
import PatchbayModel

/// A column of the simulated database.
struct SimulatedColumn: Sendable {
    var type: String
    var values: [String] = []
    var isLookupKey = false

    /// The wire type of each column type that a device may write.
    private static let wireTypes: [String: String] = [
        "text": "string", "yesNo": "boolean", "numeric": "number", "date": "string", "time": "string",
        "country": "string", "selection": "string", "smsPhoneNumber": "string", "phoneNumber": "string",
        "timestamp": "date", "multiSelection": "string",
    ]

    /// Reads a column of the settings; nil if it is invalid.
    init?(_ json: JSONValue) {
        guard let type = json["type"]?.string else { return nil }
        self.type = type
        values = json["values"]?.array?.compactMap(\.string) ?? []
        isLookupKey = json["lookupKey"]?.bool ?? false
    }

    /// Returns the reason why the database can't accept an entry; nil if it can.
    func problem(_ type: String, _ value: JSONValue) -> String? {
        if isLookupKey { return "is a lookup key" }
        guard let wanted = Self.wireTypes[self.type] else { return "is not written by devices" }
        guard type == wanted else { return "takes \(wanted), not \(type)" }
        guard let text = value.string else { return nil }
        switch self.type {
        case "text": return text.utf16.count > 4000 ? "is too short for the text" : nil
        case "date": return CalendarDate(text: text) == nil ? "takes yyyy-MM-dd" : nil
        case "time": return LocalTime(text: text) == nil ? "takes HH:mm" : nil
        case "selection": return values.contains(text) ? nil : "does not allow the value"
        case "multiSelection":
            let words = text.unicodeScalars.split(separator: ";", omittingEmptySubsequences: false)
                .map { Self.trimmed(Substring($0)) }
            return words.allSatisfy(values.contains) ? nil : "does not allow one of the values"
        default: return nil
        }
    }

    private static func trimmed(_ text: Substring) -> String {
        var text = text.drop { $0 == " " }
        while text.hasSuffix(" ") { text.removeLast() }
        return String(text)
    }

    /// Returns the reason why an accepted value can't be queried; nil if it can. A country that is not in the list
    /// can't.
    func unqueryable(_ value: JSONValue) -> String? {
        guard type == "country", let text = value.string else { return nil }
        let isListed = text == text.lowercased() && CountryCode(text: text) != nil
        return isListed ? nil : "holds a country that is not in the list"
    }
}

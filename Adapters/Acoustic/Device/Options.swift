import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The options of an operation for this vendor, `options.acoustic`.
struct Options: Sendable {
    private let object: JSONObject

    /// The attributes of action events, by option, with the event's name. The first option that is set decides (E11).
    static let actions: [(option: String, event: String)] = [
        ("url", "urlClicked"), ("phoneNumber", "phoneNumberClicked"), ("richContentId", "inboxMessageOpened"),
    ]
    /// Every option with the check of its value.
    private static let known: [Option] = [
        Option("attribution", isText), Option("mailingId") { _ in true }, Option("immediate") { $0.bool != nil },
        Option("sessionLength") { $0.number != nil }, Option("type", isLocation), Option("message", isMessage),
        Option("inboxMessageId", isText), Option("url", isText), Option("phoneNumber", isText),
        Option("richContentId", isText),
    ]

    private struct Option: Sendable {
        let name: String
        let isGood: @Sendable (JSONValue) -> Bool

        init(_ name: String, _ isGood: @escaping @Sendable (JSONValue) -> Bool) {
            (self.name, self.isGood) = (name, isGood)
        }
    }

    @Sendable private static func isText(_ value: JSONValue) -> Bool { value.string?.isEmpty == false }

    @Sendable private static func isLocation(_ value: JSONValue) -> Bool {
        value.string.map(EventType.locations.contains) ?? false
    }

    @Sendable private static func isMessage(_ value: JSONValue) -> Bool {
        value.string.flatMap(AcousticSettings.Messages.init) != nil
    }

    init(_ operation: EngagementOperation) { object = operation.options["acoustic"] ?? JSONObject() }

    /// The findings about the options.
    var findings: [Finding] {
        object.flatMap { member -> [Finding] in
            let path = "options.acoustic".dot(member.name)
            guard let option = Self.known.first(where: { $0.name == member.name }) else {
                return [FindingRow.optionUnknown.at(path)]
            }
            return option.isGood(member.value) ? [] : [FindingRow.optionInvalid.at(path)]
        }
    }

    /// A value that passed its check.
    subscript(name: String) -> JSONValue? {
        guard let value = object[name], Self.known.first(where: { $0.name == name })?.isGood(value) == true else {
            return nil
        }
        return value
    }
}

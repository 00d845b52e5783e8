import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What an operation says for this vendor alone: `options.acoustic`.
struct Options: Sendable {
    private let object: JSONObject

    /// Texts that action events carry, by option, with the event's name: the first that is given decides (E11).
    static let actions: [(option: String, event: String)] = [
        ("url", "urlClicked"), ("phoneNumber", "phoneNumberClicked"), ("richContentId", "inboxMessageOpened"),
    ]
    /// Every option with the check of its value.
    private static let known: [(name: String, isGood: @Sendable (JSONValue) -> Bool)] =
        [
            ("attribution", { $0.isText }),
            ("mailingId", { _ in true }),
            ("immediate", { $0.bool != nil }),
            ("sessionLength", { $0.number != nil }),
            ("type", { EventType.locations.contains($0.string ?? "") }),
            ("message", { AcousticSettings.Messages(rawValue: $0.string ?? "") != nil }),
            ("inboxMessageId", { $0.isText }),
        ] + actions.map { ($0.option, { $0.isText }) }

    init(_ operation: EngagementOperation) { object = operation.options["acoustic"] ?? [:] }

    /// What is wrong with the options.
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

extension JSONValue {
    fileprivate var isText: Bool { string.map { !$0.isEmpty } ?? false }
}

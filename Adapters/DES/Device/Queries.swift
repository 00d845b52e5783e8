import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The queries that an app can make.
enum Question: String, CaseIterable {
    /// The message for a place in the app.
    case inline
    /// The person's messages.
    case inbox
    /// Places that lead to actions.
    case geofences
    /// The content of a push, from the address in it.
    case pushMessage
    /// The configuration from afar.
    case remoteConfig
    /// The signature of that configuration.
    case remoteConfigSignature

    /// The request.
    var endpoint: DESDevice.Endpoint {
        switch self {
        case .inline: .inlineMessages
        case .inbox: .inbox
        case .geofences: .geofences
        case .pushMessage: .pushMessage
        case .remoteConfig: .remoteConfig
        case .remoteConfigSignature: .remoteConfigSignature
        }
    }

    /// The query's argument; nil for none.
    var argument: String? {
        switch self {
        case .inline: "viewId"
        case .pushMessage: "url"
        default: nil
        }
    }

    /// A description of the answer.
    var answer: String {
        switch self {
        case .inline: "the message: `campaignId`, `viewId`, `html`"
        case .inbox: "`messages`; those that lack something are left out"
        case .geofences: "`refreshRadiusRatio` and `groups`, without what lacks something"
        case .pushMessage: "the content as it came"
        case .remoteConfig: "the configuration as it came"
        case .remoteConfigSignature: "`signature`: the text as it came"
        }
    }

    /// Whether the query is possible before the installation is registered.
    var isOpenToAll: Bool { Route.of(endpoint).namesClient == false }

    /// The names, for people.
    static let names = allCases.map(\.rawValue).joined(separator: ", ")

    /// Returns the findings about a query.
    static func problems(_ request: ReadRequest, _ settings: DESSettings) -> [Finding] {
        guard let question = Question(rawValue: request.what) else {
            return [FindingRow.questionUnknown.at("action.read.what")]
        }
        guard let name = question.argument else { return [] }
        let path = "action.read.arguments".dot(name)
        guard let text = request.arguments[name]?.string, !text.isEmpty else {
            return [FindingRow.argumentMissing.at(path)]
        }
        guard question == .pushMessage else { return [] }
        let isOwn = VendorHost.isTrusted(text) || text.hasPrefix(settings.eventServiceURL + "/")
        return isOwn ? [] : [FindingRow.addressForeign.at(path)]
    }

    /// The table as Markdown.
    static var markdown: String {
        let lines = allCases.map { "| `\($0.rawValue)` | \($0.argument.map { "`\($0)`" } ?? "–") | \($0.answer) |" }
        return (["| question | argument | answer |", "|---|---|---|"] + lines).joined(separator: "\n")
    }
}

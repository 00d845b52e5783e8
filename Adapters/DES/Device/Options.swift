import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// An option of an operation for this vendor (`options["des"]`).
struct CallOption {
    /// The option's name.
    let name: String
    /// The option's form, as text for findings.
    let form: String
    /// The operations that accept the option, as text for findings.
    let uses: String
    private let fits: @Sendable (Action) -> Bool
    private let check: @Sendable (JSONValue, String) -> [Finding]

    /// Every option.
    static let all: [CallOption] = [
        CallOption(name: "sid", form: "text", uses: "views and clicks", fits: isEngagement, check: text),
        CallOption(name: "url", form: "text", uses: "views and clicks", fits: isEngagement, check: text),
        CallOption(
            name: "appStart",
            form: "true or false",
            uses: "the start of a session",
            fits: { $0 == .track(.sessionStarted) },
            check: { $0.bool == nil ? [FindingRow.optionInvalid.at($1, detail: "it takes true or false")] : [] }
        ),
        CallOption(
            name: "pushSettings",
            form: "an object of push settings",
            uses: "registrations",
            fits: { $0.kind == .registerDevice },
            check: PushSettings.problems
        ),
    ]

    private static let isEngagement: @Sendable (Action) -> Bool = { action in
        switch action {
        case .track(.messageViewed), .track(.messageClicked): true
        default: false
        }
    }

    private static let text: @Sendable (JSONValue, String) -> [Finding] = { value, path in
        value.string?.isEmpty == false ? [] : [FindingRow.optionInvalid.at(path, detail: "it takes text")]
    }

    /// The names of all options, as text for findings.
    static let names = all.map(\.name).joined(separator: ", ")

    /// Returns the findings about an operation's options.
    static func problems(_ options: JSONObject, for action: Action) -> [Finding] {
        options.flatMap { option -> [Finding] in
            let path = "options.des".dot(option.name)
            guard let known = all.first(where: { $0.name == option.name }) else {
                return [FindingRow.optionUnknown.at(path)]
            }
            let problems = known.check(option.value, path)
            return problems.isEmpty && !known.fits(action) ? [FindingRow.optionIdle.at(path)] : problems
        }
    }
}

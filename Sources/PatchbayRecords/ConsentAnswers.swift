import PatchbayAdapterKit
import PatchbayModel

/// The common consent values, in lower case: one list for all delimited formats.
enum ConsentAnswers {
    /// Consent values whose meaning does not depend on the column.
    static let states: [String: Subscription.State] = {
        var states = Dictionary(uniqueKeysWithValues: Subscription.State.allCases.map { ($0.rawValue, $0) })
        for word in ["opted in", "opted-in", "optedin", "opt in", "opt-in", "optin"] { states[word] = .subscribed }
        for word in ["opted out", "opted-out", "optedout", "opt out", "opt-out", "optout", "unsubscribe"] {
            states[word] = .unsubscribed
        }
        return states
    }()

    /// Answers, and whether each is a yes. The column determines whether a yes is an opt-in or an opt-out.
    static let isYes: [String: Bool] = {
        let yes = ["yes", "y", "true", "t", "1", "on", "ja", "j", "oui", "si", "sì", "sí", "sim", "tak", "da", "kyllä"]
        let no = ["no", "n", "false", "f", "0", "off", "nein", "non", "nao", "não", "nie", "nee", "nej", "ei"]
        return Dictionary(uniqueKeysWithValues: yes.map { ($0, true) } + no.map { ($0, false) })
    }()

    /// Pairs of answers that indicate that an unexplained column contains consent.
    fileprivate static let pairs: [Set<String>] = [
        ["yes", "no"], ["true", "false"], ["1", "0"], ["on", "off"], ["ja", "nein"], ["ja", "nee"], ["ja", "nej"],
        ["oui", "non"], ["si", "no"], ["sì", "no"], ["sí", "no"], ["sim", "não"], ["tak", "nie"], ["kyllä", "ei"],
        ["y", "n"], ["t", "f"], ["j", "n"],
    ]
}

/// Determines from a column's texts whether the column may contain consent: every field that is not blank is a yes or no, or a
/// status.
package struct ConsentContent {
    private var texts: Set<String> = []
    /// Whether any text was something else.
    private(set) package var isOther = false

    package init() {}

    /// Adds the text of a field.
    package mutating func add(_ text: String) {
        let text = text.trimmed.lowercased()
        guard !isOther, !text.isEmpty, texts.insert(text).inserted else { return }
        isOther =
            !texts.isSubset(of: ConsentAnswers.states.keys) && !ConsentAnswers.pairs.contains(where: texts.isSubset)
    }

    /// Whether the column may contain consent. Single letters count only in pairs, because one alone may be any code.
    package var isLikely: Bool {
        guard !isOther, !texts.isEmpty, texts != [Subscription.State.unknown.rawValue] else { return false }
        return texts.count > 1 || texts.allSatisfy { $0.count > 1 || $0 == "0" || $0 == "1" }
    }
}

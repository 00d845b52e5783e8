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
        let yes =
            ["yes", "y", "true", "t", "1", "on", "ja", "j", "oui", "si", "sì", "sí", "sim", "tak", "da", "kyllä", "да"]
            + ["wahr", "vrai", "vero", "verdadero", "verdadeiro"]
        let no =
            ["no", "n", "false", "f", "0", "off", "nein", "non", "nao", "não", "nie", "nee", "nej", "ei", "нет"]
            + ["falsch", "faux", "falso"]
        return Dictionary(uniqueKeysWithValues: yes.map { ($0, true) } + no.map { ($0, false) })
    }()

    /// Texts that state nothing in a column of answers.
    fileprivate static let blanks: Set<String> = ["null", "(null)", "n/a", "none", "?", "-"]
}

/// Determines from a column's texts whether the column may contain consent: every field that is not blank is a yes or no, or a
/// status, or any field says that the person has opted out.
package struct ConsentContent {
    private var texts: Set<String> = []
    /// Whether any text was something else.
    private(set) package var isOther = false
    /// Whether any text says that the person has opted out.
    private(set) package var statesOptOut = false

    package init() {}

    /// Adds the text of a field.
    package mutating func add(_ text: String) {
        let text = text.trimmed.lowercased()
        if ConsentAnswers.states[text] == .unsubscribed { statesOptOut = true }
        guard !isOther, !text.isEmpty, !ConsentAnswers.blanks.contains(text), texts.insert(text).inserted else {
            return
        }
        isOther = ConsentAnswers.states[text] == nil && ConsentAnswers.isYes[text] == nil
    }

    /// Whether the column may contain consent. Single letters count only as a yes beside a no, because they may be any codes.
    package var isLikely: Bool {
        if statesOptOut { return true }
        guard !isOther, !texts.isEmpty, texts != [Subscription.State.unknown.rawValue] else { return false }
        return Set(texts.compactMap { ConsentAnswers.isYes[$0] }).count > 1
            || texts.contains { $0.count > 1 || $0 == "0" || $0 == "1" }
    }
}

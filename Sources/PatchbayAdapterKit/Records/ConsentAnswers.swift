import PatchbayModel

/// The words by which columns state consent, in lower case: one list for every delimited format.
enum ConsentAnswers {
    /// Words that mean the same in each column of consent, whatever a yes means there.
    static let states: [String: Subscription.State] = {
        var states = Dictionary(uniqueKeysWithValues: Subscription.State.allCases.map { ($0.rawValue, $0) })
        for word in ["opted in", "opted-in", "optedin", "opt in", "opt-in", "optin"] { states[word] = .subscribed }
        for word in ["opted out", "opted-out", "optedout", "opt out", "opt-out", "optout", "unsubscribe"] {
            states[word] = .unsubscribed
        }
        return states
    }()

    /// Answers, and whether each is a yes. The place of the column decides what a yes means.
    static let isYes: [String: Bool] = {
        let yes = ["yes", "y", "true", "t", "1", "on", "ja", "j", "oui", "si", "sì", "sí", "sim", "tak", "da", "kyllä"]
        let no = ["no", "n", "false", "f", "0", "off", "nein", "non", "nao", "não", "nie", "nee", "nej", "ei"]
        return Dictionary(uniqueKeysWithValues: yes.map { ($0, true) } + no.map { ($0, false) })
    }()
}

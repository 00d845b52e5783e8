import PatchbayModel

/// What one operation changes in what a person allows: each scope whose effective answer is another now.
struct ConsentChanges {
    /// The answer for one scope, before and after.
    struct Change: Hashable {
        let scope: Consent.Scope
        let from: Consent.State
        let to: Consent.State
    }

    /// Every change, sorted by scope.
    let all: [Change]

    /// The changes between two states of one subject.
    init(from before: SubjectSnapshot, to after: SubjectSnapshot) {
        let words = (before.consents + after.consents).map(\.scope)
        let scopes = Set(words + words.map { Consent.Scope($0.purpose) })
        all = scopes.sorted().compactMap { scope in
            let from = before.consent(for: scope.purpose, channel: scope.channel)
            let to = after.consent(for: scope.purpose, channel: scope.channel)
            return from == to ? nil : Change(scope: scope, from: from, to: to)
        }
    }

    /// The first change that concerns what needs these consents; nil if their answers are the same as before.
    func reaching(_ scopes: [Consent.Scope], _ before: SubjectSnapshot, _ after: SubjectSnapshot) -> Change? {
        scopes.lazy.compactMap { reaching($0, before, after) }.first
    }

    private func reaching(_ scope: Consent.Scope, _ before: SubjectSnapshot, _ after: SubjectSnapshot) -> Change? {
        let from = before.consent(for: scope.purpose, channel: scope.channel)
        let to = after.consent(for: scope.purpose, channel: scope.channel)
        guard from != to else { return nil }
        return all.first { $0.scope == scope } ?? all.first { $0.scope.covers(scope) }
    }
}

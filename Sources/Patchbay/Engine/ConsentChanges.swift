import PatchbayModel

/// The changes that one operation makes to a subject's effective consents.
struct ConsentChanges {
    /// The effective consent for one scope, before and after.
    struct Change: Hashable {
        let scope: Consent.Scope
        let from: Consent.State
        let to: Consent.State
    }

    /// Every change, sorted by scope.
    let all: [Change]

    /// Creates the changes between two states of one subject.
    init(from before: SubjectSnapshot, to after: SubjectSnapshot) {
        let words = (before.consents + after.consents).map(\.scope)
        let scopes = Set(words + words.map { Consent.Scope($0.purpose) })
        all = scopes.sorted().compactMap { scope in
            let from = before.consent(for: scope.purpose, channel: scope.channel)
            let to = after.consent(for: scope.purpose, channel: scope.channel)
            return from == to ? nil : Change(scope: scope, from: from, to: to)
        }
    }

    /// Returns the first change that affects an operation with these requirements; nil if none does.
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

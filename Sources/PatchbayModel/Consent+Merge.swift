import PatchbayJSON

extension Consent {
    /// Merges two sources' decisions of one person. The result is never more permissive than either.
    public static func merged(_ left: State, _ right: State) -> State { min(left, right) }

    /// Merges several sources' decisions of one person into the most protective decision for every purpose and channel.
    ///
    /// A source without a decision counts as unknown, so another source's opt-in does not grant what it never asked for. A
    /// decision for one channel overrides only its own source's decision for every channel, never another source's denial. Time
    /// does not decide between different decisions. If several sources agree, a denial or an unknown state keeps the newest
    /// time, and a grant the oldest, so that a merge never makes a grant look more recent than it is.
    ///
    /// The result does not depend on the order or grouping of the sources. It is sorted by purpose and channel, and contains no
    /// redundant decisions.
    public static func merged(_ sources: some Sequence<[Consent]>) -> [Consent] {
        let answers = sources.map(Answers.init)
        guard var merged = answers.first else { return [] }
        for other in answers.dropFirst() { merged = merged.merged(with: other) }
        return merged.words
    }

    /// A decision with its time.
    private struct Answer: Equatable {
        var state = State.unknown
        var changedAt: Timestamp?

        func merged(with other: Answer) -> Answer {
            guard state == other.state else { return state < other.state ? self : other }
            // A missing time counts as the oldest.
            guard let mine = changedAt, let theirs = other.changedAt else {
                let known = changedAt ?? other.changedAt
                return Answer(state: state, changedAt: state == .granted ? nil : known)
            }
            return Answer(state: state, changedAt: state == .granted ? min(mine, theirs) : max(mine, theirs))
        }
    }

    /// The decisions of one source for every purpose and channel.
    private struct Answers {
        private var said: [Scope: Answer] = [:]

        init(_ consents: [Consent]) {
            for consent in consents {
                let answer = Answer(state: consent.state, changedAt: consent.changedAt)
                said[consent.scope] = said[consent.scope].map { $0.merged(with: answer) } ?? answer
            }
        }

        subscript(scope: Scope) -> Answer { said[scope] ?? said[Scope(scope.purpose)] ?? Answer() }

        func merged(with other: Answers) -> Answers {
            var merged = Answers([])
            for scope in Set(said.keys).union(other.said.keys) {
                // The decision for every channel is merged too, because a channel's decision may come from either source.
                for scope in [scope, Scope(scope.purpose)] {
                    merged.said[scope] = self[scope].merged(with: other[scope])
                }
            }
            return merged
        }

        var words: [Consent] {
            said.filter { scope, answer in
                answer != (scope.channel == nil ? Answer() : self[Scope(scope.purpose)])
            }
            .inOrder
            .map { Consent(purpose: $0.purpose, channel: $0.channel, state: $1.state, changedAt: $1.changedAt) }
        }
    }
}

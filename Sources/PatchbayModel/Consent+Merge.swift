extension Consent {
    /// Two sources' words on one person, merged: never more than either allows.
    public static func merged(_ left: State, _ right: State) -> State { min(left, right) }

    /// Several sources' words on one person, merged: for every purpose and channel the most protective answer.
    ///
    /// A source without a word says unknown, so what one source never asked about is not granted by another's yes. A word
    /// for one channel holds in its own source alone: it never stands against another source's no for every channel. Time
    /// decides nothing between different answers. Where several give the same answer, a no and an unknown keep the newest
    /// time, and a yes the oldest, so that no merge makes a yes look fresher than it is anywhere.
    ///
    /// The result is the same in any order and any grouping of the sources, sorted by purpose and channel, without words
    /// that say what holds anyway.
    public static func merged(_ sources: some Sequence<[Consent]>) -> [Consent] {
        let answers = sources.map(Answers.init)
        guard var merged = answers.first else { return [] }
        for other in answers.dropFirst() { merged = merged.merged(with: other) }
        return merged.words
    }

    /// One answer with its time.
    private struct Answer: Equatable {
        var state = State.unknown
        var changedAt: Timestamp?

        func merged(with other: Answer) -> Answer {
            guard state == other.state else { return state < other.state ? self : other }
            // No time at all counts as the oldest.
            guard let mine = changedAt, let theirs = other.changedAt else {
                let known = changedAt ?? other.changedAt
                return Answer(state: state, changedAt: state == .granted ? nil : known)
            }
            return Answer(state: state, changedAt: state == .granted ? min(mine, theirs) : max(mine, theirs))
        }
    }

    /// What one source says for every purpose and channel.
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
                // The word for every channel is merged too: what holds for a channel was said there or here.
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
            .sorted { $0.key < $1.key }
            .map { Consent(purpose: $0.purpose, channel: $0.channel, state: $1.state, changedAt: $1.changedAt) }
        }
    }
}

import PatchbayAdapterKit
import PatchbayModel

extension Contact {
    /// Resolves contradictory consent decisions of the contact: the least permissive decision about a subject stays, so
    /// that no target can use the other one.
    ///
    /// - Returns: A finding for each resolved subject.
    mutating func settleContradictions() -> [Finding] {
        var findings: [Finding] = []
        subscriptions = Self.settled(subscriptions, by: \.key, rank: \.state.rank, at: "subscriptions", &findings)
        consents = Self.settled(consents, by: \.scope, rank: \.state.rank, at: "consents", &findings)
        return findings
    }

    private static func settled<Word, Key: Hashable>(
        _ words: [Word],
        by key: (Word) -> Key,
        rank: (Word) -> Int,
        at path: String,
        _ findings: inout [Finding]
    ) -> [Word] {
        guard words.count > 1 else { return words }
        let groups = Dictionary(grouping: words, by: key)
        let torn = groups.filter { Set($0.value.map(rank)).count > 1 }
        guard !torn.isEmpty else { return words }
        var resolved: Set<Key> = []
        return words.enumerated().compactMap { place, word in
            guard let group = torn[key(word)] else { return word }
            guard resolved.insert(key(word)).inserted else { return nil }
            findings.append(contradiction.at("\(path)[\(place)]"))
            return group.min { rank($0) < rank($1) }
        }
    }

    private static let contradiction = FindingRow(
        .warning("migration.consent.contradiction", .consent),
        reason: "The contact has contradicting values for a subscription or consent; the least permissive one applies",
        remedy: "Ask the person, or correct the source."
    )
}

extension Subscription.State {
    fileprivate var rank: Int {
        switch self {
        case .unsubscribed: 0
        case .suspended: 1
        case .unknown: 2
        case .subscribed: 3
        }
    }
}

extension Consent.State {
    fileprivate var rank: Int {
        switch self {
        case .denied: 0
        case .unknown: 1
        case .granted: 2
        }
    }
}

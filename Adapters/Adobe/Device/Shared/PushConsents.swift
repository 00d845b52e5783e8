import PatchbayAdapterKit
import PatchbayModel

/// A person's consents to the profile and to tracking. The engine knows the consents to push messages.
struct PushConsents: Codable, Sendable, Equatable {
    private var states: [String: Consent.State] = [:]
    /// The order of capture of each decision.
    private var sequences: [String: Int64] = [:]

    init() {}

    /// Applies a consent decision as the engine's snapshot does: a decision for every channel ends an earlier one for a
    /// channel that allowed more.
    mutating func note(_ consent: Consent, _ sequence: Int64) {
        guard [.profile, .tracking].contains(consent.purpose), [nil, .push].contains(consent.channel) else { return }
        let push = Consent.Scope(consent.purpose, channel: .push).description
        if consent.channel == nil, let earlier = states[push], earlier > consent.state { states[push] = nil }
        states[consent.scope.description] = consent.state
        sequences[consent.scope.description] = sequence
    }

    /// Forgets the decisions of a person who logged out at that position in the order of capture.
    mutating func forget(before sequence: Int64) {
        states = states.filter { sequences[$0.key] ?? 0 > sequence }
        sequences = sequences.filter { $0.value > sequence }
    }

    /// The decision for a purpose on the push channel.
    private func state(_ purpose: Purpose) -> Consent.State {
        states[Consent.Scope(purpose, channel: .push).description] ?? states[purpose.rawValue] ?? .unknown
    }

    /// Whether the person denied the profile, so that nothing may be registered.
    var deniesProfile: Bool { state(.profile) == .denied }
    /// Whether the person denied tracking and profile on every channel, as the vendor's own privacy switch does.
    var hasOptedOut: Bool {
        [Purpose.tracking, .profile].allSatisfy { states[$0.rawValue] == .denied && state($0) == .denied }
    }

    /// Ends a recorded denial of the profile: the engine let an operation through that a denial would have ended.
    mutating func allowProfile() {
        guard deniesProfile else { return }
        for scope in [Consent.Scope.profile, Consent.Scope(.profile, channel: .push)] {
            states[scope.description] = nil
        }
    }
}

extension PendingOperations {
    /// Whether the vendor may hold the push token under a person: the current person allows push messages, and this person did
    /// when logging out.
    func allowsToken(of who: Person, _ consents: PushConsents) -> Bool {
        allowsPushMessages && !consents.deniesProfile && !formerlyWithoutPush.contains(where: who.isNamed)
    }
}

/// The person at an installation, as digests of contacts and identifiers, without their values.
struct Person: Codable, Sendable, Equatable {
    /// Digests of contacts and identifiers; empty while the person is unknown.
    private(set) var digests: [String] = []
    /// The digest of the external identifier.
    private(set) var external: String?

    init() {}

    /// Creates a person from identifiers and a contact.
    init(_ identifiers: [Identifier], contact: String?) {
        digests = (identifiers.map(\.value) + [contact].compactMap(\.self)).map(Self.digest)
        external = identifiers.first { $0.kind == .external }.map { Self.digest($0.value) }
    }

    /// Whether the person is unknown.
    var isUnknown: Bool { digests.isEmpty }

    /// Whether a contact is this person.
    func isNamed(_ contact: String) -> Bool { digests.contains(Self.digest(contact)) }

    /// Whether a contact is another person; false while the person is unknown.
    func differs(from contact: String) -> Bool { !isUnknown && !isNamed(contact) }

    /// Whether a log-in of `other` is a change of person: nothing that is known of one names the other.
    func differs(from other: Person) -> Bool { !isUnknown && Set(digests).isDisjoint(with: other.digests) }

    /// Adds further identifiers of the same person.
    mutating func join(_ other: Person) {
        var known = Set(digests)
        for digest in other.digests where known.insert(digest).inserted { digests.append(digest) }
        external = other.external ?? external
    }

    /// Returns a short digest that distinguishes values without storing them.
    static func digest(_ text: String) -> String { String(SHA256.digest(of: text.utf8).prefix(12).hexText) }
}

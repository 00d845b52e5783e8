public import PatchbayJSON

/// The state of a simulated database. Every list has a fixed order, so that equal states have equal JSON.
public struct AltcraftServerAccount: Codable, Sendable, Equatable {
    /// A person.
    public struct Profile: Codable, Sendable, Equatable {
        /// The vendor's id. Later profiles have greater ids.
        public var id: String
        /// Profile fields, as a JSON object.
        public var fields: JSONValue = [:]
        /// Subscriptions, as the platform shows them, oldest first.
        public var subscriptions: [JSONValue] = []
        /// The number of recorded opt-outs. A suspension records none.
        public var optOuts = 0
    }

    /// A goal that a person reached.
    public struct Goal: Codable, Sendable, Equatable {
        /// The profile's id.
        public var profile: String
        /// The goal's name.
        public var name: String
        /// Value, date and data, unchanged.
        public var content: JSONValue
    }

    /// Profiles, oldest first.
    public var profiles: [Profile] = []
    /// The number of profiles created so far.
    public var made = 0
    /// Goals, oldest first.
    public var goals: [Goal] = []
    /// Push events, oldest first: number and message.
    public var pushEvents: [String] = []
    /// Ids of deleted profiles, oldest first.
    public var deletions: [String] = []
    /// Rules that a client broke: names and sizes, no values.
    public var violations: [String] = []
    /// Requests by method and status.
    public var counts: [String: Int] = [:]

    /// An index for finding profiles. It is not part of the platform's state.
    private var index = ProfileIndex()

    /// A database without profiles.
    public init() {}

    private enum CodingKeys: String, CodingKey {
        case profiles, made, goals, pushEvents, deletions, violations, counts
    }
}

extension AltcraftServerAccount {
    /// Returns the index of the oldest profile with a value in a field.
    mutating func place(of value: String, in field: String) -> Int? { places(of: value, in: field).first }

    /// The places of all profiles that hold a value in a field, oldest first.
    mutating func places(of value: String, in field: String) -> [Int] { index.places(of: value, in: field, profiles) }

    mutating func append(_ profile: Profile) {
        profiles.append(profile)
        index.note(profile, at: profiles.count - 1)
    }

    mutating func replace(_ place: Int, with profile: Profile) {
        profiles[place] = profile
        index.note(profile, at: place)
    }

    mutating func remove(at place: Int) -> Profile {
        index = ProfileIndex()
        return profiles.remove(at: place)
    }
}

extension AltcraftServerAccount.Profile {
    /// Returns the texts in a field.
    func values(in field: String) -> [String] {
        guard let held = fields[field] else { return [] }
        return (held.array ?? [held]).compactMap { $0.string ?? $0.number?.text }
    }
}

/// An index of profiles by a field's values, created at the first query. All indexes are equal, so that it does not affect
/// the equality of states.
private struct ProfileIndex: Sendable, Equatable {
    private var places: [String: [String: [Int]]] = [:]

    mutating func places(
        of value: String,
        in field: String,
        _ profiles: [AltcraftServerAccount.Profile]
    ) -> [Int] {
        if places[field] == nil {
            places[field] = [:]
            for (place, profile) in profiles.enumerated() { note(profile, at: place, in: field) }
        }
        // Some held it once.
        return (places[field]?[value] ?? []).filter { profiles[$0].values(in: field).contains(value) }
    }

    mutating func note(_ profile: AltcraftServerAccount.Profile, at place: Int) {
        // A list of its own: the dictionary's view of its keys would hold all places while one changes, and have them copied.
        for field in Array(places.keys) { note(profile, at: place, in: field) }
    }

    private mutating func note(_ profile: AltcraftServerAccount.Profile, at place: Int, in field: String) {
        for value in profile.values(in: field) {
            let known = places[field]?[value] ?? []
            guard !known.contains(place) else { continue }
            let next = known.firstIndex { $0 > place } ?? known.count
            places[field]?[value, default: []].insert(place, at: next)
        }
    }

    static func == (left: ProfileIndex, right: ProfileIndex) -> Bool { true }
}

import PatchbayAdapterKit
import PatchbayModel

/// The names of the neutral model that a plan distinguishes, as indexes.
struct Vocabulary: BitwiseCopyable {
    static let channelNames = ["email", "push", "sms", "in_app", "phone", "fax", "postal_mail"]
    static let purposeNames = ["messaging", "tracking", "profile", "sale"]
    static let serviceNames = ["apns", "fcm", "hms", "rustore"]
    static let states = Subscription.State.allCases
    static let answers = Consent.State.allCases
    /// The families of platforms. A device refers to one by its index.
    static let families = ["ios", "android", "macos", "tvos", "watchos", "visionos", "web"]

    /// The index of an unknown name.
    static let unknown = -1
    /// The index of a missing name.
    static let none = -2

    /// The index of a channel; ``none`` for nil.
    static func index(of channel: Channel?) -> Int {
        guard let channel else { return none }
        return channelNames.firstIndex(of: channel.rawValue) ?? unknown
    }

    /// The index of a purpose.
    static func index(of purpose: Purpose) -> Int { purposeNames.firstIndex(of: purpose.rawValue) ?? unknown }

    /// The kinds of identifiers that the target accepts.
    let kinds: KeyTable
    /// The topics that the target knows.
    let topics: KeyTable
    let channels: KeyTable
    let purposes: KeyTable
    let services: KeyTable
    let subscriptionStates: KeyTable
    let consentStates: KeyTable
    /// The indexes of states with a special meaning.
    let unanswered = Vocabulary.answers.firstIndex(of: .unknown) ?? 0
    let refused = Vocabulary.answers.firstIndex(of: .denied) ?? 0
    let unknownState = Vocabulary.states.firstIndex(of: .unknown) ?? 0
    let subscribed = Vocabulary.states.firstIndex(of: .subscribed) ?? 0
    let unsubscribed = Vocabulary.states.firstIndex(of: .unsubscribed) ?? 0
    let suspended = Vocabulary.states.firstIndex(of: .suspended) ?? 0
    /// The permissiveness of each subscription state, by index; the least is 0.
    let allowance: Row<Int>

    init(kinds: [String], topics: [String], in arena: Arena) {
        self.kinds = KeyTable(kinds, in: arena)
        self.topics = KeyTable(topics, in: arena)
        channels = KeyTable(Self.channelNames, in: arena)
        purposes = KeyTable(Self.purposeNames, in: arena)
        services = KeyTable(Self.serviceNames, in: arena)
        subscriptionStates = KeyTable(Self.states.map(\.rawValue), in: arena)
        consentStates = KeyTable(Self.answers.map(\.rawValue), in: arena)
        allowance = arena.make(Self.states.map { [Subscription.State].fromLeastAllowed.firstIndex(of: $0) ?? 0 })
    }

    /// Whether a subscription state is at most as permissive as another.
    func allows(_ state: Int, noMoreThan other: Int) -> Bool { allowance[state] <= allowance[other] }
}

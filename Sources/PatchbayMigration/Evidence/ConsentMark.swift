import PatchbayAdapterKit
import PatchbayModel

/// A word of a contact about consent as a mark of eight bytes: whose it is, what it is about, and in the lowest bits whether it
/// is a no, and whether it is about a consent. It holds no person's data.
///
/// Two spellings of a key that differ in the case of letters, or in the space around it, are one: a vendor may take them for
/// one, and a no must hold. Of a telephone number the digits count.
enum ConsentMark {
    static let no: UInt64 = 1
    static let consent: UInt64 = 2
    /// More digits of a number do not count.
    static let digits = 64

    /// What a subscription is about.
    static func wish(_ channel: String, _ topic: String?) -> UInt64 {
        KeyMark("wish\u{0}\(channel)\u{0}\(topic ?? "\u{0}")", opinion: 0).folded & ~consent
    }

    /// What a consent is about; without a channel it is about all.
    static func consent(_ purpose: String, _ channel: String?) -> UInt64 {
        KeyMark("consent\u{0}\(purpose)\u{0}\(channel ?? "\u{0}")", opinion: 0).folded | consent
    }

    /// A contact's key.
    static func key(_ identifier: Identifier) -> UInt64 {
        let text =
            identifier.kind == .phone
            ? String(decoding: identifier.value.utf8.lazy.filter { $0 &- 0x30 < 10 }.prefix(digits), as: UTF8.self)
            : identifier.value.trimmed.lowercased()
        return KeyMark(text, opinion: 0).folded
    }

    /// The word of a contact about something; a yes.
    @inline(__always) static func yes(_ key: UInt64, _ subject: UInt64) -> UInt64 {
        KeyMark.mix(key ^ subject) & ~(no | consent) | subject & consent
    }
}

/// The words of one contact, as marks.
struct ConsentMarks {
    private let key: UInt64

    /// Nil for a contact without any key by which the target knows contacts.
    init?(_ contact: Contact, knownBy kinds: [IdentifierKind]) {
        let keys = kinds.lazy.compactMap { kind in contact.identifiers.first { $0.kind == kind } }
        guard let first = keys.first else { return nil }
        key = ConsentMark.key(first)
    }

    /// What a yes to a subscription must not stand behind: a no to the same, and to messages there or anywhere.
    func subjects(of wish: Subscription) -> [UInt64] {
        let (channel, messaging) = (wish.channel.rawValue, Purpose.messaging.rawValue)
        let all = [
            ConsentMark.wish(channel, wish.topic), ConsentMark.consent(messaging, channel),
            ConsentMark.consent(messaging, nil),
        ]
        return all.map { ConsentMark.yes(key, $0) }
    }

    /// The same of a yes to a purpose.
    func subjects(of consent: Consent) -> [UInt64] {
        let purpose = consent.purpose.rawValue
        let own = ConsentMark.yes(key, ConsentMark.consent(purpose, consent.channel?.rawValue))
        return consent.channel == nil ? [own] : [own, ConsentMark.yes(key, ConsentMark.consent(purpose, nil))]
    }

    /// Each no of the contact.
    func noes(of contact: Contact) -> [UInt64] {
        let wishes = contact.subscriptions.filter(\.state.isNo).compactMap { subjects(of: $0).first }
        let consents = contact.consents.filter { $0.state == .denied }.compactMap { subjects(of: $0).first }
        return (wishes + consents).map { $0 | ConsentMark.no }
    }

    /// What each yes of the contact must not stand behind.
    func yeses(of contact: Contact) -> [UInt64] {
        contact.subscriptions.filter { $0.state == .subscribed }.flatMap(subjects)
            + contact.consents.filter { $0.state == .granted }.flatMap(subjects)
    }
}

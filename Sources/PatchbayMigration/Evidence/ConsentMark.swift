import PatchbayAdapterKit
import PatchbayModel

/// A word of a contact about consent as a mark of eight bytes: whose it is, what it is about, and in the lowest bits whether it
/// is an opt-out, and whether it is about a consent. It holds no person's data.
///
/// Two spellings of a key that differ in the case of letters, or in the space around it, are one: a vendor may take them for
/// one, and an opt-out must hold. A telephone number has a mark for its digits and one for its national number, so that
/// spellings with and without the country's calling code are one.
enum ConsentMark {
    static let no: UInt64 = 1
    static let consent: UInt64 = 2
    /// More digits of a number do not count.
    static let digits = 64

    /// What a subscription is about.
    static func wish(_ channel: String, _ topic: String?) -> UInt64 {
        KeyMark("wish\u{0}\(channel)\u{0}\(topic ?? "\u{0}")", opinion: 0).folded & ~consent
    }

    /// What an opt-out of a channel as a whole is about for the topics of other records.
    static func topics(_ channel: String) -> UInt64 { wish(channel, "\u{0}topics") }

    /// What a consent is about; without a channel it is about all.
    static func consent(_ purpose: String, _ channel: String?) -> UInt64 {
        KeyMark("consent\u{0}\(purpose)\u{0}\(channel ?? "\u{0}")", opinion: 0).folded | consent
    }

    /// A contact's key or address: equal ones have at least one of these in common. Of letters beyond ASCII it does not matter of
    /// how many signs each is made.
    static func keys(_ identifier: Identifier) -> [UInt64] {
        identifier.comparisonKeys.map { text in
            KeyMark(key: identifier.kind == .phone ? String(text.prefix(digits)) : text, opinion: 0).folded
        }
    }

    /// The fewest digits of a telephone number.
    static let fewestDigits = 4

    /// Whether an identifier may be an address rather than a word such as `unknown`, which many have.
    static func isAddress(_ identifier: Identifier) -> Bool {
        identifier.kind == .phone
            ? identifier.value.utf8.count { $0 &- 0x30 < 10 } >= fewestDigits
            : identifier.value.utf8.contains(UInt8(ascii: "@"))
    }

    /// The word of a contact about something; an opt-in.
    @inline(__always) static func yes(_ key: UInt64, _ subject: UInt64) -> UInt64 {
        KeyMark.mix(key ^ subject) & ~(no | consent) | subject & consent
    }
}

/// The consent decisions of one contact, as marks: once by the key by which the target knows the contact, once by the contact's
/// own number, and once by each address to which messages go. An opt-out holds for the person and for the address, in every
/// record that has it, also as a second address.
struct ConsentMarks {
    private let own: [UInt64]
    private let addresses: [(channel: Channel, mark: UInt64)]

    /// The kind of identifier to which a channel's messages go.
    static let addressKinds: [(channel: Channel, kind: IdentifierKind)] = [(.email, .email), (.sms, .phone)]

    /// Nil for a contact without an address, without a number of its own, and without any key by which the target knows contacts.
    init?(_ contact: Contact, knownBy kinds: [IdentifierKind]) {
        func first(_ kind: IdentifierKind) -> Identifier? { contact.identifiers.first { $0.kind == kind } }
        var own: [UInt64] = []
        for identifier in [kinds.lazy.compactMap(first).first, first(.external)].compactMap(\.self) {
            own += ConsentMark.keys(identifier).filter { !own.contains($0) }
        }
        var addresses: [(channel: Channel, mark: UInt64)] = []
        for (channel, kind) in Self.addressKinds {
            for identifier in contact.identifiers where identifier.kind == kind && ConsentMark.isAddress(identifier) {
                // The key counts once.
                for mark in ConsentMark.keys(identifier)
                where !own.contains(mark) && !addresses.contains(where: { $0 == (channel, mark) }) {
                    addresses.append((channel, mark))
                }
            }
        }
        (self.own, self.addresses) = (own, addresses)
        if own.isEmpty, addresses.isEmpty { return nil }
    }

    /// Who has said what is said on a channel, or on every one.
    struct Holders {
        /// The contact, as the target knows it and by its own number.
        let own: [UInt64]
        /// Its addresses.
        let addresses: [UInt64]

        /// Marks of what they must not have said no to.
        func marks(_ subjects: [UInt64]) -> Holders {
            func marks(_ keys: [UInt64]) -> [UInt64] {
                keys.flatMap { key in subjects.map { ConsentMark.yes(key, $0) } }
            }
            return Holders(own: marks(own), addresses: marks(addresses))
        }

        var all: [UInt64] { own + addresses }

        /// Those about which none of these opt-outs is.
        func without(_ optOuts: Set<UInt64>) -> Holders {
            func rest(_ marks: [UInt64]) -> [UInt64] { marks.filter { !optOuts.contains($0 | ConsentMark.no) } }
            return Holders(own: rest(own), addresses: rest(addresses))
        }
    }

    private func holders(_ channel: Channel?, reaching isReaching: Bool = true) -> Holders {
        Holders(own: own, addresses: addresses.filter { isReaching && channel ?? $0.channel == $0.channel }.map(\.mark))
    }

    private func holders(of consent: Consent) -> Holders {
        holders(consent.channel, reaching: consent.purpose == .messaging)
    }

    /// What an opt-in to a subscription must not stand behind: an opt-out to the same, and to messages there or anywhere.
    func subjects(of wish: Subscription) -> Holders {
        let (channel, messaging) = (wish.channel.rawValue, Purpose.messaging.rawValue)
        return holders(wish.channel).marks(
            [
                ConsentMark.wish(channel, wish.topic), ConsentMark.consent(messaging, channel),
                ConsentMark.consent(messaging, nil),
            ] + (wish.topic == nil ? [] : [ConsentMark.topics(channel)])
        )
    }

    /// The same of an opt-in to a purpose.
    func subjects(of consent: Consent) -> Holders {
        let (purpose, channel) = (consent.purpose.rawValue, consent.channel?.rawValue)
        let own = ConsentMark.consent(purpose, channel)
        return holders(of: consent).marks(channel == nil ? [own] : [own, ConsentMark.consent(purpose, nil)])
    }

    /// Each no of the contact.
    func optOuts(of contact: Contact) -> [UInt64] {
        let wishes = contact.subscriptions.filter(\.state.isOptOut).flatMap {
            holders($0.channel).marks(
                [ConsentMark.wish($0.channel.rawValue, $0.topic)]
                    + (contact.endsTopics($0) ? [ConsentMark.topics($0.channel.rawValue)] : [])
            )
            .all
        }
        let consents = contact.consents.filter { $0.state == .denied }.flatMap {
            holders(of: $0).marks([ConsentMark.consent($0.purpose.rawValue, $0.channel?.rawValue)]).all
        }
        return (wishes + consents).map { $0 | ConsentMark.no }
    }

    /// What each opt-in of the contact must not stand behind.
    func optIns(of contact: Contact) -> [UInt64] {
        let own = Set(optOuts(of: contact))
        return contact.subscriptions.filter { $0.state == .subscribed }.flatMap { subjects(of: $0).without(own).all }
            + contact.consents.filter { $0.state == .granted }.flatMap { subjects(of: $0).without(own).all }
    }
}

extension Contact {
    /// Whether an opt-out of a channel as a whole also ends what other records say of its topics: not beside an own opt-in to one.
    fileprivate func endsTopics(_ wish: Subscription) -> Bool {
        wish.topic == nil
            && !subscriptions.contains { $0.channel == wish.channel && $0.topic != nil && $0.state == .subscribed }
    }
}

import PatchbayAdapterKit
import PatchbayModel

/// A consent decision of a contact as a mark of eight bytes, without personal data: a hash of the contact and of the
/// subject, and in the lowest bits whether it is an opt-out and whether it concerns a consent.
///
/// Two spellings of a key that differ in upper and lower case, or in surrounding space, have the same mark, because a
/// vendor may treat them as one and an opt-out must apply. A telephone number has one mark for its digits and one for its
/// national number, so that spellings with and without the country calling code match.
enum ConsentMark {
    static let no: UInt64 = 1
    static let consent: UInt64 = 2
    /// The maximum number of digits of a number that count.
    static let digits = 64

    /// The subject of a subscription.
    static func wish(_ channel: String, _ topic: String?) -> UInt64 {
        KeyMark("wish\u{0}\(channel)\u{0}\(topic ?? "\u{0}")", opinion: 0).folded & ~consent
    }

    /// The subject of an opt-out from a whole channel, as it applies to the topics of other records.
    static func topics(_ channel: String) -> UInt64 { wish(channel, "\u{0}topics") }

    /// The subject of a consent; without a channel it applies to all channels.
    static func consent(_ purpose: String, _ channel: String?) -> UInt64 {
        KeyMark("consent\u{0}\(purpose)\u{0}\(channel ?? "\u{0}")", opinion: 0).folded | consent
    }

    /// The marks of a key or an address. Equal ones have at least one mark in common. Composed and decomposed letters
    /// beyond ASCII are equal.
    static func keys(_ identifier: Identifier) -> [UInt64] {
        identifier.comparisonKeys.map { text in
            KeyMark(key: identifier.kind == .phone ? String(text.prefix(digits)) : text, opinion: 0).folded
        }
    }

    /// The minimum number of digits of a telephone number.
    static let fewestDigits = 4

    /// Whether an identifier may be an address. Texts that many contacts have, such as `unknown`, are not.
    static func isAddress(_ identifier: Identifier) -> Bool {
        identifier.kind == .phone
            ? identifier.value.utf8.count { $0 &- 0x30 < 10 } >= fewestDigits
            : identifier.value.utf8.contains(UInt8(ascii: "@"))
    }

    /// The mark of an opt-in of a contact to a subject.
    @inline(__always) static func yes(_ key: UInt64, _ subject: UInt64) -> UInt64 {
        KeyMark.mix(key ^ subject) & ~(no | consent) | subject & consent
    }
}

/// The consent decisions of one contact as marks: by the key that identifies the contact at the target, by the contact's
/// own number, and by each address that receives messages. An opt-out applies to the person and to the address in every
/// record with that address, even as a second address.
struct ConsentMarks {
    private let own: [UInt64]
    private let addresses: [(channel: Channel, mark: UInt64)]

    /// The kind of identifier that receives the messages of a channel.
    static let addressKinds: [(channel: Channel, kind: IdentifierKind)] = [(.email, .email), (.sms, .phone)]

    /// Creates the marks; nil for a contact without an address, a number of its own, or a key that identifies it at the
    /// target.
    init?(_ contact: Contact, knownBy kinds: [IdentifierKind]) {
        func first(_ kind: IdentifierKind) -> Identifier? { contact.identifiers.first { $0.kind == kind } }
        var own: [UInt64] = []
        for identifier in [kinds.lazy.compactMap(first).first, first(.external)].compactMap(\.self) {
            own += ConsentMark.keys(identifier).filter { !own.contains($0) }
        }
        var addresses: [(channel: Channel, mark: UInt64)] = []
        for (channel, kind) in Self.addressKinds {
            for identifier in contact.identifiers where identifier.kind == kind && ConsentMark.isAddress(identifier) {
                // Adds the key once.
                for mark in ConsentMark.keys(identifier)
                where !own.contains(mark) && !addresses.contains(where: { $0 == (channel, mark) }) {
                    addresses.append((channel, mark))
                }
            }
        }
        (self.own, self.addresses) = (own, addresses)
        if own.isEmpty, addresses.isEmpty { return nil }
    }

    /// The keys of a contact, or the marks of these keys for some subjects.
    struct Holders {
        /// Of the contact, by its key at the target and by its own number.
        let own: [UInt64]
        /// Of the contact's addresses.
        let addresses: [UInt64]

        /// The marks of opt-outs that conflict with an opt-in to the subjects.
        func marks(_ subjects: [UInt64]) -> Holders {
            func marks(_ keys: [UInt64]) -> [UInt64] {
                keys.flatMap { key in subjects.map { ConsentMark.yes(key, $0) } }
            }
            return Holders(own: marks(own), addresses: marks(addresses))
        }

        var all: [UInt64] { own + addresses }

        /// The marks for which there is none of the given opt-outs.
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

    /// The subjects whose opt-outs conflict with an opt-in to a subscription: the subscription itself, and messages on the
    /// channel or on all channels.
    func subjects(of wish: Subscription) -> Holders {
        let (channel, messaging) = (wish.channel.rawValue, Purpose.messaging.rawValue)
        return holders(wish.channel).marks(
            [
                ConsentMark.wish(channel, wish.topic), ConsentMark.consent(messaging, channel),
                ConsentMark.consent(messaging, nil),
            ] + (wish.topic == nil ? [] : [ConsentMark.topics(channel)])
        )
    }

    /// The subjects whose opt-outs conflict with an opt-in to a purpose.
    func subjects(of consent: Consent) -> Holders {
        let (purpose, channel) = (consent.purpose.rawValue, consent.channel?.rawValue)
        let own = ConsentMark.consent(purpose, channel)
        return holders(of: consent).marks(channel == nil ? [own] : [own, ConsentMark.consent(purpose, nil)])
    }

    /// The contact's keys for ``DecidedKeys``; none if it has no decision.
    func decidedKeys(of contact: Contact) -> [UInt64] {
        let bits = DecisionBits.bits(of: contact)
        func mark(_ key: UInt64, _ bits: UInt64) -> UInt64 { key & ~DecisionBits.all | bits }
        // Messages on one channel reach an address.
        let reached = addresses.map {
            ($0.mark, bits & DecisionBits.bits(3, channel: Vocabulary.index(of: $0.channel)))
        }
        return (bits == 0 ? [] : own.map { mark($0, bits) }) + reached.filter { $0.1 != 0 }.map(mark)
    }

    /// The marks of each opt-out of the contact.
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

    /// The marks that conflict with each opt-in of the contact.
    func optIns(of contact: Contact) -> [UInt64] {
        let own = Set(optOuts(of: contact))
        return contact.subscriptions.filter { $0.state == .subscribed }.flatMap { subjects(of: $0).without(own).all }
            + contact.consents.filter { $0.state == .granted }.flatMap { subjects(of: $0).without(own).all }
    }
}

extension Contact {
    /// Whether an opt-out from a whole channel also overrides opt-ins of other records to its topics. It does not if the
    /// contact has an opt-in to a topic of its own.
    fileprivate func endsTopics(_ wish: Subscription) -> Bool {
        wish.topic == nil
            && !subscriptions.contains { $0.channel == wish.channel && $0.topic != nil && $0.state == .subscribed }
    }
}

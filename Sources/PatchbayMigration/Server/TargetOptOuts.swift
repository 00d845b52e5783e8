import PatchbayAdapterKit
import PatchbayModel

/// The opt-outs at a target that is read in pages, as marks of eight bytes without personal data.
///
/// ``EarlierOptOuts`` has the opt-outs of earlier records of the source. As there, an opt-out applies to the contact and to
/// the address that receives the channel's messages, in all contacts with that address. Keys and addresses that differ only
/// in upper and lower case count as one, because a vendor may treat them so.
struct TargetOptOuts {
    private var marks: Set<UInt64> = []
    /// The marks of statuses that cannot be read.
    private var unreadable: Set<UInt64> = []

    /// Adds each opt-out of a contact.
    mutating func note(_ key: String, _ contact: Contact) {
        for wish in Set(contact.subscriptions.map(\.key)) {
            guard let reason = contact.reason(against: wish) else { continue }
            let found = Self.marks(wish, key, contact)
            if reason == ServerFinding.targetUnreadable { unreadable.formUnion(found) } else { marks.formUnion(found) }
        }
    }

    /// The reason why an opt-in is not sent: the person or another contact with the address opted out, or has a status that
    /// cannot be read. Nil if the opt-in can be sent.
    func reason(against wish: Subscription.Key, of key: String, _ contact: Contact) -> FindingRow? {
        let all = Self.marks(wish, key, contact)
        if all.contains(where: marks.contains) { return ServerFinding.targetNo }
        return all.contains(where: unreadable.contains) ? ServerFinding.targetUnreadable : nil
    }

    private static func marks(_ wish: Subscription.Key, _ key: String, _ contact: Contact) -> [UInt64] {
        let own = KeyMark(key: key, opinion: 0).folded
        let kinds = ConsentMarks.addressKinds.filter { $0.channel == wish.channel }.map(\.kind)
        let addresses = contact.identifiers.filter { kinds.contains($0.kind) && ConsentMark.isAddress($0) }
        let subject = ConsentMark.wish(wish.channel.rawValue, wish.topic)
        return ([own] + addresses.flatMap(ConsentMark.keys)).map { ConsentMark.yes($0, subject) }
    }
}

extension Contact {
    /// Whether the person opted out of a subscription, permanently or temporarily.
    func saysNo(to key: Subscription.Key) -> Bool { reason(against: key) != nil }

    /// The reason why an opt-in is not sent to a target with this contact; nil if it can be sent.
    func reason(against key: Subscription.Key) -> FindingRow? {
        let optOuts = subscriptions.filter { $0.key == key && $0.state.isOptOut }
        if optOuts.isEmpty { return nil }
        return optOuts.allSatisfy(\.isUnreadable) ? ServerFinding.targetUnreadable : ServerFinding.targetNo
    }
}

import PatchbayAdapterKit
import PatchbayModel

/// The opt-outs at a target that shows itself in pages: a mark of eight bytes for each in a set of them, and no person's data.
///
/// What an earlier record of the source opted out of is known to ``EarlierOptOuts``. As there, an opt-out holds for the contact and for
/// the address to which the channel's messages go, whoever else has it. Two spellings of either that differ in the case of
/// letters are one, because a vendor may take them for one.
struct TargetOptOuts {
    private var marks: Set<UInt64> = []
    /// Those of statuses that cannot be read.
    private var unreadable: Set<UInt64> = []

    /// Notes each opt-out of a contact.
    mutating func note(_ key: String, _ contact: Contact) {
        for wish in Set(contact.subscriptions.map(\.key)) {
            guard let reason = contact.reason(against: wish) else { continue }
            let found = Self.marks(wish, key, contact)
            if reason == ServerFinding.targetUnreadable { unreadable.formUnion(found) } else { marks.formUnion(found) }
        }
    }

    /// Why an opt-in is not sent: the person, or who has the same address, opted out of it, or has a status that cannot be read; nil if
    /// nothing speaks against it.
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
    /// Whether the person opted out of it, permanently or temporarily.
    func saysNo(to key: Subscription.Key) -> Bool { reason(against: key) != nil }

    /// Why an opt-in to it is not sent to a target that shows this contact; nil if nothing speaks against it.
    func reason(against key: Subscription.Key) -> FindingRow? {
        let optOuts = subscriptions.filter { $0.key == key && $0.state.isOptOut }
        if optOuts.isEmpty { return nil }
        return optOuts.allSatisfy(\.isUnreadable) ? ServerFinding.targetUnreadable : ServerFinding.targetNo
    }
}

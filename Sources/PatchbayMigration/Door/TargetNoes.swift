import PatchbayAdapterKit
import PatchbayModel

/// What people said no to at a target that shows itself in pages: a mark of eight bytes for each in a set of them, and
/// no person's data.
///
/// What an earlier record of the source said no to is heard by ``EarlierOptOuts``. As there, a no holds for the contact and for
/// the address to which the channel's messages go, whoever else has it; and two spellings of either that differ in the case of
/// letters are one, because a vendor may take them for one.
struct TargetNoes {
    private var marks: Set<UInt64> = []

    /// Notes each no of a contact.
    mutating func note(_ key: String, _ contact: Contact) {
        for (wish, state) in contact.subscriptions.mostProtectiveStates where state.isOptOut {
            marks.formUnion(Self.marks(wish, key, contact))
        }
    }

    /// Whether the person, or who has the same address, said no to it.
    func hold(_ wish: Subscription.Key, of key: String, _ contact: Contact) -> Bool {
        Self.marks(wish, key, contact).contains(where: marks.contains)
    }

    private static func marks(_ wish: Subscription.Key, _ key: String, _ contact: Contact) -> [UInt64] {
        let own = KeyMark(key: key, opinion: 0).folded
        let kinds = ConsentMarks.addressKinds.filter { $0.channel == wish.channel }.map(\.kind)
        let addresses = contact.identifiers.filter { kinds.contains($0.kind) && ConsentMark.isAddress($0) }
        let subject = ConsentMark.wish(wish.channel.rawValue, wish.topic)
        return ([own] + addresses.map(ConsentMark.key)).map { ConsentMark.yes($0, subject) }
    }
}

extension Contact {
    /// Whether the person wants nothing of it, now or ever.
    func saysNo(to key: Subscription.Key) -> Bool { subscriptions.mostProtectiveState(of: key)?.isOptOut ?? false }
}

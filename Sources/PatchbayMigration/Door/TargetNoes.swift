import PatchbayAdapterKit
import PatchbayModel

/// What people said no to at a target that shows itself in pages: a mark of eight bytes for each in a set of them, and
/// no person's data.
///
/// What an earlier record of the source said no to is heard by ``EarlierNoes``. Two spellings of a key in upper and lower case are one: a vendor may take them for one, and a no must hold.
struct TargetNoes {
    private var marks: Set<UInt64> = []

    /// Notes each no of a contact.
    mutating func note(_ key: String, _ contact: Contact) {
        for wish in contact.subscriptions where contact.saysNo(to: wish.key) { marks.insert(Self.mark(key, wish.key)) }
    }

    /// Whether the person said no to it.
    func hold(_ wish: Subscription.Key, of key: String) -> Bool { marks.contains(Self.mark(key, wish)) }

    private static func mark(_ key: String, _ wish: Subscription.Key) -> UInt64 {
        ConsentMark.yes(
            KeyMark(key.lowercased(), opinion: 0).folded,
            ConsentMark.wish(wish.channel.rawValue, wish.topic)
        )
    }
}

extension Contact {
    /// Whether the person wants nothing of it, now or ever.
    func saysNo(to key: Subscription.Key) -> Bool { subscriptions.mostProtectiveState(of: key)?.isNo ?? false }
}

extension Subscription.State {
    /// Whether the person wants nothing, now or ever.
    var isNo: Bool { self == .unsubscribed || self == .suspended }
}

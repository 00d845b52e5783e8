import PatchbayModel

/// The keys of the records with consent decisions, to find out whether records of one person may contradict each other.
///
/// A key is a mark of eight bytes without personal data: a hash, and in its lowest bits the ``DecisionBits`` of its record.
/// Most sources have one record of each person. They need no comparison of single decisions, which takes much longer.
final class DecidedKeys {
    private var store = ShareStore<UInt64>(bufferSize: 4 << 10)
    /// The marks that were added since ``takeUnlogged()``, if a log keeps them.
    private var unlogged: [UInt64] = []
    private let isLogged: Bool

    /// Creates a store without keys. `isLogged` states whether the caller keeps a log.
    init(isLogged: Bool = false) { self.isLogged = isLogged }

    /// Adds marks of records.
    func add(_ marks: [UInt64]) throws(FileError) {
        if isLogged { unlogged += marks }
        try restore(marks)
    }

    /// Adds marks that the log has already.
    func restore(_ marks: [UInt64]) throws(FileError) { try store.add(marks) { $0 } }

    /// Whether the number of marks that are not in the log is so large that they should be moved there.
    var hasManyUnlogged: Bool { unlogged.count > 1 << 16 }

    /// Returns the marks that the log does not have.
    func takeUnlogged() -> [UInt64] {
        defer { unlogged.removeAll(keepingCapacity: true) }
        return unlogged
    }

    /// Whether some key has a record that opts in and another one that opts out, on one channel. The topics and purposes of a
    /// channel may differ, so the records need not contradict each other.
    func mayContradict() throws(FileError) -> Bool {
        for share in 0..<Shares.count where Self.mayContradict(try store.values(share)) {
            return true
        }
        return false
    }

    private static func mayContradict(_ marks: [UInt64]) -> Bool {
        // A mark is a hash, so its own bits give its slot. If that slot is taken, the next free one is used. Zero is a free
        // slot, because every mark has a bit of a decision.
        var size = 8
        while size < 2 * marks.count { size *= 2 }
        var slots = [UInt64](repeating: 0, count: size)
        for mark in marks {
            var slot = Int(truncatingIfNeeded: mark &>> DecisionBits.count) & (size &- 1)
            while slots[slot] != 0, (slots[slot] ^ mark) & ~DecisionBits.all != 0 { slot = (slot &+ 1) & (size &- 1) }
            if slots[slot] != 0, DecisionBits.contradict(slots[slot], mark) { return true }
            slots[slot] |= mark
        }
        return false
    }
}

/// The decisions of a record by channel: two bits for each channel of the vocabulary, an opt-in and an opt-out, and two
/// bits for all other decisions.
enum DecisionBits {
    static let optIn: UInt64 = 0b01
    static let optOut: UInt64 = 0b10
    /// The number of bits.
    static let count: UInt64 = 2 * UInt64(Vocabulary.channelNames.count + 1)
    static let all = (1 as UInt64) << count - 1
    private static let optIns = all / 3

    /// The bits of a decision about a channel of the vocabulary; about every channel for ``Vocabulary/none``.
    @inline(__always) static func bits(_ decision: UInt64, channel: Int) -> UInt64 {
        if channel == Vocabulary.none { return decision &* optIns }
        return decision &<< UInt64(truncatingIfNeeded: 2 &* (channel < 0 ? Vocabulary.channelNames.count : channel))
    }

    /// The bits of a decision about a purpose other than messages.
    static func ofOtherPurpose(_ decision: UInt64) -> UInt64 { bits(decision, channel: Vocabulary.unknown) }

    /// Whether one record opts in and the other opts out.
    @inline(__always) static func contradict(_ one: UInt64, _ other: UInt64) -> Bool {
        (one & (other &>> 1) | other & (one &>> 1)) & optIns != 0
    }

    /// The bits of all decisions of a contact.
    static func bits(of contact: Contact) -> UInt64 {
        var bits: UInt64 = 0
        for wish in contact.subscriptions where wish.state != .unknown {
            let decision = wish.state == .subscribed ? optIn : optOut
            bits |= Self.bits(decision, channel: Vocabulary.index(of: wish.channel))
        }
        for consent in contact.consents where consent.state != .unknown {
            let decision = consent.state == .granted ? optIn : optOut
            bits |=
                consent.purpose == .messaging
                ? Self.bits(decision, channel: Vocabulary.index(of: consent.channel)) : ofOtherPurpose(decision)
        }
        return bits
    }
}

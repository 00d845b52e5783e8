/// Counts keys, how many differ, and how many differ in the case of letters alone: exactly, in bounded memory.
///
/// Marks that do not fit are spilled to a file without a name, so that nothing stays if the process dies. A sketch would need less
/// room and answer "about": a bill and a collision are no matters of "about".
final class KeyCounter {
    /// What was counted.
    struct Counts: Equatable, Sendable {
        /// Keys, each time that one stands.
        var total = 0
        /// Keys that differ.
        var distinct = 0
        /// Keys that differ in more than the case of letters.
        var distinctFolded = 0
        /// Keys that stand in several records which contradict each other about a channel.
        var torn = 0
        /// The same about a topic, once for each of them.
        var tornTopics = 0
        /// Some of those keys, each with how often it stands; at most ``mostTorn``.
        var tornKeys: [TornKey] = []
        /// Keys that differ, of those that are the first of their kind in a record that is written.
        var written = 0
    }

    /// A key about which records contradict each other: its digest without regard to case.
    struct TornKey: Hashable, Sendable {
        let folded: UInt64
        let count: Int
    }

    /// More of them are counted and not named.
    private static let mostTorn = 20

    private let store: ShareStore
    private var total = 0

    /// A counter that keeps `bufferSize` bytes of each share of the marks in memory.
    init(bufferSize: Int = 4 << 10) { store = ShareStore(bufferSize: bufferSize) }

    func add(_ marks: [KeyMark]) throws(FileError) {
        total += marks.count
        try store.add(marks) { $0.folded }
    }

    /// Counts everything that was added.
    func finish() throws(FileError) -> Counts {
        var counts = Counts(total: total)
        for share in 0..<ShareStore.shares {
            Self.count(try store.values(share, as: KeyMark.self), into: &counts)
        }
        return counts
    }

    /// A key: its first spelling with what all of its records say, and the number of the records.
    private struct Key {
        var exact: UInt64
        var count = 1
    }

    private static func cut(_ keys: inout [TornKey]) {
        keys.sort { $0.folded < $1.folded }
        keys.removeLast(max(0, keys.count - mostTorn))
    }

    private static func count(_ marks: [KeyMark], into counts: inout Counts) {
        var keys: [UInt64: Key] = [:]
        // Spellings of a key beyond the first, each with its bit for a contact's key; few keys have any.
        struct Spelling: Hashable { let folded, exact: UInt64 }
        var spellings: [Spelling: UInt64] = [:]
        for mark in marks {
            guard var known = keys[mark.folded] else {
                keys[mark.folded] = Key(exact: mark.exact)
                continue
            }
            var key = mark.exact & KeyMark.Opinion.key
            if (known.exact ^ mark.exact) & ~KeyMark.Opinion.all != 0 {
                let spelling = Spelling(folded: mark.folded, exact: mark.exact & ~KeyMark.Opinion.all)
                spellings[spelling, default: 0] |= key
                key = 0
            }
            known.exact |= mark.exact & KeyMark.Opinion.said | key
            known.count += 1
            keys[mark.folded] = known
        }
        for (folded, key) in keys {
            if key.exact & KeyMark.Opinion.key != 0 { counts.written += 1 }
            guard key.count > 1, KeyMark.Opinion.isTorn(key.exact & KeyMark.Opinion.said) else { continue }
            counts.torn += 1
            counts.tornKeys.append(TornKey(folded: folded, count: key.count))
        }
        // The same ones whatever was spilled.
        Self.cut(&counts.tornKeys)
        counts.written += spellings.values.count { $0 != 0 }
        counts.distinct += keys.count + spellings.count
        counts.distinctFolded += keys.count
    }
}

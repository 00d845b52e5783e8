/// Counts keys exactly and in bounded memory: all keys, different keys, and keys that differ in more than upper and lower
/// case.
///
/// Marks that do not fit into memory are moved to an unnamed file, which disappears with the process. A probabilistic sketch
/// would need less memory, but its approximate counts are not sufficient for a bill or a collision.
final class KeyCounter {
    /// The counts.
    struct Counts: Equatable, Sendable {
        /// The number of keys, including repetitions.
        var total = 0
        /// The number of different keys.
        var distinct = 0
        /// The number of keys that differ in more than upper and lower case.
        var distinctFolded = 0
        /// The number of keys in several records that contradict each other about a channel.
        var torn = 0
        /// The number of contradictions about topics. A key counts once for each topic.
        var tornTopics = 0
        /// Some of the keys with contradictory records, each with its number of occurrences; at most ``mostTorn``.
        var tornKeys: [TornKey] = []
        /// The number of different keys that are the first of their kind in a written record.
        var written = 0
    }

    /// A key with contradictory records: its digest without regard to case.
    struct TornKey: Hashable, Sendable {
        let folded: UInt64
        let count: Int
    }

    /// The maximum number of such keys that are listed. Further ones are only counted.
    private static let mostTorn = 20

    private var store: ShareStore<KeyMark>
    private var total = 0

    /// Creates a counter that keeps `bufferSize` bytes of each share of the marks in memory.
    init(bufferSize: Int = 4 << 10) { store = ShareStore(bufferSize: bufferSize) }

    func add(_ marks: [KeyMark]) throws(FileError) {
        total += marks.count
        try store.add(marks) { $0.folded }
    }

    /// Returns the counts of everything that was added.
    func finish() throws(FileError) -> Counts {
        var counts = Counts(total: total)
        for share in 0..<Shares.count {
            Self.count(try store.values(share), into: &counts)
        }
        return counts
    }

    /// A key: its first spelling with the decisions of all of its records, and the number of the records.
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
        // The further spellings of keys, each with the bit for a contact's key. Few keys have any.
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
        // The selection does not depend on which marks were moved to the file.
        Self.cut(&counts.tornKeys)
        counts.written += spellings.values.count { $0 != 0 }
        counts.distinct += keys.count + spellings.count
        counts.distinctFolded += keys.count
    }
}

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

    /// Marks in memory.
    private let limit: Int
    private var marks: [KeyMark] = []
    private var spilled: SpilledMarks<KeyMark>
    private var total = 0

    /// A counter that keeps so many marks in memory, half a MiB, and counts those that are spilled part by part.
    init(limit: Int = 32 << 10, spilling spilled: SpilledMarks<KeyMark> = SpilledMarks()) {
        (self.limit, self.spilled) = (limit, spilled)
    }

    func add(_ more: [KeyMark]) throws(FileError) {
        total += more.count
        marks += more
        if marks.count >= limit { try spill() }
    }

    private func spill() throws(FileError) {
        try spilled.add(marks)
        marks.removeAll(keepingCapacity: true)
    }

    /// Counts everything that was added, on so many threads.
    func finish(workers: Int = 1) throws(FileError) -> Counts {
        var counts = Counts(total: total)
        guard !spilled.isEmpty else {
            Self.count(marks, into: &counts)
            return counts
        }
        try spill()
        let some = try spilled.eachPart(workers: workers) { parts throws(FileError) in
            var (counts, marks) = (Counts(), [KeyMark]())
            while try parts.next(&marks) { Self.count(marks, into: &counts) }
            return counts
        }
        for each in some { Self.add(each, to: &counts) }
        return counts
    }

    /// Adds what was counted of other keys.
    private static func add(_ other: Counts, to counts: inout Counts) {
        counts.distinct += other.distinct
        counts.distinctFolded += other.distinctFolded
        counts.torn += other.torn
        counts.tornKeys += other.tornKeys
        cut(&counts.tornKeys)
        counts.written += other.written
    }

    /// One slot of a table of keys.
    private struct Slot: BitwiseCopyable {
        var folded: UInt64 = 0
        var exact: UInt64 = 0
        /// Records with this key; 0 is a free slot.
        var count = 0
    }

    private static func cut(_ keys: inout [TornKey]) {
        keys.sort { $0.folded < $1.folded }
        keys.removeLast(max(0, keys.count - mostTorn))
    }

    private static func count(_ marks: [KeyMark], into counts: inout Counts) {
        guard !marks.isEmpty else { return }
        // By keys, not by marks: a word that stands in each record is one key.
        var slots = [Slot](repeating: Slot(), count: 16)
        // Spellings of a key beyond the first, each with its bit for a contact's key; few keys have any.
        struct Spelling: Hashable { let folded, exact: UInt64 }
        var spellings: [Spelling: UInt64] = [:]
        var (keys, torn, written) = (0, 0, 0)
        var tornKeys: [TornKey] = []
        for mark in marks {
            let place = place(of: mark.folded, in: slots)
            if slots[place].count == 0 {
                slots[place] = Slot(folded: mark.folded, exact: mark.exact, count: 1)
                keys += 1
                if 2 * keys > slots.count { slots = doubled(slots) }
                continue
            }
            var key = mark.exact & KeyMark.Opinion.key
            if (slots[place].exact ^ mark.exact) & ~KeyMark.Opinion.all != 0 {
                let spelling = Spelling(folded: mark.folded, exact: mark.exact & ~KeyMark.Opinion.all)
                spellings[spelling, default: 0] |= key
                key = 0
            }
            slots[place].exact |= mark.exact & KeyMark.Opinion.said | key
            slots[place].count += 1
        }
        for slot in slots where slot.count > 0 {
            if slot.exact & KeyMark.Opinion.key != 0 { written += 1 }
            guard slot.count > 1, KeyMark.Opinion.isTorn(slot.exact & KeyMark.Opinion.said) else { continue }
            torn += 1
            tornKeys.append(TornKey(folded: slot.folded, count: slot.count))
            // The same ones whatever was spilled.
            if tornKeys.count > 2 * Self.mostTorn { Self.cut(&tornKeys) }
        }
        for bit in spellings.values where bit != 0 { written += 1 }
        let distinct = keys + spellings.count
        let some = Counts(distinct: distinct, distinctFolded: keys, torn: torn, tornKeys: tornKeys, written: written)
        add(some, to: &counts)
    }

    /// Where a key stands in a table whose size is a power of two, or where it belongs.
    private static func place(of folded: UInt64, in slots: [Slot]) -> Int {
        let mask = slots.count - 1
        var place = Int(truncatingIfNeeded: folded) & mask
        while slots[place].count > 0, slots[place].folded != folded { place = (place + 1) & mask }
        return place
    }

    private static func doubled(_ slots: [Slot]) -> [Slot] {
        var larger = [Slot](repeating: Slot(), count: 2 * slots.count)
        for slot in slots where slot.count > 0 { larger[place(of: slot.folded, in: larger)] = slot }
        return larger
    }
}

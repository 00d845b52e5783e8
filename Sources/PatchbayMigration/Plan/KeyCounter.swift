#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Counts keys, how many differ, and how many differ in the case of letters alone: exactly, in bounded memory.
///
/// Marks that do not fit are spilled, sorted into 256 shares by their first bits, to a file without a name, so that nothing
/// stays if the process dies. A sketch would need less room and answer "about": a bill and a collision are no matters of
/// "about".
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

    /// Marks in memory, and marks of a share that are counted at once.
    private let (limit, shareLimit): (Int, Int)
    private static let shares = 256

    private var marks: [KeyMark] = []
    private var spill: SpillFile?
    /// Where the shares of each spill stand in the file, as counts.
    private var segments: [[Int]] = []
    private var total = 0

    /// A counter that keeps so many marks in memory, half a MiB, and counts at most so many at once.
    init(limit: Int = 32 << 10, shareLimit: Int = 128 << 10) { (self.limit, self.shareLimit) = (limit, shareLimit) }

    func add(_ more: [KeyMark]) throws(FileError) {
        total += more.count
        marks += more
        if marks.count >= limit { try flush() }
    }

    private static func share(_ mark: KeyMark) -> Int { Int(truncatingIfNeeded: mark.folded &>> 56) }

    private func flush() throws(FileError) {
        let file: SpillFile
        if let spill { file = spill } else { file = try SpillFile() }
        spill = file
        var counts = [Int](repeating: 0, count: Self.shares)
        for mark in marks { counts[Self.share(mark)] += 1 }
        var places = counts.indices.map { counts[..<$0].reduce(0, +) }
        var sorted = marks
        for mark in marks {
            let share = Self.share(mark)
            sorted[places[share]] = mark
            places[share] += 1
        }
        try file.append(sorted)
        segments.append(counts)
        marks.removeAll(keepingCapacity: true)
    }

    /// Counts everything that was added.
    func finish() throws(FileError) -> Counts {
        var counts = Counts(total: total)
        guard let spill else {
            Self.count(marks, into: &counts)
            return counts
        }
        if !marks.isEmpty { try flush() }
        for share in 0..<Self.shares {
            let size = segments.reduce(0) { $0 + $1[share] }
            // A share that is too large is read several times, a part of it at a time.
            let parts = UInt64(1 + size / shareLimit)
            for part in 0..<parts {
                var (taken, offset) = ([KeyMark](), 0)
                for segment in segments {
                    let start = offset + segment[..<share].reduce(0, +)
                    let read = try spill.read(segment[share], at: start)
                    taken += parts == 1 ? read : read.filter { ($0.folded &>> 8) % parts == part }
                    offset += segment.reduce(0, +)
                }
                Self.count(taken, into: &counts)
            }
        }
        return counts
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
        var size = 16
        while size < 2 * marks.count { size *= 2 }
        let mask = size - 1
        // Spellings of a key beyond the first, each with its bit for a contact's key; few keys have any.
        struct Spelling: Hashable { let folded, exact: UInt64 }
        var spellings: [Spelling: UInt64] = [:]
        var (keys, torn, written) = (0, 0, 0)
        var tornKeys: [TornKey] = []
        withUnsafeTemporaryAllocation(of: Slot.self, capacity: size) { slots in
            slots.initialize(repeating: Slot())
            for mark in marks {
                var place = Int(truncatingIfNeeded: mark.folded) & mask
                while slots[place].count > 0, slots[place].folded != mark.folded { place = (place + 1) & mask }
                if slots[place].count == 0 {
                    slots[place] = Slot(folded: mark.folded, exact: mark.exact, count: 1)
                    keys += 1
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
        }
        for bit in spellings.values where bit != 0 { written += 1 }
        counts.distinct += keys + spellings.count
        counts.distinctFolded += keys
        counts.torn += torn
        counts.tornKeys += tornKeys
        cut(&counts.tornKeys)
        counts.written += written
    }
}

/// A file without a name, for what does not fit into memory: only its owner may read it, and it is gone with the process.
final class SpillFile {
    private let file: FileDescriptor
    /// Bytes so far.
    private var count = 0

    init() throws(FileError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/patchbay.XXXXXX".utf8CString)
        let number = mkstemp(&name)
        guard number >= 0 else { throw FileError(folder, .open) }
        unlink(name)
        file = FileDescriptor(number, path: folder, closesAtEnd: true)
    }

    /// Appends bytes, and says where they stand.
    func append(bytes: [UInt8]) throws(FileError) -> Int {
        try file.write(bytes[...])
        defer { count += bytes.count }
        return count
    }

    /// Everything that it holds now, from its start.
    func source(chunk: Int) throws(FileError) -> FileSource { try FileSource(kept: file, chunk: chunk) }

    /// What reads at places of it from any thread, as long as this lives.
    var reader: FileDescriptor.Reader { file.reader }

    /// Reads bytes at a place.
    func read(bytes count: Int, at place: Int) throws(FileError) -> [UInt8] { try file.read(count, at: place) }

    /// Appends values.
    func append(_ values: [KeyMark]) throws(FileError) {
        _ = try append(bytes: values.withUnsafeBytes { Array($0) })
    }

    /// Reads values at a place, in values.
    func read(_ count: Int, at place: Int) throws(FileError) -> [KeyMark] {
        let stride = MemoryLayout<KeyMark>.stride
        let bytes = try file.read(count * stride, at: place * stride)
        return bytes.withUnsafeBytes { bytes in
            (0..<(bytes.count / stride)).map { bytes.loadUnaligned(fromByteOffset: $0 * stride, as: KeyMark.self) }
        }
    }
}

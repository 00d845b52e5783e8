/// The opt-outs that were read, as marks. If there are too many, further marks are kept in an unnamed file.
struct OptOutTable {
    /// A bit set that is indexed by the highest bits of the marks, so that most opt-ins need no further lookup.
    private final class Bits {
        private static let shift: UInt64 = 43
        private static let count = 1 << (64 - shift)

        // `words` has a bit for each number of `64 - shift` bits.
        private let words: UnsafeMutablePointer<UInt64> = .allocate(capacity: count / 64)

        init() { words.initialize(repeating: 0, count: Self.count / 64) }

        deinit { words.deallocate() }

        @inline(__always) subscript(_ mark: UInt64) -> Bool {
            get { words[Int(truncatingIfNeeded: mark &>> (Self.shift &+ 6))] & Self.bit(mark) != 0 }
            set { words[Int(truncatingIfNeeded: mark &>> (Self.shift &+ 6))] |= newValue ? Self.bit(mark) : 0 }
        }

        @inline(__always) private static func bit(_ mark: UInt64) -> UInt64 { 1 &<< (mark &>> shift & 63) }
    }

    /// A set of opt-outs. A mark is a hash, so its own bits give its slot; the next free slot is used if that one is taken.
    private struct Marks {
        // At most three quarters of the slots are taken. Zero marks a free slot: the lowest bit of an opt-out is set.
        private var slots = [UInt64](repeating: 0, count: 1 << 10)
        private(set) var count = 0

        /// The slot of a mark, or the free slot for it.
        private func slot(of mark: UInt64) -> Int {
            var slot = Int(truncatingIfNeeded: mark &>> 2) & (slots.count &- 1)
            while slots[slot] != 0, slots[slot] != mark { slot = (slot &+ 1) & (slots.count &- 1) }
            return slot
        }

        func contains(_ mark: UInt64) -> Bool { slots[slot(of: mark)] == mark }

        /// Adds a mark. Returns false if the set has it already.
        mutating func insert(_ mark: UInt64) -> Bool {
            let slot = slot(of: mark)
            guard slots[slot] == 0 else { return false }
            (slots[slot], count) = (mark, count + 1)
            guard count * 4 > slots.count * 3 else { return true }
            let marks = slots
            (slots, count) = ([UInt64](repeating: 0, count: 2 * marks.count), 0)
            for mark in marks where mark != 0 { _ = insert(mark) }
            return true
        }

        /// Removes a mark of the set, and adds the marks in the next slots again, because they may belong to an earlier slot.
        mutating func remove(_ mark: UInt64) {
            var slot = slot(of: mark)
            while slots[slot] != 0 {
                let moved = slots[slot]
                (slots[slot], count) = (0, count - 1)
                if moved != mark { _ = insert(moved) }
                slot = (slot + 1) & (slots.count - 1)
            }
        }
    }

    private let limit: Int
    private let bits = Bits()
    /// Whether any opt-out concerns a consent. Most sources have none.
    private var hasConsents = false
    private var known = Marks()
    /// Whether the table is full. All later opt-outs are late then, as is every opt-in that may follow a late opt-out.
    private(set) var isFull = false
    private var lateMarks: [UInt64] = []
    private let late = ShareStore(bufferSize: 4 << 10)
    /// The number of late marks that are moved out of memory at once.
    private static let lateMarksInMemory = 16 << 10
    /// The marks that were added since ``takeAdded()``, if they are kept.
    private var added: [UInt64] = []
    /// Whether enough marks were added that they should be moved out of memory.
    var hasManyAdded: Bool { added.count > 1 << 16 }
    /// Whether accepted opt-ins are kept, for ``optInsBeforeOptOuts()``.
    var keepsOptIns = false
    private var optIns: [UInt64] = []
    private let earlyOptIns = ShareStore(bufferSize: 4 << 10)
    private var hasEarlyOptIns = false
    /// The maximum number of opt-ins in memory.
    private static let optInsInMemory = 1 << 20
    /// Collects all marks if they are not applied, for ``conflicts()``.
    private let collected: ShareStore?
    private var uncollected: [UInt64] = []
    /// Whether added marks are kept for a checkpoint.
    var keepsAdded = false

    /// Creates a table of at most `limit` opt-outs.
    init(limit: Int) { (self.limit, collected) = (limit, nil) }

    /// Creates a table that collects all marks and applies none.
    init() { (limit, collected) = (0, ShareStore()) }

    /// The opt-outs that were added since the last call, and the opt-ins that are kept; nil once not all opt-outs fit.
    mutating func takeAdded() -> [UInt64]? {
        defer { added = [] }
        return isFull ? nil : added
    }

    /// Adds the marks of an earlier run. ``takeAdded()`` does not return them.
    mutating func restore(_ marks: [UInt64]) {
        let keepsAdded = keepsAdded
        self.keepsAdded = false
        for mark in marks {
            if mark & ConsentMark.no != 0 { note(mark) } else { keep(optIn: mark) }
        }
        self.keepsAdded = keepsAdded
    }

    /// Whether an opt-out of any of the subjects is known.
    mutating func holds(_ subjects: [UInt64]) -> Bool {
        guard collected == nil else { return false }
        if subjects.contains(where: isKnown) { return true }
        if isFull { lateMarks += subjects.filter(mayBeKnown) }
        return false
    }

    /// Keeps an accepted opt-in.
    mutating func keep(optIn subject: UInt64) {
        guard collected == nil else { return uncollected.append(subject) }
        guard keepsOptIns else { return }
        optIns.append(subject)
        if keepsAdded { added.append(subject) }
    }

    @inline(__always) private func mayBeKnown(_ subject: UInt64) -> Bool {
        (hasConsents || subject & ConsentMark.consent == 0) && bits[subject]
    }

    @inline(__always) private func isKnown(_ subject: UInt64) -> Bool {
        mayBeKnown(subject) && known.contains(subject | ConsentMark.no)
    }

    /// Adds the marks of many records, in order. If an opt-in follows an opt-out, returns false and adds none of them. Late
    /// marks stay in memory until ``keepLate()``.
    mutating func read(_ marks: [UInt64]) -> Bool {
        guard collected == nil else {
            uncollected += marks
            return true
        }
        let (wasFull, lateBefore, optInsBefore, addedBefore) = (isFull, lateMarks.count, optIns.count, added.count)
        var noted: [UInt64] = []
        for mark in marks {
            if mark & ConsentMark.no != 0 {
                if note(mark) { noted.append(mark) }
                continue
            }
            keep(optIn: mark)
            guard mayBeKnown(mark) else { continue }
            if known.contains(mark | ConsentMark.no) {
                for mark in noted { known.remove(mark) }
                added.removeLast(added.count - addedBefore)
                isFull = wasFull
                lateMarks.removeLast(lateMarks.count - lateBefore)
                optIns.removeLast(optIns.count - optInsBefore)
                return false
            }
            if isFull { lateMarks.append(mark) }
        }
        return true
    }

    /// Adds an opt-out; returns false if it was known already or does not fit.
    @discardableResult mutating func note(_ mark: UInt64) -> Bool {
        guard collected == nil else {
            uncollected.append(mark)
            return true
        }
        bits[mark] = true
        if mark & ConsentMark.consent != 0 { hasConsents = true }
        if !isFull, known.count < limit {
            guard known.insert(mark) else { return false }
            if keepsAdded { added.append(mark) }
            return true
        }
        if !isFull, known.contains(mark) { return false }
        isFull = true
        lateMarks.append(mark)
        return false
    }

    // MARK: Late marks

    /// Moves late marks and opt-ins out of memory if there are many of them.
    mutating func keepLate() throws(FileError) {
        if optIns.count >= Self.optInsInMemory { try spillOptIns() }
        if let collected, uncollected.count >= Self.lateMarksInMemory {
            try collected.add(uncollected) { $0 }
            uncollected.removeAll(keepingCapacity: true)
        }
        guard lateMarks.count >= Self.lateMarksInMemory else { return }
        try spillLate()
    }

    private mutating func spillLate() throws(FileError) {
        try late.add(lateMarks) { $0 }
        lateMarks.removeAll(keepingCapacity: true)
    }

    private mutating func spillOptIns() throws(FileError) {
        try earlyOptIns.add(optIns) { $0 }
        optIns.removeAll(keepingCapacity: true)
        hasEarlyOptIns = true
    }

    private static func optOuts(among marks: [UInt64]) -> Set<UInt64> {
        Set(marks.lazy.filter { $0 & ConsentMark.no != 0 })
    }

    /// The late opt-outs of a share.
    private func lateOptOuts(_ share: Int) throws(FileError) -> Set<UInt64> {
        Self.optOuts(among: try late.values(share, as: UInt64.self))
    }

    /// The number of accepted opt-ins that a later record opts out from.
    mutating func optInsBeforeOptOuts() throws(FileError) -> Int {
        guard isFull || hasEarlyOptIns else { return optIns.count(where: isKnown) }
        try spillOptIns()
        try spillLate()
        var count = 0
        for share in 0..<ShareStore.shares {
            let optOuts = try lateOptOuts(share)
            for subject in try earlyOptIns.values(share, as: UInt64.self)
            where isKnown(subject) || optOuts.contains(subject | ConsentMark.no) {
                count += 1
            }
        }
        return count
    }

    /// The opt-outs among the collected marks that contradict a collected opt-in, wherever the two are in the source.
    mutating func conflicts() throws(FileError) -> [UInt64] {
        guard let collected else { return [] }
        try collected.add(uncollected) { $0 }
        uncollected = []
        var conflicts: [UInt64] = []
        for share in 0..<ShareStore.shares {
            let marks = try collected.values(share, as: UInt64.self)
            var optOuts = Self.optOuts(among: marks)
            for mark in marks where mark & ConsentMark.no == 0 {
                if let conflict = optOuts.remove(mark | ConsentMark.no) { conflicts.append(conflict) }
            }
        }
        return conflicts
    }

    /// Adds opt-outs, also beyond the limit.
    mutating func preload(_ optOuts: [UInt64]) {
        for mark in optOuts {
            bits[mark] = true
            if mark & ConsentMark.consent != 0 { hasConsents = true }
            if known.insert(mark), keepsAdded { added.append(mark) }
        }
    }

    /// The number of opt-ins that follow an opt-out that did not fit.
    mutating func optInsBehindLateOptOuts() throws(FileError) -> Int {
        guard isFull else { return 0 }
        try spillLate()
        var count = 0
        for share in 0..<ShareStore.shares {
            var optOuts: Set<UInt64> = []
            for mark in try late.values(share, as: UInt64.self) {
                if mark & ConsentMark.no != 0 {
                    optOuts.insert(mark)
                } else if optOuts.contains(mark | ConsentMark.no) {
                    count += 1
                }
            }
        }
        return count
    }
}

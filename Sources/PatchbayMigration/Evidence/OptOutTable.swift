/// The opt-outs that were read, as marks. If there are too many, the marks that follow are kept in a file without a name.
struct OptOutTable {
    /// Bits of opt-outs: one is set by the highest bits of each mark, so that most opt-ins are looked up nowhere else.
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

    private let limit: Int
    private let bits = Bits()
    /// Whether any opt-out was about a consent; most sources have none.
    private var hasConsents = false
    private var known: Set<UInt64> = []
    /// Whether there is no room for more. From then on every opt-out is late, and every opt-in that may follow a late one.
    private var isFull = false
    private var lateMarks: [UInt64] = []
    private let late = ShareStore(bufferSize: 4 << 10)
    /// The number of late marks that are taken out of memory at once.
    private static let lateMarksInMemory = 16 << 10
    /// The marks that were added since ``takeAdded()``, if they are kept.
    private(set) var added: [UInt64] = []
    /// Whether opt-ins that are let through are kept, for ``optInsBeforeOptOuts()``.
    var keepsOptIns = false
    private var optIns: [UInt64] = []
    private var optInFile: SpillFile?
    /// The number of opt-ins that are kept in memory.
    private static let optInsInMemory = 1 << 20
    /// Whether added marks are kept, for a checkpoint.
    var keepsAdded = false

    /// A table of at most `limit` opt-outs.
    init(limit: Int) { self.limit = limit }

    /// The opt-outs that were added since this was called last, and the opt-ins that are kept; nil once there is no room for all
    /// opt-outs.
    mutating func takeAdded() -> [UInt64]? {
        defer { added = [] }
        return isFull ? nil : added
    }

    /// Adds the marks of an earlier run, which ``takeAdded()`` does not return.
    mutating func restore(_ marks: [UInt64]) {
        let keepsAdded = keepsAdded
        self.keepsAdded = false
        for mark in marks {
            if mark & ConsentMark.no != 0 { note(mark) } else { keep(optIn: [mark]) }
        }
        self.keepsAdded = keepsAdded
    }

    /// Whether an opt-out of any of the subjects is known.
    mutating func holds(_ subjects: [UInt64]) -> Bool {
        if subjects.contains(where: isKnown) { return true }
        if isFull { lateMarks += subjects.filter(mayBeKnown) }
        return false
    }

    /// Keeps an opt-in that is let through.
    mutating func keep(optIn subjects: [UInt64]) {
        guard keepsOptIns else { return }
        optIns += subjects
        if keepsAdded { added += subjects }
    }

    @inline(__always) private func mayBeKnown(_ subject: UInt64) -> Bool {
        (hasConsents || subject & ConsentMark.consent == 0) && bits[subject]
    }

    @inline(__always) private func isKnown(_ subject: UInt64) -> Bool {
        mayBeKnown(subject) && known.contains(subject | ConsentMark.no)
    }

    /// Notes the marks of many records, in order; false, with none of them noted, if an opt-in follows an opt-out. Late marks stay in
    /// memory until ``keepLate()``.
    mutating func read(_ marks: [UInt64]) -> Bool {
        let (wasFull, lateBefore, optInsBefore, addedBefore) = (isFull, lateMarks.count, optIns.count, added.count)
        var noted: [UInt64] = []
        for mark in marks {
            if mark & ConsentMark.no != 0 {
                if note(mark) { noted.append(mark) }
                continue
            }
            keep(optIn: [mark])
            guard mayBeKnown(mark) else { continue }
            if known.contains(mark | ConsentMark.no) {
                known.subtract(noted)
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

    /// Notes an opt-out; false if it was known already, or there is no room.
    @discardableResult mutating func note(_ mark: UInt64) -> Bool {
        bits[mark] = true
        if mark & ConsentMark.consent != 0 { hasConsents = true }
        if !isFull, known.contains(mark) { return false }
        isFull = isFull || known.count >= limit
        if isFull {
            lateMarks.append(mark)
            return false
        }
        known.insert(mark)
        if keepsAdded { added.append(mark) }
        return true
    }

    // MARK: Late marks

    /// Takes late marks and opt-ins out of memory if there are many of them.
    mutating func keepLate() throws(FileError) {
        if optIns.count >= Self.optInsInMemory {
            let file = if let optInFile { optInFile } else { try SpillFile() }
            _ = try file.append(bytes: optIns.withUnsafeBytes { Array($0) })
            (optInFile, optIns) = (file, [])
        }
        guard lateMarks.count >= Self.lateMarksInMemory else { return }
        try late.add(lateMarks) { $0 }
        lateMarks.removeAll(keepingCapacity: true)
    }

    /// The number of opt-ins that were let through though a later record opts out of the same; at least one if there were more
    /// opt-outs than are known.
    mutating func optInsBeforeOptOuts() throws(FileError) -> Int {
        if isFull { return 1 }
        var count = optIns.count(where: isKnown)
        guard var source = try optInFile?.source(chunk: 1 << 20) else { return count }
        while let bytes = try source.next() {
            bytes.withUnsafeBytes { marks in
                for place in stride(from: 0, to: marks.count, by: 8) {
                    count += isKnown(marks.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ? 1 : 0
                }
            }
        }
        return count
    }

    /// The number of opt-ins that follow an opt-out that found no room. The table is of no use then.
    mutating func optInsBehindLateOptOuts() throws(FileError) -> Int {
        guard isFull else { return 0 }
        try late.add(lateMarks) { $0 }
        (lateMarks, known) = ([], [])
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

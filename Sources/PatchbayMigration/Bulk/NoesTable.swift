/// The opt-outs that were read, as marks; and, when there are too many, the marks that follow, in a file without a name.
struct NoesTable {
    /// A bit for some of a mark's: set once a no about its subject was heard, or one about another that has the same bit.
    private final class Bits {
        private static let shift: UInt64 = 43
        private static let count = 1 << (64 - shift)

        // `words` has a bit for each number of `64 - shift` bits.
        private let words: UnsafeMutablePointer<UInt64> = .allocate(capacity: count / 64)

        init() { words.initialize(repeating: 0, count: Self.count / 64) }

        deinit { words.deallocate() }

        @inline(__always) subscript(_ word: UInt64) -> Bool {
            get { words[Int(truncatingIfNeeded: word &>> (Self.shift &+ 6))] & Self.bit(word) != 0 }
            set { words[Int(truncatingIfNeeded: word &>> (Self.shift &+ 6))] |= newValue ? Self.bit(word) : 0 }
        }

        @inline(__always) private static func bit(_ word: UInt64) -> UInt64 { 1 &<< (word &>> shift & 63) }
    }

    private let limit: Int
    /// Of whom anybody has heard a no at all: most that say yes are none of them, and are looked for nowhere else.
    private let heard = Bits()
    /// Whether any no was about a consent; most sources have none.
    private var hasConsents = false
    private var known: Set<UInt64> = []
    /// Whether there is no room for more. From then on every no is late, and every yes that may stand behind a late one.
    private var isFull = false
    private var lateWords: [UInt64] = []
    private var late = SpilledMarks<UInt64>()
    /// So many words that came late are taken out of memory at once.
    private static let handful = 16 << 10
    /// The opt-outs that were added since ``takeAdded()``, if they are kept.
    private var added: [UInt64] = []
    /// Whether opt-ins that are let through are kept, for ``optInsBeforeOptOuts()``.
    var keepsOptIns = false
    private var optIns: [UInt64] = []
    private var optInFile: SpillFile?
    /// The number of opt-ins that are kept in memory.
    private static let optInsInMemory = 1 << 20
    /// Whether added opt-outs are kept, for a checkpoint.
    var keepsAdded = false

    /// A table of so many at most.
    init(limit: Int) { self.limit = limit }

    /// The opt-outs that were added since this was called last; nil once there is no room for all of them.
    mutating func takeAdded() -> [UInt64]? {
        defer { added = [] }
        return isFull ? nil : added
    }

    /// Whether a no to any of the subjects is known.
    mutating func holds(_ subjects: [UInt64]) -> Bool {
        if subjects.contains(where: isKnown) { return true }
        if isFull { lateWords += subjects.filter(mayBeKnown) }
        return false
    }

    /// Keeps an opt-in that is let through.
    mutating func keep(optIn subjects: [UInt64]) {
        if keepsOptIns { optIns += subjects }
    }

    @inline(__always) private func mayBeKnown(_ subject: UInt64) -> Bool {
        (hasConsents || subject & ConsentMark.consent == 0) && heard[subject]
    }

    @inline(__always) private func isKnown(_ subject: UInt64) -> Bool {
        mayBeKnown(subject) && known.contains(subject | ConsentMark.no)
    }

    /// Notes the words of many records, in order; false, with none of them noted, if a yes stands behind a no. What there is no
    /// room for stays in memory until ``keepLate()``.
    mutating func hear(_ words: [UInt64]) -> Bool {
        let (wasFull, lateBefore, optInsBefore) = (isFull, lateWords.count, optIns.count)
        var noted: [UInt64] = []
        for word in words {
            if word & ConsentMark.no != 0 {
                if note(word) { noted.append(word) }
                continue
            }
            if keepsOptIns { optIns.append(word) }
            if mayBeKnown(word) {
                if known.contains(word | ConsentMark.no) {
                    known.subtract(noted)
                    if keepsAdded { added.removeLast(noted.count) }
                    isFull = wasFull
                    lateWords.removeLast(lateWords.count - lateBefore)
                    optIns.removeLast(optIns.count - optInsBefore)
                    return false
                }
                if isFull { lateWords.append(word) }
            }
        }
        return true
    }

    /// Notes a no; false where it was known already, or there is no room.
    @discardableResult mutating func note(_ word: UInt64) -> Bool {
        heard[word] = true
        if word & ConsentMark.consent != 0 { hasConsents = true }
        if !isFull, known.contains(word) { return false }
        isFull = isFull || known.count >= limit
        if isFull {
            lateWords.append(word)
            return false
        }
        known.insert(word)
        if keepsAdded { added.append(word) }
        return true
    }

    // MARK: What came when there was no room

    /// Takes the words that came late out of memory, once they are many, and the opt-ins.
    mutating func keepLate() throws(FileError) {
        if optIns.count >= Self.optInsInMemory {
            let file = if let optInFile { optInFile } else { try SpillFile() }
            let bytes = optIns.withUnsafeBytes { Array($0) }
            _ = try file.append(bytes: bytes)
            (optInFile, optIns) = (file, [])
        }
        guard lateWords.count >= Self.handful else { return }
        try late.add(lateWords)
        lateWords.removeAll(keepingCapacity: true)
    }

    /// The number of opt-ins that were let through though a later record opts out of the same; at least one if there were more
    /// opt-outs than are known.
    mutating func optInsBeforeOptOuts() throws(FileError) -> Int {
        if isFull { return 1 }
        var count = optIns.count(where: isKnown)
        guard var source = try optInFile?.source(chunk: 1 << 20) else { return count }
        while let bytes = try source.next() {
            bytes.withUnsafeBytes { words in
                for place in stride(from: 0, to: words.count, by: 8) {
                    count += isKnown(words.loadUnaligned(fromByteOffset: place, as: UInt64.self)) ? 1 : 0
                }
            }
        }
        return count
    }

    /// How many yeses stand behind a no that found no room, looked for by so many threads; the last that is asked.
    mutating func raisedLate(workers: Int) throws(FileError) -> Int {
        guard isFull else { return 0 }
        try late.add(lateWords)
        lateWords = []
        // What is known is not needed any more.
        known = []
        return try late.eachPart(workers: workers) { parts throws(FileError) in
            var (known, raised, words) = (Set<UInt64>(), 0, [UInt64]())
            while try parts.next(&words) {
                known.removeAll(keepingCapacity: true)
                for word in words {
                    if word & ConsentMark.no != 0 {
                        known.insert(word)
                    } else if known.contains(word | ConsentMark.no) {
                        raised += 1
                    }
                }
            }
            return raised
        }
        .reduce(0, +)
    }
}

/// The word of a no or a yes, whose lowest bits say which.
extension UInt64: SpillMark {
    var digest: UInt64 { self }
}

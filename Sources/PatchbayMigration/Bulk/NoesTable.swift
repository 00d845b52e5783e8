/// The opt-outs that were read, as marks in a hash table; and, when the table is full, the marks that follow, in a file without a
/// name.
struct NoesTable {
    /// A hash table with linear probing: zero is a free slot, and one slot in eight is free at least.
    private struct Slots {
        private(set) var words: [UInt64]
        let mask: Int

        init(_ count: Int) { (words, mask) = ([UInt64](repeating: 0, count: count), count - 1) }

        subscript(place: Int) -> UInt64 {
            get { words[place] }
            set { words[place] = newValue }
        }

        mutating func clear() { self = Slots(mask + 1) }

        /// Whether the table holds a word, which is not zero.
        @inline(__always) func holds(_ word: UInt64) -> Bool { words[place(of: word)] == word }

        /// The slot of a word, which is not zero, or the free slot for it.
        @inline(__always) func place(of word: UInt64) -> Int {
            var place = Int(truncatingIfNeeded: word &>> 2) & mask
            while words[place] != word, words[place] != 0 { place = (place &+ 1) & mask }
            return place
        }
    }

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
    private var slots = Slots(1 << 12)
    private var count = 0
    /// The places that were filled for the words at hand, to be freed again.
    private var filled: [Int] = []
    /// Whether there is no room for more. From then on every no is late, and every yes that may stand behind a late one.
    private var isFull = false
    private var lateWords: [UInt64] = []
    private var late = SpilledMarks<UInt64>()
    /// So many words that came late are taken out of memory at once.
    private static let handful = 16 << 10
    /// The opt-outs that were added since ``takeAdded()``, if they are kept.
    private var added: [UInt64] = []
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

    @inline(__always) private func mayBeKnown(_ subject: UInt64) -> Bool {
        (hasConsents || subject & ConsentMark.consent == 0) && heard[subject]
    }

    @inline(__always) private func isKnown(_ subject: UInt64) -> Bool {
        mayBeKnown(subject) && slots.holds(subject | ConsentMark.no)
    }

    /// Notes a no.
    mutating func note(_ word: UInt64) { _ = fill(word) }

    /// Notes the words of many records, in order; false, with none of them noted, if a yes stands behind a no. What there is no
    /// room for stays in memory until ``keepLate()``.
    mutating func hear(_ words: [UInt64]) -> Bool {
        let (wasFull, lateBefore) = (isFull, lateWords.count)
        for word in words {
            if word & ConsentMark.no != 0 {
                if let place = fill(word) { filled.append(place) }
            } else if mayBeKnown(word) {
                if slots.holds(word | ConsentMark.no) {
                    forget()
                    isFull = wasFull
                    lateWords.removeLast(lateWords.count - lateBefore)
                    return false
                }
                if isFull { lateWords.append(word) }
            }
        }
        filled.removeAll(keepingCapacity: true)
        return true
    }

    /// Frees the places of the words at hand, the last first: so what was led behind one is freed before it.
    private mutating func forget() {
        for place in filled.reversed() { slots[place] = 0 }
        count -= filled.count
        if keepsAdded { added.removeLast(filled.count) }
        filled.removeAll(keepingCapacity: true)
    }

    /// The place that was filled; nil where the no was known already, or there is no room.
    @inline(__always) private mutating func fill(_ word: UInt64) -> Int? {
        heard[word] = true
        if word & ConsentMark.consent != 0 { hasConsents = true }
        if isFull {
            lateWords.append(word)
            return nil
        }
        let place = slots.place(of: word)
        if slots[place] == word { return nil }
        guard count < limit else {
            isFull = true
            lateWords.append(word)
            return nil
        }
        guard 8 &* (count &+ 1) <= 7 &* (slots.mask &+ 1) else {
            grow()
            return fill(again: word)
        }
        slots[place] = word
        count &+= 1
        if keepsAdded { added.append(word) }
        return place
    }

    @inline(never) private mutating func fill(again word: UInt64) -> Int? { fill(word) }

    /// Places change; those of the words at hand are filled last, in the same order, so that they can still be freed.
    private mutating func grow() {
        let last = filled.map { slots[$0] }
        for place in filled { slots[place] = 0 }
        let old = slots.words
        // Few steps to two MiB, and smaller ones beyond.
        slots = Slots((old.count <= 1 << 17 ? 8 : 2) * old.count)
        for word in old where word != 0 { slots[slots.place(of: word)] = word }
        filled = last.map { word in
            let place = slots.place(of: word)
            slots[place] = word
            return place
        }
    }

    // MARK: What came when there was no room

    /// Takes the words that came late out of memory, once they are many.
    mutating func keepLate() throws(FileError) {
        guard lateWords.count >= Self.handful else { return }
        try late.add(lateWords)
        lateWords.removeAll(keepingCapacity: true)
    }

    /// How many yeses stand behind a no that found no room, looked for by so many threads; the last that is asked.
    mutating func raisedLate(workers: Int) throws(FileError) -> Int {
        guard isFull else { return 0 }
        try late.add(lateWords)
        lateWords = []
        // What is known is not needed any more.
        slots = Slots(1 << 12)
        return try late.eachPart(workers: workers) { parts throws(FileError) in
            var (slots, raised, words) = (Slots(1 << 12), 0, [UInt64]())
            while try parts.next(&words) {
                if 2 * words.count > slots.mask {
                    slots = Slots(1 << (Int.bitWidth - (2 * words.count).leadingZeroBitCount))
                } else {
                    slots.clear()
                }
                for word in words {
                    if word & ConsentMark.no != 0 {
                        slots[slots.place(of: word)] = word
                    } else if slots.holds(word | ConsentMark.no) {
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

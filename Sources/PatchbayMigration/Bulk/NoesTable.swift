/// The noes that were heard, as marks at the places that they lead to, or behind; and what came when there was no room for
/// more, in a file without a name.
struct NoesTable {
    /// Eight bytes for each place; zero is a free one, and one in eight is free at least.
    private final class Slots {
        // `start` has `mask + 1` elements, a power of two; every place is cut to it.
        let start: UnsafeMutablePointer<UInt64>
        let mask: Int

        init(_ count: Int) {
            (start, mask) = (.allocate(capacity: count), count - 1)
            start.initialize(repeating: 0, count: count)
        }

        deinit { start.deallocate() }

        /// Where that word stands, or where it would.
        @inline(__always) func place(of word: UInt64) -> Int {
            var place = Int(truncatingIfNeeded: word &>> 2) & mask
            while start[place] != 0, start[place] != word { place = (place &+ 1) & mask }
            return place
        }
    }

    private let limit: Int
    private var slots = Slots(1 << 12)
    private var count = 0
    /// Whether any no was about a consent; most sources have none.
    private var hasConsents = false
    /// The places that were filled for the words at hand, to be freed again.
    private var filled: [Int] = []
    private var late: ShareStore?
    private var lateWords: [UInt64] = []

    /// A table of so many at most.
    init(limit: Int) { self.limit = limit }

    /// Whether a no to any of the subjects is known.
    mutating func holds(_ subjects: [UInt64]) -> Bool {
        if late != nil { lateWords += subjects }
        return subjects.contains { isKnown($0) }
    }

    @inline(__always) private func isKnown(_ subject: UInt64) -> Bool {
        if subject & ConsentMark.consent != 0, !hasConsents { return false }
        let word = subject | ConsentMark.no
        return slots.start[slots.place(of: word)] == word
    }

    /// Notes a no.
    mutating func note(_ word: UInt64) { _ = fill(word) }

    /// Notes the words of many records, in order; false, with none of them noted, if a yes stands behind a no.
    mutating func hear(_ words: [UInt64]) throws(FileError) -> Bool {
        for word in words {
            if word & ConsentMark.no != 0 {
                if let place = fill(word) { filled.append(place) }
            } else if isKnown(word) {
                forget()
                return false
            } else if late != nil, word & ConsentMark.consent == 0 || hasConsents {
                lateWords.append(word)
            }
        }
        filled.removeAll(keepingCapacity: true)
        try keepLate()
        return true
    }

    /// Frees the places of the words at hand, the last first: so what was led behind one is freed before it.
    private mutating func forget() {
        for place in filled.reversed() { slots.start[place] = 0 }
        count -= filled.count
        filled.removeAll(keepingCapacity: true)
        lateWords.removeAll()
    }

    /// The place that was filled; nil where the no was known already, or there is no room.
    @inline(__always) private mutating func fill(_ word: UInt64) -> Int? {
        let place = slots.place(of: word)
        if slots.start[place] == word { return nil }
        if word & ConsentMark.consent != 0 { hasConsents = true }
        guard count < limit else {
            if late == nil { late = ShareStore(bufferSize: 2 << 10) }
            lateWords.append(word)
            return nil
        }
        guard 8 &* (count &+ 1) <= 7 &* (slots.mask &+ 1) else {
            grow()
            return fill(word)
        }
        slots.start[place] = word
        count &+= 1
        return place
    }

    /// Places change; those of the words at hand are filled last, in the same order, so that they can still be freed.
    private mutating func grow() {
        let (old, last) = (slots, filled.map { slots.start[$0] })
        let mine = Set(last)
        slots = Slots(8 * (old.mask + 1))
        for place in 0...old.mask where old.start[place] != 0 && !mine.contains(old.start[place]) {
            slots.start[slots.place(of: old.start[place])] = old.start[place]
        }
        filled = last.map { word in
            let place = slots.place(of: word)
            slots.start[place] = word
            return place
        }
    }

    // MARK: What came when there was no room

    private static func share(_ word: UInt64) -> Int { Int(truncatingIfNeeded: word &>> 56) }

    /// Keeps the words at hand for the end, if some of theirs found no room.
    mutating func keepLate() throws(FileError) {
        guard let late, !lateWords.isEmpty else { return }
        for word in lateWords { try late.add(word, to: Self.share(word)) }
        lateWords.removeAll(keepingCapacity: true)
    }

    /// How many yeses stand behind a no that found no room.
    func raisedLate() throws(FileError) -> Int {
        guard let late else { return 0 }
        var raised = 0
        for share in 0..<ShareStore.shares {
            let bytes = try late.bytes(share)
            var size = 16
            while 8 * size < 2 * bytes.count { size *= 2 }
            let noes = Slots(size)
            bytes.withUnsafeBytes { bytes in
                for start in stride(from: 0, to: bytes.count, by: 8) {
                    let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self))
                    let place = noes.place(of: word | ConsentMark.no)
                    if word & ConsentMark.no != 0 {
                        noes.start[place] = word
                    } else if noes.start[place] != 0 {
                        raised += 1
                    }
                }
            }
        }
        return raised
    }
}

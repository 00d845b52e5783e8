/// Names that stand in quotes in a text: found by their first bytes, or by a hash of them all where two begin alike.
///
/// A name of more than ``longest`` bytes is not entered, and one that stands in the text with an escape or beyond ASCII is
/// not found; both leave the record to the slow way. So a text that is not found is none of the names only where all of
/// them were entered (``isWhole``).
struct KeyTable: BitwiseCopyable {
    static let longest = 31

    /// A name's bytes and its closing quote, and which bits of them count.
    private struct Pattern: BitwiseCopyable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var masks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// With the quote.
        var count = 0
    }

    /// What the names are found by.
    private struct Body: BitwiseCopyable {
        // Of `count` names, whose indexes are their places: `patterns` has `count + 1` elements, of which the last fits no
        // text. `guesses` has one for each number of `64 - guessShift` bits, each at most `count`. `slots` has
        // `slotMask + 1`, a power of two, each below `count` or -1; at least one is -1, so that every search ends.
        var patterns: UnsafeMutablePointer<Pattern>
        var guesses: UnsafeMutablePointer<UInt16>
        var guessShift: UInt64
        var multiplier: UInt64
        /// The first bytes that every name has, with its quote; at most eight.
        var guessMask: UInt64
        var slots: UnsafeMutablePointer<Int>
        var slotMask: Int
        /// By a name's index and one: what stood behind it the last time, at most `count`. The first is of none.
        var successors: UnsafeMutablePointer<UInt16>
        /// Whether all of them were entered.
        var isWhole: Bool
    }

    // Behind a pointer: a table that is handed on as a value is copied to the stack in one wide piece, and who reads a part
    // of it there waits until all of it has arrived.
    private let body: UnsafePointer<Body>

    /// Whether all names were entered.
    var isWhole: Bool { body.pointee.isWhole }

    init(_ names: [String], in arena: Arena) {
        let count = names.count
        let patterns = arena.make(count + 1, of: Pattern())
        patterns[count].words.0 = 1
        let shortest = names.map(\.utf8.count).filter { $0 > 0 }.min() ?? Self.longest
        let mask = Word.mask(min(8, shortest + 1))
        var bits: UInt64 = 3
        while 1 << bits < 4 * count { bits += 1 }
        var size = 8
        while size < 4 * count { size *= 2 }
        let body = Body(
            patterns: patterns,
            guesses: arena.make(1 << bits, of: UInt16(truncatingIfNeeded: count)),
            guessShift: 64 - bits,
            multiplier: Self.multiplier(for: Set(names.map { Self.head(of: $0) & mask }), shift: 64 - bits),
            guessMask: mask,
            slots: arena.make(size, of: -1),
            slotMask: size - 1,
            successors: arena.make(count + 1, of: UInt16(truncatingIfNeeded: count)),
            isWhole: names.allSatisfy(Self.canEnter)
        )
        self.body = arena.keep(body)
        for (index, name) in names.enumerated() {
            enter(name, at: index)
            body.successors[index] = UInt16(truncatingIfNeeded: index)
        }
    }

    /// The first eight bytes of a name with its quote.
    private static func head(of name: String) -> UInt64 {
        zip(0..<8, Array(name.utf8) + [0x22]).reduce(0) { $0 | UInt64($1.1) << UInt64(8 * $1.0) }
    }

    /// The odd number among some that brings the fewest words to one place.
    private static func multiplier(for words: Set<UInt64>, shift: UInt64) -> UInt64 {
        let golden: UInt64 = 0x9E37_79B9_7F4A_7C15
        var (best, most) = (golden, 0)
        for odd in stride(from: 1 as UInt64, to: 64, by: 2) where most < words.count {
            let places = Set(words.map { ($0 &* (golden &* odd)) >> shift }).count
            if places > most { (best, most) = (golden &* odd, places) }
        }
        return best
    }

    /// Whether a name can be entered.
    static func canEnter(_ name: String) -> Bool {
        (1...longest).contains(name.utf8.count)
            && name.utf8.allSatisfy { (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C }
    }

    private func enter(_ name: String, at index: Int) {
        guard Self.canEnter(name) else { return }
        let bytes = Array(name.utf8)
        let padded = bytes + [0x22] + [UInt8](repeating: 0, count: Padding.count)
        padded.withUnsafeBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            var pattern = Pattern()
            pattern.count = bytes.count + 1
            func mask(_ word: Int) -> UInt64 {
                let rest = min(8, pattern.count - 8 * word)
                return rest > 0 ? Word.mask(rest) : 0
            }
            pattern.masks = (mask(0), mask(1), mask(2), mask(3))
            pattern.words = (
                Word.load(start) & mask(0), Word.load(start + 8) & mask(1), Word.load(start + 16) & mask(2),
                Word.load(start + 24) & mask(3)
            )
            body.pointee.patterns[index] = pattern
            let (slots, slotMask) = (body.pointee.slots, body.pointee.slotMask)
            var slot = Self.hash(start, bytes.count) & slotMask
            while slots[slot] >= 0 { slot = (slot + 1) & slotMask }
            slots[slot] = index
            body.pointee.guesses[guess(of: pattern.words.0)] = UInt16(truncatingIfNeeded: index)
        }
    }

    @inline(__always) private func guess(of word: UInt64) -> Int {
        let mixed = (word & body.pointee.guessMask) &* body.pointee.multiplier
        return Int(truncatingIfNeeded: mixed &>> body.pointee.guessShift)
    }

    @inline(__always) private static func hash(_ start: Bytes, _ count: Int) -> Int {
        let first = Word.load(start) & Word.mask(min(8, count))
        let last = count > 8 ? Word.load(start + (count - 8)) : 0
        let mixed = (first &* 0x9E37_79B9_7F4A_7C15) ^ (last &* 0xC2B2_AE3D_27D4_EB4F) &+ UInt64(count)
        return Int(truncatingIfNeeded: (mixed ^ mixed &>> 29) & 0x7FFF_FFFF)
    }

    /// The length of the name, with its closing quote, if the text goes on with that; zero if not.
    @inline(__always) private func length(of index: Int, at place: Bytes) -> Int {
        let pattern = body.pointee.patterns + index
        // Most names have no more than two words: they are looked at without a branch.
        let first = (Word.load(place) & pattern.pointee.masks.0) ^ pattern.pointee.words.0
        let second = (Word.load(place + 8) & pattern.pointee.masks.1) ^ pattern.pointee.words.1
        guard first | second == 0 else { return 0 }
        let count = pattern.pointee.count
        if count > 16 {
            guard Word.load(place + 16) & pattern.pointee.masks.2 == pattern.pointee.words.2,
                Word.load(place + 24) & pattern.pointee.masks.3 == pattern.pointee.words.3
            else { return 0 }
        }
        return count
    }

    /// The index of the name that stands behind an opening quote, -1 if none of these does.
    ///
    /// If one does, the cursor is behind its closing quote.
    @inline(__always) func find(_ place: inout Bytes) -> Int {
        var index = Int(body.pointee.guesses[guess(of: Word.load(place))])
        var length = length(of: index, at: place)
        if length == 0 {
            index = search(place)
            guard index >= 0 else { return -1 }
            length = body.pointee.patterns[index].count
        }
        place += length
        return index
    }

    /// The same, where names mostly follow each other as they did the last time: `previous` is the index of the one before,
    /// -1 for none.
    ///
    /// Which name is likely is known before its bytes are, so whoever reads on behind it waits for no search.
    @inline(__always) func find(_ place: inout Bytes, after previous: Int) -> Int {
        let likely = Int(body.pointee.successors[previous &+ 1])
        let length = length(of: likely, at: place)
        guard length == 0 else {
            place += length
            return likely
        }
        let other = findOther(place, after: previous)
        place = other.end
        return other.index
    }

    private struct Found {
        var index: Int
        var end: Bytes
    }

    @inline(never) private func findOther(_ start: Bytes, after previous: Int) -> Found {
        var found = Found(index: -1, end: start)
        found.index = find(&found.end)
        if found.index >= 0 {
            body.pointee.successors[previous &+ 1] = UInt16(truncatingIfNeeded: found.index)
        }
        return found
    }

    @inline(never) private func search(_ place: Bytes) -> Int {
        let end = place.endOfPlainText
        guard end.pointee == 0x22, (1...Self.longest).contains(end - place) else { return -1 }
        let (slots, slotMask) = (body.pointee.slots, body.pointee.slotMask)
        var slot = Self.hash(place, end - place) & slotMask
        while slots[slot] >= 0 {
            if length(of: slots[slot], at: place) > 0 { return slots[slot] }
            slot = (slot + 1) & slotMask
        }
        return -1
    }
}

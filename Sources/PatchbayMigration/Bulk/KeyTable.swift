/// Names that stand in quotes in a text: found by a guess of their order, else by a hash.
///
/// A name of more than ``longest`` bytes is not entered, and one that stands in the text with an escape or beyond ASCII is
/// not found; both leave the record to the slow way.
struct KeyTable: BitwiseCopyable {
    static let longest = 31

    /// A name's bytes and its closing quote, and which bits of them count.
    private struct Pattern: BitwiseCopyable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var masks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// With the quote.
        var count = 0
    }

    /// How many names were given; a name's index is its place among them.
    let count: Int
    // `patterns` has `count` elements. `guesses` has `count + 1`, each below `count` or -1. `slots` has `slotMask + 1`,
    // a power of two, each below `count` or -1; at least one is -1, so that every search ends.
    private let patterns: UnsafeMutablePointer<Pattern>
    private let guesses: UnsafeMutablePointer<Int>
    private let slots: UnsafeMutablePointer<Int>
    private let slotMask: Int

    init(_ names: [String], in arena: Arena) {
        count = names.count
        patterns = arena.make(count, of: Pattern())
        guesses = arena.make(count + 1, of: -1)
        for index in 0..<count { guesses[index] = index }
        var size = 8
        while size < 4 * count { size *= 2 }
        slotMask = size - 1
        slots = arena.make(size, of: -1)
        for (index, name) in names.enumerated() { enter(name, at: index) }
    }

    private func enter(_ name: String, at index: Int) {
        let bytes = Array(name.utf8)
        guard (1...Self.longest).contains(bytes.count),
            bytes.allSatisfy({ (0x20..<0x7F).contains($0) && $0 != 0x22 && $0 != 0x5C })
        else { return }
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
            patterns[index] = pattern
            var slot = Self.hash(start, bytes.count) & slotMask
            while slots[slot] >= 0 { slot = (slot + 1) & slotMask }
            slots[slot] = index
        }
    }

    @inline(__always) private static func hash(_ start: Bytes, _ count: Int) -> Int {
        let first = Word.load(start) & Word.mask(min(8, count))
        let last = count > 8 ? Word.load(start + (count - 8)) : 0
        let mixed = (first &* 0x9E37_79B9_7F4A_7C15) ^ (last &* 0xC2B2_AE3D_27D4_EB4F) &+ UInt64(count)
        return Int(truncatingIfNeeded: (mixed ^ mixed &>> 29) & 0x7FFF_FFFF)
    }

    /// Whether the text goes on with that name and its closing quote; then the cursor is behind them.
    @inline(__always) func take(_ index: Int, _ place: inout Bytes) -> Bool {
        let pattern = patterns + index
        guard Word.load(place) & pattern.pointee.masks.0 == pattern.pointee.words.0 else { return false }
        let count = pattern.pointee.count
        if count > 8 {
            guard Word.load(place + 8) & pattern.pointee.masks.1 == pattern.pointee.words.1 else { return false }
            if count > 16 {
                guard Word.load(place + 16) & pattern.pointee.masks.2 == pattern.pointee.words.2,
                    Word.load(place + 24) & pattern.pointee.masks.3 == pattern.pointee.words.3
                else { return false }
            }
        }
        place += count
        return count > 0
    }

    /// The index of the name that stands behind an opening quote, -1 if none of these does.
    ///
    /// If one does, the cursor is behind its closing quote. `previous` is the index of the name before it, -1 for the
    /// first: what followed it is tried first, then those that come after it in the table.
    @inline(__always) func find(_ place: inout Bytes, after previous: Int) -> Int {
        let guess = guesses[previous &+ 1]
        if guess >= 0, take(guess, &place) { return guess }
        return search(&place, after: previous)
    }

    @inline(never) private func search(_ place: inout Bytes, after previous: Int) -> Int {
        var near = previous &+ 1
        let last = min(count, near &+ 4)
        while near < last {
            if take(near, &place) { return near }
            near &+= 1
        }
        let end = place.endOfPlainText
        let length = end - place
        guard end.pointee == 0x22, (1...Self.longest).contains(length) else { return -1 }
        var slot = Self.hash(place, length) & slotMask
        while slots[slot] >= 0 {
            if take(slots[slot], &place) {
                guesses[previous + 1] = slots[slot]
                return slots[slot]
            }
            slot = (slot + 1) & slotMask
        }
        return -1
    }
}

import Foundation

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Names that stand in quotes in a text: found where they stood the last time, by their first bytes, or by a hash of them
/// all where two begin alike.
///
/// A name that is longer than ``longest`` or not in normal form is not entered, and a name that is written with an escape is not
/// found. So a text without escapes that is not found is none of the names only where all of them were entered (``isWhole``).
struct KeyTable: BitwiseCopyable {
    static let longest = 90

    /// What ends a name in the text, looked at together with it.
    enum Terminator: String, BitwiseCopyable {
        /// A word is a text of its own.
        case quote = "\""
        /// The name of a member, behind which its value stands.
        case colon = "\":"
    }

    /// One of the names, or none of them.
    struct Match: BitwiseCopyable {
        fileprivate let pattern: UnsafeMutablePointer<Pattern>

        /// The name's place among those that the table was made of; -1 for none of them.
        @inline(__always) var index: Int { pattern.pointee.index }
    }

    /// A name's bytes and the mark behind it, and which bits of them count.
    fileprivate struct Pattern: BitwiseCopyable {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        var masks: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        /// With the terminator.
        var count = 0
        /// The name and the mark behind it.
        var text = Bytes(Stretch.nothing.start)
        var index: Int
        /// What stood behind it the last time. There is always one.
        var next: UnsafeMutablePointer<Pattern>?

        /// One that fits no text.
        static var none: Pattern {
            var none = Pattern(index: -1)
            none.words.0 = 1
            return none
        }

        init(index: Int) { self.index = index }

        /// That of a name and its terminator, which are `count` bytes with padding behind them.
        init(_ start: Bytes, _ count: Int, index: Int, before next: UnsafeMutablePointer<Pattern>) {
            (self.index, self.count, self.text, self.next) = (index, count, start, next)
            func mask(_ word: Int) -> UInt64 { count > 8 * word ? Word.mask(min(8, count - 8 * word)) : 0 }
            masks = (mask(0), mask(1), mask(2), mask(3))
            words = (
                Word.load(start) & masks.0, Word.load(start + 8) & masks.1, Word.load(start + 16) & masks.2,
                Word.load(start + 24) & masks.3
            )
        }

        /// Whether its name has those bytes, of which there are `count`.
        func isNamed(_ start: Bytes, _ count: Int, _ terminator: Terminator) -> Bool {
            self.count == count + terminator.rawValue.utf8.count && memcmp(text, start, count) == 0
        }
    }

    /// What the names are found by.
    private struct Body: BitwiseCopyable {
        // Every pointer is to the pattern of a name, or to `none`. `guesses` has one for each number of `64 - guessShift`
        // bits. `slots` has `slotMask + 1`, a power of two, of which at least one is `none`, so that every search ends.
        var none: UnsafeMutablePointer<Pattern>
        var guesses: UnsafeMutablePointer<UnsafeMutablePointer<Pattern>>
        var guessShift: UInt64
        var multiplier: UInt64
        /// The first bytes that every name has, with its quote; at most eight.
        var guessMask: UInt64
        var slots: UnsafeMutablePointer<UnsafeMutablePointer<Pattern>>
        var slotMask: Int
        var terminator: Terminator
        /// Whether all of them were entered.
        var isWhole: Bool
    }

    // Behind a pointer: a table that is handed on as a value is copied to the stack in one wide piece, and who reads a part
    // of it there waits until all of it has arrived.
    private let body: UnsafePointer<Body>

    /// Whether all names were entered.
    var isWhole: Bool { body.pointee.isWhole }

    /// None of the names; what stands before the first.
    @inline(__always) var none: Match { Match(pattern: body.pointee.none) }

    init(_ names: [String], terminator: Terminator = .quote, in arena: Arena) {
        let count = names.count
        let none = arena.make(1, of: Pattern.none)
        none.pointee.next = none
        let shortest = names.map(\.utf8.count).filter { $0 > 0 }.min() ?? Self.longest
        let mask = Word.mask(min(8, shortest + 1))
        var bits: UInt64 = 3
        while 1 << bits < 4 * count { bits += 1 }
        var size = 8
        while size < 4 * count { size *= 2 }
        let body = Body(
            none: none,
            guesses: arena.make(1 << bits, of: none),
            guessShift: 64 - bits,
            multiplier: Self.multiplier(for: Set(names.map { Self.head(of: $0) & mask }), shift: 64 - bits),
            guessMask: mask,
            slots: arena.make(size, of: none),
            slotMask: size - 1,
            terminator: terminator,
            isWhole: names.allSatisfy(Self.canEnter)
        )
        self.body = arena.keep(body)
        for (index, name) in names.enumerated() where Self.canEnter(name) {
            enter(name, at: index, in: arena)
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
        guard (1...longest).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
        else { return false }
        // Names that are canonically equivalent are one name: only one of them is in normal form.
        return name.utf8.allSatisfy { $0 < 0x7F }
            || name.precomposedStringWithCanonicalMapping.utf8.elementsEqual(name.utf8)
    }

    private func enter(_ name: String, at index: Int, in arena: Arena) {
        let text = arena.text(name + body.pointee.terminator.rawValue, isWritten: false)
        let none = body.pointee.none
        let pattern = arena.make(1, of: Pattern(text.start, text.count, index: index, before: none))
        let (slots, slotMask) = (body.pointee.slots, body.pointee.slotMask)
        var slot = Self.hash(text.start, name.utf8.count) & slotMask
        while slots[slot] != none { slot = (slot + 1) & slotMask }
        slots[slot] = pattern
        body.pointee.guesses[guess(of: pattern.pointee.words.0)] = pattern
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

    /// The length of a name with its terminator, if the text goes on with them; zero if not.
    @inline(__always) private static func length(of pattern: UnsafeMutablePointer<Pattern>, at place: Bytes) -> Int {
        // Most names have no more than two words: they are looked at without a branch.
        let first = (Word.load(place) & pattern.pointee.masks.0) ^ pattern.pointee.words.0
        let second = (Word.load(place + 8) & pattern.pointee.masks.1) ^ pattern.pointee.words.1
        guard first | second == 0 else { return 0 }
        let count = pattern.pointee.count
        if count > 16 {
            guard Word.load(place + 16) & pattern.pointee.masks.2 == pattern.pointee.words.2,
                Word.load(place + 24) & pattern.pointee.masks.3 == pattern.pointee.words.3
            else { return 0 }
            // The longest name ends within the padding behind 32 bytes that are in the text.
            if count > 32, memcmp(place + 32, pattern.pointee.text + 32, count - 32) != 0 { return 0 }
        }
        return count
    }

    /// The name that stands behind an opening quote; none if no name of the table does.
    ///
    /// If one does, the cursor is behind its terminator.
    @inline(__always) func find(_ place: inout Bytes) -> Match {
        let likely = body.pointee.guesses[guess(of: Word.load(place))]
        let length = Self.length(of: likely, at: place)
        guard length == 0 else {
            place += length
            return Match(pattern: likely)
        }
        let other = search(place)
        place = other.end
        return other.match
    }

    /// The same, where names mostly follow each other as they did the last time: `previous` is the one before, none for the
    /// first.
    ///
    /// Which name is likely is known before its bytes are, so whoever reads on behind it waits for no search.
    @inline(__always) func find(_ place: inout Bytes, after previous: Match) -> Match {
        let likely = previous.pattern.pointee.next.unsafelyUnwrapped
        let length = Self.length(of: likely, at: place)
        guard length == 0 else {
            place += length
            return Match(pattern: likely)
        }
        let other = findOther(place, after: previous)
        place = other.end
        return other.match
    }

    private struct Found {
        var match: Match
        var end: Bytes
    }

    @inline(never) private func findOther(_ start: Bytes, after previous: Match) -> Found {
        var found = Found(match: none, end: start)
        found.match = find(&found.end)
        if found.match.index >= 0 { previous.pattern.pointee.next = found.match.pattern }
        return found
    }

    /// Looks at all of a text. Its terminator, too, may be another than the usual one: before a colon may be white space.
    @inline(never) private func search(_ start: Bytes) -> Found {
        let nothing = Found(match: none, end: start)
        var place = start.endOfPlainText
        while place.pointee >= 0x80 {
            while place.pointee >= 0x80 { place += 1 }
            place = place.endOfPlainText
        }
        let count = place - start
        guard place.pointee == 0x22, (1...Self.longest).contains(count) else { return nothing }
        place += 1
        if body.pointee.terminator == .colon {
            guard Grammar.comes(0x3A, &place) else { return nothing }
            place += 1
        }
        let (slots, slotMask) = (body.pointee.slots, body.pointee.slotMask)
        var slot = Self.hash(start, count) & slotMask
        while slots[slot] != body.pointee.none {
            if slots[slot].pointee.isNamed(start, count, body.pointee.terminator) {
                return Found(match: Match(pattern: slots[slot]), end: place)
            }
            slot = (slot + 1) & slotMask
        }
        return nothing
    }

    /// The name that a text is; none if it is none of the table's.
    func match(_ text: Stretch) -> Match {
        guard (1...Self.longest).contains(text.count) else { return none }
        var slot = Self.hash(text.start, text.count) & body.pointee.slotMask
        while body.pointee.slots[slot] != body.pointee.none {
            let pattern = body.pointee.slots[slot]
            if pattern.pointee.isNamed(text.start, text.count, body.pointee.terminator) {
                return Match(pattern: pattern)
            }
            slot = (slot + 1) & body.pointee.slotMask
        }
        return none
    }
}

import Foundation
import PatchbaySystem

/// A table of quoted names, found by a hash of their first and last bytes.
///
/// Names that are longer than ``longest`` or not in normal form are not in the table, and a name that is written with an
/// escape is not found. If a text without escapes is not found, it is none of the names only if the table has all of them
/// (``isWhole``).
///
/// Most records have their members in the same order, so the name that followed the last found name before is tried first.
struct KeyTable: BitwiseCopyable {
    static let longest = 90

    /// The bytes that end a name in the text.
    enum Terminator: BitwiseCopyable {
        /// The text ends with its quote.
        case quote
        /// The text is the name of a member and ends with a colon.
        case colon
    }

    private struct Entry: BitwiseCopyable {
        // These distinguish names of up to sixteen bytes.
        var first: UInt64 = 0
        var last: UInt64 = 0
        var text = Stretch.nothing
        /// The index of the name among the names of the table; -1 in a free slot.
        var index = -1
        /// The slot of the name that followed when this name was last found.
        var next = 0

        init() {}

        /// Creates an entry of a text that is not empty.
        @inline(__always) init(_ text: Stretch, index: Int = -1) {
            (self.text, self.index) = (text, index)
            first = Word.load(text.start) & Word.mask(min(8, text.count))
            last = text.count > 8 ? Word.load(text.start + (text.count - 8)) : 0
        }

        @inline(__always) var hash: Int {
            let mixed =
                (first &* 0x9E37_79B9_7F4A_7C15) ^ (last &* 0xC2B2_AE3D_27D4_EB4F) &+ UInt64(text.count)
            return Int(truncatingIfNeeded: (mixed ^ mixed &>> 29) & 0x7FFF_FFFF)
        }

        /// Whether the entry's name and its quote are at a position. False for a long name, which may reach beyond the
        /// padding.
        @inline(__always) func isAt(_ place: Bytes) -> Bool {
            guard index >= 0, text.count <= Padding.count / 2,
                Word.load(place) & Word.mask(min(8, text.count)) == first,
                place[text.count] == 0x22
            else { return false }
            return text.count <= 8
                || Word.load(place + (text.count &- 8)) == last
                    && (text.count <= 16 || memcmp(place, text.start, text.count) == 0)
        }

        @inline(__always) func isNamed(as other: Entry) -> Bool {
            first == other.first && last == other.last && text.count == other.text.count
                && (text.count <= 16 || memcmp(text.start, other.text.start, text.count) == 0)
        }
    }

    private let terminator: Terminator
    /// Whether the table has all names.
    let isWhole: Bool
    // `mask` + 1 slots, a power of two. Most are free, so every search ends.
    private let slots: UnsafeMutablePointer<Entry>
    private let mask: Int
    /// The slot of the last found name.
    private let latest: UnsafeMutablePointer<Int>

    init(_ names: [String], terminator: Terminator = .quote, in arena: Arena) {
        var size = 8
        while size < 4 * names.count { size *= 2 }
        (slots, mask, latest) = (arena.make(size, of: Entry()), size - 1, arena.make(1, of: 0))
        (self.terminator, isWhole) = (terminator, names.allSatisfy(Self.canEnter))
        for (index, name) in names.enumerated() where Self.canEnter(name) {
            let entry = Entry(arena.text(name, isWritten: false), index: index)
            slots[slot(of: entry)] = entry
        }
    }

    /// Whether the table can have a name.
    static func canEnter(_ name: String) -> Bool {
        guard (1...longest).contains(name.utf8.count),
            name.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C })
        else { return false }
        // Canonically equivalent names are one name, and only one of them is in normal form.
        return name.utf8.allSatisfy { $0 < 0x7F }
            || name.precomposedStringWithCanonicalMapping.utf8.elementsEqual(name.utf8)
    }

    /// The slot of a name, or the free slot for it.
    @inline(__always) private func slot(of entry: Entry) -> Int {
        var slot = entry.hash & mask
        while slots[slot].index >= 0, !slots[slot].isNamed(as: entry) { slot = (slot &+ 1) & mask }
        return slot
    }

    /// Finds the name at the cursor, which is after an opening quote, and moves the cursor after its terminator. Returns -1
    /// without moving the cursor if the text is none of the names.
    @inline(__always) func find(_ place: inout Bytes) -> Int {
        let next = slots[latest.pointee].next
        let entry = slots + next
        // No name contains its terminator, so the name ends where the entry's name does.
        if entry.pointee.isAt(place) {
            let end = place + (entry.pointee.text.count &+ 1)
            if terminator == .quote || end.pointee == 0x3A {
                latest.pointee = next
                place = terminator == .quote ? end : end + 1
                return entry.pointee.index
            }
        }
        let found = search(place)
        place = found.end
        return found.index
    }

    @inline(never) private func search(_ start: Bytes) -> (index: Int, end: Bytes) {
        var place = start.endOfPlainText
        while place.pointee >= 0x80 { place = (place + 1).endOfPlainText }
        let count = place - start
        guard place.pointee == 0x22, (1...Self.longest).contains(count) else { return (-1, start) }
        place += 1
        if terminator == .colon {
            // White space may precede the colon.
            guard Grammar.comes(0x3A, &place) else { return (-1, start) }
            place += 1
        }
        let slot = slot(of: Entry(Stretch(start, count)))
        let index = slots[slot].index
        guard index >= 0 else { return (-1, start) }
        (slots[latest.pointee].next, latest.pointee) = (slot, slot)
        return (index, place)
    }

    /// The index of a text among the names; -1 if it is none of them.
    func match(_ text: Stretch) -> Int {
        (1...Self.longest).contains(text.count) ? slots[slot(of: Entry(text))].index : -1
    }
}

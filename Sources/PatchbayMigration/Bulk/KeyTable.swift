import Foundation
import PatchbaySystem

/// A table of quoted names, found by a hash of their first and last bytes.
///
/// Names that are longer than ``longest`` or not in normal form are not in the table, and a name that is written with an
/// escape is not found. If a text without escapes is not found, it is none of the names only if the table has all of them
/// (``isWhole``).
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

    init(_ names: [String], terminator: Terminator = .quote, in arena: Arena) {
        var size = 8
        while size < 4 * names.count { size *= 2 }
        (slots, mask) = (arena.make(size, of: Entry()), size - 1)
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
        let index = slots[slot(of: Entry(Stretch(start, count)))].index
        return (index, index < 0 ? start : place)
    }

    /// The index of a text among the names; -1 if it is none of them.
    func match(_ text: Stretch) -> Int {
        (1...Self.longest).contains(text.count) ? slots[slot(of: Entry(text))].index : -1
    }
}

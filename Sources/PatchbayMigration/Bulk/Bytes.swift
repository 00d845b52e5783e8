import PatchbaySystem

// Bytes of a chunk, read and written through pointers. Every access in this folder relies on these rules:
//
// - A chunk is followed by `Padding.count` readable bytes, and its last record ends with a line feed or is followed by a
//   zero. Both stop every scan, because no scan skips a control character. A cursor that moves only over examined bytes
//   therefore stays inside the chunk, and a word or block that is read at a cursor stays inside the padding.
// - Before a record is written, the output has room for its longest possible text and for `Padding.count` more bytes. No
//   code in between checks for room, and a copy may write up to 31 excess bytes.
// - A cursor or pen is passed to a function and returned by value, unless the function is inlined into its caller. A local
//   variable whose address is taken is kept in memory, and each step would wait for the one before.
// - No pointer into a chunk outlives the call that lent it. Every other pointer points into an arena that its plan holds.

/// The position of a cursor.
typealias Bytes = UnsafePointer<UInt8>

/// The number of bytes after a chunk, and after an output, that may be accessed.
enum Padding {
    static let count = 64
}

/// A range of bytes in a chunk.
struct Stretch {
    var start: Bytes
    var count: Int

    @inline(__always) init(_ start: Bytes, _ count: Int) { (self.start, self.count) = (start, count) }

    /// The service of a token that names none.
    static var apns: Stretch { Stretch(constants.utf8Start, 4) }
    /// The service of an Android token that names none.
    static var fcm: Stretch { Stretch(constants.utf8Start + 4, 3) }
    /// An empty range.
    static var nothing: Stretch { Stretch(constants.utf8Start + 7, 0) }

    /// The constant texts, with padding after them, because texts are read in blocks.
    private static let constants: StaticString =
        "apnsfcm\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

    /// A copy of the bytes, for code outside the bulk path.
    var bytes: [UInt8] { Array(UnsafeBufferPointer(start: start, count: count)) }

    /// The bytes as text, for code outside the bulk path.
    var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }

    @inline(__always) subscript(index: Int) -> UInt8 { start[index] }

    /// Compares bytes. The result is less than, equal to or greater than zero.
    @inline(__always) func compare(_ other: Stretch) -> Int {
        // Most texts differ in their first eight bytes.
        let (one, two) = (head, other.head)
        if one != two { return one < two ? -1 : 1 }
        let order = memcmp(start, other.start, min(count, other.count))
        return order != 0 ? Int(order) : count - other.count
    }

    /// The first eight bytes as a number with the same order. A shorter text is filled up with zeros and sorts before a
    /// longer one.
    @inline(__always) private var head: UInt64 {
        count > 0 ? (Word.load(start) & Word.mask(min(8, count))).byteSwapped : 0
    }

    /// The index of the first byte of either value from `index` on; `count` or more if there is none.
    @inline(__always) func index(of one: Int8, or other: Int8, from index: Int) -> Int {
        var index = index
        while index < count {
            let block = Block.load(start + index)
            let first = Block.first(Block.marks(of: one, in: block) .| Block.marks(of: other, in: block))
            index &+= first
            if first < Block.count { break }
        }
        return index
    }
}

extension Stretch {
    /// Whether a text that was converted from ISO 8859-1 or Windows 1252 may have had another encoding: it has a control
    /// character above U+007F, or two characters that would be one in UTF-8.
    var mayBeMisread: Bool {
        // 0xC2 begins the characters below U+00C0. 0xC3 begins those below U+0100, among them every first byte in UTF-8; their
        // own bytes are no second ones.
        var index = index(of: -62, or: -61, from: 0)
        while index < count {
            let next = index &+ 2 < count ? self[index &+ 2] : 0
            if self[index] == 0xC2 ? self[index &+ 1] < 0xA0 : next >= 0x80 && next != 0xC3 { return true }
            index = self.index(of: -62, or: -61, from: index &+ 1)
        }
        return false
    }

    /// Whether every byte is ASCII.
    var isASCII: Bool {
        var index = 0
        while index < count {
            let word = Word.load(start + index) & (count &- index < 8 ? Word.mask(count &- index) : .max)
            if word & Word.highs != 0 { return false }
            index &+= 8
        }
        return true
    }

    /// Whether JSON writes the text with escapes: it holds a quote, a backslash or a control character.
    var needsEscapes: Bool {
        var index = 0
        while index < count {
            var word = Word.load(start + index)
            if count &- index < 8 { word |= ~Word.mask(count &- index) }
            let controls = (word &- Word.ones &* 0x20) & ~word & Word.highs
            if controls | Word.marks(of: 0x22, in: word) | Word.marks(of: 0x5C, in: word) != 0 { return true }
            index &+= 8
        }
        return false
    }

    /// The text without Unicode white space at both ends.
    var trimmed: Stretch {
        var (start, end) = (start, start + count)
        while start < end {
            let length = Self.spaceLength(at: start, before: end)
            if length == 0 { break }
            start += length
        }
        while start < end {
            var last = end - 1
            while last > start, last.pointee & 0xC0 == 0x80 { last -= 1 }
            if Self.spaceLength(at: last, before: end) == 0 { break }
            end = last
        }
        return Stretch(start, end - start)
    }

    /// Whether the text begins or ends with white space.
    @inline(__always) var hasSpaceAtEnds: Bool {
        guard count > 0 else { return false }
        let (first, last) = (self[0], self[count &- 1])
        if first &- 0x21 < 0x5E, last &- 0x21 < 0x5E { return false }
        return trimmed.count != count
    }

    /// The number of bytes of the white space at a position; 0 if there is none.
    private static func spaceLength(at place: Bytes, before end: Bytes) -> Int {
        let byte = place.pointee
        if byte < 0x80 { return byte == 0x20 || byte &- 0x09 < 5 ? 1 : 0 }
        // U+0085, U+00A0, U+1680, U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F and U+3000.
        if byte == 0xC2, end - place >= 2 { return place[1] == 0x85 || place[1] == 0xA0 ? 2 : 0 }
        guard end - place >= 3 else { return 0 }
        let isSpace =
            switch (byte, place[1], place[2]) {
            case (0xE1, 0x9A, 0x80), (0xE2, 0x80, 0x80...0x8A), (0xE2, 0x80, 0xA8), (0xE2, 0x80, 0xA9),
                (0xE2, 0x80, 0xAF), (0xE2, 0x81, 0x9F), (0xE3, 0x80, 0x80):
                true
            default: false
            }
        return isSpace ? 3 : 0
    }
}

/// Memory for the texts of one record that differ from the bytes of the source: unescaped, converted or joined texts.
///
/// The memory is reset with each record. Every function checks for room.
struct Scratch: BitwiseCopyable {
    private static let size = 8 * ChunkMapper.longest

    // `start` has `size` bytes and padding; the pen is within them.
    private let start: UnsafeMutablePointer<UInt8>
    private let position: UnsafeMutablePointer<Pen>

    init(in arena: Arena) {
        start = arena.make(Self.size + Padding.count, of: 0)
        position = arena.make(1, of: Pen(place: start))
    }

    @inline(__always) func reset() { position.pointee = Pen(place: start) }

    /// Returns a pen with room for `count` bytes; nil if there is no room.
    @inline(__always) func pen(for count: Int) -> Pen? {
        position.pointee.place - start &+ count <= Self.size ? position.pointee : nil
    }

    /// Keeps the text that a pen of ``pen(for:)`` has written.
    @inline(__always) func keep(_ pen: Pen) -> Stretch {
        let from = position.pointee.place
        position.pointee = pen
        return Stretch(Bytes(from), pen.place - from)
    }

    /// Keeps a text; nil if there is no room.
    func keep(_ text: String) -> Stretch? {
        var text = text
        return text.withUTF8 { bytes in
            guard let pen = pen(for: bytes.count) else { return nil }
            if let source = bytes.baseAddress { pen.place.update(from: source, count: bytes.count) }
            return keep(Pen(place: pen.place + bytes.count))
        }
    }
}

/// Operations on eight bytes at once. The lowest mark of each result is exact, because a borrow reaches only bytes above a
/// marked one.
enum Word {
    static let ones: UInt64 = 0x0101_0101_0101_0101
    static let highs: UInt64 = 0x8080_8080_8080_8080

    @inline(__always) static func load(_ place: Bytes) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(place).loadUnaligned(as: UInt64.self))
    }

    /// The first bytes of a word, the others zero; `count` from 1 to 8.
    @inline(__always) static func mask(_ count: Int) -> UInt64 {
        UInt64.max &>> UInt64(truncatingIfNeeded: 64 &- 8 &* count)
    }

    /// Marks bytes that equal `byte`.
    @inline(__always) static func marks(of byte: UInt8, in word: UInt64) -> UInt64 {
        let differences = word ^ (ones &* UInt64(byte))
        return (differences &- ones) & ~differences & highs
    }
}

/// Operations on sixteen bytes at once, as signed numbers. Bytes that are not ASCII are negative.
enum Block {
    static let count = 16

    typealias Bits = SIMD16<Int8>

    @inline(__always) static func load(_ place: Bytes) -> Bits {
        UnsafeRawPointer(place).loadUnaligned(as: Bits.self)
    }

    /// Marks bytes that end plain text in a JSON string: a quote, a backslash, a control character, or a byte that is not
    /// ASCII.
    @inline(__always) static func stops(in block: Bits) -> SIMDMask<Bits> {
        (block .< all(0x20)) .| marks(of: 0x22, in: block) .| marks(of: 0x5C, in: block)
    }

    /// Marks bytes that are not digits.
    @inline(__always) static func nonDigits(in block: Bits) -> SIMDMask<Bits> {
        (block .< all(0x30)) .| (block .> all(0x39))
    }

    /// Marks bytes that equal `byte`.
    @inline(__always) static func marks(of byte: Int8, in block: Bits) -> SIMDMask<Bits> { block .== all(byte) }

    // A comparison with a scalar would be compiled to one comparison per byte.
    @inline(__always) private static func all(_ byte: Int8) -> Bits { Bits(repeating: byte) }

    /// The index of the first mark, ``count`` if there is none.
    @inline(__always) static func first(_ marks: SIMDMask<Bits>) -> Int {
        let words = unsafeBitCast(marks, to: SIMD2<UInt64>.self)
        let (low, high) = (words[0].littleEndian, words[1].littleEndian)
        return low != 0 ? low.trailingZeroBitCount &>> 3 : 8 &+ high.trailingZeroBitCount &>> 3
    }
}

extension Bytes {
    /// The next position that ends plain text in a JSON string.
    @inline(__always) var endOfPlainText: Bytes {
        var place = self
        while true {
            let first = Block.first(Block.stops(in: Block.load(place)))
            place += first
            if first < Block.count { return place }
        }
    }

    /// The next position that ends plain text in a JSON string or has a delimiter.
    @inline(__always) func endOfPlainField(_ delimiter: UInt8) -> Bytes {
        let delimiter = Int8(truncatingIfNeeded: delimiter)
        var place = self
        while true {
            let block = Block.load(place)
            let first = Block.first(Block.stops(in: block) .| Block.marks(of: delimiter, in: block))
            place += first
            if first < Block.count { return place }
        }
    }

    /// The next position without a digit.
    @inline(__always) var endOfDigits: Bytes {
        var place = self
        while true {
            let first = Block.first(Block.nonDigits(in: Block.load(place)))
            place += first
            if first < Block.count { return place }
        }
    }

    /// The length of the UTF-8 sequence that starts here, from 2 to 4; 0 if it is ill-formed (RFC 3629).
    var sequenceLength: Int {
        let (second, third, fourth) = (self[1], self[2], self[3])
        func follows(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
        switch self[0] {
        case 0xC2...0xDF: return follows(second) ? 2 : 0
        case 0xE0: return (0xA0...0xBF).contains(second) && follows(third) ? 3 : 0
        case 0xED: return (0x80...0x9F).contains(second) && follows(third) ? 3 : 0
        case 0xE1...0xEF: return follows(second) && follows(third) ? 3 : 0
        case 0xF0: return (0x90...0xBF).contains(second) && follows(third) && follows(fourth) ? 4 : 0
        case 0xF1...0xF3: return follows(second) && follows(third) && follows(fourth) ? 4 : 0
        case 0xF4: return (0x80...0x8F).contains(second) && follows(third) && follows(fourth) ? 4 : 0
        default: return 0
        }
    }

    /// The first line feed before `end`; nil if there is none.
    func lineFeed(before end: Bytes) -> Bytes? {
        var place = self
        while place < end {
            let marks = Word.marks(of: 0x0A, in: Word.load(place))
            guard marks == 0 else {
                place += marks.trailingZeroBitCount &>> 3
                return place < end ? place : nil
            }
            place += 8
        }
        return nil
    }
}

/// A position in an output. The top of this file explains why no method checks for room.
struct Pen {
    var place: UnsafeMutablePointer<UInt8>

    @inline(__always) mutating func put(_ byte: UInt8) {
        place.pointee = byte
        place += 1
    }

    @inline(__always) mutating func put(_ bytes: Stretch) { put(bytes.start, bytes.count) }

    @inline(__always) mutating func put(_ start: Bytes, _ count: Int) {
        let (source, target) = (UnsafeRawPointer(start), UnsafeMutableRawPointer(place))
        var index = 0
        // Few texts are longer, so the branch is mostly predicted correctly.
        repeat {
            target.storeBytes(
                of: source.loadUnaligned(fromByteOffset: index, as: SIMD32<UInt8>.self),
                toByteOffset: index,
                as: SIMD32<UInt8>.self
            )
            index &+= 32
        } while index < count
        place += count
    }

    /// Writes a scalar in UTF-8.
    mutating func put(scalar: UInt32) {
        func byte(_ lead: UInt32, _ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: lead | scalar >> shift & 0x3F) }
        switch scalar {
        case 0..<0x80: put(UInt8(truncatingIfNeeded: scalar))
        case 0x80..<0x800:
            put(UInt8(truncatingIfNeeded: 0xC0 | scalar >> 6))
            put(byte(0x80, 0))
        case 0x800..<0x10000:
            put(UInt8(truncatingIfNeeded: 0xE0 | scalar >> 12))
            put(byte(0x80, 6))
            put(byte(0x80, 0))
        default:
            put(UInt8(truncatingIfNeeded: 0xF0 | scalar >> 18))
            put(byte(0x80, 12))
            put(byte(0x80, 6))
            put(byte(0x80, 0))
        }
    }

    /// Writes a text as a JSON string that needs no escapes.
    @inline(__always) mutating func quote(_ bytes: Stretch) {
        put(0x22)
        put(bytes)
        put(0x22)
    }

    /// Writes a text as a JSON string.
    @inline(__always) mutating func quote(escaping text: Stretch, _ needsEscapes: Bool) {
        if needsEscapes { self = Self.escaped(text, self) } else { quote(text) }
    }

    /// Writes a text as a JSON string, with escapes where it needs some.
    mutating func quote(escaping text: Stretch) { quote(escaping: text, text.needsEscapes) }

    @inline(never) private static func escaped(_ text: Stretch, _ start: Pen) -> Pen {
        var pen = start
        pen.put(0x22)
        for index in 0..<text.count {
            let byte = text[index]
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C else {
                pen.put(byte)
                continue
            }
            pen.put(0x5C)
            switch byte {
            case 0x08: pen.put(UInt8(ascii: "b"))
            case 0x09: pen.put(UInt8(ascii: "t"))
            case 0x0A: pen.put(UInt8(ascii: "n"))
            case 0x0C: pen.put(UInt8(ascii: "f"))
            case 0x0D: pen.put(UInt8(ascii: "r"))
            case 0x22, 0x5C: pen.put(byte)
            default:
                for digit in [0x75, 0x30, 0x30, 0x30 + byte >> 4] as [UInt8] { pen.put(digit) }
                pen.put(byte & 15 < 10 ? 0x30 + byte & 15 : 0x57 + byte & 15)
            }
        }
        pen.put(0x22)
        return pen
    }
}

/// Memory that lives as long as its owner. A compiled plan points into an arena, so that it is copied as plain bits without
/// reference counting while a record is mapped.
final class Arena {
    private var blocks: [UnsafeMutableRawPointer] = []
    private var objects: [AnyObject] = []
    /// The number of bytes of all texts that may be written.
    private(set) var textSize = 0

    deinit { for block in blocks { block.deallocate() } }

    /// Allocates values that need no deinitialization.
    func make<Element: BitwiseCopyable>(_ count: Int, of value: Element) -> UnsafeMutablePointer<Element> {
        let place = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
        place.initialize(repeating: value, count: max(1, count))
        blocks.append(UnsafeMutableRawPointer(place))
        return place
    }

    /// Stores a value and returns its address.
    func keep<Element: BitwiseCopyable>(_ value: Element) -> UnsafePointer<Element> {
        UnsafePointer(make(1, of: value))
    }

    func make<Element: BitwiseCopyable>(_ values: [Element]) -> Row<Element> {
        guard let first = values.first else { return Row(start: nil, count: 0) }
        let place = make(values.count, of: first)
        for (index, value) in values.enumerated() { place[index] = value }
        return Row(start: place, count: values.count)
    }

    /// Keeps an object until the arena is deinitialized.
    func keep<Object: AnyObject>(object: Object) -> Unmanaged<Object> {
        objects.append(object)
        return Unmanaged.passUnretained(object)
    }

    /// Stores a text with padding after it. `isWritten` states whether it may be written to an output.
    func text(_ text: String, isWritten: Bool = true) -> Stretch {
        let bytes = Array(text.utf8)
        let place = make(bytes.count + Padding.count, of: 0 as UInt8)
        for (index, byte) in bytes.enumerated() { place[index] = byte }
        if isWritten { textSize += bytes.count }
        return Stretch(Bytes(place), bytes.count)
    }
}

/// Values in an arena.
struct Row<Element: BitwiseCopyable>: BitwiseCopyable {
    private let start: UnsafeMutablePointer<Element>?
    let count: Int

    init(start: UnsafeMutablePointer<Element>?, count: Int) { (self.start, self.count) = (start, count) }

    /// The value at an index, which must be less than `count`.
    @inline(__always) subscript(index: Int) -> Element { place(index).pointee }

    /// The address of a value, which is valid while the arena lives. `index` must be less than `count`.
    @inline(__always) func place(_ index: Int) -> UnsafePointer<Element> {
        assert(index >= 0 && index < count)
        return UnsafePointer(start.unsafelyUnwrapped + index)
    }
}

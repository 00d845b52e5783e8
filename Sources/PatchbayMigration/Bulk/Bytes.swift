#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

// Bytes of a chunk, read and written through pointers. What every access in this folder rests on:
//
// - A chunk is followed by `Padding.count` bytes that may be read, and its last record ends with a line feed or is
//   followed by a zero. Both stop every scan, because no scan passes a control character. So a cursor that is moved only
//   over bytes that were looked at stays inside the chunk, and a word read at a cursor stays inside the padding.
// - Before a record is written, the output has room for the longest text that it can become, and for
//   `Padding.count` more. So nothing in between asks for room, and a copy may write up to 15 bytes too many.
// - No pointer into a chunk outlives the call that lent it; every other pointer points into an arena that its plan holds.

/// Where a cursor stands.
typealias Bytes = UnsafePointer<UInt8>

/// The bytes behind a chunk and behind an output that may be touched.
enum Padding {
    static let count = 64
}

/// Bytes of a chunk, lent.
struct Stretch {
    var start: Bytes
    var count: Int

    @inline(__always) init(_ start: Bytes, _ count: Int) { (self.start, self.count) = (start, count) }

    /// No bytes, with padding behind them.
    static var nothing: Stretch { Stretch(padding.utf8Start, 0) }

    private static let padding: StaticString =
        "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"

    /// The same bytes as text, for what is not on the fast way.
    var text: String { String(decoding: UnsafeBufferPointer(start: start, count: count), as: UTF8.self) }

    @inline(__always) subscript(index: Int) -> UInt8 { start[index] }

    /// Less than, equal to or more than zero, by bytes.
    @inline(__always) func compare(_ other: Stretch) -> Int {
        let order = memcmp(start, other.start, min(count, other.count))
        return order != 0 ? Int(order) : count - other.count
    }
}

/// Eight bytes at once. The lowest mark of each function is exact: a borrow reaches only bytes above a marked one.
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

    /// Marks what ends plain text in a JSON string: a quote, a backslash, a control character, what is not ASCII.
    @inline(__always) static func stops(in word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let control = (word &- ones &* 0x20) & ~word
        return (word | control | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highs
    }
}

extension Bytes {
    /// The first place from here that ends plain text in a JSON string.
    @inline(__always) var endOfPlainText: Bytes {
        var place = self
        while true {
            let stops = Word.stops(in: Word.load(place))
            if stops != 0 { return place + stops.trailingZeroBitCount &>> 3 }
            place += 8
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

/// Where an output is written. See the top of this file for why nothing here asks for room.
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
        repeat {
            target.storeBytes(
                of: source.loadUnaligned(fromByteOffset: index, as: SIMD16<UInt8>.self),
                toByteOffset: index,
                as: SIMD16<UInt8>.self
            )
            index &+= 16
        } while index < count
        place += count
    }

    @inline(__always) mutating func quote(_ bytes: Stretch) {
        put(0x22)
        put(bytes)
        put(0x22)
    }
}

/// Memory that lives as long as its owner. What a plan is compiled to points into one, so that it is copied as plain bits
/// and nothing is counted while a record is mapped.
final class Arena {
    private var blocks: [UnsafeMutableRawPointer] = []
    /// Bytes of all texts.
    private(set) var textSize = 0

    deinit { for block in blocks { block.deallocate() } }

    /// Room for values that need no end of their own.
    func make<Element: BitwiseCopyable>(_ count: Int, of value: Element) -> UnsafeMutablePointer<Element> {
        let place = UnsafeMutablePointer<Element>.allocate(capacity: max(1, count))
        place.initialize(repeating: value, count: max(1, count))
        blocks.append(UnsafeMutableRawPointer(place))
        return place
    }

    func make<Element: BitwiseCopyable>(_ values: [Element]) -> Row<Element> {
        guard let first = values.first else { return Row(start: nil, count: 0) }
        let place = make(values.count, of: first)
        for (index, value) in values.enumerated() { place[index] = value }
        return Row(start: place, count: values.count)
    }

    /// A text, with padding behind it.
    func text(_ text: String) -> Stretch {
        let bytes = Array(text.utf8)
        let place = make(bytes.count + Padding.count, of: 0 as UInt8)
        for (index, byte) in bytes.enumerated() { place[index] = byte }
        textSize += bytes.count
        return Stretch(Bytes(place), bytes.count)
    }
}

/// Values in an arena.
struct Row<Element: BitwiseCopyable>: BitwiseCopyable {
    private let start: UnsafeMutablePointer<Element>?
    let count: Int

    init(start: UnsafeMutablePointer<Element>?, count: Int) { (self.start, self.count) = (start, count) }

    /// The value at that index, which must be below `count`.
    @inline(__always) subscript(index: Int) -> Element {
        assert(index >= 0 && index < count)
        guard let start else { preconditionFailure("an empty row has no index") }
        return start[index]
    }
}

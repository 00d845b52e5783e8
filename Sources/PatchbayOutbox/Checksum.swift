/// CRC-32 as in zlib, PNG and Ethernet (reflected polynomial 0xEDB88320).
struct CRC32 {
    private var state: UInt32 = .max

    /// The checksum of everything added so far.
    var value: UInt32 { ~state }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        Self.tables.withUnsafeBufferPointer { tables in
            var place = 0
            while bytes.count - place >= 8 {
                let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                state = Self.step(word ^ UInt64(state), tables)
                place += 8
            }
            while place < bytes.count {
                state = tables[Int(UInt8(truncatingIfNeeded: state) ^ bytes[place])] ^ (state >> 8)
                place += 1
            }
        }
        self.state = state
    }

    /// Eight bytes at once: each has a table for its distance from the end of the word.
    private static func step(_ word: UInt64, _ tables: UnsafeBufferPointer<UInt32>) -> UInt32 {
        func entry(_ place: Int) -> UInt32 { tables[(7 - place) << 8 + Int(word >> UInt64(8 * place) & 0xFF)] }
        return entry(0) ^ entry(1) ^ entry(2) ^ entry(3) ^ entry(4) ^ entry(5) ^ entry(6) ^ entry(7)
    }

    /// The table of one byte, then those of a byte that so many others follow, 256 entries each.
    private static let tables: [UInt32] = {
        var tables: [UInt32] = (0..<256).map { (index: UInt32) -> UInt32 in
            (0..<8).reduce(index) { rest, _ in rest & 1 == 1 ? 0xEDB8_8320 ^ (rest >> 1) : rest >> 1 }
        }
        for entry in 256..<2048 {
            let before = tables[entry - 256]
            tables.append(tables[Int(before & 0xFF)] ^ (before >> 8))
        }
        return tables
    }()
}

/// The bytes a row's checksum is made of.
///
/// The table's name and then every column in the order of the schema, the checksum itself left out. Each field is written
/// so that no two rows share an image, and so that a few lines of Python can check it with `zlib.crc32`:
///
/// | field | bytes |
/// |---|---|
/// | null | `n` |
/// | integer | `i`, decimal digits, `;` |
/// | text | `t`, length in bytes as decimal digits, `:`, UTF-8 |
/// | blob | `b`, length in bytes as decimal digits, `:`, the bytes |
///
/// A real number never stands in a sound row; it is written like a text, with `r`.
protocol RowImage {
    mutating func append(_ bytes: UnsafeRawBufferPointer)
}

extension RowImage {
    /// Writes a value as it will be stored.
    mutating func append(_ value: SQLValue) {
        switch value {
        case .null: appendNull()
        case .integer(let number): append(integer: number)
        case .text(var text): text.withUTF8 { append(text: UnsafeRawBufferPointer($0)) }
        case .blob(let bytes): bytes.withUnsafeBytes { append(blob: $0) }
        }
    }

    mutating func appendNull() { append(tag: "n", number: nil, end: nil) }

    mutating func append(integer: Int64) { append(tag: "i", number: integer, end: ";") }

    mutating func append(text: UnsafeRawBufferPointer) {
        append(tag: "t", number: Int64(text.count), end: ":")
        append(text)
    }

    mutating func append(blob: UnsafeRawBufferPointer) {
        append(tag: "b", number: Int64(blob.count), end: ":")
        append(blob)
    }

    mutating func append(real: UnsafeRawBufferPointer) {
        append(tag: "r", number: Int64(real.count), end: ":")
        append(real)
    }

    /// Writes tag, digits and end mark from the stack.
    private mutating func append(tag: Unicode.Scalar, number: Int64?, end: Unicode.Scalar?) {
        withUnsafeTemporaryAllocation(byteCount: 24, alignment: 1) { space in
            var start = space.count
            func put(_ byte: UInt8) {
                start -= 1
                space[start] = byte
            }
            if let end { put(UInt8(truncatingIfNeeded: end.value)) }
            if let number {
                var rest = number.magnitude
                repeat {
                    put(UInt8(truncatingIfNeeded: 48 + rest % 10))
                    rest /= 10
                } while rest > 0
                if number < 0 { put(45) }
            }
            put(UInt8(truncatingIfNeeded: tag.value))
            append(UnsafeRawBufferPointer(rebasing: space[start...]))
        }
    }
}

/// Adds a row's image to a checksum without storing it.
struct ChecksumImage: RowImage {
    var checksum = CRC32()
    mutating func append(_ bytes: UnsafeRawBufferPointer) { checksum.add(bytes) }
}

/// Keeps a row's image, for the quarantine.
struct StoredImage: RowImage {
    var bytes: [UInt8] = []
    mutating func append(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
}

/// A list of texts in one blob: each as a text field of a row's image, one behind the other.
enum TextList {
    static func bytes(_ texts: [String]) -> [UInt8] {
        var image = StoredImage()
        for var text in texts { text.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) } }
        return image.bytes
    }

    /// The texts of a blob that `bytes` made; the checksum of its row says that it is whole.
    static func read(_ bytes: [UInt8]) -> [String] {
        var texts: [String] = []
        var rest = bytes[...]
        while rest.popFirst() == UInt8(ascii: "t"), let end = rest.firstIndex(of: UInt8(ascii: ":")),
            let count = Int(String(decoding: rest[..<end], as: UTF8.self)), (0..<rest.endIndex - end).contains(count)
        {
            let start = end + 1
            texts.append(String(decoding: rest[start..<start + count], as: UTF8.self))
            rest = rest[(start + count)...]
        }
        return texts
    }
}

/// CRC-32 as in zlib, PNG and Ethernet (reflected polynomial 0xEDB88320).
struct CRC32 {
    private var state: UInt32 = .max

    /// The checksum of everything added so far.
    var value: UInt32 { ~state }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        var state = state
        Self.table.withUnsafeBufferPointer { table in
            for byte in bytes { state = table[Int(UInt8(truncatingIfNeeded: state) ^ byte)] ^ (state >> 8) }
        }
        self.state = state
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { rest, _ in rest & 1 == 1 ? 0xEDB8_8320 ^ (rest >> 1) : rest >> 1 }
    }
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

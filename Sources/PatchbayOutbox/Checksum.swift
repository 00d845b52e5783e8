import CBlocks

/// CRC-32 as in zlib, PNG and Ethernet (reflected polynomial 0xEDB88320).
struct CRC32 {
    private var state: UInt32 = .max
    /// Bytes buffered until there are eight, the first one lowest; the bits above them are zero.
    private var held: UInt64 = 0
    private var count = 0

    /// The checksum of everything added so far.
    var value: UInt32 {
        var state = state
        for place in 0..<count {
            let byte = UInt8(truncatingIfNeeded: state) ^ UInt8(truncatingIfNeeded: held >> (8 * place))
            state = Self.tables[Int(byte)] ^ (state >> 8)
        }
        return ~state
    }

    /// Adds the lowest `new` bytes of a word (at most eight), lowest first. The bits above them must be zero.
    mutating func add(_ word: UInt64, count new: Int) {
        let shift = UInt64(truncatingIfNeeded: 8 &* count)
        let joined = held | word &<< shift
        let all = count &+ new
        guard all >= 8 else {
            (held, count) = (joined, all)
            return
        }
        state = Self.step(state, joined, Self.tables)
        held = count == 0 ? 0 : word &>> (64 &- shift)
        count = all &- 8
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= Self.many, Self.folds else { return addByWords(bytes) }
        // The buffered bytes come first, so that the state covers whole bytes.
        state = ~value
        (held, count) = (0, 0)
        let whole = bytes.count / 16 * 16
        state = withUnsafeTemporaryAllocation(byteCount: 16, alignment: 16) { folded in
            CBlocks_fold(state, bytes.baseAddress, whole, folded.baseAddress)
            var checksum = CRC32()
            checksum.state = 0
            checksum.addByWords(UnsafeRawBufferPointer(folded))
            return checksum.state
        }
        addByWords(UnsafeRawBufferPointer(rebasing: bytes[whole...]))
    }

    /// The minimum number of bytes for which folding is worthwhile.
    private static let many = 128
    private static let folds = CBlocks_folds()

    private mutating func addByWords(_ bytes: UnsafeRawBufferPointer) {
        let tables = Self.tables
        var (state, held, place) = (state, held, 0)
        let shift = UInt64(truncatingIfNeeded: 8 &* count)
        // Each word lies inside the buffer.
        while bytes.count &- place >= 8 {
            let word = bytes.word(at: place)
            state = Self.step(state, held | word &<< shift, tables)
            held = shift == 0 ? 0 : word &>> (64 &- shift)
            place &+= 8
        }
        (self.state, self.held) = (state, held)
        let rest = bytes.count &- place
        guard rest > 0 else { return }
        guard bytes.count >= 8 else {
            var word: UInt64 = 0
            for offset in 0..<rest { word |= UInt64(bytes[offset]) &<< UInt64(8 &* offset) }
            return add(word, count: rest)
        }
        let word = bytes.word(at: bytes.count &- 8)
        add(word &>> UInt64(8 &* (8 &- rest)), count: rest)
    }

    /// Processes eight bytes at once, with one table for each distance from the end of the word.
    private static func step(_ state: UInt32, _ word: UInt64, _ tables: [UInt32]) -> UInt32 {
        let word = word ^ UInt64(state)
        func entry(_ place: UInt64) -> UInt32 {
            tables[Int(truncatingIfNeeded: (7 &- place) &<< 8 | word &>> (8 &* place) & 0xFF)]
        }
        return entry(0) ^ entry(1) ^ entry(2) ^ entry(3) ^ entry(4) ^ entry(5) ^ entry(6) ^ entry(7)
    }

    /// The table for one byte, then the tables for a byte followed by one to seven others; 256 entries each.
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

extension UnsafeRawBufferPointer {
    /// Returns eight bytes as a word, the first one lowest. All of them must be inside the buffer.
    @inline(__always) func word(at place: Int) -> UInt64 {
        UInt64(littleEndian: loadUnaligned(fromByteOffset: place, as: UInt64.self))
    }
}

/// The bytes that a row's checksum covers.
///
/// They consist of the table's name and every column in the order of the schema, without the checksum itself. The encoding is
/// unambiguous, so two different rows never share an image. A few lines of Python can check it with `zlib.crc32`:
///
/// | field | bytes |
/// |---|---|
/// | null | `n` |
/// | integer | `i`, decimal digits, `;` |
/// | text | `t`, length in bytes as decimal digits, `:`, UTF-8 |
/// | blob | `b`, length in bytes as decimal digits, `:`, the bytes |
///
/// A sound row never contains a real number; one is written like a text, with the tag `r`. A ``BodyDelta`` occurs only inside a
/// blob; it is written like a blob, with the tag `d`.
protocol RowImage {
    mutating func append(_ bytes: UnsafeRawBufferPointer)
    /// Appends the lowest `count` bytes of a word (at most eight), lowest first. The bits above them must be zero.
    mutating func append(_ word: UInt64, count: Int)
}

extension RowImage {
    /// Appends a value as it will be stored.
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

    mutating func append(delta: UnsafeRawBufferPointer) {
        append(tag: "d", number: Int64(delta.count), end: ":")
        append(delta)
    }

    mutating func append(real: UnsafeRawBufferPointer) {
        append(tag: "r", number: Int64(real.count), end: ":")
        append(real)
    }

    /// Writes the tag, the digits, and the end mark. Builds them from the end, eight bytes a word.
    private mutating func append(tag: Unicode.Scalar, number: Int64?, end: Unicode.Scalar?) {
        // At most a tag, a sign, 19 digits, and an end mark: three words. `word` is built last and written first.
        var (word, count): (UInt64, Int) = (0, 0)
        var (second, third, full): (UInt64, UInt64, Int) = (0, 0, 0)
        func put(_ byte: UInt64) {
            if count == 8 {
                (third, second, full) = (second, word, full &+ 1)
                (word, count) = (0, 0)
            }
            word = word &<< 8 | byte
            count &+= 1
        }
        if let end { put(UInt64(end.value)) }
        if let number {
            var rest = number.magnitude
            repeat {
                put(48 &+ rest % 10)
                rest /= 10
            } while rest > 0
            if number < 0 { put(45) }
        }
        put(UInt64(tag.value))
        append(word, count: count)
        if full > 0 { append(second, count: 8) }
        if full > 1 { append(third, count: 8) }
    }
}

/// Adds a row's image to a checksum without storing it.
struct ChecksumImage: RowImage {
    var checksum = CRC32()
    mutating func append(_ bytes: UnsafeRawBufferPointer) { checksum.add(bytes) }
    mutating func append(_ word: UInt64, count: Int) { checksum.add(word, count: count) }
}

/// A row's image stored in memory, for the quarantine.
struct StoredImage: RowImage {
    var bytes: [UInt8] = []
    mutating func append(_ bytes: UnsafeRawBufferPointer) { self.bytes.append(contentsOf: bytes) }
    mutating func append(_ word: UInt64, count: Int) {
        bytes.append(addingCapacity: 8) { room in
            room.withUnsafeMutableBufferPointer { room, initialized in
                UnsafeMutableRawBufferPointer(room).storeBytes(of: word.littleEndian, as: UInt64.self)
                initialized = count
            }
        }
    }

    /// Appends what `body` writes, at most `count` bytes. The capacity is reserved once.
    mutating func append(atMost count: Int, _ body: (inout LentImage) -> Void) {
        bytes.append(addingCapacity: count) { room in
            room.withUnsafeMutableBufferPointer { room, initialized in
                var image = LentImage(UnsafeMutableRawBufferPointer(room))
                body(&image)
                initialized = image.count
            }
        }
    }
}

/// Writes a row's image into a borrowed buffer, which must be large enough.
struct LentImage: RowImage {
    private let room: UnsafeMutableRawBufferPointer
    /// The number of bytes written.
    private(set) var count = 0

    init(_ room: UnsafeMutableRawBufferPointer) { self.room = room }

    mutating func append(_ bytes: UnsafeRawBufferPointer) {
        UnsafeMutableRawBufferPointer(rebasing: room[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    mutating func append(_ word: UInt64, count: Int) {
        room.storeBytes(of: word.littleEndian, toByteOffset: self.count, as: UInt64.self)
        self.count += count
    }
}

/// A list of texts in one blob, each encoded as a text field of a row's image.
enum TextList {
    static func bytes(_ texts: [String]) -> [UInt8] {
        var image = StoredImage()
        for var text in texts { text.withUTF8 { image.append(text: UnsafeRawBufferPointer($0)) } }
        return image.bytes
    }

    /// Returns the texts of a blob that `bytes` made. The row's checksum guarantees that the blob is complete.
    static func read(_ bytes: [UInt8]) -> [String] {
        var texts: [String] = []
        var image = ImageReader(bytes)
        while let text = image.text() { texts.append(text) }
        return texts
    }
}

/// Reads consecutive fields of a row's image. Returns nil at the end, or if the next field has another type.
struct ImageReader {
    /// The bytes not read yet.
    private(set) var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    mutating func integer() -> Int64? { number(after: UInt8(ascii: "i"), upTo: UInt8(ascii: ";")) }

    mutating func text() -> String? { field(UInt8(ascii: "t")).map { String(decoding: $0, as: UTF8.self) } }

    mutating func blob() -> [UInt8]? { field(UInt8(ascii: "b")).map { Array($0) } }

    mutating func delta() -> ArraySlice<UInt8>? { field(UInt8(ascii: "d")) }

    private mutating func field(_ tag: UInt8) -> ArraySlice<UInt8>? {
        guard let count = number(after: tag, upTo: UInt8(ascii: ":")), (0...Int64(rest.count)).contains(count) else {
            return nil
        }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    private mutating func number(after tag: UInt8, upTo end: UInt8) -> Int64? {
        guard rest.first == tag, let place = rest.firstIndex(of: end) else { return nil }
        defer { rest = rest[(place + 1)...] }
        return Int64(String(decoding: rest[(rest.startIndex + 1)..<place], as: UTF8.self))
    }
}

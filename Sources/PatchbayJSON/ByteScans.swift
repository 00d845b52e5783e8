// Byte loops in which the readers of this module spend most of their time. Each loop reads `bytes[index]` only after comparing
// `index` with `bytes.count`, and a word of eight bytes only if eight bytes are left.

/// Runs of plain ASCII in a string.
enum ASCIIScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Returns the first index from `start` whose byte is a quote, a backslash, a control character, or not ASCII; otherwise
    /// the end.
    static func endOfPlainText(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let stops = stops(in: word)
            if stops != 0 { return index + stops.trailingZeroBitCount / 8 }
            index += 8
        }
        guard index < bytes.count else { return index }
        let stops = stops(in: lastWord(of: raw, from: index))
        return stops == 0 ? bytes.count : index + stops.trailingZeroBitCount / 8
    }

    /// Returns the last one to seven bytes from `index` as the low bytes of a word. The other bytes of the word are plain.
    @inline(__always) private static func lastWord(of bytes: UnsafeRawBufferPointer, from index: Int) -> UInt64 {
        let rest = bytes.count - index
        let filling = (ones &* 0x20) << UInt64(8 * rest)
        if bytes.count >= 8 {
            // The last eight bytes, with those before `index` shifted out.
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 8, as: UInt64.self))
            return word >> UInt64(8 * (8 - rest)) | filling
        }
        if rest >= 4 {
            // Two overlapping halves; the common bytes are equal.
            let low = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: index, as: UInt32.self))
            let high = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: bytes.count - 4, as: UInt32.self))
            return UInt64(low) | UInt64(high) << UInt64(8 * (rest - 4)) | filling
        }
        let (first, middle, last) = (bytes[index], bytes[index + rest / 2], bytes[bytes.count - 1])
        return UInt64(first) | UInt64(middle) << UInt64(8 * (rest / 2)) | UInt64(last) << UInt64(8 * (rest - 1))
            | filling
    }

    /// Returns the first index from `start` whose byte must be escaped in a string: a quote, a backslash, or a control
    /// character; otherwise the end.
    static func endOfUnescapedText(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while true {
            index = endOfPlainText(in: bytes, from: index)
            guard index < bytes.count, bytes[index] >= 0x80 else { return index }
            while index < bytes.count, bytes[index] >= 0x80 { index += 1 }
        }
    }

    /// Copies bytes to a buffer of the same size, if none must be escaped. Returns false at the first byte that must be
    /// escaped; the content of the buffer is then undefined.
    @inline(__always) static func copyUnescaped(
        _ bytes: UnsafeBufferPointer<UInt8>,
        to room: UnsafeMutablePointer<UInt8>
    ) -> Bool {
        let (count, source, target) = (bytes.count, UnsafeRawBufferPointer(bytes), UnsafeMutableRawPointer(room))
        func copy<Word: FixedWidthInteger & UnsignedInteger>(_ type: Word.Type, at offset: Int) -> Bool {
            let word = source.loadUnaligned(fromByteOffset: offset, as: type)
            target.storeBytes(of: word, toByteOffset: offset, as: type)
            return escapes(in: UInt64(truncatingIfNeeded: word), of: Word.bitWidth)
        }
        // The last word overlaps the previous one, and none extends past the end.
        switch count {
        case 8...:
            var offset = 0
            while offset < count - 8 {
                if copy(UInt64.self, at: offset) { return false }
                offset += 8
            }
            return !copy(UInt64.self, at: count - 8)
        case 4...: return !copy(UInt32.self, at: 0) && !copy(UInt32.self, at: count - 4)
        case 2...: return !copy(UInt16.self, at: 0) && !copy(UInt16.self, at: count - 2)
        case 1: return !copy(UInt8.self, at: 0)
        default: return true
        }
    }

    /// Whether a byte in the lowest `width` bits of a word must be escaped.
    private static func escapes(in word: UInt64, of width: Int) -> Bool {
        // The bits above are replaced by bytes that need no escape.
        let word = width == 64 ? word : word | (ones &* 0x80) << UInt64(width)
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let belowSpace = (word &- ones &* 0x20) & ~word
        return (belowSpace | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highBits != 0
    }

    /// Returns a word whose lowest set bit marks the first byte that ends plain text; zero if there is none.
    ///
    /// `(x - n) & ~x` sets a byte's high bit if the byte is below `n`. A borrow can only reach bytes above one that is already
    /// marked, so the lowest mark is exact.
    private static func stops(in word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let belowSpace = (word &- ones &* 0x20) & ~word
        return (word | belowSpace | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highBits
    }
}

/// Validation of UTF-8 by the table in RFC 3629.
enum UTF8Scan {
    /// Returns the text of `bytes`; nil if they are not UTF-8.
    static func text(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = 0
        while index < bytes.count {
            if index + 8 <= bytes.count,
                raw.loadUnaligned(fromByteOffset: index, as: UInt64.self) & 0x8080_8080_8080_8080 == 0
            {
                index += 8
            } else if bytes[index] < 0x80 {
                index += 1
            } else {
                let length = sequenceLength(in: bytes, at: index)
                guard length > 0 else { return nil }
                index += length
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the length of the multi-byte sequence at `index`, from 2 to 4; 0 if it is ill-formed or truncated.
    static func sequenceLength(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        let lead = bytes[index]
        let (length, second): (Int, ClosedRange<UInt8>) =
            switch lead {
            case 0xC2...0xDF: (2, 0x80...0xBF)
            case 0xE0: (3, 0xA0...0xBF)
            case 0xE1...0xEC, 0xEE...0xEF: (3, 0x80...0xBF)
            case 0xED: (3, 0x80...0x9F)
            case 0xF0: (4, 0x90...0xBF)
            case 0xF1...0xF3: (4, 0x80...0xBF)
            case 0xF4: (4, 0x80...0x8F)
            default: (0, 0x80...0x80)
            }
        guard length > 0, bytes.count - index >= length, second.contains(bytes[index + 1]) else { return 0 }
        for offset in 2..<max(length, 2) where bytes[index + offset] & 0xC0 != 0x80 { return 0 }
        return length
    }
}

/// Searching and comparing bytes.
enum ByteScan {
    /// Whether `count` bytes are equal at both addresses, which must have at least that many.
    static func equal(_ left: UnsafePointer<UInt8>, _ right: UnsafePointer<UInt8>, count: Int) -> Bool {
        let (left, right) = (UnsafeRawPointer(left), UnsafeRawPointer(right))
        func same<Word: FixedWidthInteger>(_ type: Word.Type, at offset: Int) -> Bool {
            left.loadUnaligned(fromByteOffset: offset, as: type)
                == right.loadUnaligned(fromByteOffset: offset, as: type)
        }
        // The last word overlaps the previous one, and none extends past `count`.
        switch count {
        case 8...:
            var offset = 0
            while offset < count - 8 {
                guard same(UInt64.self, at: offset) else { return false }
                offset += 8
            }
            return same(UInt64.self, at: count - 8)
        case 4...: return same(UInt32.self, at: 0) && same(UInt32.self, at: count - 4)
        case 2...: return same(UInt16.self, at: 0) && same(UInt16.self, at: count - 2)
        case 1: return same(UInt8.self, at: 0)
        default: return true
        }
    }

    /// Whether the left bytes sort before the right ones.
    static func precedes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
        let shared = min(left.count, right.count)
        var index = 0
        while index < shared, left[index] == right[index] { index += 1 }
        return index < shared ? left[index] < right[index] : left.count < right.count
    }

    /// Returns the first index from `start` that contains `byte`.
    static func firstIndex(of byte: UInt8, in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int? {
        let raw = UnsafeRawBufferPointer(bytes)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let pattern = ones &* UInt64(byte)
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ pattern
            // As in ASCIIScan: the lowest mark is exact.
            let marks = (word &- ones) & ~word & 0x8080_8080_8080_8080
            if marks != 0 { return index + marks.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count {
            if bytes[index] == byte { return index }
            index += 1
        }
        return nil
    }
}

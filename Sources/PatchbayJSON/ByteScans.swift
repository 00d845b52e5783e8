// The loops over bytes that the readers of this module spend their time in. Each reads `bytes[index]` only where
// `index` was compared with `bytes.count`, and a word of eight only where eight bytes are left.

/// Runs of plain ASCII in a string.
enum ASCIIScan {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// The first index from `start` whose byte is a quote, a backslash, a control character, or not ASCII; else the end.
    static func endOfPlainText(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        let raw = UnsafeRawBufferPointer(bytes)
        var index = start
        while index + 8 <= bytes.count {
            let word = UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self))
            let stops = stops(in: word)
            if stops != 0 { return index + stops.trailingZeroBitCount / 8 }
            index += 8
        }
        while index < bytes.count {
            switch bytes[index] {
            case 0..<0x20, 0x22, 0x5C, 0x80...: return index
            default: index += 1
            }
        }
        return index
    }

    /// The first index from `start` whose byte must be escaped in a string: a quote, a backslash, a control character;
    /// else the end.
    static func endOfUnescapedText(in bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> Int {
        var index = start
        while true {
            index = endOfPlainText(in: bytes, from: index)
            guard index < bytes.count, bytes[index] >= 0x80 else { return index }
            while index < bytes.count, bytes[index] >= 0x80 { index += 1 }
        }
    }

    /// A word whose lowest set bit marks the first byte that ends plain text; zero if none does.
    ///
    /// `(x - n) & ~x` sets a byte's high bit if the byte is below `n`. A borrow can reach only bytes above one that is
    /// marked already, so the lowest mark is exact.
    private static func stops(in word: UInt64) -> UInt64 {
        let quote = word ^ (ones &* 0x22)
        let backslash = word ^ (ones &* 0x5C)
        let belowSpace = (word &- ones &* 0x20) & ~word
        return (word | belowSpace | (quote &- ones) & ~quote | (backslash &- ones) & ~backslash) & highBits
    }
}

/// Well-formed UTF-8 by the table of RFC 3629.
enum UTF8Scan {
    /// The text of `bytes`; nil if they are not UTF-8.
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

    /// The length of the multi-byte sequence at `index`, from 2 to 4; 0 if it is ill-formed or cut off.
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

/// One byte value in many.
enum ByteScan {
    /// The first index from `start` that holds `byte`.
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

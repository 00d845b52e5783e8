/// The escapes of JSON strings: their length and meaning.
enum JSONEscapes {
    /// An error in an escape, and its position.
    struct Fault: Error {
        let code: JSONError.Code
        let offset: Int
    }

    /// Returns the number of bytes of the escape at `index` (a backslash). A surrogate pair is one escape of twelve bytes.
    static func length(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Result<Int, Fault> {
        guard index + 1 < bytes.count else { return .failure(Fault(code: .unexpectedEnd, offset: bytes.count)) }
        guard bytes[index + 1] == UInt8(ascii: "u") else {
            guard shortForm(bytes[index + 1]) != nil else {
                return .failure(Fault(code: .invalidEscape, offset: index))
            }
            return .success(2)
        }
        return codeUnit(in: bytes, at: index).flatMap { unit in
            if UTF16.isTrailSurrogate(unit) { return .failure(Fault(code: .loneSurrogate, offset: index)) }
            guard UTF16.isLeadSurrogate(unit) else { return .success(6) }
            let second = index + 6
            if second == bytes.count || second + 1 == bytes.count && bytes[second] == UInt8(ascii: "\\") {
                return .failure(Fault(code: .unexpectedEnd, offset: bytes.count))
            }
            guard bytes[second] == UInt8(ascii: "\\"), bytes[second + 1] == UInt8(ascii: "u") else {
                return .failure(Fault(code: .loneSurrogate, offset: index))
            }
            return codeUnit(in: bytes, at: second).flatMap { trail in
                UTF16.isTrailSurrogate(trail) ? .success(12) : .failure(Fault(code: .loneSurrogate, offset: index))
            }
        }
    }

    /// Returns the text of a string's content, which must have been validated.
    static func decode(_ content: UnsafeBufferPointer<UInt8>) -> String {
        // Every escape is longer than its UTF-8, so the output fits into content.count bytes.
        String(unsafeUninitializedCapacity: content.count) { output in
            var written = 0
            var index = 0
            while index < content.count {
                let byte = content[index]
                guard byte == UInt8(ascii: "\\") else {
                    output[written] = byte
                    written += 1
                    index += 1
                    continue
                }
                if let short = shortForm(content[index + 1]) {
                    output[written] = short
                    written += 1
                    index += 2
                    continue
                }
                let (scalar, length) = scalar(in: content, at: index)
                written += encode(scalar, into: output, at: written)
                index += length
            }
            return written
        }
    }

    /// Returns the meaning of the byte after a backslash; nil for `u` and for invalid escapes.
    private static func shortForm(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): byte
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): 0x0A
        case UInt8(ascii: "r"): 0x0D
        case UInt8(ascii: "t"): 0x09
        default: nil
        }
    }

    /// Returns the code unit of the escape `\uXXXX` whose backslash is at `index`.
    private static func codeUnit(in bytes: UnsafeBufferPointer<UInt8>, at index: Int) -> Result<UInt16, Fault> {
        var unit: UInt16 = 0
        for place in (index + 2)..<(index + 6) {
            guard place < bytes.count else { return .failure(Fault(code: .unexpectedEnd, offset: bytes.count)) }
            guard let digit = hexadecimal(bytes[place]) else {
                return .failure(Fault(code: .invalidEscape, offset: index))
            }
            unit = unit << 4 | digit
        }
        return .success(unit)
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt16? {
        switch byte {
        case 0x30...0x39: UInt16(byte - 0x30)
        case 0x41...0x46: UInt16(byte - 0x41 + 10)
        case 0x61...0x66: UInt16(byte - 0x61 + 10)
        default: nil
        }
    }

    /// Returns the scalar of the validated escape at `index`, and the length of the escape in bytes.
    private static func scalar(in content: UnsafeBufferPointer<UInt8>, at index: Int) -> (scalar: UInt32, length: Int) {
        func unit(at index: Int) -> UInt32 {
            content[(index + 2)..<(index + 6)].reduce(0) { $0 << 4 | UInt32(hexadecimal($1) ?? 0) }
        }
        let first = unit(at: index)
        guard first & 0xFC00 == 0xD800 else { return (first, 6) }
        return (0x10000 + (first & 0x3FF) << 10 + unit(at: index + 6) & 0x3FF, 12)
    }

    /// Writes a scalar as UTF-8 and returns the number of bytes.
    private static func encode(_ scalar: UInt32, into output: UnsafeMutableBufferPointer<UInt8>, at index: Int) -> Int {
        func continuation(_ shift: UInt32) -> UInt8 { UInt8(truncatingIfNeeded: scalar >> shift & 0x3F | 0x80) }
        switch scalar {
        case 0..<0x80:
            output[index] = UInt8(truncatingIfNeeded: scalar)
            return 1
        case 0x80..<0x800:
            output[index] = UInt8(truncatingIfNeeded: scalar >> 6 | 0xC0)
            output[index + 1] = continuation(0)
            return 2
        case 0x800..<0x10000:
            output[index] = UInt8(truncatingIfNeeded: scalar >> 12 | 0xE0)
            output[index + 1] = continuation(6)
            output[index + 2] = continuation(0)
            return 3
        default:
            output[index] = UInt8(truncatingIfNeeded: scalar >> 18 | 0xF0)
            output[index + 1] = continuation(12)
            output[index + 2] = continuation(6)
            output[index + 3] = continuation(0)
            return 4
        }
    }
}

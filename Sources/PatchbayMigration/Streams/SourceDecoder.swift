import CZlib
import PatchbayAdapterKit
import PatchbayRecords
import PatchbaySystem

/// Decodes the bytes of a compressed file, or of one in UTF-16, for a reader.
final class SourceDecoder {
    private enum Kind {
        case gzip, deflated
        /// A ZIP member that is stored without compression, with the number of its bytes that are still to come.
        case stored(Int)
        case utf16(isLittleEndian: Bool)
    }

    private var kind: Kind
    private let path: String
    private var stream = z_stream()
    private var isAtEnd = false
    /// The number of bytes before the data, which are skipped.
    private var skipped: Int
    private var isOpen = false
    /// The bytes of an incomplete character.
    private var rest: [UInt8] = []

    private init(_ kind: Kind, skipping skipped: Int = 0, path: String) throws(FileError) {
        (self.kind, self.skipped, self.path) = (kind, skipped, path)
        let windowBits: Int32
        switch kind {
        case .gzip: windowBits = MAX_WBITS + 16
        case .deflated: windowBits = -MAX_WBITS
        case .stored, .utf16: return
        }
        guard patchbay_inflate_begin(&stream, windowBits) == Z_OK else { throw FileError(path, .read, number: ENOMEM) }
        isOpen = true
    }

    deinit { if isOpen { inflateEnd(&stream) } }

    // MARK: Recognition

    /// Returns the decoder of a source that begins with these bytes.
    ///
    /// - Parameters:
    ///   - head: The first bytes.
    ///   - tail: The last bytes of a regular file, which list the members of a ZIP file; nil for any other source.
    ///   - path: The name of the source in errors.
    /// - Returns: The decoder; nil for plain text, for a workbook, and for a ZIP file with several members.
    /// - Throws: ``FileError`` if the tail cannot be read, or if there is not enough memory.
    static func make(head: [UInt8], tail: () throws(FileError) -> [UInt8]?, path: String) throws(FileError)
        -> SourceDecoder?
    {
        if head.starts(with: [0x1F, 0x8B, 8]) { return try SourceDecoder(.gzip, path: path) }
        if head.starts(with: [0xFF, 0xFE]) || head.starts(with: [0xFE, 0xFF]) {
            return try SourceDecoder(.utf16(isLittleEndian: head[0] == 0xFF), skipping: 2, path: path)
        }
        // In UTF-16, ASCII text has a zero in every second byte; no other encoding does.
        let sample = head.prefix(64)
        let zeros = [0, 1].map { side in sample.enumerated().filter { $0.offset % 2 == side && $0.element == 0 }.count }
        if sample.count >= 8, zeros[0] + zeros[1] > 0, min(zeros[0], zeros[1]) == 0,
            max(zeros[0], zeros[1]) >= sample.count / 4
        {
            return try SourceDecoder(.utf16(isLittleEndian: zeros[1] > 0), path: path)
        }
        guard head.starts(with: [0x50, 0x4B, 3, 4]), head.count >= 30, !UnrecognizedFile.isWorkbook(head),
            let tail = try tail(), entries(in: tail) == 1
        else { return nil }
        func number(_ place: Int, _ bytes: Int) -> Int {
            (0..<bytes).reduce(0) { $0 | Int(head[place + $1]) << (8 * $1) }
        }
        let start = 30 + number(26, 2) + number(28, 2)
        let (flags, method, size) = (number(6, 2), number(8, 2), number(18, 4))
        // Encrypted members, and members stored without their size, are not decoded.
        guard flags & 1 == 0 else { return nil }
        if method == 8 { return try SourceDecoder(.deflated, skipping: start, path: path) }
        return method == 0 && flags & 8 == 0 ? try SourceDecoder(.stored(size), skipping: start, path: path) : nil
    }

    /// The number of members according to the record at the end of a ZIP file; nil if there is no such record.
    private static func entries(in tail: [UInt8]) -> Int? {
        guard tail.count >= 22 else { return nil }
        for place in stride(from: tail.count - 22, through: 0, by: -1)
        where tail[place...].starts(with: [0x50, 0x4B, 5, 6]) {
            return Int(tail[place + 10]) | Int(tail[place + 11]) << 8
        }
        return nil
    }

    // MARK: Bytes

    /// Decodes the next bytes of the file.
    func decode(_ bytes: [UInt8]) throws(FileError) -> [UInt8] {
        let passed = min(skipped, bytes.count)
        skipped -= passed
        let bytes = bytes[passed...]
        switch kind {
        case .gzip, .deflated: return try inflated(Array(bytes))
        case .stored(let left):
            let own = bytes.prefix(left)
            kind = .stored(left - own.count)
            return Array(own)
        case .utf16(let isLittleEndian): return try unit16(rest + bytes, isLittleEndian)
        }
    }

    /// Checks at the end that the file is complete.
    func finish() throws(FileError) {
        switch kind {
        case .gzip, .deflated: if !isAtEnd { throw damaged }
        case .stored(let left): if left > 0 { throw damaged }
        case .utf16: if !rest.isEmpty { throw damaged }
        }
    }

    private var damaged: FileError { FileError(path, .read, number: EILSEQ) }

    private func inflated(_ bytes: [UInt8]) throws(FileError) -> [UInt8] {
        var (input, output, isDamaged) = (bytes, [UInt8](), false)
        let count = bytes.count
        input.withUnsafeMutableBufferPointer { input in
            var place = 0
            while place < count, !isDamaged {
                if isAtEnd {
                    // A gzip file may have another member; the directory follows the member of a ZIP file.
                    guard case .gzip = kind, input[place] == 0x1F else { return }
                    isAtEnd = false
                    isDamaged = inflateReset(&stream) != Z_OK
                }
                let room = 256 << 10
                let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, used in
                    stream.next_in = input.baseAddress.map { $0 + place }
                    stream.avail_in = UInt32(count - place)
                    stream.next_out = buffer.baseAddress
                    stream.avail_out = UInt32(room)
                    let result = inflate(&stream, Z_NO_FLUSH)
                    place = count - Int(stream.avail_in)
                    used = room - Int(stream.avail_out)
                    isAtEnd = result == Z_STREAM_END
                    isDamaged = isDamaged || ![Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(result)
                }
                output += chunk
            }
        }
        guard !isDamaged else { throw damaged }
        return output + (isAtEnd ? [] : try drained())
    }

    /// Returns the bytes that the decompressor still holds after it has taken all input.
    private func drained() throws(FileError) -> [UInt8] {
        var output: [UInt8] = []
        while true {
            let room = 256 << 10
            var result = Z_OK
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, used in
                stream.avail_in = 0
                stream.next_out = buffer.baseAddress
                stream.avail_out = UInt32(room)
                result = inflate(&stream, Z_NO_FLUSH)
                used = room - Int(stream.avail_out)
            }
            output += chunk
            if result == Z_STREAM_END { isAtEnd = true }
            guard [Z_OK, Z_STREAM_END, Z_BUF_ERROR].contains(result) else { throw damaged }
            if chunk.count < room || isAtEnd { return output }
        }
    }

    private func unit16(_ bytes: [UInt8], _ isLittleEndian: Bool) throws(FileError) -> [UInt8] {
        var units: [UInt16] = []
        units.reserveCapacity(bytes.count / 2)
        for place in stride(from: 0, to: bytes.count - 1, by: 2) {
            let (one, other) = (UInt16(bytes[place]), UInt16(bytes[place + 1]))
            units.append(isLittleEndian ? other << 8 | one : one << 8 | other)
        }
        // The first half of a surrogate pair is kept until the second arrives.
        let isOpen = units.last.map(UTF16.isLeadSurrogate) ?? false
        if isOpen { units.removeLast() }
        rest = Array(bytes[(2 * units.count)...])
        return Array(String(decoding: units, as: UTF16.self).utf8)
    }
}

import PatchbayAdapterKit
import PatchbayJSON

/// Compares the records of two files by digests of their bytes, in any order. Records with equal bytes are equal; only the
/// others have to be read.
final class RecordMatch {
    private struct Entry: BitwiseCopyable {
        var digest: UInt64
        var number: Int
        var isOfTarget: Bool
    }

    private var store: ShareStore<Entry>?
    private var totals = (source: (count: 0, sum: 0 as UInt64), target: (count: 0, sum: 0 as UInt64))

    /// Creates a match that finds the records that differ, or only whether any does.
    init(findsRecords: Bool) { store = findsRecords ? ShareStore() : nil }

    /// Whether both files have the same records.
    var isWhole: Bool { totals.source == totals.target }

    func add(source digest: UInt64, number: Int) throws(FileError) {
        totals.source = (totals.source.count + 1, totals.source.sum &+ digest)
        try keep(Entry(digest: digest, number: number, isOfTarget: false))
    }

    func add(target digest: UInt64, number: Int) throws(FileError) {
        totals.target = (totals.target.count + 1, totals.target.sum &+ digest)
        try keep(Entry(digest: digest, number: number, isOfTarget: true))
    }

    private func keep(_ entry: Entry) throws(FileError) {
        try store?.add(CollectionOfOne(entry)) { $0.digest }
    }

    /// The numbers of the records that the other file does not have, and the number of records that both have.
    func unmatched() throws(FileError) -> (source: RowSet, target: RowSet, matched: Int) {
        var (source, target, matched) = (RowSet(), RowSet(), 0)
        for share in 0..<Shares.count {
            var waiting: [UInt64: [Int]] = [:]
            // All records of the source were added before the first one of the target.
            for entry in try store?.values(share) ?? [] {
                if !entry.isOfTarget {
                    waiting[entry.digest, default: []].append(entry.number)
                } else if waiting[entry.digest]?.popLast() != nil {
                    matched += 1
                } else {
                    target.insert(entry.number)
                }
            }
            for number in waiting.values.joined() { source.insert(number) }
        }
        return (source, target, matched)
    }

    /// A digest of a record without its line end.
    static func digest(_ record: ArraySlice<UInt8>) -> UInt64 {
        var count = record.count
        if record.last == 0x0A { count -= 1 }
        if count > 0, record[record.startIndex + count - 1] == 0x0D { count -= 1 }
        return record.withUnsafeBytes { bytes in
            var digest = KeyMark.mix(UInt64(truncatingIfNeeded: count))
            var place = 0
            while place < count {
                var word: UInt64 = 0
                if place + 8 <= count {
                    word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self))
                } else {
                    for index in place..<count { word |= UInt64(bytes[index]) << UInt64(8 * (index - place)) }
                }
                digest = KeyMark.mix(digest ^ word)
                place += 8
            }
            return digest
        }
    }
}

/// A set of record numbers.
struct RowSet {
    private var words: [UInt64] = []

    mutating func insert(_ row: Int) {
        guard row > 0 else { return }
        while words.count <= row / 64 { words.append(0) }
        words[row / 64] |= 1 << UInt64(row % 64)
    }

    func contains(_ row: Int) -> Bool {
        words.indices.contains(row / 64) && words[row / 64] & 1 << UInt64(row % 64) != 0
    }
}

/// Splits a file into its records without reading them.
struct RecordCutter {
    private enum State { case start, plain, quoted, closing }

    /// A record of a file.
    struct Record {
        var bytes: ArraySlice<UInt8>
        var number: Int
        /// The number of the line on which the record begins.
        var line: Int
    }

    private let dialect: DelimitedDialect?
    private var state = State.start
    private var bytes: [UInt8] = []
    /// The number of bytes of `bytes` that were examined.
    private var place = 0
    private var number = 0
    private var line = 1
    /// The number of line feeds in the incomplete record.
    private var lines = 0
    /// The rest of the header that was not read yet.
    private var header: ArraySlice<UInt8>

    /// Creates a cutter of lines, or of rows of a dialect, after a header.
    init(_ dialect: DelimitedDialect?, behind header: [UInt8]) { (self.dialect, self.header) = (dialect, header[...]) }

    /// Takes the next bytes, nil at the end, and passes on every record that they complete. Returns false if the file has
    /// another header or a record that is too long.
    mutating func cut(_ chunk: [UInt8]?, _ take: (Record) throws -> Void) throws -> Bool {
        let isLast = chunk == nil
        var chunk = chunk.map { $0[...] } ?? []
        let head = chunk.prefix(header.count)
        guard header.starts(with: head), !isLast || header.isEmpty else { return false }
        (header, chunk) = (header.dropFirst(head.count), chunk.dropFirst(head.count))
        line += head.count { $0 == 0x0A }
        bytes += chunk
        var start = 0
        while place < bytes.count {
            let byte = bytes[place]
            place += 1
            if byte == 0x0A {
                lines += 1
                if state != .quoted {
                    try hand(bytes[start..<(place - 1)], take)
                    (start, state, line, lines) = (place, .start, line + lines, 0)
                    continue
                }
            }
            guard let dialect else { continue }
            let isQuote = byte == dialect.quote && dialect.quoting != .never
            switch state {
            case .quoted: if isQuote { state = .closing }
            case .start, .closing: state = isQuote ? .quoted : byte == dialect.delimiter ? .start : .plain
            case .plain: if byte == dialect.delimiter { state = .start }
            }
        }
        if isLast { try hand(bytes[start...], take) }
        bytes.removeFirst(start)
        place = bytes.count
        return bytes.count <= RecordLength.usual
    }

    private mutating func hand(_ record: ArraySlice<UInt8>, _ take: (Record) throws -> Void) throws {
        let record = record.last == 0x0D ? record.dropLast() : record
        guard !record.isEmpty else { return }
        number += 1
        try take(Record(bytes: record, number: number, line: line))
    }
}

extension [UInt8] {
    mutating func append(_ word: UInt64) {
        for shift in 0..<8 { append(UInt8(truncatingIfNeeded: word >> UInt64(8 * shift))) }
    }

    /// The number that ``append(_:)`` stored at an offset.
    func word(at place: Int) -> UInt64 { (0..<8).reduce(0) { $0 | UInt64(self[place + $1]) << UInt64(8 * $1) } }
}

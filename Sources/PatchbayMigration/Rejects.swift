import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Writes rejected records to two files: a list and a replay file.
///
/// The list has one JSON object a line: `{number, line, code, path, reason, remedy, original}`. It has `originalBase64`
/// instead for bytes that are not UTF-8, `findings` if there are several, and `vendor` with the vendor's code and request
/// id if a vendor's answer is the reason. The replay file has the header of the source and the original rows, unchanged
/// except for guards against spreadsheet programs. After correction, it can be migrated.
public struct Rejects {
    private var list: any ByteSink
    private var replay: any ByteSink
    /// The dialect of the rows, if cells get guards against spreadsheet programs.
    var guarded: DelimitedDialect?
    private var writer = JSONWriter()
    private var head: SourceHead? = SourceHead()
    private var lineEnd: [UInt8] = [0x0A]
    /// The number of bytes that are buffered before they are written.
    private static let writeSize = 64 << 10
    private var listed: [UInt8] = []
    private var replayed: [UInt8] = []

    /// Creates rejects that are written to two sinks.
    public init(list: any ByteSink, replay: any ByteSink) { (self.list, self.replay) = (list, replay) }

    /// Receives the bytes of the source before a reader does, until the first record shows where the header ends.
    mutating func note(_ chunk: [UInt8]) { head?.append(chunk) }

    /// Notes that a record begins on a line. The bytes before the first record are the header.
    mutating func begin(line: Int) throws(FileError) {
        guard let head else { return }
        self.head = nil
        let header = head.lines(before: line)
        if header.hasSuffix([0x0D, 0x0A]) { lineEnd = [0x0D, 0x0A] }
        replayed += header
    }

    /// Whether the source's lines end in CR LF, as far as the header shows.
    var hasReturns: Bool { lineEnd.count == 2 }

    /// Continues after an earlier run.
    mutating func resume(hasBegun: Bool, hasReturns: Bool) {
        if hasBegun { head = nil }
        if hasReturns { lineEnd = [0x0D, 0x0A] }
    }

    /// Writes a record with its errors.
    mutating func reject(_ record: SourceRecord, _ findings: [Finding]) throws(FileError) {
        let errors = findings.filter { $0.severity == .error }
        guard let first = errors.first else { return }
        writer.reset()
        writer.beginObject()
        writer.member("number", record.number)
        writer.member("line", record.line)
        writer.member("code", first.code)
        writer.member("path", first.path)
        writer.member("reason", first.reason)
        writer.member("remedy", first.remedy)
        writer.member("vendor", ifPresent: first.vendor)
        if errors.count > 1 { writer.member("findings", errors) }
        let original = record.bytes.withoutLineEnd
        if let text = String(validating: original, as: UTF8.self) {
            writer.member("original", text)
        } else {
            writer.member("originalBase64", Base64.encode(original))
        }
        writer.endObject()
        writer.endLine()
        listed += writer.bytes
        if !original.isEmpty {
            // In a file with columns, a row that begins with a brace is a JSON object, which needs no guard.
            let isObject = original.first == UInt8(ascii: "{")
            replayed += (isObject ? nil : guarded).map { FormulaGuard.guarded(original, in: $0) } ?? original
            replayed += lineEnd
        }
        if listed.count + replayed.count >= Self.writeSize { try flush() }
    }

    /// Writes the buffered bytes.
    mutating func flush() throws(FileError) {
        if !listed.isEmpty { try list.write(listed) }
        if !replayed.isEmpty { try replay.write(replayed) }
        listed.removeAll(keepingCapacity: true)
        replayed.removeAll(keepingCapacity: true)
    }
}

@available(*, unavailable)
extension Rejects: Sendable {}

/// The beginning of a source up to its first record.
private struct SourceHead {
    /// The maximum length of a header. A source without a record within this length has no header.
    private static let limit = 2 * RecordLength.usual

    private var bytes: [UInt8] = []

    mutating func append(_ chunk: [UInt8]) {
        if bytes.count < Self.limit { bytes += chunk }
    }

    func lines(before line: Int) -> [UInt8] {
        // JSON has no header. The bytes before the first record open a list, and the replay file has no list.
        if UnrecognizedFile.isJSON(bytes) == true { return [] }
        var end = 0
        for _ in 1..<max(1, line) {
            guard let newline = bytes[end...].firstIndex(of: 0x0A) else { return [] }
            end = newline + 1
        }
        return Array(bytes[..<end])
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ other: [UInt8]) -> Bool { suffix(other.count).elementsEqual(other) }
}

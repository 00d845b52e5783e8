import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Keeps what could not be moved, in two forms.
///
/// The list has one JSON object a line: `{number, line, code, path, reason, remedy, original}`, with `originalBase64`
/// for bytes that are not UTF-8, `findings` where there are several, and `vendor` with the vendor's own code and request id
/// where an answer of it is the reason. The replay file has the source's own header and
/// the original rows, byte for byte but for guards against spreadsheet programs: corrected, it can be fed in again.
public struct Rejects {
    private var list: any ByteSink
    private var replay: any ByteSink
    /// How the rows are delimited, where cells get guards against spreadsheet programs.
    var guarded: DelimitedDialect?
    private var writer = JSONWriter()
    private var head: SourceHead? = SourceHead()
    private var lineEnd: [UInt8] = [0x0A]
    /// Bytes that are collected before they are written.
    private static let writeSize = 64 << 10
    private var listed: [UInt8] = []
    private var replayed: [UInt8] = []

    /// Rejects that go to these two places.
    public init(list: any ByteSink, replay: any ByteSink) { (self.list, self.replay) = (list, replay) }

    /// Looks at the source's bytes before a reader does, until the first record shows where the header ends.
    mutating func note(_ chunk: [UInt8]) { head?.append(chunk) }

    /// Notes that a record begins on that line; the header is what stood before the first.
    mutating func begin(line: Int) throws(FileError) {
        guard let head else { return }
        self.head = nil
        let header = head.lines(before: line)
        if header.hasSuffix([0x0D, 0x0A]) { lineEnd = [0x0D, 0x0A] }
        replayed += header
    }

    /// Whether the source's lines end in CR LF, as far as the header shows.
    var hasReturns: Bool { lineEnd.count == 2 }

    /// Goes on where another run stood.
    mutating func resume(hasBegun: Bool, hasReturns: Bool) {
        if hasBegun { head = nil }
        if hasReturns { lineEnd = [0x0D, 0x0A] }
    }

    /// Keeps a record with what is wrong with it.
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
            // A row of such a file may be an object.
            let isObject = original.first == UInt8(ascii: "{")
            replayed += (isObject ? nil : guarded).map { FormulaGuard.guarded(original, in: $0) } ?? original
            replayed += lineEnd
        }
        if listed.count + replayed.count >= Self.writeSize { try flush() }
    }

    /// Writes what was collected.
    mutating func flush() throws(FileError) {
        if !listed.isEmpty { try list.write(listed) }
        if !replayed.isEmpty { try replay.write(replayed) }
        listed.removeAll(keepingCapacity: true)
        replayed.removeAll(keepingCapacity: true)
    }
}

@available(*, unavailable)
extension Rejects: Sendable {}

/// The beginning of a source, as far as its first record.
private struct SourceHead {
    /// A header is shorter than this; what is longer has none.
    private static let limit = 2 * RecordLength.usual

    private var bytes: [UInt8] = []

    mutating func append(_ chunk: [UInt8]) {
        if bytes.count < Self.limit { bytes += chunk }
    }

    func lines(before line: Int) -> [UInt8] {
        // JSON has no header: what stands before its first record opens a list, which the replay file does without.
        if StrangeFile.isJSON(bytes) == true { return [] }
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

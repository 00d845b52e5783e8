public import PatchbayAdapterKit
package import PatchbayRecords
import PatchbaySystem

/// Reads a file, or standard input, in chunks.
public struct FileSource: ByteSource {
    /// The number of bytes in the whole file; nil if it is not known, as for a pipe or a terminal.
    public let size: Int?

    /// The first bytes of a source that can be read only once.
    public private(set) var head: [UInt8] = []

    private let file: FileDescriptor
    private let chunk: Int
    /// The number of bytes that are still to be read, if not all of the file is.
    private var left = Int.max
    /// The offset of the next bytes in a file that other sources read, too; nil if the system keeps the offset.
    private var place: Int?
    /// Decodes a compressed file or one in UTF-16; nil for any other, and until the first bytes are read.
    private var decoder: SourceDecoder?
    private var isRecognized = false
    /// The number of decoded bytes before the part that is read.
    private var skipped = 0
    /// The modification time of a regular file when it was opened.
    private let changed: Int?

    /// The default number of bytes that are read at once.
    public static let chunk = 256 << 10
    /// The chunk size for rows: the lines of an import may need five times their bytes.
    static let rowChunk = 128 << 10
    /// The chunk size for a plan, which adds up its counts once per chunk.
    public static let planChunk = 512 << 10

    /// The file's path, or `standard input`.
    public var name: String { file.path }

    /// The number of bytes of the decoded text; nil if it is not known because the source can be read only once, is
    /// compressed, or is in UTF-16.
    public var textSize: Int? {
        var copy = self
        guard let size, let head = try? file.read(min(Self.headBytes, size), at: 0), (try? copy.recognize(head)) != nil
        else { return nil }
        return copy.decoder == nil ? size : nil
    }

    /// The file's path if it can be read a second time; nil for a pipe and for standard input.
    public var rereadablePath: String? { size == nil || name == "standard input" ? nil : name }

    /// Opens a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - chunk: The number of bytes to read at once.
    /// - Throws: ``FileError`` if the file does not exist, is a folder, or cannot be read.
    public init(path: String, chunk: Int = FileSource.chunk) throws(FileError) {
        try self.init(FileDescriptor(path, O_RDONLY), chunk: chunk)
    }

    /// Opens a file without decoding it, compressed or not.
    init(raw path: String) throws(FileError) {
        try self.init(path: path)
        isRecognized = true
    }

    /// Opens a regular file at an offset.
    init(path: String, at offset: Int, chunk: Int = FileSource.chunk) throws(FileError) {
        try self.init(path: path, chunk: chunk)
        try recognize(file.read(min(Self.headBytes, size ?? 0), at: 0))
        if decoder == nil { try file.seek(to: offset) } else { skipped = offset }
    }

    /// Opens a regular file up to an offset.
    init(path: String, upTo end: Int, chunk: Int = FileSource.chunk) throws(FileError) {
        try self.init(path: path, chunk: chunk)
        try recognize(file.read(min(Self.headBytes, size ?? 0), at: 0))
        left = end
    }

    /// Reads a file that stays open, from its start. Each source of it has an offset of its own.
    init(kept file: FileDescriptor, chunk: Int) throws(FileError) {
        try self.init(file, chunk: chunk)
        place = 0
    }

    /// Returns the status of the file.
    func status() throws(FileError) -> stat { try file.status() }

    /// Opens standard input.
    public static func standardInput(chunk: Int = FileSource.chunk) throws(FileError) -> FileSource {
        try FileSource(FileDescriptor(STDIN_FILENO, path: "standard input", closesAtEnd: false), chunk: chunk)
    }

    private init(_ file: FileDescriptor, chunk: Int) throws(FileError) {
        (self.file, self.chunk) = (file, chunk)
        let status = try file.status()
        if status.st_mode & S_IFMT == S_IFDIR { throw FileError(file.path, .read, number: EISDIR) }
        let isPlain = status.st_mode & S_IFMT == S_IFREG
        (size, changed) = (isPlain ? Int(status.st_size) : nil, isPlain ? status.changed : nil)
    }

    /// Returns the next bytes of the text, decoded if the file is compressed or in UTF-16.
    public mutating func next() throws(FileError) -> [UInt8]? {
        while left > 0 {
            guard let bytes = try nextInFile(min(chunk, decoder == nil ? left : chunk)) else {
                try decoder?.finish()
                return nil
            }
            if !isRecognized { try recognize(bytes) }
            guard let decoder else {
                left -= bytes.count
                if rereadablePath == nil, head.count < Migration.consentHeadBytes { head += bytes }
                return bytes
            }
            var decoded = try decoder.decode(bytes)
            if skipped > 0 {
                let passed = min(skipped, decoded.count)
                skipped -= passed
                decoded.removeFirst(passed)
            }
            if decoded.count > left { decoded.removeLast(decoded.count - left) }
            left -= decoded.count
            if rereadablePath == nil, head.count < Migration.consentHeadBytes { head += decoded }
            if !decoded.isEmpty { return decoded }
        }
        return nil
    }

    /// The number of bytes by which a compressed file is recognized.
    private static let headBytes = 4096

    private mutating func recognize(_ head: [UInt8]) throws(FileError) {
        isRecognized = true
        let (file, size) = (file, size)
        decoder = try SourceDecoder.make(
            head: head,
            tail: { () throws(FileError) -> [UInt8]? in
                guard let size else { return nil }
                let count = min(size, 66_000)
                return try file.read(count, at: size - count)
            },
            path: file.path
        )
    }

    private mutating func nextInFile(_ count: Int) throws(FileError) -> [UInt8]? {
        if let place {
            let count = min(count, (size ?? 0) - place)
            self.place = place + count
            return count > 0 ? try file.read(count, at: place) : nil
        }
        let bytes = try file.read(count)
        return bytes.isEmpty ? nil : bytes
    }

    /// Returns a finding if a regular file has another size or modification time than when it was opened.
    public func change() throws(FileError) -> Finding? {
        guard let size, let changed else { return nil }
        return try file.status().isOf(size: size, changed: changed) ? nil : Checkpoint.changedInput.at(file.path)
    }

    /// Returns the first bytes of a file, in which columns are examined.
    static func head(of path: String) throws(FileError) -> [UInt8] {
        var (source, head) = (try FileSource(path: path), [UInt8]())
        while head.count < Migration.consentHeadBytes, let bytes = try source.next() { head += bytes }
        return head
    }

    /// Returns the first 4 MiB of a file that may hold rows, decompressed.
    ///
    /// - Parameter path: The path of the file.
    /// - Returns: The bytes; nil if the file is not a regular one, cannot be read, or holds JSON.
    public static func rowsHead(of path: String) -> [UInt8]? {
        guard let source = try? FileSource(path: path), source.rereadablePath != nil, let head = try? head(of: path),
            UnrecognizedFile.isJSON(head) != true
        else { return nil }
        return head
    }

    /// Returns the contents of a file.
    ///
    /// - Throws: ``FileError``, also if the file has more than `limit` bytes.
    public static func contents(of path: String, limit: Int = mostContents) throws(FileError) -> [UInt8] {
        var source = try FileSource(path: path)
        guard let bytes = try source.contents(limit: limit) else { throw FileError(path, .read, number: EFBIG) }
        return bytes
    }

    /// The default limit of ``contents(of:limit:)``, in bytes.
    public static let mostContents = 16 << 20
}

@available(*, unavailable)
extension FileSource: Sendable {}

/// Thrown to stop reading at the first record.
private struct FirstRecord: Error { let record: SourceRecord }

extension ContactReader {
    /// Returns the first record of a file that begins with these bytes; nil if there is none. Reads no further.
    package mutating func firstRecord(in bytes: [UInt8]) throws -> SourceRecord? {
        func take(_ record: SourceRecord) throws { throw FirstRecord(record: record) }
        do {
            for start in stride(from: 0, to: bytes.count, by: 32 << 10) {
                try read(Array(bytes[start..<min(start + (32 << 10), bytes.count)]), take)
            }
            try finish(take)
            return nil
        } catch let found as FirstRecord {
            return found.record
        }
    }
}

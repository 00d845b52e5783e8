/// Bytes that come once, such as those of standard input, kept so that they can be read again: in a file without a name, which
/// only its owner may read and which is gone with the process.
public struct KeptBytes {
    private let file: SpillFile

    /// Reads a source to its end.
    ///
    /// - Throws: ``FileError`` if it can't be read or kept.
    public init(_ source: inout some ByteSource) throws(FileError) {
        file = try SpillFile()
        while let chunk = try source.next() { _ = try file.append(bytes: chunk) }
    }

    /// The bytes from their start.
    public func source(chunk: Int = FileSource.chunk) throws(FileError) -> FileSource { try file.source(chunk: chunk) }
}

@available(*, unavailable)
extension KeptBytes: Sendable {}

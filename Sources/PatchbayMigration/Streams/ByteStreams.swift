public import PatchbayAdapterKit

/// Where bytes come from, chunk by chunk.
public protocol ByteSource {
    /// The next bytes, as many as are at hand; nil at the end.
    mutating func next() throws(FileError) -> [UInt8]?

    /// What a person calls it: a file's path.
    var name: String { get }

    /// The path of a regular file, which can be read again; nil for any other source.
    var rereadablePath: String? { get }

    /// What says that the bytes were changed while they were read; nil if they were not, or if nobody can tell.
    func change() throws(FileError) -> Finding?
}

extension ByteSource {
    /// Without a name of its own.
    public var name: String { "the source" }

    /// Nobody can tell.
    public func change() throws(FileError) -> Finding? { nil }

    /// Whether the bytes come once only.
    var isPipe: Bool { (self as? FileSource).map { $0.size == nil } ?? false }

    /// A source that comes once only.
    public var rereadablePath: String? { nil }

    /// All bytes up to the end; nil if there are more than that.
    package mutating func contents(limit: Int) throws(FileError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let chunk = try next() {
            bytes += chunk
            if bytes.count > limit { return nil }
        }
        return bytes
    }
}

/// Where bytes go.
public protocol ByteSink {
    /// Writes all of the bytes, or throws.
    mutating func write(_ bytes: [UInt8]) throws(FileError)

    /// Writes all of the bytes, or throws.
    mutating func write(_ bytes: ArraySlice<UInt8>) throws(FileError)
}

extension ByteSink {
    /// Writes a copy of the bytes.
    public mutating func write(_ bytes: ArraySlice<UInt8>) throws(FileError) { try write(Array(bytes)) }
}

public import PatchbayAdapterKit

/// A source of bytes, read chunk by chunk.
public protocol ByteSource {
    /// Returns the next bytes, as many as are available; nil at the end.
    mutating func next() throws(FileError) -> [UInt8]?

    /// The name of the source in messages, such as the path of a file.
    var name: String { get }

    /// The path of a regular file, which can be read again; nil for any other source.
    var rereadablePath: String? { get }

    /// Returns a finding if the source was changed while it was read; nil if it was not, or if the source cannot detect
    /// changes.
    func change() throws(FileError) -> Finding?
}

extension ByteSource {
    /// A default name.
    public var name: String { "the source" }

    /// Returns nil: by default, changes are not detected.
    public func change() throws(FileError) -> Finding? { nil }

    /// Whether the source can be read only once.
    var isPipe: Bool { (self as? FileSource).map { $0.size == nil } ?? false }

    /// Returns nil: by default, a source can be read only once.
    public var rereadablePath: String? { nil }

    /// Returns all bytes up to the end; nil if there are more than `limit`.
    package mutating func contents(limit: Int) throws(FileError) -> [UInt8]? {
        var bytes: [UInt8] = []
        while let chunk = try next() {
            bytes += chunk
            if bytes.count > limit { return nil }
        }
        return bytes
    }
}

/// A destination of bytes.
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

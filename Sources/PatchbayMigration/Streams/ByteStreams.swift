/// Where bytes come from, chunk by chunk.
public protocol ByteSource {
    /// The next bytes, as many as are at hand; nil at the end.
    mutating func next() throws(FileError) -> [UInt8]?
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

import PatchbayAdapterKit

/// The size and the SHA-256 digest of a file.
public struct FileFingerprint: Hashable, Sendable {
    /// The number of bytes.
    public let size: Int
    /// The SHA-256 digest in lower-case hexadecimal digits.
    public let digest: String

    /// Reads a file to its end.
    public init(of path: String) throws(FileError) {
        var (hash, count) = (SHA256.Stream(), 0)
        var source = try FileSource(raw: path)
        while let bytes = try source.next() {
            hash.add(bytes)
            count += bytes.count
        }
        (size, digest) = (count, hash.finish().hexText)
    }
}

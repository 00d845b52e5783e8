/// The bytes that a job produces. Its memory is reused for later jobs.
struct OutputBuffer: Sendable {
    private var bytes: [UInt8] = []

    /// The capacity in bytes.
    var count: Int { bytes.count }

    /// Returns the first bytes.
    func prefix(_ count: Int) -> ArraySlice<UInt8> { bytes[..<count] }

    /// Calls `body` with the memory.
    mutating func withBytes<Result>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeMutableBufferPointer { body($0) }
    }

    /// Grows by at least `count` bytes and keeps the first `used` bytes.
    mutating func grow(used: Int, by count: Int) {
        let size = bytes.isEmpty ? 320 << 10 : bytes.count + bytes.count / 2
        var grown = [UInt8](repeating: 0, count: max(size, used + count))
        grown.replaceSubrange(0..<used, with: bytes[..<used])
        bytes = grown
    }

    /// Copies bytes after the first `used` bytes, which must leave room for them.
    mutating func put(_ bytes: [UInt8], behind used: Int) {
        self.bytes.replaceSubrange(used..<(used + bytes.count), with: bytes)
    }
}

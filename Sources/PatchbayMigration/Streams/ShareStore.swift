/// The shares of a ``ShareStore``.
enum Shares {
    /// The number of shares.
    static let count = 256

    /// The index of the share for a digest.
    static func index(of digest: UInt64) -> Int { Int(truncatingIfNeeded: digest &>> 56) }
    static func index(of key: KeyMark) -> Int { index(of: key.exact) }
}

/// Stores values in 256 shares that each fit into memory. A few values are in memory, and the others in an unnamed file. The
/// values of a share keep their order.
struct ShareStore<Value: BitwiseCopyable> {
    private let bufferSize: Int
    private var buffers = [[Value]](repeating: [], count: Shares.count)
    private var pieces = [[(offset: Int, count: Int)]](repeating: [], count: Shares.count)
    private var file: SpillFile?

    /// Creates a store that keeps `bufferSize` bytes of each share in memory.
    init(bufferSize: Int = 16 << 10) { self.bufferSize = bufferSize / MemoryLayout<Value>.stride }

    /// Adds values to a share.
    mutating func add(_ values: [Value], to share: Int) throws(FileError) {
        buffers[share] += values
        if buffers[share].count >= bufferSize { try spill(share) }
    }

    /// Adds values, each to the share of its digest.
    mutating func add(_ values: some Sequence<Value>, by digest: (Value) -> UInt64) throws(FileError) {
        for value in values {
            let share = Shares.index(of: digest(value))
            buffers[share].append(value)
            if buffers[share].count >= bufferSize { try spill(share) }
        }
    }

    private mutating func spill(_ share: Int) throws(FileError) {
        let spill: SpillFile
        if let file { spill = file } else { spill = try SpillFile() }
        file = spill
        let bytes = buffers[share].withUnsafeBytes { Array($0) }
        pieces[share].append((try spill.append(bytes: bytes), bytes.count))
        buffers[share].removeAll(keepingCapacity: true)
    }

    /// Returns the values of a share.
    func values(_ share: Int) throws(FileError) -> [Value] {
        var values: [Value] = []
        for piece in pieces[share] {
            let bytes = try file?.read(bytes: piece.count, at: piece.offset) ?? []
            values += [Value](unsafeUninitializedCapacity: bytes.count / MemoryLayout<Value>.stride) { buffer, count in
                UnsafeMutableRawBufferPointer(buffer).copyBytes(from: bytes)
                count = buffer.count
            }
        }
        return values + buffers[share]
    }
}

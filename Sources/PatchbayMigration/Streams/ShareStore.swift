/// Stores values in 256 shares that each fit into memory. A few values are in memory, and the others in an unnamed file. The
/// values of a share keep their order.
struct ShareStore {
    static let shares = 256
    private let bufferSize: Int
    private var buffers = [[UInt8]](repeating: [], count: shares)
    private var pieces = [[(offset: Int, count: Int)]](repeating: [], count: shares)
    private var file: SpillFile?

    /// Creates a store that keeps `bufferSize` bytes of each share in memory.
    init(bufferSize: Int = 16 << 10) { self.bufferSize = bufferSize }

    /// The index of the share for a digest.
    private static func share(of digest: UInt64) -> Int { Int(truncatingIfNeeded: digest &>> 56) }
    static func share(of key: KeyMark) -> Int { share(of: key.exact) }

    mutating func add(_ bytes: [UInt8], to share: Int) throws(FileError) {
        buffers[share] += bytes
        try spill(share)
    }

    /// Adds values, each to the share of its digest.
    mutating func add<Value: BitwiseCopyable>(_ values: some Sequence<Value>, by digest: (Value) -> UInt64)
        throws(FileError)
    {
        for value in values {
            let share = Self.share(of: digest(value))
            withUnsafeBytes(of: value) { buffers[share].append(contentsOf: $0) }
            try spill(share)
        }
    }

    private mutating func spill(_ share: Int) throws(FileError) {
        guard buffers[share].count >= bufferSize else { return }
        let spill: SpillFile
        if let file { spill = file } else { spill = try SpillFile() }
        file = spill
        pieces[share].append((try spill.append(bytes: buffers[share]), buffers[share].count))
        buffers[share].removeAll(keepingCapacity: true)
    }

    /// Returns the bytes of a share.
    func bytes(_ share: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        for piece in pieces[share] { bytes += try file?.read(bytes: piece.count, at: piece.offset) ?? [] }
        return bytes + buffers[share]
    }

    /// Returns the values of a share. All values of the share must have been added with this type.
    func values<Value: BitwiseCopyable>(_ share: Int, as type: Value.Type) throws(FileError) -> [Value] {
        try bytes(share).withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count, by: MemoryLayout<Value>.size)
                .map { bytes.loadUnaligned(fromByteOffset: $0, as: Value.self) }
        }
    }
}

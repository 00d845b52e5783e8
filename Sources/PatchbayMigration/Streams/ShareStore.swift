/// Keeps bytes in 256 shares, so that each share fits into memory: few in memory, the rest in a file without a name.
final class ShareStore {
    static let shares = 256
    private let bufferSize: Int
    private var buffers = [[UInt8]](repeating: [], count: shares)
    private var pieces = [[(offset: Int, count: Int)]](repeating: [], count: shares)
    private var file: SpillFile?

    /// A store that keeps so many bytes of each share in memory.
    init(bufferSize: Int = 16 << 10) { self.bufferSize = bufferSize }

    /// The share of a key: the same for ever.
    static func share(of key: KeyMark) -> Int { Int(truncatingIfNeeded: key.exact &>> 56) }

    func add(_ bytes: [UInt8], to share: Int) throws(FileError) {
        buffers[share] += bytes
        guard buffers[share].count >= bufferSize else { return }
        let spill: SpillFile
        if let file { spill = file } else { spill = try SpillFile() }
        file = spill
        pieces[share].append((try spill.append(bytes: buffers[share]), buffers[share].count))
        buffers[share].removeAll(keepingCapacity: true)
    }

    /// The bytes of a share, in the order in which they came.
    func bytes(_ share: Int) throws(FileError) -> [UInt8] {
        var bytes: [UInt8] = []
        for piece in pieces[share] { bytes += try file?.read(bytes: piece.count, at: piece.offset) ?? [] }
        return bytes + buffers[share]
    }
}

/// Marks in a file without a name, to be looked at part by part: all marks of one subject are in one part, in the order in
/// which they came.
struct LateMarks {
    /// How many to hand over at once.
    static let usual = 16 << 10
    /// How many one part has, unless its share has more.
    private static let part = 32 << 10
    private static let shares = 256

    /// Where each share of each addition begins in the file, in marks, and where the last one ends.
    private var starts: [Int] = [0]
    private var file: SpillFile?

    private static func share(_ mark: UInt64) -> Int { Int(truncatingIfNeeded: mark &>> 56) }

    /// Keeps marks behind those that are kept.
    mutating func add(_ marks: [UInt64]) throws(FileError) {
        // Sorted by their shares, so that a part is one piece of each addition.
        var next = [Int](repeating: 0, count: Self.shares)
        for mark in marks { next[Self.share(mark)] += 1 }
        var end = 0
        for share in 0..<Self.shares { (next[share], end) = (end, end + next[share]) }
        let first = starts.popLast() ?? 0
        starts += next.map { first + $0 }
        starts.append(first + end)
        let bytes = [UInt8](unsafeUninitializedCapacity: 8 * end) { buffer, count in
            for mark in marks {
                let share = Self.share(mark)
                UnsafeMutableRawBufferPointer(buffer).storeBytes(
                    of: mark.littleEndian,
                    toByteOffset: 8 * next[share],
                    as: UInt64.self
                )
                next[share] += 1
            }
            count = 8 * end
        }
        if file == nil { file = try SpillFile() }
        _ = try file?.append(bytes: bytes)
    }

    /// Hands over all marks, part by part.
    func forEachPart(_ body: ([UInt64]) -> Void) throws(FileError) {
        let additions = (starts.count - 1) / Self.shares
        // Shares of one part: a power of two of them, so that all of them make whole parts.
        var width = Self.shares
        while width > 1, width * (starts.last ?? 0) > Self.shares * Self.part { width /= 2 }
        for share in stride(from: 0, to: Self.shares, by: width) {
            var marks: [UInt64] = []
            for addition in 0..<additions {
                let start = starts[addition * Self.shares + share]
                let bytes =
                    try file?.read(bytes: 8 * (starts[addition * Self.shares + share + width] - start), at: 8 * start)
                    ?? []
                bytes.withUnsafeBytes { bytes in
                    for place in stride(from: 0, to: bytes.count, by: 8) {
                        marks.append(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                    }
                }
            }
            body(marks)
        }
    }
}

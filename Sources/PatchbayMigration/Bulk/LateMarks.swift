import Dispatch
import Synchronization

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

    /// Hands out all marks, part by part, to so many threads at once.
    ///
    /// - Returns: what each thread made of its parts.
    func eachPart<Made: Sendable>(
        workers: Int,
        _ work: @Sendable (inout Parts) throws(FileError) -> Made
    ) throws(FileError) -> [Made] {
        guard let file else { return [] }
        let (reader, starts, width) = (file.reader, starts, width)
        let made = Mutex<Result<[Made], FileError>>(.success([]))
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            var parts = Parts(file: reader, starts: starts, width: width, step: workers * width, share: worker * width)
            do throws(FileError) {
                let mine = try work(&parts)
                made.withLock { $0 = $0.map { $0 + [mine] } }
            } catch {
                made.withLock { $0 = .failure(error) }
            }
        }
        return try withExtendedLifetime(file) { made.withLock { $0 } }.get()
    }

    /// Shares of one part: a power of two of them, so that all of them make whole parts.
    private var width: Int {
        var width = Self.shares
        while width > 1, width * (starts.last ?? 0) > Self.shares * Self.part { width /= 2 }
        return width
    }

    /// The parts that are one thread's.
    struct Parts {
        fileprivate let file: FileDescriptor.Reader
        fileprivate let starts: [Int]
        fileprivate let width: Int
        fileprivate let step: Int
        /// The first share of the next part.
        fileprivate var share: Int

        /// The marks of the next part, in the order in which they came; nil behind the last.
        mutating func next() throws(FileError) -> [UInt64]? {
            guard share < LateMarks.shares else { return nil }
            defer { share += step }
            var marks: [UInt64] = []
            for first in stride(from: share, to: starts.count - 1, by: LateMarks.shares) {
                let (start, end) = (starts[first], starts[first + width])
                let bytes = try file.read(8 * (end - start), at: 8 * start)
                bytes.withUnsafeBytes { bytes in
                    for place in stride(from: 0, to: bytes.count, by: 8) {
                        marks.append(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt64.self)))
                    }
                }
            }
            return marks
        }
    }
}

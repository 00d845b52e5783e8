import Dispatch
import Synchronization

/// A digest, and something that is said of it.
protocol SpillMark: BitwiseCopyable, Sendable {
    /// What belongs together has it in common, but for its lowest eight bits; those above them are spread evenly.
    var digest: UInt64 { get }
}

/// Marks in a file without a name, to be looked at part by part: all marks of one digest are in one part, in the order in
/// which they came. A part is bounded, however many there are.
struct SpilledMarks<Mark: SpillMark> {
    /// Memory in which marks are sorted; several that are filled in turn may have one together.
    final class Room {
        fileprivate var sorted: [Mark] = []
    }

    private static var shares: Int { 256 }

    /// So many make a part, where a share has fewer, and so many are the most, where it has more.
    private let (few, most): (Int, Int)
    private let room: Room
    /// Where each share of each addition begins in the file, in marks, and where the last one ends.
    private var starts: [Int] = [0]
    private var file: SpillFile?

    /// None yet; a part of them will have about `most` at most.
    init(most: Int = 128 << 10, room: Room = Room()) {
        (few, self.most, self.room) = (min(32 << 10, most), most, room)
    }

    /// Whether there are none.
    var isEmpty: Bool { file == nil }

    private static func share(_ mark: Mark) -> Int { Int(truncatingIfNeeded: mark.digest &>> 56) }

    /// Keeps marks behind those that are kept.
    mutating func add(_ marks: [Mark]) throws(FileError) {
        // Sorted by their shares, so that a part is one piece of each addition. Room enough; what stands there is written over.
        if room.sorted.count < marks.count { room.sorted = marks }
        let first = starts.popLast() ?? 0
        withUnsafeTemporaryAllocation(of: Int.self, capacity: Self.shares) { next in
            next.initialize(repeating: 0)
            for mark in marks { next[Self.share(mark)] += 1 }
            var place = 0
            for share in 0..<Self.shares {
                starts.append(first + place)
                (next[share], place) = (place, place + next[share])
            }
            room.sorted.withUnsafeMutableBufferPointer { sorted in
                for mark in marks {
                    let share = Self.share(mark)
                    sorted[next[share]] = mark
                    next[share] += 1
                }
            }
        }
        starts.append(first + marks.count)
        let file: SpillFile
        if let own = self.file { file = own } else { file = try SpillFile() }
        self.file = file
        try room.sorted[..<marks.count].withUnsafeBufferPointer { sorted throws(FileError) in
            _ = try file.append(UnsafeRawBufferPointer(sorted))
        }
    }

    /// Hands out all marks, part by part, to so many threads at once.
    ///
    /// - Returns: what each thread made of its parts.
    func eachPart<Made: Sendable>(
        workers: Int,
        _ work: @Sendable (inout Parts) throws(FileError) -> Made
    ) throws(FileError) -> [Made] {
        guard let file else { return [] }
        let (reader, starts, parts) = (file.reader, starts, parts)
        let made = Mutex<Result<[Made], FileError>>(.success([]))
        DispatchQueue.concurrentPerform(iterations: workers) { worker in
            var mine = Parts(
                file: reader,
                starts: starts,
                parts: stride(from: worker, to: parts.count, by: workers).reversed().map { parts[$0] }
            )
            do throws(FileError) {
                let some = try work(&mine)
                made.withLock { $0 = $0.map { $0 + [some] } }
            } catch {
                made.withLock { $0 = .failure(error) }
            }
        }
        return try withExtendedLifetime(file) { made.withLock { $0 } }.get()
    }

    /// Some shares one behind the other, or a piece of one that is too large: the digests that lead to it.
    fileprivate struct Part {
        let shares: Range<Int>
        let piece: UInt64
        let pieces: UInt64

        func has(_ mark: Mark) -> Bool {
            // By the bits behind the share's: tables of marks find their places by the lowest.
            (mark.digest &<< 8).multipliedFullWidth(by: pieces).high == piece
        }
    }

    private var parts: [Part] {
        var width = Self.shares
        while width > 1, width * (starts.last ?? 0) > Self.shares * few { width /= 2 }
        return stride(from: 0, to: Self.shares, by: width).flatMap { share in
            let shares = share..<(share + width)
            let count = stride(from: 0, to: starts.count - 1, by: Self.shares)
                .reduce(0) { $0 + starts[$1 + shares.upperBound] - starts[$1 + shares.lowerBound] }
            let pieces = UInt64(1 + count / most)
            return (0..<pieces).map { Part(shares: shares, piece: $0, pieces: pieces) }
        }
    }

    /// The parts that are one thread's.
    struct Parts {
        fileprivate let file: FileDescriptor.Reader
        fileprivate let starts: [Int]
        /// Those that are left, the next one last.
        fileprivate var parts: [Part]

        /// Puts the marks of the next part in the place of those of the one before, in the order in which they came.
        ///
        /// - Returns: false behind the last.
        mutating func next(_ marks: inout [Mark]) throws(FileError) -> Bool {
            marks.removeAll(keepingCapacity: true)
            guard let part = parts.popLast() else { return false }
            for addition in stride(from: 0, to: starts.count - 1, by: SpilledMarks.shares) {
                let start = starts[addition + part.shares.lowerBound]
                let count = starts[addition + part.shares.upperBound] - start
                try withUnsafeTemporaryAllocation(of: Mark.self, capacity: count) { some throws(FileError) in
                    try file.fill(UnsafeMutableRawBufferPointer(some), at: start * MemoryLayout<Mark>.stride)
                    if part.pieces == 1 {
                        marks.append(contentsOf: some)
                    } else {
                        for mark in some where part.has(mark) { marks.append(mark) }
                    }
                }
            }
            return true
        }
    }
}

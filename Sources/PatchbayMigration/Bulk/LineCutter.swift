/// Splits a source of lines into jobs of whole lines.
struct LineCutter {
    /// A part of a source.
    enum Cut {
        /// Whole lines.
        case job(ChunkJob)
        /// A line that exceeds the maximum length: its length without and with its line end.
        case overlong(Int, bytes: Int)
    }

    private let longest: Int
    /// Whether an overlong line is passed on up to the limit, because a row may have begun before it.
    private let cutsOff: Bool
    /// The incomplete line; at most a little more than `longest` bytes.
    private var begun: [UInt8] = []
    /// The length of the incomplete line.
    private var length = 0
    private var endsInReturn = false
    private var isFirst = true

    /// Creates a cutter. `isFirst` states whether the source's first record is still to come.
    init(longest: Int, cutsOff: Bool = false, isFirst: Bool = true) {
        (self.longest, self.cutsOff, self.isFirst) = (longest, cutsOff, isFirst)
    }

    /// Splits the next chunk. `take` is called once or twice, or not at all while a line continues.
    mutating func cut(_ chunk: [UInt8], _ take: (Cut) throws -> Void) rethrows {
        guard let first = chunk.firstIndex(of: 0x0A), let last = chunk.lastIndex(of: 0x0A) else {
            return begin(chunk[...])
        }
        var start = 0
        if length > 0 {
            start = first
            begin(chunk[..<first])
            if let overlong = overlongLine(isEnded: true) {
                try take(.overlong(overlong, bytes: length + 1))
                (isFirst, start) = (false, first + 1)
                forget()
            }
        }
        if start <= last { try take(.job(job(behind: chunk[start...last]))) }
        forget()
        begin(chunk[(last + 1)...])
    }

    /// Passes on the rest at the end of the source.
    mutating func finish(_ take: (Cut) throws -> Void) rethrows {
        guard length > 0 else { return }
        if let overlong = overlongLine(isEnded: false) { return try take(.overlong(overlong, bytes: length)) }
        try take(.job(job(behind: [])))
    }

    /// The job of the incomplete line and the bytes after it.
    private mutating func job(behind bytes: ArraySlice<UInt8>) -> ChunkJob {
        var whole = begun
        whole.reserveCapacity(begun.count + bytes.count + Padding.count)
        whole += bytes
        var job = ChunkJob(consume whole, isFirst: isFirst)
        job.gaps = gaps
        isFirst = false
        return job
    }

    private mutating func begin(_ bytes: ArraySlice<UInt8>) {
        guard let last = bytes.last else { return }
        length += bytes.count
        endsInReturn = last == 0x0D
        if cutsOff {
            // A reader that has received one byte beyond the limit only searches for the end of the line.
            begun += bytes.prefix(max(0, longest + 2 - begun.count))
        } else if length <= longest + 1 {
            begun += bytes
        } else {
            begun = []
        }
    }

    /// The missing bytes of the incomplete line.
    private var gaps: [ChunkJob.Gap] {
        length > begun.count ? [ChunkJob.Gap(place: begun.count, count: length - begun.count)] : []
    }

    private mutating func forget() {
        begun.removeAll(keepingCapacity: begun.count < 1 << 20)
        length = 0
    }

    private func overlongLine(isEnded: Bool) -> Int? {
        if cutsOff { return nil }
        let content = isEnded && endsInReturn ? length - 1 : length
        return content > longest ? content : nil
    }
}

/// Cuts a source of lines into jobs of whole lines, without moving more bytes than those at the seams.
struct LineCutter {
    /// What is cut off.
    enum Cut {
        /// Whole lines.
        case job(ChunkJob)
        /// A line that is longer than any may be: its length without its end, and with it.
        case overlong(Int, bytes: Int)
    }

    private let longest: Int
    /// Whether a line that is too long is handed out, cut off behind that length: a row may have begun before it.
    private let cutsOff: Bool
    /// A line that has begun and not ended; at most a little more than `longest`.
    private var begun: [UInt8] = []
    /// The length of the line that has begun.
    private var length = 0
    private var endsInReturn = false
    private var isFirst = true

    /// A cutter; `isFirst` says whether the source's first record is still to come.
    init(longest: Int, cutsOff: Bool = false, isFirst: Bool = true) {
        (self.longest, self.cutsOff, self.isFirst) = (longest, cutsOff, isFirst)
    }

    /// Cuts the next chunk, with `take` called once or twice, or not at all while a line goes on.
    mutating func cut(_ chunk: consuming [UInt8], _ take: (Cut) throws -> Void) rethrows {
        let count = chunk.count
        guard let first = chunk.firstIndex(of: 0x0A), let last = chunk.lastIndex(of: 0x0A) else {
            return begin(chunk[...])
        }
        chunk.append(contentsOf: repeatElement(0, count: Padding.count))
        var job = ChunkJob()
        var start = 0
        if length > 0 {
            start = first + 1
            begin(chunk[..<first])
            if let overlong = overlongLine(isEnded: true) {
                try take(.overlong(overlong, bytes: length + 1))
                isFirst = false
            } else {
                job.gaps = gaps
                job.seam = begun + [0x0A] + [UInt8](repeating: 0, count: Padding.count)
            }
            forget()
        }
        begin(chunk[(last + 1)..<count])
        job.chunk = chunk
        job.range = start..<(last + 1)
        job.isFirst = isFirst
        isFirst = false
        if !job.range.isEmpty || !job.seam.isEmpty { try take(.job(job)) }
    }

    /// Cuts off what is left at the end of the source.
    mutating func finish(_ take: (Cut) throws -> Void) rethrows {
        guard length > 0 else { return }
        if let overlong = overlongLine(isEnded: false) { return try take(.overlong(overlong, bytes: length)) }
        var job = ChunkJob()
        job.gaps = gaps
        job.seam = begun + [UInt8](repeating: 0, count: Padding.count)
        job.isFirst = isFirst
        try take(.job(job))
    }

    private mutating func begin(_ bytes: ArraySlice<UInt8>) {
        guard let last = bytes.last else { return }
        length += bytes.count
        endsInReturn = last == 0x0D
        if cutsOff {
            // A reader that has seen a byte more than the limit looks for the line's end alone.
            begun += bytes.prefix(max(0, longest + 2 - begun.count))
        } else if length <= longest + 1 {
            begun += bytes
        } else {
            begun = []
        }
    }

    /// What is missing of the line that has begun.
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

/// What is written to a file, in whole blocks: pieces that begin and end anywhere cost the system a third more.
///
/// Only where nobody reads before the end: what is no draft of a file gets everything at once.
struct Blocks {
    static let size = 256 << 10

    private var sink: any ByteSink
    private let way: Way
    /// What is gathered of a block, and how far the sink's next block is filled with it.
    private var gathered: [UInt8] = []
    private var filled = 0
    /// The block that is filled, where they go past the cache.
    private var block: DirectWriter.Block?

    /// How bytes become blocks.
    enum Way {
        /// Everything at once.
        case piecemeal
        /// By blocks, the usual way.
        case blocks
        /// By blocks, past the system's cache.
        case direct(DirectWriter, OutputFile)
    }

    /// Blocks of a file that holds so many bytes already.
    init(to sink: any ByteSink, from count: Int) { self.init(to: sink, from: count, by: Self.way(to: sink)) }

    init(to sink: any ByteSink, from count: Int, by way: Way) {
        (self.sink, self.way) = (sink, way)
        switch way {
        case .piecemeal: break
        case .blocks:
            filled = count % Self.size
            gathered.reserveCapacity(Self.size)
        case .direct(let writer, _): block = writer.block(at: count)
        }
    }

    private static func way(to sink: any ByteSink) -> Way {
        guard let file = sink as? OutputFile, file.isDraft else { return .piecemeal }
        return file.directWriter().map { .direct($0, file) } ?? .blocks
    }

    /// Takes the bytes, and writes those whose block is full.
    mutating func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        switch way {
        case .piecemeal: if !bytes.isEmpty { try sink.write(bytes) }
        case .blocks: try gather(bytes)
        case .direct(let writer, _): try fill(bytes, writer)
        }
    }

    /// Room in the block that is filled, where there is much of it.
    func lend() -> OutputRoom.Lent? { block.flatMap { $0.lend(atLeast: Self.much) } }

    /// So much room a chunk needs, mostly.
    private static let much = 384 << 10

    /// Takes the first bytes of what was lent, or of what has to be copied.
    mutating func take(_ room: inout OutputRoom, _ count: Int) throws(FileError) {
        guard room.isLent else { return try write(room.prefix(count)) }
        room.use(nil)
        block?.take(count)
    }

    private mutating func gather(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        var rest = bytes
        while rest.count >= Self.size - filled {
            let head = rest.prefix(Self.size - filled)
            rest = rest.dropFirst(head.count)
            if gathered.isEmpty {
                try sink.write(head)
            } else {
                gathered += head
                try flush()
            }
            filled = 0
        }
        gathered += rest
        filled += rest.count
    }

    private mutating func fill(_ bytes: ArraySlice<UInt8>, _ writer: DirectWriter) throws(FileError) {
        var rest = bytes
        while !rest.isEmpty {
            // Taken out, so that nobody else holds it and it can be filled in place.
            guard var filling = block.take() else { return }
            filling.take(&rest)
            guard filling.isFull else {
                block = filling
                continue
            }
            try writer.submit(filling)
            block = writer.block(at: filling.end)
        }
    }

    /// Writes what is gathered of a block.
    mutating func flush() throws(FileError) {
        if case .direct(let writer, let file) = way {
            try writer.flush(block)
            return file.holds(block?.end ?? 0)
        }
        guard !gathered.isEmpty else { return }
        try sink.write(gathered)
        gathered.removeAll(keepingCapacity: true)
    }

    /// Waits until nothing is written any more, whether all that was given could be written or not.
    func rest() {
        if case .direct(let writer, _) = way { writer.rest() }
    }
}

/// What is written to a file, in whole blocks: pieces that begin and end anywhere cost the system a third more.
///
/// Only where nobody reads before the end: what is no draft of a file gets everything at once.
struct Blocks {
    static let size = 256 << 10

    private var sink: any ByteSink
    /// How far the sink's next block is filled, with what is gathered.
    private var filled: Int
    private var gathered: [UInt8] = []
    private let gathers: Bool

    /// Blocks of a file that holds so many bytes already.
    init(to sink: any ByteSink, from count: Int, gathers: Bool) {
        (self.sink, self.gathers, filled) = (sink, gathers, count % Self.size)
        if gathers { gathered.reserveCapacity(Self.size) }
    }

    /// Takes the bytes, and writes those whose block is full.
    mutating func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        guard gathers else { return bytes.isEmpty ? () : try sink.write(bytes) }
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

    /// Writes what is gathered of a block.
    mutating func flush() throws(FileError) {
        guard !gathered.isEmpty else { return }
        try sink.write(gathered)
        gathered.removeAll(keepingCapacity: true)
    }
}

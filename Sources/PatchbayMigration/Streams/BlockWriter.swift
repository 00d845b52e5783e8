/// Writes a file in whole blocks: a write that does not begin and end at a block boundary costs a third more.
///
/// An output that others read while it grows, such as a pipe, receives every piece at once instead.
struct BlockWriter {
    static let size = 256 << 10

    private var sink: any ByteSink
    private let gathers: Bool
    /// The pending bytes of the block, and how much of the block is filled.
    private var pending: [UInt8] = []
    private var filled = 0

    /// Continues a file that holds `count` bytes. Without `gathers`, only an unfinished file is written in blocks.
    init(to sink: any ByteSink, from count: Int, gathers: Bool? = nil) {
        self.sink = sink
        self.gathers = gathers ?? ((sink as? OutputFile)?.isDraft == true)
        filled = count % Self.size
        if self.gathers { pending.reserveCapacity(Self.size) }
    }

    /// Takes the bytes, and writes every block that they complete.
    mutating func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        guard gathers else { return bytes.isEmpty ? () : try sink.write(bytes) }
        var rest = bytes
        while rest.count >= Self.size - filled {
            let head = rest.prefix(Self.size - filled)
            rest = rest.dropFirst(head.count)
            if pending.isEmpty {
                try sink.write(head)
            } else {
                pending += head
                try flush()
            }
            filled = 0
        }
        pending += rest
        filled += rest.count
    }

    /// Writes the pending bytes.
    mutating func flush() throws(FileError) {
        guard !pending.isEmpty else { return }
        try sink.write(pending)
        pending.removeAll(keepingCapacity: true)
    }
}

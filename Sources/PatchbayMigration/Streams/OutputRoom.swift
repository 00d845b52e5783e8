/// Room for what becomes of a job: its own, or lent by the block that goes to the disk next, where it need not be copied.
struct OutputRoom: Sendable {
    /// Bytes of its own; used where none are lent, or too few.
    private var own: [UInt8] = []
    private var lent: Lent?

    /// Memory of a block behind what is there of it. Its owner writes nothing there, and lends it to nobody else, until it is told
    /// how much of it was used, or takes other bytes.
    struct Lent: Sendable {
        // An address is a value of every thread; it is one of `count` bytes.
        private let address: UInt
        let count: Int

        init(_ bytes: UnsafeMutableRawBufferPointer) {
            (address, count) = (UInt(bitPattern: bytes.baseAddress), bytes.count)
        }

        fileprivate var bytes: UnsafeMutableBufferPointer<UInt8> {
            UnsafeMutableBufferPointer(
                start: UnsafeMutableRawPointer(bitPattern: address)?.assumingMemoryBound(to: UInt8.self),
                count: count
            )
        }
    }

    /// How many bytes go in.
    var count: Int { lent?.count ?? own.count }

    /// Whether it stands where the disk takes it from.
    var isLent: Bool { lent != nil }

    /// The first bytes of it, copied if they are lent.
    func prefix(_ count: Int) -> ArraySlice<UInt8> { lent.map { Array($0.bytes[..<count])[...] } ?? own[..<count] }

    /// Lends it to who fills it.
    mutating func withBytes<Result>(_ body: (UnsafeMutableBufferPointer<UInt8>) -> Result) -> Result {
        if let lent { return body(lent.bytes) }
        return own.withUnsafeMutableBufferPointer { body($0) }
    }

    /// Uses other bytes from now on.
    mutating func use(_ lent: Lent?) { self.lent = lent }

    /// Makes it larger, by `count` at least, and keeps the first `used` bytes: they are its own then.
    mutating func grow(used: Int, by count: Int) {
        let (before, kept) = (self.count, prefix(used))
        if lent == nil || own.count < max(before + 1, used + count) {
            // Some more than a chunk of lines becomes; what grew is used again, so that it does not grow often.
            let size = before == 0 ? 320 << 10 : before + before / 2
            own = [UInt8](repeating: 0, count: max(size, used + count))
        }
        own.replaceSubrange(0..<used, with: kept)
        lent = nil
    }

    /// Writes bytes behind the first `used`; there is room for them.
    mutating func put(_ bytes: [UInt8], behind used: Int) {
        withBytes { _ = UnsafeMutableBufferPointer(rebasing: $0[used...]).update(fromContentsOf: bytes) }
    }
}

import Dispatch
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Brings whole blocks of a file to the disk past the system's cache, in order, on a thread of its own.
///
/// Nobody reads a draft soon: a copy of it in the cache takes a third of the time that its lines take to be made, and pushes out
/// what others read. A block that does not begin and end where the disk's do goes the usual way, as every block does where the
/// file system knows no other.
final class DirectWriter: Sendable {
    /// Bytes of a file from some place on, where a disk can take them from.
    struct Block: Sendable {
        /// Bytes of a whole block; each begins at a multiple of it.
        static let size = 1 << 20
        /// What places in a file, and bytes in memory, must be multiples of.
        fileprivate static let unit = 4096

        private let memory: Memory
        /// Where in `memory` its bytes are.
        private let start: Int
        /// Its place in the file.
        fileprivate var offset = 0
        /// How much of it is there.
        fileprivate var count = 0

        fileprivate init(_ memory: Memory, _ number: Int) { (self.memory, start) = (memory, number * Self.size) }

        /// How much more goes into it: up to the next multiple of a block's size in the file.
        private var room: Int { Self.size - offset % Self.size - count }

        /// The place in the file behind what is there of it.
        var end: Int { offset + count }

        /// Whether nothing more goes into it.
        var isFull: Bool { room == 0 }

        /// Takes as much of the bytes as goes into it, and leaves the rest.
        mutating func take(_ rest: inout ArraySlice<UInt8>) {
            let head = rest.prefix(room)
            bytes[count..<(count + head.count)].copyBytes(from: head)
            count += head.count
            rest = rest.dropFirst(head.count)
        }

        /// The room behind what is there, if it is at least so much.
        func lend(atLeast much: Int) -> OutputRoom.Lent? {
            room >= much ? OutputRoom.Lent(UnsafeMutableRawBufferPointer(rebasing: bytes[count..<(count + room)])) : nil
        }

        /// Takes so many bytes that stand where they were to go.
        mutating func take(_ count: Int) { self.count += count }

        fileprivate func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
            withExtendedLifetime(memory) { body(UnsafeRawBufferPointer(rebasing: bytes[..<count])) }
        }

        private var bytes: UnsafeMutableRawBufferPointer {
            UnsafeMutableRawBufferPointer(start: memory.start + start, count: Self.size)
        }
    }

    /// The memory of all blocks of a writer, in one piece, and a multiple of large pages.
    fileprivate final class Memory: Sendable {
        static let size = blocks * Block.size

        // The address of `size` bytes, and a multiple of a block's unit, as long as this lives. Each block has a part of its own, and is
        // either the writer's or that of who fills it, so no byte is touched by two.
        private let address: UInt

        init() {
            let start = LargePages.allocate(Self.size)
            start.initializeMemory(as: UInt8.self, repeating: 0, count: Self.size)
            address = UInt(bitPattern: start)
        }

        deinit { start.deallocate() }

        var start: UnsafeMutableRawPointer { UnsafeMutableRawPointer(bitPattern: address).unsafelyUnwrapped }
    }

    private struct State: Sendable {
        var spare: [Block] = []
        var failure: FileError?
    }

    /// One is filled while the other is written.
    private static let blocks = 2

    private let path: String
    /// The file as everybody writes it, and past the cache.
    private let usual: Int32
    private let direct: Int32
    private let state = Mutex(State())
    private let hasSpare = DispatchSemaphore(value: 0)
    private let queue = DispatchQueue(label: "patchbay.migration.output", qos: .userInitiated)

    /// A writer of a file that is there; nil where the system has no such way.
    init?(path: String) {
        #if canImport(Glibc)
        let direct = open(path, O_WRONLY | O_CLOEXEC | __O_DIRECT)
        guard direct >= 0 else { return nil }
        let usual = open(path, O_WRONLY | O_CLOEXEC)
        guard usual >= 0 else {
            _ = close(direct)
            return nil
        }
        (self.path, self.usual, self.direct) = (path, usual, direct)
        let memory = Memory()
        for number in 0..<Self.blocks { give(Block(memory, number)) }
        #else
        return nil
        #endif
    }

    deinit {
        _ = close(direct)
        _ = close(usual)
    }

    /// An empty block for that place of the file, once one is free.
    func block(at offset: Int) -> Block {
        hasSpare.wait()
        // The semaphore counts them, so there is one.
        var block = state.withLock { $0.spare.removeLast() }
        (block.offset, block.count) = (offset, 0)
        return block
    }

    /// Writes a block soon.
    ///
    /// - Throws: ``FileError`` if one before it could not be written.
    func submit(_ block: Block) throws(FileError) {
        queue.async { self.finish(block) }
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Waits until nothing is written any more.
    func rest() { queue.sync {} }

    /// Waits until every block is written, and writes what there is of one that is not full, which stays the caller's.
    ///
    /// - Throws: ``FileError`` if one could not be written.
    func flush(_ block: Block?) throws(FileError) {
        rest()
        if let failure = state.withLock({ $0.failure }) { throw failure }
        if let block, let failure = write(block) { throw failure }
    }

    private func finish(_ block: Block) {
        if state.withLock({ $0.failure == nil }), let failure = write(block) {
            state.withLock { $0.failure = failure }
        }
        give(block)
    }

    private func give(_ block: Block) {
        state.withLock { $0.spare.append(block) }
        hasSpare.signal()
    }

    private func write(_ block: Block) -> FileError? {
        block.withBytes { bytes in
            var (done, number) = (0, direct)
            while done < bytes.count {
                let (place, left) = (block.offset + done, bytes.count - done)
                if place % Block.unit != 0 || left % Block.unit != 0 { number = usual }
                let written = pwrite(number, bytes.baseAddress.map { $0 + done }, left, off_t(place))
                if written > 0 {
                    done += written
                } else if written < 0, errno == EINVAL, number == direct {
                    // The file system, or the disk below it, wants it otherwise.
                    number = usual
                } else if written == 0 || errno != EINTR {
                    return written == 0 ? FileError(path, .write, number: ENOSPC) : FileError(path, .write)
                }
            }
            return nil
        }
    }
}

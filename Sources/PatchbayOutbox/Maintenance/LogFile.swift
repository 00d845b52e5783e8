#if os(Linux)
import PatchbaySystem
import Synchronization

/// The write-ahead log's file, which is extended ahead of time while the engine is idle.
///
/// No lock is needed. The zeros are appended, and the system determines the end of the file at each write. They therefore never
/// overwrite a commit of this or another process; a commit may overwrite the zeros. To SQLite, zeros after the last commit are
/// the end of the log. The zeros are synced before a commit is likely to need them.
///
/// If the store is suspended while the file is being extended, the file stays open for a few more milliseconds, without a lock.
final class LogFile: Sendable {
    private struct State {
        /// The last known size of the file in bytes; `Int64.max` after an extension has failed.
        var size: Int64 = 0
        var isGrowing = false
    }

    private let path: String
    private let state = Mutex(State())

    /// - Parameter path: The path of the file, which need not exist yet.
    init(_ path: String) { self.path = path }

    /// The file is extended if fewer bytes than this are left.
    private static let leastRoom: Int64 = 512 << 10
    /// The minimum and maximum number of bytes to add. Within these bounds the file doubles in size. About half of the time
    /// that an extension takes does not depend on its size.
    private static let (leastGrowth, mostGrowth): (Int64, Int64) = (1 << 20, 4 << 20)

    /// The number of bytes that must stay free on the volume: 16 MiB.
    private static let leastFree: UInt64 = 16 << 20

    /// Returns whether the log may be extended by `count` bytes ahead of time on a volume with `free` free bytes.
    static func mayGrow(by count: UInt64, free: UInt64) -> Bool { free >= leastFree + count }

    /// Checks whether the caller should extend the file with ``grow(behind:)``.
    ///
    /// - Parameter end: The end of the last commit, as a file offset.
    /// - Returns: Whether to extend it. After a result of true, the result is false until ``grow(behind:)`` has finished.
    func isShort(behind end: Int64) -> Bool {
        state.withLock { state in
            guard !state.isGrowing, state.size - end < Self.leastRoom else { return false }
            state.isGrowing = true
            return true
        }
    }

    /// Extends the file if little space is left in it. May be called from any thread. If the extension fails, the file is never
    /// extended again.
    func grow(behind end: Int64) {
        let size = lengthened(behind: end) ?? .max
        state.withLock { $0 = State(size: size) }
    }

    /// - Returns: The new size of the file in bytes; nil if it cannot be extended.
    private func lengthened(behind end: Int64) -> Int64? {
        let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // `lseek` instead of `fstat`: after an `fstat`, Linux gives the next write its own timestamp.
        let size = Int64(lseek(file, 0, Int32(SEEK_END)))
        guard size >= 0 else { return nil }
        guard size - end < Self.leastRoom else { return size }
        var left = Int(min(max(Self.leastGrowth, size), Self.mostGrowth))
        // The last free space is reserved for commits.
        var volume = statvfs()
        guard fstatvfs(file, &volume) == 0,
            Self.mayGrow(by: UInt64(left), free: UInt64(volume.f_bavail) * UInt64(volume.f_frsize))
        else { return nil }
        let zeros = [UInt8](repeating: 0, count: 1 << 16)
        while left > 0 {
            let written = write(file, zeros, min(left, zeros.count))
            guard written > 0 else { return nil }
            left -= written
        }
        guard fdatasync(file) == 0 else { return nil }
        return Int64(lseek(file, 0, Int32(SEEK_END)))
    }
}
#endif

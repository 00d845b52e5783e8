#if os(Linux)
import PatchbaySystem
import Synchronization

/// The write-ahead log's file, which is made longer ahead of time by whoever has nothing else to do.
///
/// No lock is needed for it. The zeros are appended: where the file ends is decided by the system at each write, so that they never
/// stand where a commit of this or another process does, whichever of the two comes first; a commit may stand where they do.
/// For SQLite, zeros behind the last commit are the end of the log. They are synced before a commit is likely to need them.
/// Whoever is at it has the file open a few milliseconds longer than a store that lets go of it meanwhile, without a lock.
final class LogFile: Sendable {
    private struct State {
        /// The bytes that the file had at last, as far as known; the highest number once there was no making it longer.
        var size: Int64 = 0
        var isGrowing = false
    }

    private let path: String
    private let state = Mutex(State())

    /// - Parameter path: where it is; there need be none yet.
    init(_ path: String) { self.path = path }

    /// Where fewer bytes than these are left …
    private static let leastRoom: Int64 = 512 << 10
    /// … as many more are added as there are, but no fewer and no more than these: half of the time that it takes is the
    /// same however many bytes they are.
    private static let (leastGrowth, mostGrowth): (Int64, Int64) = (1 << 20, 4 << 20)

    /// The bytes that must stay free on the volume: 16 MiB.
    private static let leastFree: UInt64 = 16 << 20

    /// Returns whether a volume with `free` bytes may give some of them to the log ahead of time.
    static func mayGrow(by count: UInt64, free: UInt64) -> Bool { free >= leastFree + count }

    /// Asks whether somebody has to make the file longer; says so only once until that is done.
    ///
    /// - Parameter end: where the last commit ends.
    /// - Returns: whether the caller should ``grow(behind:)``.
    func isShort(behind end: Int64) -> Bool {
        state.withLock { state in
            guard !state.isGrowing, state.size - end < Self.leastRoom else { return false }
            state.isGrowing = true
            return true
        }
    }

    /// Makes the file longer if its end is near. Called from any thread; where there is no room, that was the last try.
    func grow(behind end: Int64) {
        let size = lengthened(behind: end) ?? .max
        state.withLock { $0 = State(size: size) }
    }

    /// - Returns: the bytes that the file has now; nil if it can't be made longer.
    private func lengthened(behind end: Int64) -> Int64? {
        let file = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard file >= 0 else { return nil }
        defer { close(file) }
        // Asked for by its place: behind a look at the file's record Linux gives the next write a time of its own.
        let size = Int64(lseek(file, 0, Int32(SEEK_END)))
        guard size >= 0 else { return nil }
        guard size - end < Self.leastRoom else { return size }
        var left = Int(min(max(Self.leastGrowth, size), Self.mostGrowth))
        // The last free space is for commits.
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

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The file of an outbox, with the files SQLite keeps beside it, as the operating system sees them.
final class OutboxFile {
    let path: String
    private var identity: Identity?

    /// Which file a path leads to.
    struct Identity: Equatable {
        let device: UInt64
        let number: UInt64
    }

    init(_ path: String) {
        self.path = path
        identity = Self.identity(of: path)
    }

    static func identity(of path: String) -> Identity? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            number: UInt64(truncatingIfNeeded: status.st_ino)
        )
    }

    static func exists(_ path: String) -> Bool { identity(of: path) != nil }

    static func size(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Int(status.st_size)
    }

    /// Makes the file if there is none, readable by this user only; SQLite gives the files beside it the same rights.
    func createIfMissing() throws(OutboxError) {
        let made = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_EXCL, 0o600)
        if made >= 0 {
            close(made)
        } else if errno != EEXIST {
            throw OutboxError(.cannotOpen, "\(path) cannot be made: \(Self.systemText()).")
        } else {
            for name in [path, path + "-wal", path + "-shm"] { Self.tighten(name) }
        }
        identity = Self.identity(of: path)
    }

    /// Takes the rights of group and others away. A file of another user stays as it is.
    private static func tighten(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return }
        _ = chmod(path, 0o600)
    }

    /// Fails when another process has moved the file away since it was opened, as a recovery does.
    func requireUnmoved() throws(OutboxError) {
        guard Self.identity(of: path) != identity else { return }
        throw OutboxError(
            .corrupt,
            "\(path) was moved away while it was open.",
            remedy: "Close the outbox and open it again: another process has recovered or removed the file."
        )
    }

    // MARK: The mark of a suspect file

    /// Present when the structure was found damaged while the file was in use.
    private var suspectMark: String { path + ".suspect" }

    var isSuspect: Bool { Self.exists(suspectMark) }

    func markSuspect() {
        let made = open(suspectMark, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        if made >= 0 { close(made) }
    }

    func clearSuspectMark() { unlink(suspectMark) }

    static func systemText() -> String { String(cString: strerror(errno)) }
}

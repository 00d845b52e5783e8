import PatchbaySystem

/// An outbox file and the files that SQLite keeps beside it, as the operating system sees them.
package final class OutboxFile {
    let path: String
    private var identity: Identity?

    /// The identity of the file at a path.
    struct Identity: Equatable {
        let device: UInt64
        let number: UInt64

        init(_ status: stat) {
            device = UInt64(truncatingIfNeeded: status.st_dev)
            number = UInt64(truncatingIfNeeded: status.st_ino)
        }
    }

    init(_ path: String) {
        self.path = path
        identity = Self.identity(of: path)
    }

    static func identity(of path: String) -> Identity? {
        var status = stat()
        // This runs before every transaction; `withCString` avoids a copy of the path.
        return path.withCString { stat($0, &status) } == 0 ? Identity(status) : nil
    }

    static func identity(of descriptor: Int32) -> Identity? {
        var status = stat()
        return fstat(descriptor, &status) == 0 ? Identity(status) : nil
    }

    static func exists(_ path: String) -> Bool { identity(of: path) != nil }

    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    static func size(_ path: String) -> Int? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return Int(status.st_size)
    }

    /// Creates the file, readable only by this user. SQLite gives the files beside it the same permissions.
    func make() throws(OutboxError) {
        let made = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_EXCL, 0o600)
        guard made >= 0 else { throw OutboxError(.cannotOpen, "\(path) cannot be made: \(Self.systemText()).") }
        close(made)
    }

    /// Accepts the file that is now at the path as the outbox file, and removes the permissions of all other users.
    func adopt() {
        for name in [path, path + "-wal", path + "-shm"] { Self.tighten(name) }
        identity = Self.identity(of: path)
    }

    /// Removes the permissions of the group and of other users.
    ///
    /// A file of another user is left unchanged.
    private static func tighten(_ path: String) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o077 != 0 else { return }
        _ = chmod(path, 0o600)
    }

    /// Whether this user may write to the file and its folder.
    var isWritable: Bool {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        return access(path, W_OK) == 0 && access(folder, W_OK) == 0
    }

    /// Whether the file is still at its path. False after another process has moved it away, as a recovery does.
    var isUnmoved: Bool { Self.identity(of: path) == identity }

    /// Throws an error if another process has moved the file away since it was opened.
    func requireUnmoved() throws(OutboxError) {
        guard !isUnmoved else { return }
        throw OutboxError(
            .io,
            "\(path) was moved away while it was open.",
            remedy: "Close the outbox and open it again: another process has recovered or removed the file."
        )
    }

    // MARK: SQLite's sidecar files

    /// The paths beside the file itself if the path is a symbolic link.
    private lazy var sidecarPaths: [String] = {
        let resolved = realpath(path, nil)
        defer { free(resolved) }
        return ["-wal", "-shm"].map { (resolved.map { String(cString: $0) } ?? path) + $0 }
    }()
    /// The identities of the write-ahead log and its index at the first commit.
    private var sidecars: [Identity?]?

    /// Throws an error if the write-ahead log or its index was deleted or replaced since the first commit. A commit into an
    /// unlinked file is lost when the process ends. The outbox file itself is checked at the start of every transaction.
    func requireSidecars() throws(OutboxError) {
        let present = sidecarPaths.map(Self.identity)
        let known = sidecars ?? present
        sidecars = known
        guard present != known || present.contains(nil) else { return }
        throw OutboxError(
            .io,
            "The write-ahead log of \(path) was deleted or replaced while it was in use.",
            remedy: "End all processes that use the outbox, and open it again. Never delete files beside an outbox."
        )
    }

    /// Forgets the identities of the log and its index, because the outbox is opened again.
    func forgetSidecars() { sidecars = nil }

    // MARK: Mark of a suspect file

    /// The path of the mark: an empty file that exists if the structure was found damaged while the outbox was in use.
    private var suspectMark: String { path + ".suspect" }

    var isSuspect: Bool { Self.exists(suspectMark) }

    func markSuspect() {
        let made = open(suspectMark, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        if made >= 0 { close(made) }
    }

    func clearSuspectMark() { unlink(suspectMark) }

    static func systemText() -> String { String(cString: strerror(errno)) }

    // MARK: Damaged files

    func damagedPath(_ number: Int) -> String { "\(path).damaged-\(number)" }

    /// Returns the first number that no damaged file has.
    func nextDamagedNumber() -> Int {
        var number = 1
        while Self.exists(damagedPath(number)) { number += 1 }
        return number
    }

    /// Moves the write-ahead log away with its file. The log's index is no longer needed.
    func moveSidecarsAside(to other: String) throws(OutboxError) {
        if Self.exists(path + "-wal") { try Self.move(path + "-wal", to: other + "-wal") }
        Self.delete(path + "-shm")
    }

    static func move(_ path: String, to other: String) throws(OutboxError) {
        guard rename(path, other) == 0 else {
            throw OutboxError(.io, "\(path) cannot be renamed: \(systemText()).")
        }
    }

    static func delete(_ path: String) { unlink(path) }

    /// Deletes the damaged files that recoveries set aside, and the temporary copies of interrupted recoveries.
    ///
    /// - Returns: The number of damaged files.
    func removeDamaged() -> Int {
        let folder = Self.folder(of: path)
        let own = path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
        // A person may have deleted some of the damaged files, so their numbers may have gaps.
        let names = Self.names(in: folder).filter { name in
            [".damaged-", ".grafted", ".template", ".rebuilding"].contains { name.hasPrefix(own + $0) }
        }
        for name in names { Self.delete(folder + name) }
        if !names.isEmpty { Self.syncFolder(of: path) }
        return names.count { name in
            name.hasPrefix(own + ".damaged-") && !name.hasSuffix("-wal") && !name.hasSuffix("-shm")
        }
    }

    /// Returns the folder of a file, with a slash at its end.
    private static func folder(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
    }

    /// Returns the names of the files in a folder; none if it cannot be read.
    private static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    names.append(String(cString: $0))
                }
            }
        }
        return names
    }

    /// Syncs a file's folder, so that renames survive a power failure.
    static func syncFolder(of path: String) {
        let descriptor = open(folder(of: path), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        fsync(descriptor)
        close(descriptor)
    }

    // MARK: Bytes of closed files

    static func read(_ path: String, at offset: Int, count: Int) throws(OutboxError) -> [UInt8] {
        // Without capacity, the initializer below writes to the empty array that all threads share.
        guard count > 0 else { return [] }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw OutboxError(.io, "\(path) cannot be read: \(systemText()).") }
        defer { close(descriptor) }
        var result = 0
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            repeat {
                result = pread(descriptor, buffer.baseAddress, count, off_t(offset))
            } while result < 0 && errno == EINTR
            filled = max(0, result)
        }
        guard result >= 0 else { throw OutboxError(.io, "\(path) cannot be read: \(systemText()).") }
        return bytes
    }

    package static func write(_ bytes: [UInt8], to path: String, at offset: Int) throws(OutboxError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutboxError(.io, "\(path) cannot be written: \(systemText()).") }
        defer { close(descriptor) }
        let written = bytes.withUnsafeBytes { pwrite(descriptor, $0.baseAddress, $0.count, off_t(offset)) }
        guard written == bytes.count else {
            throw OutboxError(errno == ENOSPC ? .full : .io, "\(path) cannot be written: \(systemText()).")
        }
    }

    static func copy(_ path: String, to other: String) throws(OutboxError) {
        delete(other)
        var offset = 0
        while true {
            let bytes = try read(path, at: offset, count: 1 << 16)
            try write(bytes, to: other, at: offset)
            if bytes.isEmpty { return }
            offset += bytes.count
        }
    }
}

import PatchbaySystem

/// An open file descriptor, which is closed with its last owner.
final class FileDescriptor {
    /// The file's name, for messages.
    let path: String
    private let number: Int32
    private var isOpen = true
    private var isLocked = false
    private let closesAtEnd: Bool

    /// Takes ownership of an open file. With `closesAtEnd` false, it stays open, as standard input and output do.
    init(_ number: Int32, path: String, closesAtEnd: Bool) {
        (self.number, self.path, self.closesAtEnd) = (number, path, closesAtEnd)
    }

    /// Opens a file.
    convenience init(_ path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileError) {
        let number = open(path, flags | O_CLOEXEC, mode)
        guard number >= 0 else { throw FileError(path, .open) }
        self.init(number, path: path, closesAtEnd: true)
    }

    /// Opens a file of this program in a folder that others may write to. Throws if the path is a link or a file of another
    /// owner. The permissions do not depend on the file mode creation mask.
    convenience init(own path: String, _ flags: Int32, mode: mode_t = 0o600) throws(FileError) {
        try self.init(path, flags | O_NOFOLLOW, mode: mode)
        let status = try status()
        guard status.st_mode & S_IFMT == S_IFREG, status.st_uid == geteuid(), status.st_nlink == 1 else {
            throw FileError(path, .open, number: EPERM)
        }
        guard fchmod(number, mode) == 0 else { throw FileError(path, .open) }
    }

    deinit {
        guard closesAtEnd, isOpen else { return }
        unlock()
        _ = systemClose(number)
    }

    /// Returns the status of the file.
    func status() throws(FileError) -> stat {
        var status = stat()
        guard fstat(number, &status) == 0 else { throw FileError(path, .look) }
        return status
    }

    /// Keeps the first `count` bytes and moves to their end. A file of that size keeps its modification time.
    func begin(at count: Int) throws(FileError) {
        if try status().st_size != off_t(count), ftruncate(number, off_t(count)) != 0 { throw FileError(path, .write) }
        try seek(to: count)
    }

    /// Moves to an offset.
    func seek(to offset: Int) throws(FileError) {
        guard lseek(number, off_t(offset), SEEK_SET) == off_t(offset) else { throw FileError(path, .read) }
    }

    /// Locks the file for this process until it closes it; returns false if another process has locked it.
    func lock() -> Bool {
        isLocked = flock(number, LOCK_EX | LOCK_NB) == 0
        return isLocked
    }

    /// Releases the lock, which a child process would otherwise keep until it has closed its copy of the descriptor.
    private func unlock() {
        if isLocked { flock(number, LOCK_UN) }
    }

    /// A closure that syncs the file to the disk from another thread. The file must be open when it is called.
    var syncer: @Sendable () -> Int32 {
        let number = number
        return { fsync(number) == 0 ? 0 : errno }
    }

    /// Reads at most `count` bytes; an empty array at the end. The array has spare capacity for a few more bytes.
    func read(_ count: Int) throws(FileError) -> [UInt8] {
        while true {
            var failure: Int32 = 0
            let bytes = [UInt8](unsafeUninitializedCapacity: count + Padding.count) { buffer, filled in
                let result = systemRead(number, buffer.baseAddress, count)
                if result < 0 { failure = errno }
                filled = max(0, result)
            }
            if failure == 0 { return bytes }
            if failure != EINTR { throw FileError(path, .read, number: failure) }
        }
    }

    /// Reads `count` bytes at an offset.
    func read(_ count: Int, at offset: Int) throws(FileError) -> [UInt8] {
        // Without capacity, the initializer below writes to the empty array that all threads share.
        guard count > 0 else { return [] }
        var failure: FileError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count, failure == nil {
                let rest = buffer.baseAddress.map { $0 + filled }
                let result = pread(number, rest, count - filled, off_t(offset + filled))
                if result > 0 {
                    filled += result
                } else if result == 0 || errno != EINTR {
                    failure = result == 0 ? FileError(path, .read, number: ENODATA) : FileError(path, .read)
                }
            }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Writes all of the bytes.
    func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        try bytes.withUnsafeBufferPointer { bytes throws(FileError) in try write(UnsafeRawBufferPointer(bytes)) }
    }

    /// Writes all of the bytes.
    func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var done = 0
        while done < bytes.count {
            let written = systemWrite(number, bytes.baseAddress.map { $0 + done }, bytes.count - done)
            if written >= 0 {
                done += written
            } else if errno != EINTR {
                throw FileError(path, .write)
            }
        }
    }

    /// Syncs the file to the disk.
    func sync() throws(FileError) {
        guard System.syncToDisk(number) else { throw FileError(path, .sync) }
    }

    /// Closes the file. Some file systems report only now that the disk is full.
    func close() throws(FileError) {
        isOpen = false
        unlock()
        guard systemClose(number) == 0 || errno == EINTR else { throw FileError(path, .write) }
    }
}

// The system's functions under names that the methods above do not shadow.

private func systemRead(_ number: Int32, _ buffer: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(number, buffer, count)
}

private func systemWrite(_ number: Int32, _ buffer: UnsafeRawPointer?, _ count: Int) -> Int {
    write(number, buffer, count)
}

private func systemClose(_ number: Int32) -> Int32 { close(number) }

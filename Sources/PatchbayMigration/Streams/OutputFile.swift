import Foundation
import PatchbaySystem

/// A file that appears under its name only when it is complete.
///
/// The file is written as a draft beside its final path; ``commit()`` syncs and renames it. If an error occurs before, an
/// existing file is unchanged and no incomplete file is visible. By default only the owner may read the file, because it
/// contains personal data. A path that is not a regular file (`/dev/null`, a pipe) is written directly.
public final class OutputFile: ByteSink {
    /// The path that was requested.
    public let path: String
    /// The number of bytes written so far.
    public private(set) var count = 0

    private let file: FileDescriptor
    /// The path of the draft; nil if the file itself is written.
    private let draft: String?
    private let target: String
    private var isCommitted = false
    /// Whether the draft of an unfinished file is kept, so that a later run can resume it.
    var isKept = false

    /// Creates a file.
    ///
    /// - Parameters:
    ///   - path: The final path.
    ///   - isPrivate: Whether only the owner may read the file; false for files without personal data.
    /// - Throws: ``FileError`` if the path cannot be written or is a folder.
    public init(path: String, isPrivate: Bool = true) throws(FileError) {
        self.path = path
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw FileError(path, .open, number: EISDIR) }
        if exists, status.st_mode & S_IFMT != S_IFREG {
            (target, draft) = (path, nil)
            file = try FileDescriptor(path, O_WRONLY)
        } else {
            // If the path is a link, the file that it leads to is replaced.
            target = (exists ? OutputFile.resolved(path) : nil) ?? path
            let draft = OutputFile.ownDraft(of: target)
            self.draft = draft
            OutputFile.clearDrafts(of: target)
            do {
                // An earlier draft of this process is obsolete. `unlink` does not follow links.
                unlink(draft)
                file = try FileDescriptor(own: draft, O_WRONLY | O_CREAT | O_EXCL, mode: isPrivate ? 0o600 : 0o644)
                // While it is locked, no process takes it for the draft of a killed one.
                _ = file.lock()
            } catch {
                throw FileError(path, .open, number: error.number)
            }
        }
    }

    /// Standard output, which is written directly.
    public static func standardOutput() -> OutputFile {
        OutputFile(FileDescriptor(STDOUT_FILENO, path: "standard output", closesAtEnd: false))
    }

    /// Standard error, which is written directly.
    public static func standardError() -> OutputFile {
        OutputFile(FileDescriptor(STDERR_FILENO, path: "standard error", closesAtEnd: false))
    }

    private init(_ file: FileDescriptor) {
        (self.file, path, target, draft) = (file, file.path, file.path, nil)
    }

    /// Creates a file that another process can resume, or resumes one.
    ///
    /// The draft is located beside the final path, with the suffix `.partial`.
    /// - Parameters:
    ///   - path: The final path. An existing file there must be a regular one.
    ///   - length: The number of bytes of the draft to keep; nil starts a new draft.
    ///   - isPrivate: Whether only the owner may read the file.
    /// - Throws: ``FileError``, also if another process writes the file, or if the draft is shorter than `length`.
    init(path: String, from length: Int?, isPrivate: Bool = true) throws(FileError) {
        self.path = path
        target = OutputFile.resolved(path) ?? path
        let draft = OutputFile.draft(of: target)
        self.draft = draft
        OutputFile.clearDrafts(of: target)
        do throws(FileError) {
            let flags = O_RDWR | (length == nil ? O_CREAT : 0)
            let opened = try FileDescriptor(own: draft, flags, mode: isPrivate ? 0o600 : 0o644)
            let status = try opened.status()
            var named = stat()
            // Another process may have finished and renamed the file while this one waited for the lock.
            guard opened.lock(), stat(draft, &named) == 0, named.st_ino == status.st_ino else {
                throw FileError(path, .open, number: EBUSY)
            }
            guard status.st_size >= length ?? 0 else { throw FileError(path, .read, number: ENODATA) }
            try opened.begin(at: length ?? 0)
            file = opened
        } catch {
            throw FileError(path, error.operation, number: error.number)
        }
        count = length ?? 0
    }

    /// Whether the bytes are invisible until they are complete.
    public var isDraft: Bool { draft != nil }

    /// The path of a draft that can be resumed.
    static func draft(of target: String) -> String { "\(target).partial" }

    /// The path of a draft that only this process writes.
    private static func ownDraft(of target: String) -> String { "\(target).\(getpid()).partial" }

    /// Removes the drafts of a file that killed processes left: the process no longer exists, and no other user of the
    /// folder has locked the draft.
    ///
    /// - Returns: The drafts that stay. A new process with the same number may write them, or a killed one has left them.
    @discardableResult public static func clearDrafts(of path: String) -> [String] {
        let target = resolved(path) ?? path
        let place = target.lastIndex(of: "/")
        let (folder, name) = (
            place.map { String(target[...$0]) } ?? ".",
            place.map { String(target[target.index(after: $0)...]) } ?? target
        )
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        var left: [String] = []
        for draft in names where draft.hasPrefix("\(name).") && draft.hasSuffix(".partial") {
            guard let process = pid_t(draft.dropFirst(name.count + 1).dropLast(".partial".count)), process > 0,
                process != getpid()
            else { continue }
            let path = place == nil ? draft : folder + draft
            let isGone = kill(process, 0) != 0 && errno == ESRCH
            if isGone, let file = try? FileDescriptor(path, O_WRONLY | O_NOFOLLOW), file.lock() {
                unlink(path)
            } else {
                left.append(path)
            }
        }
        return left
    }

    /// The possible paths of drafts of a file.
    public static func drafts(of path: String) -> [String] {
        let target = resolved(path) ?? path
        return [draft(of: target), ownDraft(of: target)]
    }

    /// A closure that syncs the bytes to the disk from another thread. The file must exist when it is called.
    var syncer: @Sendable () -> Int32 { file.syncer }

    /// The inode and the times of the file, which it keeps when it is renamed.
    func status() throws(FileError) -> stat { try file.status() }

    /// Keeps the first `count` bytes.
    func shorten(to count: Int) throws(FileError) {
        try file.begin(at: count)
        self.count = count
    }

    deinit { if !isCommitted, !isKept, let draft { unlink(draft) } }

    public func write(_ bytes: [UInt8]) throws(FileError) { try write(bytes[...]) }

    public func write(_ bytes: ArraySlice<UInt8>) throws(FileError) {
        do {
            try file.write(bytes)
        } catch {
            throw FileError(path, error.operation, number: error.number)
        }
        count += bytes.count
    }

    /// Syncs the file and gives it its final name. The file must not be written afterwards.
    public func commit() throws(FileError) {
        guard let draft else { return }
        do {
            try file.sync()
            try file.close()
        } catch {
            throw FileError(path, error.operation, number: error.number)
        }
        guard rename(draft, target) == 0 else { throw FileError(path, .rename) }
        isCommitted = true
        // The new name must be as durable as the bytes. If a folder cannot be synced, the system does so later.
        let folder = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
        try? FileDescriptor(folder, O_RDONLY).sync()
    }

    static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

@available(*, unavailable)
extension OutputFile: Sendable {}

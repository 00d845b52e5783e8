import Foundation
import PatchbaySystem

/// A file that appears under its name only when it is complete.
///
/// It is written beside its place under a name of its own; ``commit()`` brings it to the disk and moves it. Whatever
/// goes wrong before, a file that stood there before is still there, and no half file is. Only the owner may read it
/// unless said otherwise, because it holds people's data. What is no plain file (`/dev/null`, a pipe) is written as it is.
public final class OutputFile: ByteSink {
    /// The name that was asked for.
    public let path: String
    /// Bytes written so far.
    public private(set) var count = 0

    private let file: FileDescriptor
    /// Where the bytes stand until they are complete; nil where the file itself is written.
    private let draft: String?
    private let target: String
    private var isCommitted = false
    /// Whether an unfinished file stays where it is, to be gone on with.
    var isKept = false

    /// Begins a file.
    ///
    /// - Parameters:
    ///   - path: the name that it gets.
    ///   - isPrivate: whether only the owner may read it; no for what holds no person's data.
    /// - Throws: ``FileError`` if the place can't be written, or is a folder.
    public init(path: String, isPrivate: Bool = true) throws(FileError) {
        self.path = path
        var status = stat()
        let exists = stat(path, &status) == 0
        if exists, status.st_mode & S_IFMT == S_IFDIR { throw FileError(path, .open, number: EISDIR) }
        if exists, status.st_mode & S_IFMT != S_IFREG {
            (target, draft) = (path, nil)
            file = try FileDescriptor(path, O_WRONLY)
        } else {
            // A link stays a link: the file that it leads to is replaced.
            target = (exists ? OutputFile.resolved(path) : nil) ?? path
            let draft = OutputFile.ownDraft(of: target)
            self.draft = draft
            OutputFile.clearDrafts(of: target)
            do {
                // An earlier draft of this process is of no use any more; unlink follows no link.
                unlink(draft)
                file = try FileDescriptor(own: draft, O_WRONLY | O_CREAT | O_EXCL, mode: isPrivate ? 0o600 : 0o644)
                // As long as it is locked nobody takes it for one that a killed process left.
                _ = file.lock()
            } catch {
                throw FileError(path, .open, number: error.number)
            }
        }
    }

    /// Standard output, which is written as it is.
    public static func standardOutput() -> OutputFile {
        OutputFile(FileDescriptor(STDOUT_FILENO, path: "standard output", closesAtEnd: false))
    }

    /// Standard error, which is written as it is.
    public static func standardError() -> OutputFile {
        OutputFile(FileDescriptor(STDERR_FILENO, path: "standard error", closesAtEnd: false))
    }

    private init(_ file: FileDescriptor) {
        (self.file, path, target, draft) = (file, file.path, file.path, nil)
    }

    /// Begins a file that another process can go on with, or continues with one.
    ///
    /// It is written beside its place under the same name with `.partial` behind it.
    /// - Parameters:
    ///   - path: the name that it gets; nothing else than a plain file may stand there.
    ///   - length: how many bytes of an unfinished file are kept; nil begins anew.
    ///   - isPrivate: whether only the owner may read it.
    /// - Throws: ``FileError``, also while another process writes it, and if an unfinished file is shorter.
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
            // While we waited for the file, another process may have finished it and given it its name.
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

    /// Whether nobody sees the bytes before they are complete.
    public var isDraft: Bool { draft != nil }

    /// Where an unfinished file stands that can be gone on with.
    static func draft(of target: String) -> String { "\(target).partial" }

    /// Where one stands that only this process writes.
    private static func ownDraft(of target: String) -> String { "\(target).\(getpid()).partial" }

    /// Removes what killed processes left of a file of that name: a draft of a process that is gone, and that nobody else who
    /// shares the folder has locked.
    ///
    /// - Returns: the drafts that stay. Whoever has such a number now may write one, or has it from one that was killed.
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

    /// Where the bytes of a file of that name may stand until it is complete.
    public static func drafts(of path: String) -> [String] {
        let target = resolved(path) ?? path
        return [draft(of: target), ownDraft(of: target)]
    }

    /// What brings the bytes to the disk from another thread, as long as this lives.
    var syncer: @Sendable () -> Int32 { file.syncer }

    /// The file's number and times, as they will be once it has its name.
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

    /// Brings the file to the disk and gives it its name. Nothing may be written afterwards.
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
        // The new name is as durable as the bytes; where a folder can't be synced, the system does it in its own time.
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

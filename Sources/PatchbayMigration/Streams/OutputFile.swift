#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

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
            let draft = "\(target).\(getpid()).partial"
            self.draft = draft
            do {
                file = try FileDescriptor(draft, O_WRONLY | O_CREAT | O_TRUNC, mode: isPrivate ? 0o600 : 0o644)
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

    deinit { if !isCommitted, let draft { unlink(draft) } }

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

    private static func resolved(_ path: String) -> String? {
        guard let text = realpath(path, nil) else { return nil }
        defer { free(text) }
        return String(cString: text)
    }
}

@available(*, unavailable)
extension OutputFile: Sendable {}

public import PatchbayAdapterKit
import PatchbaySystem

/// Why a file can't be read or written.
public struct FileError: Error, Hashable, Sendable {
    /// What was tried.
    public enum Operation: String, Hashable, Sendable {
        case open, read, write, sync, rename, look
    }

    /// The file, as it was named.
    public let path: String
    /// What was tried.
    public let operation: Operation
    /// The system's number of the reason.
    public let number: Int32

    /// An error with the system's number of the reason.
    public init(_ path: String, _ operation: Operation, number: Int32) {
        (self.path, self.operation, self.number) = (path, operation, number)
    }

    /// The system's last error.
    init(_ path: String, _ operation: Operation) { self.init(path, operation, number: errno) }

    /// Whether whoever read what we write has gone away.
    public var isBrokenPipe: Bool { number == EPIPE }

    private static let remedies: [Int32: String] = [
        ENOENT: "Check the path and its folder.",
        EACCES: "Check the permissions, or choose another path.",
        EPERM: "Check the permissions, or choose another path.",
        EROFS: "Choose a folder that can be written.",
        EBUSY: "Another run is writing it. Wait until it ends, or name another file.",
        EISDIR: "Name a file, not a folder.",
        ENOTDIR: "Correct the path; one of its folders is a file.",
        ENOSPC: "Free space, or choose another disk.",
        EDQUOT: "Free space, or choose another disk.",
        EFBIG: "Split the input, or choose a disk that allows larger files.",
        EBADF: "It was closed when the program started. Leave it open, or name a file.",
        EPIPE: "Let the program that reads the output read to the end.",
        EILSEQ: "Copy or compress the file again, and compare its size with the original.",
    ]
    private static let damaged = "The file is damaged or ends early: it is no whole gzip, ZIP or UTF-16 file."

    /// The error as a finding: what, where, how to mend.
    public var finding: Finding {
        Finding(
            code: "file.\(operation.rawValue)",
            severity: .error,
            error: number == ENOENT ? .notFound : .unavailable,
            path: path,
            reason: number == EILSEQ ? Self.damaged : "\(String(cString: strerror(number))).",
            remedy: Self.remedies[number] ?? "Correct the cause and try again."
        )
    }
}

extension FileError: CustomStringConvertible {
    /// One line: what was tried, where, why not, what to do.
    public var description: String { "cannot \(operation.rawValue) \(path): \(finding.reason) \(finding.remedy)" }
}

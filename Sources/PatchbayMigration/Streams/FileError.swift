public import PatchbayAdapterKit
import PatchbaySystem

/// An error of reading or writing a file.
public struct FileError: Error, Hashable, Sendable {
    /// The operation that failed.
    public enum Operation: String, Hashable, Sendable {
        case open, read, write, sync, rename, look
    }

    /// The path of the file as it was given.
    public let path: String
    /// The operation that failed.
    public let operation: Operation
    /// The value of `errno`.
    public let number: Int32

    /// Creates an error from a value of `errno`.
    public init(_ path: String, _ operation: Operation, number: Int32) {
        (self.path, self.operation, self.number) = (path, operation, number)
    }

    /// Creates an error from the current value of `errno`.
    init(_ path: String, _ operation: Operation) { self.init(path, operation, number: errno) }

    /// Whether the reader of the output has closed the pipe.
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

    /// The error as a finding, with its reason, location and remedy.
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
    /// The operation, the path, the reason and the remedy, on one line.
    public var description: String { "cannot \(operation.rawValue) \(path): \(finding.reason) \(finding.remedy)" }
}

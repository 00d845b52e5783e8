import Foundation
import Synchronization

/// The requests to all vendors as lines of JSON, numbered from 1. A line is appended to a file before the response is sent.
///
/// Each line is written with a single `write`, so that it survives the death of the process and readers never see half a line.
final class RequestLog: Sendable {
    private struct Line {
        let vendor: String
        let offset: Int
        let length: Int
    }

    private struct State {
        var end: Int
        var lines: [Line] = []
    }

    private let file: Int32
    private let name: String
    private let isPlain: Bool
    private let firstNumber: Int
    private let state: Mutex<State>

    /// Opens a log. An existing file is appended to, and its numbers continue. Without a path, the log uses a temporary file
    /// without a name.
    init(path: String?) throws(SandboxError) {
        if let path {
            name = path
            file = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        } else {
            let template = FileManager.default.temporaryDirectory.appendingPathComponent("patchbay-sandbox-XXXXXX").path
            var bytes = Array(template.utf8CString)
            file = mkstemp(&bytes)
            name = "temporary log"
            if file >= 0 { unlink(bytes) }
        }
        guard file >= 0 else {
            throw SandboxError(
                .logFailed,
                at: name,
                "cannot be opened (\(String(cString: strerror(errno))))",
                remedy: "Name a file in an existing folder with write permission."
            )
        }
        var status = stat()
        // A device or a pipe cannot be read back, or has no end.
        isPlain = fstat(file, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        var size = 0
        var linesBefore = 0
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while isPlain, case let count = pread(file, &buffer, buffer.count, off_t(size)), count > 0 {
            linesBefore += buffer[..<count].count { $0 == 0x0A }
            size += count
        }
        firstNumber = linesBefore + 1
        state = Mutex(State(end: size))
    }

    deinit { close(file) }

    /// The number of the last line; 0 before the first.
    var lastNumber: Int { state.withLock { firstNumber - 1 + $0.lines.count } }

    /// Assigns a number to a line and writes it. `line` creates its text, without the line end, from its number.
    func append(vendor: String, _ line: (_ number: Int) -> [UInt8]) throws(SandboxError) {
        let failure: Int32? = state.withLock { state in
            let bytes = line(firstNumber + state.lines.count) + [0x0A]
            var written = 0
            while written < bytes.count {
                let count = bytes[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
                if count < 0 && errno == EINTR { continue }
                guard count >= 0 else {
                    let reason = errno
                    ftruncate(file, off_t(state.end))
                    return reason
                }
                written += count
            }
            state.lines.append(Line(vendor: vendor, offset: state.end, length: bytes.count))
            state.end += bytes.count
            return nil
        }
        guard let failure else { return }
        throw SandboxError(
            .logFailed,
            at: name,
            "can't be written (\(String(cString: strerror(failure))))",
            remedy: "Make room on the disk, or name another file."
        )
    }

    /// Returns this run's lines after the number `after`, for one vendor or all, each with its line end.
    func lines(vendor: String?, after: Int) throws(SandboxError) -> [UInt8] {
        guard isPlain else {
            throw SandboxError(
                .logFailed,
                at: name,
                "is no plain file, so nothing can be read back from it",
                remedy: "Name a plain file, or none."
            )
        }
        let lines = state.withLock { $0.lines.dropFirst(max(0, after - firstNumber + 1)) }
        var text: [UInt8] = []
        for line in lines where vendor == nil || vendor == line.vendor {
            var bytes = [UInt8](repeating: 0, count: line.length)
            guard pread(file, &bytes, line.length, off_t(line.offset)) == line.length else {
                throw SandboxError(
                    .logFailed,
                    at: name,
                    "the file is shorter than what was written to it",
                    remedy: "Do not change the file while the sandbox runs."
                )
            }
            text += bytes
        }
        return text
    }
}

import PatchbaySystem

/// An unnamed file for data that does not fit into memory. Only its owner may read it, and it disappears with the process.
final class SpillFile {
    private let file: FileDescriptor
    /// The number of bytes written so far.
    private var count = 0

    init() throws(FileError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/patchbay.XXXXXX".utf8CString)
        let number = mkstemp(&name)
        guard number >= 0 else { throw FileError(folder, .open) }
        unlink(name)
        file = FileDescriptor(number, path: folder, closesAtEnd: true)
    }

    /// Appends bytes and returns their offset.
    func append(bytes: [UInt8]) throws(FileError) -> Int {
        try file.write(bytes[...])
        defer { count += bytes.count }
        return count
    }

    /// Returns a source of the present contents.
    func source(chunk: Int) throws(FileError) -> FileSource { try FileSource(kept: file, chunk: chunk) }

    /// Reads bytes at an offset.
    func read(bytes count: Int, at place: Int) throws(FileError) -> [UInt8] { try file.read(count, at: place) }
}

import PatchbaySystem

/// A file without a name, for what does not fit into memory: only its owner may read it, and it is gone with the process.
final class SpillFile {
    private let file: FileDescriptor
    /// Bytes so far.
    private var count = 0

    init() throws(FileError) {
        let folder = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var name = Array("\(folder)/patchbay.XXXXXX".utf8CString)
        let number = mkstemp(&name)
        guard number >= 0 else { throw FileError(folder, .open) }
        unlink(name)
        file = FileDescriptor(number, path: folder, closesAtEnd: true)
    }

    /// Appends bytes, and returns their place.
    func append(bytes: [UInt8]) throws(FileError) -> Int {
        try file.write(bytes[...])
        defer { count += bytes.count }
        return count
    }

    /// Everything that it holds now, from its start.
    func source(chunk: Int) throws(FileError) -> FileSource { try FileSource(kept: file, chunk: chunk) }

    /// Reads bytes at a place.
    func read(bytes count: Int, at place: Int) throws(FileError) -> [UInt8] { try file.read(count, at: place) }
}

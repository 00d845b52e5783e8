/// The distinction between a damaged outbox and a file of another kind.
extension OutboxFile {
    /// The number of bytes to examine. The schema of an outbox is in its first forty pages.
    private static let look = 64 * 4096

    /// Throws an error for a folder, and for a file that is neither a database nor a damaged outbox. Such a file is left
    /// unchanged.
    ///
    /// A damaged outbox is recognized by its header, the application id in the header, its log, or its schema. A file of zeros
    /// is treated as a damaged outbox, because replacing it loses no content.
    func requireOutboxFormat() throws(OutboxError) {
        guard !Self.isFolder(path) else {
            throw OutboxError(.cannotOpen, "\(path) is a folder.", remedy: "Name the outbox file in this folder.")
        }
        guard let size = Self.size(path), size > 0, (Self.size(path + "-wal") ?? 0) == 0 else { return }
        // If the file cannot be read, opening it reports the error.
        guard let head = try? Self.read(path, at: 0, count: 100), !head.isEmpty, !Self.isHeader(head) else { return }
        guard let bytes = try? Self.read(path, at: 0, count: Self.look), !Self.isOutbox(bytes) else { return }
        throw OutboxError(
            .cannotOpen,
            "\(path) is not an outbox.",
            remedy: "Choose another path, or move this file away. The file was not changed."
        )
    }

    /// Whether a file begins with a database header or an outbox's application id.
    private static func isHeader(_ head: [UInt8]) -> Bool {
        let magic = Array("SQLite format 3".utf8) + [0]
        let mark = (0..<4).map { UInt8(truncatingIfNeeded: OutboxFormat.applicationID >> (24 - 8 * $0)) }
        return head.starts(with: magic.prefix(head.count)) || head.dropFirst(68).starts(with: mark)
    }

    /// Whether the bytes are all zeros, or contain the definition of an outbox table.
    private static func isOutbox(_ bytes: [UInt8]) -> Bool {
        if bytes.allSatisfy({ $0 == 0 }) { return true }
        let word = Array("CREATE TABLE ".utf8)
        let names = Set(Table.all.map(\.name))
        var rest = bytes[...]
        while let place = rest.firstIndex(of: word[0]) {
            rest = rest[place...]
            if rest.starts(with: word) {
                let name = rest.dropFirst(word.count).prefix { $0 > 0x20 && $0 != UInt8(ascii: "(") }
                if names.contains(String(decoding: name, as: UTF8.self)) { return true }
            }
            rest = rest.dropFirst()
        }
        return false
    }
}

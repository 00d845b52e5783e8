import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// The identity of an input: its size, its modification time and the digest of its beginning.
struct InputIdentity: Equatable {
    private static let sample = 64 << 10

    let size: Int
    /// The modification time, in nanoseconds since 1970.
    let changed: Int
    /// The digest of the first bytes.
    let head: String

    init(_ source: FileSource, path: String) throws(FileError) {
        let status = try source.status()
        (size, changed) = (Int(status.st_size), status.changed)
        var reader = try FileSource(path: path, chunk: Self.sample)
        head = SHA256.digest(of: try reader.next() ?? []).hexText
    }

    init?(json: JSONValue) {
        guard let size = json["size"]?.integer, let changed = json["changed"]?.integer,
            let head = json["head"]?.string
        else { return nil }
        (self.size, self.changed, self.head) = (Int(size), Int(changed), head)
    }

    var json: JSONValue { ["size": .integer(size), "changed": .integer(changed), "head": .string(head)] }

    /// Whether a source still has this size and modification time.
    func holds(for source: FileSource) throws(FileError) -> Bool {
        try source.status().isOf(size: size, changed: changed)
    }
}

extension stat {
    /// Whether the file has a size and a modification time.
    func isOf(size: Int, changed: Int) -> Bool { Int(st_size) == size && self.changed == changed }
}

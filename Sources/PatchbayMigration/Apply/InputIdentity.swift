import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// Which bytes an input is made of, as far as its size, its time of change and its beginning tell.
struct InputIdentity: Equatable {
    private static let sample = 64 << 10

    let size: Int
    /// When it was changed last, in nanoseconds since 1970.
    let changed: Int
    /// Digest of its first bytes.
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

    /// Whether the file is still what it was, by its size and time.
    func holds(for source: FileSource) throws(FileError) -> Bool {
        try source.status().isOf(size: size, changed: changed)
    }
}

extension stat {
    /// Whether the file has that size and was changed last at that time.
    func isOf(size: Int, changed: Int) -> Bool { Int(st_size) == size && self.changed == changed }
}

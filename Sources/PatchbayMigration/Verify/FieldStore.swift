import PatchbayModel

/// Stores the fields of many records in shares that fit into memory, by their keys. Records of both files with the same key
/// are in the same share.
final class FieldStore {
    /// A record in the store.
    struct Entry {
        var key: KeyMark
        var number: Int
        /// The key itself, if differences show keys.
        var text: String
        var fields: [(name: Int, digest: UInt64)]
    }

    private var store: ShareStore<UInt8>
    private let keepsKeys: Bool

    /// Creates a store that keeps `bufferSize` bytes of each share in memory.
    init(keepsKeys: Bool, bufferSize: Int = 16 << 10) {
        (self.keepsKeys, store) = (keepsKeys, ShareStore(bufferSize: bufferSize))
    }

    func add(_ sight: FieldReader.RecordFields, number: Int, _ names: NameBook) throws(FileError) {
        let key = KeyMark(sight.key, opinion: 0)
        var bytes: [UInt8] = []
        let text = keepsKeys ? Array(sight.key.utf8) : []
        for word in [key.folded, key.exact, UInt64(number), UInt64(text.count), UInt64(sight.fields.count)] {
            bytes.append(word)
        }
        bytes += text
        for field in sight.fields {
            bytes.append(UInt64(names.index(of: field.name)))
            bytes.append(field.digest)
        }
        try store.add(bytes, to: Shares.index(of: key))
    }

    /// The records of a share, in the order in which they were added.
    func entries(_ share: Int) throws(FileError) -> [Entry] {
        let bytes = try store.values(share)
        var (entries, place) = ([Entry](), 0)
        func word() -> UInt64 {
            defer { place += 8 }
            return bytes.word(at: place)
        }
        while place < bytes.count {
            let (folded, exact, number, length, count) = (word(), word(), Int(word()), Int(word()), Int(word()))
            let text = String(decoding: bytes[place..<(place + length)], as: UTF8.self)
            place += length
            let fields = (0..<count).map { _ in (name: Int(word()), digest: word()) }
            entries.append(
                Entry(key: KeyMark(folded: folded, exact: exact), number: number, text: text, fields: fields)
            )
        }
        return entries
    }
}

/// The names of fields as numbers.
final class NameBook {
    private(set) var names: [String] = []
    private var places: [String: Int] = [:]

    init() {}

    func index(of name: String) -> Int {
        if let place = places[name] { return place }
        names.append(name)
        places[name] = names.count - 1
        return names.count - 1
    }
}

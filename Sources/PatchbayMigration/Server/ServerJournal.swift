import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// A journal of a migration through a server API (`Schemas/migration/journal`), from which the migration can be undone. It
/// has a JSON object a line with the vendor's data of each contact before the migration, and contains personal data.
///
/// A line is synced to the disk before the operations that it concerns are sent. If a server API shows its contacts only in
/// pages, all of them are copied at the beginning.
final class ServerJournal {
    /// The first line of a journal.
    struct Head: Equatable {
        var server: String
        var provider: String

        init(_ target: ServerTarget) { (server, provider) = (target.descriptor.id.rawValue, target.provider.name) }

        init?(_ json: JSONValue) {
            guard json["journal"]?.string == "server", json["version"]?.integer == 1,
                let server = json["adapter"]?.string,
                let provider = json["provider"]?.string
            else { return nil }
            (self.server, self.provider) = (server, provider)
        }

        var json: JSONValue {
            ["journal": "server", "version": 1, "adapter": .string(server), "provider": .string(provider)]
        }
    }

    /// A line of the journal after the first.
    enum Line {
        /// A contact of the vendor before the run.
        case held(key: String, Contact)
        /// All contacts of the vendor are in the journal.
        case complete
        /// The values that a row writes and, if the vendor was queried for the row, the values before it.
        case row(Int, key: String, before: Contact??, wrote: Contact)
        /// The migration is being undone, or was.
        case undone

        init?(_ json: JSONValue) throws(ModelError) {
            if let key = json["held"]?.string, let contact = json["contact"] {
                self = .held(key: key, try Contact(json: contact, at: "contact"))
            } else if json["complete"]?.bool == true {
                self = .complete
            } else if json["undone"]?.bool == true {
                self = .undone
            } else if let row = json["row"]?.integer, let key = json["key"]?.string, let wrote = json["wrote"] {
                let before: Contact??
                switch json["before"] {
                case nil: before = .none
                case .null?: before = .some(nil)
                case let held?: before = .some(try Contact(json: held, at: "before"))
                }
                self = .row(Int(row), key: key, before: before, wrote: try Contact(json: wrote, at: "wrote"))
            } else {
                return nil
            }
        }
    }

    private let file: FileDescriptor
    /// The answers that earlier processes received for rows without a verdict.
    private(set) var rows: [Int: (key: String, before: Contact??)] = [:]
    /// Whether all contacts of the vendor are in the journal.
    private(set) var isComplete = false
    private var buffer: [UInt8] = []
    /// The number of bytes in the file. The bytes in `buffer` follow them.
    private var length = 0
    /// Groups of rows that were synced together and include rows without a verdict: the last row, and the offset of the
    /// first.
    private var batches: ArraySlice<(last: Int, offset: Int)> = []
    private var batch: (last: Int, offset: Int)?

    /// Creates a journal, or resumes it.
    ///
    /// - Parameters:
    ///   - path: The path of the journal.
    ///   - target: The server API of the journal.
    ///   - acceptsExisting: Whether to accept an existing journal, because it belongs to this run.
    ///   - settled: The number of rows that have a verdict.
    ///   - hasSpoken: Whether this run may have sent operations already, so that its journal must exist.
    ///   - place: The offset of the first row without a verdict, from ``place(after:)``; 0 if it is not known.
    ///   - tell: Receives the number of lines and bytes that were read, and the number of all bytes.
    ///   - note: Receives the vendor's contacts, and the values that rows with a verdict wrote.
    /// - Throws: ``Migration/Failure`` if a journal of another run exists, or if operations were sent and the journal is
    ///   missing or undone; ``FileError``.
    init(
        _ path: String,
        _ target: ServerTarget,
        acceptsExisting: Bool,
        settled: Int,
        hasSpoken: Bool = false,
        from place: Int,
        telling tell: (_ lines: Int, _ bytes: Int, _ total: Int) throws -> Void = { _, _, _ in },
        noting note: (String, Contact) -> Void
    ) throws {
        let head = Head(target)
        guard !hasSpoken || access(path, F_OK) == 0 else {
            throw Migration.Failure([ServerFinding.journalGone.at(path)])
        }
        file = try FileDescriptor(own: path, O_RDWR | O_CREAT)
        guard file.lock() else { throw FileError(path, .open, number: EBUSY) }
        let length = try Int(file.status().st_size)
        guard length == 0 || acceptsExisting else { throw Migration.Failure([ServerFinding.journalLost.at(path)]) }
        // The journal is read from its start if it holds the pages of the vendor, or if it was truncated.
        let start = target.isPaged || place > length ? 0 : place
        var (sound, isFirst) = (0, true)
        try Self.eachLine(path) { bytes, json in
            guard let json else { return false }
            guard Head(json) == head else { throw Migration.Failure([ServerFinding.journalLost.at(path)]) }
            (sound, isFirst) = (max(start, bytes.count + 1), false)
            return false
        }
        var isUndone = isFirst
        if !isFirst {
            let begin = sound
            var (lines, reported) = (0, sound)
            try Self.eachLine(path, from: sound) { bytes, json in
                lines += 1
                if sound - reported >= FileSource.chunk {
                    reported = sound
                    try tell(lines, sound - begin, length - begin)
                }
                // An incomplete line of a killed process is overwritten.
                guard let json else { return false }
                let line = try Line(json)
                if case .undone? = line { isUndone = true } else { isUndone = false }
                switch line {
                case .undone: break
                case .complete: isComplete = true
                case .row(let number, let key, let before, _) where number > settled: rows[number] = (key, before)
                case .row(_, let key, _, let wrote): note(key, wrote)
                case .held(let key, let contact): note(key, contact)
                case nil: return false
                }
                sound += bytes.count + 1
                return true
            }
        }
        guard !hasSpoken || !isUndone else { throw Migration.Failure([ServerFinding.journalGone.at(path)]) }
        try file.begin(at: sound)
        self.length = sound
        if let last = rows.keys.max() { batches = [(last, start)] }
        if isFirst { write(head.json) }
        try sync()
    }

    /// Reads a journal line by line until `body` returns false. A last line without a line end is ignored.
    static func eachLine(
        _ path: String,
        from offset: Int = 0,
        _ body: (ArraySlice<UInt8>, JSONValue?) throws -> Bool
    ) throws {
        var source = try offset == 0 ? FileSource(path: path) : FileSource(path: path, at: offset)
        var lines = LineSplitter(maximumLength: NeutralContacts.longestWritten)
        while let chunk = try source.next() {
            lines.append(chunk)
            while let line = lines.next() {
                guard case .success(let line) = line else { return }
                if try !body(line.bytes, try? JSONValue(parsing: line.bytes)) { return }
            }
        }
    }

    /// Locks a journal for an undo, and marks it so that no run resumes the migration.
    ///
    /// - Returns: The locked journal.
    /// - Throws: ``FileError``, also while a run writes the journal.
    static func take(_ path: String) throws -> FileDescriptor {
        let file = try FileDescriptor(path, O_RDWR)
        guard file.lock() else { throw FileError(path, .open, number: EBUSY) }
        var (sound, isUndone) = (0, false)
        try eachLine(path) { bytes, json in
            isUndone = json?["undone"]?.bool == true
            sound += bytes.count + 1
            return true
        }
        if isUndone { return file }
        // An incomplete line of a killed process has no line end and is overwritten. Complete lines that cannot be read are
        // kept.
        let rest = try file.read(Int(file.status().st_size) - sound, at: sound)
        if rest.contains(0x0A) { return file }
        try file.begin(at: sound)
        let line: JSONValue = ["undone": true]
        try file.write((Array(line.text.utf8) + [0x0A])[...])
        try file.sync()
        return file
    }

    private func write(_ json: JSONValue) { buffer += Array(json.text.utf8) + [0x0A] }

    func write(held key: String, _ contact: Contact) throws(FileError) {
        write(["held": .string(key), "contact": contact.json])
        if buffer.count > 256 << 10 { try flush() }
    }

    func complete() throws(FileError) {
        write(["complete": true])
        isComplete = true
        try sync()
    }

    func write(row: Int, key: String, before: Contact??, wrote: Contact) {
        var json: JSONObject = ["row": .integer(row), "key": .string(key)]
        if let before { json["before"] = before?.json ?? .null }
        batch = (max(row, batch?.last ?? 0), batch?.offset ?? length + buffer.count)
        json["wrote"] = wrote.json
        write(.object(json))
    }

    private func flush() throws(FileError) {
        try file.write(buffer[...])
        length += buffer.count
        buffer.removeAll(keepingCapacity: true)
    }

    /// Writes all lines and syncs them to the disk.
    func sync() throws(FileError) {
        try flush()
        try file.sync()
        if let batch { batches.append(batch) }
        batch = nil
    }

    /// The offset of the first row without a verdict, if all rows up to `settled` have one.
    func place(after settled: Int) -> Int {
        while batches.count > 1, let first = batches.first, first.last <= settled { batches.removeFirst() }
        return batches.first?.offset ?? length
    }
}

extension Contact {
    /// The part of the contact for which another one has values, too: the values that an undo may have to restore.
    func part(in other: Contact) -> Contact {
        let kinds = Set(other.identifiers.map(\.kind))
        let keys = Set(other.subscriptions.map(\.key))
        return Contact(
            identifiers: identifiers.filter { kinds.contains($0.kind) },
            attributes: attributes.filter { other.attributes[$0.key] != nil },
            tags: tags.intersection(other.tags),
            subscriptions: subscriptions.filter { keys.contains($0.key) }
        )
    }

    /// The part of the contact for which another one has no values.
    func part(outside other: Contact) -> Contact {
        let kinds = Set(other.identifiers.map(\.kind))
        let keys = Set(other.subscriptions.map(\.key))
        return Contact(
            identifiers: identifiers.filter { !kinds.contains($0.kind) },
            attributes: attributes.filter { other.attributes[$0.key] == nil },
            tags: tags.subtracting(other.tags),
            subscriptions: subscriptions.filter { !keys.contains($0.key) }
        )
    }

    /// The contact after another one was written over it.
    func with(_ later: Contact) -> Contact {
        let kinds = Set(later.identifiers.map(\.kind))
        let keys = Set(later.subscriptions.map(\.key))
        return Contact(
            identifiers: identifiers.filter { !kinds.contains($0.kind) } + later.identifiers,
            attributes: attributes.merging(later.attributes) { _, new in new },
            tags: tags.union(later.tags),
            subscriptions: subscriptions.filter { !keys.contains($0.key) } + later.subscriptions
        )
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// The way back from a migration through a server API: what the vendor held of each contact before anything was said of it, a JSON
/// object a line (`Schemas/migration/journal`). It holds people's data.
///
/// A line is on the disk before what it speaks of is said. A server API that shows its contacts in pages alone is copied whole at
/// the beginning.
final class ServerJournal {
    /// What a journal begins with.
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

    /// A line of the journal.
    enum Line {
        /// A contact, as the vendor held it before the run.
        case held(key: String, Contact)
        /// Everything that the vendor held has been told.
        case complete
        /// What a row writes, and, where it was asked for, what stood there before.
        case row(Int, key: String, before: Contact??, wrote: Contact)
        /// All before it is being taken back, or was.
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
    /// What earlier processes asked about rows that have no verdict yet.
    private(set) var rows: [Int: (key: String, before: Contact??)] = [:]
    /// Whether everything that the vendor held stands in it.
    private(set) var isComplete = false
    private var buffer: [UInt8] = []
    /// Bytes that stand in the file, and those behind them in `buffer`.
    private var length = 0
    /// Rows that reached the disk together, as far as some have no verdict: the last of them, and the bytes before the first.
    private var batches: ArraySlice<(last: Int, offset: Int)> = []
    private var batch: (last: Int, offset: Int)?

    /// Begins a journal, or goes on with it.
    ///
    /// - Parameters:
    ///   - path: the file.
    ///   - target: the server API that it is of.
    ///   - goesOn: whether what stands there belongs to this run.
    ///   - settled: rows that have their verdict.
    ///   - hasSpoken: whether this run may have said something already, so that its journal must be there and count.
    ///   - place: where the first row without one may stand, as ``place(after:)`` told; 0 is not known.
    ///   - tell: hears how many lines and bytes were read, and of how many bytes.
    ///   - note: hears what stood at the vendor, and what the rows wrote that have their verdict.
    /// - Throws: ``Migration/Failure`` if a journal stands there that is none of this run, or that of a run which has spoken is
    ///   gone or undone; ``FileError``.
    init(
        _ path: String,
        _ target: ServerTarget,
        goesOn: Bool,
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
        guard length == 0 || goesOn else { throw Migration.Failure([ServerFinding.journalLost.at(path)]) }
        // What a server API that shows pages held is needed whole, and so is a journal that somebody has shortened.
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
            var (lines, told) = (0, sound)
            try Self.eachLine(path, from: sound) { bytes, json in
                lines += 1
                if sound - told >= FileSource.chunk {
                    told = sound
                    try tell(lines, sound - begin, length - begin)
                }
                // What a killed process wrote in part is written anew.
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

    /// Reads a journal line by line, as far as `body` wants; a last line without its end is none.
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

    /// Keeps a journal for the one who takes it back, and notes in it that nobody may go on behind what stands there.
    ///
    /// - Returns: what holds the journal.
    /// - Throws: ``FileError``, also while a run writes it.
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
        // What a killed process wrote in part has no end; of lines that can't be read nothing is cut off.
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

    /// Everything is on the disk when this returns.
    func sync() throws(FileError) {
        try flush()
        try file.sync()
        if let batch { batches.append(batch) }
        batch = nil
    }

    /// Bytes before the first row that has no verdict when all up to `settled` have theirs.
    func place(after settled: Int) -> Int {
        while batches.count > 1, let first = batches.first, first.last <= settled { batches.removeFirst() }
        return batches.first?.offset ?? length
    }
}

extension Contact {
    /// As much of the contact as another one speaks of: what may have to be put back.
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

    /// As much of the contact as another one does not speak of.
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

    /// The contact once another one was written over it.
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

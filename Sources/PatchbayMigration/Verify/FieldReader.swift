import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Reads the records of a target file as fields in neutral terms.
struct FieldReader {
    /// A record: its key, and digests of the values of its fields.
    struct RecordFields {
        var key: String
        var fields: [(name: String, digest: UInt64)]
    }

    private let tagByTag: Bool

    private enum Way {
        /// The format can be read; the fields are those of contacts.
        case contacts(WrittenReader, key: IdentifierKind?)
        /// Objects, one a line, with a known layout: the neutral names of members, by their path in the file.
        case lines(keys: [String], names: [String: String])
        /// Objects with an unknown layout.
        case objects
    }

    private let way: Way
    /// Splits a target file into its records; nil if the file has to be read as a whole.
    private(set) var cutter: RecordCutter?

    /// Creates a reader for the target of a migration, which identifies contacts by a kind of identifier if one is given.
    init(_ migration: Migration, key: IdentifierKind? = nil, tagByTag: Bool = false) throws {
        self.tagByTag = tagByTag
        let (target, settings) = (migration.target, migration.targetSettings)
        let header = try migration.makeWriter().header()
        if let reader = try WrittenReader(migration) {
            way = .contacts(reader, key: key ?? migration.keyKind)
            cutter = reader.cutter(behind: header)
        } else if case .lines(let layout)? = try? target.makeTargetLayout?(settings) {
            var names: [String: String] = [:]
            var keys: [String] = []
            Self.name(layout.parts, at: "", &names, &keys)
            way = .lines(keys: keys, names: names)
            cutter = RecordCutter(nil, behind: header)
        } else if header.isEmpty {
            way = .objects
            cutter = RecordCutter(nil, behind: [])
        } else {
            throw Migration.Failure([Self.unreadable.at("to", detail: target.id)])
        }
    }

    private static let unreadable = FindingRow(
        .error("migration.verify.format", .unsupported),
        reason: "Files of this format cannot be read, so there is nothing to compare with",
        remedy: "Export the contacts at the target in a format that can be read, and verify that export."
    )

    private static func name(
        _ parts: [LineLayout.Part],
        at path: String,
        _ names: inout [String: String],
        _ keys: inout [String]
    ) {
        for part in parts {
            switch part {
            case .key(let name, let kind, _, _):
                keys.append(path.dot(name))
                names[path.dot(name)] = "identifiers".dot(kind.rawValue)
            case .object(let name, let parts): self.name(parts, at: path.dot(name), &names, &keys)
            case .identifiers(let fields, _, _, _):
                for (kind, field) in fields { names[path.dot(field.name)] = "identifiers".dot(kind.rawValue) }
            case .attributes(let attributes):
                for (attribute, field) in attributes.names {
                    names[path.dot(field)] = "attributes".dot(attribute.rawValue)
                }
                // Any other member of the object is an attribute with its name.
                names[path.dot("*")] = "attributes"
            case .timeZone(let name): names[path.dot(name)] = "timeZone"
            case .tags(let name): names[path.dot(name)] = "tags"
            case .subscriptions(let layout): names[path.dot(layout.name)] = "subscriptions"
            case .constant, .dropped: continue
            }
        }
    }

    /// The result of reading a record.
    enum Seen {
        /// A record with its number.
        case record(Int, RecordFields)
        /// A record that cannot be read, with its number, its line and the reasons.
        case unreadable(Int, line: Int, [Finding])
    }

    /// Reads one record of a file.
    func see(_ record: RecordCutter.Record) -> [Seen] {
        switch way {
        case .contacts(let reader, let key): return reader.records(record).map { Self.see($0, key, tagByTag) }
        case .lines, .objects: return [see(line: record.bytes, record.line, record.number)]
        }
    }

    /// Passes on every record of a file without reading it. Returns false if the file must be read as a whole, because it
    /// has another header or a record that is too long.
    func eachRecord(
        _ source: inout some ByteSource,
        _ watch: Verification.Watch,
        _ take: (RecordCutter.Record) throws -> Void
    ) throws -> Bool {
        guard var cutter else { return false }
        var (number, bytes) = (0, 0)
        while true {
            if bytes > 0 { watch.progress(.target, Migration.Progress(records: number, bytes: bytes)) }
            if watch.isCancelled() { throw CancellationError() }
            let chunk = try source.next()
            bytes += chunk?.count ?? 0
            let isSplit = try cutter.cut(chunk) { record in
                number = record.number
                try take(record)
            }
            if !isSplit { return false }
            if chunk == nil { return true }
        }
    }

    private static func see(_ record: SourceRecord, _ key: IdentifierKind?, _ tagByTag: Bool) -> Seen {
        guard let contact = record.contact else {
            return .unreadable(record.number, line: record.line, record.findings.filter { $0.severity == .error })
        }
        return .record(record.number, look(contact, key, tagByTag: tagByTag))
    }

    /// Reads every record of a file.
    func each(_ source: inout some ByteSource, _ watch: Verification.Watch, _ take: (Seen) throws -> Void) throws {
        var (number, bytes) = (0, 0)
        func next() throws -> [UInt8]? {
            if bytes > 0 { watch.progress(.target, Migration.Progress(records: number, bytes: bytes)) }
            if watch.isCancelled() { throw CancellationError() }
            let chunk = try source.next()
            bytes += chunk?.count ?? 0
            return chunk
        }
        switch way {
        case .contacts(let written, let key):
            var reader = try written.makeReader()
            func see(_ record: SourceRecord) throws {
                number = record.number
                try take(Self.see(record, key, tagByTag))
            }
            while let chunk = try next() { try reader.read(chunk, see) }
            do {
                try reader.finish(see)
            } catch let error as SettingsError where error.findings.allSatisfy(\.isOfNoRows) {
                // A target without contacts is valid: every contact is missing then.
            }
        case .lines, .objects:
            var lines = LineSplitter(maximumLength: NeutralContacts.longestWritten)
            func drain() throws {
                while let line = lines.next() {
                    if case .success(let line) = line, line.bytes.isEmpty { continue }
                    number += 1
                    try take(see(line, number))
                }
            }
            while let chunk = try next() {
                lines.append(chunk)
                try drain()
            }
            lines.finish()
            try drain()
        }
    }

    /// Reads the bytes that were written for one record.
    func look(_ written: ArraySlice<UInt8>) throws -> RecordFields {
        switch way {
        case .contacts(let reader, let key):
            let contact = try reader.contacts(in: written).last
            return contact.map { Self.look($0, key, tagByTag: tagByTag) } ?? RecordFields(key: "", fields: [])
        case .lines, .objects: return (try? lookAtLine(Array(written))) ?? RecordFields(key: "", fields: [])
        }
    }

    /// Reads a line of a file with an object a line.
    private func see(_ line: Result<LineSplitter.Line, LineSplitter.TooLong>, _ number: Int) -> Seen {
        switch line {
        case .success(let line): return see(line: line.bytes, line.number, number)
        case .failure(let fault):
            let sizes = "\(fault.length) bytes, the limit is \(fault.limit)"
            return .unreadable(number, line: fault.number, [NeutralContacts.lineTooLong.at(detail: sizes)])
        }
    }

    private func see(line bytes: ArraySlice<UInt8>, _ line: Int, _ number: Int) -> Seen {
        do throws(JSONError) {
            return .record(number, try lookAtLine(Array(bytes)))
        } catch {
            let place = "column \(error.column): \(error.code.reason)"
            return .unreadable(number, line: line, [NeutralContacts.notJSON.at(detail: place)])
        }
    }

    private func lookAtLine(_ line: [UInt8]) throws(JSONError) -> RecordFields {
        guard case .lines(let keys, let names) = way else { return try Self.look(line, [], [:]) }
        return try Self.look(line, keys, names)
    }

    /// The digest of an empty text.
    static let empty = digest(JSONValue.string("").text)

    private static func digest(_ text: String) -> UInt64 { KeyMark(text, opinion: 0).exact }

    // MARK: Contacts

    /// The field of a single tag, if tags are compared one by one.
    static let tag = "tag"

    /// Reads the fields of a contact. Tags are compared one by one if the target may have more of them.
    static func look(_ contact: Contact, _ kind: IdentifierKind?, tagByTag: Bool = false) -> RecordFields {
        let order = [kind, .external, .email, .phone].compactMap { $0 }
        let key =
            order.lazy.compactMap { contact.identifiers.first($0) }.first ?? contact.identifiers.first?.value ?? ""
        var fields: [(String, String)] = contact.identifiers.map { ("identifiers".dot($0.kind.rawValue), $0.value) }
        fields += contact.attributes.map { ("attributes".dot($0.key.rawValue), $0.value.json.text) }
        if tagByTag {
            fields += contact.tags.map { (tag, $0.rawValue) }
        } else if !contact.tags.isEmpty {
            fields.append(("tags", contact.tags.map(\.rawValue).sorted().joined(separator: "\u{0}")))
        }
        for each in contact.subscriptions {
            let name = "subscriptions".dot(each.channel.rawValue)
            fields.append((each.topic.map(name.dot) ?? name, each.json.text))
        }
        fields += contact.consents.map { ("consents".dot($0.scope.description), $0.state.rawValue) }
        fields += contact.devices.map { ("devices", $0.json.text) }
        if let locale = contact.locale { fields.append(("locale", locale)) }
        if let zone = contact.timeZone { fields.append(("timeZone", zone)) }
        return RecordFields(key: key, fields: fields.map { ($0, digest($1)) })
    }

    // MARK: Objects

    private static func look(_ line: [UInt8], _ keys: [String], _ names: [String: String]) throws(JSONError)
        -> RecordFields
    {
        let json = try JSONValue(parsing: line)
        var fields: [(path: String, text: String)] = []
        flatten(json, at: "", &fields)
        let key = keys.lazy.compactMap { key in fields.first { $0.path == key }?.text }.first
        let named = fields.map { path, text -> (String, UInt64) in
            if let name = names[path] { return (name, digest(text)) }
            let parts = path.split(separator: ".", maxSplits: 1)
            if parts.count == 2, let group = names["\(parts[0]).*"] {
                return (group.dot(String(parts[1])), digest(text))
            }
            return (path, digest(text))
        }
        return RecordFields(key: key ?? json.text, fields: named)
    }

    /// Lists the members of objects by their path. An array counts as one value.
    private static func flatten(_ json: JSONValue, at path: String, _ fields: inout [(path: String, text: String)]) {
        guard let object = json.object else { return fields.append((path, json.string ?? json.text)) }
        for member in object { flatten(member.value, at: path.dot(member.name), &fields) }
    }
}

extension Finding {
    /// Whether the finding reports that a file has only a header.
    fileprivate var isOfNoRows: Bool { code.hasSuffix(".file.headerOnly") }
}

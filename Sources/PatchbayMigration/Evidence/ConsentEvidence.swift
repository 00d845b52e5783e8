import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

extension Migration {
    /// Where a run writes evidence of consent.
    ///
    /// The evidence has a JSON object a line (`Schemas/migration/evidence`). The first line has the salt. A contact is named by
    /// the digest of the salt and of the kind and value of its first identifier, so the lines of a person are found by a reader
    /// who knows an identifier of that person, and show no personal data.
    public struct Evidence {
        let sink: any ByteSink
        let salt: String
        /// Whether an earlier run wrote the first line.
        let hasBegun: Bool

        /// Evidence that begins, or continues after what an earlier run wrote.
        public init(to sink: any ByteSink, salt: String, hasBegun: Bool = false) {
            (self.sink, self.salt, self.hasBegun) = (sink, salt, hasBegun)
        }
    }
}

@available(*, unavailable)
extension Migration.Evidence: Sendable {}

/// Evidence lines of some records, whose numbers in the file are not known yet.
struct EvidenceLines: Sendable {
    /// A position at which a value is inserted once the number of the record is known.
    private struct Gap {
        var place: Int
        /// The number of the record among these, from 1.
        var record: Int
        /// Whether the contact's digest is inserted, because the record has no identifier; otherwise the number is.
        var isDigest: Bool
    }

    private var bytes: [UInt8] = []
    private var gaps: [Gap] = []
    /// Whether a record was examined, even if it states nothing.
    private(set) var hasRecords = false

    mutating func addRecord() { hasRecords = true }

    /// Appends a line, which has room for the number at `number`, and for the contact's digest at `digest` unless that is nil.
    mutating func add(_ line: [UInt8], record: Int, number: Int, digest: Int?) {
        if let digest { gaps.append(Gap(place: bytes.count + digest, record: record, isDigest: true)) }
        gaps.append(Gap(place: bytes.count + number, record: record, isDigest: false))
        bytes += line
    }

    /// The lines, where `count` records precede these.
    func text(after count: Int, salt: String) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count + 8 * gaps.count)
        var place = 0
        for gap in gaps {
            text += bytes[place..<gap.place]
            place = gap.place
            let number = "\(count + gap.record)"
            text += (gap.isDigest ? ConsentEvidence.digest(of: "record:\(number)", salt: salt) : number).utf8
        }
        return text + bytes[place...]
    }
}

/// Writes the lines of a run in order.
final class EvidenceWriter {
    private var sink: any ByteSink
    private let salt: String
    private var hasBegun: Bool

    init(_ evidence: Migration.Evidence) {
        (sink, salt, hasBegun) = (evidence.sink, evidence.salt, evidence.hasBegun)
    }

    /// Writes lines of records that `count` records precede.
    func write(_ lines: EvidenceLines, after count: Int) throws(FileError) {
        guard lines.hasRecords else { return }
        if !hasBegun {
            hasBegun = true
            let head: JSONValue = ["salt": .string(salt), "digest": "sha256(salt:kind:value)"]
            try sink.write(Array((head.text + "\n").utf8))
        }
        let text = lines.text(after: count, salt: salt)
        if !text.isEmpty { try sink.write(text) }
    }
}

/// Compares the consent decisions of each record with what is written of it, and collects the evidence.
///
/// Rejects a record if the target would allow more than the source does.
final class ConsentEvidence {
    private let reader: ConsentReader
    /// The digest of the salt so far, to which each key is added.
    private var salted = SHA256.Stream()
    private var writer = JSONWriter()
    private var lines = EvidenceLines()
    /// The consent decisions and the first identifier of the present record.
    private var before = ConsentWords()
    private var key: [UInt8]?
    private var after: ConsentWords?
    private var codes: [String] = []

    /// Creates the evidence of one thread.
    init(_ migration: Migration, salt: String) throws {
        salted.add(Array("\(salt):".utf8))
        reader = try ConsentReader(migration)
    }

    static let raised = FindingRow(
        .error("migration.consent.raised", .consent),
        reason: "The target would hold an opt-in that the source does not hold",
        remedy: "Correct the consent values of this person in the source, or the mapping of subscriptions."
    )

    /// The name of a contact in the evidence.
    static func digest(of key: String, salt: String) -> String {
        SHA256.digest(of: Array("\(salt):\(key)".utf8)).hexText
    }

    /// Returns and clears the collected lines.
    func takeLines() -> EvidenceLines {
        defer { lines = EvidenceLines() }
        return lines
    }

    // MARK: Records of the general path

    /// Examines a record that would be written.
    ///
    /// - Parameters:
    ///   - record: the record as it was read.
    ///   - number: the number of the record since ``takeLines()`` was called last, from 1.
    ///   - written: the bytes that would be written.
    ///   - findings: the findings so far.
    /// - Returns: the reason why the record is not written; none if it is.
    func findings(
        of record: SourceRecord,
        number: Int,
        _ written: ArraySlice<UInt8>,
        _ findings: [Finding]
    ) -> [Finding] {
        lines.addRecord()
        guard let contact = record.contact else { return [] }
        before = ConsentWords(contact)
        key = contact.identifiers.first.map { Array("\($0.kind.rawValue):\($0.value)".utf8) }
        after = try? reader.words(of: written)
        let parts = ["subscriptions", "consents", "devices"]
        let stated = findings.filter { finding in parts.contains { finding.path.hasPrefix($0) } }
        codes = Set(stated.map(\.code)).sorted()
        let raised = after.map { before.raised(in: $0) } ?? []
        append(number: number, raised)
        return raised.isEmpty ? [] : [Self.raised.at("subscriptions", detail: "\(raised.count) of them")]
    }

    // MARK: Records of the bulk path

    /// Stores the consent decisions of a record before a mapping changes them.
    func begin(_ view: RecordView) {
        before = ConsentWords(view)
        key = nil
        if view.identifierCount > 0 {
            let first = view.identifiers[0]
            key = first.name.bytes + [UInt8(ascii: ":")] + first.value.text.bytes
        }
    }

    /// Whether the evidence of the record can be derived without its general reader and writer; ``add(number:)`` adds it
    /// then.
    func accepts(_ written: UnsafeBufferPointer<UInt8>, _ writer: LineWriter, _ plan: CompiledPlan) -> Bool {
        guard let words = try? reader.words(of: written), before.raised(in: words).isEmpty else {
            return false
        }
        (after, codes) = (words, [])
        guard before.differs(from: words) else { return true }
        var found: Set<String> = []
        for index in 0..<writer.noteCount {
            let note = Int(writer.notes[index])
            switch plan.noteScopes[note] {
            case .consent: found.insert(plan.notes[note].code)
            case .other: continue
            case .unclear: return false
            }
        }
        codes = found.sorted()
        return true
    }

    /// Adds the lines of the record that was accepted last.
    func add(number: Int) {
        lines.addRecord()
        append(number: number, [])
    }

    // MARK: Lines

    private func append(number: Int, _ raised: [ConsentWords.Subject]) {
        let decisions = before.aligned(with: after)
        guard !decisions.isEmpty else { return }
        let name = key.map { key in
            var digest = salted
            digest.add(key)
            return digest.finish().hexText
        }
        for (subject, old) in decisions {
            let new = after?[subject]
            writer.reset()
            writer.beginObject()
            write("contact", name ?? "")
            let digest = name == nil ? writer.bytes.count - 1 : nil
            writer.name(known: "record")
            let place = writer.bytes.count
            writer.raw("")
            write("about", subject.isSubscription ? "subscription" : "consent")
            write("purpose", subject.purpose.rawValue)
            write("channel", subject.channel?.rawValue)
            write("topic", subject.topic)
            write("before", old?.text ?? "absent")
            write("after", after == nil ? "unread" : new?.text ?? "absent")
            if let changedAt = old?.changedAt {
                writer.name(known: "changedAt")
                changedAt.write(to: &writer)
            }
            write("source", old?.source)
            write("rule", Self.rule(old, new, isRaised: raised.contains(subject), isRead: after != nil))
            if old?.text != new?.text, !codes.isEmpty { writer.member("findings", codes) }
            writer.endObject()
            writer.endLine()
            lines.add(writer.bytes, record: number, number: place, digest: digest)
        }
    }

    /// Writes a member unless it is nil.
    private func write(_ name: StaticString, _ text: String?) {
        if let text { writer.member(known: name, string: text) }
    }

    /// The reason for the state after the migration.
    private static func rule(_ old: ConsentWords.Word?, _ new: ConsentWords.Word?, isRaised: Bool, isRead: Bool)
        -> String
    {
        if isRaised { return "refused" }
        guard isRead else { return "unread" }
        guard let new else { return "notCarried" }
        return new.text == old?.text ? "kept" : "lowered"
    }
}

/// The part of a contact that a finding of the bulk path concerns.
enum NoteScope {
    /// Subscriptions, consents or devices.
    case consent
    /// The other parts of a contact.
    case other
    /// Either of them, depending on the record.
    case unclear

    /// The scope of each finding of a plan that writes by a layout.
    static func scopes(of notes: [FindingRow], _ layout: TargetLayout?) -> [NoteScope] {
        var (consent, other): ([FindingRow], [FindingRow]) = (EarlierOptOuts.notes, [])
        if case .lines(let lines)? = layout { add(lines.parts, &consent, &other) }
        return notes.map { row in
            switch (consent.contains(row), other.contains(row)) {
            case (true, false): .consent
            case (false, true): .other
            default: .unclear
            }
        }
    }

    private static func add(_ parts: [LineLayout.Part], _ consent: inout [FindingRow], _ other: inout [FindingRow]) {
        for part in parts {
            switch part {
            case .object(_, let parts): add(parts, &consent, &other)
            case .identifiers(_, let elsewhere, let unfit, let respelt): other += [elsewhere, unfit, respelt]
            case .attributes(let attributes): other += [attributes.converted, attributes.unfit]
            case .subscriptions(let layout):
                let rows = layout.findings
                consent += [rows.unknown, rows.denied, rows.resource, rows.lostOptOut, rows.unreachable, rows.detail]
                consent += [rows.token, rows.provider]
            case .dropped(.consents, let row): consent.append(row)
            case .dropped(.locale, let row), .dropped(.tags, let row): other.append(row)
            case .constant, .key, .timeZone, .tags: continue
            }
        }
    }
}

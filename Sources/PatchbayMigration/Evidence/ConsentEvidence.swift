import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Writes down, for an auditor, what became of every word about what a person allows, and refuses a record that would
/// allow more than its source.
///
/// A JSON object a line (`Schemas/migration/evidence`). The first line has the salt: a contact is named by the digest of
/// salt, kind and value of its first identifier, so that whoever knows a person finds the lines, and nobody else reads a
/// name in them.
final class ConsentEvidence {
    private let reader: ConsentReader
    private let salt: String
    private var sink: any ByteSink
    private var writer = JSONWriter()
    private var hasBegun: Bool

    /// Evidence at its beginning, or behind what an earlier run wrote.
    init(_ migration: Migration, to sink: any ByteSink, salt: String, hasBegun: Bool = false) throws {
        (self.sink, self.salt, self.hasBegun) = (sink, salt, hasBegun)
        reader = try ConsentReader(migration)
    }

    static let raised = FindingRow(
        "migration.consent.raised",
        .error,
        .consent,
        reason: "The target would hold an opt-in that the source does not hold",
        remedy: "Correct the consent values of this person in the source, or the mapping of subscriptions."
    )

    /// Looks at a record that would be written.
    func look(_ record: SourceRecord, _ written: ArraySlice<UInt8>, _ findings: [Finding]) throws -> [Finding] {
        try begin()
        guard let contact = record.contact else { return [] }
        let before = ConsentWords(contact)
        let after = try reader.words(of: written)
        let raised = after.map { before.raised(in: $0) } ?? []
        let key = contact.identifiers.first.map { "\($0.kind.rawValue):\($0.value)" } ?? "record:\(record.number)"
        let name = InputIdentity.text(SHA256.digest(of: Array("\(salt):\(key)".utf8)))
        writer.reset()
        for subject in Set(before.said.keys).union(after?.said.keys ?? [:].keys).sorted() {
            let (old, new) = (before.said[subject], after?.said[subject])
            writer.beginObject()
            writer.member("contact", name)
            writer.member("record", record.number)
            writer.member("about", subject.isSubscription ? "subscription" : "consent")
            writer.member("purpose", subject.purpose.rawValue)
            writer.member("channel", ifPresent: subject.channel?.rawValue)
            writer.member("topic", ifPresent: subject.topic)
            writer.member("before", old?.text ?? "absent")
            writer.member("after", after == nil ? "unread" : new?.text ?? "absent")
            writer.member("changedAt", ifPresent: old?.changedAt)
            writer.member("source", ifPresent: old?.source)
            writer.member("rule", Self.rule(old, new, isRaised: raised.contains(subject), isRead: after != nil))
            let codes = Self.codes(findings)
            if old?.text != new?.text, !codes.isEmpty { writer.member("findings", codes) }
            writer.endObject()
            writer.endLine()
        }
        try sink.write(writer.bytes)
        return raised.isEmpty ? [] : [Self.raised.at("subscriptions", detail: "\(raised.count) of them")]
    }

    /// Why the state after is what it is.
    private static func rule(_ old: ConsentWords.Word?, _ new: ConsentWords.Word?, isRaised: Bool, isRead: Bool)
        -> String
    {
        if isRaised { return "refused" }
        guard isRead else { return "unread" }
        guard let new else { return "notCarried" }
        return new.text == old?.text ? "kept" : "lowered"
    }

    /// What was said of the parts that speak of what a person allows.
    private static func codes(_ findings: [Finding]) -> [String] {
        let parts = ["subscriptions", "consents", "devices"]
        let codes = findings.filter { finding in parts.contains { finding.path.hasPrefix($0) } }.map(\.code)
        return Set(codes).sorted()
    }

    private func begin() throws(FileError) {
        guard !hasBegun else { return }
        hasBegun = true
        let head: JSONValue = ["salt": .string(salt), "digest": "sha256(salt:kind:value)"]
        try sink.write(Array((head.text + "\n").utf8))
    }
}

extension Migration {
    /// What looks at each record, writes down what became of its words about consent, and refuses to raise any.
    func makeWitness(to sink: any ByteSink, salt: String) throws -> Witness {
        let evidence = try ConsentEvidence(self, to: sink, salt: salt)
        return { record, written, findings in try evidence.look(record, written, findings) }
    }
}

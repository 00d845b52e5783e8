import Patchbay
import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// Migrates any record: it reads bytes into a contact and writes the contact to bytes. Only this path reports problems of a
/// record.
struct GeneralPath {
    private var writer: any ContactWriter
    private let catalogue: AttributeCatalogue
    private let mapping: ContactMapping
    /// The effects of the mapping rules so far.
    private(set) var effects: [MappingEffect]
    /// The kinds of identifiers that identify contacts at the target.
    let keyKinds: [IdentifierKind]
    /// The use of the consent decisions.
    private let consent: ConsentUse
    /// The opt-outs that lower opt-ins; nil for a use without any.
    private let optOuts: EarlierOptOuts?
    /// The marks that the caller takes.
    private var marks: [UInt64] = []
    /// The contact that was passed to the writer last; nil if it was not written.
    private(set) var final: Contact?
    /// Whether an unreadable consent value of a rejected record counts as an opt-out.
    private let treatsUnreadableAsOptOut: Bool

    /// Creates a path to a writer.
    ///
    /// - Parameters:
    ///   - writer: The writer.
    ///   - catalogue: The types of attributes.
    ///   - mapping: The changes to every contact.
    ///   - consent: The use of the consent decisions.
    ///   - optOuts: The opt-outs that lower opt-ins; nil for a use without any.
    ///   - treatsUnreadableAsOptOut: Whether an unreadable consent value of a rejected record counts as an opt-out.
    init(
        writer: any ContactWriter,
        catalogue: AttributeCatalogue,
        mapping: ContactMapping = ContactMapping(),
        consent: ConsentUse = .ignored,
        applying optOuts: EarlierOptOuts? = nil,
        treatsUnreadableAsOptOut: Bool = true
    ) {
        self.treatsUnreadableAsOptOut = treatsUnreadableAsOptOut
        (self.writer, self.catalogue, self.mapping) = (writer, catalogue, mapping)
        (self.consent, self.optOuts) = (consent, optOuts)
        effects = mapping.noEffects
        keyKinds = writer.keyKinds
    }

    /// Writes the contact of a record. If a finding is an error, nothing was written.
    mutating func move(_ record: SourceRecord, to bytes: inout [UInt8]) -> [Finding] {
        var findings = record.findings
        final = nil
        readAddressOptOuts(record)
        guard var contact = record.contact else {
            readRefused(record)
            let isExplained = findings.contains { $0.severity == .error }
            if !isExplained { findings.append(Self.unexplained.at()) }
            if record.said.map({ treatsUnreadableAsOptOut ? $0.feared : $0.read })?.optsOut == true {
                findings.append(EarlierOptOuts.rejected.at(findings.first { $0.severity == .error }?.path ?? ""))
            }
            return findings
        }
        if !mapping.isEmpty { findings += mapping.apply(to: &contact, counting: &effects) }
        findings += contact.settleContradictions()
        // Consent decisions count even if the record is not written.
        findings += noteConsent(of: &contact)
        let (coerced, lost) = catalogue.coerce(contact)
        findings += lost
        if findings.contains(where: { $0.severity == .error }) { return findings }
        findings += writer.write(coerced, to: &bytes)
        final = findings.contains { $0.severity == .error } ? nil : coerced
        return findings
    }

    /// Reads the opt-outs of a record that its reader rejects. Its opt-ins do not count.
    private mutating func readRefused(_ record: SourceRecord) {
        guard consent != .ignored,
            var contact = record.said.map({ settled(treatsUnreadableAsOptOut ? $0.feared : $0.read) })
        else { return }
        contact.subscriptions.removeAll { $0.state == .subscribed }
        contact.consents.removeAll { $0.state == .granted }
        _ = noteConsent(of: &contact)
    }

    /// Adds the opt-outs of a record for addresses that are not its contact's own.
    private mutating func readAddressOptOuts(_ record: SourceRecord) {
        guard consent != .ignored else { return }
        for contact in record.addressOptOuts {
            var contact = settled(contact)
            _ = noteConsent(of: &contact)
        }
    }

    /// Uses the decisions of a contact. Returns the findings of opt-ins that were lowered.
    private mutating func noteConsent(of contact: inout Contact) -> [Finding] {
        guard consent != .ignored, let marks = ConsentMarks(contact, knownBy: keyKinds) else { return [] }
        if let optOuts { return optOuts.apply(to: &contact, marks) }
        self.marks +=
            consent == .keys ? marks.decidedKeys(of: contact) : marks.optIns(of: contact) + marks.optOuts(of: contact)
        return []
    }

    /// The contact after the mapping and without contradictions. The effects of the rules are not counted.
    private func settled(_ contact: Contact) -> Contact {
        var (contact, ignored) = (contact, mapping.noEffects)
        if !mapping.isEmpty { _ = mapping.apply(to: &contact, counting: &ignored) }
        _ = contact.settleContradictions()
        return contact
    }

    /// Returns and clears the marks of the records.
    mutating func takeMarks() -> [UInt64] {
        defer { marks = [] }
        return marks
    }

    /// Returns and clears the effects of the mapping rules.
    mutating func takeEffects() -> [MappingEffect] {
        defer { effects = mapping.noEffects }
        return effects
    }

    /// The bytes before the first record.
    var header: [UInt8] { writer.header() }
    /// The bytes after the last record.
    var footer: [UInt8] { writer.footer() }

    static let blankRow = FindingRow(
        .note("migration.row.blank", .missing),
        reason: "The row has no value in any column and is skipped",
        remedy: "Nothing needs to be done."
    )
    static let unexplained = FindingRow(
        .error("migration.record.unread", .adapterFault),
        reason: "The format gave neither a contact nor a reason",
        remedy: "Report it to the author of the format."
    )
}

extension Contact {
    /// Whether the contact has an opt-out or a denied purpose.
    fileprivate var optsOut: Bool {
        subscriptions.contains { $0.state.isOptOut } || consents.contains { $0.state == .denied }
    }
}

extension ContactWriter {
    /// The kinds of identifiers that identify a contact at the target, the usual one first. If the writer names none, these
    /// are all kinds by which a vendor may identify a person.
    var keyKinds: [IdentifierKind] { keyKind.map { [$0] + otherKeyKinds } ?? [.external, .email, .phone] }
}

extension RecordReader {
    /// Reads a record unless it is too long.
    func read(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord {
        bytes.count > NeutralContacts.longestLine
            ? overlong(length: bytes.count, number: number, line: line)
            : record(bytes, number: number, line: line)
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayModel

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
    /// The opt-outs of earlier records, if records are read one by one; nil otherwise.
    private let optOuts: EarlierOptOuts?
    /// The consent decisions of the records as marks, if the caller collects them.
    private var words: [UInt64]?
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
    ///   - optOuts: Receives the opt-outs of every record, and lowers each opt-in after one of them. If it is nil, the
    ///     caller must do so with the marks.
    ///   - keepsMarks: Whether marks are collected for the caller.
    ///   - treatsUnreadableAsOptOut: Whether an unreadable consent value of a rejected record counts as an opt-out.
    init(
        writer: any ContactWriter,
        catalogue: AttributeCatalogue,
        mapping: ContactMapping = ContactMapping(),
        applying optOuts: EarlierOptOuts? = nil,
        keepsMarks: Bool = false,
        treatsUnreadableAsOptOut: Bool = true
    ) {
        self.treatsUnreadableAsOptOut = treatsUnreadableAsOptOut
        (self.writer, self.catalogue, self.mapping, self.optOuts) = (writer, catalogue, mapping, optOuts)
        effects = mapping.noEffects
        keyKinds = writer.keyKinds
        words = keepsMarks ? [] : nil
    }

    /// Writes the contact of a record. If a finding is an error, nothing was written.
    ///
    /// - Throws: ``FileError`` if opt-outs that do not fit into memory cannot be stored; no other error.
    mutating func move(_ record: SourceRecord, to bytes: inout [UInt8]) throws(FileError) -> [Finding] {
        var findings = record.findings
        final = nil
        try readAddressOptOuts(record)
        guard var contact = record.contact else {
            try readRefused(record)
            let isExplained = findings.contains { $0.severity == .error }
            if !isExplained { findings.append(Self.unexplained.at()) }
            if record.said.map({ treatsUnreadableAsOptOut ? $0.feared : $0.read })?.optsOut == true {
                findings.append(EarlierOptOuts.rejected.at(findings.first { $0.severity == .error }?.path ?? ""))
            }
            return findings
        }
        if !mapping.isEmpty { findings += mapping.apply(to: &contact, counting: &effects) }
        findings += contact.settleContradictions()
        let marks = optOuts == nil && words == nil ? nil : ConsentMarks(contact, knownBy: keyKinds)
        // Consent decisions count even if the record is not written.
        if let marks, let optOuts { findings += try optOuts.apply(to: &contact, marks) }
        if let marks, words != nil { words? += marks.optIns(of: contact) + marks.optOuts(of: contact) }
        let (coerced, lost) = catalogue.coerce(contact)
        findings += lost
        if findings.contains(where: { $0.severity == .error }) { return findings }
        findings += writer.write(coerced, to: &bytes)
        final = findings.contains { $0.severity == .error } ? nil : coerced
        return findings
    }

    /// Reads the opt-outs of a record that an earlier run has migrated.
    mutating func read(_ record: SourceRecord) throws(FileError) {
        try readAddressOptOuts(record)
        guard var contact = record.contact.map(settled) else { return try readRefused(record) }
        if let optOuts, let marks = marks(of: contact) { _ = try optOuts.apply(to: &contact, marks) }
    }

    /// Reads the opt-outs of a record that its reader rejects. Its opt-ins do not count.
    private mutating func readRefused(_ record: SourceRecord) throws(FileError) {
        guard optOuts != nil || words != nil,
            var contact = record.said.map({ settled(treatsUnreadableAsOptOut ? $0.feared : $0.read) })
        else { return }
        contact.subscriptions.removeAll { $0.state == .subscribed }
        contact.consents.removeAll { $0.state == .granted }
        try takeOptOuts(of: contact)
    }

    /// Adds the opt-outs of a record for addresses that are not its contact's own.
    private mutating func readAddressOptOuts(_ record: SourceRecord) throws(FileError) {
        guard optOuts != nil || words != nil else { return }
        for contact in record.addressOptOuts { try takeOptOuts(of: settled(contact)) }
    }

    private mutating func takeOptOuts(of contact: Contact) throws(FileError) {
        guard let marks = marks(of: contact) else { return }
        if words != nil { words? += marks.optOuts(of: contact) }
        if let optOuts {
            var contact = contact
            _ = try optOuts.apply(to: &contact, marks)
        }
    }

    private func marks(of contact: Contact) -> ConsentMarks? { ConsentMarks(contact, knownBy: keyKinds) }

    /// The contact after the mapping and without contradictions. The effects of the rules are not counted.
    private func settled(_ contact: Contact) -> Contact {
        var (contact, ignored) = (contact, mapping.noEffects)
        if !mapping.isEmpty { _ = mapping.apply(to: &contact, counting: &ignored) }
        _ = contact.settleContradictions()
        return contact
    }

    /// Returns and clears the marks of the records.
    mutating func takeMarks() -> [UInt64] {
        defer { if words != nil { words = [] } }
        return words ?? []
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
        "migration.row.blank",
        .note,
        .missing,
        reason: "The row has no value in any column and is skipped",
        remedy: "Nothing needs to be done."
    )
    static let unexplained = FindingRow(
        "migration.record.unread",
        .error,
        .adapterFault,
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

import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// The way that every record can go: bytes to a contact, a contact to bytes. It alone says what is wrong with one.
struct GeneralPath {
    private var writer: any ContactWriter
    private let catalogue: AttributeCatalogue
    private let mapping: ContactMapping
    /// What each rule of the mapping did so far.
    private(set) var effects: [MappingEffect]
    /// The kinds of identifiers by which the target knows contacts.
    let keyKinds: [IdentifierKind]
    /// The opt-outs of earlier records, if records come one by one.
    private let optOuts: EarlierOptOuts?
    /// What the records say of consent, as marks, if they are kept for the caller.
    private var words: [UInt64]?
    /// The contact that was handed to the writer last; nil if it was not written.
    private(set) var final: Contact?
    /// Whether a word about consent that can't be read, in a record that its reader refuses, counts as an opt-out.
    private let treatsUnreadableAsOptOut: Bool

    /// A path to a writer. `optOuts` receives the opt-outs of every record, and each opt-in behind one is lowered; nil leaves that to the
    /// caller, who takes the marks if they are kept. `treatsUnreadableAsOptOut` is for consent that cannot be read, in a record that is
    /// refused.
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

    /// Appends the record's contact; with an error among the findings nothing was appended.
    ///
    /// - Throws: ``FileError`` if more opt-outs are to be kept than fit into memory, and nothing else.
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
        // Words count, even of a record that is not written.
        if let marks, let optOuts { findings += try optOuts.apply(to: &contact, marks) }
        if let marks, words != nil { words? += marks.optIns(of: contact) + marks.optOuts(of: contact) }
        let (coerced, lost) = catalogue.coerce(contact)
        findings += lost
        if findings.contains(where: { $0.severity == .error }) { return findings }
        findings += writer.write(coerced, to: &bytes)
        final = findings.contains { $0.severity == .error } ? nil : coerced
        return findings
    }

    /// Reads the opt-outs of a record that an earlier run has moved.
    mutating func read(_ record: SourceRecord) throws(FileError) {
        try readAddressOptOuts(record)
        guard var contact = record.contact.map(settled) else { return try readRefused(record) }
        if let optOuts, let marks = marks(of: contact) { _ = try optOuts.apply(to: &contact, marks) }
    }

    /// Reads the opt-outs of a record that its reader refuses; its opt-ins do not count.
    private mutating func readRefused(_ record: SourceRecord) throws(FileError) {
        guard optOuts != nil || words != nil,
            var contact = record.said.map({ settled(treatsUnreadableAsOptOut ? $0.feared : $0.read) })
        else { return }
        contact.subscriptions.removeAll { $0.state == .subscribed }
        contact.consents.removeAll { $0.state == .granted }
        try takeOptOuts(of: contact)
    }

    /// Notes the opt-outs of a record for addresses other than its contact's own.
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

    /// A contact as the mapping makes it, without contradictions; what that did is not counted.
    private func settled(_ contact: Contact) -> Contact {
        var (contact, ignored) = (contact, mapping.noEffects)
        if !mapping.isEmpty { _ = mapping.apply(to: &contact, counting: &ignored) }
        _ = contact.settleContradictions()
        return contact
    }

    /// What the records said of consent since this was asked last.
    mutating func takeMarks() -> [UInt64] {
        defer { if words != nil { words = [] } }
        return words ?? []
    }

    /// What each rule of the mapping did since this was asked last.
    mutating func takeEffects() -> [MappingEffect] {
        defer { effects = mapping.noEffects }
        return effects
    }

    /// What stands before the first record.
    var header: [UInt8] { writer.header() }
    /// What stands after the last record.
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
    /// Whether it opts out of anything or denies a purpose.
    fileprivate var optsOut: Bool {
        subscriptions.contains { $0.state.isOptOut } || consents.contains { $0.state == .denied }
    }
}

extension ContactWriter {
    /// The kinds of identifiers by which the target knows a contact, the usual one first. Where it names none, whoever reads it
    /// next may know people by any that a vendor does.
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

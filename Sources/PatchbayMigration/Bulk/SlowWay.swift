import Patchbay
import PatchbayAdapterKit
import PatchbayModel

/// The way that every record can go: bytes to a contact, a contact to bytes. It alone says what is wrong with one.
struct SlowWay {
    private var writer: any ContactWriter
    private let catalogue: AttributeCatalogue
    private let mapping: ContactMapping
    /// What each rule of the mapping did so far.
    private(set) var effects: [MappingEffect]

    init(writer: any ContactWriter, catalogue: AttributeCatalogue, mapping: ContactMapping = ContactMapping()) {
        (self.writer, self.catalogue, self.mapping) = (writer, catalogue, mapping)
        effects = mapping.noEffects
    }

    /// Appends the record's contact; with an error among the findings nothing was appended.
    mutating func move(_ record: SourceRecord, to bytes: inout [UInt8]) -> [Finding] {
        var findings = record.findings
        guard var contact = record.contact else {
            let isExplained = findings.contains { $0.severity == .error }
            return isExplained ? findings : findings + [Self.unexplained.at()]
        }
        if !mapping.isEmpty { findings += mapping.apply(to: &contact, counting: &effects) }
        findings += contact.settleContradictions()
        let (coerced, lost) = catalogue.coerce(contact)
        findings += lost
        if findings.contains(where: { $0.severity == .error }) { return findings }
        return findings + writer.write(coerced, to: &bytes)
    }

    /// What stands before the first record.
    var header: [UInt8] { writer.header() }
    /// What stands after the last record.
    var footer: [UInt8] { writer.footer() }

    private static let unexplained = FindingRow(
        "migration.record.unread",
        .error,
        .adapterFault,
        reason: "The format gave neither a contact nor a reason",
        remedy: "Report it to the author of the format."
    )
}

extension RecordReader {
    /// Reads a record unless it is too long.
    func read(_ bytes: [UInt8], number: Int, line: Int) -> SourceRecord {
        bytes.count > NeutralContacts.longestLine
            ? overlong(length: bytes.count, number: number, line: line)
            : record(bytes, number: number, line: line)
    }
}

public import PatchbayAdapterKit
public import PatchbayModel

/// The contact file formats of one vendor, which a program that migrates contacts registers.
public struct VendorFiles: Sendable {
    /// The vendor's id, which equals the id of its device API.
    public let id: AdapterID
    /// The export and import file formats.
    public let formats: [RecordFormat]
    /// The bulk import routes that the vendor documents.
    public let loads: [ImportRoute]
    /// The vendor's rules for its files.
    public let rules: [Rule]
    /// All findings that readers and writers of the formats may report.
    public let findings: [FindingRow]

    /// Creates a list of a vendor's formats.
    public init(
        id: AdapterID,
        formats: [RecordFormat],
        loads: [ImportRoute] = [],
        rules: [Rule],
        findings: [FindingRow]
    ) {
        (self.id, self.formats, self.loads) = (id, formats, loads)
        (self.rules, self.findings) = (rules, findings)
    }
}

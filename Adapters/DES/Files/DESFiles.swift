import PatchbayAdapterKit
import PatchbayModel
public import PatchbayRecords

extension VendorFiles {
    /// The contact files of SAP Emarsys.
    public static let des = VendorFiles(
        id: "des",
        formats: [.desContacts],
        loads: ImportRoute.des,
        rules: Rule.desFiles,
        findings: ContactFileFindings.des.all
    )
}

extension ImportRoute {
    /// The import APIs of the platform, which this package does not call.
    static let des = [
        ImportRoute("import of a contact file", bytes: 64_000_000, note: "a file has at most 64 MB")
    ]
}

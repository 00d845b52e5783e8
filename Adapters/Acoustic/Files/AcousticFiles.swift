import PatchbayAdapterKit
import PatchbayModel
public import PatchbayRecords

extension VendorFiles {
    /// The contact files of Acoustic Campaign.
    public static let acoustic = VendorFiles(
        id: "acoustic",
        formats: [.acousticContacts],
        loads: ImportRoute.acoustic,
        rules: Rule.acousticFiles,
        findings: FindingRow.acousticFiles
    )
}

extension ImportRoute {
    /// The vendor's import routes for a back end, and for files that people upload.
    static let acoustic = [
        ImportRoute(
            "ImportList",
            note: "one job for a file of any size; at most 10 calls at once, no rate is documented"
        ),
        ImportRoute(
            "AddRecipient",
            contacts: 1,
            note: "a call for each contact; at most 10 at once, no rate is documented"
        ),
    ]
}

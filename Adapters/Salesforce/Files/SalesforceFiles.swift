import PatchbayAdapterKit
import PatchbayModel
public import PatchbayRecords

extension VendorFiles {
    /// The contact files of Salesforce Marketing Cloud Engagement.
    public static let salesforce = VendorFiles(
        id: "salesforce",
        formats: [.salesforceContacts, .salesforceMobile],
        loads: ImportRoute.salesforce,
        rules: Rule.salesforceFiles,
        findings: FindingRow.salesforceFiles
    )
}

extension ImportRoute {
    /// The vendor's import routes for a back end, and for files that people upload.
    static let salesforce = [
        ImportRoute(
            "rows of a data extension",
            of: RecordFormat.salesforceContacts.id,
            contacts: 50,
            note:
                "50 rows at once are recommended; REST calls have a yearly quota (2 to 200 million), no rate is documented"
        ),
        ImportRoute("import of a contact file", bytes: 20_000_000, note: "a file has at most 20 MB"),
    ]
}

import PatchbayAdapterKit
import PatchbayModel
public import PatchbayRecords

extension VendorFiles {
    /// The contact files of Adobe Campaign.
    public static let adobe = VendorFiles(
        id: "adobe",
        formats: [.adobeProfiles],
        loads: ImportRoute.adobe,
        rules: Rule.adobeFiles,
        findings: ContactFileFindings.adobe.all + [ContactFileFindings.adobe.otherKey]
    )
}

extension ImportRoute {
    /// The vendor's import for back ends, through the server API.
    static let adobe = [
        ImportRoute(
            "profile REST",
            contacts: 1,
            note: "a call for each profile; the rate stands in the licence agreement"
        )
    ]
}

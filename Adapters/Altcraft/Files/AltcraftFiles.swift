import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayAltcraftServer
import PatchbayModel
public import PatchbayRecords

extension VendorFiles {
    /// The contact files of Altcraft.
    public static let altcraft = VendorFiles(
        id: "altcraft",
        formats: [.altcraftProfiles],
        loads: ImportRoute.altcraft,
        rules: Rule.altcraftImports + Rule.altcraft.filter { shared.contains($0.id) },
        findings: FindingRow.altcraftRecords + [.attributeForm]
    )

    /// The rules of the device API that files share.
    private static let shared: [RuleID] = ["E3", "F11", "F12", "F14", "F19", "F20", "T7"].map(RuleID.altcraft)
}

extension ImportRoute {
    /// The vendor's server interface: a line of a file is the body of one call, and the server API sends many at once.
    static let altcraft = [
        ImportRoute("profiles/import", contacts: 1, note: "one request per line; the vendor documents no rate"),
        ImportRoute(
            "profiles/import_batch",
            contacts: 10_000,
            bytes: 10_000_000,
            note:
                "at most 10,000 profiles per request are recommended, and a body is usually limited to 10 MB; "
                + "the vendor documents no rate"
        ),
    ]
}

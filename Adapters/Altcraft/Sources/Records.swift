public import PatchbayAdapterKit

extension RecordFormat {
    /// Profiles to import, one request of the server interface a line.
    public static let altcraftProfiles = RecordFormat(
        id: "altcraft.profiles",
        title: "Altcraft profiles",
        fileExtension: "ndjson"
    )
}

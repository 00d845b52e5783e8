import PatchbayAdapterKit

extension LoadDoor {
    /// The vendor's server interface, as the server door speaks it.
    static let altcraft = [
        LoadDoor(
            "profiles/import",
            contacts: 10_000,
            bytes: 10_000_000,
            note: "10,000 profiles at once are recommended, 10 MB is the usual limit of a body; no rate is documented"
        )
    ]
}

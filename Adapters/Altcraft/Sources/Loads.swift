import PatchbayAdapterKit

extension LoadDoor {
    /// The vendor's server interface: a line of a file is the body of one call, and the server door sends many at once.
    static let altcraft = [
        LoadDoor("profiles/import", contacts: 1, note: "one request per line; the vendor documents no rate"),
        LoadDoor(
            "profiles/import_batch",
            contacts: 10_000,
            bytes: 10_000_000,
            note:
                "10,000 profiles at once at most are recommended, 10 MB is the usual limit of a body; no rate is documented"
        ),
    ]
}

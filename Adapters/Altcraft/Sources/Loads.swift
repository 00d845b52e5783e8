import PatchbayAdapterKit

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

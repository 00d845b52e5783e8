import PatchbayAdapterKit

extension ImportRoute {
    /// The import APIs of the platform, which this package does not call.
    static let des = [
        ImportRoute("import of a contact file", bytes: 64_000_000, note: "a file has at most 64 MB")
    ]
}

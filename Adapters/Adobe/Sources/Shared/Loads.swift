import PatchbayAdapterKit

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

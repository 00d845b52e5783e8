import PatchbayAdapterKit

extension ImportRoute {
    /// The vendor's way in for a back end, as the server API speaks it.
    static let adobe = [
        ImportRoute(
            "profile REST",
            contacts: 1,
            note: "a call for each profile; the rate stands in the licence agreement"
        )
    ]
}

import PatchbayAdapterKit

extension LoadDoor {
    /// The vendor's ways in for a back end, where people carry the file.
    static let acoustic = [
        LoadDoor("ImportList", note: "one job for a file of any size; at most 10 calls at once, no rate is documented"),
        LoadDoor(
            "AddRecipient",
            contacts: 1,
            note: "a call for each contact; at most 10 at once, no rate is documented"
        ),
    ]
}

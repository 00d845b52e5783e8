package import PatchbayAdapterKit
import PatchbayAltcraft

extension Rule {
    private static let data = "Altcraft docs: developer-guide/objects/Profile-data-object_3116008"
    private static let request = "Altcraft docs: user-guide/api/api-import; developer-guide/37848489 (matching)"
    private static let subscription = "Altcraft docs: display/UAD/Add+or+edit+subscription"
    private static let house = "decision of this adapter; the vendor says nothing"

    /// The rules of import records, in files and in the server API.
    package static let altcraftImports: [Rule] = [
        ("X1", "An import record holds database, matching, the matching value and a data object.", request),
        ("X2", "The data object holds system fields, own fields and subscriptions.", data),
        ("X3", "A subscription of an import record names channel, resource and address.", data),
        (
            "X4",
            "A status is read as a word or as a number from 0 to 6, and written as a word; an unknown state is not "
                + "written.",
            subscription
        ),
        (
            "X5",
            "A person's no is never raised: a denied channel is written as unsubscribed, and a contact whose no has no "
                + "resource is not written. An opt-out of a whole channel is also written for each topic in resources that the "
                + "contact does not mention, because an earlier line may have subscribed it.",
            house
        ),
        ("X6", "Plain values of a subscription stand under custom_fields, as in a custom event.", house),
        (
            "X7",
            "A profile is read by the same table: numbers and booleans as they are, texts by a type.",
            data
        ),
        ("X8", "A line is one JSON object: an import's body, or the profile data object alone.", data),
        (
            "X9",
            "Of several entries for one channel and topic the one that allows least counts; a push token's own entry says "
                + "whether its device may get pushes; a deleted entry is no yes; a profile whose subscriptions can't be "
                + "read is none. An opt-in counts for the address in its entry only, and an opt-out for every contact "
                + "with that address.",
            house
        ),
    ].map { Rule(.altcraft($0.0), $0.1, source: $0.2) }
}

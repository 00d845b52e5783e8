import PatchbayAdapterKit
import PatchbaySalesforce

extension Rule {
    private static let extract = "Public devtools' fixtures for the data extension extract (secondary)"
    private static let loader = "Public data loader for data extensions (secondary)"

    /// The rules of contact files, and the rule of the contact key, which they share with the device API.
    static let salesforceFiles: [Rule] = own + SalesforceRules.all.filter { $0.id == .salesforce("K1") }

    private static let own: [Rule] = [
        ("F1", "Exports are comma, tab or bar separated text in UTF-8, with or without a byte-order mark.", extract),
        ("F2", "Fields may be quoted, doubled quotes stand for one, and lines end with CR LF or LF.", loader),
        ("F3", "A header is needed; columns are found by name.", loader),
        ("F4", "Empty, mark-only and header-only files are refused.", loader),
        ("F5", "A row has as many fields as the header.", loader),
        ("F6", "Every value is text; a setting gives columns types.", "Salesforce Help, CSV output (confirmed)"),
        (
            "F7", "Dates are yyyy/M/d, M/d/yyyy with a 12-hour clock, yyyy-MM-dd HH:mm:ss or ISO 8601.",
            "Salesforce Help, contact status; public devtools (inferred)"
        ),
        (
            "F8", "E-mail addresses have at most 254 characters; phone numbers are digits.",
            "Field types of data extensions (secondary)"
        ),
        (
            "F9",
            "Of opt-in and opt-out date the newer wins, a blank one loses, both blank is unknown, equal is opted out; a status "
                + "of unsubscribed and an opt-out status of 1 are opt-outs; Active, Inactive, Held, Bounced and Deleted are no opt-in.",
            "Salesforce Help, contact status, import file guidelines (confirmed); equal and both blank (inferred)"
        ),
        ("F10", "Push columns make one device.", "Columns of the push address view in public material (secondary)"),
        (
            "F11", "What is written stands in columns whose names are equal to the target's; every field is quoted.",
            "Salesforce Help, import activity (confirmed); public data loader for data extensions (secondary)"
        ),
        (
            "F12",
            "Headers of the mobile import begin with an underscore; key, number and locale are needed.",
            "Salesforce Help, import file guidelines (confirmed)"
        ),
        (
            "F13", "Mobile numbers and contact keys of the mobile import hold no plus, minus or bracket.",
            "Salesforce Help, import file guidelines (confirmed)"
        ),
        (
            "F14", "`_Status` says Unsubscribe; another no needs a column of its own, or the contact is not written.",
            "Salesforce Help, import file guidelines (confirmed); the refusal is ours (inferred)"
        ),
        (
            "F15",
            "Files of JSON rows hold a list of objects, or an object with that list as `items`; the import takes none.",
            loader
        ),
    ].map { Rule(.salesforce($0.0), $0.1, source: $0.2) }
}

import PatchbayAdapterKit
package import PatchbayModel

/// The profile's opt-out flags, which files and the server API read and write alike.
package enum ProfileFlags: Sendable {
    /// A flag for each channel, and its other names in files: the later spelling, and the labels of exports.
    package static let channels: [(channel: Channel, field: String, spellings: [String])] = [
        (.email, "blackListEmail", spellings("Email", ["email"])),
        (.sms, "blackListMobile", spellings("Mobile", ["SMS", "SMS/MMS", "mobile"])),
        (
            .push, "blackListPushnotification",
            spellings("Pushnotification", ["push notification", "push notifications"])
        ),
        ("phone", "blackListPhone", spellings("Phone", ["phone"])),
        ("fax", "blackListFax", spellings("Fax", ["fax"])),
        ("postal_mail", "blackListPostalMail", spellings("PostalMail", ["direct mail", "postal mail"])),
    ]
    /// The flag for every channel.
    package static let all = "blackList"
    /// Its other names in files.
    package static let spellingsOfAll =
        [
            "denyList", "blockList", "No longer contact", "No longer contact (by any channel)",
            "No longer contact by any channel",
        ]
    /// The flag that forbids to sell the person's data, or to share it for money.
    package static let sale = "ccpaOptOut"

    private static func spellings(_ name: String, _ labels: [String]) -> [String] {
        ["denyList\(name)", "blockList\(name)"] + labels.map { "No longer contact by \($0)" }
    }
}

/// The consent value of a flag that is not set.
package enum NotOptedOut: String, NeutralWord {
    case subscribed, unknown

    package var state: Subscription.State { self == .subscribed ? .subscribed : .unknown }
}

extension Purpose {
    /// The sale of a person's data to others. Only this vendor's profile has a flag for it.
    package static let sale: Purpose = "sale"
}

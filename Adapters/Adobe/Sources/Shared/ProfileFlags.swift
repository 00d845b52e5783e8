import PatchbayAdapterKit
import PatchbayModel

/// The profile's flags that say: do not contact. Files and the server API read and write the same.
enum ProfileFlags: Sendable {
    /// A flag for each channel.
    static let channels: [(channel: Channel, field: String)] = [
        (.email, "blackListEmail"), (.sms, "blackListMobile"), (.push, "blackListPushnotification"),
        ("phone", "blackListPhone"), ("fax", "blackListFax"), ("postal_mail", "blackListPostalMail"),
    ]
    /// The flag for every channel.
    static let all = "blackList"
    /// The flag that forbids to sell the person's data, or to share it for money.
    static let sale = "ccpaOptOut"
}

/// What a flag means that does not refuse messages.
enum NotOptedOut: String, NeutralWord {
    case subscribed, unknown

    var state: Subscription.State { self == .subscribed ? .subscribed : .unknown }
}

extension Purpose {
    /// Handing a person's data to others for money, which nobody but this vendor's profile has a flag for.
    static let sale: Purpose = "sale"
}

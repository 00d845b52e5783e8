import PatchbayJSON
import PatchbayModel
import PatchbayTesting

/// The account that all tests use.
enum Fixture {
    /// The database: a column for each attribute of the corpus, and columns that no device may write.
    static let columns: JSONObject = [
        "FirstName": ["type": "text"], "LastName": ["type": "text"], "Birthday": ["type": "date"],
        "HomeCountry": ["type": "country"], "City": ["type": "text"],
        "LoyaltyTier": ["type": "selection", "values": ["bronze", "silver", "gold"]],
        "FavouriteColour": ["type": "text"], "Visits": ["type": "numeric"], "LifetimeValue": ["type": "numeric"],
        "NewsletterReader": ["type": "yesNo"], "FirstPurchase": ["type": "date"], "DeliveryHour": ["type": "time"],
        "LastVisit": ["type": "timestamp"], "ShippingCountry": ["type": "country"],
        "Interests": ["type": "multiSelection", "values": ["gardening", "sailing", "reading"]],
        "Mobile": ["type": "smsPhoneNumber"], "Landline": ["type": "phoneNumber"],
        "Tags": [
            "type": "multiSelection",
            "values": ["sports", "beta_tester", "sailing", "music", "gold", "silver", "vip"],
        ],
        "IsVIP": ["type": "yesNo"],
        "MemberNo": ["type": "text", "lookupKey": true], "Points": ["type": "numeric", "owner": "server"],
        "EMAIL": ["type": "email"], "Segment": ["type": "segmenting"], "CreatedFrom": ["type": "system"],
        "SmsOptIn": ["type": "smsOptIn"], "SmsOptOut": ["type": "smsOptOutDate"], "SyncId": ["type": "syncId"],
    ]

    /// The columns by the corpus's attribute names.
    static let names: JSONObject = [
        "given_name": "FirstName", "family_name": "LastName", "birth_date": "Birthday", "country": "HomeCountry",
        "city": "City", "loyalty_tier": "LoyaltyTier", "favourite_colour": "FavouriteColour", "visits": "Visits",
        "lifetime_value": "LifetimeValue", "newsletter_reader": "NewsletterReader",
        "first_purchase": "FirstPurchase", "delivery_hour": "DeliveryHour", "last_visit": "LastVisit",
        "shipping_country": "ShippingCountry", "interests": "Interests",
    ]

    /// Returns a configuration's settings with changed or additional members.
    static func settings(_ more: JSONObject = [:]) -> JSONObject {
        var settings: JSONObject = [
            "baseUrl": "https://mobile-sdk-lib-eu-1.brilliantcollector.com/3.0", "appKey": "gcb4hVDsXq",
            "columns": .object(columns), "attributeNames": .object(names),
        ]
        for member in more { settings[member.name] = member.value }
        return settings
    }

    /// The payload of a push message from this vendor.
    static let push: JSONObject = [
        "aps": ["alert": "Spring sale"], "mce": ["attribution": "SpringPromo", "mailingId": "990017"],
    ]

    /// A device whose ids the app passes.
    static var adopted: Device {
        var device = Corpus.phone
        device.identities = ["acoustic.userId": "user-from-sdk", "acoustic.channelId": "channel-from-sdk"]
        return device
    }
}

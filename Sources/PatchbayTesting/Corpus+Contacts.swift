public import PatchbayModel

extension Corpus {
    /// Contacts for record formats, each for one feature. The names are the same for every vendor.
    public static let contacts: [(name: String, contact: Contact)] = [
        ("minimal", Contact(identifiers: [Identifier(.external, "c-2001")])),
        (
            "full",
            Contact(
                identifiers: aino,
                attributes: [
                    .givenName: "Aino", .familyName: "Virtanen", .birthDate: value("1990-04-01", .date),
                    .country: value("FI", .country), .city: "Helsinki", .loyaltyTier: "gold",
                    "favourite_colour": "blue", "visits": 42, "lifetime_value": value("1249.90", .decimal),
                    "newsletter_reader": true, "first_purchase": value("2028-02-29", .date),
                    "delivery_hour": value("08:30", .time),
                    "last_visit": value("2031-03-08T22:15:00.250Z", .timestamp),
                    "interests": .choices(["gardening", "sailing"]),
                ],
                tags: ["sports", "beta_tester"],
                subscriptions: [
                    Subscription(
                        channel: .email,
                        topic: "weekly_offers",
                        state: .subscribed,
                        changedAt: Timestamp(start),
                        source: "checkout",
                        evidence: "form-2031-03"
                    ),
                    Subscription(channel: .sms, state: .unsubscribed),
                ],
                consents: [Consent(purpose: .messaging, channel: .email, state: .granted, changedAt: Timestamp(start))],
                devices: [phone],
                locale: "fi_FI",
                timeZone: "Europe/Helsinki"
            )
        ),
        ("email-only", Contact(identifiers: [Identifier(.email, "jose.muller@example.com")], locale: "es_ES")),
        ("phone-only", Contact(identifiers: [Identifier(.phone, "+34600111222")])),
        ("own-identifier", Contact(identifiers: [Identifier("loyalty_card", "6004-7781-20")])),
        (
            "accents",
            Contact(
                identifiers: [Identifier(.external, "c-2002")],
                attributes: [.givenName: "Zoë", .familyName: "Müller-Łukasiewicz", .city: "São Paulo"]
            )
        ),
        (
            "right-to-left",
            Contact(identifiers: [Identifier(.external, "c-2003")], attributes: [.givenName: "נועה", .city: "תל אביב"])
        ),
        (
            "separators",
            Contact(
                identifiers: [Identifier(.external, "c-2004")],
                attributes: [
                    .city: "a;b,c|d\"e\"", "favourite_colour": "line one\r\nline two\ttab", .loyaltyTier: " padded ",
                    "interests": .choices(["a b", "c,d"]),
                ]
            )
        ),
        (
            "looks-like-a-formula",
            Contact(
                identifiers: [Identifier(.external, "c-2005")],
                attributes: [.city: "=1+2", .givenName: "NULL", .familyName: "0123", .loyaltyTier: "true"]
            )
        ),
        (
            "empty-values",
            Contact(identifiers: [Identifier(.external, "c-2006")], attributes: [.city: "", "interests": .choices([])])
        ),
        (
            "says-no",
            Contact(
                identifiers: [Identifier(.external, "c-2007"), Identifier(.email, "ines@example.com")],
                subscriptions: [Subscription(channel: .email, state: .unsubscribed, changedAt: Timestamp(start))],
                consents: [
                    Consent(purpose: .messaging, state: .denied), Consent(purpose: .tracking, state: .denied),
                ]
            )
        ),
        (
            "emoji-and-extremes",
            Contact(
                identifiers: [Identifier(.external, "c-2008")],
                attributes: [
                    .givenName: "👩🏽‍🚀", "visits": .integer(.min), "lifetime_value": value("-0.00000001", .decimal),
                    .birthDate: value("0001-01-01", .date),
                    "last_visit": value("9999-12-31T23:59:59.999999999Z", .timestamp),
                ]
            )
        ),
    ]
}

/// Returns the value of a text of this file. The corpus's own test reports a text that does not fit its type.
private func value(_ text: String, _ type: AttributeType) -> AttributeValue {
    AttributeValue(text: text, as: type) ?? .string(text)
}

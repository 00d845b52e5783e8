import PatchbayModel

extension Corpus {
    /// All samples.
    public var samples: [Sample] {
        deviceSamples + contactSamples + attributeSamples + hostileSamples + tagSamples + permissionSamples
            + pushSamples + eventSamples + lifeSamples + changingDeviceSamples + changingPeopleSamples
            + changingMindSamples + momentSamples
    }

    /// Returns a sample with one operation.
    func one(
        _ number: Int,
        _ name: String,
        _ summary: String,
        startsAfresh: Bool = false,
        isOrdinary: Bool = true,
        contact: String? = Corpus.customerNumber,
        appState: AppState? = .active,
        _ action: Action
    ) -> Sample {
        Sample(
            name,
            summary,
            startsAfresh: startsAfresh,
            isOrdinary: isOrdinary,
            [operation(number, 0, contact: contact, appState: appState, action)]
        )
    }

    private func attribute(_ number: Int, _ type: AttributeType, _ name: AttributeName, _ value: AttributeValue)
        -> Sample
    {
        one(
            number,
            "attribute-\(type.rawValue)",
            "An attribute of type \(type.rawValue) is set.",
            .changeAttributes([name: .set(value)])
        )
    }

    private var deviceSamples: [Sample] {
        var silent = Corpus.phone
        silent.pushToken = nil
        silent.allowsPush = false
        var adopted = Corpus.phone
        adopted.identities = ["formervendor.deviceID": "a1b2c3d4-0000-4000-8000-00000000d001"]
        var travelling = Corpus.phone
        travelling.facts?.timeZone = "Asia/Kathmandu"
        travelling.facts?.utcOffsetSeconds = 20_700
        travelling.facts?.appVersion = "8.5.0"
        let facts = travelling
        return [
            one(
                10,
                "register-first",
                "The first registration of a fresh installation.",
                startsAfresh: true,
                contact: nil,
                .registerDevice(Corpus.phone)
            ),
            one(
                11,
                "register-without-push",
                "The person refused notifications, so there is no token.",
                startsAfresh: true,
                contact: nil,
                .registerDevice(silent)
            ),
            one(
                12,
                "register-adopted",
                "The identity of another SDK is adopted; no provider here uses it.",
                startsAfresh: true,
                contact: nil,
                .registerDevice(adopted)
            ),
            one(13, "register-changed", "The app was updated and the person travelled.", .registerDevice(facts)),
        ]
    }

    private var contactSamples: [Sample] {
        [
            one(20, "identify-external", "A customer number becomes known.", .identify([Corpus.aino[0]])),
            one(21, "identify-email", "An e-mail address becomes known.", .identify([Corpus.aino[1]])),
            one(22, "identify-phone", "A phone number becomes known.", .identify([Corpus.aino[2]])),
            one(
                23,
                "identify-loyalty-card",
                "An identifier of the shop's own kind becomes known.",
                .identify([Identifier("loyalty_card", "6004-7781-20")])
            ),
            Sample(
                "log-in",
                "José logs in on a fresh installation.",
                startsAfresh: true,
                [
                    operation(24, 0, contact: nil, .registerDevice(Corpus.phone)),
                    operation(24, 1, contact: "c-1002", .switchContact(Corpus.joseLogsIn)),
                ]
            ),
            one(25, "log-in-other", "José logs in after Aino.", contact: "c-1002", .switchContact(Corpus.joseLogsIn)),
            one(
                26,
                "log-in-again",
                "Aino logs in twice.",
                .switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))
            ),
            one(
                27,
                "log-out",
                "Aino logs out.",
                contact: nil,
                .switchContact(ContactSwitch(.logOut))
            ),
        ]
    }

    /// The log-in of José.
    static let joseLogsIn = ContactSwitch(
        .logIn,
        identifiers: [Identifier(.external, "c-1002"), Identifier(.email, "jose.muller@example.com")]
    )

    private var attributeSamples: [Sample] {
        [
            attribute(30, .string, "favourite_colour", "blue"),
            attribute(31, .integer, "visits", 42),
            attribute(32, .decimal, "lifetime_value", Corpus.typed("1249.90", .decimal)),
            attribute(33, .boolean, "newsletter_reader", true),
            attribute(34, .date, "first_purchase", Corpus.typed("2028-02-29", .date)),
            attribute(35, .time, "delivery_hour", Corpus.typed("08:30", .time)),
            attribute(36, .timestamp, "last_visit", Corpus.typed("2031-03-08T22:15:00.250Z", .timestamp)),
            attribute(37, .country, "shipping_country", Corpus.typed("FI", .country)),
            attribute(38, .choices, "interests", .choices(["gardening", "sailing"])),
            attribute(39, .list, "recent_orders", .list(["A-1007", "A-1013"])),
            attribute(40, .object, "address", .object(["street": "Aleksanterinkatu 52", "postal_code": "00100"])),
            one(
                41,
                "attributes-profile",
                "Several attributes of a person at once.",
                .changeAttributes([
                    .givenName: .set("Aino"), .familyName: .set("Virtanen"),
                    .birthDate: .set(Corpus.typed("1990-04-01", .date)),
                    .country: .set(Corpus.typed("FI", .country)), .city: .set("Helsinki"), .loyaltyTier: .set("gold"),
                ])
            ),
            one(
                42,
                "attribute-unset",
                "An attribute loses its value.",
                .changeAttributes(["favourite_colour": .unset])
            ),
            one(
                43,
                "attribute-empty",
                "An attribute becomes empty, which is not unset.",
                isOrdinary: false,
                .changeAttributes(["favourite_colour": .set("")])
            ),
            one(
                44,
                "attribute-increment",
                "A number grows at the vendor.",
                .changeAttributes(["visits": .increment(ExactDecimal(1))])
            ),
            one(
                45,
                "attribute-append",
                "A list grows at the vendor.",
                .changeAttributes(["recent_orders": .append(["A-1020"])])
            ),
            one(
                46,
                "attribute-remove",
                "A list shrinks at the vendor.",
                .changeAttributes(["recent_orders": .remove(["A-1007"])])
            ),
            Sample(
                "attribute-twice",
                "A value is set, and set back before anything left.",
                [
                    operation(47, 0, .changeAttributes(["favourite_colour": .set("green")])),
                    operation(47, 1, .changeAttributes(["favourite_colour": .set("blue")])),
                ]
            ),
            one(
                48,
                "attribute-whole-range",
                "The largest and the most exact numbers.",
                isOrdinary: false,
                .changeAttributes([
                    "visits": .set(.integer(.max)),
                    "lifetime_value": .set(Corpus.typed("-0.000000000000000000001", .decimal)),
                ])
            ),
        ]
    }

    private var hostileSamples: [Sample] {
        Corpus.hostileTexts.enumerated().map { position, hostile in
            one(
                60 + position,
                "hostile-\(hostile.name.replacing("_", with: "-"))",
                "An attribute holds a text that breaks careless encoders.",
                isOrdinary: false,
                .changeAttributes(["favourite_colour": .set(.string(hostile.text))])
            )
        } + [
            one(
                70,
                "hostile-long",
                "A text of 10,000 characters.",
                isOrdinary: false,
                .changeAttributes(["favourite_colour": .set(.string(Corpus.longText))])
            ),
            one(
                71,
                "hostile-names",
                "Attribute names that look reserved, or are hard to write.",
                isOrdinary: false,
                .changeAttributes([
                    "id": .set("1"), "status": .set("active"), "_private": .set("x"), "with space": .set("x"),
                    "emoji-😀": .set("x"), "a.b[0]": .set("x"), "__proto__": .set("x"),
                ])
            ),
            one(
                72,
                "hostile-event",
                "An event whose name and attributes are hard to write.",
                isOrdinary: false,
                .track(.custom(name: "\"Ordered\" ]]> 😀", attributes: ["note": .string(Corpus.hostileTexts[1].text)]))
            ),
        ]
    }

    private var tagSamples: [Sample] {
        [
            one(80, "tags-add", "Two tags are added.", .changeTags(TagChange(add: ["sports", "beta_tester"]))),
            one(81, "tags-remove", "A tag is removed.", .changeTags(TagChange(remove: ["sports"]))),
            one(82, "tags-replace", "All tags are replaced.", .changeTags(TagChange(replace: ["sailing", "music"]))),
            one(
                83,
                "tags-swap",
                "One tag is added while another is removed.",
                .changeTags(TagChange(add: ["gold"], remove: ["silver"]))
            ),
            one(84, "tags-clear", "No tag is left.", .changeTags(TagChange(replace: []))),
        ]
    }

    private var permissionSamples: [Sample] {
        let asked = Timestamp(Corpus.start)
        return [
            one(
                90,
                "subscription-email",
                "Aino subscribes to a topic by e-mail, with evidence.",
                .changeSubscription(
                    Subscription(
                        channel: .email,
                        topic: "weekly_offers",
                        state: .subscribed,
                        changedAt: asked,
                        source: "checkout",
                        evidence: "form-2031-03",
                        fields: ["frequency": "weekly"]
                    )
                )
            ),
            one(
                91,
                "subscription-sms",
                "Aino leaves text messages.",
                .changeSubscription(Subscription(channel: .sms, state: .unsubscribed, changedAt: asked))
            ),
            one(
                92,
                "subscription-push",
                "Aino wants no notifications.",
                .changeSubscription(Subscription(channel: .push, state: .unsubscribed))
            ),
            one(
                97,
                "subscription-push-topic",
                "Aino wants a rest from one topic's notifications.",
                isOrdinary: false,
                .changeSubscription(Subscription(channel: .push, topic: "weekly_offers", state: .suspended))
            ),
            one(
                93,
                "subscription-in-app",
                "The subscription to messages inside the app is unknown.",
                .changeSubscription(Subscription(channel: .inApp, topic: "tips", state: .unknown))
            ),
            one(
                94,
                "consent-granted",
                "Aino allows tracking.",
                .setConsent(Consent(purpose: .tracking, state: .granted, changedAt: asked))
            ),
            one(
                95,
                "consent-denied",
                "Aino forbids messages by e-mail.",
                .setConsent(Consent(purpose: .messaging, channel: .email, state: .denied, changedAt: asked))
            ),
            one(
                96,
                "consent-unknown",
                "The person was not asked.",
                .setConsent(Consent(purpose: .profile, state: .unknown))
            ),
        ]
    }

    private var pushSamples: [Sample] {
        [
            one(
                100,
                "push-received",
                "A push message arrives while the app is in the background.",
                appState: .background,
                .track(.push(.received, payload: pushPayload))
            ),
            one(
                101,
                "push-tapped",
                "A push message is tapped.",
                appState: .inactive,
                .track(.push(.tapped, payload: pushPayload))
            ),
            one(
                102,
                "push-action",
                "A button of a push message is tapped.",
                appState: .inactive,
                .track(.push(.tapped, payload: pushPayload, actionID: "buy"))
            ),
            one(
                103,
                "push-dismissed",
                "A push message is swiped away.",
                appState: .background,
                .track(.push(.dismissed, payload: pushPayload))
            ),
            one(
                104,
                "push-opened",
                "The app was opened through a push message.",
                .track(.push(.opened, payload: pushPayload))
            ),
            one(
                105,
                "push-foreign",
                "A push message of another vendor is tapped.",
                isOrdinary: false,
                appState: .inactive,
                .track(.push(.tapped, payload: Corpus.foreignPush))
            ),
        ]
    }

    private var eventSamples: [Sample] {
        [
            one(110, "message-viewed", "A message inside the app is seen.", .track(.messageViewed(messageID: "m-301"))),
            one(
                111,
                "message-clicked",
                "A button of a message inside the app is clicked.",
                .track(.messageClicked(messageID: "m-301", buttonID: "later"))
            ),
            one(112, "session-started", "A session starts.", .track(.sessionStarted)),
            one(113, "session-ended", "A session ends.", appState: .background, .track(.sessionEnded)),
            one(114, "track-plain", "An event without attributes.", .track(.custom(name: "Wishlist Opened"))),
            one(115, "track-order", "An order with its amount, currency and lines.", .track(Corpus.order)),
        ]
    }

    /// Aino's order.
    static let order = TrackingEvent.custom(
        name: "Order Placed",
        attributes: [
            "order_id": "A-1020", "total": Corpus.typed("49.90", .decimal), "currency": "EUR", "items": 3,
            "gift": false,
            "placed_at": Corpus.typed("2031-03-09T07:05:11.042Z", .timestamp),
        ]
    )

    private var lifeSamples: [Sample] {
        [
            Sample(
                "group",
                "Aino leaves a screen; what it gathered stays together.",
                [
                    operation(120, 0, group: "screen-7", .changeAttributes(["favourite_colour": .set("red")])),
                    operation(120, 1, group: "screen-7", .changeTags(TagChange(add: ["sailing"]))),
                    operation(120, 2, group: "screen-7", .track(.custom(name: "Profile Saved"))),
                ]
            ),
            Sample(
                "first-day",
                "A fresh installation, a log-in, a profile and an order.",
                startsAfresh: true,
                [
                    operation(121, 0, contact: nil, .registerDevice(Corpus.phone)),
                    operation(121, 1, .switchContact(ContactSwitch(.logIn, identifiers: Corpus.aino))),
                    operation(121, 2, .changeAttributes([.givenName: .set("Aino"), .city: .set("Helsinki")])),
                    operation(121, 3, .changeTags(TagChange(add: ["beta_tester"]))),
                    operation(121, 4, .track(Corpus.order)),
                ]
            ),
            one(
                122,
                "in-background",
                "An event is captured in the background.",
                appState: .background,
                .track(.custom(name: "Refreshed"))
            ),
            one(123, "unregister", "The vendor is left.", .unregister),
            one(124, "erase", "Aino wants to be forgotten.", .erase),
            one(125, "read-back", "The vendor is asked.", .readBack(readBack)),
        ]
    }
}

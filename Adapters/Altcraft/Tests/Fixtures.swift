import Foundation
import PatchbayAdapterKit

import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

/// JSON Web Tokens like those of a back end. Their signature is not checked.
enum Token {
    /// Returns a token whose claim finds a profile by phone number in a database.
    static func phone(_ number: String, database: Int) -> Secret {
        make(#"{"db_id":\#(database),"matching":"phone","phone":"\#(number)"}"#)
    }

    /// Returns a token with a text as its claim `matching`.
    static func make(_ claim: String) -> Secret {
        signed(JSONValue.object(["matching": .string(claim), "exp": 1_999_999_999]).text)
    }

    /// A token of that payload.
    static func signed(_ payload: String) -> Secret {
        let encoded = Data(payload.utf8).base64EncodedString()
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        return Secret("eyJhbGciOiJIUzI1NiJ9.\(encoded).c2lnbmF0dXJl")
    }

    static let aino = phone("+358401234567", database: 12)
    static let visitor = make(#"{"db_id":11,"matching":"custom","field_name":"visitor","field_value":"v-77"}"#)
}

/// A resource as the tests configure it.
enum Fixture {
    static let settings: JSONObject = [
        "apiUrl": "https://push.altcraft.example", "pixel": "SHOP-PX-7", "tagsField": "labels",
    ]

    static let payload: JSONObject = [
        "aps": ["alert": "Everything in blue", "mutable-content": 1], "_ac_push": "1", "_uid": "a81f3c-9e",
    ]

    static let token = "7c1f3ad09be24c5588aa10d2f6e7b3941d0c5e8f72ab46c98e03d1f5a6b7c8d9"

    static func adapter(_ changes: JSONObject = [:]) throws -> AltcraftDevice {
        var object = settings
        for change in changes { object[change.name] = change.value.isNull ? nil : change.value }
        return try AltcraftDevice(
            settings: AltcraftSettings.table.read(object, over: AltcraftSettings(), at: "settings")
        )
    }

    static func harness() throws -> AdapterHarness<AltcraftDevice> {
        try AdapterHarness(
            settings: settings,
            credential: Token.aino,
            samples: .init(pushPayload: payload, readBack: ReadRequest("current"), extras: extras),
            vendor: .init(
                simulator: AltcraftSimulator(settings: [:]),
                refusal: WireResponse(400, json: ["error": 400, "error_text": "Bad request", "profile": nil]),
                replies: [
                    SampleReply(
                        "a profile field is refused",
                        refusal("Platform profile processing error: with field \"shoe_size\": Incorrect field")
                    ),
                    SampleReply(
                        "a subscription field is refused",
                        refusal("Subscription fields: with field \"frequency\": failed convert custom field")
                    ),
                    SampleReply("a category is refused", refusal("category not found in resource: weekly_offers")),
                    SampleReply("200 with a text", WireResponse(200, json: ["error": 7, "error_text": "later"])),
                ]
            ),
            memory: .init(
                expected: AltcraftScene.makeExpectedState { _ in "phone=+358401234567" },
                stored: [
                    StoredState(version: 1, part: .memory, json: storedMemory),
                    StoredState(version: 1, part: .step, json: "restore"),
                ]
            ),
            goldens: Goldens()
        )
    }

    private static func refusal(_ text: String) -> WireResponse {
        WireResponse(400, json: ["error": 400, "error_text": .string(text), "profile": nil])
    }

    /// Memory as it is stored, with a role token.
    static let storedMemory: JSONValue = [
        "registered": .string(Corpus.phone.json.text),
        "holdings": [
            [
                "address": ["provider": "ios-apns", "token": "0aa1"], "certainty": "held", "mayBeSubscribed": false,
                "status": "suspended", "categories": ["tips": true],
            ],
            [
                "contact": "c-1001", "address": ["provider": "ios-apns", "token": "0aa2"], "certainty": "updating",
                "mayBeSubscribed": true,
            ],
        ],
        "decisions": [["contact": "c-1001", "status": "subscribed", "operation": "s", "sequence": 4]],
        "begunPersonChange": ["contact": "c-1001", "sequence": 3], "departures": [["sequence": 2]], "leftAt": 2,
        "signature": ["mark": "1a2b3c4d", "since": 1_930_806_311_042],
    ]

    /// Aino's phone with a new push token.
    static var renewedPhone: Device {
        var phone = Corpus.phone
        phone.pushToken = PushToken("0AA1F00D5588AA10D2F6E7B3941D0C5E8F72AB46C98E03D1F5A6B7C8D97C1F3A")
        return phone
    }

    /// Samples for this vendor only.
    static var extras: [Sample] {
        let corpus = Corpus(pushPayload: payload)
        return [
            Sample(
                "altcraft-subscribe-in-full",
                "All six parameters of a subscription call.",
                [
                    corpus.operation(
                        500,
                        0,
                        options: [
                            "altcraft": [
                                "sync": false,
                                "profileFields": ["_fname": "Aino", "bonus": ["action": "incr", "value": 5]],
                                "customFields": ["onboarded": true, "_device_name": "phone", "note": nil],
                                "cats": [["name": "tips", "active": false]], "replace": true, "skipTriggers": true,
                            ]
                        ],
                        .changeSubscription(
                            Subscription(
                                channel: .push,
                                topic: "weekly_offers",
                                state: .subscribed,
                                fields: ["shop": 7]
                            )
                        )
                    )
                ]
            ),
            Sample(
                "altcraft-unsubscribe",
                "Aino wants no push messages any more.",
                [corpus.operation(501, 0, .changeSubscription(Subscription(channel: .push, state: .unsubscribed)))]
            ),
            Sample(
                "altcraft-token-changed",
                "The system gives the app a new push token.",
                [corpus.operation(503, 0, .registerDevice(renewedPhone))]
            ),
            Sample(
                "altcraft-event-in-full",
                "A custom event with every part.",
                [
                    corpus.operation(
                        502,
                        0,
                        options: [
                            "altcraft": [
                                "matching": "phone", "matchingIDs": ["phone": "+358401234567"],
                                "utm": ["campaign": "spring", "source": "qr", "temp": ""], "messageID": "a81f3c-9e",
                                "subscription": [
                                    "channel": "email", "resource_id": 31, "email": "aino.virtanen@example.com",
                                    "status": "subscribed", "cats": ["weekly_offers"],
                                ],
                                "profileFields": ["_city": "Helsinki"],
                            ]
                        ],
                        .track(.custom(name: "cart_opened", attributes: ["items": 3, "gift": false]))
                    )
                ]
            ),
        ]
    }
}

import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

enum Fixture {
    /// The settings of a shop whose extended resource has a field for everything in the corpus.
    static let settings: JSONObject = [
        "server": "shop.campaign.example",
        "pkey": "b7e2f0c4d91a",
        "organizationId": "ACME1234@AdobeOrg",
        "attributeFields": .object(
            JSONObject(Corpus.attributes.map { ($0.name.rawValue, .string(fieldID($0.name))) })
        ),
        "identifierFields": ["email": "cusEmail", "external": "cusCustomerNumber", "phone": "cusPhone"],
        "tagFields": .object(
            JSONObject(tags.map { ($0, .string("cusTag\($0.prefix(1).uppercased())\($0.dropFirst())")) })
        ),
    ]

    private static let tags = ["beta_tester", "gold", "music", "sailing", "silver", "sports"]

    private static func fieldID(_ name: AttributeName) -> String {
        "cus" + name.rawValue.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// A push message as Campaign Standard sends it.
    static let payload: JSONObject = [
        "aps": [
            "alert": ["title": "Back in stock", "body": "Your size is here"], "content-available": 1,
            "category": "DEFAULT",
        ],
        "_mId": "h2f0aa1", "_dId": "c81e4", "_acsDeliveryTracking": "on", "shelf": "winter",
    ]

    /// A push message without the flag, as deliveries before release 21.1 sent it.
    static func payload(_ changes: [String: JSONValue?]) -> JSONObject {
        var payload = payload
        for change in changes { payload[change.key] = change.value }
        return payload
    }

    static func adapter(_ changes: JSONObject = [:]) throws -> AdobeDevice {
        var settings = settings
        for change in changes { settings[change.name] = change.value }
        return try AdobeDevice(settings: AdobeSettings.table.read(settings, over: AdobeSettings(), at: "settings"))
    }

    static func harness() throws -> AdapterHarness<AdobeDevice> {
        try AdapterHarness(
            settings: settings,
            samples: .init(pushPayload: payload, extras: extras),
            vendor: .init(
                simulator: AdobeSimulator(settings: ["apps": ["b7e2f0c4d91a"], "organizations": ["ACME1234@AdobeOrg"]]),
                refusal: WireResponse(404),
                statusAlone: [
                    "tracking": .adobe("Q4"), "registration": .adobe("Q4"), "attributes": .adobe("Q8"),
                    "pushToken": .adobe("I7"),
                ],
                replies: [
                    SampleReply(
                        "a redirect to another host",
                        of: ["tracking"],
                        WireResponse(302, headers: [WireHeader("Location", "https://hotel.example/sign-in")])
                    )
                ],
                pages: ["tracking"]
            ),
            memory: .init(
                expected: AdobeScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: storedMemory),
                    StoredState(
                        version: 1,
                        part: .step,
                        json: ["stage": "open", "refused": 404, "ecid": .string(ecid)]
                    ),
                ]
            ),
            secrets: .init(
                reasonForNone: "The pkey and the organisation stand in every app; the vendor hands out no token."
            ),
            exemptions: [
                Exemption(check: "the number of queues and lanes is limited", sample: "queues", rule: .adobe("Q2"))
            ],
            goldens: Goldens()
        )
    }

    private static let ecid = "40218837610593347720158264903317755102"

    /// Memory as it is stored.
    static let storedMemory: JSONValue = [
        "generation": 2, "ended": [["identity": "4567", "who": ["digests": ["0123"]]]], "platform": "apns",
        "token": "0aa1",
        "device": ["sequence": 7, "id": "registration"], "registeredECID": .string(ecid), "account": "0123",
        "registrations": [["at": 1_930_806_311_042, "notedAt": 1_930_806_311_142]],
        "identities": [
            [
                "given": .string(ecid), "generation": 2, "since": 5, "person": 1,
                "who": ["digests": ["55579b557896d0ce1764c47f"], "external": "55579b557896d0ce1764c47f"],
                "knownSince": 5,
                "consents": ["states": ["messaging.push": "denied"], "sequences": ["messaging.push": 6]],
                "hasDevice": true,
                "mayRegister": true, "takesToken": true, "isRegistrationRequested": false,
                "tokenOrganization": "ACME1234@AdobeOrg", "owesOptOut": true,
                "usedAs": .string(ecid), "known": ["cusTier": "0123456789abcdef01234567"], "written": ["cusTier": 6],
            ]
        ],
    ]

    /// A device that used the vendor's own SDK before.
    static var adoptedPhone: Device {
        var phone = Corpus.phone
        phone.identities = ["adobe.ecid": "40218837610593347720158264903317755102"]
        phone.pushToken?.value = "0AA1F00D5588AA10D2F6E7B3941D0C5E8F72AB46C98E03D1F5A6B7C8D97C1F3A"
        return phone
    }

    /// Samples for this vendor only.
    private static var extras: [Sample] {
        let corpus = Corpus(pushPayload: payload)
        func sample(
            _ number: Int,
            _ name: String,
            _ summary: String,
            startsAfresh: Bool = false,
            isOrdinary: Bool = true,
            _ actions: Action...
        ) -> Sample {
            Sample(
                name,
                summary,
                startsAfresh: startsAfresh,
                isOrdinary: isOrdinary,
                actions.enumerated().map { corpus.operation(number, $0.offset, $0.element) }
            )
        }
        return [
            sample(
                500,
                "adobe-first-session",
                "A fresh installation sends its push token and registers.",
                startsAfresh: true,
                .registerDevice(Corpus.phone),
                .track(.sessionStarted)
            ),
            sample(
                501,
                "adobe-identity-kept",
                "The identity that the vendor's own SDK made is kept, its zeros and all.",
                startsAfresh: true,
                .registerDevice(adoptedPhone),
                .track(.sessionStarted),
                .track(.push(.tapped, payload: payload))
            ),
            sample(
                502,
                "adobe-tracking-off",
                "A delivery that does not want to be tracked is tapped.",
                isOrdinary: false,
                .track(.push(.tapped, payload: payload(["_acsDeliveryTracking": "off"])))
            ),
            sample(
                503,
                "adobe-flag-missing",
                "A delivery of before release 21.1 is tapped.",
                .track(.push(.tapped, payload: payload(["_acsDeliveryTracking": JSONValue?.none])))
            ),
            sample(
                504,
                "adobe-ids-missing",
                "A delivery without ids is tapped.",
                isOrdinary: false,
                .track(.push(.tapped, payload: ["_acsDeliveryTracking": "on", "_mId": 17]))
            ),
            sample(
                505,
                "adobe-local-notification",
                "A local notification is shown and dismissed.",
                .track(.push(.received, payload: ["broadlogId": "h3b07", "deliveryId": "c8200"])),
                .track(.push(.dismissed, payload: ["broadlogId": "h3b07", "deliveryId": "c8200"]))
            ),
            sample(
                507,
                "adobe-opt-out",
                "The person denies tracking and profile: the token is taken back, and the identity service is notified.",
                isOrdinary: false,
                .setConsent(Consent(purpose: .profile, state: .denied)),
                .setConsent(Consent(purpose: .tracking, state: .denied))
            ),
            sample(
                506,
                "adobe-token-gone",
                "The person takes the permission for notifications back.",
                .registerDevice(Device(pushToken: nil, facts: Corpus.phone.facts, allowsPush: false))
            ),
        ]
    }
}

enum ClassicFixture {
    static let settings: JSONObject = [
        "marketingServer": "mkt.shop.example", "trackingServer": "trk.shop.example",
        "integrationKey": "0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3", "userKey": "external",
        "identifierParameters": ["email": "email", "phone": "phone"],
        "tagParameters": [
            "beta_tester": "beta", "gold": "gold", "music": "music", "sailing": "sailing", "silver": "silver",
            "sports": "sports",
        ],
    ]

    /// A push message as Campaign Classic sends it.
    static let payload: JSONObject = [
        "aps": ["alert": ["title": "Back in stock", "body": "Your size is here"]], "_mId": "987654", "_dId": "c81e4",
    ]

    static func adapter(_ changes: JSONObject = [:]) throws -> AdobeClassicDevice {
        var settings = settings
        for change in changes { settings[change.name] = change.value }
        let values = try AdobeClassicSettings.table.read(settings, over: AdobeClassicSettings(), at: "settings")
        return AdobeClassicDevice(settings: values)
    }

    static func harness() throws -> AdapterHarness<AdobeClassicDevice> {
        try AdapterHarness(
            settings: settings,
            samples: .init(pushPayload: payload),
            vendor: .init(
                simulator: AdobeClassicSimulator(settings: [
                    "integrationKeys": ["0d6f3b52-77aa-4a0e-9c11-5be2a9e0f1c3"]
                ]),
                refusal: WireResponse(404),
                statusAlone: ["tracking": .adobe("C19"), "registration": .adobe("C19")],
                pages: ["tracking"]
            ),
            memory: .init(
                expected: AdobeClassicScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: storedMemory),
                    StoredState(version: 1, part: .step, json: "register"),
                ]
            ),
            secrets: .init(watched: (Corpus.phone.pushToken?.value.lowercased()).map { [$0] } ?? []),
            goldens: Goldens(subfolder: "classic")
        )
    }

    /// Memory as it is stored.
    static let storedMemory: JSONValue = [
        "token": "0aa1", "deviceFacts": .string(Corpus.phone.facts?.json.text ?? ""), "userKey": "c-1001",
        "device": ["sequence": 7, "id": "registration"], "who": ["digests": ["0123"]],
        "consents": ["states": ["profile": "granted"], "sequences": ["profile": 6]], "account": "0123",
        "parameters": ["tier": "gold"],
        "registeredHash": "aaf59a2f8ba9b925",
        "held": [["server": "mkt.shop.example", "key": "0d6f3b52", "token": "0aa1", "person": "4567"]],
    ]
}

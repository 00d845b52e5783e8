import PatchbayAdapterKit
import PatchbayAdobeSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer

/// The server API of a shop whose account has a field, a filter or a service for everything in the corpus.
enum ServerFixture {
    static let secret = "p8e-secret-of-the-credential"

    static let settings: JSONObject = [
        "organization": "acmecorp", "clientId": "a1b2c3d4e5f60718", "clientSecret": .string(secret),
        "scope": "openid,AdobeID,campaign_sdk", "resource": "profileAndServicesExt", "matching": "filter",
        "filter": "byCusNumber", "filterParameter": "cusNumber_parameter", "keyField": "cusNumber",
        "fieldNames": .object(
            JSONObject(
                Corpus.attributes.map(\.name).filter { ProfileField.attributes[$0] == nil }.map {
                    ($0.rawValue, .string(fieldID($0.rawValue)))
                }
            )
        ),
        "tagFields": .object(
            JSONObject(
                ["beta_tester", "gold", "music", "sailing", "silver", "sports"].map {
                    ($0, .string(fieldID("tag_\($0)")))
                }
            )
        ),
        "services": [
            "email.weekly_offers": "weeklyOffers", "sms.delivery": "deliveryNews", "sms.flash_sales": "flashSales",
        ],
        "unknownServices": "add",
    ]

    private static func fieldID(_ name: String) -> String {
        "cus" + name.split(separator: "_").map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    /// The simulated account.
    static let account: JSONObject = [
        "organization": "acmecorp", "clientId": "a1b2c3d4e5f60718", "clientSecret": .string(secret),
        "keyField": "cusNumber", "filter": "byCusNumber", "filterParameter": "cusNumber_parameter",
        "services": ["weeklyOffers", "deliveryNews"], "poison": "poison",
    ]

    static func adapter(_ changes: JSONObject = [:]) throws -> AdobeServer {
        var object = settings
        for change in changes { object[change.name] = change.value.isNull ? nil : change.value }
        let table = AdobeServerSettings.table
        return try AdobeServer(settings: table.read(object, over: AdobeServerSettings(), at: "settings"))
    }

    static func harness() throws -> AdapterHarness<AdobeServer> {
        let corpus = Corpus(side: .server)
        return try AdapterHarness(
            settings: settings,
            samples: .init(
                readBack: ReadRequest("profile"),
                // The driver needs a token and a profile. Only samples that start without state show how both are created.
                preparation: [corpus.operation(0, 0, .changeAttributes([.city: .set("Espoo")]))],
                extras: extras
            ),
            vendor: .init(
                simulator: AdobeServerSimulator(settings: account),
                refusal: WireResponse(
                    500,
                    json: [
                        "error_code": "500", "message": "RST-360011 An error has occurred - please contact support.",
                    ]
                ),
                replies: replies
            ),
            memory: .init(
                expected: AdobeServerScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: memory),
                    StoredState(
                        version: 1,
                        part: .step,
                        json: [
                            "stage": "subscribe", "address": "profileAndServicesExt/profile/@p1/subscriptions/",
                            "service": "@s1", "pages": 2, "most": 25, "uncertainties": 1, "vanishings": 1, "faults": 2,
                        ]
                    ),
                ]
            ),
            secrets: .init(handedOut: ["access_token"]),
            goldens: Goldens(subfolder: "server")
        )
    }

    /// Samples of behavior that is specific to this API.
    private static var extras: [Sample] {
        let corpus = Corpus(side: .server)
        func of(_ contact: String, _ number: Int, _ place: Int, _ action: Action) -> EngagementOperation {
            var operation = corpus.operation(number, place, contact: contact, action)
            operation.subject = Subject(rawValue: contact)
            return operation
        }
        let offers = Subscription(channel: .email, topic: "weekly_offers", state: .subscribed)
        let noOffers = Subscription(channel: .email, topic: "weekly_offers", state: .unsubscribed)
        return [
            Sample(
                "adobe-server-afresh",
                "The provider has no access token yet, and the account does not have the contact.",
                startsAfresh: true,
                [corpus.operation(520, 0, .changeAttributes([.givenName: .set("Aino"), .loyaltyTier: .set("gold")]))]
            ),
            Sample(
                "adobe-server-together",
                "What waits for one contact goes in one request, the last value of each field.",
                [
                    corpus.operation(521, 0, .changeAttributes(["visits": .set(1), .loyaltyTier: .set("silver")])),
                    corpus.operation(521, 1, .changeAttributes(["visits": .set(2)])),
                    corpus.operation(521, 2, .identify([Corpus.aino[1]])),
                    corpus.operation(521, 3, .changeTags(TagChange(add: ["sports"]))),
                ]
            ),
            Sample(
                "adobe-server-refused",
                "One value of two is refused, and the other is taken.",
                isOrdinary: false,
                [
                    corpus.operation(522, 0, .changeAttributes([.loyaltyTier: .set("gold")])),
                    corpus.operation(522, 1, .changeAttributes(["favourite_colour": .set("poison")])),
                ]
            ),
            Sample(
                "adobe-server-topic",
                "A topic is subscribed to, again, and left.",
                [
                    corpus.operation(523, 0, .changeSubscription(offers)),
                    corpus.operation(523, 1, .changeSubscription(offers)),
                    corpus.operation(523, 2, .changeSubscription(noOffers)),
                ]
            ),
            Sample(
                "adobe-server-topic-unknown",
                "A contact that the account does not have subscribes to a topic.",
                [of("c-4004", 524, 0, .changeSubscription(offers))]
            ),
            Sample(
                "adobe-server-topic-left-unknown",
                "A contact that the account does not have leaves a topic.",
                [of("c-4004", 525, 0, .changeSubscription(noOffers))]
            ),
            Sample(
                "adobe-server-service-made",
                "A topic whose service the account does not have is left, and then subscribed to.",
                [
                    corpus.operation(
                        529,
                        0,
                        .changeSubscription(Subscription(channel: .sms, topic: "flash_sales", state: .unsubscribed))
                    ),
                    corpus.operation(
                        529,
                        1,
                        .changeSubscription(Subscription(channel: .sms, topic: "flash_sales", state: .subscribed))
                    ),
                ]
            ),
            Sample(
                "adobe-server-erase-unknown",
                "A contact that is not there needs no deletion.",
                [of("c-4004", 526, 0, .erase)]
            ),
            Sample(
                "adobe-server-profiles",
                "A reader asks for a page of profiles, and for the next.",
                [
                    corpus.operation(527, 0, .readBack(ReadRequest("profiles", arguments: ["rows": 50]))),
                    corpus.operation(
                        527,
                        1,
                        .readBack(
                            ReadRequest(
                                "profiles",
                                arguments: ["next": "profileAndServicesExt/profile?_lineCount=50&_lineStart=@50"]
                            )
                        )
                    ),
                    corpus.operation(527, 2, .readBack(ReadRequest("services"))),
                ]
            ),
            Sample(
                "adobe-server-option",
                "This API has no options.",
                [
                    corpus.operation(
                        528,
                        0,
                        options: ["adobe-server": ["sync": true]],
                        .changeAttributes([.loyaltyTier: .set("gold")])
                    )
                ]
            ),
        ]
    }

    private static func text(_ status: Int, _ text: String) -> WireResponse {
        WireResponse(status, headers: [WireHeader("Content-Type", "text/plain")], body: Array(text.utf8))
    }

    private static let profile: JSONValue = [
        "PKey": "@pXk3", "cusNumber": "c-1001",
        "subscriptions": [
            "href": "https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/profile/@pXk3/subscriptions/"
        ],
    ]

    private static let replies: [SampleReply] = [
        SampleReply("no profile", WireResponse(200, json: ["content": []])),
        SampleReply("a profile", WireResponse(200, json: ["content": [profile]])),
        SampleReply("two profiles", WireResponse(200, json: ["content": [profile, profile]])),
        SampleReply(
            "a profile whose key only begins so",
            WireResponse(200, json: ["content": [["PKey": "@p9", "cusNumber": "c-10017"]]])
        ),
        SampleReply(
            "a page with its next",
            WireResponse(
                200,
                json: [
                    "content": [],
                    "next": [
                        "href": "https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/profile?_lineStart=@25"
                    ],
                ]
            )
        ),
        SampleReply(
            "a page whose next is elsewhere",
            WireResponse(200, json: ["content": [], "next": ["href": "https://evil.example/acmecorp/campaign/x"]])
        ),
        SampleReply("a bare record", WireResponse(200, json: profile)),
        SampleReply("a made profile", WireResponse(201, json: profile)),
        SampleReply("a made service", WireResponse(201, json: ["PKey": "@s3", "name": "flashSales"])),
        SampleReply("a service of another name", WireResponse(200, json: ["PKey": "@s9", "name": "other"])),
        SampleReply("a record whose key climbs", WireResponse(200, json: ["PKey": "../x", "cusNumber": "c-1001"])),
        SampleReply(
            "a subscription",
            WireResponse(
                200,
                json: [
                    "content": [
                        [
                            "PKey": "@b1", "serviceName": "weeklyOffers",
                            "href":
                                "https://mc.adobe.io/acmecorp/campaign/profileAndServicesExt/service/@s1/subscriptions/@b1",
                        ]
                    ]
                ]
            )
        ),
        SampleReply("a token", WireResponse(200, json: ["access_token": "t-9", "expires_in": 86_399])),
        SampleReply("an unknown client", WireResponse(400, json: ["error": "invalid_client"])),
        SampleReply(
            "a refused token",
            WireResponse(401, json: ["error_code": "401013", "message": "Oauth token is not valid"])
        ),
        SampleReply(
            "not provisioned",
            WireResponse(403, json: ["error_code": "403023", "message": "Profile is not valid"])
        ),
        SampleReply("no such document", text(404, "RST-360011 - unable to find document")),
        SampleReply("a duplicate key", text(500, "PGS-220000 duplicate key value")),
        SampleReply("a bad key", text(500, "XTK-170036 Unable to parse expression")),
        SampleReply("a changed key", text(500, "RST-360012 key change")),
        SampleReply("another type", WireResponse(500, json: "BAS-010040 wrong type")),
        SampleReply("an unknown value", text(500, "RST-360011 no such enumeration")),
        SampleReply("a wrong organisation", WireResponse(500, json: ["code": 500, "message": "Oops."])),
        SampleReply("a wrong organisation, 502", WireResponse(502, json: ["code": 502, "message": "Oops."])),
        SampleReply("a refusal beside 200", WireResponse(200, json: ["error_code": "400", "message": "No."])),
        SampleReply("no content", WireResponse(204)),
    ]

    private static let memory: JSONValue = [
        "token": "jwt", "tokenUntil": 1_930_806_371_042, "isRefused": false, "tokenFailures": 1,
        "tokenNotBefore": 1_930_806_311_042, "failures": 2, "closedUntil": 1_930_806_911_042,
    ]
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer

/// The server API of a shop whose account has a column for every attribute of the corpus.
enum ServerFixture {
    static let settings: JSONObject = [
        "authUrl": "https://mc0123456789abcdefghijklmnop.auth.marketingcloudapis.com",
        "clientId": "9wq3h7kd0s5tm2vb8xc4jn6p", "clientSecret": "c7Xw9-secret-of-the-package", "accountId": "7001234",
        "dataExtension": "Shop/People",
        "attributeNames": ["favourite_colour": "FavouriteColour", "loyalty_tier": "Tier"],
        "identifierColumns": ["email": "Email", "phone": "Phone"],
        "tagColumns": [
            "beta_tester": "IsBetaTester", "gold": "IsGold", "music": "IsMusic", "sailing": "IsSailing",
            "silver": "IsSilver", "sports": "IsSports",
        ],
        "subscriptionColumns": [
            "push": "Push", "push.weekly_offers": "PushWeekly", "email": "Mail", "email.weekly_offers": "MailWeekly",
            "sms": "Sms",
        ],
        "contactAttributes": [
            "identifier.email": "Email Addresses/Email Address", "newsletter_reader": "Email Addresses/HTML Enabled",
            "loyalty_tier": "Shop/Tier",
        ],
        "contactDefaults": ["Email Addresses/HTML Enabled": "false"],
        "eventKeys": ["Order Placed": "APIEvent-order-placed"],
    ]

    static func adapter(_ changes: JSONObject = [:]) throws -> SalesforceServer {
        var settings = settings
        for change in changes { settings[change.name] = change.value }
        let table = SalesforceServerSettings.table
        return try SalesforceServer(settings: table.read(settings, over: SalesforceServerSettings(), at: "settings"))
    }

    static func harness() throws -> AdapterHarness<SalesforceServer> {
        let corpus = Corpus(side: .server)
        return try AdapterHarness(
            settings: settings,
            samples: .init(
                readBack: ReadRequest("rows", arguments: ["page": 2, "pageSize": 100]),
                // The driver needs a token before the samples. Only samples that start without state show the token
                // request.
                preparation: [corpus.operation(0, 0, .changeAttributes([.city: .set("Espoo")]))],
                extras: extras
            ),
            vendor: .init(
                simulator: SalesforceServerSimulator(settings: [
                    "clientId": "9wq3h7kd0s5tm2vb8xc4jn6p", "clientSecret": "c7Xw9-secret-of-the-package",
                    "dataExtensions": ["Shop/People"], "poison": "poison", "tokenLife": 86_400,
                    "restUrl": "mc0123456789abcdefghijklmnop.rest.marketingcloudapis.com",
                ]),
                refusal: WireResponse(
                    400,
                    json: ["message": "A value is out of range.", "errorcode": 10_005, "documentation": ""]
                ),
                replies: replies
            ),
            memory: .init(
                expected: SalesforceServerScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: memory),
                    StoredState(
                        version: 1,
                        part: .step,
                        json: [
                            "most": 25, "job": "job-7", "row": 3, "rows": 50, "isDone": true, "lostJobs": 1,
                            "verb": "update",
                        ]
                    ),
                ]
            ),
            secrets: .init(handedOut: ["access_token"]),
            // It is unknown whether the vendor accepted an event that was in flight when the process crashed.
            exemptions: [
                Exemption(
                    check: "an interrupted conversation has the same outcome as an uninterrupted one",
                    sample: "event-in-uncertainty",
                    rule: RuleID("salesforce", "V25")
                )
            ],
            goldens: Goldens(subfolder: "server")
        )
    }

    private static func routed(_ route: String) -> [AdapterID: JSONObject] {
        ["salesforce-server": ["route": .string(route)]]
    }

    /// Samples of behavior that is specific to this API.
    private static var extras: [Sample] {
        let corpus = Corpus(side: .server)
        // Contacts of one lane, so that their rows can share a request.
        let people = [("c-1001", "red"), ("c-1005", "green"), ("c-1009", "blue")].enumerated().map { place, person in
            var operation = corpus.operation(
                510,
                place,
                contact: person.0,
                .changeAttributes(["favourite_colour": .set(.string(person.1)), "visits": .set(.integer(Int64(place)))])
            )
            operation.subject = Subject(rawValue: person.0)
            return operation
        }
        let tier = Action.changeAttributes([.loyaltyTier: .set("gold"), "newsletter_reader": .set(true)])
        return [
            Sample("salesforce-server-afresh", "The provider has no token yet.", startsAfresh: true, [people[0]]),
            Sample("salesforce-server-people", "A row set contains rows of several people.", people),
            Sample(
                "salesforce-server-job",
                "A job with one row is queried until it is complete.",
                [
                    corpus.operation(
                        511,
                        0,
                        options: routed("asyncRows"),
                        .changeAttributes(["favourite_colour": .set("red"), "visits": .set(7)])
                    )
                ]
            ),
            Sample(
                "salesforce-server-job-refused",
                "A job completes with a refused row.",
                isOrdinary: false,
                [
                    corpus.operation(
                        512,
                        0,
                        options: routed("asyncRows"),
                        .changeAttributes(["favourite_colour": .set("poison")])
                    )
                ]
            ),
            Sample(
                "salesforce-server-contact",
                "A request creates a contact with two attribute sets.",
                [corpus.operation(513, 0, options: routed("contacts"), tier)]
            ),
            Sample(
                "salesforce-server-contact-there",
                "A request creates a contact that already exists.",
                [
                    corpus.operation(514, 0, options: routed("contacts"), tier),
                    corpus.operation(
                        514,
                        1,
                        .track(.custom(name: "Wishlist Opened"))
                    ),
                    corpus.operation(
                        514,
                        2,
                        options: routed("contacts"),
                        .identify([Corpus.aino[1]])
                    ),
                ]
            ),
            Sample(
                "salesforce-server-unreachable",
                "A request for a contact contains no attribute set with an address.",
                isOrdinary: false,
                [
                    corpus.operation(
                        515,
                        0,
                        options: routed("contacts"),
                        .changeAttributes([.loyaltyTier: .set("gold")])
                    )
                ]
            ),
            Sample(
                "salesforce-server-route",
                "An option names an unknown route.",
                isOrdinary: false,
                [corpus.operation(516, 0, options: routed("pigeons"), tier)]
            ),
        ]
    }

    private static let replies: [SampleReply] = [
        SampleReply(
            "no such data extension",
            WireResponse(
                200,
                json: [
                    "requestId": "job-9",
                    "resultMessages": [["resultClass": "Error", "resultCode": "CustomObjectNotFound"]],
                ]
            )
        ),
        SampleReply(
            "an unknown job",
            WireResponse(
                200,
                json: [
                    "requestId": "job-9",
                    "resultMessages": [
                        ["resultMessage": ["resultClass": "Error", "resultCode": "AsyncRequestStatusNotFound"]]
                    ],
                ]
            )
        ),
        SampleReply("hasErrors", WireResponse(200, json: ["operationStatus": "Error", "hasErrors": true])),
        SampleReply("queued", WireResponse(202, json: ["requestId": "job-9"])),
        SampleReply("pending", WireResponse(200, json: ["status": ["requestStatus": "Pending", "hasErrors": false]])),
        SampleReply(
            "complete",
            WireResponse(200, json: ["status": ["requestStatus": "Complete", "hasErrors": false]])
        ),
        SampleReply(
            "with errors",
            WireResponse(200, json: ["status": ["requestStatus": "Complete", "hasErrors": true]])
        ),
        SampleReply("ended in an error", WireResponse(200, json: ["status": ["requestStatus": "Error"]])),
        SampleReply(
            "a row taken",
            WireResponse(200, json: ["page": 1, "pageSize": 50, "count": 1, "items": [["status": "OK"]]])
        ),
        SampleReply(
            "a row refused",
            WireResponse(
                200,
                json: [
                    "page": 1, "pageSize": 50, "count": 1,
                    "items": [["status": "Error", "errorCode": "InvalidValue", "message": "No."]],
                ]
            )
        ),
        SampleReply("results of other rows", WireResponse(200, json: ["page": 1, "count": 0, "items": []])),
        SampleReply(
            "a token",
            WireResponse(
                200,
                json: ["access_token": "t-9", "expires_in": 1075, "rest_instance_url": "https://mc9.rest.example/"]
            )
        ),
        SampleReply("a token without its host", WireResponse(200, json: ["access_token": "t-9"])),
        SampleReply("an unknown client", WireResponse(401, json: ["error": "invalid_client"])),
        SampleReply("blocked", WireResponse(429, json: ["errorcode": 50_200])),
        SampleReply("too often", WireResponse(429, json: ["errorcode": 50_100, "retryAfter": 90])),
        SampleReply("initiated", WireResponse(200, json: ["operationInitiated": true])),
        SampleReply("not initiated", WireResponse(200, json: ["operationInitiated": false])),
        SampleReply("an empty page", WireResponse(200, json: ["count": 0, "page": 2, "pageSize": 100])),
        SampleReply("an unknown resource", WireResponse(596)),
    ]

    private static let memory: JSONValue = [
        "token": "jwt", "tokenUntil": 1_930_806_371_042, "restURL": "https://mc.rest.example", "isRefused": false,
        "tokenFailures": 1, "tokenNotBefore": 1_930_806_311_042, "failures": 2, "closedUntil": 1_930_806_911_042,
    ]
}

import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer

/// The server API of a shop whose database has a field for every attribute of the corpus.
enum ServerFixture {
    static let token = "c7f55f8f-token-of-the-back-end"

    static let settings: JSONObject = [
        "apiUrl": "https://ru.altcraft.example", "apiToken": .string(token), "dbId": 12, "matchingField": "crm_id",
        "tagsField": "labels", "pixelId": 7, "fieldNames": ["loyalty_tier": "tier", "given_name": "_fname"],
        "resources": [
            "push": "31", "push.weekly_offers": "32", "email": "33", "email.weekly_offers": "34", "sms": "35",
        ],
    ]

    static func adapter(_ changes: JSONObject = [:]) throws -> AltcraftServer {
        var object = settings
        for change in changes { object[change.name] = change.value.isNull ? nil : change.value }
        let table = AltcraftServerSettings.table
        return try AltcraftServer(settings: table.read(object, over: AltcraftServerSettings(), at: "settings"))
    }

    static func harness() throws -> AdapterHarness<AltcraftServer> {
        let corpus = Corpus(side: .server)
        return try AdapterHarness(
            settings: settings,
            samples: .init(
                pushPayload: Fixture.payload,
                readBack: ReadRequest("profiles", arguments: ["from": "65117f62736a0e15000000", "limit": 100]),
                // The platform needs the contact Aino with an address.
                preparation: [
                    corpus.operation(0, 0, .identify([Corpus.aino[1], Identifier(.phone, "+358401234567")]))
                ],
                extras: extras
            ),
            vendor: .init(
                simulator: AltcraftServerSimulator(settings: [
                    "apiToken": .string(token), "dbId": 12, "pushResource": 31, "poison": "poison",
                ]),
                refusal: WireResponse(400, json: ["error": 400, "error_text": "Incorrect request"]),
                replies: replies
            ),
            memory: .init(
                expected: AltcraftServerScene.expectedState,
                stored: [
                    StoredState(
                        version: 1,
                        part: .memory,
                        json: [
                            "server": [
                                "isRefused": false, "tokenFailures": 0, "failures": 2, "closedUntil": 1_930_806_911_042,
                            ]
                        ]
                    ),
                    StoredState(
                        version: 1,
                        part: .step,
                        json: [
                            "most": 25, "addsTags": true,
                            "targets": [
                                ["channel": "email", "resource": 33, "email": "aino@example.com"],
                                ["channel": "push", "resource": 31, "provider": "ios-apns", "token": "0aa1"],
                            ],
                        ]
                    ),
                ]
            ),
            // It is unknown whether the vendor accepted a goal or an increment that was in flight when the process crashed. A
            // goal needs an existing profile, so it can't be a contact's first operation.
            exemptions: ["goal-in-uncertainty", "increment-in-uncertainty"].map {
                Exemption(
                    check: "an interrupted conversation has the same outcome as an uninterrupted one",
                    sample: $0,
                    rule: RuleID("altcraft", "V18")
                )
            } + [
                Exemption(
                    check: "an operation with claimed capabilities is accepted",
                    sample: "anonymous-then-known",
                    rule: RuleID("altcraft", "V16")
                )
            ],
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
        func colour(_ text: String) -> Action { .changeAttributes(["favourite_colour": .set(.string(text))]) }
        // Contacts of one lane, so that one request can hold their profiles.
        let people = ["c-1001", "c-1005", "c-1009"]
        return [
            Sample(
                "altcraft-server-people",
                "A request holds profiles of several people.",
                people.enumerated().map { of($1, 520, $0, colour("colour \($0)")) }
            ),
            Sample(
                "altcraft-server-verdicts",
                "One profile of three is refused, and the others are taken.",
                isOrdinary: false,
                people.enumerated().map { of($1, 521, $0, colour($0 == 1 ? "poison" : "blue")) }
            ),
            Sample(
                "altcraft-server-goal",
                "An event with a value and flat data becomes a goal.",
                [
                    corpus.operation(
                        522,
                        0,
                        .track(
                            .custom(name: "Order Placed", attributes: ["value": 41, "gift": false, "store": "Turku"])
                        )
                    )
                ]
            ),
            Sample(
                "altcraft-server-unknown",
                "The platform does not know the contact and has no address of it.",
                isOrdinary: false,
                [of("c-4004", 523, 0, .changeSubscription(Subscription(channel: .email, state: .unsubscribed)))]
            ),
            Sample(
                "altcraft-server-erase-unknown",
                "A contact that is not there needs no deletion.",
                [of("c-4004", 524, 0, .erase)]
            ),
            Sample(
                "altcraft-server-option",
                "This API has no options.",
                [corpus.operation(525, 0, options: ["altcraft-server": ["sync": true]], colour("blue"))]
            ),
        ]
    }

    private static func json(_ status: Int, _ json: JSONValue) -> WireResponse { WireResponse(status, json: json) }

    private static let replies: [SampleReply] = [
        SampleReply(
            "one profile taken",
            json(200, ["error": 0, "error_text": "", "result": [["error": 0, "profile_id": "65117f62"]]])
        ),
        SampleReply(
            "one profile refused",
            json(200, ["error": 0, "result": [["error": 400, "error_text": "Incorrect"]]])
        ),
        SampleReply(
            "a profile field refused",
            json(
                200,
                [
                    "error": 0,
                    "result": [
                        [
                            "error": 400,
                            "error_text": "Platform profile processing error: with field \"x\": Incorrect field",
                        ]
                    ],
                ]
            )
        ),
        SampleReply(
            "one profile later",
            json(200, ["error": 0, "result": [["error": 500, "error_text": "Internal"]]])
        ),
        SampleReply(
            "one profile not allowed",
            json(200, ["error": 0, "result": [["error": 403, "error_text": "No"]]])
        ),
        SampleReply("two verdicts for one", json(200, ["error": 0, "result": [["error": 0], ["error": 0]]])),
        SampleReply("a verdict without a number", json(200, ["error": 0, "result": [["profile_id": "65117f62"]]])),
        SampleReply("a yes alone", json(200, ["error": 0, "error_text": "Successful operation"])),
        SampleReply("a refusal beside 200", json(200, ["error": 400, "error_text": "Incorrect request"])),
        SampleReply(
            "a field refused whole",
            json(
                400,
                ["error": 400, "error_text": "Platform profile processing error: with field \"x\": Incorrect field"]
            )
        ),
        SampleReply("no token beside 200", json(200, ["error": 401, "error_text": "API token required"])),
        SampleReply("the tariff's limit", json(402, ["error": 402, "error_text": "Tariff limit"])),
        SampleReply("a profile that is not there", json(404, ["error": 404, "error_text": "profile not found"])),
        SampleReply("trouble beside 200", json(200, ["error": 500, "error_text": "Internal"])),
        SampleReply("a page", json(200, ["error": 0, "data": [["id": "65117f62", "crm_id": "c-1001"]]])),
        SampleReply(
            "a page with its next",
            json(200, ["error": 0, "next_id": "65117f70", "data": [["id": "65117f62", "crm_id": "c-1001"]]])
        ),
        SampleReply("an empty page", json(200, ["error": 0, "data": []])),
        SampleReply("too large", WireResponse(413)),
        SampleReply("plain text", WireResponse(200, body: Array("ok".utf8))),
    ]
}

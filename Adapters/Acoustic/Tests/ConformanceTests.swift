import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic conformance") struct ConformanceTests {
    private static let harness = Result { try makeHarness() }

    @Test(arguments: ConformanceCheck.all)
    func `the device API keeps the adapter contract`(_ check: ConformanceCheck) throws {
        try check.run(on: Self.harness.get())
    }

    @Test(arguments: Conversation.all())
    func `a conversation matches its golden`(_ conversation: Conversation) throws {
        try conversation.check(on: Self.harness.get())
    }

    private static func makeHarness() throws -> AdapterHarness<AcousticDevice> {
        let columns = Fixture.columns
        return try AdapterHarness(
            settings: Fixture.settings(["registration": "requested", "tagsColumn": "Tags"]),
            samples: .init(pushPayload: Fixture.push, readBack: ReadRequest("attributes"), extras: extras),
            vendor: .init(
                simulator: AcousticSimulator(
                    settings: ["appKey": "gcb4hVDsXq", "columns": .object(columns), "updatesPerMinute": 100_000]
                ),
                statusAlone: ["update": .acoustic("R1"), "delete": .acoustic("R1"), "events": .acoustic("R1")],
                replies: [SampleReply("too early", WireResponse(425))]
            ),
            memory: .init(
                expected: AcousticScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: memory),
                    StoredState(version: 1, part: .step, json: step),
                ]
            ),
            secrets: .init(
                reasonForNone: "Every app contains the app key, and the vendor issues ids, not tokens."
            ),
            exemptions: [
                // The registration that would revert the erasure is refused, too, so later operations wait for another
                // one.
                Exemption(
                    check: "all operations complete if the vendor refuses every request",
                    sample: "erase-then-return",
                    rule: RuleID("acoustic", "I7")
                )
            ],
            goldens: Goldens()
        )
    }

    /// Samples of behavior that is specific to this vendor.
    private static var extras: [Sample] {
        let corpus = Corpus()
        return [
            Sample(
                "acoustic-delete-of-poison",
                "A column that the schema does not know is deleted, to clear the vendor's cache.",
                isOrdinary: false,
                [corpus.operation(500, 0, .changeAttributes(["LoyaltyTeir": .unset]))]
            ),
            Sample(
                "acoustic-delete-then-set",
                "A value is deleted and set again, in two requests.",
                [
                    corpus.operation(501, 0, .changeAttributes(["favourite_colour": .unset])),
                    corpus.operation(501, 1, .changeAttributes(["favourite_colour": .set("blue")])),
                ]
            ),
            Sample(
                "acoustic-whole-screen",
                "The changes of one screen are sent at once, as one group of values and one of deletes.",
                [
                    corpus.operation(502, 0, group: "screen-9", .changeAttributes([.city: .set("Turku")])),
                    corpus.operation(
                        502,
                        1,
                        group: "screen-9",
                        .changeAttributes([.loyaltyTier: .set("silver"), "favourite_colour": .unset])
                    ),
                ]
            ),
            Sample(
                "acoustic-event-in-full",
                "A location event with campaign and mailing, sent at once.",
                [
                    corpus.operation(
                        503,
                        0,
                        options: [
                            "acoustic": [
                                "type": "geofence", "attribution": "SpringPromo", "mailingId": "990017",
                                "immediate": true,
                            ]
                        ],
                        .track(.custom(name: "enter", attributes: ["locationId": "harbour"]))
                    )
                ]
            ),
            Sample(
                "acoustic-link-of-a-push",
                "A link of a push message is tapped.",
                [
                    corpus.operation(
                        504,
                        0,
                        appState: .inactive,
                        options: ["acoustic": ["url": "https://shop.example/sale"]],
                        .track(.push(.tapped, payload: Fixture.push, actionID: "sale"))
                    )
                ]
            ),
            Sample(
                "acoustic-ids-given",
                "The app passes the ids that the vendor's own SDK received.",
                startsAfresh: true,
                [corpus.operation(505, 0, contact: nil, .registerDevice(Fixture.adopted))]
            ),
        ]
    }

    private static let memory: JSONValue = [
        "ids": ["user": "a1b2c3", "channel": "d4e5f6"],
        "known": [
            "LoyaltyTier": ["type": "string", "value": "\"gold\""], "ShoeSize": ["type": "number", "value": "42.5"],
        ],
        "tags": ["sports"], "person": ["external=c-1001"], "registered": "9f3c", "reportedPush": true,
        "wantsPush": true, "phonedAt": 1_930_806_311_042, "mustPhone": false,
        "paces": ["attributes": ["failures": 2, "until": 1_930_806_431_042]], "isReset": false,
    ]
    private static let step: JSONValue = ["done": 1, "refused": [0], "refusals": 1, "suspect": 4]
}

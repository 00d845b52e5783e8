import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySalesforceSimulator
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce

@Suite("Salesforce conformance") struct ConformanceTests {
    @Test(arguments: ConformanceCheck.all)
    func `the device API keeps the adapter contract`(_ check: ConformanceCheck) throws {
        try check.run(on: Self.harness.get())
    }

    @Test(arguments: Conversation.all())
    func `a conversation matches its golden`(_ conversation: Conversation) throws {
        try conversation.check(on: Self.harness.get())
    }

    private static let harness = Result { try makeHarness() }

    private static func makeHarness() throws -> AdapterHarness<SalesforceDevice> {
        let token: JSONValue = "q1w2e3r4t5y6u7i8o9p0zxcv"
        return try AdapterHarness(
            settings: [
                "endpoint": "https://mc0123456789abcdefghijklmnop.device.marketingcloudapis.com",
                "applicationId": "c0a1b2d3-4e5f-4a6b-8c7d-9e0f1a2b3c4d", "accessToken": token,
            ],
            samples: .init(
                pushPayload: ["_sid": "SFMC", "_m": "NDIyOjExNDow", "aps": ["alert": "Spring sale"]],
                extras: extras
            ),
            vendor: .init(
                simulator: SalesforceSimulator(settings: ["accessToken": token]),
                refusal: nil,
                statusAlone: ["registration": .salesforce("R1"), "events": .salesforce("R1")]
            ),
            memory: .init(
                expected: SalesforceScene.expectedState,
                stored: [StoredState(version: 1, part: .memory, json: memory)]
            ),
            secrets: .init(handedOut: SalesforceScene.handedOut),
            goldens: Goldens()
        )
    }

    /// Samples of behavior that is specific to this vendor.
    private static var extras: [Sample] {
        let corpus = Corpus()
        var adopted = Corpus.phone
        adopted.identities = ["salesforce.deviceID": "A1B2C3D4-0000-4000-8000-00000000D001"]
        return [
            Sample(
                "salesforce-adopted",
                "The app passes the device id of the vendor's own SDK.",
                startsAfresh: true,
                [corpus.operation(500, 0, contact: nil, .registerDevice(adopted))]
            ),
            Sample(
                "salesforce-push-off",
                "Aino opts out of push.",
                [corpus.operation(501, 0, .changeSubscription(Subscription(channel: .push, state: .unsubscribed)))]
            ),
            Sample(
                "salesforce-tag-back-and-forth",
                "A tag is added and removed before any request is sent.",
                [
                    corpus.operation(502, 0, .changeTags(TagChange(add: ["sale"]))),
                    corpus.operation(502, 1, .changeTags(TagChange(remove: ["sale"]))),
                ]
            ),
            Sample(
                "salesforce-signed-string",
                "The app passes its signed string with a change.",
                [
                    corpus.operation(
                        503,
                        0,
                        options: ["salesforce": ["signedString": "opaque-7781"]],
                        .changeTags(TagChange(add: ["vip"]))
                    )
                ]
            ),
        ]
    }

    private static let memory: JSONValue = [
        "registration": [
            "contactKey": "c-1001", "attributes": ["tier": "gold"], "tags": ["sports"], "hasLeft": false,
            "pushToken": "0f1e2d3c", "pushState": "subscribed",
            "permissions": ["push": true, "backgroundPush": false, "location": false, "proximity": false],
            "facts": [
                "platform": "iOS", "platformVersion": "24.3", "model": "iPhone21,2", "locale": "fi_FI",
                "utcOffsetSeconds": 7200, "isDaylightSaving": false, "appID": "com.example.shop", "appVersion": "8.4.1",
            ],
        ],
        "acceptedAs": "https://x.example c0a1b2d3 Patchbay/0.1.0 release", "lastStart": 1_930_806_311_042,
        "lastTried": 7, "failures": 1,
        "retryAt": 1_930_806_371_042, "refusedWith": 503, "closedUntil": ["events": 1_930_806_911_042],
        "subscriberToken": "jwt",
    ]
}

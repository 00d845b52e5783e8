import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayDES

/// An application as the tests configure it.
enum Fixture {
    static let settings: JSONObject = [
        "applicationCode": "ABCD1-234E6", "contactFieldId": 2575, "merchantId": "1428C8EE286EC34B",
    ]

    static let payload: JSONObject = [
        "aps": ["alert": "Everything in blue"], "u": ["sid": "7a3_Hq9zL2"], "ems": ["actions": []],
    ]

    /// The vendor account: messages, an inbox and a remote configuration.
    static let account: JSONObject = [
        "tokenLifetimeSeconds": 33_000,
        "inlineMessages": [["campaignId": "904418", "viewId": "Home-Hero", "html": "<html>Spring</html>"]],
        "inbox": [
            [
                "id": "msg-1", "campaignId": "904450", "title": "Welcome", "body": "Look around",
                "receivedAt": 1_930_800_000,
                "tags": ["seen"], "imageUrl": nil,
            ],
            ["id": "msg-2", "campaignId": "904451", "title": "No body", "receivedAt": 1_930_800_100],
        ],
        "geofences": [
            "refreshRadiusRatio": 0,
            "groups": [
                [
                    "id": "shops",
                    "geofences": [
                        [
                            "id": "helsinki", "lat": 60, "lon": 25, "r": 100,
                            "triggers": [
                                ["id": "t-1", "type": "ENTER", "action": ["type": "MECustomEvent", "name": "near"]],
                                [
                                    "id": "t-2", "type": "DWELLING",
                                    "action": ["type": "MECustomEvent", "name": "stays"],
                                ],
                            ],
                        ]
                    ],
                ]
            ],
        ],
        "remoteConfig": ["features": ["eventServiceV4": true]],
    ]

    static func adapter(_ changes: JSONObject = [:]) throws -> DESDevice {
        var object = settings
        for change in changes { object[change.name] = change.value.isNull ? nil : change.value }
        return try DESDevice(settings: DESSettings.table.read(object, over: DESSettings(), at: "settings"))
    }

    /// The ID token that the app passes for every contact. It is sent if `contactProof` asks for it.
    static let idToken = Secret("eyJhbGciOiJub25lIn0.id-token-of-the-shop.c2VhbA")

    static func harness(_ changes: JSONObject = [:]) throws -> AdapterHarness<DESDevice> {
        var settings = settings
        for change in changes { settings[change.name] = change.value }
        return try AdapterHarness(
            settings: settings,
            credential: idToken,
            samples: .init(
                pushPayload: payload,
                readBack: ReadRequest("inline", arguments: ["viewId": "home-hero"]),
                extras: extras
            ),
            vendor: .init(
                simulator: DESSimulator(settings: account),
                statusAlone: Dictionary(uniqueKeysWithValues: judgedByStatus.map { ($0, RuleID("des", "R31")) }),
                replies: replies,
                echoes: [
                    Echo("device event state", from: "events", giving: "track-plain", returning: "track-order") {
                        WireResponse(200, json: ["deviceEventState": ["inside": $0]])
                    } returned: {
                        $0.json?["deviceEventState"]?["inside"]
                    }
                ]
            ),
            memory: .init(
                expected: DESScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: storedMemory),
                    StoredState(version: 1, part: .step, json: storedStep),
                ]
            ),
            secrets: .init(handedOut: DESScene.handedOut),
            exemptions: [
                // Merged events share their outcome.
                Exemption(check: "a refused operation fails alone", sample: "track", rule: RuleID("des", "R32")),
                // A click names its button.
                Exemption(
                    check: "an operation with claimed capabilities is accepted",
                    sample: "message-clicked-plain",
                    rule: RuleID("des", "R15")
                ),
                // After a refused registration, later operations wait for one that is accepted.
                Exemption(
                    check: "all operations complete if the vendor refuses every request",
                    sample: "erase-then-return",
                    rule: RuleID("des", "N4")
                ),
            ],
            goldens: Goldens()
        )
    }

    /// Endpoints where 200 to 299 is a success regardless of the body.
    private static let judgedByStatus = [
        "contact", "events", "geofences", "inbox", "pushMessage", "pushTokenRemoval", "remoteConfig",
        "remoteConfigSignature",
    ]

    /// Replies whose meaning depends on more than their status.
    static let replies: [SampleReply] = [
        SampleReply(
            "tokens",
            of: ["contact", "anonymousContact", "contactToken"],
            WireResponse(200, json: ["contactToken": "contact-90", "refreshToken": "refresh-90"])
        ),
        SampleReply(
            "a message, an action and a state",
            of: ["events"],
            WireResponse(
                200,
                json: [
                    "message": ["campaignId": "904433", "html": "<html>Offer</html>"],
                    "onEventAction": [
                        "campaignId": "904440",
                        "actions": [["type": "MEAppEvent", "name": "refresh_home", "payload": ["tab": "deals"]]],
                    ],
                    "deviceEventState": ["campaignStats": [:]],
                ]
            )
        ),
        SampleReply(
            "a message for the view",
            of: ["inlineMessages"],
            WireResponse(
                200,
                json: [
                    "inlineMessages": [["campaignId": "904418", "viewId": "HOME-HERO", "html": "<html>Spring</html>"]]
                ]
            )
        ),
        SampleReply("an inbox", of: ["inbox"], WireResponse(200, json: ["messages": []])),
        SampleReply(
            "a client state beside a refusal",
            WireResponse(400, headers: [WireHeader("X-Client-State", "state-90")], json: ["error": ["message": "no"]])
        ),
    ]

    /// Memory as version 1 stores it.
    static let storedMemory: JSONValue = [
        "clientID": "3f2a8c1e-6b54-4d0f-9a77-51c0de2b8e90", "applicationCode": "ABCD1-234E6", "isRegistered": true,
        "registration": "{\"platform\":\"ios\"}", "registered": .string(Corpus.phone.json.text),
        "pushSettings": "{\"importance\":4}",
        "clientState": "state-1", "contactToken": "contact-2", "refreshToken": "refresh-1",
        "identity": ["field": 2575, "value": "c-1001"], "isIdentityUncertain": false, "pushToken": "0aa1",
        "isPushUncertain": false, "owesPushToken": false, "refusesPush": false,
        "session": ["id": "0f5d3c52-8c1e-4b8b-9b57-2b6b1c1e7a10", "startedAt": 1_930_806_311_042],
        "isDisplayPaused": true, "eventState": "{\"campaignStats\":{},\"weight\":1.50}",
        "views": [["campaignID": "904417", "at": 1_930_806_311_042]],
        "clicks": [["campaignID": "904417", "buttonID": "cta", "at": 1_930_806_311_042]],
        "inbox": ["msg-1": ["seen"]], "remote": ["usesV4": true, "services": [:]], "stopped": "requests",
    ]

    /// A step as version 1 stores it: during a token renewal.
    static let storedStep: JSONValue = [
        "renewal": ["stage": "renew", "count": 1, "views": 2, "clicks": 1], "isRecorded": true, "isRegistered": false,
        "hasContact": false, "isAnonymousRefused": false, "hasToken": false, "leftToken": false, "leftContact": false,
    ]

    /// Samples for this vendor only.
    static var extras: [Sample] {
        let corpus = Corpus(pushPayload: payload)
        var android = Corpus.phone
        android.pushToken = PushToken("fcm:bk3RNwTe3H0:CI2k_HHwgIpo", service: .fcm)
        android.facts?.platform = "Android"
        android.facts?.model = "Pixel 21"
        var adopted = Corpus.phone
        adopted.identities = [DESDevice.adoptedClient: "A1B2C3D4-0000-4000-8000-00000000D001"]
        func read(_ number: Int, _ what: String, _ arguments: JSONObject = [:]) -> Sample {
            Sample(
                "des-read-\(what)",
                "The vendor is asked: \(what).",
                [corpus.operation(number, 0, .readBack(ReadRequest(what, arguments: arguments)))]
            )
        }
        func tag(_ position: Int, _ name: String, _ message: String, _ tag: String) -> EngagementOperation {
            let attributes: [AttributeName: AttributeValue] = [
                "messageId": .string(message), "tag": .string(tag),
            ]
            return corpus.operation(505, position, .track(.custom(name: name, attributes: attributes)))
        }
        return [
            Sample(
                "des-android",
                "A phone with another system, whose app hands over its push settings.",
                startsAfresh: true,
                [
                    corpus.operation(
                        500,
                        0,
                        contact: nil,
                        options: [
                            "des": [
                                "pushSettings": [
                                    "importance": 4,
                                    "channelSettings": [
                                        [
                                            "channelId": "offers", "importance": 3, "canShowBadge": true,
                                            "canBypassDnd": false, "shouldVibrate": true, "shouldShowLights": false,
                                        ]
                                    ],
                                ]
                            ]
                        ],
                        .registerDevice(android)
                    )
                ]
            ),
            Sample(
                "des-adopted",
                "The client id of the vendor's own SDK is given in.",
                startsAfresh: true,
                [corpus.operation(501, 0, contact: nil, .registerDevice(adopted))]
            ),
            Sample(
                "des-session",
                "The app starts, an offer is seen and clicked, and the app is left.",
                [
                    corpus.operation(502, 0, options: ["des": ["appStart": true]], .track(.sessionStarted)),
                    corpus.operation(
                        502,
                        1,
                        options: ["des": ["sid": "7a3_Hq9zL2", "url": "https://shop.example/offers"]],
                        .track(.messageViewed(messageID: "904417"))
                    ),
                    corpus.operation(502, 2, .track(.messageClicked(messageID: "904417", buttonID: "cta-primary"))),
                    corpus.operation(502, 3, .track(.messageViewed(messageID: "904417"))),
                    corpus.operation(502, 4, appState: .background, .track(.sessionEnded)),
                ]
            ),
            Sample(
                "des-in-app-off",
                "Aino wants no messages inside the app; the next event says so.",
                [
                    corpus.operation(
                        503,
                        0,
                        .changeSubscription(Subscription(channel: .inApp, state: .unsubscribed))
                    ),
                    corpus.operation(503, 1, .track(.custom(name: "Wishlist Opened"))),
                ]
            ),
            Sample(
                "des-token-too-old",
                "After nine hours the contact token has to be renewed.",
                [corpus.operation(560, 0, .track(.messageClicked(messageID: "904417", buttonID: "later")))]
            ),
            Sample(
                "des-inbox-tags",
                "Two tags of a message change; nothing of the inbox is known.",
                [tag(0, "inbox:tag:add", "msg-1", "Pinned"), tag(1, "inbox:tag:remove", "msg-1", "seen")]
            ),
            read(506, "inbox"), read(507, "geofences"), read(508, "remoteConfig"), read(509, "remoteConfigSignature"),
            read(
                510,
                "pushMessage",
                [
                    "url":
                        "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/messages/9?signature=x&lang=fi&expires=1930900000"
                ]
            ),
        ]
    }
}

extension EventState: ExpressibleByDictionaryLiteral {
    init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(rawValue: JSONValue.object(JSONObject(elements)).text)
    }

    /// Returns a member; nil if the text is not strict JSON.
    subscript(name: String) -> JSONValue? { (try? JSONValue(parsing: rawValue))?[name] }
}

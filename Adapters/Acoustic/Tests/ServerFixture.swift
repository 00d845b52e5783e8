import PatchbayAcousticSimulator
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting

@testable import PatchbayAcoustic
@testable import PatchbayAcousticServer

/// The server API of a shop whose database has a column for every attribute of the corpus.
enum ServerFixture {
    private static let flags = [
        "IsBetaTester", "IsGold", "IsMusic", "IsSailing", "IsSilver", "IsSports", "Push", "PushWeekly", "MailWeekly",
        "Sms",
    ]

    static let settings: JSONObject = [
        "baseUrl": "https://api-campaign-eu-1.goacoustic.com", "clientId": "8a1e0f5c-client",
        "clientSecret": "c7Xw9-secret-of-the-client", "refreshToken": "r3Fq1-refresh-of-the-user",
        "databaseId": "771100", "keyColumn": "MemberNo", "emailColumn": "EMAIL",
        "columns": .object(flags.reduce(into: Fixture.columns) { $0[$1] = ["type": "yesNo"] }),
        "attributeNames": .object(Fixture.names), "identifierColumns": ["email": "EMAIL", "phone": "Landline"],
        "tagColumns": [
            "beta_tester": "IsBetaTester", "gold": "IsGold", "music": "IsMusic", "sailing": "IsSailing",
            "silver": "IsSilver", "sports": "IsSports",
        ],
        "subscriptionColumns": [
            "push": "Push", "push.weekly_offers": "PushWeekly", "email.weekly_offers": "MailWeekly", "sms": "Sms",
        ],
        "tagLists": ["beginner": "880022", "reader": "880023"], "subscriptionLists": ["email.digest": "880024"],
        "consentQualifiers": ["push.device": "gcb4hVDsXq", "sms.alerts": "24680"],
        "eventCodes": ["Order Placed": "211"],
    ]

    static let account: JSONObject = [
        "clientId": "8a1e0f5c-client", "clientSecret": "c7Xw9-secret-of-the-client",
        "refreshToken": "r3Fq1-refresh-of-the-user", "databaseId": "771100", "keyColumn": "MemberNo",
        "emailColumn": "EMAIL", "poison": "poison",
    ]

    static func adapter(_ changes: JSONObject = [:]) throws -> AcousticServer {
        var settings = settings
        for change in changes { settings[change.name] = change.value }
        let table = AcousticServerSettings.table
        return try AcousticServer(settings: table.read(settings, over: AcousticServerSettings(), at: "settings"))
    }

    static func harness() throws -> AdapterHarness<AcousticServer> {
        let corpus = Corpus(side: .server)
        return try AdapterHarness(
            settings: settings,
            samples: .init(
                pushPayload: Fixture.push,
                readBack: ReadRequest("contact"),
                // The driver needs a token and a contact before the samples. Only samples that start without state show
                // how both are created.
                preparation: [corpus.operation(0, 0, .changeAttributes([.city: .set("Espoo")]))],
                extras: extras
            ),
            vendor: .init(
                // The token outlives samples that are hours apart. A caller does not wait for a job.
                simulator: AcousticServerSimulator(settings: account.with(["tokenLife": 86_400, "jobTime": 0])),
                refusal: WireResponse(400, json: ["meta": ["generalErrors": ["No."]]]),
                replies: replies
            ),
            memory: .init(
                expected: AcousticServerScene.expectedState,
                stored: [
                    StoredState(version: 1, part: .memory, json: memory),
                    StoredState(
                        version: 1,
                        part: .step,
                        json: [
                            "most": 25, "verb": "update", "contactID": "881200001", "isFound": true,
                            "email": "aino@example.com", "phone": "358401234567", "hasConsent": true,
                            "isMissing": true, "isWritten": true, "lists": 1, "job": "4471",
                            "lostJobs": 1,
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
                    rule: RuleID("acoustic", "S38")
                )
            ],
            goldens: Goldens(subfolder: "server")
        )
    }

    private static func options(_ options: JSONObject) -> [AdapterID: JSONObject] { ["acoustic-server": options] }

    /// Contacts of one lane, so that their operations can share a request.
    private static let neighbours = ["c-1001", "c-1005", "c-1009"]

    private static func alerts(_ state: Subscription.State) -> Action {
        .changeSubscription(Subscription(channel: .sms, topic: "alerts", state: state))
    }

    private static func of(_ contact: String, _ operation: EngagementOperation) -> EngagementOperation {
        var operation = operation
        (operation.contact, operation.subject) = (contact, Subject(rawValue: contact))
        return operation
    }

    /// Samples of behavior that is specific to this API.
    private static var extras: [Sample] {
        let corpus = Corpus(side: .server)
        let everything = Action.changeAttributes([
            "favourite_colour": .set("red & \"blue\""), "visits": .set(42), "newsletter_reader": .set(false),
            "first_purchase": .set(AttributeValue(text: "2028-02-29", as: .date) ?? ""),
            "delivery_hour": .set(AttributeValue(text: "08:30", as: .time) ?? ""),
            "last_visit": .set(AttributeValue(text: "2031-03-08T22:15:00.250Z", as: .timestamp) ?? ""),
            "shipping_country": .set(AttributeValue(text: "FI", as: .country) ?? ""),
            "interests": .set(.choices(["gardening", "sailing"])), "loyalty_tier": .set("gold"),
            "Mobile": .set("+358401234567"), "city": .unset,
        ])
        let mail = Action.identify([Corpus.aino[1]])
        let out = Action.changeSubscription(Subscription(channel: .email, state: .unsubscribed))
        return [
            Sample(
                "acoustic-server-afresh",
                "The provider has no access token yet.",
                startsAfresh: true,
                [corpus.operation(510, 0, .changeAttributes([.city: .set("Turku")]))]
            ),
            Sample(
                "acoustic-server-everything",
                "A contact gets a value of each type of column.",
                [corpus.operation(511, 0, everything)]
            ),
            Sample(
                "acoustic-server-update",
                "A contact is updated and not added.",
                [
                    corpus.operation(
                        512,
                        0,
                        options: options(["unknownContacts": "refuse"]),
                        .changeAttributes([.city: .set("Turku")])
                    )
                ]
            ),
            Sample(
                "acoustic-server-update-unknown",
                "An operation changes a contact that the database does not have.",
                isOrdinary: false,
                [
                    corpus.operation(
                        513,
                        0,
                        contact: "c-1002",
                        options: options(["unknownContacts": "refuse"]),
                        .changeAttributes([.city: .set("Turku")])
                    )
                ]
            ),
            Sample(
                "acoustic-server-opt-out",
                "A contact opts out of e-mail; a query for the address comes first.",
                // If the vendor refuses the address, the opt-out does not wait for another.
                [
                    corpus.operation(514, 0, mail),
                    corpus.operation(514, 1, options: options(["optOutWaits": false]), out),
                ]
            ),
            Sample(
                "acoustic-server-removal",
                "A call removes a contact from the database.",
                [
                    corpus.operation(515, 0, mail),
                    corpus.operation(515, 1, options: options(["erasure": "remove"]), .erase),
                ]
            ),
            Sample(
                "acoustic-server-erasures",
                "One job erases several contacts.",
                neighbours.enumerated().map { of($1, corpus.operation(516, $0, .erase)) }
            ),
            Sample(
                "acoustic-server-events",
                "One request carries events of two contacts.",
                [
                    of("c-1005", corpus.operation(517, 0, .changeAttributes([.city: .set("Oulu")]))),
                    of("c-1001", corpus.operation(517, 1, .track(.custom(name: "Wishlist Opened")))),
                    of(
                        "c-1005",
                        corpus.operation(517, 2, .track(.custom(name: "Order Placed", attributes: ["total": "49.90"])))
                    ),
                    of("c-1005", corpus.operation(517, 3, .track(.custom(name: "Wishlist Opened")))),
                ]
            ),
            Sample(
                "acoustic-server-event-with-id",
                "The back end knows the vendor's number of the contact, and the event's code.",
                [
                    corpus.operation(
                        518,
                        0,
                        options: options(["contactId": "881200001", "eventCode": "16"]),
                        .track(.custom(name: "Goal Reached"))
                    )
                ]
            ),
            Sample(
                "acoustic-server-event-unknown",
                "An event of a contact that the database does not have.",
                isOrdinary: false,
                [
                    corpus.operation(
                        519,
                        0,
                        contact: "c-1002",
                        options: options(["unknownContacts": "refuse"]),
                        .track(.custom(name: "Wishlist Opened"))
                    )
                ]
            ),
            Sample(
                "acoustic-server-import",
                "A job imports a file from the upload directory.",
                [
                    corpus.operation(
                        520,
                        0,
                        .readBack(
                            ReadRequest(
                                "import",
                                arguments: ["mapFile": "map.xml", "sourceFile": "people.csv", "encoding": "UTF-8"]
                            )
                        )
                    )
                ]
            ),
            Sample(
                "acoustic-server-job",
                "An app queries the state of a job.",
                isOrdinary: false,
                [corpus.operation(521, 0, .readBack(ReadRequest("job", arguments: ["id": "4471"])))]
            ),
            Sample(
                "acoustic-server-consent-push",
                "A person opts in on one device, with date and source.",
                [
                    corpus.operation(
                        523,
                        0,
                        options: options(["userId": "mu-7", "channelId": "ch-9"]),
                        .changeSubscription(
                            Subscription(
                                channel: .push,
                                topic: "device",
                                state: .subscribed,
                                changedAt: Timestamp(text: "2031-03-08T22:15:00.250Z"),
                                source: "preferences screen"
                            )
                        )
                    )
                ]
            ),
            Sample(
                "acoustic-server-consent-sms",
                "A person opts in to text messages, then out; the number comes from the database.",
                [
                    corpus.operation(524, 0, .identify([Identifier(.phone, "+358401234567")])),
                    corpus.operation(524, 1, alerts(.subscribed)), corpus.operation(524, 2, alerts(.unsubscribed)),
                ]
            ),
            Sample(
                "acoustic-server-consent-first-no",
                "A person opts out of text messages without an earlier opt-in.",
                isOrdinary: false,
                [corpus.operation(525, 0, options: options(["phone": "+358407654321"]), alerts(.unsubscribed))]
            ),
            Sample(
                "acoustic-server-consent-read",
                "An app queries a consent at the vendor.",
                isOrdinary: false,
                [
                    corpus.operation(
                        526,
                        0,
                        .readBack(
                            ReadRequest("consent", arguments: ["channel": "sms.alerts", "phone": "358401234567"])
                        )
                    )
                ]
            ),
            Sample(
                "acoustic-server-channel-contact",
                "An app queries the contact of a device.",
                isOrdinary: false,
                [
                    corpus.operation(
                        527,
                        0,
                        .readBack(
                            ReadRequest(
                                "channelContact",
                                arguments: ["channel": "push.device", "userId": "mu-7", "channelId": "ch-9"]
                            )
                        )
                    )
                ]
            ),
            Sample(
                "acoustic-server-lists",
                "A contact gets a tag in a column, two tags in contact lists, and a topic in a contact list.",
                [
                    corpus.operation(528, 0, .changeTags(TagChange(add: ["sports", "reader", "beginner"]))),
                    corpus.operation(
                        528,
                        1,
                        options: options(["contactId": "881200001"]),
                        .changeSubscription(Subscription(channel: .email, topic: "digest", state: .subscribed))
                    ),
                ]
            ),
            Sample(
                "acoustic-server-list-unknown",
                "A contact joins a list before any other operation.",
                [corpus.operation(529, 0, contact: "c-1002", .changeTags(TagChange(add: ["reader"])))]
            ),
            Sample(
                "acoustic-server-list-left",
                "No call removes a contact from a list.",
                isOrdinary: false,
                [corpus.operation(530, 0, .changeTags(TagChange(remove: ["reader"])))]
            ),
            Sample(
                "acoustic-server-list-new",
                "A call creates a contact list.",
                [
                    corpus.operation(
                        531,
                        0,
                        .readBack(
                            ReadRequest("createContactList", arguments: ["name": "Readers", "visibility": "shared"])
                        )
                    )
                ]
            ),
            Sample(
                "acoustic-server-columns",
                "An app queries the columns of the database.",
                [corpus.operation(532, 0, .readBack(ReadRequest("columns")))]
            ),
            Sample(
                "acoustic-server-access",
                "An app queries all data of a contact.",
                [corpus.operation(533, 0, .readBack(ReadRequest("access")))]
            ),
            Sample(
                "acoustic-server-export",
                "A job exports contacts to a file in the download directory.",
                [
                    corpus.operation(
                        534,
                        0,
                        .readBack(
                            ReadRequest("export", arguments: ["type": "optIn", "columns": ["MemberNo", "City"]])
                        )
                    )
                ]
            ),
            Sample(
                "acoustic-server-event-errors",
                "An app queries the events that the vendor rejected after accepting them.",
                [corpus.operation(535, 0, .readBack(ReadRequest("eventErrors", arguments: ["filter": "a & b"])))]
            ),
            Sample(
                "acoustic-server-option",
                "Invalid options.",
                isOrdinary: false,
                [
                    corpus.operation(
                        522,
                        0,
                        options: options(["erasure": "burn", "contactId": "x", "colour": "red"]),
                        .erase
                    )
                ]
            ),
        ]
    }

    private static func xml(_ text: String) -> WireResponse {
        WireResponse(
            200,
            headers: [WireHeader("Content-Type", "text/xml;charset=utf-8")],
            body: Array("<Envelope><Body>\(text)</Body></Envelope>".utf8)
        )
    }

    /// Returns a fault with its number.
    static func fault(_ number: Int) -> WireResponse {
        xml(
            "<RESULT><SUCCESS>false</SUCCESS></RESULT><Fault><Request/><FaultCode/><FaultString>No.</FaultString>"
                + "<detail><error><errorid>\(number)</errorid><module/><class>SP.API</class><method/></error></detail>"
                + "</Fault>"
        )
    }

    /// Returns a success reply with additional elements.
    static func success(_ elements: String = "") -> WireResponse {
        xml("<RESULT><SUCCESS>TRUE</SUCCESS>\(elements)</RESULT>")
    }

    private static func job(_ state: String, _ added: Int) -> WireResponse {
        let counts = [("TOTAL_ROWS", 10), ("SQL_ADDED", added), ("SQL_UPDATED", 4)]
        let parameters = counts.map { "<PARAMETER><NAME>\($0.0)</NAME><VALUE>\($0.1)</VALUE></PARAMETER>" }
        return success(
            "<JOB_ID>4471</JOB_ID><JOB_STATUS>\(state)</JOB_STATUS><PARAMETERS>\(parameters.joined())</PARAMETERS>"
        )
    }

    private static let replies: [SampleReply] =
        [50, 51, 106, 122, 123, 129, 1018, 145, 150, 314, 1017, 4711].map { SampleReply("fault \($0)", fault($0)) } + [
            SampleReply("SUCCESS false without a fault", xml("<RESULT><SUCCESS>false</SUCCESS></RESULT>")),
            SampleReply("SUCCESS true in small letters", xml("<RESULT><SUCCESS>true</SUCCESS></RESULT>")),
            SampleReply(
                "fault 122 after a byte-order mark",
                WireResponse(200, body: [0xEF, 0xBB, 0xBF] + fault(122).body)
            ),
            SampleReply("fault 122 after a line break", WireResponse(200, body: [0x0A] + fault(122).body)),
            SampleReply(
                "a contact",
                success("<EMAIL>aino@example.com</EMAIL><RecipientId>881200001</RecipientId><COLUMNS/>")
            ),
            SampleReply("a contact without an address", success("<EMAIL/><RecipientId>881200001</RecipientId>")),
            SampleReply("a job's number", success("<JOB_ID>4471</JOB_ID>")),
            SampleReply("a list's number", success("<CONTACT_LIST_ID>880101</CONTACT_LIST_ID>")),
            SampleReply(
                "columns",
                success("<COLUMNS><COLUMN><NAME>MemberNo</NAME><TYPE>0</TYPE></COLUMN></COLUMNS><KEY_COLUMNS/>")
            ),
            SampleReply("a job that runs", job("RUNNING", 0)),
            SampleReply("a job that is complete", job("COMPLETE", 6)),
            SampleReply("a job that dropped rows", job("COMPLETE", 5)),
            SampleReply("a job that ended in an error", job("ERROR", 0)),
            SampleReply(
                "XML with a document type",
                WireResponse(200, body: Array("<!DOCTYPE a [<!ENTITY b \"c\">]><Envelope/>".utf8))
            ),
            SampleReply("errors inside", WireResponse(200, json: ["meta": ["generalErrors": ["No."]], "data": [:]])),
            SampleReply("a job's data", WireResponse(200, json: ["meta": [:], "data": ["id": 4471]])),
            SampleReply("a job's state", WireResponse(200, json: ["data": ["id": 4471, "status": "SUBMITTED"]])),
            SampleReply("a job's end", WireResponse(200, json: ["data": ["id": 4471, "status": "ERROR"]])),
            SampleReply("a consent", WireResponse(200, json: ["meta": [:], "data": ["status": "OPT-IN"]])),
            SampleReply("a consent that says no", WireResponse(200, json: ["data": ["status": "OPTED-OUT"]])),
            SampleReply("a token", WireResponse(200, json: ["access_token": "t-9", "expires_in": 14_399])),
            SampleReply("a token that is no text", WireResponse(200, json: ["access_token": "t 9"])),
            SampleReply("an unknown client", WireResponse(401, json: ["error": "invalid_client"])),
            SampleReply("an unknown refresh token", WireResponse(400, json: ["error": "invalid_grant"])),
        ]

    private static let memory: JSONValue = [
        "token": "jwt", "tokenSince": 1_930_806_301_042, "tokenUntil": 1_930_820_701_042, "isRefused": false,
        "tokenFailures": 1, "tokenNotBefore": 1_930_806_311_042, "failures": 2, "closedUntil": 1_930_806_911_042,
    ]
}

extension JSONObject {
    /// Returns the object with changed or additional members.
    func with(_ other: JSONObject) -> JSONObject { other.reduce(into: self) { $0[$1.name] = $1.value } }
}

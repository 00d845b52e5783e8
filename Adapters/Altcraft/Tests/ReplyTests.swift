import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer
@testable import PatchbayAltcraftFiles

@Suite("Altcraft replies") struct ReplyTests {
    private static let event = Action.track(.custom(name: "Ordered"))
    private static let login = Action.switchContact(ContactSwitch(.logIn))

    private static func complaint(_ text: String) -> Outcome {
        .replied(WireResponse(400, json: ["error": 400, "error_text": .string(text), "profile": nil]))
    }

    @Test(
        .shows("altcraft/R1", "altcraft/R2", "altcraft/R3", "altcraft/R4"),
        arguments: [
            (200, ReplyMeaning.accepted), (204, .accepted), (299, .accepted), (302, .refused), (400, .refused),
            (404, .refused), (408, .refused), (409, .refused), (429, .refused), (500, .retry), (503, .retry),
            (599, .retry),
        ]
    )
    func `interprets replies by status code alone`(_ status: Int, _ meaning: ReplyMeaning) throws {
        #expect(ReplyTable.altcraft.row(for: .replied(WireResponse(status))).meaning == meaning)
        #expect(ReplyTable.altcraft.row(for: .failed(TransportFailure(.notSent, "offline"))).meaning == .retry)
    }

    @Test(.shows("altcraft/R5", "altcraft/R6"))
    func `retries with growing intervals and immediately after a wake-up`() throws {
        let expected: [Int64] = [1_000, 5_500, 30_250, 166_375, 915_063, 5_032_844, 5_032_844]
        for (failures, milliseconds) in expected.enumerated() {
            var fixture = try PlanFixture()
            let verdict = fixture.verdict(Self.event, .replied(WireResponse(502)), failures: failures).verdict
            #expect(verdict == .retry(.at(Corpus.start + .milliseconds(milliseconds), orWoken: true)))
        }
    }

    @Test func `waits until the time of Retry-After even after a wake-up`() throws {
        var fixture = try PlanFixture()
        let busy = WireResponse(503, headers: [WireHeader("Retry-After", "120")])
        let verdict = fixture.verdict(Self.event, .replied(busy)).verdict
        #expect(verdict == .retry(.at(Corpus.start + .seconds(120))))
        let longWait = WireResponse(503, headers: [WireHeader("Retry-After", "99999999")])
        #expect(fixture.verdict(Self.event, .replied(longWait)).verdict == .retry(.at(Corpus.start + .seconds(86_400))))
    }

    @Test(.shows("altcraft/R7"))
    func `rejects an operation after sixteen error replies but never because of an outage`() throws {
        var fixture = try PlanFixture()
        let fifteenth = fixture.verdict(Self.event, .replied(WireResponse(500)), failures: 14, refusals: 14).verdict
        #expect(fifteenth?.isFinal == false)
        let last = fixture.verdict(Self.event, .replied(WireResponse(500)), failures: 15, refusals: 15).verdict
        #expect(last?.finding?.code == "altcraft.reply.retryLimit")
        #expect(last?.answer?["eventCode"] == 535)
        let outage = Outcome.failed(TransportFailure(.lost, "timedOut"))
        #expect(fixture.verdict(Self.event, outage, failures: 900, refusals: 15).verdict?.isFinal == false)
    }

    @Test(.shows("altcraft/R8", "altcraft/L3"))
    func `does not retry a change of person or a query automatically`() throws {
        let failures: [Outcome] = [
            .replied(WireResponse(503)), .replied(WireResponse(404)), .replied(WireResponse(202)),
            .failed(TransportFailure(.interrupted, "processDied")),
        ]
        for outcome in failures {
            var fixture = try PlanFixture()
            let verdict = fixture.verdict(Self.login, outcome).verdict
            #expect(verdict?.isRejected == true)
            #expect(verdict?.finding?.code == "altcraft.switch.askAgain")
        }
        var fixture = try PlanFixture()
        let question = fixture.verdict(.readBack(ReadRequest("current")), .replied(WireResponse(500))).verdict
        #expect(question?.isRejected == true)
        #expect(question?.answer?["httpCode"] == 500)
        #expect(AltcraftDevice.Endpoint.allCases.filter(\.isJournaled) == [.unsuspend])
    }

    @Test(.shows("altcraft/R10"), arguments: [401, 403])
    func `rejects the operation or suspends the provider after a refused credential`(_ status: Int) throws {
        var documented = try PlanFixture()
        let rejected = documented.verdict(Self.event, .replied(WireResponse(status)))
        #expect(rejected.verdict?.finding?.code == "altcraft.reply.credential")
        #expect(rejected.suspension == nil)
        var suspending = try PlanFixture(["onUnauthorized": "park"])
        let kept = suspending.verdict(Self.event, .replied(WireResponse(status)))
        #expect(kept.verdict == .inProgress(nil, .woken))
        #expect(kept.suspension?.code == "altcraft.reply.credential")
    }

    @Test(.shows("altcraft/R10"))
    func `waits for a new credential after an expired one and rejects if that is refused`() throws {
        let driver = try Driver()
        driver.nextOutcomesByEndpoint[.customEvent] = [.replied(WireResponse(401))]
        driver.capture(together: [Driver.operation(Self.event, "e", contact: "aino")])
        driver.advance(by: .seconds(600))
        #expect(driver.endpoints == [.customEvent])
        #expect(driver.waitReason?.code == "altcraft.credential.missing")
        // Other operations are not delayed.
        #expect(driver.deliver(Driver.operation(Self.event, "other"))?.isAccepted == true)
        driver.credentials["aino"] = Token.phone("+358401234567", database: 13)
        driver.wake()
        #expect(driver.outcome(of: "e")?.isAccepted == true)

        driver.nextOutcomesByEndpoint[.customEvent] = Array(repeating: .replied(WireResponse(401)), count: 2)
        driver.capture(together: [Driver.operation(Self.event, "again", contact: "aino")])
        #expect(driver.outcome(of: "again") == nil)
        driver.credentials["aino"] = Token.aino
        driver.advance(by: .seconds(1))
        driver.wake()
        #expect(driver.outcome(of: "again")?.summary == "rejected altcraft.reply.credential")
    }

    @Test func `treats a redirect as final but not a web page`() throws {
        var fixture = try PlanFixture()
        let redirect = WireResponse(302, headers: [WireHeader("Location", "https://push.altcraft.example/x")])
        #expect(fixture.verdict(Self.event, .replied(redirect)).verdict?.finding?.code == "altcraft.reply.redirect")
    }

    @Test func `reads categories next to the subscription`() throws {
        let body: JSONValue = [
            "profile": ["cats": [["name": "tips", "active": true]], "subscription": ["status": "subscribed"]]
        ]
        var fixture = try PlanFixture()
        let verdict = fixture.verdict(RequestTests.subscribe, .replied(WireResponse(200, json: body))).verdict
        let shown = verdict?.answer.flatMap(AltcraftAnswer.init)?.profile?.subscription?.categories
        #expect(shown == [.init(name: "tips", isActive: true)])
    }

    @Test(.shows("altcraft/F15", "altcraft/F16", "altcraft/F17"))
    func `maps a known error text to its field and path`() throws {
        var fixture = try PlanFixture(["fieldNames": ["tier": "level"]])
        let field = fixture.verdict(
            .changeAttributes(["tier": .set("gold")]),
            Self.complaint("Platform profile processing error: with field \"level\": Incorrect field")
        )
        #expect(field.verdict?.finding?.code == "altcraft.reply.profileField")
        #expect(field.verdict?.finding?.path == "action.changes.tier")
        #expect(field.verdict?.finding?.reason.contains("field level, HTTP 400") == true)
        let custom = fixture.verdict(
            RequestTests.subscribe,
            Self.complaint(
                "Platform profile processing error: field \"vip\" is not valid: failed convert custom field"
            ),
            options: ["customFields": ["vip": true]]
        )
        #expect(custom.verdict?.finding?.code == "altcraft.reply.subscriptionField")
        #expect(custom.verdict?.finding?.path == "options.altcraft.customFields.vip")
        let category = fixture.verdict(
            .changeSubscription(Subscription(channel: .push, topic: "tips", state: .subscribed)),
            Self.complaint(
                "Platform profile processing error: field \"subscriptions.cats\" is not valid: "
                    + "category not found in resource"
            )
        )
        #expect(category.verdict?.finding?.code == "altcraft.reply.category")
        #expect(category.verdict?.finding?.path == "action.subscription.topic")
        #expect(category.verdict?.answer?["errorText"]?.string?.contains("category not found") == true)
    }

    @Test(.shows("altcraft/S2"))
    func `an asynchronous call returns no profile and confirms no state`() throws {
        let driver = try Driver()
        let verdict = driver.deliver(
            Driver.operation(RequestTests.subscribe, "s", contact: "aino", options: ["sync": false])
        )
        #expect(verdict?.finding?.code == "altcraft.reply.later")
        #expect(
            verdict?.answer == [
                "httpCode": 200, "error": 0, "errorText": "", "profile": nil, "eventCode": 230,
                "renumberedEventCode": 230,
            ]
        )
        #expect(driver.memory.shownSubscription == nil)
    }

    @Test(.shows("altcraft/S3", "altcraft/S4", "altcraft/S8"))
    func `reports each retried attempt and the final rejection`() throws {
        var fixture = try PlanFixture()
        let answers: [(Outcome, JSONValue)] = [
            (
                .replied(WireResponse(503, json: ["error": 503, "error_text": "busy", "profile": nil])),
                ["httpCode": 503, "error": 503, "errorText": "busy", "profile": nil, "eventCode": 530]
            ),
            (.failed(TransportFailure(.notSent, "offline")), ["httpCode": nil, "profile": nil, "eventCode": 530]),
        ]
        for (outcome, expected) in answers {
            let pending = fixture.pending(RequestTests.subscribe)
            guard case .send(let transmission) = fixture.plan(pending) else {
                Issue.record("It does not leave.")
                return
            }
            let exchange = Exchange<AltcraftDevice>(
                endpoint: transmission.endpoint,
                operations: [pending],
                request: transmission.request,
                outcome: outcome,
                startedAt: Corpus.start,
                moment: Moment(now: Corpus.start, date: Corpus.start)
            )
            let callback = try #require(
                fixture.adapter.interpret(exchange, memory: &fixture.memory).incoming.first?.object
            )
            #expect(callback["attempt"] == .string(pending.id.rawValue))
            let answer = try #require(AltcraftAnswer(.object(callback)))
            #expect(answer.renumberedEventCode == 530)
            #expect((answer.httpCode, answer.errorText) == (outcome.reply?.status, expected["errorText"]?.string))
            #expect(callback["httpCode"] == expected["httpCode"])
            #expect(callback["eventCode"] == 530)
        }
        let refused = fixture.verdict(RequestTests.subscribe, Self.complaint("no")).verdict?.answer
        #expect(
            refused == [
                "httpCode": 400, "error": 400, "errorText": "no", "profile": nil, "eventCode": 430,
                "renumberedEventCode": 430,
            ]
        )
    }

    @Test(.shows("altcraft/R9"))
    func `rejects a success with an error number if the settings say so`() throws {
        let ambiguous = WireResponse(200, json: ["error": 7, "error_text": "later", "profile": nil])
        var fixture = try PlanFixture(["errorInSuccess": "reject"])
        fixture.show("subscribed")
        let verdict = fixture.verdict(RequestTests.subscribe, .replied(ambiguous)).verdict
        #expect(verdict?.finding?.code == "altcraft.reply.errorRefused")
        #expect(verdict?.isRejected == true)
        #expect(fixture.memory.shownSubscription == nil)
        let known = WireResponse(200, json: ["error": 0, "error_text": "", "profile": nil])
        #expect(fixture.verdict(RequestTests.subscribe, .replied(known)).verdict?.isAccepted == true)
    }

    @Test(.shows("altcraft/S9", "altcraft/S6"))
    func `reports a category that the vendor did not change`() throws {
        let driver = try Driver(account: ["steadyCategories": ["legal"]])
        let off: JSONObject = ["cats": [["name": "tips", "active": false], ["name": "legal", "active": false]]]
        let verdict = driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino", options: off))
        #expect(verdict?.finding?.code == "altcraft.reply.differs")
        #expect(verdict?.finding?.reason.contains("category legal") == true)
        let shown = verdict?.answer.flatMap(AltcraftAnswer.init)?.profile?.subscription?.categories
        #expect(
            shown == [
                .init(name: "tips", title: "About tips", isSteady: false, isActive: false),
                .init(name: "legal", title: "About legal", isSteady: true, isActive: true),
            ]
        )
    }

    @Test func `assumes a subscription after a success that the settings reject`() throws {
        var fixture = try PlanFixture(["errorInSuccess": "reject"])
        _ = fixture.verdict(RequestTests.subscribe, .replied(WireResponse(200, json: ["error": 7])))
        #expect(fixture.request(.unregister) != nil)
    }

    @Test func `treats an untrusted token update as rejected and keeps both tokens as possible`() throws {
        let (old, new) = (Corpus.phone, Fixture.renewedPhone)
        var fixture = try PlanFixture(["errorInSuccess": "reject"])
        fixture.show("subscribed")
        let update = fixture.verdict(.registerDevice(new), .replied(WireResponse(200, json: ["error": 7])))
        #expect(update.verdict?.isRejected == true)
        let person = fixture.adapter.person("aino")
        #expect(fixture.memory.confirmed(of: person)?.address == PushAddress(old))
        let reachable = fixture.memory.reachable(person).map(\.address.token)
        #expect(Set(reachable) == Set([old, new].compactMap { PushAddress($0)?.token }))
    }

    @Test func `a query that no longer finds the old token completes an update without a reply`() throws {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        driver.processesReplacedRequests = true
        driver.nextOutcomesByEndpoint[.tokenUpdate] = [.failed(TransportFailure(.lost, "timedOut"))]
        driver.capture(together: [Driver.operation(.registerDevice(Fixture.renewedPhone), "r", contact: "aino")])
        driver.capture(together: [Driver.operation(.readBack(ReadRequest("current")), "q", contact: "aino")])
        driver.drain()
        var third = Corpus.phone
        third.pushToken = PushToken("1bb2e11e6699bb21")
        driver.deliver(Driver.operation(.registerDevice(third), "r3", contact: "aino"))
        let tokens = driver.state.profiles(in: 12).flatMap(\.subscriptions).map { $0.token.lowercased() }
        #expect(tokens == ["1bb2e11e6699bb21"])
    }

    @Test(.shows("altcraft/R9", "altcraft/R11", "altcraft/S1", "altcraft/S5", "altcraft/S6"))
    func `decodes a typed answer with both error numbers`() throws {
        let body: JSONValue = [
            "error": 7, "error_text": "later",
            "profile": [
                "id": "p-1", "status": "subscribed", "is_test": false,
                "subscription": [
                    "subscription_id": "t", "hash_id": "c52b28d2", "provider": "ios-apns", "status": "suspended",
                    "fields": ["_os_ver": ["raw": "18.1", "ver": "[]"], "amount": 150],
                    "cats": [["name": "tips", "title": "Tips", "steady": true, "active": false]],
                ],
            ],
        ]
        var fixture = try PlanFixture()
        let suspend = Action.changeSubscription(Subscription(channel: .push, state: .suspended))
        let verdict = try #require(fixture.verdict(suspend, .replied(WireResponse(200, json: body))).verdict)
        #expect(verdict.finding?.code == "altcraft.reply.errorInSuccess")
        let answer = try #require(verdict.answer.flatMap(AltcraftAnswer.init))
        #expect((answer.httpCode, answer.error, answer.errorText) == (200, 7, "later"))
        #expect((answer.eventCode, answer.renumberedEventCode) == (230, 231))
        #expect(answer.profile?.isTest == false)
        let subscription = try #require(answer.profile?.subscription)
        #expect((subscription.hashID, subscription.status) == ("c52b28d2", "suspended"))
        #expect(subscription.fields?["_os_ver"]?["raw"] == "18.1")
        #expect(subscription.categories == [.init(name: "tips", title: "Tips", isSteady: true, isActive: false)])
        #expect(AltcraftAnswer(answer.json) == answer)
        let empty = try #require(fixture.verdict(suspend, .replied(WireResponse(200))).verdict)
        #expect(empty.answer == ["httpCode": 200, "profile": nil, "eventCode": 230, "renumberedEventCode": 231])
        #expect(AltcraftAnswer([:]) == nil)
    }

    @Test func `queries the vendor again after uncertain delivery`() throws {
        let driver = try Driver()
        driver.deliver(Driver.operation(RequestTests.subscribe, "s", contact: "aino"))
        #expect(driver.memory.shownSubscription?.status == "subscribed")
        driver.nextOutcomesByEndpoint[.subscribe] = [.replied(WireResponse(500))]
        driver.forgetHistory()
        let topic = Action.changeSubscription(Subscription(channel: .push, topic: "tips", state: .unsubscribed))
        let verdict = driver.deliver(Driver.operation(topic, "t", contact: "aino"))
        #expect(verdict?.isAccepted == true)
        #expect(driver.endpoints == [.subscribe, .status, .subscribe])
    }

    @Test func `an unreadable answer changes no state`() throws {
        let topic = Action.changeSubscription(Subscription(channel: .push, topic: "tips", state: .unsubscribed))
        let page = WireResponse(200, body: Array("not what was asked".utf8))
        var fixture = try PlanFixture()
        #expect(fixture.verdict(topic, .replied(page)).verdict?.finding?.code == "altcraft.reply.unreadable")
        #expect(fixture.memory.shownSubscription == nil)
    }

    @Test(.shows("altcraft/R12"))
    func `repeats a lost change before it sends a later one`() throws {
        let driver = try Driver()
        driver.nextOutcomesByEndpoint[.profileUpdate] = [.failed(TransportFailure(.lost, "timedOut"))]
        for (number, colour) in ["blue", "green", "blue"].enumerated() {
            let change = Action.changeAttributes(["colour": .set(.string(colour))])
            #expect(driver.deliver(Driver.operation(change, "c-\(number)", contact: "aino"))?.isAccepted == true)
        }
        #expect(driver.endpoints.count == 4)
        #expect(driver.state.profiles(in: 12).first?.fields["colour"] == "blue")
        let places = [Action.changeAttributes([:]), .changeTags(TagChange())].map {
            driver.adapter.place(Driver.operation($0, "p")).queue
        }
        #expect(places == ["profile", "profile"])
    }

    @Test(.shows("altcraft/R12"))
    func `a former person's operation does not block other people's`() throws {
        var fixture = try PlanFixture()
        let event = Action.track(.custom(name: "Ordered"))
        let queues = [nil, "aino", "jose"].map { contact in
            fixture.adapter.place(Driver.operation(event, "e", contact: contact)).queue
        }
        #expect(Set(queues).count == 3)
        #expect(queues.allSatisfy { !$0.contains("aino") })
        let come = fixture.pending(RequestTests.subscribe, id: "second", sequence: 2, contact: "jose")
        fixture.credential = nil
        let optOut = Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed))
        let gone = fixture.pending(optOut, id: "first", sequence: 1)
        let after = fixture.pending(RequestTests.subscribe, id: "third", sequence: 3)
        #expect(fixture.plan(gone, after).waitsFor == "altcraft.credential.missing")
        guard case .send(let transmission) = fixture.plan(gone, after, come) else {
            Issue.record("José waits for Aino.")
            return
        }
        #expect(transmission.operations == ["second"])
    }
}

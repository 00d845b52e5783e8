import Patchbay
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

/// Operations wait while the person, a consent, a credential, the settings, or the route change.
@Suite("DES: changes while operations wait") struct ChangingFactsTests {
    private func consent(_ purpose: Purpose, _ channel: Channel? = nil, _ state: Consent.State) -> Action {
        .setConsent(Consent(purpose: purpose, channel: channel, state: state))
    }

    /// Returns the names of the vendor's events for a contact.
    private func events(_ driver: Driver, of contact: String) -> [String] {
        driver.state.events.filter { $0.contact == contact }.map(\.name)
    }

    // MARK: People

    @Test(.shows("des/N6"), arguments: [400, 403, 404])
    func `rejects operations after a refused log-in instead of using the earlier contact`(status: Int) throws {
        let driver = try Driver.started()
        driver.script = [.status(status)]
        driver.capture(.logIn("c-1002"))
        driver.advance(by: .seconds(1))
        let ids = driver.capture(together: .event("José's"), .view("jose-1"), .click("jose-1"))
        driver.capture(.inline("home-hero"))
        #expect(ids.allSatisfy { driver.outcome(of: $0)?.summary == "rejected des.contact.another" })
        #expect(events(driver, of: "2575=c-1001") == [] && driver.client?.views == [:] && driver.client?.clicks == [:])
        #expect(driver.sent.map(\.endpoint) == [.contact])
        driver.capture(.logIn("c-1002"))
        _ = try driver.world.replayRejects(of: "vendor")
        driver.advance(by: .seconds(2))
        #expect(Set(events(driver, of: "2575=c-1002")) == ["José's", "inapp:viewed", "inapp:click"])
        #expect(driver.client?.views == ["jose-1": 1] && driver.client?.clicks == ["jose-1": 1])
    }

    @Test(.shows("des/N6")) func `rejects events after a refused log-out instead of assigning them to the person`()
        throws
    {
        let driver = try Driver.started()
        driver.script = [.status(403)]
        driver.capture(.logOut)
        driver.advance(by: .seconds(1))
        let id = driver.capture(.event("anonymous"))
        #expect(driver.outcome(of: id)?.summary == "rejected des.contact.another" && driver.state.events == [])
    }

    @Test func `assigns events to the anonymous contact if consent prevents the log-in`()
        throws
    {
        let driver = try Driver.started(contact: nil)
        driver.capture(consent(.profile, nil, .denied))
        driver.capture(.logIn("c-1001"))
        driver.capture(.event("Aino's"))
        #expect(events(driver, of: "anonymous") == ["Aino's"])
    }

    @Test(.shows("des/R27"))
    func `keeps the views of refused events until their person returns`() throws {
        let driver = try Driver.started()
        driver.script = [.status(400)]
        driver.capture(.view("aino-1"))
        driver.advance(by: .seconds(1))
        driver.capture(together: .logIn("c-1002"), .event("José's"))
        #expect(driver.sent.last?.body.campaigns("viewedMessages") == [] && driver.client?.views == [:])
        driver.capture(together: .logIn("c-1001"), .event("Aino's"))
        #expect(
            driver.sent.last?.body.campaigns("viewedMessages") == ["aino-1"] && driver.client?.views == ["aino-1": 1]
        )
    }

    @Test(.shows("des/R16")) func `does not use one person's inbox for the next person`() throws {
        let driver = try Driver.started()
        driver.capture(.readBack(ReadRequest("inbox")))
        #expect(driver.verdict(.tag("inbox:tag:add", "msg-1", "seen"))?.isUnchanged == true)
        driver.capture(.logIn("c-1002"))
        #expect(driver.verdict(.tag("inbox:tag:add", "msg-1", "seen"))?.isAccepted == true)
    }

    @Test(.shows("des/R16")) func `resends a tag change after uncertain delivery`() throws {
        let driver = try Driver.started()
        driver.capture(.readBack(ReadRequest("inbox")))
        driver.processesReplacedRequests = true
        driver.script = [.lost, .status(400)]
        driver.capture(.tag("inbox:tag:add", "msg-1", "pinned"))
        driver.wake()
        driver.advance(1_000)
        #expect(driver.verdict(.tag("inbox:tag:remove", "msg-1", "pinned"))?.isAccepted == true)
        #expect(driver.state.tags == ["msg-1": ["seen"]])
    }

    @Test(.shows("des/N6")) func `answers a query only under the contact of the person who asks`() throws {
        let driver = try Driver.started()
        driver.script = [.status(503)]
        driver.capture(.logIn("c-1002"))
        driver.advance(by: .seconds(2))
        driver.script = [.status(503)]
        let early = driver.capture(.readBack(ReadRequest("inbox")))
        #expect(driver.outcome(of: early)?.summary == "rejected des.contact.another")
        driver.advance(by: .seconds(2))
        let id = driver.capture(.readBack(ReadRequest("inbox")))
        #expect(driver.outcome(of: id)?.isAccepted == true && driver.client?.contact == "2575=c-1002")
        #expect(driver.endpoints == [.contact, .contact, .contact, .inbox])
    }

    @Test(.shows("des/A4")) func `does not use a person's tokens for the next person`() throws {
        let driver = try Driver.started()
        driver.script = [.status(204)]
        driver.capture(.logIn("c-1002"))
        #expect(driver.memory.contactToken == nil && driver.memory.refreshToken == nil)
        driver.capture(.event("José's"))
        #expect(driver.last?.request[header: "X-Contact-Token"] == nil && driver.state.events == [])
        driver.advance(by: .seconds(1))
        // The same person can log in again, and gets a token.
        driver.capture(.logIn("c-1002"))
        #expect(driver.memory.contactToken != nil && driver.client?.contact == "2575=c-1002")
    }

    // MARK: Denials

    private static let unrelated: [(Purpose, Channel?)] = [
        (.messaging, .email), (.messaging, .sms), (.messaging, .push), (.messaging, nil), (.tracking, .email),
        (.tracking, .push), (.profile, .email),
    ]

    @Test(.shows("des/N1"), arguments: 0..<unrelated.count)
    func `an unrelated denial keeps state, views, clicks, session and inbox`(number: Int) throws {
        let (purpose, channel) = Self.unrelated[number]
        let driver = try Driver.started()
        driver.capture(.readBack(ReadRequest("inbox")))
        driver.capture(together: .track(.sessionStarted), .view("7"))
        driver.script = [.status(500)]
        driver.capture(together: .view("7"), .click("8"))
        let before = driver.memory
        #expect(before.eventState != nil && before.session != nil && before.views.count == 1 && before.inbox != nil)
        driver.script = [.status(500)]
        driver.capture(consent(purpose, channel, .denied))
        let after = driver.memory
        #expect((after.eventState, after.session, after.inbox) == (before.eventState, before.session, before.inbox))
        #expect(after.views == before.views && after.clicks == before.clicks)
        driver.advance(by: .seconds(2))
        driver.wake()
        #expect(driver.memory.eventState?["campaignStats"]?["7"]?["views"] == 2)
        #expect(driver.memory.eventState?["campaignStats"]?["8"]?["clicks"] == 1)
    }

    @Test func `denials in any order have the same effect`() throws {
        var memory = try Driver.started().memory
        memory.eventState = ["n": 1]
        memory.views = [EngagementRow(campaignID: "7", at: Corpus.start)]
        memory.inbox = ["msg-1": []]
        let scopes: [Consent.Scope] = [.tracking, .profile, .messaging, Consent.Scope(.tracking, channel: .push)]
        func applied(_ order: [Consent.Scope]) -> DESMemory { order.reduce(memory) { $0.afterDenial(of: $1) } }
        #expect(applied(scopes) == applied(scopes.reversed()))
        let rest = applied(scopes)
        #expect(rest.eventState == nil && rest.views == [] && rest.inbox == nil && rest.pushToken == memory.pushToken)
    }

    @Test(.shows("des/N1"))
    func `registers the installation again before the next event after a tracking denial`() throws {
        let driver = try Driver.started()
        driver.capture(together: .event("a"), .view("7"))
        driver.capture(.event("b"))
        driver.forget()
        driver.capture(consent(.tracking, nil, .denied))
        #expect(driver.memory.eventState == nil && driver.endpoints == [])
        driver.capture(consent(.tracking, nil, .granted))
        driver.capture(.event("c"))
        #expect(driver.endpoints == [.client, .events] && driver.state.violations == [])
    }

    // MARK: Opt-outs

    @Test(.shows("des/B4")) func `sends an opt-out before a log-in that waits for its ID token`() throws {
        let driver = try Driver.started(["contactProof": "openIdToken"], contact: nil)
        driver.capture(.logIn("c-1002"))
        let opened = driver.capture(.push(.subscribed))
        let closed = driver.capture(.push(.unsubscribed))
        #expect(driver.client?.pushToken == nil && driver.outcome(of: closed)?.isAccepted == true)
        #expect(driver.outcome(of: opened)?.term == .superseded)
        #expect(driver.waits?.code == "des.credential.missing")
        driver.credential = Fixture.idToken
        driver.wake()
        #expect(driver.client?.pushToken == nil && driver.memory.refusesPush && driver.pendingCount == 0)
    }

    @Test func `an opt-out does not wait for the registration`() throws {
        let driver = try Driver()
        #expect(driver.verdict(.push(.unsubscribed))?.isUnchanged == true)
        driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.client != nil && driver.client?.pushToken == nil)
    }

    @Test(.shows("des/R33"))
    func `completes an opt-out although the vendor no longer accepts the contact token`() throws {
        let driver = try Driver.started()
        driver.state.clients[0].token = nil
        driver.state.clients[0].refreshToken = "another"
        let id = driver.capture(.push(.unsubscribed))
        driver.advance(by: .seconds(2))
        #expect(driver.outcome(of: id)?.isAccepted == true && driver.client?.pushToken == nil)
        #expect(driver.endpoints == [.pushTokenRemoval, .contactToken, .contact, .pushTokenRemoval])
        #expect(driver.client?.contact == "2575=c-1001")
    }

    // MARK: Credentials and tokens

    private static let expired = Secret("eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.c2ln")

    @Test(.shows("des/B4")) func `an expired ID token waits like a missing one`() throws {
        let driver = try Driver.started(["contactProof": "openIdToken"], contact: nil)
        driver.credential = Self.expired
        let id = driver.capture(.logIn("c-1001"))
        #expect(driver.endpoints == [] && driver.outcome(of: id) == nil && driver.waits != nil)
        driver.credential = Fixture.idToken
        driver.wake()
        #expect(driver.outcome(of: id)?.isAccepted == true)
    }

    @Test(.shows("des/B4", "des/R33"))
    func `requests a new ID token after a refused one before it rejects the log-in`() throws {
        let driver = try Driver.started(["contactProof": "openIdToken"], contact: nil)
        driver.credential = Secret("first")
        driver.respond = { $0.endpoint == .contact ? .status(401) : nil }
        let id = driver.capture(.logIn("c-1001"))
        driver.advance(by: .seconds(5))
        #expect(driver.outcome(of: id) == nil && driver.waits?.code == "des.credential.missing")
        driver.credential = Secret("second")
        driver.wake()
        driver.advance(by: .seconds(5))
        #expect(driver.outcome(of: id)?.summary == "rejected des.reply.renewalsSpent")
    }

    @Test(.shows("des/N6")) func `rejects a waiting log-in when another person logs in`() throws {
        let driver = try Driver.started(["contactProof": "openIdToken"], contact: nil)
        driver.credentials = ["c-1002": Secret("token-of-José")]
        let first = driver.capture(.logIn("c-1001"))
        driver.capture(.event("Aino's"))
        driver.capture(.logIn("c-1002"))
        driver.capture(.event("José's"))
        #expect(driver.outcome(of: first)?.summary == "rejected des.contact.overtaken")
        #expect(events(driver, of: "2575=token:token-of-José") == ["José's"])
        #expect(events(driver, of: "anonymous").isEmpty)
    }

    @Test(.shows("des/N6"))
    func `rejects a waiting log-in even if the next log-in waits for consent`() throws {
        let driver = try Driver(["contactProof": "openIdToken"])
        driver.requiredConsent = [.profile]
        driver.restart()
        driver.capture(.setConsent(Consent(purpose: .profile, state: .granted)))
        driver.capture(.registerDevice(Corpus.phone))
        let first = driver.capture(.logIn("c-1001"))
        driver.capture(.logIn("c-1002"))
        driver.credentials = ["c-1001": Secret("token-of-Aino")]
        driver.wake()
        driver.drain()
        #expect(driver.outcome(of: first)?.summary == "rejected des.contact.overtaken")
        #expect(driver.client?.contact == "anonymous")
    }

    @Test(.shows("des/B3")) func `a malformed push token does not replace a valid one`() throws {
        let driver = try Driver.started()
        var device = Corpus.phone
        device.pushToken?.value = "7c1f 3ad0"
        #expect(driver.verdict(.registerDevice(device))?.summary == "rejected des.pushToken.form")
        #expect(driver.client?.pushToken == Corpus.phone.pushToken?.value)
        #expect(driver.memory.device?.pushToken == Corpus.phone.pushToken)
    }

    @Test(.shows("des/R7"))
    func `a registration that restores a removed token sets the newest one`() throws {
        let driver = try Driver.started(account: ["tokenLifetimeSeconds": 60])
        var newer = Corpus.phone
        newer.pushToken?.value = "0f1e2d3c4b5a6978"
        driver.advance(by: .seconds(90))
        driver.script = [.status(503)]
        driver.capture(together: .event("x"), .registerDevice(newer))
        driver.advance(by: .seconds(2))
        driver.wake()
        driver.advance(by: .seconds(5))
        #expect(driver.client?.pushToken == "0f1e2d3c4b5a6978" && driver.pendingCount == 0)
    }

    // MARK: Timing

    @Test(.shows("des/R20"), arguments: [Action.event("x"), .view("1"), .click("904418", "open")])
    func `sends a click captured during a failing request with the next query`(first: Action)
        throws
    {
        let driver = try Driver.started()
        driver.replyDelay = .milliseconds(300)
        driver.script = [.status(500)]
        driver.capture(first)
        driver.advance(by: .milliseconds(100))
        let isClick = first == .click("904418", "open")
        driver.capture(.click("904418", "close"))
        driver.capture(.inline("home-hero"))
        driver.advance(by: .seconds(1))
        let inline = try #require(driver.sent.first { $0.endpoint == .inlineMessages })
        #expect(inline.body.campaigns("clicks") == (isClick ? ["904418", "904418"] : ["904418"]))
        driver.advance(by: .seconds(5))
        driver.wake()
        driver.advance(by: .seconds(5))
        #expect(driver.client?.clicks == ["904418": isClick ? 2 : 1] && driver.pendingCount == 0)
    }

    @Test(.shows("des/R20", "des/R33"))
    func `sends a click captured before the retry after a token renewal with the next query`() throws {
        let driver = try Driver.started()
        driver.state.clients[0].token = nil
        driver.capture(.event("x"))
        driver.advance(by: .milliseconds(250))
        driver.capture(.click("904418", "close"))
        driver.capture(.inline("home-hero"))
        #expect(driver.last?.endpoint == .inlineMessages && driver.last?.body.campaigns("clicks") == ["904418"])
        driver.advance(by: .seconds(5))
        #expect(driver.client?.clicks == ["904418": 1] && driver.pendingCount == 0)
    }

    @Test(.shows("des/R20")) func `sends a click captured after many events with a query`() throws {
        let driver = try Driver.started()
        driver.goOffline()
        for number in 0..<20 {
            driver.capture(together: (0..<30).map { driver.operation(.event("event-\(number)-\($0)")) })
        }
        driver.capture(.click("904418", "close"))
        driver.advance(by: .seconds(5))
        driver.capture(.inline("home-hero"))
        let inline = try #require(driver.sent.first { $0.endpoint == .inlineMessages })
        #expect(inline.body.campaigns("clicks") == ["904418"])
        driver.goOnline()
        driver.advance(by: .seconds(60))
        #expect(driver.pendingCount == 0 && driver.client?.clicks == ["904418": 1])
        let names = driver.state.events.filter { $0.type == "custom" }.map(\.name)
        #expect(names.first == "event-0-0" && names.last == "event-19-29" && names.count == 600)
    }

    // MARK: Replies

    private static let readable = [
        "\u{FEFF}{\"deviceEventState\":{\"new\":1}}": "{\"new\":1}",
        "{\"message\":{\"x\":1,\"x\":2},\"deviceEventState\":{\"new\":1}}": "{\"new\":1}",
        "{\"deviceEventState\":{\"new\":1},\"deviceEventState\":{\"newer\":1}}": "{\"newer\":1}",
        "{\"deviceEventState\": {\"a\":1, \"a\":2} }": "{\"a\":1, \"a\":2}",
        "{\"deviceEventState\":{\"t\":\"\\ud800\"}}": "{\"t\":\"\\ud800\"}",
        "{\"deviceEventState\":{\"t\":\"\\udc00\\ud83d\\ude00\"},\"m\":\"\\ud800\"}":
            "{\"t\":\"\\udc00\\ud83d\\ude00\"}",
    ]

    @Test(.shows("des/R23", "des/R25"), arguments: readable.keys.sorted())
    func `keeps a device event state unchanged, even if it is not strict JSON`(body: String) throws {
        let driver = try Driver.started()
        driver.script = [.replied(WireResponse(200, body: Array(body.utf8)))]
        let id = driver.capture(.view("7"))
        #expect(driver.outcome(of: id)?.summary == "accepted")
        let state = try #require(Self.readable[body])
        #expect(driver.memory.eventState?.rawValue == state && driver.memory.views == [])
        driver.script = [.status(204)]
        driver.capture(.event("next"))
        let sent = String(decoding: try #require(driver.last).request.body, as: UTF8.self)
        #expect(sent.contains("\"deviceEventState\":\(state)"))
    }

    @Test(
        .shows("des/R24", "des/R25"),
        arguments: ["{\"deviceEventState\":{\"new\":1", "{\"deviceEventState\":{\"new\":}}", "{", "OK", "{\"a\":1}}"]
    )
    func `reports an unreadable answer and sends the views again with the next request`(body: String) throws {
        let driver = try Driver.started()
        driver.script = [.replied(WireResponse(200, body: Array(body.utf8)))]
        let id = driver.capture(.view("7"))
        #expect(driver.outcome(of: id)?.summary == "accepted des.reply.damaged" && driver.memory.views.count == 1)
        driver.capture(.event("next"))
        #expect(driver.last?.body.campaigns("viewedMessages") == ["7"])
        #expect(driver.memory.eventState?["campaignStats"]?["7"]?["views"] == 1 && driver.memory.views == [])
    }

    @Test(.shows("des/R24")) func `applies a complete state in a damaged answer`() throws {
        let driver = try Driver.started()
        driver.script = [.replied(WireResponse(200, body: Array("{\"deviceEventState\":{\"n\":1},\"message\":{".utf8)))]
        let id = driver.capture(.view("7"))
        #expect(driver.outcome(of: id)?.summary == "accepted des.reply.damaged")
        #expect(driver.memory.eventState == ["n": 1] && driver.memory.views == [])
    }

    @Test(.shows("des/A4")) func `treats a damaged answer to a log-in as no answer`() throws {
        let driver = try Driver.started()
        driver.script = [.replied(WireResponse(200, body: Array("{\"contactToken\":\"ab".utf8)))]
        let id = driver.capture(.logIn("c-1002"))
        #expect(driver.outcome(of: id) == nil && driver.memory.identity?.value == "c-1001")
        driver.advance(by: .seconds(2))
        driver.wake()
        #expect(driver.outcome(of: id)?.isAccepted == true && driver.client?.contact == "2575=c-1002")
    }

    @Test(.shows("des/R27"), arguments: [false, true])
    func `counts a replayed view or click once`(isCountedBefore: Bool) throws {
        let driver = try Driver.started()
        driver.script = [.status(400)]
        driver.capture(together: .view("7"), .click("8"))
        if isCountedBefore { driver.capture(.event("between")) }
        _ = try driver.world.replayRejects(of: "vendor")
        driver.advance(by: .seconds(2))
        driver.capture(.event("after"))
        #expect(driver.client?.views == ["7": 1] && driver.client?.clicks == ["8": 1])
        #expect(driver.state.events.filter { $0.type == "internal" }.count == 2 && driver.memory.counted == nil)
    }

    @Test(.shows("des/R26", "des/R1"))
    func `takes the service version from the setting, not from the address`() throws {
        let driver = try Driver.started(["eventService": "v3", "eventServiceUrl": "https://gateway.example/v4"])
        driver.respond = { $0.endpoint == .events ? .status(200, ["deviceEventState": ["n": 1]]) : nil }
        driver.capture(.view("7"))
        #expect(driver.memory.views.count == 1 && driver.memory.eventState == nil)
    }

    // MARK: Settings and routes

    @Test(arguments: [nil, 503] as [Int?])
    func `sends opt-outs and erasures while an unanswered request is in flight`(status: Int?) throws {
        for action in [Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed)), .erase] {
            let driver = try Driver.started()
            driver.replyDelay = .seconds(5)
            driver.script = [status.map { .status($0) } ?? .failed(TransportFailure(.lost, "timedOut"))]
            driver.capture(.event("first"))
            driver.advance(by: .seconds(1))
            let id = driver.capture(action)
            // Nothing else happens.
            driver.advance(by: .seconds(60))
            #expect(driver.outcome(of: id)?.isAccepted == true)
            #expect(driver.client?.pushToken == nil)
        }
    }

    @Test(.shows("des/R39"))
    func `restarts a partial registration at another application`()
        throws
    {
        let driver = try Driver()
        driver.nextOutcomesByEndpoint = [.anonymousContact: [.status(503)]]
        let id = driver.capture(.registerDevice(Corpus.phone))
        #expect(driver.endpoints == [.client, .anonymousContact])
        driver.forget()
        try driver.restart(["applicationCode": "WXYZ9-876F5"])
        #expect(driver.outcome(of: id)?.isAccepted == true && driver.state.violations == [])
        let first = try #require(driver.sent.first { $0.request.url.contains("/WXYZ9-876F5/") })
        #expect(first.endpoint == .client)
        #expect(driver.state.client(Corpus.installation.rawValue, application: "WXYZ9-876F5")?.pushToken != nil)
    }

    @Test(.shows("des/B1")) func `sends the script of a language on iOS`() throws {
        let driver = try Driver()
        var device = Corpus.phone
        for (locale, language) in [("zh-Hant_TW", "zh-Hant"), ("fi_FI", "fi"), ("sr_Latn_RS", "sr-Latn"), ("de", "de")]
        {
            device.facts?.locale = locale
            driver.capture(.registerDevice(device))
            #expect(driver.state.clients.last?.registration["language"] == .string(language))
        }
    }

    @Test(.shows("des/R14")) func `reads a numeric message id of a push`() throws {
        let driver = try Driver.started()
        for payload: JSONObject in [["u": "{\"sid\":123456789}"], ["u": ["sid": 123_456_789]]] {
            driver.capture(.track(.push(.tapped, payload: payload)))
            #expect(driver.last?.body["events"]?[0]?["attributes"]?["sid"] == "123456789")
        }
    }

    @Test(.shows("des/N3"))
    func `drops operations that a consent releases after the unregister`() throws {
        let world = try World(required: [.profile])
        let registration = world.capture(.registerDevice(Corpus.phone))
        try world.route(to: "new")
        try world.pass(.seconds(1))
        world.capture(consent(.profile, nil, .granted))
        try world.pass(.seconds(5))
        #expect(world.state.client(Corpus.installation.rawValue, application: World.old) == nil)
        #expect(world.world.outcome(of: registration, on: "old")?.isAccepted != true)
        #expect(world.state.client(Corpus.installation.rawValue, application: World.new)?.pushToken != nil)
    }

    @Test(.shows("des/N3"))
    func `unregister removes a push token that a renewal sets again`() throws {
        let world = try World(account: ["tokenLifetimeSeconds": 60])
        world.capture(.registerDevice(Corpus.phone))
        try world.pass(.seconds(90))
        world.isOnline = false
        world.capture(.event("x"))
        try world.pass(.seconds(1))
        try world.route(to: "new")
        world.isOnline = true
        try world.world.wake()
        try world.pass(.seconds(60))
        #expect(world.state.client(Corpus.installation.rawValue, application: World.old)?.pushToken == nil)
    }

    @Test(
        .shows("des/N3"),
        arguments: [RoutingPlan.SwitchPolicy.drain, .retarget, .both],
        [Action.logOut, .logIn("c-1002")]
    )
    func `unregister after an outage leaves no person at the vendor`(
        policy: RoutingPlan.SwitchPolicy,
        change: Action
    ) throws {
        for share in [Share?.none, Share(0..<1)] {
            let world = try World()
            world.capture(.registerDevice(Corpus.phone))
            world.capture(.logIn("c-1001"))
            try world.pass(.seconds(5))
            world.isOnline = false
            world.capture(change)
            try world.pass(.seconds(5))
            try world.route(to: "new", policy, oldShare: share)
            world.isOnline = true
            try world.world.wake()
            try world.pass(.seconds(3600))
            try world.world.flush()
            try world.pass(.seconds(86_400))
            let old = try #require(world.state.client(Corpus.installation.rawValue, application: World.old))
            #expect(old.contact != "2575=c-1001")
            if share == nil { #expect(old.contact == "anonymous" && old.pushToken == nil) }
        }
    }
}

/// An installation whose route changes from one application to another, both served by the simulator.
private final class World {
    static let (old, new) = ("ABCD1-234E6", "WXYZ9-876F5")

    let world: VirtualWorld
    let simulator: DESSimulator
    var state: DESState
    var isOnline = true
    private let required: Set<Consent.Scope>
    private var contact: String?
    private var count = 0

    init(account: JSONObject = ["tokenLifetimeSeconds": 1_000_000], required: Set<Consent.Scope> = []) throws {
        (world, simulator) = (try VirtualWorld(start: Corpus.start), try DESSimulator(settings: account))
        (state, self.required) = (simulator.initialState, required)
        world.network = { [unowned self] sent in
            guard isOnline else { return .outcome(.offline) }
            return .outcome(.replied(simulator.respond(to: sent.request, state: &state, now: sent.vendorDate)))
        }
        try world.start(plan("old", .drain, nil))
    }

    private func plan(_ name: String, _ policy: RoutingPlan.SwitchPolicy, _ oldShare: Share?) throws -> RoutingPlan {
        let providers = try [("old", Self.old), ("new", Self.new)].map { provider, code in
            RoutingPlan.Provider(
                name: provider,
                adapter: try Fixture.adapter(["applicationCode": .string(code)]),
                mode: provider == name || oldShare != nil ? .live : nil,
                share: provider == "old" ? oldShare ?? .all : .all
            )
        }
        return RoutingPlan(providers: providers, onSwitch: policy, onLoss: .reject, requiredConsent: required)
    }

    func route(to name: String, _ policy: RoutingPlan.SwitchPolicy = .drain, oldShare: Share? = nil) throws {
        try world.reconfigure(plan(name, policy, oldShare))
    }

    func pass(_ duration: Duration) throws { try world.advance(by: duration) }

    @discardableResult
    func capture(_ action: Action) -> OperationID {
        if case .switchContact(let change) = action { contact = change.identifiers.first?.value }
        count += 1
        let operation = EngagementOperation(
            id: OperationID(rawValue: "op-\(count)"),
            subject: Corpus.installation,
            contact: contact,
            capturedAt: world.host.date(),
            action: action
        )
        do { try world.capture([operation]) } catch { Issue.record("\(error)") }
        return operation.id
    }
}

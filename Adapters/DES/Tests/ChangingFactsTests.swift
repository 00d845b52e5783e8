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
@Suite("DES under changing facts") struct ChangingFactsTests {
    private func consent(_ purpose: Purpose, _ channel: Channel? = nil, _ state: Consent.State) -> Action {
        .setConsent(Consent(purpose: purpose, channel: channel, state: state))
    }

    /// The names of the events that the vendor has under a contact.
    private func events(_ bench: Bench, of contact: String) -> [String] {
        bench.state.events.filter { $0.contact == contact }.map(\.name)
    }

    // MARK: People

    @Test(.shows("des/N6"), arguments: [400, 403, 404])
    func `nothing of a person whose log-in was refused goes under the earlier contact`(status: Int) throws {
        let bench = try Bench.started()
        bench.script = [.status(status)]
        bench.capture(.logIn("c-1002"))
        bench.advance(by: .seconds(1))
        let ids = bench.capture(together: .event("José's"), .view("jose-1"), .click("jose-1"))
        bench.capture(.inline("home-hero"))
        #expect(ids.allSatisfy { bench.outcome(of: $0)?.summary == "rejected des.contact.another" })
        #expect(events(bench, of: "2575=c-1001") == [] && bench.client?.views == [:] && bench.client?.clicks == [:])
        #expect(bench.sent.map(\.endpoint) == [.contact])
        bench.capture(.logIn("c-1002"))
        _ = try bench.world.replayRejects(of: "vendor")
        bench.advance(by: .seconds(2))
        #expect(Set(events(bench, of: "2575=c-1002")) == ["José's", "inapp:viewed", "inapp:click"])
        #expect(bench.client?.views == ["jose-1": 1] && bench.client?.clicks == ["jose-1": 1])
    }

    @Test(.shows("des/N6")) func `a refused log-out does not make later events the person's`()
        throws
    {
        let bench = try Bench.started()
        bench.script = [.status(403)]
        bench.capture(.logOut)
        bench.advance(by: .seconds(1))
        let id = bench.capture(.event("anonymous"))
        #expect(bench.outcome(of: id)?.summary == "rejected des.contact.another" && bench.state.events == [])
    }

    @Test func `events of a person who may not be logged in go to the anonymous contact, never to another person's`()
        throws
    {
        let bench = try Bench.started(contact: nil)
        bench.capture(consent(.profile, nil, .denied))
        bench.capture(.logIn("c-1001"))
        bench.capture(.event("Aino's"))
        #expect(events(bench, of: "anonymous") == ["Aino's"])
    }

    @Test(.shows("des/R27"))
    func `views of refused events wait until their person is there again`() throws {
        let bench = try Bench.started()
        bench.script = [.status(400)]
        bench.capture(.view("aino-1"))
        bench.advance(by: .seconds(1))
        bench.capture(together: .logIn("c-1002"), .event("José's"))
        #expect(bench.sent.last?.body.campaigns("viewedMessages") == [] && bench.client?.views == [:])
        bench.capture(together: .logIn("c-1001"), .event("Aino's"))
        #expect(bench.sent.last?.body.campaigns("viewedMessages") == ["aino-1"] && bench.client?.views == ["aino-1": 1])
    }

    @Test(.shows("des/R16")) func `the inbox of one person decides nothing for the next`() throws {
        let bench = try Bench.started()
        bench.capture(.readBack(ReadRequest("inbox")))
        #expect(bench.verdict(.tag("inbox:tag:add", "msg-1", "seen"))?.isUnchanged == true)
        bench.capture(.logIn("c-1002"))
        #expect(bench.verdict(.tag("inbox:tag:add", "msg-1", "seen"))?.isAccepted == true)
    }

    @Test(.shows("des/R16")) func `a tag that may have been changed is not taken for unchanged`() throws {
        let bench = try Bench.started()
        bench.capture(.readBack(ReadRequest("inbox")))
        bench.processesReplacedRequests = true
        bench.script = [.lost, .status(400)]
        bench.capture(.tag("inbox:tag:add", "msg-1", "pinned"))
        bench.wake()
        bench.advance(1_000)
        #expect(bench.verdict(.tag("inbox:tag:remove", "msg-1", "pinned"))?.isAccepted == true)
        #expect(bench.state.tags == ["msg-1": ["seen"]])
    }

    @Test(.shows("des/N6")) func `a question is answered under the contact of who asks`() throws {
        let bench = try Bench.started()
        bench.script = [.status(503)]
        bench.capture(.logIn("c-1002"))
        bench.advance(by: .seconds(2))
        bench.script = [.status(503)]
        let early = bench.capture(.readBack(ReadRequest("inbox")))
        #expect(bench.outcome(of: early)?.summary == "rejected des.contact.another")
        bench.advance(by: .seconds(2))
        let id = bench.capture(.readBack(ReadRequest("inbox")))
        #expect(bench.outcome(of: id)?.isAccepted == true && bench.client?.contact == "2575=c-1002")
        #expect(bench.endpoints == [.contact, .contact, .contact, .inbox])
    }

    @Test(.shows("des/A4")) func `the tokens of a person are not used for the next`() throws {
        let bench = try Bench.started()
        bench.script = [.status(204)]
        bench.capture(.logIn("c-1002"))
        #expect(bench.memory.contactToken == nil && bench.memory.refreshToken == nil)
        bench.capture(.event("José's"))
        #expect(bench.last?.request[header: "X-Contact-Token"] == nil && bench.state.events == [])
        bench.advance(by: .seconds(1))
        // The same person can log in again, and gets a token.
        bench.capture(.logIn("c-1002"))
        #expect(bench.memory.contactToken != nil && bench.client?.contact == "2575=c-1002")
    }

    // MARK: Denials

    private static let unrelated: [(Purpose, Channel?)] = [
        (.messaging, .email), (.messaging, .sms), (.messaging, .push), (.messaging, nil), (.tracking, .email),
        (.tracking, .push), (.profile, .email),
    ]

    @Test(.shows("des/N1"), arguments: 0..<unrelated.count)
    func `a denial that covers none of it leaves state, views, clicks, session, and inbox`(number: Int) throws {
        let (purpose, channel) = Self.unrelated[number]
        let bench = try Bench.started()
        bench.capture(.readBack(ReadRequest("inbox")))
        bench.capture(together: .track(.sessionStarted), .view("7"))
        bench.script = [.status(500)]
        bench.capture(together: .view("7"), .click("8"))
        let before = bench.memory
        #expect(before.eventState != nil && before.session != nil && before.views.count == 1 && before.inbox != nil)
        bench.script = [.status(500)]
        bench.capture(consent(purpose, channel, .denied))
        let after = bench.memory
        #expect((after.eventState, after.session, after.inbox) == (before.eventState, before.session, before.inbox))
        #expect(after.views == before.views && after.clicks == before.clicks)
        bench.advance(by: .seconds(2))
        bench.wake()
        #expect(bench.memory.eventState?["campaignStats"]?["7"]?["views"] == 2)
        #expect(bench.memory.eventState?["campaignStats"]?["8"]?["clicks"] == 1)
    }

    @Test func `the order of denials does not matter`() throws {
        var memory = try Bench.started().memory
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
    func `after a denial of tracking the installation registers again before its next event`() throws {
        let bench = try Bench.started()
        bench.capture(together: .event("a"), .view("7"))
        bench.capture(.event("b"))
        bench.forget()
        bench.capture(consent(.tracking, nil, .denied))
        #expect(bench.memory.eventState == nil && bench.endpoints == [])
        bench.capture(consent(.tracking, nil, .granted))
        bench.capture(.event("c"))
        #expect(bench.endpoints == [.client, .events] && bench.state.violations == [])
    }

    // MARK: Opt-outs

    @Test(.shows("des/B4")) func `an opt-out passes a log-in that waits for its ID token`() throws {
        let bench = try Bench.started(["contactProof": "openIdToken"], contact: nil)
        bench.capture(.logIn("c-1002"))
        let opened = bench.capture(.push(.subscribed))
        let closed = bench.capture(.push(.unsubscribed))
        #expect(bench.client?.pushToken == nil && bench.outcome(of: closed)?.isAccepted == true)
        #expect(bench.outcome(of: opened)?.term == .superseded)
        #expect(bench.waits?.code == "des.credential.missing")
        bench.credential = Fixture.idToken
        bench.wake()
        #expect(bench.client?.pushToken == nil && bench.memory.refusesPush && bench.pendingCount == 0)
    }

    @Test func `an opt-out waits for no registration`() throws {
        let bench = try Bench()
        #expect(bench.verdict(.push(.unsubscribed))?.isUnchanged == true)
        bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.client != nil && bench.client?.pushToken == nil)
    }

    @Test(.shows("des/R33"))
    func `an opt-out is carried out although the vendor no longer takes or renews the contact token`() throws {
        let bench = try Bench.started()
        bench.state.clients[0].token = nil
        bench.state.clients[0].refreshToken = "another"
        let id = bench.capture(.push(.unsubscribed))
        bench.advance(by: .seconds(2))
        #expect(bench.outcome(of: id)?.isAccepted == true && bench.client?.pushToken == nil)
        #expect(bench.endpoints == [.pushTokenRemoval, .contactToken, .contact, .pushTokenRemoval])
        #expect(bench.client?.contact == "2575=c-1001")
    }

    // MARK: Credentials and tokens

    private static let expired = Secret("eyJhbGciOiJub25lIn0.eyJleHAiOjE3MDAwMDAwMDB9.c2ln")

    @Test(.shows("des/B4")) func `an expired ID token waits like a missing one`() throws {
        let bench = try Bench.started(["contactProof": "openIdToken"], contact: nil)
        bench.credential = Self.expired
        let id = bench.capture(.logIn("c-1001"))
        #expect(bench.endpoints == [] && bench.outcome(of: id) == nil && bench.waits != nil)
        bench.credential = Fixture.idToken
        bench.wake()
        #expect(bench.outcome(of: id)?.isAccepted == true)
    }

    @Test(.shows("des/B4", "des/R33"))
    func `a refused ID token is replaced before the refusal is final`() throws {
        let bench = try Bench.started(["contactProof": "openIdToken"], contact: nil)
        bench.credential = Secret("first")
        bench.respond = { $0.endpoint == .contact ? .status(401) : nil }
        let id = bench.capture(.logIn("c-1001"))
        bench.advance(by: .seconds(5))
        #expect(bench.outcome(of: id) == nil && bench.waits?.code == "des.credential.missing")
        bench.credential = Secret("second")
        bench.wake()
        bench.advance(by: .seconds(5))
        #expect(bench.outcome(of: id)?.summary == "rejected des.reply.renewalsSpent")
    }

    @Test(.shows("des/N6")) func `a log-in that waits when another person comes ends`() throws {
        let bench = try Bench.started(["contactProof": "openIdToken"], contact: nil)
        bench.credentials = ["c-1002": Secret("token-of-José")]
        let first = bench.capture(.logIn("c-1001"))
        bench.capture(.event("Aino's"))
        bench.capture(.logIn("c-1002"))
        bench.capture(.event("José's"))
        #expect(bench.outcome(of: first)?.summary == "rejected des.contact.overtaken")
        #expect(events(bench, of: "2575=token:token-of-José") == ["José's"])
        #expect(events(bench, of: "anonymous").isEmpty)
    }

    @Test(.shows("des/N6"))
    func `a log-in that waits ends although the next log-in is held for a consent`() throws {
        let bench = try Bench(["contactProof": "openIdToken"])
        bench.requiredConsent = [.profile]
        bench.restart()
        bench.capture(.setConsent(Consent(purpose: .profile, state: .granted)))
        bench.capture(.registerDevice(Corpus.phone))
        let first = bench.capture(.logIn("c-1001"))
        bench.capture(.logIn("c-1002"))
        bench.credentials = ["c-1001": Secret("token-of-Aino")]
        bench.wake()
        bench.drain()
        #expect(bench.outcome(of: first)?.summary == "rejected des.contact.overtaken")
        #expect(bench.client?.contact == "anonymous")
    }

    @Test(.shows("des/B3")) func `a malformed push token replaces no good one`() throws {
        let bench = try Bench.started()
        var device = Corpus.phone
        device.pushToken?.value = "7c1f 3ad0"
        #expect(bench.verdict(.registerDevice(device))?.summary == "rejected des.pushToken.form")
        #expect(bench.client?.pushToken == Corpus.phone.pushToken?.value)
        #expect(bench.memory.device?.pushToken == Corpus.phone.pushToken)
    }

    @Test(.shows("des/R7"))
    func `a registration that sets a forgotten token again sets the newest one`() throws {
        let bench = try Bench.started(account: ["tokenLifetimeSeconds": 60])
        var newer = Corpus.phone
        newer.pushToken?.value = "0f1e2d3c4b5a6978"
        bench.advance(by: .seconds(90))
        bench.script = [.status(503)]
        bench.capture(together: .event("x"), .registerDevice(newer))
        bench.advance(by: .seconds(2))
        bench.wake()
        bench.advance(by: .seconds(5))
        #expect(bench.client?.pushToken == "0f1e2d3c4b5a6978" && bench.pendingCount == 0)
    }

    // MARK: Timing

    @Test(.shows("des/R20"), arguments: [Action.event("x"), .view("1"), .click("904418", "open")])
    func `a click captured while a request is in flight that fails goes with the question that follows`(first: Action)
        throws
    {
        let bench = try Bench.started()
        bench.replyDelay = .milliseconds(300)
        bench.script = [.status(500)]
        bench.capture(first)
        bench.advance(by: .milliseconds(100))
        let isClick = first == .click("904418", "open")
        bench.capture(.click("904418", "close"))
        bench.capture(.inline("home-hero"))
        bench.advance(by: .seconds(1))
        let inline = try #require(bench.sent.first { $0.endpoint == .inlineMessages })
        #expect(inline.body.campaigns("clicks") == (isClick ? ["904418", "904418"] : ["904418"]))
        bench.advance(by: .seconds(5))
        bench.wake()
        bench.advance(by: .seconds(5))
        #expect(bench.client?.clicks == ["904418": isClick ? 2 : 1] && bench.pendingCount == 0)
    }

    @Test(.shows("des/R20", "des/R33"))
    func `a click captured before the repeat after a renewal goes with the question that follows`() throws {
        let bench = try Bench.started()
        bench.state.clients[0].token = nil
        bench.capture(.event("x"))
        bench.advance(by: .milliseconds(250))
        bench.capture(.click("904418", "close"))
        bench.capture(.inline("home-hero"))
        #expect(bench.last?.endpoint == .inlineMessages && bench.last?.body.campaigns("clicks") == ["904418"])
        bench.advance(by: .seconds(5))
        #expect(bench.client?.clicks == ["904418": 1] && bench.pendingCount == 0)
    }

    @Test(.shows("des/R20")) func `a click behind many events goes with a question`() throws {
        let bench = try Bench.started()
        bench.goOffline()
        for number in 0..<20 {
            bench.capture(together: (0..<30).map { bench.operation(.event("event-\(number)-\($0)")) })
        }
        bench.capture(.click("904418", "close"))
        bench.advance(by: .seconds(5))
        bench.capture(.inline("home-hero"))
        let inline = try #require(bench.sent.first { $0.endpoint == .inlineMessages })
        #expect(inline.body.campaigns("clicks") == ["904418"])
        bench.goOnline()
        bench.advance(by: .seconds(60))
        #expect(bench.pendingCount == 0 && bench.client?.clicks == ["904418": 1])
        let names = bench.state.events.filter { $0.type == "custom" }.map(\.name)
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
    func `a state is kept as it came, whatever a strict reader would say`(body: String) throws {
        let bench = try Bench.started()
        bench.script = [.replied(WireResponse(200, body: Array(body.utf8)))]
        let id = bench.capture(.view("7"))
        #expect(bench.outcome(of: id)?.summary == "accepted")
        let state = try #require(Self.readable[body])
        #expect(bench.memory.eventState?.rawValue == state && bench.memory.views == [])
        bench.script = [.status(204)]
        bench.capture(.event("next"))
        let sent = String(decoding: try #require(bench.last).request.body, as: UTF8.self)
        #expect(sent.contains("\"deviceEventState\":\(state)"))
    }

    @Test(
        .shows("des/R24", "des/R25"),
        arguments: ["{\"deviceEventState\":{\"new\":1", "{\"deviceEventState\":{\"new\":}}", "{", "OK", "{\"a\":1}}"]
    )
    func `an answer that cannot be read is reported, and the views are counted with the next`(body: String) throws {
        let bench = try Bench.started()
        bench.script = [.replied(WireResponse(200, body: Array(body.utf8)))]
        let id = bench.capture(.view("7"))
        #expect(bench.outcome(of: id)?.summary == "accepted des.reply.damaged" && bench.memory.views.count == 1)
        bench.capture(.event("next"))
        #expect(bench.last?.body.campaigns("viewedMessages") == ["7"])
        #expect(bench.memory.eventState?["campaignStats"]?["7"]?["views"] == 1 && bench.memory.views == [])
    }

    @Test(.shows("des/R24")) func `a complete state in a damaged answer counts`() throws {
        let bench = try Bench.started()
        bench.script = [.replied(WireResponse(200, body: Array("{\"deviceEventState\":{\"n\":1},\"message\":{".utf8)))]
        let id = bench.capture(.view("7"))
        #expect(bench.outcome(of: id)?.summary == "accepted des.reply.damaged")
        #expect(bench.memory.eventState == ["n": 1] && bench.memory.views == [])
    }

    @Test(.shows("des/A4")) func `a damaged answer to a log-in is no answer`() throws {
        let bench = try Bench.started()
        bench.script = [.replied(WireResponse(200, body: Array("{\"contactToken\":\"ab".utf8)))]
        let id = bench.capture(.logIn("c-1002"))
        #expect(bench.outcome(of: id) == nil && bench.memory.identity?.value == "c-1001")
        bench.advance(by: .seconds(2))
        bench.wake()
        #expect(bench.outcome(of: id)?.isAccepted == true && bench.client?.contact == "2575=c-1002")
    }

    @Test(.shows("des/R27"), arguments: [false, true])
    func `a replayed view or click is counted once`(isCountedBefore: Bool) throws {
        let bench = try Bench.started()
        bench.script = [.status(400)]
        bench.capture(together: .view("7"), .click("8"))
        if isCountedBefore { bench.capture(.event("between")) }
        _ = try bench.world.replayRejects(of: "vendor")
        bench.advance(by: .seconds(2))
        bench.capture(.event("after"))
        #expect(bench.client?.views == ["7": 1] && bench.client?.clicks == ["8": 1])
        #expect(bench.state.events.filter { $0.type == "internal" }.count == 2 && bench.memory.counted == nil)
    }

    @Test(.shows("des/R26", "des/R1"))
    func `the setting says whether a service is v3, not a part of its address`() throws {
        let bench = try Bench.started(["eventService": "v3", "eventServiceUrl": "https://gateway.example/v4"])
        bench.respond = { $0.endpoint == .events ? .status(200, ["deviceEventState": ["n": 1]]) : nil }
        bench.capture(.view("7"))
        #expect(bench.memory.views.count == 1 && bench.memory.eventState == nil)
    }

    // MARK: Settings and routes

    @Test(arguments: [nil, 503] as [Int?])
    func `opt-outs and erasures do not wait behind a request that is in flight and has no answer`(status: Int?) throws {
        for action in [Action.changeSubscription(Subscription(channel: .push, state: .unsubscribed)), .erase] {
            let bench = try Bench.started()
            bench.replyDelay = .seconds(5)
            bench.script = [status.map { .status($0) } ?? .failed(TransportFailure(.lost, "timedOut"))]
            bench.capture(.event("first"))
            bench.advance(by: .seconds(1))
            let id = bench.capture(action)
            // Nothing else happens.
            bench.advance(by: .seconds(60))
            #expect(bench.outcome(of: id)?.isAccepted == true)
            #expect(bench.client?.pushToken == nil)
        }
    }

    @Test(.shows("des/R39"))
    func `a half-complete registration begins again at another application`()
        throws
    {
        let bench = try Bench()
        bench.nextOutcomesByEndpoint = [.anonymousContact: [.status(503)]]
        let id = bench.capture(.registerDevice(Corpus.phone))
        #expect(bench.endpoints == [.client, .anonymousContact])
        bench.forget()
        try bench.restart(["applicationCode": "WXYZ9-876F5"])
        #expect(bench.outcome(of: id)?.isAccepted == true && bench.state.violations == [])
        let first = try #require(bench.sent.first { $0.request.url.contains("/WXYZ9-876F5/") })
        #expect(first.endpoint == .client)
        #expect(bench.state.client(Corpus.installation.rawValue, application: "WXYZ9-876F5")?.pushToken != nil)
    }

    @Test(.shows("des/B1")) func `iOS names the script of a language`() throws {
        let bench = try Bench()
        var device = Corpus.phone
        for (locale, language) in [("zh-Hant_TW", "zh-Hant"), ("fi_FI", "fi"), ("sr_Latn_RS", "sr-Latn"), ("de", "de")]
        {
            device.facts?.locale = locale
            bench.capture(.registerDevice(device))
            #expect(bench.state.clients.last?.registration["language"] == .string(language))
        }
    }

    @Test(.shows("des/R14")) func `the message id of a push may be a number`() throws {
        let bench = try Bench.started()
        for payload: JSONObject in [["u": "{\"sid\":123456789}"], ["u": ["sid": 123_456_789]]] {
            bench.capture(.track(.push(.tapped, payload: payload)))
            #expect(bench.last?.body["events"]?[0]?["attributes"]?["sid"] == "123456789")
        }
    }

    @Test(.shows("des/N3"))
    func `what a consent releases after the unregister is not carried out`() throws {
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
    func `a push token that is set again after a renewal does not outlive the unregister`() throws {
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
    func `a change of person that waited in an outage leaves no person at the vendor that is left`(
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

import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbaySimulation
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES queries") struct QueryTests {
    private func ask(
        _ what: String,
        _ arguments: JSONObject = [:],
        _ settings: JSONObject = [:],
        answers: Outcome? = nil
    )
        throws -> (verdict: OperationOutcome?, sent: Driver.Sent?)
    {
        let driver = try Driver.started(settings)
        driver.script = [answers]
        let id = driver.capture(.readBack(ReadRequest(what, arguments: arguments)))
        return (driver.verdicts[id], driver.last)
    }

    private static let two: JSONValue = [
        "inlineMessages": [
            ["campaignId": "1", "html": "<p>without a view"],
            ["campaignId": "2", "viewId": "Home", "html": "<p>first"],
            ["campaignId": "3", "viewId": "HOME", "html": "<p>last"],
            ["campaignId": "4", "viewId": "other", "html": "<p>"],
        ]
    ]

    @Test(.shows("des/R22")) func `finds the message of a view case-insensitively`() throws {
        #expect(
            try ask("inline", ["viewId": "hOmE"], answers: .status(200, Self.two)).verdict?.answer?["campaignId"] == "3"
        )
        let first = try ask("inline", ["viewId": "home"], ["inlineChoice": "first"], answers: .status(200, Self.two))
        #expect(first.verdict?.answer?["campaignId"] == "2")
    }

    @Test(
        .shows("des/R22"),
        arguments: [
            [:], ["inlineMessages": []], ["inlineMessages": [["viewId": "home"]]],
            ["inlineMessages": [["viewId": "home", "html": nil]]], ["inlineMessages": "none"],
        ] as [JSONValue]
    )
    func `reports an error if there is no message`(answer: JSONValue) throws {
        let verdict = try ask("inline", ["viewId": "home"], answers: .status(200, answer)).verdict
        #expect(verdict?.finding?.code == "des.read.noContent")
    }

    @Test(.shows("des/I1", "des/R40", "des/H7")) func `omits incomplete messages from the inbox`()
        throws
    {
        let (verdict, sent) = try ask("inbox")
        #expect(verdict?.answer?["messages"]?.array?.map { $0["id"] } == ["msg-1"])
        #expect(verdict?.answer?["messages"]?[0]?.object?.names.contains("imageUrl") == false)
        #expect(sent?.request.url == "https://me-inbox.eservice.emarsys.net/v3/apps/ABCD1-234E6/inbox")
        #expect(sent?.request.body == [] && sent?.request.method == "GET")
        #expect(sent?.request[header: "Authorization"] == "Basic QUJDRDEtMjM0RTY6")
        #expect(try ask("inbox", [:], ["basicAuthorization": false]).sent?.request[header: "Authorization"] == nil)
        #expect(try ask("inbox", answers: .status(200)).verdict?.finding?.code == "des.reply.unreadable")
    }

    @Test(.shows("des/I2")) func `omits incomplete geofences`() throws {
        let answer = try #require(try ask("geofences").verdict?.answer)
        let triggers = answer["groups"]?[0]?["geofences"]?[0]?["triggers"]?.array
        #expect(triggers?.map { $0["id"] } == ["t-1"] && answer["refreshRadiusRatio"] == 0)
        let empty = try ask("geofences", answers: .status(200, ["groups": [["id": "g", "geofences": [["id": "f"]]]]]))
        #expect(empty.verdict?.answer?["groups"] == [] && empty.verdict?.answer?["refreshRadiusRatio"]?.text == "0.5")
    }

    @Test(.shows("des/C1", "des/T4", "des/R1"))
    func `the remote configuration disables v4 and moves services`() throws {
        let driver = try Driver.started()
        let config: JSONValue = [
            "features": ["eventServiceV4": false],
            "serviceUrls": [
                "eventService": "https://events-eu.eservice.emarsys.com/",
                "clientService": "https://evil.example/.emarsys.net",
                "messageInboxService": "http://me-inbox.eservice.emarsys.net",
            ],
        ]
        driver.script = [.status(200, config), .status(200)]
        let id = driver.capture(.readBack(ReadRequest("remoteConfig")))
        #expect(driver.last?.request.url == "https://mobile-sdk-config.gservice.emarsys.net/ABCD1-234E6")
        #expect(driver.last?.request[header: "X-Client-Id"] == nil && driver.verdicts[id]?.answer == config)
        driver.capture(.event("x"))
        #expect(driver.last?.request.url == "https://events-eu.eservice.emarsys.com/v3/apps/ABCD1-234E6/client/events")
        try driver.restart(["obeysRemoteConfig": false])
        driver.capture(.readBack(ReadRequest("inbox")))
        #expect(driver.last?.request.url.hasPrefix("https://me-inbox.eservice.emarsys.net/") == true)
        driver.capture(.event("x"))
        #expect(driver.last?.request.url.hasPrefix("https://mobile-events.eservice.emarsys.net/v4/") == true)
    }

    @Test(
        .shows("des/T4"),
        arguments: [
            ("https://a.emarsys.net", true), ("https://a.emarsys.com:8443/x", true), ("https://A.EMARSYS.NET", true),
            ("http://a.emarsys.net", false), ("https://emarsys.net.evil.example", false),
            ("https://evilemarsys.net", false),
            ("https://evil.example/a.emarsys.net", false), ("https://evil.example#.emarsys.net", false),
            ("https://evil.example\\.emarsys.net", false), ("https://x@evil.example:1/.emarsys.net", false),
            ("https://a.emarsys.net@evil.example", false), ("https://u:p@a.emarsys.net", false),
        ]
    )
    func `accepts only the vendor's own hosts`(row: (address: String, isTrusted: Bool)) {
        let config = RemoteConfig(["serviceUrls": ["eventService": .string(row.address)]])
        #expect(config.services.isEmpty != row.isTrusted)
    }

    @Test(.shows("des/I3")) func `fetches content for a push only from the vendor's hosts`() throws {
        let url =
            "https://mobile-events.eservice.emarsys.net/v4/apps/ABCD1-234E6/messages/9?signature=x&lang=fi&expires=1"
        let (verdict, sent) = try ask("pushMessage", ["url": .string(url)])
        #expect(sent?.request.url == url && sent?.request[header: "X-Client-Id"] != nil)
        #expect(verdict?.answer?["message"]?["html"] != nil)
        #expect(try ask("pushMessage", ["url": "https://evil.example/x"]).verdict?.finding?.code == "des.read.address")
    }

    @Test(.shows("des/R38", "des/N4")) func `rejects invalid queries before anything is sent`()
        throws
    {
        let rows: [(String, JSONObject, String)] = [
            ("profile", [:], "des.read.unknown"), ("inline", [:], "des.read.argument"),
            ("inline", ["viewId": ""], "des.read.argument"), ("pushMessage", ["url": 7], "des.read.argument"),
        ]
        for (what, arguments, code) in rows {
            let (verdict, sent) = try ask(what, arguments)
            #expect(verdict?.finding?.code == code && sent == nil)
        }
        let unknown = try Driver()
        let id = unknown.capture(.inline("home"))
        #expect(unknown.verdicts[id]?.finding?.code == "des.device.notRegistered" && unknown.sent.isEmpty)
        unknown.capture(.readBack(ReadRequest("remoteConfigSignature")))
        #expect(unknown.endpoints == [.remoteConfigSignature])
    }

    @Test(.shows("des/R37", "des/R38"), arguments: [Outcome.lost, .offline])
    func `rejects a query without an answer`(failure: Outcome) throws {
        #expect(try ask("inline", ["viewId": "home"], answers: failure).verdict?.finding?.code == "des.reply.none")
    }

    @Test func `each endpoint has one route`() {
        #expect(Route.all.map(\.endpoint) == DESDevice.Endpoint.allCases)
    }
}

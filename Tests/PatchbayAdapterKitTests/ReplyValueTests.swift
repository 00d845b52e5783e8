import PatchbayJSON
import PatchbayModel
import Testing

@testable import PatchbayAdapterKit

@Suite("Values read from replies") struct ReplyValueTests {
    /// 2030-03-14T09:00:00Z, a Thursday.
    private static let now = Instant(text: "2030-03-14T09:00:00Z") ?? Instant(milliseconds: 0)

    /// A `Retry-After` value, the `Date` of the reply, and the wait.
    private static let waits: [(text: String, date: String?, wait: Duration?)] = [
        ("120", nil, .seconds(120)), (" 120 ", nil, .seconds(120)), ("0", nil, .zero),
        ("-1", nil, nil), ("soon", nil, nil), ("", nil, nil), ("1.5", nil, nil), ("12 34", nil, nil),
        ("99999999999", nil, .seconds(86_400 * 366)), ("99999999999999999999999", nil, .seconds(86_400 * 366)),
        ("Thu, 14 Mar 2030 09:02:00 GMT", nil, .seconds(120)),
        ("Thursday, 14-Mar-30 09:02:00 GMT", nil, .seconds(120)),
        ("Thu Mar 14 09:02:00 2030", nil, .seconds(120)), ("Fri Mar  1 09:00:00 2030", nil, .zero),
        ("Thu, 14 Mar 2030 08:00:00 GMT", nil, .zero), ("Sunday, 06-Nov-94 08:49:37 GMT", nil, .zero),
        ("Thu, 14 Mar 2099 09:02:00 GMT", nil, .seconds(86_400 * 366)),
        // The server's clock is an hour ahead of ours, so the wait is two minutes.
        ("Thu, 14 Mar 2030 10:02:00 GMT", "Thu, 14 Mar 2030 10:00:00 GMT", .seconds(120)),
        ("Thu, 14 Mar 2030 09:02:00 GMT", "rubbish", .seconds(120)),
        ("Thu, 14 Mar 2030 09:02:00 CET", nil, nil), ("Thu, 31 Feb 2030 09:02:00 GMT", nil, nil),
        ("Thu, 14 Mrz 2030 09:02:00 GMT", nil, nil), ("Thu, 14 Mar 2030 25:02:00 GMT", nil, nil),
        ("Thu, 14 Mar 203 09:02:00 GMT", nil, nil), ("2030-03-14T09:02:00Z", nil, nil),
    ]

    @Test(arguments: waits) func `reads Retry-After as seconds and as a date`(
        _ row: (text: String, date: String?, wait: Duration?)
    ) {
        let headers = [WireHeader("retry-after", row.text)] + (row.date.map { [WireHeader("Date", $0)] } ?? [])
        #expect(WireResponse(503, headers: headers).retryAfter(at: Self.now) == row.wait)
    }

    @Test func `a backoff repeats its last delay, applies jitter and respects a requested delay`() {
        func moment(_ chance: Double) -> Moment { Moment(now: Self.now, date: Self.now, chance: chance) }
        let exact = Backoff([.seconds(1), .seconds(5)])
        #expect([0, 1, 7].map { exact.delay(after: $0, chance: 0.9) } == [.seconds(1), .seconds(5), .seconds(5)])
        let loose = Backoff([.seconds(10), .seconds(11)], jitter: 0.2, longest: .seconds(60))
        #expect([0, 0.5, 1].map { loose.delay(after: 0, chance: $0) } == [.seconds(8), .seconds(10), .seconds(11)])
        #expect(loose.delay(after: 1, chance: 0) == .seconds(11), "an interval never shrinks")
        let asked: [Duration?] = [nil, .seconds(3), .seconds(30), .seconds(3600)]
        #expect(
            asked.map { loose.next(after: 0, asked: $0, at: moment(0.5)) - Self.now }
                == [.seconds(10), .seconds(10), .seconds(30), .seconds(60)]
        )
        let doubling = Backoff.doubling(from: .seconds(60), upTo: .seconds(300))
        #expect(doubling.delays == [.seconds(60), .seconds(120), .seconds(240), .seconds(300)])
    }

    /// A content type, a body, and whether the reply is a web page.
    private static let pages: [(type: String?, body: String, isPage: Bool)] = [
        ("text/html", "<p>Sign in</p>", true), ("TEXT/HTML; charset=utf-8", " \n<p>", true),
        (nil, "<!DOCTYPE HTML><html>", true), (nil, "\u{FEFF}<HTML>", true),
        ("application/json", "<html></html>", true),
        // Many servers send every body as text/html.
        ("text/html", "{\"ok\": true}", false), ("text/html", "", false), ("text/html", "OK", false),
        ("application/xml", "<Envelope><Body/></Envelope>", false), (nil, "<?xml version=\"1.0\"?><RESULT/>", false),
        ("application/json", "{}", false),
    ]

    @Test(arguments: pages)
    func `distinguishes a web page from an API reply`(_ row: (type: String?, body: String, isPage: Bool)) {
        let headers = row.type.map { [WireHeader("Content-Type", $0)] } ?? []
        #expect(WireResponse(200, headers: headers, body: Array(row.body.utf8)).isWebPage == row.isPage)
    }

    @Test func `recognizes web pages and redirects as replies of an intermediary`() {
        let page = WireResponse(200, headers: [WireHeader("Content-Type", "text/html")], body: Array("<p>".utf8))
        let elsewhere = [WireHeader("Location", "http://portal.example/sign-in")]
        #expect(page.isDetour)
        #expect(
            [301, 302, 303, 307, 308, 511].map { WireResponse($0, headers: elsewhere).isDetour } == [
                true, true, true, true, true, false,
            ]
        )
        #expect(!WireResponse(201, headers: elsewhere).isDetour)
        #expect(!WireResponse(304).isDetour)
    }

    // MARK: Codes and request ids of the vendor

    private static let table = ReplyTable(
        [],
        otherwise: .otherwise(.refused, rule: RuleID("probe", "1")),
        codes: [.member("error.code"), .member("errorcode"), .header("X-Error")],
        requestIDs: [.member("requestId")] + ReplyTable.commonRequestIDs + [.sent("Request-ID")]
    )

    /// A reply, and the code and request id that are kept.
    private static let words: [(response: WireResponse, code: String?, id: String?)] = [
        (WireResponse(400, json: ["errorcode": 10006, "requestId": "a1"]), "10006", "a1"),
        (WireResponse(400, json: ["error": ["code": "E-7"]]), "E-7", "ours"),
        (WireResponse(400, json: ["errorcode": 0]), nil, "ours"),
        (
            WireResponse(400, headers: [WireHeader("x-error", "quota"), WireHeader("X-Request-ID", "r/9")]), "quota",
            "r/9"
        ),
        // Free text may contain personal data and is not a code.
        (WireResponse(400, json: ["errorcode": "no profile anna@example.com"]), nil, "ours"),
        (WireResponse(400, json: ["errorcode": "Anna Müller"]), nil, "ours"),
        (WireResponse(400, json: ["errorcode": .string(String(repeating: "x", count: 65))]), nil, "ours"),
        (WireResponse(400, json: ["errorcode": ["deep": 1]]), nil, "ours"),
        (WireResponse(500, body: Array("<html>".utf8)), nil, "ours"), (WireResponse(502), nil, "ours"),
    ]

    @Test(arguments: words) func `keeps the vendor's error code and request id, not its free text`(
        _ row: (response: WireResponse, code: String?, id: String?)
    ) {
        let request = WireRequest("POST", "https://x.test/", headers: [WireHeader("Request-ID", "ours")])
        let reply = Self.table.vendorReply(.replied(row.response), to: request)
        #expect(reply == VendorReply(status: row.response.status, code: row.code, requestID: row.id))
    }

    /// A request with a token and with values in every part.
    private static let requestWithValues = WireRequest(
        "POST",
        "https://x.test/v1/contacts/member%2B480013?user=anna.mueller%40mail.test",
        headers: [
            WireHeader("Authorization", "Bearer s3cr3t.tok/en=", isSecret: true),
            WireHeader("X-Login", "Basic Y2xpZW50LTc6cGFzcy93b3Jk"), WireHeader("Request-ID", "ours-480013"),
            WireHeader("Authorization", "Basic Y2xpZW50LTc6cGFzcy93b3Jk"),
        ],
        body: Array(#"{"name": "Wintermute", "state": "active", "card": 48151623, "path": "shoes\/size-44"}"#.utf8)
    )

    /// A text that a vendor returns as its code and as its request id, and what is kept of each.
    private static let echoes: [(text: String, code: String, id: String)] = {
        let withheld = VendorReply.withheld
        let sensitive = [
            "s3cr3t.tok/en=", "S3CR3T.TOK/EN=", "tok:s3cr3t.tok", "member+480013", "E-480013",
            "anna.mueller", "user.anna.mueller.unknown", "Wintermute", "no:wintermute", "48151623", "shoes/size-44",
            "pass/word", "client-7", "+358401234567", "tel:+358401234567", "358-40-123-4567",
            "9f86d081884c7d659a2feaa0", "k:9f86d081884c7d659a2feaa0c5", "401234567890",
        ]
        let plain = [
            "40301", "INVALID_TOKEN", "ENT.0042", "InvalidValue", "RST-360011", "401013", "contact.inactive", "quota",
            "CONTACTS_NOT_FOUND", "subscriber.contacts.unknown", "VERYLONGNAMEOFAVENDORSERROR", "0x80070005",
        ]
        let uuid = "7d0f1f0c-0c69-4b4f-9d57-2f1c2ad1c9f0"
        var rows: [(text: String, code: String, id: String)] = [
            (uuid, uuid, uuid), ("ours-480013", withheld, "ours-480013"),
            ("req-1700000000123", withheld, "req-1700000000123"),
        ]
        for text in sensitive { rows.append((text, withheld, withheld)) }
        for text in plain { rows.append((text, text, text)) }
        return rows
    }()

    @Test(arguments: ["invalid_grant", "invalid_client", "unsupported_grant_type"])
    func `keeps an OAuth error code although the request contains its words`(code: String) {
        let text = "grant_type=refresh_token&client_id=invalid_client&note=invalid_grant+unsupported_grant_type"
        let request = WireRequest("POST", "https://vendor.example/token", body: Array(text.utf8))
        var answered = AnsweredRequest(request, requestIDs: [])
        #expect(VendorReply(status: 400, code: code).withholding(&answered).code == code)
        #expect(VendorReply(status: 400, code: "refresh_token").withholding(&answered).code == VendorReply.withheld)
    }

    @Test(arguments: echoes) func `withholds codes that contain request data, personal numbers or tokens`(
        _ row: (text: String, code: String, id: String)
    ) {
        let answer = WireResponse(401, json: ["errorcode": .string(row.text), "requestId": .string(row.text)])
        let reply = Self.table.vendorReply(.replied(answer), to: Self.requestWithValues)
        #expect(reply?.code == row.code)
        #expect(reply?.requestID == row.id)
    }

    @Test func `limits the number of distinct vendor codes per request`() {
        var request = AnsweredRequest(Self.requestWithValues, requestIDs: [])
        let held = (0..<1_000).count { request.holds("code-\($0 + 100)x") }
        #expect(held == 1_000 - 64)
    }

    @Test func `withholds sensitive codes that an adapter puts in any finding`() {
        var finding = FindingRow(.error("x.y", .invalid), reason: "No", remedy: "Correct it.").at("action")
        finding.vendor = VendorReply(status: 400, code: "s3cr3t.tok/en=")
        let answer = Outcome.replied(WireResponse(400, json: ["errorcode": "Wintermute"]))
        let verdicts: [OperationID: Verdict<ProbeAdapter>] = [
            "a": .rejected(finding), "b": .accepted(finding), "c": .dropped(finding), "d": .unchanged(finding),
        ]
        var interpretation = Interpretation(verdicts)
        interpretation.suspension = FindingRow(.error("x.z", .invalid), reason: "No", remedy: "Correct it.").at()
        let named = interpretation.naming(answer, to: Self.requestWithValues, by: Self.table)
        #expect(
            named.suspension?.vendor == VendorReply(status: 400, code: VendorReply.withheld, requestID: "ours-480013")
        )
        #expect(named.verdicts.values.allSatisfy { !"\($0)".contains("s3cr3t") && "\($0)".contains("withheld") })
    }

    @Test func `reads back a finding with the vendor's reply`() throws {
        var finding = FindingRow(.error("x.y", .invalid), reason: "No", remedy: "Correct it.").at("action")
        finding.vendor = VendorReply(status: 400, code: "10006", requestID: "a1")
        #expect(try Finding(jsonBytes: finding.jsonBytes) == finding)
        #expect(finding.description.hasSuffix("[HTTP 400, code 10006, request a1]"))
        #expect(
            Self.table.vendorReply(.failed(TransportFailure(.lost, "timedOut")), to: WireRequest("GET", "x")) == nil
        )
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import Testing

@Suite("Conditions on replies") struct ReplyConditionTests {
    private static func reply(_ status: Int = 200, _ body: String = "", _ headers: [WireHeader] = []) -> Outcome {
        .replied(WireResponse(status, headers: headers, body: Array(body.utf8)))
    }

    @Test(arguments: [
        (ReplyCondition.success, reply(299), true), (.success, reply(300), false),
        (.success, .failed(TransportFailure(.lost, "timedOut")), false),
        (.noReply, .failed(TransportFailure(.lost, "timedOut")), true), (.noReply, reply(), false),
        (.webPage, reply(200, "<html>"), true), (.webPage, reply(200, "{}"), false),
        (.header("Location"), reply(302, "", [WireHeader("location", "/a")]), true),
        (.header("Location"), reply(302), false),
        (.detour, reply(302, "", [WireHeader("location", "/a")]), true), (.detour, reply(500, "<html>"), false),
        (.all([]), .failed(TransportFailure(.lost, "timedOut")), true), (.any([]), reply(), false),
        (.all([.success, .webPage]), reply(), false), (.any([.success, .webPage]), reply(), true),
        (.not(.success), reply(), false),
        (.firstText("A-1", among: ["A-1", "B-2"]), reply(500, "x A-1 y B-2"), true),
        (.firstText("B-2", among: ["A-1", "B-2"]), reply(500, "x A-1 y B-2"), false),
        (.firstText("B-2", among: ["A-1", "B-2"]), reply(500, ""), false),
    ])
    func `evaluates conditions on status, headers and text`(
        _ row: (condition: ReplyCondition, outcome: Outcome, holds: Bool)
    ) {
        #expect(row.condition.holds(for: row.outcome) == row.holds)
    }

    @Test(arguments: [
        (path: "a.b", test: ReplyCondition.JSONTest.exists, json: #"{"a":{"b":null}}"#, holds: true),
        ("a.b", .exists, #"{"a":[{"b":1}]}"#, false), ("a.*.b", .exists, #"{"a":[{},{"b":1}]}"#, true),
        ("", .exists, "[]", true), ("", .exists, "no JSON", false), ("", .object, "{}", true),
        ("", .object, "[]", false),
        ("a", .string, #"{"a":""}"#, true), ("a", .string, #"{"a":1}"#, false), ("a", .filled, #"{"a":[]}"#, false),
        ("a", .filled, #"{"a":[0]}"#, true), ("a", .filled, #"{"a":{"b":0}}"#, true),
        ("a", .filled, #"{"a":"x"}"#, false),
        ("a", .flag(true), #"{"a":true}"#, true), ("a", .flag(true), #"{"a":"true"}"#, false),
        ("a", .number([]), #"{"a":7}"#, true), ("a", .number([]), #"{"a":7.5}"#, false),
        ("a", .number([1...2, 7...9]), #"{"a":7}"#, true), ("a", .number([1...2, 7...9]), #"{"a":5}"#, false),
        ("a", .number([1...2]), #"{"a":18446744073709551617}"#, false), ("a", .text(["x", "y"]), #"{"a":"y"}"#, true),
        ("a", .text(["x"]), #"{"a":"X"}"#, false), ("a", .contains("b c"), #"{"a":"a b c"}"#, true),
        ("a", .contains("b c"), #"{"a":"a b"}"#, false),
    ])
    func `a JSON test accepts the values it names`(
        _ row: (path: String, test: ReplyCondition.JSONTest, json: String, holds: Bool)
    ) {
        #expect(ReplyCondition.json(row.path, row.test).holds(for: Self.reply(200, row.json)) == row.holds)
    }

    @Test(arguments: [
        (path: "r.a", test: ReplyCondition.TextTest.exists, xml: "<r><a/></r>", holds: true),
        ("a", .exists, "<r><a/></r>", false), ("r.a", .exists, "<r><a>", false), ("r.a", .exists, "{}", false),
        ("r.a", .exists, "\u{FEFF}\n<r><a/></r>", true), ("r.a", .exists, "", false),
        ("r.a.b", .number([5]), "<r><a><b> 5 </b></a></r>", true), ("r.a", .number([5]), "<r><a>-5</a></r>", false),
        ("r.a", .number([5]), "<r><a>5</a><a>6</a></r>", true), ("r.a", .number([6]), "<r><a>5</a><a>6</a></r>", false),
        ("r.a", .word("true"), "<r><a> TRUE </a></r>", true), ("r.a", .word("true"), "<r><a>false</a></r>", false),
    ])
    func `a text test accepts the elements it names`(
        _ row: (path: String, test: ReplyCondition.TextTest, xml: String, holds: Bool)
    ) {
        #expect(ReplyCondition.xml(row.path, row.test).holds(for: Self.reply(200, row.xml)) == row.holds)
    }
}

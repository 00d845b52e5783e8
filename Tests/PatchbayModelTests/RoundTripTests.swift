import Foundation
import PatchbayJSON
import PatchbayModel
import Testing

/// The JSON of a value, which its type reads and writes again.
struct RoundTrip: Sendable, CustomTestStringConvertible {
    let json: String
    let testDescription: String
    let rewrite: @Sendable (String) throws(ModelError) -> String

    init<Value: NeutralValue>(_ type: Value.Type, _ json: String) {
        self.json = json
        testDescription = "\(type) \(json.prefix(60))"
        rewrite = { text throws(ModelError) in
            String(decoding: try Value(jsonBytes: text.utf8).jsonBytes, as: UTF8.self)
        }
    }

    static let all: [RoundTrip] = actions + values + whole

    private static let actions: [RoundTrip] = [
        #"{"kind":"identify","identifiers":[{"kind":"external","value":"c-1"},{"kind":"loyalty_card","value":""}]}"#,
        #"{"kind":"switchContact","switch":{"direction":"logIn","identifiers":[{"kind":"email","value":"a@example.com"}]}}"#,
        #"{"kind":"switchContact","switch":{"direction":"logOut"}}"#,
        #"{"kind":"registerDevice","device":{"pushToken":{"value":"7c1f","service":"hms","environment":"sandbox","appID":"com.example"},"#
            + #""facts":{"platform":"iOS","platformVersion":"24.3","model":"m","deviceName":"n","locale":"fi_FI","#
            + #""timeZone":"Europe/Helsinki","utcOffsetSeconds":-3600,"isDaylightSaving":true,"appID":"a","appVersion":"8","#
            + #""advertisingID":"x","allowsAdTracking":true},"allowsPush":false,"allowsBackgroundPush":true,"#
            + #""allowsLocation":true,"allowsProximity":true,"identities":{"former.id":"a1"}}}"#,
        #"{"kind":"changeAttributes","changes":{"a":{"set":""},"b":{"unset":true},"c":{"increment":-0.50},"d":{"append":[1,"x"]},"e":{"remove":[true]}}}"#,
        #"{"kind":"changeTags","tags":{"replace":[],"add":["b","a"],"remove":["c"]}}"#,
        #"{"kind":"changeTags","tags":{}}"#,
        #"{"kind":"changeSubscription","subscription":{"channel":"email","topic":"t","state":"suspended","changedAt":"2031-03-09T07:05:11.000000001Z","source":"s","evidence":"e","fields":{"f":1}}}"#,
        #"{"kind":"setConsent","consent":{"purpose":"tracking","channel":"push","state":"denied","changedAt":"0000-01-01T00:00:00Z"}}"#,
        #"{"kind":"track","event":{"kind":"push","interaction":"dismissed","payload":{"z":1.50,"a":[null]},"actionID":"buy"}}"#,
        #"{"kind":"track","event":{"kind":"messageViewed","messageID":"m"}}"#,
        #"{"kind":"track","event":{"kind":"messageClicked","messageID":"m","buttonID":"b"}}"#,
        #"{"kind":"track","event":{"kind":"sessionStarted"}}"#,
        #"{"kind":"track","event":{"kind":"sessionEnded"}}"#,
        #"{"kind":"track","event":{"kind":"custom","name":"Order Placed","attributes":{"total":49.90}}}"#,
        #"{"kind":"unregister"}"#,
        #"{"kind":"erase"}"#,
        #"{"kind":"readBack","read":{"what":"profile","arguments":{"z":1,"a":2}}}"#,
    ].map { RoundTrip(Action.self, $0) }

    private static let values: [RoundTrip] = [
        #""""#, #""a\"\\\n\u0000😀""#, "0", "-9223372036854775808", "9223372036854775807", "49.90", "-0.0", "true", "[]",
        #"[1,["x",false]]"#, #"{"date":"2028-02-29"}"#, #"{"time":"23:59"}"#,
        #"{"timestamp":"9999-12-31T23:59:59.999999999Z"}"#,
        #"{"country":"FI"}"#, #"{"choices":["b","a"]}"#, #"{"object":{"a":{"object":{}},"b":[1]}}"#,
        #"{"decimal":"1200"}"#,
        #"{"decimal":"9223372036854775808"}"#, #"{"decimal":"-0"}"#,
    ].map { RoundTrip(AttributeValue.self, $0) }

    private static let whole: [RoundTrip] = [
        RoundTrip(
            EngagementOperation.self,
            #"{"id":"o1","subject":"s","contact":"c","group":"g","capturedAt":"2031-03-09T07:05:11.042Z","appState":"inactive","#
                + #""options":{"a":{"z":1},"b":{}},"action":{"kind":"erase"}}"#
        ),
        RoundTrip(
            EngagementOperation.self,
            #"{"id":"o1","subject":"s","capturedAt":"1969-12-31T23:59:59.999Z","action":{"kind":"unregister"}}"#
        ),
        RoundTrip(Contact.self, "{}"),
        RoundTrip(
            Contact.self,
            #"{"identifiers":[{"kind":"email","value":"e"}],"attributes":{"a":1,"b":"x"},"tags":["a","b"],"#
                + #""subscriptions":[{"channel":"sms","state":"unknown"}],"consents":[{"purpose":"profile","state":"granted"}],"#
                + #""devices":[{"allowsPush":true,"allowsBackgroundPush":false,"allowsLocation":false,"allowsProximity":false}],"#
                + #""locale":"fi_FI","timeZone":"Europe/Helsinki"}"#
        ),
        RoundTrip(SubjectSnapshot.self, "{}"),
        RoundTrip(
            SubjectSnapshot.self,
            #"{"contact":"c","identifiers":[{"kind":"email","value":"e"}],"attributes":{"a":1},"tags":["a"],"#
                + #""subscriptions":[{"channel":"email","state":"subscribed"},{"channel":"email","topic":"t","state":"suspended"}],"#
                + #""consents":[{"purpose":"tracking","state":"granted"}],"device":{"allowsPush":false,"allowsBackgroundPush":false,"#
                + #""allowsLocation":false,"allowsProximity":false},"switch":{"direction":"logOut"},"cameAfter":7,"#
                + #""formerPeople":[{"contact":"d","pushMessages":"denied","denials":[{"purpose":"messaging","state":"denied"}]}]}"#
        ),
    ]
}

@Suite("The model's JSON") struct RoundTripTests {
    @Test(arguments: RoundTrip.all) func `reads and writes JSON byte for byte`(_ row: RoundTrip) throws {
        #expect(try row.rewrite(row.json) == row.json)
    }

    @Test func `reads the former name of an unregister`() throws {
        #expect(try Action(json: JSONValue(parsing: #"{"kind":"farewell"}"#), at: "") == .unregister)
    }

    @Test(arguments: [
        (json: #"{"increment":1e2}"#, text: #"{"increment":100}"#), (#"{"set":1.5E1}"#, #"{"set":{"decimal":"15"}}"#),
        (#"{"set":{"decimal":"49.90"}}"#, #"{"set":49.90}"#),
        (#"{"set":{"country":"fi"}}"#, #"{"set":{"country":"FI"}}"#),
        (#"{"set":{"list":[1]}}"#, #"{"set":[1]}"#), (#"{"set":{"string":"x"}}"#, #"{"set":"x"}"#),
        (#"{"set":{"timestamp":"2031-03-09T09:05:11+02:00"}}"#, #"{"set":{"timestamp":"2031-03-09T07:05:11Z"}}"#),
    ])
    func `writes other spellings in the canonical form`(_ row: (json: String, text: String)) throws {
        let change = try AttributeChange(jsonBytes: row.json.utf8)
        #expect(String(decoding: change.jsonBytes, as: UTF8.self) == row.text)
    }

    @Test(arguments: [
        ("", "value: is a number. Give an object.", "7"),
        (
            "",
            #"colour: is not a known field. Known fields: id, subject, contact, group, capturedAt, appState, options, action."#,
            #"{"colour":1}"#
        ),
        ("", "subject: is missing. Add it.", #"{"id":"o"}"#),
        ("", "id: is empty. Give a name that is not empty.", #"{"id":""}"#),
        (
            "", "capturedAt: is not an instant. Write it like \"2031-03-09T07:05:11.042Z\".",
            #"{"id":"o","subject":"s","capturedAt":"noon"}"#
        ),
        (
            "", "action.event.attributes.coupon: is null. Give a value, or leave it out.",
            #"{"id":"o","subject":"s","capturedAt":"2031-03-09T07:05:11Z","action":{"kind":"track","event":"#
                + #"{"kind":"custom","name":"Order","attributes":{"coupon":null}}}}"#
        ),
        ("", "value: line 1, column 2: the text ends before the value is complete. Correct the JSON text.", "{"),
    ])
    func `an operation's error states path, problem and remedy`(_ row: (String, text: String, json: String)) {
        #expect(throws: ModelError.self) { try EngagementOperation(jsonBytes: row.json.utf8) }
        do {
            _ = try EngagementOperation(jsonBytes: row.json.utf8)
        } catch {
            #expect(error.description == row.text)
        }
    }

    @Test(arguments: [
        (#"{"set":null}"#, "set: is null. To remove the attribute use {\"unset\": true}."),
        (#"{"unset":false}"#, "unset: is not true. Write {\"unset\": true}."),
        (
            #"{"set":1,"unset":true}"#,
            "value: names no single change. Give one of set, unset, increment, append, remove."
        ),
        (
            #"{"set":{"date":"2031-02-29"}}"#,
            "set.date: is not of the type date. Write a day that exists as YYYY-MM-DD."
        ),
        (
            #"{"set":{"street":"x"}}"#,
            "set: is an object without a type. Write {\"<type>\": value}; nested members as {\"object\": {…}}."
        ),
        (#"{"set":{"object":{"a":{"time":"24:00"}}}}"#, "set.object.a.time: is not of the type time. Write HH:MM."),
        (
            #"{"append":[1,{"country":"XX"}]}"#,
            "append[1].country: is not of the type country. Write the two letters of ISO 3166-1."
        ),
        (#"{"increment":"1"}"#, "increment: is not a number. Give a number."),
        (
            #"{"set":{"integer":"9223372036854775808"}}"#,
            "set.integer: is not of the type integer. Write a whole number of 64 bits."
        ),
        (#"{"set":{"object":{"":1}}}"#, "set.object.: has an empty name. Give it a name."),
    ])
    func `a change's error states path, problem and remedy`(_ row: (json: String, text: String)) {
        do {
            _ = try AttributeChange(jsonBytes: row.json.utf8)
            Issue.record("\(row.json) was read.")
        } catch {
            #expect(error.description == row.text)
        }
    }

    @Test func `an error never contains the value`() {
        for json in [#"{"id":"o","subject":"s","capturedAt":"Secret77"}"#, #"{"id":{"Secret77x":"Secret77"}}"#] {
            do {
                _ = try EngagementOperation(jsonBytes: json.utf8)
                Issue.record("\(json) was read.")
            } catch {
                #expect(!error.description.contains("Secret77"))
            }
        }
    }
}

@Suite("Schema examples and the model") struct SchemaExampleTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("Schemas/model/examples")

    private static func names(_ folder: URL) -> [String] {
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).filter { $0.hasSuffix(".json") }
            .sorted()
    }

    private func read(_ name: String, in folder: URL) throws {
        let data = try Data(contentsOf: folder.appendingPathComponent(name))
        switch name.prefix(while: { $0 != "." }) {
        case "operation": _ = try EngagementOperation(jsonBytes: data)
        case "contact": _ = try Contact(jsonBytes: data)
        case "snapshot": _ = try SubjectSnapshot(jsonBytes: data)
        default: Issue.record("\(name) names no schema.")
        }
    }

    @Test(arguments: names(folder)) func `reads every valid schema example`(_ name: String) throws {
        try read(name, in: Self.folder)
    }

    @Test(arguments: names(folder.appendingPathComponent("invalid")))
    func `refuses every invalid schema example`(_ name: String) {
        #expect(throws: ModelError.self) { try read(name, in: Self.folder.appendingPathComponent("invalid")) }
    }
}

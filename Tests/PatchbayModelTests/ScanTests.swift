import PatchbayJSON
import PatchbayModel
import Testing

/// Returns a value as its JSON text.
private func json(_ value: some NeutralValue) -> String { String(decoding: value.jsonBytes, as: UTF8.self) }

/// The two readers of a type: the scanner, which reads the bytes directly, and the reader of a JSON tree.
private struct TwoReaders: Sendable, CustomTestStringConvertible {
    let text: String
    let testDescription: String
    /// The results of the scanner and of the tree reader: the value as its JSON text, or an error.
    let scanned: @Sendable ([UInt8]) -> String?
    let parsed: @Sendable ([UInt8]) -> Result<String, ModelError>
    /// The result for callers.
    let read: @Sendable ([UInt8]) -> Result<String, ModelError>

    init<Value: ScannedValue>(_ type: Value.Type, _ text: String) {
        self.text = text
        testDescription = "\(type) \(text.prefix(50))"
        scanned = { bytes in
            var value: Value?
            let isWhole = bytes.withUnsafeBufferPointer { buffer in
                JSONScanner.scan(buffer) { scanner throws(NotPlain) in value = try Value(scanning: &scanner) }
            }
            return isWhole ? value.map { json($0) } : nil
        }
        parsed = { bytes in
            Result { () throws(ModelError) in json(try Value(json: Self.tree(bytes), at: "")) }
        }
        read = { bytes in Result { () throws(ModelError) in json(try Value(jsonBytes: bytes)) } }
    }

    /// Returns the tree that the token reader builds.
    private static func tree(_ bytes: [UInt8]) throws(ModelError) -> JSONValue {
        do {
            return try JSONReader.read(bytes) { reader throws(JSONError) in
                let value = try reader.value()
                _ = try reader.next()
                return value
            }
        } catch {
            throw ModelError(path: "", reason: "\(error)", remedy: "Correct the JSON text.")
        }
    }

    static let all: [TwoReaders] = [
        operation(
            #"{"kind":"track","event":{"kind":"custom","name":"Order Placed","attributes":{"branch":"Åbo 👩🏽‍🚀","n":480013,"total":49.90}}}"#
        ),
        operation(
            #"{"kind":"track","event":{"kind":"push","interaction":"tapped","payload":{"aps":{"alert":["a","\u00e9\n"],"x":null},"_mId":-1.5e3},"actionID":"buy"}}"#
        ),
        operation(#"{"kind":"track","event":{"kind":"messageClicked","messageID":"m","buttonID":"b"}}"#),
        operation(#"{"kind":"track","event":{"kind":"sessionStarted"}}"#),
        operation(
            #"{"kind":"identify","identifiers":[{"kind":"email","value":"a@example.com"},{"kind":"phone","value":""}]}"#
        ),
        operation(#"{"kind":"switchContact","switch":{"direction":"logOut"}}"#),
        operation(#"{"kind":"changeTags","tags":{"replace":[],"add":["b","a"]}}"#),
        operation(
            #"{"kind":"setConsent","consent":{"purpose":"tracking","channel":"push","state":"denied","changedAt":"2031-03-09T07:05:11.5Z"}}"#
        ),
        operation(#"{"kind":"readBack","read":{"what":"profile","arguments":{"z":1}}}"#),
        operation(#"{"kind":"erase"}"#), operation(#"{"kind":"unregister"}"#),
        operation(#"{"kind":"track","event":{"kind":"messageViewed","messageID":"m"}}"#),
        operation(
            #"{"kind":"changeSubscription","subscription":{"channel":"email","topic":"t","state":"subscribed","changedAt":"2031-03-09T07:05:11Z"}}"#
        ),
        operation(
            #"{"kind":"registerDevice","device":{"pushToken":{"value":"7c1f","service":"apns"},"allowsPush":true,"allowsBackgroundPush":false,"allowsLocation":false,"allowsProximity":false}}"#
        ),
        operation(
            #"{"kind":"changeAttributes","changes":{"a":{"set":{"object":{"d":{"date":"2028-02-29"},"t":{"time":"23:59"}}}},"b":{"unset":true},"c":{"increment":-0.50},"d":{"append":[1,"x",[true]]},"e":{"remove":[{"choices":["b"]}]},"f":{"set":{"decimal":"12"}},"g":{"set":{"country":"FI"}}}}"#
        ),
        TwoReaders(
            SubjectSnapshot.self,
            #"{"contact":"c","identifiers":[{"kind":"email","value":"e"}],"attributes":{"a":1,"b":{"timestamp":"2031-03-09T07:05:11Z"}},"tags":["a","b"],"subscriptions":[{"channel":"email","state":"subscribed","fields":{"f":1}},{"channel":"email","topic":"t","state":"suspended","source":"s","evidence":"e"}],"consents":[{"purpose":"tracking","state":"granted"}],"device":{"pushToken":{"value":"7c1f","service":"apns","environment":"sandbox","appID":"x"},"facts":{"platform":"iOS","platformVersion":"24.3","model":"m","deviceName":"n","locale":"fi_FI","timeZone":"Europe/Helsinki","utcOffsetSeconds":-3600,"isDaylightSaving":true,"appVersion":"8","allowsAdTracking":false},"allowsPush":false,"allowsBackgroundPush":true,"allowsLocation":false,"allowsProximity":true,"identities":{"former.id":"a1"}},"switch":{"direction":"logIn","identifiers":[{"kind":"external","value":"1"}]},"cameAfter":7,"personChanges":[3,7],"formerPeople":[{"contact":"d","pushMessages":"granted","denials":[{"purpose":"messaging","state":"denied"}],"subscriptions":[{"channel":"push","state":"unsubscribed"}]}]}"#
        ),
        TwoReaders(
            Contact.self,
            #"{"identifiers":[{"kind":"email","value":"e"}],"attributes":{"a":1.0,"b":"x"},"tags":["a"],"subscriptions":[{"channel":"sms","state":"unknown"}],"consents":[{"purpose":"profile","state":"granted"}],"devices":[{"allowsPush":true,"allowsBackgroundPush":false,"allowsLocation":false,"allowsProximity":false}],"locale":"fi_FI","timeZone":"Europe/Helsinki"}"#
        ),
    ]

    private static func operation(_ action: String) -> TwoReaders {
        TwoReaders(
            EngagementOperation.self,
            #"{"id":"019a","subject":"s","contact":"c","group":"g","capturedAt":"2031-03-09T07:05:11.042Z","appState":"active","options":{"des":{"z":[1]}},"action":\#(action)}"#
        )
    }
}

@Suite("Scanner and tree reader of the model") struct ScanTests {
    @Test(arguments: TwoReaders.all) fileprivate func `the scanner reads everything that the model writes`(
        _ row: TwoReaders
    ) throws {
        let bytes = Array(try row.parsed(Array(row.text.utf8)).get().utf8)
        #expect(row.scanned(bytes) == String(decoding: bytes, as: UTF8.self))
    }

    @Test(arguments: TwoReaders.all) fileprivate func `both readers refuse truncated text with the same error`(
        _ row: TwoReaders
    ) {
        let bytes = Array(row.text.utf8)
        for count in 0..<bytes.count { expectSame(row, Array(bytes[..<count]), "the first \(count) bytes") }
    }

    @Test(arguments: TwoReaders.all) fileprivate func `both readers agree on mutated text`(
        _ row: TwoReaders
    ) {
        var random = Chance(state: UInt64(row.text.utf8.count))
        var taken = 0
        for run in 0..<400 {
            let bytes = Self.mutated(Array(row.text.utf8), &random)
            if row.scanned(bytes) != nil { taken += 1 }
            expectSame(row, bytes, "run \(run)")
        }
        #expect(taken > 0, "No mutation was read, so the runs prove nothing.")
    }

    @Test(
        arguments: [
            (#"{"kind":"external","value":"a","value":"b"}"#, nil), (#"{"kind":"external","value":"\ud800"}"#, nil),
            (#"{"kind":"external","val\u0075e":"a"}"#, "a"), (#"{"value":"a","kind":"external"}"#, "a"),
            (#" { "kind" : "external" , "value" : "a" } "#, "a"), (#"{"kind":"external""value":"a"}"#, nil),
            (#"{"kind":"external",,"value":"a"}"#, nil), (#"{"kind":"external","value":"a"}}"#, nil),
            (#"{,"kind":"external","value":"a"}"#, nil), (#"{"kind":"external","value":"a",}"#, nil),
            (#"{"kind":"","value":"a"}"#, nil), (#"{"kind":"external","value":null}"#, nil), ("\u{FEFF}{}", nil),
        ] as [(String, String?)]
    )
    func `the scanner leaves unusual text to the tree reader`(_ row: (text: String, value: String?)) {
        #expect((try? Identifier(jsonBytes: row.text.utf8))?.value == row.value)
        let readers = TwoReaders(Identifier.self, row.text)
        #expect(readers.scanned(Array(row.text.utf8)) == nil)
        expectSame(readers, Array(row.text.utf8), "as it is")
    }

    @Test(arguments: [
        "0", "-0", "01", "-", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
        "99999999999999999999999999", "999999999999999999", "1234567890123456789", "1e5", "1E+400",
        "1e999999999999999999999",
        "0.10", "1.", ".5", "1x", "-0.0", "+1", "1_0", "NaN", String(repeating: "9", count: 401),
    ])
    func `both readers agree on numbers of any size`(_ text: String) {
        for type in [
            TwoReaders(AttributeValue.self, text), TwoReaders(Int.self, text), TwoReaders(JSONValue.self, text),
        ] {
            expectSame(type, Array(text.utf8), type.testDescription)
        }
    }

    @Test(arguments: [1, 63, 64, 65, 511, 512, 513]) func `both readers agree on deeply nested text`(depth: Int) {
        let list = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        let object = String(repeating: #"{"a":"#, count: depth) + "1" + String(repeating: "}", count: depth)
        for text in [list, object] {
            expectSame(TwoReaders(JSONValue.self, text), Array(text.utf8), "\(depth) levels")
            #expect((try? JSONValue(parsing: text)) != nil || depth > 512)
        }
        expectSame(TwoReaders(AttributeValue.self, list), Array(list.utf8), "\(depth) lists")
    }

    @Test func `the scanner leaves names that look alike to the tree reader`() {
        let text = "{\"object\":{\"\u{E9}\":1,\"e\u{301}\":2}}"
        let readers = TwoReaders(AttributeValue.self, text)
        #expect(readers.scanned(Array(text.utf8)) == nil)
        expectSame(readers, Array(text.utf8), "é")
    }

    @Test func `both readers agree on objects with many members`() {
        for count in [63, 64, 65, 200] {
            let members = (0..<count).map { "\"k\($0)\":\($0)" }
            let whole = "{\(members.joined(separator: ","))}"
            let double = "{\(members.joined(separator: ",")),\"k\(count / 2)\":0}"
            for text in [whole, double] {
                expectSame(TwoReaders(JSONValue.self, text), Array(text.utf8), "\(count) members")
            }
            #expect((try? JSONValue(parsing: whole))?.object?.count == count)
            #expect(throws: JSONError.self) { try JSONValue(parsing: double) }
        }
    }

    private func expectSame(_ row: TwoReaders, _ bytes: [UInt8], _ note: String) {
        let parsed = row.parsed(bytes)
        #expect(row.read(bytes) == parsed, "\(row.testDescription): \(note)")
        if let scanned = row.scanned(bytes) {
            #expect(parsed == .success(scanned), "\(row.testDescription): \(note)")
        }
    }

    private static let marks = Array("\"\\{}[],:0-.enut \n".utf8) + [0, 0x1F, 0x80, 0xC3, 0xED, 0xFF]

    private static func mutated(_ text: [UInt8], _ random: inout Chance) -> [UInt8] {
        var bytes = text
        for _ in 0..<Int.random(in: 1...2, using: &random) {
            let place = Int.random(in: 0..<bytes.count, using: &random)
            switch Int.random(in: 0..<6, using: &random) {
            case 0: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            case 1: bytes[place] = marks.randomElement(using: &random) ?? 0
            case 2: bytes.insert(marks.randomElement(using: &random) ?? 0, at: place)
            // Replaces a byte with a letter, which mostly leaves a valid value.
            case 3: bytes[place] = UInt8.random(in: 0x61...0x7A, using: &random)
            case 4: bytes.remove(at: place)
            default:
                // Repeats a range of bytes, which often repeats a name.
                let end = min(bytes.count, place + Int.random(in: 1..<24, using: &random))
                bytes.insert(contentsOf: bytes[place..<end], at: place)
            }
        }
        return bytes
    }
}

/// A random number generator with a fixed sequence for a seed (SplitMix64).
private struct Chance: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

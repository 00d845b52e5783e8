import PatchbayJSON
import Testing

@Suite("JSON values and their writer")
struct JSONValueTests {
    @Test func `compact text has no spaces and keeps the order of members`() {
        let value: JSONValue = ["b": [1, true, nil, "x/y"], "a": [:], "c": []]
        #expect(value.text == #"{"b":[1,true,null,"x/y"],"a":{},"c":[]}"#)
    }

    @Test func `texts that look alike are different values and names`() {
        let (composed, decomposed): (JSONValue, JSONValue) = ("Zo\u{EB}", "Zoe\u{308}")
        #expect(composed != decomposed && Set([composed, decomposed, composed]).count == 2)
        #expect(["Zo\u{EB}": 1] as JSONValue != ["Zoe\u{308}": 1])
        #expect(["a": [composed]] as JSONValue == ["a": [composed]])
    }

    @Test func `pretty text has one member per line`() {
        let value: JSONValue = ["b": [1, ["c": "d"]], "a": [:], "e": []]
        let expected = """
            {
              "b": [
                1,
                {
                  "c": "d"
                }
              ],
              "a": {},
              "e": []
            }
            """
        #expect(value.prettyText == expected)
    }

    /// Covers positions within one word of a string, in two overlapping words, and at the end of a word.
    @Test(arguments: 0...20) func `escapes exactly the required bytes at any position`(length: Int) {
        let plain = "abcdefghijklmnopqrst".prefix(length)
        for place in 0...length {
            for scalar in (0...0x80 as ClosedRange<UInt32>).compactMap(Unicode.Scalar.init) + ["ÿ", "€", "😀"] {
                let (before, behind) = (plain.prefix(place), plain.dropFirst(place))
                let escaped =
                    switch scalar {
                    case "\"", "\\": "\\\(scalar)"
                    case "\u{8}": "\\b"
                    case "\t": "\\t"
                    case "\n": "\\n"
                    case "\u{C}": "\\f"
                    case "\r": "\\r"
                    case "\0"..<" ":
                        "\\u00" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
                    default: String(scalar)
                    }
                let text = before + String(scalar) + behind
                var writer = JSONWriter()
                writer.beginArray()
                writer.string(String(plain))
                writer.string(String(text))
                writer.endArray()
                #expect(writer.text == "[\"\(plain)\",\"\(before)\(escaped)\(behind)\"]")
            }
        }
    }

    @Test(arguments: [JSONWriter.Style.compact, .pretty])
    func `writes a prepared name like any other`(_ style: JSONWriter.Style) {
        var (made, plain) = (JSONWriter(style: style), JSONWriter(style: style))
        for name in ["a", "\"ä\"\n", ""] {
            made.beginObject()
            plain.beginObject()
            for number in [0, -1, Int64.min, .max] {
                made.name(JSONName(name))
                plain.name(name)
                made.integer(number)
                plain.raw(String(number))
            }
            made.endObject()
            plain.endObject()
            made.endLine()
            plain.endLine()
        }
        #expect(made.text == plain.text)
    }

    @Test(arguments: [0, 7, -10, Int64.min, .max]) func `writes the digits of a whole number`(_ number: Int64) {
        #expect(JSONNumber(number).text == String(number))
        #expect(JSONNumber(Int128(number) * 10).text == String(Int128(number) * 10))
    }

    @Test func `escapes only required characters`() {
        let text = "\" \\ / \u{8}\t\n\u{C}\r \u{0}\u{1F} \u{7F} é 😀 \u{2028}"
        #expect(JSONValue.string(text).text == #""\" \\ / \b\t\n\f\r \u0000\u001f "# + "\u{7F} é 😀 \u{2028}\"")
    }

    @Test func `writes independent records of newline-delimited JSON`() {
        var writer = JSONWriter()
        for id in 1...2 {
            writer.beginObject()
            writer.name("id")
            writer.integer(id)
            writer.name("raw")
            writer.raw("[1.0]")
            writer.endObject()
            writer.endLine()
        }
        #expect(writer.text == "{\"id\":1,\"raw\":[1.0]}\n{\"id\":2,\"raw\":[1.0]}\n")
        writer.reset()
        #expect(writer.bytes.isEmpty)
    }

    @Test func `the canonical form sorts names by their scalars at every level`() {
        let value: JSONValue = ["é": 1, "z": ["b": 1, "a": 2], "Z": [["d": 1, "c": 2]], "😀": 1, "\u{FFFF}": 1]
        #expect(
            value.canonical.text == "{\"Z\":[{\"c\":2,\"d\":1}],\"z\":{\"a\":2,\"b\":1},\"é\":1,\"\u{FFFF}\":1,\"😀\":1}"
        )
    }

    @Test func `setting a member keeps its position, and nil removes it`() {
        var object: JSONObject = ["a": 1, "b": 2]
        object["a"] = 3
        object["c"] = 4
        #expect(object == ["a": 3, "b": 2, "c": 4])
        object["b"] = nil
        #expect(object.names == ["a", "c"])
    }

    @Test(arguments: [3, 40])
    func `an object made of pairs keeps the last value at the first position`(count: Int) {
        let pairs = (0..<count).map { ("n\($0)", JSONValue.integer($0)) }
        let object = JSONObject(pairs + [("n1", "last")])
        #expect(object.names == pairs.map(\.0))
        #expect(object["n1"] == "last")
    }

    @Test(arguments: [
        ("0", true), ("-0", true), ("10.5e+3", true), ("1E-2", true), ("", false), ("-", false), ("01", false),
        ("+1", false),
        ("1.", false), (".5", false), ("1e", false), ("0x1", false), ("NaN", false), (" 1", false), ("1 ", false),
        ("١", false),
    ])
    func `accepts exactly the number texts of the JSON grammar`(text: String, isValid: Bool) {
        #expect((JSONNumber(text: text) != nil) == isValid)
        #expect(((try? JSONValue(parsing: "[\(text)]"))?[0]?.number?.text == text) == isValid || text.contains(" "))
    }
}

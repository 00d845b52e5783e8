import PatchbayJSON
import Testing

@Suite("The reader")
struct JSONReaderTests {
    @Test func `a value is read with its order, its numbers' text and its escapes`() throws {
        let text = #"{"b":[1.0,-0,1e400],"a":"\u0041\ud83d\ude00\n","c":{"d":null,"e":true}}"#
        let value = try JSONValue(parsing: text)
        #expect(value["b"] == .array(["1.0", "-0", "1e400"].compactMap { JSONNumber(text: $0).map(JSONValue.number) }))
        #expect(value["a"] == "A😀\n")
        #expect(value.object?.names == ["b", "a", "c"])
        #expect(value.text == #"{"b":[1.0,-0,1e400],"a":"A😀\n","c":{"d":null,"e":true}}"#)
    }
}

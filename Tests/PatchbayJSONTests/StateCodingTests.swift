import Foundation
import PatchbayJSON
import Testing

/// State of an adapter with every kind of member that `Codable` synthesizes.
private struct SampleState: Codable, Equatable {
    enum Word: String, Codable { case first, second }

    enum Message: Codable, Equatable {
        case silence
        case words(count: Int, String?)
    }

    struct Inner: Codable, Equatable {
        var id: String?
        var isKnown = false
        var rows: [Int64?] = []
    }

    var text = ""
    var name: String?
    var count = 0
    var big = Int64.min
    var unsigned = UInt64.max
    var share = 0.1
    var whole = 12.0
    var word = Word.second
    var messages: [Message] = []
    var inner = Inner()
    var inners: [String: Inner] = [:]
    var matrix: [[Bool]] = []
    var opaque: JSONValue?
    var empty: [String: Int] = [:]
}

@Suite("State as JSON") struct StateCodingTests {
    private static let samples: [SampleState] = [
        SampleState(),
        SampleState(
            text: "a/b \"quoted\" \\ line\n tab\t ünïcödé 🎏",
            name: "",
            count: -7,
            big: .max,
            unsigned: 0,
            share: 1e-7,
            whole: -3,
            word: .first,
            messages: [.silence, .words(count: 2, nil), .words(count: 0, "x")],
            inner: .init(id: "i", isKnown: true, rows: [1, nil, -9_007_199_254_740_993]),
            inners: ["z": .init(), "a": .init(id: "ä"), "Z": .init(rows: [])],
            matrix: [[], [true, false]],
            opaque: ["n": 49, "list": [nil, true]]
        ),
    ]

    private static func foundation(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    @Test(arguments: samples) private func `writes the bytes of Foundation's encoder`(_ sample: SampleState) throws {
        let (ours, theirs) = (try StateEncoder.bytes(of: sample), try Self.foundation(sample))
        #expect(String(decoding: ours, as: UTF8.self) == String(decoding: theirs, as: UTF8.self))
    }

    @Test(arguments: samples) private func `reads the output of both encoders`(_ sample: SampleState) throws {
        #expect(try StateDecoder.value(from: StateEncoder.bytes(of: sample)) == sample)
        #expect(try StateDecoder.value(from: Self.foundation(sample)) == sample)
        #expect(try JSONDecoder().decode(SampleState.self, from: Data(StateEncoder.bytes(of: sample))) == sample)
    }

    @Test func `encodes and decodes top-level values`() throws {
        #expect(try StateEncoder.bytes(of: "x") == Array("\"x\"".utf8))
        #expect(try StateEncoder.bytes(of: [Int?.none, 3]) == Array("[null,3]".utf8))
        #expect(try StateDecoder.value([String].self, from: Array("[\"x\"]".utf8)) == ["x"])
        #expect(try StateDecoder.value(Int.self, from: Array("1e3".utf8)) == 1000)
    }

    @Test(arguments: [
        "{\"id\":7}", "{\"isKnown\":true}", "[]", "{\"isKnown\":1,\"rows\":[]}", "{\"isKnown\":true,\"rows\":[1.5]}",
    ])
    func `refuses JSON that does not match the type`(_ json: String) {
        #expect(throws: DecodingError.self) { try StateDecoder.value(SampleState.Inner.self, from: Array(json.utf8)) }
    }

    @Test func `refuses a number that JSON cannot represent`() {
        #expect(throws: EncodingError.self) { try StateEncoder.bytes(of: [Double.nan]) }
    }
}

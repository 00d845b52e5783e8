import PatchbayJSON
import Testing

/// A case of the public JSONTestSuite list with its name there and the result of this reader.
struct JSONTestSuiteRow: Sendable, CustomTestStringConvertible {
    let name: String
    let bytes: [UInt8]
    /// The expected error; nil if the text is accepted.
    let error: JSONError.Code?

    init(_ name: String, _ text: String, _ error: JSONError.Code? = nil) {
        self.init(name, bytes: Array(text.utf8), error)
    }

    init(_ name: String, bytes: [UInt8], _ error: JSONError.Code? = nil) {
        self.name = name
        self.bytes = bytes
        self.error = error
    }

    init(_ name: String, repeating text: String, _ count: Int, _ error: JSONError.Code? = nil) {
        self.init(name, String(repeating: text, count: count), error)
    }

    var testDescription: String { name }
}

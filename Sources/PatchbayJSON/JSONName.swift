/// A member's name in encoded form, created once for many objects.
public struct JSONName: Sendable {
    /// The name.
    public let text: String
    /// The quoted name with its colon, as compact JSON.
    let quoted: [UInt8]

    /// Creates a name.
    public init(_ text: String) {
        self.text = text
        var writer = JSONWriter()
        writer.name(text)
        quoted = writer.bytes
    }
}

/// A member's name as it is written, made once for many objects.
public struct JSONName: Sendable {
    /// The name.
    public let text: String
    /// The name in quotes with its colon, as compact JSON.
    let quoted: [UInt8]

    /// Creates a name.
    public init(_ text: String) {
        self.text = text
        var writer = JSONWriter()
        writer.name(text)
        quoted = writer.bytes
    }
}

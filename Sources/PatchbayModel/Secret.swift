/// A secret value, such as a token or a password. Its descriptions do not contain it.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The secret value, for use on the wire only.
    public let value: String

    /// Creates a secret.
    public init(_ value: String) { self.value = value }

    /// Always three dots.
    public var description: String { "•••" }

    /// Always three dots.
    public var debugDescription: String { "•••" }

    /// An empty reflection, so that it does not reveal the value.
    public var customMirror: Swift.Mirror { Swift.Mirror(self, children: []) }
}

extension Secret: Codable {
    public init(from decoder: any Decoder) throws {
        value = try decoder.singleValueContainer().decode(String.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

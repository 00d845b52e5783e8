/// A value that must never be seen: a token, a password. Its descriptions hide it.
public struct Secret: Hashable, Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The value itself, for the wire alone.
    public let value: String

    /// Hides a value.
    public init(_ value: String) { self.value = value }

    /// Three dots, whatever the value.
    public var description: String { "•••" }

    /// Three dots, whatever the value.
    public var debugDescription: String { "•••" }

    /// Nothing to look into.
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

public import PatchbayAdapterKit
public import PatchbayJSON

/// A memory or step as an older version of the adapter stored it.
public struct StoredState: Sendable {
    /// The version that stored it.
    public let version: Int
    /// Whether the state is a memory or a step.
    public let part: StatePart
    /// The stored JSON.
    public let json: JSONValue

    /// Creates a stored state.
    public init(version: Int, part: StatePart, json: JSONValue) {
        (self.version, self.part, self.json) = (version, part, json)
    }
}

/// A reply of the vendor that the reply table distinguishes by more than its status.
public struct SampleReply: Sendable {
    /// A short description: `a fault for an unknown field`.
    public let name: String
    /// The endpoints with this reply; nil for all.
    public let endpoints: Set<String>?
    /// The reply.
    public let response: WireResponse

    /// Creates a reply.
    public init(_ name: String, of endpoints: Set<String>? = nil, _ response: WireResponse) {
        (self.name, self.endpoints, self.response) = (name, endpoints, response)
    }
}

/// An opaque value that the vendor sends in a reply and expects back unchanged.
public struct Echo: Sendable {
    /// The value's name.
    public let name: String
    /// The endpoint whose reply contains the value.
    public let endpoint: String
    /// The names of two samples: one whose reply contains the value, and one whose request returns it.
    public let samples: (giving: String, returning: String)
    let reply: @Sendable (JSONValue) -> WireResponse
    let returned: @Sendable (WireRequest) -> JSONValue?

    /// Creates an opaque value.
    ///
    /// - Parameters:
    ///   - name: The value's name.
    ///   - endpoint: The endpoint whose reply contains the value.
    ///   - giving: The name of the sample whose reply contains the value.
    ///   - returning: The name of the sample whose request returns it.
    ///   - reply: Returns the vendor's reply with a given value.
    ///   - returned: Returns the value in a request; nil if the request has none.
    public init(
        _ name: String,
        from endpoint: String,
        giving: String,
        returning: String,
        reply: @escaping @Sendable (JSONValue) -> WireResponse,
        returned: @escaping @Sendable (WireRequest) -> JSONValue?
    ) {
        (self.name, self.endpoint, samples) = (name, endpoint, (giving, returning))
        (self.reply, self.returned) = (reply, returned)
    }
}

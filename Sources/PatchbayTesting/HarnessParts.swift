public import PatchbayAdapterKit
public import PatchbayJSON

/// A memory or step as an older version of the adapter stored it.
public struct StoredState: Sendable {
    /// The version that stored it.
    public let version: Int
    /// Memory or step.
    public let part: StatePart
    /// The stored JSON.
    public let json: JSONValue

    /// A stored state.
    public init(version: Int, part: StatePart, json: JSONValue) {
        (self.version, self.part, self.json) = (version, part, json)
    }
}

/// An answer of the vendor that its reply table tells apart by more than the status.
public struct SampleReply: Sendable {
    /// What it is, in a few words: `a fault for an unknown field`.
    public let name: String
    /// The endpoints that answer so; nil for all.
    public let endpoints: Set<String>?
    /// The answer.
    public let response: WireResponse

    /// An answer.
    public init(_ name: String, of endpoints: Set<String>? = nil, _ response: WireResponse) {
        (self.name, self.endpoints, self.response) = (name, endpoints, response)
    }
}

/// An opaque value that the vendor hands over in a reply and wants back as it was.
public struct Echo: Sendable {
    /// The value's name.
    public let name: String
    /// The endpoint whose reply hands it over.
    public let endpoint: String
    /// The names of two samples: one that makes the vendor hand it over, and one that brings it back.
    public let samples: (giving: String, returning: String)
    let reply: @Sendable (JSONValue) -> WireResponse
    let returned: @Sendable (WireRequest) -> JSONValue?

    /// A value.
    ///
    /// - Parameters:
    ///   - name: the value's name.
    ///   - endpoint: the endpoint whose reply hands it over.
    ///   - giving: the sample that makes the vendor hand it over.
    ///   - returning: the sample that brings it back.
    ///   - reply: the vendor's reply with the value in it.
    ///   - returned: the value in a request; nil where the request has none.
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

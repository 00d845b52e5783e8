public import PatchbayJSON

/// Two views of the same values: the vendor state that an adapter's memory expects, and the state that the vendor has.
///
/// Randomized runs compare them after all faults have been repaired, and the conformance suite at every settled point. The
/// vendor must have everything that the memory expects. The suite also interrupts exchanges and compares the vendor's final
/// states. Therefore `holds` returns everything that an operation may change at the vendor, except values that a repeat may
/// change: numbers of requests, and instants.
///
/// ```swift
/// static let expectedState = ExpectedState { memory in ["tags": memory["tags"] ?? []] } holds: { (state: ToyState, memory) in
///     ["tags": …, "events": …]
/// }
/// ```
public struct ExpectedState: Sendable {
    private let claim: (@Sendable (JSONValue) -> JSONObject)?
    private let hold: @Sendable (any Sendable, JSONValue) -> JSONObject?

    /// Whether the memory contains expectations at all.
    public var isBelieving: Bool { claim != nil }
    /// Whether a memory names its installation, so that no other installation can change that state at the vendor. Otherwise
    /// two installations that share a push token or a person have one record there.
    public let isPerInstallation: Bool

    /// Creates the two views.
    ///
    /// - Parameters:
    ///   - isPerInstallation: Whether a memory names its installation, so that no other installation can change that state.
    ///   - claims: Returns the expected state from the stored memory, without uncertain values. Nil if the memory contains no
    ///     expectations about a person.
    ///   - holds: Returns at least the same values, by the same names, from the simulator's state: those of the memory's
    ///     installation, or of the newest one without a memory. Names are fixed terms; only values may contain personal data.
    public init<State: Sendable>(
        isPerInstallation: Bool = false,
        claims: (@Sendable (_ memory: JSONValue) -> JSONObject)? = nil,
        holds: @escaping @Sendable (_ state: State, _ memory: JSONValue) -> JSONObject
    ) {
        self.isPerInstallation = isPerInstallation
        claim = claims
        hold = { state, memory in (state as? State).flatMap { JSONValue.object(holds($0, memory)).sorted.object } }
    }

    /// Returns the vendor's state of the newest installation; nil if `state` belongs to another vendor.
    public func held(in state: any Sendable) -> JSONObject? { hold(state, .null) }

    /// Returns the expected state in a stored memory.
    public func claims(of memory: JSONValue) -> JSONObject { claim?(memory) ?? [:] }

    /// Returns the names of values that a memory expects and the vendor does not have, without the values.
    public func excess(of memory: JSONValue, over state: any Sendable) -> [String] {
        let claims = claims(of: memory)
        guard !claims.isEmpty else { return [] }
        guard let held = hold(state, memory) else { return ["the state, which is of another type than `holds` takes"] }
        return Self.excess(claims, held, at: "")
    }

    private static func excess(_ claimed: JSONObject, _ held: JSONObject, at path: String) -> [String] {
        claimed.flatMap { member -> [String] in
            let place = path.isEmpty ? member.name : "\(path).\(member.name)"
            guard let value = held[member.name] else { return [place] }
            if let inner = member.value.object, let other = value.object { return excess(inner, other, at: place) }
            return member.value.sorted == value ? [] : [place]
        }
    }
}

extension JSONValue {
    /// The value that a memory stores as its own JSON text.
    public var embedded: JSONValue? { string.flatMap { try? JSONValue(parsing: $0) } }

    /// The value with the members of every object sorted by name.
    package var sorted: JSONValue {
        switch self {
        case .object(let object):
            .object(JSONObject(object.sorted { $0.name < $1.name }.map { ($0.name, $0.value.sorted) }))
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}

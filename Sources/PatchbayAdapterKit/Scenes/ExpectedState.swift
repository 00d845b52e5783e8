public import PatchbayJSON

/// What an adapter's memory claims of its vendor, and what the vendor really holds: two views of the same few things.
///
/// Random runs compare them once everything is well again, the conformance suite at every settled point: what is claimed
/// must be held. The suite also cuts exchanges and compares what the vendor holds in the end, so `holds` shows whatever an
/// operation may change there, and leaves out what a repeat may count: numbers of requests, instants.
///
/// ```swift
/// static let expectedState = ExpectedState { memory in ["tags": memory["tags"] ?? []] } holds: { (state: ToyState, memory) in
///     ["tags": …, "events": …]
/// }
/// ```
public struct ExpectedState: Sendable {
    private let claim: (@Sendable (JSONValue) -> JSONObject)?
    private let hold: @Sendable (any Sendable, JSONValue) -> JSONObject?

    /// Whether a memory claims anything at all.
    public var isBelieving: Bool { claim != nil }
    /// Whether a memory names its installation, which no other can change at the vendor. Elsewhere two that share a push token
    /// or a person have one record there.
    public let isPerInstallation: Bool

    /// Two views.
    ///
    /// - Parameters:
    ///   - isPerInstallation: whether a memory names its installation, which no other can change at the vendor.
    ///   - claims: what a memory takes for known, read as it is stored; what it does not know for certain is left out. Nil
    ///     where memory claims nothing of a person.
    ///   - holds: the same things, by the same names, as the simulator's state has them, and more: of the installation that
    ///     the memory is about, of the newest without a memory. Names are terms; values alone may tell of a person.
    public init<State: Sendable>(
        isPerInstallation: Bool = false,
        claims: (@Sendable (_ memory: JSONValue) -> JSONObject)? = nil,
        holds: @escaping @Sendable (_ state: State, _ memory: JSONValue) -> JSONObject
    ) {
        self.isPerInstallation = isPerInstallation
        claim = claims
        hold = { state, memory in (state as? State).flatMap { JSONValue.object(holds($0, memory)).sorted.object } }
    }

    /// What the vendor holds in that state of the newest installation; nil for a state of another vendor.
    public func held(in state: any Sendable) -> JSONObject? { hold(state, .null) }

    /// What a memory claims, as it is stored.
    public func claims(of memory: JSONValue) -> JSONObject { claim?(memory) ?? [:] }

    /// The places at which a memory claims what the vendor does not hold; names, no values.
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
    /// A value that travels in a memory as its own JSON text.
    public var embedded: JSONValue? { string.flatMap { try? JSONValue(parsing: $0) } }

    /// The value with the members of every object in the order of their names.
    package var sorted: JSONValue {
        switch self {
        case .object(let object):
            .object(JSONObject(object.sorted { $0.name < $1.name }.map { ($0.name, $0.value.sorted) }))
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}

public import PatchbayAdapterKit
public import PatchbayJSON

/// What an adapter's memory claims of its vendor, and what the vendor really holds: two views of the same few things.
///
/// The suite plays the vendor and compares them at every settled point: what is claimed must be held. It also cuts
/// exchanges and compares what the vendor holds in the end, so `holds` shows whatever an operation may change there, and
/// leaves out what a repeat may count: numbers of requests, instants.
///
/// ```swift
/// belief: Belief { (memory: ToyMemory) in memory.tags.map { ["tags": …] } ?? [:] } holds: { (state: ToyState) in
///     ["tags": …, "events": …]
/// }
/// ```
public struct Belief<Adapter: VendorAdapter>: Sendable {
    let claims: @Sendable (Adapter.Memory) -> JSONObject
    let holds: @Sendable (any Sendable) -> JSONObject?

    /// Two views.
    ///
    /// - Parameters:
    ///   - claims: what a memory takes for known; what it does not know, or doubts, is left out.
    ///   - holds: the same things, by the same names, as the simulator's state has them, and more.
    public init<State: Sendable>(
        claims: @escaping @Sendable (Adapter.Memory) -> JSONObject,
        holds: @escaping @Sendable (State) -> JSONObject
    ) {
        self.claims = claims
        self.holds = { ($0 as? State).flatMap { JSONValue.object(holds($0)).sorted.object } }
    }

    /// The places at which a memory claims what the vendor does not hold.
    func excess(_ memory: Adapter.Memory, _ state: any Sendable) -> [String] {
        guard let held = holds(state) else { return ["the state, which is of another type than `holds` takes"] }
        return Belief.excess(claims(memory), held, at: "")
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
    /// The value with the members of every object in the order of their names.
    var sorted: JSONValue {
        switch self {
        case .object(let object):
            .object(JSONObject(object.sorted { $0.name < $1.name }.map { ($0.name, $0.value.sorted) }))
        case .array(let elements): .array(elements.map(\.sorted))
        default: self
        }
    }
}

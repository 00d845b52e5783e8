public import PatchbayAdapterKit

/// One fault on request: which vendor requests it looks at, how often it strikes, and what happens then.
///
/// Rules are tried in their order and the first that strikes decides, so a rule counts only the requests that the rules
/// before it let pass: `first: 2` with status 503 and then `first: 1` with a drop gives 503, 503, drop, and peace.
public struct FaultRule: Hashable, Sendable {
    /// How often a rule strikes among the requests that it sees.
    public enum Occurrence: Hashable, Sendable {
        /// Each time.
        case always
        /// The first so many times.
        case first(Int)
        /// Each so-manieth time: `every(3)` strikes the 3rd, 6th, 9th request.
        case every(Int)
        /// By chance, 0 to 1, from a generator that starts at `seed`: the same seed gives the same strikes.
        case probability(Double, seed: UInt64)
    }

    /// What a strike does.
    public enum Effect: Hashable, Sendable {
        /// This answer goes out in place of the vendor's; `processed` says whether the vendor did its work all the same.
        case answer(WireResponse, processed: Bool)
        /// The vendor does its work at once, and its answer goes out so many milliseconds late.
        case delay(milliseconds: Int)
        /// The vendor does its work, then the connection is closed without an answer.
        case drop
        /// The vendor never hears of the request, and the connection is reset.
        case reset
        /// The vendor never hears of the request, and the connection stays open without an answer until somebody leaves.
        case hang
    }

    /// The vendor whose requests it looks at; nil for all.
    public var vendor: String?
    /// How the path after the vendor's prefix must begin; nil for any.
    public var pathPrefix: String?
    /// The request's method; nil for any.
    public var method: String?
    /// How often it strikes.
    public var occurrence: Occurrence
    /// The most strikes in all; nil for no limit.
    public var count: Int?
    /// What a strike does.
    public var effect: Effect

    /// Creates a rule; what is not given does not narrow it.
    public init(
        _ effect: Effect,
        vendor: String? = nil,
        pathPrefix: String? = nil,
        method: String? = nil,
        occurrence: Occurrence = .always,
        count: Int? = nil
    ) {
        self.effect = effect
        self.vendor = vendor
        self.pathPrefix = pathPrefix
        self.method = method
        self.occurrence = occurrence
        self.count = count
    }

    /// Whether the rule looks at such a request.
    func covers(vendor: String, method: String, path: String) -> Bool {
        (self.vendor ?? vendor) == vendor
            && (self.method ?? method) == method
            && path.hasPrefix(pathPrefix ?? "")
    }
}

extension FaultRule.Effect: CustomStringConvertible {
    /// The effect as the log names it: `status 503`, `delay 200 ms`, `drop`, `reset`, `hang`.
    public var description: String {
        switch self {
        case .answer(let response, _): "status \(response.status)"
        case .delay(let milliseconds): "delay \(milliseconds) ms"
        case .drop: "drop"
        case .reset: "reset"
        case .hang: "hang"
        }
    }
}

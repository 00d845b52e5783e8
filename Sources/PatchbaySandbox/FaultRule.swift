public import PatchbayAdapterKit

/// A rule that injects a fault: the vendor requests it matches, how often it applies, and its effect.
///
/// Rules are evaluated in order, and the first that applies determines the effect. A rule therefore counts only the requests
/// that no earlier rule applied to: `first: 2` with status 503 followed by `first: 1` with a drop gives 503, 503, a drop, and
/// then no faults.
public struct FaultRule: Hashable, Sendable {
    /// How often a rule applies to the requests that it matches.
    public enum Occurrence: Hashable, Sendable {
        /// To every request.
        case always
        /// To the given number of first requests.
        case first(Int)
        /// To every nth request: `every(3)` applies to the 3rd, 6th, 9th request.
        case every(Int)
        /// With a probability from 0 to 1, using a generator that starts at `seed`. The same seed gives the same results.
        case probability(Double, seed: UInt64)
    }

    /// The effect of a rule.
    public enum Effect: Hashable, Sendable {
        /// Sends this response instead of the vendor's. `processed` states whether the vendor nevertheless processes the
        /// request.
        case answer(WireResponse, processed: Bool)
        /// The vendor processes the request at once, and its response is sent after a delay in milliseconds.
        case delay(milliseconds: Int)
        /// The vendor processes the request, and the connection is closed without a response.
        case drop
        /// The vendor does not receive the request, and the connection is reset.
        case reset
        /// The vendor does not receive the request, and the connection stays open without a response until the client closes
        /// it.
        case hang
    }

    /// The vendor whose requests the rule matches; nil for all.
    public var vendor: String?
    /// The prefix of the path after the vendor's own prefix; nil for any.
    public var pathPrefix: String?
    /// The request method; nil for any.
    public var method: String?
    /// How often the rule applies.
    public var occurrence: Occurrence
    /// The maximum number of times that the rule applies; nil for no limit.
    public var count: Int?
    /// The effect of the rule.
    public var effect: Effect

    /// Creates a rule. Omitted conditions match every request.
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

    /// Whether the rule matches a request.
    func covers(vendor: String, method: String, path: String) -> Bool {
        (self.vendor ?? vendor) == vendor
            && (self.method ?? method) == method
            && path.hasPrefix(pathPrefix ?? "")
    }
}

extension FaultRule.Effect: CustomStringConvertible {
    /// The effect as it appears in the log: `status 503`, `delay 200 ms`, `drop`, `reset`, `hang`.
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

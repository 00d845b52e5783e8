public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A comparison of the capabilities of two vendor APIs: the losses of a switch that do not depend on the data.
public struct CapabilityComparison: Sendable {
    /// The result for a capability.
    public enum Verdict: String, CaseIterable, Sendable {
        /// The first API supports it, and the second does not.
        case lost
        /// The first API supports it natively, and the second emulates it.
        case changed
        /// The second API supports it, and the first does not.
        case gained
        /// The second API supports it as well as the first.
        case kept
        /// Neither API supports it.
        case neither
    }

    /// A capability with its support by both APIs.
    public struct Row: Sendable {
        /// The capability.
        public let capability: Capability
        /// The support by the first API.
        public let old: Support
        /// The support by the second API.
        public let new: Support

        /// The result.
        public var verdict: Verdict {
            switch (old.word, new.word) {
            case ("unsupported", "unsupported"): .neither
            case ("unsupported", _): .gained
            case (_, "unsupported"): .lost
            case ("native", "emulated"): .changed
            default: .kept
            }
        }
    }

    /// The ids of the APIs.
    public let apis: (old: AdapterID, new: AdapterID)
    /// Every capability that either API lists, sorted by verdict, then by name.
    public let rows: [Row]

    /// Compares two APIs.
    public init(_ old: AdapterDescriptor, _ new: AdapterDescriptor) {
        apis = (old.id, new.id)
        let names = Set((old.capabilities.listed + new.capabilities.listed).map(\.capability))
        let order = Verdict.allCases
        rows = names.map { Row(capability: $0, old: old.capabilities[$0], new: new.capabilities[$0]) }
            .sorted { one, other in
                let ranks = [one, other].map { order.firstIndex(of: $0.verdict) ?? 0 }
                return (ranks[0], one.capability.rawValue) < (ranks[1], other.capability.rawValue)
            }
    }

    /// Returns the number of rows with a verdict.
    public func count(_ verdict: Verdict) -> Int { rows.count { $0.verdict == verdict } }

    /// The comparison as JSON (`Schemas/migration/comparison`).
    public var json: JSONValue {
        func support(_ support: Support) -> JSONValue {
            ["support": .string(support.word), "note": .string(support.note)]
        }
        let rows = self.rows.map { row -> JSONValue in
            [
                "capability": .string(row.capability.rawValue), "verdict": .string(row.verdict.rawValue),
                "from": support(row.old), "to": support(row.new),
            ]
        }
        return [
            "from": .string(apis.old.rawValue), "to": .string(apis.new.rawValue),
            "counts": .object(JSONObject(Verdict.allCases.map { ($0.rawValue, .integer(count($0))) })),
            "rows": .array(rows),
        ]
    }
}

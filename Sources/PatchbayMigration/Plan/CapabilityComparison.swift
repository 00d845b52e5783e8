public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// What one vendor's server API can do beside another's: the loss that a switch brings whatever the data is.
public struct CapabilityComparison: Sendable {
    /// What becomes of a capability.
    public enum Verdict: String, CaseIterable, Sendable {
        /// The first server API has it, and the second has not.
        case lost
        /// The first server API has it by itself, and the second makes it out of something else.
        case changed
        /// The second server API has it, and the first has not.
        case gained
        /// The second server API has it as well as the first.
        case kept
        /// Neither has it.
        case neither
    }

    /// A capability at both server APIs.
    public struct Row: Sendable {
        /// The capability.
        public let capability: Capability
        /// How well the first server API can do it.
        public let old: Support
        /// How well the second server API can do it.
        public let new: Support

        /// What becomes of it.
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

    /// The server APIs' ids.
    public let servers: (old: AdapterID, new: AdapterID)
    /// Every capability that either server API speaks of, sorted by verdict, then by name.
    public let rows: [Row]

    /// Compares two server APIs.
    public init(_ old: AdapterDescriptor, _ new: AdapterDescriptor) {
        servers = (old.id, new.id)
        let names = Set((old.capabilities.listed + new.capabilities.listed).map(\.capability))
        let order = Verdict.allCases
        rows = names.map { Row(capability: $0, old: old.capabilities[$0], new: new.capabilities[$0]) }
            .sorted { one, other in
                let ranks = [one, other].map { order.firstIndex(of: $0.verdict) ?? 0 }
                return (ranks[0], one.capability.rawValue) < (ranks[1], other.capability.rawValue)
            }
    }

    /// How many rows have a verdict.
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
            "from": .string(servers.old.rawValue), "to": .string(servers.new.rawValue),
            "counts": .object(JSONObject(Verdict.allCases.map { ($0.rawValue, .integer(count($0))) })),
            "rows": .array(rows),
        ]
    }
}

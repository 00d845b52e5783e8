/// The rules in force, each with what it has seen and done so far.
struct FaultPlan {
    private struct Entry {
        let rule: FaultRule
        var seen = 0
        var strikes = 0
        var chance: SplitMix64

        init(_ rule: FaultRule) {
            self.rule = rule
            chance =
                if case .probability(_, let seed) = rule.occurrence { SplitMix64(seed: seed) } else {
                    SplitMix64(seed: 0)
                }
        }

        mutating func strikesNext() -> Bool {
            seen += 1
            if let count = rule.count, strikes >= count { return false }
            let strikesNow =
                switch rule.occurrence {
                case .always: true
                case .first(let number): seen <= number
                case .every(let number): seen.isMultiple(of: number)
                case .probability(let probability, _): chance.nextUnit() < probability
                }
            if strikesNow { strikes += 1 }
            return strikesNow
        }
    }

    private var entries: [Entry]

    /// A plan of rules that have seen nothing yet.
    init(_ rules: [FaultRule]) { entries = rules.map(Entry.init) }

    /// The rules, in their order.
    var rules: [FaultRule] { entries.map(\.rule) }

    /// The effect of the first rule that strikes this request; nil leaves it alone.
    mutating func effect(vendor: String, method: String, path: String) -> FaultRule.Effect? {
        for index in entries.indices where entries[index].rule.covers(vendor: vendor, method: method, path: path) {
            if entries[index].strikesNext() { return entries[index].rule.effect }
        }
        return nil
    }
}

/// A small generator with a seed (Steele, Lea and Flood, 2014): the same on every machine and in every version.
struct SplitMix64 {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// The next number, 0 to below 1.
    mutating func nextUnit() -> Double { Double(next() >> 11) * 0x1p-53 }

    private mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }
}

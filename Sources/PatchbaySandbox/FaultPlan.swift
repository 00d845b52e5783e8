/// The active rules, each with its counters.
struct FaultPlan {
    private struct Entry {
        let rule: FaultRule
        var seen = 0
        var strikes = 0
        var chance: SplitMix64

        init(_ rule: FaultRule) {
            self.rule = rule
            let seed: UInt64 = if case .probability(_, let seed) = rule.occurrence { seed } else { 0 }
            chance = SplitMix64(seed: seed)
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

    /// Creates a plan with new counters for these rules.
    init(_ rules: [FaultRule]) { entries = rules.map(Entry.init) }

    /// Returns the effect of the first rule that applies to this request; nil if none does.
    mutating func effect(vendor: String, method: String, path: String) -> FaultRule.Effect? {
        for index in entries.indices where entries[index].rule.covers(vendor: vendor, method: method, path: path) {
            if entries[index].strikesNext() { return entries[index].rule.effect }
        }
        return nil
    }
}

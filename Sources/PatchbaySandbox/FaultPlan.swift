/// The rules in force, each with what it has seen and done so far.
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

    /// Creates a plan of rules that have seen nothing yet.
    init(_ rules: [FaultRule]) { entries = rules.map(Entry.init) }

    /// The effect of the first rule that strikes this request; nil leaves it alone.
    mutating func effect(vendor: String, method: String, path: String) -> FaultRule.Effect? {
        for index in entries.indices where entries[index].rule.covers(vendor: vendor, method: method, path: path) {
            if entries[index].strikesNext() { return entries[index].rule.effect }
        }
        return nil
    }
}

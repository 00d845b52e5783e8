public import PatchbayModel
public import Synchronization

/// The id of a rule of a vendor, for example `vendor/A3`.
public struct RuleID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The adapter.
    public let adapter: AdapterID
    /// The rule's number in the adapter's own list.
    public let number: String

    /// Creates a rule id.
    public init(_ adapter: AdapterID, _ number: String) { (self.adapter, self.number) = (adapter, number) }

    /// Reads `adapter/number`.
    public init?(text: String) {
        let parts = text.split(separator: "/", maxSplits: 1)
        guard parts.count == 2 else { return nil }
        self.init(AdapterID(rawValue: String(parts[0])), String(parts[1]))
    }

    /// `adapter/number`.
    public var text: String { "\(adapter.rawValue)/\(number)" }

    /// `adapter/number`.
    public var description: String { text }

    /// Orders rule ids by adapter, then by number; digits are compared as numbers.
    public static func < (left: RuleID, right: RuleID) -> Bool {
        left.adapter == right.adapter ? left.sortKey < right.sortKey : left.adapter < right.adapter
    }

    private var sortKey: String {
        let digits = number.drop { !$0.isNumber }.prefix { $0.isNumber }
        return number.prefix { !$0.isNumber } + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// Reports that a table row of the rule was applied. It checks one flag, and has an effect only in a test run that collects
    /// evidence.
    @inlinable func noteApplied() {
        if AppliedRules.areReported.load(ordering: .relaxed) { AppliedRules.report(self) }
    }
}

/// A rule of a vendor, with its source.
public struct Rule: Hashable, Sendable {
    /// The rule's id.
    public let id: RuleID
    /// The rule in Patchbay's own words.
    public let text: String
    /// The source: a document or SDK of the vendor.
    public let source: String

    /// Creates a rule.
    public init(_ id: RuleID, _ text: String, source: String) { (self.id, self.text, self.source) = (id, text, source) }
}

/// Reports the rules whose table rows are applied, each once, to a test run that collects evidence.
@usableFromInline package enum AppliedRules: Sendable {
    @usableFromInline static let areReported = Atomic<Bool>(false)
    private static let state = Mutex(State())

    /// A struct, because a closure in a tuple would be wrapped again at each access.
    private struct State {
        var known: Set<RuleID> = []
        var body: (@Sendable (RuleID) -> Void)?
    }

    /// Calls `body` for each rule when the first of its table rows is applied from now on.
    package static func report(to body: @escaping @Sendable (RuleID) -> Void) {
        state.withLock { $0 = State(body: body) }
        areReported.store(true, ordering: .relaxed)
    }

    @usableFromInline static func report(_ rule: RuleID) {
        let body = state.withLock { $0.known.insert(rule).inserted ? $0.body : nil }
        body?(rule)
    }
}

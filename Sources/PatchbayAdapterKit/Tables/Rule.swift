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

    /// Records that the rule was applied. Table rows and findings call it; a rule implemented in code calls it itself.
    ///
    /// It checks one flag, and has an effect only in a test that records rules.
    @inlinable public func fire() {
        if RuleTrace.hasListener.load(ordering: .relaxed) { RuleTrace.recorder?.record(self) }
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

/// Records the rules that are applied, so that tests can verify which rules they cover.
public enum RuleTrace: Sendable {
    /// Whether any recorder exists in this process. Reading the task-local value at every rule would be too slow.
    @usableFromInline static let hasListener = Atomic<Bool>(false)
    /// The recorder of this task; nil outside tests.
    @TaskLocal public static var recorder: RuleRecorder?
}

/// Collects the rules that were applied.
public final class RuleRecorder: Sendable {
    private let rules = Mutex<Set<RuleID>>([])

    /// Creates an empty recorder.
    public init() { RuleTrace.hasListener.store(true, ordering: .relaxed) }

    /// The rules applied so far.
    public var fired: Set<RuleID> { rules.withLock { $0 } }

    /// Records one rule.
    public func record(_ rule: RuleID) { rules.withLock { _ = $0.insert(rule) } }
}

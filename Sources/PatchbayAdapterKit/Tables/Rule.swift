public import PatchbayModel
public import Synchronization

/// The name of one rule of one vendor: `vendor/A3`.
public struct RuleID: Hashable, Comparable, Codable, Sendable, CustomStringConvertible {
    /// The adapter.
    public let adapter: AdapterID
    /// The rule's number in the adapter's own list.
    public let number: String

    /// Creates a rule's name.
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

    /// By adapter, then by number, digits compared as numbers.
    public static func < (left: RuleID, right: RuleID) -> Bool {
        left.adapter == right.adapter ? left.sortKey < right.sortKey : left.adapter < right.adapter
    }

    private var sortKey: String {
        let digits = number.drop { !$0.isNumber }.prefix { $0.isNumber }
        return number.prefix { !$0.isNumber } + String(repeating: "0", count: max(0, 6 - digits.count)) + digits
    }

    /// Says that the rule decided something just now. Table rows and findings call it; a rule that is code calls it itself.
    ///
    /// It costs one look at a flag, and does something only under a test that listens.
    @inlinable public func fire() {
        if RuleTrace.hasListener.load(ordering: .relaxed) { RuleTrace.recorder?.record(self) }
    }
}

/// One rule of a vendor: what it says and where that is known from.
public struct Rule: Hashable, Sendable {
    /// The rule's name.
    public let id: RuleID
    /// What the rule says, in our words.
    public let text: String
    /// Where it is known from: the vendor's document or SDK.
    public let source: String

    /// Creates a rule.
    public init(_ id: RuleID, _ text: String, source: String) { (self.id, self.text, self.source) = (id, text, source) }
}

/// Listens to rules that fire, so that a test's claim to show a rule is checked and not believed.
public enum RuleTrace: Sendable {
    /// Whether anybody in this process ever listened: rules fire too often to ask the task each time.
    @usableFromInline static let hasListener = Atomic<Bool>(false)
    /// Who listens in this task; nil outside tests.
    @TaskLocal public static var recorder: RuleRecorder?
}

/// Collects the rules that fired.
public final class RuleRecorder: Sendable {
    private let rules = Mutex<Set<RuleID>>([])

    /// Creates a recorder that heard nothing yet.
    public init() { RuleTrace.hasListener.store(true, ordering: .relaxed) }

    /// The rules that fired so far.
    public var fired: Set<RuleID> { rules.withLock { $0 } }

    /// Notes one rule.
    public func record(_ rule: RuleID) { rules.withLock { _ = $0.insert(rule) } }
}

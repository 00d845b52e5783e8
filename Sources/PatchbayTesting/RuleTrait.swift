public import PatchbayAdapterKit
import PatchbayModel
import Synchronization
public import Testing

/// A test's claim to show rules of a vendor, checked while the test runs.
///
/// A claim holds if the rule applied at least once between the start and the end of the test function. A parameterized
/// test counts as a whole, so one argument is enough. On a suite, each test of the suite makes the claim.
public struct RuleTrait: TestTrait, SuiteTrait, TestScoping {
    /// The claimed rules, as written: `vendor/A3`.
    public let claims: [String]
    /// The API whose rules are known, so that a misspelled claim is reported; nil for no such check.
    let adapter: (any VendorAdapter.Type)?
    let sourceLocation: SourceLocation

    public var isRecursive: Bool { true }

    /// Returns one scope for the whole test function: its cases share a recorder.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> RuleTrait? {
        test.isSuite || testCase != nil ? nil : self
    }

    /// Runs a test with a recorder, then checks the claims.
    ///
    /// An issue of the test itself is recorded as usual, and removes the test from the evidence.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        // Traits can be nested: the recorders of outer scopes receive the rules, too.
        let outer = RuleTrace.recorder
        let recorder = RuleRecorder()
        let failure = Flag()
        try await withKnownIssue(isIntermittent: true) {
            try await RuleTrace.$recorder.withValue(recorder) { try await function() }
        } matching: { issue in
            if issue.isFailure { failure.raise() }
            return false
        }
        for rule in recorder.fired { outer?.record(rule) }

        let judged = RuleClaims(claims, of: adapter, fired: recorder.fired)
        for reason in judged.refuted { Issue.record("\(reason)", sourceLocation: sourceLocation) }
        if !failure.isRaised, judged.refuted.isEmpty { RuleEvidence.note(judged.shown, test: test) }
    }
}

/// Claims to show rules, compared with the rules that applied.
struct RuleClaims {
    private(set) var shown: [RuleID] = []
    /// The reasons that the other claims do not hold.
    private(set) var refuted: [String] = []

    init(_ claims: [String], of adapter: (any VendorAdapter.Type)?, fired: Set<RuleID>) {
        for claim in claims {
            switch RuleClaims.judge(claim, adapter, fired) {
            case .shown(let rule): shown.append(rule)
            case .refuted(let reason): refuted.append(reason)
            }
        }
    }

    private enum Judgement {
        case shown(RuleID)
        case refuted(String)
    }

    private static func judge(_ claim: String, _ adapter: (any VendorAdapter.Type)?, _ fired: Set<RuleID>)
        -> Judgement
    {
        guard let rule = RuleID(text: claim) else {
            return .refuted("The test claims \"\(claim)\", which names no rule. Write it as <adapter>/<number>.")
        }
        if fired.contains(rule) { return .shown(rule) }
        if let adapter, !adapter.descriptor.tables.rules.contains(where: { $0.id == rule }) {
            return .refuted(
                "The test claims \(rule), which is no rule of \(adapter.descriptor.id.rawValue). Mend the name."
            )
        }
        let others = fired.filter { $0.adapter == rule.adapter }.sorted().map(\.text).joined(separator: ", ")
        return .refuted(
            """
            The test claims \(rule), but the rule did not fire here; fired: \(others.isEmpty ? "none" : others). \
            Make the test reach the rule's table row, finding or fire(), or take the claim away.
            """
        )
    }
}

extension Trait where Self == RuleTrait {
    /// Claims that the test shows these rules: each of them must apply while the test runs.
    ///
    /// - Parameters:
    ///   - rules: The rules' names, such as `vendor/A3`.
    ///   - adapter: The API of the rules. With it, an unknown rule gets another message than a rule that did not apply.
    ///   - sourceLocation: The source location of issues.
    /// - Returns: The trait.
    public static func shows(
        _ rules: String...,
        of adapter: (any VendorAdapter.Type)? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) -> RuleTrait {
        RuleTrait(claims: rules, adapter: adapter, sourceLocation: sourceLocation)
    }
}

/// A Boolean that several tasks can set and read.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

import PatchbayAdapterKit
import Synchronization
public import Testing

/// A test's claim to show rules of a vendor: a passing test is evidence for each rule that it claims. On a suite, each test
/// of the suite makes the claim.
public struct RuleTrait: TestTrait, SuiteTrait, TestScoping {
    /// The claimed rules, as written: `vendor/A3`.
    public let claims: [String]
    let sourceLocation: SourceLocation

    public var isRecursive: Bool { true }

    /// Returns one scope for the whole test function.
    public func scopeProvider(for test: Test, testCase: Test.Case?) -> RuleTrait? {
        test.isSuite || testCase != nil ? nil : self
    }

    /// Runs a test, then writes the evidence for its claims.
    ///
    /// An issue of the test itself is recorded as usual, and removes the test from the evidence.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @concurrent @Sendable () async throws -> Void
    ) async throws {
        let failure = Flag()
        try await withKnownIssue(isIntermittent: true) {
            try await function()
        } matching: { issue in
            if issue.isFailure { failure.raise() }
            return false
        }
        let rules = claims.compactMap { RuleID(text: $0) }
        guard rules.count == claims.count else {
            Issue.record("A claim names no rule. Write it as <adapter>/<number>.", sourceLocation: sourceLocation)
            return
        }
        if !failure.isRaised { RuleEvidence.ofRun?.add(rules, shownBy: RuleEvidence.name(of: test)) }
    }
}

extension Trait where Self == RuleTrait {
    /// Claims that the test shows these rules.
    ///
    /// - Parameters:
    ///   - rules: The rules' names, such as `vendor/A3`.
    ///   - sourceLocation: The source location of issues.
    /// - Returns: The trait.
    public static func shows(_ rules: String..., sourceLocation: SourceLocation = #_sourceLocation) -> RuleTrait {
        // Rows are reported from the first claim on, before any test runs.
        _ = RuleEvidence.ofRun
        return RuleTrait(claims: rules, sourceLocation: sourceLocation)
    }
}

/// A Boolean that several tasks can set and read.
private final class Flag: Sendable {
    private let state = Mutex(false)
    var isRaised: Bool { state.withLock { $0 } }
    func raise() { state.withLock { $0 = true } }
}

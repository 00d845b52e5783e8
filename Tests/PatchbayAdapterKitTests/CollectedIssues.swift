import Synchronization
import Testing

/// Runs checks of the conformance suite and returns the issues that they record instead of failing.
func collectedIssues(of body: @concurrent @Sendable () async throws -> Void) async throws -> [Issue] {
    let found = Mutex<[Issue]>([])
    let collecting = IssueHandlingTrait.compactMapIssues { issue in
        found.withLock { $0.append(issue) }
        return nil
    }
    try await collecting.provideScope(for: #require(Test.current), testCase: nil, performing: body)
    return found.withLock(\.self)
}

extension [Issue] {
    /// The texts of the failures.
    var failureTexts: [String] { filter(\.isFailure).map { $0.comments.map(\.rawValue).joined() } }
}

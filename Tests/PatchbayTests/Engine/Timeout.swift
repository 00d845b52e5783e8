import Foundation
import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends a test that hangs. The limit says nothing about speed: it includes the time that a test waits for its turn,
    /// so it is far longer than a busy machine needs. `PATCHBAY_TEST_TIMEOUT_MINUTES` sets another limit.
    static var hangTimeLimit: Self {
        let minutes = ProcessInfo.processInfo.environment["PATCHBAY_TEST_TIMEOUT_MINUTES"].flatMap { Int($0) }
        return .timeLimit(.minutes(minutes ?? 60))
    }
}

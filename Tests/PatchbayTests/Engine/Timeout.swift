import Foundation
import Testing

extension Trait where Self == TimeLimitTrait {
    /// Ends what hangs. It says nothing of speed: the time that a test waits for its turn counts, too, so it is far more than a
    /// busy machine needs; `PATCHBAY_PATIENCE` gives other minutes.
    static var endsAtAll: Self {
        .timeLimit(.minutes(ProcessInfo.processInfo.environment["PATCHBAY_PATIENCE"].flatMap { Int($0) } ?? 60))
    }
}

import Foundation

/// Rounds of tests with random files: few of each in `make test`; `make rounds` plays 24 times as many.
enum Rounds {
    private static let factor = ProcessInfo.processInfo.environment["PATCHBAY_ROUNDS"].flatMap { Int($0) } ?? 1

    static func of(_ usual: Int) -> Range<Int> { 0..<usual * factor }
}

import Foundation

/// Rounds of tests with random files: a few in `make test`, and 24 times as many in `make rounds`.
enum Rounds {
    private static let factor = ProcessInfo.processInfo.environment["PATCHBAY_ROUNDS"].flatMap { Int($0) } ?? 1

    static func of(_ usual: Int) -> Range<Int> { 0..<usual * factor }
}

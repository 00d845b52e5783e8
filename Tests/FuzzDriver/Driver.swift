import Foundation
import PatchbayFuzzing

private let target = FuzzTarget(rawValue: ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? "") ?? .json

/// libFuzzer's way in: a problem ends the process, so that the input is kept.
@_cdecl("LLVMFuzzerTestOneInput")
public func testOneInput(_ start: UnsafePointer<UInt8>, _ count: Int) -> Int32 {
    let problem = target.problem(with: Array(UnsafeBufferPointer(start: start, count: count)))
    if let problem { fatalError("\(target.rawValue): \(problem)") }
    return 0
}

import Foundation
import PatchbayFuzzing
import Testing

@Suite("Kept fuzzing inputs") struct FuzzReplayTests {
    private static let corpus = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Fuzzing/Corpus")

    @Test(arguments: FuzzTarget.allCases) func `reports no problem for any kept fuzzing input`(target: FuzzTarget)
        throws
    {
        let folder = Self.corpus.appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!files.isEmpty, "No input is kept for \(target.rawValue).")
        for file in files.sorted(by: { $0.path < $1.path }) {
            let problem = target.problem(with: Array(try Data(contentsOf: file)))
            #expect(problem == nil, "\(file.lastPathComponent)")
        }
    }
}

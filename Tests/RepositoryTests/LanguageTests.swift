import Foundation
import Testing

@Suite("Language") struct LanguageTests {
    @Test func `no folder has more retired words than its baseline, and the first pages have none`() throws {
        let check = Process()
        let output = Pipe()
        check.executableURL = URL(filePath: "/usr/bin/env")
        check.arguments = ["python3", Repository.root.appending(path: ".ci/language.py").path]
        (check.standardOutput, check.standardError) = (output, output)
        try check.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        check.waitUntilExit()
        #expect(check.terminationStatus == 0, "\(text)")
    }
}

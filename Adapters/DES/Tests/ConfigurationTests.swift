import Foundation
import PatchbayAdapterKit
import PatchbayDESSimulator
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayDES

@Suite("DES configuration") struct ConfigurationTests {
    /// Returns the complete configuration among the schema's examples.
    private func example() throws -> JSONValue {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Schemas/configuration/examples/vendors/des.json").standardizedFileURL
        let text = try String(contentsOf: file, encoding: .utf8)
        return try JSONValue(parsing: text.replacing("${DES_HOST}", with: "des.example"))
    }

    @Test(.shows("des/R2", "des/B4", "des/H5", "des/T4"))
    func `the example configuration sends requests to the hosts that it names`() throws {
        let settings = try #require(try example()["providers"]?["engage"]?["settings"]?.object)
        let driver = try Driver()
        try driver.restart(settings: settings)
        driver.capture(.registerDevice(Corpus.phone))
        driver.capture(.event("x"))
        driver.capture(.readBack(ReadRequest("inbox")))
        driver.capture(.readBack(ReadRequest("remoteConfig")))
        #expect(
            driver.sent.count == 6 && driver.sent.allSatisfy { $0.request.url.hasPrefix("https://des.example/des/") }
        )
        #expect(driver.sent.allSatisfy { $0.request[header: "X-EMARSYS-SDK-MODE"] == "debug" })
        #expect(driver.state.violations == [])
    }
}

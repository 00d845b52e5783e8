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
    func `the example's settings make an adapter that asks the hosts it names`() throws {
        let settings = try #require(try example()["providers"]?["engage"]?["settings"]?.object)
        let bench = try Bench()
        try bench.restart(settings: settings)
        bench.capture(.registerDevice(Corpus.phone))
        bench.capture(.event("x"))
        bench.capture(.readBack(ReadRequest("inbox")))
        bench.capture(.readBack(ReadRequest("remoteConfig")))
        #expect(bench.sent.count == 6 && bench.sent.allSatisfy { $0.request.url.hasPrefix("https://des.example/des/") })
        #expect(bench.sent.allSatisfy { $0.request[header: "X-EMARSYS-SDK-MODE"] == "debug" })
        #expect(bench.state.violations == [])
    }
}

import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic configuration") struct ConfigurationTests {
    private func load() throws -> Configuration {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Schemas/configuration/examples/vendors/acoustic.json").standardizedFileURL
        return try Configuration.load(
            bytes: Array(Data(contentsOf: file)),
            path: "acoustic.json",
            environment: ["ACOUSTIC_APP_KEY": "gcb4hVDsXq"],
            modules: [.acoustic]
        )
    }

    @Test func `loads the example configuration without findings and maps attribute names`() throws {
        let configuration = try load()
        #expect(configuration.findings.isEmpty)
        let adapter = try #require(configuration.provider("campaign")?.adapter as? AcousticDevice)
        #expect(adapter.settings.attributeNames["given_name"] == "FirstName")
        #expect(adapter.settings.columns[ScalarString("Interests")]?.values == ["gardening", "poetry", "sailing"])
    }

    @Test(.shows("acoustic/O1"))
    func `the catalogue and the column rules reject device writes to server-owned attributes`() throws {
        let configuration = try load()
        let operation = try TestDriver().operation(.set("points", 7))
        #expect(
            configuration.catalogue.ownership(of: operation, at: .device).map(\.code) == ["catalogue.attribute.owner"]
        )
        let adapter = try #require(configuration.provider("campaign")?.adapter as? AcousticDevice)
        #expect(adapter.examine(operation).map(\.code) == ["acoustic.column.owner"])
    }
}

import PatchbayAdapterKit
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAdobe
@testable import PatchbayAdobeServer
@testable import PatchbayAdobeFiles

@Suite("Adobe README") struct ReadmeTests {
    /// The tables of the README, by the names in their markers.
    private var tables: [ReadmeTables.Named] {
        let policies = [
            ("Tracking and registrations", RetryPolicy.hits), ("Attributes", .postbacks), ("Push tokens", .identity),
        ]
        return [
            ("settings", AdobeSettings.table.markdown), ("classic-settings", AdobeClassicSettings.table.markdown),
            ("file-settings", ProfileFileSettings.table.markdown), ("consent-values", ReadmeTables.consent(.adobe)),
            ("file-columns", ReadmeTables.columns(ContactFile.markdown(ProfileFileSettings.kind()))),
            ("replies", policies.map { "**\($0.0)**\n\n\($0.1.table.markdown)" }.joined(separator: "\n\n")),
        ]
            + ReadmeTables.of(AdobeDevice.descriptor, [.capabilities, .limits, .fields])
            + [
                ("findings", ReadmeTables.findings(FindingRow.adobe, VendorFiles.adobe.findings)),
                ("rules", ReadmeTables.rules(Rule.adobe, VendorFiles.adobe.rules)),
            ]
            + all(of: AdobeClassicDevice.descriptor, "classic-")
    }

    /// The tables of the server API.
    private var serverTables: [ReadmeTables.Named] {
        [("server-settings", AdobeServerSettings.table.markdown), ("server-codes", VendorCode.markdown)]
            + all(of: AdobeServer.descriptor, "server-")
    }

    private func all(of descriptor: AdapterDescriptor, _ prefix: String) -> [ReadmeTables.Named] {
        ReadmeTables.of(descriptor, [.capabilities, .limits, .fields, .replies, .findings, .rules], prefix: prefix)
    }

    @Test func `README tables match the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `rules of all APIs have distinct numbers`() {
        let rules = Dictionary(grouping: Set(Rule.adobe + Rule.adobeClassic + AdobeServerRules.all), by: \.id)
        #expect(rules.filter { $0.value.count > 1 }.isEmpty)
    }
}

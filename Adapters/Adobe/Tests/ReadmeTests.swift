import PatchbayAdapterKit
import PatchbayTesting
import Testing

@testable import PatchbayAdobe

@Suite("Adobe README") struct ReadmeTests {
    /// The tables of the README, by the name that stands in their marks.
    private var tables: [(name: String, markdown: String)] {
        let (standard, classic) = (AdobeDevice.descriptor, AdobeClassicDevice.descriptor)
        let laws = [
            ("Tracking and registrations", RetryLaw.hits), ("Attributes", .postbacks), ("Push tokens", .identity),
        ]
        return [
            ("settings", AdobeSettings.table.markdown), ("classic-settings", AdobeClassicSettings.table.markdown),
            ("capabilities", capabilities(standard)), ("classic-capabilities", capabilities(classic)),
            ("file-settings", ProfileFileSettings.table.markdown),
            (
                "file-columns",
                ReadmeTables.markdown(
                    ["column", "holds", "type", "written"],
                    ContactFile.markdown(ProfileFileSettings.kind())
                )
            ),
            ("limits", limits(standard)), ("classic-limits", limits(classic)),
            ("fields", fields(standard)), ("classic-fields", fields(classic)),
            ("replies", laws.map { "**\($0.0)**\n\n\($0.1.table.markdown)" }.joined(separator: "\n\n")),
            ("classic-replies", classic.replies.markdown),
            ("findings", findings(standard)), ("classic-findings", findings(classic)),
            ("rules", rules(standard)), ("classic-rules", rules(classic)),
        ]
    }

    /// The tables of the server door.
    private var serverTables: [(name: String, markdown: String)] {
        let server = AdobeServer.descriptor
        return [
            ("server-settings", AdobeServerSettings.table.markdown), ("server-capabilities", capabilities(server)),
            ("server-limits", limits(server)), ("server-fields", fields(server)),
            ("server-replies", server.replies.markdown), ("server-codes", VendorCode.markdown),
            ("server-findings", findings(server)), ("server-rules", rules(server)),
        ]
    }

    private func capabilities(_ descriptor: AdapterDescriptor) -> String {
        ReadmeTables.markdown(
            ["capability", "support", "note"],
            descriptor.capabilities.listed.map { ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note] }
        )
    }

    private func limits(_ descriptor: AdapterDescriptor) -> String {
        ReadmeTables.markdown(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })
    }

    private func fields(_ descriptor: AdapterDescriptor) -> String {
        descriptor.fields.map { "**\($0.title)**\n\n\($0.markdown)" }.joined(separator: "\n\n")
    }

    private func findings(_ descriptor: AdapterDescriptor) -> String {
        ReadmeTables.markdown(
            ["finding", "severity", "what helps"],
            descriptor.findings.map { ["`\($0.code)`", $0.severity.rawValue, $0.remedy] }
        )
    }

    private func rules(_ descriptor: AdapterDescriptor) -> String {
        ReadmeTables.markdown(
            ["rule", "what it says", "known from"],
            descriptor.rules.map { [$0.id.number, $0.text, $0.source] }
        )
    }

    @Test func `the tables are those of the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `every rule of the doors has a number of its own`() {
        let rules = Dictionary(grouping: Set(Rule.adobe + Rule.adobeClassic + AdobeServerRules.all), by: \.id)
        #expect(rules.filter { $0.value.count > 1 }.isEmpty)
    }
}

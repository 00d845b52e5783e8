import PatchbayAdapterKit
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic
@testable import PatchbayAcousticServer
@testable import PatchbayAcousticFiles

@Suite("Acoustic README") struct ReadmeTests {
    /// The tables of the README, by the names in their markers.
    private var tables: [ReadmeTables.Named] {
        let fields = AcousticDevice.descriptor.tables.fields
        return [
            ("profile", DeviceProfile.markdown), ("columns", ColumnType.markdown),
            ("settings", AcousticSettings.table.markdown),
            ("entry", fields[0].markdown), ("event", fields[1].markdown), ("pairs", EventType.markdown),
            ("registration", fields[2].markdown),
            ("file-settings", ContactFileSettings.table.markdown), ("consent-values", ReadmeTables.consent(.acoustic)),
            ("file-columns", ReadmeTables.columns(ContactFile.markdown(ContactFileSettings().contactFile.kind))),
        ] + ReadmeTables.of(AcousticDevice.descriptor, [.replies, .capabilities, .limits])
            + [("rules", ReadmeTables.rules(Rule.acoustic, VendorFiles.acoustic.rules))]
    }

    /// The tables of the server API.
    private var serverTables: [ReadmeTables.Named] {
        [
            ("server-settings", AcousticServerSettings.table.markdown),
            ("server-codes", ServerEvent.markdown), ("server-consents", ConsentChannel.markdown),
            ("server-faults", FaultTable.markdown),
        ]
            + ReadmeTables.of(
                AcousticServer.descriptor,
                [.capabilities, .limits, .fields, .replies, .rules],
                prefix: "server-"
            )
    }

    @Test func `the tables are those of the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `every rule of both APIs has its own number`() {
        let rules = Dictionary(grouping: Rule.acoustic + AcousticServerRules.all, by: \.id)
        #expect(rules.filter { $0.value.count > 1 }.isEmpty)
    }
}

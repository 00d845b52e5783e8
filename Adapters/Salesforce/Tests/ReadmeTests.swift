import PatchbayAdapterKit
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbaySalesforce
@testable import PatchbaySalesforceServer
@testable import PatchbaySalesforceFiles

@Suite("Salesforce README") struct ReadmeTests {
    /// The tables of the README, by the names in their markers.
    private var tables: [ReadmeTables.Named] {
        let fields = SalesforceDevice.descriptor.tables.fields
        return [
            ("settings", SalesforceSettings.table.markdown),
            ("registration", fields[0].markdown), ("event", fields[1].markdown),
            ("file-settings", ContactFileSettings.table.markdown),
            ("consent-values", ReadmeTables.consent(.salesforce)),
            ("columns", ReadmeTables.columns(ContactFile.markdown(.salesforceContacts))),
            ("mobile-columns", ReadmeTables.columns(ContactFile.markdown(.salesforceMobile, onlyWritten: true))),
        ] + ReadmeTables.of(SalesforceDevice.descriptor, [.capabilities, .limits, .replies])
            + [("rules", ReadmeTables.rules(SalesforceRules.all, VendorFiles.salesforce.rules))]
    }

    /// The tables of the server API.
    private var serverTables: [ReadmeTables.Named] {
        [("server-settings", SalesforceServerSettings.table.markdown)]
            + ReadmeTables.of(
                SalesforceServer.descriptor,
                [.capabilities, .limits, .fields, .replies, .rules],
                prefix: "server-"
            )
    }

    @Test func `README tables match the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `every rule of both APIs has its own number`() {
        let rules = Dictionary(grouping: SalesforceRules.all + SalesforceServerRules.all, by: \.id)
        #expect(rules.filter { $0.value.count > 1 }.isEmpty)
    }
}

import PatchbayAdapterKit
import PatchbayTesting
import Testing

@testable import PatchbayAcoustic

@Suite("Acoustic README") struct ReadmeTests {
    /// The tables of the README, by the name that stands in their marks.
    private var tables: [(name: String, markdown: String)] {
        let descriptor = AcousticDevice.descriptor
        return [
            ("profile", DeviceProfile.markdown), ("columns", ColumnType.markdown),
            ("settings", AcousticSettings.table.markdown),
            ("entry", descriptor.fields[0].markdown), ("event", descriptor.fields[1].markdown),
            ("pairs", EventType.markdown),
            ("registration", descriptor.fields[2].markdown), ("replies", descriptor.replies.markdown),
            (
                "capabilities",
                table(
                    ["capability", "support", "note"],
                    descriptor.capabilities.listed.map {
                        ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note]
                    }
                )
            ),
            ("file-settings", ContactFileSettings.table.markdown),
            (
                "file-columns",
                table(
                    ["column", "holds", "type", "written"],
                    ContactFile.markdown(ContactFileSettings().contactFile.kind)
                )
            ),
            ("limits", table(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })),
            (
                "rules",
                table(
                    ["rule", "what it says", "known from"],
                    descriptor.rules.map { [$0.id.number, $0.text, $0.source] }
                )
            ),
        ]
    }

    /// The tables of the server door.
    private var serverTables: [(name: String, markdown: String)] {
        let descriptor = AcousticServer.descriptor
        let capabilities = descriptor.capabilities.listed.map {
            ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note]
        }
        return [
            ("server-settings", AcousticServerSettings.table.markdown),
            ("server-capabilities", table(["capability", "support", "note"], capabilities)),
            ("server-limits", table(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })),
            (
                "server-fields",
                descriptor.fields.map { "**\($0.title)**\n\n\($0.markdown)" }.joined(separator: "\n\n")
            ),
            ("server-codes", ServerEvent.markdown), ("server-faults", FaultTable.markdown),
            ("server-replies", descriptor.replies.markdown),
            (
                "server-rules",
                table(
                    ["rule", "what it says", "known from"],
                    descriptor.rules.map { [$0.id.number, $0.text, $0.source] }
                )
            ),
        ]
    }

    private func table(_ head: [String], _ rows: [[String]]) -> String { ReadmeTables.markdown(head, rows) }

    @Test func `the tables are those of the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `every rule of both doors has a number of its own`() {
        let rules = Dictionary(grouping: Rule.acoustic + AcousticServerRules.all, by: \.id)
        #expect(rules.filter { $0.value.count > 1 }.isEmpty)
    }
}

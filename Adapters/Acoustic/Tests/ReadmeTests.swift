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

    private func table(_ head: [String], _ rows: [[String]]) -> String { ReadmeTables.markdown(head, rows) }

    @Test func `the tables are those of the code`() throws { try ReadmeTables().check(tables) }
}

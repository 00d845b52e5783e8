import PatchbayAdapterKit
import PatchbayModel
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft

@Suite("Altcraft README") struct ReadmeTests {
    /// The tables of the README, by the name that stands in their marks.
    private var tables: [(name: String, markdown: String)] {
        let descriptor = AltcraftDevice.descriptor
        return [
            ("settings", AltcraftSettings.table.markdown),
            (
                "capabilities",
                table(
                    ["capability", "support", "note"],
                    descriptor.capabilities.listed.map {
                        ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note]
                    }
                )
            ),
            ("limits", table(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })),
            ("fields", descriptor.fields.map { "**\($0.title)**\n\n\($0.markdown)" }.joined(separator: "\n\n")),
            (
                "options",
                table(
                    ["option", "form", "with"],
                    CallOption.all.map { option in
                        let uses: [(CallOption.Use, String)] = [
                            (.subscription, "subscriptions"), (.profile, "profiles"), (.pushEvent, "push events"),
                            (.customEvent, "custom events"),
                        ]
                        let names = uses.filter { option.uses.contains($0.0) }.map(\.1).joined(separator: ", ")
                        return ["`\(option.name)`", option.form, names]
                    }
                )
            ),
            (
                "attributes",
                table(
                    ["attribute", "field", "form"],
                    AltcraftField.all.map { [$0.attribute.map { "`\($0.rawValue)`" } ?? "", "`\($0.name)`", $0.form] }
                )
            ),
            ("replies", descriptor.replies.markdown),
            ("codes", EventCodes.markdown),
            ("file-settings", ImportSettings.table.markdown),
            (
                "findings",
                table(
                    ["finding", "severity", "what helps"],
                    descriptor.findings.map { ["`\($0.code)`", $0.severity.rawValue, $0.remedy] }
                )
            ),
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
        let descriptor = AltcraftServer.descriptor
        let capabilities = descriptor.capabilities.listed.map {
            ["`\($0.capability.rawValue)`", $0.support.word, $0.support.note]
        }
        return [
            ("server-settings", AltcraftServerSettings.table.markdown),
            ("server-capabilities", table(["capability", "support", "note"], capabilities)),
            ("server-limits", table(["what", "limit"], descriptor.limits.map { [$0.what, $0.limit] })),
            (
                "server-fields",
                descriptor.fields.map { "**\($0.title)**\n\n\($0.markdown)" }.joined(separator: "\n\n")
            ),
            ("server-replies", descriptor.replies.markdown),
            (
                "server-rules",
                table(
                    ["rule", "what it says", "known from"],
                    AltcraftServerRules.own.map { [$0.id.number, $0.text, $0.source] }
                )
            ),
        ]
    }

    private func table(_ head: [String], _ rows: [[String]]) -> String { ReadmeTables.markdown(head, rows) }

    @Test func `the tables are those of the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `the rules of the server door have numbers of their own`() {
        #expect(Set(AltcraftServerRules.own.map(\.id)).isDisjoint(with: Rule.altcraft.map(\.id)))
    }

    @Test func `the numbers of outcomes are those that the vendor lists`() {
        for row in EventCodes.all where row.name != "profileUpdate" {
            guard let first = row.first, let success = first.success, let final = first.final else {
                Issue.record("\(row.name) has no first numbers.")
                continue
            }
            #expect(final - success == 200)
            #expect(first.repeated.map { $0 - success } ?? 300 == 300)
        }
        #expect(EventCodes.row(.subscribe, status: "suspended")?.renumbered == .init(231, 431, 531))
        #expect(EventCodes.row(.unsuspend, status: nil)?.first == .init(232, 432, nil))
    }
}

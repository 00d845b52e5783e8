import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayAltcraft
@testable import PatchbayAltcraftServer
@testable import PatchbayAltcraftFiles

@Suite("Altcraft README") struct ReadmeTests {
    /// The tables of the README, by the names in their markers.
    private var tables: [ReadmeTables.Named] {
        [
            ("settings", AltcraftSettings.table.markdown),
            (
                "options",
                ReadmeTables.markdown(
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
                ReadmeTables.markdown(
                    ["attribute", "field", "form"],
                    AltcraftField.all.map { [$0.attribute.map { "`\($0.rawValue)`" } ?? "", "`\($0.name)`", $0.form] }
                )
            ),
            (
                "codes",
                ReadmeTables.markdown(
                    ["request", "first numbers", "renumbered"],
                    EventCodes.all.map { [$0.name, Self.text($0.first), Self.text($0.renumbered)] }
                )
            ),
            ("file-settings", ImportSettings.table.markdown),
            ("file-fields", ReadmeTables.fields([ImportRecord.table.summary, ImportSubscription.table.summary])),
            ("consent-values", ReadmeTables.consent(.altcraft)),
        ]
            + ReadmeTables.of(
                AltcraftDevice.descriptor,
                [.capabilities, .limits, .fields, .replies]
            )
            + [
                ("findings", ReadmeTables.findings(FindingRow.altcraft, VendorFiles.altcraft.findings)),
                ("rules", ReadmeTables.rules(Rule.altcraft, VendorFiles.altcraft.rules)),
            ]
    }

    private static func text(_ numbers: EventCodes.Numbers?) -> String {
        guard let numbers else { return "–" }
        return [numbers.success, numbers.final, numbers.repeated].map { $0.map(String.init) ?? "–" }
            .joined(separator: ", ")
    }

    /// The tables of the server API.
    private var serverTables: [ReadmeTables.Named] {
        [
            ("server-settings", AltcraftServerSettings.table.markdown),
            ("server-rules", ReadmeTables.rules(AltcraftServerRules.own)),
        ]
            + ReadmeTables.of(
                AltcraftServer.descriptor,
                [.capabilities, .limits, .fields, .replies],
                prefix: "server-"
            )
    }

    @Test func `README tables match the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `server API rules have their own numbers`() {
        #expect(Set(AltcraftServerRules.own.map(\.id)).isDisjoint(with: Rule.altcraft.map(\.id)))
    }

    @Test func `event codes match the vendor's list`() {
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

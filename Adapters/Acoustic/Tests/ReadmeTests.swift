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
            ("profile", calls), ("columns", columns), ("settings", AcousticSettings.table.markdown),
            ("entry", fields[0].markdown), ("event", fields[1].markdown), ("pairs", events),
            ("registration", fields[2].markdown),
            ("file-settings", ContactFileSettings.table.markdown), ("consent-values", ReadmeTables.consent(.acoustic)),
            ("file-columns", ReadmeTables.columns(ContactFile.markdown(ContactFileSettings().contactFile.kind))),
        ] + ReadmeTables.of(AcousticDevice.descriptor, [.replies, .capabilities, .limits])
            + [("rules", ReadmeTables.rules(Rule.acoustic, VendorFiles.acoustic.rules))]
    }

    private var calls: String {
        let profile = DeviceProfile()
        let rows = DeviceProfile.calls.map { name, path in
            let call = profile[keyPath: path]
            return ["`\(name)`", "`\(call.method)`", "`\(call.path)`", call.wrapper.map { "`\($0)`" } ?? "–"]
        }
        return ReadmeTables.markdown(["call", "method", "path", "wrapper"], rows)
    }

    private var columns: String {
        ReadmeTables.markdown(
            ["type", "vendor's code", "what an entry carries", "rule"],
            ColumnType.table.map { ["`\($0.type.rawValue)`", "\($0.code)", $0.form, $0.rule.number] }
        )
    }

    private var events: String {
        let actions = "appOpened, " + Options.actions.map(\.event).joined(separator: ", ")
        return ReadmeTables.markdown(
            ["here", "type", "names"],
            [
                ["custom", "`custom`", "the app's own"],
                [
                    "custom with the option `type`", "`geofence`, `ibeacon`",
                    EventType.locationNames.joined(separator: ", "),
                ],
                ["sessionStarted, sessionEnded", "`application`", "sessionStarted, sessionEnded"],
                ["push subscription, permission, unregister", "`application`", "uiPushEnabled, uiPushDisabled"],
                ["push tapped, opened", "`simpleNotification`", actions],
                ["messageViewed", "`inbox`", "messageOpened"],
                ["messageClicked", "`inboxMessage`, `inAppMessage`", actions],
            ]
        )
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

    @Test func `README tables match the code`() throws { try ReadmeTables().check(tables + serverTables) }

    @Test func `every rule of both APIs has its own number`() {
        let rules = Dictionary(grouping: Rule.acoustic + AcousticServerRules.all, by: \.id)
        #expect(rules.filter { $0.value.count > 1 }.isEmpty)
    }
}

import PatchbayAdapterKit
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayDES
@testable import PatchbayDESFiles

@Suite("DES README") struct ReadmeTests {
    private var tables: [ReadmeTables.Named] {
        [
            ("requests", Route.markdown),
            ("headers", Headers.table.summary.markdown),
            ("client", ClientCall.table.summary.markdown),
            ("push-settings", PushSettings.markdown),
            ("events", EventsCall.table.summary.markdown),
            ("event", EventCall.table.summary.markdown),
            ("row", RowCall.table.summary.markdown),
            ("internal", InternalEvent.markdown),
            ("inline", InlineCall.table.summary.markdown),
            ("contact", ContactCall.table.summary.markdown),
            ("push-token", PushTokenCall.table.summary.markdown),
            ("renewal", RenewalCall.table.summary.markdown),
            ("questions", Question.markdown),
            ("settings", DESSettings.table.markdown), ("file-settings", ContactFileSettings.table.markdown),
            ("consent-values", ReadmeTables.consent(.des)),
            ("file-columns", ReadmeTables.columns(ContactFile.markdown(ContactFileSettings.kind()))),
            (
                "options",
                ReadmeTables.markdown(
                    ["option", "form", "with"],
                    CallOption.all.map { ["`\($0.name)`", $0.form, $0.uses] }
                )
            ),
        ] + ReadmeTables.of(DESDevice.descriptor, [.replies, .capabilities])
            + [("rules", ReadmeTables.rules(Rule.des, VendorFiles.des.rules))]
    }

    @Test func `the tables are those of the code`() throws { try ReadmeTables().check(tables) }
}

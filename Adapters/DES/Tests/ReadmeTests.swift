import PatchbayAdapterKit
import PatchbayJSON
import PatchbayRecords
import PatchbayTesting
import Testing

@testable import PatchbayDES
@testable import PatchbayDESFiles

@Suite("DES README") struct ReadmeTests {
    private var tables: [ReadmeTables.Named] {
        [
            ("requests", requests),
            ("headers", Headers.table.summary.markdown),
            ("client", ClientCall.table.summary.markdown),
            ("push-settings", pushSettings),
            ("events", EventsCall.table.summary.markdown),
            ("event", EventCall.table.summary.markdown),
            ("row", RowCall.table.summary.markdown),
            ("internal", internalEvents),
            ("inline", InlineCall.table.summary.markdown),
            ("contact", ContactCall.table.summary.markdown),
            ("push-token", PushTokenCall.table.summary.markdown),
            ("renewal", RenewalCall.table.summary.markdown),
            ("questions", queries),
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

    private var requests: String {
        let rows = Route.all.map { route in
            let path = route.template.path
            let address = path.isEmpty ? "the address in the push" : "`\(path)`"
            return ["`\(route.endpoint.rawValue)`", route.method, address, route.isRenewable ? "yes" : "no"]
        }
        return ReadmeTables.markdown(["request", "method", "path", "renews on 401"], rows)
    }

    private var pushSettings: String {
        func text(_ value: JSONValue?) -> String { value.map { "`\($0.string ?? $0.text)`" } ?? "–" }
        return ReadmeTables.markdown(
            ["entry", "takes", "if permitted", "if not"],
            PushSettings.all.map {
                ["`\($0.name)`", $0.form, text($0.otherwise?.allowed), text($0.otherwise?.denied)]
            }
        )
    }

    private var internalEvents: String {
        let rows = InternalEvent.all.map { event in
            let attributes = event.attributes + event.optional.map { "\($0)?" }
            let list = attributes.isEmpty ? "–" : attributes.joined(separator: ", ")
            return ["`\(event.name)`", list, event.operation ?? "the custom event of that name"]
        }
        return ReadmeTables.markdown(["event", "attributes", "captured as"], rows)
    }

    private var queries: String {
        ReadmeTables.markdown(
            ["query", "argument", "answer"],
            Query.all.map { ["`\($0.name)`", $0.argument.map { "`\($0)`" } ?? "–", $0.answer] }
        )
    }

    @Test func `README tables match the code`() throws { try ReadmeTables().check(tables) }
}

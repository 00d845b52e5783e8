import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let compare = Command(
        "compare",
        "Compare the capabilities of two adapters",
        task: .inspect,
        details: """
            Lists the capabilities that are lost, changed or gained with a switch from adapter A to adapter B. The result does
            not depend on your data; `patchbay migrate plan` reports what the differences mean for your contacts.
            """,
        arguments: [
            .required("A", "Present adapter; `patchbay adapters` lists the ids"), .required("B", "New adapter"),
        ],
        optional: [.json],
        findings: "a capability is lost",
        examples: [
            Example("Compare two vendors", "patchbay compare salesforce altcraft"),
            Example("Compare two server APIs for a script", "patchbay compare acoustic-server altcraft-server --json"),
        ]
    ) { session in
        let descriptors = Vendors.modules.flatMap(\.apis).map { $0.descriptor }
        func api(_ place: Int) throws(UsageError) -> AdapterDescriptor {
            let id = session.invocation.argument(place) ?? ""
            if let api = descriptors.first(where: { $0.id.rawValue == id }) { return api }
            let known = descriptors.map(\.id.rawValue)
            let guess = id.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
            throw UsageError(
                "Unknown adapter \"\(id)\".\(guess) Adapters: \(known.joined(separator: ", ")).",
                command: "compare"
            )
        }
        let comparison = CapabilityComparison(try api(0), try api(1))
        if session.isJSON {
            try session.console.data(comparison.json)
        } else {
            let shown = comparison.rows.filter { [.lost, .changed, .gained].contains($0.verdict) }
            let width = shown.map(\.capability.rawValue.count).max() ?? 0
            for row in shown {
                let name = row.capability.rawValue
                let text = row.new.note.isEmpty ? name : "\(name.padded(to: width))  \(row.new.note)"
                let verdict = row.verdict.rawValue.padded(to: 7)
                try session.console.data(verdict, .bold, then: "  \(text)")
            }
            let counts = CapabilityComparison.Verdict.allCases.map { verdict in
                "\(comparison.count(verdict)) \(verdict == .neither ? "supported by neither" : verdict.rawValue)"
            }
            session.console.say(counts.joined(separator: ", ") + ".")
        }
        return comparison.count(.lost) > 0 ? .findings : .fine
    }
}

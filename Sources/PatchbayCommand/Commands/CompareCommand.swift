import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let compare = Command(
        "compare",
        "shows what one vendor can't hold or do of what another can",
        details: """
            A and B are ids of `patchbay adapters`. It tells what is lost, what is made out of something else, and what is
            gained, whatever the data is; `patchbay migrate plan` tells what that means for yours. It ends with 1 if
            something is lost.
            """,
        arguments: [.required("A"), .required("B")],
        optional: [.json]
    ) { session in
        let doors = Vendors.modules.flatMap(\.doors).map { $0.descriptor }
        func door(_ place: Int) throws(UsageError) -> AdapterDescriptor {
            let id = session.invocation.argument(place) ?? ""
            if let door = doors.first(where: { $0.id.rawValue == id }) { return door }
            let known = doors.map(\.id.rawValue)
            let guess = id.nearest(in: known).map { " Did you mean \($0)?" } ?? ""
            throw UsageError(
                "There is no vendor \"\(id)\".\(guess) Known are: \(known.joined(separator: ", ")).",
                command: "compare"
            )
        }
        let comparison = CapabilityComparison(try door(0), try door(1))
        if session.isJSON {
            try session.console.data(comparison.json)
        } else {
            let shown = comparison.rows.filter { [.lost, .changed, .gained].contains($0.verdict) }
            let width = shown.map(\.capability.rawValue.count).max() ?? 0
            for row in shown {
                let note = row.new.note.isEmpty ? "" : "  \(row.new.note)"
                let verdict = row.verdict.rawValue.padded(to: 7)
                try session.console.data(verdict, .bold, then: "  \(row.capability.rawValue.padded(to: width))\(note)")
            }
            let counts = CapabilityComparison.Verdict.allCases.map { "\(comparison.count($0)) \($0.rawValue)" }
            session.console.say(counts.joined(separator: ", ") + ".")
        }
        return comparison.count(.lost) > 0 ? .findings : .fine
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration

extension Command {
    static let migrateUndo = Command(
        "migrate undo",
        "puts back what stood where a migration wrote",
        details: """
            JOURNAL is the file that `migrate apply --journal` wrote. Nothing is touched if a file was changed since. What a
            vendor has loaded from a file is not undone by it.
            """,
        arguments: [.required("JOURNAL")],
        optional: [.json]
    ) { session in
        let deeds = try Journal.undo(session.invocation.argument(0) ?? "")
        for (path, deed) in deeds {
            if session.isJSON {
                try session.console.data(["path": .string(path), "deed": .string(deed.rawValue)])
            } else {
                session.console.say("\(path): \(deed.rawValue)")
            }
        }
        return .fine
    }
}

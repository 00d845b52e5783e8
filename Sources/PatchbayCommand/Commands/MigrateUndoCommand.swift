import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateUndo = Command(
        "migrate undo",
        "puts back what stood where a migration wrote",
        details: """
            JOURNAL is the file that `migrate apply --journal` wrote. Of files nothing is touched if one was changed since; what
            a vendor has loaded from a file is not undone by it.
            Of a migration through a vendor's server door, --config names the configuration that it had. The vendor is asked what
            it holds now: what was written and still stands there becomes what it was, who was not there before is erased
            where the door can erase no more than that, and a contact that was changed since is left alone and told. --out
            has what became of each contact, JOURNAL.undone unless said otherwise. It can be killed and gone on with like
            `migrate apply`. The journal is removed when all is put back.
            """,
        arguments: [.required("JOURNAL")],
        optional: [.config, .provider, .output, .checkpoint, .restart, .logLevel, .json],
        usesNetwork: { try $0.argument(0) != "-" && DoorUndo.door(of: $0.argument(0) ?? "") != nil }
    ) { session in
        let journal = session.invocation.argument(0) ?? ""
        guard journal != "-" else { throw session.notAFile("JOURNAL") }
        try session.requireFileNames()
        if let door = try DoorUndo.door(of: journal) {
            return try await session.undo(journal, through: door.door, provider: door.provider)
        }
        let deeds = try Journal.undo(journal)
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

extension Session {
    /// Takes back what a migration said through a door.
    fileprivate func undo(_ journal: String, through door: String, provider name: String) async throws -> ExitStatus {
        guard invocation.has(.config) else {
            throw UsageError(
                "The journal is of a migration through \(door): --config FILE is missing, with the provider \"\(name)\".",
                command: invocation.command.name
            )
        }
        let output = invocation.text(.output) ?? "\(journal).undone"
        try requireDistinctFiles(journal, output)
        let configuration = try configuration()
        let chosen = try invocation.has(.provider) ? provider(of: configuration) : configuration.provider(name)
        guard let chosen else {
            throw UsageError(
                "The configuration has no provider \"\(name)\", which the journal names. It has: \(configuration.providers.map(\.name).joined(separator: ", ")).",
                command: invocation.command.name
            )
        }
        let undo = try DoorUndo(
            journal,
            through: DoorTarget(chosen),
            output: output
        )
        let outcome = try await undo.run(try surroundings(size: nil), restarts: invocation.has(.restart))
        let status = try end(outcome, verb: "put back")
        if outcome.isCommitted, outcome.report.rejected > 0 {
            console.say("What could not be put back stands in \(output) with the reason; the journal is kept.")
        }
        return status
    }

    /// Refuses a line on which the verdicts would take the place of what is read.
    private func requireDistinctFiles(_ journal: String, _ output: String) throws(UsageError) {
        var files = MigrationFiles()
        files.read(journal, "JOURNAL")
        files.read(invocation.text(.config), "--config")
        files.write(output, "--out")
        files.keep(ResumableMigration.Files.traces(of: output, throughDoor: true), beside: "--out")
        try files.requireDistinct(invocation.command)
    }
}

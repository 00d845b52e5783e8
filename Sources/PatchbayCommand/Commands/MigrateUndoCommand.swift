import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateUndo = Command(
        "migrate undo",
        "Undo a migration",
        task: .migrate,
        details: """
            Restores the files that the migration replaced and removes those that it created. If a file was changed since,
            nothing is touched. If a later migration wrote the same files, undo that one first. What a vendor has already imported
            from a file is not undone.

            For a migration to a server API, give its configuration. The vendor's present data is read first: written values
            that are still there are restored, contacts that the migration created are deleted if the API supports it, and
            contacts that were changed since are left alone and listed. Repeat the command to resume an interrupted run.

            The journal is removed when everything is undone.
            """,
        arguments: [.required("JOURNAL", "File that `patchbay migrate apply --journal` wrote")],
        optional: [.config, .provider, .undone, .checkpoint, .restart, .logLevel, .json],
        findings: "some contacts could not be restored",
        examples: [
            Example("Undo a migration between files", "patchbay migrate undo journal.json"),
            Example(
                "Undo a migration to a server API",
                "patchbay migrate undo --config server.json server-journal.json"
            ),
        ]
    ) { session in
        let journal = session.invocation.argument(0) ?? ""
        guard journal != "-" else { throw session.notAFile("JOURNAL") }
        try session.requireFileNames()
        let deeds: [(path: String, deed: Journal.Deed)]
        do {
            if let server = try ServerUndo.server(of: journal) {
                return try await session.undo(journal, through: server.server, provider: server.provider)
            }
            deeds = try Journal.undo(journal)
        } catch let error as FileError where error.number == ENOENT && error.path == journal {
            throw CommandFailure(
                "\(error)\nA migration between files writes its journal at its end. If it was interrupted before, it wrote no file, and there is nothing to undo: repeat the command to resume it."
            )
        }
        for (path, deed) in deeds {
            if session.isJSON {
                try session.console.data(["path": .string(path), "deed": .string(deed.rawValue)])
            } else {
                session.console.say("\(path): \(deed.sentence)")
            }
        }
        if !session.isJSON { session.console.say("Everything is undone. Removed \(journal).") }
        return .fine
    }
}

extension Journal.Deed {
    /// A sentence that reports what happened to the file.
    fileprivate var sentence: String {
        switch self {
        case .restored: "restored as it was before the migration"
        case .removed: "removed; it did not exist before the migration"
        case .untouched: "unchanged; the migration had not written it, or it is undone already"
        }
    }
}

extension Session {
    /// Undoes a migration to a server API.
    fileprivate func undo(_ journal: String, through server: String, provider name: String) async throws -> ExitStatus {
        guard invocation.has(.config) else {
            throw UsageError(
                "The journal is of a migration to \(server). Give its configuration, with the provider \"\(name)\": --config FILE.",
                command: invocation.command.name
            )
        }
        let output = invocation.text(.undone) ?? "\(journal).undone"
        try requireDistinctFiles(journal, output)
        let configuration = try configuration()
        let chosen = try invocation.has(.provider) ? provider(of: configuration) : configuration.provider(name)
        guard let chosen else {
            throw UsageError(
                "The configuration has no provider \"\(name)\", which the journal names. Providers: \(configuration.providers.map(\.name).joined(separator: ", ")).",
                command: invocation.command.name
            )
        }
        let undo = try ServerUndo(
            journal,
            through: ServerTarget(chosen),
            output: output
        )
        let outcome = try await undo.run(try surroundings(size: nil), restarts: invocation.has(.restart))
        let status = try end(outcome, verb: "restored")
        if outcome.isCommitted {
            let count = outcome.report.rejected
            console.say(
                count > 0
                    ? "\(count.counted("contact")) could not be restored; \(output) has the reasons. The journal is kept."
                    : "Everything is undone. Removed \(journal)."
            )
            console.say("To repeat the migration, add --restart: it discards the progress of an interrupted run.")
        }
        return status
    }

    /// Refuses a line on which the results would replace an input.
    private func requireDistinctFiles(_ journal: String, _ output: String) throws(UsageError) {
        var files = MigrationFiles()
        files.read(journal, "JOURNAL")
        files.read(invocation.text(.config), "--config")
        files.write(output, "--out")
        files.keep(ResumableMigration.Files.traces(of: output, toServer: true), beside: "--out")
        try files.requireDistinct(invocation.command)
    }
}

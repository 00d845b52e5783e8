import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration

extension Command {
    static let migrateCut = Command(
        "migrate cut",
        "cuts a file of contacts into files that the vendor takes",
        details: """
            A vendor's import takes files up to a size. FILE is cut between two records, never within one; each part has the
            header, and the parts stand beside it (or beside --out) under its name with a number: contacts.1.csv. Without
            --size the size is what the vendor's documents state for files. --settings are those that FILE was written with.
            - is standard input; --out names the parts then.
            """,
        arguments: [.required("FILE")],
        required: [.to],
        optional: [.settings, .output, .size, .json]
    ) { session in
        try CutRun(session).run()
    }
}

/// One run of `migrate cut`.
@MainActor private struct CutRun {
    private let session: Session
    private let format: RecordFormat
    private let file: String

    init(_ session: Session) throws {
        (self.session, file) = (session, session.invocation.argument(0) ?? "")
        try session.requireFileNames()
        guard file != "-" || session.invocation.has(.output) else {
            throw UsageError(
                "- is standard input, which gives the parts no name: give --out FILE.",
                command: session.invocation.command.name
            )
        }
        format = try session.format(.to)
    }

    func run() throws -> ExitStatus {
        let cutter = try FileCutter(
            format,
            settings: try session.migrationSettings()["to"]?.object ?? [:],
            limit: FileCutter.Limit(bytes: try size())
        )
        var source = try session.source(file)
        var progress = ProgressLine(session.console, total: source.size)
        try refuseParts()
        var outputs: [OutputFile] = []
        let parts = try cutter.cut(
            &source,
            progress: { progress.show(records: $0.records, bytes: $0.bytes) },
            isCancelled: { session.interruption.signalNumber != nil }
        ) { number in
            let output = try OutputFile(path: path(of: number))
            outputs.append(output)
            return output
        }
        guard session.interruption.signalNumber == nil else {
            session.console.say("Stopped; no file was written.")
            return .findings
        }
        for output in outputs { try output.commit() }
        for (output, part) in zip(outputs, parts) {
            if session.isJSON {
                try session.console.data([
                    "path": .string(output.path), "records": .integer(part.records), "bytes": .integer(part.bytes),
                ])
            } else {
                session.console.say("\(output.path): \(part.records) records, \(part.bytes) bytes")
            }
        }
        let name = file == "-" ? "Standard input" : file
        if parts.isEmpty { session.console.say("\(name) has no record; no file was written.") }
        return .fine
    }

    /// The size that was given, or the smallest that the vendor states for a file.
    private func size() throws(UsageError) -> Int {
        if let size = session.invocation.number(.size) { return size }
        guard let size = Vendors.loads(of: format).filter({ $0.contacts == nil }).compactMap(\.bytes).min() else {
            throw UsageError(
                "The vendor's documents state no size of a file for \(format.id): give --size BYTES.",
                command: session.invocation.command.name
            )
        }
        return size
    }

    private func path(of number: Int) -> String {
        let name = session.invocation.text(.output) ?? file
        let stem = name.pathStem
        return "\(stem).\(number)\(name[stem.endIndex...])"
    }

    /// The parts that stand there already.
    private var earlierParts: [String] {
        (1...FileCutter.mostParts).map { path(of: $0) }.filter { ResumableMigration.size(of: $0) != nil }
    }

    /// Refuses a line on which a part would take the place of what is read, or stands there already: parts of another time
    /// would be taken for parts of this file.
    private func refuseParts() throws(UsageError) {
        let parts = earlierParts
        guard let path = parts.first else { return }
        var files = MigrationFiles()
        files.read(file, "FILE")
        files.read(session.invocation.text(.settings), "--settings")
        for part in parts { files.write(part, "a part") }
        try files.requireDistinct(session.invocation.command)
        throw UsageError(
            "\(path) is there already: remove the parts of an earlier cut, or give --out FILE for another name.",
            command: session.invocation.command.name
        )
    }
}

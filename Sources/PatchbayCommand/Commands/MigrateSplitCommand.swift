import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayRecords

extension Command {
    static let migrateSplit = Command(
        "migrate split",
        "Split a contact file for the vendor's import",
        task: .migrate,
        details: """
            Splits between records, never within one. Each part has the header and the name of the file with a number:
            contacts.1.csv. Give the --settings that FILE was written with.
            """,
        arguments: [.required("FILE", "File with contacts; - is standard input and requires --out")],
        required: [.partFormat],
        optional: [.settings, .parts, .size, .json],
        examples: [
            Example(
                "Split into parts of at most 10 MB",
                "patchbay migrate split --to altcraft.profiles --settings migration.json --size 10000000 profiles.ndjson"
            ),
            Example(
                "Split standard input into part.1.ndjson and so on",
                "cat profiles.ndjson | patchbay migrate split --to altcraft.profiles --settings migration.json --size 500 --out part.ndjson -"
            ),
        ]
    ) { session in
        try SplitRun(session).run()
    }
}

/// One run of `migrate split`.
@MainActor private struct SplitRun {
    private let session: Session
    private let format: RecordFormat
    private let file: String

    init(_ session: Session) throws {
        (self.session, file) = (session, session.invocation.argument(0) ?? "")
        try session.requireFileNames()
        guard file != "-" || session.invocation.has(.parts) else {
            throw UsageError(
                "Standard input gives the parts no name. Name them with --out FILE.",
                command: session.invocation.command.name
            )
        }
        format = try session.format(.partFormat)
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
            session.console.say("Interrupted. No file was written.")
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
        if parts.isEmpty { session.console.say("\(name) holds no records. No file was written.") }
        return .fine
    }

    /// The given size, or the smallest limit that the vendor documents for a file.
    private func size() throws(UsageError) -> Int {
        if let size = session.invocation.number(.size) { return size }
        guard let size = Vendors.loads(of: format).filter({ $0.contacts == nil }).compactMap(\.bytes).min() else {
            throw UsageError(
                "The vendor documents no size limit for \(format.id). Give one with --size BYTES.",
                command: session.invocation.command.name
            )
        }
        return size
    }

    private func path(of number: Int) -> String {
        let name = session.invocation.text(.parts) ?? file
        let stem = name.pathStem
        return "\(stem).\(number)\(name[stem.endIndex...])"
    }

    /// The parts that exist already.
    private var earlierParts: [String] {
        (1...FileCutter.mostParts).map { path(of: $0) }.filter { ResumableMigration.size(of: $0) != nil }
    }

    /// Refuses a line on which a part would replace an input or exists already: parts of an earlier split would be mistaken
    /// for parts of this file.
    private func refuseParts() throws(UsageError) {
        let parts = earlierParts
        guard let path = parts.first else { return }
        var files = MigrationFiles()
        files.read(file, "FILE")
        files.read(session.invocation.text(.settings), "--settings")
        for part in parts { files.write(part, "a part") }
        try files.requireDistinct(session.invocation.command)
        throw UsageError(
            "\(path) exists already. Remove the parts of an earlier split, or choose another name with --out FILE.",
            command: session.invocation.command.name
        )
    }
}

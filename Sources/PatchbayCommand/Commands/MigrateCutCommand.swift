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
        format = try session.format(.to)
    }

    func run() throws -> ExitStatus {
        let cutter = try FileCutter(
            format,
            settings: try session.object(.settings)["to"]?.object ?? [:],
            limit: FileCutter.Limit(bytes: try size())
        )
        var source = try FileSource(path: file)
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
        if parts.isEmpty { session.console.say("\(file) has no record; no file was written.") }
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

    /// Parts of another time would be taken for parts of this file.
    private func refuseParts() throws(UsageError) {
        let path = path(of: 1)
        guard (try? FileSource(path: path)) != nil else { return }
        throw UsageError(
            "\(path) is there already: remove the parts of an earlier cut, or give --out FILE for another name.",
            command: session.invocation.command.name
        )
    }
}

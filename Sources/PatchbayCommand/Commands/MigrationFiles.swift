import PatchbayAdapterKit
import PatchbayMigration

/// The files that a command line reads and writes, each with the option that names it. No output may be the same file as
/// another one.
struct MigrationFiles {
    /// A file with the option that names it.
    private struct Named {
        let role: String
        let path: String
        let isWritten: Bool
    }

    private var named: [Named] = []
    /// Temporary files that a run keeps beside its outputs.
    private var traces: [(role: String, path: String)] = []

    init() {}

    /// Adds an input file. Standard input is not a file.
    mutating func read(_ path: String?, _ role: String) { note(path, role, isWritten: false) }

    /// Adds an output file and its drafts. Standard output is not a file.
    mutating func write(_ path: String?, _ role: String) {
        note(path, role, isWritten: true)
        if let path, path != "-" { keep(OutputFile.drafts(of: path), beside: role) }
    }

    /// Adds temporary files that are kept beside a file.
    mutating func keep(_ paths: [String], beside role: String) {
        traces += paths.map { ("a temporary file beside \(role)", $0) }
    }

    private mutating func note(_ path: String?, _ role: String, isWritten: Bool) {
        guard let path, path != "-" else { return }
        named.append(Named(role: role, path: path, isWritten: isWritten))
    }

    /// Throws ``UsageError`` if an output or a temporary file is the same file as another one of the command line.
    func requireDistinct(_ command: Command) throws(UsageError) {
        var (places, names) = ([String: Named](), [String: String]())
        for file in named {
            guard let place = FilePlace.text(file.path) else { continue }
            if let other = places[place] {
                guard !file.isWritten, !other.isWritten else {
                    throw Self.clash(other.role, file.role, file.path, command)
                }
            } else {
                places[place] = file
                names[FilePlace.name(file.path)] = file.role
            }
        }
        for (role, path) in traces {
            if let other = names[FilePlace.name(path)] { throw Self.clash(other, role, path, command) }
        }
    }

    /// Throws ``UsageError`` if the journal cannot keep the files that outputs replace. The journal keeps a file by a hard
    /// link, which must be on the same volume.
    func requireOneVolume(with journal: String, _ command: Command) throws(UsageError) {
        guard let volume = FilePlace.volume(ofFolderOf: journal) else { return }
        let other = named.first { $0.isWritten && FilePlace.isFile($0.path) && FilePlace.volume(of: $0.path) != volume }
        guard let other else { return }
        throw UsageError(
            "--journal \(journal) must be on the same file system as \(other.path), which \(other.role) replaces. "
                + "Choose a path beside it.",
            command: command.name
        )
    }

    private static func clash(_ one: String, _ other: String, _ path: String, _ command: Command) -> UsageError {
        UsageError("\(one) and \(other) name the same file, \(path). Name different files.", command: command.name)
    }
}

extension Session {
    /// Throws ``UsageError`` if an option is `-` although it requires a file. The given options may use `-` for standard
    /// input and output.
    func requireFileNames(besides standard: [Flag] = []) throws(UsageError) {
        let flags = invocation.command.flags.filter { $0.value == .text("FILE") && !standard.contains($0) }
        guard let flag = flags.first(where: { invocation.text($0) == "-" }) else { return }
        throw notAFile("--\(flag.name)")
    }

    /// The error that `-` is not a file for an option.
    func notAFile(_ role: String, because reason: String = "") -> UsageError {
        UsageError(
            "\(role): standard input and output (-) are not allowed here\(reason). Name a file; ./- names a file called -.",
            command: invocation.command.name
        )
    }

    /// Throws ``UsageError`` if an output of a migration is the same file as another output or an input.
    func requireDistinctFiles(_ setup: MigrationSetup) throws {
        var files = MigrationFiles()
        for flag in [Flag.input, .after, .target, .settings, .config] {
            files.read(invocation.text(flag), "--\(flag.name)")
        }
        // Standard input redirected from a file may be the same file as an output.
        if invocation.file(.input) == nil { files.read("/dev/stdin", "standard input") }
        for path in setup.pathsBesideSource { files.read(path, "the sidecar file of --in") }
        for flag in [Flag.output, .html, .consentEvidence, .journal] {
            files.write(invocation.text(flag), "--\(flag.name)")
        }
        if let rejects = invocation.text(.rejects) {
            let paths = RejectFiles.paths(rejects, source: setup.source)
            files.write(paths.list, "--rejects")
            files.write(paths.replay, "the original rows beside --rejects")
        }
        let sidecars = try setup.sidecars(beside: invocation.text(.output), rejects: invocation.text(.rejects))
        for sidecar in sidecars { files.write(sidecar.path, "\(sidecar.title) beside \(sidecar.owner)") }
        if let output = invocation.text(.output), output != "-" {
            let isServer = setup.server != nil
            files.keep(ResumableMigration.Files.traces(of: output, toServer: isServer), beside: "--out")
            if invocation.file(.input) == nil { files.keep([KeptInput.path(beside: output)], beside: "--out") }
        }
        if let journal = invocation.text(.journal), setup.server == nil {
            // The output, the rejects and their rows, the evidence, and the sidecar files.
            files.keep(Journal.places(keptBy: journal, count: 4 + sidecars.count), beside: "--journal")
        }
        try files.requireDistinct(invocation.command)
        if let journal = invocation.text(.journal), setup.server == nil {
            try files.requireOneVolume(with: journal, invocation.command)
        }
    }
}

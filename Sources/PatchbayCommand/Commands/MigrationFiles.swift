import PatchbayAdapterKit
import PatchbayMigration

/// The files that a line reads and writes, each by the option that names it: nothing that is written may be another one.
struct MigrationFiles {
    /// A file, in the words by which a person knows it.
    private struct Named {
        let role: String
        let path: String
        let isWritten: Bool
    }

    private var named: [Named] = []
    /// What stands beside the files for a while.
    private var traces: [(role: String, path: String)] = []

    init() {}

    /// Notes a file that is read; standard input is none.
    mutating func read(_ path: String?, _ role: String) { note(path, role, isWritten: false) }

    /// Notes a file that is written, with where it stands until it is complete; standard output is none.
    mutating func write(_ path: String?, _ role: String) {
        note(path, role, isWritten: true)
        if let path, path != "-" { keep(OutputFile.drafts(of: path), beside: role) }
    }

    /// Notes what stands beside a file for a while.
    mutating func keep(_ paths: [String], beside role: String) {
        traces += paths.map { ("a temporary file beside \(role)", $0) }
    }

    private mutating func note(_ path: String?, _ role: String, isWritten: Bool) {
        guard let path, path != "-" else { return }
        named.append(Named(role: role, path: path, isWritten: isWritten))
    }

    /// Refuses a line on which a file that is written, or stands there for a while, is another one that is named.
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

    /// Refuses a journal that could not keep what an output replaces: that stays where it is, under one more name.
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
    /// Refuses `-` where only a file will do; the flags given may name standard input and output by it.
    func requireFileNames(besides standard: [Flag] = []) throws(UsageError) {
        let flags = invocation.command.flags.filter { $0.value == .text("FILE") && !standard.contains($0) }
        guard let flag = flags.first(where: { invocation.text($0) == "-" }) else { return }
        throw notAFile("--\(flag.name)")
    }

    /// Says that `-` names no file there.
    func notAFile(_ role: String, because reason: String = "") -> UsageError {
        UsageError(
            "\(role): standard input and output (-) are not allowed here\(reason). Name a file; ./- names a file called -.",
            command: invocation.command.name
        )
    }

    /// Refuses a line of a migration on which something that is written is something else that is read or written.
    func requireDistinctFiles(_ setup: MigrationSetup) throws {
        var files = MigrationFiles()
        for flag in [Flag.input, .after, .target, .settings, .config] {
            files.read(invocation.text(flag), "--\(flag.name)")
        }
        // Whoever hands a file over by `<` may name it as an output, too.
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
            // The contacts, the rejects and their rows, the evidence, and what stands beside them.
            files.keep(Journal.places(keptBy: journal, count: 4 + sidecars.count), beside: "--journal")
        }
        try files.requireDistinct(invocation.command)
        if let journal = invocation.text(.journal), setup.server == nil {
            try files.requireOneVolume(with: journal, invocation.command)
        }
    }
}

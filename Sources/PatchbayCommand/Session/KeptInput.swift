import PatchbayMigration
import PatchbaySystem

/// A regular input file, which a run can read twice and resume. Standard input is first copied to a file beside the output
/// that only its owner may read, until the run is complete.
struct KeptInput {
    let path: String
    /// Whether this is a copy of standard input.
    private let isStandard: Bool
    /// Whether this is the copy of standard input that an earlier run kept.
    private let isLeftover: Bool

    /// Creates an input from the file that `--in` names.
    init(path: String, isLeftover: Bool = false) {
        (self.path, self.isLeftover, isStandard) = (path, isLeftover, false)
    }

    fileprivate init(standardInputIn path: String) { (self.path, isLeftover, isStandard) = (path, false, true) }

    /// The path of the copy of standard input beside an output.
    static func path(beside output: String) -> String { "\(output).input" }

    /// The option that the command line needs to resume with this input; nil if the line names the file already.
    var resumeOption: String? { isStandard ? "--in \(path)" : nil }

    /// Removes the copy of standard input if the run is complete; otherwise reports that it is kept for a resumed run.
    @MainActor func end(isDone: Bool, _ session: Session) {
        if isLeftover, isDone {
            session.console.say("\(path), the copy of standard input of an earlier run, is no longer needed.")
        }
        guard isStandard else { return }
        guard !isDone else {
            unlink(path)
            return
        }
        session.console.say("Standard input is kept in \(path). Resume with --in \(path).")
    }
}

extension Session {
    /// Returns the regular file to read; nil if Ctrl-C interrupted standard input.
    ///
    /// - Throws: ``UsageError`` if standard input of an earlier run that was stopped is still kept.
    func plainInput(beside output: String) throws -> KeptInput? {
        let path = KeptInput.path(beside: output)
        if let file = invocation.file(.input) {
            return KeptInput(path: file, isLeftover: FilePlace.name(file) == FilePlace.name(path))
        }
        guard invocation.has(.restart) || access(path, F_OK) != 0 else {
            throw UsageError(
                "\(path) is the input of an interrupted run. Resume it with --in \(path), or discard it with --restart.",
                command: invocation.command.name
            )
        }
        let file = try OutputFile(path: path)
        var input = try source(nil)
        while let chunk = try input.next() { try file.write(chunk) }
        guard interruption.signalNumber == nil else {
            console.say("Interrupted while reading standard input. No file was written. Repeat the command.")
            return nil
        }
        try file.commit()
        return KeptInput(standardInputIn: path)
    }
}

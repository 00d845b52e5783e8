import PatchbayMigration
import PatchbaySystem

/// A plain file that a run reads, which it may read twice or go on with. Standard input is kept in one first, beside the output
/// and for its owner alone, until all of it is settled.
struct KeptInput {
    let path: String
    /// Whether it is standard input.
    private let isStandard: Bool
    /// Whether it is what an earlier run kept of its standard input.
    private let isLeftover: Bool

    /// The file that `--in` names.
    init(path: String, isLeftover: Bool = false) {
        (self.path, self.isLeftover, isStandard) = (path, isLeftover, false)
    }

    fileprivate init(standardInputIn path: String) { (self.path, isLeftover, isStandard) = (path, false, true) }

    /// Where standard input is kept.
    static func path(beside output: String) -> String { "\(output).input" }

    /// What the command line needs to go on with it; nil where it names the file already.
    var flagToGoOn: String? { isStandard ? "--in \(path)" : nil }

    /// Ends its use: it goes once all is done, and stays for whoever goes on with it.
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
    /// The plain file to read, beside an output; nil if Ctrl-C ended standard input before it was whole.
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

/// One command: parsing, help and reference all read it.
package struct Command: Sendable {
    /// What stands on the command line besides flags.
    struct Argument: Sendable {
        /// The word that help shows for it.
        let name: String
        /// Whether it may be missing.
        let isOptional: Bool

        static func required(_ name: String) -> Argument { Argument(name: name, isOptional: false) }
        static func optional(_ name: String) -> Argument { Argument(name: name, isOptional: true) }

        var usage: String { isOptional ? "[\(name)]" : name }
    }

    /// The words that call it: `outbox`, `list`.
    let words: [String]
    /// What it does, in one line.
    let summary: String
    /// More about it, for its own help.
    let details: String
    /// What stands besides flags, in order; optional ones last.
    let arguments: [Argument]
    /// Flags that must be given.
    let required: [Flag]
    /// Flags that may be given.
    let optional: [Flag]
    /// Which lines of it use the network. Asked before anything else: what can be read only once must not be read.
    let usesNetwork: @Sendable (Invocation) throws -> Bool
    /// Does it.
    let run: @MainActor @Sendable (Session) async throws -> ExitStatus

    init(
        _ words: String,
        _ summary: String,
        details: String = "",
        arguments: [Argument] = [],
        required: [Flag] = [],
        optional: [Flag] = [],
        usesNetwork: @escaping @Sendable (Invocation) throws -> Bool = { _ in false },
        run: @escaping @MainActor @Sendable (Session) async throws -> ExitStatus
    ) {
        self.words = words.split(separator: " ").map(String.init)
        (self.summary, self.details, self.arguments) = (summary, details, arguments)
        (self.required, self.optional, self.usesNetwork, self.run) = (required, optional, usesNetwork, run)
    }

    /// Every command, in the order of help.
    static let all: [Command] = [
        adapters, check, map, shadow, simulate, faults, send, erase, outboxStats, outboxList, outboxVerify,
        outboxShadow,
        outboxConsent, rejectsList, rejectsExport, rejectsReplay, quarantineList, outboxRetarget, outboxClear,
        compare, migratePlan, migrateApply, migrateVerify, migrateUndo, migrateCut, sandbox, help,
    ]

    /// As a person types it, without the program's name: `outbox list`.
    var name: String { words.joined(separator: " ") }

    /// The flags that it knows.
    var flags: [Flag] { required + optional + [.help] }

    /// As a person types it, with everything that may follow.
    var usage: String {
        let parts =
            ["patchbay", name] + required.map(\.usage)
            + optional.map { "[\($0.usage)]" + ($0.isRepeatable ? "…" : "") } + arguments.map(\.usage)
        return parts.joined(separator: " ")
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateVerify = Command(
        "migrate verify",
        "Compare a source with its migrated contacts",
        task: .migrate,
        details: """
            Converts every source record again and reports each difference: contact, field, and whether it is missing, extra,
            changed, absent or added. Contacts are named by a digest.

            A contact is equal if the target holds what the migration writes. Values that `patchbay migrate plan` lists as lost or
            changed are therefore no differences, and records that the migration rejects are expected to be missing. Both are
            counted separately.

            --target names the migrated file. With a server API as --to, the vendor is asked instead, through a provider of
            --config; --target then names the results that `patchbay migrate apply --out` wrote, so that contacts which the
            vendor refused are not looked for.

            --sample compares N contacts of each group: with an opt-out, with a push token, partly migrated, fully migrated.
            """,
        required: [.from, .to, .input],
        optional: [
            .target, .settings, .config, .provider, .sidecar, .after, .sample, .seed, .digestKeys, .logLevel, .json,
        ],
        findings: "there are differences",
        examples: [
            Example(
                "Compare a source with the migrated file",
                "patchbay migrate verify --from salesforce.contacts --to altcraft.profiles --settings migration.json --in contacts.csv --target profiles.ndjson"
            ),
            Example(
                "Compare a sample with what a server API holds",
                "patchbay migrate verify --from salesforce.contacts --to altcraft-server --config server.json --in contacts.csv --target results.ndjson --sample 100"
            ),
        ]
    ) { session in
        try await MigrationCheck(session).run()
    }
}

/// One run of `migrate verify`.
@MainActor private final class MigrationCheck {
    private let session: Session
    private let setup: MigrationSetup
    private var shown = 0

    init(_ session: Session) throws {
        (self.session, setup) = (session, try MigrationSetup(session))
        try session.requireDistinctFiles(setup)
        let invocation = session.invocation
        guard invocation.file(.input) != nil || invocation.text(.target) != "-" else {
            throw session.notAFile("--in", because: ": --target reads standard input")
        }
        guard setup.server == nil || invocation.text(.target) != "-" else { throw session.notAFile("--target") }
    }

    func run() async throws -> ExitStatus {
        do {
            let verification = try await verify()
            if session.interruption.signalNumber == nil { return try end(verification) }
        } catch is CancellationError {}
        session.console.say("Interrupted. The comparison is incomplete.")
        return .findings
    }

    private func verify() async throws -> Verification {
        let invocation = session.invocation
        let target = invocation.text(.target)
        let seed = UInt64(invocation.number(.seed) ?? 1)
        let extent = invocation.number(.sample).map { Verification.Extent.sample($0, seed: seed) } ?? .full
        if let server = setup.server {
            let check = try ServerVerification(
                setup.migration,
                with: server,
                input: invocation.file(.input),
                results: target
            )
            return try await check.run(
                try session.surroundings(size: nil),
                extent: extent,
                showsKeys: invocation.has(.digestKeys),
                difference: tell
            )
        }
        guard let target else {
            throw UsageError("Option --target FILE is missing (the migrated file).", command: invocation.command.name)
        }
        var progress = ProgressLine(session.console, total: nil)
        let phases = PhaseLog(try session.log())
        defer { phases.end() }
        let sizes = (
            source: invocation.file(.input).flatMap(ResumableMigration.size),
            target: ResumableMigration.size(of: target)
        )
        return try setup.migration.verify(
            { try session.source(invocation.text(.input)) },
            against: { try session.source(target) },
            extent: extent,
            showsKeys: invocation.has(.digestKeys),
            progress: { part, done in
                phases.note(part.phase, records: done.records, bytes: done.bytes)
                let total = part == .target ? sizes.target : sizes.source
                let shown: ProgressLine.Part = done.isSecondPass ? .secondPass(of: total) : .verifying(part, of: total)
                progress.show(
                    records: done.records,
                    bytes: done.bytes,
                    of: done.hearing.map(ProgressLine.Part.hearing) ?? shown
                )
            },
            isCancelled: { self.session.interruption.signalNumber != nil },
            difference: tell
        )
    }

    private func tell(_ difference: Verification.Difference) throws {
        // Standard input that Ctrl-C interrupted is not a complete source.
        guard session.interruption.signalNumber == nil else { throw CancellationError() }
        shown += 1
        if session.isJSON { return try session.console.data(difference.json) }
        guard shown <= 20 else { return }
        let (source, target) = difference.records
        if difference.kind == .unreadable {
            let reasons = difference.findings.map(\.sentence).joined(separator: "; ")
            return try session.console.data(
                "unreadable target record \(target), line \(difference.line): \(reasons)"
            )
        }
        let what = [difference.kind.rawValue, difference.field].filter { !$0.isEmpty }.joined(separator: " ")
        let places = [("source", source), ("target", target)].filter { $0.1 > 0 }.map { ", \($0.0) record \($0.1)" }
        try session.console.data("\(difference.contact): \(what)\(places.joined())")
    }

    private func end(_ verification: Verification) throws -> ExitStatus {
        if session.isJSON {
            try session.console.data(verification.json)
        } else {
            let number = verification.unreadable
            let unreadable = number > 0 ? " (\(number) unreadable target records)" : ""
            if shown > 20 { try session.console.data("… and \(shown - 20) more; --json lists all") }
            session.console.say(
                "\(verification.compared) compared, \(verification.equal) equal, \(verification.count.counted("difference"))\(unreadable); \(verification.expected.rejected.counted("source record")) rejected by the migration, as expected.",
                .bold
            )
            let losses = verification.expected.findings.values.filter { $0.severity == .warning }
            let count = losses.reduce(0) { $0 + $1.count }
            if count > 0 {
                session.console.say(
                    "Equal means that the target holds what the migration writes. What `patchbay migrate plan` lists as lost or changed (\(count.counted("warning"))) is no difference."
                )
            }
        }
        return verification.count > 0 ? .findings : .fine
    }
}

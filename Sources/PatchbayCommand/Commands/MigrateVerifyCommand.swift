import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateVerify = Command(
        "migrate verify",
        "compares a source with what the target holds, contact by contact",
        details: """
            The target is the file that was made of the source (--target), or what a vendor's server door shows: then --to names
            the door, --config a provider for it, and --target the file of verdicts that `migrate apply --out` wrote, so that
            what the vendor refused is not looked for. Through a door only what the source says is compared, and a sample asks
            for its contacts alone; a door that can't show what it holds is refused.
            Every source record is mapped anew, and what the target holds otherwise is told in neutral terms: which contact,
            which field, missing, extra, changed, absent or added. What the migration itself rejects or leaves out is
            expected and told apart. Contacts are named by a digest; --values names them by their keys. --sample N looks at
            N contacts of each stratum (said no to something, has a push token, arrived in part, arrived whole), the same
            ones for the same --seed. A record of the target that can't be read is told with its line and the reason. --in - is
            standard input, which is kept for a sample in a file without a name, and so is --target - of a file.
            """,
        required: [.from, .to, .input],
        optional: [
            .settings, .config, .provider, .companion, .after, .target, .sample, .seed, .values, .logLevel, .json,
        ],
        usesNetwork: \.leadsThroughDoor
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
            throw session.notAFile("--in", because: ": --target is standard input, and standard input comes once")
        }
        guard setup.door == nil || invocation.text(.target) != "-" else { throw session.notAFile("--target") }
    }

    func run() async throws -> ExitStatus {
        do {
            let verification = try await verify()
            if session.interruption.signalNumber == nil { return try end(verification) }
        } catch is CancellationError {}
        session.console.say("Stopped: this is no comparison.")
        return .findings
    }

    private func verify() async throws -> Verification {
        let invocation = session.invocation
        let target = invocation.text(.target)
        let seed = UInt64(invocation.number(.seed) ?? 1)
        let extent = invocation.number(.sample).map { Verification.Extent.sample($0, seed: seed) } ?? .full
        if let door = setup.door {
            let check = try DoorVerification(
                setup.migration,
                with: door,
                input: invocation.file(.input),
                kept: try kept(for: extent),
                results: target
            )
            return try await check.run(
                try session.surroundings(size: nil),
                extent: extent,
                showsKeys: invocation.has(.values),
                difference: tell
            )
        }
        guard let target else {
            throw UsageError("--target FILE is missing (\(Flag.target.summary)).", command: invocation.command.name)
        }
        let kept = try kept(for: extent)
        var progress = ProgressLine(session.console, total: nil)
        let phases = PhaseLog(try session.log())
        defer { phases.end() }
        let sizes = (
            source: try kept?.source().size ?? invocation.file(.input).flatMap(ResumableMigration.size),
            target: ResumableMigration.size(of: target)
        )
        return try setup.migration.verify(
            {
                guard let kept else { return try session.source(invocation.text(.input)) }
                return PatientSource(try kept.source(), waiting: nil)
            },
            against: { try session.source(target) },
            extent: extent,
            showsKeys: invocation.has(.values),
            progress: { part, done in
                phases.note(part.phase, records: done.records, bytes: done.bytes)
                let total = part == .target ? sizes.target : sizes.source
                let shown = done.hearing.map(ProgressLine.Part.hearing) ?? .verifying(part, of: total)
                progress.show(records: done.records, bytes: done.bytes, of: shown)
            },
            isCancelled: { self.session.interruption.signalNumber != nil },
            difference: tell
        )
    }

    /// Standard input, where it is the source and a sample of it is taken, which reads it twice.
    private func kept(for extent: Verification.Extent) throws -> KeptBytes? {
        guard case .sample = extent, session.invocation.file(.input) == nil else { return nil }
        var input = try session.source(nil)
        let kept = try KeptBytes(&input)
        guard session.interruption.signalNumber == nil else { throw CancellationError() }
        return kept
    }

    private func tell(_ difference: Verification.Difference) throws {
        // What was read of standard input until Ctrl-C is no source.
        guard session.interruption.signalNumber == nil else { throw CancellationError() }
        shown += 1
        if session.isJSON { return try session.console.data(difference.json) }
        guard shown <= 20 else { return }
        let (source, target) = difference.records
        if difference.kind == .unreadable {
            let reasons = difference.findings.map(\.description).joined(separator: "; ")
            return try session.console.data(
                "unreadable target record \(target), line \(difference.line): \(reasons)"
            )
        }
        let what = [difference.kind.rawValue, difference.field].filter { !$0.isEmpty }.joined(separator: " ")
        let places = [("source", source), ("target", target)].filter { $0.1 > 0 }.map { ", \($0.0) record \($0.1)" }
        try session.console.data("\(what) of \(difference.contact)\(places.joined())")
    }

    private func end(_ verification: Verification) throws -> ExitStatus {
        if session.isJSON {
            try session.console.data(verification.json)
        } else {
            let number = verification.unreadable
            let unreadable = number > 0 ? ", \(number) of them target records that can't be read" : ""
            if shown > 20 { try session.console.data("… and \(shown - 20) more; --json tells all") }
            session.console.say(
                "\(verification.compared) compared, \(verification.equal) equal, \(verification.count) differences\(unreadable); \(verification.expected.rejected) of the source are rejected by the migration itself.",
                .bold
            )
        }
        return verification.count > 0 ? .findings : .fine
    }
}

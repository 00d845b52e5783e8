import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migrateVerify = Command(
        "migrate verify",
        "compares a source with the file that was made of it, contact by contact",
        details: """
            Every source record is mapped anew, and what the target holds otherwise is told in neutral terms: which contact,
            which field, missing, extra, changed, absent or added. What the migration itself rejects or leaves out is
            expected and told apart. Contacts are named by a digest; --values names them by their keys. --sample N looks at
            N contacts of each stratum (said no to something, has a push token, arrived in part, arrived whole), the same
            ones for the same --seed.
            """,
        required: [.from, .to, .input, .target],
        optional: [.settings, .config, .provider, .sample, .seed, .values, .json]
    ) { session in
        let setup = try MigrationSetup(session)
        let invocation = session.invocation
        let (input, target) = (invocation.text(.input) ?? "", invocation.text(.target) ?? "")
        let seed = UInt64(invocation.number(.seed) ?? 1)
        var shown = 0
        let verification = try setup.migration.verify(
            { try FileSource(path: input) },
            against: { try FileSource(path: target) },
            extent: invocation.number(.sample).map { .sample($0, seed: seed) } ?? .full,
            showsKeys: invocation.has(.values)
        ) { difference in
            shown += 1
            if session.isJSON {
                try session.console.data(difference.json)
            } else if shown <= 20 {
                let records = difference.records
                try session.console.data(
                    "\(difference.kind.rawValue) \(difference.field) of \(difference.contact), source record \(records.source), target record \(records.target)"
                )
            }
        }
        if session.isJSON {
            try session.console.data(verification.json)
        } else {
            if shown > 20 { try session.console.data("… and \(shown - 20) more; --json tells all") }
            session.console.say(
                "\(verification.compared) compared, \(verification.equal) equal, \(verification.count) differences; \(verification.expected.rejected) of the source are rejected by the migration itself.",
                .bold
            )
        }
        return verification.count > 0 ? .findings : .fine
    }
}

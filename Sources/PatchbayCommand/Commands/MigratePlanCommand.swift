import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayRecords

extension Command {
    static let migratePlan = Command(
        "migrate plan",
        "Report what a migration would lose and change",
        task: .migrate,
        details: """
            Reads the source once, in constant memory, and writes no contacts. Reports losses, colliding keys, consent, push
            tokens, the effect of each mapping rule, and the work for the target. Counts are exact.

            With a server API as target, also reports the requests, their duration at the permitted rate, and whether the
            migration can be undone.
            """,
        required: [.from, .to],
        optional: [
            .input, .settings, .config, .provider, .sidecar, .after, .activity, .rate, .html, .json,
        ],
        findings: "something would be lost or rejected",
        examples: [
            Example(
                "Plan a migration and write a page to read",
                "patchbay migrate plan --from salesforce.contacts --to altcraft.profiles --settings migration.json --in contacts.csv --html plan.html"
            ),
            Example(
                "Plan a migration to a server API",
                "patchbay migrate plan --from salesforce.contacts --to altcraft-server --config server.json --in contacts.csv"
            ),
        ]
    ) { session in
        try MigrationPlanRun(session).run()
    }
}

/// One run of `migrate plan`.
@MainActor private struct MigrationPlanRun {
    private let session: Session
    private let setup: MigrationSetup

    init(_ session: Session) throws {
        (self.session, setup) = (session, try MigrationSetup(session))
        try session.requireDistinctFiles(setup)
    }

    func run() throws -> ExitStatus {
        let invocation = session.invocation
        var input = try session.source(invocation.text(.input), chunk: FileSource.planChunk)
        var progress = ProgressLine(session.console, total: input.textSize)
        let today = Timestamp(try session.host().date()).date
        var plan = try setup.migration.plan(
            &input,
            loads: setup.loads,
            server: setup.server,
            requestsPerSecond: invocation.number(.rate),
            activity: invocation.text(.activity).map { (AttributeName(rawValue: $0), today) },
            progress: { done in progress.show(records: done.records, bytes: done.bytes) },
            isCancelled: { session.interruption.signalNumber != nil }
        )
        if plan.report.isComplete { plan.contradictions = try contradictions(plan, size: input.size) }
        guard plan.report.isComplete, session.interruption.signalNumber == nil else {
            session.console.say(
                "Interrupted after \(plan.report.read.counted("record")). No plan was written. Repeat the command to start over."
            )
            return .findings
        }
        plan.unnamedConsent =
            input.rereadablePath.map(setup.migration.unnamedConsent(in:))
            ?? setup.migration.unnamedConsent(inHead: input.head)
        if let path = invocation.text(.html) {
            let page = try OutputFile(path: path, isPrivate: false)
            try page.write(
                Array(
                    plan.page(
                        of: invocation.file(.input).map { String($0.split(separator: "/").last ?? "") },
                        facts: try facts()
                    )
                    .utf8
                )
            )
            try page.commit()
            session.console.say("Wrote \(path).")
        }
        if session.isJSON { try session.console.data(plan.json) } else { try tell(plan) }
        return plan.losses.contains { $0.severity.matters } || !plan.unnamedConsent.isEmpty ? .findings : .fine
    }

    /// The facts that the page shows beside its counts: the date, the version, the settings and the files.
    private func facts() throws -> [(name: String, value: String)] {
        let invocation = session.invocation
        var facts = [
            ("date", Timestamp(try session.host().date()).text), ("version", Sender.version),
            ("formats", "\(setup.source.id) to \(setup.target.id)"),
        ]
        for flag in [Flag.input, .after, .settings] {
            guard let path = invocation.file(flag) else { continue }
            let file = try FileFingerprint(of: path)
            facts.append(
                (
                    "--\(flag.name)",
                    "\(path.split(separator: "/").last ?? ""), \(file.size) bytes, SHA-256 \(file.digest)"
                )
            )
        }
        if let settings = setup.parts.first(where: { $0.0 == "settings" })?.1 {
            facts.append(("settings", settings.text))
        }
        return facts
    }

    /// The lines that contradict each other; nil if the source can be read only once, or is too large to be read again.
    private func contradictions(_ plan: MigrationPlan, size: Int?) throws -> [MigrationPlan.Contradiction]? {
        guard plan.keys.contains(where: { $0.torn > 0 }), let size, size <= Migration.mostBytesForLines,
            let path = session.invocation.file(.input)
        else { return nil }
        var input = try session.source(path)
        return try setup.migration.lines(
            of: plan,
            in: &input,
            isCancelled: { session.interruption.signalNumber != nil }
        )
    }

    // MARK: The table

    private func tell(_ plan: MigrationPlan) throws {
        let report = plan.report
        try head("\(plan.from.id) to \(plan.to.id)")
        try rows([
            ["contacts", "\(report.read)", ""], ["would be written", "\(report.written)", ""],
            ["of them with findings", "\(report.writtenWithFindings)", ""],
            ["would be rejected", "\(report.rejected)", ""],
            [
                "billed contacts", plan.billed.map(String.init) ?? "-",
                plan.billed.map { _ in "different keys of the kind \(plan.billedKind ?? "")" }
                    ?? (plan.billedKind == nil
                        ? "unknown: the format has no key"
                        : "unknown: a contact has several keys, or a mapping rule changes the key"),
            ],
        ])
        for line in report.refusalLines { try session.console.data("  \(line)") }
        try head("Losses and notes")
        try rows(
            plan.losses.map { ["\($0.count)", $0.severity.rawValue, $0.code, $0.sentence] },
            under: ["count", "severity", "code", "reason"]
        )
        if !plan.unnamedConsent.isEmpty {
            try head("Columns that may hold consent: apply refuses the source until the settings name each")
            for finding in plan.unnamedConsent {
                try session.console.data("  \(finding.path): \(finding.reason) \(finding.remedy)")
            }
        }
        if !plan.mapping.isEmpty { try tell(plan.mapping) }
        try head("Attributes")
        try rows(
            plan.attributes.map { [$0.name, "\($0.count)", $0.fate, $0.field ?? "-"] },
            under: ["attribute", "contacts", "result", "target field"]
        )
        try head("Keys")
        try rows(
            plan.keys.map { key in
                [key.kind] + [key.total, key.distinct, key.caseVariants, key.torn, key.tornTopics].map { "\($0)" }
            },
            under: ["kind", "total", "distinct", "case variants", "contradictory", "contradictory by topic"]
        )
        for each in plan.contradictions ?? [] {
            let lines = each.lines.map { "\($0)" }.joined(separator: ", ")
            try session.console.data("  lines \(lines): the same \(each.kind) opts in and out")
        }
        try head("Consent before and after")
        try session.console.data("  \(plan.undecided) of \(plan.report.read) contacts have no known consent.")
        try rows(
            plan.decisions.map { [$0.about, $0.before, $0.after, "\($0.count)"] },
            under: ["about", "in the source", "at the target", "contacts"]
        )
        try head("Subscriptions")
        try rows(
            plan.subscriptions.map { $0.what + ["\($0.count)"] },
            under: ["channel", "scope", "state", "contacts"]
        )
        try head("Consents")
        try rows(
            plan.consents.map { $0.what + ["\($0.count)"] },
            under: ["purpose", "channel", "decision", "contacts"]
        )
        if plan.torn > 0 {
            try session.console.data(
                "  \(plan.torn.counted("contact")) with an opt-in and an opt-out of the same channel; the opt-out applies"
            )
        }
        if plan.tornTopics > 0 {
            try session.console.data(
                "  \(plan.tornTopics.counted("contact")) with an opt-in and an opt-out of the same topic; the opt-out applies"
            )
        }
        try head("Push tokens")
        try rows(
            plan.tokens.map { $0.what + ["\($0.count)"] },
            under: ["service", "build", "app", "form", "tokens"]
        )
        if !plan.ages.isEmpty {
            try rows(plan.ages.map { $0.what + ["\($0.count)"] }, under: ["last seen", "tokens"])
        }
        try head("What the source format can contain and the target would change or lose (\"-\": not in this source)")
        try rows(
            plan.parts.filter { $0.fate != "kept" }.map {
                [$0.name, $0.count.map { $0 > 0 ? "\($0)" : "-" } ?? "-", $0.fate, $0.finding?.reason ?? ""]
            },
            under: ["part", "count", "result", "reason"]
        )
        try head("Work for the target")
        try rows(
            plan.loads.map { load in
                [
                    load.route.name, "\(load.requests)", load.seconds.map { "\($0) s" } ?? "unknown", load.route.note,
                ]
            },
            under: ["API or import", "requests or files", "duration", "note"]
        )
        if let blankCells = plan.blankCells {
            try head("Blank cells")
            try session.console.data("  \(blankCells)")
        }
        if let formulas = plan.formulas {
            try head("Formulas")
            try session.console.data("  \(formulas)")
        }
        if let optOuts = plan.optOuts {
            try head("Opt-outs at the target")
            try session.console.data("  \(optOuts)")
        }
        try head("Undo")
        try session.console.data("  \(plan.undo)")
    }

    private func tell(_ mapping: [MigrationPlan.Rule]) throws {
        try head("Mapping rules")
        try rows(
            mapping.map { rule in
                let effect = rule.effect
                return [effect.applied, effect.replaced, effect.idle, effect.failed].map { "\($0)" } + [rule.text]
            },
            under: ["changed", "replaced a value", "no effect", "failed", "rule"]
        )
        for rule in mapping where rule.effect.isIdle {
            try session.console.data("  " + MigrationSetup.idleWarning(rule.text))
        }
    }

    private func head(_ text: String) throws { try session.console.data(text, .bold) }

    /// Prints rows in columns: numbers on the right, text on the left, and the last column unpadded if it holds text.
    private func rows(_ rows: [[String]], under heads: [String] = []) throws {
        guard let columns = rows.first?.indices else { return try session.console.data("  none") }
        let isNumeric = columns.map { column in rows.allSatisfy { Int($0[column]) != nil || $0[column] == "-" } }
        let all = heads.isEmpty ? rows : [heads] + rows
        let widths = columns.map { column in
            column == columns.last && !isNumeric[column] ? 0 : all.map { $0[column].count }.max() ?? 0
        }
        for row in all {
            let cells = columns.map { column in
                isNumeric[column]
                    ? row[column].rightAligned(to: widths[column]) : row[column].padded(to: widths[column])
            }
            let line = "  " + cells.joined(separator: "  ")
            try session.console.data(String(line.reversed().drop { $0 == " " }.reversed()))
        }
    }
}

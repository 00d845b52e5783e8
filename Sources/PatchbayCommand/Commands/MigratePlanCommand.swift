import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

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
        var progress = ProgressLine(session.console, total: input.size)
        let today = Timestamp(try session.host().date()).date
        var plan = try setup.migration.plan(
            &input,
            loads: setup.loads,
            door: setup.door,
            requestsPerSecond: invocation.number(.rate),
            activity: invocation.text(.activity).map { (AttributeName(rawValue: $0), today) },
            progress: { done in progress.show(records: done.records, bytes: done.bytes) },
            isCancelled: { session.interruption.signalNumber != nil }
        )
        guard plan.report.isComplete, session.interruption.signalNumber == nil else {
            session.console.say("Interrupted after \(plan.report.read.counted("record")). The plan is incomplete.")
            return .findings
        }
        plan.contradictions = try contradictions(plan, size: input.size)
        if let path = invocation.text(.html) {
            let page = try OutputFile(path: path, isPrivate: false)
            try page.write(
                Array(plan.page(of: invocation.file(.input).map { String($0.split(separator: "/").last ?? "") }).utf8)
            )
            try page.commit()
            session.console.say("Wrote \(path).")
        }
        if session.isJSON { try session.console.data(plan.json) } else { try tell(plan) }
        return plan.losses.contains { $0.severity.matters } ? .findings : .fine
    }

    /// The lines that contradict each other; nil where the source comes once, or is too large to be read again.
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
            ["contacts", "\(report.read)"], ["would be written", "\(report.written)"],
            ["with findings", "\(report.writtenWithFindings)"], ["would be rejected", "\(report.rejected)"],
            [
                "billed contacts",
                plan.billed.map { "\($0), counted by \(plan.billedKind ?? "") key" }
                    ?? (plan.billedKind == nil
                        ? "unknown: the format has no key"
                        : "unknown: the key of a contact is duplicate or made by a mapping rule"),
            ],
        ])
        for line in report.refusalLines { try session.console.data("  \(line)") }
        try head("Losses and notes")
        try rows(plan.losses.map { ["\($0.count)", $0.severity.rawValue, $0.code, $0.reason] })
        if !plan.mapping.isEmpty { try tell(plan.mapping) }
        try head("Attributes")
        try rows(plan.attributes.map { [$0.name, "\($0.count)", $0.fate, $0.field ?? "-"] })
        try head("Keys")
        try rows(
            [["kind", "total", "distinct", "differ only in case", "opt in and out", "of a topic"]]
                + plan.keys.map { key in
                    [key.kind] + [key.total, key.distinct, key.caseVariants, key.torn, key.tornTopics].map { "\($0)" }
                }
        )
        for each in plan.contradictions ?? [] {
            let lines = each.lines.map { "\($0)" }.joined(separator: ", ")
            try session.console.data("  lines \(lines): the same \(each.kind) opts in and out")
        }
        try head("Subscriptions and consents")
        try rows((plan.subscriptions + plan.consents).map { $0.what + ["\($0.count)"] })
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
        try rows((plan.tokens + plan.ages).map { $0.what + ["\($0.count)"] })
        try head("What the source format can hold, tried with the target")
        try rows(
            plan.parts.filter { $0.fate != "kept" }.map {
                [$0.name, $0.count.map { $0 > 0 ? "\($0)" : "-" } ?? "-", $0.fate, $0.finding?.reason ?? ""]
            }
        )
        try head("Work for the target")
        try rows(
            plan.loads.map { load in
                [
                    load.door.name, "\(load.requests) requests or files",
                    load.seconds.map { "\($0) s" } ?? "no documented rate", load.door.note,
                ]
            }
        )
        if let noes = plan.noes {
            try head("Opt-outs at the target")
            try session.console.data("  \(noes)")
        }
        try head("Undo")
        try session.console.data("  \(plan.undo)")
    }

    private func tell(_ mapping: [MigrationPlan.Rule]) throws {
        try head("Mapping rules")
        try rows(
            [["changed", "replaced a value", "no effect", "failed", "rule"]]
                + mapping.map { rule in
                    let effect = rule.effect
                    return [effect.applied, effect.replaced, effect.idle, effect.failed].map { "\($0)" } + [rule.text]
                }
        )
    }

    private func head(_ text: String) throws { try session.console.data(text, .bold) }

    private func rows(_ rows: [[String]]) throws {
        // Numbers are aligned on the right; the last cell of a row may have any length.
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                if column < row.count - 1 { widths[column] = max(widths[column], cell.count) }
            }
        }
        for row in rows {
            let cells = zip(row, widths).enumerated().map { column, cell in
                if column == row.count - 1 { return cell.0 }
                return Int(cell.0) == nil ? cell.0.padded(to: cell.1) : cell.0.rightAligned(to: cell.1)
            }
            try session.console.data("  " + cells.joined(separator: "  "))
        }
        if rows.isEmpty { try session.console.data("  none") }
    }
}

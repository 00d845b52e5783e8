import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel

extension Command {
    static let migratePlan = Command(
        "migrate plan",
        "tells what a migration would do: losses, collisions, consent, push tokens, work for the target",
        details: """
            One pass in constant memory; nothing is written. Counts are exact: what does not fit into memory goes to a
            temporary file as marks of 16 bytes, without any key. With a mapping in --settings it tells what each rule
            does. --html writes a page for people, --json the same for
            programs (Schemas/migration). --activity names the attribute that shows when a person was last seen, so that the
            age of push tokens can be told; --rate is what your contract allows, where the vendor documents no rate.
            With a vendor's server door as --to it tells the requests and the jobs, their time under the door's rate or the
            provider's, and whether there will be a way back.
            """,
        required: [.from, .to],
        optional: [.settings, .config, .provider, .companion, .after, .input, .html, .activity, .rate, .json]
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
            session.console.say("Stopped after \(plan.report.read) records: this is no plan.")
            return .findings
        }
        plan.contradictions = try contradictions(plan, size: input.size)
        if let path = invocation.text(.html) {
            let page = try OutputFile(path: path, isPrivate: false)
            try page.write(
                Array(plan.page(of: invocation.file(.input).map { String($0.split(separator: "/").last ?? "") }).utf8)
            )
            try page.commit()
            session.console.say("The page is \(path).")
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
                plan.billed.map { "\($0), by \(plan.billedKind ?? "")" }
                    ?? (plan.billedKind == nil
                        ? "unknown: the format names no key"
                        : "unknown: what finds a contact stands twice, or a mapping makes it"),
            ],
        ])
        for line in report.refusalLines { try session.console.data("  \(line)") }
        try head("what does not survive")
        try rows(plan.losses.map { ["\($0.count)", $0.severity.rawValue, $0.code, $0.reason] })
        if !plan.mapping.isEmpty { try tell(plan.mapping) }
        try head("attributes")
        try rows(plan.attributes.map { [$0.name, "\($0.count)", $0.fate, $0.field ?? "-"] })
        try head("keys")
        try rows(
            [["kind", "in all", "different", "only in case", "contradicting", "about a topic"]]
                + plan.keys.map { key in
                    [key.kind] + [key.total, key.distinct, key.caseVariants, key.torn, key.tornTopics].map { "\($0)" }
                }
        )
        for each in plan.contradictions ?? [] {
            let lines = each.lines.map { "\($0)" }.joined(separator: ", ")
            try session.console.data("  one \(each.kind) says yes and no on the lines \(lines)")
        }
        try head("subscriptions and consents")
        try rows((plan.subscriptions + plan.consents).map { $0.what + ["\($0.count)"] })
        if plan.torn > 0 {
            try session.console.data("  \(plan.torn) contacts say yes and no about one channel; the no counts")
        }
        if plan.tornTopics > 0 {
            try session.console.data("  \(plan.tornTopics) contacts say yes and no about one topic; the no counts")
        }
        try head("push tokens")
        try rows((plan.tokens + plan.ages).map { $0.what + ["\($0.count)"] })
        try head("what the source can hold, tried with the target's format")
        try rows(
            plan.parts.filter { $0.fate != "kept" }.map {
                [$0.name, $0.count.map { $0 > 0 ? "\($0)" : "-" } ?? "-", $0.fate, $0.finding?.reason ?? ""]
            }
        )
        try head("work for the target")
        try rows(
            plan.loads.map { load in
                [
                    load.door.name, "\(load.requests) requests or files",
                    load.seconds.map { "\($0) s" } ?? "no documented rate", load.door.note,
                ]
            }
        )
        if let noes = plan.noes {
            try head("a no at the target")
            try session.console.data("  \(noes)")
        }
        try head("the way back")
        try session.console.data("  \(plan.undo)")
    }

    private func tell(_ mapping: [MigrationPlan.Rule]) throws {
        try head("what the mapping changes")
        try rows(
            [["changed", "over a value", "nothing to do", "could not", "rule"]]
                + mapping.map { rule in
                    let effect = rule.effect
                    return [effect.applied, effect.replaced, effect.idle, effect.failed].map { "\($0)" } + [rule.text]
                }
        )
    }

    private func head(_ text: String) throws { try session.console.data(text, .bold) }

    private func rows(_ rows: [[String]]) throws {
        // The last cell of a row may be as long as it likes.
        var widths: [Int] = []
        for row in rows {
            for (column, cell) in row.enumerated() {
                if column == widths.count { widths.append(0) }
                if column < row.count - 1 { widths[column] = max(widths[column], cell.count) }
            }
        }
        for row in rows {
            let cells = zip(row, widths).enumerated().map { column, cell in
                column == row.count - 1 ? cell.0 : cell.0.padded(to: cell.1)
            }
            try session.console.data("  " + cells.joined(separator: "  "))
        }
        if rows.isEmpty { try session.console.data("  none") }
    }
}

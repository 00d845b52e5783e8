import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

extension MigrationPlan {
    /// Returns the plan as one HTML page for people, which contains no script, loads nothing, and supports light and dark
    /// mode.
    ///
    /// Each figure is in an element with the attributes `data-figure`, its path in ``json``, and `data-value`.
    /// - Parameters:
    ///   - input: The name of the source, as it was given.
    ///   - facts: Facts that the page lists in addition to its counts: date, version, settings, and files with sizes and
    ///     digests.
    /// - Returns: The page as HTML.
    public func page(of input: String?, facts: [(name: String, value: String)] = []) -> String {
        PlanPage(self, input, facts).html
    }
}

/// Writes the page, section by section.
private struct PlanPage {
    private let plan: MigrationPlan
    private let input: String?

    private let facts: [(name: String, value: String)]

    init(_ plan: MigrationPlan, _ input: String?, _ facts: [(name: String, value: String)]) {
        (self.plan, self.input, self.facts) = (plan, input, facts)
    }

    private var report: MigrationReport { plan.report }
    private var whole: Int { report.written - report.writtenWithFindings }

    var html: String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
        <link rel="icon" href="data:,">
        <title>Migration plan: \(Self.name(plan.from.title)) to \(Self.name(plan.to.title))</title>
        <style>\(Page.style)</style>
        </head>
        <body>
        <header>
        <p class="kicker">Migration plan\(input.map { " · \(Page.text($0))" } ?? "")</p>
        <h1>\(headline)</h1>
        <p class="route"><span>\(Self.name(plan.from.title))</span> <b aria-label="to">→</b> <span>\(Self.name(plan.to.title))</span></p>
        </header>
        <main>
        \([fate, losses, mapping, attributes, keys, consent, tokens, parts, work, way, made].joined(separator: "\n"))
        </main>
        <footer>No contacts have been written. The counts are exact for the file as it was read.</footer>
        </body>
        </html>

        """
    }

    /// Returns the everyday name of a format: its title without the parts that only programs need.
    private static func name(_ title: String) -> String {
        let name = title.prefix { !"(:,".contains($0) }
        return Page.text(String(name).trimmed)
    }

    // MARK: Summary

    private var headline: String {
        guard report.read > 0 else { return "The source holds no contact." }
        if report.rejected == 0 {
            return whole == report.read
                ? "All \(Page.number(report.read)) contacts can be migrated completely."
                : "All \(Page.number(report.read)) contacts can be migrated, \(Page.number(report.writtenWithFindings)) of them with losses, changes or notes."
        }
        return
            "\(Page.number(report.written)) of \(Page.number(report.read)) contacts can be migrated; \(Page.number(report.rejected)) would be rejected."
    }

    private var fate: String {
        let segments = [
            Page.Segment("migrated completely", whole, "kept"),
            Page.Segment("migrated with losses, changes or notes", report.writtenWithFindings, "changed"),
            Page.Segment("rejected, each with its reason", report.rejected, "refused"),
        ]
        let tiles = [
            Page.tile("contacts in the source", report.read, "report.read"),
            Page.tile("would be migrated", report.written, "report.written"),
            Page.tile("would be rejected", report.rejected, "report.rejected"),
            plan.billed.map {
                Page.tile(
                    "different \(Page.kinds(plan.billedKind ?? "")), which the target counts and bills",
                    $0,
                    "billing.contacts"
                )
            } ?? "",
        ]
        let reasons = Dictionary(plan.losses.map { ($0.code, $0.reason) }) { first, _ in first }
        let why = report.refusalsInOrder.enumerated().map { place, entry in
            let setting = entry.refusal.setting.map { " The setting <code>\(Page.text($0))</code> can change this." }
            // The first reason is always shown. The others are shown only if a setting can change them, because the losses
            // list them all.
            guard place == 0 || setting != nil else { return "" }
            let records = report.share(entry.refusal.contacts) + (place == 0 ? "" : " also")
            return "<p>\(records): \(Page.text(reasons[entry.code] ?? entry.code))\(setting ?? "")</p>"
        }
        .joined()
        return Page.section(
            "What happens to the contacts",
            "<div class=\"tiles\">\(tiles.joined())</div>\(Page.stack(segments, of: report.read, label: "Fate of all contacts"))\(why)"
        )
    }

    // MARK: Losses

    private var losses: String {
        guard !plan.losses.isEmpty else {
            return Page.section("Losses and changes", "<p>No loss or change was found.</p>")
        }
        let rows = plan.losses.enumerated().map { place, loss in
            """
            <li><div class="row"><span class="chip \(Page.colour(loss.severity))">\(Page.word(loss.severity))</span>\
            <strong>\(Page.figure(loss.count, "losses.\(place).count")) ×</strong>\
            <span class="what">\(Page.text(loss.reason))</span></div>\
            \(Page.bar(loss.count, of: max(1, report.read), Page.colour(loss.severity), "\(loss.count) times"))\
            \(concerns(loss))<p class="help">\(Page.prose(loss.remedy)) <code>\(Page.text(loss.code))</code></p></li>
            """
        }
        return Page.section(
            "Losses and changes",
            "<ol class=\"losses\">\(rows.joined())</ol>",
            "A contact can have several of these. Correct rejected contacts and migrate them again."
        )
    }

    /// Returns the columns or parts that a loss may concern.
    private func concerns(_ loss: MigrationPlan.Loss) -> String {
        let parts =
            loss.places.isEmpty
            ? plan.concerns(loss.code).map { "\(Page.text($0.name)) (\(Page.number($0.count ?? 0)))" }
            : [Page.text(loss.placesText)]
        return parts.isEmpty ? "" : "<p class=\"help about\">About: \(parts.joined(separator: "; "))</p>"
    }

    // MARK: Mapping

    private var mapping: String {
        guard !plan.mapping.isEmpty else { return "" }
        let rows = plan.mapping.enumerated().map { place, rule in
            let counts = [
                ("applied", rule.effect.applied), ("replaced", rule.effect.replaced), ("idle", rule.effect.idle),
                ("failed", rule.effect.failed),
            ]
            let cells = counts.map { name, count in
                let isBad = name == "failed" && count > 0
                let figure = Page.figure(count, "mapping.\(place).\(name)")
                return "<td class=\"n\">\(isBad ? "<span class=\"chip refused\">\(figure)</span>" : figure)</td>"
            }
            return "<tr><th scope=\"row\">\(Page.text(rule.text))</th>\(cells.joined())</tr>"
        }
        let heads = ["changed", "of them replaced another value", "no effect", "failed"].map {
            "<th scope=\"col\" class=\"n\">\($0)</th>"
        }
        return Page.section(
            "Effects of the mapping rules",
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">rule</th>\(heads.joined())</tr></thead><tbody>\(rows.joined())</tbody></table></div>",
            "Rules apply in order, each to the result of the one before. A rule that never has an effect may name a field that your data does not have."
        )
    }

    // MARK: Attributes

    private var attributes: String {
        guard !plan.attributes.isEmpty else { return "" }
        let rows = plan.attributes.enumerated().map { place, each in
            let types = each.types.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.key.rawValue).joined(
                separator: ", "
            )
            let findingCount = each.findings.values.reduce(0, +)
            let left = each.lost > 0 && each.lost < each.count ? ", \(Page.number(each.lost)) times left out" : ""
            let note =
                findingCount > 0 ? "<br><small>\(Page.number(findingCount)) times with a finding\(left)</small>" : ""
            return """
                <tr><th scope="row">\(Page.text(each.name))<br><small>\(types)</small></th>\
                <td class="bar">\(Page.bar(each.count, of: max(1, report.read), Page.colour(fate: each.fate), "\(Page.share(each.count, of: report.read)) of the contacts"))\
                <small>\(Page.figure(each.count, "attributes.\(place).count")) · \(Page.share(each.count, of: report.read))</small></td>\
                <td>\(each.field.map { "<code>\(Page.text($0))</code>" } ?? "none")</td>\
                <td><span class="chip \(Page.colour(fate: each.fate))">\(each.fate)</span>\(note)</td></tr>
                """
        }
        return Page.section(
            "Attributes",
            """
            <div class="scroll"><table class="people"><thead><tr><th scope="col">attribute</th><th scope="col">contacts with a value</th>\
            <th scope="col">target field</th><th scope="col">result</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>
            """,
            "Renamed: the target field has another name. Changed: some values are converted or left out. Lost: no value is migrated."
        )
    }

    // MARK: Keys

    private var keys: String {
        let identifiers = plan.keys.enumerated().filter { $0.element.kind != Survey.tokenKey }
        guard !identifiers.isEmpty else { return "" }
        let rows = identifiers.map { place, each in
            let segments = [
                Page.Segment("different", each.distinct - each.caseVariants, "kept"),
                Page.Segment("differ only in upper and lower case", each.caseVariants, "changed"),
                Page.Segment("repeated", each.repeats, "lost"),
            ]
            let torn = Page.contradiction(
                each.torn,
                "keys.\(place).contradictions",
                "of them occur in several records that contradict each other: one opts in, another opts out.",
                isHelp: true
            )
            let topics = Page.contradiction(
                each.tornTopics,
                "keys.\(place).topicContradictions",
                "times, several records with the same key opt in and opt out of the same topic.",
                isHelp: true
            )
            return """
                <h3>\(Page.kind(each.kind)) <small>\(Page.figure(each.total, "keys.\(place).total")) in total, \
                \(Page.figure(each.distinct, "keys.\(place).distinct")) different</small></h3>\
                \(Page.stack(segments, of: each.total, label: "Keys of the kind \(each.kind)"))\(torn)\(topics)
                """
        }
        let billed =
            plan.billed.map {
                "<p>The target identifies a contact by its <strong>\(Page.kind(plan.billedKind ?? ""))</strong>: \(Page.figure($0, "billing.contacts")) different values.</p>"
            } ?? ""
        return Page.section(
            "Identifiers",
            billed + rows.joined(),
            "A repeated key means that one person has several records, or that several people share a key. The target may merge them into one contact."
        )
    }

    // MARK: Consent

    private var consent: String {
        let channels = Dictionary(grouping: plan.subscriptions.enumerated(), by: { $0.element.what[0] })
        let rows = channels.inOrder.map { channel, counts in
            let total = counts.reduce(0) { $0 + $1.element.count }
            let segments = [
                ("subscribed", "kept"), ("suspended", "changed"), ("unknown", "quiet"), ("unsubscribed", "lost"),
            ]
            .map { state, colour in
                Page.Segment(
                    state,
                    counts.filter { $0.element.what[2] == state }.reduce(0) { $0 + $1.element.count },
                    colour
                )
            }
            return
                "<h3>\(Page.text(channel)) <small>\(Page.number(total)) subscriptions</small></h3>\(Page.stack(segments, of: total, label: "Subscriptions on \(channel)"))"
        }
        let consents = plan.consents.enumerated().map { place, each in
            "<tr><th scope=\"row\">\(Page.text(each.what[0]))</th><td>\(Page.text(each.what[1]))</td><td>\(Page.text(each.what[2]))</td><td class=\"n\">\(Page.figure(each.count, "consents.\(place).count"))</td></tr>"
        }
        let table =
            consents.isEmpty
            ? ""
            : "<h3>Consents</h3><div class=\"scroll\"><table><thead><tr><th scope=\"col\">purpose</th><th scope=\"col\">channel</th><th scope=\"col\">decision</th><th scope=\"col\" class=\"n\">contacts</th></tr></thead><tbody>\(consents.joined())</tbody></table></div>"
        let torn = Page.contradiction(
            plan.torn,
            "contradictions",
            "contacts have an opt-in and an opt-out of the same channel. The opt-out applies."
        )
        let topics = Page.contradiction(
            plan.tornTopics,
            "topicContradictions",
            "contacts have an opt-in and an opt-out of the same topic. The opt-out applies."
        )
        let nothing =
            rows.isEmpty && consents.isEmpty ? "<p>The source has no subscriptions and no consents.</p>" : ""
        return Page.section(
            "Subscriptions and consents",
            decisions + rows.joined() + table + torn + topics + nothing,
            "The migration never turns an opt-out or an unknown decision into an opt-in. <code>--evidence</code> records each consent value before and after."
        )
    }

    /// The states of each decision before and after, in one table.
    private var decisions: String {
        let undecided =
            "<p><strong>\(Page.figure(plan.undecided, "withoutKnownConsent")) of \(Page.number(report.read)) contacts have no known consent.</strong></p>"
        guard !plan.decisions.isEmpty else { return undecided }
        let rows = plan.decisions.enumerated().map { place, each in
            "<tr><th scope=\"row\">\(Page.text(each.about))</th><td>\(Page.text(each.before))</td><td>\(Page.text(each.after))</td><td class=\"n\">\(Page.figure(each.count, "decisions.\(place).count"))</td></tr>"
        }
        return undecided
            + "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">about</th><th scope=\"col\">in the source</th><th scope=\"col\">at the target</th><th scope=\"col\" class=\"n\">contacts</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>"
    }

    /// The facts about how the page was made.
    private var made: String {
        guard !facts.isEmpty else { return "" }
        let rows = facts.map {
            "<tr><th scope=\"row\">\(Page.text($0.name))</th><td><code>\(Page.text($0.value))</code></td></tr>"
        }
        return Page.section(
            "How this plan was made",
            "<div class=\"scroll\"><table><tbody>\(rows.joined())</tbody></table></div>"
        )
    }

    // MARK: Push tokens

    private var tokens: String {
        guard let place = plan.keys.firstIndex(where: { $0.kind == Survey.tokenKey }) else { return "" }
        let keys = plan.keys[place]
        let bad = plan.tokens.filter { $0.what[3] == "bad" }.reduce(0) { $0 + $1.count }
        let apps = Set(plan.tokens.map { $0.what[2] }).count
        let rows = plan.tokens.enumerated().map { place, each in
            "<tr><th scope=\"row\">\(Page.text(each.what[0]))</th><td>\(Page.text(each.what[1]))</td><td>\(Page.text(each.what[2]))</td><td>\(each.what[3] == "bad" ? "<span class=\"chip refused\">not a token</span>" : "good")</td><td class=\"n\">\(Page.figure(each.count, "tokens.\(place).count"))</td></tr>"
        }
        let ages = [
            ("fresh", "seen in the last 90 days", "kept"), ("quarter", "seen 91 to 270 days ago", "changed"),
            ("stale", "not seen for 270 days, probably invalid", "lost"), ("unknown", "unknown", "quiet"),
        ]
        .map { age, label, colour in
            Page.Segment(label, plan.ages.filter { $0.what[0] == age }.reduce(0) { $0 + $1.count }, colour)
        }
        let aged =
            plan.ages.isEmpty
            ? "<p class=\"help\">Their age is unknown. Use <code>--activity</code> to name the attribute with the time a person was last seen.</p>"
            : Page.stack(ages, of: keys.total, label: "Age of push tokens")
        return Page.section(
            "Push tokens",
            """
            <p>\(Page.figure(keys.total, "keys.\(place).total")) tokens, \(Page.figure(keys.distinct, "keys.\(place).distinct")) different\
            \(bad > 0 ? ", \(Page.number(bad)) that are not valid" : "")\(apps > 1 ? ", of \(apps) apps" : "").</p>\(aged)\
            <div class="scroll"><table><thead><tr><th scope="col">service</th><th scope="col">build</th><th scope="col">app</th><th scope="col">form</th><th scope="col" class="n">tokens</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>
            """,
            "A token works for only one app and one kind of build. A token in two records will eventually reach the wrong person."
        )
    }

    // MARK: Parts of the format

    private var parts: String {
        let fates = ["kept", "changed", "lost", "refused"]
        let groups = fates.compactMap { fate -> String? in
            let rows = plan.parts.filter { $0.fate == fate }
            guard !rows.isEmpty else { return nil }
            let items = rows.map { part in
                let reason =
                    part.finding.map { "<br><small>\(Page.text($0.summary ?? $0.reason))</small>" } ?? ""
                let count = part.count ?? 0
                let number = count > 0 ? " <b>\(Page.number(count))</b>" : ""
                return "<li\(count > 0 ? "" : " class=\"absent\"")>\(Page.text(part.name))\(number)\(reason)</li>"
            }
            let title =
                [
                    "kept": "migrated", "changed": "migrated, changed", "lost": "lost",
                    "refused": "rejected",
                ][fate] ?? fate
            return
                "<div class=\"card\"><h3><span class=\"chip \(Page.colour(fate: fate))\">\(title)</span> <small>\(rows.count)</small></h3><ul>\(items.joined())</ul></div>"
        }
        return Page.section(
            "What the source format can contain and the target can store",
            "<details><summary>\(plan.parts.count) parts that the source format can contain, each tried with a sample</summary><div class=\"cards\">\(groups.joined())</div></details>",
            "This list comes from writing a sample of each part with these settings; it does not depend on your data. A number shows how often your data contains the part. Samples of tags, topics, consents and other identifiers use the names in your data. The sample attribute has a name without a field of its own; attributes that have one are not counted here."
        )
    }

    // MARK: Work and undo

    private var work: String {
        guard !plan.loads.isEmpty else { return "" }
        let rows = plan.loads.enumerated().map { place, load in
            let time = load.seconds.map { "\(Page.duration($0))" } ?? "no documented rate"
            return
                "<tr><th scope=\"row\">\(Page.text(load.route.name))<br><small>\(Page.text(load.route.note))</small></th><td class=\"n\">\(Page.figure(load.requests, "loads.\(place).requests"))</td><td>\(time)</td></tr>"
        }
        return Page.section(
            "Work for the target",
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">API or import</th><th scope=\"col\" class=\"n\">requests or files</th><th scope=\"col\">duration</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>"
        )
    }

    private var way: String {
        let optOuts = plan.optOuts.map { Page.section("Opt-outs at the target", "<p>\(Page.prose($0))</p>") } ?? ""
        let blanks = plan.blankCells.map { Page.section("Blank cells", "<p>\(Page.prose($0))</p>") } ?? ""
        let formulas = plan.formulas.map { Page.section("Formulas", "<p>\(Page.prose($0))</p>") } ?? ""
        return blanks + formulas + optOuts + Page.section("Undo", "<p>\(Page.prose(plan.undo))</p>")
    }
}

import PatchbayAdapterKit
import PatchbayModel

extension MigrationPlan {
    /// The plan as one page for people: no script, no request to anywhere, readable in light and in dark.
    ///
    /// Every figure stands in an element with `data-figure`, its path in ``json``, and `data-value`.
    /// - Parameter input: the name of the source, as it was given.
    /// - Returns: the page as HTML.
    public func page(of input: String?) -> String { PlanPage(self, input).html }
}

/// Writes the page, a section at a time.
private struct PlanPage {
    private let plan: MigrationPlan
    private let input: String?

    init(_ plan: MigrationPlan, _ input: String?) { (self.plan, self.input) = (plan, input) }

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
        \([fate, losses, mapping, attributes, keys, consent, tokens, parts, work, way].joined(separator: "\n"))
        </main>
        <footer>Nothing has been written yet. Counts are exact; they hold for the file as it was read.</footer>
        </body>
        </html>

        """
    }

    /// What a person calls a format: its title without what only programs must know.
    private static func name(_ title: String) -> String {
        let name = title.prefix { !"(:,".contains($0) }
        return Page.text(String(name).trimmed)
    }

    // MARK: The answer first

    private var headline: String {
        guard report.read > 0 else { return "The source holds no contact." }
        if report.rejected == 0 {
            return whole == report.read
                ? "All \(Page.number(report.read)) contacts arrive whole."
                : "All \(Page.number(report.read)) contacts arrive, \(Page.number(report.writtenWithFindings)) of them with something worth knowing."
        }
        return
            "\(Page.number(report.written)) of \(Page.number(report.read)) contacts arrive, \(Page.number(report.rejected)) stay behind."
    }

    private var fate: String {
        let segments = [
            Page.Segment("arrive whole", whole, "kept"),
            Page.Segment("arrive, with something lost or changed", report.writtenWithFindings, "changed"),
            Page.Segment("stay behind, each with its reason", report.rejected, "refused"),
        ]
        let tiles = [
            Page.tile("contacts in the source", report.read, "report.read"),
            Page.tile("would arrive", report.written, "report.written"),
            Page.tile("would stay behind", report.rejected, "report.rejected"),
            plan.billed.map {
                Page.tile(
                    "different \(Page.kinds(plan.billedKind ?? "")): what the target counts, and bills",
                    $0,
                    "billing.contacts"
                )
            } ?? "",
        ]
        let reasons = Dictionary(plan.losses.map { ($0.code, $0.reason) }) { first, _ in first }
        let why = report.refusalsInOrder.enumerated().map { place, entry in
            let setting = entry.refusal.setting.map { " The setting <code>\(Page.text($0))</code> decides it." }
            // Only of the first it is told, whatever decides it: the others stand below.
            guard place == 0 || setting != nil else { return "" }
            let number = "\(Page.number(entry.refusal.contacts)) of \(Page.number(report.rejected))"
            let verb = place == 0 ? "stay behind" : "have"
            return "<p>\(number) \(verb): \(Page.text(reasons[entry.code] ?? entry.code))\(setting ?? "")</p>"
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
            return Page.section("What does not survive", "<p>Nothing was found to be lost or changed.</p>")
        }
        let most = plan.losses.map(\.count).max() ?? 1
        let rows = plan.losses.enumerated().map { place, loss in
            """
            <li><div class="row"><span class="chip \(Page.colour(loss.severity))">\(Page.word(loss.severity))</span>\
            <strong>\(Page.figure(loss.count, "losses.\(place).count")) ×</strong>\
            <span class="what">\(Page.text(loss.reason))</span></div>\
            \(Page.bar(loss.count, of: most, Page.colour(loss.severity), "\(loss.count) times"))\
            \(concerns(loss))<p class="help">\(Page.prose(loss.remedy)) <code>\(Page.text(loss.code))</code></p></li>
            """
        }
        return Page.section(
            "What does not survive",
            "<ol class=\"losses\">\(rows.joined())</ol>",
            "A contact can have several of these. Contacts that stay behind can be mended and fed in again."
        )
    }

    /// What the finding may be about.
    private func concerns(_ loss: MigrationPlan.Loss) -> String {
        let parts = plan.concerns(loss.code).map { "\(Page.text($0.name)) (\(Page.number($0.count ?? 0)))" }
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
        let heads = ["changed", "of them over another value", "nothing to do", "could not"].map {
            "<th scope=\"col\" class=\"n\">\($0)</th>"
        }
        return Page.section(
            "What the mapping changes",
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">rule</th>\(heads.joined())</tr></thead><tbody>\(rows.joined())</tbody></table></div>",
            "Rules work one after the other, each on what the one before left. A rule that never changes anything may name a place that your data does not have."
        )
    }

    // MARK: Attributes

    private var attributes: String {
        guard !plan.attributes.isEmpty else { return "" }
        let rows = plan.attributes.enumerated().map { place, each in
            let types = each.types.sorted { $0.key.rawValue < $1.key.rawValue }.map(\.key.rawValue).joined(
                separator: ", "
            )
            let told = each.findings.values.reduce(0, +)
            let left = each.lost > 0 && each.lost < each.count ? ", \(Page.number(each.lost)) times left out" : ""
            let note = told > 0 ? "<br><small>\(Page.number(told)) times with a remark\(left)</small>" : ""
            return """
                <tr><th scope="row">\(Page.text(each.name))<br><small>\(types)</small></th>\
                <td class="bar">\(Page.bar(each.count, of: max(1, report.read), Page.colour(fate: each.fate), "\(Page.share(each.count, of: report.read)) of the contacts"))\
                <small>\(Page.figure(each.count, "attributes.\(place).count")) · \(Page.share(each.count, of: report.read))</small></td>\
                <td>\(each.field.map { "<code>\(Page.text($0))</code>" } ?? "no place")</td>\
                <td><span class="chip \(Page.colour(fate: each.fate))">\(each.fate)</span>\(note)</td></tr>
                """
        }
        return Page.section(
            "What is known about people",
            """
            <div class="scroll"><table class="people"><thead><tr><th scope="col">attribute</th><th scope="col">how many have it</th>\
            <th scope="col">field at the target</th><th scope="col">fate</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>
            """,
            "Renamed: it arrives under another name. Changed: some values arrive in another form, or not at all. Lost: none arrives."
        )
    }

    // MARK: Keys

    private var keys: String {
        let identifiers = plan.keys.enumerated().filter { $0.element.kind != Survey.tokenKey }
        guard !identifiers.isEmpty else { return "" }
        let rows = identifiers.map { place, each in
            let segments = [
                Page.Segment("different", each.distinct - each.caseVariants, "kept"),
                Page.Segment("differ in upper and lower case alone", each.caseVariants, "changed"),
                Page.Segment("stand again", each.repeats, "lost"),
            ]
            let torn = Page.contradiction(
                each.torn,
                "keys.\(place).contradictions",
                "of them stand in several records of which one says yes and another no to messages.",
                isHelp: true
            )
            let topics = Page.contradiction(
                each.tornTopics,
                "keys.\(place).topicContradictions",
                "times several records with the same one say yes and no about a topic.",
                isHelp: true
            )
            return """
                <h3>\(Page.kind(each.kind)) <small>\(Page.figure(each.total, "keys.\(place).total")) in all, \
                \(Page.figure(each.distinct, "keys.\(place).distinct")) different</small></h3>\
                \(Page.stack(segments, of: each.total, label: "Keys of the kind \(each.kind)"))\(torn)\(topics)
                """
        }
        let billed =
            plan.billed.map {
                "<p>The target knows a contact by its <strong>\(Page.kind(plan.billedKind ?? ""))</strong>: \(Page.figure($0, "billing.contacts")) different ones.</p>"
            } ?? ""
        return Page.section(
            "Who is who",
            billed + rows.joined(),
            "Keys that stand again mean one person in several records, or several people with one key. The target may make one contact of them."
        )
    }

    // MARK: Consent

    private var consent: String {
        let channels = Dictionary(grouping: plan.subscriptions.enumerated(), by: { $0.element.what[0] })
        let rows = channels.sorted { $0.key < $1.key }.map { channel, counts in
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
            : "<h3>What people allow</h3><div class=\"scroll\"><table><thead><tr><th scope=\"col\">purpose</th><th scope=\"col\">channel</th><th scope=\"col\">answer</th><th scope=\"col\" class=\"n\">contacts</th></tr></thead><tbody>\(consents.joined())</tbody></table></div>"
        let torn = Page.contradiction(
            plan.torn,
            "contradictions",
            "contacts say yes and no about the same channel. The no counts."
        )
        let topics = Page.contradiction(
            plan.tornTopics,
            "topicContradictions",
            "contacts say yes and no about the same topic. The no counts."
        )
        let nothing =
            rows.isEmpty && consents.isEmpty ? "<p>The source says nothing about what people want to hear.</p>" : ""
        return Page.section(
            "What people want to hear",
            rows.joined() + table + torn + topics + nothing,
            "A no, and an unknown, never become a yes on the way. <code>--evidence</code> writes a line for each answer, before and after."
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
            ("stale", "not seen for 270 days: likely dead", "lost"), ("unknown", "unknown", "quiet"),
        ]
        .map { age, label, colour in
            Page.Segment(label, plan.ages.filter { $0.what[0] == age }.reduce(0) { $0 + $1.count }, colour)
        }
        let aged =
            plan.ages.isEmpty
            ? "<p class=\"help\">How old they are is not known: name the attribute that shows when a person was last seen with <code>--activity</code>.</p>"
            : Page.stack(ages, of: keys.total, label: "Age of push tokens")
        return Page.section(
            "Push tokens",
            """
            <p>\(Page.figure(keys.total, "keys.\(place).total")) tokens, \(Page.figure(keys.distinct, "keys.\(place).distinct")) different\
            \(bad > 0 ? ", \(Page.number(bad)) that can't be one" : "")\(apps > 1 ? ", of \(apps) apps" : "").</p>\(aged)\
            <div class="scroll"><table><thead><tr><th scope="col">service</th><th scope="col">build</th><th scope="col">app</th><th scope="col">form</th><th scope="col" class="n">tokens</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>
            """,
            "A token works for one app and one kind of build alone. One that stands in two records reaches the wrong person sooner or later."
        )
    }

    // MARK: What the format holds

    private var parts: String {
        let fates = ["kept", "changed", "lost", "refused"]
        let groups = fates.compactMap { fate -> String? in
            let rows = plan.parts.filter { $0.fate == fate }
            guard !rows.isEmpty else { return nil }
            let items = rows.map { part in
                let reason =
                    part.finding.map { "<br><small>\(Page.text(Survey.withoutDetail($0.reason)))</small>" } ?? ""
                let count = part.count ?? 0
                let number = count > 0 ? " <b>\(Page.number(count))</b>" : ""
                return "<li\(count > 0 ? "" : " class=\"absent\"")>\(Page.text(part.name))\(number)\(reason)</li>"
            }
            let title =
                [
                    "kept": "goes over", "changed": "goes over, changed", "lost": "has no place",
                    "refused": "is refused",
                ][fate] ?? fate
            return
                "<div class=\"card\"><h3><span class=\"chip \(Page.colour(fate: fate))\">\(title)</span> <small>\(rows.count)</small></h3><ul>\(items.joined())</ul></div>"
        }
        return Page.section(
            "What of the source the target's format can hold at all",
            "<details><summary>\(plan.parts.count) parts that the source can hold, tried one by one</summary><div class=\"cards\">\(groups.joined())</div></details>",
            "Found by writing a sample of each part with these settings, whatever your data holds. A number says how often your data has it. Tags, topics, consents and further kinds of identifiers are tried under the names that your data has. An attribute is tried under a name that no table knows; where such have no place, those with a field of their own are not counted."
        )
    }

    // MARK: Work and way back

    private var work: String {
        guard !plan.loads.isEmpty else { return "" }
        let rows = plan.loads.enumerated().map { place, load in
            let time = load.seconds.map { "\(Page.duration($0))" } ?? "no documented rate"
            return
                "<tr><th scope=\"row\">\(Page.text(load.door.name))<br><small>\(Page.text(load.door.note))</small></th><td class=\"n\">\(Page.figure(load.requests, "loads.\(place).requests"))</td><td>\(time)</td></tr>"
        }
        return Page.section(
            "Work for the target",
            "<div class=\"scroll\"><table><thead><tr><th scope=\"col\">way in</th><th scope=\"col\" class=\"n\">requests or files</th><th scope=\"col\">time</th></tr></thead><tbody>\(rows.joined())</tbody></table></div>"
        )
    }

    private var way: String {
        let noes = plan.noes.map { Page.section("A no at the target", "<p>\(Page.prose($0))</p>") } ?? ""
        return noes + Page.section("The way back", "<p>\(Page.prose(plan.undo))</p>")
    }
}

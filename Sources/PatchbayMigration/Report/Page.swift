import PatchbayAdapterKit

/// The building blocks of a page.
enum Page {
    // MARK: Text

    /// Returns text in which HTML has no markup.
    static func text(_ text: String) -> String {
        var escaped = ""
        for character in text.unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            // Characters that change the direction of text would also affect the page's own text.
            case "\u{202A}"..."\u{202E}", "\u{2066}"..."\u{2069}":
                escaped += "[U+\(String(character.value, radix: 16, uppercase: true))]"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }

    /// Returns a number with separators: `1,234,567`.
    static func number(_ value: Int) -> String {
        var (digits, text) = (Array(String(abs(value))), "")
        while digits.count > 3 {
            text = ",\(String(digits.suffix(3)))\(text)"
            digits.removeLast(3)
        }
        return (value < 0 ? "-" : "") + String(digits) + text
    }

    /// Returns a number of the plan, with its path in the plan as an attribute.
    static func figure(_ value: Int, _ path: String) -> String {
        "<span data-figure=\"\(path)\" data-value=\"\(value)\">\(number(value))</span>"
    }

    /// Returns a paragraph about a number of contradictions; empty if there are none.
    static func contradiction(_ count: Int, _ path: String, _ words: String, isHelp: Bool = false) -> String {
        guard count > 0 else { return "" }
        return
            "<p\(isHelp ? " class=\"help\"" : "")><span class=\"chip refused\">contradiction</span> \(figure(count, path)) \(words)</p>"
    }

    /// Returns a percentage: `12.3 %`. A value above zero is never shown as zero, and a part is never shown as the whole.
    static func share(_ value: Int, of whole: Int) -> String {
        guard whole > 0 else { return "0 %" }
        let tenths = Int((Double(value) * 1000 / Double(whole)).rounded())
        if tenths == 0, value > 0 { return "under 0.1 %" }
        if tenths == 1000, value < whole { return "over 99.9 %" }
        return tenths % 10 == 0 ? "\(tenths / 10) %" : "\(tenths / 10).\(tenths % 10) %"
    }

    /// Returns a duration in its two largest units: `2 h 5 min`.
    static func duration(_ seconds: Int) -> String {
        let parts = [
            (seconds / 86400, "d"), (seconds / 3600 % 24, "h"), (seconds / 60 % 60, "min"), (seconds % 60, "s"),
        ]
        let first = parts.firstIndex { $0.0 > 0 } ?? 3
        return parts[first...].prefix(2).filter { $0.0 > 0 || first == 3 }.map { "\($0.0) \($0.1)" }.joined(
            separator: " "
        )
    }

    /// Returns the everyday name of a kind of identifier.
    static func kind(_ kind: String) -> String {
        ["external": "customer number", "email": "e-mail address", "phone": "phone number"][kind] ?? text(kind)
    }

    /// Returns the plural of ``kind(_:)``.
    static func kinds(_ kind: String) -> String {
        ["external": "customer numbers", "email": "e-mail addresses", "phone": "phone numbers"][kind] ?? text(kind)
    }

    /// Returns text in which parts between backticks become code.
    static func prose(_ words: String) -> String {
        text(words).split(separator: "`", omittingEmptySubsequences: false).enumerated()
            .map { $0.offset % 2 == 1 ? "<code>\($0.element)</code>" : String($0.element) }.joined()
    }

    static func word(_ severity: Finding.Severity) -> String {
        switch severity {
        case .error: "rejected"
        case .warning: "lost or changed"
        case .foreign: "another vendor's"
        case .note: "note"
        }
    }

    static func colour(_ severity: Finding.Severity) -> String {
        switch severity {
        case .error: "refused"
        case .warning: "changed"
        case .foreign, .note: "quiet"
        }
    }

    static func colour(fate: String) -> String { ["renamed": "kept", "unknown": "changed"][fate] ?? fate }

    // MARK: Parts

    static func section(_ title: String, _ body: String, _ lead: String = "") -> String {
        let lead = lead.isEmpty ? "" : "<p class=\"lead\">\(lead)</p>"
        return "<section><h2>\(title)</h2>\(lead)\(body)</section>"
    }

    static func tile(_ label: String, _ value: Int, _ path: String) -> String {
        "<div class=\"tile\"><b>\(figure(value, path))</b><span>\(label)</span></div>"
    }

    /// Returns a bar whose length shows a share.
    static func bar(_ value: Int, of whole: Int, _ colour: String, _ label: String) -> String {
        let width = tenths(value, of: whole)
        return """
            <svg class="meter" viewBox="0 0 1000 10" preserveAspectRatio="none" role="img" aria-label="\(text(label))">\
            <rect class="track" width="1000" height="10" rx="5"/><rect class="\(colour)" width="\(width)" height="10" rx="5"/></svg>
            """
    }

    /// A segment of a bar.
    struct Segment {
        let label: String
        let value: Int
        let colour: String

        init(_ label: String, _ value: Int, _ colour: String) {
            (self.label, self.value, self.colour) = (label, value, colour)
        }
    }

    /// Returns a bar of segments, with a legend below it.
    static func stack(_ segments: [Segment], of whole: Int, label: String) -> String {
        let shown = segments.filter { $0.value > 0 }
        var (rects, start) = ("", 0)
        for (place, segment) in shown.enumerated() {
            let isLast = place == shown.count - 1
            let width = isLast ? max(4, 1000 - start) : tenths(segment.value, of: whole)
            rects +=
                "<rect class=\"\(segment.colour)\" x=\"\(start)\" width=\"\(max(2, width - (isLast ? 0 : 3)))\" height=\"28\"/>"
            start = min(996, start + width)
        }
        let words = shown.map { "\(number($0.value)) \($0.label)" }.joined(separator: ", ")
        let legend = shown.map { segment in
            "<li><i class=\"\(segment.colour)\"></i><b>\(number(segment.value))</b> \(text(segment.label)) <small>\(share(segment.value, of: whole))</small></li>"
        }
        return """
            <svg class="stack" viewBox="0 0 1000 28" preserveAspectRatio="none" role="img" aria-label="\(text("\(label): \(words)"))">\(rects)</svg>\
            <ul class="legend">\(legend.joined())</ul>
            """
    }

    private static func tenths(_ value: Int, of whole: Int) -> Int {
        guard whole > 0, value > 0 else { return 0 }
        return max(6, min(1000, Int((Double(value) * 1000 / Double(whole)).rounded())))
    }

    /// The style sheet: colors for light and dark mode, and a single column on narrow screens.
    static let style = """
        :root{--ground:#f6f7f5;--paper:#fff;--ink:#1b2421;--soft:#55615c;--line:#dfe4e1;--track:#e9edea;--accent:#0f6b5c;
        --kept:#1c8a74;--changed:#d99a1c;--lost:#d2622a;--refused:#b3263a;--quiet:#8b98a5}
        @media (prefers-color-scheme:dark){:root{--ground:#121715;--paper:#1a211e;--ink:#e8eeeb;--soft:#a3b0aa;--line:#2d3733;
        --track:#28312d;--accent:#6fd0bd;--kept:#3fb59c;--changed:#e3b04b;--lost:#e8854f;--refused:#ec6478;--quiet:#8593a0}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.55 system-ui,-apple-system,"Segoe UI",Roboto,"DejaVu Sans",sans-serif;
        -webkit-text-size-adjust:100%}
        header,main,footer{max-width:60rem;margin:0 auto;padding:0 1.25rem}
        header{padding-top:3rem;padding-bottom:1rem}
        .kicker{margin:0;color:var(--accent);font-weight:600;letter-spacing:.02em;overflow-wrap:anywhere}
        h1{margin:.4rem 0 .6rem;font-size:clamp(1.6rem,4.6vw,2.6rem);line-height:1.18;letter-spacing:-.015em;text-wrap:balance}
        .route{margin:0;color:var(--soft)}.route b{color:var(--accent);padding:0 .3rem}
        section{background:var(--paper);border:1px solid var(--line);border-radius:14px;padding:1.4rem 1.5rem 1.5rem;margin:1.1rem 0}
        h2{margin:0 0 .3rem;font-size:1.3rem;letter-spacing:-.01em}
        h3{margin:1.2rem 0 .4rem;font-size:1rem}h3 small{font-weight:400;margin-left:.3rem}
        small,.lead,.help,footer{color:var(--soft)}.lead{margin:0 0 1rem;max-width:44rem}
        p{margin:.6rem 0}code{font:.86em ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono",monospace;overflow-wrap:anywhere}
        .tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:1rem;margin:1rem 0 1.4rem}
        .tile{border-left:3px solid var(--accent);padding:.1rem 0 .1rem .9rem}
        .tile b{display:block;font-size:1.9rem;line-height:1.15;letter-spacing:-.02em;font-variant-numeric:tabular-nums}
        .tile span{color:inherit}.tile>span{color:var(--soft);font-size:.92rem;line-height:1.35;display:block}
        svg{display:block;width:100%}.meter{height:8px;margin:.35rem 0 .3rem}.stack{height:26px;border-radius:7px;overflow:hidden}
        .track{fill:var(--track)}
        rect.kept{fill:var(--kept)}rect.changed{fill:var(--changed)}rect.lost{fill:var(--lost)}rect.refused{fill:var(--refused)}rect.quiet{fill:var(--quiet)}
        .legend{list-style:none;display:flex;flex-wrap:wrap;gap:.3rem 1.4rem;margin:.7rem 0 0;padding:0;font-variant-numeric:tabular-nums}
        .legend i{display:inline-block;width:.72rem;height:.72rem;border-radius:3px;margin-right:.45rem}
        i.kept{background:var(--kept)}i.changed{background:var(--changed)}i.lost{background:var(--lost)}i.refused{background:var(--refused)}i.quiet{background:var(--quiet)}
        .chip{display:inline-flex;align-items:center;gap:.4rem;font-size:.82rem;font-weight:600;border:1px solid var(--line);border-radius:99px;
        padding:.08rem .6rem;white-space:nowrap;background:var(--ground)}
        .chip::before{content:"";width:.55rem;height:.55rem;border-radius:50%;background:var(--quiet)}
        .chip.kept::before{background:var(--kept)}.chip.changed::before{background:var(--changed)}.chip.lost::before{background:var(--lost)}.chip.refused::before{background:var(--refused)}
        .losses{list-style:none;margin:0;padding:0}.losses li{padding:.9rem 0 .5rem;border-top:1px solid var(--line)}.losses li:first-child{border-top:0;padding-top:.3rem}
        .row{display:flex;flex-wrap:wrap;gap:.35rem .7rem;align-items:baseline}.row strong{font-variant-numeric:tabular-nums}.row .what{flex:1 1 16rem;min-width:0}
        .help{margin:.3rem 0;font-size:.93rem}
        .scroll{overflow-x:auto}table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}
        th,td{text-align:left;vertical-align:top;padding:.6rem .8rem .6rem 0;border-top:1px solid var(--line);overflow-wrap:break-word}
        thead th{border-top:0;color:var(--soft);font-weight:500;font-size:.88rem}tbody th{font-weight:600}tbody th small{font-weight:400}
        td.bar{min-width:8rem;width:34%}.n{text-align:right;white-space:nowrap}.n:last-child{padding-right:0}.n:not(:last-child){padding-right:1.6rem}
        .people{table-layout:fixed}.people th,.people td{overflow-wrap:anywhere}.people th:nth-child(1){width:28%}.people th:nth-child(2){width:32%}.people th:nth-child(3){width:20%}
        details summary{cursor:pointer;color:var(--accent);font-weight:600}summary:focus-visible{outline:2px solid var(--accent);outline-offset:3px}
        .cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(15rem,1fr));gap:0 1.8rem}.card ul{margin:.2rem 0;padding-left:1.1rem}.card li{margin:.25rem 0}.card small{line-height:1.35}.card li.absent{color:var(--soft)}.about{color:var(--ink)}
        footer{padding-top:.6rem;padding-bottom:3rem;font-size:.92rem}
        @media (max-width:36rem){header{padding-top:1.8rem}section{padding:1.1rem 1rem 1.2rem;border-radius:12px}header,main,footer{padding-left:.9rem;padding-right:.9rem}
        th,td{padding-right:.5rem}td.bar{min-width:5.5rem;width:auto}.tiles{grid-template-columns:1fr 1fr}
        .people thead{display:none}.people tr{display:grid;grid-template-columns:minmax(0,1fr) auto;gap:.2rem .8rem;border-top:1px solid var(--line);padding:.7rem 0}
        .people th,.people td{border:0;padding:0}.people th:nth-child(1){width:auto}.people td.bar{grid-row:2;grid-column:1/3}.people td:nth-child(3){grid-row:3}.people td:nth-child(4){grid-row:1;grid-column:2;text-align:right}}
        @media print{body{background:#fff}section{break-inside:avoid}}
        """
}

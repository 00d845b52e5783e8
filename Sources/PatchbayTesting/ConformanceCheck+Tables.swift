import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import Testing

extension ConformanceCheck {
    /// Checks that the descriptor's tables agree with each other.
    static let tables: [ConformanceCheck] = [
        ConformanceCheck("rule ids are unique and begin with the adapter's id", "rules") { subject in
            let rules = subject.descriptor.tables.rules
            let names = Dictionary(grouping: rules, by: \.id).filter { $0.value.count > 1 }.keys.sorted()
            return names.map { Problem($0.text, "the id belongs to several rules.") }
                + rules.filter { $0.id.adapter != subject.family }.map {
                    Problem($0.id.text, "the id does not begin with the adapter's id.")
                }
                + rules.filter { $0.text.trimmed.isEmpty || $0.source.trimmed.isEmpty }.map {
                    Problem($0.id.text, "the rule has no text or no source.")
                }
                + (rules.isEmpty ? [Problem("rules", "the descriptor has no rules.")] : [])
        },
        ConformanceCheck("every rule that a table row names exists", "rules") { subject in
            let descriptor = subject.descriptor
            let known = Set(descriptor.tables.rules.map(\.id))
            let named: [(String, RuleID?)] =
                descriptor.tables.findings.map { ("finding \($0.code)", $0.rule) }
                + descriptor.tables.fields.flatMap { table in table.rows.map { ("field \($0.name)", $0.rule) } }
                + descriptor.tables.replies.rows.map { ("reply \($0.when)", $0.rule) }
                + descriptor.tables.limits.map { ("limit \($0.what)", $0.rule) }
                + subject.settingNames.map { ("setting \($0.name)", $0.rule) }
                + subject.exemptions.map { ("exemption \($0.sample)", $0.rule) }
                + subject.statusAlone.inOrder.map { ("statusAlone of \($0.key)", $0.value) }
            return named.compactMap { row, rule in
                guard let rule, !known.contains(rule) else { return nil }
                return Problem(row, "it names \(rule), which is not a rule of the descriptor.")
            }
        },
        ConformanceCheck("every exemption names an existing check", "exemptions") { subject in
            let names = Set(all.map(\.name))
            return subject.exemptions.filter { !names.contains($0.check) }.map {
                Problem($0.check, "no check has this name. Correct the exemption of \($0.sample), or remove it.")
            }
        },
        ConformanceCheck("field tables agree with the wire schemas", "fields") { subject in
            do {
                guard let schemas = try WireSchemas(in: subject.wireSchemas) else { return [] }
                return subject.descriptor.tables.fields.flatMap { table in
                    schemas.problems(of: table).map { Problem(table.title, $0) }
                }
            } catch {
                return [Problem("schemas", "the wire schemas cannot be read: \(error)")]
            }
        },
        ConformanceCheck("finding codes are unique and begin with the adapter's id", "A20") { subject in
            let rows = subject.descriptor.tables.findings
            let twice = Dictionary(grouping: rows, by: \.code).filter { $0.value.count > 1 }.keys.sorted()
            return twice.map { Problem($0, "the code belongs to several findings.") }
                + rows.filter { !$0.code.hasPrefix("\(subject.family.rawValue).") }.map {
                    Problem($0.code, "the code does not begin with \(subject.family.rawValue).")
                }
                + rows.filter { $0.remedy.trimmed.isEmpty }.map { Problem($0.code, "the finding has no remedy.") }
                + rows.filter { $0.severity == .error && $0.error == nil }.map {
                    Problem($0.code, "the finding is an error without a normalized cause.")
                }
                + subject.descriptor.tables.reasonsOfState.filter { code in !rows.contains { $0.code == code } }.map {
                    Problem($0, "the code is in reasonsOfState, but has no row.")
                }
        },
        ConformanceCheck("every reply has a table row, and every refusal has a finding", "replies") { subject in
            let replies = subject.descriptor.tables.replies
            let listed = Set(subject.descriptor.tables.findings.map(\.code))
            let outcomes =
                (100...599).map { Outcome.replied(WireResponse($0)) }
                + TransportFailure.Delivery.allCases.map { .failed(TransportFailure($0, "timedOut")) }
            let silent = outcomes.filter { outcome in
                let row = replies.row(for: outcome)
                return row.meaning == .refused || row.meaning == .suspend ? row.finding == nil : false
            }
            return silent.map { Problem($0.name, "the reply is refused without a finding.") }
                + replies.rows.compactMap(\.finding).filter { !listed.contains($0.code) }.map {
                    Problem($0.code, "the reply table's finding is not in descriptor.tables.findings.")
                }
                + (replies.row(for: .failed(TransportFailure(.lost, "timedOut"))).meaning == .accepted
                    ? [Problem("lost", "a missing reply counts as accepted.")] : [])
        },
        ConformanceCheck("invalid settings are refused with a remedy and without their value", "A16") { subject in
            let canary = "Canary77"
            let bad: [JSONValue] = [.string(canary), .array([.string(canary)]), ["name": .string(canary)], ""]
            return ([("", nil)] + subject.settingNames.flatMap { row in bad.map { (row.name, Optional($0)) } })
                .flatMap { name, value -> [Problem] in
                    var settings: JSONObject = [:]
                    if let value {
                        settings = subject.settings
                        settings[name] = value
                    }
                    return subject.findings(in: settings).flatMap { finding -> [Problem] in
                        let place = name.isEmpty ? finding.path : name
                        return
                            (finding.remedy.trimmed.isEmpty ? [Problem(place, "the finding has no remedy.")] : [])
                            + ("\(finding.reason) \(finding.remedy)".contains(canary)
                                ? [Problem(place, "the finding shows the value.")] : [])
                    }
                }
        },
        ConformanceCheck("stored states of every version can be read", "A19") { subject in
            let missing =
                !subject.remembersSomething
                ? []
                : (1...subject.descriptor.stateVersion).filter { version in
                    !subject.storedStates.contains { $0.version == version && $0.part == .memory }
                }
            return missing.map { Problem("version \($0)", "there is no stored memory. Add one to memory.stored.") }
                + subject.storedStates.compactMap { state in
                    subject.problem(restoring: state).map { Problem("version \(state.version)", $0) }
                }
        },
    ]

    /// Checks of the samples' goldens.
    static let goldens: [ConformanceCheck] = [
        ConformanceCheck("every sample has exactly one golden", "goldens") { subject in
            var (requests, refusals): (Goldens.Texts, Goldens.Texts) = ([], [])
            for sample in subject.samples {
                let drive = subject.drive(sample, against: .accepting)
                if drive.sent.isEmpty {
                    refusals.append((sample.name, drive.refusalText))
                } else {
                    requests.append((sample.name, drive.requestText(hiding: subject.secrets)))
                }
            }
            subject.goldens.check(eachDistinct: requests, .requests)
            subject.goldens.check(together: refusals, .refusals)
            let twice = Dictionary(grouping: subject.samples, by: \.name).filter { $0.value.count > 1 }.keys.sorted()
            return twice.map { Problem($0, "several samples have this name.") }
        },
        ConformanceCheck("every conversation golden has a scenario", "goldens") { subject in
            // `.txt` is the form of conversations that a test writes by itself.
            let goldens = subject.goldens
            goldens.checkNoOrphans(
                .conversations,
                suffix: ".ndjson",
                expected: goldens.names(of: .conversations, suffix: ".json"),
                sourceLocation: #_sourceLocation
            )
            return []
        },
        ConformanceCheck("every endpoint is used by a sample", "A20") { subject in
            var open = Set(subject.endpoints)
            for sample in subject.samples {
                guard !open.isEmpty else { break }
                open.subtract(subject.drive(sample, against: .accepting).sent.map(\.endpoint))
                open.subtract(subject.drive(sample) { $0.isPrepared = false }.sent.map(\.endpoint))
            }
            for (_, drive) in subject.usualDrives { open.subtract(drive.sent.map(\.endpoint)) }
            return open.sorted().map { Problem($0, "no sample uses this endpoint. Add one to extras.") }
        },
    ]
}

extension ConformanceSubject {
    /// The vendor's id: the part before the first period or hyphen of the id.
    var family: AdapterID {
        AdapterID(rawValue: String(descriptor.id.rawValue.prefix { $0 != "." && $0 != "-" }))
    }

    func drive(_ operations: [EngagementOperation], _ change: (inout Script) -> Void) -> Drive {
        var script = Script()
        change(&script)
        return drive(operations, script)
    }
}

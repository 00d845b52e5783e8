public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
public import PatchbayRecords

/// What a migration would do with a source, known before anything is written: what is there, what does not survive, what
/// collides, and how much work the target has with it.
public struct MigrationPlan: Sendable {
    /// A part of a contact, and what the target's format does with it whatever the data is.
    public struct Part: Sendable {
        /// The part: `attribute of type list`.
        public let name: String
        /// `kept`, `changed`, `lost` or `refused`.
        public let fate: String
        /// What the format says about it, if it does.
        public let finding: Finding?
        /// How often the source has it; nil where there is no source.
        public let count: Int?
        /// The kind of part of which this is some, told apart by name.
        let kind: String?
    }

    /// A reason for findings, and how often it came.
    public typealias Loss = MigrationReport.Line

    /// An attribute of the source.
    public struct Attribute: Hashable, Sendable {
        /// Its neutral name.
        public let name: String
        /// Contacts that have it.
        public let count: Int
        /// The types of its values.
        public let types: [AttributeType: Int]
        /// The target's field that takes it; nil if none does.
        public let field: String?
        /// How often each finding came that names it.
        public let findings: [String: Int]
        /// Contacts of which it is left out, as the findings say.
        public let lost: Int
        /// `kept`, `renamed`, `changed` or `lost`.
        public let fate: String
    }

    /// Keys of a kind.
    public struct Keys: Hashable, Sendable {
        /// The kind of identifier, or `push token`.
        public let kind: String
        /// How often one stands.
        public let total: Int
        /// How many differ.
        public let distinct: Int
        /// How many of those differ from another in the case of letters alone, or in how a letter and its accent are put together.
        public let caseVariants: Int
        /// How many stand in records that contradict each other about a channel.
        public let torn: Int
        /// How often such a key is contradicted about a topic, once for each topic.
        public let tornTopics: Int
        /// How many differ, of those that are the first of their kind in a record that is written.
        public let written: Int
        /// Some of the keys that contradict themselves.
        let tornKeys: [KeyCounter.TornKey]

        /// How often a key stands that stood before.
        public var repeats: Int { total - distinct }
    }

    /// Records with one key that say yes and no.
    public struct Contradiction: Hashable, Sendable {
        /// The key's kind.
        public let kind: String
        /// The lines on which they begin.
        public let lines: [Int]
    }

    /// A number of something.
    public struct Count: Hashable, Sendable {
        /// What is counted, as members of a JSON object.
        public let what: [String]
        /// How many.
        public let count: Int
    }

    /// A decision in the source and what the target holds of it.
    public struct Decision: Hashable, Sendable {
        /// `e-mail`, `e-mail, topic weekly`, `messaging on sms`.
        public let about: String
        /// The state in the source; `unreadable`, or `not stated`.
        public let before: String
        /// The state at the target; `not stored`, or `record rejected`.
        public let after: String
        /// How many contacts.
        public let count: Int
    }

    /// A rule of the mapping, and how often it did what.
    public struct Rule: Hashable, Sendable {
        /// The rule in words, without the values that it writes.
        public let text: String
        /// What it did.
        public let effect: MappingEffect
    }

    /// A way into the vendor.
    public struct Load: Hashable, Sendable {
        /// The way and its limits.
        public let route: ImportRoute
        /// How many requests, or files.
        public let requests: Int
        /// How long at the documented rate, or at the rate that was given, or as long as a vendor's jobs are waited for, if
        /// that is longer; nil where neither is known.
        public let seconds: Int?
    }

    /// The formats' ids and titles.
    public let from: (id: String, title: String)
    /// The formats' ids and titles.
    public let to: (id: String, title: String)
    /// The numbers of a run that writes nothing.
    public let report: MigrationReport
    /// The rules of the mapping, in their order; none without a mapping.
    public let mapping: [Rule]
    /// What the target's format does with each part of a contact that the source can hold.
    public let parts: [Part]
    /// What was found, the worst and the most frequent first.
    public let losses: [Loss]
    /// The source's attributes, by name.
    public let attributes: [Attribute]
    /// The keys, by kind.
    public let keys: [Keys]
    /// Lines that contradict each other, as far as somebody looked for them: ``Migration/lines(of:in:isCancelled:)``.
    public var contradictions: [Contradiction]?
    /// Columns that may hold consent and that no setting names: ``Migration/unnamedConsent(in:)``.
    public var unnamedConsent: [Finding] = []
    /// The kind of identifier that the target counts contacts by, if the format says one.
    public let billedKind: String?
    /// Contacts that the target will count: the different keys by which it knows those that are written.
    public let billed: Int?
    /// Channel, whether there is a topic, state.
    public let subscriptions: [Count]
    /// Purpose, channel, state.
    public let consents: [Count]
    /// What becomes of each decision about a channel, a topic or a purpose: before, after, and how many contacts.
    public let decisions: [Decision]
    /// Contacts that state no decision at all.
    public let undecided: Int
    /// Contacts that say yes and no about one channel.
    public let torn: Int
    /// Contacts that say yes and no about one topic.
    public let tornTopics: Int
    /// Service, environment, the app's id or `unnamed`, whether the form is right.
    public let tokens: [Count]
    /// How long ago the owners of push tokens were last seen: empty if nobody said how to tell.
    public let ages: [Count]
    /// Contacts with tags, tags in all, and how many of those have no place at the target.
    public let tags: (contacts: Int, total: Int, lost: Int)
    /// Contacts with a locale, and with a time zone; devices in all.
    public let places: (locale: Int, timeZone: Int, devices: Int)
    /// The ways into the vendor.
    public let loads: [Load]
    /// What can be taken back, and what can't.
    public let undo: String
    /// What becomes of a person's no at the target; nil where a file is written.
    public let optOuts: String?
    /// What a blank cell may do at the target; nil where the target is no file of rows with a header.
    public let blankCells: String?
    /// Which cells are guarded against spreadsheet programs; nil where neither the source nor the target has rows with a header.
    public let formulas: String?
}

extension Migration {
    /// Reads the source to its end and says what a migration would do; nothing is written but marks of keys to a temporary
    /// file without a name, if they are many.
    ///
    /// - Parameters:
    ///   - source: the bytes to read.
    ///   - loads: the ways into the target's vendor.
    ///   - server: the vendor's server API, where that is the target.
    ///   - requestsPerSecond: the rate of the account, where the documents state none.
    ///   - activity: the attribute that shows when a person was last seen, and today's date.
    ///   - workers: as for a run.
    ///   - progress: called after each chunk.
    ///   - isCancelled: asked before each chunk; a plan that was cancelled is not complete.
    /// - Returns: the plan.
    /// - Throws: ``Failure`` if the source as a whole can't be read or was changed meanwhile, ``FileError`` if reading or
    ///   spilling fails.
    public func plan(
        _ source: inout some ByteSource,
        loads: [ImportRoute] = [],
        server: ServerTarget? = nil,
        requestsPerSecond: Int? = nil,
        activity: (attribute: AttributeName, today: CalendarDate)? = nil,
        workers: Int? = nil,
        progress: @escaping (Progress) -> Void = { _ in },
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> MigrationPlan {
        let activity = activity.map { Activity(attribute: $0.attribute, today: $0.today) }
        func measure(
            _ migration: Migration,
            _ source: inout some ByteSource
        ) throws -> (MigrationReport, Surveyor) {
            server?.tally.reset()
            let company = Company(surveyor: Surveyor(activity: activity))
            let report = try migration.run(&source, to: nil, nil, workers, company, progress, isCancelled)
            return (report, company.surveyor ?? Surveyor(activity: activity))
        }
        var migration = self
        let path = source.rereadablePath
        if let path { migration.optOutKnowledge = earlier == nil ? .none : .ahead(path) }
        var (report, surveyor): (MigrationReport, Surveyor)
        do {
            (report, surveyor) = try measure(migration, &source)
        } catch let error as OptOutKnowledge.MayContradict {
            guard let path else { throw error }
            migration.optOutKnowledge = .ahead(path)
            var file = try FileSource(path: path, chunk: FileSource.planChunk)
            (report, surveyor) = try measure(migration, &file)
        }
        let counts = try surveyor.finish()
        let amount = server?.tally.amount
        var planned = self
        if recordsDecideColumns, source.rereadablePath != nil, server == nil, report.isComplete {
            planned.omit(unfilledColumns(surveyor.survey))
        }
        do {
            let probe = try FormatProbe(planned)
            return MigrationPlan(
                planned,
                report,
                surveyor.survey,
                counts,
                probe,
                loads,
                server.flatMap { server in amount.map { (server, $0) } },
                requestsPerSecond
            )
        } catch {
            throw Failure(error.findings)
        }
    }

    /// What the target's format does with each part of a contact that a file of the source can hold, whatever the data is. With a
    /// mapping it is every part, because the mapping may make it.
    ///
    /// - Throws: ``Failure`` with every problem of the settings.
    public func staticLoss() throws(Failure) -> [MigrationPlan.Part] {
        do {
            return MigrationPlan.parts(try FormatProbe(self), nil)
        } catch {
            throw Failure(error.findings)
        }
    }

    /// The kinds of identifiers by which the target knows a contact, if its writer says one, the usual one first.
    var writtenKeys: [IdentifierKind] {
        let finder = targetFile?.settings.finder
        return (try? makeWriter())?.keyKinds.filter { $0 != finder } ?? []
    }

    /// The target as a contact file; nil where it is none.
    var targetFile: ContactFile? {
        guard case .rows(let file, _)? = try? target.makeTargetLayout?(targetSettings) else { return nil }
        return file
    }

    /// What a blank cell of the target file does at the vendor, and which columns are not written.
    fileprivate var blankCells: String {
        let effect = targetFile?.kind.blankCells ?? ContactFileKind.unknownBlankCells
        let omitted = omittedColumns.joined(separator: ", ")
        return effect + " "
            + (omittedColumns.isEmpty
                ? "To leave out a column that no contact fills, set it to ignored in the target's setting columns."
                : "Columns that nothing in the source can fill are not written: \(omitted). To write one, name it in the target's "
                    + "setting columns.")
    }

    /// How many contacts the target knows by another kind of identifier, and which; nil where it is none.
    fileprivate func otherKey(in report: MigrationReport) -> (kind: IdentifierKind, count: Int)? {
        guard let file = targetFile, let kind = file.settings.finder,
            let told = report.findings[file.kind.findings.otherKey.code]
        else { return nil }
        return (kind, told.count)
    }

    /// The kind of identifier by which the target knows a contact, if its layout says one.
    var keyKind: IdentifierKind? {
        guard case .lines(let layout)? = try? target.makeTargetLayout?(targetSettings) else { return nil }
        for case .key(_, let kind, _, _) in layout.parts { return kind }
        return nil
    }
}

extension MigrationPlan {
    static func parts(_ probe: FormatProbe, _ survey: Survey?) -> [Part] {
        if let refusal = probe.refusal {
            return [
                Part(
                    name: "every part",
                    fate: FormatProbe.Fate.refused.rawValue,
                    finding: refusal,
                    count: nil,
                    kind: nil
                )
            ]
        }
        return probe.everything(survey).compactMap { trial in
            guard probe.canArrive(trial.sample) || trial.count ?? 0 > 0 else { return nil }
            return Part(
                name: trial.part,
                fate: trial.answer.fate.rawValue,
                finding: trial.answer.finding,
                count: trial.count,
                kind: trial.kind
            )
        }
    }

    /// The parts of the source that a finding may be about.
    func concerns(_ code: String) -> [Part] { parts.filter { $0.finding?.code == code && $0.count ?? 0 > 0 } }

    init(
        _ migration: Migration,
        _ report: MigrationReport,
        _ survey: Survey,
        _ counts: [String: KeyCounter.Counts],
        _ probe: FormatProbe,
        _ loads: [ImportRoute],
        _ server: (target: ServerTarget, amount: ServerAmount)?,
        _ requestsPerSecond: Int?
    ) {
        from = (migration.source.id, migration.source.title)
        to = (migration.target.id, migration.target.title)
        self.report = report
        mapping = zip(migration.mapping.rules, report.mapping).map { Rule(text: $0.description, effect: $1) }
        parts = Self.parts(probe, survey)
        attributes = Self.attributes(survey, probe)
        let keys = counts.sorted { $0.key < $1.key }.map { kind, counts in
            Keys(
                kind: kind,
                total: counts.total,
                distinct: counts.distinct,
                caseVariants: counts.distinct - counts.distinctFolded,
                torn: counts.torn,
                tornTopics: counts.tornTopics,
                written: counts.written,
                tornKeys: counts.tornKeys
            )
        }
        self.keys = keys
        losses =
            Self.losses(report, survey, Self.tornAddresses(keys, migration.writtenKeys))
            + (probe.refusal.map { [Self.unprobed($0, report.read)] } ?? [])
        // Who says nothing else counts contacts by the organisation's own key, and so do we.
        let writtenKeys = migration.writtenKeys
        let writtenKey = writtenKeys.first { survey.identifiers[$0.rawValue] != nil } ?? writtenKeys.first
        let billedKind: IdentifierKind? =
            writtenKey ?? server?.target.server.keyKind
            ?? (survey.identifiers["external"] == nil ? nil : .external)
        self.billedKind = billedKind?.rawValue
        // Of contacts with another key beside those with the usual one nobody looked whether two are the same.
        let others = billedKind == writtenKeys.first ? survey.withOtherKey : 0
        billed = billedKind.flatMap { kind in
            // Without such keys nobody is written, unless a mapping makes some.
            let own =
                keys.first { $0.kind == kind.rawValue }.map { $0.written + others }
                ?? (survey.identifiers[kind.rawValue] == nil && migration.mapping.isEmpty ? 0 : nil)
            // Who is found by another identifier counts as one more where no such identifier stands twice.
            guard let other = migration.otherKey(in: report) else { return own }
            let others = keys.first { $0.kind == other.kind.rawValue }
            guard let own, let others, others.total == others.distinct, others.caseVariants == 0 else { return nil }
            return own + other.count
        }
        subscriptions = Self.counts(survey.wishes) { [$0.channel, $0.topic == nil ? "channel" : "topic", $0.state] }
        consents = Self.counts(survey.answers) { [$0.purpose, $0.channel ?? "every", $0.state] }
        decisions = Self.decisions(survey, probe, migration)
        undecided = survey.undecided
        (torn, tornTopics) = (survey.torn, survey.tornTopics)
        tokens = Self.counts(survey.tokens) {
            [
                $0.service, $0.environment ?? "unknown", $0.app ?? "unnamed",
                $0.isWellFormed ? "good" : "bad",
            ]
        }
        ages = Survey.Age.allCases.compactMap { age in survey.ages[age].map { Count(what: [age.rawValue], count: $0) } }
        let lost = parts.filter { $0.kind == FormatProbe.tags && $0.fate == FormatProbe.Fate.lost.rawValue }
        tags = (survey.withTags, survey.tags, lost.reduce(0) { $0 + ($1.count ?? 0) })
        places = (survey.withLocale, survey.withTimeZone, survey.devices)
        let ways = loads.map { way in
            (
                route: way, requests: way.requests(for: report.written, bytes: report.bytesWritten),
                wait: nil as Duration?
            )
        }
        self.loads = (ways + (server.map { $0.target.ways(of: $0.amount) } ?? [])).map { way in
            let byRate =
                requestsPerSecond.map { (way.requests + $0 - 1) / $0 }
                ?? way.route.rate.map { $0.seconds(for: way.requests) }
            // Who waits sends meanwhile.
            let seconds = [byRate, way.wait.map { Int($0.components.seconds) }].compactMap(\.self).max()
            return Load(route: way.route, requests: way.requests, seconds: seconds)
        }
        undo = server?.target.undo ?? Self.undo
        optOuts = server?.target.optOuts
        let hasCells = optOuts == nil && (try? migration.makeWriter().header().isEmpty) == false
        blankCells = hasCells ? migration.blankCells : nil
        formulas =
            hasCells || migration.guardedRejects != nil
            ? "An apostrophe guards each cell that a spreadsheet program would take for a formula: in the list of rejects by default, "
                + "in the target file if its setting formulas is all, nowhere if it is none." : nil
    }

    /// What is said of addresses about which several records contradict each other, where the target knows contacts by something
    /// else: no run that reads once can know of a no that is still to come.
    private static let tornAddress = FindingRow(
        "migration.consent.addressContradiction",
        .warning,
        .consent,
        reason:
            "Records with the same address opt in and out. If the source is a file, the opt-out applies to all of them. If it is a "
            + "pipe, an opt-in of another key before the opt-out stays",
        remedy: "Leave one record of each address in the source, or put the opt-outs first."
    )

    /// What is said where the target takes no sample contact, so that the plan cannot tell what it holds.
    private static let probeRefused = FindingRow(
        "migration.plan.probeRefused",
        .warning,
        .unsupported,
        reason:
            "The target refuses the sample contact by which the plan examines its fields, so the plan does not say which fields are lost",
        remedy:
            "Correct the cause in the settings or the configuration, and plan again. Until then, use apply --dry-run."
    )

    private static func unprobed(_ refusal: Finding, _ count: Int) -> Loss {
        Loss(
            code: probeRefused.code,
            severity: probeRefused.severity,
            count: count,
            reason: "\(probeRefused.reason) (\(refusal.code)): \(refusal.reason)",
            remedy: probeRefused.remedy,
            places: []
        )
    }

    private static func tornAddresses(_ keys: [Keys], _ known: [IdentifierKind]) -> Loss? {
        let kinds = ConsentMarks.addressKinds.map(\.kind).filter { $0 != known.first }
        let count = keys.filter { key in kinds.contains { $0.rawValue == key.kind } }.reduce(0) { $0 + $1.torn }
        guard count > 0 else { return nil }
        let row = tornAddress.at()
        return Loss(
            code: row.code,
            severity: row.severity,
            count: count,
            reason: row.reason,
            remedy: row.remedy,
            places: []
        )
    }

    /// What was found; where the bulk path counts a reason for all attributes, the survey knows which.
    private static func losses(_ report: MigrationReport, _ survey: Survey, _ more: Loss?) -> [Loss] {
        let attributes = Dictionary(grouping: survey.attributeFindings, by: \.key.code)
        let (lines, extra) = (report.lines, [more].compactMap(\.self))
        let found = lines.map { line in
            guard !line.hasPlaceCounts,
                lines.count(where: { $0.code == line.code }) == 1
            else { return line }
            let places = (attributes[line.code] ?? [])
                .map { Loss.Place(path: "attributes.\($0.key.name)", count: $0.value) }
                .sorted { (-$0.count, $0.path) < (-$1.count, $1.path) }
            return Loss(
                code: line.code,
                severity: line.severity,
                count: line.count,
                reason: line.reason,
                remedy: line.remedy,
                places: places.isEmpty ? line.places : places
            )
        }
        let place = found.firstIndex { $0.severity != .error } ?? found.endIndex
        return Array(found[..<place]) + extra + found[place...]
    }

    private static func attributes(_ survey: Survey, _ probe: FormatProbe) -> [Attribute] {
        let byName = Dictionary(grouping: survey.attributes, by: \.key.name)
        return byName.sorted { $0.key < $1.key }.map { name, kinds in
            let types = Dictionary(kinds.map { ($0.key.type, $0.value) }, uniquingKeysWith: +)
            let common = types.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key ?? .string
            let isOne = name != Survey.otherNames
            let field = isOne ? probe.field(of: AttributeName(rawValue: name), common) : name
            let findings = survey.attributeFindings.filter { $0.key.name == name }
            let told = Dictionary(findings.map { ($0.key.code, $0.value) }, uniquingKeysWith: +)
            let count = types.values.reduce(0, +)
            let left = told.filter { isLoss($0.key) }.values.reduce(0, +)
            let lost = field == nil && probe.refusal == nil ? count : min(left, count)
            let fate =
                probe.refusal != nil && field == nil
                ? "unknown" : lost == count ? "lost" : !told.isEmpty ? "changed" : field == name ? "kept" : "renamed"
            return Attribute(
                name: name,
                count: count,
                types: types,
                field: field,
                findings: told,
                lost: lost,
                fate: fate
            )
        }
    }

    /// What the codes end with of findings that leave an attribute's value out.
    private static let losing: Set<String> = [
        "attribute.collision", "attribute.form", "record.blank", "record.noColumn", "record.second",
        "record.tooLong", "record.unfit", "record.unwritable",
    ]

    private static func isLoss(_ code: String) -> Bool {
        losing.contains(code.split(separator: ".").suffix(2).joined(separator: "."))
    }

    /// What the target holds of each decision: a sample of each is written and read back.
    private static func decisions(_ survey: Survey, _ probe: FormatProbe, _ migration: Migration) -> [Decision] {
        let reader = try? ConsentReader(migration)
        let counted = survey.moves.map { move, count in
            var about = [move.purpose, move.channel].compactMap(\.self).joined(separator: " on ")
            if let topic = move.topic { about += ", topic \(topic)" }
            return Decision(
                about: about,
                before: move.before,
                after: probe.stored(move, reader) ?? move.after,
                count: count
            )
        }
        func key(_ each: Decision) -> [String] { [each.about, each.before, each.after] }
        return Dictionary(counted.map { (key($0), $0.count) }, uniquingKeysWith: +)
            .map { Decision(about: $0.key[0], before: $0.key[1], after: $0.key[2], count: $0.value) }
            .sorted { key($0).lexicographicallyPrecedes(key($1)) }
    }

    private static func counts<Key>(_ counts: [Key: Int], _ words: (Key) -> [String]) -> [Count] {
        Dictionary(counts.map { (words($0.key), $0.value) }, uniquingKeysWith: +)
            .map { Count(what: $0.key, count: $0.value) }
            .sorted { $0.what.lexicographicallyPrecedes($1.what) }
    }
}

extension Rate {
    /// Whole seconds that so many requests take.
    fileprivate func seconds(for requests: Int) -> Int {
        let whole = interval * max(0, requests - burst)
        return Int(whole.components.seconds) + (whole.components.attoseconds > 0 ? 1 : 0)
    }
}

extension MigrationPlan {
    /// The plan as JSON (`Schemas/migration/plan`).
    public var json: JSONValue {
        func object(_ names: [String], _ count: Count) -> JSONValue {
            let members = zip(names, count.what).map { ($0, JSONValue.string($1)) }
            return .object(JSONObject(members + [("count", .integer(count.count))]))
        }
        var json: JSONObject = [
            "from": ["format": .string(from.id), "title": .string(from.title)],
            "to": ["format": .string(to.id), "title": .string(to.title)],
            "report": report.json,
            "mapping": .array(mapping.map(\.json)),
            "losses": .array(losses.map(\.json)),
            "parts": .array(parts.map(\.json)),
            "attributes": .array(attributes.map(\.json)),
            "keys": .array(keys.map(\.json)),
            "billing": [
                "key": billedKind.map(JSONValue.string) ?? .null, "contacts": billed.map { .integer($0) } ?? .null,
            ],
            "subscriptions": .array(subscriptions.map { object(["channel", "about", "state"], $0) }),
            "consents": .array(consents.map { object(["purpose", "channel", "state"], $0) }),
            "decisions": .array(
                decisions.map {
                    [
                        "about": .string($0.about), "before": .string($0.before), "after": .string($0.after),
                        "count": .integer($0.count),
                    ]
                }
            ),
            "withoutKnownConsent": .integer(undecided),
            "contradictions": .integer(torn),
            "topicContradictions": .integer(tornTopics),
            "tokens": .array(tokens.map { object(["service", "environment", "app", "form"], $0) }),
            "tokenAges": .array(ages.map { object(["age"], $0) }),
            "tags": [
                "contacts": .integer(tags.contacts), "total": .integer(tags.total), "lost": .integer(tags.lost),
            ],
            "locales": .integer(places.locale),
            "timeZones": .integer(places.timeZone),
            "devices": .integer(places.devices),
            "loads": .array(loads.map(\.json)),
            "undo": .string(undo),
        ]
        if !unnamedConsent.isEmpty {
            json["unnamedConsent"] = .array(
                unnamedConsent.map {
                    ["path": .string($0.path), "reason": .string($0.reason), "remedy": .string($0.remedy)]
                }
            )
        }
        json["optOuts"] = optOuts.map(JSONValue.string)
        json["contradictionLines"] = contradictions.map { all in
            .array(all.map { ["kind": .string($0.kind), "lines": .array($0.lines.map { .integer($0) })] })
        }
        return .object(json)
    }

    /// What can be taken back, and what can't.
    static let undo =
        "The files can be undone with --journal and `patchbay migrate undo`. What a vendor has imported from them cannot: export the target's contacts first."
}

extension MigrationPlan.Loss {
    fileprivate var json: JSONValue {
        [
            "code": .string(code), "severity": .string(severity.rawValue), "count": .integer(count),
            "reason": .string(reason), "remedy": .string(remedy),
            "places": .array(
                places.map { place in
                    hasPlaceCounts
                        ? ["path": .string(place.path), "count": .integer(place.count)] : ["path": .string(place.path)]
                }
            ),
        ]
    }
}

extension MigrationPlan.Rule {
    fileprivate var json: JSONValue {
        var object: JSONObject = ["rule": .string(text)]
        for member in effect.json.object ?? [:] { object[member.name] = member.value }
        return .object(object)
    }
}

extension MigrationPlan.Part {
    /// The part as JSON.
    public var json: JSONValue {
        var object: JSONObject = ["part": .string(name), "fate": .string(fate)]
        if let count { object["count"] = .integer(count) }
        if let finding {
            object["code"] = .string(finding.code)
            object["reason"] = .string(finding.reason)
            object["remedy"] = .string(finding.remedy)
        }
        return .object(object)
    }
}

extension MigrationPlan.Attribute {
    fileprivate var json: JSONValue {
        let types = self.types.sorted { $0.key.rawValue < $1.key.rawValue }.map {
            ($0.key.rawValue, JSONValue.integer($0.value))
        }
        let findings = self.findings.sorted { $0.key < $1.key }.map { ($0.key, JSONValue.integer($0.value)) }
        return [
            "name": .string(name), "count": .integer(count), "lost": .integer(lost), "fate": .string(fate),
            "field": field.map(JSONValue.string) ?? .null, "types": .object(JSONObject(types)),
            "findings": .object(JSONObject(findings)),
        ]
    }
}

extension MigrationPlan.Keys {
    fileprivate var json: JSONValue {
        [
            "kind": .string(kind), "total": .integer(total), "distinct": .integer(distinct),
            "repeats": .integer(repeats), "caseVariants": .integer(caseVariants), "contradictions": .integer(torn),
            "topicContradictions": .integer(tornTopics),
        ]
    }
}

extension MigrationPlan.Load {
    fileprivate var json: JSONValue {
        [
            "api": .string(route.name), "requests": .integer(requests),
            "seconds": seconds.map { .integer($0) } ?? .null, "note": .string(route.note),
        ]
    }
}

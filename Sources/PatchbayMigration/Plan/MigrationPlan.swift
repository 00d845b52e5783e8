public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
public import PatchbayRecords

/// A report on what a migration would do with a source, made before anything is written: the contents of the source, the
/// losses, the duplicate and contradictory keys, and the work for the target.
public struct MigrationPlan: Sendable {
    /// A part of a contact, and how the target's format treats it regardless of the data.
    public struct Part: Sendable {
        /// The part: `attribute of type list`.
        public let name: String
        /// `kept`, `changed`, `lost` or `refused`.
        public let fate: String
        /// The finding of the format about the part; nil if there is none.
        public let finding: Finding?
        /// The number of occurrences in the source; nil without a source.
        public let count: Int?
        /// The kind of a part that the target may distinguish by name; nil for any other part.
        let kind: String?
    }

    /// A reason for findings, with its number of occurrences.
    public typealias Loss = MigrationReport.Line

    /// An attribute of the source.
    public struct Attribute: Hashable, Sendable {
        /// The neutral name.
        public let name: String
        /// The number of contacts that have the attribute.
        public let count: Int
        /// The number of values of each type.
        public let types: [AttributeType: Int]
        /// The target's field for the attribute; nil if there is none.
        public let field: String?
        /// The number of findings about the attribute, by code.
        public let findings: [String: Int]
        /// The number of contacts whose value would be left out.
        public let lost: Int
        /// `kept`, `renamed`, `changed` or `lost`; `unknown` if the target rejects every sample contact.
        public let fate: String
    }

    /// The counts of the keys of one kind.
    public struct Keys: Hashable, Sendable {
        /// The kind of identifier, or `push token`.
        public let kind: String
        /// The number of keys, including repetitions.
        public let total: Int
        /// The number of different keys.
        public let distinct: Int
        /// The number of different keys that differ from another one only in upper and lower case, or in the composition of
        /// accented letters.
        public let caseVariants: Int
        /// The number of keys in several records that contradict each other about a channel.
        public let torn: Int
        /// The number of contradictions about topics. A key counts once for each topic.
        public let tornTopics: Int
        /// The number of different keys that are the first of their kind in a written record.
        public let written: Int
        /// Some of the keys with contradictory records.
        let tornKeys: [KeyCounter.TornKey]

        /// The number of repetitions of keys.
        public var repeats: Int { total - distinct }
    }

    /// Records with the same key that contradict each other: one opts in and another opts out.
    public struct Contradiction: Hashable, Sendable {
        /// The kind of the key.
        public let kind: String
        /// The lines on which the records begin.
        public let lines: [Int]
    }

    /// A number of items with the same properties.
    public struct Count: Hashable, Sendable {
        /// The properties, as the values of members of a JSON object.
        public let what: [String]
        /// The number of items.
        public let count: Int
    }

    /// A decision in the source, and its state at the target.
    public struct Decision: Hashable, Sendable {
        /// The subject of the decision: `email`, `email, topic weekly`, `messaging on sms`.
        public let about: String
        /// The state in the source, `unreadable`, or `not stated`.
        public let before: String
        /// The state at the target, `not stated`, `not stored`, or `record rejected`.
        public let after: String
        /// The number of contacts.
        public let count: Int
    }

    /// A rule of the mapping, with its effects.
    public struct Rule: Hashable, Sendable {
        /// The rule as text, without the values that it writes.
        public let text: String
        /// The effects of the rule.
        public let effect: MappingEffect
    }

    /// An import route or an API of the vendor, with the estimated work.
    public struct Load: Hashable, Sendable {
        /// The route and its limits.
        public let route: ImportRoute
        /// The number of requests or files.
        public let requests: Int
        /// The duration in seconds at the given or the documented rate, or the time to wait for the vendor's jobs if that is
        /// longer; nil if neither is known.
        public let seconds: Int?
    }

    /// The id and the title of the source format.
    public let from: (id: String, title: String)
    /// The id and the title of the target format.
    public let to: (id: String, title: String)
    /// The counts of a run that writes nothing.
    public let report: MigrationReport
    /// The rules of the mapping, in order; empty without a mapping.
    public let mapping: [Rule]
    /// The parts of a contact that the source can contain, and how the target's format treats each of them.
    public let parts: [Part]
    /// The losses and changes, errors first, then the most frequent.
    public let losses: [Loss]
    /// The attributes of the source, sorted by name.
    public let attributes: [Attribute]
    /// The counts of keys, by kind.
    public let keys: [Keys]
    /// The lines of contradictory records; nil if they were not searched for: ``Migration/lines(of:in:isCancelled:)``.
    public var contradictions: [Contradiction]?
    /// Columns that may hold consent and that no setting names: ``Migration/unnamedConsent(in:)``.
    public var unnamedConsent: [Finding] = []
    /// The kind of identifier by which the target counts contacts; nil if it is not known.
    public let billedKind: String?
    /// The number of contacts that the target will count: the different keys of written contacts; nil if it is not known.
    public let billed: Int?
    /// The number of subscriptions by channel, whether there is a topic, and state.
    public let subscriptions: [Count]
    /// The number of consents by purpose, channel and state.
    public let consents: [Count]
    /// The decisions about a channel, a topic or a purpose, each with its states before and after and the number of contacts.
    public let decisions: [Decision]
    /// The number of contacts without a known decision.
    public let undecided: Int
    /// The number of contacts with an opt-in and an opt-out on one channel.
    public let torn: Int
    /// The number of contacts with an opt-in and an opt-out for one topic.
    public let tornTopics: Int
    /// The number of push tokens by service, environment, the app's id or `unnamed`, and form: `good` or `bad`.
    public let tokens: [Count]
    /// The number of push tokens by the age of their owner's last activity; empty if no attribute was named that has it.
    public let ages: [Count]
    /// The number of contacts with tags, of all tags, and of tags that the target cannot store.
    public let tags: (contacts: Int, total: Int, lost: Int)
    /// The number of contacts with a locale, of contacts with a time zone, and of devices.
    public let places: (locale: Int, timeZone: Int, devices: Int)
    /// The import routes and APIs of the vendor, with the estimated work.
    public let loads: [Load]
    /// A description of what can be undone and what cannot.
    public let undo: String
    /// A description of how opt-outs at the target are treated; nil if the target is a file.
    public let optOuts: String?
    /// A description of the effect of a blank cell at the target; nil if the target is not a file of rows with a header.
    public let blankCells: String?
    /// A description of the cells that are guarded against spreadsheet programs; nil if neither the source nor the target has
    /// rows with a header.
    public let formulas: String?
}

extension Migration {
    /// Reads the source to its end and reports what a migration would do. Nothing is written, except that many marks of keys
    /// are moved to an unnamed temporary file.
    ///
    /// - Parameters:
    ///   - source: The bytes to read.
    ///   - loads: The import routes of the target's vendor.
    ///   - server: The server API if it is the target.
    ///   - requestsPerSecond: The rate that the account allows; nil for the documented rate of each route.
    ///   - activity: The attribute with the time of a person's last activity, and the current date.
    ///   - workers: The number of threads, as for a run.
    ///   - progress: Called after each chunk.
    ///   - isCancelled: Called before each chunk; true cancels, and the plan is not complete.
    /// - Returns: The plan.
    /// - Throws: ``Failure`` if the source cannot be read as a whole or was changed meanwhile, ``FileError`` if reading or
    ///   writing the temporary file fails.
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

    /// Returns the parts of a contact that a file of the source can contain, and how the target's format treats each of them
    /// regardless of the data. With a mapping, every part is included, because the mapping may create it.
    ///
    /// - Throws: ``Failure`` with every problem of the settings.
    public func staticLoss() throws(Failure) -> [MigrationPlan.Part] {
        do {
            return MigrationPlan.parts(try FormatProbe(self), nil)
        } catch {
            throw Failure(error.findings)
        }
    }

    /// The kinds of identifiers by which the target identifies a contact, the usual one first; empty if its writer names
    /// none.
    var writtenKeys: [IdentifierKind] {
        let finder = targetFile?.settings.finder
        return (try? makeWriter())?.keyKinds.filter { $0 != finder } ?? []
    }

    /// The target as a contact file; nil if it is not one.
    var targetFile: ContactFile? {
        guard case .rows(let file, _)? = try? target.makeTargetLayout?(targetSettings) else { return nil }
        return file
    }

    /// A description of the effect of a blank cell of the target file at the vendor, and of the columns that are not written.
    fileprivate var blankCells: String {
        let effect = targetFile?.kind.blankCells ?? ContactFileKind.unknownBlankCells
        let omitted = omittedColumns.joined(separator: ", ")
        return effect + " "
            + (omittedColumns.isEmpty
                ? "To leave out a column that no contact fills, set it to ignored in the target's setting columns."
                : "Columns that nothing in the source can fill are not written: \(omitted). To write one, name it in the target's "
                    + "setting columns.")
    }

    /// The kind of identifier by which the target identifies contacts without a key, and the number of such contacts; nil if
    /// there are none.
    fileprivate func otherKey(in report: MigrationReport) -> (kind: IdentifierKind, count: Int)? {
        guard let file = targetFile, let kind = file.settings.finder,
            let finding = report.findings[file.kind.findings.otherKey.code]
        else { return nil }
        return (kind, finding.count)
    }

    /// The kind of identifier by which the target identifies a contact; nil if its layout names none.
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

    /// Returns the parts of the source that findings with a code may concern.
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
        let keys = counts.inOrder.map { kind, counts in
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
        // If neither the writer nor a server API names a key, contacts are counted by the organization's own key.
        let writtenKeys = migration.writtenKeys
        let writtenKey = writtenKeys.first { survey.identifiers[$0.rawValue] != nil } ?? writtenKeys.first
        let billedKind: IdentifierKind? =
            writtenKey ?? server?.target.server.keyKind
            ?? (survey.identifiers["external"] == nil ? nil : .external)
        self.billedKind = billedKind?.rawValue
        // Contacts with another key are added without checking whether two of them are the same person.
        let others = billedKind == writtenKeys.first ? survey.withOtherKey : 0
        billed = billedKind.flatMap { kind in
            // Without such keys, no contact is written, unless a mapping creates some.
            let own =
                keys.first { $0.kind == kind.rawValue }.map { $0.written + others }
                ?? (survey.identifiers[kind.rawValue] == nil && migration.mapping.isEmpty ? 0 : nil)
            // Contacts that another identifier identifies are added only if no such identifier is repeated.
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
            // Requests are sent while others wait for jobs, so the longer duration counts.
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

    /// The finding for addresses whose records contradict each other, if the target identifies contacts by another key. A run
    /// that reads the source once cannot know of an opt-out that comes later.
    private static let tornAddress = FindingRow(
        .warning("migration.consent.addressContradiction", .consent),
        reason:
            "Records with the same address opt in and out. If the source is a file, the opt-out applies to all of them. If it is a "
            + "pipe, an opt-in of another key before the opt-out stays",
        remedy: "Leave one record of each address in the source, or put the opt-outs first."
    )

    /// The finding for a target that rejects every sample contact, so that the plan cannot determine what the target stores.
    private static let probeRefused = FindingRow(
        .warning("migration.plan.probeRefused", .unsupported),
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

    /// Returns the losses. If the bulk path counted a reason for all attributes together, the survey names the attributes.
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
        return byName.inOrder.map { name, kinds in
            let types = Dictionary(kinds.map { ($0.key.type, $0.value) }, uniquingKeysWith: +)
            let common = types.max { ($0.value, $1.key.rawValue) < ($1.value, $0.key.rawValue) }?.key ?? .string
            let isOne = name != Survey.otherNames
            let field = isOne ? probe.field(of: AttributeName(rawValue: name), common) : name
            let findings = survey.attributeFindings.filter { $0.key.name == name }
            let found = Dictionary(findings.map { ($0.key.code, $0.value) }, uniquingKeysWith: +)
            let count = types.values.reduce(0, +)
            let left = found.filter { isLoss($0.key) }.values.reduce(0, +)
            let lost = field == nil && probe.refusal == nil ? count : min(left, count)
            let fate =
                probe.refusal != nil && field == nil
                ? "unknown" : lost == count ? "lost" : !found.isEmpty ? "changed" : field == name ? "kept" : "renamed"
            return Attribute(
                name: name,
                count: count,
                types: types,
                field: field,
                findings: found,
                lost: lost,
                fate: fate
            )
        }
    }

    /// The ends of the codes of findings that leave out an attribute's value.
    private static let losing: Set<String> = [
        "attribute.collision", "attribute.form", "record.blank", "record.noColumn", "record.second",
        "record.tooLong", "record.unfit", "record.unwritable",
    ]

    private static func isLoss(_ code: String) -> Bool {
        losing.contains(code.split(separator: ".").suffix(2).joined(separator: "."))
    }

    /// Returns the state of each decision at the target, which is determined by writing a sample and reading it back.
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
    /// Returns the duration of a number of requests in whole seconds.
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

    /// A description of what can be undone and what cannot, for files.
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
        return [
            "name": .string(name), "count": .integer(count), "lost": .integer(lost), "fate": .string(fate),
            "field": field.map(JSONValue.string) ?? .null, "types": .object(JSONObject(types)),
            "findings": .object(JSONObject(counts: findings)),
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

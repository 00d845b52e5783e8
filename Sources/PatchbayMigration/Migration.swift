public import Patchbay
public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

/// Converts contacts from one file format to another, record by record and in constant memory.
///
/// ```swift
/// let migration = try Migration(from: vendorExport, to: .neutralContacts)
/// var source = try FileSource(path: "contacts.csv")
/// let report = try migration.run(&source, to: output, rejects: rejects)
/// ```
public struct Migration: Sendable {
    /// An error that prevents a migration: invalid settings, or a source that cannot be read as a whole.
    public struct Failure: Error, Sendable, CustomStringConvertible {
        /// Every problem.
        public let findings: [Finding]

        init(_ findings: [Finding]) { self.findings = findings }

        /// One line per problem.
        public var description: String { findings.map(\.description).joined(separator: "\n") }
    }

    /// The progress of a migration.
    public struct Progress: Hashable, Sendable {
        /// The number of records read.
        public let records: Int
        /// The number of bytes read.
        public let bytes: Int
        /// The number of bytes that an earlier run had read, while the opt-outs in them are read again; nil when the run
        /// continues.
        public internal(set) var hearing: Int?
        /// Whether the source is read again, with the opt-outs known that contradict an opt-in.
        public internal(set) var isSecondPass = false
    }

    let makeReader: @Sendable () throws(SettingsError) -> any ContactReader
    private(set) var makeWriter: @Sendable () throws(SettingsError) -> any ContactWriter
    let catalogue: AttributeCatalogue
    let source: RecordFormat
    let target: RecordFormat
    let targetSettings: JSONObject
    /// The columns of the target file that are not written, because nothing can fill them.
    private(set) var omittedColumns: [String] = []
    /// The source whose records decided these columns; nil if something else did.
    var surveyedInput: InputIdentity?
    /// The target's settings with these columns set to ignored.
    public private(set) var writtenSettings: JSONObject
    /// The changes to every contact.
    public let mapping: ContactMapping
    /// The layout of the source's records; nil if records cannot be read on their own.
    let sourceLayout: SourceLayout?
    /// The plan for reading, mapping and writing records.
    var bulk: BulkPlan
    /// The moment at which a run learns of the opt-outs that lower an opt-in.
    var optOutKnowledge = OptOutKnowledge.inOrder(needsAll: false)
    /// The maximum number of opt-outs that a run keeps in memory if it learns of them in order.
    var optOutLimit = EarlierOptOuts.usualLimit
    /// The path of a file of the source's format that was migrated earlier; nil if there is none.
    ///
    /// Opt-outs in it remain in force in every run, as if its records preceded those of the source. A consent decision of
    /// an invalid record counts if it can be read, because the source may have the corrected record.
    public var earlier: String?

    /// The share of rejected records above which a run stops.
    public struct RejectLimit: Hashable, Sendable {
        /// The maximum share, in percent.
        public var percent: Int
        /// The minimum number of records in a source of fewer than 10,000 records for the limit to apply.
        public var fewestRecords: Int

        /// Creates a limit.
        public init(percent: Int = 50, fewestRecords: Int = 100) {
            (self.percent, self.fewestRecords) = (percent, fewestRecords)
        }
    }

    /// The share of rejected records above which a writing run stops; nil never stops. It is examined once: after the first
    /// 10,000 records, or at the end of a shorter source.
    public var rejectLimit: RejectLimit?

    /// The settings by the codes of the findings that follow from them.
    var deciding: [String: String] {
        source.deciding.mapValues { "from.\($0)" }
            .merging(target.deciding.mapValues { "to.\($0)" }) { _, target in target }
    }

    /// Creates a migration between two formats.
    ///
    /// - Parameters:
    ///   - source: The source format.
    ///   - target: The target format.
    ///   - sourceSettings: The settings of the source format.
    ///   - targetSettings: The settings of the target format.
    ///   - catalogue: The types to which attributes are converted.
    ///   - mapping: The changes to every contact, which are applied before types are converted.
    /// - Throws: ``Failure`` if a format has no such direction, or with every problem of the settings.
    public init(
        from source: RecordFormat,
        to target: RecordFormat,
        sourceSettings: JSONObject = [:],
        targetSettings: JSONObject = [:],
        catalogue: AttributeCatalogue = AttributeCatalogue(),
        mapping: ContactMapping = ContactMapping()
    ) throws(Failure) {
        guard let read = source.makeReader else {
            throw Failure([Self.oneWay.at("from", detail: "\(source.id) is only written")])
        }
        guard let write = target.makeWriter else {
            throw Failure([Self.oneWay.at("to", detail: "\(target.id) is only read")])
        }
        makeReader = { () throws(SettingsError) in try read(sourceSettings) }
        makeWriter = { () throws(SettingsError) in try write(targetSettings) }
        writtenSettings = targetSettings
        (self.catalogue, self.mapping) = (catalogue, mapping)
        (self.source, self.target, self.targetSettings) = (source, target, targetSettings)
        sourceLayout = try? source.makeSourceLayout?(sourceSettings)
        bulk = BulkPlan(
            source: sourceLayout,
            layout: try? target.makeTargetLayout?(targetSettings),
            catalogue: catalogue,
            mapping: mapping,
            makeReader: makeReader,
            makeWriter: makeWriter
        )
        let problems = Self.problems(makeReader, at: "from") + Self.problems(makeWriter, at: "to")
        if !problems.isEmpty { throw Failure(problems) }
    }

    /// Returns the migration in a form whose opt-ins do not depend on the order of the records.
    ///
    /// If `path` is the path of the source, a regular file, its opt-outs are read before its first record. If it is nil, as for
    /// a pipe, a run fails if a record opts in and a later record of the same person opts out.
    public func heedingLaterOptOuts(in path: String?) -> Migration {
        var migration = self
        migration.optOutKnowledge = path.map(OptOutKnowledge.ahead) ?? .inOrder(needsAll: true)
        return migration
    }

    /// Leaves out columns of the target file, see ``omitUnfilledColumns(in:head:readsRecords:progress:isCancelled:)``.
    public mutating func omit(_ columns: [String]) {
        guard !columns.isEmpty, let write = target.makeWriter else { return }
        var (settings, places) = (targetSettings, targetSettings["columns"]?.object ?? [:])
        for name in columns { places[name] = .string(ContactPlace.ignored.text) }
        settings["columns"] = .object(places)
        // The settings were valid with these columns, so they are kept if the target does not work without them.
        guard (try? write(settings)) != nil else { return }
        makeWriter = { [settings] () throws(SettingsError) in try write(settings) }
        bulk = BulkPlan(
            source: sourceLayout,
            layout: try? target.makeTargetLayout?(settings),
            catalogue: catalogue,
            mapping: mapping,
            makeReader: makeReader,
            makeWriter: makeWriter
        )
        (omittedColumns, writtenSettings) = (columns, settings)
    }

    /// Reported for a source without any line. A reader of rows reports a file that has only a header.
    static let empty = FindingRow(
        .error("migration.input.empty", .missing),
        reason: "The source holds no contacts",
        remedy: "Export the contacts again."
    )
    /// Throws an error if columns of the source may hold consent and no setting names them. As plain attributes, their
    /// opt-outs would be lost.
    ///
    /// - Parameter path: The source, a regular file. The migration itself reports all other problems of it.
    /// - Throws: ``Failure`` with each column and the setting that names it.
    public func refuseUnnamedConsent(in path: String) throws(Failure) {
        let unnamed = unnamedConsent(in: path)
        if !unnamed.isEmpty { throw Failure(unnamed) }
    }

    /// Checks a source that can be read only once, after it was read and before the output is kept.
    public func refuseUnnamedConsent(_ report: MigrationReport, head: [UInt8]) throws(Failure) {
        let unnamed = unnamedConsent(inHead: head)
        if !unnamed.isEmpty { throw Failure(unnamed) }
        guard report.findings.keys.contains(where: { $0.hasSuffix(Self.unnamedCode) }) else { return }
        throw Failure([Self.consentUnnamed.at("from.columns")])
    }

    /// The number of bytes of a source that are searched for columns that may hold consent.
    static let consentHeadBytes = 4 << 20

    /// Findings for the columns of a file that may hold consent, by their names or their contents, and that no setting
    /// names.
    public func unnamedConsent(in path: String) -> [Finding] {
        mayHaveColumns ? (try? FileSource.head(of: path)).map(unnamedConsent(inHead:)) ?? [] : []
    }

    private var mayHaveColumns: Bool {
        switch sourceLayout {
        case .neutralLines?, .members?: false
        case .columns?, nil: true
        }
    }

    /// Findings for the columns of a source that begins with these bytes.
    public func unnamedConsent(inHead head: [UInt8]) -> [Finding] {
        guard mayHaveColumns, var reader = try? makeReader() else { return [] }
        let found: [Finding]
        // The first record has the findings of the file.
        do { found = try reader.firstRecord(in: head)?.findings ?? [] } catch { return [] }
        let byName = found.filter { $0.code.hasSuffix(Self.unnamedCode) }
            .map { Self.consentUnnamed.at("from".dot($0.path), remedy: $0.remedy) }
        let paths = Set(byName.map(\.path))
        return byName + unnamedByContent(head).filter { !paths.contains($0.path) }
    }

    private func unnamedByContent(_ head: [UInt8]) -> [Finding] {
        guard case .columns(let layout)? = sourceLayout else { return [] }
        var unexplained: [(index: Int, name: String, content: ConsentContent)]?
        var rows = 0
        layout.eachRow(ofHead: head) { columns, fields in
            rows += 1
            var rest =
                unexplained.take()
                ?? columns.enumerated().filter { $1.isUnexplained && !isExplained($1) }
                .map { ($0, $1.header, ConsentContent()) }
            for place in rest.indices where !fields[rest[place].index].isEmpty {
                rest[place].content.add(fields[rest[place].index])
            }
            rest.removeAll { $0.content.isOther && !$0.content.statesOptOut && rows >= Self.rowsOfOtherTexts }
            unexplained = rest
            return !rest.allSatisfy(\.content.statesOptOut)
        }
        return (unexplained ?? []).filter(\.content.isLikely).map { column in
            let row = column.content.statesOptOut ? Self.consentStated : Self.consentLikely
            return row.at("from.columns".dot(column.name), remedy: ContactFile.remedy(naming: column.name))
        }
    }

    /// The number of rows in which a column of any texts is searched for opt-outs.
    private static let rowsOfOtherTexts = 2000

    /// Whether the configuration defines the attribute of a column, by its type or by a mapping rule.
    private func isExplained(_ column: ColumnLayout.Column) -> Bool {
        guard case .attribute(let name, _) = column.role else { return true }
        return catalogue.type(of: name) != nil || mapping.rules.contains { $0.reads(.attribute(name)) }
    }

    private static let unnamedCode = ".file.consentUnnamed"
    static let consentUnnamed = FindingRow(
        .error("migration.consent.unnamed", .consent),
        reason: "The column's name speaks of consent, but no setting says what the column means",
        remedy: "Name the column in the setting columns: as consent, as an attribute, or as ignored."
    )
    static let consentLikely = consentUnnamed.with(
        reason:
            "Each field of the column is a yes or no or a consent status, but no setting says what the column means",
        remedy: consentUnnamed.remedy
    )
    private static let consentStated = consentUnnamed.with(
        reason: "The column says of people that they have opted out, but no setting says what the column means",
        remedy: consentUnnamed.remedy
    )
    private static let oneWay = FindingRow(
        .error("migration.format.direction", .unsupported),
        reason: "The format cannot be used in this direction",
        remedy: "Choose another format; `patchbay adapters` lists them."
    )

    private static func problems<Made>(_ make: () throws(SettingsError) -> Made, at path: String) -> [Finding] {
        do {
            _ = try make()
            return []
        } catch {
            return error.findings.map { finding in
                var finding = finding
                finding.path = finding.path.isEmpty ? path : path.dot(finding.path)
                return finding
            }
        }
    }

    /// Reads the source to its end and writes every contact that the target can hold.
    ///
    /// Every record is either written or rejected. The caller commits the outputs afterwards.
    /// - Parameters:
    ///   - source: The bytes to read.
    ///   - output: Receives the contacts; nil makes a dry run, which counts and reports the same but writes nothing.
    ///   - rejects: Receives the records that cannot be written; nil only counts them.
    ///   - workers: The number of threads that map records; nil is one for each processor, and 1 maps on the calling
    ///     thread.
    ///   - checkpoints: The place at which the run begins, and the receiver of its checkpoints; nil begins at the start and
    ///     keeps none.
    ///   - evidence: Receives evidence of consent; nil writes none.
    ///   - progress: Called after each chunk.
    ///   - isCancelled: Called before each chunk; true ends the migration early.
    /// - Returns: The counts.
    /// - Throws: ``Failure`` if the source cannot be read as a whole or was changed meanwhile, ``FileError`` if reading or
    ///   writing fails.
    public func run(
        _ source: inout some ByteSource,
        to output: (any ByteSink)?,
        rejects: Rejects? = nil,
        workers: Int? = nil,
        checkpoints: Checkpoints? = nil,
        evidence: Evidence? = nil,
        progress: @escaping (Progress) -> Void = { _ in },
        isCancelled: @escaping () -> Bool = { false }
    ) throws -> MigrationReport {
        let company = Company(checkpoints: checkpoints, evidence: evidence)
        return try run(&source, to: output, rejects, workers, company, progress, isCancelled)
    }

    /// The optional participants of a run.
    struct Company {
        var checkpoints: Checkpoints?
        var evidence: Evidence?
        var surveyor: Surveyor?
        /// Whether the order of opt-ins and opt-outs does not matter, because nothing is written.
        var ignoresOptOuts = false
        /// Receives each record that is written.
        var follower: RecordFollower?
    }

    /// The dialect of the source's rows, if rejected rows get guards against spreadsheet programs.
    var guardedRejects: DelimitedDialect? {
        guard case .columns(let layout)? = sourceLayout, layout.guardsRejects else { return nil }
        return layout.dialect
    }

    func run(
        _ source: inout some ByteSource,
        to output: (any ByteSink)?,
        _ rejects: Rejects?,
        _ workers: Int?,
        _ company: Company,
        _ progress: @escaping (Progress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) throws -> MigrationReport {
        if let surveyedInput, let path = source.rereadablePath,
            try InputIdentity(FileSource(path: path), path: path) != surveyedInput
        {
            throw Failure([Checkpoint.changedInput.at(path)])
        }
        var rejects = rejects
        rejects?.guarded = guardedRejects
        var surroundings = BulkRun.Surroundings(
            output: output,
            rejects: rejects,
            progress: progress,
            isCancelled: isCancelled,
            keeping: company.checkpoints,
            surveyor: company.surveyor,
            consent: try consent(company, workers, progress, isCancelled),
            deciding: deciding
        )
        (surroundings.evidence, surroundings.follower) = (company.evidence.map(EvidenceWriter.init), company.follower)
        surroundings.rejectLimit = output == nil ? nil : rejectLimit
        do {
            let report = try map(&source, surroundings, workers, company)
            if let change = try source.change() { throw Failure([change]) }
            if report.isComplete, report.read == 0, !isCancelled() { throw Failure([Self.empty.at(source.name)]) }
            return report
        } catch let error as SettingsError {
            let isFirst = { (path: String) in path.isEmpty || path == "header" || path.hasPrefix("line ") }
            throw Failure(error.findings.map { isFirst($0.path) ? $0.inFile(source.name) : $0 })
        }
    }

    /// The receiver of the consent decisions of a run, with all opt-outs that must be known before the first record.
    private func consent(
        _ company: Company,
        _ workers: Int?,
        _ progress: @escaping (Progress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) throws -> ConsentReceiver {
        if company.ignoresOptOuts { return .ignored }
        let checkpoints = company.checkpoints
        switch optOutKnowledge {
        case .none: return .keys(DecidedKeys(isLogged: checkpoints?.optOuts != nil))
        case .ahead(let path):
            var known: Set<UInt64> = []
            if let log = checkpoints?.resumedLog {
                try log.eachEarlier { known.formUnion($0) }
            } else {
                known = try contradictedOptOuts(in: path, workers, progress, isCancelled)
                try checkpoints?.optOuts?.append(Array(known))
            }
            return known.isEmpty ? .ignored : .known(known)
        case .inOrder(let needsAll):
            // Evidence covers every decision, so every opt-out must be in memory.
            let optOuts = EarlierOptOuts(limit: company.evidence == nil ? optOutLimit : .max)
            // An unreadable value of the earlier file may be the one that was corrected in the source.
            if let earlier {
                try readDecisions(of: earlier, unreadableIsOptOut: false, workers, progress, isCancelled) { marks in
                    optOuts.learn(marks.filter { $0 & ConsentMark.no != 0 })
                    try optOuts.spill()
                }
            }
            return .learning(optOuts, needsAll: needsAll)
        }
    }

    /// The opt-outs of a file, and of the file that was migrated earlier, that contradict an opt-in of either.
    func contradictedOptOuts(
        in path: String,
        _ workers: Int?,
        _ progress: @escaping (Progress) -> Void,
        _ isCancelled: @escaping () -> Bool
    ) throws -> Set<UInt64> {
        let decisions = ConsentDecisions()
        for (path, isEarlier) in (earlier.map { [($0, true)] } ?? []) + [(path, false)] {
            try readDecisions(of: path, unreadableIsOptOut: !isEarlier, workers, progress, isCancelled) { marks in
                decisions.add(marks)
                try decisions.spill()
            }
        }
        return try decisions.contradictedOptOuts()
    }

    /// Reads the consent decisions of all records of a file.
    private func readDecisions(
        of path: String,
        unreadableIsOptOut: Bool,
        _ workers: Int?,
        _ progress: @escaping (Progress) -> Void,
        _ isCancelled: @escaping () -> Bool,
        _ take: @escaping ([UInt64]) throws -> Void
    ) throws {
        var source = try FileSource(path: path)
        let reading = BulkRun.Surroundings(reading: .decisions(take), of: source.size ?? 0, progress, isCancelled)
        var migration = self
        migration.bulk.treatsUnreadableAsOptOut = unreadableIsOptOut
        do {
            _ = try migration.map(&source, reading, workers, Company())
        } catch let error as SettingsError {
            throw Failure(error.findings.map { $0.inFile(path) })
        }
        if let change = try source.change() { throw Failure([change]) }
    }

    /// Maps every record of a source on the bulk path.
    private func map(
        _ source: inout some ByteSource,
        _ surroundings: BulkRun.Surroundings,
        _ workers: Int?,
        _ company: Company
    ) throws -> MigrationReport {
        var bulk = bulk
        (bulk.counts, bulk.isFollowed) = (company.surveyor != nil, company.follower != nil)
        bulk.activity = company.surveyor?.activity
        if let salt = company.evidence?.salt {
            bulk.makeEvidence = { [migration = self] in try ConsentEvidence(migration, salt: salt) }
        }
        bulk.rejecting = BulkPlan.Rejecting(deciding: deciding, keepsRecords: surroundings.rejects != nil)
        return try BulkRun.run(bulk, &source, surroundings, workers: max(1, workers ?? Processors.usable))
    }
}

import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// A migration from a file through a vendor's server API: the engine delivers, with the server API's rate, its jobs and its
/// repeats, and every record gets its verdict.
///
/// It may be killed at any moment: run again, it continues where it stood. Beside the file of verdicts stand until then
/// `<file>.partial`, `<file>.checkpoint`, and the run's outbox, `<file>.outbox`, which holds what is on its way.
public struct ServerMigration: Sendable {
    /// The files of a migration through a server API: `output` tells what became of each record.
    public typealias Files = ResumableMigration.Files

    private let migration: Migration
    private let target: ServerTarget
    private let files: Files
    private let settings: [(String, JSONValue)]

    /// A migration through a server API.
    ///
    /// - Parameters:
    ///   - migration: what is done with each record; its target is the server API's format.
    ///   - target: the server API.
    ///   - files: what is read and written.
    ///   - settings: everything that decides what is said, each part under the name by which a person knows it.
    public init(_ migration: Migration, to target: ServerTarget, _ files: Files, settings: [(String, JSONValue)]) {
        (self.migration, self.target, self.files) = (migration, target, files)
        self.settings = settings
    }

    /// Runs it to its end, until it is cancelled, or until the provider stops.
    ///
    /// - Parameters:
    ///   - surroundings: the network, the clocks, who listens.
    ///   - restarts: whether what an earlier run left is thrown away.
    /// - Returns: the numbers, and whether every record has its verdict.
    /// - Throws: ``Migration/Failure``, ``FileError``, and what the outbox throws; what was said stays said, and the next run
    ///   continues.
    public nonisolated(nonsending) func run(_ surroundings: ServerSurroundings, restarts: Bool) async throws
        -> ServerOutcome
    {
        let source = try FileSource(path: files.input)
        let input = try InputIdentity(source, path: files.input)
        if files.journal != nil, !target.canRead {
            throw Migration.Failure([ServerFinding.noJournal.at("journal", detail: target.descriptor.id.rawValue)])
        }
        if target.isBlind {
            throw Migration.Failure([
                ServerFinding.optOutsUnseen.at("to.targetOptOuts", detail: target.descriptor.id.rawValue)
            ])
        }
        if !restarts, let checkpoint = try Checkpoint(of: files.output), checkpoint.place.report.isComplete {
            ServerMigrationFiles.removeOutbox(ServerMigrationFiles.outbox(of: files.output))
            let outcome = try ResumableMigration.finish(checkpoint, files.outputs)
            return ServerOutcome(
                report: outcome.report,
                accounts: nil,
                resumed: outcome.resumed,
                isCommitted: true,
                stopped: nil
            )
        }
        let identity = ServerMigrationFiles.Identity(
            settings + [
                ("provider", target.identity), ("outputs", .array(files.outputs.map { .string($0) })),
                ("journal", files.journal.map { .string($0) } ?? .null),
            ]
        )
        let run = try ServerMigrationFiles(files.outputs, identity, input, at: files.input, restarts: restarts)
        do {
            let feed = try ApplyFeed(migration, target, files, run, source, input, surroundings, restarts: restarts)
            return try await ServerRun(
                target,
                run,
                feed,
                surroundings,
                deciding: migration.deciding,
                rejectLimit: migration.rejectLimit
            )
            .run()
        } catch is CancellationError {
            return run.leaveStopped()
        } catch let error as SettingsError {
            run.leave()
            throw Migration.Failure(error.findings)
        } catch {
            run.leave()
            throw error
        }
    }
}

/// Reads records and maps them.
private final class ApplyFeed: ServerFeed {
    private var source: ServerSource
    private let path: String
    private let input: InputIdentity
    private let writer: ServerWriter
    private var general: GeneralPath
    private let results: ServerResults
    private let evidence: (consent: ConsentEvidence, writer: EvidenceWriter)?
    private let journal: ServerJournal?
    private let target: ServerTarget
    private let surroundings: ServerSurroundings
    /// Bytes of the source that an earlier run had read, and those of them, with their records, that were read again.
    private let before: Int
    private var again = (records: 0, bytes: 0)
    /// Records that an earlier run settled.
    private let settled: Int
    /// What people said no to at a target that is read in pages.
    private var optOuts = TargetOptOuts()
    /// Whether the pages are wanted for the sake of an opt-in, and whether they were read.
    private var (wantsOptOuts, hasOptOuts) = (false, false)

    init(
        _ migration: Migration,
        _ target: ServerTarget,
        _ files: ServerMigration.Files,
        _ run: ServerMigrationFiles,
        _ source: FileSource,
        _ input: InputIdentity,
        _ surroundings: ServerSurroundings,
        restarts: Bool
    ) throws {
        (self.surroundings, before) = (surroundings, run.earlier?.place.offset ?? 0)
        (path, self.input, self.target) = (files.input, input, target)
        settled = run.earlier?.place.report.read ?? 0
        self.source = try ServerSource(migration, source, at: files.input, after: run.earlier?.place)
        writer = ServerWriter(ServerMapper(target.server, target.settings))
        let earlierOptOuts = EarlierOptOuts(limit: .max)
        general = GeneralPath(
            writer: writer,
            catalogue: migration.catalogue,
            mapping: migration.mapping,
            applying: earlierOptOuts
        )
        results = ServerResults(
            run.outputs,
            hasRejects: files.rejects != nil,
            guarded: migration.guardedRejects,
            after: run.earlier?.place
        )
        let done = settled
        let goesOn = run.earlier != nil || restarts
        // The journal is there before the outbox is.
        let hasSpoken = run.earlier != nil && access(run.outbox, F_OK) == 0
        var optOuts = TargetOptOuts()
        let isPaged = target.isPaged
        journal = try files.journal.map {
            // What a run found that is begun anew stays the way back: it came first.
            try ServerJournal(
                $0,
                target,
                goesOn: goesOn,
                settled: run.earlier == nil ? .max : done,
                hasSpoken: hasSpoken,
                from: run.earlier?.place.journal ?? 0,
                telling: { lines, bytes, total in
                    try surroundings.tell(ServerProgress.Part.journal(of: total), records: lines, bytes: bytes)
                },
                noting: { key, contact in
                    if isPaged { optOuts.note(key, contact) }
                }
            )
        }
        self.optOuts = optOuts
        hasOptOuts = journal?.isComplete ?? false
        evidence = try files.evidence.map { _ in
            let sink = run.outputs[files.evidencePlace]
            let writer = EvidenceWriter(Migration.Evidence(to: sink, salt: input.head, hasBegun: done > 0))
            return (try ConsentEvidence(migration, salt: input.head), writer)
        }
        var withOwn = migration
        withOwn.ownSource = files.input
        try withOwn.readEarlierOptOuts(into: earlierOptOuts, nil, surroundings.heard, surroundings.isCancelled)
        if surroundings.isCancelled() { throw CancellationError() }
        try hear(files.input, before: run.earlier?.place, by: migration)
    }

    func next() throws -> [ServerItem]? {
        var items: [ServerItem] = []
        while items.isEmpty, try source.next(seeing: note, { try take($0, &items) }) {
            if items.isEmpty { try tellHearing() }
        }
        guard try source.isUnchanged(since: input) else { throw Migration.Failure([Checkpoint.changedInput.at(path)]) }
        return items.isEmpty ? nil : items
    }

    private func note(_ chunk: [UInt8]) {
        again.bytes += chunk.count
        results.note(chunk)
    }

    private func tellHearing() throws {
        try surroundings.tell(ServerProgress.Part.hearing(of: before), records: again.records, bytes: again.bytes)
    }

    /// Hears what stands before the place where the source begins.
    private func hear(_ input: String, before place: Checkpoints.Place?, by migration: Migration) throws {
        guard let place, place.isExact else { return }
        var (reader, part) = (try migration.makeReader(), try FileSource(path: input, upTo: place.offset))
        while let chunk = try part.next() {
            try reader.read(chunk, hear)
            again.bytes += chunk.count
            try tellHearing()
        }
        try reader.finish(hear)
    }

    private func hear(_ record: SourceRecord) throws {
        again.records += 1
        try general.read(record)
    }

    private func take(_ record: SourceRecord, _ items: inout [ServerItem]) throws {
        guard record.number > settled else { return try hear(record) }
        try results.begin(line: record.line)
        var bytes: [UInt8] = []
        let findings = try general.move(record, to: &bytes)
        var row = findings.contains { $0.severity == .error } ? ServerRow() : writer.row
        row.findings = findings
        items.append(ServerItem(record, row, effects: general.takeEffects()))
    }

    // MARK: What stood there before

    var wantsPages: Bool {
        guard target.isPaged else { return false }
        return journal.map { !$0.isComplete } ?? false || wantsOptOuts && !hasOptOuts
    }

    func take(_ page: [(key: String, contact: Contact)]?) throws {
        guard let page else {
            hasOptOuts = true
            return try journal?.complete() ?? ()
        }
        for one in page {
            try journal?.write(held: one.key, one.contact)
            optOuts.note(one.key, one.contact)
        }
    }

    /// Whether the vendor must be asked before the row is said: for the way back, or for the sake of an opt-in.
    private func isAsked(_ item: ServerItem) -> Bool {
        guard !item.row.isRejected else { return false }
        if let journal { return journal.rows[item.number].map { !ScalarString.equal($0.key, item.row.key) } ?? true }
        return target.keepsOptOuts && item.row.actions.contains(where: \.isYes)
    }

    func questions(of items: [ServerItem]) -> [String] {
        guard !target.isPaged else {
            wantsOptOuts = wantsOptOuts || items.contains(where: isAsked)
            return []
        }
        return target.canRead ? items.filter(isAsked).map(\.row.key) : []
    }

    func prepare(_ items: [ServerItem], _ held: [ScalarString: Contact]) throws -> [ServerItem] {
        var items = items
        for place in items.indices where !items[place].row.isRejected {
            items[place].row = target.isPaged ? prepare(paged: items[place]) : prepare(asked: items[place], held)
        }
        try journal?.sync()
        return items
    }

    private func prepare(paged item: ServerItem) -> ServerRow {
        var row = item.row
        let (key, image) = (row.key, row.image)
        keepOptOuts(in: &row) { optOuts.reason(against: $0, of: key, image) }
        journal?.write(row: item.number, key: row.key, before: .none, wrote: writer.mapper.trace(of: row))
        return row
    }

    private func prepare(asked item: ServerItem, _ held: [ScalarString: Contact]) -> ServerRow {
        var row = item.row
        let known = journal?.rows[item.number].flatMap { ScalarString.equal($0.key, row.key) ? $0 : nil }
        let before = known.map { $0.before ?? nil } ?? held[ScalarString(row.key)]
        // Before any yes is left out: whoever continues must find the same opt-outs.
        let part = before.map { $0.part(in: writer.mapper.trace(of: row)) }
        if let before { keepOptOuts(in: &row) { before.reason(against: $0) } }
        if known == nil {
            let wrote = writer.mapper.trace(of: row)
            journal?.write(row: item.number, key: row.key, before: .some(part), wrote: wrote)
        }
        return row
    }

    /// Leaves out each opt-in to what the person said no to at the target.
    private func keepOptOuts(in row: inout ServerRow, _ reason: (Subscription.Key) -> FindingRow?) {
        guard target.keepsOptOuts else { return }
        for place in row.actions.indices.reversed() {
            guard case .changeSubscription(let wish) = row.actions[place], wish.state == .subscribed,
                let reason = reason(wish.key)
            else { continue }
            row.findings.append(reason.at(row.paths[place]))
            row.actions.remove(at: place)
            row.paths.remove(at: place)
            row.image = writer.mapper.image(of: row)
        }
    }

    // MARK: Verdicts

    func settled(_ item: ServerItem, _ findings: [Finding]) throws {
        source.settled(item.number)
        try results.write(item, findings)
        guard let evidence, !item.row.isRejected else { return }
        var taken = item.row
        taken.actions = item.taken
        let image = writer.mapper.image(of: taken)
        _ = evidence.consent.findings(of: item.record, number: 1, image.jsonBytes[...], findings)
        try evidence.writer.write(evidence.consent.takeLines(), after: item.number - 1)
    }

    func flush(_ place: inout Checkpoints.Place) throws {
        try results.flush(&place)
        source.note(in: &place)
        place.journal = journal?.place(after: place.report.read) ?? 0
    }
}

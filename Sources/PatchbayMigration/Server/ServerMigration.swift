import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySystem

/// A migration from a file through a vendor's server API. The engine delivers the operations with the API's rate limit,
/// jobs and retries, and every record gets a verdict.
///
/// The migration can be resumed after an interruption at any moment. Until it is complete, `<file>.partial`,
/// `<file>.checkpoint`, and the outbox of pending operations, `<file>.outbox`, are located beside the file of verdicts.
public struct ServerMigration: Sendable {
    /// The files of a migration through a server API. `output` receives the verdict of each record.
    public typealias Files = ResumableMigration.Files

    private let migration: Migration
    private let target: ServerTarget
    private let files: Files
    private let settings: [(String, JSONValue)]

    /// Creates a migration through a server API.
    ///
    /// - Parameters:
    ///   - migration: The conversion of each record; its target is the server API's format.
    ///   - target: The server API.
    ///   - files: The inputs and outputs.
    ///   - settings: Every setting that affects the operations, with its name for messages.
    public init(_ migration: Migration, to target: ServerTarget, _ files: Files, settings: [(String, JSONValue)]) {
        (self.migration, self.target, self.files) = (migration, target, files)
        self.settings = settings
    }

    /// Runs the migration until it is complete, it is cancelled, or the provider is suspended.
    ///
    /// - Parameters:
    ///   - surroundings: The network, the clocks and the observers.
    ///   - restarts: Whether to discard the progress of an earlier run.
    /// - Returns: The counts, and whether every record has a verdict.
    /// - Throws: ``Migration/Failure``, ``FileError``, and the errors of the outbox. Sent operations are not reverted, and
    ///   the next run resumes.
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
    /// The number of bytes of the source that an earlier run had read. `again` counts the records and bytes of them that
    /// were read again.
    private let before: Int
    private var again = (records: 0, bytes: 0)
    /// The number of records that an earlier run settled.
    private let settled: Int
    /// The opt-outs at a target that is read in pages.
    private var optOuts = TargetOptOuts()
    /// Whether the pages are needed because of an opt-in, and whether they were read.
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
        results = ServerResults(
            run.outputs,
            hasRejects: files.rejects != nil,
            guarded: migration.guardedRejects,
            after: run.earlier?.place
        )
        let done = settled
        let acceptsExisting = run.earlier != nil || restarts
        // The journal is created before the outbox.
        let hasSpoken = run.earlier != nil && access(run.outbox, F_OK) == 0
        var optOuts = TargetOptOuts()
        let isPaged = target.isPaged
        journal = try files.journal.map {
            // The journal of a run that is started over is kept, because it has the values before the first run.
            try ServerJournal(
                $0,
                target,
                acceptsExisting: acceptsExisting,
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
        let known = try migration.contradictedOptOuts(
            in: files.input,
            nil,
            surroundings.reportReading,
            surroundings.isCancelled
        )
        general = GeneralPath(
            writer: writer,
            catalogue: migration.catalogue,
            mapping: migration.mapping,
            consent: .lowering,
            applying: EarlierOptOuts(known: known)
        )
        if surroundings.isCancelled() { throw CancellationError() }
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

    private func take(_ record: SourceRecord, _ items: inout [ServerItem]) throws {
        guard record.number > settled else { return again.records += 1 }
        try results.begin(line: record.line)
        var bytes: [UInt8] = []
        let findings = general.move(record, to: &bytes)
        var row = findings.contains { $0.severity == .error } ? ServerRow() : writer.row
        row.findings = findings
        items.append(ServerItem(record, row, effects: general.takeEffects()))
    }

    // MARK: Values before the migration

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

    /// Whether the vendor must be queried before the row is sent, for the journal or because of an opt-in.
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
        // The journal keeps the values before any opt-in is left out, so that a resumed run finds the same opt-outs.
        let part = before.map { $0.part(in: writer.mapper.trace(of: row)) }
        if let before { keepOptOuts(in: &row) { before.reason(against: $0) } }
        if known == nil {
            let wrote = writer.mapper.trace(of: row)
            journal?.write(row: item.number, key: row.key, before: .some(part), wrote: wrote)
        }
        return row
    }

    /// Removes each opt-in from which the person opted out at the target.
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

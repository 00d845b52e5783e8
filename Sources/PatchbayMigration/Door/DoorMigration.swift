import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
import PatchbaySystem

/// A migration from a file through a vendor's server API: the engine delivers, with the door's rate, its jobs and its
/// repeats, and every record gets its verdict.
///
/// It may be killed at any moment: run again, it continues where it stood. Beside the file of verdicts stand until then
/// `<file>.partial`, `<file>.checkpoint`, and the run's outbox, `<file>.outbox`, which holds what is on its way.
public struct DoorMigration: Sendable {
    /// The files of a migration through a door: `output` tells what became of each record.
    public typealias Files = ResumableMigration.Files

    private let migration: Migration
    private let target: DoorTarget
    private let files: Files
    private let settings: [(String, JSONValue)]

    /// A migration through a door.
    ///
    /// - Parameters:
    ///   - migration: what is done with each record; its target is the door's format.
    ///   - target: the door.
    ///   - files: what is read and written.
    ///   - settings: everything that decides what is said, each part under the name by which a person knows it.
    public init(_ migration: Migration, to target: DoorTarget, _ files: Files, settings: [(String, JSONValue)]) {
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
    public nonisolated(nonsending) func run(_ surroundings: DoorSurroundings, restarts: Bool) async throws
        -> DoorOutcome
    {
        let source = try FileSource(path: files.input)
        let input = try InputIdentity(source, path: files.input)
        if files.journal != nil, !target.canRead {
            throw Migration.Failure([DoorFinding.noJournal.at("journal", detail: target.descriptor.id.rawValue)])
        }
        if target.isBlind {
            throw Migration.Failure([
                DoorFinding.optOutsUnseen.at("to.targetOptOuts", detail: target.descriptor.id.rawValue)
            ])
        }
        if !restarts, let checkpoint = try Checkpoint(of: files.output), checkpoint.place.report.isComplete {
            DoorFiles.removeOutbox(DoorFiles.outbox(of: files.output))
            let outcome = try ResumableMigration.finish(checkpoint, files.outputs)
            return DoorOutcome(
                report: outcome.report,
                accounts: nil,
                resumed: outcome.resumed,
                isCommitted: true,
                stopped: nil
            )
        }
        let identity = DoorFiles.Identity(
            settings + [
                ("provider", target.identity), ("outputs", .array(files.outputs.map { .string($0) })),
                ("journal", files.journal.map { .string($0) } ?? .null),
            ]
        )
        let run = try DoorFiles(files.outputs, identity, input, at: files.input, restarts: restarts)
        do {
            let feed = try ApplyFeed(migration, target, files, run, source, input, surroundings, restarts: restarts)
            return try await DoorRun(
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
private final class ApplyFeed: DoorFeed {
    private var source: DoorSource
    private let path: String
    private let input: InputIdentity
    private let writer: DoorWriter
    private var general: GeneralPath
    private let results: DoorResults
    private let evidence: (consent: ConsentEvidence, writer: EvidenceWriter)?
    private let journal: DoorJournal?
    private let target: DoorTarget
    private let surroundings: DoorSurroundings
    /// Bytes of the source that an earlier run had read, and those of them, with their records, that were read again.
    private let before: Int
    private var again = (records: 0, bytes: 0)
    /// Records that an earlier run settled.
    private let settled: Int
    /// What people said no to at a target that is read in pages.
    private var noes = TargetOptOuts()
    /// Whether the pages are wanted for the sake of an opt-in, and whether they were read.
    private var (wantsNoes, hasNoes) = (false, false)

    init(
        _ migration: Migration,
        _ target: DoorTarget,
        _ files: DoorMigration.Files,
        _ run: DoorFiles,
        _ source: FileSource,
        _ input: InputIdentity,
        _ surroundings: DoorSurroundings,
        restarts: Bool
    ) throws {
        (self.surroundings, before) = (surroundings, run.earlier?.place.offset ?? 0)
        (path, self.input, self.target) = (files.input, input, target)
        settled = run.earlier?.place.report.read ?? 0
        self.source = try DoorSource(migration, source, at: files.input, after: run.earlier?.place)
        writer = DoorWriter(DoorMapper(target.door, target.settings))
        let earlierNoes = EarlierOptOuts(limit: .max)
        general = GeneralPath(
            writer: writer,
            catalogue: migration.catalogue,
            mapping: migration.mapping,
            applying: earlierNoes
        )
        results = DoorResults(
            run.outputs,
            hasRejects: files.rejects != nil,
            guarded: migration.guardedRejects,
            after: run.earlier?.place
        )
        let done = settled
        let goesOn = run.earlier != nil || restarts
        // The journal is there before the outbox is.
        let hasSpoken = run.earlier != nil && access(run.outbox, F_OK) == 0
        var noes = TargetOptOuts()
        let isPaged = target.isPaged
        journal = try files.journal.map {
            // What a run found that is begun anew stays the way back: it came first.
            try DoorJournal(
                $0,
                target,
                goesOn: goesOn,
                settled: run.earlier == nil ? .max : done,
                hasSpoken: hasSpoken,
                from: run.earlier?.place.journal ?? 0,
                telling: { lines, bytes, total in
                    try surroundings.tell(DoorProgress.Part.journal(of: total), records: lines, bytes: bytes)
                },
                noting: { key, contact in
                    if isPaged { noes.note(key, contact) }
                }
            )
        }
        self.noes = noes
        hasNoes = journal?.isComplete ?? false
        evidence = try files.evidence.map { _ in
            let sink = run.outputs[files.evidencePlace]
            let writer = EvidenceWriter(Migration.Evidence(to: sink, salt: input.head, hasBegun: done > 0))
            return (try ConsentEvidence(migration, salt: input.head), writer)
        }
        var withOwn = migration
        withOwn.ownSource = files.input
        try withOwn.readEarlierOptOuts(into: earlierNoes, nil, surroundings.heard, surroundings.isCancelled)
        if surroundings.isCancelled() { throw CancellationError() }
        try hear(files.input, before: run.earlier?.place, by: migration)
    }

    func next() throws -> [DoorItem]? {
        var items: [DoorItem] = []
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
        try surroundings.tell(DoorProgress.Part.hearing(of: before), records: again.records, bytes: again.bytes)
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

    private func take(_ record: SourceRecord, _ items: inout [DoorItem]) throws {
        guard record.number > settled else { return try hear(record) }
        try results.begin(line: record.line)
        var bytes: [UInt8] = []
        let findings = try general.move(record, to: &bytes)
        var row = findings.contains { $0.severity == .error } ? DoorRow() : writer.row
        row.findings = findings
        items.append(DoorItem(record, row, effects: general.takeEffects()))
    }

    // MARK: What stood there before

    var wantsPages: Bool {
        guard target.isPaged else { return false }
        return journal.map { !$0.isComplete } ?? false || wantsNoes && !hasNoes
    }

    func take(_ page: [(key: String, contact: Contact)]?) throws {
        guard let page else {
            hasNoes = true
            return try journal?.complete() ?? ()
        }
        for one in page {
            try journal?.write(held: one.key, one.contact)
            noes.note(one.key, one.contact)
        }
    }

    /// Whether the vendor must be asked before the row is said: for the way back, or for the sake of an opt-in.
    private func isAsked(_ item: DoorItem) -> Bool {
        guard !item.row.isRejected else { return false }
        if let journal { return journal.rows[item.number].map { !ScalarString.equal($0.key, item.row.key) } ?? true }
        return target.keepsNoes && item.row.actions.contains(where: \.isYes)
    }

    func questions(of items: [DoorItem]) -> [String] {
        guard !target.isPaged else {
            wantsNoes = wantsNoes || items.contains(where: isAsked)
            return []
        }
        return target.canRead ? items.filter(isAsked).map(\.row.key) : []
    }

    func prepare(_ items: [DoorItem], _ held: [ScalarString: Contact]) throws -> [DoorItem] {
        var items = items
        for place in items.indices where !items[place].row.isRejected {
            items[place].row = target.isPaged ? prepare(paged: items[place]) : prepare(asked: items[place], held)
        }
        try journal?.sync()
        return items
    }

    private func prepare(paged item: DoorItem) -> DoorRow {
        var row = item.row
        let (key, image) = (row.key, row.image)
        keepNoes(in: &row) { noes.reason(against: $0, of: key, image) }
        journal?.write(row: item.number, key: row.key, before: .none, wrote: writer.mapper.trace(of: row))
        return row
    }

    private func prepare(asked item: DoorItem, _ held: [ScalarString: Contact]) -> DoorRow {
        var row = item.row
        let known = journal?.rows[item.number].flatMap { ScalarString.equal($0.key, row.key) ? $0 : nil }
        let before = known.map { $0.before ?? nil } ?? held[ScalarString(row.key)]
        // Before any yes is left out: whoever continues must find the same opt-outs.
        let part = before.map { $0.part(in: writer.mapper.trace(of: row)) }
        if let before { keepNoes(in: &row) { before.reason(against: $0) } }
        if known == nil {
            let wrote = writer.mapper.trace(of: row)
            journal?.write(row: item.number, key: row.key, before: .some(part), wrote: wrote)
        }
        return row
    }

    /// Leaves out each opt-in to what the person said no to at the target.
    private func keepNoes(in row: inout DoorRow, _ reason: (Subscription.Key) -> FindingRow?) {
        guard target.keepsNoes else { return }
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

    func settled(_ item: DoorItem, _ findings: [Finding]) throws {
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

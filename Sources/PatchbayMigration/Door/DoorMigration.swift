import Patchbay
import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

/// A migration from a file through a vendor's server door: the engine delivers, with the door's rate, its jobs and its
/// repeats, and every record gets its verdict.
///
/// It may be killed at any moment: run again, it goes on where it stood. Beside the file of verdicts stand until then
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
    ///   goes on.
    public nonisolated(nonsending) func run(_ surroundings: DoorSurroundings, restarts: Bool) async throws
        -> DoorOutcome
    {
        let source = try FileSource(path: files.input)
        let input = try InputIdentity(source, path: files.input)
        if files.journal != nil, !target.canRead {
            throw Migration.Failure([DoorFinding.noJournal.at("journal", detail: target.descriptor.id.rawValue)])
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
            let feed = try ApplyFeed(migration, target, files, run, source, input, restarts: restarts)
            return try await DoorRun(target, run, feed, surroundings).run()
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
    private var source: FileSource
    private let path: String
    private let input: InputIdentity
    private var reader: any ContactReader
    private let writer: DoorWriter
    private var slow: SlowWay
    private let results: DoorResults
    private let evidence: ConsentEvidence?
    private let journal: DoorJournal?
    private let target: DoorTarget
    /// Records that an earlier run settled.
    private let settled: Int
    private var isAtEnd = false

    init(
        _ migration: Migration,
        _ target: DoorTarget,
        _ files: DoorMigration.Files,
        _ run: DoorFiles,
        _ source: FileSource,
        _ input: InputIdentity,
        restarts: Bool
    ) throws {
        (self.source, path, self.input, self.target) = (source, files.input, input, target)
        reader = try migration.makeReader()
        writer = DoorWriter(DoorMapper(target.door, target.settings))
        slow = SlowWay(writer: writer, catalogue: migration.catalogue, mapping: migration.mapping)
        settled = run.earlier?.place.report.read ?? 0
        results = DoorResults(run.outputs, hasRejects: files.rejects != nil, after: run.earlier?.place)
        let done = settled
        let goesOn = run.earlier != nil || restarts
        journal = try files.journal.map {
            // What a run found that is begun anew stays the way back: it came first.
            try DoorJournal($0, target, goesOn: goesOn, settled: run.earlier == nil ? .max : done)
        }
        evidence = try files.evidence.map { _ in
            try ConsentEvidence(migration, to: run.outputs[run.outputs.count - 1], salt: input.head, hasBegun: done > 0)
        }
    }

    func next() throws -> [DoorItem]? {
        var items: [DoorItem] = []
        while items.isEmpty, !isAtEnd {
            if let chunk = try source.next() {
                results.note(chunk)
                try reader.read(chunk) { try take($0, &items) }
            } else {
                isAtEnd = true
                try reader.finish { try take($0, &items) }
            }
        }
        guard try input.holds(for: source) else { throw Migration.Failure([Checkpoint.changedInput.at(path)]) }
        return items.isEmpty ? nil : items
    }

    private func take(_ record: SourceRecord, _ items: inout [DoorItem]) throws {
        guard record.number > settled else { return }
        try results.begin(line: record.line)
        var bytes: [UInt8] = []
        let findings = slow.move(record, to: &bytes)
        var row = findings.contains { $0.severity == .error } ? DoorRow() : writer.row
        row.findings = findings
        items.append(DoorItem(record, row, effects: slow.takeEffects()))
    }

    // MARK: What stood there before

    var wantsPages: Bool {
        if case .inPages? = target.door.reading { journal?.isComplete == false } else { false }
    }

    func take(_ page: [(key: String, contact: Contact)]?) throws {
        guard let page else { return try journal?.complete() ?? () }
        for one in page { try journal?.write(held: one.key, one.contact) }
    }

    func questions(of items: [DoorItem]) -> [String] {
        guard let journal, case .byKeys? = target.door.reading else { return [] }
        return items.filter { !$0.row.isRejected && journal.rows[$0.number]?.key != $0.row.key }.map(\.row.key)
    }

    func prepare(_ items: [DoorItem], _ held: [String: Contact]) throws -> [DoorItem] {
        guard let journal else { return items }
        var items = items
        for place in items.indices where !items[place].row.isRejected {
            var row = items[place].row
            guard case .byKeys? = target.door.reading else {
                journal.write(row: items[place].number, key: row.key, before: .none, wrote: row.image)
                continue
            }
            let known = journal.rows[items[place].number]
            let before = known?.key == row.key ? known?.before ?? nil : held[row.key]
            // Before any yes is left out: whoever goes on must find the same noes.
            let part = before.map { $0.part(in: row.image) }
            if let before { keepNoes(of: before, in: &row) }
            if known?.key != row.key {
                journal.write(row: items[place].number, key: row.key, before: .some(part), wrote: row.image)
            }
            items[place].row = row
        }
        try journal.sync()
        return items
    }

    /// Leaves out each yes to what the person said no to at the target.
    private func keepNoes(of before: Contact, in row: inout DoorRow) {
        for place in row.actions.indices.reversed() {
            guard case .changeSubscription(let wish) = row.actions[place], wish.state == .subscribed,
                let held = before.subscriptions.mostProtectiveState(of: wish.key),
                held == .unsubscribed || held == .suspended
            else { continue }
            row.findings.append(DoorFinding.targetNo.at(row.paths[place]))
            row.actions.remove(at: place)
            row.paths.remove(at: place)
            row.image = writer.mapper.image(of: row)
        }
    }

    // MARK: Verdicts

    func settled(_ item: DoorItem, _ findings: [Finding]) throws {
        try results.write(item, findings)
        guard let evidence, !item.row.isRejected else { return }
        var taken = item.row
        taken.actions = item.taken
        let image = writer.mapper.image(of: taken)
        _ = try evidence.look(item.record, image.jsonBytes[...], findings)
    }

    func flush(_ place: inout Checkpoints.Place) throws { try results.flush(&place) }
}

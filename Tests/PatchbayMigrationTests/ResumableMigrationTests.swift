import Foundation
import Patchbay
import PatchbayAdapterKit
import PatchbayAltcraftFiles
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import Synchronization
import Testing

@testable import PatchbayMigration

@Suite("Resumable migration") final class ResumableMigrationTests {
    private let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "patchbay-resume-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try Self.input.write(to: folder.appending(path: "in.ndjson"))
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// About 1.5 MB, so that there are several chunks, with some invalid lines.
    private static let input: Data = {
        let filler = String(repeating: "x", count: 300)
        let lines = (0..<4000).map { number in
            number % 500 == 7
                ? "{\"oops \(number)"
                : #"{"identifiers":[{"kind":"email","value":"p\#(number)@x.example"}],"attributes":{"note":"\#(filler)"},"#
                    + #""subscriptions":[{"channel":"email","state":"subscribed"}]}"#
        }
        return Data((lines.joined(separator: "\n") + "\n").utf8)
    }()

    private func path(_ name: String) -> String { folder.appending(path: name).path }

    private var names: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []).sorted() }

    private func bytes(_ name: String) throws -> Data { try Data(contentsOf: folder.appending(path: name)) }

    private func files(_ output: String = "out.ndjson", evidence: String? = nil, journal: String? = nil)
        -> ResumableMigration.Files
    {
        var files = ResumableMigration.Files(input: path("in.ndjson"), output: path(output))
        files.rejects = (path("\(output).bad"), path("\(output).replay"))
        files.evidence = evidence.map(path)
        files.journal = journal.map(path)
        return files
    }

    private func migration(to target: RecordFormat = .altcraftProfiles) throws -> Migration {
        let isMapped = target.id == RecordFormat.neutralContacts.id
        return try Migration(
            from: .neutralContacts,
            to: target,
            targetSettings: target.id == RecordFormat.altcraftProfiles.id ? ["dbId": 7, "resourceId": 3] : [:],
            mapping: ContactMapping(json: isMapped ? [["set": "attributes.origin", "value": "import"]] : [])
        )
    }

    /// Creates a resumable migration with chunks smaller than the input.
    private func resumable(
        _ files: ResumableMigration.Files,
        to target: RecordFormat = .altcraftProfiles,
        settings: JSONValue = "a",
        workers: Int = 1
    ) throws -> ResumableMigration {
        var run = ResumableMigration(
            try migration(to: target),
            files,
            settings: settings,
            interval: .zero,
            workers: workers
        )
        run.chunk = 64 << 10
        return run
    }

    /// Runs the migration and stops it after the number of chunks.
    @discardableResult
    private func run(
        _ files: ResumableMigration.Files,
        to target: RecordFormat = .altcraftProfiles,
        settings: JSONValue = "a",
        chunks: Int = .max,
        restarts: Bool = false,
        workers: Int = 1,
        atChunk: (Int) throws -> Void = { _ in }
    ) throws -> ResumableMigration.Outcome {
        var count = 0
        var failure: (any Error)?
        let outcome = try withoutActuallyEscaping(atChunk) { atChunk in
            try resumable(files, to: target, settings: settings, workers: workers).run(
                restarts: restarts,
                progress: { progress in
                    guard progress.hearing == nil else { return }
                    count += 1
                    do { try atChunk(count) } catch { failure = error }
                },
                isCancelled: { count >= chunks }
            )
        }
        if let failure { throw failure }
        return outcome
    }

    // MARK: Resuming

    @Test func `a stopped run reports how the next one resumes`() throws {
        #expect(try run(files(), chunks: 0).next == .startOver)
        #expect(names == ["in.ndjson"])
        #expect(try run(files(), chunks: 5).next == .there)
        #expect(try run(files("other", evidence: "evidence"), chunks: 5).next == .there)
    }

    private final class Lines: LogHandler {
        let level = LogLevel.trace
        private let lines = Mutex<[String]>([])

        var all: [String] { lines.withLock { $0 } }

        func log(event: LogEvent) {
            lines.withLock { $0.append("\(event.message) \(event.metadata.sorted { $0.key < $1.key }.map(\.value))") }
        }
    }

    @Test func `logs each phase of a run with counts alone`() throws {
        try run(files(), chunks: 9)
        let log = Lines()
        _ = try resumable(files()).run(restarts: false, log: log, progress: { _ in }, isCancelled: { false })
        #expect(
            log.all == [
                #"phase began ["moving"]"#, #"phase ended ["\#(Self.input.count)", "moving", "4000"]"#,
                #"phase began ["naming"]"#, #"phase ended ["0", "naming", "0"]"#,
            ]
        )
    }

    @Test(arguments: [true, false])
    func `reads the source again for opt-outs only if their log is missing`(_ hasLog: Bool) throws {
        let whole = try run(files("whole.ndjson"))
        let stopped = try run(files(), chunks: 9)
        let place = try #require(try Checkpoint(of: path("out.ndjson"))).place
        if !hasLog {
            try FileManager.default.removeItem(at: folder.appending(path: "out.ndjson.checkpoint.optouts.partial"))
        }
        var reported: [Migration.Progress] = []
        let resumed = try resumable(files()).run(
            restarts: false,
            progress: { reported.append($0) },
            isCancelled: { false }
        )
        #expect(resumed.report == whole.report)
        #expect(names.filter { $0.contains("checkpoint") }.isEmpty)
        let again = reported.prefix { $0.hearing != nil }
        #expect(again.isEmpty == hasLog)
        #expect(hasLog || again.last.map { $0.bytes == place.offset && $0.records == stopped.report.read } == true)
        let rest = reported.dropFirst(again.count).map(\.bytes)
        #expect(rest.first ?? 0 >= place.offset && rest == rest.sorted())
    }

    @Test(arguments: [RecordFormat.altcraftProfiles.id, RecordFormat.neutralContacts.id], [1, 3, 5])
    func `a resumed run produces the same bytes`(_ target: String, _ chunks: Int) throws {
        let target: RecordFormat = target == RecordFormat.neutralContacts.id ? .neutralContacts : .altcraftProfiles
        let whole = try run(files("whole.ndjson", evidence: "whole.evidence"), to: target)
        let stopped = try run(files(evidence: "out.evidence"), to: target, chunks: chunks)
        #expect(!stopped.isCommitted)
        #expect(!names.contains("out.ndjson"))
        #expect(names.contains("out.ndjson.partial"))
        let resumed = try run(files(evidence: "out.evidence"), to: target)
        #expect(resumed.isCommitted)
        #expect(resumed.resumed == stopped.report.read)
        #expect(resumed.report == whole.report)
        for fileExtension in ["ndjson", "ndjson.bad", "ndjson.replay", "evidence"] {
            #expect(
                try bytes("out.\(fileExtension)") == bytes("whole.\(fileExtension)"),
                "\(fileExtension)"
            )
        }
        #expect(!names.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".checkpoint") })
    }

    /// A contact with a subscription.
    private func line(_ number: Int, _ state: String) -> String {
        #"{"identifiers":[{"kind":"email","value":"p\#(number)@x.example"}],"#
            + #""subscriptions":[{"channel":"email","state":"\#(state)"}]}"#
    }

    @Test(arguments: [(1, 1), (3, 1), (8, 2), (13, 1), (16, 2)])
    func `a resumed run applies the opt-outs before its checkpoint in both passes`(
        _ chunks: Int,
        _ workers: Int
    ) throws {
        let lines = (0..<3000).map { line($0, $0 % 3 == 0 ? "unsubscribed" : "subscribed") }
        let text = (lines + (0..<3000).map { line($0, "subscribed") }).joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: folder.appending(path: "in.ndjson"))
        let whole = try run(files("whole.ndjson"), workers: workers)
        try run(files(), chunks: chunks, workers: workers)
        let resumed = try run(files(), workers: workers)
        // A pass has 11 chunks. The first pass ends with the last record: the records of one person contradict each other.
        #expect((resumed.resumed > 0) == (chunks > 11))
        #expect(resumed.report == whole.report)
        #expect(whole.report.findings[EarlierOptOuts.heeded.code]?.count == 1000)
        #expect(try bytes("out.ndjson") == bytes("whole.ndjson"))
    }

    @Test func `a run resumed twice, first without its log, applies all opt-outs`() throws {
        // More keys than a run keeps in memory before it appends them to the log.
        let lines = [line(0, "subscribed")] + (1..<72_000).map { line($0, "unsubscribed") }
        let text =
            (lines + (0..<9_000).map { line(100_000 + $0, "subscribed") } + [line(0, "unsubscribed")])
            .joined(separator: "\n") + "\n"
        try Data(text.utf8).write(to: folder.appending(path: "in.ndjson"))
        try run(files(), chunks: 124)
        try FileManager.default.removeItem(at: folder.appending(path: "out.ndjson.checkpoint.optouts.partial"))
        try run(files(), chunks: 2)
        let resumed = try run(files())
        #expect(resumed.isCommitted && resumed.report.findings[EarlierOptOuts.heeded.code]?.count == 1)
        let first = try String(decoding: bytes("out.ndjson").prefix { $0 != 0x0A }, as: UTF8.self)
        #expect(first.contains("unsubscribed"))
    }

    @Test func `a resumed stream reads the opt-outs before its checkpoint`() throws {
        let lines = ["unsubscribed", "subscribed"].map { Array((line(0, $0) + "\n").utf8) }
        let migration = try migration(to: .altcraftProfiles)
        var places: [Checkpoints.Place] = []
        var part = ChunkedSource(lines[0], chunk: 1 << 16)
        var checkpoints = Checkpoints(isDue: { true }, save: { places.append($0) })
        _ = try migration.run(&part, to: MemorySink(), checkpoints: checkpoints)
        let place = try #require(places.last)
        checkpoints.resumption = .init(at: place, head: []) { ChunkedSource(lines[0], chunk: 1 << 16) }
        let sink = MemorySink()
        var rest = ChunkedSource(lines[1], chunk: 1 << 16)
        _ = try migration.run(&rest, to: sink, checkpoints: checkpoints)
        #expect(sink.text.contains("unsubscribed"), "\(sink.text)")
    }

    @Test(arguments: [RecordFormat.altcraftProfiles.id, RecordFormat.neutralContacts.id])
    func `the bulk path resumes at the checkpoint, not at the start`(_ target: String) throws {
        let target: RecordFormat = target == RecordFormat.neutralContacts.id ? .neutralContacts : .altcraftProfiles
        var (all, chunks) = (0, 0)
        let whole = try run(files("whole.ndjson"), to: target, atChunk: { all = $0 })
        try run(files(), to: target, chunks: 6)
        let checkpoint = try #require(try Checkpoint(of: path("out.ndjson")))
        #expect(checkpoint.place.isExact)
        #expect(checkpoint.place.offset > 256 << 10)
        let resumed = try run(files(), to: target, workers: 2, atChunk: { chunks = $0 })
        #expect(resumed.report == whole.report)
        #expect(chunks <= all - 4)
        #expect(try bytes("out.ndjson") == bytes("whole.ndjson"))
    }

    @Test func `completes a run that was killed while it renamed its files`() throws {
        try run(files("whole.ndjson"))
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        let report = try run(files(journal: "journal")).report
        let sizes = try ["out.ndjson", "out.ndjson.bad", "out.ndjson.replay"].map { try bytes($0).count }
        // The state after the rejects have their final names and before the contacts do.
        try FileManager.default.moveItem(atPath: path("out.ndjson"), toPath: path("out.ndjson.partial"))
        try writeLastCheckpoint(report, sizes)
        try Data("half".utf8).write(to: folder.appending(path: "out.ndjson.checkpoint.partial"))
        #expect(try run(files(journal: "journal")).isCommitted)
        #expect(try bytes("out.ndjson") == bytes("whole.ndjson"))
        #expect(!names.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".checkpoint") })
        #expect(try Journal.undo(path("journal")).map(\.deed) == [.restored, .removed, .removed])
        #expect(try bytes("out.ndjson") == Data("before".utf8))
    }

    @Test func `keeps the undo journal that a killed run wrote for the next run`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        let report = try run(files(journal: "journal")).report
        let outputs = ["out.ndjson", "out.ndjson.bad", "out.ndjson.replay"]
        let sizes = try outputs.map { try bytes($0).count }
        // The state after the journal is written and before any file has its final name.
        for name in outputs {
            try FileManager.default.moveItem(atPath: path(name), toPath: path("\(name).partial"))
        }
        try FileManager.default.linkItem(atPath: path("journal.1.before"), toPath: path("out.ndjson"))
        try writeLastCheckpoint(report, sizes)
        let journal = try bytes("journal")
        #expect(try run(files(journal: "journal")).isCommitted)
        #expect(try bytes("journal") == journal)
        #expect(try Journal.undo(path("journal")).map(\.deed) == [.restored, .removed, .removed])
        #expect(try bytes("out.ndjson") == Data("before".utf8))
    }

    @Test(arguments: [true, false]) func `rejects an undo in a moved folder and keeps the journal`(
        _ hadBefore: Bool
    ) throws {
        if hadBefore { try Data("before".utf8).write(to: folder.appending(path: "out.ndjson")) }
        try run(files(journal: "journal"))
        let moved = folder.deletingLastPathComponent().appending(path: "\(folder.lastPathComponent)-moved")
        try FileManager.default.moveItem(at: folder, to: moved)
        let journal = moved.appending(path: "journal").path
        #expect(throws: Migration.Failure.self) { try Journal.undo(journal) }
        #expect(FileManager.default.fileExists(atPath: journal))
        try FileManager.default.moveItem(at: moved, to: folder)
        #expect(try Journal.undo(path("journal")).first?.deed == (hadBefore ? .restored : .removed))
    }

    @Test func `restores the previous file if the written one was moved away`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        try run(files(journal: "journal"))
        try Data("changed".utf8).write(to: folder.appending(path: "out.ndjson"))
        #expect(throws: Migration.Failure.self) { try Journal.undo(path("journal")) }
        try FileManager.default.moveItem(atPath: path("out.ndjson"), toPath: path("mine"))
        #expect(try Journal.undo(path("journal")).first?.deed == .restored)
        #expect(try bytes("out.ndjson") == Data("before".utf8))
        #expect(try bytes("mine") == Data("changed".utf8))
    }

    /// Writes the checkpoint that a complete run keeps until its files have their final names.
    private func writeLastCheckpoint(_ report: MigrationReport, _ sizes: [Int]) throws {
        var place = Checkpoints.Place(report: report, offset: report.bytesRead, lines: 0, isExact: false)
        place.report.isComplete = true
        let identity = try InputIdentity(FileSource(path: path("in.ndjson")), path: path("in.ndjson"))
        let settings = SHA256.digest(
            of: Array(JSONValue.array(["a", .array(files().outputs.map { .string($0) })]).text.utf8)
        )
        let checkpoint = Checkpoint(
            settings: settings.hexText,
            input: identity,
            place: place,
            lengths: sizes
        )
        try Data(checkpoint.bytes).write(to: folder.appending(path: "out.ndjson.checkpoint"))
    }

    @Test func `removes the checkpoint and journal drafts of a killed run`() throws {
        for name in ["out.ndjson.checkpoint.partial", "journal.partial"] {
            try Data(repeating: 120, count: 9000).write(to: folder.appending(path: name))
        }
        try run(files(journal: "journal"))
        #expect(names == ["in.ndjson", "journal", "out.ndjson", "out.ndjson.bad", "out.ndjson.replay"])
        #expect(try Journal.undo(path("journal")).count == 3)
    }

    // MARK: Rejected runs

    private func refusal(_ run: () throws -> ResumableMigration.Outcome) -> String? {
        do {
            _ = try run()
            return nil
        } catch {
            return (error as? Migration.Failure)?.findings.first?.code ?? "\(error)"
        }
    }

    @Test func `rejects other settings and another input with a remedy`() throws {
        try run(files(), chunks: 2)
        #expect(refusal { try run(files(), settings: "b") } == "migration.checkpoint.settings")
        var changed = Self.input
        changed[40] = UInt8(ascii: "q")
        try changed.write(to: folder.appending(path: "in.ndjson"))
        #expect(refusal { try run(files()) } == "migration.checkpoint.input")
        #expect(names.contains("out.ndjson.partial"))
        #expect(try run(files(), restarts: true).isCommitted)
    }

    @Test func `rejects a damaged checkpoint and a checkpoint without its draft`() throws {
        try run(files(), chunks: 2)
        try FileManager.default.removeItem(atPath: path("out.ndjson.bad.partial"))
        #expect(refusal { try run(files()) } == "migration.checkpoint.draft")
        try Data("{".utf8).write(to: folder.appending(path: "out.ndjson.checkpoint"))
        #expect(refusal { try run(files()) } == "migration.checkpoint.unreadable")
        #expect(try run(files(), restarts: true).isCommitted)
    }

    @Test func `reports an input that changes while it is read and writes nothing`() throws {
        let code = refusal {
            try run(
                files(),
                atChunk: { chunk in
                    guard chunk == 2 else { return }
                    let file = try FileHandle(forWritingTo: folder.appending(path: "in.ndjson"))
                    try file.seekToEnd()
                    try file.write(contentsOf: Data("{}\n".utf8))
                    try file.close()
                }
            )
        }
        #expect(code == "migration.input.changed")
        #expect(names == ["in.ndjson"])
    }

    /// A file that grows after its first bytes were read.
    private struct GrowingFile: ByteSource {
        var source: FileSource
        let url: URL
        var isGrown = false

        init(_ url: URL) throws { (source, self.url) = (try FileSource(path: url.path), url) }

        func change() throws(FileError) -> Finding? { try source.change() }

        mutating func next() throws(FileError) -> [UInt8]? {
            defer { isGrown = true }
            if !isGrown, let file = try? FileHandle(forWritingTo: url) {
                _ = try? file.seekToEnd()
                try? file.write(contentsOf: Data("{}\n".utf8))
                try? file.close()
            }
            return try source.next()
        }
    }

    @Test func `a plan and a verification report a file that changes while they read it`() throws {
        try run(files())
        let (source, target) = (folder.appending(path: "in.ndjson"), folder.appending(path: "out.ndjson"))
        let migration = try migration()
        let planned = #expect(throws: Migration.Failure.self) {
            var growing = try GrowingFile(source)
            _ = try migration.plan(&growing)
        }
        #expect(planned?.findings.map(\.code) == ["migration.input.changed"])
        #expect(planned?.findings.map(\.path) == [source.path])
        let verified = #expect(throws: Migration.Failure.self) {
            _ = try migration.verify(
                { try GrowingFile(source) },
                against: { try FileSource(path: target.path) },
                difference: { _ in }
            )
        }
        #expect(verified?.findings.map(\.path) == [source.path])
        let held = #expect(throws: Migration.Failure.self) {
            _ = try migration.verify(
                { try FileSource(path: source.path) },
                against: { try GrowingFile(target) },
                difference: { _ in }
            )
        }
        #expect(held?.findings.map(\.path) == [target.path])
    }

    @Test func `rejects a second run that writes the same file`() throws {
        let first = try OutputFile(path: path("out.ndjson"), from: nil)
        let error = #expect(throws: FileError.self) { try run(files()) }
        #expect(error?.finding.remedy.hasPrefix("Another run is writing it") == true)
        withExtendedLifetime(first) {}
    }

    // MARK: Undo

    @Test func `undo restores replaced files and removes new ones`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        try run(files(journal: "journal"))
        #expect(try bytes("out.ndjson").count > 1000)
        let deeds = try Journal.undo(path("journal"))
        #expect(deeds.map(\.deed) == [.restored, .removed, .removed])
        #expect(try bytes("out.ndjson") == Data("before".utf8))
        #expect(names == ["in.ndjson", "out.ndjson"])
    }

    @Test func `overwrites neither another run's journal nor the files that it keeps`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        try run(files(journal: "journal"))
        let before = names
        #expect(refusal { try run(files(journal: "journal")) } == "migration.journal.other")
        #expect(refusal { try run(files(journal: "journal"), restarts: true) } == "migration.journal.other")
        #expect(names == before)
        try FileManager.default.moveItem(atPath: path("journal"), toPath: path("elsewhere"))
        #expect(refusal { try run(files(journal: "journal")) } == "migration.journal.other")
        #expect(try Journal.undo(path("elsewhere")).map(\.deed) == [.restored, .removed, .removed])
        #expect(try bytes("out.ndjson") == Data("before".utf8))
        #expect(try run(files(journal: "journal")).isCommitted)
    }

    @Test func `resumes and undoes a sidecar file together with its output`() throws {
        try Data("old map".utf8).write(to: folder.appending(path: "out.map"))
        var all = files(evidence: "out.evidence", journal: "journal")
        all.sidecars = [(path("out.map"), Array("new map".utf8))]
        #expect(try !run(all, chunks: 3).isCommitted)
        #expect(try bytes("out.map") == Data("old map".utf8))
        #expect(try run(all).isCommitted)
        #expect(try bytes("out.map") == Data("new map".utf8))
        #expect(!names.contains { $0.hasSuffix(".partial") })
        let deeds = try Journal.undo(path("journal"))
        #expect(deeds.map(\.deed) == [.removed, .removed, .removed, .removed, .restored])
        #expect(try bytes("out.map") == Data("old map".utf8))
    }

    @Test func `undo changes nothing if a file was changed since`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        try run(files(journal: "journal"))
        try Data("mine".utf8).write(to: folder.appending(path: "out.ndjson.bad"))
        let before = names
        let error = #expect(throws: Migration.Failure.self) { try Journal.undo(path("journal")) }
        #expect(error?.findings.map(\.code) == ["migration.journal.changed"])
        #expect(names == before)
    }
}

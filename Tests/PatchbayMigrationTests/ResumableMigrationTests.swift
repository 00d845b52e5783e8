import Foundation
import PatchbayAdapterKit
import PatchbayAltcraft
import PatchbayJSON
import PatchbayModel
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

    /// About 1.5 MB, so that there are several chunks, with a bad line here and there.
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

    /// Runs it, and stops after so many chunks.
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
            try ResumableMigration(
                try migration(to: target),
                files,
                settings: settings,
                interval: .zero,
                workers: workers
            )
            .run(
                restarts: restarts,
                progress: { _ in
                    count += 1
                    do { try atChunk(count) } catch { failure = error }
                },
                isCancelled: { count >= chunks }
            )
        }
        if let failure { throw failure }
        return outcome
    }

    // MARK: Going on

    @Test(arguments: [RecordFormat.altcraftProfiles.id, RecordFormat.neutralContacts.id], [1, 3, 5])
    func `a stopped run is gone on with, and gives the same bytes`(_ target: String, _ chunks: Int) throws {
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
        for ending in ["ndjson", "ndjson.bad", "ndjson.replay", "evidence"] {
            #expect(try bytes("out.\(ending)") == bytes("whole.\(ending)"), "\(ending)")
        }
        #expect(!names.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".checkpoint") })
    }

    @Test(arguments: [RecordFormat.altcraftProfiles.id, RecordFormat.neutralContacts.id])
    func `bulk work goes on at the place, not at the start`(_ target: String) throws {
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

    @Test func `a run that was ended while files got their names is finished by the next`() throws {
        try run(files("whole.ndjson"))
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        let report = try run(files(journal: "journal")).report
        // As it stands when the rejects have their names and the contacts do not.
        try FileManager.default.moveItem(atPath: path("out.ndjson"), toPath: path("out.ndjson.partial"))
        var place = Checkpoints.Place(report: report, offset: report.bytesRead, lines: 0, isExact: false)
        place.report.isComplete = true
        let identity = try InputIdentity(FileSource(path: path("in.ndjson")), path: path("in.ndjson"))
        let sizes = try ["out.ndjson.partial", "out.ndjson.bad", "out.ndjson.replay"].map { try bytes($0).count }
        let settings = SHA256.digest(
            of: Array(JSONValue.array(["a", .array(files().outputs.map { .string($0) })]).text.utf8)
        )
        let checkpoint = Checkpoint(
            settings: InputIdentity.text(settings),
            input: identity,
            place: place,
            lengths: sizes
        )
        try Data(checkpoint.bytes).write(to: folder.appending(path: "out.ndjson.checkpoint"))
        try Data("half".utf8).write(to: folder.appending(path: "out.ndjson.checkpoint.partial"))
        #expect(try run(files(journal: "journal")).isCommitted)
        #expect(try bytes("out.ndjson") == bytes("whole.ndjson"))
        #expect(!names.contains { $0.hasSuffix(".partial") || $0.hasSuffix(".checkpoint") })
        #expect(try Journal.undo(path("journal")).map(\.deed) == [.restored, .removed, .removed])
        #expect(try bytes("out.ndjson") == Data("before".utf8))
    }

    @Test func `what a killed run left of a checkpoint or a journal is not left behind`() throws {
        for name in ["out.ndjson.checkpoint.partial", "journal.partial"] {
            try Data(repeating: 120, count: 9000).write(to: folder.appending(path: name))
        }
        try run(files(journal: "journal"))
        #expect(names == ["in.ndjson", "journal", "out.ndjson", "out.ndjson.bad", "out.ndjson.replay"])
        #expect(try Journal.undo(path("journal")).count == 3)
    }

    // MARK: What is refused

    private func refusal(_ run: () throws -> ResumableMigration.Outcome) -> String? {
        do {
            _ = try run()
            return nil
        } catch {
            return (error as? Migration.Failure)?.findings.first?.code ?? "\(error)"
        }
    }

    @Test func `other settings and another input are refused with the way out`() throws {
        try run(files(), chunks: 2)
        #expect(refusal { try run(files(), settings: "b") } == "migration.checkpoint.settings")
        var changed = Self.input
        changed[40] = UInt8(ascii: "q")
        try changed.write(to: folder.appending(path: "in.ndjson"))
        #expect(refusal { try run(files()) } == "migration.checkpoint.input")
        #expect(names.contains("out.ndjson.partial"))
        #expect(try run(files(), restarts: true).isCommitted)
    }

    @Test func `a checkpoint that is damaged, or whose file is gone, is refused`() throws {
        try run(files(), chunks: 2)
        try FileManager.default.removeItem(atPath: path("out.ndjson.bad.partial"))
        #expect(refusal { try run(files()) } == "migration.checkpoint.draft")
        try Data("{".utf8).write(to: folder.appending(path: "out.ndjson.checkpoint"))
        #expect(refusal { try run(files()) } == "migration.checkpoint.unreadable")
        #expect(try run(files(), restarts: true).isCommitted)
    }

    @Test func `an input that changes while it is read is told, and nothing is written`() throws {
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

    @Test func `two runs do not write one file`() throws {
        let first = try OutputFile(path: path("out.ndjson"), from: nil)
        let error = #expect(throws: FileError.self) { try run(files()) }
        #expect(error?.finding.remedy.hasPrefix("Another run writes it") == true)
        withExtendedLifetime(first) {}
    }

    // MARK: The way back

    @Test func `undo brings back what stood there, and removes what did not`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        try run(files(journal: "journal"))
        #expect(try bytes("out.ndjson").count > 1000)
        let deeds = try Journal.undo(path("journal"))
        #expect(deeds.map(\.deed) == [.restored, .removed, .removed])
        #expect(try bytes("out.ndjson") == Data("before".utf8))
        #expect(names == ["in.ndjson", "out.ndjson"])
    }

    @Test func `undo touches nothing if a file was changed since`() throws {
        try Data("before".utf8).write(to: folder.appending(path: "out.ndjson"))
        try run(files(journal: "journal"))
        try Data("mine".utf8).write(to: folder.appending(path: "out.ndjson.bad"))
        let before = names
        let error = #expect(throws: Migration.Failure.self) { try Journal.undo(path("journal")) }
        #expect(error?.findings.map(\.code) == ["migration.journal.changed"])
        #expect(names == before)
    }
}

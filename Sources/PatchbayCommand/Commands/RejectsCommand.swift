import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayMigration
import PatchbayModel
import PatchbayOutbox

extension Command {
    static let rejectsList = Command(
        "outbox rejects list",
        "List rejected operations",
        task: .inspect,
        details: """
            Prints one JSON object per operation, the newest first, without values and personal data unless --values is given.
            \(outboxIsOnlyRead)
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.provider, .code, .limit, .values],
        examples: [
            Example("List the newest 100 rejects", "patchbay outbox rejects list outbox.sqlite"),
            Example(
                "List the rejects of one provider with their values",
                "patchbay outbox rejects list outbox.sqlite --provider salesforce --values"
            ),
        ]
    ) { session in
        let store = try session.outbox()
        let (provider, code) = (try session.provider(of: store), session.invocation.text(.code))
        let limit = session.invocation.number(.limit) ?? 100
        var (shown, last) = (0, Int64.max)
        while shown < limit {
            let page = try store.rejects.list(provider: provider, before: last, limit: 256)
            guard let end = page.last else { break }
            for reject in page.filter({ code == nil || $0.code == code }).prefix(limit - shown) {
                try session.console.data(reject.json(showsValues: session.invocation.has(.values)))
                shown += 1
            }
            last = end.number
        }
        if shown == 0 { session.console.say("No rejects.") }
        return .fine
    }

    static let rejectsExport = Command(
        "outbox rejects export",
        "Export rejects to correct and replay them",
        task: .inspect,
        details: """
            Writes one JSON object per operation, the oldest first: provider, id, code, at, finding and operation. Correct the
            operation or delete the line, and pass the file to `patchbay outbox rejects replay`. The file holds personal data;
            only its owner can read it. \(outboxIsOnlyRead)
            """,
        arguments: [
            .required("FILE", "Outbox file"), .optional("OUT", "Output file (default: standard output)"),
        ],
        optional: [.provider, .code],
        examples: [
            Example("Export all rejects", "patchbay outbox rejects export outbox.sqlite rejects.ndjson"),
            Example(
                "Export the rejects of one provider",
                "patchbay outbox rejects export outbox.sqlite salesforce.ndjson --provider salesforce"
            ),
        ]
    ) { session in
        let path = session.invocation.argument(1).flatMap { $0 == "-" ? nil : $0 }
        if let path { try session.requireNoOutbox(at: path, besides: session.invocation.argument(0) ?? "") }
        let store = try session.outbox()
        let (provider, code) = (try session.provider(of: store), session.invocation.text(.code))
        let file = try path.map { try OutputFile(path: $0) }
        var count = 0
        try store.rejects.forEach(provider: provider) { reject in
            guard code == nil || reject.code == code else { return }
            count += 1
            var line = JSONWriter()
            line.value(reject.json(showsValues: true))
            line.endLine()
            if let file { try file.write(line.bytes) } else { try session.console.data(reject.json(showsValues: true)) }
        }
        try file?.commit()
        session.console.say("Wrote \(count.counted("rejected operation")).")
        return .fine
    }

    static let rejectsReplay = Command(
        "outbox rejects replay",
        "Replay rejected operations",
        task: .send,
        details: """
            Returns each operation to the provider that rejected it, with its id, and deletes the reject. The operation is
            examined again and waits for consent again. Operations that are complete there are left alone ("endedAlready"), so
            the same file may be replayed twice. Remove outdated operations first: they are sent as they are.

            Nothing is sent by this command; `patchbay send` or the app delivers the operations. An app may use the outbox
            meanwhile.
            """,
        arguments: [
            .optional("FILE", "Outbox, or a file of `patchbay outbox rejects export` (default: the outbox of --config)")
        ],
        required: [.config],
        optional: [.provider, .code],
        findings: "an operation was rejected again or cannot be replayed",
        examples: [
            Example("Replay all rejects", "patchbay outbox rejects replay --config salesforce.json"),
            Example(
                "Replay corrected rejects",
                "patchbay outbox rejects replay --config salesforce.json rejects.ndjson"
            ),
        ]
    ) { session in
        let configuration = try session.configuration()
        if session.invocation.has(.provider) { _ = try session.provider(of: configuration) }
        let argument = session.invocation.argument(0)
        let isOutbox = try argument.map { try $0 != "-" && session.isDatabase($0) } ?? true
        let path = isOutbox ? argument ?? configuration.outbox.path : configuration.outbox.path
        let store = try session.outboxForWriting(path, history: configuration.outbox.history)
        let engine = try Engine(
            store: store,
            plan: configuration.plan,
            host: session.host(),
            limits: configuration.outbox.limits,
            credentials: { configuration.credential(of: $0, for: $1) }
        )
        var replay = Replaying(session: session, engine: engine, configuration: configuration)
        if isOutbox { try replay.readRejects() } else { try await replay.readLines(of: argument) }
        return try replay.finish()
    }

    static let quarantineList = Command(
        "outbox quarantine list",
        "List damaged rows that were set aside",
        task: .inspect,
        details: """
            Prints one JSON object per row, the newest first, without the content of the row unless --values is given.
            \(outboxIsOnlyRead)
            """,
        arguments: [.required("FILE", "Outbox file")],
        optional: [.limit, .values],
        examples: [
            Example("List the newest 100 damaged rows", "patchbay outbox quarantine list outbox.sqlite"),
            Example(
                "List one row with its content",
                "patchbay outbox quarantine list outbox.sqlite --limit 1 --values"
            ),
        ]
    ) { session in
        let store = try session.outbox()
        let rows = try store.quarantine.list(limit: session.invocation.number(.limit) ?? 100)
        if rows.isEmpty { session.console.say("No damaged rows.") }
        for row in rows {
            var json: JSONObject = [
                "number": .integer(row.number),
                "table": .string(row.table),
                "sequence": row.sequence.map(JSONValue.integer) ?? .null,
                "provider": row.provider.map(JSONValue.string) ?? .null,
                "bytes": .integer(row.image.count),
            ]
            if session.invocation.has(.values) { json["row"] = .string(String(decoding: row.image, as: UTF8.self)) }
            try session.console.data(.object(json))
        }
        return .fine
    }
}

/// One run of `outbox rejects replay`. Replays a few hundred operations in each transaction.
@MainActor private struct Replaying {
    let session: Session
    let engine: Engine
    let configuration: Configuration
    private var waiting: [Engine.Replay] = []
    private var counts: [String: Int] = [:]
    private var status = ExitStatus.fine

    init(session: Session, engine: Engine, configuration: Configuration) {
        (self.session, self.engine, self.configuration) = (session, engine, configuration)
    }

    /// Replays the rejects that the outbox keeps now. Operations that are rejected again meanwhile are left for another
    /// run.
    mutating func readRejects() throws {
        let provider = session.invocation.text(.provider)
        guard let newest = try engine.store.rejects.list(provider: nil, limit: 1).first?.number else { return }
        var unreadable = 0
        try engine.store.rejects.forEach(provider: provider, upTo: newest) { reject in
            guard isWanted(reject.provider, reject.code) else { return }
            guard let operation = try? EngagementOperation(jsonBytes: reject.operation.body) else {
                return unreadable += 1
            }
            try add(operation, on: reject.provider, at: "reject \(reject.number)")
        }
        guard unreadable > 0 else { return }
        session.console.say("\(unreadable.counted("reject")) cannot be read by this release and stay unchanged.", .red)
        status = .findings
    }

    /// Replays lines as the export wrote them; a person may have corrected them.
    mutating func readLines(of path: String?) async throws {
        let name = session.name(ofInput: path)
        var (source, lines, isAtEnd) = (try session.source(path), LineSplitter(maximumLength: 4 << 20), false)
        while !isAtEnd, session.interruption.signalNumber == nil {
            let chunk = try source.next()
            isAtEnd = chunk == nil
            if let chunk { lines.append(chunk) } else { lines.finish() }
            while let line = lines.next() {
                switch line {
                case .success(let line) where line.bytes.allSatisfy { $0 == 0x20 || $0 == 0x09 }: continue
                case .success(let line):
                    let text = line.number == 1 ? line.bytes.withoutByteOrderMark : line.bytes
                    try read(text, at: "\(name):\(line.number)")
                case .failure(let fault):
                    refuse("the line is too long. Write one operation per line", at: "\(name):\(fault.number)")
                }
            }
        }
    }

    private mutating func read(_ bytes: ArraySlice<UInt8>, at place: String) throws {
        do {
            let json = try JSONValue(parsing: bytes)
            guard let provider = json["provider"]?.string, let said = json["operation"] else {
                return refuse(
                    "a member is missing. Write {\"provider\": …, \"operation\": {…}}, as the export does",
                    at: place
                )
            }
            guard isWanted(provider, json["code"]?.string) else { return }
            try add(try EngagementOperation(json: said, at: "operation"), on: provider, at: place)
        } catch let error as JSONError {
            refuse("column \(error.column): the line is not JSON (\(error.code.reason)). Correct it", at: place)
        } catch let error as ModelError {
            refuse("\(error.path): \(error.reason). \(error.remedy)", at: place)
        }
    }

    private func isWanted(_ provider: String, _ code: String?) -> Bool {
        let wanted = (session.invocation.text(.provider), session.invocation.text(.code))
        return wanted.0.map { $0 == provider } ?? true && wanted.1.map { $0 == code } ?? true
    }

    private mutating func add(_ operation: EngagementOperation, on provider: String, at place: String) throws {
        guard configuration.provider(provider) != nil else {
            let known = configuration.providers.map(\.name).joined(separator: ", ")
            return refuse("the configuration has no provider \"\(provider)\". Providers: \(known)", at: place)
        }
        let (admitted, findings) = configuration.admit(operation)
        guard findings.isEmpty else {
            for finding in findings { session.console.say(finding, at: place) }
            return status = .findings
        }
        waiting.append(Engine.Replay(admitted, on: provider))
        if waiting.count >= 256 { try handOver() }
    }

    private mutating func refuse(_ reason: String, at place: String) {
        session.console.say("\(place): \(reason)", .red)
        status = .findings
    }

    private mutating func handOver() throws {
        for (replay, result) in zip(waiting, try engine.replay(waiting)) {
            var line: JSONObject = [
                "id": .string(replay.operation.id.rawValue), "provider": .string(replay.provider),
                "result": .string(result.word),
            ]
            if let finding = result.finding { line["finding"] = finding.json }
            try session.console.data(.object(line))
            counts[result.word, default: 0] += 1
            if !result.isOnItsWay { status = .findings }
        }
        waiting = []
        try session.console.flush()
    }

    mutating func finish() throws -> ExitStatus {
        if !waiting.isEmpty { try handOver() }
        let words = counts.inOrder.map { "\($0.value) \($0.key)" }
        session.console.say(words.isEmpty ? "Nothing to replay." : words.joined(separator: ", "))
        return status
    }
}

extension ReplayResult {
    fileprivate var word: String {
        switch self {
        case .pending: "pending"
        case .held: "held"
        case .ended(let outcome): outcome.term.rawValue
        case .alreadyPending: "pendingAlready"
        case .alreadyEnded: "endedAlready"
        case .refused(let finding): finding.severity == .foreign ? "foreign" : "refused"
        }
    }

    fileprivate var finding: Finding? {
        switch self {
        case .ended(let outcome): outcome.finding
        case .refused(let finding): finding
        case .pending, .held, .alreadyPending, .alreadyEnded: nil
        }
    }

    fileprivate var isOnItsWay: Bool { self == .pending || self == .held }
}

extension RejectRecord {
    /// The record as JSON.
    fileprivate func json(showsValues: Bool) -> JSONValue {
        let body = try? EngagementOperation(jsonBytes: operation.body)
        var json: JSONObject = ["provider": .string(provider), "id": .string(operation.id)]
        if !showsValues { json["kind"] = .string(body?.action.kind.rawValue ?? "unreadable") }
        json["code"] = .string(code)
        json["at"] = .string(Instant(milliseconds: at).text)
        json["finding"] = (try? JSONValue(parsing: finding)) ?? .null
        if showsValues { json["operation"] = body?.json ?? .null }
        return .object(json)
    }
}

extension Session {
    /// Throws an error if the output is the outbox itself, one of the files beside it, or any other database.
    fileprivate func requireNoOutbox(at output: String, besides outbox: String) throws {
        var files = MigrationFiles()
        for path in ["", "-wal", "-shm", "-journal"].map({ outbox + $0 }) { files.read(path, "the outbox") }
        files.write(output, "OUT")
        try files.requireDistinct(invocation.command)
        guard FilePlace.isFile(output), try isDatabase(output) else { return }
        throw UsageError(
            "OUT: \(output) is a database. Name another file.",
            command: invocation.command.name
        )
    }

    /// Whether a file is a database, according to its first bytes.
    fileprivate func isDatabase(_ path: String) throws -> Bool {
        var source = try FileSource(path: path, chunk: 16)
        return try source.next()?.starts(with: "SQLite format 3\0".utf8) ?? false
    }
}

public import Patchbay
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// The surroundings of a run through a server API: network, clocks, observers and cancellation.
public struct ServerSurroundings {
    /// Sends the requests.
    public var transport: any Transport
    /// The clocks and the random numbers.
    public var host: any EngineHost
    /// Receives log records without personal data or secrets.
    public let log: (any LogHandler)?
    /// The time between two checkpoints.
    public var interval: Duration
    /// Receives the progress of the run.
    public var progress: (ServerProgress) -> Void
    /// Receives a finding when the provider fails repeatedly, and when it recovers.
    public var trouble: (Finding) -> Void
    /// Called at least ten times a second; true cancels the run.
    public var isCancelled: () -> Bool
    /// Logs the phase of the run.
    let phases: PhaseLog

    /// Creates surroundings.
    public init(
        transport: any Transport,
        host: any EngineHost = SystemHost(),
        log: (any LogHandler)? = nil,
        interval: Duration = .seconds(2),
        progress: @escaping (ServerProgress) -> Void = { _ in },
        trouble: @escaping (Finding) -> Void = { _ in },
        isCancelled: @escaping () -> Bool = { false }
    ) {
        (self.transport, self.host, self.log, self.interval) = (transport, host, log, interval)
        (self.progress, self.trouble, self.isCancelled) = (progress, trouble, isCancelled)
        phases = PhaseLog(log)
    }
}

@available(*, unavailable)
extension ServerSurroundings: Sendable {}

extension ServerSurroundings {
    /// Reports progress.
    func tell(_ done: ServerProgress) {
        phases.note(done.part.phase, records: done.records, bytes: done.bytes)
        progress(done)
    }

    /// Reports the progress of reading opt-outs before a migration.
    func reportReading(_ done: Migration.Progress) {
        tell(ServerProgress(part: .hearing(of: done.hearing ?? 0), records: done.records, bytes: done.bytes))
    }

    /// Reports the progress of a part before contacts are moved.
    ///
    /// - Throws: `CancellationError` if the caller cancels.
    func tell(_ part: ServerProgress.Part, records: Int, bytes: Int) throws {
        tell(ServerProgress(part: part, records: records, bytes: bytes))
        if isCancelled() { throw CancellationError() }
    }
}

/// The progress of a run through a server API.
public struct ServerProgress: Sendable {
    /// The part of the work that is in progress.
    public enum Part: Hashable, Sendable {
        /// Moving contacts.
        case moving
        /// Reading the contacts of the vendor, page by page. `records` counts them.
        case pages
        /// Reading opt-outs again in the part of the source that an earlier run had read, with its number of bytes.
        case hearing(of: Int)
        /// Reading the files of a comparison, with the number of bytes if it is known.
        case verifying(Verification.Part, of: Int?)
        /// Reading the journal of an earlier run, with its number of bytes.
        case journal(of: Int)
    }

    /// The number of records that have a verdict.
    public let records: Int
    /// The number of bytes of these records.
    public let bytes: Int
    /// The number of records that are in progress.
    public let inProgress: Int
    /// The reason why no request is in progress; nil if one is.
    public internal(set) var waiting: Finding?
    /// The part of the work that is in progress. In parts other than moving, `records` and `bytes` count that part.
    public internal(set) var part = Part.moving

    init(part: Part = .moving, records: Int, bytes: Int = 0, inProgress: Int = 0, waiting: Finding? = nil) {
        (self.records, self.bytes, self.inProgress, self.waiting, self.part) = (
            records, bytes, inProgress, waiting, part
        )
    }
}

/// The outcome of a run through a server API.
public struct ServerOutcome: Sendable {
    /// The counts of the whole migration, including earlier runs.
    public let report: MigrationReport
    /// The outcomes of all operations, from the run's outbox.
    public let accounts: ProviderAccounts?
    /// The number of records that an earlier run had settled.
    public let resumed: Int
    /// Whether every record has a verdict and the files have their final names. If not, the next run resumes.
    public let isCommitted: Bool
    /// The reason why the provider is suspended, which requires a person to act; nil if it is not.
    public let stopped: Finding?
}

/// Supplies rows to a run and receives their verdicts.
protocol ServerFeed: AnyObject {
    /// Returns the next rows, in order; nil at the end.
    func next() throws -> [ServerItem]?
    /// Whether all contacts of the vendor must be read, page by page, before more rows are sent.
    var wantsPages: Bool { get }
    /// Receives a page; nil after the last one.
    func take(_ page: [(key: String, contact: Contact)]?) throws
    /// The keys for which the vendor must be queried before these rows are sent.
    func questions(of items: [ServerItem]) -> [String]
    /// Receives the vendor's contacts with these keys, and returns the rows as they are to be sent.
    func prepare(_ items: [ServerItem], _ held: [ScalarString: Contact]) throws -> [ServerItem]
    /// Receives the verdict of a row.
    func settled(_ item: ServerItem, _ findings: [Finding]) throws
    /// Writes all results to the outputs, and completes the place for the checkpoint.
    func flush(_ place: inout Checkpoints.Place) throws
}

/// Sends rows through a server API. A window of rows is in progress at a time, and they get their verdicts in order.
final class ServerRun {
    private let target: ServerTarget
    private let files: ServerMigrationFiles
    private let feed: any ServerFeed
    private let surroundings: ServerSurroundings

    /// The maximum number of operations in progress. It is large enough to keep every lane busy.
    private let window: Int
    /// The number of operations that enter together. Rows that enter one by one would be sent in small requests.
    private var block: Int { window / 2 }
    /// The maximum number of bytes of the rows in progress.
    private static let windowBytes = 64 << 20

    /// The settings that cause findings, by the code of the finding.
    private let deciding: [String: String]
    private let rejectLimit: Migration.RejectLimit?
    private var report: MigrationReport
    private var rows: [Int: ServerItem] = [:]
    /// The number of the row that gets the next verdict, and of the row that enters next.
    private var first: Int
    private var end: Int
    private var operations = 0
    private var bytes = 0
    private var places: [OperationID: (row: Int, place: Int)] = [:]
    /// The contacts in progress. Only one row of each contact is in progress at a time, because a later row builds on an
    /// earlier one. Keys that differ only in upper and lower case count as one, because a vendor may treat them so.
    private var contacts: Set<ScalarString> = []
    /// The rows that were mapped, those for which the vendor is being queried, and those that may enter, with their size.
    private var made: ArraySlice<ServerItem> = []
    private var asked: [ServerItem] = []
    private var ready: ArraySlice<ServerItem> = []
    private var waiting = (operations: 0, bytes: 0)
    /// Rows that wait for another row of their contact, and contacts that were released since these rows were last
    /// examined.
    private var behind: [ServerItem] = []
    private var released: Set<ScalarString> = []
    private var isAtEnd = false
    private var question: Task<Void, Never>?
    /// The outcomes from before this process, and the number after the last row for which an earlier process may have sent
    /// operations.
    private var earlier = OutcomeIndex()
    private var uncertainEnd = 0
    private var unsaved = 0

    init(
        _ target: ServerTarget,
        _ files: ServerMigrationFiles,
        _ feed: any ServerFeed,
        _ surroundings: ServerSurroundings,
        deciding: [String: String] = [:],
        rejectLimit: Migration.RejectLimit? = nil
    ) {
        (self.target, self.files, self.feed, self.surroundings) = (target, files, feed, surroundings)
        (self.deciding, self.rejectLimit) = (deciding, rejectLimit)
        report = files.earlier?.place.report ?? MigrationReport()
        (first, end) = (report.read + 1, report.read + 1)
        window = target.window
    }

    private enum Signal: Sendable {
        case event(EngineEvent)
        case tick
        case asked(Result<[ScalarString: Contact], any Error>)
    }

    nonisolated(nonsending) func run() async throws -> ServerOutcome {
        let client = try await makeClient()
        defer { surroundings.phases.end() }
        do {
            let outcome = try await deliver(client)
            await client.close()
            if outcome.isCommitted { try finish() } else { files.leave() }
            return outcome
        } catch is CancellationError {
            await client.close()
            return files.leaveStopped()
        } catch {
            await client.close()
            files.leave()
            throw error
        }
    }

    private nonisolated(nonsending) func makeClient() async throws -> EngagementClient {
        let provider = target.provider
        let route = RoutingPlan.Provider(
            name: provider.name,
            adapter: provider.adapter,
            mode: .live,
            settingsDigest: provider.settingsDigest,
            rate: provider.rate
        )
        let credentials = provider.credentials
        return try await EngagementClient(
            outbox: .file(files.outbox),
            subject: "migration",
            plan: RoutingPlan(providers: [route]),
            transport: surroundings.transport,
            // Outcomes are kept until a checkpoint includes them.
            historyLimit: 4 * window,
            limits: OutboxLimits(operations: 4 * window, bytes: 1 << 40, rejects: 4 * window),
            credentials: CredentialSource(immediate: { credentials[$0.contact] }),
            host: surroundings.host,
            log: surroundings.log
        )
    }

    // MARK: The loop

    private nonisolated(nonsending) func deliver(_ client: EngagementClient) async throws -> ServerOutcome {
        let (signals, continuation) = AsyncStream.makeStream(of: Signal.self)
        let events = client.events()
        let listener = Task { for await event in events { continuation.yield(.event(event)) } }
        let ticker = Task {
            while (try? await Task.sleep(for: .milliseconds(100))) != nil { continuation.yield(.tick) }
        }
        defer {
            question?.cancel()
            ticker.cancel()
            listener.cancel()
            continuation.finish()
        }
        if files.earlier != nil {
            earlier = try await client.outcomes(on: target.provider.name)
            uncertainEnd = first + window
        }
        // A person who starts the run again has corrected the cause of the suspension.
        try await client.resume(target.provider.name)
        let asker = ServerAsker(client: client, provider: target.provider.name, server: target.server)
        try await readPages(asker)
        let clock = ContinuousClock()
        var (saved, queried) = (clock.now, clock.now)
        var stopped: Finding?
        var waiting: Finding?
        var isDone = try await step(client, asker, continuation)
        if !isDone {
            for await signal in signals {
                switch signal {
                case .event(.ended(let id, _, let outcome)): note(outcome, of: id)
                case .event(.suspended(_, let finding)): stopped = finding
                case .event(.outage(_, let finding)), .event(.recovered(_, let finding)): surroundings.trouble(finding)
                case .event(.storageFailed(let error)): throw error
                case .event(.switchRefused(let refusal)): throw refusal
                case .event: continue
                case .asked(let result):
                    add(try feed.prepare(asked, try result.get()))
                    asked = []
                case .tick:
                    if clock.now - queried >= .seconds(1) {
                        queried = clock.now
                        waiting = try await asker.reasonToWait()
                    }
                    surroundings.tell(progress(waiting))
                }
                isDone = try await step(client, asker, continuation)
                if isDone || stopped != nil || surroundings.isCancelled() { break }
                if unsaved > window || clock.now - saved >= surroundings.interval && !files.writer.isBusy {
                    try save()
                    saved = clock.now
                }
            }
        }
        surroundings.tell(progress(nil))
        report.isComplete = isDone
        try save()
        let accounts = try await client.accounts().first { $0.provider == target.provider.name }
        return ServerOutcome(
            report: report,
            accounts: accounts,
            resumed: files.earlier?.place.report.read ?? 0,
            isCommitted: isDone,
            stopped: stopped
        )
    }

    /// Reads all contacts of the vendor if the feed needs them now.
    private nonisolated(nonsending) func readPages(_ asker: ServerAsker) async throws {
        guard feed.wantsPages else { return }
        surroundings.phases.note(.pages)
        try await asker.eachPage(surroundings) { try feed.take($0) }
        try feed.take(nil)
    }

    /// Lets rows enter, starts a query if one is needed, and gives verdicts. Returns whether all rows are complete.
    private nonisolated(nonsending) func step(
        _ client: EngagementClient,
        _ asker: ServerAsker,
        _ signals: AsyncStream<Signal>.Continuation
    ) async throws -> Bool {
        if let keys = try await fill(client, asker) {
            question = Task {
                do {
                    signals.yield(.asked(.success(try await asker.contacts(of: keys))))
                } catch {
                    signals.yield(.asked(.failure(error)))
                }
            }
        }
        try settle()
        return isAtEnd && rows.isEmpty && made.isEmpty && behind.isEmpty && ready.isEmpty && asked.isEmpty
    }

    private func progress(_ waiting: Finding?) -> ServerProgress {
        ServerProgress(records: report.read, bytes: report.bytesRead, inProgress: end - first, waiting: waiting)
    }

    // MARK: In

    private var hasRoom: Bool { operations < window && bytes < Self.windowBytes && end - first < window }

    private var hasRoomForBlock: Bool {
        operations <= window - block && bytes <= Self.windowBytes / 2 && end - first <= window - block
    }

    /// The maximum number of rows in one query of the vendor.
    private static let batch = 1_000

    private static func mark(_ item: ServerItem) -> ScalarString { ScalarString(item.row.key.lowercased()) }

    private func add(_ items: [ServerItem]) {
        let isLate = ready.last.map { last in items.contains { $0.number < last.number } } ?? false
        ready += items
        // A row that waited for another row of its contact precedes the rows that follow it.
        if isLate { ready.sort { $0.number < $1.number } }
        for item in items {
            waiting.operations += item.row.actions.count
            waiting.bytes += item.record.bytes.count
        }
    }

    /// Gathers rows, and lets a block of them enter when there is room for it.
    ///
    /// - Returns: The keys for which the vendor must be queried before more rows can enter.
    private nonisolated(nonsending) func fill(_ client: EngagementClient, _ asker: ServerAsker) async throws
        -> [String]?
    {
        while true {
            guard asked.isEmpty else { return nil }
            let isBlock = waiting.operations >= block || waiting.bytes >= Self.windowBytes / 2 || ready.count >= block
            let next = try gather(isFull: isBlock)
            guard !next.isEmpty else {
                guard !ready.isEmpty, isOverdue || (isBlock ? hasRoomForBlock : hasRoom),
                    try await enterReady(client)
                else { return nil }
                continue
            }
            let questions = feed.questions(of: next)
            guard questions.isEmpty else {
                asked = next
                return questions
            }
            try await readPages(asker)
            add(try feed.prepare(next, [:]))
        }
    }

    /// Whether every row in progress waits for one that has not entered yet.
    private var isOverdue: Bool { rows.isEmpty || rows[first] == nil && ready.first?.number == first }

    /// Returns the next rows that may be sent: first those that waited for another row of their contact, then new ones
    /// unless enough rows have gathered.
    private func gather(isFull: Bool) throws -> [ServerItem] {
        var next: [ServerItem] = []
        if !released.isEmpty {
            var still: [ServerItem] = []
            for item in behind {
                if next.count < Self.batch, released.contains(Self.mark(item)), let item = begun(item) {
                    next.append(item)
                } else {
                    still.append(item)
                }
            }
            behind = still
            released = []
        }
        guard !isFull else { return next }
        while next.count < Self.batch, behind.count < Self.batch {
            if made.isEmpty {
                // Rows that are available go first, because reading takes time.
                guard next.isEmpty else { break }
                guard !isAtEnd, let items = try feed.next() else {
                    isAtEnd = true
                    break
                }
                made = items[...]
            }
            guard let item = made.popFirst() else { break }
            if let item = begun(item) { next.append(item) } else { behind.append(item) }
        }
        return next
    }

    /// Marks a row as holding its contact; nil while another row of the contact is in progress.
    private func begun(_ item: ServerItem) -> ServerItem? {
        guard !item.row.key.isEmpty, !item.row.isRejected else { return item }
        guard contacts.insert(Self.mark(item)).inserted else { return nil }
        var item = item
        item.isOnItsWay = true
        return item
    }

    /// Lets ready rows enter while there is room; returns false if none enters. There is always room for the row that gets
    /// the next verdict.
    private nonisolated(nonsending) func enterReady(_ client: EngagementClient) async throws -> Bool {
        var entering: [(item: ServerItem, ids: [OperationID])] = []
        let last = first + window
        while var item = ready.first, item.number == first || hasRoom && item.number < last {
            ready.removeFirst()
            waiting.operations -= item.row.actions.count
            waiting.bytes -= item.record.bytes.count
            item.begin()
            let ids = item.ids(in: files.run)
            (operations, bytes) = (operations + ids.count, bytes + item.record.bytes.count)
            end = max(end, item.number + 1)
            entering.append((item, ids))
        }
        // Looks up all operations that an earlier process may have sent at once.
        var known: Set<OperationID> = []
        let uncertain = entering.filter { $0.item.number < uncertainEnd }.flatMap(\.ids)
        if !uncertain.isEmpty { known = try await client.known(among: uncertain) }
        // Captures all operations in one step. Otherwise a request would leave with the first few.
        try client.capture(entering.flatMap { enter($0.item, $0.ids, besides: known) })
        if first >= uncertainEnd { earlier = OutcomeIndex() }
        return !entering.isEmpty
    }

    /// Lets a row enter. Returns its operations except those that an earlier process has captured.
    private func enter(
        _ item: ServerItem,
        _ ids: [OperationID],
        besides known: Set<OperationID>
    ) -> [EngagementOperation] {
        var item = item
        for (place, id) in ids.enumerated() {
            if let outcome = earlier.take(id) {
                item.note(outcome, at: place)
            } else {
                places[id] = (item.number, place)
            }
        }
        rows[item.number] = item
        release(item.number)
        let options = item.options.map { [target.descriptor.id: $0] } ?? [:]
        return ids.enumerated().compactMap { place, id in
            guard !known.contains(id), item.outcomes[place] == nil else { return nil }
            return EngagementOperation(
                id: id,
                // The subject is not the contact: the outbox stores each subject, and must not grow with the source.
                subject: Subject(rawValue: "row-\(item.number % window)"),
                contact: item.row.key,
                capturedAt: surroundings.host.date(),
                options: options,
                action: item.row.actions[place]
            )
        }
    }

    // MARK: Out

    private func note(_ outcome: OperationOutcome, of id: OperationID) {
        guard let place = places.removeValue(forKey: id) else {
            // An earlier process captured the operation, and its row has not entered yet.
            if first < uncertainEnd { earlier.note(outcome, of: id) }
            return
        }
        rows[place.row]?.note(outcome, at: place.place)
        release(place.row)
    }

    /// Releases the contact of a row whose operations all have outcomes, although earlier rows may still be in progress.
    private func release(_ row: Int) {
        guard let item = rows[row], item.open == 0, item.isOnItsWay else { return }
        rows[row]?.isOnItsWay = false
        contacts.remove(Self.mark(item))
        if !behind.isEmpty { released.insert(Self.mark(item)) }
    }

    /// Gives verdicts to completed rows, in order.
    private func settle() throws {
        while let item = rows[first], item.open == 0 {
            rows[first] = nil
            first += 1
            (operations, bytes) = (operations - item.outcomes.count, bytes - item.record.bytes.count)
            unsaved += max(1, item.outcomes.count)
            let findings = item.verdict(lostOptOuts: target.settings.lostOptOuts)
            report.read += 1
            report.bytesRead += item.record.bytes.count + 1
            report.count(findings)
            if report.mapping.isEmpty {
                report.mapping = item.effects
            } else if !item.effects.isEmpty {
                report.mapping = zip(report.mapping, item.effects).map { $0 + $1 }
            }
            if findings.contains(where: { $0.severity == .error }) {
                report.refuse(findings, deciding: deciding)
            } else {
                report.written += 1
                if !findings.isEmpty { report.writtenWithFindings += 1 }
            }
            try feed.settled(item, findings)
            // A shorter source has been sent completely by then.
            if report.read == MigrationReport.sampledRecords, let stop = report.stops(by: rejectLimit) {
                throw Migration.Failure([stop])
            }
        }
    }

    private func save() throws {
        var place = Checkpoints.Place(report: report, offset: report.bytesRead, lines: 0, isExact: false)
        try feed.flush(&place)
        try files.save(place)
        unsaved = 0
    }

    private func finish() throws {
        var place = Checkpoints.Place(report: report, offset: report.bytesRead, lines: 0, isExact: false)
        surroundings.phases.note(.naming)
        try feed.flush(&place)
        try files.commit(place)
    }
}

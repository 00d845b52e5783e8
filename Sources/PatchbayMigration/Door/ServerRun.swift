public import Patchbay
public import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What a run through a server API works in: the network, the clocks, who listens, and when to stop.
public struct ServerSurroundings {
    /// Carries the requests.
    public var transport: any Transport
    /// Clocks and chance.
    public var host: any EngineHost
    /// Takes records of what happens, without a value of a person or a secret.
    public let log: (any LogHandler)?
    /// Seconds between two checkpoints.
    public var interval: Duration
    /// Hears how far the run is.
    public var progress: (ServerProgress) -> Void
    /// Hears that the provider fails again and again, and that it answers again.
    public var trouble: (Finding) -> Void
    /// Asked a few times a second; true ends the run early.
    public var isCancelled: () -> Bool
    /// Tells the log what the run is at.
    let phases: PhaseLog

    /// Surroundings.
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
    /// Tells how far the run is.
    func tell(_ told: ServerProgress) {
        phases.note(told.part.phase, records: told.records, bytes: told.bytes)
        progress(told)
    }

    /// Tells how far the hearing of opt-outs is that a migration does.
    func heard(_ done: Migration.Progress) {
        tell(ServerProgress(part: .hearing(of: done.hearing ?? 0), records: done.records, bytes: done.bytes))
    }

    /// Tells how far something is that comes before contacts are moved.
    ///
    /// - Throws: `CancellationError` where the caller gives up.
    func tell(_ part: ServerProgress.Part, records: Int, bytes: Int) throws {
        tell(ServerProgress(part: part, records: records, bytes: bytes))
        if isCancelled() { throw CancellationError() }
    }
}

/// How far a run through a server API is.
public struct ServerProgress: Sendable {
    /// What the run is at.
    public enum Part: Hashable, Sendable {
        /// It moves contacts.
        case moving
        /// It reads what the vendor holds, page by page; records are contacts of them.
        case pages
        /// It reads what an earlier run had read, so many bytes, for what people said no to in it.
        case hearing(of: Int)
        /// It reads a part of what a comparison reads itself, of so many bytes if that is known.
        case verifying(Verification.Part, of: Int?)
        /// It reads the journal of an earlier run, so many bytes.
        case journal(of: Int)
    }

    /// Records that have their verdict.
    public let records: Int
    /// Bytes of them.
    public let bytes: Int
    /// Records that are on their way.
    public let underway: Int
    /// Why nothing moves, if nothing does.
    public internal(set) var waiting: Finding?
    /// What the run is at; of the other parts records and bytes are those of the part.
    public internal(set) var part = Part.moving

    init(part: Part = .moving, records: Int, bytes: Int = 0, underway: Int = 0, waiting: Finding? = nil) {
        (self.records, self.bytes, self.underway, self.waiting, self.part) = (records, bytes, underway, waiting, part)
    }
}

/// How a run through a server API ended.
public struct ServerOutcome: Sendable {
    /// The numbers of the whole, with those of earlier runs.
    public let report: MigrationReport
    /// Where every operation went, from the run's outbox.
    public let accounts: ProviderAccounts?
    /// Records that an earlier run had settled.
    public let resumed: Int
    /// Whether every record has its verdict and the files have their names; if not, the next run goes on.
    public let isCommitted: Bool
    /// Why the provider stopped, if it did: a person has to act.
    public let stopped: Finding?
}

/// Where rows come from, and what is done with them besides.
protocol ServerFeed: AnyObject {
    /// The next rows, in order; nil at the end.
    func next() throws -> [ServerItem]?
    /// Whether everything that the vendor holds is wanted before more is said, page by page.
    var wantsPages: Bool { get }
    /// Takes a page; nil behind the last.
    func take(_ page: [(key: String, contact: Contact)]?) throws
    /// The keys about which the vendor must be asked before these rows are said.
    func questions(of items: [ServerItem]) -> [String]
    /// Takes what the vendor holds of them; the rows as they are said then.
    func prepare(_ items: [ServerItem], _ held: [ScalarString: Contact]) throws -> [ServerItem]
    /// A row has its verdict.
    func settled(_ item: ServerItem, _ findings: [Finding]) throws
    /// Everything handed over is with the outputs when this returns; the place as it is kept.
    func flush(_ place: inout Checkpoints.Place) throws
}

/// Brings rows through a server API: a window of them is on its way at a time, each gets its verdict, in order.
final class ServerRun {
    private let target: ServerTarget
    private let files: ServerMigrationFiles
    private let feed: any ServerFeed
    private let surroundings: ServerSurroundings

    /// Most operations that are on their way, so that every lane finds what it can carry.
    private let window: Int
    /// So many enter together: rows that came one by one would leave in requests of a few.
    private var block: Int { window / 2 }
    /// Most bytes of the rows that are on their way.
    private static let windowBytes = 64 << 20

    /// The settings by the codes of the findings that follow from them.
    private let deciding: [String: String]
    private let rejectLimit: Migration.RejectLimit?
    private var report: MigrationReport
    private var rows: [Int: ServerItem] = [:]
    /// The row that gets the next verdict, and the one that enters next.
    private var first: Int
    private var end: Int
    private var operations = 0
    private var bytes = 0
    private var places: [OperationID: (row: Int, place: Int)] = [:]
    /// Contacts that are on their way: one row of each at a time, because a later one builds on an earlier one. Keys that
    /// differ in upper and lower case alone count as one, because a vendor may take them so.
    private var contacts: Set<ScalarString> = []
    /// Rows that were made, those about which the vendor is asked, and those that may enter, with what they hold.
    private var made: ArraySlice<ServerItem> = []
    private var asked: [ServerItem] = []
    private var ready: ArraySlice<ServerItem> = []
    private var waiting = (operations: 0, bytes: 0)
    /// Rows behind another one of their contact, and the contacts that have become free since they were looked at.
    private var behind: [ServerItem] = []
    private var released: Set<ScalarString> = []
    private var isAtEnd = false
    private var question: Task<Void, Never>?
    /// What ended before this process, and the first row of which an earlier one can't have said anything.
    private var earlier = Endings()
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
            // What has ended is remembered until a checkpoint speaks of it.
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
            earlier = try await client.endings(on: target.provider.name)
            uncertainEnd = first + window
        }
        // Whoever starts the run again has acted.
        try await client.resume(target.provider.name)
        let asker = ServerAsker(client: client, provider: target.provider.name, server: target.server)
        try await readPages(asker)
        let clock = ContinuousClock()
        var (saved, told) = (clock.now, clock.now)
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
                    if clock.now - told >= .seconds(1) {
                        told = clock.now
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

    /// Reads everything that the vendor holds, if that is wanted now.
    private nonisolated(nonsending) func readPages(_ asker: ServerAsker) async throws {
        guard feed.wantsPages else { return }
        surroundings.phases.note(.pages)
        try await asker.eachPage(surroundings) { try feed.take($0) }
        try feed.take(nil)
    }

    /// Lets rows in, has the vendor asked, and gives verdicts; whether all is done.
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
        ServerProgress(records: report.read, bytes: report.bytesRead, underway: end - first, waiting: waiting)
    }

    // MARK: In

    private var hasRoom: Bool { operations < window && bytes < Self.windowBytes && end - first < window }

    private var hasRoomForBlock: Bool {
        operations <= window - block && bytes <= Self.windowBytes / 2 && end - first <= window - block
    }

    /// So many rows are asked about at once.
    private static let batch = 1_000

    private static func mark(_ item: ServerItem) -> ScalarString { ScalarString(item.row.key.lowercased()) }

    private func add(_ items: [ServerItem]) {
        let isLate = ready.last.map { last in items.contains { $0.number < last.number } } ?? false
        ready += items
        // What had to wait for another row of its contact goes before what stands behind it.
        if isLate { ready.sort { $0.number < $1.number } }
        for item in items {
            waiting.operations += item.row.actions.count
            waiting.bytes += item.record.bytes.count
        }
    }

    /// Gathers rows, and lets a block of them in when there is room for it.
    ///
    /// - Returns: keys about which the vendor must be asked before more can enter.
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

    /// Whether every row on its way waits for one that has not entered yet.
    private var isOverdue: Bool { rows.isEmpty || rows[first] == nil && ready.first?.number == first }

    /// The next rows that may be asked about: those that waited for another one of their contact first, then, unless enough
    /// have gathered, new ones.
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
                // What there is goes first: reading on takes its time.
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

    /// A row that may be asked about and said; nil while another one of its contact is on its way.
    private func begun(_ item: ServerItem) -> ServerItem? {
        guard !item.row.key.isEmpty, !item.row.isRejected else { return item }
        guard contacts.insert(Self.mark(item)).inserted else { return nil }
        var item = item
        item.isOnItsWay = true
        return item
    }

    /// Lets in what is ready, as far as there is room; false if that is nothing. The row whose turn it is has room always.
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
        // What an earlier process may have said of them is asked once for all.
        var known: Set<OperationID> = []
        let uncertain = entering.filter { $0.item.number < uncertainEnd }.flatMap(\.ids)
        if !uncertain.isEmpty { known = try await client.known(among: uncertain) }
        // In one step: a request would leave with the first few.
        try client.capture(entering.flatMap { enter($0.item, $0.ids, besides: known) })
        if first >= uncertainEnd { earlier = Endings() }
        return !entering.isEmpty
    }

    /// Lets a row in; gives what is to be said of it, which is all but what an earlier process has said.
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
                // Not the contact: the outbox remembers each subject, and must not grow with the source.
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
            // Said by an earlier process, of a row that has not entered yet.
            if first < uncertainEnd { earlier.note(outcome, of: id) }
            return
        }
        rows[place.row]?.note(outcome, at: place.place)
        release(place.row)
    }

    /// Lets go of the contact of a row of which all has ended, though the rows before it may be on their way still.
    private func release(_ row: Int) {
        guard let item = rows[row], item.open == 0, item.isOnItsWay else { return }
        rows[row]?.isOnItsWay = false
        contacts.remove(Self.mark(item))
        if !behind.isEmpty { released.insert(Self.mark(item)) }
    }

    /// Gives every row its verdict whose turn it is.
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
            // Everything of a shorter source has been sent.
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

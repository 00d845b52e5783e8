import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// What was captured, is safe in the outbox, and has no place on a route yet.
///
/// The rows of this process are kept decoded, as far as there is room; the others are read when their turn comes.
struct StagedCaptures {
    /// One capture with what the outbox holds of it.
    struct Operation {
        let operation: EngagementOperation
        let stored: OutboxOperation
    }

    /// One capture of this process, and since when it waits.
    struct Waiting {
        let capture: Engine.Capture
        let since: Instant
    }

    /// One row of the outbox.
    struct Row {
        let number: Int64
        /// Who hears them, where another process took them in; nil is as the configuration says now.
        let routes: String?
        let operations: [Operation]
        /// Whether something in it can't be read.
        let isUnreadable: Bool
        /// Whether it was taken in by this engine, with ids that it made.
        let isOwn: Bool
    }

    /// So many captures are kept decoded: more are read again, because memory that grows with every capture costs those who
    /// capture more than that.
    private static let capacity = 1_024
    /// So many captures share a row at most: rows get their places whole.
    static let rowSize = 64

    /// The rows in order; nil if they are to be looked up.
    private var numbers: ArraySlice<Int64>?
    private var known: [Int64: [Waiting]] = [:]
    private var knownCount = 0
    /// What each row of this process adds to what the outbox holds.
    private var usages: [Int64: OutboxUsage] = [:]
    /// What they all add.
    private(set) var usage = OutboxUsage()
    /// What others had committed when `numbers` were looked up.
    private var version: Int64?

    /// Whether a transaction is under way in which some get their places.
    var arePlaced = false
    /// When to try again, after the storage failed.
    var nextTry: Instant?

    /// Whether every capture that this process knows of has its place.
    var isEmpty: Bool { numbers?.isEmpty ?? false }

    /// Another process may have brought something, or placed ours.
    mutating func look() { (numbers, known, knownCount, usages, usage) = (nil, [:], 0, [:], OutboxUsage()) }

    mutating func add(_ row: [Waiting], number: Int64) {
        guard numbers != nil else { return }
        numbers?.append(number)
        let added = row.usage
        usages[number] = added
        usage += added
        guard knownCount + row.count <= Self.capacity else { return }
        known[number] = row
        knownCount += row.count
    }

    mutating func remove(_ placed: some Collection<Int64>) {
        for number in placed {
            knownCount -= known.removeValue(forKey: number)?.count ?? 0
            let gone = usages.removeValue(forKey: number) ?? OutboxUsage()
            usage += OutboxUsage(operations: -gone.operations, bytes: -gone.bytes)
            if numbers?.first == number { numbers?.removeFirst() } else { numbers = nil }
        }
    }

    /// The next row, and how many stand before it in this transaction; nil behind the last.
    mutating func row(_ offset: Int, in store: OutboxStore) throws -> Row? {
        let now = try store.foreignVersion()
        if numbers == nil || version != now {
            look()
            numbers = try store.stagedCaptures()[...]
            version = now
        }
        guard let numbers, let number = numbers.dropFirst(offset).first else { return nil }
        if let operations = known[number]?.map(Operation.init) {
            return Row(number: number, routes: nil, operations: operations, isUnreadable: false, isOwn: true)
        }
        let stored = try store.stagedCapture(number) ?? (routes: "", captures: [])
        let operations = stored.captures.compactMap { Operation($0) }
        let isUnreadable = operations.count < stored.captures.count
        return Row(
            number: number,
            routes: stored.routes,
            operations: operations,
            isUnreadable: isUnreadable,
            isOwn: false
        )
    }
}

extension Collection<StagedCaptures.Waiting> {
    /// What they add to what the outbox holds.
    fileprivate var usage: OutboxUsage {
        OutboxUsage(operations: Int64(count), bytes: Int64(reduce(0) { $0 + $1.capture.body.count }))
    }
}

extension StagedCaptures.Operation {
    /// A capture on its way in.
    fileprivate init(_ waiting: StagedCaptures.Waiting) {
        operation = waiting.capture.operation
        stored = OutboxOperation(operation, since: waiting.since.milliseconds, body: waiting.capture.body)
    }

    /// A capture as the outbox holds it; nil if this release can't read it.
    fileprivate init?(_ stagedCapture: StagedCapture) {
        guard let operation = try? EngagementOperation(jsonBytes: stagedCapture.body) else { return nil }
        self.operation = operation
        stored = OutboxOperation(operation, since: stagedCapture.since, body: stagedCapture.body)
    }
}

/// The outbox has no room for what was captured, unless something else goes.
private struct NoRoom: Error {}

/// The two steps of a capture: first it is safe, then it gets its places. The first is one write and one wait for the disk; the
/// second waits for nobody, and nobody waits for it.
extension Engine {
    /// Keeps captures in the outbox: they are on the disk when this returns.
    ///
    /// Most get their places with ``placeStagedCaptures(atMost:)``, a moment later. A person's word on what may be done, whoever
    /// comes or goes, an id that the app chose, and what may not fit in, are examined and placed at once, behind everything
    /// that waits.
    package func takeIn(_ captures: [Capture]) throws {
        guard captures.allSatisfy(\.mayWait) else {
            _ = try commit(captures)
            return
        }
        let waiting = captures.map { StagedCaptures.Waiting(capture: $0, since: context.now(at: $0.uptime)) }
        do {
            for (number, row) in try keep(waiting) { stagedCaptures.add(row, number: number) }
        } catch is NoRoom {
            _ = try commit(captures)
        }
    }

    /// Writes captures down, in rows; gives those with their numbers.
    private func keep(_ captures: [StagedCaptures.Waiting]) throws -> [(number: Int64, row: [StagedCaptures.Waiting])] {
        var rows: [(number: Int64, row: [StagedCaptures.Waiting])] = []
        let more = stagedCaptures.usage + captures.usage
        let durability: Durability = DeliberateFault.captureNotAwaited.isPresent ? .normal : .full
        try context.transaction(durability, appends: true) {
            guard try bounds.haveRoom(for: more, context) else { throw NoRoom() }
            for start in stride(from: 0, to: captures.count, by: StagedCaptures.rowSize) {
                if start > 0 { context.host.giveWay() }
                let row = Array(captures[start..<min(start + StagedCaptures.rowSize, captures.count)])
                let stagedCaptures = row.map { StagedCapture(since: $0.since.milliseconds, body: $0.capture.body) }
                rows.append((try store.takeIn(stagedCaptures, routes: routes), row))
            }
        }
        return rows
    }

    /// Whether captures that this process knows of wait for their places.
    package var hasStagedCaptures: Bool { !stagedCaptures.isEmpty }

    /// Gives what has arrived its places on the routes, in order, some rows at a time.
    ///
    /// Where the storage fails, they wait there, and the next try is some seconds later.
    package func placeStagedCaptures(atMost count: Int = .max) throws {
        guard hasStagedCaptures, stagedCaptures.nextTry.map({ $0 <= now }) ?? true else { return }
        do {
            try place(atMost: count)
            stagedCaptures.nextTry = nil
        } catch {
            stagedCaptures.nextTry = now + .seconds(5)
            throw error
        }
    }

    /// Gives everything that has arrived its places, also what other processes brought, and wherever the last try failed.
    package func placeEveryStagedCapture() throws {
        stagedCaptures.look()
        stagedCaptures.nextTry = nil
        try placeStagedCaptures()
    }

    /// Whether what is stored now is places, or the time, and no verdict.
    package var storesNoVerdict: Bool { stagedCaptures.arePlaced || context.isMarking }

    private func place(atMost limit: Int) throws {
        stagedCaptures.arePlaced = true
        defer { stagedCaptures.arePlaced = false }
        var left = limit
        while left > 0, hasStagedCaptures {
            var batch = CaptureBatch(context: context, runners: runners, hearing: Hearing(plan))
            var placed: [Int64] = []
            try placing(.normal, &batch) { batch in
                placed = try placeWaiting(&batch, atMost: min(left, Self.placedAtOnce))
            }
            if placed.isEmpty { return }
            stagedCaptures.remove(placed)
            left -= max(1, batch.count)
        }
    }

    /// So many captures get their places in one transaction, or some more.
    private static let placedAtOnce = 512

    /// Gives what waits its places inside the transaction at hand, as the configuration of the process said that took it in;
    /// returns the numbers of the rows.
    ///
    /// Where a provider of that configuration is not known here any more, this one decides; during a switch the one before it,
    /// so that the row, and what is behind it, take part in the switch. Where nobody of that one is known either, they wait for
    /// its end. A sandbox that begins to run in shadow mode then hears the state as it is, and nothing from before.
    func placeWaiting(
        _ batch: inout CaptureBatch,
        atMost limit: Int = .max,
        before changes: [Change]? = nil
    ) throws -> [Int64] {
        var placed: [Int64] = []
        let addedProviders = changes?.filter(\.isNewSandbox).map(\.name) ?? []
        let present = changes.map { Hearing(plan, before: $0) } ?? Hearing(plan)
        defer { batch.hearing = Hearing(plan) }
        while batch.count < limit, let row = try stagedCaptures.row(placed.count, in: store) {
            var hearing: Hearing? = Hearing(plan)
            if let routes = row.routes { hearing = Hearing(plan, routes: routes) ?? present }
            guard let hearing else { break }
            // Whom nobody heard of those who are left, the configuration to come decides about.
            if changes != nil, !row.operations.allSatisfy({ hearing.isHeard($0.operation) }) { break }
            batch.hearing = hearing
            batch.hearing.shadows.removeAll { addedProviders.contains(plan.providers[$0].name) }
            if row.isUnreadable {
                try store.setStagedCaptureAside(row.number)
                context.emit([.setAside(FindingRow.Engine.stagedCaptureUnreadable.at())])
            }
            for stagedCapture in row.operations {
                // A file that was copied or mended by hand may hold one twice: what is known has its place.
                if !row.isOwn, try store.knows(stagedCapture.operation.id.rawValue) { continue }
                try batch.add(stagedCapture.operation, stagedCapture.stored)
            }
            try store.removeStagedCapture(row.number)
            placed.append(row.number)
        }
        return placed
    }
}

extension Engine.Capture {
    /// Whether nothing that comes after it depends on its place.
    fileprivate var mayWait: Bool {
        guard hasNewID else { return false }
        return switch operation.action {
        case .setConsent, .switchContact, .erase: false
        default: true
        }
    }
}

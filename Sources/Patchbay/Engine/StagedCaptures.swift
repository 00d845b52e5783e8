import PatchbayAdapterKit
import PatchbayModel
import PatchbayOutbox

/// Captures that are stored in the outbox but not routed yet.
///
/// The rows of this process are kept decoded, up to a limit. The others are read when they are due.
struct StagedCaptures {
    /// A capture with its stored form.
    struct Operation {
        let operation: EngagementOperation
        let stored: OutboxOperation
    }

    /// A capture of this process, and since when it waits.
    struct Waiting {
        let capture: Engine.Capture
        let since: Instant
    }

    /// A staged row of the outbox.
    struct Row {
        let number: Int64
        /// The routes under which another process stored the captures; nil for the present configuration.
        let routes: String?
        let operations: [Operation]
        /// Whether a capture in it cannot be read.
        let isUnreadable: Bool
        /// Whether this engine stored it, with generated ids.
        let isOwn: Bool
    }

    /// The maximum number of captures that are kept decoded. Others are read again, which limits the memory.
    private static let capacity = 1_024
    /// The maximum number of captures in a row. Rows are routed as a whole.
    static let rowSize = 64

    /// The numbers of the rows in order; nil if they must be read.
    private var numbers: ArraySlice<Int64>?
    private var known: [Int64: [Waiting]] = [:]
    private var knownCount = 0
    /// The size of each row of this process.
    private var usages: [Int64: OutboxUsage] = [:]
    /// The size of all rows of this process.
    private(set) var usage = OutboxUsage()
    /// The version of other processes' commits when `numbers` were read.
    private var version: Int64?

    /// Whether a transaction is in progress that routes captures.
    var arePlaced = false
    /// When to try again after a storage error.
    var nextTry: Instant?

    /// Whether all captures that this process knows of are routed.
    var isEmpty: Bool { numbers?.isEmpty ?? false }

    /// Discards the cached rows, because another process may have added or routed rows.
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

    /// Returns the row at an offset in this transaction; nil after the last.
    mutating func row(_ offset: Int, in store: OutboxStore) throws -> Row? {
        let now = try store.foreignVersion()
        if numbers == nil || version != now {
            look()
            numbers = try store.captures.stagedNumbers()[...]
            version = now
        }
        guard let numbers, let number = numbers.dropFirst(offset).first else { return nil }
        if let operations = known[number]?.map(Operation.init) {
            return Row(number: number, routes: nil, operations: operations, isUnreadable: false, isOwn: true)
        }
        let stored = try store.captures.staged(number) ?? (routes: "", captures: [])
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
    /// The size that the captures add to the outbox.
    fileprivate var usage: OutboxUsage {
        OutboxUsage(operations: Int64(count), bytes: Int64(reduce(0) { $0 + $1.capture.body.count }))
    }
}

extension StagedCaptures.Operation {
    /// Creates an operation from a capture of this process.
    fileprivate init(_ waiting: StagedCaptures.Waiting) {
        operation = waiting.capture.operation
        stored = OutboxOperation(operation, since: waiting.since.milliseconds, body: waiting.capture.body)
    }

    /// Creates an operation from a stored capture; nil if this release cannot read it.
    fileprivate init?(_ stagedCapture: StagedCapture) {
        guard let operation = try? EngagementOperation(jsonBytes: stagedCapture.body) else { return nil }
        self.operation = operation
        stored = OutboxOperation(operation, since: stagedCapture.since, body: stagedCapture.body)
    }
}

/// The error that captures do not fit unless other operations are dropped.
private struct NoRoom: Error {}

/// Capturing has two steps. First, the capture is stored, which takes one write and one wait for the disk. Later, it is
/// routed, which no caller waits for.
extension Engine {
    /// Stores captures in the outbox. They are on the disk when this returns.
    ///
    /// Most are routed by ``placeStagedCaptures(atMost:)`` a moment later. Consent decisions, erasures, log-ins and log-outs,
    /// captures with an id from the app, and captures that may not fit are examined and routed at once, after all staged
    /// captures.
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

    /// Stores captures in rows. Returns the rows with their numbers.
    private func keep(_ captures: [StagedCaptures.Waiting]) throws -> [(number: Int64, row: [StagedCaptures.Waiting])] {
        var rows: [(number: Int64, row: [StagedCaptures.Waiting])] = []
        let more = stagedCaptures.usage + captures.usage
        try context.transaction(.full, appends: true) {
            guard try bounds.haveRoom(for: more, context) else { throw NoRoom() }
            for start in stride(from: 0, to: captures.count, by: StagedCaptures.rowSize) {
                if start > 0 { context.host.giveWay() }
                let row = Array(captures[start..<min(start + StagedCaptures.rowSize, captures.count)])
                let stagedCaptures = row.map { StagedCapture(since: $0.since.milliseconds, body: $0.capture.body) }
                rows.append((try store.captures.stage(stagedCaptures, routes: routes), row))
            }
        }
        return rows
    }

    /// Whether captures that this process knows of are not routed yet.
    package var hasStagedCaptures: Bool { !stagedCaptures.isEmpty }

    /// Routes staged captures in order, some rows at a time.
    ///
    /// If the storage fails, they stay staged, and the next attempt follows after 5 s.
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

    /// Routes all staged captures, including those of other processes, without waiting after a failure.
    package func placeEveryStagedCapture() throws {
        stagedCaptures.look()
        stagedCaptures.nextTry = nil
        try placeStagedCaptures()
    }

    /// Whether the current transaction stores only routes or the time, and no verdict.
    package var storesNoVerdict: Bool { stagedCaptures.arePlaced || context.isMarking }

    private func place(atMost limit: Int) throws {
        stagedCaptures.arePlaced = true
        defer { stagedCaptures.arePlaced = false }
        var left = limit
        while left > 0, hasStagedCaptures {
            var batch = CaptureBatch(context: context, runners: runners, recipients: Recipients(plan))
            var placed: [Int64] = []
            try placing(.normal, &batch) { batch in
                placed = try placeWaiting(&batch, atMost: min(left, Self.placedAtOnce))
            }
            if placed.isEmpty { return }
            stagedCaptures.remove(placed)
            left -= max(1, batch.count)
        }
    }

    /// The number of captures at which a transaction stops routing further rows.
    private static let placedAtOnce = 512

    /// Routes staged captures inside the current transaction, under the configuration of the process that captured them.
    /// Returns the numbers of the rows.
    ///
    /// If that configuration has a provider that is not known here, the present configuration applies. During a switch, the
    /// one before it applies, so that the row and those after it take part in the switch. If none of its providers is known,
    /// they wait until the switch has completed. A sandbox that starts a shadow run receives the state, and no captures from
    /// before.
    func placeWaiting(
        _ batch: inout CaptureBatch,
        atMost limit: Int = .max,
        before changes: [Change]? = nil
    ) throws -> [Int64] {
        var placed: [Int64] = []
        let addedProviders = changes?.filter(\.isNewSandbox).map(\.name) ?? []
        let present = changes.map { Recipients(plan, before: $0) } ?? Recipients(plan)
        defer { batch.recipients = Recipients(plan) }
        while batch.count < limit, let row = try stagedCaptures.row(placed.count, in: store) {
            var recipients: Recipients? = Recipients(plan)
            if let routes = row.routes { recipients = Recipients(plan, routes: routes) ?? present }
            guard let recipients else { break }
            // Captures that none of the remaining providers receives are left to the new configuration.
            if changes != nil, !row.operations.allSatisfy({ recipients.containsRecipient(of: $0.operation) }) { break }
            batch.recipients = recipients
            batch.recipients.shadows.removeAll { addedProviders.contains(plan.providers[$0].name) }
            if row.isUnreadable {
                try store.quarantine.setStagedCaptureAside(row.number)
                context.emit([.setAside(FindingRow.Engine.stagedCaptureUnreadable.at())])
            }
            for stagedCapture in row.operations {
                // A file that was copied or edited by hand may contain a capture twice. A known one is routed already.
                if !row.isOwn, try store.deliveryMarks.knows(stagedCapture.operation.id.rawValue) { continue }
                try batch.add(stagedCapture.operation, stagedCapture.stored)
            }
            try store.captures.removeStaged(row.number)
            placed.append(row.number)
        }
        return placed
    }
}

extension Engine.Capture {
    /// Whether no later operation depends on the routing of this one.
    fileprivate var mayWait: Bool {
        guard hasNewID else { return false }
        return switch operation.action {
        case .setConsent, .switchContact, .erase: false
        default: true
        }
    }
}

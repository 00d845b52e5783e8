/// The delivery engine's durable queue: one SQLite file with operations, their routes, and the engine's state.
///
/// Every call is synchronous. A store belongs to one serial executor. Several stores, also of several processes, may have
/// the same file open. Calls that write run in the current transaction; if there is none, in one of their own (`normal`).
///
/// The store owns the connection and the transactions. Each part owns the calls for some tables, and the state that only
/// these calls need. A part does not retain its store. It must not be used after the store was deallocated.
package final class OutboxStore {
    /// The report on opening this store.
    package let openReport: OpenReport

    /// A hook for tests. An error thrown here simulates the death of the process at that point.
    package var faultPoint: ((StoragePoint) throws -> Void)?

    // MARK: Parts

    /// New operations, and staged captures.
    package private(set) lazy var captures = OutboxCaptures(store: self)
    /// Pending operations with their routes and holds.
    package private(set) lazy var operations = OutboxOperations(store: self)
    /// The rows that a lane's next window shows.
    package private(set) lazy var queues = OutboxQueues(store: self)
    /// Closed queues.
    package private(set) lazy var closedQueues = OutboxClosedQueues(store: self)
    /// Outcomes and the progress of pending operations.
    package private(set) lazy var settlement = OutboxSettlement(store: self)
    /// Which providers have received which operations.
    package private(set) lazy var deliveryMarks = OutboxDeliveryMarks(store: self)
    /// The outcomes of completed operations.
    package private(set) lazy var history = OutboxHistory(store: self)
    /// Each provider's accounts, and the usage.
    package private(set) lazy var accounts = OutboxAccounts(store: self)
    /// Rejected operations that are kept for replay.
    package private(set) lazy var rejects = OutboxRejects(store: self)
    /// The right to deliver, which one process has at a time.
    package private(set) lazy var lease = OutboxLease(store: self)
    /// The values that the engine keeps between two starts.
    package private(set) lazy var state = OutboxState(store: self)
    /// Rows whose checksum does not match.
    package private(set) lazy var quarantine = OutboxQuarantine(store: self)
    /// Verification, checkpoints, and the removal of deleted data from the disk.
    package private(set) lazy var maintenance = OutboxMaintenance(store: self)

    // MARK: Connection

    /// The connection to the file; to an empty in-memory database while the store is suspended.
    package internal(set) var connection: Connection
    let file: OutboxFile?
    let isReadOnly: Bool
    var synchronous: Durability?
    /// The busy timeout of a transaction, in milliseconds.
    var timeout = Connection.timeout
    package internal(set) var isSuspended = false
    /// The number of times that other connections may have committed without this connection detecting it.
    var foreignCommits: Int64 = 0
    /// The foreign version at the start of the current transaction or of the current ``look(_:)``; nil until it is first
    /// read.
    var versionAtHand: Int64?
    var isLooking = false
    /// Whether several reads share one state of the file, so that nothing may be written.
    var isInSnapshot = false
    /// The current transaction; an empty one between transactions.
    var current = Transaction()

    init(_ connection: Connection, file: OutboxFile?, isReadOnly: Bool, report: OpenReport) {
        self.connection = connection
        self.file = file
        self.isReadOnly = isReadOnly
        openReport = report
        maintenance.noteNewLog()
    }

    // MARK: Transactions

    /// Runs `body` as one transaction: all of its changes are stored, or none.
    ///
    /// Noted outcomes are applied first, so that `body` sees complete tables. A transaction with `appends` leaves them to the
    /// next one; it must only append notes (staged captures, outcomes) or replace rows whose keys it knows.
    ///
    /// - Throws: The error of `body`, after a rollback; ``OutboxError`` if the storage fails, or `misuse` if a transaction is
    ///   already in progress.
    package func transaction<T>(
        _ durability: Durability,
        appends: Bool = false,
        _ body: () throws -> T
    ) throws -> T {
        try begin(durability)
        defer {
            current = Transaction()
            if !isLooking { versionAtHand = nil }
        }
        let result: T
        do {
            try prepare(appends: appends)
            result = try body()
            try commit(durability)
        } catch {
            rollBack()
            throw error
        }
        history.noteCommit()
        try faultPoint?(.afterCommit(durability))
        return result
    }

    private func begin(_ durability: Durability) throws {
        guard !connection.isInTransaction else {
            throw OutboxError(.misuse, "A transaction was begun inside another one.")
        }
        try requireWritable()
        try requireAwake()
        try faultPoint?(.begin(durability))
        if synchronous != durability {
            try connection.script("PRAGMA synchronous = \(durability == .full ? "FULL" : "NORMAL")")
            synchronous = durability
        }
        try guarded { () throws(OutboxError) in _ = try connection.run(Self.begin) }
        (current, versionAtHand) = (Transaction(), nil)
    }

    /// What a transaction does before its body.
    ///
    /// It runs under the lock, because a recovering process holds the lock from its first read until the file has been moved
    /// away.
    private func prepare(appends: Bool) throws {
        try file?.requireUnmoved()
        try quarantine.moveDamagedRows()
        if !appends { try guarded(settlement.applyNotedInTransaction) }
    }

    private func commit(_ durability: Durability) throws {
        try history.trim()
        try rejects.trim()
        try guarded(accounts.writeCounts)
        if current.mustBalance {
            try accounts.balance()
            try guarded(accounts.writeCounts)
        }
        try accounts.storeUsage()
        try faultPoint?(.beforeCommit(durability))
        try guarded { () throws(OutboxError) in _ = try connection.run(Self.commit) }
        try file?.requireSidecars()
    }

    private func rollBack() {
        if connection.isInTransaction { try? connection.script("ROLLBACK") }
        deliveryMarks.forgetIndex()
        settlement.forgetNotedCount()
        versionAtHand = nil
    }

    /// The numbers that a transaction has assigned, and the changes that it writes before it commits.
    struct Transaction {
        /// The highest sequence assigned.
        var lastSequence: Int64?
        /// The number of the last outcome.
        var lastHistoryNumber: Int64?
        /// The counts that are not written yet.
        var counts: [AccountLine] = []
        /// The change of the usage.
        var usage = OutboxUsage()
        /// Whether an account line was lost, so that the accounts must be balanced.
        var mustBalance = false
        /// Whether the usage row was lost, so that the usage must be counted again.
        var mustRecount = false
    }

    private static let begin = Query("BEGIN IMMEDIATE")
    private static let commit = Query("COMMIT")

    /// Runs `body` in the current transaction, or in a new one.
    func atomically<T>(_ body: () throws(OutboxError) -> T) throws(OutboxError) -> T {
        guard !connection.isInTransaction else { return try guarded(body) }
        do {
            return try transaction(.normal) { try guarded(body) }
        } catch let error as OutboxError {
            throw error
        } catch {
            throw OutboxError(.io, "The transaction was cut short: \(type(of: error)).")
        }
    }

    /// Runs `body`. If it finds the structure damaged, marks the file so that the next start verifies it completely and
    /// recovers it if necessary.
    func guarded<T>(_ body: () throws(OutboxError) -> T) throws(OutboxError) -> T {
        do {
            return try body()
        } catch {
            if error.code == .corrupt, !isReadOnly, let file, file.isUnmoved { file.markSuspect() }
            throw error
        }
    }

    private func requireWritable() throws(OutboxError) {
        guard !isReadOnly else {
            throw OutboxError(
                .readOnly,
                "\(connection.name) was opened for reading only.",
                remedy: "Open it without readOnly to write."
            )
        }
    }

    /// Sets the busy timeout of a transaction, in milliseconds. A transaction that waits longer fails with `busy`.
    package func setTimeout(_ milliseconds: Int32) {
        timeout = milliseconds
        connection.setTimeout(milliseconds)
    }
}

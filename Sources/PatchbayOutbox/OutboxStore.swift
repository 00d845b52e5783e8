/// The delivery engine's durable queue: one SQLite file with operations, their routes, and the engine's state.
///
/// Every call is synchronous. A store belongs to one serial executor. Several stores, also of several processes, may have the
/// same file open. Calls that write run in the current transaction; if there is none, in one of their own (`normal`).
package final class OutboxStore {
    /// The report on opening this store.
    package let openReport: OpenReport

    /// The maximum number of outcomes in the history; a few more if the oldest ones share a row. Older ones are deleted at the
    /// end of a transaction.
    package var historyLimit = Int.max

    /// The maximum number of rejected operations kept for replay. The oldest beyond it are deleted at the end of a transaction.
    package var rejectLimit = Int.max

    /// Called for rejected operations that were deleted because of `rejectLimit`, before the transaction commits.
    package var onForgotten: ((_ provider: String, _ count: Int) -> Void)?

    /// A hook for tests. An error thrown here simulates the death of the process at that point.
    package var faultPoint: ((StoragePoint) throws -> Void)?

    /// Called for every row that is quarantined because its checksum does not match, before the transaction commits.
    package var onQuarantine: ((QuarantineRecord) -> Void)?

    /// Called for every operation that loses its route to a provider because the row of the operation or of the route was
    /// damaged.
    package var onLoss: ((_ provider: String, _ id: String) -> Void)?

    /// The wall clock in milliseconds, for outcomes that the store itself adds to the history.
    package var date: () -> Int64 = { 0 }

    /// The connection to the file; to an empty in-memory database while the store is suspended.
    package internal(set) var connection: Connection
    let file: OutboxFile?
    let isReadOnly: Bool
    var synchronous: Durability?
    /// The position at which the search for queue heads resumes, by provider and lane, if a lane has too many queues for one
    /// search.
    var headSearch: [[String]: String] = [:]
    /// The limits on how many pending rows are read and kept at once.
    package var looks = LookSizes()
    /// The number of row changes that are not reported to any index.
    var upheavals = 0
    /// The current transaction; an empty one between transactions.
    var current = Transaction()
    /// The number of the last outcome that this store has committed; 0 before the first.
    package private(set) var newestHistoryNumber: Int64 = 0
    var damaged: Set<DamagedRow> = []
    var damagedCount = 0
    /// The epoch of the lease, and the foreign version at which it was read.
    var knownEpoch: (epoch: Int64, version: Int64)?
    /// A lease that expires later than any lease that is taken now, and the time since which it has been observed.
    var overlongLease: (epoch: Int64, expiresAt: Int64, since: Int64)?
    /// The number of noted outcomes that are not applied yet; nil if it must be read from the file.
    var notedEndings: Int?
    /// The foreign version at the start of the current transaction or of the current ``look(_:)``; nil until it is first read.
    var versionAtHand: Int64?
    var isLooking = false
    /// Whether several reads share one state of the file, so that nothing may be written.
    var isInSnapshot = false
    /// The number of the last outcome in the temporary index of the history by id; nil if the index does not exist yet.
    var heardEnd: Int64?
    /// The buffer for the image of the next row of staged captures.
    var stagedCaptureImage = StoredImage()
    /// The busy timeout of a transaction, in milliseconds.
    var timeout = Connection.timeout
    package internal(set) var isSuspended = false
    #if os(Linux)
    /// The log's file, if it is extended ahead of time.
    private var log: LogFile?
    #endif
    /// The number of times that other connections may have committed without this connection detecting it.
    var foreignCommits: Int64 = 0

    init(_ connection: Connection, file: OutboxFile?, isReadOnly: Bool, report: OpenReport) {
        self.connection = connection
        self.file = file
        self.isReadOnly = isReadOnly
        openReport = report
        noteLog()
    }

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
        defer {
            current = Transaction()
            if !isLooking { versionAtHand = nil }
        }
        let result: T
        do {
            // This runs under the lock, because a recovering process holds the lock from its first read until the file has been
            // moved away.
            try file?.requireUnmoved()
            try quarantineDamagedRows()
            if !appends { try guarded(carryOutEndings) }
            result = try body()
            try trimHistory()
            try trimRejects()
            try guarded(writeCounts)
            if current.mustBalance {
                try balance()
                try guarded(writeCounts)
            }
            try storeUsage()
            try faultPoint?(.beforeCommit(durability))
            try guarded { () throws(OutboxError) in _ = try connection.run(Self.commit) }
            try file?.requireSidecars()
        } catch {
            if connection.isInTransaction { try? connection.script("ROLLBACK") }
            (heardEnd, notedEndings, versionAtHand) = (nil, nil, nil)
            throw error
        }
        newestHistoryNumber = current.lastHistoryNumber ?? newestHistoryNumber
        try faultPoint?(.afterCommit(durability))
        return result
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

    /// The number of pages (16 MiB) above which the write-ahead log is checkpointed.
    private static let longLog = 4096

    /// Checkpoints the write-ahead log if it has become long. Never waits.
    package func checkpointIfLong() throws(OutboxError) {
        if connection.logPages > Self.longLog { try checkpoint() }
    }

    /// Extends the write-ahead log's file if little space is left in it. A commit that overwrites existing bytes waits for the
    /// disk half as long as a commit that extends the file.
    ///
    /// Does nothing after a large commit, because such a commit spends most of its time on writing the bytes themselves.
    ///
    /// - Parameter run: Runs the extension on any thread. The store does not wait for it, and commits continue meanwhile.
    package func lengthenLogIfShort(_ run: (@escaping @Sendable () -> Void) -> Void) {
        #if os(Linux)
        guard let log, !isReadOnly, !isSuspended, connection.committedPages <= Self.smallCommit else { return }
        let end = Int64(connection.logPages * Self.frame)
        if log.isShort(behind: end) { run { log.grow(behind: end) } }
        #endif
    }

    /// Discards the known state of the log's file. Called when the store has a new connection.
    func noteLog() {
        file?.forgetSidecars()
        #if os(Linux)
        log = connection.logPath.map(LogFile.init)
        #endif
    }

    /// The number of bytes of a page in the log, including its frame header.
    private static let frame = 4096 + 24
    /// The maximum number of pages in a small commit.
    private static let smallCommit = 32

    /// Copies committed pages from the write-ahead log into the file, as far as readers allow. Never waits.
    ///
    /// The engine calls this off the commit path. Commits never do it themselves.
    package func checkpoint() throws(OutboxError) {
        guard file != nil, !isReadOnly, !isSuspended else { return }
        try guarded { () throws(OutboxError) in try connection.passiveCheckpoint() }
    }
}

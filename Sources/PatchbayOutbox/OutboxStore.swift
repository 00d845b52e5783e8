/// The durable queue under the delivery engine: one SQLite file of operations, their routes, and what the engine remembers.
///
/// Every call is synchronous. A store belongs to one serial executor; several stores, also of several processes, may hold
/// the same file open. Calls that write run in the transaction at hand, or in one of their own (`normal`) without one.
package final class OutboxStore {
    /// What happened while this store was opened.
    package let openReport: OpenReport

    /// How many endings are remembered, and some more where many share a row; older ones are forgotten at the end of a
    /// transaction.
    package var historyLimit = Int.max

    /// How many rejected operations are kept for replay; the oldest beyond are forgotten at the end of a transaction.
    package var rejectLimit = Int.max

    /// Told of rejected operations that were forgotten for want of room, before the transaction commits.
    package var onForgotten: ((_ provider: String, _ count: Int) -> Void)?

    /// A test's hook: throwing here plays the death of the process at that point.
    package var faultPoint: ((StoragePoint) throws -> Void)?

    /// Told of every row that is set aside because its checksum does not hold, before the transaction commits.
    package var onQuarantine: ((QuarantineRecord) -> Void)?

    /// Told of every operation that leaves a provider's route because its row, or the route's, was damaged.
    package var onLoss: ((_ provider: String, _ id: String) -> Void)?

    /// The wall clock in milliseconds, for endings that the store books by itself.
    package var date: () -> Int64 = { 0 }

    /// Leads nowhere while the store is suspended.
    var connection: Connection
    let file: OutboxFile?
    let isReadOnly: Bool
    var synchronous: Durability?
    /// Where the search for queue heads goes on, by provider and lane, when a lane has too many queues for one look.
    var headSearch: [[String]: String] = [:]
    /// How much is looked at and kept at once.
    package var looks = LookSizes()
    /// How often rows changed in a way that no kept index is told of.
    var upheavals = 0
    /// The highest sequence given out in this transaction.
    var lastSequence: Int64?
    var lastHistoryNumber: Int64?
    /// What was counted in this transaction and is not written yet.
    var unwrittenCounts: [AccountLine] = []
    /// The number of the last ending that this store has committed; 0 before the first.
    package private(set) var newestHistoryNumber: Int64 = 0
    var damaged: Set<DamagedRow> = []
    var damagedCount = 0
    /// An account line was lost in this transaction: the books are balanced before it commits.
    var mustBalance = false
    /// What this transaction adds to what the file holds.
    var usageChange = OutboxUsage()
    /// The count of what the file holds was lost in this transaction: it is counted anew before it commits.
    var mustRecount = false
    /// The epoch of the lease, and what others had committed when it was read.
    var knownEpoch: (epoch: Int64, version: Int64)?
    /// A lease that ends further ahead than any lasts, and since when it is seen.
    var overlongLease: (epoch: Int64, expiresAt: Int64, since: Int64)?
    /// How many endings are noted and not carried out; nil if that is to be looked up.
    var notedEndings: Int?
    /// What others had committed when the transaction or the look at hand began, once it was asked for.
    var versionAtHand: Int64?
    var isLooking = false
    /// Whether several looks rest on one state of the file: nothing is written meanwhile.
    var isInSnapshot = false
    /// The end of the history up to which `heard` is filled.
    var heardEnd: Int64?
    /// Room for the image of the next row that arrives.
    var stagedCaptureImage = StoredImage()
    /// How long a transaction waits for another process, in milliseconds.
    var timeout = Connection.timeout
    package internal(set) var isSuspended = false
    #if os(Linux)
    /// The log's file, where it is made longer ahead of time.
    private var log: LogFile?
    #endif
    /// How often others may have committed without a trace on this connection.
    var foreignCommits: Int64 = 0

    init(_ connection: Connection, file: OutboxFile?, isReadOnly: Bool, report: OpenReport) {
        self.connection = connection
        self.file = file
        self.isReadOnly = isReadOnly
        openReport = report
        noteLog()
    }

    /// Runs `body` as one transaction: all of it is stored, or nothing.
    ///
    /// What was only noted as ended is carried out first, so that `body` finds every table as it is. One that `appends` only
    /// notes (staged captures, endings) or replaces what it knows the key of, and leaves that to the next.
    ///
    /// - Throws: What `body` throws, after a rollback; ``OutboxError`` when the storage fails, or `misuse` when a transaction
    ///   is already under way.
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
        lastSequence = nil
        lastHistoryNumber = nil
        mustBalance = false
        (usageChange, mustRecount, unwrittenCounts, versionAtHand) = (OutboxUsage(), false, [], nil)
        defer { if !isLooking { versionAtHand = nil } }
        let result: T
        do {
            // Under the lock: whoever recovers the file has it from the first look until the file has been moved away.
            try file?.requireUnmoved()
            try quarantineDamagedRows()
            if !appends { try guarded(carryOutEndings) }
            result = try body()
            try trimHistory()
            try trimRejects()
            try guarded(writeCounts)
            if mustBalance {
                try balance()
                try guarded(writeCounts)
            }
            try storeUsage()
            try faultPoint?(.beforeCommit(durability))
            try guarded { () throws(OutboxError) in _ = try connection.run(Self.commit) }
            try file?.requireSidecars()
        } catch {
            if connection.isInTransaction { try? connection.script("ROLLBACK") }
            (usageChange, heardEnd, notedEndings, versionAtHand) = (OutboxUsage(), nil, nil, nil)
            throw error
        }
        usageChange = OutboxUsage()
        newestHistoryNumber = lastHistoryNumber ?? newestHistoryNumber
        try faultPoint?(.afterCommit(durability))
        return result
    }

    private static let begin = Query("BEGIN IMMEDIATE")
    private static let commit = Query("COMMIT")

    /// Runs `body` in the transaction at hand, or in one of its own.
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

    /// Runs `body` and leaves a mark beside the file when it finds the structure damaged, so that the next start recovers it.
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

    /// How long a transaction waits for another process that writes, in milliseconds, before it fails as `busy`.
    package func setTimeout(_ milliseconds: Int32) {
        timeout = milliseconds
        connection.setTimeout(milliseconds)
    }

    /// Past so many pages (16 MiB) the write-ahead log is copied at the next chance.
    private static let longLog = 4096

    /// Copies what was committed into the file if the write-ahead log has become long; never waits.
    package func checkpointIfLong() throws(OutboxError) {
        if connection.logPages > Self.longLog { try checkpoint() }
    }

    /// Has the write-ahead log's file made longer where its end is near: a commit that writes over bytes that the file has waits
    /// for the disk half as long as one that makes it longer.
    ///
    /// After a large commit nothing is done, because there the bytes themselves take the time.
    ///
    /// - Parameter run: has it done, on any thread: nobody waits for it, and commits go on meanwhile.
    package func lengthenLogIfShort(_ run: (@escaping @Sendable () -> Void) -> Void) {
        #if os(Linux)
        guard let log, !isReadOnly, !isSuspended, connection.committedPages <= Self.smallCommit else { return }
        let end = Int64(connection.logPages * Self.frame)
        if log.isShort(behind: end) { run { log.grow(behind: end) } }
        #endif
    }

    /// Forgets what was known of the log's file: it is another one.
    func noteLog() {
        file?.forgetSidecars()
        #if os(Linux)
        log = connection.logPath.map(LogFile.init)
        #endif
    }

    /// The bytes of a page in the log.
    private static let frame = 4096 + 24
    /// A commit of more pages than this is a large one.
    private static let smallCommit = 32

    /// Copies what was committed from the write-ahead log into the file, as far as readers allow; never waits.
    ///
    /// The engine calls this off the commit path: commits themselves never do it.
    package func checkpoint() throws(OutboxError) {
        guard file != nil, !isReadOnly, !isSuspended else { return }
        try guarded { () throws(OutboxError) in try connection.passiveCheckpoint() }
    }
}

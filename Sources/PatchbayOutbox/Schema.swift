/// The tables and indexes of an outbox.
enum Schema {
    /// The schema version in the file. Every change of the tables raises it; files of another version are rejected.
    static let version: Int64 = 1
    /// The key of the version in the table of file properties.
    static let versionKey = "schema"

    static let script = """
        CREATE TABLE operation (
            sequence INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, subject TEXT NOT NULL, grouping TEXT,
            captured_at INTEGER NOT NULL, since INTEGER NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE INDEX operation_by_subject ON operation (subject, sequence);
        CREATE TABLE route (
            sequence INTEGER NOT NULL, provider TEXT NOT NULL, lane TEXT NOT NULL, queue TEXT NOT NULL, hold TEXT,
            step BLOB, failures INTEGER NOT NULL, refusals INTEGER NOT NULL, kind TEXT, requests INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (sequence, provider)) WITHOUT ROWID;
        CREATE INDEX route_by_queue ON route (provider, lane, hold, queue, sequence);
        CREATE INDEX route_by_order ON route (provider, lane, hold, sequence, queue);
        CREATE INDEX route_by_kind ON route (provider, lane, kind, sequence) WHERE kind IS NOT NULL AND hold IS NULL;
        CREATE TABLE account (
            provider TEXT NOT NULL, term TEXT NOT NULL, code TEXT NOT NULL, count INTEGER NOT NULL,
            checksum INTEGER NOT NULL, PRIMARY KEY (provider, term, code));
        CREATE TABLE block (
            provider TEXT NOT NULL, lane TEXT NOT NULL, queue TEXT NOT NULL, until INTEGER, or_woken INTEGER NOT NULL,
            checksum INTEGER NOT NULL, PRIMARY KEY (provider, lane, queue));
        CREATE INDEX block_by_end ON block (provider, lane, until);
        CREATE TABLE memory (
            provider TEXT NOT NULL, lane TEXT NOT NULL, version INTEGER NOT NULL, body BLOB NOT NULL,
            checksum INTEGER NOT NULL, PRIMARY KEY (provider, lane));
        CREATE TABLE journal (
            provider TEXT NOT NULL, lane TEXT NOT NULL, endpoint TEXT NOT NULL, operations BLOB NOT NULL,
            request BLOB NOT NULL, started_at INTEGER NOT NULL, checksum INTEGER NOT NULL,
            PRIMARY KEY (provider, lane));
        CREATE TABLE snapshot (subject TEXT NOT NULL PRIMARY KEY, body BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE meta (key TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE provider (
            name TEXT NOT NULL PRIMARY KEY, adapter TEXT NOT NULL, state_version INTEGER NOT NULL, state TEXT NOT NULL,
            suspended BLOB, settings_digest TEXT NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE history (
            number INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, id TEXT NOT NULL, term TEXT NOT NULL,
            code TEXT NOT NULL, at INTEGER NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE reject (
            number INTEGER PRIMARY KEY AUTOINCREMENT, provider TEXT NOT NULL, sequence INTEGER NOT NULL,
            id TEXT NOT NULL, subject TEXT NOT NULL, grouping TEXT, captured_at INTEGER NOT NULL,
            since INTEGER NOT NULL, body BLOB NOT NULL, code TEXT NOT NULL, at INTEGER NOT NULL,
            finding BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE INDEX reject_by_subject ON reject (subject);
        CREATE TABLE quarantine (
            number INTEGER PRIMARY KEY AUTOINCREMENT, origin TEXT NOT NULL, sequence INTEGER, provider TEXT,
            image BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE lease (
            number INTEGER PRIMARY KEY, owner TEXT NOT NULL, epoch INTEGER NOT NULL, expires_at INTEGER NOT NULL,
            checksum INTEGER NOT NULL);
        CREATE TABLE consent (
            number INTEGER PRIMARY KEY AUTOINCREMENT, at INTEGER NOT NULL, subject TEXT NOT NULL,
            purpose TEXT NOT NULL, channel TEXT, before TEXT NOT NULL, after TEXT NOT NULL,
            operation TEXT NOT NULL, effects BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE INDEX consent_by_subject ON consent (subject, number);
        CREATE TABLE usage (
            number INTEGER PRIMARY KEY, operations INTEGER NOT NULL, bytes INTEGER NOT NULL, rejects INTEGER NOT NULL,
            checksum INTEGER NOT NULL);
        INSERT INTO usage (number, operations, bytes, rejects, checksum)
        VALUES (1, 0, 0, 0, row_checksum('usage', 1, 0, 0, 0));
        CREATE TABLE stagedCapture (
            number INTEGER PRIMARY KEY, routes TEXT NOT NULL, captures BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE notedOutcome (
            number INTEGER PRIMARY KEY, provider TEXT NOT NULL, sequence INTEGER NOT NULL, id TEXT NOT NULL,
            term TEXT NOT NULL, code TEXT NOT NULL, at INTEGER NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE outcomeBatch (
            number INTEGER PRIMARY KEY AUTOINCREMENT, first INTEGER NOT NULL, provider TEXT NOT NULL,
            term TEXT NOT NULL, code TEXT NOT NULL, outcomes BLOB NOT NULL, checksum INTEGER NOT NULL);
        CREATE TABLE deliveryMark (
            sequence INTEGER PRIMARY KEY, providers BLOB NOT NULL, checksum INTEGER NOT NULL);
        INSERT INTO meta (key, value, checksum)
        VALUES ('\(versionKey)', '\(version)', row_checksum('meta', '\(versionKey)', '\(version)'));
        """
}

/// A table whose rows have a checksum, with its columns in the order of the schema, without the checksum.
struct Table {
    let name: String
    let columns: [String]
    /// The integer column by which rows are read in ranges.
    let rowid: String
    /// Inserts a row. Its values are bound in the order of the columns, followed by the checksum.
    let insert: Query
    /// Inserts a row, or replaces the one with the same key. Bound as for `insert`.
    let replace: Query
    /// The checksum state after the common prefix of every row's image.
    let image: ChecksumImage
    /// Whether the table only summarizes other tables, so that it can be rebuilt after a loss.
    var isDerived: Bool { name == Self.usage.name }

    /// Creates a table. Its first `key` columns identify a row; 0 if rows are never replaced.
    init(_ name: String, rowid: String = "rowid", key: Int = 0, _ columns: String...) {
        self.name = name
        self.rowid = rowid
        self.columns = columns
        let places = repeatElement("?", count: columns.count + 1).joined(separator: ", ")
        let insert = "INSERT INTO \(name) (\(columns.joined(separator: ", ")), checksum) VALUES (\(places))"
        let news = (columns.dropFirst(key) + ["checksum"]).map { "\($0) = excluded.\($0)" }.joined(separator: ", ")
        self.insert = Query(insert)
        var image = ChecksumImage()
        image.append(.text(name))
        self.image = image
        replace = Query(
            "\(insert) ON CONFLICT (\(columns.prefix(key).joined(separator: ", "))) DO UPDATE SET \(news)"
        )
    }

    /// Returns the list of columns, each with a prefix such as `route.`.
    func list(_ prefix: String = "") -> String { columns.map { prefix + $0 }.joined(separator: ", ") }

    /// Returns an SQL expression for the checksum of a row.
    func checksum(_ prefix: String = "") -> String { "row_checksum('\(name)', \(list(prefix)))" }

    /// Returns the checksum of a row with these values, in the order of the columns.
    func checksum(of values: [SQLValue]) -> SQLValue {
        var image = image
        for value in values { image.append(value) }
        return .integer(Int64(image.checksum.value))
    }

    /// Returns an SQL condition that is true if a row's checksum matches.
    func isSound(_ prefix: String = "") -> String { "(\(prefix)checksum = \(checksum(prefix)))" }

    /// Returns a SELECT of the rows that meet a condition. The columns are followed by the row's soundness and its number.
    func select(where condition: String, order: String) -> String {
        "SELECT \(list()), \(isSound()), \(rowid) FROM \(name) WHERE \(condition) ORDER BY \(order)"
    }

    static let operation = Table(
        "operation",
        rowid: "sequence",
        "sequence",
        "id",
        "subject",
        "grouping",
        "captured_at",
        "since",
        "body"
    )
    static let route = Table(
        "route",
        rowid: "sequence",
        "sequence",
        "provider",
        "lane",
        "queue",
        "hold",
        "step",
        "failures",
        "refusals",
        "kind",
        "requests"
    )
    static let account = Table("account", key: 3, "provider", "term", "code", "count")
    static let block = Table("block", key: 3, "provider", "lane", "queue", "until", "or_woken")
    static let memory = Table("memory", key: 2, "provider", "lane", "version", "body")
    static let journal = Table("journal", key: 2, "provider", "lane", "endpoint", "operations", "request", "started_at")
    static let snapshot = Table("snapshot", key: 1, "subject", "body")
    static let meta = Table("meta", key: 1, "key", "value")
    static let provider = Table(
        "provider",
        key: 1,
        "name",
        "adapter",
        "state_version",
        "state",
        "suspended",
        "settings_digest"
    )
    static let history = Table("history", rowid: "number", "number", "provider", "id", "term", "code", "at")
    static let reject = Table(
        "reject",
        rowid: "number",
        "number",
        "provider",
        "sequence",
        "id",
        "subject",
        "grouping",
        "captured_at",
        "since",
        "body",
        "code",
        "at",
        "finding"
    )
    static let quarantine = Table("quarantine", rowid: "number", "number", "origin", "sequence", "provider", "image")
    static let consent = Table(
        "consent",
        rowid: "number",
        "number",
        "at",
        "subject",
        "purpose",
        "channel",
        "before",
        "after",
        "operation",
        "effects"
    )
    static let lease = Table("lease", rowid: "number", key: 1, "number", "owner", "epoch", "expires_at")
    static let stagedCapture = Table("stagedCapture", rowid: "number", "number", "routes", "captures")
    /// Outcomes that are not applied yet.
    static let notedOutcome = Table(
        "notedOutcome",
        rowid: "number",
        "number",
        "provider",
        "sequence",
        "id",
        "term",
        "code",
        "at"
    )
    /// Consecutive outcomes in the history with equal provider, term, and code. `number` is the number of the last one.
    static let outcomeBatch = Table(
        "outcomeBatch",
        rowid: "number",
        "number",
        "first",
        "provider",
        "term",
        "code",
        "outcomes"
    )
    /// The providers that have completed an operation that is still pending for others.
    static let deliveryMark = Table("deliveryMark", rowid: "sequence", key: 1, "sequence", "providers")
    static let usage = Table("usage", rowid: "number", key: 1, "number", "operations", "bytes", "rejects")

    /// Every table with checksums; referenced tables come first.
    static let all = [
        operation, route, account, block, memory, journal, snapshot, meta, provider, history, reject, quarantine, lease,
        consent, usage, stagedCapture, notedOutcome, outcomeBatch, deliveryMark,
    ]
}

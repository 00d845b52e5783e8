public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

/// The result of a migration in counts.
public struct MigrationReport: Hashable, Sendable {
    /// The count of a finding.
    public struct Tally: Hashable, Sendable {
        /// The severity of the finding.
        public let severity: Finding.Severity
        /// The number of occurrences.
        public internal(set) var count: Int

        /// Creates a tally.
        public init(severity: Finding.Severity, count: Int) { (self.severity, self.count) = (severity, count) }
    }

    /// A reason for findings, and the column or part of a contact that it concerns.
    public struct Reason: Hashable, Sendable {
        /// The code of the findings.
        public let code: String
        /// The column or part: `columns.Birth Date`, `attributes.city`. Empty for the whole record, and where the bulk path
        /// counts a reason for all columns together.
        public let path: String
        /// The reason without details of a single case, such as places and sizes.
        public let reason: String
    }

    /// Counts of findings by code and by reason.
    struct Counts: Hashable, Sendable {
        var codes: [String: Tally] = [:]
        /// The count and the remedy of each reason.
        var reasons: [Reason: Counted] = [:]

        struct Counted: Hashable, Sendable {
            var count: Int
            var remedy: String
        }

        /// Compares reports by code only, because the bulk path counts some reasons for all columns together.
        static func == (left: Self, right: Self) -> Bool { left.codes == right.codes }

        func hash(into hasher: inout Hasher) { hasher.combine(codes) }

        /// The maximum number of reasons that are counted separately.
        private static let mostReasons = 2000

        mutating func add(_ finding: Finding) {
            add(finding.code, finding.severity, 1)
            let reason = Reason(
                code: finding.code,
                path: Self.withoutIndexes(finding.path),
                reason: finding.summary ?? finding.reason
            )
            add(reason, 1, finding.remedy)
        }

        mutating func add(_ row: FindingRow, _ count: Int) {
            add(row.code, row.severity, count)
            let finding = row.at()
            add(Reason(code: row.code, path: "", reason: finding.reason), count, row.remedy)
        }

        mutating func add(_ other: Counts) {
            for (code, tally) in other.codes { add(code, tally.severity, tally.count) }
            for (reason, counted) in other.reasons { add(reason, counted.count, counted.remedy) }
        }

        private mutating func add(_ code: String, _ severity: Finding.Severity, _ count: Int) {
            codes[code, default: Tally(severity: severity, count: 0)].count += count
        }

        mutating func add(_ reason: Reason, _ count: Int, _ remedy: String) {
            var reason = reason
            if reasons.count >= Self.mostReasons, reasons[reason] == nil {
                reason = Reason(code: reason.code, path: "", reason: "Further reasons.")
            }
            // A reason may have several remedies. The choice does not depend on their order.
            let known = reasons[reason]
            reasons[reason] = Counted(count: (known?.count ?? 0) + count, remedy: min(known?.remedy ?? remedy, remedy))
        }

        /// Removes indexes: `subscriptions[2].state` becomes `subscriptions.state`.
        private static func withoutIndexes(_ path: String) -> String {
            guard path.utf8.contains(UInt8(ascii: "[")) else { return path }
            var (kept, isInside) = ("", false)
            for character in path {
                if character == "[" { isInside = true }
                if !isInside { kept.append(character) }
                if character == "]" { isInside = false }
            }
            return kept
        }
    }

    /// The number of records that were not written for one reason.
    public struct Refusal: Hashable, Sendable {
        /// The setting that causes the finding, such as `to.withoutOptIn`; nil if no single setting does.
        public let setting: String?
        /// The number of records.
        public internal(set) var contacts: Int

        fileprivate func json(_ code: String) -> JSONValue {
            var json: JSONObject = ["code": .string(code)]
            json["setting"] = setting.map(JSONValue.string)
            json["contacts"] = .integer(contacts)
            return .object(json)
        }
    }

    /// The number of records read.
    public internal(set) var read = 0
    /// The number of contacts written or, in a dry run, ready to be written.
    public internal(set) var written = 0
    /// The number of written contacts that have findings.
    public internal(set) var writtenWithFindings = 0
    /// The number of records that were not written. They are listed in the rejects file.
    public internal(set) var rejected = 0
    /// The counts of findings, by code.
    public var findings: [String: Tally] { counts.codes }
    var counts = Counts()
    /// The reasons why records were not written, by the code of the finding: every error, and other findings that a setting
    /// causes. A record counts once for each code.
    public internal(set) var refusals: [String: Refusal] = [:]
    /// The effects of the mapping rules, in the order of the rules.
    public internal(set) var mapping: [MappingEffect] = []
    /// The number of records that left the bulk path, by reason. In a run without a bulk path, all records count.
    public internal(set) var leftBulkPath: [String: Int] = [:]
    /// The number of bytes read.
    public internal(set) var bytesRead = 0
    /// The number of bytes written.
    public internal(set) var bytesWritten = 0
    /// Whether the source was read to its end; false after a cancellation.
    public internal(set) var isComplete = false

    mutating func count(_ findings: [Finding]) {
        for finding in findings { counts.add(finding) }
    }

    /// Counts a record that is not written. `deciding` maps the codes of findings to the settings that cause them.
    mutating func refuse(_ findings: [Finding], deciding: [String: String]) {
        rejected += 1
        refusals.refuse(findings, deciding: deciding)
    }

    /// A reason with its count, and the columns or parts that it concerns.
    public struct Line: Hashable, Sendable {
        /// The code of the findings.
        public let code: String
        /// The severity of the findings.
        public let severity: Finding.Severity
        /// The number of occurrences.
        public let count: Int
        /// The reason.
        public let reason: String
        /// The remedy.
        public let remedy: String
        /// The columns or parts with their counts, the most frequent first.
        public let places: [Place]

        /// Whether the place of every occurrence was counted. Otherwise the counts of the places are too small and are not
        /// shown.
        package var hasPlaceCounts: Bool { places.reduce(0) { $0 + $1.count } >= count }

        /// A column or a part of a contact, with its number of occurrences.
        public struct Place: Hashable, Sendable {
            /// Its path: `columns.Birth Date`.
            public let path: String
            /// The number of occurrences.
            public let count: Int
        }

        /// The places as text: `columns.Age (3), columns.Birth Date (1)`; empty if none is known.
        package var placesText: String {
            func name(_ path: String) -> String {
                for (prefix, word) in [("columns.", "column"), ("attributes.", "attribute")]
                where path.hasPrefix(prefix) {
                    return "\(word) \"\(path.dropFirst(prefix.count))\""
                }
                return path
            }
            let shown = places.prefix(8).map {
                places.count == 1 || !hasPlaceCounts ? name($0.path) : "\(name($0.path)) (\($0.count))"
            }
            return shown.joined(separator: ", ") + (places.count > 8 ? ", …" : "")
        }

        /// The reason with its places, as text.
        package var sentence: String { places.isEmpty ? reason : "\(reason) [\(placesText)]" }
    }

    // MARK: Lines

    /// The findings, one line for each reason: errors first, then the most frequent.
    public var lines: [Line] {
        struct Key: Hashable { var (code, reason): (String, String) }
        let severities: [Finding.Severity] = [.error, .warning, .foreign, .note]
        return Dictionary(grouping: counts.reasons, by: { Key(code: $0.key.code, reason: $0.key.reason) })
            .map { key, entries in
                Line(
                    code: key.code,
                    severity: findings[key.code]?.severity ?? .note,
                    count: entries.reduce(0) { $0 + $1.value.count },
                    reason: key.reason,
                    remedy: entries.map(\.value.remedy).min() ?? "",
                    places: entries.filter { !$0.key.path.isEmpty }
                        .map { Line.Place(path: $0.key.path, count: $0.value.count) }
                        .sorted { (-$0.count, $0.path) < (-$1.count, $1.path) }
                )
            }
            .sorted { one, other in
                let ranks = [one, other].map { severities.firstIndex(of: $0.severity) ?? 0 }
                return (ranks[0], -one.count, one.code, one.reason) < (ranks[1], -other.count, other.code, other.reason)
            }
    }

    /// The refusals: errors first, then the most frequent.
    public var refusalsInOrder: [(code: String, refusal: Refusal)] {
        func rank(_ entry: (code: String, refusal: Refusal)) -> (Int, Int, String) {
            (findings[entry.code]?.severity == .error ? 0 : 1, -entry.refusal.contacts, entry.code)
        }
        return refusals.map { (code: $0.key, refusal: $0.value) }.sorted { rank($0) < rank($1) }
    }

    /// Lines of text: the main reason for rejects with the setting that causes it, then the other findings that a setting
    /// causes.
    public var refusalLines: [String] {
        let (all, lines) = (refusalsInOrder, lines)
        guard let most = all.first else { return [] }
        func sentence(_ code: String) -> String {
            (lines.first { $0.code == code }?.sentence).map { "\($0) (\(code))" } ?? code
        }
        let decides =
            most.refusal.setting.map {
                " The setting \($0) can change this; `apply --rejects FILE` lists a remedy for each."
            }
            ?? " `apply --rejects FILE` lists a remedy for each."
        return ["\(share(most.refusal.contacts)): \(sentence(most.code))\(decides)"]
            + all.dropFirst().compactMap { code, refusal in
                refusal.setting.map {
                    "\(share(refusal.contacts)) also: \(sentence(code)) The setting \($0) can change this."
                }
            }
    }

    /// A part of the rejected records as a phrase.
    package func share(_ count: Int) -> String {
        count < rejected
            ? "\(count) of the \(rejected) rejected records"
            : rejected == 1 ? "The rejected record" : "All \(rejected) rejected records"
    }

    /// The number of records after which the share of rejected records is examined.
    static let sampledRecords = 10_000

    private static let mostlyRejected = FindingRow(
        .error("migration.rejects.share", .invalid),
        reason: "Too many records are rejected, and the run stops",
        remedy:
            "Correct the settings or the source; `patchbay migrate plan` lists all reasons. --max-rejects 100 writes the rest."
    )

    /// Returns the reason to stop a run whose share of rejected records is above a limit; nil if the run continues.
    func stops(by limit: Migration.RejectLimit?) -> Finding? {
        guard let limit, read >= limit.fewestRecords, rejected * 100 > limit.percent * read else { return nil }
        let detail = "\(rejected) of the first \(read), more than \(limit.percent) %"
        return Self.mostlyRejected.at(
            "records",
            detail: detail,
            remedy: "\(refusalLines.first ?? "") \(Self.mostlyRejected.remedy)"
        )
    }

    /// The number of files into which the output must be split for an import route; 1 if it fits, or if the route has no
    /// size limit.
    public func files(for route: ImportRoute) -> Int {
        guard route.contacts == nil, let most = route.bytes, bytesWritten > most else { return 1 }
        return route.requests(for: written, bytes: bytesWritten)
    }

    /// The counts as a JSON object.
    public var json: JSONValue {
        let tallies = findings.inOrder.map { code, tally -> (String, JSONValue) in
            (code, ["severity": .string(tally.severity.rawValue), "count": .integer(tally.count)])
        }
        var json: JSONObject = [
            "complete": .bool(isComplete),
            "read": .integer(read),
            "written": .integer(written),
            "writtenWithFindings": .integer(writtenWithFindings),
            "rejected": .integer(rejected),
            "refusals": .array(refusalsInOrder.map { $1.json($0) }),
            "findings": .object(JSONObject(tallies)),
            "reasons": .array(
                counts.reasons.sorted {
                    ($0.key.code, $0.key.path, $0.key.reason) < ($1.key.code, $1.key.path, $1.key.reason)
                }
                .map { reason, counted in
                    [
                        "code": .string(reason.code), "path": .string(reason.path), "reason": .string(reason.reason),
                        "remedy": .string(counted.remedy), "count": .integer(counted.count),
                    ]
                }
            ),
            "bytesRead": .integer(bytesRead),
            "bytesWritten": .integer(bytesWritten),
        ]
        if !leftBulkPath.isEmpty { json["leftBulkPath"] = .object(JSONObject(counts: leftBulkPath)) }
        if !mapping.isEmpty { json["mapping"] = .array(mapping.map(\.json)) }
        return .object(json)
    }

    /// Creates a report without any counts.
    init() {}

    /// Reads the value of ``json``; nil if the value is not valid.
    init?(json: JSONValue) {
        func number(_ name: String) -> Int? { json[name]?.integer.flatMap { Int(exactly: $0) } }
        guard let read = number("read"), let written = number("written"), let rejected = number("rejected"),
            let withFindings = number("writtenWithFindings"), let tallies = json["findings"]?.object,
            let bytesRead = number("bytesRead"), let bytesWritten = number("bytesWritten"),
            let isComplete = json["complete"]?.bool
        else { return nil }
        (self.read, self.written, self.rejected, writtenWithFindings) = (read, written, rejected, withFindings)
        (self.bytesRead, self.bytesWritten, self.isComplete) = (bytesRead, bytesWritten, isComplete)
        for (name, value) in tallies.map({ ($0.name, $0.value) }) {
            guard let severity = value["severity"]?.string.flatMap(Finding.Severity.init(rawValue:)),
                let count = value["count"]?.integer
            else { return nil }
            counts.codes[name] = Tally(severity: severity, count: Int(count))
        }
        for value in json["reasons"]?.array ?? [] {
            guard let code = value["code"]?.string, let path = value["path"]?.string,
                let reason = value["reason"]?.string, let remedy = value["remedy"]?.string,
                let count = value["count"]?.integer
            else { return nil }
            counts.add(Reason(code: code, path: path, reason: reason), Int(count), remedy)
        }
        for value in json["refusals"]?.array ?? [] {
            guard let code = value["code"]?.string, let contacts = value["contacts"]?.integer else { return nil }
            refusals[code] = Refusal(setting: value["setting"]?.string, contacts: Int(contacts))
        }
        for member in json["leftBulkPath"]?.object ?? [:] {
            guard let count = member.value.integer else { return nil }
            leftBulkPath[member.name] = Int(count)
        }
        guard let mapping = json["mapping"] else { return }
        let effects = (mapping.array ?? [.null]).map(MappingEffect.init(json:))
        guard effects.allSatisfy({ $0 != nil }) else { return nil }
        self.mapping = effects.compactMap { $0 }
    }
}

extension [String: MigrationReport.Refusal] {
    /// Counts a record that is not written, once for each code.
    mutating func refuse(_ findings: [Finding], deciding: [String: String]) {
        var seen: Set<String> = []
        for finding in findings where finding.severity == .error || deciding[finding.code] != nil {
            guard seen.insert(finding.code).inserted else { continue }
            self[finding.code, default: .init(setting: deciding[finding.code], contacts: 0)].contacts += 1
        }
    }

    /// Adds the counts of other refusals.
    mutating func add(_ others: Self) {
        merge(others) { one, other in
            var sum = one
            sum.contacts += other.contacts
            return sum
        }
    }
}

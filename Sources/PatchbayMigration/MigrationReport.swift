public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

/// What a migration did, in numbers.
public struct MigrationReport: Hashable, Sendable {
    /// How often a finding came.
    public struct Tally: Hashable, Sendable {
        /// How much it matters.
        public let severity: Finding.Severity
        /// How often it came.
        public internal(set) var count: Int

        /// A tally.
        public init(severity: Finding.Severity, count: Int) { (self.severity, self.count) = (severity, count) }
    }

    /// Records that were not written and of which one thing was said.
    public struct Refusal: Hashable, Sendable {
        /// The setting that it follows from: `to.withoutOptIn`; nil where no one setting decides it.
        public let setting: String?
        /// How many records.
        public internal(set) var contacts: Int

        fileprivate func json(_ code: String) -> JSONValue {
            var json: JSONObject = ["code": .string(code)]
            json["setting"] = setting.map(JSONValue.string)
            json["contacts"] = .integer(contacts)
            return .object(json)
        }
    }

    /// Records read.
    public internal(set) var read = 0
    /// Contacts written, or with a dry run ready to be written.
    public internal(set) var written = 0
    /// Those of them of which something is worth knowing.
    public internal(set) var writtenWithFindings = 0
    /// Records that were not written and stand in the rejects file.
    public internal(set) var rejected = 0
    /// How often each finding came, by code.
    public internal(set) var findings: [String: Tally] = [:]
    /// Why records were not written, by the code of what was said of them: each error, and what else follows from a setting.
    /// A record counts once for each code.
    public internal(set) var refusals: [String: Refusal] = [:]
    /// What each rule of the mapping did, in the rules' order.
    public internal(set) var mapping: [MappingEffect] = []
    /// The number of records that left the bulk path, by reason; all records of a run without one.
    public internal(set) var leftBulkPath: [String: Int] = [:]
    /// Bytes read.
    public internal(set) var bytesRead = 0
    /// Bytes written.
    public internal(set) var bytesWritten = 0
    /// Whether the source was read to its end; false after a cancellation.
    public internal(set) var isComplete = false

    mutating func count(_ findings: [Finding]) {
        for finding in findings {
            self.findings[finding.code, default: Tally(severity: finding.severity, count: 0)].count += 1
        }
    }

    /// Counts a record that is not written; `deciding` are the settings by the codes of the findings that follow from them.
    mutating func refuse(_ findings: [Finding], deciding: [String: String]) {
        rejected += 1
        refusals.refuse(findings, deciding: deciding)
    }

    /// The findings, the errors and the most frequent first.
    package var findingsInOrder: [(code: String, tally: Tally)] {
        let severities: [Finding.Severity] = [.error, .warning, .foreign, .note]
        return findings.map { (code: $0.key, tally: $0.value) }.sorted { one, other in
            let ranks = [one, other].map { severities.firstIndex(of: $0.tally.severity) ?? 0 }
            return (ranks[0], -one.tally.count, one.code) < (ranks[1], -other.tally.count, other.code)
        }
    }

    /// The refusals, the errors and the most frequent first.
    public var refusalsInOrder: [(code: String, refusal: Refusal)] {
        func rank(_ entry: (code: String, refusal: Refusal)) -> (Int, Int, String) {
            (findings[entry.code]?.severity == .error ? 0 : 1, -entry.refusal.contacts, entry.code)
        }
        return refusals.map { (code: $0.key, refusal: $0.value) }.sorted { rank($0) < rank($1) }
    }

    /// What refuses most, what decides it, and what else that a setting decides was said of those that are not written: a line
    /// each, for people.
    public var refusalLines: [String] {
        let all = refusalsInOrder
        guard let most = all.first else { return [] }
        let decides =
            most.refusal.setting.map {
                " The setting \($0) can change this; the list of rejects has a remedy for each."
            }
            ?? " The list of rejects has a remedy for each."
        return ["\(most.refusal.contacts) of \(rejected) rejected with \(most.code).\(decides)"]
            + all.dropFirst().compactMap { code, refusal in
                refusal.setting.map {
                    "\(refusal.contacts) of \(rejected) also have \(code). The setting \($0) can change this."
                }
            }
    }

    mutating func count(_ tally: Tally, of code: String) {
        findings[code, default: Tally(severity: tally.severity, count: 0)].count += tally.count
    }

    /// Into how many files the output must be cut for a way into the vendor; 1 where it fits, or where no size of a file is
    /// stated.
    public func files(for door: LoadDoor) -> Int {
        guard door.contacts == nil, let most = door.bytes, bytesWritten > most else { return 1 }
        return door.requests(for: written, bytes: bytesWritten)
    }

    /// The numbers as one JSON object.
    public var json: JSONValue {
        let tallies = findings.sorted { $0.key < $1.key }.map { code, tally -> (String, JSONValue) in
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
            "bytesRead": .integer(bytesRead),
            "bytesWritten": .integer(bytesWritten),
        ]
        if !leftBulkPath.isEmpty {
            json["leftBulkPath"] = .object(
                JSONObject(leftBulkPath.sorted { $0.key < $1.key }.map { ($0.key, .integer($0.value)) })
            )
        }
        if !mapping.isEmpty { json["mapping"] = .array(mapping.map(\.json)) }
        return .object(json)
    }

    /// Nothing yet.
    init() {}

    /// Reads what ``json`` wrote; nil if it is something else.
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
            findings[name] = Tally(severity: severity, count: Int(count))
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

    /// Adds what was counted elsewhere.
    mutating func add(_ others: Self) {
        merge(others) { one, other in
            var sum = one
            sum.contacts += other.contacts
            return sum
        }
    }
}

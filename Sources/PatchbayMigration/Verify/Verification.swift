public import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel

/// The result of comparing a source with its target.
public struct Verification: Sendable {
    /// The contacts that are compared.
    public enum Extent: Hashable, Sendable {
        /// All contacts.
        case full
        /// At most a number of contacts of each stratum: contacts with an opt-out, contacts with a push token, contacts
        /// with data that was lost, and all others. The seed determines the choice.
        case sample(Int, seed: UInt64)
    }

    /// The file that is being read.
    public enum Part: Hashable, Sendable {
        /// The source, which is mapped again.
        case source
        /// The target.
        case target
    }

    /// Observes the progress of a comparison, and can cancel it.
    struct Watch {
        let progress: (Part, Migration.Progress) -> Void
        let isCancelled: () -> Bool

        /// The watch for files that are read a second time.
        var again: Watch {
            Watch(
                progress: { part, done in
                    var done = done
                    done.isSecondPass = true
                    progress(part, done)
                },
                isCancelled: isCancelled
            )
        }
    }

    /// A difference between the expected and the actual target.
    public struct Difference: Hashable, Sendable {
        /// The kind of a difference.
        public enum Kind: String, Sendable {
            /// The target does not have the contact.
            case missing
            /// The target has a contact that the source does not have.
            case extra
            /// The target has another value in a field.
            case changed
            /// The target has no value in a field.
            case absent
            /// The target has a value in a field that should be empty.
            case added
            /// The target has a record that cannot be read, so its contact is not known.
            case unreadable
        }

        /// The kind of the difference.
        public let kind: Kind
        /// The field, in neutral terms; empty for a whole contact.
        public let field: String
        /// The key of the contact, or its digest; empty if the record cannot be read.
        public let contact: String
        /// The numbers of the record in the source and in the target; 0 if there is none.
        public let records: (source: Int, target: Int)
        /// The line of the target on which an unreadable record begins; 0 for other records.
        public internal(set) var line = 0
        /// The reasons why the record cannot be read.
        public internal(set) var findings: [Finding] = []

        /// Compares differences without the reasons why a record cannot be read.
        public static func == (left: Difference, right: Difference) -> Bool {
            (left.kind, left.field, left.contact) == (right.kind, right.field, right.contact)
                && left.records == right.records
        }

        /// Hashes the parts that equality compares.
        public func hash(into hasher: inout Hasher) {
            hasher.combine(kind)
            hasher.combine(field)
            hasher.combine(contact)
        }

        /// The difference as JSON (`Schemas/migration/difference`).
        public var json: JSONValue {
            var json: JSONObject = [
                "difference": .string(kind.rawValue), "field": .string(field), "contact": .string(contact),
                "sourceRecord": records.source > 0 ? .integer(records.source) : .null,
                "targetRecord": records.target > 0 ? .integer(records.target) : .null,
            ]
            if line > 0 { json["targetLine"] = .integer(line) }
            if !findings.isEmpty { json["findings"] = .array(findings.map(\.json)) }
            return .object(json)
        }
    }

    /// The report of the migration itself, with its rejects and findings. This loss is expected.
    public internal(set) var expected = MigrationReport()
    /// The number of contacts that were compared.
    public internal(set) var compared = 0
    /// The number of contacts without a difference.
    public internal(set) var equal = 0
    /// The number of differences of each kind in each field.
    public internal(set) var differences: [String: [Difference.Kind: Int]] = [:]
    /// The contacts that were compared.
    public internal(set) var extent = Extent.full
    /// The number of compared contacts of each stratum, and the number of all of them.
    public internal(set) var strata: [String: (looked: Int, all: Int)] = [:]

    /// The number of records of the target that cannot be read. They count as differences, too.
    public var unreadable: Int { differences[""]?[.unreadable] ?? 0 }

    /// The number of differences.
    public var count: Int { differences.values.reduce(0) { $0 + $1.values.reduce(0, +) } }

    /// The verification as JSON (`Schemas/migration/verification`).
    public var json: JSONValue {
        let fields = differences.inOrder.map { field, kinds -> JSONValue in
            let counts = kinds.sorted { $0.key.rawValue < $1.key.rawValue }
            return .object(
                JSONObject([("field", .string(field))] + counts.map { ($0.key.rawValue, .integer($0.value)) })
            )
        }
        let strata = self.strata.inOrder.map { name, numbers -> JSONValue in
            ["stratum": .string(name), "looked": .integer(numbers.looked), "all": .integer(numbers.all)]
        }
        return [
            "compared": .integer(compared), "equal": .integer(equal), "differences": .integer(count),
            "fields": .array(fields), "strata": .array(strata), "expected": expected.json,
        ]
    }
}

extension Migration {
    /// Compares a source with its target, contact by contact, in any order.
    ///
    /// Each source record is mapped again, and every deviation of the target from the result is a difference. Records with
    /// the expected bytes are equal. If others exist, both files are read again for them. Memory is bounded: further data is
    /// stored as digests in an unnamed temporary file.
    /// - Parameters:
    ///   - source: Opens the source.
    ///   - target: Opens the target.
    ///   - extent: The contacts to compare.
    ///   - showsKeys: Whether differences name contacts by their keys instead of digests.
    ///   - progress: Called after each chunk.
    ///   - isCancelled: Called before each chunk; true cancels the comparison.
    ///   - difference: Receives each difference.
    /// - Returns: The counts.
    /// - Throws: ``Failure`` if a file cannot be read or was changed meanwhile; ``FileError``; `CancellationError`.
    public func verify(
        _ source: () throws -> some ByteSource,
        against target: () throws -> some ByteSource,
        extent: Verification.Extent = .full,
        showsKeys: Bool = false,
        progress: @escaping (Verification.Part, Progress) -> Void = { _, _ in },
        isCancelled: @escaping () -> Bool = { false },
        difference: (Verification.Difference) throws -> Void
    ) throws -> Verification {
        let watch = Verification.Watch(progress: progress, isCancelled: isCancelled)
        do {
            var verification = Verification()
            verification.extent = extent
            let lens = try FieldReader(self)
            let names = NameBook()
            let (wanted, found) = (FieldStore(keepsKeys: showsKeys), FieldStore(keepsKeys: showsKeys))
            var sample = Sample(extent)
            func note(_ seen: FieldReader.Seen, _ keys: Set<UInt64>?) throws {
                switch seen {
                case .record(let number, let sight):
                    guard keys?.contains(KeyMark(sight.key, opinion: 0).exact) ?? true else { return }
                    try found.add(sight, number: number, names)
                case .unreadable(let number, let line, let findings):
                    verification.differences["", default: [:]][.unreadable, default: 0] += 1
                    var unreadableRecord = Verification.Difference(
                        kind: .unreadable,
                        field: "",
                        contact: "",
                        records: (0, number)
                    )
                    (unreadableRecord.line, unreadableRecord.findings) = (line, findings)
                    try difference(unreadableRecord)
                }
            }
            // The keys of the contacts of a sample.
            var keys: Set<UInt64>?
            var (input, output) = (try source(), try target())
            let canMatch = lens.cutter != nil && !input.isPipe && !output.isPipe
            if canMatch, let match = try match(source, target, &input, &output, lens, watch, &sample, &verification) {
                let (left, chosen) = (try match.unmatched(), sample?.keys(&verification))
                let same = chosen?.count { !left.source.contains(Int($0)) } ?? left.matched
                (verification.compared, verification.equal) = (same, same)
                if !match.isWhole {
                    keys = chosen.map { _ in [] }
                    if let change = try output.change() { throw Failure([change]) }
                    let again = watch.again
                    (input, output) = (try source(), try target())
                    _ = try eachWritten(&input, again) { number, written, _ in
                        let isChosen = chosen?.contains(UInt64(number)) ?? false
                        guard isChosen || left.source.contains(number) else { return }
                        let sight = try lens.look(written)
                        if isChosen { keys?.insert(KeyMark(sight.key, opinion: 0).exact) }
                        if left.source.contains(number) { try wanted.add(sight, number: number, names) }
                    }
                    let known = keys
                    _ = try lens.eachRecord(&output, again) { record in
                        guard left.target.contains(record.number) else { return }
                        for seen in lens.see(record) { try note(seen, known) }
                    }
                }
            } else {
                if canMatch { (input, output, sample) = (try source(), try target(), Sample(extent)) }
                verification.expected = try eachWritten(&input, watch) { number, written, traits in
                    let sight = try lens.look(written)
                    let key = KeyMark(sight.key, opinion: 0).exact
                    sample?.add(key, key, traits)
                    try wanted.add(sight, number: number, names)
                }
                keys = sample?.keys(&verification)
                let known = keys
                try lens.each(&output, watch) { seen in try note(seen, known) }
            }
            if let change = try output.change() { throw Failure([change]) }
            for share in 0..<Shares.count {
                let judge = Judge(names: names, showsKeys: showsKeys)
                let entries = try wanted.entries(share).filter { keys?.contains($0.key.exact) ?? true }
                try judge.compare(entries, try found.entries(share), &verification, difference)
            }
            return verification
        } catch let error as SettingsError {
            throw Failure(error.findings)
        }
    }

    /// Matches the records that are written for a source with those of a target; nil if the target must be read as a whole.
    private func match(
        _ source: () throws -> some ByteSource,
        _ target: () throws -> some ByteSource,
        _ input: inout some ByteSource,
        _ output: inout some ByteSource,
        _ lens: FieldReader,
        _ watch: Verification.Watch,
        _ sample: inout Sample?,
        _ verification: inout Verification
    ) throws -> RecordMatch? {
        let match = RecordMatch(findsRecords: sample == nil)
        verification.expected = try eachWritten(&input, watch) { number, written, traits in
            let digest = RecordMatch.digest(written)
            sample?.add(digest, UInt64(number), traits)
            try match.add(source: digest, number: number)
        }
        let isSplit = try lens.eachRecord(&output, watch) { record in
            try match.add(target: RecordMatch.digest(record.bytes), number: record.number)
        }
        guard isSplit else { return nil }
        if sample == nil || match.isWhole { return match }
        // There is a difference, but it may not concern a contact of the sample.
        let other = RecordMatch(findsRecords: true)
        var (input, output) = (try source(), try target())
        _ = try eachWritten(&input, watch.again) { number, written, _ in
            try other.add(source: RecordMatch.digest(written), number: number)
        }
        _ = try lens.eachRecord(&output, watch.again) { record in
            try other.add(target: RecordMatch.digest(record.bytes), number: record.number)
        }
        return other
    }

    /// Maps every record of a source, and passes on the bytes that are written for each.
    func eachWritten(
        _ source: inout some ByteSource,
        _ watch: Verification.Watch,
        _ take: RecordFollower
    ) throws -> MigrationReport {
        let report = try withoutActuallyEscaping(take) { take in
            let company = Company(follower: take)
            var migration = self
            // All opt-outs are read first, because the order of records did not affect the output.
            if let path = source.rereadablePath { migration.optOutKnowledge = .ahead(path) }
            return try migration.run(
                &source,
                to: nil,
                nil,
                nil,
                company,
                { watch.progress(.source, $0) },
                watch.isCancelled
            )
        }
        guard report.isComplete else { throw CancellationError() }
        return report
    }
}

/// The contacts of a source that a comparison covers: those of each stratum whose keys, hashed with the seed, have the
/// smallest digests.
struct Sample {
    private let most: Int
    private let seed: UInt64
    private var strata: [String: Stratum] = [:]

    /// Creates a sample; nil if all contacts are compared.
    init?(_ extent: Verification.Extent) {
        guard case .sample(let most, let seed) = extent else { return nil }
        (self.most, self.seed) = (most, seed)
    }

    /// Adds a contact with the digest that decides the choice, and its key.
    mutating func add(_ digest: UInt64, _ key: UInt64, _ traits: RecordTraits) {
        strata[Stratum.name(of: traits), default: Stratum(most: most)].add(digest, key, seed: seed)
    }

    /// Returns the keys that were chosen, and stores the counts in the verification.
    func keys(_ verification: inout Verification) -> Set<UInt64> {
        for (name, stratum) in strata { verification.strata[name] = (stratum.chosen.count, stratum.all) }
        return strata.values.reduce(into: []) { $0.formUnion($1.chosen.map(\.key)) }
    }
}

/// The contacts of one kind, with those that are compared.
private struct Stratum {
    let most: Int
    var all = 0
    /// The chosen contacts, sorted by rank.
    var chosen: [(rank: UInt64, key: UInt64)] = []

    static func name(of traits: RecordTraits) -> String {
        if traits.contains(.optOut) { return "said no" }
        if traits.contains(.pushToken) { return "push token" }
        return traits.contains(.warning) ? "in part" : "whole"
    }

    mutating func add(_ digest: UInt64, _ key: UInt64, seed: UInt64) {
        all += 1
        let rank = KeyMark.mix(KeyMark.mix(digest) ^ seed)
        let place = chosen.partitioningIndex { $0.rank >= rank }
        if chosen.indices.contains(place), chosen[place].rank == rank { return }
        guard place < most else { return }
        chosen.insert((rank, key), at: place)
        if chosen.count > most { chosen.removeLast() }
    }
}

/// Compares the records of a share.
struct Judge {
    private struct Key: Hashable { let folded, exact: UInt64 }

    let names: NameBook
    let showsKeys: Bool
    /// Whether the target may have more data than the source. Records with the same key are one contact then.
    var isPartial = false

    func compare(
        _ wanted: [FieldStore.Entry],
        _ found: [FieldStore.Entry],
        _ verification: inout Verification,
        _ tell: (Verification.Difference) throws -> Void
    ) throws {
        func key(_ entry: FieldStore.Entry) -> Key { Key(folded: entry.key.folded, exact: entry.key.exact) }
        let wanted = isPartial ? merged(wanted) : wanted
        // Records with the same key are matched in the order in which they occur.
        var waiting = Dictionary(grouping: found, by: key).mapValues { $0.reversed() as [FieldStore.Entry] }
        func note(
            _ kind: Verification.Difference.Kind,
            _ field: String,
            _ entry: FieldStore.Entry,
            _ source: Int,
            _ target: Int
        ) throws {
            verification.differences[field, default: [:]][kind, default: 0] += 1
            let contact = showsKeys ? entry.text : "#\(String(entry.key.exact, radix: 16))"
            try tell(.init(kind: kind, field: field, contact: contact, records: (source, target)))
        }
        for entry in wanted {
            verification.compared += 1
            guard let other = waiting[key(entry)]?.popLast() else {
                try note(.missing, "", entry, entry.number, 0)
                continue
            }
            let differences = differences(entry, other)
            for (kind, field) in differences { try note(kind, field, entry, entry.number, other.number) }
            if differences.isEmpty { verification.equal += 1 }
        }
        if isPartial { return }
        for entry in waiting.values.joined().sorted(by: { $0.number < $1.number }) {
            try note(.extra, "", entry, 0, entry.number)
        }
    }

    /// Merges records with the same key: a later value of a field replaces an earlier one, and tags are added.
    private func merged(_ entries: [FieldStore.Entry]) -> [FieldStore.Entry] {
        var merged: [FieldStore.Entry] = []
        var places: [Key: Int] = [:]
        for entry in entries {
            let key = Key(folded: entry.key.folded, exact: entry.key.exact)
            guard let place = places[key] else {
                places[key] = merged.count
                merged.append(entry)
                continue
            }
            let names = Set(entry.fields.map(\.name).filter { self.names.names[$0] != FieldReader.tag })
            merged[place].fields.removeAll { names.contains($0.name) }
            merged[place].fields += entry.fields
            merged[place].number = entry.number
        }
        return merged
    }

    private func differences(
        _ wanted: FieldStore.Entry,
        _ found: FieldStore.Entry
    ) -> [(Verification.Difference.Kind, String)] {
        func byName(_ entry: FieldStore.Entry) -> [Int: [UInt64]] {
            Dictionary(entry.fields.map { ($0.name, [$0.digest]) }, uniquingKeysWith: +).mapValues { $0.sorted() }
        }
        let (old, new) = (byName(wanted), byName(found))
        return Set(old.keys).union(new.keys).map { name -> (Verification.Difference.Kind?, String) in
            let kind: Verification.Difference.Kind? =
                switch (old[name], new[name]) {
                // The target may show no value if a later record clears it.
                case (let one?, nil): isPartial && one == [FieldReader.empty] ? nil : .absent
                case (nil, _?): .added
                case (let one?, let other?): holds(one, other) ? nil : .changed
                case (nil, nil): nil
                }
            if isPartial, kind == .added { return (nil, "") }
            return (kind, names.names[name])
        }
        .compactMap { kind, name in kind.map { ($0, name) } }
        .sorted { $0.1 < $1.1 }
    }

    /// Whether the target has the values of the source and, unless it may have more data, no others.
    private func holds(_ wanted: [UInt64], _ found: [UInt64]) -> Bool {
        isPartial ? Set(wanted).isSubset(of: found) : wanted == found
    }
}

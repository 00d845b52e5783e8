import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

extension Migration {
    /// The maximum size in bytes of a source that is read again to find the lines of contradictory records.
    public static let mostBytesForLines = 256 << 20
    /// The maximum number of lines that are listed for a key.
    private static let mostLines = 20

    /// Reads the source of a plan again, and returns the lines of records that contradict each other.
    ///
    /// A plan counts keys by marks, which do not contain line numbers. Only some keys of each kind are searched for.
    ///
    /// - Parameters:
    ///   - plan: The plan of that source.
    ///   - source: The same bytes.
    ///   - isCancelled: Called before each chunk; true ends the search.
    /// - Returns: The lines that were found, sorted by the kind of key and the first line.
    /// - Throws: The errors of reading the source.
    public func lines(
        of plan: MigrationPlan,
        in source: inout some ByteSource,
        isCancelled: () -> Bool = { false }
    ) throws -> [MigrationPlan.Contradiction] {
        var wanted: [String: [UInt64: Int]] = [:]
        for key in plan.keys where !key.tornKeys.isEmpty {
            wanted[key.kind] = Dictionary(key.tornKeys.map { ($0.folded, $0.count) }) { first, _ in first }
        }
        var found: [String: [UInt64: [Int]]] = [:]
        var missing = wanted.values.reduce(0) { $0 + $1.values.reduce(0, +) }
        func look(at record: SourceRecord) {
            for identifier in record.contact?.identifiers ?? [] {
                let (kind, mark) = (identifier.kind.rawValue, KeyMark(key: identifier.value, opinion: 0).folded)
                guard wanted[kind]?[mark] != nil else { continue }
                missing -= 1
                let lines = found[kind]?[mark] ?? []
                if lines.count < Self.mostLines { found[kind, default: [:]][mark] = lines + [record.line] }
            }
        }
        var reader = try makeReader()
        while missing > 0, !isCancelled() {
            guard let chunk = try source.next() else {
                try reader.finish(look)
                break
            }
            try reader.read(chunk, look)
        }
        let all = found.flatMap { kind, keys in keys.values.map { MigrationPlan.Contradiction(kind: kind, lines: $0) } }
        return all.sorted { ($0.kind, $0.lines.first ?? 0) < ($1.kind, $1.lines.first ?? 0) }
    }
}

import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

extension Migration {
    /// A larger source is not read twice for lines alone.
    public static let mostBytesForLines = 256 << 20
    /// More lines of one key are not named.
    private static let mostLines = 20

    /// Reads the source of a plan once more, for the lines of records that contradict each other: a plan counts keys by marks
    /// that know no lines. Of each kind of key some are looked for.
    ///
    /// - Parameters:
    ///   - plan: the plan of that source.
    ///   - source: the same bytes.
    ///   - isCancelled: asked before each chunk.
    /// - Returns: what was found, by the kinds' names and the first line.
    /// - Throws: what reading the source throws.
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

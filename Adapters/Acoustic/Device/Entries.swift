import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A change of one column: a new value, or the removal of its value.
struct Entry: Sendable, Equatable {
    /// The column, by its exact name.
    var column: ScalarString
    /// The value; nil deletes it.
    var value: WireValue?

    init(_ key: String, _ value: WireValue?) { (column, self.value) = (ScalarString(key), value) }

    /// The column's exact name.
    var key: String { column.text }

    /// Whether a delete request carries the entry.
    var isDelete: Bool { value == nil }
}

/// Validates attributes and maps them to entries.
package enum AttributeRules: Sendable {
    /// The permitted lengths of a column's name, in characters.
    package static let nameLengths = 3...255

    /// Returns the entries of a whole change, values first, and all findings about it (G1).
    static func judge(
        _ changes: [AttributeName: AttributeChange],
        settings: AcousticSettings
    ) -> (entries: [Entry], findings: [Finding]) {
        var entries: [Entry] = []
        var findings: [Finding] = []
        var columns: Set<ScalarString> = []
        for (name, change) in changes.inOrder {
            let path = "action.changes".dot(name.rawValue)
            let column = settings.column(for: name)
            let (entry, found) = judge(change, column, at: path, settings: settings)
            findings += found
            guard let entry else { continue }
            if columns.insert(entry.column).inserted {
                entries.append(entry)
            } else {
                findings.append(FindingRow.columnTwice.at(path))
            }
        }
        if settings.columns.isEmpty, !changes.isEmpty {
            findings.append(FindingRow.columnsUnknown.at("action.changes"))
        }
        // With `sendValid`, an invalid entry does not reject the others (G2).
        if settings.onInvalid == .sendValid, !entries.isEmpty {
            for place in findings.indices where findings[place].severity == .error {
                findings[place].severity = .warning
            }
        }
        return (entries.inOrder, findings)
    }

    /// Returns the names of invalid attributes that the settings leave out, sorted.
    static func leftOut(of operation: EngagementOperation, settings: AcousticSettings) -> [String] {
        guard settings.onInvalid == .sendValid, case .changeAttributes(let changes) = operation.action else {
            return []
        }
        let sent = Set(judge(changes, settings: settings).entries.map(\.column))
        return changes.keys.sorted().filter { !sent.contains(ScalarString(settings.column(for: $0))) }.map(\.rawValue)
    }

    private static func judge(
        _ change: AttributeChange,
        _ name: String,
        at path: String,
        settings: AcousticSettings
    ) -> (Entry?, [Finding]) {
        switch change {
        case .set(let value): return judge(value, name, at: path, settings: settings)
        case .unset: return judgeDelete(name, at: path, settings: settings)
        case .increment, .append, .remove: return (nil, [FindingRow.arithmetic.at(path)])
        }
    }

    private static func judge(
        _ value: AttributeValue,
        _ name: String,
        at path: String,
        settings: AcousticSettings
    ) -> (Entry?, [Finding]) {
        let outcome: Form.Outcome
        if settings.columns.isEmpty {
            guard nameLengths.contains(name.utf16.count) else {
                return (nil, [FindingRow.columnName.at(path, detail: "\(name.utf16.count) characters")])
            }
            outcome = Form.untyped(value)
        } else {
            guard let column = settings.columns[ScalarString(name)] else {
                return (nil, [unknown(name, settings).at(path)])
            }
            if let row = refusal(of: column) { return (nil, [row.at(path, detail: "type \(column.type.rawValue)")]) }
            guard let encode = column.type.row.encode else { return (nil, [FindingRow.columnUnwritable.at(path)]) }
            outcome = encode(value, column)
        }
        if settings.holdsTags(name) { return (nil, [FindingRow.columnOfTags.at(path)]) }
        switch outcome {
        case .success(let encoded): return (Entry(name, encoded.value), encoded.note.map { [$0.at(path)] } ?? [])
        case .failure(let problem): return (nil, [problem.row.at(path, detail: problem.detail)])
        }
    }

    /// Validates a delete. It is permitted for unknown columns, because it repairs a poisoned cache (K4).
    private static func judgeDelete(
        _ name: String,
        at path: String,
        settings: AcousticSettings
    ) -> (Entry?, [Finding]) {
        if settings.holdsTags(name) { return (nil, [FindingRow.columnOfTags.at(path)]) }
        guard !settings.columns.isEmpty else { return (Entry(name, nil), []) }
        guard let column = settings.columns[ScalarString(name)] else {
            return (Entry(name, nil), [FindingRow.deleteUnknown.at(path)])
        }
        if column.owner == .server { return (nil, [FindingRow.columnOfServer.at(path)]) }
        // A column of the back end was refused already.
        return (Entry(name, nil), refusal(of: column) == nil ? [] : [FindingRow.deleteUnknown.at(path)])
    }

    private static func unknown(_ name: String, _ settings: AcousticSettings) -> FindingRow {
        let isSpelling = settings.columns.keys.contains { $0.text.lowercased() == name.lowercased() }
        return isSpelling ? .columnCase : .columnUnknown
    }

    /// Returns the reason why a device may not write to a column.
    static func refusal(of column: Column) -> FindingRow? {
        if column.isLookupKey { return .columnLookupKey }
        if column.owner == .server { return .columnOfServer }
        return column.type.row.encode == nil ? .columnUnwritable : nil
    }
}

extension [Entry] {
    /// A short text that differs if other columns are set or deleted.
    var layout: String {
        String(TextMark.short(map { "\($0.isDelete ? "-" : "+")\($0.key)" }.joined(separator: "\n")), radix: 16)
    }

    /// The entries in the order of sending: values, then deletes, each sorted by name.
    var inOrder: [Entry] {
        sorted { left, right in
            left.isDelete == right.isDelete ? left.key.precedes(right.key) : !left.isDelete
        }
    }
}

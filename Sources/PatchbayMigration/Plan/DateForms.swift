import PatchbayAdapterKit
public import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

extension RecordFormat {
    /// Returns settings that also state the form of the dates of each column, as far as the values show it.
    ///
    /// A column gets the only known form that all of its dates have. If all of them have a form that is not configured, no
    /// date of the column is read, so that no file is read partly in one form and partly in another. If the settings give
    /// `dateForm` and nine of ten dates have it, it applies, and only the other dates are invalid.
    /// - Parameters:
    ///   - settings: The settings of the format.
    ///   - head: The first bytes of the file: ``FileSource/rowsHead(of:)``.
    /// - Returns: The settings with `dateForms`; unchanged if there is nothing to decide.
    public func decidingDateForms(_ settings: JSONObject, inHead head: [UInt8]) -> JSONObject {
        guard case .columns(let columns)? = try? makeSourceLayout?(settings) else { return settings }
        let found = Self.dateForms(columns, head, isGiven: settings["dateForm"] != nil)
        guard !found.isEmpty else { return settings }
        var settings = settings
        var forms = settings["dateForms"]?.object ?? [:]
        for (name, value) in found where forms[name] == nil { forms[name] = value }
        settings["dateForms"] = .object(forms)
        return settings
    }

    /// Returns the forms of dates by column, in the form of the setting `dateForms`.
    private static func dateForms(_ layout: ColumnLayout, _ head: [UInt8], isGiven: Bool) -> [(String, JSONValue)] {
        var (names, dates): ([String], [Int: DateColumn]) = ([], [:])
        layout.eachRow(ofHead: head) { columns, fields in
            if names.isEmpty {
                names = columns.map(\.header)
                for (index, column) in columns.enumerated() where column.hasDates && column.forms == nil {
                    dates[index] = DateColumn(zone: layout.forms.zone)
                }
            }
            for index in dates.keys { dates[index]?.add(fields[index].trimmed) }
            return !dates.isEmpty
        }
        return dates.inOrder.compactMap { index, column in
            column.setting(layout.forms, isGiven: isGiven).map { (names[index], $0) }
        }
    }
}

extension ColumnLayout {
    /// Calls `take` with the columns and fields of each complete row in the first bytes of a file, while it returns true.
    func eachRow(ofHead head: [UInt8], _ take: (_ columns: [Column], _ fields: [String]) -> Bool) {
        var (rows, known) = (DelimitedReader(dialect: dialect), [Column]?.none)
        rows.append(encoding.decoded(head))
        if head.count < Migration.consentHeadBytes { rows.finish() }
        while let row = rows.next() {
            guard case .success(let row) = row else { continue }
            let columns = known ?? self.columns(rows.header?.fields ?? [])
            known = columns
            guard row.fields.count != columns.count || take(columns, row.fields) else { return }
        }
    }
}

/// The number of dates of a column, and the number of those that have each form.
private struct DateColumn {
    let zone: String
    private var counts: [DayForm: Int] = [:]
    private var total = 0

    init(zone: String) { self.zone = zone }

    mutating func add(_ text: String) {
        guard !text.isEmpty, FileMoment(text, forms: [], zone: zone) == nil else { return }
        let forms = DayForm.allCases.filter { FileMoment(text, forms: [$0], zone: zone) != nil }
        // A text that is not a date in any form says nothing about the form of the others.
        guard !forms.isEmpty else { return }
        total += 1
        for form in forms { counts[form, default: 0] += 1 }
    }

    /// Returns the value of the setting for the column; nil if the configured forms apply.
    func setting(_ configured: FieldForms, isGiven: Bool) -> JSONValue? {
        let fitting = Set(counts.filter { $0.value == total && $0.key != .iso }.keys)
        guard !fitting.contains(configured.day), !fitting.isEmpty else { return nil }
        if isGiven, counts[configured.day, default: 0] * 10 >= total * 9 { return nil }
        let known = configured.dayForms.filter(fitting.contains)
        if known.count == 1, let form = known.first { return .string(form.rawValue) }
        let others = DayForm.allCases.filter(fitting.contains)
        return known.isEmpty ? .array(others.map { .string($0.rawValue) }) : nil
    }
}

extension ColumnLayout.Column {
    /// Whether the column contains dates.
    fileprivate var hasDates: Bool {
        switch role {
        case .attribute(_, .date), .attribute(_, .timestamp), .wish(_, .optIn), .wish(_, .optOut), .wish(_, .changedAt):
            true
        default: false
        }
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Reads a contact file whose rows are JSON objects. Each member is a column, identified by its name like a column of a header.
///
/// Texts, numbers, booleans, and null are accepted; a blank text and null have no value. A row with an error becomes a record
/// without a contact that names every error, and reading continues.
struct JSONRowReader: Sendable {
    private let file: ContactFile
    private var items = JSONItems()
    private var rowCount = 0
    /// The columns of rows with the same members in the same order. Few orders are usual.
    private var tables: [[String]: (table: ColumnTable, problems: [Problem])] = [:]
    private static let mostTables = 64
    /// The members for which the findings that are reported once have been reported.
    private var seen: Set<String> = []
    private static let mostSeen = 4096

    /// A problem with a member, regardless of its value.
    private struct Problem: Sendable {
        var row: FindingRow
        var path: String
        var more: String?
        var remedy: String?
    }

    init(_ file: ContactFile) { self.file = file }

    private var findings: ContactFileFindings { file.kind.findings }

    mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws {
        var items = JSONItems()
        swap(&items, &self.items)
        let stray = try items.read(bytes) { item in try record(self.record(item)) }
        self.items = items
        if let stray { throw SettingsError([broken("line \(stray), text outside the list of rows")]) }
    }

    func finish() throws(SettingsError) {
        if let line = items.openLine {
            throw SettingsError([broken("line \(line), the file ends before its list of rows does")])
        }
        if rowCount == 0 { throw SettingsError([findings.empty.at()]) }
    }

    private func broken(_ detail: String) -> Finding {
        let remedy = "Export again, or correct the file: a list of objects, or an object with a list named items."
        return findings.fault.at("row", detail: detail, remedy: remedy)
    }

    // MARK: Rows

    private mutating func record(_ item: JSONItems.Item) -> SourceRecord {
        rowCount += 1
        var record = SourceRecord(number: item.number, line: item.line, bytes: item.bytes, contact: nil)
        let place = "item \(item.number), line \(item.line)"
        record.findings = item.isTooLong ? [findings.faultLong.at("row", detail: place)] : read(&record, place)
        return record
    }

    private mutating func read(_ record: inout SourceRecord, _ place: String) -> [Finding] {
        let object: JSONObject
        do throws(JSONError) {
            guard let found = try JSONValue(parsing: record.bytes).object else {
                return [unreadable("\(place), it is no object")]
            }
            // A row of the vendor's rows API has its members in two objects.
            let parts = found.count == 2 ? [found["keys"]?.object, found["values"]?.object].compactMap(\.self) : []
            object = parts.count == 2 ? JSONObject(parts.joined().map { ($0.name, $0.value) }) : found
        } catch {
            return [unreadable("\(place), \(error.code.reason) at byte \(error.offset + 1) of it")]
        }
        let (table, known) = table(object.names)
        var problems = known
        if let unwrapping = object.unwrapping,
            let place = problems.firstIndex(where: { $0.row == findings.memberMissing })
        {
            problems[place].remedy = unwrapping
        }
        let said = news(of: table.columns)
        var nested: [Finding] = []
        let texts = object.map { member -> String in
            switch member.value {
            case .null: return ""
            case .string(let text): return text.trimmed
            default: break
            }
            let isNested = member.value.array != nil || member.value.object != nil
            if isNested, file.column(named: member.name).place != .ignored {
                let what = "\(place), it is \(member.value.typePhrase)"
                nested.append(findings.value.at("columns.\(member.name)", detail: what))
            }
            return member.value.text
        }
        var draft = ContactDraft(table, texts, place)
        let contact = draft.contact()
        guard problems.isEmpty else {
            // The decisions of the existing members apply.
            record.said = draft.said(by: contact)
            return said
                + problems.map { problem in
                    let detail = [place, problem.more].compactMap(\.self).joined(separator: ", ")
                    return problem.row.at(problem.path, detail: detail, remedy: problem.remedy)
                }
        }
        let control = zip(table.columns, texts).filter { $0.1.utf8.contains(0) }
        guard control.isEmpty else {
            record.said = draft.said(by: contact)
            return said + control.map { findings.control.at("columns.\($0.0.name)", detail: place) }
        }
        let all = nested + draft.findings
        if all.contains(where: { $0.severity == .error }) {
            record.said = draft.said(by: contact)
        } else {
            record.contact = contact
        }
        return said + all
    }

    private func unreadable(_ detail: String) -> Finding {
        let remedy = "Correct the item: an object of texts, numbers, booleans and nulls by column."
        return findings.fault.at("row", detail: detail, remedy: remedy)
    }

    // MARK: Columns

    private mutating func table(_ names: [String]) -> (table: ColumnTable, problems: [Problem]) {
        if let known = tables[names] { return known }
        let columns = file.columns(named: names)
        let made = (ColumnTable(file, columns), problems(of: columns))
        if tables.count >= Self.mostTables { tables = [:] }
        tables[names] = made
        return made
    }

    private func problems(of columns: [ContactColumn]) -> [Problem] {
        let keys = Set(columns.map { ColumnName(rawValue: $0.name).key })
        // A member with consent must be in every row, so that a misspelt name is reported.
        let absent = file.settings.columns.filter { name, place in
            place.isAboutConsent && !keys.contains(ColumnName(rawValue: name).key)
                && !columns.contains { $0.place == place }
        }
        var problems = absent.map { Problem(row: findings.wishAbsent, path: "columns.\($0.name)") }
        if !columns.contains(where: { file.readFinders.contains($0.place) }) {
            problems.append(Problem(row: findings.memberMissing, path: "row"))
        }
        return problems
            + columns.map(\.place).repeated.map { place, other in
                let path = "columns.\(columns[place].name)"
                return Problem(row: findings.columnRepeated, path: path, more: "like \(columns[other].name)")
            }
    }

    /// Returns the findings that are reported once for a member, with the first row that has it.
    private mutating func news(of columns: [ContactColumn]) -> [Finding] {
        columns.enumerated().compactMap { place, column in
            guard seen.count < Self.mostSeen, seen.insert(column.name).inserted else { return nil }
            let once = "said once for all rows"
            guard column.hasName else {
                return findings.columnUnnamed.at("columns.\(place + 1)", detail: "member \(place + 1), \(once)")
            }
            return file.finding(on: column)
        }
    }
}

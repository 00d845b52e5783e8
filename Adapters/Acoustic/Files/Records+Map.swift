import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

extension SidecarReader {
    /// The map file of an import, which names the columns of the data file by index.
    static let acousticMap = SidecarReader(fileExtension: ImportMap.fileExtension, title: ImportMap.title) {
        bytes,
        given throws(SettingsError) in try ImportMapReader.settings(bytes, over: given)
    }
}

/// Reads a map file as settings for its data file. Reports all problems at once.
struct ImportMapReader {
    /// A column of the map file.
    private struct Column {
        var place: Int
        var name: String
        var isIncluded: Bool
        var isConsent: Bool
        var element: XMLTree
    }

    private static let root = "LIST_IMPORT"
    private static let delimiters = ["0": "comma", "1": "tab", "2": "bar"]
    private static let actions = ["CREATE", "ADD_ONLY", "UPDATE_ONLY", "ADD_AND_UPDATE", optOut]
    private static let optOut = "OPT_OUT"
    /// Databases, test lists, seed lists, suppression lists, contact lists. A relational table (15) contains no
    /// contacts.
    private static let listTypes = ["0", "5", "6", suppression, "18"]
    private static let suppression = "13"
    /// The types of columns that an import creates. All other columns are text.
    private static let types: [String: AttributeType] = [
        "1": .boolean, "2": .decimal, "3": .date, "4": .time, "5": .country, "17": .timestamp, "20": .choices,
    ]

    private let bytes: [UInt8]
    private let given: JSONObject
    private var problems: [Finding] = []

    /// Returns the settings for reading the data file of a map file. Explicit settings take precedence.
    static func settings(_ bytes: [UInt8], over given: JSONObject) throws(SettingsError) -> JSONObject {
        var reader = ImportMapReader(bytes: try decoded(bytes), given: given)
        let settings = try reader.settings()
        if !reader.problems.isEmpty { throw SettingsError(reader.problems) }
        return settings
    }

    private init(bytes: [UInt8], given: JSONObject) { (self.bytes, self.given) = (bytes, given) }

    // MARK: The document

    /// The document in UTF-8, as its declaration names its encoding.
    private static func decoded(_ bytes: [UInt8]) throws(SettingsError) -> [UInt8] {
        let head = String(decoding: bytes.prefix(200), as: UTF8.self)
        guard head.hasPrefix("<?xml"), let declaration = head.part(before: "?>"),
            let word = declaration.quoted(behind: "encoding")?.lowercased()
        else { return bytes }
        if ["utf-8", "us-ascii"].contains(word) { return bytes }
        guard let encoding = FileEncoding(rawValue: word), encoding != .utf16 else {
            throw SettingsError([FindingRow.mapEncoding.at("", detail: "line 1")])
        }
        return encoding.decoded(bytes)
    }

    private func document() throws(SettingsError) -> XMLTree {
        switch XMLTree.read(bytes) {
        case .success(let tree) where tree.name == Self.root: return tree
        case .success(let tree): throw SettingsError([FindingRow.mapRoot.at(tree.name, detail: place(of: tree.offset))])
        case .failure(let fault):
            throw SettingsError([FindingRow.mapForm.at("", detail: "\(place(of: fault.offset)), \(fault.reason)")])
        }
    }

    private func place(of offset: Int) -> String {
        let (line, column) = XMLTree.place(of: offset, in: bytes)
        return "line \(line), column \(column)"
    }

    private mutating func note(_ row: FindingRow, _ path: String, _ element: XMLTree, _ more: String? = nil) {
        let detail = [place(of: element.offset), more].compactMap(\.self).joined(separator: ", ")
        problems.append(row.at(path, detail: detail))
    }

    // MARK: Settings

    private mutating func settings() throws(SettingsError) -> JSONObject {
        let map = try document()
        var said = JSONObject()
        let info = map["LIST_INFO"] ?? XMLTree("LIST_INFO")
        if let word = optOuts(of: info) { said["action"] = .string(word) }
        // If the settings name the columns, the data file has no header line.
        let namesColumns = given["header"] == nil
        if given["delimiter"] == nil { said["delimiter"] = delimiter(of: info) }
        let columns = columns(of: map)
        if namesColumns {
            said["header"] = .array(columns.map { .string($0.name) })
            said["skipHeader"] = .bool(flag("HASHEADERS", of: info, at: "LIST_INFO"))
        }
        said["textToJoinProgramId"] = programme(of: map, columns)
        let sync = keys(of: map, columns)
        guard problems.isEmpty else { return said }
        let base = said.overlaid(with: given)
        // Reading the data file reports invalid settings.
        guard let file = try? ContactFileSettings.read(base).contactFile else { return base }
        var places: [(String, String)] = []
        if let key = Self.key(sync, columns, of: file, given) {
            if given["key"] == nil { said["key"] = .string(key.kind.rawValue) }
            if let name = key.column { places.append((name, "identifier:\(key.kind.rawValue)")) }
        }
        if namesColumns { places += Self.leftOut(columns, of: file) }
        // Each column gets one mapping. Explicit settings take precedence.
        var named = Set((given["columns"]?.object?.names ?? []).map { ColumnName(rawValue: $0).key })
        places.removeAll { !named.insert(ColumnName(rawValue: $0.0).key).inserted }
        said["columns"] = Self.over(places.map { ($0.0, .string($0.1)) }, given["columns"])
        said["types"] = Self.over(types(of: map, file), given["types"])
        return said.overlaid(with: given, but: ["columns", "types"])
    }

    /// Returns an action if each row is an opt-out: the import of opt-outs, or of a suppression list.
    private mutating func optOuts(of info: XMLTree) -> String? {
        let action = info["ACTION"]
        if !Self.actions.contains(action?.text.trimmed ?? "") {
            note(.mapWord, "LIST_INFO.ACTION", action ?? info, "known are \(Self.actions.joined(separator: ", "))")
        }
        let type = info["LIST_TYPE"]
        if let type, !Self.listTypes.contains(type.text.trimmed) {
            note(.mapWord, "LIST_INFO.LIST_TYPE", type, "known are \(Self.listTypes.joined(separator: ", "))")
        }
        let isOut = action?.text.trimmed == Self.optOut || type?.text.trimmed == Self.suppression
        return isOut ? Self.optOut : nil
    }

    private mutating func delimiter(of info: XMLTree) -> JSONValue? {
        let type = info["FILE_TYPE"]
        if let word = Self.delimiters[type?.text.trimmed ?? ""] { return .string(word) }
        note(.mapWord, "LIST_INFO.FILE_TYPE", type ?? info, "known are 0 comma, 1 tab, 2 bar")
        return nil
    }

    /// Reads a flag. It is false by default and in an empty tag.
    private mutating func flag(_ name: String, of element: XMLTree, at path: String, default: Bool = false) -> Bool {
        guard let found = element[name] else { return `default` }
        switch found.text.trimmed.lowercased() {
        case "true": return true
        case "false": return false
        default:
            note(.mapWord, path.dot(name), found, "known are true, false")
            return `default`
        }
    }

    // MARK: Columns

    private mutating func columns(of map: XMLTree) -> [Column] {
        let elements = map.all("MAPPING").flatMap { $0.all("COLUMN") }
        if elements.isEmpty { note(.mapColumns, "MAPPING", map["MAPPING"] ?? map) }
        var columns: [Column] = []
        var (places, names): (Set<Int>, Set<String>) = ([], [])
        for (number, element) in elements.enumerated() {
            let path = "MAPPING.COLUMN[\(number)]"
            let isIncluded = flag("INCLUDE", of: element, at: path, default: true)
            let place = Int(element["INDEX"]?.text.trimmed ?? "") ?? 0
            if place < 1 || !places.insert(place).inserted {
                note(place < 1 ? .mapPlace : .mapPlaceTwice, path.dot("INDEX"), element["INDEX"] ?? element)
            }
            var name = element["NAME"]?.text.trimmed ?? ""
            // A column that is left out needs no name.
            if name.isEmpty, !isIncluded { name = "column \(place)" }
            if name.isEmpty {
                note(.mapName, path.dot("NAME"), element["NAME"] ?? element)
            } else if !names.insert(ColumnName(rawValue: name).key).inserted {
                note(.mapNameTwice, path.dot("NAME"), element["NAME"] ?? element)
            }
            let isConsent = flag("IS_CONSENT", of: element, at: path)
            columns.append(
                Column(place: place, name: name, isIncluded: isIncluded, isConsent: isConsent, element: element)
            )
        }
        columns.sort { $0.place < $1.place }
        // Only the first gap is reported: later positions follow from it.
        if problems.isEmpty, let gap = columns.indices.first(where: { columns[$0].place != $0 + 1 }) {
            note(.mapPlaceMissing, "MAPPING", columns[gap].element, "place \(gap + 1)")
        }
        return columns
    }

    /// Returns the columns that the import leaves out. Columns with a consent value are still read, so that no opt-out
    /// is lost.
    private static func leftOut(_ columns: [Column], of file: ContactFile) -> [(String, String)] {
        columns.filter { !$0.isIncluded }.compactMap { column in
            switch file.column(named: column.name).place {
            case .state, .optIn, .optOut, .changedAt, .source, .denied: nil
            default: (column.name, ContactPlace.ignored.text)
            }
        }
    }

    private mutating func programme(of map: XMLTree, _ columns: [Column]) -> JSONValue? {
        let named = map["CONSENT"]?["TEXT_TO_JOIN_PROGRAM_ID"]?.text.trimmed ?? ""
        if !named.isEmpty { return .string(named) }
        let consent = columns.first { column in
            column.isConsent || ContactFileSettings.consent.contains { $0.name == column.name }
        }
        if given["textToJoinProgramId"] == nil, let consent { note(.mapConsent, "CONSENT", consent.element) }
        return nil
    }

    /// Returns the names of the columns that identify a contact.
    private mutating func keys(of map: XMLTree, _ columns: [Column]) -> [String] {
        let number = "USE_RECIPIENT_ID"
        for (path, place) in [("LIST_INFO", map["LIST_INFO"]), ("", map)] where given["key"] == nil {
            guard let place, let element = place[number], flag(number, of: place, at: path) else { continue }
            note(.mapVendorNumber, path.dot(number), element)
        }
        let sync = map.all("SYNC_FIELDS").flatMap { $0.all("SYNC_FIELD") }.compactMap { $0["NAME"] }
        var made: [XMLTree] = []
        for (number, column) in (map["COLUMNS"]?.all("COLUMN") ?? []).enumerated() {
            guard flag("KEY_COLUMN", of: column, at: "COLUMNS.COLUMN[\(number)]") else { continue }
            made += column["NAME"].map { [$0] } ?? []
        }
        let known = Set(columns.map { ColumnName(rawValue: $0.name).key })
        for (number, field) in sync.enumerated() where !known.contains(ColumnName(rawValue: field.text.trimmed).key) {
            note(.mapSyncField, "SYNC_FIELDS.SYNC_FIELD[\(number)].NAME", field)
        }
        return (sync.isEmpty ? made : sync).map(\.text.trimmed)
    }

    /// Returns the kind of identifier that identifies a contact, and its column if the column table does not contain
    /// it.
    private static func key(_ sync: [String], _ columns: [Column], of file: ContactFile, _ given: JSONObject)
        -> (kind: IdentifierKind, column: String?)?
    {
        let kinds = sync.compactMap { name -> IdentifierKind? in
            if case .identifier(let kind) = file.column(named: name).place { kind } else { nil }
        }
        let kind = file.settings.key
        if kinds.contains(kind) { return nil }
        if given["key"] == nil, let first = kinds.first { return (first, nil) }
        guard !columns.contains(where: { file.column(named: $0.name).place == .identifier(kind) }) else { return nil }
        // A name in the column table or in the settings keeps its meaning.
        let known = (ContactFileSettings.columns().map(\.name) + (given["columns"]?.object?.names ?? []))
            .map { ColumnName(rawValue: $0).key }
        let name = sync.first { !known.contains(ColumnName(rawValue: $0).key) }
        return name.map { (kind, $0) }
    }

    /// Returns the attribute types of the columns that the import creates.
    private func types(of map: XMLTree, _ file: ContactFile) -> [(String, JSONValue)] {
        (map["COLUMNS"]?.all("COLUMN") ?? []).compactMap { column in
            guard let name = column["NAME"]?.text.trimmed, let type = Self.types[column["TYPE"]?.text.trimmed ?? ""],
                case .attribute(let attribute) = file.column(named: name).place
            else { return nil }
            return (attribute.rawValue, .string(type.rawValue))
        }
    }

    /// Adds members to explicit settings, which take precedence. Invalid explicit settings stay, and reading reports
    /// them.
    private static func over(_ members: [(String, JSONValue)], _ given: JSONValue?) -> JSONValue? {
        guard !members.isEmpty else { return given }
        guard let given else { return .object(JSONObject(members)) }
        guard let object = given.object else { return given }
        var all = JSONObject(members)
        for member in object { all[member.name] = member.value }
        return .object(all)
    }
}

extension JSONObject {
    /// Returns the object with members of another object added or replaced.
    fileprivate func overlaid(with other: JSONObject, but names: [String] = []) -> JSONObject {
        var all = self
        for member in other where !names.contains(member.name) { all[member.name] = member.value }
        return all
    }
}

extension String {
    fileprivate func part(before mark: String) -> Substring? { firstRange(of: mark).map { self[..<$0.lowerBound] } }
}

extension Substring {
    /// Returns the quoted text after a name and an equals sign.
    fileprivate func quoted(behind name: String) -> String? {
        guard let range = firstRange(of: name) else { return nil }
        let rest = self[range.upperBound...].drop { $0.isWhitespace || $0 == "=" }
        guard let quote = rest.first, quote == "\"" || quote == "'" else { return nil }
        return String(rest.dropFirst().prefix { $0 != quote })
    }
}

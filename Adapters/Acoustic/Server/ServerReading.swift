import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The contact of a device, as stored with the device's channel (S54).
struct ChannelContact: Sendable {
    /// The app key.
    let qualifier: String
    /// User and channel id.
    let device: String

    /// Creates the query for a device's contact; nil if the settings have no app key of that name.
    init?(_ name: AcousticSourceName, _ device: String, _ settings: AcousticServerSettings) {
        guard name.consentChannel == .push, let qualifier = settings.consentQualifiers[exactly: name] else {
            return nil
        }
        (self.qualifier, self.device) = (qualifier, device)
    }

    /// Returns the path at the vendor's host.
    func path(_ settings: AcousticServerSettings) -> String {
        URLText.path("/rest/databases/{databaseId}/contactbychannel/PUSH-{qualifier}/{device}") { name in
            switch name {
            case "databaseId": settings.databaseID
            case "qualifier": qualifier
            case "device": device
            default: nil
            }
        }
    }

    /// Returns the answer for the caller; nil if the reply contains none.
    static func json(_ answer: JSONValue?) -> JSONValue? {
        guard let data = answer?["data"], data.object != nil else { return nil }
        var contact: JSONObject = [:]
        for name in ["email", "emailType", "leadSource", "optInDetails"] {
            if let text = data[name]?.string { contact[name] = .string(text) }
        }
        let fields = (data["customFields"]?.array ?? []).compactMap { field in
            field["name"]?.string.map { ($0, JSONValue.string(field["value"]?.string ?? "")) }
        }
        contact["columns"] = .object(fields.reduce(into: JSONObject()) { $0[$1.0] = $1.1 })
        return .object(contact)
    }
}

/// A query for the database's columns.
struct MetaDataRecord: Sendable {
    let database: String

    static let table = FieldTable<MetaDataRecord>(
        "GetListMetaData",
        [.required("LIST_ID", \.database, .text, from: "settings.databaseId", rule: .acoustic("S58"))]
    )
}

/// The database's columns as the vendor reports them, compared with the settings (S58).
struct DatabaseColumns: Sendable {
    /// A column of the database.
    private struct Row: Sendable {
        let name: String
        /// The vendor's number of its type, unchanged.
        let code: String
        let values: [String]
        let isKey: Bool

        var type: ColumnType? { ColumnType.table.first { String($0.code) == code }?.type }

        var json: JSONValue {
            var json: JSONObject = [:]
            if let type { json["type"] = .string(type.rawValue) }
            if !code.isEmpty { json["code"] = .string(code) }
            if !values.isEmpty { json["values"] = .array(values.map { .string($0) }) }
            if isKey { json["isKey"] = true }
            return .object(json)
        }
    }

    private let rows: [Row]

    /// Reads the columns of a reply; nil if it contains none.
    init?(_ result: XMLTree) {
        let keys = (result["KEY_COLUMNS"]?.all("COLUMN") ?? []).compactMap { $0["NAME"]?.text }
        rows = (result["COLUMNS"]?.all("COLUMN") ?? []).compactMap { column in
            guard let name = column["NAME"]?.text, !name.isEmpty else { return nil }
            return Row(
                name: name,
                code: column["TYPE"]?.text.trimmed ?? "",
                values: (column["SELECTION_VALUES"]?.all("VALUE") ?? []).map(\.text),
                isKey: keys.containsExactly(name)
            )
        }
        if rows.isEmpty { return nil }
    }

    /// Returns the differences from the settings, by column: missing, of another type, or without some of the values.
    private func differences(_ settings: AcousticServerSettings) -> [JSONValue] {
        let there = Dictionary(rows.map { (ScalarString($0.name), $0) }) { first, _ in first }
        return settings.namedColumns.map { name in
            guard let row = there[ScalarString(name)] else { return ["column": .string(name), "what": "missing"] }
            guard let said = settings.columns[ScalarString(name)] else { return nil }
            if let type = row.type, type != said.type { return ["column": .string(name), "what": "type"] }
            let isWhole = row.values.isEmpty || said.values.allSatisfy(row.values.containsExactly)
            return isWhole ? nil : ["column": .string(name), "what": "values"]
        }
        .compactMap(\.self)
    }

    /// Returns the answer for the caller, and whether the columns fit the settings.
    func answer(_ settings: AcousticServerSettings) -> (json: JSONValue, fits: Bool) {
        let differences = differences(settings)
        let columns = rows.reduce(into: JSONObject()) { $0[$1.name] = $1.json }
        return (["columns": .object(columns), "differences": .array(differences)], differences.isEmpty)
    }
}

extension AcousticServerSettings {
    /// Every column that some setting names, in the order of the names.
    fileprivate var namedColumns: [String] {
        let names =
            columns.keys.map(\.text) + attributeNames.values + identifierColumns.values + tagColumns.values
            + subscriptionColumns.values + [keyColumn, emailColumn]
        return names.eachOnce.sorted { $0.precedes($1) }
    }
}

/// A job that exports contacts to a file in the account's download directory (S60).
struct ExportRecord: Sendable {
    /// The values of a query's options, and the vendor's names of them.
    private static let types = ["all": "ALL", "optIn": "OPT_IN", "optOut": "OPT_OUT", "undeliverable": "UNDELIVERABLE"]
    private static let formats = ["csv": "CSV", "tab": "TAB", "pipe": "PIPE"]
    private static let encodings = ["UTF-8": "utf-8", "ISO-8859-1": "iso-8859-1"]

    let type: String
    let format: String
    let encoding: String
    /// The start and the end of the period in which the contacts changed.
    let start: Timestamp?
    let end: Timestamp?
    let columns: [String]

    /// Reads an export from a query's texts. The default is all contacts as CSV in UTF-8; nil if the texts are invalid.
    init?(_ texts: [String: String], columns: JSONValue?) {
        guard let type = Self.types[texts["type"] ?? "all"], let format = Self.formats[texts["format"] ?? "csv"],
            let encoding = Self.encodings[texts["encoding"] ?? "UTF-8"]
        else { return nil }
        (self.type, self.format, self.encoding) = (type, format, encoding)
        (start, end) = (texts["start"].flatMap(Timestamp.init(text:)), texts["end"].flatMap(Timestamp.init(text:)))
        let names = columns?.array?.map { $0.string ?? "" } ?? []
        let isList = columns == nil || columns?.array?.isEmpty == false
        guard isList, names.allSatisfy({ !$0.isEmpty && XMLTree.canHold($0) }),
            (start == nil) == (texts["start"] == nil), (end == nil) == (texts["end"] == nil)
        else { return nil }
        self.columns = names
    }

    /// Formats an instant as `03/09/2031 07:05:11`. That the vendor expects UTC is inferred.
    private static func text(_ moment: Timestamp?) -> String? {
        guard let text = moment?.text(fractionDigits: 0) else { return nil }
        return
            "\(text.dropFirst(5).prefix(2))/\(text.dropFirst(8).prefix(2))/\(text.prefix(4)) \(text.dropFirst(11).prefix(8))"
    }

    static let table = FieldTable<(settings: AcousticServerSettings, export: ExportRecord)>(
        "ExportList",
        [
            .required("LIST_ID", \.settings.databaseID, .text, from: "settings.databaseId", rule: .acoustic("S60")),
            .required("EXPORT_TYPE", \.export.type, .text, from: "request.type", rule: .acoustic("S60")),
            .required("EXPORT_FORMAT", \.export.format, .text, from: "request.format", rule: .acoustic("S60")),
            .required("FILE_ENCODING", \.export.encoding, .text, from: "request.encoding", rule: .acoustic("S60")),
            .optional("DATE_START", { text($0.export.start) }, .text, from: "request.start", rule: .acoustic("S60")),
            .optional("DATE_END", { text($0.export.end) }, .text, from: "request.end", rule: .acoustic("S60")),
            .required("LIST_DATE_FORMAT", { _ in "MM/dd/yyyy" }, .text, from: "fixed", rule: .acoustic("S60")),
            .optional(
                "EXPORT_COLUMNS",
                { $0.export.columns.isEmpty ? nil : $0.export.columns },
                .columnNames,
                from: "request.columns",
                rule: .acoustic("S60")
            ),
        ]
    )
}

extension WireFormat<[String]> {
    /// COLUMN elements inside an enclosing element.
    fileprivate static let columnNames = WireFormat("COLUMN elements", schema: ["type": "object"]) {
        ["COLUMN": .array($0.map { .string($0) })]
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbayTesting

/// Random files, from a seed, with a vendor's own columns and columns for everything else that a row can hold. Each
/// field holds a value of the vendor's writer, or a word, date, time or list in one of many spellings.
struct VendorRows {
    private var random: SeededGenerator
    private let header: [String]
    private let values: [[String]]
    private let dialect: DelimitedDialect
    /// The settings that read the file.
    let settings: JSONObject

    /// Columns beside a vendor's own.
    private static let more: JSONObject = [
        "Weekly In": "optIn:email/weekly", "Weekly Out": "optOut:email/weekly",
        "Weekly Word": "consent:email/weekly", "Weekly Yes": "optedIn:email/weekly",
        "Weekly No": "optedOut:email/weekly",
        "Weekly Said": "changedAt:email/weekly", "Weekly Where": "source:email/weekly", "Daily In": "optIn:sms/daily",
        "Telex": "subscription:telex", "Own One": "subscription:own/one", "Own Two": "subscription:own/two",
        "Vip": "tag:vip",
        "No Tracking": "denied:tracking", "No Fax": "denied:messaging/fax", "No Own": "denied:own",
        "Choice": "attribute:choice", "At": "attribute:at", "Day": "attribute:day", "Seen": "attribute:seen",
        "Land": "attribute:land", "Sum": "attribute:sum", "Flag": "attribute:flag",
    ]
    private static let types: JSONObject = [
        "choice": "choices", "at": "time", "day": "date", "seen": "timestamp", "land": "country", "sum": "decimal",
        "flag": "boolean",
    ]

    private static let words = [
        "true", "False", "YES", "no", "1", "0", "2", "T", "f", "U", "opted-in", "OPTED-OUT", "subscribed",
        "Unsubscribed",
        "suspended", "unknown", "Unsubscribe", "Active", "a", "a; b;;c ;a", "vip", "b,c", "a;\u{E9}", "FI", "fi", "zz",
        "4.50",
        "-0", "007", "1e3", "13:05", "13:05:00", "13:05:30", "1:05 PM", "soon", "a\"b", "back\\slash", "\u{E9}",
        "two\nlines",
    ]
    private static let moments: [String] = {
        let days = [
            "2031-03-09", "2031/3/9", "03/09/2031", "9.3.2031", "31/12/2030", "12/31/2030", "2024-02-29", "2/29/2023",
            "0000-01-01", "9999-12-31", "2031-3-9", "20310309",
        ]
        let clocks = [
            "", "", "", " 00:00:00", " 13:05:00", " 1:05:00 PM", " 12:00:00 am", " 13:05:00 PM", " 24:00:00", " 13:05",
            " 13:05:60", "T13:05:00", "T13:05:00Z", "T13:05:00.25Z", "T13:05:00+02:00", " 13:05:00 GMT", "  13:05:00",
        ]
        return days.flatMap { day in clocks.map { day + $0 } }
    }()

    init(_ harness: RecordHarness, seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        func joined(_ name: String, _ more: JSONObject) -> JSONValue {
            .object(
                JSONObject((Array(harness.settings[name]?.object ?? [:]) + Array(more)).map { ($0.name, $0.value) })
            )
        }
        var settings = harness.settings
        settings["columns"] = joined("columns", Self.more)
        settings["types"] = joined("types", Self.types)
        self.settings = settings
        guard case .columns(let layout)? = try harness.format.makeSourceLayout?(settings) else {
            throw CancellationError()
        }
        dialect = layout.dialect
        var reader = DelimitedReader(dialect: dialect)
        reader.append(try harness.file(of: harness.contacts.map(\.contact)))
        reader.finish()
        var rows: [[String]] = []
        while let row = reader.next() { rows.append(try row.get().fields) }
        let own = reader.header?.fields ?? []
        let added = Self.more.map(\.name).filter { !own.contains($0) }
        header = own + added
        values = own.indices.map { column in rows.map { $0[column] } } + added.map { _ in ["", ""] }
    }

    /// Returns a file with this number of rows. `unknowns` percent of the fields hold values foreign to the writer.
    mutating func file(_ count: Int, unknowns: Int) -> [UInt8] {
        var text = row(header)
        for _ in 0..<count {
            text += row(
                values.map { values in
                    guard random.below(100) < unknowns else { return random.pick(values) }
                    return random.pick(random.below(2) == 0 ? Self.words : Self.moments)
                }
            )
        }
        return Array(text.utf8)
    }

    private func row(_ fields: [String]) -> String {
        let delimiter = Character(Unicode.Scalar(dialect.delimiter))
        let texts = fields.map { field -> String in
            let isPlain = !field.contains { $0 == delimiter || $0 == "\"" || $0 == "\n" }
            guard dialect.quoting != .never else { return field.filter { $0 != delimiter && $0 != "\n" } }
            return isPlain ? field : "\"\(field.replacing("\"", with: "\"\""))\""
        }
        return texts.joined(separator: String(delimiter)) + "\n"
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayAdobeFiles
import PatchbayAltcraftFiles
import PatchbayDESFiles
import PatchbayJSON
import PatchbayMigration
import PatchbayRecords
import PatchbaySalesforceFiles

/// One migration, by the first byte; the rest is what is moved.
///
/// Rejected rows get no guards against spreadsheet programs, because a source without a layout has none.
struct BulkPathComparison {
    private let migration: Migration
    /// The same between formats without layouts, whose readers and writers handle every record.
    private let reference: Migration
    private let bytes: [UInt8]
    private let chunk: Int

    init(_ bytes: [UInt8]) throws {
        let (first, rest) = (bytes.first ?? 0, Array(bytes.dropFirst()))
        let hasRows = first & 1 == 1
        let rows = VendorFiles.salesforce.formats.first { $0.id == "salesforce.contacts" }
        let target = first & 2 == 0 ? (RecordFormat.altcraftProfiles, Self.profiles) : (Self.contactFile, Self.columns)
        (migration, reference) = try Self.both(
            from: hasRows ? rows ?? .neutralContacts : .neutralContacts,
            hasRows ? ["formulas": "none"] : [:],
            to: target,
            try ContactMapping(json: first & 4 == 0 ? [] : Self.rules)
        )
        self.bytes = hasRows ? Array(Self.header.utf8) + rest : rest
        chunk = 200 + Int(first & 0xF8) * 8
    }

    /// Rows with columns for all that a row can say: the first byte says whose file, whose import, and whether by a mapping.
    init(rows bytes: [UInt8]) throws {
        let first = bytes.first ?? 0
        let sources = [VendorFiles.salesforce, .adobe, .des].flatMap(\.formats)
        let targets = [(RecordFormat.altcraftProfiles, Self.profiles), (Self.contactFile, Self.columns)]
        let target = targets[Int(first & 1)]
        (migration, reference) = try Self.both(
            from: sources[Int(first &>> 2 & 7) % sources.count],
            ["columns": .object(Self.sayings), "types": .object(Self.types), "formulas": "none"],
            to: target,
            try ContactMapping(json: first & 2 == 0 ? [] : Self.rules)
        )
        self.bytes = Array(bytes.dropFirst())
        chunk = 200 + Int(first & 0xE0) * 8
    }

    private static func both(
        from source: RecordFormat,
        _ sourceSettings: JSONObject,
        to target: (format: RecordFormat, settings: JSONObject),
        _ mapping: ContactMapping
    ) throws -> (Migration, Migration) {
        func migration(_ change: (RecordFormat) -> RecordFormat) throws -> Migration {
            try Migration(
                from: change(source),
                to: change(target.format),
                sourceSettings: sourceSettings,
                targetSettings: target.settings,
                mapping: mapping
            )
        }
        return (try migration { $0 }, try migration(\.withoutLayouts))
    }

    /// What each column says; a short name for each, so that a header fits into few bytes.
    private static let sayings: JSONObject = [
        "k": "identifier:external", "e": "identifier:email", "p": "identifier:phone", "i": "optIn:email/weekly",
        "o": "optOut:email/weekly", "w": "subscription:email/weekly", "a": "changedAt:email/weekly",
        "s": "source:email/weekly", "m": "subscription:sms", "u": "optOut:push", "x": "subscription:own/one",
        "v": "tag:vip", "g": "tags", "t": "denied:tracking", "f": "denied:messaging/fax", "c": "attribute:choice",
        "h": "attribute:at", "d": "attribute:day", "n": "attribute:seen", "l": "attribute:land", "r": "attribute:sum",
        "b": "attribute:flag", "y": "attribute:note", "z": "timeZone", "q": "locale",
    ]
    private static let types: JSONObject = [
        "choice": "choices", "at": "time", "day": "date", "seen": "timestamp", "land": "country", "sum": "decimal",
        "flag": "boolean",
    ]

    private static var contactFile: RecordFormat { VendorFiles.adobe.formats.first ?? .neutralContacts }
    private static let header = "Contact Key,Email Address,Mobile Number,First Name,_City,Points,Own One\n"
    private static let profiles: JSONObject = [
        "dbId": 7, "resourceId": 31, "tagsField": "labels", "resources": ["news": "32"],
        "identifierFields": ["external": "customer_number", "email": "email", "phone": "phones"],
    ]
    private static let columns: JSONObject = [
        "columns": [
            "id": "identifier:external", "mail": "identifier:email", "tel": "identifier:phone",
            "city": "attribute:city",
            "born": "attribute:birth_date", "tz": "timeZone", "optout": "subscription:email",
        ],
        "types": ["birth_date": "date"], "lostOptOuts": "warn",
    ]
    private static let rules: JSONValue = [
        ["rename": "attributes.city", "to": "attributes.town"], ["set": "tags.moved", "value": true],
        ["default": "attributes.given_name", "value": "friend \"x\""],
        ["split": "attributes.own_one", "by": " ", "to": ["attributes.city", "identifiers.card"]],
        ["join": ["attributes.given_name", "identifiers.phone"], "with": "ö", "to": "attributes.name"],
        ["map": "attributes.gender", "values": ["female": "f", "Päivi": 1]],
        ["type": "attributes.points", "as": "integer"],
        ["remove": "locale"],
    ]

    /// What a run writes, refuses and says; of a file that is refused as a whole, why.
    private func outcome(_ migration: Migration, chunk: Int) throws -> [String] {
        do {
            return try run(migration, chunk: chunk)
        } catch let refusal as Migration.Failure {
            return ["", "", "", refusal.description]
        }
    }

    private func run(_ migration: Migration, chunk: Int) throws -> [String] {
        var source = Pieces(bytes, of: chunk)
        let (written, list, replay) = (Memory(), Memory(), Memory())
        let rejects = Rejects(list: list, replay: replay)
        let report = try migration.run(&source, to: written, rejects: rejects, workers: 1)
        // How many records left the bulk path is what differs between the two ways.
        var counts = report.json.object ?? [:]
        (counts["leftBulkPath"], counts["reasons"]) = (nil, nil)
        return [written.text, list.text, replay.text, JSONValue.object(counts).text]
    }

    /// Where the bulk path differs from the reference.
    func difference() throws -> String? {
        let general = try outcome(reference, chunk: max(1, bytes.count))
        let bulk = try outcome(migration, chunk: chunk)
        return zip(["output", "rejects", "rows to correct", "report"], zip(general, bulk)).first { $1.0 != $1.1 }
            .map { "the \($0) of the bulk path differs" }
    }

    private struct Pieces: ByteSource {
        private var pieces: [[UInt8]]

        init(_ bytes: [UInt8], of count: Int) {
            pieces = stride(from: 0, to: bytes.count, by: count).reversed()
                .map { Array(bytes[$0..<min($0 + count, bytes.count)]) }
        }

        mutating func next() throws(FileError) -> [UInt8]? { pieces.popLast() }
    }

    private final class Memory: ByteSink {
        private var bytes: [UInt8] = []

        func write(_ bytes: [UInt8]) throws(FileError) { self.bytes += bytes }

        var text: String { String(decoding: bytes, as: UTF8.self) }
    }
}

extension RecordFormat {
    /// The format without its layouts.
    fileprivate var withoutLayouts: RecordFormat {
        RecordFormat(
            id: id,
            title: title,
            fileExtension: fileExtension,
            rules: rules,
            makeReader: makeReader,
            makeWriter: makeWriter,
            deciding: deciding
        )
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforce

extension RecordFormat {
    /// Contact exports, and files for a data extension: delimited text with a header. Rows may also be JSON when
    /// reading.
    static let salesforceContacts = RecordFormat(
        id: "salesforce.contacts",
        title:
            "Salesforce Marketing Cloud contacts: exports, and rows for a data extension (delimited text; JSON is read)",
        fileExtension: "csv",
        rules: ((1...11).map { "F\($0)" } + ["F14", "F15"]).map(RuleID.salesforce),
        makeReader: { object throws(SettingsError) in ContactFileReader(try file(.salesforceContacts, object)) },
        makeWriter: { object throws(SettingsError) in try ContactFileWriter(written(.salesforceContacts, object)) },
        deciding: ContactFileFindings.salesforce.deciding,
        makeSourceLayout: { object throws(SettingsError) in try file(.salesforceContacts, object).sourceLayout },
        makeTargetLayout: { object throws(SettingsError) in try written(.salesforceContacts, object).targetLayout() }
    )

    /// The import of mobile contacts: delimited text with the vendor's own columns.
    static let salesforceMobile = RecordFormat(
        id: "salesforce.mobile",
        title: "Salesforce Marketing Cloud mobile contacts (import file, at most 20 MB)",
        fileExtension: "csv",
        rules: ["F1", "F2", "F3", "F11", "F12", "F13", "F14"].map(RuleID.salesforce),
        makeReader: { object throws(SettingsError) in ContactFileReader(try file(.salesforceMobile, object)) },
        makeWriter: { object throws(SettingsError) in
            let file = try written(.salesforceMobile, object)
            return try ContactFileWriter(file) { contact in
                contact.mobileKeyFindings([.external] + file.settings.otherKeys)
            }
        },
        deciding: ContactFileFindings.salesforce.deciding,
        makeSourceLayout: { object throws(SettingsError) in try file(.salesforceMobile, object).sourceLayout }
    )

    private static func file(_ kind: ContactFileKind, _ object: JSONObject) throws(SettingsError) -> ContactFile {
        ContactFile(kind, try ContactFileSettings.table.read(object, over: ContactFileSettings(), at: "").file)
    }

    /// The same for a file that is written: an import finds columns by the header line, so it has one.
    private static func written(_ kind: ContactFileKind, _ object: JSONObject) throws(SettingsError) -> ContactFile {
        var settings = try file(kind, object).settings
        settings.header = []
        return try ContactFile(kind, settings).written(delimiters: [.comma, .tab, .bar])
    }
}

extension Contact {
    /// Returns the findings about the contact's key for the import of mobile contacts: the first identifier of the
    /// first of those kinds that the contact has.
    fileprivate func mobileKeyFindings(_ kinds: [IdentifierKind]) -> [Finding] {
        let places = kinds.lazy.compactMap { kind in identifiers.firstIndex { $0.kind == kind } }
        guard let place = places.first,
            identifiers[place].value.contains(where: { "+-()".contains($0) })
        else { return [] }
        return [FindingRow.fileKeySigns.at("identifiers[\(place)]")]
    }
}

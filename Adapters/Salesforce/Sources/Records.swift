import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension RecordFormat {
    /// Contact exports, and files for a data extension: delimited text with a header.
    static let salesforceContacts = RecordFormat(
        id: "salesforce.contacts",
        title: "Salesforce Marketing Cloud contacts: exports, and rows for a data extension (delimited text)",
        fileExtension: "csv",
        rules: ((1...11).map { "F\($0)" } + ["F14"]).map(RuleID.salesforce),
        makeReader: { object throws(SettingsError) in ContactFileReader(try file(.salesforceContacts, object)) },
        makeWriter: { object throws(SettingsError) in try ContactFileWriter(file(.salesforceContacts, object)) },
        makeSourceLayout: { object throws(SettingsError) in try file(.salesforceContacts, object).sourceLayout },
        makeTargetLayout: { object throws(SettingsError) in try file(.salesforceContacts, object).targetLayout() }
    )

    /// The import of mobile contacts: delimited text with the vendor's own columns.
    static let salesforceMobile = RecordFormat(
        id: "salesforce.mobile",
        title: "Salesforce Marketing Cloud mobile contacts (import file, at most 20 MB)",
        fileExtension: "csv",
        rules: ["F1", "F2", "F3", "F11", "F12", "F13", "F14"].map(RuleID.salesforce),
        makeReader: { object throws(SettingsError) in ContactFileReader(try file(.salesforceMobile, object)) },
        makeWriter: { object throws(SettingsError) in
            RuleID.salesforce("F12").fire()
            return try ContactFileWriter(file(.salesforceMobile, object)) { contact in
                contact.mobileKeyFindings
            }
        },
        makeSourceLayout: { object throws(SettingsError) in try file(.salesforceMobile, object).sourceLayout }
    )

    private static func file(_ kind: ContactFileKind, _ object: JSONObject) throws(SettingsError) -> ContactFile {
        ContactFile(kind, try ContactFileSettings.table.read(object, over: ContactFileSettings(), at: "").file)
    }
}

extension Contact {
    /// What is wrong with the contact's key for the import of mobile contacts.
    fileprivate var mobileKeyFindings: [Finding] {
        RuleID.salesforce("F13").fire()
        guard let place = identifiers.firstIndex(where: { $0.kind == .external }),
            identifiers[place].value.contains(where: { "+-()".contains($0) })
        else { return [] }
        return [FindingRow.fileKeySigns.at("identifiers[\(place)]")]
    }
}

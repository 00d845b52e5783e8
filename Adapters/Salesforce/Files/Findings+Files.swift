import PatchbayAdapterKit
import PatchbayRecords
import PatchbaySalesforce

/// The findings about contact files. No finding holds a personal value.
extension FindingRow {
    /// Every row of contact files.
    static let salesforceFiles: [FindingRow] =
        ContactFileFindings.salesforce.all + [fileKeySigns, ContactFileFindings.salesforce.keyOther]

    /// The rows that only this vendor's files have, or whose texts differ from the general ones.
    static let salesforceOwn: [FindingRow] = [
        fileEmpty, fileWithoutRows, fileColumnMissing, fileColumnRepeated, rowWidth, rowFault, rowDate, rowEmail,
        rowPhone, rowValue, rowReserved, rowOptInStatus, rowOptInUnknown, rowTimeZone,
    ]

    static let fileEmpty = FindingRow(
        .error("salesforce.file.empty", .missing, rule: "F4"),
        reason: "The file has no data rows",
        remedy: "Export the file again with its header row."
    )
    static let fileWithoutRows = FindingRow(
        .error("salesforce.file.headerOnly", .missing, rule: "F4"),
        reason: "The file has a header and no data rows",
        remedy: "Export the file again from a list that contains contacts."
    )
    static let fileColumnMissing = FindingRow(
        .error("salesforce.file.columnMissing", .missing, rule: "F3"),
        reason: "The header has no column for the contact key",
        remedy:
            "Export the file with headers, or name the columns in the setting header. If it has headers, "
            + "check the setting delimiter, or map the key's column to identifier:external in the setting "
            + "columns."
    )
    static let fileColumnRepeated = FindingRow(
        .error("salesforce.file.columnRepeated", .conflict, rule: "F3"),
        reason: "Two columns fill the same part of the contact",
        remedy: "Rename one of them in the file, or map it elsewhere in the setting columns."
    )
    static let rowWidth = FindingRow(
        .error("salesforce.row.width", .invalid, rule: "F5"),
        reason: "The row does not have the same number of fields as the header",
        remedy: "Quote fields that hold the delimiter."
    )
    static let rowFault = FindingRow(
        .error("salesforce.row.unreadable", .invalid, rule: "F2"),
        reason: "The row cannot be read",
        remedy: "Save the file as UTF-8, and write a quote inside a quoted field twice."
    )
    static let rowKeyBlank = FindingRow(
        .error("salesforce.row.contactKeyBlank", .missing, rule: "K1"),
        reason: "The contact key is blank",
        remedy: "Fill in the key, or leave the row out."
    )
    static let rowDate = FindingRow(
        .error("salesforce.row.date", .invalid, rule: "F7"),
        reason: "The text is not a date in a documented format",
        remedy: "Write it like 2031-03-09 07:05:11 or 2031/3/9."
    )
    static let rowEmail = FindingRow(
        .error("salesforce.row.email", .invalid, rule: "F8"),
        reason: "The column's text is not an e-mail address of at most 254 characters",
        remedy: "Correct the address, or leave it blank."
    )
    static let rowPhone = FindingRow(
        .error("salesforce.row.phone", .invalid, rule: "F8"),
        reason: "The column's text is not a phone number",
        remedy: "Write digits, or leave it blank."
    )
    static let rowValue = FindingRow(
        .error("salesforce.row.value", .invalid, rule: "F6"),
        reason: "The column's text is not of the type that the setting types gives it",
        remedy: "Correct the text, or give the column another type."
    )
    static let rowReserved = FindingRow(
        .note("salesforce.row.valueUnused", rule: "F6"),
        reason: "The column is for the vendor's own bookkeeping and is not migrated",
        remedy: "To migrate it, map it to an attribute in the setting columns."
    )
    /// The same finding for a column whose opt-outs are migrated.
    static let rowStatus = FindingRow(
        .note(rowReserved.code, rule: "F9"),
        reason: rowReserved.reason,
        remedy:
            "Opt-outs in this column are migrated. To migrate its other values, map it to an attribute in the setting columns, unless one of them is an opt-out."
    )
    static let rowOptInStatus = FindingRow(
        .note("salesforce.row.optInStatus", rule: "F9"),
        reason: "The opt-in status is not read: the dates and the opt-out status show what the person wants",
        remedy: "No action is needed."
    )
    static let rowOptInUnknown = FindingRow(
        .note("salesforce.row.optInUnknown", rule: "F9"),
        reason: "Opt-in date and opt-out date are both blank, so the person's decision is unknown",
        remedy: "No action is needed. The subscription is migrated as unknown."
    )
    static let fileKeySigns = FindingRow(
        .error("salesforce.record.keySigns", .invalid, rule: "F13"),
        reason: "A contact key of the mobile import holds no plus, minus or bracket, so the contact is not written",
        remedy: "Give the contact a key without them, or load it as a row of a data extension."
    )
    static let rowTimeZone = FindingRow(
        .note("salesforce.row.timeZone", rule: "F10"),
        reason: "The text of the time-zone column is neither a zone's name nor an offset, so it is not migrated",
        remedy: "Map the column to an attribute in the setting columns if you need it."
    )
}

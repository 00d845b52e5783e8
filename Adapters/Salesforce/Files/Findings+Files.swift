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
        "salesforce.file.empty",
        .error,
        .missing,
        rule: .salesforce("F4"),
        reason: "The file has no data rows",
        remedy: "Export the file again with its header row."
    )
    static let fileWithoutRows = FindingRow(
        "salesforce.file.headerOnly",
        .error,
        .missing,
        rule: .salesforce("F4"),
        reason: "The file has a header and no data rows",
        remedy: "Export the file again from a list that contains contacts."
    )
    static let fileColumnMissing = FindingRow(
        "salesforce.file.columnMissing",
        .error,
        .missing,
        rule: .salesforce("F3"),
        reason: "The header has no column for the contact key",
        remedy:
            "Export the file with headers, or name the columns in the setting header. If it has headers, "
            + "check the setting delimiter, or map the key's column to identifier:external in the setting "
            + "columns."
    )
    static let fileColumnRepeated = FindingRow(
        "salesforce.file.columnRepeated",
        .error,
        .conflict,
        rule: .salesforce("F3"),
        reason: "Two columns fill the same part of the contact",
        remedy: "Rename one of them in the file, or map it elsewhere in the setting columns."
    )
    static let rowWidth = FindingRow(
        "salesforce.row.width",
        .error,
        .invalid,
        rule: .salesforce("F5"),
        reason: "The row does not have the same number of fields as the header",
        remedy: "Quote fields that hold the delimiter."
    )
    static let rowFault = FindingRow(
        "salesforce.row.unreadable",
        .error,
        .invalid,
        rule: .salesforce("F2"),
        reason: "The row cannot be read",
        remedy: "Save the file as UTF-8, and write a quote inside a quoted field twice."
    )
    static let rowKeyBlank = FindingRow(
        "salesforce.row.contactKeyBlank",
        .error,
        .missing,
        rule: .salesforce("K1"),
        reason: "The contact key is blank",
        remedy: "Fill in the key, or leave the row out."
    )
    static let rowDate = FindingRow(
        "salesforce.row.date",
        .error,
        .invalid,
        rule: .salesforce("F7"),
        reason: "The text is not a date in a documented format",
        remedy: "Write it like 2031-03-09 07:05:11, 2031/3/9 or 3/9/2031 7:05:11 AM."
    )
    static let rowEmail = FindingRow(
        "salesforce.row.email",
        .error,
        .invalid,
        rule: .salesforce("F8"),
        reason: "The column's text is not an e-mail address of at most 254 characters",
        remedy: "Correct the address, or leave it blank."
    )
    static let rowPhone = FindingRow(
        "salesforce.row.phone",
        .error,
        .invalid,
        rule: .salesforce("F8"),
        reason: "The column's text is not a phone number",
        remedy: "Write digits, or leave it blank."
    )
    static let rowValue = FindingRow(
        "salesforce.row.value",
        .error,
        .invalid,
        rule: .salesforce("F6"),
        reason: "The column's text is not of the type that the setting types gives it",
        remedy: "Correct the text, or give the column another type."
    )
    static let rowReserved = FindingRow(
        "salesforce.row.valueUnused",
        .note,
        rule: .salesforce("F6"),
        reason: "The column is for the vendor's own bookkeeping and is not migrated",
        remedy: "To migrate it, map it to an attribute in the setting columns."
    )
    /// The same finding for a column whose opt-outs are migrated.
    static let rowStatus = FindingRow(
        rowReserved.code,
        .note,
        rule: .salesforce("F9"),
        reason: rowReserved.reason,
        remedy:
            "Opt-outs in this column are migrated. To migrate its other values, map it to an attribute in the setting columns, unless one of them is an opt-out."
    )
    static let rowOptInStatus = FindingRow(
        "salesforce.row.optInStatus",
        .note,
        rule: .salesforce("F9"),
        reason: "The opt-in status is not read: the dates and the opt-out status show what the person wants",
        remedy: "No action is needed."
    )
    static let rowOptInUnknown = FindingRow(
        "salesforce.row.optInUnknown",
        .note,
        rule: .salesforce("F9"),
        reason: "Opt-in date and opt-out date are both blank, so the person's decision is unknown",
        remedy: "No action is needed. The subscription is migrated as unknown."
    )
    static let fileKeySigns = FindingRow(
        "salesforce.record.keySigns",
        .error,
        .invalid,
        rule: .salesforce("F13"),
        reason: "A contact key of the mobile import holds no plus, minus or bracket, so the contact is not written",
        remedy: "Give the contact a key without them, or load it as a row of a data extension."
    )
    static let rowTimeZone = FindingRow(
        "salesforce.row.timeZone",
        .note,
        rule: .salesforce("F10"),
        reason: "The text of the time-zone column is neither a zone's name nor an offset, so it is not migrated",
        remedy: "Map the column to an attribute in the setting columns if you need it."
    )
}

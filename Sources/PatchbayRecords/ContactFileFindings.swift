public import PatchbayAdapterKit

/// A vendor's rules for its contact files, by subject.
public struct ContactFileRules: Sendable {
    /// How the text is divided into fields.
    public var dialect: String
    /// How columns are identified.
    public var header: String
    /// How files without data are treated.
    public var empty: String
    /// The number of fields in a row.
    public var width: String
    /// The form of values.
    public var values: String
    /// The form of several values in one field.
    public var lists: String
    /// The form of days and points in time.
    public var moments: String
    /// The form of addresses and numbers.
    public var addresses: String
    /// The identifier that serves as the key.
    public var key: String
    /// The parts of a contact that have a column.
    public var home: String
    /// The form of consent decisions.
    public var wishes: String
    /// The treatment of an opt-out that has no column.
    public var optOuts: String
    /// The treatment of a device.
    public var device: String

    /// Creates the rules.
    public init(
        dialect: String,
        header: String,
        empty: String,
        width: String,
        values: String,
        lists: String,
        moments: String,
        addresses: String,
        key: String,
        home: String,
        wishes: String,
        optOuts: String,
        device: String
    ) {
        (self.dialect, self.header, self.empty, self.width) = (dialect, header, empty, width)
        (self.values, self.lists, self.moments) = (values, lists, moments)
        (self.addresses, self.key) = (addresses, key)
        (self.home, self.wishes, self.optOuts, self.device) = (home, wishes, optOuts, device)
    }
}

/// The findings about a contact file and its rows, in both directions.
public final class ContactFileFindings: Sendable {
    // Findings about a file that is read.
    let empty: FindingRow
    let headerOnly: FindingRow
    let columnMissing: FindingRow
    /// The same for a row that is a JSON object.
    let memberMissing: FindingRow
    let columnRepeated: FindingRow
    let wishAbsent: FindingRow
    let wishMisused: FindingRow
    /// Settings name a column without consent that the file does not have.
    let columnAbsent: FindingRow
    /// A column that becomes an attribute has a name similar to an identifier or a consent decision.
    let columnSimilar: FindingRow
    let typeAbsent: FindingRow
    let columnUnnamed: FindingRow
    let encoding: FindingRow
    /// The same for a file that begins like another encoding.
    let otherEncoding: FindingRow
    /// A skipped header line has another number of columns than the settings name. Like the next finding, it is only for
    /// formats with such a setting.
    public let headerWidth: FindingRow
    /// A skipped header line has other column names than the settings.
    public let headerOther: FindingRow
    // Findings about a row that is read.
    let width: FindingRow
    let fault: FindingRow
    /// The same for a row that exceeds the maximum length.
    let faultLong: FindingRow
    let headerAgain: FindingRow
    let manyLines: FindingRow
    /// Only for formats with a setting for the file's encoding.
    public let uncertain: FindingRow
    let control: FindingRow
    let keyBlank: FindingRow
    /// The same for another column that no row may leave blank.
    let cellBlank: FindingRow
    /// The key cannot belong to a person, so the row is rejected.
    let keyDamaged: FindingRow
    /// The same for another identifier, which is omitted.
    let identifierDamaged: FindingRow
    /// An identifier is read without surrounding characters.
    let identifierCleaned: FindingRow
    let date: FindingRow
    /// The date is ambiguous.
    let dateAmbiguous: FindingRow
    let email: FindingRow
    let phone: FindingRow
    let value: FindingRow
    /// A value that cannot be read is omitted. Each reason has its own text.
    let omitted: FindingRow
    /// All dates of a column have a form that no setting names.
    let dateForm: FindingRow
    /// A setting has a value that is only allowed for a file that is read.
    let onlyRead: FindingRow
    /// The same for a column with consent values.
    let word: FindingRow
    /// Settings ignore a column with consent decisions.
    let consentIgnored: FindingRow
    /// The column's name indicates consent, but neither the format nor the settings define it.
    let consentUnnamed: FindingRow
    package let seconds: FindingRow
    let unused: FindingRow
    package let optInUnknown: FindingRow
    package let timeZone: FindingRow
    package let devicePart: FindingRow
    package let deviceAssumed: FindingRow
    // Findings about a contact that is written.
    let keyMissing: FindingRow
    /// The same for another column that no row may leave blank.
    let cellMissing: FindingRow
    /// Another identifier serves as the key. Only for formats with a second kind of key. The next two findings are only for
    /// formats whose import treats an address as an opt-in.
    public let keyOther: FindingRow
    /// No opt-in is known, so the contact is not written.
    public let withoutOptIn: FindingRow
    /// No opt-in is known, but the contact is written.
    public let writtenWithoutOptIn: FindingRow
    /// The row has no key, and another column identifies it. Only for formats with such a column.
    public let otherKey: FindingRow
    let optOutLost: FindingRow
    package let noColumn: FindingRow
    package let noPlace: FindingRow
    package let second: FindingRow
    package let addressLost: FindingRow
    package let unfit: FindingRow
    package let phoneCountry: FindingRow
    package let tooLong: FindingRow
    package let unwritable: FindingRow
    package let lineBreak: FindingRow
    package let precision: FindingRow
    package let converted: FindingRow
    package let trimmed: FindingRow
    package let blank: FindingRow
    package let consent: FindingRow
    package let denied: FindingRow
    package let stateUnknown: FindingRow
    package let suspended: FindingRow
    package let undated: FindingRow

    /// The settings that decide findings, by finding code.
    public var deciding: [String: String] {
        [
            keyBlank.code: "key", columnMissing.code: "key", keyMissing.code: "key", withoutOptIn.code: "withoutOptIn",
            optOutLost.code: "lostOptOuts",
        ]
    }

    /// All findings, for the descriptor.
    public var all: [FindingRow] {
        [
            empty, headerOnly, columnMissing, columnRepeated, wishAbsent, wishMisused, columnAbsent, columnSimilar,
            typeAbsent,
            columnUnnamed, encoding, width,
            fault, headerAgain,
            manyLines,
            control, keyBlank, keyDamaged, identifierDamaged, identifierCleaned, date, dateAmbiguous, email, phone,
            value, omitted, dateForm, onlyRead, word,
            consentIgnored, consentUnnamed, seconds,
            unused, optInUnknown, timeZone, devicePart, deviceAssumed, keyMissing, optOutLost, noColumn, noPlace,
            second, addressLost,
            unfit,
            phoneCountry,
            tooLong, unwritable, lineBreak, precision, converted, trimmed, blank, consent, denied, stateUnknown,
            suspended, undated,
        ]
    }

    /// Creates the usual findings.
    ///
    /// - Parameters:
    ///   - adapter: The adapter's id, with which the codes begin.
    ///   - rules: The vendor's rules.
    ///   - key: A description of the key, for example `the contact key`.
    ///   - canChooseKey: Whether a setting `key` determines the kind of identifier.
    ///   - own: Rows of the vendor that replace the usual ones with the same code.
    ///   - ownKeyBlank: The vendor's own row for a blank key.
    public init(
        _ adapter: String,
        _ rules: ContactFileRules,
        key: String,
        canChooseKey: Bool = false,
        keeping own: [FindingRow] = [],
        keyBlank ownKeyBlank: FindingRow? = nil
    ) {
        let columns = "in the setting columns"
        /// Returns the vendor's own row with a code, or the usual one.
        func row(_ kind: Finding.Kind, reason: String, remedy: String) -> FindingRow {
            var kind = kind
            kind.code = "\(adapter).\(kind.code)"
            return own.first { $0.code == kind.code } ?? FindingRow(kind, reason: reason, remedy: remedy)
        }
        empty = row(
            .error("file.empty", .missing, rule: rules.empty),
            reason: "The file has no data rows",
            remedy: "Export again, with the header row."
        )
        headerOnly = row(
            .error("file.headerOnly", .missing, rule: rules.empty),
            reason: "The file has a header and no data rows",
            remedy: "Export the contacts again."
        )
        columnMissing = row(
            .error("file.columnMissing", .missing, rule: rules.header),
            reason: "The header has no column for \(key)",
            remedy:
                "Export the file with headers. If it has headers, check the setting delimiter, or map the key's column \(columns)."
        )
        memberMissing = columnMissing.with(
            reason: "The JSON object has no member for \(key)",
            remedy:
                "Name the member \(columns). If the file has another format, name that with --from; `patchbay adapters` lists the formats."
        )
        columnRepeated = row(
            .error("file.columnRepeated", .conflict, rule: rules.header),
            reason: "Two columns fill the same part of the contact",
            remedy: "Rename one of them in the file, or map it elsewhere \(columns)."
        )
        wishMisused = row(
            .error("file.wishMisused", .conflict, rule: rules.wishes),
            reason: "The settings write something else to a column that holds a consent decision",
            remedy: "Choose another column for that value. This column takes only the decision that it stands for."
        )
        wishAbsent = row(
            .error("file.wishAbsent", .missing, rule: rules.header),
            reason: "The settings name a column with consent decisions that the file lacks",
            remedy:
                "Correct the name \(columns). Remove it only if the file has no such decisions: opt-outs in a column of another "
                + "name would be lost."
        )
        columnAbsent = row(
            .warning("file.columnAbsent", .missing, rule: rules.header),
            reason: "The settings name a column that the file lacks",
            remedy:
                "Correct the name in the settings if it is misspelled or the column was renamed. Otherwise remove it."
        )
        columnSimilar = row(
            .note("file.columnSimilar", .missing, rule: rules.header),
            reason: "The column is read as an attribute, but resembles a column of the format that the file lacks",
            remedy: "Correct the name in the file, or name the column \(columns)."
        )
        typeAbsent = row(
            .note("file.typeAbsent", rule: rules.header),
            reason: "The setting types names an attribute for which the file has no column",
            remedy: "Correct the name if it is misspelled. It must be the neutral name of the attribute."
        )
        columnUnnamed = row(
            .note("file.columnUnnamed", rule: rules.header),
            reason: "The column has no name that an attribute could have, so it is skipped",
            remedy: "Name the column in the header if you need it."
        )
        encoding = row(
            .error("file.encoding", .invalid, rule: rules.dialect),
            reason:
                "The file is not in an encoding such as UTF-8: it begins like UTF-16, or its header contains NUL",
            remedy: "Save it as UTF-8."
        )
        otherEncoding = encoding.with(
            reason: "The file begins with the mark of UTF-8, and the setting encoding says something else",
            remedy: "Take the setting encoding away."
        )
        headerWidth = row(
            .error("file.headerWidth", .conflict, rule: rules.header),
            reason: "The skipped header line and the settings have different numbers of columns",
            remedy: "Name each column of the file in its order, or check the delimiter."
        )
        headerOther = row(
            .warning("file.headerOther", .conflict, rule: rules.header),
            reason: "The skipped header line differs from the column names in the settings; the settings apply",
            remedy: "If the header line is right, correct or remove the names."
        )
        width = row(
            .error("row.width", .invalid, rule: rules.width),
            reason: "The row does not have the same number of fields as the header",
            remedy: "Quote fields that hold the delimiter, or check the settings delimiter and quoted."
        )
        fault = row(
            .error("row.unreadable", .invalid, rule: rules.dialect),
            reason: "The row cannot be read",
            remedy: "Save the file in one encoding, and write a quote inside a quoted field twice."
        )
        faultLong = FindingRow(
            .error(fault.code, .tooLarge, rule: rules.dialect),
            reason: "The row is longer than any may be, and its bytes are not kept",
            remedy: "Look in it for a quote that is never closed; take the rows from the source."
        )
        headerAgain = row(
            .error("row.headerAgain", .invalid, rule: rules.header),
            reason: "The row repeats the header, as happens when files are joined",
            remedy: "No action is needed if so. Otherwise, give the contact a key that differs from the column's name."
        )
        manyLines = row(
            .warning("row.manyLines", .invalid, rule: rules.dialect),
            reason: "The row runs over very many lines: a quote in it may be none, and other rows stand inside a field",
            remedy: "Check these lines; write a quote inside a quoted field twice, or check the setting quoted."
        )
        uncertain = row(
            .warning("row.encoding", .invalid, rule: rules.dialect),
            reason: "The row looks like another encoding, UTF-8 or Windows 1252, and may be read wrongly",
            remedy: "Save the file in one encoding, and name it in the setting encoding."
        )
        control = row(
            .error("row.control", .invalid, rule: rules.dialect),
            reason: "The column's text holds a NUL byte",
            remedy: "Take it out; it belongs in no text."
        )
        keyBlank =
            ownKeyBlank
            ?? row(
                .error("row.keyBlank", .missing, rule: rules.key),
                reason: "The column of \(key) is blank",
                remedy: "Fill it in, or leave the row out."
            )
        cellBlank = FindingRow(
            .error(keyBlank.code, .missing, rule: rules.key),
            reason: "A column that every row needs is blank",
            remedy: "Fill it in, or leave the row out."
        )
        let asText =
            "Export it again as text. In a spreadsheet, import the column as text before the values are shortened."
        keyDamaged = row(
            .error("row.keyDamaged", .invalid, rule: rules.key),
            reason: "The contact's key cannot belong to one person, so the row is rejected",
            remedy: asText
        )
        identifierDamaged = row(
            .warning("row.identifierDamaged", .invalid, rule: rules.key),
            reason: "The column's value cannot be one person's identifier, so it is left out",
            remedy: asText
        )
        identifierCleaned = row(
            .note("row.identifierCleaned", rule: rules.key),
            reason:
                "Invisible characters, a spreadsheet's guard (=\"…\", an apostrophe) or its fraction (.0), or signs of a mail program "
                + "(mailto:, <…>) stand around the identifier, which is read without them; a telephone number is read with ASCII digits "
                + "and signs, and one without a country gets the default one",
            remedy: "No action is needed. Take them out in the source to silence this note."
        )
        dateAmbiguous = row(
            .warning("row.dateAmbiguous", .invalid, rule: rules.moments),
            reason:
                "The order of day and month is not known (MM/dd/yyyy or dd/MM/yyyy). The setting dateForms decides it by column, "
                + "dateForm for the file. Until then, an attribute of type date is left out, other columns keep the text, and the "
                + "person is opted out if either order means an opt-out",
            remedy: "Set dateForms for the column, or dateForm for the file."
        )
        date = row(
            .error("row.date", .invalid, rule: rules.moments),
            reason: "The column's text is not a date in the form of the setting dateForm",
            remedy: "Correct the text, or change the setting."
        )
        email = row(
            .error("row.email", .invalid, rule: rules.addresses),
            reason: "The column's text is not an e-mail address of at most 254 characters",
            remedy: "Correct the address, or leave it blank."
        )
        phone = row(
            .error("row.phone", .invalid, rule: rules.addresses),
            reason: "The column's text is not a phone number",
            remedy: "Write digits, without an exponent as in 4.9E+12, or leave it blank."
        )
        value = row(
            .error("row.value", .invalid, rule: rules.values),
            reason: "The column's text is not what the column takes",
            remedy: "Correct the text, or give the column another type in the setting types."
        )
        omitted = row(
            .warning("row.valueOmitted", .invalid, rule: rules.values),
            reason: "The column's text cannot be read, so the value is left out",
            remedy: "Correct the text, or set onInvalid to reject to reject such rows."
        )
        dateForm = row(
            .note("file.dateForm", rule: rules.moments),
            reason: "The column's dates are read in the only form that all of them have",
            remedy: "No action is needed if this is the form; otherwise name it in the setting dateForms."
        )
        onlyRead = row(
            .error("file.onlyRead", .misconfigured, rule: rules.dialect),
            reason: "The value of the setting is only for files that are read",
            remedy: "Choose another value."
        )
        word = row(
            .error("row.consentValue", .invalid, rule: rules.wishes),
            reason:
                "The value of this consent column is not a known consent value, and it may be an opt-out",
            remedy:
                "Write one of the words that the column knows, or say \(columns) what else it holds: ignored, attribute:name."
        )
        consentIgnored = row(
            .warning("row.consentIgnored", .consent, rule: rules.wishes),
            reason: "The settings ignore a column that says what a person wants, so its opt-outs are not read",
            remedy: "Remove the column from the setting columns, unless another column or file has these opt-outs."
        )
        consentUnnamed = row(
            .warning("file.consentUnnamed", .consent, rule: rules.wishes),
            reason: "The column's name speaks of consent, but no setting says what the column means",
            remedy: "Name the column in the setting columns: as a subscription, as an attribute, or as ignored."
        )
        seconds = row(
            .warning("row.seconds", .unsupported, rule: rules.values),
            reason: "A time of day has no seconds; they are cut off",
            remedy: "Read the column as type string in the setting types if they matter."
        )
        unused = row(
            .note("row.valueUnused", rule: rules.header),
            reason: "The column is for the vendor's own bookkeeping and is not migrated",
            remedy: "To migrate it, map it to an attribute \(columns)."
        )
        optInUnknown = row(
            .note("row.optInUnknown", rule: rules.wishes),
            reason: "Opt-in date and opt-out date are both blank, so the person's decision is unknown",
            remedy: "No action is needed. The subscription is migrated as unknown."
        )
        timeZone = row(
            .note("row.timeZone", rule: rules.device),
            reason: "The text of the time-zone column is neither a zone's name nor an offset, so it is not migrated",
            remedy: "Map the column to an attribute \(columns) if you need it."
        )
        devicePart = row(
            .note("row.devicePart", rule: rules.device),
            reason: "The column describes a part of a device that the row does not name, so it is not migrated",
            remedy:
                "Give the row a device's id or push token, and the platform; or map the column to an attribute \(columns)."
        )
        deviceAssumed = row(
            .note("row.deviceAssumed", rule: rules.device),
            reason: "The row lacks some device details, which are read as empty, zero or false",
            remedy: "Name the columns that hold them \(columns), or let the app register the device itself."
        )
        keyMissing = row(
            .error("record.keyMissing", .missing, rule: rules.key),
            reason: "The contact lacks \(key), so it is not written",
            remedy: "Name what holds it in the source's settings (identifierFields, columns), "
                + (canChooseKey ? "set key to a kind that every contact has, such as email, " : "")
                + "or map another column to it \(columns)."
        )
        cellMissing = keyMissing.with(
            reason: "The contact has no value for a column that every row needs, so it is not written",
            remedy: "Give the contact what the column holds, or map another column to it \(columns)."
        )
        keyOther = row(
            .warning("record.keyOther", .missing, rule: rules.key),
            reason:
                "What else the contact is known by stands in the key's column, and comes back as the key: it lacks \(key)",
            remedy:
                "If the target knows such contacts by another key, name what holds it in the source's settings, or set key."
        )
        let isTaken =
            "It is unknown whether the person wants messages, and the vendor treats every added contact as opted in"
        withoutOptIn = row(
            .error("record.withoutOptIn", .consent, rule: rules.optOuts),
            reason: "\(isTaken), so the contact is not written",
            remedy:
                "Migrate the opt-in if there is one, ask the person, or set withoutOptIn to warn if you may write to them."
        )
        writtenWithoutOptIn = row(
            .warning("record.writtenWithoutOptIn", .consent, rule: rules.optOuts),
            reason: isTaken,
            remedy: "Set withoutOptIn to reject, unless you may write to them."
        )
        otherKey = row(
            .note("record.otherKey", rule: rules.key),
            reason: "The contact lacks \(key), so another identifier finds its row",
            remedy: "Let the import find such rows by that column, or set key to a kind that every contact has."
        )
        optOutLost = row(
            .error("record.optOutLost", .consent, rule: rules.optOuts),
            reason: "The file has no column for this opt-out, so the vendor could still contact the person",
            remedy: "Name a column for it \(columns), or set lostOptOuts to warn."
        )
        noColumn = row(
            .warning("record.noColumn", .misconfigured, rule: rules.home),
            reason: "No column holds the attribute; it is left out",
            remedy: "Name a column for it \(columns), as \"Column\": \"attribute:name\"."
        )
        noPlace = row(
            .warning("record.noPlace", .unsupported, rule: rules.home),
            reason: "The file has no place for it",
            remedy: "Make it an attribute with a column of its own, or name a column for it \(columns)."
        )
        addressLost = row(
            .warning("record.addressLost", .consent, rule: rules.home),
            reason: "The address of the channel cannot be written, so the opt-in to the channel is left out as well",
            remedy: "Correct the address in the source."
        )
        second = row(
            .warning("record.second", .unsupported, rule: rules.home),
            reason: "The column is taken already; this one is left out",
            remedy: "Put the one to keep first."
        )
        unfit = row(
            .warning("record.unfit", .invalid, rule: rules.values),
            reason: "The column takes no such value; it is left out",
            remedy: "Correct it in the source, or give the attribute another type in the setting types."
        )
        phoneCountry = row(
            .warning("record.phone", .invalid, rule: rules.addresses),
            reason:
                "The column takes phone numbers with the country's code, and this one does not show it; it is left out",
            remedy: "Write the number with a plus sign and the country's code in the source."
        )
        tooLong = row(
            .warning("record.tooLong", .tooLarge, rule: rules.values),
            reason: "The text is longer than the column takes; it is left out",
            remedy: "Shorten it in the source, or name a longer column \(columns)."
        )
        unwritable = row(
            .warning("record.unwritable", .invalid, rule: rules.dialect),
            reason: "The text holds a character that the file cannot hold; it is left out",
            remedy: "Take it out in the source, or choose another delimiter, quoted or encoding."
        )
        lineBreak = row(
            .warning("record.lineBreak", .invalid, rule: rules.dialect),
            reason: "A field takes no line break; a space is written for it",
            remedy: "Take it out in the source."
        )
        precision = row(
            .warning("record.precision", .unsupported, rule: rules.moments),
            reason: "The file holds whole seconds; the fraction is left out",
            remedy: "Write it into a column of type string if it matters."
        )
        converted = row(
            .note("record.converted", rule: rules.values),
            reason: "The value is written in the column's form and comes back as that",
            remedy: "Give the attribute its type in the setting types."
        )
        trimmed = row(
            .note("record.trimmed", rule: rules.values),
            reason: "White space at the ends of the text is left out",
            remedy: "No action is needed. No reader of such files keeps it."
        )
        blank = row(
            .note("record.blank", rule: rules.values),
            reason: "The value is empty, and an empty field is no value",
            remedy: "No action is needed. To keep the difference, define a word that means empty."
        )
        consent = row(
            .warning("record.consent", .unsupported, rule: rules.wishes),
            reason: "The file has no record of consents",
            remedy: "Keep the consent where it is; a denied one is written as an opt-out where there is a column."
        )
        denied = row(
            .warning("record.denied", .consent, rule: rules.wishes),
            reason: "The person denied messages on this channel, so the subscription is written as unsubscribed",
            remedy: "Ask the person which one applies."
        )
        stateUnknown = row(
            .warning("record.stateUnknown", .consent, rule: rules.wishes),
            reason: "The person's decision is unknown, so nothing is written",
            remedy: "Ask the person."
        )
        suspended = row(
            .warning("record.suspended", .consent, rule: rules.wishes),
            reason: "The file knows no suspension; it is written as unsubscribed",
            remedy: "Subscribe the person again when the suspension ends."
        )
        undated = row(
            .warning("record.undated", .missing, rule: rules.wishes),
            reason: "The file expresses the decision by a date, and the date is unknown, so nothing is written",
            remedy: "Give the subscription the time of the person's answer."
        )
    }
}

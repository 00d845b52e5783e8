import PatchbayAcoustic
import PatchbayAcousticServer
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

extension RecordFormat {
    /// Contacts of a database, in the format of its import with a map file and of its export.
    public static let acousticContacts = RecordFormat(
        id: "acoustic.contacts",
        title: "Acoustic Campaign contacts (delimited text; an import needs the map file beside it)",
        fileExtension: "psv",
        rules: (1...14).map { .acoustic("F\($0)") },
        makeReader: { object throws(SettingsError) in
            ContactFileReader(try ContactFileSettings.read(object).contactFile)
        },
        makeWriter: { object throws(SettingsError) in
            let settings = try ContactFileSettings.read(object)
            let problems = settings.problemsOfWriting
            if !problems.isEmpty { throw SettingsError(problems) }
            return try ContactFileWriter(
                settings.contactFile.written(delimiters: [.comma, .tab, .bar], encodings: [.utf8, .latin1])
            ) { settings.findings(of: $0) }
        },
        makeSidecars: { object throws(SettingsError) in
            let settings = try ContactFileSettings.read(object)
            let problems = settings.problemsOfWriting
            if !problems.isEmpty { throw SettingsError(problems) }
            return [
                SidecarFile(
                    fileExtension: ImportMap.fileExtension,
                    title: ImportMap.title,
                    bytes: Array(ImportMap(settings).text.utf8)
                )
            ]
        },
        sidecar: .acousticMap,
        deciding: ContactFileFindings.acoustic.deciding.merging([
            FindingRow.recordOptedOut.code: "action", FindingRow.recordNotOptedOut.code: "action",
        ]) { _, own in own },
        makeSourceLayout: { object throws(SettingsError) in
            try ContactFileSettings.read(object).contactFile.sourceLayout
        },
        makeTargetLayout: { object throws(SettingsError) in
            let settings = try ContactFileSettings.read(object)
            // A file of opt-outs contains nothing else.
            return settings.holdsOptOuts ? nil : settings.contactFile.targetLayout(judging: [.email])
        }
    )
}

/// The settings of a contact file and of its import.
struct ContactFileSettings: AdapterSettings {
    /// The action of an import.
    enum Action: String, NeutralWord {
        case create = "CREATE"
        case addOnly = "ADD_ONLY"
        case updateOnly = "UPDATE_ONLY"
        case addAndUpdate = "ADD_AND_UPDATE"
        case optOut = "OPT_OUT"

        /// Whether the import may create contacts that receive mail.
        var addsContacts: Bool { self == .addOnly || self == .addAndUpdate || self == .create }

        /// Whether the action finds existing contacts.
        var findsContacts: Bool { self != .addOnly && self != .create }
    }

    /// The kind of list that an import creates.
    enum ListType: String, NeutralWord {
        case database, seedList, suppressionList

        /// The vendor's code.
        var code: String {
            switch self {
            case .database: "0"
            case .seedList: "6"
            case .suppressionList: "13"
            }
        }
    }

    /// The visibility of a list that an import creates.
    enum Visibility: String, NeutralWord {
        case `private`, shared

        /// The vendor's code.
        var code: String { self == .private ? "0" : "1" }
    }

    /// The consent value of exported contacts that did not opt out.
    enum NotOptedOut: String, NeutralWord {
        case subscribed, unknown
    }

    var file: ContactFile.Settings
    var action = Action.addAndUpdate
    var listID = ""
    var listName = ""
    var listType = ListType.database
    var listVisibility = Visibility.private
    var newColumns: [String] = []
    var syncFields: [String] = []
    var contactLists: [String] = []
    var programID = ""
    var notOptedOut = NotOptedOut.subscribed

    init() {
        file = ContactFile.Settings(
            delimiter: .bar,
            isQuoted: false,
            forms: FieldForms(
                day: .american,
                seconds: ":00",
                booleans: ("Yes", "No"),
                hasLowerCountries: true,
                doubled: "\\",
                takesLineBreaks: false
            )
        )
        file.lineEnding = .lineFeed
        file.otherKeys = [.email, .phone]
        file.readKeys = [.email, .phone]
    }

    static func read(_ object: JSONObject) throws(SettingsError) -> ContactFileSettings {
        try table.read(object, over: ContactFileSettings(), at: "")
    }

    static let table = SettingsTable<ContactFileSettings>([
        .text(
            "listId",
            \.listID,
            rule: .acoustic("F11"),
            "The database's number; an import needs it, but for `CREATE`."
        ),
        .choice(
            "action",
            \.action,
            default: .addAndUpdate,
            rule: .acoustic("F9"),
            "What the import does. Contacts that opted out go into a file of their own with `OPT_OUT`; read, each row of "
                + "such a file is a no to e-mail."
        ),
        .text("listName", \.listName, rule: .acoustic("F14"), "The name of the list that `CREATE` makes."),
        .choice(
            "listType",
            \.listType,
            default: .database,
            rule: .acoustic("F14"),
            "What `CREATE` makes. A suppression list takes only people who opted out."
        ),
        .choice(
            "listVisibility",
            \.listVisibility,
            default: .private,
            rule: .acoustic("F14"),
            "Who sees the list that `CREATE` makes."
        ),
        .list(
            "newColumns",
            \.newColumns,
            rule: .acoustic("F14"),
            "The columns that an import into a list that is there adds to it; `CREATE` makes all."
        ),
        .fileKey(\.file, default: .external, else: [.email, .phone], rule: .acoustic("F11")),
        .list(
            "syncFields",
            \.syncFields,
            default: "the key's column",
            rule: .acoustic("F11"),
            "The columns that find a contact of a flexible database."
        ),
        .list(
            "contactLists",
            \.contactLists,
            rule: .acoustic("F11"),
            "The numbers of contact lists that the contacts join."
        ),
        .text(
            "textToJoinProgramId",
            \.programID,
            rule: .acoustic("F10"),
            "The SMS programme whose consents the file carries; without it there are no consent columns."
        ),
        .fileDelimiter(\.file.delimiter, of: [.comma, .semicolon, .tab, .bar], default: .bar, rule: .acoustic("F1")),
        .flag(
            "quoted",
            \.file.isQuoted,
            default: false,
            rule: .acoustic("F1"),
            "Whether fields may stand in quotes. The vendor's quoting rules are not published, so none is written by default."
        ),
        .fileEncoding(
            \.file,
            rule: .acoustic("F2"),
            "The character encoding. FILE_ENCODING names it to an import, which reads UTF-8 and ISO 8859-1."
        ),
        .list(
            "header",
            \.file.header,
            rule: .acoustic("F3"),
            "The columns' names in a file without a header line, as its map file gives them."
        ),
        .flag(
            "skipHeader",
            \.file.skipsHeader,
            default: false,
            rule: .acoustic("F3"),
            "Whether the file has a header line though `header` names the columns: it is passed over, as by an import."
        ),
        .fileDateForm(
            \.file.forms.day,
            of: [.american, .european, .slashed],
            default: .american,
            rule: .acoustic("F5")
        ),
        .fileZone(
            \.file.forms.zone,
            default: "Z",
            rule: .acoustic("F5"),
            "The offset of instants; the vendor keeps them in UTC."
        ),
        .flag(
            "lowerCaseCountries",
            \.file.forms.hasLowerCountries,
            default: true,
            rule: .acoustic("F6"),
            "Whether country codes are written as devices write them, in lower case; what the import's list holds is not "
                + "published."
        ),
        .choice(
            "notOptedOut",
            \.notOptedOut,
            default: .subscribed,
            rule: .acoustic("F8"),
            "What an F in the opt-out column means: an opt-in, as the vendor treats it, or no known decision, for "
                + "contacts that were loaded without being asked."
        ),
        .fileColumns(\.file, rule: .acoustic("F3")),
        .fileWords(\.file, rule: .acoustic("F9")),
        .fileColumnDates(\.file, rule: .acoustic("F5")),
        .fileInvalidValues(\.file, rule: .acoustic("F6")),
        .fileCountry(\.file, rule: .acoustic("F6")),
        .fileTypes(\.file, rule: .acoustic("F6")),
        .fileFormulas(\.file.formulas),
        .lostOptOuts(\.file.lostOptOuts, rule: .acoustic("F9")),
        .withoutOptIn(
            \.file.withoutOptIn,
            rule: .acoustic("F9"),
            "What becomes of a contact with an e-mail address of whom no yes to e-mail is known, where the action may add it: "
                + "`reject` does not write it, `warn` writes it, and the vendor takes it for one that wants mail."
        ),
    ])

    /// The findings about the settings for writing a file.
    var problemsOfWriting: [Finding] {
        let names = contactFile.writtenColumns.map(\.name)
        return problemsOfList
            + names.filter { !AttributeRules.nameLengths.contains($0.utf16.count) }.map {
                FindingRow.fileColumnName.at("columns".dot($0))
            }
            + contactFile.unwritableColumns.map { FindingRow.fileColumnSign.at("columns".dot($0.name)) }
            + syncFields.filter { !names.containsExactly($0) }.map { FindingRow.fileSyncField.at("syncFields".dot($0)) }
            + newColumns.filter { !names.containsExactly($0) }.map { FindingRow.fileSyncField.at("newColumns".dot($0)) }
    }

    /// The findings about the list. An existing list has a number; a new list has a name and is in no other list yet.
    private var problemsOfList: [Finding] {
        guard action == .create else {
            return (listID.isEmpty ? [FindingRow.fileList.at("listId")] : [])
                + (listID.isEmpty || listID.isVendorNumber ? [] : [FindingRow.fileListForm.at("listId")])
                + (listName.isEmpty ? [] : [FindingRow.fileListNew.at("listName")])
                + (listType == .database ? [] : [FindingRow.fileListNew.at("listType")])
        }
        return (listName.trimmed.isEmpty ? [FindingRow.fileListName.at("listName")] : [])
            + (listID.isEmpty ? [] : [FindingRow.fileListNumber.at("listId")])
            + (contactLists.isEmpty ? [] : [FindingRow.fileContactLists.at("contactLists")])
    }

    /// Whether each row is an opt-out from e-mail.
    var holdsOptOuts: Bool { action == .optOut || action == .create && listType == .suppressionList }

    /// The file's table.
    var contactFile: ContactFile {
        var file = file
        if holdsOptOuts { file.everyRow = [Subscription(channel: .email, state: .unsubscribed)] }
        // An existing contact may have another key, and only the right key finds it.
        if !action.addsContacts { file.otherKeys = [] } else if !holdsOptOuts { file.needsYes = [.email] }
        return ContactFile(kind, file)
    }

    private var kind: ContactFileKind {
        ContactFileKind(
            Self.columns(notOptedOut) + (programID.isEmpty ? [] : Self.consent),
            findings: .acoustic,
            deviceIdentity: "acoustic.channelId",
            notOptedOut: notOptedOut == .subscribed ? .subscribed : .unknown,
            blankCells: Self.blankCells
        )
    }

    private static let blankCells =
        "Acoustic does not document what a blank cell does. Expect that an import empties the value."
    private static let email = Subscription(channel: .email, state: .unknown).key
    private static let sms = Subscription(channel: .sms, state: .unknown).key
    /// The maximum length of a text column, in UTF-16 units.
    private static let textLimit = 4000

    /// The column that an export contains and no import accepts.
    static let optOutColumn = ConsentTable.optedOut

    static func columns(_ notOptedOut: NotOptedOut = .subscribed) -> [ContactColumn] {
        [
            ContactColumn("CustomerId", .identifier(.external), isWritten: true, limit: textLimit),
            ContactColumn("Email", .identifier(.email), isWritten: true),
            ContactColumn("MobileNumber", .identifier(.phone), isWritten: true),
            ContactColumn("FirstName", .attribute(.givenName), isWritten: true, limit: textLimit),
            ContactColumn("LastName", .attribute(.familyName), isWritten: true, limit: textLimit),
            ContactColumn("BirthDate", .attribute(.birthDate), type: .date, isWritten: true),
            ContactColumn("Gender", .attribute(.gender), isWritten: true, limit: textLimit),
            ContactColumn("Country", .attribute(.country), type: .country, isWritten: true),
            ContactColumn("City", .attribute(.city), isWritten: true, limit: textLimit),
            ContactColumn("PostalCode", .attribute(.postalCode), isWritten: true, limit: textLimit),
            ContactColumn("LoyaltyTier", .attribute(.loyaltyTier), isWritten: true, limit: textLimit),
            ContactColumn(
                optOutColumn,
                .state(email, .optedOut),
                isWritten: true,
                states: ContactColumn.States(
                    read: ConsentTable.acoustic.states(
                        of: ConsentTable.optedOut,
                        optIn: notOptedOut == .subscribed ? .subscribed : .unknown
                    ),
                    written: [.subscribed: "F", .unsubscribed: "T"]
                ),
                remark: notOptedOut == .subscribed ? .fileNotOptedOut : nil
            ),
            // A date of opt-out is an opt-out regardless of other dates. The date of opt-in is often that of the
            // import.
            ContactColumn("Opted Out Date", .optOut(email)),
        ]
            + ["RECIPIENT_ID", "Email Type", "Opt In Date", "Opt In Details", "Opt Out Details"].map {
                ContactColumn($0, .ignored)
            }
    }

    /// Columns of the consent to one SMS programme.
    static let consent: [ContactColumn] = [
        ContactColumn(
            ConsentTable.consentCode,
            .state(sms),
            isWritten: true,
            states: ContactColumn.States(
                read: ConsentTable.acoustic.states(of: ConsentTable.consentCode),
                written: [.subscribed: "OPTED-IN", .unsubscribed: "OPTED-OUT"]
            )
        ),
        ContactColumn("CONSENT_DATE", .changedAt(sms), isWritten: true),
        ContactColumn("CONSENT_SOURCE", .source(sms), isWritten: true),
    ]
}

extension ContactFileSettings {
    /// Returns findings about opt-outs. The import subscribes new contacts, so opt-outs need an import with its own
    /// action.
    fileprivate func findings(of contact: Contact) -> [Finding] {
        let isOut = contact.saysNoToEmail
        if holdsOptOuts { return isOut ? [] : [FindingRow.recordNotOptedOut.at("subscriptions")] }
        return isOut ? [FindingRow.recordOptedOut.at("subscriptions", detail: "the action is \(action.rawValue)")] : []
    }
}

extension Contact {
    /// Whether the person opted out of e-mail or denied messages by e-mail.
    fileprivate var saysNoToEmail: Bool {
        subscriptions.contains {
            $0.channel == .email && $0.topic == nil && $0.state.isOptOut
        }
            || consents.contains {
                $0.purpose == .messaging && $0.state == .denied && ($0.channel == nil || $0.channel == .email)
            }
    }
}

/// The map file of an import.
struct ImportMap {
    /// The file name's suffix, and a description of the file.
    static let (fileExtension, title) = ("map.xml", "the map file of the import")

    private let settings: ContactFileSettings

    init(_ settings: ContactFileSettings) { self.settings = settings }

    /// The file.
    var text: String { "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n" + element("LIST_IMPORT", lines: parts) }

    private var columns: [ContactColumn] { settings.contactFile.writtenColumns }

    private var parts: [String] {
        var parts = [element("LIST_INFO", lines: info)]
        let sync = settings.syncFields.isEmpty ? keyColumn : settings.syncFields
        if settings.action.findsContacts {
            let fields = sync.map { element("SYNC_FIELD", lines: [element("NAME", $0)]) }
            parts.append(element("SYNC_FIELDS", lines: fields))
        }
        let made = columns.filter(isMade)
        if !made.isEmpty {
            parts.append(element("COLUMNS", lines: made.map { new($0, isKey: sync.contains($0.name)) }))
        }
        parts.append(element("MAPPING", lines: columns.enumerated().map { mapping($0 + 1, $1) }))
        if !settings.programID.isEmpty {
            parts.append(
                element(
                    "CONSENT",
                    lines: [
                        element("CHANNEL", "SMS"), element("TEXT_TO_JOIN_PROGRAM_ID", settings.programID),
                        element("HONOR_OPT_OUT_STATUS", "true"),
                    ]
                )
            )
        }
        if !settings.contactLists.isEmpty, settings.action != .optOut {
            parts.append(
                element("CONTACT_LISTS", lines: settings.contactLists.map { element("CONTACT_LIST_ID", $0) })
            )
        }
        return parts
    }

    private var info: [String] {
        let type =
            switch settings.file.delimiter {
            case .comma, .semicolon: "0"
            case .tab: "1"
            case .bar: "2"
            }
        let list =
            settings.action == .create
            ? [
                element("LIST_NAME", settings.listName), element("LIST_TYPE", settings.listType.code),
                element("LIST_VISIBILITY", settings.listVisibility.code),
            ] : [element("LIST_ID", settings.listID)]
        return [element("ACTION", settings.action.rawValue)] + list + [
            element("FILE_TYPE", type), element("HASHEADERS", "\(settings.contactFile.dialect.hasHeader)"),
        ]
    }

    private var keyColumn: [String] {
        columns.filter { $0.place == .identifier(settings.file.key) }.map(\.name)
    }

    /// Whether the import creates the column. The vendor has its own column for opt-outs, and none for consents.
    private func isMade(_ column: ContactColumn) -> Bool {
        guard settings.action == .create else { return settings.newColumns.containsExactly(column.name) }
        return column.name != ContactFileSettings.optOutColumn
            && !ContactFileSettings.consent.contains { $0.name == column.name }
    }

    /// Returns a column that the import creates. In a new list, every row needs a key.
    private func new(_ column: ContactColumn, isKey: Bool) -> String {
        let isKey = isKey && settings.action == .create
        return element(
            "COLUMN",
            lines: [
                element("NAME", column.name), element("TYPE", type(of: column)), element("IS_REQUIRED", "\(isKey)"),
                element("KEY_COLUMN", "\(isKey)"),
            ]
        )
    }

    /// The vendor's codes of attribute types. All other types are text.
    private static let types: [AttributeType: String] = [
        .boolean: "1", .integer: "2", .decimal: "2", .date: "3", .time: "4", .country: "5", .timestamp: "17",
    ]

    /// The vendor's code of a column's type: 9 declares the system's address, 15 a number for text messages, 16 any
    /// number.
    private func type(of column: ContactColumn) -> String {
        switch column.place {
        case .identifier(let kind) where kind == .email: "9"
        case .identifier(let kind) where kind == .phone: settings.programID.isEmpty ? "16" : "15"
        case .tag: "1"
        case .attribute: Self.types[settings.contactFile.type(of: column)] ?? "0"
        default: "0"
        }
    }

    private func mapping(_ index: Int, _ column: ContactColumn) -> String {
        let isTaken = column.name != ContactFileSettings.optOutColumn
        let isConsent = ContactFileSettings.consent.contains { $0.name == column.name }
        return element(
            "COLUMN",
            lines: [element("INDEX", "\(index)"), element("NAME", column.name), element("INCLUDE", "\(isTaken)")]
                + (isConsent ? [element("IS_CONSENT", "true")] : [])
        )
    }

    private func element(_ name: String, _ text: String) -> String {
        "<\(name)>\(XMLTree.escaped(text))</\(name)>\n"
    }

    private func element(_ name: String, lines: [String]) -> String {
        let inner = lines.joined().split(separator: "\n").map { "  \($0)\n" }.joined()
        return "<\(name)>\n\(inner)</\(name)>\n"
    }
}

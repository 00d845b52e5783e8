import PatchbayAdapterKit
import PatchbayDES
import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

extension RecordFormat {
    /// Contacts of the platform, in the format of its data import and export.
    public static let desContacts = RecordFormat(
        id: "des.contacts",
        title: "Emarsys contacts (files of the data import and the data export)",
        fileExtension: "csv",
        rules: (1...11).map { .des("F\($0)") },
        makeReader: { object throws(SettingsError) in
            ContactFileReader(try ContactFileSettings.read(object).contactFile)
        },
        makeWriter: { object throws(SettingsError) in
            try ContactFileWriter(ContactFileSettings.read(object).contactFile.written())
        },
        deciding: ContactFileFindings.des.deciding,
        makeSourceLayout: { object throws(SettingsError) in
            try ContactFileSettings.read(object).contactFile.sourceLayout
        },
        makeTargetLayout: { object throws(SettingsError) in
            try ContactFileSettings.read(object).contactFile.written().targetLayout()
        }
    )
}

/// The settings of a contact file.
struct ContactFileSettings: AdapterSettings {
    /// The form of an opt-in.
    enum OptInForm: String, NeutralWord {
        case words, numbers
    }

    var file: ContactFile.Settings
    var optIn = OptInForm.words

    init() {
        file = ContactFile.Settings(
            forms: FieldForms(
                day: .iso,
                zone: "+01:00",
                booleans: ("True", "False"),
                takesLineBreaks: false,
                highestScalar: 0xFFFF
            )
        )
        file.key = .email
        file.readKeys = [.external, .phone]
        file.lineEnding = .lineFeed
    }

    static func read(_ object: JSONObject) throws(SettingsError) -> ContactFileSettings {
        try table.read(object, over: ContactFileSettings(), at: "")
    }

    static let table = SettingsTable<ContactFileSettings>([
        .fileKey(\.file, default: .email, rule: .des("F6")),
        .fileDelimiter(\.file.delimiter, of: [.comma, .semicolon, .tab], default: .comma, rule: .des("F1")),
        .flag(
            "quoted",
            \.file.isQuoted,
            default: true,
            rule: .des("F2"),
            "Whether quotes around a field are taken off, and written where a field needs them."
        ),
        .fileDateForm(
            \.file.forms.day,
            of: [.iso, .dotted, .american, .european],
            default: .iso,
            rule: .des("F4")
        ),
        .fileZone(
            \.file.forms.zone,
            default: "+01:00",
            rule: .des("F4"),
            "The offset of instants that name none; exports are in Central European Time."
        ),
        .choice(
            "optInForm",
            \.optIn,
            default: .words,
            rule: .des("F9"),
            "How the opt-in is written: `words` True and False, or `numbers` 1 and 2; a file with either is read."
        ),
        .fileColumns(\.file, rule: .des("F7")),
        .fileWords(\.file, rule: .des("F9")),
        .fileColumnDates(\.file, rule: .des("F4")),
        .fileInvalidValues(\.file, rule: .des("F5")),
        .fileCountry(\.file, rule: .des("F5")),
        .fileEncoding(\.file, rule: .des("F1")),
        .fileTypes(\.file, rule: .des("F5")),
        .fileFormulas(\.file.formulas),
        .lostOptOuts(\.file.lostOptOuts, rule: .des("F9")),
    ])

    /// The file's table.
    var contactFile: ContactFile { ContactFile(Self.kind(optIn), file) }

    static func kind(_ optIn: OptInForm = .words) -> ContactFileKind {
        let words = optIn == .words ? (yes: "True", no: "False") : (yes: "1", no: "2")
        let states = ContactColumn.States(
            read: ConsentTable.des.states(of: ConsentTable.optIn),
            written: [.subscribed: words.yes, .unsubscribed: words.no]
        )
        let email = Subscription(channel: .email, state: .unknown).key
        return ContactFileKind(
            fields + [ContactColumn(ConsentTable.optIn, .state(email, .optedIn), isWritten: true, states: states)]
                + ["user_id", "id", "uid"].map { ContactColumn($0, .ignored) },
            findings: .des,
            deviceIdentity: "des.clientId",
            answers: ["2": .unsubscribed],
            // Emarsys help, "Data import"
            blankCells: "An import overwrites every field but the opt-in with its cell, also with a blank one."
        )
    }

    /// The vendor's system fields, with the lengths of their types: short text 60, long text 255.
    private static let fields: [ContactColumn] = [
        ContactColumn("E-Mail", .identifier(.email), isWritten: true, limit: 255),
        ContactColumn("externalId", .identifier(.external), isWritten: true, limit: 60),
        ContactColumn("Mobile", .identifier(.phone), isWritten: true, limit: 60),
        ContactColumn("First Name", .attribute(.givenName), isWritten: true, limit: 60),
        ContactColumn("Last Name", .attribute(.familyName), isWritten: true, limit: 60),
        ContactColumn("Date of Birth", .attribute(.birthDate), type: .date, isWritten: true),
        ContactColumn("City", .attribute(.city), isWritten: true, limit: 60),
        ContactColumn("ZIP Code", .attribute(.postalCode), isWritten: true, limit: 60),
    ]
}

extension Rule {
    /// The rules of contact files.
    static let desFiles: [Rule] = [
        ("F1", "A file is UTF-8 with a comma between fields; contact files may have semicolons or tabs.", guidelines),
        (
            "F2", "A field with a delimiter stands in quotes, a quote in it twice; no field holds a line break.",
            guidelines
        ),
        ("F3", "The first line names the fields; an export's own ids are not carried over.", guidelines),
        (
            "F4", "Days are YYYY-MM-DD, DD.MM.YYYY, MM/DD/YYYY or DD/MM/YYYY; an export is in Central European Time.",
            types
        ),
        (
            "F5", "Numbers have a point and no leading zero; characters past U+FFFF, such as emoji, can't be imported.",
            guidelines
        ),
        ("F6", "One field identifies contacts: often the e-mail address, else one such as externalId.", exchange),
        ("F7", "System fields have names and lengths: short text 60, long text 255 characters.", fields),
        ("F8", "A choice of several is matched value by value; the file's form of it is not published.", wizard),
        ("F9", "The opt-in stands in a field of its own; a blank one leaves what the vendor holds.", wizard),
        ("F10", "A push token travels by the app alone.", house),
        ("F11", "A file without rows is refused, and a row has as many fields as the header.", house),
    ].map { Rule(.des($0.0), $0.1, source: $0.2) }

    private static let guidelines = "Emarsys help: CSV guidelines"
    private static let types = "Emarsys help: Available field types; export endpoints"
    private static let exchange = "Emarsys: Data exchange resources"
    private static let fields = "Emarsys help: The Emarsys system fields; the names Mobile and Opt-In are inferred"
    private static let wizard = "Emarsys: Import wizard; the words True and False are inferred"
    private static let house = "decision of this adapter; the vendor says nothing"
}

extension ContactFileRules {
    fileprivate static let des = ContactFileRules(
        dialect: "F2",
        header: "F3",
        empty: "F11",
        width: "F11",
        values: "F5",
        lists: "F8",
        moments: "F4",
        addresses: "F7",
        key: "F6",
        home: "F7",
        wishes: "F9",
        optOuts: "F9",
        device: "F10"
    )
}

extension ContactFileFindings {
    /// The findings about this vendor's files.
    static let des = ContactFileFindings("des", .des, key: "the key (setting key)", canChooseKey: true)
}

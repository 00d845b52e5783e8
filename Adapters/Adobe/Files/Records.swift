import PatchbayAdapterKit
import PatchbayAdobe
import PatchbayAdobeServer
import PatchbayJSON
import PatchbayModel
public import PatchbayRecords

extension RecordFormat {
    /// Profiles of Campaign: flat files with a header.
    public static let adobeProfiles = RecordFormat(
        id: "adobe.profiles",
        title: "Adobe Campaign profiles (flat file for the activities Load file and Extract file)",
        fileExtension: "txt",
        rules: (1...9).map { .adobe("F\($0)") },
        makeReader: { object throws(SettingsError) in
            ContactFileReader(try ProfileFileSettings.read(object).contactFile)
        },
        makeWriter: { object throws(SettingsError) in
            try ContactFileWriter(ProfileFileSettings.read(object).contactFile.written())
        },
        deciding: ContactFileFindings.adobe.deciding,
        makeSourceLayout: { object throws(SettingsError) in
            try ProfileFileSettings.read(object).contactFile.sourceLayout
        },
        makeTargetLayout: { object throws(SettingsError) in
            try ProfileFileSettings.read(object).contactFile.written().targetLayout()
        }
    )
}

/// The settings of a flat file of profiles.
struct ProfileFileSettings: AdapterSettings {
    /// The form of Boolean values.
    enum BooleanForm: String, NeutralWord {
        case words, digits
    }

    var file: ContactFile.Settings
    var booleans = BooleanForm.words
    var notOptedOut = NotOptedOut.subscribed

    init() {
        file = ContactFile.Settings(delimiter: .semicolon, isQuoted: false, forms: FieldForms(day: .slashed))
        file.finder = .email
        file.readKeys = [.email, .phone]
    }

    static func read(_ object: JSONObject) throws(SettingsError) -> ProfileFileSettings {
        try table.read(object, over: ProfileFileSettings(), at: "")
    }

    static let table = SettingsTable<ProfileFileSettings>([
        .fileKey(\.file, default: .external, elseFoundBy: .email, rule: .adobe("F7")),
        .fileDelimiter(
            \.file.delimiter,
            of: [.semicolon, .tab, .comma, .bar],
            default: .semicolon,
            rule: .adobe("F1")
        ),
        .flag(
            "quoted",
            \.file.isQuoted,
            default: false,
            rule: .adobe("F1"),
            "Whether fields may be quoted; the vendor advises against it, but the activity can be configured to accept quotes."
        ),
        .fileDateForm(
            \.file.forms.day,
            of: [.slashed, .european, .american, .iso],
            default: .slashed,
            rule: .adobe("F2")
        ),
        .fileZone(
            \.file.forms.zone,
            default: "Z",
            rule: .adobe("F2"),
            "The offset of instants; configure the same zone in the activity Load file."
        ),
        .choice(
            "booleans",
            \.booleans,
            default: .words,
            rule: .adobe("F5"),
            "How true and false are written: `words` as in the REST interface, or `digits` 1 and 0; files are not documented."
        ),
        .choice(
            "notOptedOut",
            \.notOptedOut,
            default: .subscribed,
            rule: .adobe("F5"),
            "What false in a blackList column means: an opt-in, or no known decision."
        ),
        .fileColumns(\.file, rule: .adobe("F3")),
        .fileWords(\.file, rule: .adobe("F5")),
        .fileColumnDates(\.file, rule: .adobe("F2")),
        .fileInvalidValues(\.file, rule: .adobe("F3")),
        .fileCountry(\.file, rule: .adobe("F3")),
        .fileEncoding(\.file, rule: .adobe("F1")),
        .fileTypes(\.file, rule: .adobe("F3")),
        .fileFormulas(\.file.formulas),
        .lostOptOuts(\.file.lostOptOuts, rule: .adobe("F5")),
    ])

    /// The file's table.
    var contactFile: ContactFile {
        var file = file
        file.forms.booleans = booleans == .words ? ("true", "false") : ("1", "0")
        file.forms.takesLineBreaks = file.isQuoted
        file.forms.separator = file.delimiter == .semicolon && !file.isQuoted ? "," : ";"
        return ContactFile(Self.kind(booleans, notOptedOut), file)
    }

    static func kind(_ booleans: BooleanForm = .words, _ notOptedOut: NotOptedOut = .subscribed) -> ContactFileKind {
        ContactFileKind(
            fields + flags(booleans, notOptedOut)
                + ["PKey", "age", "created", "lastModified", "title", "domain", "cryptedId"].map {
                    ContactColumn($0, .ignored)
                },
            findings: .adobe,
            deviceIdentity: "adobe.ecid",
            notOptedOut: notOptedOut.state,
            // docs/updating-profile-with-mobile-app-data
            blankCells:
                "The usual import workflow of Adobe Campaign ignores a blank cell; another workflow may empty the value."
        )
    }

    private static let fields: [ContactColumn] = [
        ContactColumn("externalId", .identifier(.external), isWritten: true, limit: 100),
        ContactColumn("email", .identifier(.email), isWritten: true, limit: 128),
        ContactColumn("mobilePhone", .identifier(.phone), isWritten: true, limit: 32, phoneForm: .plus),
        ContactColumn("firstName", .attribute(.givenName), isWritten: true, limit: 30),
        ContactColumn("lastName", .attribute(.familyName), isWritten: true, limit: 50),
        ContactColumn("birthDate", .attribute(.birthDate), type: .date, isWritten: true),
        ContactColumn("gender", .attribute(.gender), isWritten: true, words: ProfileField.genders),
    ]

    /// Returns the columns of flags. Each means "do not contact", except for the last one, which means "do not sell".
    private static func flags(_ booleans: BooleanForm, _ notOptedOut: NotOptedOut) -> [ContactColumn] {
        let words = booleans == .words ? (yes: "true", no: "false") : (yes: "1", no: "0")
        func column(_ name: String, _ flag: String, _ channel: Channel) -> ContactColumn {
            let states = ContactColumn.States(
                read: ConsentTable.adobe.states(of: flag, optIn: notOptedOut.state),
                written: [.unsubscribed: words.yes, .subscribed: words.no]
            )
            let key = Subscription(channel: channel, state: .unknown).key
            return ContactColumn(name, .state(key, .optedOut), isWritten: name == flag, states: states)
        }
        let channels = ProfileFlags.channels
        return channels.map { column($0.field, $0.field, $0.channel) } + [
            ContactColumn(ProfileFlags.all, .denied(.messaging), isWritten: true),
            ContactColumn(ProfileFlags.sale, .denied(Consent.Scope(.sale)), isWritten: true),
        ] + channels.flatMap { flag in flag.spellings.map { column($0, flag.field, flag.channel) } }
            + ProfileFlags.spellingsOfAll.map { ContactColumn($0, .denied(.messaging)) }
    }
}

extension Rule {
    /// The rules of flat files.
    static let adobeFiles: [Rule] = [
        ("F1", "A flat file has a first line with headers, tabs or semicolons, and no string delimiter.", practice),
        ("F2", "Dates are YYYY/MM/DD HH:mm:SS; an example of the same page has DD/MM/YYYY.", practice),
        (
            "F3", "Columns bear the names of the profile's fields, with their lengths; others are custom fields.",
            "Campaign Standard documentation: data model of profiles; files take any names, so it is a choice"
        ),
        (
            "F4", "A profile without a device id: who the person is stands in the row, push tokens travel by the app.",
            house
        ),
        (
            "F5",
            "A blackList flag means: do not contact. blackList is every channel; ccpaOptOut is a no to selling data.",
            profile
        ),
        (
            "F6", "PKey and computed fields are never carried over.",
            "Campaign Standard documentation: Must-read of the APIs"
        ),
        (
            "F7",
            "A row is reconciled by a field of the profile: externalId, and without one email, unless a setting names it.",
            practice + "; which field is a choice"
        ),
        ("F8", "A file without rows is refused, and a row has as many fields as the header.", house),
        (
            "F9", "Several values in one field stand between semicolons, or between commas in a file with semicolons.",
            house
        ),
    ].map { Rule(.adobe($0.0), $0.1, source: $0.2) }

    private static let practice = "Campaign Standard documentation: Import best practices"
    private static let profile = "Campaign Standard documentation: data model of profiles"
    private static let house = "decision of this adapter; the vendor says nothing"
}

extension ContactFileRules {
    fileprivate static let adobe = ContactFileRules(
        dialect: "F1",
        header: "F6",
        empty: "F8",
        width: "F8",
        values: "F3",
        lists: "F9",
        moments: "F2",
        addresses: "F3",
        key: "F7",
        home: "F3",
        wishes: "F5",
        optOuts: "F5",
        device: "F4"
    )
}

extension ContactFileFindings {
    /// The findings about this vendor's files.
    static let adobe = ContactFileFindings("adobe", .adobe, key: "the key (setting key)", canChooseKey: true)
}

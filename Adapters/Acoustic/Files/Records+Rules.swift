import PatchbayAcoustic
import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

extension Rule {
    /// The rules of contact files.
    static let acousticFiles: [Rule] = [
        ("F1", "Fields stand between bars, commas or tabs; bars are recommended.", formats),
        ("F2", "A file is UTF-8 or ISO 8859-1, as FILE_ENCODING says.", formats),
        ("F3", "The header line is skipped by an import: the map file names columns by their place.", maps),
        ("F4", "A field takes no line break; a backslash is written twice.", formats),
        (
            "F5", "Days are MM/DD/YYYY unless the import says otherwise; instants are in UTC, with a time of 24 hours.",
            fields
        ),
        ("F6", "Yes and No, digits, times with seconds, at most 4000 characters of text.", fields),
        ("F7", "Several values stand between semicolons.", fields),
        (
            "F8",
            "The opt-out field of an export is F, T for opted out, or U for undeliverable; a date of opt-out is a no.",
            help
        ),
        (
            "F9", "Opt-outs are imported by the action OPT_OUT; every other action may make a contact that gets mail.",
            maps
        ),
        ("F10", "SMS consents stand in columns of their own, for one text-to-join programme.", consents),
        ("F11", "A map file names list, action, file type, sync fields and columns, by places from 1.", maps),
        ("F12", "A column's name has 3 to 255 characters.", maps),
        ("F13", "A file without rows is refused, and a row has as many fields as the header.", house),
        (
            "F14",
            "CREATE makes a list of a name, a type and a visibility, and of the columns that the map file lists; another import "
                + "adds those. Which type a column gets that holds no attribute is ours.",
            maps
        ),
    ].map { Rule(.acoustic($0.0), $0.1, source: $0.2) }

    private static let formats = "IBM/Acoustic: database file formats; help centre"
    private static let fields = "IBM/Acoustic: Database field definitions"
    private static let maps = "go-acoustic/integrations-treasure-data; ka4ok85/watson-campaign-automation-spring"
    private static let help = "Acoustic help centre: export fields"
    private static let consents = "CiviCRM Omnimail extension: map files"
    private static let house = "decision of this adapter; the vendor says nothing"
}

extension ContactFileRules {
    static let acoustic = ContactFileRules(
        dialect: "F4",
        header: "F3",
        empty: "F13",
        width: "F13",
        values: "F6",
        lists: "F7",
        moments: "F5",
        addresses: "F6",
        key: "F11",
        home: "F3",
        wishes: "F8",
        optOuts: "F9",
        device: "F3"
    )
}

extension ContactFileFindings {
    /// The findings about this vendor's files.
    static let acoustic = ContactFileFindings(
        "acoustic",
        .acoustic,
        key: "the key (setting key)",
        canChooseKey: true,
        keeping: [.recordWithoutOptIn]
    )
}

extension FindingRow {
    /// Every row of contact files, for the descriptor.
    static let acousticFiles: [FindingRow] =
        ContactFileFindings.acoustic.all + [
            recordOptedOut, recordNotOptedOut, ContactFileFindings.acoustic.keyOther,
            ContactFileFindings.acoustic.withoutOptIn, ContactFileFindings.acoustic.writtenWithoutOptIn,
            fileNotOptedOut, fileList, fileListForm, fileColumnName, fileColumnSign,
            fileSyncField, fileListName, fileListNumber, fileListNew, fileContactLists,
            ContactFileFindings.acoustic.headerWidth, ContactFileFindings.acoustic.headerOther,
            ContactFileFindings.acoustic.uncertain,
            mapForm, mapEncoding, mapRoot, mapWord, mapColumns, mapPlace, mapPlaceTwice, mapPlaceMissing, mapName,
            mapNameTwice, mapSyncField, mapVendorNumber, mapConsent,
        ]

    static let recordOptedOut = FindingRow(
        .error("acoustic.record.optedOut", .consent, rule: "F9"),
        reason: "The person opted out, and this action could make a contact that gets mail, so it is not written",
        remedy: "Migrate the rejected contacts again with the setting action OPT_OUT."
    )
    static let recordNotOptedOut = FindingRow(
        .error("acoustic.record.notOptedOut", .conflict, rule: "F9"),
        reason: "The person did not opt out of e-mail, so the contact does not belong in a file of opt-outs",
        remedy: "Migrate it with another action."
    )
    static let recordWithoutOptIn = FindingRow(
        .error("acoustic.record.withoutOptIn", .consent, rule: "F9"),
        reason:
            "It is unknown whether the person wants email, and this import action could create a contact "
            + "that receives it, so the contact is not written",
        remedy:
            "Migrate the opt-in if there is one. Otherwise, use the action UPDATE_ONLY, which adds no "
            + "contacts, or set withoutOptIn to warn if you may write to such people."
    )
    static let fileNotOptedOut = FindingRow(
        .note("acoustic.file.notOptedOut", .consent, rule: "F8"),
        reason: "F means that a person did not opt out. The vendor treats that as an opt-in, and so does this reader",
        remedy: "Set notOptedOut to unknown if contacts were loaded without being asked."
    )
    static let fileList = FindingRow(
        .error("acoustic.file.list", .missing, rule: "F11"),
        reason: "An import needs the database's number",
        remedy: "Give it in the setting listId."
    )
    static let fileListForm = FindingRow(
        .error("acoustic.file.listForm", .invalid, rule: "F11"),
        reason: "The database's number holds something else than digits",
        remedy: "Give the number as text, digits alone."
    )
    static let fileColumnName = FindingRow(
        .error("acoustic.file.columnName", .invalid, rule: "F12"),
        reason: "A column's name has 3 to 255 characters",
        remedy: "Name a column that the database can hold."
    )
    static let fileColumnSign = FindingRow(
        .error("acoustic.file.columnSign", .invalid, rule: "F1"),
        reason: "A column's name holds the delimiter or a line break, and fields stand in no quotes",
        remedy: "Rename the column, or choose another delimiter."
    )
    static let fileSyncField = FindingRow(
        .error("acoustic.file.syncField", .notFound, rule: "F11"),
        reason: "The file has no such column",
        remedy: "Name a column of the file, or leave the setting out."
    )
    static let fileListName = FindingRow(
        .error("acoustic.file.listName", .missing, rule: "F14"),
        reason: "An import that creates a list needs the name of the list",
        remedy: "Give it in the setting listName."
    )
    static let fileListNumber = FindingRow(
        .error("acoustic.file.listNumber", .conflict, rule: "F14"),
        reason: "A list that does not exist yet has no number",
        remedy: "Leave listId out, or take another action."
    )
    static let fileListNew = FindingRow(
        .error("acoustic.file.listNew", .conflict, rule: "F14"),
        reason: "This setting applies only to an import that creates a list",
        remedy: "Leave the setting out, or set action to CREATE."
    )
    static let fileContactLists = FindingRow(
        .error("acoustic.file.contactLists", .conflict, rule: "F14"),
        reason: "An import that creates a list adds no contacts to contact lists",
        remedy: "Leave contactLists out, and import into the lists afterwards."
    )
    static let mapForm = FindingRow(
        .error("acoustic.map.form", .invalid, rule: "F11"),
        reason: "The map file is no XML document of the kind that is read: small, and without declarations",
        remedy: "Write it as an import takes it, or name the columns in the setting header."
    )
    static let mapEncoding = FindingRow(
        .error("acoustic.map.encoding", .unsupported, rule: "F2"),
        reason: "The map file is declared in an encoding that is not read",
        remedy: "Save it as UTF-8."
    )
    static let mapRoot = FindingRow(
        .error("acoustic.map.root", .invalid, rule: "F11"),
        reason: "The document is no map file: its root is not LIST_IMPORT",
        remedy: "Name the map file of the import."
    )
    static let mapWord = FindingRow(
        .error("acoustic.map.word", .invalid, rule: "F11"),
        reason: "The element is missing, or its word is not known",
        remedy: "Write one of the known words."
    )
    static let mapColumns = FindingRow(
        .error("acoustic.map.columns", .missing, rule: "F11"),
        reason: "The map file names no column",
        remedy: "Name each column of the file under MAPPING."
    )
    static let mapPlace = FindingRow(
        .error("acoustic.map.place", .invalid, rule: "F11"),
        reason: "A column's INDEX is no whole number from 1",
        remedy: "Write the column's place in the file, counted from 1."
    )
    static let mapPlaceTwice = FindingRow(
        .error("acoustic.map.placeTwice", .conflict, rule: "F11"),
        reason: "Two columns have the same INDEX",
        remedy: "Give each column its own place in the file."
    )
    static let mapPlaceMissing = FindingRow(
        .error("acoustic.map.placeMissing", .missing, rule: "F11"),
        reason: "No column has that place, and there are columns behind it",
        remedy: "Name each column of the file; one that an import passes over with INCLUDE false."
    )
    static let mapName = FindingRow(
        .error("acoustic.map.name", .missing, rule: "F11"),
        reason: "A column has no NAME",
        remedy: "Name it, or leave it out with INCLUDE false."
    )
    static let mapNameTwice = FindingRow(
        .error("acoustic.map.nameTwice", .conflict, rule: "F11"),
        reason: "Two columns have the same NAME",
        remedy: "Rename one of them."
    )
    static let mapSyncField = FindingRow(
        .error("acoustic.map.syncField", .notFound, rule: "F11"),
        reason: "A sync field is none of the columns",
        remedy: "Name a column of the file."
    )
    static let mapVendorNumber = FindingRow(
        .error("acoustic.map.vendorNumber", .missing, rule: "F11"),
        reason: "The import finds contacts by the vendor's own numbers, which have no meaning outside the vendor",
        remedy:
            "Say in the setting key what finds a contact; where it is to be the number, say in columns that RECIPIENT_ID "
            + "is identifier:external, and set key to external."
    )
    static let mapConsent = FindingRow(
        .error("acoustic.map.consent", .missing, rule: "F10"),
        reason: "A column holds consents to an SMS programme, and the map file names none",
        remedy: "Name it in CONSENT, or in the setting textToJoinProgramId."
    )
}

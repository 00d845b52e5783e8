import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySalesforce
import PatchbaySalesforceServer

/// The settings of a contact file and the meaning of its columns.
struct ContactFileSettings: AdapterSettings {
    /// The formats that exports and imports share, before any setting.
    private static let forms = FieldForms(
        day: .iso,
        alsoRead: [.slashed, .american, .european],
        zone: "-06:00",
        booleans: ("True", "False")
    )

    var file: ContactFile.Settings

    init() {
        file = ContactFile.Settings(forms: Self.forms)
        file.quotesAll = true
        file.otherKeys = [.email, .phone]
        file.readKeys = [.email, .phone]
    }

    static let table = SettingsTable<ContactFileSettings>([
        .fileKey(\.file, default: .external, else: [.email, .phone], rule: .salesforce("K1")),
        .fileDelimiter(
            \.file.delimiter,
            of: [.comma, .semicolon, .tab, .bar],
            default: .comma,
            rule: .salesforce("F1")
        ),
        .flag(
            "quoted",
            \.file.isQuoted,
            default: true,
            rule: .salesforce("F2"),
            "Whether quotes around a field are taken off, and every field is written in quotes; false where a quote is an "
                + "ordinary character, as in files with tabs."
        ),
        .list(
            "header",
            \.file.header,
            rule: .salesforce("F3"),
            "The columns' names of a file that is read and has no header line, as extracts have none by default; what is "
                + "written always has one."
        ),
        .fileDateForm(
            \.file.forms.day,
            of: [.iso, .slashed, .american, .european, .dotted],
            default: .iso,
            rule: .salesforce("F7")
        ),
        .fileZone(
            \.file.forms.zone,
            default: "-06:00",
            rule: .salesforce("F7"),
            "The offset of dates that name none; the vendor's servers write theirs six hours west of UTC."
        ),
        .fileColumns(\.file, rule: .salesforce("F3")),
        .fileWords(\.file, rule: .salesforce("F7")),
        .fileColumnDates(\.file, rule: .salesforce("F7")),
        .fileInvalidValues(\.file, rule: .salesforce("F6")),
        .fileCountry(\.file, rule: .salesforce("F6")),
        .fileEncoding(\.file, rule: .salesforce("F1")),
        .fileTypes(\.file, rule: .salesforce("F6")),
        .fileFormulas(\.file.formulas),
        .flag(
            "byteOrderMark",
            \.file.hasByteOrderMark,
            default: false,
            rule: .salesforce("F1"),
            "Whether a file that is written begins with a byte-order mark."
        ),
        .lostOptOuts(\.file.lostOptOuts, rule: .salesforce("F14")),
    ])
}

extension ContactFileKind {
    /// Exports of contacts, and rows for a data extension.
    static let salesforceContacts = ContactFileKind(
        written + exported,
        findings: .salesforce,
        deviceIdentity: DeviceRules.identityName,
        readsJSON: true,
        phoneViewColumns: phoneViewColumns,
        blankCells: blankCells
    )

    /// The import of mobile contacts.
    static let salesforceMobile = ContactFileKind(
        mobile + exported.filter { column in !mobile.contains { $0.name == column.name } },
        findings: .salesforce,
        deviceIdentity: DeviceRules.identityName,
        phoneViewColumns: phoneViewColumns,
        blankCells: blankCells
    )

    /// A blank attribute of the MobilePush SDK empties the field (`setAttribute` in the iOS and Android SDKs).
    private static let blankCells =
        "A blank attribute of the SDK empties the value; expect the same of a blank cell of an import."

    /// The columns that mark a MobileConnect view. It has the same opt-in and opt-out columns as the push view, but for
    /// text messages.
    private static let phoneViewColumns = [
        "_SubscriptionDefinitionID", "SubscriptionDefinitionID", "_MobileSubscriptionID", "MobileSubscriptionID",
    ]

    /// Names are compared by ``ColumnName/key``.
    private static let written: [ContactColumn] = [
        ContactColumn("ContactKey", .identifier(.external), isWritten: true),
        ContactColumn("EmailAddress", .identifier(.email), isWritten: true, limit: 254),
        ContactColumn("MobileNumber", .identifier(.phone), isWritten: true, phoneForm: .digits),
        ContactColumn("FirstName", .attribute(.givenName), isWritten: true, limit: 4000),
        ContactColumn("LastName", .attribute(.familyName), isWritten: true, limit: 4000),
        ContactColumn("City", .attribute(.city), isWritten: true, limit: 4000),
        ContactColumn("PostalCode", .attribute(.postalCode), isWritten: true, limit: 4000),
        ContactColumn("Country", .attribute(.country), isWritten: true, limit: 4000),
        ContactColumn("BirthDate", .attribute(.birthDate), likelyType: .date, isWritten: true),
        ContactColumn("LoyaltyTier", .attribute(.loyaltyTier), isWritten: true, limit: 4000),
        ContactColumn("Locale", .locale, isWritten: true),
        ContactColumn("TimeZone", .timeZone, isWritten: true),
    ]

    private static let mobile: [ContactColumn] = [
        ContactColumn("_ContactKey", .identifier(.external), isWritten: true, isRequired: true),
        ContactColumn("_MobileNumber", .identifier(.phone), isWritten: true, isRequired: true, phoneForm: .digits),
        ContactColumn("_Locale", .locale, isWritten: true, isRequired: true, takesCountryOfLocale: true),
        ContactColumn("_FirstName", .attribute(.givenName), isWritten: true),
        ContactColumn("_LastName", .attribute(.familyName), isWritten: true),
        ContactColumn("_EmailAddress", .identifier(.email), isWritten: true, limit: 254),
        ContactColumn("_City", .attribute(.city), isWritten: true),
        ContactColumn("_ZipCode", .attribute(.postalCode), isWritten: true),
        ContactColumn(
            "_Status",
            .state(Subscription(channel: .sms, state: .unknown).key),
            isWritten: true,
            states: ContactColumn.States(
                read: ConsentTable.salesforce.states(of: ConsentTable.mobileStatus),
                written: [.unsubscribed: "Unsubscribe"]
            )
        ),
    ]

    /// An opt-out by status, even without a date. The value 0 is not an opt-in.
    private static let optOutStatus = ConsentTable.optOutColumns.map {
        ContactColumn(
            $0,
            .state(Subscription(channel: .push, state: .unknown).key),
            states: ContactColumn.States(
                read: ConsentTable.salesforce.states(of: $0),
                written: [:],
                silent: ConsentTable.salesforce.silent(of: $0)
            )
        )
    }

    /// Columns of exports that are known without a setting. No column names the channel of a status, so an opt-out
    /// covers all messages.
    private static let exported: [ContactColumn] =
        ConsentTable.statusColumns.map {
            ContactColumn(
                $0,
                .denied(Consent.Scope(.messaging)),
                denials: ConsentTable.salesforce.denials(of: $0),
                remark: .rowStatus
            )
        } + optOutStatus
        + ["_OptInStatusID", "OptInStatusID"].map { ContactColumn($0, .ignored, remark: .rowOptInStatus) } + plain

    private static let plain: [ContactColumn] = [
        ("Contact Key", "identifier:external"), ("_ContactKey", "identifier:external"),
        ("Subscriber Key", "identifier:external"), ("_SubscriberKey", "identifier:external"),
        ("Email Address", "identifier:email"), ("_EmailAddress", "identifier:email"),
        ("Mobile Number", "identifier:phone"), ("_MobileNumber", "identifier:phone"),
        ("First Name", "attribute:given_name"), ("_FirstName", "attribute:given_name"),
        ("Last Name", "attribute:family_name"), ("_LastName", "attribute:family_name"),
        ("_City", "attribute:city"), ("_ZipCode", "attribute:postal_code"), ("_State", "attribute:state"),
        ("Locale", "locale"), ("_Locale", "locale"),
        ("_DeviceID", "deviceID"), ("_SystemToken", "pushToken"), ("_Platform", "platform"),
        ("_PlatformVersion", "platformVersion"), ("_HardwareId", "model"), ("_TimeZone", "timeZone"),
        ("_UTCOffset", "utcOffset"), ("_IsHonorDST", "daylightSaving"), ("_LocationEnabled", "locationEnabled"),
        ("_APID", "pushAppID"),
        // Columns of a query on the push view. A data extension accepts no names that begin with an underscore.
        ("DeviceID", "deviceID"), ("SystemToken", "pushToken"), ("Platform", "platform"),
        ("PlatformVersion", "platformVersion"), ("HardwareId", "model"), ("UTCOffset", "utcOffset"),
        ("IsHonorDST", "daylightSaving"), ("LocationEnabled", "locationEnabled"), ("APID", "pushAppID"),
        ("OptInDate", "optInDate"), ("OptOutDate", "optOutDate"),
        ("Opt In Date", "optInDate"), ("_OptInDate", "optInDate"),
        ("Opt Out Date", "optOutDate"), ("_OptOutDate", "optOutDate"),
        // Columns of the file Subscribers of a tracking extract.
        ("DateUnsubscribed", "optOut:email"), ("DateHeld", "ignored"),
        ("_ContactID", "ignored"), ("_Source", "ignored"),
        ("_SourceObjectId", "ignored"), ("_Alias", "ignored"),
        ("_OptOutMethodID", "ignored"), ("_OptInMethodID", "ignored"),
        ("OptOutMethodID", "ignored"), ("OptInMethodID", "ignored"),
        ("_SubscriptionDefinitionID", "ignored"), ("SubscriptionDefinitionID", "ignored"),
        ("_MobileSubscriptionID", "ignored"), ("MobileSubscriptionID", "ignored"),
        ("_Channel", "ignored"), ("_CreatedDate", "ignored"), ("_CreatedBy", "ignored"), ("_ModifiedDate", "ignored"),
        ("_ModifiedBy", "ignored"), ("_ProviderToken", "ignored"), ("_Badge", "ignored"),
        ("_Device", "ignored"), ("_DeviceType", "ignored"),
    ].compactMap { name, place in ContactPlace(text: place).map { ContactColumn(name, $0) } }
}

extension ContactFileRules {
    fileprivate static let salesforce = ContactFileRules(
        dialect: "F2",
        header: "F3",
        empty: "F4",
        width: "F5",
        values: "F6",
        lists: "F6",
        moments: "F7",
        addresses: "F8",
        key: "K1",
        home: "F11",
        wishes: "F9",
        optOuts: "F14",
        device: "F10"
    )
}

extension ContactFileFindings {
    /// The findings about this vendor's files.
    static let salesforce = ContactFileFindings(
        "salesforce",
        .salesforce,
        key: "the contact key",
        canChooseKey: true,
        keeping: FindingRow.salesforceOwn,
        keyBlank: .rowKeyBlank
    )
}

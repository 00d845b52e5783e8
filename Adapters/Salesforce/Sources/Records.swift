import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

extension RecordFormat {
    /// Contact exports: delimited text with a header.
    static let salesforceContacts = RecordFormat(
        id: "salesforce.contacts",
        title: "Salesforce Marketing Cloud contact export (delimited text)",
        fileExtension: "csv",
        rules: (1...10).map { .salesforce("F\($0)") },
        makeReader: { object throws(SettingsError) in
            let settings = try ContactFileSettings.table.read(object, over: ContactFileSettings(), at: "settings")
            if !settings.problems.isEmpty { throw SettingsError(settings.problems) }
            return ContactFileReader(settings: settings)
        },
        makeSourceLayout: { object throws(SettingsError) in
            .columns(try ContactFileSettings.table.read(object, over: ContactFileSettings(), at: "settings").layout)
        }
    )
}

/// Reads a contact export row by row.
///
/// Every value is text; a blank field is no value. A row with any error is a record without contact that names every
/// error, and reading goes on.
struct ContactFileReader: RowReader {
    private let settings: ContactFileSettings
    private var reader: DelimitedReader
    private var columns: [Column] = []
    private var rowCount = 0

    private struct Column {
        var name: String
        var target: ColumnTarget
    }

    init(settings: ContactFileSettings) {
        self.settings = settings
        RuleID.salesforce("F1").fire()
        RuleID.salesforce("F2").fire()
        reader = DelimitedReader(dialect: settings.dialect)
    }

    mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws {
        reader.append(bytes)
        try drain(record)
    }

    mutating func finish(_ record: (SourceRecord) throws -> Void) throws {
        reader.finish()
        try drain(record)
        if reader.header == nil { throw SettingsError([FindingRow.fileEmpty.at()]) }
        try readHeader()
        if rowCount == 0 { throw SettingsError([FindingRow.fileWithoutRows.at()]) }
    }

    private mutating func drain(_ record: (SourceRecord) throws -> Void) throws {
        while let row = reader.next() {
            if case .failure(let fault) = row, fault.number == 0 {
                throw SettingsError([FindingRow.rowFault.at("header", detail: fault.reason)])
            }
            try readHeader()
            rowCount += 1
            try record(self.record(row))
        }
        try readHeader()
    }

    // MARK: Header

    private mutating func readHeader() throws(SettingsError) {
        guard columns.isEmpty, let header = reader.header else { return }
        RuleID.salesforce("F3").fire()
        let columns = header.fields.map { Column(name: $0.trimmed, target: settings.target(of: $0)) }
        var findings: [Finding] = []
        if !columns.contains(where: { $0.target == .identifier(.external) }) {
            findings.append(FindingRow.fileColumnMissing.at("header"))
        }
        for (place, column) in columns.enumerated() where column.target != .ignored {
            if let other = columns[..<place].first(where: { $0.target == column.target }) {
                let names = "like \(other.name)"
                findings.append(FindingRow.fileColumnRepeated.at("columns.\(column.name)", detail: names))
            }
        }
        if !findings.isEmpty { throw SettingsError(findings) }
        self.columns = columns
    }

    /// What is said once for the whole file, with the first row.
    private func fileFindings(with number: Int) -> [Finding] {
        guard number == 1 else { return [] }
        return columns.filter { $0.target == .ignored }
            .map { FindingRow.rowReserved.at("columns.\($0.name)", detail: "said once for all rows") }
    }

    // MARK: Rows

    func record(_ row: Result<DelimitedRecord, DelimitedFault>) -> SourceRecord {
        switch row {
        case .failure(let fault):
            let column = columns.indices.contains(fault.field - 1) ? columns[fault.field - 1].name : "\(fault.field)"
            let finding = FindingRow.rowFault.at("columns.\(column)", detail: "row \(fault.number), \(fault.reason)")
            return SourceRecord(
                number: fault.number,
                line: fault.line,
                bytes: fault.bytes.withoutLineEnd,
                contact: nil,
                findings: fileFindings(with: fault.number) + [finding]
            )
        case .success(let row):
            let (contact, findings) = contact(of: row)
            return SourceRecord(
                number: row.number,
                line: row.line,
                bytes: row.bytes.withoutLineEnd,
                contact: contact,
                findings: fileFindings(with: row.number) + findings
            )
        }
    }

    private func contact(of row: DelimitedRecord) -> (Contact?, [Finding]) {
        guard row.fields.count == columns.count else {
            let sizes = "row \(row.number), \(row.fields.count) fields for \(columns.count) columns"
            return (nil, [FindingRow.rowWidth.at(detail: sizes)])
        }
        var fields: [ColumnTarget: Field] = [:]
        for (column, text) in zip(columns, row.fields) {
            fields[column.target] = Field(column: column.name, text: text.trimmed)
        }
        var draft = ContactDraft(number: row.number, settings: settings, fields: fields)
        let contact = draft.build()
        return (draft.findings.contains { $0.severity == .error } ? nil : contact, draft.findings)
    }
}

/// One field of a row.
struct Field: Sendable {
    var column: String
    var text: String
}

/// A contact in the making, with all that is wrong with its row.
struct ContactDraft: Sendable {
    let number: Int
    let settings: ContactFileSettings
    let fields: [ColumnTarget: Field]
    private(set) var findings: [Finding] = []

    init(number: Int, settings: ContactFileSettings, fields: [ColumnTarget: Field]) {
        (self.number, self.settings, self.fields) = (number, settings, fields)
    }

    mutating func build() -> Contact {
        var contact = Contact(identifiers: identifiers(), attributes: attributes(), locale: text(.locale))
        let offset = utcOffset()
        contact.timeZone = zoneName
        if let subscription = subscription() { contact.subscriptions = [subscription] }
        if let device = device(
            isSubscribed: contact.subscriptions.first?.state == .subscribed,
            utcOffset: offset
        ) {
            contact.devices = [device]
        }
        return contact
    }

    /// A field's text; nil if the file has no such column or the field is blank.
    private func text(_ target: ColumnTarget) -> String? {
        fields[target].flatMap { $0.text.isEmpty ? nil : $0.text }
    }

    private mutating func note(_ row: FindingRow, _ target: ColumnTarget) {
        let column = fields[target]?.column ?? ""
        findings.append(row.at("columns.\(column)", detail: "row \(number)"))
    }

    // MARK: Identifiers and attributes

    private mutating func identifiers() -> [Identifier] {
        if text(.identifier(.external)) == nil { note(.rowKeyBlank, .identifier(.external)) }
        var identifiers: [Identifier] = []
        let kinds = fields.keys.compactMap { if case .identifier(let kind) = $0 { kind } else { nil } }
        for kind in kinds.sorted(by: { ($0 == .external ? 0 : 1, $0.rawValue) < ($1 == .external ? 0 : 1, $1.rawValue) }
        ) {
            guard let value = text(.identifier(kind)) else { continue }
            if kind == .email, !FieldForm.isEmail(value) { note(.rowEmail, .identifier(kind)) }
            if kind == .phone, !FieldForm.isPhone(value) { note(.rowPhone, .identifier(kind)) }
            identifiers.append(Identifier(kind, value))
        }
        return identifiers
    }

    private mutating func attributes() -> [AttributeName: AttributeValue] {
        var attributes: [AttributeName: AttributeValue] = [:]
        let names = fields.keys.compactMap { if case .attribute(let name) = $0 { name } else { nil } }
        for name in names.sorted() {
            guard let text = text(.attribute(name)) else { continue }
            if let value = value(text, as: settings.type(of: name)) {
                attributes[name] = value
            } else {
                let isDate = [.date, .timestamp].contains(settings.type(of: name))
                note(isDate ? .rowDate : .rowValue, .attribute(name))
            }
        }
        return attributes
    }

    private func value(_ text: String, as type: AttributeType) -> AttributeValue? {
        if type != .string { RuleID.salesforce("F6").fire() }
        switch type {
        case .date: return date(text).map { .date($0.day) }
        case .timestamp: return date(text).map { .timestamp($0.timestamp) }
        default: return AttributeValue(text: text, as: type)
        }
    }

    private func date(_ text: String) -> VendorDate? {
        RuleID.salesforce("F7").fire()
        return VendorDate(text, zone: settings.zone)
    }

    // MARK: Push

    /// Whether push is wanted: of opt-in and opt-out date the newer wins, a blank one loses, equal dates count as out.
    ///
    /// Nil where the row says nothing of push, or a date can't be read.
    private mutating func subscription() -> Subscription? {
        let columns = [ColumnTarget.optInDate, .optOutDate].filter { fields[$0] != nil }
        let dates = columns.filter { text($0) != nil }
        guard let first = columns.first, hasDevice || !dates.isEmpty else { return nil }
        RuleID.salesforce("F9").fire()
        let bad = dates.filter { date(of: $0) == nil }
        for column in bad { note(.rowDate, column) }
        guard bad.isEmpty else { return nil }
        switch (date(of: .optInDate), date(of: .optOutDate)) {
        case (nil, nil):
            note(.rowOptInUnknown, first)
            return Subscription(channel: .push, state: .unknown)
        case (let optIn?, let optOut) where optOut.map { $0 < optIn } ?? true:
            return Subscription(channel: .push, state: .subscribed, changedAt: optIn)
        case (_, let optOut): return Subscription(channel: .push, state: .unsubscribed, changedAt: optOut)
        }
    }

    private func date(of target: ColumnTarget) -> Timestamp? { text(target).flatMap { date($0)?.timestamp } }

    private var hasDevice: Bool { text(.deviceID) != nil || text(.pushToken) != nil }

    private func device(isSubscribed: Bool, utcOffset: Int) -> Device? {
        guard hasDevice else { return nil }
        RuleID.salesforce("F10").fire()
        let isAndroid = text(.platform)?.lowercased() == "android"
        let facts = text(.platform).map { platform in
            DeviceFacts(
                platform: platform,
                platformVersion: text(.platformVersion) ?? "",
                model: text(.model) ?? "",
                locale: text(.locale) ?? "",
                timeZone: zoneName,
                utcOffsetSeconds: utcOffset,
                appVersion: ""
            )
        }
        return Device(
            pushToken: text(.pushToken).map { PushToken($0, service: isAndroid ? .fcm : .apns) },
            facts: facts,
            allowsPush: isSubscribed,
            allowsLocation: text(.locationEnabled)?.lowercased() == "true",
            identities: text(.deviceID).map { [DeviceRules.identityName: $0] } ?? [:]
        )
    }

    // MARK: Time zone

    /// The zone's name, where the column holds one.
    private var zoneName: String? { text(.timeZone).flatMap { $0.contains("/") ? $0 : nil } }

    /// The offset in seconds: hours up to 14, or seconds in quarters of an hour.
    private mutating func utcOffset() -> Int {
        for target in [ColumnTarget.utcOffset, .timeZone] {
            guard let text = text(target), !text.contains("/") else { continue }
            let hours = ExactHours(text)
            if let seconds = hours?.seconds { return seconds }
            note(.rowTimeZone, target)
        }
        return 0
    }
}

/// What a text must look like in a typed column.
enum FieldForm: Sendable {
    /// Something, an at sign, and a host with a point; no white space; at most 254 characters.
    static func isEmail(_ text: String) -> Bool {
        let parts = text.split(separator: "@", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, text.utf16.count <= 254 else { return false }
        let labels = parts[1].split(separator: ".", omittingEmptySubsequences: false)
        return labels.count > 1 && labels.allSatisfy { !$0.isEmpty } && !text.contains(where: \.isWhitespace)
    }

    /// Four to fifteen digits, with the usual signs between them.
    static func isPhone(_ text: String) -> Bool {
        (4...15).contains(text.count { ("0"..."9").contains($0) })
            && text.allSatisfy { ("0"..."9").contains($0) || "+-(). ".contains($0) }
    }
}

/// An offset from UTC as exports write it.
private struct ExactHours {
    let seconds: Int

    init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard let number = Int(parts[0]), parts.count <= 2 else { return nil }
        if parts.count == 2 {
            guard let quarters = ["0": 0, "00": 0, "25": 900, "5": 1800, "50": 1800, "75": 2700][String(parts[1])],
                abs(number) <= 14
            else { return nil }
            seconds = number * 3600 + (text.hasPrefix("-") ? -quarters : quarters)
        } else if abs(number) <= 14 {
            seconds = number * 3600
        } else if abs(number) <= 14 * 3600, number % 900 == 0 {
            seconds = number
        } else {
            return nil
        }
    }
}

extension DelimitedFault {
    /// What is wrong, in words without the row's text.
    fileprivate var reason: String {
        switch code {
        case .textAfterQuote: "text after a closing quote"
        case .unterminatedQuote: "a quote that is never closed"
        case .recordTooLong: "longer than the record limit"
        case .invalidUTF8: "not UTF-8"
        }
    }
}

extension [UInt8] {
    fileprivate var withoutLineEnd: [UInt8] {
        guard last == UInt8(ascii: "\n") else { return self }
        let line = dropLast()
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
}

public import PatchbayAdapterKit
import PatchbayJSON
public import PatchbayModel

/// Writes a contact file row by row, according to its table, and reports the parts of each contact that the file cannot hold.
public struct ContactFileWriter: RecordWriter, Sendable {
    /// Checks a contact before it is written. If a finding is an error, the contact is not written.
    public typealias Check = @Sendable (_ contact: Contact) -> [Finding]

    private let file: ContactFile
    private let table: ColumnTable
    private let check: Check?
    private var writer: DelimitedWriter

    /// Creates a writer at the start of a file.
    ///
    /// - Throws: `SettingsError` if settings name two columns for one part of a contact. A reader may use either, but a
    ///   file has only one. Also if they use a consent column of the vendor for something else, because the vendor would
    ///   interpret its values as the person's decision.
    public init(_ file: ContactFile, check: Check? = nil) throws(SettingsError) {
        let problems = file.repeatedColumns + file.misusedColumns
        guard problems.isEmpty else { throw SettingsError(problems) }
        (self.file, self.check) = (file, check)
        table = ColumnTable(file, file.writtenColumns)
        // The header is written separately, so every row here is a row after it.
        var dialect = file.writtenDialect
        (dialect.hasHeader, dialect.hasByteOrderMark) = (false, false)
        writer = DelimitedWriter(dialect: dialect)
    }

    public func header() -> [UInt8] {
        var writer = DelimitedWriter(dialect: file.writtenDialect)
        if file.dialect.hasHeader { try? writer.record(table.columns.map(\.name)) }
        return file.settings.encoding.encoded(writer.bytes)
    }

    /// The kind of identifier that is the key.
    public var keyKind: IdentifierKind? { file.settings.key }
    /// The kinds of identifiers that identify a contact without a key, in the key's column or in their own.
    public var otherKeyKinds: [IdentifierKind] { file.settings.otherKeys + (file.settings.finder.map { [$0] } ?? []) }

    /// Appends one contact as a row, and reports the parts that are lost or changed.
    public mutating func write(_ contact: Contact, to bytes: inout [UInt8]) -> [Finding] {
        var composer = RowComposer(contact, file, table)
        composer.compose()
        let findings = (check?(contact) ?? []) + composer.findings
        guard !findings.contains(where: { $0.severity == .error }) else { return findings }
        // Fields that the dialect cannot hold were left out before.
        try? writer.record(file.settings.formulas == .all ? composer.fields.map(FormulaGuard.guarded) : composer.fields)
        bytes += file.settings.encoding.encoded(writer.takeBytes())
        return findings
    }
}

extension ContactFile {
    /// The finding for an opt-out that the file cannot express.
    package var lostOptOut: FindingRow {
        settings.lostOptOuts == .reject ? kind.findings.optOutLost : kind.findings.noPlace
    }

    /// Returns the text of a column's field; nil if the file cannot hold it.
    ///
    /// - Parameters:
    ///   - text: The text before it is trimmed and checked.
    ///   - column: The column of the field.
    ///   - report: Receives each finding with its detail.
    /// - Returns: The text of the field; nil if it is left out.
    package func fieldText(
        _ text: String,
        _ column: ContactColumn,
        _ report: (FindingRow, String) -> Void
    ) -> String? {
        let (rows, forms, detail) = (kind.findings, settings.forms, "column \(column.name)")
        var text = text
        if !forms.takesLineBreaks, text.unicodeScalars.contains(where: { $0.value == 0x0A || $0.value == 0x0D }) {
            report(rows.lineBreak, detail)
            text = FieldText.oneLine(text)
        }
        let trimmed = text.trimmed
        if trimmed.utf8.count != text.utf8.count, !trimmed.isEmpty { report(rows.trimmed, detail) }
        guard !trimmed.isEmpty else {
            report(rows.blank, detail)
            return nil
        }
        if let limit = column.limit, trimmed.utf16.count > limit {
            report(rows.tooLong, "\(detail), \(trimmed.utf16.count) characters, the limit is \(limit)")
            return nil
        }
        guard FieldText.isWritable(trimmed, in: self) else {
            report(rows.unwritable, detail)
            return nil
        }
        return forms.doubled(trimmed)
    }

    /// Returns the text of an attribute's value in the form of its column; nil if the column cannot hold it.
    package func text(
        of value: AttributeValue,
        in column: ContactColumn,
        _ report: (FindingRow, String) -> Void
    ) -> String? {
        let (rows, type) = (kind.findings, type(of: column, for: value))
        if case .choices([]) = value, type == .choices {
            report(rows.blank, "column \(column.name)")
            return nil
        }
        guard let fitting = value.converted(to: type) ?? value.wholeNumber(as: type),
            let (text, isExact) = settings.forms.text(fitting)
        else {
            report(rows.unfit, "\(value.type.rawValue), column \(column.name) is \(type.rawValue)")
            return nil
        }
        if fitting.type != value.type {
            report(rows.converted, "\(value.type.rawValue) as \(type.rawValue) in column \(column.name)")
        } else if !isExact {
            report(rows.precision, "column \(column.name)")
        }
        guard !column.words.isEmpty, !column.words.contains(text) else { return text }
        guard let word = column.words.first(where: { $0.lowercased() == text.lowercased() }) else {
            report(rows.unfit, "column \(column.name) takes \(column.words.joined(separator: ", "))")
            return nil
        }
        report(rows.converted, "a word of column \(column.name)")
        return word
    }

    /// The dialect of a written file. Without quoting, a quote is an ordinary character, as it is for the reader; NUL, which
    /// no field contains, replaces it as the quote.
    fileprivate var writtenDialect: DelimitedDialect {
        var dialect = dialect
        if dialect.quoting == .never { dialect.quote = 0 }
        return dialect
    }

    /// The findings about columns of the settings that fill a part of the contact that an earlier column fills.
    fileprivate var repeatedColumns: [Finding] {
        let columns = settings.columns
        return columns.map(\.place).repeated.map { place, other in
            let path = "columns".dot(columns[place].name)
            return kind.findings.columnRepeated.at(path, detail: "like \(columns[other].name)")
        }
    }

    /// The findings about columns of the settings that use a consent column of the vendor for something else.
    fileprivate var misusedColumns: [Finding] {
        invertedColumns
            + usedColumns.filter { $0.known.subject != $0.place.subject }
            .map { kind.findings.wishMisused.at("columns".dot($0.name)) }
    }

    /// The findings about columns of the settings in which a yes means the opposite of a yes in the vendor's column of that
    /// name.
    var invertedColumns: [Finding] {
        usedColumns.filter { $0.known.subject == $0.place.subject && $0.known.isOpposite(of: $0.place) }.map { used in
            kind.findings.wishMisused.at(
                "columns".dot(used.name),
                detail: "the vendor's column is \(used.known.text)",
                remedy: "Set it to \(used.known.text), or leave it out of the settings."
            )
        }
    }

    private var usedColumns: [(name: String, place: ContactPlace, known: ContactPlace)] {
        let known = Dictionary(
            kind.columns.filter { $0.place.isAboutConsent }.map { (ColumnName(rawValue: $0.name).key, $0.place) }
        ) { first, _ in first }
        return settings.columns.compactMap { name, place in
            guard place != .ignored, let own = known[ColumnName(rawValue: name).key] else { return nil }
            return (name, place, own)
        }
    }

    /// The columns of a written file whose names no header line can hold, because they contain the delimiter or a line break
    /// and the file has no quoting.
    public var unwritableColumns: [ContactColumn] {
        guard dialect.quoting == .never else { return [] }
        let marks: Set<UInt8> = [dialect.delimiter, 0x0A, 0x0D, 0]
        return writtenColumns.filter { $0.name.utf8.contains(where: marks.contains) }
    }
}

/// Composes the fields of one contact's row, and reports the parts that the file cannot hold.
private struct RowComposer {
    let contact: Contact
    let file: ContactFile
    let table: ColumnTable
    var fields: [String]
    var findings: [Finding] = []

    init(_ contact: Contact, _ file: ContactFile, _ table: ColumnTable) {
        (self.contact, self.file, self.table) = (contact, file, table)
        fields = Array(repeating: "", count: table.columns.count)
    }

    private var rows: ContactFileFindings { file.kind.findings }
    private var forms: FieldForms { file.settings.forms }

    mutating func compose() {
        identifiers()
        attributes()
        tags()
        if let locale = contact.locale { put(locale: locale) }
        if let zone = contact.timeZone { timeZone(zone) }
        subscriptions()
        consents()
        devices()
        standIn()
        checkRequired()
        checkFinder()
        checkYes()
    }

    private mutating func note(_ row: FindingRow, _ path: String, _ detail: String? = nil) {
        findings.append(row.at(path, detail: detail))
    }

    /// Writes a text to the field of a place, if there is such a column and its field is empty.
    private mutating func put(_ text: String, _ place: ContactPlace, _ path: String) {
        guard let index = table.places[place] else { return note(rows.noPlace, path) }
        guard fields[index].isEmpty else { return note(rows.second, path, "column \(table.columns[index].name)") }
        if let text = fieldText(text, table.columns[index], path) { fields[index] = text }
    }

    /// Returns a text in the form of a field; nil if the file cannot hold it.
    private mutating func fieldText(_ text: String, _ column: ContactColumn, _ path: String) -> String? {
        file.fieldText(text, column) { row, detail in note(row, path, detail) }
    }

    // MARK: Identifiers, attributes, tags

    private mutating func identifiers() {
        var seen: Set<IdentifierKind> = []
        for (place, identifier) in contact.identifiers.enumerated() {
            let path = "identifiers[\(place)]"
            // Consent decisions concern the first address, so another one does not take its column.
            if !seen.insert(identifier.kind).inserted, let index = table.places[.identifier(identifier.kind)],
                fields[index].isEmpty
            {
                note(rows.second, path, "column \(table.columns[index].name)")
                continue
            }
            guard let index = table.places[.identifier(identifier.kind)] else {
                note(rows.noPlace, path, "kind \(identifier.kind.rawValue)")
                continue
            }
            let column = table.columns[index]
            var value = identifier.value
            if column.phoneForm != .any, FieldForm.isPhone(value) {
                guard
                    let number = PhoneNumber(value).text(
                        in: column.phoneForm,
                        defaultCountry: file.settings.defaultCountry
                    )
                else {
                    note(rows.phoneCountry, path, "column \(column.name)")
                    continue
                }
                if number != value { note(rows.converted, path, "the form of column \(column.name)") }
                value = number
            }
            if FieldForm.fits(value, identifier.kind) {
                put(value, .identifier(identifier.kind), path)
            } else {
                note(rows.unfit, path, "column \(column.name)")
            }
        }
    }

    /// Whether a contact has an address for a channel that cannot be written. The vendor may have another one.
    private func hasUnwritableAddress(_ channel: Channel) -> Bool {
        [IdentifierKind.email, .phone].contains { kind in
            let place = ContactPlace.identifier(kind)
            guard place.reach == channel, contact.identifiers.first(kind) != nil, let index = table.places[place] else {
                return false
            }
            return fields[index].isEmpty
        }
    }

    private mutating func attributes() {
        for (name, value) in contact.attributes.inOrder {
            let path = "attributes".dot(name.rawValue)
            guard let index = table.places[.attribute(name)] else {
                note(rows.noColumn, path)
                continue
            }
            let column = table.columns[index]
            guard let text = file.text(of: value, in: column, { row, detail in note(row, path, detail) }) else {
                continue
            }
            put(text, .attribute(name), path)
        }
    }

    private mutating func tags() {
        var rest: [String] = []
        for tag in contact.tags.sorted() {
            if table.places[.tag(tag)] != nil {
                put(forms.booleans.yes, .tag(tag), "tags")
            } else if forms.joined([tag.rawValue]) == nil {
                note(rows.unfit, "tags", "a tag is blank, or holds what stands between tags")
            } else {
                rest.append(tag.rawValue)
            }
        }
        guard !rest.isEmpty, let text = forms.joined(rest) else { return }
        guard table.places[.tags] != nil else { return note(rows.noPlace, "tags", "\(rest.count) tags") }
        put(text, .tags, "tags")
    }

    private mutating func put(locale: String) {
        guard let index = table.places[.locale], table.columns[index].takesCountryOfLocale else {
            return put(locale, .locale, "locale")
        }
        let parts = locale.split { $0 == "_" || $0 == "-" }
        let country = parts.last.flatMap { $0.utf8.count == 2 ? CountryCode(text: $0.uppercased()) : nil }
        guard let country, parts.count > 1 || locale == country.text else {
            return note(rows.unfit, "locale", "column \(table.columns[index].name) takes a country's two letters")
        }
        if country.text != locale { note(rows.converted, "locale", "the country, column \(table.columns[index].name)") }
        put(country.text, .locale, "locale")
    }

    private mutating func timeZone(_ zone: String) {
        guard FieldForm.isZone(zone) else {
            return note(rows.noPlace, "timeZone", "it is no zone's name")
        }
        put(zone, .timeZone, "timeZone")
    }

    // MARK: Subscriptions and consents

    private var denied: [Consent] {
        contact.consents.filter { $0.purpose == .messaging && $0.state == .denied }
    }

    private mutating func subscriptions() {
        var states = contact.subscriptions.mostProtectiveStates
        for (place, subscription) in contact.subscriptions.enumerated() {
            let path = "subscriptions[\(place)]"
            guard let state = states.removeValue(forKey: subscription.key) else {
                note(rows.second, path)
                continue
            }
            write(subscription, state, path)
        }
    }

    /// Writes a subscription. `least` is the least permissive state that the contact has for its channel and topic.
    private mutating func write(_ subscription: Subscription, _ least: Subscription.State, _ path: String) {
        var state = least
        if state != subscription.state { note(rows.denied, path.dot("state"), "the contact says two things of it") }
        let isDenied = denied.contains { $0.channel == nil || $0.channel == subscription.channel }
        if state != .unsubscribed, isDenied {
            note(rows.denied, path.dot("state"))
            state = .unsubscribed
        }
        guard state != .unknown else { return note(rows.stateUnknown, path.dot("state")) }
        let key = subscription.key
        if state == .subscribed, hasUnwritableAddress(key.channel) {
            return note(rows.addressLost, path, "channel \(key.channel.rawValue)")
        }
        let isSaid: Bool
        var holdsTime = table.places[.changedAt(key)] != nil
        // The denial covers the opt-out, so nothing is lost if the opt-out has no column.
        let lost = isDenied ? rows.noPlace : lost(state)
        if let columns = table.states[key] {
            isSaid = columns.map { put(state, table.columns[$0], path, lost) }.contains(true)
        } else if table.places[.optIn(key)] != nil || table.places[.optOut(key)] != nil {
            isSaid = put(state, at: subscription.changedAt, key, path, lost)
            holdsTime = true
        } else {
            isSaid = false
            note(lost, path, "channel \(key.channel.rawValue)")
        }
        guard isSaid else { return }
        details(of: subscription, holdsTime, path)
    }

    private var lostOptOut: FindingRow { file.lostOptOut }

    /// Returns the finding for a known state without a column. Any state other than an opt-in counts as an opt-out.
    private func lost(_ state: Subscription.State) -> FindingRow { state == .subscribed ? rows.noPlace : lostOptOut }

    /// Writes a state as a consent value.
    private mutating func put(
        _ state: Subscription.State,
        _ column: ContactColumn,
        _ path: String,
        _ lost: FindingRow
    ) -> Bool {
        if let word = column.states.written[state] {
            put(word, column.place, path)
        } else if state == .suspended, let word = column.states.written[.unsubscribed] {
            note(rows.suspended, path.dot("state"))
            put(word, column.place, path)
        } else {
            note(lost, path, "column \(column.name) has no word for \(state.rawValue)")
            return false
        }
        return true
    }

    /// Writes a state as a date.
    private mutating func put(
        _ state: Subscription.State,
        at moment: Timestamp?,
        _ key: Subscription.Key,
        _ path: String,
        _ lost: FindingRow
    ) -> Bool {
        var state = state
        if state == .suspended {
            note(rows.suspended, path.dot("state"))
            state = .unsubscribed
        }
        let place = state == .subscribed ? ContactPlace.optIn(key) : .optOut(key)
        guard table.places[place] != nil else {
            note(lost, path, "channel \(key.channel.rawValue)")
            return false
        }
        guard let moment, let (text, isExact) = forms.text(moment) else {
            note(state == .subscribed ? rows.undated : lost, path, "no date")
            return false
        }
        if !isExact { note(rows.precision, path.dot("changedAt")) }
        put(text, place, path)
        return true
    }

    private mutating func details(of subscription: Subscription, _ holdsTime: Bool, _ path: String) {
        let key = subscription.key
        if let moment = subscription.changedAt {
            if table.places[.changedAt(key)] != nil, let (text, isExact) = forms.text(moment) {
                if !isExact { note(rows.precision, path.dot("changedAt")) }
                put(text, .changedAt(key), path.dot("changedAt"))
            } else if !holdsTime {
                note(rows.noPlace, path.dot("changedAt"))
            }
        }
        if let source = subscription.source { put(source, .source(key), path.dot("source")) }
        if subscription.evidence != nil { note(rows.noPlace, path.dot("evidence")) }
        for name in subscription.fields.keys.sorted() { note(rows.noPlace, path.dot("fields").dot(name.rawValue)) }
    }

    /// Writes denials to their columns, and denied messages to the consent columns of their channels. Other consents have no
    /// column.
    private mutating func consents() {
        for (place, consent) in contact.consents.enumerated() where consent.state != .unknown {
            let path = "consents[\(place)]"
            if consent.state == .denied, table.places[.denied(consent.scope)] != nil {
                put(forms.booleans.yes, .denied(consent.scope), path)
                if consent.changedAt != nil { note(rows.noPlace, path.dot("changedAt")) }
                continue
            }
            let isNo = consent.state == .denied && consent.purpose == .messaging
            guard isNo else {
                note(rows.consent, path)
                continue
            }
            note(deny(consent) ? rows.consent : lostOptOut, path)
        }
    }

    /// Writes an opt-out to every column that the denial concerns. Returns whether this is sufficient: columns of whole
    /// channels must have it, for the denied channel, or for every channel for which the row has an address.
    private mutating func deny(_ consent: Consent) -> Bool {
        var (said, reached): (Set<Channel>, Set<Channel>) = ([], [])
        for (place, index) in table.places {
            // Devices are written later.
            let isFilled = if case .device = place { !contact.devices.isEmpty } else { !fields[index].isEmpty }
            if isFilled, let channel = place.reach { reached.insert(channel) }
            switch place {
            case .state(let key, _) where consent.channel == nil || consent.channel == key.channel:
                guard let word = table.columns[index].states.written[.unsubscribed] else { continue }
                fields[index] = word
                if key.topic == nil { said.insert(key.channel) }
            // The subscription was written as an opt-out already.
            case .optOut(let key) where key.topic == nil && isFilled: said.insert(key.channel)
            default: continue
            }
        }
        return consent.channel.map(said.contains) ?? (!said.isEmpty && reached.isSubset(of: said))
    }

    // MARK: Devices

    private mutating func devices() {
        for (place, device) in contact.devices.enumerated() {
            let path = "devices[\(place)]"
            let isHome = table.places[.device(.deviceID)] != nil || table.places[.device(.pushToken)] != nil
            guard isHome, place == 0 else {
                note(isHome ? rows.second : rows.noPlace, path)
                continue
            }
            write(device, path)
        }
    }

    /// Writes the parts of a device that have a column, and reports the parts that a reader would not read back.
    private mutating func write(_ device: Device, _ path: String) {
        let texts: [(ContactPlace.DevicePart, String?)] = [
            (.deviceID, device.identities[file.kind.deviceIdentity]), (.pushToken, device.pushToken?.value),
            (.platform, device.facts?.platform), (.platformVersion, device.facts?.platformVersion),
            (.model, device.facts?.model),
            (
                .utcOffset,
                device.facts.flatMap { $0.utcOffsetSeconds == 0 ? nil : ExactHours.text($0.utcOffsetSeconds) }
            ),
            (.daylightSaving, device.facts.map { $0.isDaylightSaving ? forms.booleans.yes : forms.booleans.no }),
            (.locationEnabled, device.allowsLocation ? forms.booleans.yes : nil),
            (.pushAppID, device.pushToken?.appID), (.pushEnvironment, device.pushToken?.environment?.rawValue),
        ]
        for (part, text) in texts {
            guard let text, !text.isEmpty, table.places[.device(part)] != nil else { continue }
            put(text, .device(part), path)
        }
        for loss in DeviceLoss.between(device, readBack().devices.first) {
            note(rows.noPlace, loss.isEmpty ? path : path.dot(loss))
        }
    }

    /// Returns the contact that a reader would read from the fields so far.
    private func readBack() -> Contact {
        var draft = ContactDraft(table, fields.map(forms.undoubled), "")
        return draft.contact()
    }

    // MARK: The whole row

    /// If the contact has no key, writes the first suitable identifier of another kind to the key's column.
    private mutating func standIn() {
        let key = ContactPlace.identifier(file.settings.key)
        guard !contact.identifiers.contains(where: { $0.kind == file.settings.key && !$0.value.trimmed.isEmpty }),
            let index = table.places[key]
        else { return }
        for kind in file.settings.otherKeys where fields[index].isEmpty {
            guard
                let place = contact.identifiers.firstIndex(where: { $0.kind == kind && FieldForm.fits($0.value, kind) })
            else {
                continue
            }
            let path = "identifiers[\(place)]"
            put(contact.identifiers[place].value, key, path)
            guard !fields[index].isEmpty else { continue }
            note(rows.keyOther, path, "column \(table.columns[index].name), \(kind.rawValue)")
        }
    }

    /// Checks for an opt-in on each channel on which the vendor treats a row with an address as opted in.
    private mutating func checkYes() {
        for channel in file.settings.needsYes where contact.answer(to: channel) == .unknown {
            let isReached = table.places.contains { $0.key.reach == channel && !fields[$0.value].isEmpty }
            guard isReached else { continue }
            let row = file.settings.withoutOptIn == .reject ? rows.withoutOptIn : rows.writtenWithoutOptIn
            note(row, "subscriptions", "channel \(channel.rawValue)")
        }
    }

    private mutating func checkRequired() {
        for (column, text) in zip(table.columns, fields) where text.isEmpty && file.isRequired(column) {
            let isKey = file.isKey(column)
            if isKey, let other = file.finder, let index = table.places[other], !fields[index].isEmpty {
                note(rows.otherKey, "identifiers", "column \(table.columns[index].name)")
                continue
            }
            let path = isKey ? "identifiers" : column.place.text
            note(isKey ? rows.keyMissing : rows.cellMissing, path, "column \(column.name)")
        }
    }

    /// Checks that a file without a column for the key has a value in the finder's column.
    private mutating func checkFinder() {
        guard let other = file.finder, file.needsFinder(among: table.places.keys) else { return }
        guard table.places[other].map({ fields[$0].isEmpty }) ?? true else { return }
        note(rows.keyMissing, "identifiers")
    }
}

extension Contact {
    /// Returns the person's decision about messages on a channel as a whole; unknown if there is none. An opt-in to a topic
    /// does not apply to the whole channel.
    fileprivate func answer(to channel: Channel) -> Consent.State {
        let consents = consents.filter { $0.purpose == .messaging && ($0.channel ?? channel) == channel }
        if consents.contains(where: { $0.state == .denied }) { return .denied }
        switch subscriptions.mostProtectiveState(of: Subscription.Key(channel: channel)) {
        case .subscribed?: return .granted
        case .unsubscribed?, .suspended?: return .denied
        case .unknown?: return .unknown
        case nil:
            // A consent for this channel takes precedence over one for every channel.
            let own = consents.filter { $0.channel == channel }.map(\.state).min()
            return own ?? consents.map(\.state).min() ?? .unknown
        }
    }
}

extension AttributeValue {
    /// Returns a decimal without a fraction as an integer if the type is integer; nil otherwise.
    fileprivate func wholeNumber(as type: AttributeType) -> AttributeValue? {
        guard self.type == .decimal, type == .integer else { return nil }
        return plainText.flatMap { AttributeValue(text: $0, as: .integer) }
    }
}

/// The form of texts in fields.
private enum FieldText {
    /// Replaces each line break with a space.
    static func oneLine(_ text: String) -> String {
        text.replacing("\r\n", with: " ").replacing("\n", with: " ").replacing("\r", with: " ")
    }

    /// Whether the file can hold every character of a text.
    static func isWritable(_ text: String, in file: ContactFile) -> Bool {
        let highest = !file.settings.encoding.isUTF8 ? 0xFF : file.settings.forms.highestScalar
        let isQuoted = file.settings.isQuoted
        let delimiter = UInt32(file.settings.delimiter.byte)
        return text.unicodeScalars.allSatisfy { scalar in
            switch scalar.value {
            // A byte-order mark at the start would not be read as a part of the text.
            case 0xFEFF: text.unicodeScalars.first != scalar
            case 0: false
            case 0x0A, 0x0D, delimiter: isQuoted
            // A quote at the start of an unquoted field would begin a quoted field for a reader that supports quoting.
            case 0x22: isQuoted || text.unicodeScalars.first != "\""
            default: scalar.value <= highest
            }
        }
    }
}

/// The parts of a device that are not read back.
private enum DeviceLoss {
    static func between(_ device: Device, _ other: Device?) -> [String] {
        guard let other else { return [""] }
        let members: [(String, Bool)] = [
            ("pushToken", device.pushToken == other.pushToken), ("allowsPush", device.allowsPush == other.allowsPush),
            ("allowsBackgroundPush", device.allowsBackgroundPush == other.allowsBackgroundPush),
            ("allowsLocation", device.allowsLocation == other.allowsLocation),
            ("allowsProximity", device.allowsProximity == other.allowsProximity),
            ("identities", device.identities == other.identities),
        ]
        return members.filter { !$0.1 }.map(\.0) + facts(device.facts, other.facts)
    }

    private static func facts(_ facts: DeviceFacts?, _ other: DeviceFacts?) -> [String] {
        guard let facts, facts != other else { return [] }
        guard let other else { return ["facts"] }
        let members: [(String, Bool)] = [
            ("platform", facts.platform == other.platform),
            ("platformVersion", facts.platformVersion == other.platformVersion), ("model", facts.model == other.model),
            ("deviceName", facts.deviceName == other.deviceName), ("locale", facts.locale == other.locale),
            ("timeZone", facts.timeZone == other.timeZone),
            ("utcOffsetSeconds", facts.utcOffsetSeconds == other.utcOffsetSeconds),
            ("isDaylightSaving", facts.isDaylightSaving == other.isDaylightSaving),
            ("appID", facts.appID == other.appID), ("appVersion", facts.appVersion == other.appVersion),
            ("advertisingID", facts.advertisingID == other.advertisingID),
            ("allowsAdTracking", facts.allowsAdTracking == other.allowsAdTracking),
        ]
        return members.filter { !$0.1 }.map { "facts.\($0.0)" }
    }
}

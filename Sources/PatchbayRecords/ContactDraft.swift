import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A contact that is being built from a row's fields, with the findings about them.
struct ContactDraft: Sendable {
    private(set) var findings: [Finding] = []
    /// The subscriptions and denials whose values or dates cannot be read.
    private var unread: (wishes: Set<Subscription.Key>, denials: Set<Consent.Scope>) = ([], [])
    /// The device properties that the row does not contain.
    private var assumed: [String] = []
    private let table: ColumnTable
    /// The text of each column, without white space at its ends.
    private var texts: [String]
    /// The reasons why identifiers in columns cannot belong to a person, and the columns whose identifiers were read without
    /// surrounding characters.
    private var damages: [Int: IdentifierText.Damage] = [:]
    private var cleaned: Set<Int> = []
    /// The kinds of identifiers whose values are omitted because they cannot be read.
    private var leftOut: Set<IdentifierKind> = []
    /// The row's number and line, for findings.
    private let row: String

    init(_ table: ColumnTable, _ texts: [String], _ row: String) {
        (self.table, self.texts, self.row) = (table, texts, row)
        for (kind, column) in table.identifiers where !texts[column].isEmpty {
            let text = IdentifierText(texts[column])
            let value =
                switch kind {
                case .phone: PhoneNumber.cleaned(text.value, in: table.file.settings.defaultCountry)
                case .email: FieldForm.email(in: text.value)
                default: text.value
                }
            if value != texts[column] { cleaned.insert(column) }
            (self.texts[column], damages[column]) = (value, text.damage)
        }
    }

    /// Builds the contact from all fields.
    mutating func contact() -> Contact {
        var contact = Contact(identifiers: identifiers(), attributes: attributes(), tags: tags(), locale: text(.locale))
        let offset = utcOffset()
        contact.timeZone = zoneName
        contact.subscriptions = subscriptions()
        // An opt-in applies only to the address that is omitted, not to another one.
        for kind in leftOut {
            let channel = ContactPlace.identifier(kind).reach
            contact.subscriptions.removeAll { $0.channel == channel && $0.state == .subscribed }
        }
        contact.consents = consents()
        let push = contact.subscriptions.first { $0.key == Subscription.Key(channel: .push) }
        if let device = device(isSubscribed: push.flatMap(\.isYes), utcOffset: offset) {
            contact.devices = [device]
            if !assumed.isEmpty {
                let names = assumed.joined(separator: ", ")
                findings.append(rows.deviceAssumed.at("devices[0]", detail: "\(row), \(names)"))
            }
        }
        noteLeftParts(of: contact.devices.first)
        return contact
    }

    /// Returns the consent decisions of the row, for a rejected row.
    func said(by contact: Contact) -> RefusedWords {
        RefusedWords(of: contact, unread: unread.wishes, unread.denials)
    }

    private var rows: ContactFileFindings { table.file.kind.findings }
    private var forms: FieldForms { table.file.settings.forms }

    /// Returns the text forms of the column at a place.
    private func forms(_ place: ContactPlace) -> FieldForms { table.places[place].map { table.forms[$0] } ?? forms }

    /// Returns a field's text; nil if the file has no such column or the field is blank.
    private func text(_ place: ContactPlace) -> String? {
        table.places[place].flatMap { texts[$0].isEmpty ? nil : texts[$0] }
    }

    private mutating func note(
        _ finding: FindingRow,
        _ place: ContactPlace,
        _ detail: String? = nil,
        remedy: String? = nil
    ) {
        let name = table.places[place].map { table.columns[$0].name } ?? ""
        let row = [row, detail].compactMap(\.self).joined(separator: ", ")
        var found = finding.at("columns.\(name)", detail: row, remedy: remedy)
        if let detail { found.summary = "\(finding.reason) (\(detail))." }
        findings.append(found)
    }

    /// Records that a value cannot be read that is neither a key nor about consent. It is omitted, unless settings reject the
    /// row.
    private mutating func noteInvalid(
        _ finding: FindingRow,
        _ place: ContactPlace,
        _ detail: String? = nil,
        remedy: String? = nil
    ) {
        let column = table.places[place].map { table.columns[$0] }
        guard column.map(table.file.onInvalid) == .omit else { return note(finding, place, detail, remedy: remedy) }
        let omitted = rows.omitted.with(
            cause: finding,
            reason: "\(finding.reason), so the value is left out",
            remedy: remedy ?? finding.remedy
        )
        note(omitted, place, detail)
    }

    /// Records that a text is not a date, or is an ambiguous one.
    private mutating func noteDate(_ place: ContactPlace, isOptional: Bool = false) {
        let (text, forms) = (text(place) ?? "", forms(place))
        if forms.readings(text).count > 1 { return noteAmbiguousDate(place) }
        let column = table.places[place].map { ColumnName(rawValue: table.columns[$0].name).key } ?? ""
        if case .others(let fitting)? = table.file.settings.columnDates[column] {
            let (expected, found) = (Self.words(self.forms.dayForms), Self.words(fitting))
            return note(
                rows.date,
                place,
                reason: "The column's dates do not have the form \(expected); they fit \(found)",
                remedy:
                    "Set \(dateSetting(place, fitting)) to read the column in this form. If \(self.forms.day.rawValue) is right, "
                    + "set that there instead: then only the dates of another form are reported."
            )
        }
        let expected = Self.words(forms.dayForms)
        let fitting = DayForm.allCases.filter { FileMoment(text, forms: [$0], zone: forms.zone) != nil }
        let (date, isUnknown) = (rows.date, fitting.isEmpty)
        let first = text.split(whereSeparator: { $0 == " " || $0 == "T" }).first.map(String.init) ?? ""
        if isUnknown, ([.iso] + forms.dayForms).contains(where: { $0.isAbsentDay(first) }) {
            return note(
                date,
                place,
                reason: "The calendar has no such day",
                remedy: "Correct the day in the source.",
                isOptional: isOptional
            )
        }
        let reason =
            "The column's text is not a date of the form \(expected)"
            + (isUnknown ? "" : "; it fits \(Self.words(fitting))")
        let remedy =
            isUnknown
            ? date.remedy
            : "Correct the date. If all dates of the column have this form, set \(dateSetting(place, fitting)); dateForm is for "
                + "the dates of all columns."
        note(date, place, reason: reason, remedy: remedy, isOptional: isOptional)
    }

    private mutating func noteAmbiguousDate(_ place: ContactPlace) {
        let setting = dateSetting(place, [.american, .european])
        note(
            rows.dateAmbiguous,
            place,
            remedy: "Set \(setting) for the column, or dateForm for the dates of all columns."
        )
    }

    /// Returns the setting that gives a column one of these date forms.
    private func dateSetting(_ place: ContactPlace, _ forms: [DayForm]) -> String {
        let name = JSONValue.string(table.places[place].map { table.columns[$0].name } ?? "").text
        let others = forms.dropFirst().map { " (or \"\($0.rawValue)\")" }.joined()
        return "{\"from\": {\"dateForms\": {\(name): \"\(forms.first?.rawValue ?? "")\"}}}\(others)"
    }

    private static func words(_ forms: [DayForm]) -> String { forms.map(\.rawValue).joined(separator: " or ") }

    /// Records a finding with its own reason and remedy.
    private mutating func note(
        _ row: FindingRow,
        _ place: ContactPlace,
        reason: String,
        remedy: String,
        isOptional: Bool = false
    ) {
        let row = row.with(reason: reason, remedy: remedy)
        if isOptional { noteInvalid(row, place) } else { note(row, place) }
    }

    /// Records that a text is not a value of a type, and how to write such a value.
    private mutating func noteValue(_ place: ContactPlace, _ type: AttributeType) {
        noteInvalid(rows.value, place, Self.expectations[type].map { "not \($0)" })
    }

    /// The accepted texts of each type, with an example.
    private static let expectations: [AttributeType: String] = [
        .integer: "a whole number such as 12",
        .decimal: "a number such as 12.5",
        .boolean: "true or false",
        .time: "a time such as 08:30",
        .country: "a country code such as FI",
    ]

    // MARK: Identifiers, attributes, tags

    private mutating func identifiers() -> [Identifier] {
        let key = ContactPlace.identifier(table.file.settings.key)
        for column in table.required where texts[column].isEmpty && table.columns[column].place != key {
            note(rows.cellBlank, table.columns[column].place)
        }
        let finders = table.file.readFinders
        if !finders.contains(where: finds) { note(rows.keyBlank, finders.first { table.places[$0] != nil } ?? key) }
        var identifiers: [Identifier] = []
        let found = finders.first { text($0) != nil }
        for (kind, column) in table.identifiers {
            let (value, place) = (texts[column], ContactPlace.identifier(kind))
            if value.isEmpty { continue }
            // A former telephone number is rejected as such.
            if let damage = damages[column], damage != .scientific || kind != .phone {
                guard place == found || table.required.contains(column) || losesOptOut(value, place) else {
                    note(rows.identifierDamaged, place, damage.rawValue)
                    leftOut.insert(kind)
                    continue
                }
                note(rows.keyDamaged, place, damage.rawValue)
                identifiers.append(Identifier(kind, value))
                continue
            }
            if cleaned.contains(column) { note(rows.identifierCleaned, place) }
            guard FieldForm.fits(value, kind) || kind != .email && kind != .phone else {
                let row = kind == .email ? rows.email : rows.phone
                // A number without its digits indicates a damaged export.
                guard
                    place == found || table.required.contains(column) || damages[column] == .scientific
                        || losesOptOut(value, place) || table.file.onInvalid(table.columns[column]) == .reject
                else {
                    noteInvalid(row, place)
                    leftOut.insert(kind)
                    continue
                }
                note(row, place)
                identifiers.append(Identifier(kind, value))
                continue
            }
            identifiers.append(Identifier(kind, value))
        }
        return identifiers
    }

    /// Whether a text may be an address of another record, too, and the row opts out of messages on its channel. Without the
    /// address, the opt-out would not apply to that record.
    private func losesOptOut(_ text: String, _ place: ContactPlace) -> Bool {
        let mayBeAddress =
            place == .identifier(.phone)
            ? PhoneNumber(text).digits.utf8.count >= 4 : text.utf8.contains(UInt8(ascii: "@"))
        guard mayBeAddress, let channel = place.reach else { return false }
        var draft = self
        return draft.subscriptions().contains { $0.channel == channel && $0.state.isOptOut }
            || draft.consents().contains { $0.channel == channel && $0.purpose == .messaging && $0.state == .denied }
    }

    /// Whether the row has a value at a place that can identify a contact.
    private func finds(_ place: ContactPlace) -> Bool {
        guard let text = text(place), let column = table.places[place] else { return false }
        // A damaged identifier has its own finding.
        if damages[column] != nil { return true }
        if case .identifier(let kind) = place { return FieldForm.fits(text, kind) }
        return true
    }

    private mutating func attributes() -> [AttributeName: AttributeValue] {
        var attributes: [AttributeName: AttributeValue] = [:]
        for (name, index) in table.attributes {
            let (column, text) = (table.columns[index], texts[index])
            if text.isEmpty { continue }
            let (likely, forms) = (table.file.likelyType(of: column), table.forms[index])
            if [.date, .timestamp].contains(likely ?? table.file.type(of: column)), forms.readings(text).count > 1 {
                noteAmbiguousDate(.attribute(name))
                if likely != nil { attributes[name] = .string(text) }
                continue
            }
            if let likely, let value = forms.exactValue(text, as: likely) {
                attributes[name] = value
                continue
            }
            let type = table.file.type(of: column)
            if let value = forms.value(text, as: type) {
                attributes[name] = value
                if type == .time, FileTime(text)?.isCut == true { note(rows.seconds, .attribute(name)) }
            } else {
                if type == .date || type == .timestamp {
                    noteDate(.attribute(name), isOptional: true)
                } else {
                    noteValue(.attribute(name), type)
                }
            }
        }
        return attributes
    }

    private mutating func tags() -> Set<Tag> {
        var tags = Set((text(.tags).map(forms.words) ?? []).map(Tag.init(rawValue:)))
        for (tag, column) in table.tags where !texts[column].isEmpty {
            let text = texts[column]
            switch forms.value(text, as: .boolean) {
            case .boolean(true)?: tags.insert(tag)
            case .boolean(false)?: break
            default: noteValue(.tag(tag), .boolean)
            }
        }
        return tags
    }

    // MARK: Subscriptions

    private mutating func subscriptions() -> [Subscription] {
        let said = table.wishes.compactMap { subscription($0) }
        return table.file.settings.everyRow.reduce(into: said) { all, every in
            guard let place = all.firstIndex(where: { $0.key == every.key }) else { return all.append(every) }
            all[place].state = [all[place], every].mostProtectiveState(of: every.key) ?? every.state
        }
    }

    /// Returns the least permissive of a consent value and dates. If they agree, the dates provide the time.
    private mutating func subscription(_ key: Subscription.Key) -> Subscription? {
        let words = (table.states[key] ?? []).compactMap { worded(key, $0) }
        let said = [dated(key, isAlone: words.isEmpty)].compactMap { $0 } + words
        let state = said.mostProtectiveState(of: key)
        guard var subscription = said.first(where: { $0.state == state }) else { return nil }
        if text(.changedAt(key)) != nil {
            let moment = moment(.changedAt(key))
            if moment == nil { noteDate(.changedAt(key)) }
            subscription.changedAt = moment ?? subscription.changedAt
        }
        subscription.source = text(.source(key))
        return subscription
    }

    private func moment(_ place: ContactPlace) -> Timestamp? {
        text(place).flatMap { text in
            forms(place).moment(text)?.timestamp
        }
    }

    /// Returns the decision that a consent value states.
    private mutating func worded(_ key: Subscription.Key, _ column: Int) -> Subscription? {
        let (word, states) = (texts[column], table.columns[column].states)
        if word.isEmpty { return nil }
        if states.silent.contains(word.lowercased()) { return nil }
        guard let state = states.read[word.lowercased()] else {
            note(
                rows.word,
                table.columns[column].place,
                remedy: rows.word.remedy(listing: states.words, of: table.columns[column].name)
            )
            unread.wishes.insert(key)
            return nil
        }
        return Subscription(channel: key.channel, topic: key.topic, state: state)
    }

    /// Returns the decision that dates state. The later of opt-in and opt-out date applies. Equal dates are an opt-out, as
    /// are dates on one day if one of them has no time.
    ///
    /// Returns nil if the row has no dates, or a date cannot be read. Blank dates beside a consent value state nothing.
    private mutating func dated(_ key: Subscription.Key, isAlone: Bool) -> Subscription? {
        let places = [ContactPlace.optIn(key), .optOut(key)]
        let columns = places.filter { table.places[$0] != nil }
        let dates = columns.filter { text($0) != nil }
        let isReachable = isAlone && key.channel == .push && hasDevice
        guard let first = columns.first, isReachable || !dates.isEmpty else { return nil }
        let readings = places.map { place in text(place).map(forms(place).readings) ?? [] }
        for place in dates where moment(place) == nil { noteDate(place) }
        let bad = zip(places, readings).filter { text($0) != nil && $1.isEmpty }.map(\.0)
        guard bad.isEmpty else {
            if bad.contains(.optOut(key)) { unread.wishes.insert(key) }
            return nil
        }
        var subscription = Subscription(channel: key.channel, topic: key.topic, state: .unknown)
        // Of two possible readings, the less permissive one applies.
        let isOptedOut = readings[1].contains { optOut in
            readings[0].isEmpty || readings[0].contains { optOut.endsOptIn(at: $0) }
        }
        switch (readings[0].map(\.timestamp).min(), readings[1].map(\.timestamp).max()) {
        case (nil, nil): note(rows.optInUnknown, first)
        case (let optIn?, _) where !isOptedOut:
            (subscription.state, subscription.changedAt) = (.subscribed, optIn)
        case (_, let optOut): (subscription.state, subscription.changedAt) = (.unsubscribed, optOut)
        }
        return subscription
    }

    private mutating func consents() -> [Consent] {
        table.denials.compactMap { scope, column, words in
            guard let text = text(.denied(scope)) else { return nil }
            switch words[text.lowercased()] {
            case true?: return Consent(purpose: scope.purpose, channel: scope.channel, state: .denied)
            case false?: return nil
            case nil:
                let (known, row) = (table.columns[column].denials, rows.word)
                let listing = [("denied", true), ("not denied", false)].map { name, isDenied in
                    (name, words.filter { $0.value == isDenied }.keys.sorted())
                }
                note(
                    known.isEmpty ? rows.value : row,
                    .denied(scope),
                    remedy: row.remedy(listing: listing, of: table.columns[column].name)
                )
                unread.denials.insert(scope)
                return nil
            }
        }
    }

    // MARK: Device

    private var hasDevice: Bool { text(.device(.deviceID)) != nil || text(.device(.pushToken)) != nil }

    private mutating func device(isSubscribed: Bool?, utcOffset: Int?) -> Device? {
        guard hasDevice else { return nil }
        let (token, facts) = (pushToken(), facts(utcOffset))
        return Device(
            pushToken: token,
            facts: facts,
            allowsPush: assuming("allowsPush", isSubscribed, false),
            allowsBackgroundPush: assuming("allowsBackgroundPush", nil, false),
            allowsLocation: assuming("allowsLocation", boolean(.locationEnabled), false),
            allowsProximity: assuming("allowsProximity", nil, false),
            identities: text(.device(.deviceID)).map { [table.file.kind.deviceIdentity: $0] } ?? [:]
        )
    }

    private mutating func facts(_ utcOffset: Int?) -> DeviceFacts? {
        guard let platform = text(.device(.platform)) else { return nil }
        return DeviceFacts(
            platform: platform,
            platformVersion: assuming("facts.platformVersion", text(.device(.platformVersion)), ""),
            model: assuming("facts.model", text(.device(.model)), ""),
            locale: assuming("facts.locale", text(.locale), ""),
            timeZone: zoneName,
            utcOffsetSeconds: assuming("facts.utcOffsetSeconds", utcOffset, 0),
            isDaylightSaving: assuming("facts.isDaylightSaving", boolean(.daylightSaving), false),
            appVersion: assuming("facts.appVersion", nil, ""),
            allowsAdTracking: assuming("facts.allowsAdTracking", nil, false)
        )
    }

    private mutating func pushToken() -> PushToken? {
        guard let value = text(.device(.pushToken)) else { return nil }
        let word = text(.device(.pushEnvironment))
        let environment = word.flatMap { PushToken.Environment(rawValue: $0.lowercased()) }
        if word != nil, environment == nil {
            let words = PushToken.Environment.allCases.map(\.rawValue).joined(separator: " or ")
            noteInvalid(
                rows.value,
                .device(.pushEnvironment),
                "not \(words)",
                remedy: "Write \(words), or leave it blank."
            )
        }
        return PushToken(
            value,
            service: service(of: value),
            environment: environment,
            appID: text(.device(.pushAppID))
        )
    }

    /// Returns the row's value, or a default, which is recorded as assumed.
    private mutating func assuming<Value>(_ name: String, _ said: Value?, _ plain: Value) -> Value {
        if said == nil { assumed.append(name) }
        return said ?? plain
    }

    private mutating func boolean(_ part: ContactPlace.DevicePart) -> Bool? {
        guard let text = text(.device(part)) else { return nil }
        if case .boolean(let value)? = forms.value(text, as: .boolean) { return value }
        noteValue(.device(part), .boolean)
        return nil
    }

    /// Reports the columns whose text is not part of a device.
    private mutating func noteLeftParts(of device: Device?) {
        let left = ContactPlace.DevicePart.allCases.filter { part in
            switch part {
            case .deviceID, .pushToken: false
            case .platform, .locationEnabled: device == nil
            case .platformVersion, .model, .daylightSaving: device?.facts == nil
            // An invalid offset has already been reported.
            case .utcOffset:
                device?.facts == nil && text(.device(part)).flatMap(ExactHours.init)?.seconds != nil
            case .pushAppID, .pushEnvironment: device?.pushToken == nil
            }
        }
        for part in left where text(.device(part)) != nil { note(rows.devicePart, .device(part)) }
    }

    private static let applePlatforms: Set<String> = ["ios", "ipados", "macos", "tvos", "watchos", "visionos"]

    /// Returns the push service of a token. Only APNs tokens are hexadecimal; without a known platform they need at least 32
    /// bytes.
    private func service(of token: String) -> PushToken.Service {
        let platform = text(.device(.platform))?.lowercased() ?? ""
        guard platform != "android", token.utf8.allSatisfy(UUIDText.isHexDigit) else { return .fcm }
        return Self.applePlatforms.contains(platform) || token.utf8.count >= 64 ? .apns : .fcm
    }

    // MARK: Time zone

    /// The name of the time zone, if the column contains one.
    private var zoneName: String? { text(.timeZone).flatMap { FieldForm.isZone($0) ? $0 : nil } }

    /// Returns the offset in seconds; nil if the row has none.
    private mutating func utcOffset() -> Int? {
        for place in [ContactPlace.device(.utcOffset), .timeZone] {
            guard let text = text(place), place != .timeZone || zoneName == nil, !text.utf8.contains(UInt8(ascii: "/"))
            else { continue }
            if let seconds = ExactHours(text)?.seconds { return seconds }
            note(rows.timeZone, place)
        }
        return nil
    }
}

extension Subscription {
    /// Whether the state is an opt-in; nil if it is unknown.
    fileprivate var isYes: Bool? { state == .unknown ? nil : state == .subscribed }
}

extension ContactColumn.States {
    /// The accepted words by meaning. Words that are also written come first, as they are written.
    var words: [(meaning: String, words: [String])] {
        Subscription.State.allCases.compactMap { state in
            let own = written[state]
            let others = read.filter { $0.value == state && $0.key != own?.lowercased() }.keys.sorted()
            let words = (own.map { read[$0.lowercased()] == state ? [$0] : [] } ?? []) + others
            return words.isEmpty ? nil : (state.rawValue, words)
        }
    }
}

extension FindingRow {
    /// Returns the remedy for an unknown word, with the words that the column accepts.
    fileprivate func remedy(listing words: [(meaning: String, words: [String])], of column: String) -> String {
        let list = words.filter { !$0.words.isEmpty }.map { "\($0.meaning): \($0.words.joined(separator: ", "))" }
        return
            "Write one of the words that the column knows (\(list.joined(separator: "; "))), or give the meaning of the word in the "
            + "settings: {\"from\": {\"words\": {\(JSONValue.string(column).text): {\"WORD\": \"unsubscribed\"}}}}. Do not ignore a "
            + "column that may contain opt-outs."
    }
}

public import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// A column of a vendor's contact file, defined once for the reader and the writer.
public struct ContactColumn: Sendable {
    /// The consent values of a column.
    public struct States: Sendable {
        /// The state that each value means, compared without regard to case.
        public var read: [String: Subscription.State]
        /// The value for each state. A state without a value is written as the closest state that does not allow more.
        public var written: [Subscription.State: String]

        /// Values that state nothing, like a blank cell.
        public var silent: Set<String>

        /// Creates consent values.
        public init(
            read: [String: Subscription.State],
            written: [Subscription.State: String],
            silent: Set<String> = []
        ) {
            (self.read, self.written, self.silent) = (read, written, silent)
        }

        /// The meaning of each value; nil states nothing.
        var meanings: [String: Subscription.State?] {
            read.mapValues(Optional.some).merging(silent.map { ($0, nil) }) { own, _ in own }
        }

        /// The values of `ConsentAnswers` for a column of consent. The neutral states are written.
        public static let neutral = States(.consent)

        /// Creates the consent values of a column that settings name.
        ///
        /// - Parameters:
        ///   - polarity: The meaning of a yes.
        ///   - takesAnswers: Whether yes and no are among the values.
        ///   - more: Values of the vendor in addition to the common ones.
        ///   - free: The meaning of a no in a column that states whether the person opted out.
        ///   - booleans: The values that are written for yes and no.
        init(
            _ polarity: ContactPlace.Polarity,
            takesAnswers: Bool = true,
            more: [String: Subscription.State] = [:],
            notOptedOut free: Subscription.State = .subscribed,
            booleans: (yes: String, no: String) = ("true", "false")
        ) {
            read = ConsentAnswers.states
            (written, silent) = ([:], [])
            if takesAnswers {
                for (answer, isYes) in ConsentAnswers.isYes {
                    read[answer] =
                        polarity == .optedOut ? isYes ? .unsubscribed : free : isYes ? .subscribed : .unsubscribed
                }
                if polarity != .optedOut { read.merge(more) { known, _ in known } }
            }
            switch polarity {
            case .consent:
                for state in Subscription.State.allCases where state != .unknown { written[state] = state.rawValue }
            case .optedIn: written = [.subscribed: booleans.yes, .unsubscribed: booleans.no]
            case .optedOut: written = [.unsubscribed: booleans.yes, .subscribed: booleans.no]
            }
        }
    }

    /// The name in the header.
    public var name: String
    /// The part of a contact that the column contains.
    public var place: ContactPlace
    /// The type of an attribute, unless settings define another one.
    public var type: AttributeType
    /// The type of texts that have the form of this type, unless settings define a type. Other texts have ``type``.
    public var likelyType: AttributeType?
    /// Whether the column is in files that are written. Other columns are only recognized when a file is read.
    public var isWritten: Bool
    /// Whether a row without a value in the column is an error.
    public var isRequired: Bool
    /// The maximum number of UTF-16 units of a text in the column; nil for no limit.
    public var limit: Int?
    /// The form in which telephone numbers are written.
    public var phoneForm: PhoneNumber.Form
    /// Whether a locale is written as the two letters of its country.
    public var takesCountryOfLocale: Bool
    /// The only values that the vendor accepts for an attribute; empty if it accepts any.
    public var words: [String]
    /// The consent values, for a column with consent.
    public var states: States
    /// The values, in addition to yes and no, of a column that denies a use: whether each of them denies it.
    public var denials: [String: Bool]
    /// Whether neither the format nor a setting defines the meaning of the column.
    var isUnexplained = false
    /// The meanings that settings give to values of the column, by value in lower case.
    var ownWords: [String: Subscription.State] = [:]
    /// The finding to report once for a file that is read and has the column; nil for none.
    public var remark: FindingRow?

    /// Creates a column.
    public init(
        _ name: String,
        _ place: ContactPlace,
        type: AttributeType = .string,
        likelyType: AttributeType? = nil,
        isWritten: Bool = false,
        isRequired: Bool = false,
        limit: Int? = nil,
        phoneForm: PhoneNumber.Form = .any,
        takesCountryOfLocale: Bool = false,
        words: [String] = [],
        states: States = .neutral,
        denials: [String: Bool] = [:],
        remark: FindingRow? = nil
    ) {
        (self.name, self.place, self.type, self.likelyType) = (name, place, type, likelyType)
        (self.isWritten, self.isRequired, self.limit) = (isWritten, isRequired, limit)
        (self.phoneForm, self.words, self.states) = (phoneForm, words, states)
        (self.denials, self.remark, self.takesCountryOfLocale) = (denials, remark, takesCountryOfLocale)
    }
}

/// A kind of contact file of a vendor, before any settings.
public struct ContactFileKind: Sendable {
    /// The known columns.
    public var columns: [ContactColumn]
    /// The findings about files of this kind.
    public var findings: ContactFileFindings
    /// The name of the vendor's device id among the identities of a device.
    public var deviceIdentity: Device.IdentityName
    /// Whether rows may be JSON objects as well as delimited text when a file is read.
    public var readsJSON: Bool
    /// Answers of this vendor, in addition to the common ones, in columns that settings name as a subscription.
    public var answers: [String: Subscription.State]
    /// The meaning of a no in a column that states whether the person opted out.
    public var notOptedOut: Subscription.State
    /// Columns that show that a file is about telephone numbers and not about devices. One of them is enough. A column for a
    /// telephone number also shows it if there is no column for a part of a device. The consent columns for push of such a
    /// file are about text messages. Empty if there are no such files.
    public var phoneViewColumns: [String]
    /// A description of what a blank cell of an imported file does to the vendor's value.
    public var blankCells: String
    /// The description for a vendor that documents nothing.
    public static let unknownBlankCells = "A blank cell may overwrite a value that the vendor has."

    /// Creates a kind of file.
    public init(
        _ columns: [ContactColumn],
        findings: ContactFileFindings,
        deviceIdentity: Device.IdentityName,
        readsJSON: Bool = false,
        answers: [String: Subscription.State] = [:],
        notOptedOut: Subscription.State = .subscribed,
        phoneViewColumns: [String] = [],
        blankCells: String = unknownBlankCells
    ) {
        (self.phoneViewColumns, self.blankCells) = (phoneViewColumns, blankCells)
        (self.columns, self.findings) = (columns, findings)
        (self.deviceIdentity, self.readsJSON, self.answers) = (deviceIdentity, readsJSON, answers)
        self.notOptedOut = notOptedOut
    }
}

/// A contact file with its settings: its text form, and the meaning of its columns. The reader, the writer, the layouts for
/// the bulk path, and the documentation are derived from it.
public struct ContactFile: Sendable {
    /// The character between two fields.
    public enum Delimiter: String, NeutralWord {
        case comma, semicolon, tab, bar

        /// The character.
        public var byte: UInt8 {
            switch self {
            case .comma: UInt8(ascii: ",")
            case .semicolon: UInt8(ascii: ";")
            case .tab: UInt8(ascii: "\t")
            case .bar: UInt8(ascii: "|")
            }
        }
    }

    /// The treatment of a contact who might receive unwanted messages.
    public enum LostOptOut: String, NeutralWord {
        /// The contact is not written.
        case reject
        /// The contact is written, with a warning.
        case warn
    }

    /// The cells that get an apostrophe if a spreadsheet program could interpret them as formulas.
    public enum FormulaCells: String, NeutralWord {
        /// Cells of rejected rows, which people correct. Files for the vendor stay unchanged.
        case rejects
        /// Cells of rejected rows and of files for the vendor.
        case all
        /// No cells.
        case none
    }

    /// The treatment of a value that cannot be read and that is neither a key nor about consent.
    public enum InvalidValue: String, NeutralWord {
        /// The value is left out, with a warning.
        case omit
        /// The row is rejected.
        case reject
    }

    /// The form of the dates of one column.
    public enum ColumnDates: Hashable, Sendable {
        /// All dates of the column have this form.
        case form(DayForm)
        /// All dates of the column have one of these forms, and not the configured one. They are not read.
        case others([DayForm])
    }

    /// The settings of a file.
    public struct Settings: Sendable {
        /// The character between two fields.
        public var delimiter: Delimiter
        /// Whether fields may be quoted.
        public var isQuoted: Bool
        /// Whether every written field is quoted.
        public var quotesAll = false
        /// The character encoding.
        public var encoding = FileEncoding.utf8
        /// Whether a written file begins with a byte-order mark.
        public var hasByteOrderMark = false
        /// The line end of written rows.
        public var lineEnding = DelimitedDialect.LineEnding.carriageReturnLineFeed
        /// The text forms of values.
        public var forms: FieldForms
        /// The names of the columns, for a file without a header line or with one that does not apply; otherwise empty.
        public var header: [String] = []
        /// Whether the file has a header line that is skipped because ``header`` names the columns.
        public var skipsHeader = false
        /// Consent decisions that apply to every row, as in a file of opt-outs. If a row has its own decision, the less
        /// permissive one applies.
        public var everyRow: [Subscription] = []
        /// The kind of identifier that is the key of a row.
        public var key = IdentifierKind.external
        /// The kinds of identifiers that may replace a missing key in its column, in order; empty if a configuration defines
        /// the key.
        public var otherKeys: [IdentifierKind] = []
        /// The kind of identifier whose own column identifies a row without a key; nil if such a row is invalid.
        public var finder: IdentifierKind?
        /// The kinds of identifiers that identify a row without a key when a file is read, in order; empty if a configuration
        /// defines the key.
        public var readKeys: [IdentifierKind] = []
        /// The parts of a contact that columns contain, by column name, in the order of writing. They take precedence over
        /// the known columns.
        public var columns: [(name: String, place: ContactPlace)] = []
        /// The meanings of values in every column of consent, by value in lower case. They take precedence over the known
        /// ones.
        public var words: [String: Subscription.State] = [:]
        /// The meanings of values in one column of consent, by the key of the column's name.
        public var columnWords: [String: [String: Subscription.State]] = [:]
        /// The treatment of values that cannot be read.
        public var onInvalid = InvalidValue.omit
        /// The treatment of such values in one column, by the key of the column's name.
        public var columnInvalid: [String: InvalidValue] = [:]
        /// The country of telephone numbers without a country code.
        public var defaultCountry: CountryCode?
        /// The forms of dates by the key of the column's name. They take precedence over ``FieldForms/day``.
        public var columnDates: [String: ColumnDates] = [:]
        /// The types of attributes. They take precedence over the known ones.
        public var types: [AttributeName: AttributeType] = [:]
        /// The treatment of a contact whose opt-out the file cannot express.
        public var lostOptOuts = LostOptOut.reject
        /// The channels on which the vendor treats each added contact with an address as opted in.
        public var needsYes: [Channel] = []
        /// The treatment of a contact without a known opt-in who would be added to one of these channels.
        public var withoutOptIn = LostOptOut.reject
        /// The cells that are guarded against spreadsheet programs.
        public var formulas = FormulaCells.rejects

        /// Creates settings.
        public init(delimiter: Delimiter = .comma, isQuoted: Bool = true, forms: FieldForms = FieldForms()) {
            (self.delimiter, self.isQuoted, self.forms) = (delimiter, isQuoted, forms)
        }
    }

    /// The kind of file, before any settings.
    public let kind: ContactFileKind
    /// The settings.
    public let settings: Settings
    private let known: [String: ContactColumn]

    /// Creates a contact file from a kind and settings.
    public init(_ kind: ContactFileKind, _ settings: Settings) {
        (self.kind, self.settings) = (kind, settings)
        var known: [String: ContactColumn] = [:]
        for column in kind.columns {
            let key = ColumnName(rawValue: column.name).key
            if known[key] == nil { known[key] = column }
        }
        for (name, place) in settings.columns {
            known[ColumnName(rawValue: name).key] = Self.own(name, place, kind, settings)
        }
        self.known = known.mapValues { column in
            var column = column
            let own = settings.columnWords[ColumnName(rawValue: column.name).key] ?? [:]
            column.ownWords = settings.words.merging(own) { _, own in own }
            column.states.read.merge(column.ownWords) { _, own in own }
            column.states.silent.subtract(column.ownWords.keys)
            return column
        }
    }

    /// Returns a column that settings name: the known column for the place with another name, or a new one.
    private static func own(
        _ name: String,
        _ place: ContactPlace,
        _ kind: ContactFileKind,
        _ settings: Settings
    ) -> ContactColumn {
        var column =
            kind.columns.first { $0.isWritten && $0.place.isSame(as: place) }
            // The consent values of a column that is only read apply to that column alone.
            ?? kind.columns.first { $0.place == place && place.polarity == nil }
            ?? ContactColumn(name, place)
        if let polarity = place.polarity {
            let known = ContactColumn.States(
                polarity,
                takesAnswers: polarity != .consent || !ConsentColumnName.isOptOut(name),
                more: kind.answers,
                notOptedOut: kind.notOptedOut,
                booleans: settings.forms.booleans
            )
            if !column.isWritten {
                column.states = known
            } else if ColumnName(rawValue: column.name).key == ColumnName(rawValue: name).key {
                column.states.read.merge(known.read) { own, _ in own }
            } else {
                column.states.read.merge(known.read) { _, known in known }
            }
        }
        (column.name, column.place, column.isWritten) = (name, place, place != .ignored)
        return column
    }

    /// The dialect of the delimited text.
    public var dialect: DelimitedDialect {
        var dialect = DelimitedDialect(
            delimiter: settings.delimiter.byte,
            quoting: settings.isQuoted ? settings.quotesAll ? .always : .whenNeeded : .never,
            lineEnding: settings.lineEnding,
            hasByteOrderMark: settings.hasByteOrderMark,
            hasHeader: settings.header.isEmpty || settings.skipsHeader
        )
        dialect.skipsBlankRows = true
        return dialect
    }

    /// Returns the column with a name: from the settings, otherwise a known one, otherwise an attribute with the name in
    /// snake case.
    public func column(named name: String) -> ContactColumn {
        if let column = known[ColumnName(rawValue: name).key] { return column }
        let snake = SnakeCase.text(name)
        var column = ContactColumn(name, snake.isEmpty ? .ignored : .attribute(AttributeName(rawValue: snake)))
        if case .attribute(let name) = column.place { column.isUnexplained = settings.types[name] == nil }
        if ConsentColumnName.isLikely(name) { column.remark = kind.findings.consentUnnamed }
        return column
    }

    /// Returns the columns of a header.
    func columns(named names: [String]) -> [ContactColumn] {
        let columns = zip(names, names.map(column)).map { name, column in
            var column = column
            column.name = name.trimmed
            return column
        }
        guard !kind.phoneViewColumns.isEmpty else { return columns }
        let keys = Set(names.map { ColumnName(rawValue: $0).key })
        let isMarked = kind.phoneViewColumns.contains { keys.contains(ColumnName(rawValue: $0).key) }
        let hasDevice = columns.contains { if case .device = $0.place { true } else { false } }
        guard isMarked || !hasDevice && columns.contains(where: { $0.place == .identifier(.phone) }) else {
            return columns
        }
        let named = Set(settings.columns.map { ColumnName(rawValue: $0.name).key })
        return zip(names, columns).map { name, column in
            var column = column
            if !named.contains(ColumnName(rawValue: name).key) { column.place = column.place.aboutTexts }
            return column
        }
    }

    /// Whether settings ignore a column with consent.
    func ignoresConsent(_ column: ContactColumn) -> Bool {
        let key = ColumnName(rawValue: column.name).key
        guard column.place == .ignored else { return false }
        if let own = kind.columns.first(where: { ColumnName(rawValue: $0.name).key == key }) {
            return own.place.isAboutConsent
        }
        return ConsentColumnName.isLikely(column.name)
    }

    /// Returns the finding to report once for a file that is read and has the column; nil for none.
    func remark(on column: ContactColumn) -> FindingRow? {
        if ignoresConsent(column) { return kind.findings.consentIgnored }
        return column.remark ?? (column.place == .ignored ? kind.findings.unused : nil)
    }

    /// Returns the finding about a column, which is reported once for all rows; nil if there is none.
    func finding(on column: ContactColumn) -> Finding? {
        let (path, once) = ("columns.\(column.name)", "said once for all rows")
        guard let remark = remark(on: column) else { return nil }
        guard remark.code == kind.findings.consentUnnamed.code else { return remark.at(path, detail: once) }
        let similar = column.name.near(in: kind.columns.map(\.name)).first
        let hint = similar.map { "If it is the column \"\($0)\", correct its name in the file. Otherwise: " } ?? ""
        return remark.at(path, detail: once, remedy: hint + Self.remedy(naming: column.name))
    }

    /// Returns a remedy with the settings that define the meaning of a column.
    package static func remedy(naming name: String) -> String {
        let channel = ConsentColumnName.channel(of: name).rawValue
        if ["date", "datum"].contains(where: name.lowercased().contains) {
            return
                "Add to the settings: {\"from\": {\"columns\": {\"\(name)\": \"optIn:\(channel)\"}}} for the date of an opt-in, "
                + "or \"optOut:\(channel)\" for that of an opt-out, \"attribute:\(SnakeCase.text(name))\", or \"ignored\"."
        }
        let (first, second) = ConsentColumnName.isOptOut(name) ? ("optedOut", "optedIn") : ("optedIn", "optedOut")
        let meanings = ["optedIn": "a yes is an opt-in", "optedOut": "a yes is an opt-out"]
        return "Add to the settings: {\"from\": {\"columns\": {\"\(name)\": \"\(first):\(channel)\"}}} if "
            + "\(meanings[first] ?? ""), or \"\(second):\(channel)\" if \(meanings[second] ?? ""), \"consent:\(channel)\" for "
            + "status words, \"attribute:\(SnakeCase.text(name))\", or \"ignored\"."
    }

    /// The columns of a written file, in order: those of the kind, with the settings' names for their places, then those that
    /// the settings add.
    public var writtenColumns: [ContactColumn] {
        let own = settings.columns.compactMap { name, place in
            place == .ignored ? nil : Self.own(name, place, kind, settings)
        }
        let usual = kind.columns.filter { column in
            column.isWritten
                && !settings.columns.contains {
                    ColumnName(rawValue: $0.name).key == ColumnName(rawValue: column.name).key
                }
        }
        .compactMap { column in
            if let same = own.first(where: { $0.place.isSame(as: column.place) }) { return same }
            // The column of the settings states the consent instead, with its own values.
            return own.contains { $0.place.polarity != nil && $0.place.subject == column.place.subject }
                && column.place.polarity != nil ? nil : column
        }
        return usual + own.filter { column in !usual.contains { $0.place == column.place } }
    }

    /// Returns the file for writing.
    ///
    /// - Throws: `SettingsError` if the delimiter or the encoding is only allowed for a file that is read.
    public func written(
        delimiters: [Delimiter] = Delimiter.allCases,
        encodings: [FileEncoding] = [.utf8]
    ) throws(SettingsError) -> ContactFile {
        var problems: [Finding] = []
        if !delimiters.contains(settings.delimiter) {
            let words = delimiters.map(\.rawValue).joined(separator: ", ")
            problems.append(kind.findings.onlyRead.at("delimiter", remedy: "Use one of \(words)."))
        }
        if !encodings.contains(settings.encoding) {
            let words = encodings.map(\.rawValue).joined(separator: ", ")
            problems.append(kind.findings.onlyRead.at("encoding", remedy: "Use one of \(words)."))
        }
        if !problems.isEmpty { throw SettingsError(problems) }
        return self
    }

    /// Returns the treatment of a value of the column that cannot be read.
    func onInvalid(_ column: ContactColumn) -> InvalidValue {
        settings.columnInvalid[ColumnName(rawValue: column.name).key] ?? settings.onInvalid
    }

    /// Returns the text forms for reading a column.
    func forms(of column: ContactColumn) -> FieldForms {
        var forms = settings.forms
        switch settings.columnDates[ColumnName(rawValue: column.name).key] {
        case .form(let form)?: forms.day = form
        case .others?: (forms.day, forms.alsoRead) = (.iso, [])
        case nil: break
        }
        return forms
    }

    /// Whether every row must have a value in the column. Another identifier may replace a missing key.
    public func isRequired(_ column: ContactColumn) -> Bool { column.isRequired || isKey(column) }

    /// Whether the column contains the key.
    func isKey(_ column: ContactColumn) -> Bool { column.place == .identifier(settings.key) }

    /// The place that identifies a row without a key; nil if there is none.
    package var finder: ContactPlace? { settings.finder.map(ContactPlace.identifier) }

    /// Whether every row needs a value in the finder's column, because the file has no column for the key.
    package func needsFinder(among places: some Sequence<ContactPlace>) -> Bool {
        finder != nil && !places.contains(.identifier(settings.key))
    }

    /// The places that identify a row when a file is read, the key first.
    var readFinders: [ContactPlace] { ([settings.key] + settings.readKeys).map(ContactPlace.identifier) }

    /// Returns the type of a column's attribute.
    public func type(of column: ContactColumn) -> AttributeType {
        guard case .attribute(let name) = column.place else { return .string }
        return settings.types[name] ?? column.type
    }

    /// Returns the type of the column's texts that have its form; nil if all texts have one type.
    package func likelyType(of column: ContactColumn) -> AttributeType? {
        guard case .attribute(let name) = column.place, settings.types[name] == nil else { return nil }
        return column.likelyType
    }

    /// Returns the type in which a column accepts a value.
    func type(of column: ContactColumn, for value: AttributeValue) -> AttributeType {
        value.type == likelyType(of: column) ? value.type : type(of: column)
    }

    /// The file as its reader reads it, for the bulk path.
    public var sourceLayout: SourceLayout? {
        let given = settings.header
        var layout = ColumnLayout(dialect, settings.forms) { header in
            let columns = columns(named: given.isEmpty ? header : given)
            // The reader handles a row without a value in the first of these places.
            let first = readFinders.first { place in columns.contains { $0.place == place } }
            return zip(columns, header.isEmpty ? given : header).map { known, found in
                var column = layoutColumn(of: known)
                if known.place == first { column.isRequired = true }
                (column.header, column.isUnexplained) = (found.trimmed, known.isUnexplained)
                if settings.columnDates[ColumnName(rawValue: known.name).key] != nil { column.forms = forms(of: known) }
                return column
            }
        }
        (layout.encoding, layout.everyRow) = (settings.encoding, settings.everyRow)
        layout.defaultCountry = settings.defaultCountry
        layout.contactFile = (kind.findings, kind.deviceIdentity)
        layout.guardsRejects = settings.formulas != .none
        return .columns(layout)
    }

    /// Returns the file as its writer writes it, for the bulk path. Contacts that opt out on one of `channels` are left to
    /// the writer, because the vendor's import treats such an opt-out differently.
    public func targetLayout(judging channels: [Channel] = []) -> TargetLayout? { .rows(self, judging: channels) }

    private func layoutColumn(of column: ContactColumn) -> ColumnLayout.Column {
        switch column.place {
        case .identifier(let kind):
            let form: ColumnLayout.Form = kind == .email ? .email : kind == .phone ? .phone : .any
            return ColumnLayout.Column(.identifier(kind), form: form, isRequired: isRequired(column))
        case .attribute(let name):
            let likely = likelyType(of: column)
            var layout = ColumnLayout.Column(.attribute(name, likely ?? type(of: column)))
            if likely != nil { layout.otherwise = type(of: column) }
            return layout
        case .locale: return ColumnLayout.Column(.locale)
        case .timeZone: return ColumnLayout.Column(.timeZone)
        case .ignored: return ColumnLayout.Column(.ignored)
        case .tags: return ColumnLayout.Column(.tags)
        case .tag(let tag): return ColumnLayout.Column(.tag(tag, AttributeValue.booleanWords))
        case .state(let key, _): return ColumnLayout.Column(.wish(key, .word(column.states.meanings)))
        case .optIn(let key): return ColumnLayout.Column(.wish(key, .optIn))
        case .optOut(let key): return ColumnLayout.Column(.wish(key, .optOut))
        case .changedAt(let key): return ColumnLayout.Column(.wish(key, .changedAt))
        case .source(let key): return ColumnLayout.Column(.wish(key, .source))
        case .denied(let scope): return ColumnLayout.Column(.denied(scope, settings.forms.denials(of: column)))
        case .device(let part): return ColumnLayout.Column(.device(part))
        }
    }

    /// Returns the columns of a kind as rows of documentation: name, place, type, whether it is written, and the meanings of
    /// its values.
    public static func markdown(_ kind: ContactFileKind, onlyWritten: Bool = false) -> [[String]] {
        kind.columns.filter { $0.isWritten || !onlyWritten }.map { column in
            let words = (column.likelyType.map { "\($0.rawValue), else " } ?? "") + column.type.rawValue
            let type = if case .attribute = column.place { words } else { "–" }
            return [
                "`\(column.name)`", "`\(column.place.text)`", type, column.isWritten ? "yes" : "no", column.wordsText,
            ]
        }
    }
}

extension ContactColumn {
    /// The consent values of the column by their meaning, for documentation.
    fileprivate var wordsText: String {
        let denied = [("denied", true), ("not denied", false)].map { name, isDenied in
            (meaning: name, words: denials.filter { $0.value == isDenied }.keys.sorted())
        }
        let all = place.polarity == nil ? denied : states.words
        let texts = all.filter { !$0.words.isEmpty }
            .map { "\($0.meaning): " + $0.words.map { "`\($0)`" }.joined(separator: ", ") }
        return texts.isEmpty ? "–" : texts.joined(separator: "; ")
    }
}

extension FieldForms {
    /// Returns, for each value of a column of denials, whether it denies the use. If the column has values of its own, the
    /// only common answers are the configured Boolean words, because a digit may be a code for anything.
    func denials(of column: ContactColumn) -> [String: Bool] {
        let answers =
            column.denials.isEmpty
            ? ConsentAnswers.isYes : [booleans.yes.lowercased(): true, booleans.no.lowercased(): false]
        let said = column.ownWords.mapValues(\.isOptOut)
        return answers.merging(column.denials) { _, own in own }.merging(said) { _, own in own }
    }
}

extension SettingRow {
    /// Creates the setting for the character between two fields.
    public static func fileDelimiter(
        _ path: any WritableKeyPath<Settings, ContactFile.Delimiter> & Sendable,
        of allowed: [ContactFile.Delimiter],
        default value: ContactFile.Delimiter,
        rule: RuleID? = nil
    ) -> SettingRow {
        let words = allowed.map(\.rawValue)
        return SettingRow(
            "delimiter",
            form: words.map { "`\($0)`" }.joined(separator: ", "),
            schema: ["enum": .array(words.map(JSONValue.string))],
            default: value.rawValue,
            rule: rule,
            "What stands between two fields."
        ) { value, settings in
            guard let word = value.string.flatMap(ContactFile.Delimiter.init), allowed.contains(word) else {
                return Problem(
                    "The value is not one of the allowed values.",
                    "Use one of \(words.joined(separator: ", "))."
                )
            }
            settings[keyPath: path] = word
            return nil
        }
    }

    /// Creates the setting for the form of days.
    public static func fileDateForm(
        _ path: any WritableKeyPath<Settings, DayForm> & Sendable,
        of allowed: [DayForm],
        default value: DayForm,
        rule: RuleID? = nil
    ) -> SettingRow {
        let words = allowed.map(\.rawValue)
        return SettingRow(
            "dateForm",
            form: words.map { "`\($0)`" }.joined(separator: ", "),
            schema: ["enum": .array(words.map(JSONValue.string))],
            default: value.rawValue,
            rule: rule,
            "The form of days, and of the days of instants; `yyyy-MM-dd` is always read too."
        ) { value, settings in
            guard let form = value.string.flatMap(DayForm.init), allowed.contains(form) else {
                return Problem(
                    "The value is not one of the known forms.",
                    "Use one of \(words.joined(separator: ", "))."
                )
            }
            settings[keyPath: path] = form
            return nil
        }
    }

    /// Creates the setting for the kind of identifier that is the key of a row. Without the setting, other kinds may replace
    /// a missing key in its column, or `finder` identifies a row without a key by its own column.
    public static func fileKey(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        default kind: IdentifierKind,
        else others: [IdentifierKind] = [],
        elseFoundBy finder: IdentifierKind? = nil,
        rule: RuleID? = nil
    ) -> SettingRow {
        let names = others.map(\.rawValue).joined(separator: ", then ")
        let isRead =
            "Where nothing is said here, a row that is read is known by the next of external, email and phone that it has"
        let standsIn =
            ", and a contact that has no \(kind.rawValue) one is written with another in the key's column: \(names)"
        let finds = finder.map { ", and \($0.rawValue) finds a contact that is written without \(kind.rawValue)" }
        return SettingRow(
            "key",
            form: "text",
            schema: ["type": "string", "minLength": 1],
            default: others.isEmpty ? kind.rawValue : "\(kind.rawValue), else \(names)",
            rule: rule,
            "The kind of identifier that finds a contact: without it a row is none. \(isRead)"
                + (others.isEmpty ? "" : standsIn) + (finds ?? "") + "."
        ) { value, settings in
            guard let text = value.string?.trimmed, !text.isEmpty else {
                return Problem("The value is not a kind of identifier.", "Name one, such as external or email.")
            }
            settings[keyPath: path].key = IdentifierKind(rawValue: text)
            (settings[keyPath: path].otherKeys, settings[keyPath: path].finder) = ([], nil)
            settings[keyPath: path].readKeys = []
            return nil
        }
    }

    /// Creates the setting for the parts of a contact that columns contain.
    public static func fileColumns(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        SettingRow(
            "columns",
            form: "object of texts",
            schema: ["type": "object", "additionalProperties": ["type": "string", "minLength": 1]],
            default: "{}",
            rule: rule,
            "What columns hold, by column name, over the usual ones: \(ContactPlace.allowed)."
        ) { value, settings in
            guard let object = value.object else {
                return Problem("The value is \(value.typePhrase).", "Give an object.")
            }
            var unknowns: [String] = []
            var names: Set<String> = []
            for member in object {
                guard names.insert(ColumnName(rawValue: member.name).key).inserted else {
                    return Problem(
                        "It names the column \"\(member.name)\" twice: case, spaces, underscores and hyphens do not count.",
                        "Leave one of the two."
                    )
                }
                if let place = member.value.string.flatMap(ContactPlace.init(text:)), !member.name.trimmed.isEmpty {
                    settings[keyPath: path].columns.append((member.name.trimmed, place))
                } else {
                    unknowns.append("\"\(member.name)\"")
                }
            }
            guard unknowns.isEmpty else {
                return Problem(
                    "What is given for \(unknowns.joined(separator: ", ")) names no part of a contact.",
                    "Use one of: \(ContactPlace.allowed)."
                )
            }
            return nil
        }
    }

    /// Creates the setting for the meanings of consent values.
    public static func fileWords(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        let states = Subscription.State.allCases.map(\.rawValue)
        let state: JSONValue = ["enum": .array(states.map(JSONValue.string))]
        return SettingRow(
            "words",
            form: "object of states, or of such objects by column",
            schema: [
                "type": "object",
                "additionalProperties": [
                    "anyOf": [state, ["type": "object", "additionalProperties": state]]
                ],
            ],
            default: "{}",
            rule: rule,
            "What words mean in columns of consent, of all or by column name, over the known ones: "
                + states.joined(separator: ", ") + "."
        ) { value, settings in
            guard let object = value.object else {
                return Problem("The value is \(value.typePhrase).", "Give an object.")
            }
            var unknown: [String] = []
            func read(_ member: JSONObject.Member, _ name: String) -> (String, Subscription.State)? {
                if let word = member.value.string, let state = Subscription.State(rawValue: word), states.contains(word)
                {
                    return (member.name.trimmed.lowercased(), state)
                }
                unknown.append("\"\(name)\"")
                return nil
            }
            for member in object {
                guard let inner = member.value.object else {
                    if let (word, state) = read(member, member.name) { settings[keyPath: path].words[word] = state }
                    continue
                }
                let column = ColumnName(rawValue: member.name).key
                for each in inner {
                    guard let (word, state) = read(each, "\(member.name).\(each.name)") else { continue }
                    settings[keyPath: path].columnWords[column, default: [:]][word] = state
                }
            }
            guard unknown.isEmpty else {
                return Problem(
                    "What is given for \(unknown.joined(separator: ", ")) is no state.",
                    "Use one of \(states.joined(separator: ", "))."
                )
            }
            return nil
        }
    }

    /// Creates the setting for the treatment of values that cannot be read.
    public static func fileInvalidValues(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        let words = ContactFile.InvalidValue.allCases.map(\.rawValue)
        let word: JSONValue = ["enum": .array(words.map(JSONValue.string))]
        return SettingRow(
            "onInvalid",
            form: "`omit`, `reject`, or an object of these by column",
            schema: ["anyOf": [word, ["type": "object", "additionalProperties": word]]],
            default: "omit",
            rule: rule,
            "What becomes of a value that cannot be read: `omit` leaves it out, with a warning, `reject` rejects the row. A key "
                + "or a consent value that cannot be read always rejects the row."
        ) { value, settings in
            let problem = Problem(
                "The value is not one of the allowed values.",
                "Use \(words.joined(separator: " or ")), or an object of these by column."
            )
            if let word = value.string {
                guard let read = ContactFile.InvalidValue(rawValue: word) else { return problem }
                settings[keyPath: path].onInvalid = read
                return nil
            }
            guard let object = value.object else { return problem }
            for member in object {
                guard let read = member.value.string.flatMap(ContactFile.InvalidValue.init) else { return problem }
                settings[keyPath: path].columnInvalid[ColumnName(rawValue: member.name).key] = read
            }
            return nil
        }
    }

    /// Creates the setting for the country of telephone numbers without a country code.
    public static func fileCountry(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        SettingRow(
            "defaultCountry",
            form: "country code",
            schema: ["type": "string", "pattern": "^[A-Za-z]{2}$"],
            default: "none",
            rule: rule,
            "The country of telephone numbers that name none, such as DE: they get its calling code and lose the trunk prefix."
        ) { value, settings in
            guard let country = value.string.flatMap(CountryCode.init(text:)),
                PhoneNumber.callingCode(of: country) != nil
            else {
                return Problem(
                    "The value is no country with a calling code.",
                    "Write two letters of ISO 3166-1, such as DE."
                )
            }
            settings[keyPath: path].defaultCountry = country
            return nil
        }
    }

    /// Creates the setting for the forms of dates by column.
    public static func fileColumnDates(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        let words = DayForm.allCases.map(\.rawValue)
        return SettingRow(
            "dateForms",
            form: "object of forms by column",
            schema: ["type": "object", "additionalProperties": ["enum": .array(words.map(JSONValue.string))]],
            default: "{}",
            rule: rule,
            "The forms of dates by column name, over `dateForm`. Without it a form is chosen for a column of a regular file if it is "
                + "the only known one that all its dates have."
        ) { value, settings in
            guard let object = value.object else {
                return Problem("The value is \(value.typePhrase).", "Give an object.")
            }
            for member in object {
                let key = ColumnName(rawValue: member.name).key
                if let form = member.value.string.flatMap(DayForm.init) {
                    settings[keyPath: path].columnDates[key] = .form(form)
                } else if let forms = member.value.array?.compactMap({ $0.string.flatMap(DayForm.init) }),
                    !forms.isEmpty
                {
                    // Only the command writes a list, for a column whose dates do not have the configured form.
                    settings[keyPath: path].columnDates[key] = .others(forms)
                } else {
                    return Problem(
                        "The form of the column \"\(member.name)\" is not known.",
                        "Use one of \(words.joined(separator: ", "))."
                    )
                }
            }
            return nil
        }
    }

    /// Creates the setting for the character encoding of a file that is read.
    public static func fileEncoding(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil,
        _ summary: String =
            "How the characters of a file that is read are bytes; UTF-16 is also recognized by its first bytes."
    ) -> SettingRow {
        let words = FileEncoding.allCases.map(\.rawValue)
        return SettingRow(
            "encoding",
            form: words.map { "`\($0)`" }.joined(separator: ", "),
            schema: ["enum": .array(words.map(JSONValue.string))],
            default: FileEncoding.utf8.rawValue,
            rule: rule,
            summary
        ) { value, settings in
            guard let encoding = value.string.flatMap(FileEncoding.init) else {
                return Problem(
                    "The value is not one of the allowed values.",
                    "Use one of \(words.joined(separator: ", "))."
                )
            }
            settings[keyPath: path].encoding = encoding
            return nil
        }
    }

    /// Creates the setting for the types of attributes.
    public static func fileTypes(
        _ path: any WritableKeyPath<Settings, ContactFile.Settings> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        let words = AttributeType.allCases.filter { $0 != .list && $0 != .object }.map(\.rawValue)
        return SettingRow(
            "types",
            form: "object of types",
            schema: ["type": "object", "additionalProperties": ["enum": .array(words.map(JSONValue.string))]],
            default: "{}",
            rule: rule,
            "The types of attributes by neutral name; text where nothing is said: \(words.joined(separator: ", "))."
        ) { value, settings in
            guard let object = value.object else {
                return Problem("The value is \(value.typePhrase).", "Give an object.")
            }
            var unknowns: [String] = []
            for member in object {
                if let word = member.value.string, words.contains(word), let type = AttributeType(rawValue: word) {
                    settings[keyPath: path].types[AttributeName(rawValue: member.name)] = type
                } else {
                    unknowns.append("\"\(member.name)\"")
                }
            }
            guard unknowns.isEmpty else {
                return Problem(
                    "A column's text can't be read as the type of \(unknowns.joined(separator: ", ")).",
                    "Use one of \(words.joined(separator: ", "))."
                )
            }
            return nil
        }
    }

    /// Creates the setting for the cells that are guarded against spreadsheet programs.
    public static func fileFormulas(
        _ path: any WritableKeyPath<Settings, ContactFile.FormulaCells> & Sendable
    ) -> SettingRow {
        .choice(
            "formulas",
            path,
            default: .rejects,
            "Cells that begin with =, +, -, @, a tab or CR get an apostrophe, so that no spreadsheet program runs them: in "
                + "rejected rows (`rejects`), also in the file for the vendor (`all`), or nowhere (`none`)."
        )
    }

    /// Creates the setting for the time zone of dates without one.
    public static func fileZone(
        _ path: any WritableKeyPath<Settings, String> & Sendable,
        default zone: String,
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        .text(
            "zone",
            path,
            default: zone,
            rule: rule,
            summary,
            check: { text in
                Timestamp(text: "2000-01-01T00:00:00\(text)") == nil
                    ? .init("The value is not a UTC offset.", "Write Z or an offset like -06:00.") : nil
            }
        )
    }

    /// Creates the setting for the treatment of a contact whose opt-out the file cannot express.
    public static func lostOptOuts(
        _ path: any WritableKeyPath<Settings, ContactFile.LostOptOut> & Sendable,
        rule: RuleID? = nil
    ) -> SettingRow {
        .choice(
            "lostOptOuts",
            path,
            default: .reject,
            rule: rule,
            "What becomes of a contact whose opt-out has no column: `reject` does not write it, `warn` writes it."
        )
    }

    /// Creates the setting for the treatment of a contact without a known opt-in whom the vendor would treat as opted in.
    public static func withoutOptIn(
        _ path: any WritableKeyPath<Settings, ContactFile.LostOptOut> & Sendable,
        rule: RuleID? = nil,
        _ summary: String
    ) -> SettingRow {
        .choice("withoutOptIn", path, default: .reject, rule: rule, summary)
    }
}

import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel

/// Reads a contact file row by row, as its table describes it: delimited text and, if the vendor supports them, JSON objects.
///
/// Every value of delimited text is text; a blank field has no value. A row with an error becomes a record without a contact
/// that names every error, and reading continues.
public struct ContactFileReader: RowReader, Sendable {
    private let file: ContactFile
    private var reader: DelimitedReader
    /// The reader to use once the first bytes show that the rows are JSON.
    private var json: JSONRowReader?
    private var table: ColumnTable?
    /// The names of the header's columns, normalized for comparison.
    private var headerKeys: [String] = []
    /// Whether a skipped header line has other column names.
    private var passedOther = false
    private var rowCount = 0
    private static let byteOrderMark: [UInt8] = [0xEF, 0xBB, 0xBF]
    private static let takeMarkAway = "Take the mark away: its three bytes are EF BB BF."

    /// The first bytes of the file, until there are enough to determine its kind.
    private var head: [UInt8]? = []

    /// Creates a reader at the start of a file.
    public init(_ file: ContactFile) {
        self.file = file
        reader = DelimitedReader(dialect: file.dialect)
    }

    public mutating func read(_ bytes: [UInt8], _ record: (SourceRecord) throws -> Void) throws {
        guard let bytes = try begun(bytes) else { return }
        guard json == nil else { return try json?.read(bytes, record) ?? () }
        reader.append(file.settings.encoding.decoded(bytes))
        try drain(record)
    }

    public mutating func finish(_ record: (SourceRecord) throws -> Void) throws {
        if let head, file.kind.readsJSON, UnrecognizedFile.isJSON(head) == true {
            json = JSONRowReader(file)
            try json?.read(head, record)
        }
        guard json == nil else { return try json?.finish() ?? () }
        if let head { reader.append(file.settings.encoding.decoded(head)) }
        reader.finish()
        try drain(record)
        if reader.header == nil, file.settings.header.isEmpty || rowCount == 0 {
            throw SettingsError([findings.empty.at()])
        }
        try readHeader()
        if rowCount == 0 { throw SettingsError([findings.headerOnly.at()]) }
    }

    /// Whether the file's columns, or attributes of any name, could represent every part of a contact.
    public func canHold(_ sample: Contact) -> Bool { file.canHold(sample) }

    /// Returns the number of blank rows skipped since the last call.
    public mutating func takeBlankRows() -> Int { reader.takeBlankRows() }

    /// Whether the header was read, so that a row can be read by itself.
    public var knowsColumns: Bool { table != nil }

    private var findings: ContactFileFindings { file.kind.findings }
    private var columns: [ContactColumn] { table?.columns ?? [] }

    /// Returns the bytes to read; nil until the kind of the file is known.
    private mutating func begun(_ bytes: [UInt8]) throws(SettingsError) -> [UInt8]? {
        guard let head else { return bytes }
        let all = head + bytes
        // A line may be shorter than the longest mark; it then contains none.
        guard all.count >= 4 || all.contains(UInt8(ascii: "\n")), let isJSON = UnrecognizedFile.isJSON(all) else {
            self.head = all
            return nil
        }
        self.head = nil
        let encoding = findings.encoding.at("header", detail: "line 1, byte 1")
        if isJSON, file.kind.readsJSON {
            json = JSONRowReader(file)
            return all
        }
        if isJSON { throw SettingsError([UnrecognizedFile.json.finding(encoding)]) }
        if UnrecognizedFile.isWorkbook(all) { throw SettingsError([UnrecognizedFile.workbook.finding(encoding)]) }
        if UnrecognizedFile.isPacked(all) { throw SettingsError([UnrecognizedFile.packed.finding(encoding)]) }
        if all.starts(with: Self.byteOrderMark), !file.settings.encoding.isUTF8 {
            throw SettingsError([findings.otherEncoding.at("encoding", detail: "line 1, byte 1")])
        }
        if UnrecognizedFile.isWide(all) {
            var finding = encoding
            finding.remedy = "Convert it: iconv -f UTF-16 -t UTF-8 FILE | patchbay migrate …, or save it as UTF-8."
            throw SettingsError([finding])
        }
        if all.first(where: { $0 > 0x20 }) == UInt8(ascii: "<") {
            var finding = findings.columnMissing.at("header", detail: "line 1")
            finding.reason = "The file is a web page or XML, not a file of contacts."
            finding.remedy = "Open it to see what it says, such as a request to log in, and export the contacts again."
            throw SettingsError([finding])
        }
        return all
    }

    /// The number of lines above which a row is reported. Fields rarely have that many, but an unclosed quote swallows
    /// following rows.
    package static let usualLines = 100

    private mutating func drain(_ record: (SourceRecord) throws -> Void) throws {
        while let row = reader.next() {
            if case .failure(let fault) = row, fault.number == 0 {
                let place = "line \(fault.line), column \(fault.field), \(fault.reason)"
                throw SettingsError([findings.fault.at("header", detail: place)])
            }
            try readHeader()
            rowCount += 1
            try record(self.record(row))
        }
        try readHeader()
    }

    // MARK: Header

    /// Rejects a file whose lines end with CR alone, because other programs also read it as a single line.
    ///
    /// A header line with a proper line end, or with nothing after a CR, is accepted.
    private func refuseBareReturns() throws(SettingsError) {
        guard let line = reader.header?.bytes, line.last != UInt8(ascii: "\n"),
            line.dropLast().contains(UInt8(ascii: "\r"))
        else { return }
        let what = "line 1, its lines end in CR alone, so the file is one line"
        let remedy = "Save the file with LF or CR LF at the end of each line."
        throw SettingsError([findings.fault.at("header", detail: what, remedy: remedy)])
    }

    /// Rejects the line `sep=;` with which Excel states the delimiter. The header is on the line below it.
    private func refuseSeparatorLine(_ header: [String]) throws(SettingsError) {
        guard header.first?.trimmed.lowercased().hasPrefix("sep=") == true else { return }
        let what = "line 1, \"sep=\" states the delimiter for Excel and is not a header"
        let remedy = "Delete the first line, and check the setting delimiter."
        throw SettingsError([findings.fault.at("header", detail: what, remedy: remedy)])
    }

    /// The maximum number of columns, as in the largest spreadsheets. A file with more has another delimiter or no line ends,
    /// and a single row could take more memory than the whole migration.
    package static let mostColumns = 16_384

    private func refuseWidth(_ count: Int, _ line: Int) throws(SettingsError) {
        guard count > Self.mostColumns else { return }
        let sizes = "line \(line), \(count) columns, at most \(Self.mostColumns)"
        let remedy = "Check the setting delimiter and the file's line ends, or export fewer columns."
        throw SettingsError([findings.fault.at("header", detail: sizes, remedy: remedy)])
    }

    private mutating func readHeader() throws(SettingsError) {
        guard table == nil, reader.header != nil || !file.dialect.hasHeader else { return }
        try refuseBareReturns()
        let (given, found) = (file.settings.header, reader.header?.fields ?? [])
        try refuseSeparatorLine(found)
        let names = given.isEmpty ? found : given
        let line = reader.header?.line ?? 1
        if file.dialect.hasHeader, !given.isEmpty {
            guard found.count == names.count else {
                let sizes = "line \(line), \(found.count) fields for \(names.count) columns"
                throw SettingsError([findings.headerWidth.at("header", detail: sizes)])
            }
            passedOther = found.map { ColumnName(rawValue: $0).key } != names.map { ColumnName(rawValue: $0).key }
        }
        if let place = names.firstIndex(where: { $0.utf8.contains(0) }) {
            throw SettingsError([findings.encoding.at("header", detail: "line \(line), column \(place + 1)")])
        }
        try refuseWidth(names.count, line)
        let columns = file.columns(named: names)
        var problems: [Finding] = []
        if let place = names.firstIndex(where: { $0.unicodeScalars.contains("\u{FEFF}") }) {
            let mark = "line \(line), column \(place + 1), a byte-order mark stands in its name"
            problems.append(findings.fault.at("header", detail: mark, remedy: Self.takeMarkAway))
        }
        let keys = Set(columns.map { ColumnName(rawValue: $0.name).key })
        for (name, place) in file.settings.columns
        where place.isAboutConsent && !keys.contains(ColumnName(rawValue: name).key)
            && !columns.contains(where: { $0.place == place })
        {
            let detail = "line \(line), \(columns.count) columns\(Self.guess(name, in: columns.map(\.name)))"
            problems.append(findings.wishAbsent.at("columns.\(name)", detail: detail))
        }
        problems += file.invertedColumns
        if !columns.contains(where: { file.readFinders.contains($0.place) }) {
            problems.append(keyMissing(in: columns.map(\.name), line))
        }
        for (place, other) in columns.map(\.place).repeated {
            let names = "line \(line), column \(place + 1), like \(columns[other].name)"
            problems.append(findings.columnRepeated.at("columns.\(columns[place].name)", detail: names))
        }
        if !problems.isEmpty { throw SettingsError(problems) }
        table = ColumnTable(file, columns)
        headerKeys = (found.isEmpty ? names : found).map { ColumnName(rawValue: $0).key }
    }

    /// Returns the finding for a header without a column for the key: its columns, and the setting that probably helps.
    private func keyMissing(in names: [String], _ line: Int) -> Finding {
        // A line with a digit or an address may be a row with personal data.
        let isHeader = names.allSatisfy { name in
            name.contains(where: \.isLetter) && !name.contains { $0.isNumber || $0 == "@" }
        }
        let shown = names.prefix(12).map { "\"\($0.prefix(40))\"" }.joined(separator: ", ")
        let detail =
            "line \(line), \(names.count) columns" + (isHeader ? ": \(shown)\(names.count > 12 ? ", …" : "")" : "")
        let delimiters: [(Character, String)] = [(";", "semicolon"), (",", "comma"), ("\t", "tab"), ("|", "bar")]
        let other = delimiters.first { mark, _ in names.count == 1 && names[0].contains(mark) }
        let kind = file.settings.key
        let likely = names.first { name in
            let key = ColumnName(rawValue: name).key.filter { $0 != "_" }
            return kind == .email
                ? ["email", "mail", "emailaddress", "emailadresse"].contains(key)
                : [
                    "id", "contactid", "leadid", "customerid", "customernumber", "userid", "personid", "recordid",
                    "subscriberkey",
                    "contactkey", "externalid", "crmid", "kundennummer",
                ].contains(key)
        }
        let remedy =
            other.map { "The columns are probably separated by a \($1): set {\"from\": {\"delimiter\": \"\($1)\"}}." }
            ?? (isHeader ? likely : nil).map {
                "Add to the settings: {\"from\": {\"columns\": {\"\($0)\": \"identifier:\(kind.rawValue)\"}}}, if this column is the key."
            }
        var finding = findings.columnMissing.at("header", detail: detail, remedy: remedy)
        if other == nil, !isHeader, names.count > 1, file.settings.header.isEmpty {
            finding.reason = "The first line looks like a row of data and not like a header (\(detail))."
        }
        return finding
    }

    /// Returns the findings about the whole file, which are reported with the first row.
    private func fileFindings(with number: Int) -> [Finding] {
        guard number == 1 else { return [] }
        let once = "said once for all rows"
        let other = passedOther ? [findings.headerOther.at("header", detail: once)] : []
        let said = columns.enumerated().compactMap { place, column in
            guard column.hasName else {
                return findings.columnUnnamed.at("columns.\(place + 1)", detail: "column \(place + 1), \(once)")
            }
            return file.finding(on: column)
        }
        let dated = columns.compactMap { column -> Finding? in
            guard case .form(let form)? = file.settings.columnDates[ColumnName(rawValue: column.name).key] else {
                return nil
            }
            var finding = findings.dateForm.at("columns.\(column.name)", detail: "\(form.rawValue), \(once)")
            finding.summary = "\(findings.dateForm.reason) (\(form.rawValue))."
            return finding
        }
        let places = Set(columns.map(\.place))
        let attributes = places.compactMap { if case .attribute(let name) = $0 { name.rawValue } else { nil } }
        let absent = file.settings.types.keys.filter { !places.contains(.attribute($0)) }
            .map { "\($0.rawValue)\(Self.guess($0.rawValue, in: attributes.sorted()))" }.sorted()
        var untyped = findings.typeAbsent.at("types", detail: "\(absent.joined(separator: ", ")); \(once)")
        untyped.summary = "\(findings.typeAbsent.reason) (\(absent.joined(separator: ", ")))."
        return other + said + dated + absentColumns(once) + similarColumns(once) + (absent.isEmpty ? [] : [untyped])
    }

    /// Returns findings for columns in settings that the file does not have. Missing columns with consent are rejected with the
    /// header.
    private func absentColumns(_ once: String) -> [Finding] {
        let (settings, names) = (file.settings, columns.map(\.name))
        let known = Set(names.map { ColumnName(rawValue: $0).key })
        let named =
            settings.columns.filter { !$0.place.isAboutConsent && $0.place != .ignored }.map { ("columns", $0.name) }
            + settings.columnDates.keys.sorted().map { ("dateForms", $0) }
            + settings.columnWords.keys.sorted().map { ("words", $0) }
            + settings.columnInvalid.keys.sorted().map { ("onInvalid", $0) }
        return named.filter { !known.contains(ColumnName(rawValue: $0.1).key) }.map { setting, name in
            let guess = Self.guess(name, in: names)
            var finding = findings.columnAbsent.at("\(setting).\(name)", detail: "\(once)\(guess)")
            if !guess.isEmpty { finding.summary = "\(findings.columnAbsent.reason) (\(guess.dropFirst(2)))." }
            return finding
        }
    }

    /// Returns findings for columns without a meaning whose names resemble a missing identifier or consent decision.
    private func similarColumns(_ once: String) -> [Finding] {
        let places = Set(columns.map(\.place))
        let missing = file.kind.columns.filter { column in
            let isIdentifier = if case .identifier = column.place { true } else { false }
            return (isIdentifier || column.place.isAboutConsent) && !places.contains(column.place)
        }
        return columns.compactMap { column in
            guard column.isUnexplained, column.remark == nil,
                let name = column.name.near(in: missing.map(\.name)).first,
                let place = missing.first(where: { $0.name == name })?.place
            else { return nil }
            let own = JSONValue.string(column.name).text
            var finding = findings.columnSimilar.at(
                "columns.\(column.name)",
                detail: "\(name); \(once)",
                remedy:
                    "If it is that column, add to the settings: {\"from\": {\"columns\": {\(own): \"\(place.text)\"}}}."
            )
            finding.summary = "\(findings.columnSimilar.reason) (\(name))."
            return finding
        }
    }

    /// Returns names similar to a missing one, preceded by a semicolon; empty if there are none.
    private static func guess(_ name: String, in names: [String]) -> String {
        let near = name.near(in: names).map { "\"\($0.prefix(40))\"" }
        return near.isEmpty ? "" : "; did you mean \(near.joined(separator: " or "))?"
    }

    // MARK: Rows

    /// Reads one row, or reports why it is not a valid row.
    public func record(_ row: Result<DelimitedRecord, DelimitedFault>) -> SourceRecord {
        switch row {
        case .failure(let fault):
            let column = columns.indices.contains(fault.field - 1) ? columns[fault.field - 1].name : "\(fault.field)"
            let detail = "row \(fault.number), line \(fault.line), \(fault.reason)"
            let isTooLong = fault.code == .recordTooLong
            let row = isTooLong ? findings.faultLong : findings.fault
            let remedy =
                fault.code == .invalidUTF8 && file.settings.encoding == .utf8
                ? "Save the file as UTF-8, or set {\"from\": {\"encoding\": \"windows-1252\"}} if a Windows program wrote it."
                : isTooLong ? nil : fault.remedy
            return SourceRecord(
                number: fault.number,
                line: fault.line,
                bytes: file.settings.encoding.encoded(fault.bytes.withoutLineEnd),
                contact: nil,
                findings: fileFindings(with: fault.number) + [
                    row.at("columns.\(column)", detail: detail, remedy: remedy)
                ],
                said: said(by: fault)
            )
        case .success(let row):
            let bytes = file.settings.encoding.encoded(row.bytes.withoutLineEnd)
            var record = SourceRecord(number: row.number, line: row.line, bytes: bytes, contact: nil)
            record.findings = fileFindings(with: row.number) + read(row, into: &record) + uncertainties(of: row, bytes)
            return record
        }
    }

    private func texts(of fields: [String]) -> [String] {
        let forms = file.settings.forms
        return fields.map { FormulaGuard.unguarded(forms.undoubled($0.trimmed)).trimmed }
    }

    // MARK: Consent decisions of rejected rows

    /// Returns the consent decisions of a row that is rejected because of invalid characters.
    ///
    /// A consent value with such a character counts as unreadable. If the number of fields does not match the columns, every
    /// value does.
    private func said(by fields: [String]) -> RefusedWords? {
        guard let table, !fields.isEmpty else { return nil }
        let isWhole = fields.count == columns.count
        let filled = fields.prefix(columns.count) + Array(repeating: "", count: max(0, columns.count - fields.count))
        var draft = ContactDraft(table, texts(of: Array(filled)), "")
        var contact = draft.contact()
        if isWhole { return draft.said(by: contact) }
        (contact.subscriptions, contact.consents) = ([], [])
        // An address identifies the person regardless of its column.
        contact.identifiers.removeAll { $0.kind == .email }
        contact.identifiers += texts(of: fields).filter(FieldForm.isEmail).map { Identifier(.email, $0) }
        return RefusedWords(of: contact, unread: Set(table.wishes), Set(table.denials.map(\.scope)))
    }

    /// Returns the consent decisions of bytes that are not a valid row. Bytes that are not text are replaced, and misplaced
    /// quotes are treated as ordinary characters.
    private func said(by fault: DelimitedFault) -> RefusedWords? {
        guard fault.code != .recordTooLong else { return nil }
        var dialect = file.dialect
        dialect.hasHeader = false
        let isOfQuotes = fault.code != .invalidUTF8
        if isOfQuotes { dialect.quoting = .never }
        var reader = DelimitedReader(dialect: dialect)
        reader.append(String(decoding: fault.bytes, as: UTF8.self).utf8)
        reader.finish()
        guard case .success(let row)? = reader.next() else { return nil }
        return said(by: isOfQuotes ? row.fields.map(\.unquoted) : row.fields)
    }

    /// Returns findings for a row that may be damaged.
    private func uncertainties(of row: DelimitedRecord, _ bytes: [UInt8]) -> [Finding] {
        var uncertainties: [Finding] = []
        let last = row.line + bytes.count { $0 == UInt8(ascii: "\n") }
        if last - row.line >= Self.usualLines {
            let place = "row \(row.number), lines \(row.line) to \(last)"
            uncertainties.append(findings.manyLines.at("row", detail: place))
        }
        if file.settings.encoding.isUncertain(bytes) {
            uncertainties.append(findings.uncertain.at("row", detail: "row \(row.number), line \(row.line)"))
        }
        return uncertainties
    }

    /// Whether a row is a repeated header, as in concatenated files. It may have another spelling, and begin with a byte-order
    /// mark.
    private func isHeader(_ row: DelimitedRecord) -> Bool {
        guard let first = row.fields.first, let name = headerKeys.first else { return false }
        // Fast path: most rows differ from the header in the first character, if it is a letter or digit.
        if let sign = first.utf8.first, sign.isAlphanumeric, sign | 0x20 != name.utf8.first { return false }
        guard ColumnName(rawValue: first.unmarked).key == name else { return false }
        return zip(row.fields, headerKeys).dropFirst().allSatisfy { ColumnName(rawValue: $0).key == $1 }
    }

    /// Reads as much of a row's contact as possible and returns the findings about it.
    private func read(_ row: DelimitedRecord, into record: inout SourceRecord) -> [Finding] {
        let place = "row \(row.number), line \(row.line)"
        guard let table else { return [findings.empty.at()] }
        guard row.fields.count == columns.count else {
            // The first column without a field, or the index of the first field without a column.
            let isShort = row.fields.count < columns.count
            let first = isShort ? columns[row.fields.count].name : "\(columns.count + 1)"
            let sizes = "\(place), \(row.fields.count) fields for \(columns.count) columns"
            let remedy = "Add the missing fields, and quote a field that holds a line break."
            record.said = said(by: row.fields)
            return [findings.width.at("columns.\(first)", detail: sizes, remedy: isShort ? remedy : nil)]
        }
        if isHeader(row) {
            return [findings.headerAgain.at("header", detail: place)]
        }
        if row.bytes.starts(with: Self.byteOrderMark) {
            let mark = "\(place), a byte-order mark stands before it, as where files were joined"
            record.said = said(by: [row.fields[0].unmarked] + row.fields.dropFirst())
            return [findings.fault.at("columns.\(columns[0].name)", detail: mark, remedy: Self.takeMarkAway)]
        }
        if row.bytes.contains(0) {
            let nul = zip(columns, row.fields).filter { $0.1.utf8.contains(0) }
            record.said = said(by: row.fields)
            return nul.map { findings.control.at("columns.\($0.0.name)", detail: place) }
        }
        var draft = ContactDraft(table, texts(of: row.fields), place)
        let contact = draft.contact()
        if draft.findings.contains(where: { $0.severity == .error }) {
            record.said = draft.said(by: contact)
        } else {
            record.contact = contact
        }
        return draft.findings
    }
}

extension FieldForms {
    /// Returns a text with the format's special character doubled.
    func doubled(_ text: String) -> String {
        guard let doubled, text.unicodeScalars.contains(doubled) else { return text }
        return String(text.unicodeScalars.replacing([doubled], with: [doubled, doubled]))
    }

    /// Reverses ``doubled(_:)``; a single character stays.
    package func undoubled(_ text: String) -> String {
        guard let doubled, text.unicodeScalars.contains(doubled) else { return text }
        return String(text.unicodeScalars.replacing([doubled, doubled], with: [doubled]))
    }
}

extension ContactColumn {
    /// Whether the column has a meaning, or could have one if it were mapped.
    var hasName: Bool { place != .ignored || !SnakeCase.text(name).isEmpty }
}

extension String {
    /// The text after a byte-order mark, without quotes, which have no meaning there. A text without a mark stays.
    fileprivate var unmarked: String {
        unicodeScalars.first == "\u{FEFF}" ? String(unicodeScalars.dropFirst()).unquoted : self
    }

    /// The text without one quote at each end, if it has both.
    fileprivate var unquoted: String {
        let text = unicodeScalars
        let isQuoted = text.count > 1 && text.first == "\"" && text.last == "\""
        return isQuoted ? String(text.dropFirst().dropLast()) : self
    }
}

extension UInt8 {
    fileprivate var isAlphanumeric: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: false
        }
    }
}

extension DelimitedFault {
    /// The reason, without the row's text.
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
    /// The bytes without a trailing LF or CR LF.
    package var withoutLineEnd: [UInt8] {
        guard last == UInt8(ascii: "\n") else { return self }
        let line = dropLast()
        // The slice is converted only here; conversions between would copy byte by byte.
        return Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
    }
}

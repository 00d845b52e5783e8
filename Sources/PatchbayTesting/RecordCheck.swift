import PatchbayAdapterKit
public import PatchbayJSON
public import PatchbayModel
public import PatchbayRecords
public import Testing

/// A file format under test, with settings and contacts.
public struct RecordHarness: Sendable {
    /// The format.
    public let format: RecordFormat
    /// The settings for reading and writing.
    public let settings: JSONObject
    /// The contacts, each with a name.
    public let contacts: [(name: String, contact: Contact)]
    /// The goldens. A second format of a vendor has its own folder.
    public let goldens: Goldens
    private let rules: Set<RuleID>
    private let findings: Set<String>
    let adapter: AdapterID

    /// Creates a format under test.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - settings: The settings for reading and writing.
    ///   - files: The vendor's files, with the rules and findings of the format.
    ///   - extras: Contacts for this format, in addition to those of the corpus.
    ///   - goldens: The folder of the goldens.
    public init(
        _ format: RecordFormat,
        settings: JSONObject,
        of files: VendorFiles,
        extras: [(name: String, contact: Contact)] = [],
        goldens: Goldens
    ) {
        (self.format, self.settings, self.goldens) = (format, settings, goldens)
        contacts = Corpus.contacts + extras
        adapter = files.id
        rules = Set(files.rules.map(\.id))
        findings = Set(files.findings.map(\.code))
    }

    // MARK: Conversions

    /// Returns a file of the contacts that the format accepts.
    ///
    /// - Throws: ``SettingsError`` if the settings are invalid.
    public func file(of contacts: [Contact]) throws -> [UInt8] { try write(contacts).bytes }

    /// Returns the contacts of a file.
    ///
    /// - Throws: ``SettingsError`` if the file as a whole cannot be read.
    public func contacts(in bytes: [UInt8]) throws -> [Contact] { try read(bytes).compactMap(\.contact) }

    /// Returns the problems of a file that a migration wrote: contacts that are missing without an error, values that were
    /// lost without a finding, and consent decisions that allow more than the person did.
    ///
    /// - Parameters:
    ///   - bytes: The file.
    ///   - contacts: The contacts as they were read from the source.
    /// - Returns: One sentence for each problem.
    /// - Throws: ``SettingsError`` if the file cannot be read.
    public func problems(of bytes: [UInt8], madeOf contacts: [Contact]) throws -> [String] {
        let written = try contacts.map { ($0, try write([$0])) }.filter { !$0.1.isRefused }
        guard !written.isEmpty else { return [] }
        let back = try self.contacts(in: bytes)
        guard back.count == written.count else { return ["\(back.count) contacts instead of \(written.count)."] }
        return zip(written, back).flatMap { written, back -> [String] in
            let losses = ContactLosses(written.0, read: back, findings: written.1.findings)
            let name = written.0.identifiers.first?.value ?? ""
            return losses.silent.map { "\(name): \($0) is lost or changed, and no finding reports it." }
                + losses.raised.map { "\(name): \($0) was read back, but must not be." }
        }
    }

    // MARK: Reading and writing

    /// The result of writing one contact.
    struct Written: Sendable {
        var bytes: [UInt8]
        var findings: [Finding]
        var isRefused: Bool { findings.contains { $0.severity == .error } }
    }

    func write(_ contacts: [Contact]) throws -> Written {
        guard let make = format.makeWriter else { return Written(bytes: [], findings: []) }
        var writer = try make(settings)
        var written = Written(bytes: writer.header(), findings: [])
        for contact in contacts { written.findings += writer.write(contact, to: &written.bytes) }
        written.bytes += writer.footer()
        return written
    }

    func read(_ bytes: [UInt8], chunk: Int = .max, _ changes: JSONObject = [:]) throws -> [SourceRecord] {
        guard let make = format.makeReader else { return [] }
        var settings = settings
        for change in changes { settings[change.name] = change.value }
        var reader = try make(settings)
        var (records, rest) = ([SourceRecord](), bytes[...])
        while !rest.isEmpty {
            try reader.read(Array(rest.prefix(chunk))) { records.append($0) }
            rest = rest.dropFirst(chunk)
        }
        try reader.finish { records.append($0) }
        return records
    }

    /// The dialect, if the format is delimited text with a header.
    var dialect: DelimitedDialect? {
        guard case .columns(let layout)? = try? format.makeSourceLayout?(settings), layout.encoding == .utf8,
            layout.dialect.hasHeader
        else {
            return nil
        }
        return layout.dialect
    }

    /// Returns whether the vendor's descriptor lists a finding, including its rule.
    func isListed(_ finding: Finding) -> Bool {
        findings.contains(finding.code) && finding.rule.map(rules.contains) ?? true
    }

    /// The rules of the format that the vendor's files lack.
    var unlistedRules: [RuleID] { format.rules.filter { !rules.contains($0) } }
}

/// A check of one requirement for every file format.
///
/// ```swift
/// static let harness = RecordHarness(.acmeContacts, settings: …, of: AcmeDevice.self, goldens: Goldens())
///
/// @Test(arguments: RecordCheck.all)
/// func conforms(_ check: RecordCheck) throws { try check.run(on: Self.harness) }
/// ```
public struct RecordCheck: Sendable, CustomTestStringConvertible {
    /// The check's name.
    public let name: String
    private let problems: @Sendable (RecordHarness) throws -> [String]

    init(_ name: String, _ problems: @escaping @Sendable (RecordHarness) throws -> [String]) {
        (self.name, self.problems) = (name, problems)
    }

    /// The name.
    public var testDescription: String { name }

    /// Runs the check and records an issue for each problem, at most twenty.
    ///
    /// - Throws: An unexpected error of a reader or a writer.
    public func run(on harness: RecordHarness, sourceLocation: SourceLocation = #_sourceLocation) throws {
        for problem in try Array(Set(problems(harness))).sorted().prefix(20) {
            Issue.record("\(harness.format.id) (\(name)): \(problem)", sourceLocation: sourceLocation)
        }
    }

    /// All checks.
    public static let all: [RecordCheck] = writing + reading + badInput

    // MARK: Writing

    private static let writing: [RecordCheck] = [
        RecordCheck("every contact has exactly one golden") { harness in
            guard harness.format.makeWriter != nil else { return [] }
            for (name, contact) in harness.contacts {
                let written = try harness.write([contact])
                let said = written.findings.map { "# \($0.description)" }
                let text = String(decoding: written.bytes, as: UTF8.self).withVisibleReturns
                harness.goldens.check((text + said.joined(separator: "\n")).trimmed, .records, name)
            }
            harness.goldens.checkNoOrphans(.records, expected: Set(harness.contacts.map(\.name)))
            return []
        },
        RecordCheck("a written contact is read back unchanged, or a finding reports the loss") { harness in
            guard harness.format.makeWriter != nil, harness.format.makeReader != nil else { return [] }
            return try harness.allContacts.flatMap { name, contact -> [String] in
                let written = try harness.write([contact])
                if written.isRefused { return [] }
                let records = try harness.read(written.bytes)
                guard records.count == 1, let back = records[0].contact else {
                    let why = records.first?.findings.map(\.description).joined(separator: " ") ?? ""
                    return ["\(name) is read back as \(records.count) records instead of one contact. \(why)"]
                }
                let losses = ContactLosses(contact, read: back, findings: written.findings)
                return losses.silent.map { "\(name): \($0) is lost or changed, and no finding reports it." }
                    + losses.raised.map { "\(name): \($0) was read back, but must not be." }
            }
        },
        RecordCheck("a refused contact writes no bytes, and every other contact writes some") { harness in
            let plain = try harness.write([])
            return try harness.allContacts.compactMap { name, contact in
                let written = try harness.write([contact])
                let isEmpty = written.bytes.count == plain.bytes.count
                return isEmpty == written.isRefused || harness.format.makeWriter == nil
                    ? nil
                    : "\(name): \(written.bytes.count - plain.bytes.count) bytes, refused: \(written.isRefused)."
            }
        },
        RecordCheck("a contact is always written with the same bytes") { harness in
            try harness.allContacts.prefix(40).compactMap { name, contact in
                try harness.write([contact]).bytes == harness.write([contact]).bytes
                    ? nil : "\(name): the bytes differ."
            }
        },
        RecordCheck("every finding is listed by the vendor's files and contains no value") { harness in
            let rules = harness.unlistedRules.map { "\($0) is not a rule of the vendor's files." }
            return try rules
                + harness.allContacts.flatMap { name, contact -> [String] in
                    let values = contact.identifiers.map(\.value).filter { $0.count > 8 }
                    return try harness.write([contact]).findings.flatMap { finding -> [String] in
                        let text = "\(finding.reason) \(finding.remedy)"
                        return
                            (harness.isListed(finding)
                            ? [] : ["\(finding.code) is not in the findings of the vendor's files."])
                            + (finding.remedy.trimmed.isEmpty ? ["\(finding.code) has no remedy."] : [])
                            + (values.contains { text.contains($0) } ? ["\(finding.code) shows a value."] : [])
                    }
                }
        },
    ]

    // MARK: Reading

    private static let reading: [RecordCheck] = [
        RecordCheck("the chunk size does not change the records") { harness in
            guard let file = try harness.sampleFile() else { return [] }
            let whole = try harness.read(file)
            return try [1, 7, 64].flatMap { chunk -> [String] in
                let chunked = try harness.read(file, chunk: chunk)
                let isSame =
                    chunked.map(\.contact) == whole.map(\.contact) && chunked.map(\.bytes) == whole.map(\.bytes)
                    && chunked.map(\.findings) == whole.map(\.findings) && chunked.map(\.line) == whole.map(\.line)
                return isSame ? [] : ["chunks of \(chunk) bytes give other records."]
            }
        },
        RecordCheck("a row can be read on its own if the format declares it") { harness in
            let reader = try harness.format.makeReader?(harness.settings)
            let isFit =
                switch try harness.format.makeSourceLayout?(harness.settings) {
                case .columns?: reader is any RowReader
                case .members?, .neutralLines?: reader is any RecordReader
                case nil: true
                }
            return isFit ? [] : ["the reader cannot read a record on its own."]
        },
        RecordCheck("a record writer writes each contact independently of earlier ones") { harness in
            guard var writer = try harness.format.makeWriter?(harness.settings) as? any RecordWriter else { return [] }
            return try harness.contacts.flatMap { name, contact -> [String] in
                guard var other = try harness.format.makeWriter?(harness.settings) else { return [] }
                var (bytes, alone) = ([UInt8](), [UInt8]())
                let findings = (writer.write(contact, to: &bytes), other.write(contact, to: &alone))
                return bytes == alone && findings.0 == findings.1 ? [] : ["\(name): the bytes or the findings differ."]
            }
        },
        RecordCheck("the case and order of the header columns do not matter") { harness in
            guard let file = try harness.sampleFile(), let dialect = harness.dialect else { return [] }
            var reader = DelimitedReader(dialect: dialect)
            reader.append(file)
            reader.finish()
            var rows: [[String]] = []
            while let row = reader.next() { if case .success(let row) = row { rows.append(row.fields) } }
            guard let header = reader.header?.fields else { return ["the file has no header."] }
            var writer = DelimitedWriter(dialect: dialect)
            try writer.record(header.reversed().map { $0.uppercased() })
            for row in rows { try writer.record(row.reversed()) }
            let turned = try harness.read(writer.bytes).map(\.contact)
            return try turned == harness.read(file).map(\.contact) ? [] : ["the contacts differ."]
        },
        RecordCheck("invalid settings are refused with path and remedy") { harness in
            let canary = "Canary77"
            var problems: [String] = []
            func expectRefusal(_ make: () throws -> Void) {
                do {
                    try make()
                    problems.append("an unknown setting is accepted.")
                } catch let error as SettingsError {
                    for finding in error.findings where finding.remedy.isEmpty || finding.path.isEmpty {
                        problems.append("\(finding.code) has no path or no remedy.")
                    }
                    if "\(error)".contains(canary) { problems.append("a finding shows the value.") }
                } catch {
                    problems.append("\(error)")
                }
            }
            var settings = harness.settings
            settings["no_such_setting"] = .string(canary)
            let (reader, writer) = (harness.format.makeReader, harness.format.makeWriter)
            if let reader { expectRefusal { _ = try reader(settings) } }
            if let writer { expectRefusal { _ = try writer(settings) } }
            return problems
        },
    ]

    // MARK: Invalid input

    private static let badInput: [RecordCheck] = [
        RecordCheck("an invalid row is one record with line, column and bytes, and the next row is read") {
            harness in
            guard let file = try harness.sampleFile(), let dialect = harness.dialect else { return [] }
            let good = try harness.read(file)
            guard let row = good.first(where: { $0.contact != nil })?.bytes else {
                return ["the file has no valid row."]
            }
            let header = file.prefix { $0 != 0x0A } + [0x0A]
            return try BadRow.all(row, dialect).flatMap { bad -> [String] in
                let records = try harness.read(Array(header) + row + [0x0A] + bad.bytes + [0x0A] + row + [0x0A])
                let faulty = records.filter { $0.contact == nil }
                guard let first = faulty.first, records.first?.contact != nil, records.last?.contact != nil else {
                    return ["\(bad.label): no row is rejected, or a valid row is, too."]
                }
                let columns = first.findings.filter { $0.severity == .error }
                return (first.line == 3 ? [] : ["\(bad.label): it is reported for line \(first.line) instead of 3."])
                    + (columns.allSatisfy { $0.path.hasPrefix("columns.") }
                        ? [] : ["\(bad.label): no column is named."])
                    + (columns.allSatisfy { $0.reason.contains("line 3") } ? [] : ["\(bad.label): no line is named."])
                    + (columns.allSatisfy(harness.isListed) ? [] : ["\(bad.label): the finding is not listed."])
                    + (first.bytes == bad.kept ? [] : ["\(bad.label): its bytes differ from those of the file."])
            }
        },
        RecordCheck("an unreadable file is refused as a whole") { harness in
            guard let file = try harness.sampleFile(), let dialect = harness.dialect else { return [] }
            let lines = file.split(separator: 0x0A, omittingEmptySubsequences: false).map(Array.init)
            let header = lines[0]
            let twice = header.filter { $0 != 0x0D } + [dialect.delimiter] + header.filter { $0 != 0x0D }
            let files: [(String, [UInt8])] = [
                ("an empty file", []), ("a byte order mark alone", [0xEF, 0xBB, 0xBF]),
                ("a header alone", header + [0x0A]),
                ("UTF-16", [0xFF, 0xFE] + header.flatMap { [$0, 0] }), ("NUL in the header", [0x00] + file),
                ("duplicate columns", twice + [0x0A] + Array("x".utf8) + [0x0A]),
                ("no key", Array("nothing_known\nx\n".utf8)),
                ("a header that is not UTF-8", [0xC3, 0x28, 0x0A] + file),
            ]
            return files.compactMap { label, bytes in
                do {
                    let records = try harness.read(bytes)
                    return "\(label): the file is accepted and gives \(records.count) records."
                } catch let error as SettingsError {
                    let isSaid = error.findings.allSatisfy { harness.isListed($0) && !$0.remedy.isEmpty }
                    return isSaid ? nil : "\(label): \(error)"
                } catch {
                    return "\(label): \(error)"
                }
            }
        },
        RecordCheck("a randomly damaged file is read to its end") { harness in
            guard let file = try harness.sampleFile() else { return [] }
            var random = SeededGenerator(seed: 5)
            return (0..<60).compactMap { round in
                var bytes = file
                for _ in 0...random.below(6) where !bytes.isEmpty {
                    let place = random.below(bytes.count)
                    switch random.below(3) {
                    case 0: bytes[place] = UInt8(random.below(256))
                    case 1: bytes.remove(at: place)
                    default: bytes.insert(random.pick(Array("\"\n,;|{}\\".utf8) + [0, 0xFF]), at: place)
                    }
                }
                do {
                    let records = try harness.read(bytes, chunk: 1 + random.below(300))
                    let isExplained = records.allSatisfy { record in
                        record.contact != nil || record.findings.contains { $0.severity == .error }
                    }
                    return isExplained ? nil : "round \(round): a record has neither a contact nor a reason."
                } catch is SettingsError {
                    return nil
                } catch {
                    return "round \(round): \(error)"
                }
            }
        },
    ]
}

extension RecordHarness {
    /// The contacts, and eighty generated ones.
    var allContacts: [(name: String, contact: Contact)] {
        let names = Set(contacts.flatMap { $0.contact.attributes.keys }).sorted()
        var maker = ContactMaker(seed: 7, attributes: names)
        return contacts + (0..<80).map { ("seed 7, contact \($0)", maker.next()) }
    }

    /// Returns a file of all contacts that the format accepts; nil if the format cannot be both read and written.
    func sampleFile() throws -> [UInt8]? {
        guard format.makeWriter != nil, format.makeReader != nil else { return nil }
        return try write(contacts.map(\.contact)).bytes
    }
}

/// An invalid row.
private struct BadRow {
    let label: String
    let bytes: [UInt8]
    /// The part of the row that is kept as rejected.
    let kept: [UInt8]

    private init(_ label: String, _ bytes: [UInt8]) { (self.label, self.bytes, kept) = (label, bytes, bytes) }

    static func all(_ row: [UInt8], _ dialect: DelimitedDialect) -> [BadRow] {
        let comma = dialect.delimiter
        let quoted: [BadRow] = [
            BadRow("text after a closing quote", Array("\"a\"b".utf8) + [comma] + row),
            BadRow("a quote that is never closed", Array("\"a".utf8) + [comma] + row.filter { $0 != dialect.quote }),
        ]
        return [
            BadRow("an additional field", row + [comma] + Array("x".utf8)), BadRow("a single field", Array("x".utf8)),
            BadRow("not UTF-8", [0xC3, 0x28] + row), BadRow("a NUL byte", nul(row)),
        ] + (dialect.quoting == .never ? [] : quoted)
    }

    /// Returns the row with a NUL in its first field.
    private static func nul(_ row: [UInt8]) -> [UInt8] {
        var row = row
        row.insert(0, at: row.first == UInt8(ascii: "\"") ? 1 : 0)
        return row
    }
}

extension String {
    /// The text with visible carriage returns.
    fileprivate var withVisibleReturns: String {
        unicodeScalars.map { $0 == "\r" ? "\u{240D}" : String($0) }.joined()
    }
}

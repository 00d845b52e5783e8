import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// The data that a thread needs to map chunks of a source. Each thread compiles it.
struct BulkPlan: Sendable {
    /// The layout of the source's records; nil if they can only be read as one file.
    var source: SourceLayout?
    /// The layout of the target's records; nil if it is not known, and every record takes the general path.
    var layout: TargetLayout?
    let catalogue: AttributeCatalogue
    /// The changes to every contact.
    let mapping: ContactMapping
    let makeReader: @Sendable () throws(SettingsError) -> any ContactReader
    let makeWriter: @Sendable () throws(SettingsError) -> any ContactWriter
    /// Whether the source is surveyed during the run.
    var counts = false
    /// The attribute with the time of a person's last activity, for a survey.
    var activity: Activity?
    /// Whether an unreadable consent value of a rejected record counts as an opt-out.
    var treatsUnreadableAsOptOut = true
    var rejecting = Rejecting()
    /// Whether a follower receives each written record.
    var isFollowed = false
    /// Creates the evidence of one thread; nil for a run without evidence.
    var makeEvidence: (@Sendable () throws -> ConsentEvidence)?

    /// The treatment of rejected records.
    struct Rejecting: Sendable {
        /// The settings that cause findings, by the code of the finding.
        var deciding: [String: String] = [:]
        /// Whether rejected records are kept for a list of rejects.
        var keepsRecords = true
    }

    /// Creates the general path of one thread.
    func makeGeneralPath(_ consent: ConsentUse = .ignored, applying optOuts: EarlierOptOuts? = nil)
        throws(SettingsError)
        -> GeneralPath
    {
        GeneralPath(
            writer: try makeWriter(),
            catalogue: catalogue,
            mapping: mapping,
            consent: consent,
            applying: optOuts,
            treatsUnreadableAsOptOut: treatsUnreadableAsOptOut
        )
    }

    /// The bytes before the first row, and the column names in them.
    struct Header: Sendable {
        var bytes: [UInt8] = []
        var fields: [String] = []
        /// The first row of a file without a header, from which a reader recognizes the file.
        var firstRow: [UInt8] = []
    }

    /// Whether the output of a record may depend on earlier records. If so, one thread maps all of them.
    var isOrdered: Bool {
        guard layout == nil else { return false }
        return !((try? makeWriter()) is any RecordWriter)
    }

    /// A reader of records according to the source's layout.
    enum Reader {
        case lines(any RecordReader)
        case rows(any RowReader)
        /// Reads all bytes in order, from the first, because the layout does not describe the file.
        case file(any ContactReader)
    }

    /// Returns a reader that has read the header; without a header, a reader of the whole file.
    func reader(behind header: Header?) throws -> Reader {
        switch (source, header) {
        case (.neutralLines?, _?), (.members?, _?):
            if let reader = try makeReader() as? any RecordReader { return .lines(reader) }
        case (.columns?, let header?):
            if var reader = try makeReader() as? any RowReader {
                try reader.read(encoding.encoded(header.bytes + header.firstRow)) { _ in }
                if reader.knowsColumns { return .rows(reader) }
            }
        case (nil, _), (_, nil): break
        }
        return .file(try makeReader())
    }

    /// Creates a mapper for records after a header, or for those of a whole file.
    func makeMapper(behind header: Header?, _ consent: ConsentReceiver) throws -> ChunkMapper {
        try makeMapper(behind: header, consent.use, applying: consent.optOuts)
    }

    /// Creates a mapper that lowers opt-ins by `optOuts`, which must not be used on another thread.
    func makeMapper(
        behind header: Header?,
        _ consent: ConsentUse,
        applying optOuts: EarlierOptOuts?
    ) throws -> ChunkMapper {
        let (arena, general) = (Arena(), try makeGeneralPath(consent, applying: optOuts))
        let rules = MappingCompiler(mapping, in: arena)
        func compile(
            attributes: [AttributeName] = [],
            topics: [String] = [],
            _ sourceNotes: [FindingRow] = []
        ) -> CompiledPlan {
            CompiledPlan(
                layout,
                catalogue: catalogue,
                attributes: attributes + rules.names + (activity.map { [$0.attribute] } ?? []),
                kinds: rules.kinds + general.keyKinds + ConsentMarks.addressKinds.map(\.kind),
                topics: topics,
                sourceNotes: sourceNotes,
                isMapped: !mapping.isEmpty,
                counts: counts
            )
        }
        let evidence = try makeEvidence?()
        func mapper(_ compiled: CompiledPlan, _ source: RecordSource, takesGeneralPath: Bool = false) -> ChunkMapper {
            let steps = mapping.isEmpty ? nil : MappingPlan(rules, for: compiled)
            return ChunkMapper(
                compiled,
                source,
                in: arena,
                mapping: steps,
                general: general,
                takesGeneralPath: takesGeneralPath || steps == nil && !mapping.isEmpty,
                counter: counts ? BulkSurvey(compiled, activity, in: arena) : nil,
                book: counts ? SurveyBook(activity: activity) : nil,
                consent: consent,
                marks: BulkMarks(compiled, knownBy: general.keyKinds, ofKeys: consent == .keys, in: arena),
                applying: optOuts,
                rejecting: rejecting,
                evidence: evidence,
                log: isFollowed ? WrittenLog() : nil
            )
        }
        switch (source, try reader(behind: header)) {
        case (.members(let members)?, .lines(let reader)):
            let compiled = compile(attributes: members.attributes, topics: members.topics)
            guard let scanner = MemberScanner(members, compiled, in: arena) else {
                return mapper(compiled, .lines(NeutralScanner(in: arena), reader), takesGeneralPath: true)
            }
            return mapper(compiled, .members(scanner, reader))
        case (_, .lines(let reader)): return mapper(compile(), .lines(NeutralScanner(in: arena), reader))
        case (.columns(let rows)?, .rows(let reader)):
            let columns = rows.columns(header?.fields ?? [])
            let compiled = compile(
                attributes: columns.compactMap(\.attribute),
                topics: columns.compactMap(\.topic) + rows.everyRow.compactMap(\.topic),
                RowScanner.Rules.rows(rows)
            )
            return mapper(compiled, .rows(RowScanner(rows, columns, compiled, in: arena), reader, rows.dialect))
        case (_, .rows), (_, .file): return mapper(compile(), .file)
        }
    }

    /// The character encoding of the source.
    var encoding: FileEncoding { if case .columns(let layout)? = source { layout.encoding } else { .utf8 } }

    /// Returns the header of a source that begins with these bytes, in UTF-8. Returns nil if they contain no valid header,
    /// or do not show that the source consists of lines.
    func header(in bytes: [UInt8]) -> Header? {
        guard let source else { return nil }
        guard case .columns(let layout) = source else { return RecordLines.areRecognized(in: bytes) ? Header() : nil }
        var reader = DelimitedReader(dialect: layout.dialect)
        reader.append(bytes)
        guard case .success(let row)? = reader.next() else { return nil }
        guard layout.dialect.hasHeader else { return Header(firstRow: row.bytes) }
        guard let header = reader.header else { return nil }
        var end = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
        for _ in 1..<header.line { end = (bytes[end...].firstIndex(of: 0x0A) ?? end) + 1 }
        end += header.bytes.count
        return Header(bytes: Array(bytes[..<end]), fields: header.fields)
    }
}

extension MemberLayout {
    /// The attributes that the layout names.
    fileprivate var attributes: [AttributeName] {
        members.compactMap { member in
            switch member.role {
            case .attribute(let name, _), .code(let name, _), .status(let name, _): name
            case .identifier, .timeZone, .tags, .subscriptions: nil
            }
        }
    }

    /// The topics of the layout's subscriptions.
    fileprivate var topics: [String] {
        members.flatMap { member -> [String] in
            guard case .subscriptions(let list) = member.role else { return [] }
            return list.topics.values.compactMap(\.self).sorted()
        }
    }
}

extension ColumnLayout.Column {
    /// The attribute in the column; nil if it has none.
    fileprivate var attribute: AttributeName? { if case .attribute(let name, _) = role { name } else { nil } }

    /// The topic that the column concerns; nil if it concerns none.
    fileprivate var topic: String? { if case .wish(let key, _) = role { key.topic } else { nil } }
}

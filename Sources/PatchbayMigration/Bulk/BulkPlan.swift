import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Everything that a thread needs to map chunks of a source, to be compiled there.
struct BulkPlan: Sendable {
    /// What the source's records look like; nil if they can only be read as one file.
    var source: SourceLayout?
    /// What the target writes; nil if that is not known, and every record leaves the bulk path.
    var layout: TargetLayout?
    let catalogue: AttributeCatalogue
    /// What is changed of every contact.
    let mapping: ContactMapping
    let makeReader: @Sendable () throws(SettingsError) -> any ContactReader
    let makeWriter: @Sendable () throws(SettingsError) -> any ContactWriter
    /// Whether the source is surveyed on the way.
    var counts = false
    /// The attribute that shows when a person was last seen, for a survey.
    var activity: Activity?
    /// Whether a word about consent that can't be read, in a record that its reader refuses, counts as an opt-out.
    var treatsUnreadableAsOptOut = true
    var rejecting = Rejecting()
    /// Whether a follower receives each record that is written.
    var isFollowed = false
    /// Makes the evidence of one thread; nil for a run without evidence.
    var makeEvidence: (@Sendable () throws -> ConsentEvidence)?

    /// What is to be known of records that are not written.
    struct Rejecting: Sendable {
        /// The settings by the codes of the findings that follow from them.
        var deciding: [String: String] = [:]
        /// Whether they are kept for somebody.
        var isTold = true
    }

    /// The general path of one thread.
    func makeGeneralPath(applying optOuts: EarlierOptOuts? = nil, keepsMarks: Bool = false) throws(SettingsError)
        -> GeneralPath
    {
        GeneralPath(
            writer: try makeWriter(),
            catalogue: catalogue,
            mapping: mapping,
            applying: optOuts,
            keepsMarks: keepsMarks,
            treatsUnreadableAsOptOut: treatsUnreadableAsOptOut
        )
    }

    /// The bytes before the first row, and the names in them.
    struct Header: Sendable {
        var bytes: [UInt8] = []
        var fields: [String] = []
        /// The first row of a file without a header, from which a reader sees what the file is.
        var firstRow: [UInt8] = []
    }

    /// Whether what is written of a record may depend on the records before it: then one thread maps all of them.
    var isOrdered: Bool {
        guard layout == nil else { return false }
        return !((try? makeWriter()) is any RecordWriter)
    }

    /// Reads records, in the way that the source's layout says.
    enum Reader {
        case lines(any RecordReader)
        case rows(any RowReader)
        /// Reads all bytes in order, from the first: the layout does not describe the file.
        case file(any ContactReader)
    }

    /// A reader that has taken the header; one of the whole file without a header.
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

    /// A mapper of its own, of records behind a header, or of those of a whole file. One that heeds opt-outs is for the calling
    /// thread.
    func makeMapper(behind header: Header?, applying optOuts: EarlierOptOuts? = nil) throws -> ChunkMapper {
        let (arena, general) = (Arena(), try makeGeneralPath(applying: optOuts, keepsMarks: optOuts == nil))
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
            let words = BulkMarks(compiled, knownBy: general.keyKinds, in: arena)
            return ChunkMapper(
                compiled,
                source,
                in: arena,
                mapping: steps,
                general: general,
                takesGeneralPath: takesGeneralPath || optOuts != nil && words == nil
                    || steps == nil && !mapping.isEmpty,
                counter: counts ? BulkSurvey(compiled, activity, in: arena) : nil,
                book: counts ? SurveyBook(activity: activity) : nil,
                words: words,
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

    /// How the characters of the source are bytes.
    var encoding: FileEncoding { if case .columns(let layout)? = source { layout.encoding } else { .utf8 } }

    /// The header of a source that begins with these bytes, in UTF-8; nil if there is none in them, or a bad one, or if they don't show
    /// that the source is one of lines.
    func header(in bytes: [UInt8]) -> Header? {
        guard let source else { return nil }
        guard case .columns(let layout) = source else { return RecordLines.areTold(by: bytes) ? Header() : nil }
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
    /// The attributes that it names.
    fileprivate var attributes: [AttributeName] {
        members.compactMap { member in
            switch member.role {
            case .attribute(let name, _), .code(let name, _), .status(let name, _): name
            case .identifier, .timeZone, .tags, .subscriptions: nil
            }
        }
    }

    /// The topics of its subscriptions.
    fileprivate var topics: [String] {
        members.flatMap { member -> [String] in
            guard case .subscriptions(let list) = member.role else { return [] }
            return list.topics.values.compactMap(\.self).sorted()
        }
    }
}

extension ColumnLayout.Column {
    /// The attribute that it holds, if it holds one.
    fileprivate var attribute: AttributeName? { if case .attribute(let name, _) = role { name } else { nil } }

    /// The topic that it speaks of, if it does.
    fileprivate var topic: String? { if case .wish(let key, _) = role { key.topic } else { nil } }
}

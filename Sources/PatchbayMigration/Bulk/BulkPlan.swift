import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Everything that a thread needs to map chunks of a source, to be compiled there.
struct BulkPlan: Sendable {
    let source: SourceLayout
    /// What the target writes; nil if that is not known, and every record goes the slow way, but on several threads.
    let layout: TargetLayout?
    let catalogue: AttributeCatalogue
    /// What is changed of every contact.
    let mapping: ContactMapping
    let makeReader: @Sendable () throws(SettingsError) -> any ContactReader
    let makeWriter: @Sendable () throws(SettingsError) -> any ContactWriter
    /// Whether the source is surveyed on the way.
    var counts = false
    /// Whether a word about consent that can't be read, in a record that its reader refuses, counts as a no.
    var fears = true
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

    /// The slow way of one thread.
    func makeSlowWay(heeding noes: EarlierNoes? = nil, tellsWords: Bool = false) throws(SettingsError) -> SlowWay {
        SlowWay(
            writer: try makeWriter(),
            catalogue: catalogue,
            mapping: mapping,
            heeding: noes,
            tellsWords: tellsWords,
            fears: fears
        )
    }

    /// What stands before the first row, and what it says.
    struct Header: Sendable {
        var bytes: [UInt8] = []
        var fields: [String] = []
    }

    /// Reads records, in the way that the source's layout says.
    enum Reader {
        case lines(any RecordReader)
        case rows(any RowReader)
    }

    /// A reader that has taken the header; nil if it can't read a record alone, or can't tell yet what the file is.
    func reader(behind header: Header) throws -> Reader? {
        switch source {
        case .neutralLines, .members: return try (makeReader() as? any RecordReader).map(Reader.lines)
        case .columns:
            guard var reader = try makeReader() as? any RowReader else { return nil }
            try reader.read(encoding.encoded(header.bytes)) { _ in }
            return reader.knowsColumns ? .rows(reader) : nil
        }
    }

    /// A mapper of its own; nil if the reader can't read a record alone. One that heeds noes is for the calling thread.
    func makeMapper(behind header: Header, heeding noes: EarlierNoes? = nil) throws -> ChunkMapper? {
        let (arena, slow) = (Arena(), try makeSlowWay(heeding: noes, tellsWords: noes == nil))
        let rules = MappingCompiler(mapping, in: arena)
        func compile(
            attributes: [AttributeName] = [],
            topics: [String] = [],
            _ sourceNotes: [FindingRow] = []
        ) -> CompiledPlan {
            CompiledPlan(
                layout,
                catalogue: catalogue,
                attributes: attributes + rules.names,
                kinds: rules.kinds + slow.keyKinds + ConsentMarks.addressKinds.map(\.kind),
                topics: topics,
                sourceNotes: sourceNotes,
                isMapped: !mapping.isEmpty,
                counts: counts
            )
        }
        let evidence = try makeEvidence?()
        func mapper(_ compiled: CompiledPlan, _ source: RecordSource) -> ChunkMapper {
            let steps = mapping.isEmpty ? nil : MappingPlan(rules, for: compiled)
            let words = BulkWords(compiled, knownBy: slow.keyKinds, in: arena)
            return ChunkMapper(
                compiled,
                source,
                in: arena,
                mapping: steps,
                slow: slow,
                goesSlow: noes != nil && words == nil || steps == nil && !mapping.isEmpty,
                counts: counts,
                words: words,
                heeding: noes,
                rejecting: rejecting,
                evidence: evidence,
                log: isFollowed ? WrittenLog() : nil
            )
        }
        switch (source, try reader(behind: header)) {
        case (.neutralLines, .lines(let reader)?): return mapper(compile(), .lines(NeutralScanner(in: arena), reader))
        case (.members(let members), .lines(let reader)?):
            let compiled = compile(attributes: members.attributes, topics: members.topics)
            guard let scanner = MemberScanner(members, compiled, in: arena) else { return nil }
            return mapper(compiled, .members(scanner, reader))
        case (.columns(let rows), .rows(let reader)?):
            let columns = rows.columns(header.fields)
            let compiled = compile(
                attributes: columns.compactMap(\.attribute),
                topics: columns.compactMap(\.topic),
                RowScanner.Rules.rows(rows)
            )
            var rowMapper = mapper(
                compiled,
                .rows(RowScanner(rows, columns, compiled, in: arena), reader, rows.dialect)
            )
            rowMapper.isConverted = rows.encoding != .utf8
            return rowMapper
        default: return nil
        }
    }

    /// How the characters of the source are bytes.
    var encoding: FileEncoding { if case .columns(let layout) = source { layout.encoding } else { .utf8 } }

    /// The header of a source that begins with these bytes, in UTF-8; nil if there is none in them, or a bad one, or if they don't show
    /// that the source is one of lines.
    func header(in bytes: [UInt8]) -> Header? {
        guard case .columns(let layout) = source else { return RecordLines.areTold(by: bytes) ? Header() : nil }
        guard layout.dialect.hasHeader else { return Header() }
        var reader = DelimitedReader(dialect: layout.dialect)
        reader.append(bytes)
        guard case .success? = reader.next(), let header = reader.header else { return nil }
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
            case .attribute(let name, _), .code(let name, _): name
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

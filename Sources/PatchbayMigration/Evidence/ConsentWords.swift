import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// The consent decisions of a contact, or of a record of a file.
struct ConsentWords: Hashable {
    /// The subject of a consent decision: a purpose on a channel.
    struct Subject: Hashable, Comparable {
        var purpose: Purpose
        var channel: Channel?
        var topic: String?
        /// Whether the subject is a subscription; otherwise it is a consent.
        var isSubscription: Bool

        static func < (left: Subject, right: Subject) -> Bool { left.order < right.order }

        private var order: (Int, String, String, Int, String) {
            (isSubscription ? 0 : 1, purpose.rawValue, channel?.rawValue ?? "", topic == nil ? 0 : 1, topic ?? "")
        }
    }

    /// The strength of a decision. Only an opt-in allows anything.
    enum Answer: Int, Comparable {
        case no, unknown, yes

        static func < (left: Answer, right: Answer) -> Bool { left.rawValue < right.rawValue }

        init(_ state: Subscription.State) {
            self =
                switch state {
                case .unsubscribed, .suspended: .no
                case .unknown: .unknown
                case .subscribed: .yes
                }
        }

        init(_ state: Consent.State) {
            self =
                switch state {
                case .denied: .no
                case .unknown: .unknown
                case .granted: .yes
                }
        }
    }

    /// The decision about a subject.
    struct Word: Hashable {
        var answer: Answer
        /// The state in the neutral model, such as `suspended`.
        var text: String
        var changedAt: Timestamp?
        var source: String?
    }

    /// A decision about a subject.
    struct Statement: Hashable {
        let subject: Subject
        var word: Word
    }

    /// The decisions, sorted by subject, one for each.
    private(set) var said: [Statement] = []
    /// Whether any decision concerns a consent.
    private var hasConsents = false

    init() {}

    init(_ contact: Contact) {
        for each in contact.subscriptions { add(each) }
        for each in contact.consents { add(each) }
    }

    /// The decisions of a record of the bulk path.
    init(_ view: RecordView) {
        for index in 0..<view.subscriptionCount { add(Subscription(view.subscriptions[index])) }
        for index in 0..<view.consentCount { add(Consent(view.consents[index])) }
    }

    private mutating func add(_ each: Consent) {
        let subject = Subject(purpose: each.purpose, channel: each.channel, isSubscription: false)
        let word = Word(answer: Answer(each.state), text: each.state.rawValue, changedAt: each.changedAt)
        add(word, to: subject, most: false)
    }

    private mutating func add(_ each: Subscription, most: Bool = false) {
        let subject = Subject(purpose: .messaging, channel: each.channel, topic: each.topic, isSubscription: true)
        let answer = Answer(each.state)
        let word = Word(answer: answer, text: each.state.rawValue, changedAt: each.changedAt, source: each.source)
        add(word, to: subject, most: most)
    }

    /// If a subject occurs twice, the least permissive decision counts for a source, and the most permissive one for a
    /// target.
    private mutating func add(_ word: Word, to subject: Subject, most: Bool) {
        hasConsents = hasConsents || !subject.isSubscription
        guard let place = place(of: subject) else {
            let next = said.firstIndex { subject < $0.subject } ?? said.endIndex
            return said.insert(Statement(subject: subject, word: word), at: next)
        }
        let other = said[place].word.answer
        if most ? word.answer > other : word.answer < other { said[place].word = word }
    }

    /// The decision about a subject.
    subscript(subject: Subject) -> Word? { place(of: subject).map { said[$0].word } }

    /// The index of a subject among the decisions; nil if there is none. A contact has few decisions.
    private func place(of subject: Subject) -> Int? { said.firstIndex { $0.subject == subject } }

    /// The decision that applies to a subject. An opt-out from messages on a channel applies to each subscription there.
    func holding(_ subject: Subject) -> Answer {
        let own = self[subject]?.answer
        guard hasConsents else { return own ?? .unknown }
        let general = Subject(purpose: subject.purpose, channel: nil, isSubscription: false)
        let ofChannel = Subject(purpose: subject.purpose, channel: subject.channel, isSubscription: false)
        let consent = [self[ofChannel], self[general]].compactMap { $0?.answer }
        if subject.isSubscription { return consent.contains(.no) ? .no : own ?? .unknown }
        return own ?? self[general]?.answer ?? .unknown
    }

    /// The subjects for which the target allows more than the source. There must be none.
    func raised(in target: ConsentWords) -> [Subject] {
        target.said.filter { target.holding($0.subject) == .yes && holding($0.subject) != .yes }.map(\.subject)
    }

    /// The decisions, and nil for each subject that only the other decisions have, sorted by subject.
    func aligned(with other: ConsentWords?) -> [(subject: Subject, word: Word?)] {
        let own = said.map { ($0.subject, Word?.some($0.word)) }
        let further = other?.said.filter { place(of: $0.subject) == nil } ?? []
        return further.isEmpty ? own : (own + further.map { ($0.subject, nil) }).sorted { $0.0 < $1.0 }
    }

    /// Whether the other decisions differ from these.
    func differs(from other: ConsentWords) -> Bool {
        said.count != other.said.count
            || zip(said, other.said).contains { $0.subject != $1.subject || $0.word.text != $1.word.text }
    }

    // MARK: Reading written records

    /// Adds the decision of a subscription entry that was written by a layout.
    fileprivate mutating func add(
        _ channel: Channel,
        _ resource: Int?,
        _ state: Subscription.State,
        _ topics: [Int: [String?]]
    ) {
        // If a resource stands for several topics, it counts as an opt-in if any of them is one.
        for topic in resource.flatMap({ topics[$0] }) ?? [] {
            add(Subscription(channel: channel, topic: topic, state: state), most: true)
        }
    }

    /// The decisions of contacts that were read back.
    init(writtenAs contacts: [Contact]) {
        for contact in contacts {
            for each in contact.subscriptions { add(each, most: true) }
            for each in ConsentWords(contact).said where !each.subject.isSubscription {
                add(each.word, to: each.subject, most: true)
            }
        }
    }
}

/// Reads the consent decisions back from the bytes that were written for a record.
struct ConsentReader {
    private enum Way {
        case contacts(WrittenReader)
        case layout(LayoutReader)
        /// The format has no consent decisions, or cannot be read.
        case none
    }

    private let way: Way

    init(_ migration: Migration) throws {
        if case .lines(let layout)? = try? migration.target.makeTargetLayout?(migration.targetSettings),
            let found = Self.subscriptions(in: layout.parts, at: []),
            (found.path + [found.layout.name]).allSatisfy(KeyTable.canEnter)
        {
            way = .layout(LayoutReader(found.layout, at: found.path + [found.layout.name]))
        } else if let reader = try WrittenReader(migration) {
            way = .contacts(reader)
        } else {
            way = .none
        }
    }

    private static func subscriptions(
        in parts: [LineLayout.Part],
        at path: [String]
    ) -> (layout: LineLayout.Subscriptions, path: [String])? {
        for part in parts {
            switch part {
            case .subscriptions(let layout): return (layout, path)
            case .object(let name, let parts):
                if let found = subscriptions(in: parts, at: path + [name]) { return found }
            default: continue
            }
        }
        return nil
    }

    /// Returns the decisions of a record with padding after its bytes; nil if it cannot be read back.
    func words(of written: UnsafeBufferPointer<UInt8>) throws -> ConsentWords? {
        if case .layout(let reader) = way { return written.baseAddress.flatMap(reader.words) }
        return try words(of: Array(written)[...])
    }

    /// Returns the decisions of a record; nil if it cannot be read back.
    func words(of written: ArraySlice<UInt8>) throws -> ConsentWords? {
        switch way {
        case .none: return nil
        case .layout(let reader):
            let padded = written + [UInt8](repeating: 0, count: Padding.count)
            return padded.withUnsafeBufferPointer { $0.baseAddress.flatMap(reader.words) }
        case .contacts(let reader): return ConsentWords(writtenAs: try reader.contacts(in: written))
        }
    }
}

/// Reads the decisions of JSON lines that were written by a layout.
private final class LayoutReader {
    /// The topics of each resource; a nil topic is the channel itself.
    private let topics: [Int: [String?]]
    private let arena = Arena()
    private let scratch: Scratch
    /// The names of the nested members that lead to the list of subscriptions, from the outermost.
    private let path: [KeyTable]
    private let members: KeyTable

    init(_ layout: LineLayout.Subscriptions, at path: [String]) {
        let (arena, names) = (arena, layout.members)
        scratch = Scratch(in: arena)
        let known = layout.topics.inOrder.map { ($0.value, Optional.some($0.key)) }
        let resources = known + (layout.resource.map { [($0, nil)] } ?? [])
        topics = Dictionary(resources.map { ($0, [$1]) }, uniquingKeysWith: +)
        self.path = path.map { KeyTable([$0], terminator: .colon, in: arena) }
        members = KeyTable([names.channel, names.resource, names.state], terminator: .colon, in: arena)
    }

    /// Returns the decisions of a line with padding after it; nil if the line is not well-formed.
    func words(of line: Bytes) -> ConsentWords? {
        scratch.reset()
        var words = ConsentWords()
        return object(line, 0, &words) == nil ? nil : words
    }

    private func object(_ start: Bytes, _ depth: Int, _ words: inout ConsentWords) -> Bytes? {
        if depth == path.count { return Grammar.elements(start) { entry($0, &words) } }
        return Grammar.members(start, of: path[depth]) { _, place in
            object(place, depth + 1, &words)
        } other: {
            Grammar.passMember($0)
        }
    }

    private func entry(_ start: Bytes, _ words: inout ConsentWords) -> Bytes? {
        var (channel, resource, state) = (Channel?.none, Int?.none, Subscription.State?.none)
        let end = Grammar.members(start, of: members) { index, start in
            var (place, value) = (start, RecordView.blank)
            Grammar.space(&place)
            guard let end = Grammar.value(place, &value, scratch) else { return nil }
            switch index {
            case 0: channel = Channel(rawValue: value.text.text)
            case 1: resource = Int(value.text.text)
            default: state = Subscription.State(rawValue: value.text.text)
            }
            return end
        } other: {
            Grammar.passMember($0)
        }
        if let channel, let state { words.add(channel, resource, state, topics) }
        return end
    }
}

/// Reads single records of the files that a migration writes.
final class WrittenReader {
    private enum Way {
        case lines(any RecordReader)
        case rows(any RowReader, DelimitedDialect, FileEncoding)
        /// Records cannot be read on their own, so each is read as a file.
        case files(header: [UInt8], make: () throws -> any ContactReader)
    }

    private let way: Way
    /// Creates a reader of a whole file.
    let makeReader: () throws -> any ContactReader

    /// Creates a reader for the target of a migration; nil if the format can only be written.
    init?(_ migration: Migration) throws {
        let (target, settings) = (migration.target, migration.targetSettings)
        guard let make = target.makeReader, let chosen = [settings, [:]].first(where: { (try? make($0)) != nil }) else {
            return nil
        }
        makeReader = { try make(chosen) }
        let header = try migration.makeWriter().header()
        let layout = try? target.makeSourceLayout?(chosen)
        var reader = try make(chosen)
        switch layout {
        case .neutralLines?, .members?:
            if header.isEmpty, let reader = reader as? any RecordReader {
                way = .lines(reader)
                return
            }
        case .columns(let columns)?:
            var dialect = columns.dialect
            dialect.hasHeader = false
            if (try? reader.read(header, { _ in })) != nil, let rows = reader as? any RowReader, rows.knowsColumns {
                way = .rows(rows, dialect, columns.encoding)
                return
            }
        case nil: break
        }
        way = .files(header: header, make: makeReader)
    }

    /// Returns a cutter that splits a file with this header into records that can be read on their own; nil if they cannot.
    func cutter(behind header: [UInt8]) -> RecordCutter? {
        switch way {
        case .lines: RecordCutter(nil, behind: header)
        case .rows(_, let dialect, _): RecordCutter(dialect, behind: header)
        case .files: nil
        }
    }

    /// Returns the records that a reader finds in the bytes of one record. There may be several or none if it splits them
    /// differently.
    func records(_ record: RecordCutter.Record) -> [SourceRecord] {
        switch way {
        case .lines(let reader): return [reader.read(Array(record.bytes), number: record.number, line: record.line)]
        case .rows(let reader, let dialect, let encoding):
            var (rows, records) = (DelimitedReader(dialect: dialect), [SourceRecord]())
            rows.append(encoding.decoded(record.bytes + [0x0A]))
            rows.finish()
            while let row = rows.next() {
                let numbered = row.map { $0.at(number: record.number, line: record.line) }
                    .mapError { $0.at(number: record.number, line: record.line) }
                records.append(reader.record(numbered))
            }
            return records
        case .files: return []
        }
    }

    /// Returns the contacts in these bytes. There is one, unless the format writes several for a record.
    func contacts(in written: ArraySlice<UInt8>) throws -> [Contact] {
        var contacts: [Contact] = []
        switch way {
        case .lines(let reader):
            // Only the first line of a file may begin with a byte-order mark.
            for line in written.split(separator: 0x0A) {
                if let contact = reader.record(Array(line), number: 2, line: 2).contact { contacts.append(contact) }
            }
        case .rows(let reader, let dialect, let encoding):
            var rows = DelimitedReader(dialect: dialect)
            rows.append(encoding.decoded(Array(written)))
            rows.finish()
            while let row = rows.next() { if let contact = reader.record(row).contact { contacts.append(contact) } }
        case .files(let header, let make):
            var reader = try make()
            try reader.read(header + written) { if let contact = $0.contact { contacts.append(contact) } }
            try reader.finish { if let contact = $0.contact { contacts.append(contact) } }
        }
        return contacts
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The consent decisions of a contact, or of a record of a file.
struct ConsentWords: Hashable {
    /// The subject of a consent decision: a purpose on a channel.
    struct Subject: Hashable, Comparable {
        /// A hash of the texts. It is computed once, because each record looks up its subjects many times.
        private let digest: UInt64
        let purpose: Purpose
        let channel: Channel?
        let topic: String?
        /// Whether the subject is a subscription; otherwise it is a consent.
        let isSubscription: Bool

        init(purpose: Purpose, channel: Channel?, topic: String? = nil, isSubscription: Bool) {
            (self.purpose, self.channel, self.topic) = (purpose, channel, topic)
            self.isSubscription = isSubscription
            var digest: UInt64 = isSubscription ? 1 : 0
            for text in [purpose.rawValue, channel?.rawValue ?? "", topic ?? ""] {
                // Equal texts beyond ASCII may have different bytes.
                if text.utf8.allSatisfy({ $0 < 0x80 }) {
                    for byte in text.utf8 { digest = KeyMark.mix(digest ^ UInt64(byte)) }
                } else {
                    digest ^= UInt64(bitPattern: Int64(text.hashValue))
                }
                digest = KeyMark.mix(digest ^ 0xFF)
            }
            self.digest = digest
        }

        func hash(into hasher: inout Hasher) { hasher.combine(digest) }

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

    private(set) var said: [Subject: Word] = [:]
    /// Whether any decision concerns a consent.
    private var hasConsents = false

    init() {}

    init(_ contact: Contact) {
        for each in contact.subscriptions { add(each) }
        for each in contact.consents {
            let subject = Subject(purpose: each.purpose, channel: each.channel, isSubscription: false)
            let answer = Answer(each.state)
            add(Word(answer: answer, text: each.state.rawValue, changedAt: each.changedAt), to: subject, most: false)
        }
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
        guard let other = said[subject] else { return said[subject] = word }
        if most ? word.answer > other.answer : word.answer < other.answer { said[subject] = word }
    }

    /// The decision that applies to a subject. An opt-out from messages on a channel applies to each subscription there.
    func holding(_ subject: Subject) -> Answer {
        let own = said[subject]?.answer
        guard hasConsents else { return own ?? .unknown }
        let general = Subject(purpose: subject.purpose, channel: nil, isSubscription: false)
        let ofChannel = Subject(purpose: subject.purpose, channel: subject.channel, isSubscription: false)
        let consent = [said[ofChannel], said[general]].compactMap { $0?.answer }
        if subject.isSubscription { return consent.contains(.no) ? .no : own ?? .unknown }
        return own ?? said[general]?.answer ?? .unknown
    }

    /// The subjects for which the target allows more than the source. There must be none.
    func raised(in target: ConsentWords) -> [Subject] {
        target.said.keys.filter { target.holding($0) == .yes && holding($0) != .yes }.sorted()
    }

    /// The subjects of this and other decisions, sorted.
    func subjects(and other: ConsentWords?) -> [Subject] {
        if said.isEmpty, other?.said.isEmpty ?? true { return [] }
        return Set(said.keys).union(other?.said.keys ?? [:].keys).sorted()
    }

    /// Whether the other decisions differ from these.
    func differs(from other: ConsentWords) -> Bool {
        said.count != other.said.count || said.contains { $1.text != other.said[$0]?.text }
    }

    // MARK: Records of the bulk path

    init(_ view: RecordView) {
        for index in 0..<view.subscriptionCount {
            let each = view.subscriptions[index]
            let state = Lexicon.states[each.state]
            var word = Word(answer: Answer(state), text: state.rawValue)
            if each.changedAt.isThere { word.changedAt = Timestamp(text: each.changedAt.text.text) }
            if each.source.isThere { word.source = each.source.text.text }
            let subject = Subject(
                purpose: .messaging,
                channel: Channel(rawValue: each.names.channel.text),
                topic: each.topic == Lexicon.none ? nil : each.names.topic.text,
                isSubscription: true
            )
            add(word, to: subject, most: false)
        }
        for index in 0..<view.consentCount {
            let each = view.consents[index]
            let state = Lexicon.answers[each.state]
            var word = Word(answer: Answer(state), text: state.rawValue)
            if each.changedAt.isThere { word.changedAt = Timestamp(text: each.changedAt.text.text) }
            let subject = Subject(
                purpose: Purpose(rawValue: each.names.purpose.text),
                channel: each.channel == Lexicon.none ? nil : Channel(rawValue: each.names.channel.text),
                topic: nil,
                isSubscription: false
            )
            add(word, to: subject, most: false)
        }
    }

    // MARK: Reading written records

    /// Adds the decision of a subscription entry that was written by a layout.
    fileprivate mutating func add(
        _ channel: Channel,
        _ resource: Int?,
        _ state: Subscription.State,
        _ layout: LineLayout.Subscriptions
    ) {
        let topics = layout.topics.filter { $0.value == resource }.keys.sorted().map(Optional.some)
        // If a resource stands for several topics, it counts as an opt-in if any of them is one.
        for topic in topics + (layout.resource == resource ? [nil] : []) {
            add(Subscription(channel: channel, topic: topic, state: state), most: true)
        }
    }

    /// The decisions of contacts that were read back.
    init(writtenAs contacts: [Contact]) {
        for contact in contacts {
            for each in contact.subscriptions { add(each, most: true) }
            for (subject, word) in ConsentWords(contact).said where !subject.isSubscription {
                add(word, to: subject, most: true)
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

    /// Returns the decisions of a record; nil if it cannot be read back.
    func words(of written: ArraySlice<UInt8>) throws -> ConsentWords? {
        switch way {
        case .none: return nil
        case .layout(let reader): return reader.words(of: written)
        case .contacts(let reader): return ConsentWords(writtenAs: try reader.contacts(in: written))
        }
    }
}

/// Reads the decisions of JSON lines that were written by a layout.
private final class LayoutReader {
    private let layout: LineLayout.Subscriptions
    private let arena = Arena()
    private let scratch: Scratch
    /// The names of the nested members that lead to the list of subscriptions, from the outermost.
    private let path: [KeyTable]
    private let members: KeyTable

    init(_ layout: LineLayout.Subscriptions, at path: [String]) {
        let (arena, names) = (arena, layout.members)
        (self.layout, scratch) = (layout, Scratch(in: arena))
        self.path = path.map { KeyTable([$0], terminator: .colon, in: arena) }
        members = KeyTable([names.channel, names.resource, names.state], terminator: .colon, in: arena)
    }

    /// Returns the decisions of a line; nil if it is not well-formed.
    func words(of line: ArraySlice<UInt8>) -> ConsentWords? {
        scratch.reset()
        var words = ConsentWords()
        let padded = line + [UInt8](repeating: 0, count: Padding.count)
        let end = padded.withUnsafeBufferPointer { $0.baseAddress.flatMap { object($0, 0, &words) } }
        return end == nil ? nil : words
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
        if let channel, let state { words.add(channel, resource, state, layout) }
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

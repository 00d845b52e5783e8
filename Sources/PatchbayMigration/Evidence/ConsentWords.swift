import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What a contact, or a record of a file, says about what a person allows.
struct ConsentWords: Hashable {
    /// A word: an answer about a purpose on a channel.
    struct Subject: Hashable, Comparable {
        /// A hash of the texts. It is taken once, because each record looks for its subjects many times.
        private let digest: UInt64
        let purpose: Purpose
        let channel: Channel?
        let topic: String?
        /// Whether it is about a subscription; otherwise it is about a consent.
        let isSubscription: Bool

        init(purpose: Purpose, channel: Channel?, topic: String? = nil, isSubscription: Bool) {
            (self.purpose, self.channel, self.topic) = (purpose, channel, topic)
            self.isSubscription = isSubscription
            var digest: UInt64 = isSubscription ? 1 : 0
            for text in [purpose.rawValue, channel?.rawValue ?? "", topic ?? ""] {
                // Beyond ASCII, equal texts may have different bytes.
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

    /// How much an answer allows. Only a yes allows anything.
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

    /// What was said of a subject.
    struct Word: Hashable {
        var answer: Answer
        /// The model's own word: `suspended`.
        var text: String
        var changedAt: Timestamp?
        var source: String?
    }

    private(set) var said: [Subject: Word] = [:]

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

    /// Where a subject stands twice, a source counts with its least and a target with its most.
    private mutating func add(_ word: Word, to subject: Subject, most: Bool) {
        guard let other = said[subject] else { return said[subject] = word }
        if most ? word.answer > other.answer : word.answer < other.answer { said[subject] = word }
    }

    /// What holds for a subject: a no to messages on a channel holds for each subscription there.
    func holding(_ subject: Subject) -> Answer {
        let own = said[subject]?.answer
        let general = Subject(purpose: subject.purpose, channel: nil, isSubscription: false)
        let ofChannel = Subject(purpose: subject.purpose, channel: subject.channel, isSubscription: false)
        let consent = [said[ofChannel], said[general]].compactMap { $0?.answer }
        if subject.isSubscription { return consent.contains(.no) ? .no : own ?? .unknown }
        return own ?? said[general]?.answer ?? .unknown
    }

    /// Subjects for which the target allows more than the source does: there must be none.
    func raised(in target: ConsentWords) -> [Subject] {
        target.said.keys.filter { target.holding($0) == .yes && holding($0) != .yes }.sorted()
    }

    /// The subjects about which this or another states something, sorted.
    func subjects(and other: ConsentWords?) -> [Subject] {
        if said.isEmpty, other?.said.isEmpty ?? true { return [] }
        return Set(said.keys).union(other?.said.keys ?? [:].keys).sorted()
    }

    /// Whether the other states anything else than this.
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

    // MARK: Reading what was written

    /// The words of a list of JSON objects, by the layout of subscriptions.
    init(_ list: JSONValue?, _ layout: LineLayout.Subscriptions) {
        for each in list?.array ?? [] {
            guard let channel = each[layout.members.channel]?.string.map(Channel.init(rawValue:)),
                let state = each[layout.members.state]?.string.flatMap(Subscription.State.init(rawValue:))
            else { continue }
            let resource = each[layout.members.resource]?.integer.map { Int($0) }
            let topics = layout.topics.filter { $0.value == resource }.keys.sorted().map(Optional.some)
            let all = topics + (layout.resource == resource ? [nil] : [])
            // A resource that stands for several topics is said of one that allows it, if there is one.
            for topic in all { add(Subscription(channel: channel, topic: topic, state: state), most: true) }
        }
    }

    /// The words of contacts that were read back.
    init(writtenAs contacts: [Contact]) {
        for contact in contacts {
            for each in contact.subscriptions { add(each, most: true) }
            for (subject, word) in ConsentWords(contact).said where !subject.isSubscription {
                add(word, to: subject, most: true)
            }
        }
    }
}

/// Reads the words back from what was written for a record.
struct ConsentReader {
    private enum Way {
        case contacts(WrittenReader)
        case layout(LineLayout.Subscriptions, path: [String])
        /// The format states nothing about consent, or cannot be read.
        case none
    }

    private let way: Way

    init(_ migration: Migration) throws {
        if case .lines(let layout)? = try? migration.target.makeTargetLayout?(migration.targetSettings),
            let found = Self.subscriptions(in: layout.parts, at: [])
        {
            way = .layout(found.layout, path: found.path + [found.layout.name])
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

    /// The words of a record; nil if it can't be read back.
    func words(of written: ArraySlice<UInt8>) throws -> ConsentWords? {
        switch way {
        case .none: return nil
        case .layout(let layout, let path):
            switch JSONSpan.member(at: path, of: written) {
            case .span(let span): return (try? JSONValue(parsing: span)).map { ConsentWords($0, layout) }
            case .absent: return ConsentWords()
            case .invalid: return nil
            }
        case .contacts(let reader): return ConsentWords(writtenAs: try reader.contacts(in: written))
        }
    }
}

/// Finds a member of nested JSON objects by its bytes.
enum JSONSpan {
    case span(ArraySlice<UInt8>)
    case absent
    case invalid

    /// The value at a path of names, which JSON writes without escapes.
    static func member(at path: [String], of json: ArraySlice<UInt8>) -> JSONSpan {
        var rest = json
        for name in path {
            let found = member(name, of: rest)
            guard case .span(let span) = found else { return found }
            rest = span
        }
        return .span(rest)
    }

    private static func member(_ name: String, of json: ArraySlice<UInt8>) -> JSONSpan {
        var (place, end) = (json.startIndex, json.endIndex)
        func skipSpace() { while place < end, json[place] <= 0x20 { place += 1 } }
        /// Moves behind a string, and returns the place of its content.
        func string() -> Range<Int>? {
            guard place < end, json[place] == 0x22 else { return nil }
            let start = place + 1
            place = start
            while place < end, json[place] != 0x22 { place += json[place] == 0x5C ? 2 : 1 }
            guard place < end else { return nil }
            defer { place += 1 }
            return start..<place
        }
        /// Moves behind a value.
        func skipValue() -> Bool {
            var depth = 0
            while place < end {
                switch json[place] {
                case 0x22: if string() == nil { return false }
                case 0x7B, 0x5B:
                    depth += 1
                    place += 1
                case 0x7D, 0x5D:
                    if depth == 0 { return true }
                    depth -= 1
                    place += 1
                case 0x2C where depth == 0: return true
                default: place += 1
                }
            }
            return false
        }
        skipSpace()
        guard place < end, json[place] == 0x7B else { return .invalid }
        place += 1
        while true {
            skipSpace()
            guard place < end else { return .invalid }
            if json[place] == 0x7D { return .absent }
            guard let key = string() else { return .invalid }
            skipSpace()
            guard place < end, json[place] == 0x3A else { return .invalid }
            place += 1
            let start = place
            guard skipValue() else { return .invalid }
            if json[key].elementsEqual(name.utf8) { return .span(json[start..<place]) }
            if json[place] == 0x2C { place += 1 }
        }
    }
}

/// Reads single records of the files that a migration writes.
final class WrittenReader {
    private enum Way {
        case lines(any RecordReader)
        case rows(any RowReader, DelimitedDialect, FileEncoding)
        /// A record cannot be read alone: each is read as a file of its own.
        case files(header: [UInt8], make: () throws -> any ContactReader)
    }

    private let way: Way
    /// Makes a reader of a whole file.
    let makeReader: () throws -> any ContactReader

    /// A reader of a migration's target; nil if the format is only written.
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

    /// Splits a file that begins with the header into records that can be read alone; nil if they can't.
    func cutter(behind header: [UInt8]) -> RecordCutter? {
        switch way {
        case .lines: RecordCutter(nil, behind: header)
        case .rows(_, let dialect, _): RecordCutter(dialect, behind: header)
        case .files: nil
        }
    }

    /// The records that the bytes of one are: several, or none, if another reader splits them otherwise.
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

    /// The contacts that were written as these bytes; one, unless the format writes several for a record.
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

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// What a contact, or a record of a file, says about what a person allows.
struct ConsentWords: Hashable {
    /// A word: an answer about a purpose on a channel.
    struct Subject: Hashable, Comparable {
        var purpose: Purpose
        var channel: Channel?
        var topic: String?
        /// Whether it is about a subscription; otherwise it is about a consent.
        var isSubscription: Bool

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

    /// Subjects of which the target allows more than the source does: there must be none.
    func raised(in target: ConsentWords) -> [Subject] {
        target.said.keys.filter { target.holding($0) == .yes && holding($0) != .yes }.sorted()
    }

    // MARK: Reading what was written

    /// The words of a record of JSON, by the layout of its subscriptions.
    init(_ record: JSONValue, _ layout: LineLayout.Subscriptions, at path: [String]) {
        let place = path.reduce(Optional(record)) { $0?[$1] }
        for each in place?[layout.name]?.array ?? [] {
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
        case contacts(header: [UInt8], make: () throws -> any ContactReader)
        case layout(LineLayout.Subscriptions, path: [String])
        /// The format holds no words at all, or can't be read.
        case none
    }

    private let way: Way

    /// Whether what was written can be read back.
    var canRead: Bool { if case .none = way { false } else { true } }

    init(_ migration: Migration) throws {
        let (target, settings) = (migration.target, migration.targetSettings)
        if case .lines(let layout)? = try? target.makeTargetLayout?(settings),
            let found = Self.subscriptions(in: layout.parts, at: [])
        {
            way = .layout(found.layout, path: found.path)
        } else if let make = target.makeReader, let chosen = [settings, [:]].first(where: { (try? make($0)) != nil }) {
            way = .contacts(header: try migration.makeWriter().header()) { try make(chosen) }
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
            guard let json = try? JSONValue(parsing: written) else { return nil }
            return ConsentWords(json, layout, at: path)
        case .contacts(let header, let make):
            var reader = try make()
            var contacts: [Contact] = []
            try reader.read(header + written) { if let contact = $0.contact { contacts.append(contact) } }
            try reader.finish { if let contact = $0.contact { contacts.append(contact) } }
            return ConsentWords(writtenAs: contacts)
        }
    }
}

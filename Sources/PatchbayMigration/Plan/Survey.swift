import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// The contents of a source, counted while the source is read. The bulk path and the general path give the same counts.
struct Survey: Sendable {
    /// An attribute, with the type of its values.
    struct AttributeKind: Hashable, Comparable, Sendable {
        var name: String
        var type: AttributeType

        static func < (left: Self, right: Self) -> Bool {
            (left.name, left.type.rawValue) < (right.name, right.type.rawValue)
        }
    }

    /// The state of a subscription to a channel or to a topic on it.
    struct Wish: Hashable, Sendable {
        var channel: String
        var topic: String?
        var state: String
    }

    /// The state of consent for a purpose; without a channel it applies to every channel.
    struct Answer: Hashable, Sendable {
        var purpose: String
        var channel: String?
        var state: String
    }

    /// The states of a consent decision before and after the migration. It concerns a channel, a topic or a purpose.
    struct Move: Hashable, Sendable {
        /// The channel; nil for a purpose on every channel. A subscription has no `purpose`.
        var channel: String?
        var topic: String?
        var purpose: String?
        /// A state of the model, or one of the words below.
        var before: String
        var after: String
        /// Whether the record denies messages on the channel of the subscription.
        var isDenied = false

        static let absent = "not stated", rejected = "record rejected", unreadable = "unreadable"

        init(_ key: Subscription.Key, _ before: String, _ after: String) {
            (channel, topic, self.before, self.after) = (key.channel.rawValue, key.topic, before, after)
        }

        init(_ wish: Wish, _ after: String) {
            (channel, topic, before, self.after) = (wish.channel, wish.topic, wish.state, after)
        }

        init(_ answer: Answer, _ after: String) {
            (channel, purpose, before, self.after) = (answer.channel, answer.purpose, answer.state, after)
        }

        init(_ scope: Consent.Scope, _ before: String, _ after: String) {
            (channel, purpose) = (scope.channel?.rawValue, scope.purpose.rawValue)
            (self.before, self.after) = (before, after)
        }
    }

    /// The properties of a push token that determine whether it can be used.
    struct Token: Hashable, Sendable {
        var service: String
        var environment: String?
        /// The app that the token names, or else the one in the facts of the device.
        var app: String?
        var isWellFormed: Bool
    }

    /// The time since the last activity of a push token's owner.
    enum Age: String, CaseIterable, Sendable {
        case fresh, quarter, stale, unknown
    }

    /// A finding about an attribute.
    struct AttributeFinding: Hashable, Sendable {
        var name: String
        var code: String
    }

    var contacts = 0
    var attributes: [AttributeKind: Int] = [:]
    var attributeFindings: [AttributeFinding: Int] = [:]
    var identifiers: [String: Int] = [:]
    var withTags = 0
    var tags = 0
    /// The number of tags by name. Contacts of the bulk path are not included; they take it only if the target treats all
    /// tags alike.
    var tagNames: [String: Int] = [:]
    var withLocale = 0
    var withTimeZone = 0
    var devices = 0
    var wishes: [Wish: Int] = [:]
    var answers: [Answer: Int] = [:]
    /// The number of decisions by their states before and after, and the number of contacts without a known decision.
    var moves: [Move: Int] = [:]
    var undecided = 0
    /// The number of contacts with an opt-in and an opt-out on one channel, and of those with both for one topic.
    var torn = 0
    var tornTopics = 0
    /// The number of contacts that are written with another identifier in place of the target's key.
    var withOtherKey = 0
    var tokens: [Token: Int] = [:]
    var ages: [Age: Int] = [:]
    /// The marks of identifiers by their kind, and of push tokens by ``tokenKey``.
    var marks: [String: [KeyMark]] = [:]
    /// The marks of decisions about topics, by the kind of the identifier that identifies the person.
    var topicMarks: [String: [KeyMark]] = [:]

    static let tokenKey = "push token"
    /// The maximum number of attributes, tags or push tokens that are counted by name; four times as many for decisions.
    /// Further ones are counted together.
    static let mostNames = 1000
    static let otherNames = "(further names)"

    init() {}

    // MARK: A contact

    mutating func note(_ contact: Contact, activity: Activity?, isWritten: Bool) {
        contacts += 1
        for (name, value) in contact.attributes { note(name.rawValue, value.type, 1) }
        if !contact.tags.isEmpty { withTags += 1 }
        tags += contact.tags.count
        for tag in contact.tags { note(tag: tag.rawValue, 1) }
        if contact.locale != nil { withLocale += 1 }
        if contact.timeZone != nil { withTimeZone += 1 }
        devices += contact.devices.count
        let opinion = Self.opinion(contact)
        if KeyMark.Opinion.isTorn(opinion) { torn += 1 }
        for each in contact.subscriptions {
            note(Wish(channel: each.channel.rawValue, topic: each.topic, state: each.state.rawValue), 1)
        }
        for each in contact.consents {
            let answer = Answer(
                purpose: each.purpose.rawValue,
                channel: each.channel?.rawValue,
                state: each.state.rawValue
            )
            answers[answer, default: 0] += 1
        }
        let topics = Self.topics(contact)
        if topics.contains(where: { KeyMark.Opinion.isTorn($0.said) }) { tornTopics += 1 }
        var kinds: Set<IdentifierKind> = []
        for each in contact.identifiers {
            let key = topics.isEmpty ? 0 : KeyMark(key: each.value, opinion: 0).folded
            for topic in topics {
                topicMarks[each.kind.rawValue, default: []].append(
                    KeyMark(of: key, on: topic.subject, opinion: topic.said)
                )
            }
            identifiers[each.kind.rawValue, default: 0] += 1
            let isKey = kinds.insert(each.kind).inserted && isWritten
            let said = isKey ? opinion | KeyMark.Opinion.key : opinion
            marks[each.kind.rawValue, default: []].append(KeyMark(key: each.value, opinion: said))
        }
        for device in contact.devices {
            guard let token = device.pushToken else { continue }
            note(token, of: device)
            if let activity { ages[activity.age(of: contact), default: 0] += 1 }
        }
    }

    mutating func note(_ name: String, _ type: AttributeType, _ count: Int) {
        let kind = AttributeKind(name: name, type: type)
        let isNew = attributes[kind] == nil && attributes.count >= Self.mostNames
        attributes[isNew ? AttributeKind(name: Self.otherNames, type: type) : kind, default: 0] += count
    }

    mutating func note(tag name: String, _ count: Int) {
        let isNew = tagNames[name] == nil && tagNames.count >= Self.mostNames
        tagNames[isNew ? Self.otherNames : name, default: 0] += count
    }

    mutating func note(_ wish: Wish, _ count: Int) {
        var wish = wish
        if wish.topic != nil, wishes[wish] == nil, wishes.count >= 4 * Self.mostNames { wish.topic = Self.otherNames }
        wishes[wish, default: 0] += count
    }

    mutating func note(_ token: Token, _ count: Int) {
        var token = token
        if token.app != nil, tokens[token] == nil, tokens.count >= Self.mostNames { token.app = Self.otherNames }
        tokens[token, default: 0] += count
    }

    private mutating func note(_ token: PushToken, of device: Device) {
        let bytes = Array(token.value.utf8)
        let isWellFormed = bytes.withUnsafeBufferPointer { TokenForm.fits(token.service.rawValue, $0) }
        let kind = Token(
            service: token.service.rawValue,
            environment: token.environment?.rawValue,
            app: [token.appID, device.facts?.appID].compactMap(\.self).first { !$0.isEmpty },
            isWellFormed: isWellFormed
        )
        note(kind, 1)
        marks[Self.tokenKey, default: []].append(KeyMark(token.value, opinion: 0))
    }

    /// The decisions of a contact on the channels of the vocabulary. An opt-in to any topic counts as an opt-in to its
    /// channel. An opt-out from a topic does not count, and neither does a consent that allows messages.
    private static func opinion(_ contact: Contact) -> UInt64 {
        var bits: UInt64 = 0
        for each in contact.subscriptions
        where each.state == .subscribed || each.topic == nil && each.state != .unknown {
            let answer = each.state == .subscribed ? KeyMark.Opinion.yes : KeyMark.Opinion.no
            bits |= KeyMark.Opinion.bits(answer, channel: Vocabulary.index(of: each.channel))
        }
        for each in contact.consents where each.purpose == .messaging && each.state == .denied {
            bits |= KeyMark.Opinion.bits(KeyMark.Opinion.no, channel: Vocabulary.index(of: each.channel))
        }
        return bits
    }

    /// The decisions of a contact about each topic: the subject, and an opt-in, an opt-out, or both.
    private static func topics(_ contact: Contact) -> [(subject: UInt64, said: UInt64)] {
        let words = contact.subscriptions.filter {
            $0.topic != nil && $0.state != .unknown && Vocabulary.channelNames.contains($0.channel.rawValue)
        }
        guard !words.isEmpty else { return [] }
        return Dictionary(grouping: words, by: \.key).map { key, words in
            let said = words.reduce(UInt64(0)) {
                $0 | ($1.state == .subscribed ? KeyMark.Opinion.yes : KeyMark.Opinion.no)
            }
            return (ConsentMark.wish(key.channel.rawValue, key.topic), said)
        }
    }

    // MARK: Decisions

    /// Counts the decisions of a record of the general path. `final` is the contact that is passed to the writer; nil if the
    /// record is rejected.
    mutating func note(decisionsOf record: SourceRecord, _ final: Contact?) {
        let before = record.contact ?? record.said?.read ?? Contact()
        let isStated =
            before.subscriptions.contains { $0.state != .unknown } || before.consents.contains { $0.state != .unknown }
        let unread = record.contact == nil ? record.said.map { ($0.unreadSubscriptions, $0.unreadConsents) } : nil
        if !isStated, unread.map({ $0.0.isEmpty && $0.1.isEmpty }) ?? true { undecided += 1 }
        let (wishes, answers) = (before.subscriptions.mostProtectiveStates, before.consentStates)
        let (newWishes, newAnswers) = (final?.subscriptions.mostProtectiveStates, final?.consentStates)
        for (key, state) in wishes {
            var move = Move(key, state.rawValue, newWishes.map { $0[key]?.rawValue ?? Move.absent } ?? Move.rejected)
            let scope = Consent.Scope(.messaging, channel: key.channel)
            move.isDenied = final?.consents.contains { $0.state == .denied && $0.scope.covers(scope) } ?? false
            add(move, 1)
        }
        for (scope, state) in answers {
            add(Move(scope, state.rawValue, newAnswers.map { $0[scope]?.rawValue ?? Move.absent } ?? Move.rejected), 1)
        }
        for (key, state) in newWishes ?? [:] where wishes[key] == nil { add(Move(key, Move.absent, state.rawValue), 1) }
        for (scope, state) in newAnswers ?? [:] where answers[scope] == nil {
            add(Move(scope, Move.absent, state.rawValue), 1)
        }
        for key in unread?.0 ?? [] { add(Move(key, Move.unreadable, Move.rejected), 1) }
        for scope in unread?.1 ?? [] { add(Move(scope, Move.unreadable, Move.rejected), 1) }
    }

    mutating func add(_ move: Move, _ count: Int) {
        var move = move
        if move.topic != nil, moves[move] == nil, moves.count >= 4 * Self.mostNames { move.topic = Self.otherNames }
        moves[move, default: 0] += count
    }

    // MARK: Findings

    mutating func note(_ findings: [Finding], isWritten: Bool) {
        for finding in findings {
            if isWritten, finding.code.hasSuffix(".record.keyOther") { withOtherKey += 1 }
            guard finding.path.hasPrefix("attributes.") else { continue }
            let name = String(finding.path.dropFirst("attributes.".count))
            note(AttributeFinding(name: name, code: finding.code), 1)
        }
    }

    mutating func note(_ finding: AttributeFinding, _ count: Int) {
        let isNew = attributeFindings[finding] == nil && attributeFindings.count >= 4 * Self.mostNames
        guard !isNew else { return }
        attributeFindings[finding, default: 0] += count
    }

    // MARK: Together

    mutating func add(_ other: Survey) {
        contacts += other.contacts
        for (kind, count) in other.attributes { note(kind.name, kind.type, count) }
        for (finding, count) in other.attributeFindings { note(finding, count) }
        identifiers.merge(other.identifiers, uniquingKeysWith: +)
        (withTags, tags) = (withTags + other.withTags, tags + other.tags)
        (withLocale, withTimeZone) = (withLocale + other.withLocale, withTimeZone + other.withTimeZone)
        (devices, torn) = (devices + other.devices, torn + other.torn)
        tornTopics += other.tornTopics
        withOtherKey += other.withOtherKey
        for (tag, count) in other.tagNames { note(tag: tag, count) }
        for (wish, count) in other.wishes { note(wish, count) }
        answers.merge(other.answers, uniquingKeysWith: +)
        for (move, count) in other.moves { add(move, count) }
        undecided += other.undecided
        for (token, count) in other.tokens { note(token, count) }
        ages.merge(other.ages, uniquingKeysWith: +)
    }
}

extension Contact {
    /// The most protective state of each purpose and channel.
    fileprivate var consentStates: [Consent.Scope: Consent.State] {
        let order: [Consent.State] = [.denied, .unknown, .granted]
        return Dictionary(consents.map { (Consent.Scope($0.purpose, channel: $0.channel), $0.state) }) { one, other in
            (order.firstIndex(of: one) ?? 0) <= (order.firstIndex(of: other) ?? 0) ? one : other
        }
    }
}

/// The form of push tokens.
enum TokenForm {
    /// Whether the bytes may be a token of a service. The result is false only for bytes that are certainly not a token.
    static func fits(_ service: String, _ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        switch service {
        case "apns":
            // At least 32 bytes as hexadecimal text; up to 100 bytes are accepted.
            return bytes.count >= 64 && bytes.count <= 200 && bytes.count % 2 == 0
                && bytes.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }
        default:
            return bytes.count >= 16
                && bytes.allSatisfy { $0 &- 0x21 < 0x5E }
        }
    }
}

/// The attribute with the time of a person's last activity, and the current date.
struct Activity: Sendable {
    let attribute: AttributeName
    /// The current date.
    let today: CalendarDate

    /// The time since the contact was last seen. A push service discards the token of an app that has been inactive for 270
    /// days.
    func age(of contact: Contact) -> Survey.Age {
        let text: String? =
            switch contact.attributes[attribute] {
            case .date(let date): date.text
            case .timestamp(let instant): instant.text
            case .string(let text): text
            default: nil
            }
        return age(text)
    }

    /// The time since the date at the beginning of an attribute's text.
    func age(_ text: String?) -> Survey.Age {
        guard let text, let day = CalendarDate(text: String(text.prefix(10))) else { return .unknown }
        let days = Self.number(of: today) - Self.number(of: day)
        return days <= 90 ? .fresh : days <= 270 ? .quarter : .stale
    }

    /// The number of the day in the proleptic Gregorian calendar.
    private static func number(of date: CalendarDate) -> Int {
        let year = date.month > 2 ? date.year : date.year - 1
        let month = (date.month + 9) % 12
        return 365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + date.day
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Determines what a format can store by writing samples with it, because its behavior is more reliable than its description.
struct FormatProbe {
    /// The result for a part of a contact.
    enum Fate: String, Sendable {
        /// The part is written, without a finding.
        case kept
        /// The part is written, with a finding.
        case changed
        /// The part is not written.
        case lost
        /// A contact with the part is not written at all.
        case refused
    }

    /// The result of writing a sample.
    struct Answer: Sendable {
        var fate: Fate
        var finding: Finding?
    }

    private typealias Written = (bytes: [UInt8], findings: [Finding])

    private let header: [UInt8]
    /// Writes a contact as it is, without the mapping.
    private let write: (Contact) -> Written
    /// Applies the mapping to a contact of the source, and writes the result.
    private let arrive: (Contact) -> Written
    private let base: Written

    /// Whether the source can contain the parts of a contact, or a mapping may create them.
    let canArrive: (Contact) -> Bool

    /// The person of the samples. If the format requires an opt-in, the person has given consent to messages.
    private let person: Contact

    /// The reason why the target rejects every sample contact; nil if it accepts one.
    let refusal: Finding?

    /// People whom every format should be able to store, in the forms that targets require: a number of letters and digits or
    /// of digits only, and a telephone number with or without a plus sign.
    private static let plainPeople = ["c-480013", "480013"].flatMap { number in
        ["358401234567", "+358401234567"].map { phone in
            Contact(identifiers: [
                Identifier(.external, number), Identifier(.email, "ana@mail.example"), Identifier(.phone, phone),
            ])
        }
    }

    /// Creates a probe of a format with its settings. The samples take the general path.
    init(_ migration: Migration) throws(SettingsError) {
        // All columns are used, because the capabilities of the format do not depend on one source.
        let (target, settings) = (migration.target, migration.targetSettings)
        let make = { () throws(SettingsError) -> any ContactWriter in
            guard let make = target.makeWriter else { return try migration.makeWriter() }
            return try make(settings)
        }
        header = try make().header()
        let write = { (contact: Contact) -> Written in
            // A writer with these settings was created before, so this does not fail.
            guard var writer = try? make() else { return ([], []) }
            (writer as? ServerWriter)?.refusesSilence = false
            var bytes: [UInt8] = []
            let findings = writer.write(contact, to: &bytes)
            return (bytes, findings)
        }
        self.write = write
        let mapping = migration.mapping.keepingUnknown
        // A mapping may create parts that the source itself cannot contain.
        let isMapped = !mapping.isEmpty
        let arrive = { (contact: Contact) -> Written in
            guard isMapped else { return write(contact) }
            var (contact, effects) = (contact, mapping.noEffects)
            _ = mapping.apply(to: &contact, counting: &effects)
            return write(contact)
        }
        self.arrive = arrive
        func error(_ written: Written) -> Finding? { written.findings.first { $0.severity == .error } }
        let tried = Self.plainPeople.map { person -> (person: Contact, base: Written) in
            var (person, base) = (person, arrive(person))
            if error(base)?.code.hasSuffix(".record.withoutOptIn") == true {
                person.consents = [Consent(purpose: .messaging, state: .granted)]
                base = arrive(person)
            }
            return (person, base)
        }
        let taken = tried.filter { error($0.base) == nil }
        let chosen = taken.min { $0.base.findings.count < $1.base.findings.count } ?? tried[0]
        (person, base, refusal) = (chosen.person, chosen.base, error(chosen.base))
        let reader = try migration.makeReader()
        canArrive = { isMapped || reader.canHold($0) }
    }

    func ask(_ change: (inout Contact) -> Void) -> Answer {
        var contact = person
        change(&contact)
        let (bytes, findings) = arrive(contact)
        let known = Set(base.findings.map(\.code))
        let finding =
            findings.first { $0.severity == .error } ?? findings.first { !known.contains($0.code) } ?? findings.first
        if findings.contains(where: { $0.severity == .error }) { return Answer(fate: .refused, finding: finding) }
        let isWritten = bytes != base.bytes
        let isSaid = findings.count > base.findings.count
        if !isWritten { return Answer(fate: .lost, finding: isSaid ? finding : nil) }
        return Answer(fate: isSaid ? .changed : .kept, finding: isSaid ? finding : nil)
    }

    /// Returns the state that the target stores for a decision. Returns nil if the decision does not reach the target's
    /// writer, or if it cannot be read back.
    func stored(_ move: Survey.Move, _ reader: ConsentReader?) -> String? {
        var contact = person
        let subject: ConsentWords.Subject
        if let purpose = move.purpose {
            guard let state = Consent.State(rawValue: move.after) else { return nil }
            let channel = move.channel.map(Channel.init(rawValue:))
            let consent = Consent(purpose: Purpose(rawValue: purpose), channel: channel, state: state)
            contact.consents = [consent]
            subject = ConsentWords.Subject(purpose: consent.purpose, channel: channel, isSubscription: false)
        } else {
            guard let state = Subscription.State(rawValue: move.after), let channel = move.channel else { return nil }
            let wish = Subscription(channel: Channel(rawValue: channel), topic: move.topic, state: state)
            contact.subscriptions = [wish]
            if wish.channel == .push { contact.devices = [Device(pushToken: Self.device.pushToken)] }
            if move.isDenied {
                contact.consents = [Consent(purpose: .messaging, channel: wish.channel, state: .denied)]
            }
            subject = ConsentWords.Subject(
                purpose: .messaging,
                channel: wish.channel,
                topic: wish.topic,
                isSubscription: true
            )
        }
        let (bytes, findings) = write(contact)
        guard !findings.contains(where: { $0.severity == .error }), let words = try? reader?.words(of: bytes[...])
        else {
            return nil
        }
        return words[subject]?.text ?? "not stored"
    }

    // MARK: Fields

    /// Values of a type, the plainest first. Different fields accept different ones.
    private static func samples(_ type: AttributeType) -> [AttributeValue] {
        switch type {
        case .string:
            ["Sample", "12345", "1990-04-01", "FI", "female", "ana@other.example", "2029-05-17T06:00:00Z", "true"]
                .map(AttributeValue.string)
        case .integer: [.integer(7)]
        case .decimal: [ExactDecimal(text: "49.5").map(AttributeValue.decimal)].compactMap { $0 }
        case .boolean: [.boolean(true)]
        case .date: [CalendarDate(text: "1990-04-01").map(AttributeValue.date)].compactMap { $0 }
        case .time: [LocalTime(text: "07:40").map(AttributeValue.time)].compactMap { $0 }
        case .timestamp: [Timestamp(text: "2029-05-17T06:00:00Z").map(AttributeValue.timestamp)].compactMap { $0 }
        case .country: [CountryCode(text: "FI").map(AttributeValue.country)].compactMap { $0 }
        case .choices: [.choices(["poetry", "nature"])]
        case .list: [.list([.string("poetry"), .integer(2)])]
        case .object: [.object(["city": .string("Oulu")])]
        }
    }

    /// Returns the target's field for an attribute of the source, after the mapping; nil if no sample of the type is written.
    func field(of name: AttributeName, _ type: AttributeType) -> String? {
        for sample in Self.samples(type) {
            var contact = person
            contact.attributes[name] = sample
            let (bytes, findings) = arrive(contact)
            guard !findings.contains(where: { $0.severity == .error }), bytes != base.bytes else { continue }
            if let field = Self.difference(base.bytes, bytes, header) { return field }
        }
        return nil
    }

    /// Returns the name of the field in which two records differ.
    private static func difference(_ old: [UInt8], _ new: [UInt8], _ header: [UInt8]) -> String? {
        if header.isEmpty {
            guard let old = try? JSONValue(parsing: old), let new = try? JSONValue(parsing: new) else { return nil }
            let path = difference(old, new)
            // If an object is new, the difference is its first member.
            if let name = path?.first, path?.count == 1, old[name] == nil, let first = new[name]?.object?.first {
                return first.name
            }
            return path?.last
        }
        let (before, after) = (rows(header + old), rows(header + new))
        guard before.count == 2, after.count == 2 else { return nil }
        return zip(before[0], zip(before[1], after[1])).first { $0.1.0 != $0.1.1 }?.0
    }

    private static func difference(_ old: JSONValue, _ new: JSONValue) -> [String]? {
        guard let object = new.object else { return nil }
        for member in object where old[member.name] != member.value {
            return [member.name] + (old[member.name].flatMap { difference($0, member.value) } ?? [])
        }
        return nil
    }

    /// Returns the rows of delimited text. The delimiter is the one that occurs most often in the header.
    private static func rows(_ bytes: [UInt8]) -> [[String]] {
        let line = bytes.prefix { $0 != 0x0A }
        let delimiter = [0x2C, 0x09, 0x7C, 0x3B].max { one, two in
            line.count { $0 == one } < line.count { $0 == two }
        }
        var reader = DelimitedReader(dialect: DelimitedDialect(delimiter: delimiter ?? 0x2C, hasHeader: false))
        reader.append(bytes)
        reader.finish()
        var rows: [[String]] = []
        while case .success(let row)? = reader.next() { rows.append(row.fields) }
        return rows
    }

    // MARK: All parts of a contact

    /// A part of the model with the result of its sample, and the number of its occurrences in a source.
    struct Trial {
        var part: String
        /// The kind of a part that the target may distinguish by name; nil for any other part.
        var kind: String?
        /// A contact that has only this part.
        let sample: Contact
        let answer: Answer
        /// The number of occurrences in the source; nil without a source.
        var count: Int?
    }

    private typealias Change = (inout Contact) -> Void

    private func trial(_ part: String, _ count: Int?, _ change: Change) -> Trial {
        var sample = Contact()
        change(&sample)
        return Trial(part: part, sample: sample, answer: ask(change), count: count)
    }

    /// Combines parts of one kind: into one if all have the same result, otherwise into one for each result.
    private func together(_ kind: String, _ named: [Trial]) -> [Trial] {
        struct Outcome: Hashable {
            var fate: Fate
            var code: String?
        }
        let groups = Dictionary(grouping: named) { Outcome(fate: $0.answer.fate, code: $0.answer.finding?.code) }.values
            .map { group in
                group.sorted { (-($0.count ?? 0), $0.part) < (-($1.count ?? 0), $1.part) }
            }
        return groups.map { group in
            var whole = group[0]
            whole.kind = kind
            whole.count = group.reduce(nil) { sum, each in each.count.map { $0 + (sum ?? 0) } ?? sum }
            let names = group.map(\.part).filter { !$0.isEmpty }
            let more = names.count > 3 ? " and \(names.count - 3) more" : ""
            let list = names.prefix(3).joined(separator: ", ")
            whole.part = groups.count == 1 || names.isEmpty ? kind : "\(kind) (\(list)\(more))"
            return whole
        }
        .sorted { $0.part < $1.part }
    }

    static let tags = "tags"

    /// Returns the result for each part of the model, in the model's order. Parts that the target may distinguish by name
    /// (tags, topics, purposes, further kinds of identifiers) are tried with the names in the source.
    func everything(_ survey: Survey?) -> [Trial] {
        identifierTrials(survey) + attributeTrials(survey) + tagTrials(survey) + subscriptionTrials(survey)
            + topicTrials(survey) + consentTrials(survey) + otherTrials(survey)
    }

    private func identifierTrials(_ survey: Survey?) -> [Trial] {
        let known = [IdentifierKind.external, .email, .phone]
        let others = (survey?.identifiers ?? [:]).filter { kind, _ in !known.map(\.rawValue).contains(kind) }
        return known.map { kind in
            let sample = Contact(identifiers: [Identifier(kind, person.identifiers.first(kind) ?? "")])
            return Trial(
                part: "identifier \(kind.rawValue)",
                sample: sample,
                answer: identifier(kind),
                count: survey.map { $0.identifiers[kind.rawValue] ?? 0 }
            )
        }
            + together(
                "identifier of another kind",
                (others.isEmpty ? ["loyalty": 0] : others).map { kind, count in
                    trial(kind, survey.map { _ in count }) {
                        $0.identifiers.append(Identifier(IdentifierKind(rawValue: kind), "L-7"))
                    }
                }
            )
    }

    private func attributeTrials(_ survey: Survey?) -> [Trial] {
        AttributeType.allCases.compactMap { type in
            guard let sample = Self.samples(type).first else { return nil }
            let change = { (contact: inout Contact) in contact.attributes["sample_attribute"] = sample }
            var trial = trial("attribute of type \(type.rawValue)", nil, change)
            // An attribute with a field of its own is stored, even if other attributes of its type are not.
            let counted = survey?.attributes.filter { kind, _ in
                kind.type == type
                    && (trial.answer.fate != .lost || field(of: AttributeName(rawValue: kind.name), type) == nil)
            }
            trial.count = counted?.values.reduce(0, +)
            return trial
        }
    }

    private func tagTrials(_ survey: Survey?) -> [Trial] {
        var names = (survey?.tagNames ?? [:]).map { (name: $0.key, count: $0.value) }
        // Tags that were not counted by name all have the same result.
        let rest = (survey?.tags ?? 0) - names.reduce(0) { $0 + $1.count }
        if rest > 0 || names.isEmpty { names.append(("", rest)) }
        return together(
            Self.tags,
            names.map { name, count in
                trial(name, survey.map { _ in count }) { $0.tags = [Tag(rawValue: name.isEmpty ? "poetry" : name)] }
            }
        )
    }

    private func subscriptionTrials(_ survey: Survey?) -> [Trial] {
        [Channel.email, .push, .sms, .inApp].flatMap { channel in
            Subscription.State.allCases.map { state in
                trial(
                    "\(channel.rawValue) subscription, \(state.rawValue)",
                    survey.map { $0.wishes[.init(channel: channel.rawValue, topic: nil, state: state.rawValue)] ?? 0 },
                    Self.saying(Subscription(channel: channel, state: state))
                )
            }
        }
    }

    private static func saying(_ wish: Subscription) -> Change {
        { contact in
            contact.subscriptions = [wish]
            if wish.channel == .push { contact.devices = [Device(pushToken: device.pushToken)] }
        }
    }

    private func topicTrials(_ survey: Survey?) -> [Trial] {
        let part = "subscription to a topic"
        let trials = (survey?.wishes ?? [:]).compactMap { wish, count -> Trial? in
            guard let topic = wish.topic, let state = Subscription.State(rawValue: wish.state) else { return nil }
            let channel = Channel(rawValue: wish.channel)
            return trial(
                "\(wish.channel)/\(topic) \(wish.state)",
                count,
                Self.saying(Subscription(channel: channel, topic: topic, state: state))
            )
        }
        let sample = Self.saying(Subscription(channel: .email, topic: "news", state: .subscribed))
        return trials.isEmpty ? [trial(part, survey.map { _ in 0 }, sample)] : together(part, trials)
    }

    /// An unknown consent is not tried, because it states no decision.
    private func consentTrials(_ survey: Survey?) -> [Trial] {
        [Consent.State.denied, .granted].flatMap { state in
            let part = "consent, \(state.rawValue)"
            let trials = (survey?.answers ?? [:]).filter { $0.key.state == state.rawValue }.map { answer, count in
                trial(answer.purpose + (answer.channel.map { " on \($0)" } ?? ""), count) { contact in
                    contact.consents.append(
                        Consent(
                            purpose: Purpose(rawValue: answer.purpose),
                            channel: answer.channel.map { Channel(rawValue: $0) },
                            state: state
                        )
                    )
                }
            }
            guard trials.isEmpty else { return together(part, trials) }
            return [
                trial(part, survey.map { _ in 0 }) { $0.consents.append(Consent(purpose: .messaging, state: state)) }
            ]
        }
    }

    private func otherTrials(_ survey: Survey?) -> [Trial] {
        [
            trial("push token without a subscription", survey.map { _ in 0 }) {
                $0.devices = [Device(pushToken: Self.device.pushToken)]
            },
            trial("facts of a device", survey?.devices) { $0.devices = [Self.device] },
            trial("locale", survey?.withLocale) { $0.locale = "fi_FI" },
            trial("time zone", survey?.withTimeZone) { $0.timeZone = "Europe/Helsinki" },
        ]
    }

    private func identifier(_ kind: IdentifierKind) -> Answer {
        let text = person.identifiers.first(kind) ?? ""
        let place = Array(text.utf8)
        guard !base.bytes.isEmpty else {
            return Answer(fate: .refused, finding: base.findings.first { $0.severity == .error })
        }
        let isWritten = base.bytes.indices.contains { base.bytes[$0...].starts(with: place) }
        return Answer(
            fate: isWritten ? .kept : .lost,
            finding: isWritten ? nil : base.findings.first { $0.path.hasPrefix("identifiers") }
        )
    }

    private static let device = Device(
        pushToken: PushToken(String(repeating: "7c1f3ad09be24c55", count: 4), service: .apns),
        facts: DeviceFacts(
            platform: "iOS",
            platformVersion: "19.3",
            model: "iPhone17,3",
            locale: "fi_FI",
            appVersion: "5.2.0"
        )
    )
}

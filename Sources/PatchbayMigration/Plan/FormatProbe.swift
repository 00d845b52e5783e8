import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// Finds out what a format holds by writing samples with it: what it claims matters less than what it does.
struct FormatProbe {
    /// What becomes of a part of a contact.
    enum Fate: String, Sendable {
        /// It is written, and nothing is said.
        case kept
        /// It is written, and something is said.
        case changed
        /// It is not written.
        case lost
        /// A contact with it is not written at all.
        case refused
    }

    /// What became of a sample.
    struct Answer: Sendable {
        var fate: Fate
        var finding: Finding?
    }

    private typealias Written = (bytes: [UInt8], findings: [Finding])

    private let header: [UInt8]
    private let write: (Contact) -> Written
    private let base: Written
    /// What the mapping makes of a source's contact before it is written.
    private let map: (inout Contact) -> Void

    /// Whether something can come from the source at all.
    let canArrive: (Contact) -> Bool

    /// The person with whom samples are written: where a format holds nobody without a yes, she has said one.
    private let person: Contact

    /// A person whom every format should be able to hold.
    private static let plainPerson = Contact(identifiers: [
        Identifier(.external, "c-480013"), Identifier(.email, "ana@mail.example"), Identifier(.phone, "358401234567"),
    ])

    /// A probe of a format with its settings; the samples go the way of the slow records.
    init(_ migration: Migration) throws(SettingsError) {
        let make = migration.makeWriter
        header = try make().header()
        write = { contact in
            // Made once already, so it can be made.
            guard var writer = try? make() else { return ([], []) }
            (writer as? DoorWriter)?.refusesSilence = false
            var bytes: [UInt8] = []
            let findings = writer.write(contact, to: &bytes)
            return (bytes, findings)
        }
        var (person, base) = (Self.plainPerson, write(Self.plainPerson))
        if base.findings.contains(where: { $0.severity == .error && $0.code.hasSuffix(".record.withoutYes") }) {
            person.consents = [Consent(purpose: .messaging, state: .granted)]
            base = write(person)
        }
        (self.person, self.base) = (person, base)
        let reader = try migration.makeReader()
        // A mapping may make of what the source holds what it does not.
        let isMapped = !migration.mapping.isEmpty
        canArrive = { isMapped || reader.canHold($0) }
        let mapping = migration.mapping.keepingUnknown
        map = { contact in
            var effects = mapping.noEffects
            _ = mapping.apply(to: &contact, counting: &effects)
        }
    }

    /// What comes of a source's contact.
    private func arrive(_ contact: Contact) -> Written {
        var contact = contact
        map(&contact)
        return write(contact)
    }

    func ask(_ change: (inout Contact) -> Void) -> Answer {
        var contact = person
        change(&contact)
        let (bytes, findings) = write(contact)
        let known = Set(base.findings.map(\.code))
        let finding =
            findings.first { $0.severity == .error } ?? findings.first { !known.contains($0.code) } ?? findings.first
        if findings.contains(where: { $0.severity == .error }) { return Answer(fate: .refused, finding: finding) }
        let isWritten = bytes != base.bytes
        let isSaid = findings.count > base.findings.count
        if !isWritten { return Answer(fate: .lost, finding: isSaid ? finding : nil) }
        return Answer(fate: isSaid ? .changed : .kept, finding: isSaid ? finding : nil)
    }

    // MARK: Fields

    /// Values that some field takes, the plainest first.
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

    /// The field in which an attribute of the source arrives, by way of the mapping; nil if no sample of that type does.
    func field(of name: AttributeName, _ type: AttributeType) -> String? {
        let base = arrive(person)
        for sample in Self.samples(type) {
            var contact = person
            contact.attributes[name] = sample
            let (bytes, findings) = arrive(contact)
            guard !findings.contains(where: { $0.severity == .error }), bytes != base.bytes else { continue }
            if let field = Self.difference(base.bytes, bytes, header) { return field }
        }
        return nil
    }

    /// The name of the place at which two records differ.
    private static func difference(_ old: [UInt8], _ new: [UInt8], _ header: [UInt8]) -> String? {
        if header.isEmpty {
            guard let old = try? JSONValue(parsing: old), let new = try? JSONValue(parsing: new) else { return nil }
            let path = difference(old, new)
            // A member that stands there for the first time: what differs is what stands in it.
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

    /// Rows of delimited text, by the delimiter that its header has most of.
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

    // MARK: Everything that a contact may have

    /// A part of the model: what becomes of it, and how often a source has it.
    struct Trial {
        let part: String
        /// A contact that has this part alone.
        let sample: Contact
        let answer: Answer
        let count: (Survey) -> Int
    }

    private func trial(
        _ part: String,
        _ change: (inout Contact) -> Void,
        count: @escaping (Survey) -> Int
    ) -> Trial {
        var sample = Contact()
        change(&sample)
        return Trial(part: part, sample: sample, answer: ask(change), count: count)
    }

    /// What the format does with each part of the model, in the model's order.
    func everything() -> [Trial] {
        identifierTrials + attributeTrials + [trial("tags", { $0.tags = ["poetry"] }) { $0.withTags }]
            + subscriptionTrials + otherTrials
    }

    private var identifierTrials: [Trial] {
        let known = [IdentifierKind.external, .email, .phone]
        return known.map { kind in
            let sample = Contact(identifiers: [Identifier(kind, person.identifiers.first(kind) ?? "")])
            return Trial(part: "identifier \(kind.rawValue)", sample: sample, answer: identifier(kind)) {
                $0.identifiers[kind.rawValue] ?? 0
            }
        } + [
            trial("identifier of another kind", { $0.identifiers.append(Identifier("loyalty", "L-7")) }) { survey in
                survey.identifiers.filter { !known.map(\.rawValue).contains($0.key) }.values.reduce(0, +)
            }
        ]
    }

    private var attributeTrials: [Trial] {
        AttributeType.allCases.compactMap { type in
            guard let sample = Self.samples(type).first else { return nil }
            let change = { (contact: inout Contact) in contact.attributes["sample_attribute"] = sample }
            let answer = ask(change)
            return trial("attribute of type \(type.rawValue)", change) { survey in
                // One with a field of its own has a place, though others of its type have none.
                survey.attributes.filter { kind, _ in
                    kind.type == type
                        && (answer.fate != .lost || field(of: AttributeName(rawValue: kind.name), type) == nil)
                }
                .values.reduce(0, +)
            }
        }
    }

    private var subscriptionTrials: [Trial] {
        [Channel.email, .push, .sms, .inApp].flatMap { channel in
            Subscription.State.allCases.map { state in
                let change = { (contact: inout Contact) in
                    contact.subscriptions = [Subscription(channel: channel, state: state)]
                    if channel == .push { contact.devices = [Device(pushToken: Self.device.pushToken)] }
                }
                return trial("\(channel.rawValue) subscription, \(state.rawValue)", change) { survey in
                    survey.wishes.filter { $0.key.channel == channel.rawValue && $0.key.state == state.rawValue }.values
                        .reduce(0, +)
                }
            }
        }
    }

    private var otherTrials: [Trial] {
        // An unknown consent is none.
        let consents = [Consent.State.denied, .granted].map { state in
            trial("consent, \(state.rawValue)", { $0.consents.append(Consent(purpose: .messaging, state: state)) }) {
                survey in
                survey.answers.filter { $0.key.state == state.rawValue }.values.reduce(0, +)
            }
        }
        let topic = Subscription(channel: .email, topic: "news", state: .subscribed)
        return [
            trial("subscription to a topic", { $0.subscriptions = [topic] }) { survey in
                survey.wishes.filter(\.key.hasTopic).values.reduce(0, +)
            }
        ] + consents + [
            trial("push token without a subscription", { $0.devices = [Device(pushToken: Self.device.pushToken)] }) {
                _ in 0
            },
            trial("what a device says of itself", { $0.devices = [Self.device] }) { $0.devices },
            trial("locale", { $0.locale = "fi_FI" }) { $0.withLocale },
            trial("time zone", { $0.timeZone = "Europe/Helsinki" }) { $0.withTimeZone },
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

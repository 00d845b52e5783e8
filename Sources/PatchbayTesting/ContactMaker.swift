import PatchbayAdapterKit
import PatchbayModel

/// Generates contacts from a seed, with values that often break in files: separators, white space, other scripts, extremes.
struct ContactMaker: Sendable {
    private var random: SeededGenerator
    private let names: [AttributeName]

    init(seed: UInt64, attributes names: [AttributeName]) {
        (random, self.names) = (SeededGenerator(seed: seed), names)
    }

    private mutating func happens(_ percent: Int) -> Bool { random.below(100) < percent }

    mutating func next() -> Contact {
        var contact = Contact(identifiers: identifiers(), attributes: attributes())
        if happens(40) { contact.tags = Set((0...random.below(3)).map { _ in Tag(rawValue: text()) }) }
        if happens(60) { contact.subscriptions = (0...random.below(3)).map { _ in subscription() } }
        if happens(30) { contact.consents = (0...random.below(2)).map { _ in consent() } }
        if happens(30) { contact.devices = (0...random.below(2)).map { _ in device() } }
        if happens(40) { contact.locale = random.pick(["fi_FI", "en", text()]) }
        if happens(40) { contact.timeZone = random.pick(["Europe/Helsinki", "UTC", text()]) }
        return contact
    }

    private mutating func identifiers() -> [Identifier] {
        var identifiers = [Identifier(.external, happens(90) ? "c-\(random.below(5000))" : text())]
        if happens(70) {
            identifiers.append(Identifier(.email, random.pick(["aino@example.com", "päivi@example.fi", "no address"])))
        }
        if happens(60) {
            identifiers.append(Identifier(.phone, random.pick(["+358401234567", "(09) 123 45-67", "none"])))
        }
        if happens(10) { identifiers.append(Identifier(random.pick([.email, "loyalty_card"]), "second@example.com")) }
        if happens(10) { identifiers.swapAt(0, identifiers.count - 1) }
        return identifiers
    }

    private mutating func text() -> String {
        random.pick(Self.texts) + (happens(15) ? random.pick(Self.texts) : "")
    }

    private static let texts = [
        "blue", "Aino", "São Paulo", "נועה", "👩🏽‍🚀", "", " padded ", "a;b", "a,b", "a|b", "a\tb", "say \"hello\"",
        "\"quoted\"", "two\nlines", "two\r\nlines", "back\\slash", "\\", "=1+2", "NULL", "0123", "true", "e\u{301}",
        "\u{A0}hard\u{3000}", "\u{FEFF}mark", "\u{1}", "T", "yes", "2031-03-09", String(repeating: "long ", count: 60),
    ]

    private mutating func attributes() -> [AttributeName: AttributeValue] {
        var attributes: [AttributeName: AttributeValue] = [:]
        for name in names where happens(50) { attributes[name] = value(of: name) }
        return attributes
    }

    /// Returns a value, mostly of the type that the corpus gives the attribute.
    private mutating func value(of name: AttributeName) -> AttributeValue {
        let usual = Corpus.contacts.lazy.compactMap { $0.contact.attributes[name]?.type }.first ?? .string
        let type = happens(85) ? usual : random.pick(AttributeType.allCases)
        let value: AttributeValue? =
            switch type {
            case .string: .string(text())
            case .integer: .integer(random.pick([0, -7, 42, .max]))
            case .decimal: ExactDecimal(text: random.pick(["0.5", "-12.30", "1249.90"])).map(AttributeValue.decimal)
            case .boolean: .boolean(happens(50))
            case .date:
                CalendarDate(text: random.pick(["1990-04-01", "2028-02-29", "0001-01-01"])).map(AttributeValue.date)
            case .time: LocalTime(text: random.pick(["00:00", "23:59", "08:30"])).map(AttributeValue.time)
            case .timestamp: Timestamp(text: random.pick(Self.moments)).map(AttributeValue.timestamp)
            case .country: CountryCode(text: random.pick(["FI", "DE"])).map(AttributeValue.country)
            case .choices: .choices((0..<random.below(3)).map { _ in random.pick(["a b", "sailing", text()]) })
            case .list: .list((0..<random.below(3)).map { _ in .string(random.pick(["a", "b", text()])) })
            case .object: .object(["inner": 1])
            }
        return value ?? .boolean(false)
    }

    private static let moments = [
        "2031-03-08T22:15:00Z", "2031-03-08T22:15:00.25Z", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59Z",
    ]

    private mutating func subscription() -> Subscription {
        Subscription(
            channel: random.pick([.email, .sms, .push, .inApp]),
            topic: happens(20) ? random.pick(["weekly_offers", "news"]) : nil,
            state: random.pick(Subscription.State.allCases),
            changedAt: happens(50) ? Timestamp(text: random.pick(Self.moments)) : nil,
            source: happens(30) ? text() : nil,
            evidence: happens(10) ? "form" : nil,
            fields: happens(10) ? ["hour": 8, "days": .list([1])] : [:]
        )
    }

    private mutating func consent() -> Consent {
        Consent(
            purpose: random.pick([.messaging, .messaging, .tracking, .profile]),
            channel: happens(50) ? random.pick([.email, .sms, .push]) : nil,
            state: random.pick([.denied, .unknown, .granted]),
            changedAt: happens(20) ? Timestamp(text: Self.moments[0]) : nil
        )
    }

    private mutating func device() -> Device {
        var device = Corpus.phone
        device.pushToken?.value += "\(random.below(10))"
        if happens(30) { device.pushToken = nil }
        if happens(30) { device.facts = nil }
        device.facts?.utcOffsetSeconds = random.pick([0, 7200, -20_700, 19_800])
        (device.allowsPush, device.allowsLocation) = (happens(50), happens(30))
        (device.allowsBackgroundPush, device.allowsProximity) = (happens(20), happens(10))
        if happens(50) { device.identities = ["acme.id": "x-1"] }
        return device
    }
}

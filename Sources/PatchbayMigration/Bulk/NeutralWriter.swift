import PatchbayAdapterKit
import PatchbayModel

/// The texts of a contact of the neutral model, with padding after them.
struct NeutralTexts: BitwiseCopyable {
    let identifiers, kind, value, attributes, tags, subscriptions, consents, devices, locale, timeZone: Stretch
    let channel, topic, state, changedAt, source, evidence, purpose: Stretch
    let pushToken, service, environment, appID, facts: Stretch
    let platform, platformVersion, model, deviceName, utcOffset, isDaylightSaving, appVersion, advertisingID: Stretch
    let allowsAdTracking, allowsPush, allowsBackgroundPush, allowsLocation, allowsProximity, identities: Stretch
    let yes, no, apns: Stretch
    /// The opening of typed values, such as `{"date":`, by the kind of the value; empty for a value without a type.
    let types: Row<Stretch>
    /// The states of subscriptions and of consents, and the environments of push tokens, by index.
    let states: Row<Stretch>
    let answers: Row<Stretch>
    let environments: Row<Stretch>

    init(in arena: Arena) {
        func member(_ name: String) -> Stretch { arena.text(",\"\(name)\":") }
        func words(_ words: [String]) -> Row<Stretch> { arena.make(words.map { arena.text($0) }) }
        (identifiers, kind, value) = (member("identifiers"), member("kind"), member("value"))
        (attributes, tags, subscriptions) = (member("attributes"), member("tags"), member("subscriptions"))
        (consents, devices, locale) = (member("consents"), member("devices"), member("locale"))
        (timeZone, channel, topic, state) = (member("timeZone"), member("channel"), member("topic"), member("state"))
        (changedAt, source, evidence) = (member("changedAt"), member("source"), member("evidence"))
        (purpose, pushToken, service) = (member("purpose"), member("pushToken"), member("service"))
        (environment, appID, facts) = (member("environment"), member("appID"), member("facts"))
        (platform, platformVersion, model) = (member("platform"), member("platformVersion"), member("model"))
        (deviceName, utcOffset) = (member("deviceName"), member("utcOffsetSeconds"))
        (isDaylightSaving, appVersion) = (member("isDaylightSaving"), member("appVersion"))
        (advertisingID, allowsAdTracking) = (member("advertisingID"), member("allowsAdTracking"))
        (allowsPush, allowsBackgroundPush) = (member("allowsPush"), member("allowsBackgroundPush"))
        (allowsLocation, allowsProximity) = (member("allowsLocation"), member("allowsProximity"))
        (identities, yes, no, apns) = (
            member("identities"), arena.text("true"), arena.text("false"), arena.text("apns")
        )
        types = words(
            ValueView.Kind.allCases.map { kind in
                switch kind {
                case .date, .time, .timestamp, .country, .choices: "{\"\(kind.type.rawValue)\":"
                case .string, .integer, .decimal, .yes, .no, .list: ""
                }
            }
        )
        states = words(Vocabulary.states.map(\.rawValue))
        answers = words(Vocabulary.answers.map(\.rawValue))
        environments = words(PushToken.Environment.allCases.map(\.rawValue))
    }
}

/// Writes contacts of the neutral model, in the order of ``Contact/write(to:)``. The model has a field for every part of a
/// view.
extension LineWriter {
    mutating func neutral(_ view: RecordView, _ plan: UnsafePointer<LinePlan>, _ start: Pen) -> Pen? {
        let texts = plan.pointee.neutral.unsafelyUnwrapped
        var pen = start
        if view.identifierCount > 0 {
            pen.put(texts.pointee.identifiers)
            let list = pen.place
            for index in 0..<view.identifierCount {
                let identifier = view.identifiers + index
                pen.put(0x2C)
                let object = pen.place
                pen.put(member: texts.pointee.kind, identifier.pointee.name)
                pen.put(texts.pointee.value)
                pen.quote(escaping: identifier.pointee.value.text, identifier.pointee.value.needsEscapes)
                Self.close(object, 0x7B, &pen)
            }
            Self.close(list, 0x5B, &pen)
        }
        guard let next = neutralAttributes(view, plan, pen) else { return nil }
        pen = next
        pen = Self.tags(behind: texts.pointee.tags, view, pen)
        if view.subscriptionCount > 0 { Self.subscriptions(view, texts, &pen) }
        if view.consentCount > 0 { Self.consents(view, texts, &pen) }
        if view.deviceCount > 0 {
            pen.put(texts.pointee.devices)
            let list = pen.place
            for index in 0..<view.deviceCount {
                pen.put(0x2C)
                Self.device(view.devices + index, texts, &pen)
            }
            Self.close(list, 0x5B, &pen)
        }
        pen.put(member: texts.pointee.locale, view.locale)
        pen.put(member: texts.pointee.timeZone, view.timeZone)
        Self.close(start.place, 0x7B, &pen)
        return pen
    }

    private mutating func neutralAttributes(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        let (entries, types) = (plan.pointee.attributes.entries, plan.pointee.neutral.unsafelyUnwrapped.pointee.types)
        var pen = start
        pen.put(plan.pointee.neutral.unsafelyUnwrapped.pointee.attributes)
        let object = pen.place
        for word in 0..<RecordView.presentWords {
            var bits = view.present[word]
            while bits != 0 {
                let rank = word &* 64 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                let (entry, value) = (entries.place(rank), view.attributes + rank)
                if entry.pointee.type != .any, !value.pointee.convert(to: entry.pointee.type, view.scratch) {
                    return nil
                }
                pen.put(entry.pointee.prefix)
                let type = types[Int(value.pointee.kind.rawValue)]
                pen.put(type)
                switch value.pointee.kind {
                case .string, .date, .time, .timestamp, .country:
                    pen.quote(escaping: value.pointee.text, value.pointee.needsEscapes)
                case .integer, .yes, .no: pen.put(value.pointee.text)
                case .decimal:
                    // A decimal without a point would be read back as a whole number.
                    guard value.pointee.text.index(of: 0x2E, or: 0x2E, from: 0) < value.pointee.text.count else {
                        return nil
                    }
                    pen.put(value.pointee.text)
                case .choices, .list: guard Self.list(value.pointee, view.scratch, &pen) else { return nil }
                }
                if type.count > 0 { pen.put(0x7D) }
            }
        }
        guard pen.place != object else { return start }
        Self.close(object, 0x7B, &pen)
        return pen
    }

    private static func subscriptions(_ view: RecordView, _ texts: UnsafePointer<NeutralTexts>, _ pen: inout Pen) {
        pen.put(texts.pointee.subscriptions)
        let list = pen.place
        for index in 0..<view.subscriptionCount {
            let each = view.subscriptions + index
            pen.put(0x2C)
            let object = pen.place
            pen.put(member: texts.pointee.channel, each.pointee.names.channel)
            if each.pointee.topic != Vocabulary.none { pen.put(member: texts.pointee.topic, each.pointee.names.topic) }
            pen.put(member: texts.pointee.state, texts.pointee.states[each.pointee.state])
            pen.put(member: texts.pointee.changedAt, each.pointee.changedAt)
            pen.put(member: texts.pointee.source, each.pointee.source)
            pen.put(member: texts.pointee.evidence, each.pointee.evidence)
            close(object, 0x7B, &pen)
        }
        close(list, 0x5B, &pen)
    }

    private static func consents(_ view: RecordView, _ texts: UnsafePointer<NeutralTexts>, _ pen: inout Pen) {
        pen.put(texts.pointee.consents)
        let list = pen.place
        for index in 0..<view.consentCount {
            let each = view.consents + index
            pen.put(0x2C)
            let object = pen.place
            pen.put(member: texts.pointee.purpose, each.pointee.names.purpose)
            if each.pointee.channel != Vocabulary.none {
                pen.put(member: texts.pointee.channel, each.pointee.names.channel)
            }
            pen.put(member: texts.pointee.state, texts.pointee.answers[each.pointee.state])
            pen.put(member: texts.pointee.changedAt, each.pointee.changedAt)
            close(object, 0x7B, &pen)
        }
        close(list, 0x5B, &pen)
    }

    private static func device(
        _ device: UnsafeMutablePointer<RecordView.DeviceView>,
        _ texts: UnsafePointer<NeutralTexts>,
        _ pen: inout Pen
    ) {
        let object = pen.place
        func flag(_ isTrue: Bool) -> Stretch { isTrue ? texts.pointee.yes : texts.pointee.no }
        if device.pointee.hasToken {
            pen.put(texts.pointee.pushToken)
            let token = pen.place
            pen.put(member: texts.pointee.value, device.pointee.token)
            pen.put(member: texts.pointee.service, device.pointee.serviceName)
            if device.pointee.environment >= 0 {
                pen.put(member: texts.pointee.environment, texts.pointee.environments[device.pointee.environment])
            }
            pen.put(member: texts.pointee.appID, device.pointee.appID)
            close(token, 0x7B, &pen)
        }
        if device.pointee.hasFacts {
            let facts = device.pointee.facts
            pen.put(texts.pointee.facts)
            let start = pen.place
            pen.put(member: texts.pointee.platform, facts.platform)
            pen.put(member: texts.pointee.platformVersion, facts.platformVersion)
            pen.put(member: texts.pointee.model, facts.model)
            pen.put(member: texts.pointee.deviceName, facts.deviceName)
            pen.put(member: texts.pointee.locale, facts.locale)
            pen.put(member: texts.pointee.timeZone, facts.timeZone)
            pen.put(texts.pointee.utcOffset)
            if facts.utcOffset.isThere { pen.put(facts.utcOffset.text) } else { pen.put(0x30) }
            pen.put(texts.pointee.isDaylightSaving)
            pen.put(flag(facts.isDaylightSaving))
            pen.put(member: texts.pointee.appID, facts.appID)
            pen.put(member: texts.pointee.appVersion, facts.appVersion)
            pen.put(member: texts.pointee.advertisingID, facts.advertisingID)
            pen.put(texts.pointee.allowsAdTracking)
            pen.put(flag(facts.allowsAdTracking))
            close(start, 0x7B, &pen)
        }
        for (name, isAllowed) in [
            (texts.pointee.allowsPush, device.pointee.allowsPush),
            (texts.pointee.allowsBackgroundPush, device.pointee.allowsBackgroundPush),
            (texts.pointee.allowsLocation, device.pointee.allowsLocation),
            (texts.pointee.allowsProximity, device.pointee.allowsProximity),
        ] {
            pen.put(name)
            pen.put(flag(isAllowed))
        }
        if device.pointee.identityCount > 0 {
            pen.put(texts.pointee.identities)
            let start = pen.place
            let all = [
                device.pointee.identities.0, device.pointee.identities.1, device.pointee.identities.2,
                device.pointee.identities.3,
            ]
            for identity in all.prefix(device.pointee.identityCount) {
                pen.put(0x2C)
                pen.quote(escaping: identity.name)
                pen.put(0x3A)
                pen.quote(escaping: identity.value)
            }
            close(start, 0x7B, &pen)
        }
        close(object, 0x7B, &pen)
    }
}

extension Pen {
    /// Writes the name of a member with its comma, and a text.
    fileprivate mutating func put(member name: Stretch, _ text: Stretch) {
        put(name)
        quote(escaping: text)
    }

    /// Writes a member that may be absent.
    fileprivate mutating func put(member name: Stretch, _ text: RecordView.Detail) {
        if text.isThere { put(member: name, text.text) }
    }
}

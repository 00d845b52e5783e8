import Foundation
import PatchbayModel

/// Reads a contact of the neutral model from its line into a view, byte by byte.
///
/// Every function answers false where the record is anything but plain: then the slow way reads it, and says what is
/// wrong with it if something is. What is taken here, the model's own reader takes too, with the same meaning.
struct NeutralScanner: BitwiseCopyable {
    /// The names that stand in each object.
    private struct Tables: BitwiseCopyable {
        let parts: KeyTable
        let identifierMembers: KeyTable
        let details: KeyTable
        let consentMembers: KeyTable
        let facilities: KeyTable
        let tokenMembers: KeyTable
        let environments: KeyTable
        let facts: KeyTable
        let types: KeyTable

        init(in arena: Arena) {
            func table(_ names: [String]) -> KeyTable { KeyTable(names, terminator: .colon, in: arena) }
            parts = table([
                "identifiers", "attributes", "tags", "subscriptions", "consents", "devices", "locale", "timeZone",
            ])
            identifierMembers = table(["kind", "value"])
            details = table(["channel", "topic", "state", "changedAt", "source", "evidence"])
            consentMembers = table(["purpose", "channel", "state", "changedAt"])
            facilities = table([
                "allowsPush", "allowsBackgroundPush", "allowsLocation", "allowsProximity", "pushToken", "facts",
                "identities",
            ])
            tokenMembers = table(["value", "service", "environment", "appID"])
            environments = KeyTable(PushToken.Environment.allCases.map(\.rawValue), in: arena)
            facts = table([
                "platform", "platformVersion", "model", "locale", "appVersion", "deviceName", "timeZone", "appID",
                "advertisingID", "utcOffsetSeconds", "isDaylightSaving", "allowsAdTracking",
            ])
            types = table(["date", "country", "timestamp", "time", "choices", "decimal"])
        }
    }

    // Behind a pointer, because what is copied with every call should be small.
    private let tables: UnsafePointer<Tables>

    init(in arena: Arena) { tables = arena.keep(Tables(in: arena)) }

    /// The name of the attribute that the last record failed for, if that was it.
    private var unknownName: Stretch?

    /// That name, as long as the chunk is lent.
    mutating func takeUnknownName() -> Stretch? { unknownName.take() }

    /// Reads the object at the cursor, and gives the place behind it; nil for one that is not plain.
    @inline(__always) mutating func scan(
        _ start: Bytes,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>,
        _ names: KeyTable
    ) -> Bytes? {
        view.clear()
        var (place, seen, part) = (start, Grammar.unseen, tables.pointee.parts.none)
        var way = Grammar.openObject(&place)
        while way == .on {
            part = Grammar.name(&place, tables.pointee.parts, &seen, after: part)
            let end: Bytes? =
                switch part.index {
                case 0: identifiers(place, &view, lexicon)
                case 1: attributes(place, &view, names)
                case 2: Grammar.tags(place, &view)
                case 3: subscriptions(place, &view, lexicon)
                case 4: consents(place, &view, lexicon)
                case 5: devices(place, &view, lexicon)
                case 6, 7: Grammar.text(at: place, part.index == 6, &view)
                default: nil
                }
            guard let end else { return nil }
            place = end
            way = Grammar.nextMember(&place)
        }
        return way == .end ? place : nil
    }

    // MARK: Parts

    @inline(__always) private func identifiers(
        _ start: Bytes,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bytes? {
        let members = tables.pointee.identifierMembers
        var (place, count, kind) = (start, 0, lexicon.pointee.kinds.none)
        var way = Grammar.openList(&place)
        while way == .on {
            guard count < RecordView.identifierLimit else { return nil }
            let identifier = view.identifiers + count
            var (seen, member) = (Grammar.unseen, members.none)
            var inner = Grammar.openObject(&place)
            while inner == .on {
                member = Grammar.name(&place, members, &seen, after: member)
                switch member.index {
                case 0:
                    guard let next = Self.word(&place, lexicon.pointee.kinds, view.scratch, after: kind) else {
                        return nil
                    }
                    kind = next.match
                    (identifier.pointee.kind, identifier.pointee.name) = (kind.index, next.text)
                case 1: guard Grammar.string(&place, &identifier.pointee.value, view.scratch) else { return nil }
                default: return nil
                }
                inner = Grammar.nextMember(&place)
            }
            guard inner == .end, seen & 3 == 3 else { return nil }
            count &+= 1
            way = Grammar.nextElement(&place)
        }
        view.identifierCount = count
        return way == .end ? place : nil
    }

    @inline(__always) private mutating func attributes(
        _ start: Bytes,
        _ view: inout RecordView,
        _ names: KeyTable
    ) -> Bytes? {
        var (place, rank) = (start, names.none)
        var way = Grammar.openObject(&place)
        while way == .on {
            let name = place
            rank = names.find(&place, after: rank)
            if rank.index < 0 {
                // A name that is unknown, or written with escapes.
                place = name - 1
                guard let text = Grammar.text(&place, view.scratch), Grammar.comes(0x3A, &place) else { return nil }
                place += 1
                rank = names.match(text)
                guard rank.index >= 0 else {
                    unknownName = text
                    return nil
                }
            }
            guard let value = view.attribute(rank.index) else { return nil }
            switch place.pointee {
            case 0x22: guard Grammar.string(&place, value, view.scratch) else { return nil }
            case 0x2D, 0x30...0x39: guard Grammar.number(&place, value) else { return nil }
            case 0x7B:
                guard let end = typed(place, value, view.scratch) else { return nil }
                place = end
            default:
                guard let end = unusual(place, value, view.scratch) else { return nil }
                place = end
            }
            way = Grammar.nextMember(&place)
        }
        return way == .end ? place : nil
    }

    /// Reads a value that is neither a string nor a number, or has white space before it.
    private func unusual(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>, _ scratch: Scratch) -> Bytes? {
        var place = start
        Grammar.space(&place)
        switch place.pointee {
        case 0x22: return Grammar.string(&place, value, scratch) ? place : nil
        case 0x2D, 0x30...0x39: return Grammar.number(&place, value) ? place : nil
        case 0x7B: return typed(place, value, scratch)
        case 0x5B: return Grammar.strings(place, value, scratch)
        case 0x74, 0x66: return Grammar.flag(&place, value) ? place : nil
        default: return nil
        }
    }

    /// An object with one member that names the type.
    private func typed(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>, _ scratch: Scratch) -> Bytes? {
        var place = start
        guard Grammar.openObject(&place) == .on else { return nil }
        let type = tables.pointee.types.find(&place).index
        switch type {
        case ..<0: return nil
        case 4:
            guard let end = Grammar.strings(place, value, scratch) else { return nil }
            place = end
            value.pointee.kind = .choices
        default:
            guard let text = Grammar.text(&place, scratch) else { return nil }
            value.pointee = ValueView(kind: .string, text: text)
            guard value.pointee.convert(to: Self.types[type], scratch) else { return nil }
        }
        return Grammar.nextMember(&place) == .end ? place : nil
    }

    /// The types by their index in the table.
    private static let types: [TypeCode] = [.date, .country, .timestamp, .time, .choices, .decimal]

    private func subscriptions(_ start: Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bytes? {
        let members = tables.pointee.details
        var (place, count, channel) = (start, 0, lexicon.pointee.channels.none)
        var way = Grammar.openList(&place)
        while way == .on {
            guard count < RecordView.subscriptionLimit else { return nil }
            var subscription = RecordView.SubscriptionView(channel: -1, topic: Lexicon.none, state: -1)
            var (seen, member) = (Grammar.unseen, members.none)
            var inner = Grammar.openObject(&place)
            while inner == .on {
                member = Grammar.name(&place, members, &seen, after: member)
                switch member.index {
                case 0:
                    guard let next = Self.word(&place, lexicon.pointee.channels, view.scratch, after: channel) else {
                        return nil
                    }
                    channel = next.match
                    (subscription.channel, subscription.names.channel) = (channel.index, next.text)
                case 1:
                    guard let topic = Self.word(&place, lexicon.pointee.topics, view.scratch, mayBeEmpty: true) else {
                        return nil
                    }
                    (subscription.topic, subscription.names.topic) = (topic.match.index, topic.text)
                case 2:
                    guard let state = Self.closed(&place, lexicon.pointee.subscriptionStates) else { return nil }
                    subscription.state = state
                case 3:
                    guard let changedAt = Self.instant(&place, view.scratch) else { return nil }
                    subscription.changedAt = changedAt
                case 4, 5:
                    guard let text = Grammar.text(&place, view.scratch) else { return nil }
                    if member.index == 4 {
                        subscription.source = RecordView.Detail(text)
                    } else {
                        subscription.evidence = RecordView.Detail(text)
                    }
                default: return nil
                }
                inner = Grammar.nextMember(&place)
            }
            guard inner == .end, seen & 5 == 5 else { return nil }
            view.subscriptions[count] = subscription
            count &+= 1
            way = Grammar.nextElement(&place)
        }
        view.subscriptionCount = count
        return way == .end ? place : nil
    }

    private func consents(_ start: Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bytes? {
        let members = tables.pointee.consentMembers
        var (place, count) = (start, 0)
        var way = Grammar.openList(&place)
        while way == .on {
            guard count < RecordView.consentLimit else { return nil }
            var consent = RecordView.ConsentView(purpose: -1, channel: Lexicon.none, state: -1)
            var (seen, member) = (Grammar.unseen, members.none)
            var inner = Grammar.openObject(&place)
            while inner == .on {
                member = Grammar.name(&place, members, &seen, after: member)
                switch member.index {
                case 0:
                    guard let purpose = Self.word(&place, lexicon.pointee.purposes, view.scratch) else { return nil }
                    (consent.purpose, consent.names.purpose) = (purpose.match.index, purpose.text)
                case 1:
                    guard let channel = Self.word(&place, lexicon.pointee.channels, view.scratch) else { return nil }
                    (consent.channel, consent.names.channel) = (channel.match.index, channel.text)
                case 2:
                    guard let state = Self.closed(&place, lexicon.pointee.consentStates) else { return nil }
                    consent.state = state
                case 3:
                    guard let changedAt = Self.instant(&place, view.scratch) else { return nil }
                    consent.changedAt = changedAt
                default: return nil
                }
                inner = Grammar.nextMember(&place)
            }
            guard inner == .end, seen & 5 == 5 else { return nil }
            view.consents[count] = consent
            count &+= 1
            way = Grammar.nextElement(&place)
        }
        view.consentCount = count
        return way == .end ? place : nil
    }

    /// A point in time, as the model writes it.
    private static func instant(_ place: inout Bytes, _ scratch: Scratch) -> RecordView.Detail? {
        guard let text = Grammar.text(&place, scratch) else { return nil }
        var value = ValueView(kind: .string, isASCII: text.isASCII, text: text)
        return value.convert(to: .timestamp, scratch) ? RecordView.Detail(value.text) : nil
    }

    // MARK: Devices

    private func devices(_ start: Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bytes? {
        let members = tables.pointee.facilities
        var place = start
        var way = Grammar.openList(&place)
        while way == .on {
            guard view.deviceCount < RecordView.deviceLimit else { return nil }
            let device = view.devices + view.deviceCount
            device.pointee = RecordView.DeviceView()
            var (seen, member) = (Grammar.unseen, members.none)
            var inner = Grammar.openObject(&place)
            while inner == .on {
                member = Grammar.name(&place, members, &seen, after: member)
                switch member.index {
                case 0...3:
                    guard let isAllowed = Self.flag(&place) else { return nil }
                    switch member.index {
                    case 0: device.pointee.allowsPush = isAllowed
                    case 1: device.pointee.allowsBackgroundPush = isAllowed
                    case 2: device.pointee.allowsLocation = isAllowed
                    default: device.pointee.allowsProximity = isAllowed
                    }
                case 4, 5, 6:
                    let end =
                        switch member.index {
                        case 4: token(place, device, lexicon, view.scratch)
                        case 5: facts(place, device, view.scratch)
                        default: identities(place, device, view.scratch)
                        }
                    guard let end else { return nil }
                    place = end
                default: return nil
                }
                inner = Grammar.nextMember(&place)
            }
            guard inner == .end else { return nil }
            view.deviceCount += 1
            way = Grammar.nextElement(&place)
        }
        return way == .end ? place : nil
    }

    private func token(
        _ start: Bytes,
        _ device: UnsafeMutablePointer<RecordView.DeviceView>,
        _ lexicon: UnsafePointer<Lexicon>,
        _ scratch: Scratch
    ) -> Bytes? {
        let members = tables.pointee.tokenMembers
        var (place, seen, member) = (start, Grammar.unseen, members.none)
        var way = Grammar.openObject(&place)
        device.pointee.serviceName = .apns
        while way == .on {
            member = Grammar.name(&place, members, &seen, after: member)
            switch member.index {
            case 0:
                guard let text = Grammar.text(&place, scratch) else { return nil }
                device.pointee.token = text
            case 1:
                guard let service = Self.word(&place, lexicon.pointee.services, scratch) else { return nil }
                (device.pointee.service, device.pointee.serviceName) = (service.match.index, service.text)
            case 2:
                guard let environment = Self.closed(&place, tables.pointee.environments) else { return nil }
                device.pointee.environment = environment
            case 3:
                guard let app = Grammar.text(&place, scratch) else { return nil }
                device.pointee.appID = RecordView.Detail(app)
            default: return nil
            }
            way = Grammar.nextMember(&place)
        }
        device.pointee.hasToken = true
        return way == .end && seen & 1 == 1 ? place : nil
    }

    private func facts(
        _ start: Bytes,
        _ device: UnsafeMutablePointer<RecordView.DeviceView>,
        _ scratch: Scratch
    ) -> Bytes? {
        let members = tables.pointee.facts
        var (place, seen, member) = (start, Grammar.unseen, members.none)
        var (value, facts) = (RecordView.blank, RecordView.DeviceView.Facts())
        var way = Grammar.openObject(&place)
        while way == .on {
            member = Grammar.name(&place, members, &seen, after: member)
            switch member.index {
            case 0...8:
                guard let text = Grammar.text(&place, scratch) else { return nil }
                switch member.index {
                case 0:
                    facts.platform = text
                    device.pointee.family = RecordView.DeviceView.family(of: text)
                case 1: facts.platformVersion = text
                case 2: facts.model = text
                case 3: facts.locale = text
                case 4: facts.appVersion = text
                case 5: facts.deviceName = RecordView.Detail(text)
                case 6: facts.timeZone = RecordView.Detail(text)
                case 7: facts.appID = RecordView.Detail(text)
                default: facts.advertisingID = RecordView.Detail(text)
                }
            case 9:
                Grammar.space(&place)
                guard Grammar.number(&place, &value), value.kind == .integer else { return nil }
                facts.utcOffset = RecordView.Detail(value.text)
            case 10, 11:
                guard let flag = Self.flag(&place) else { return nil }
                if member.index == 10 { facts.isDaylightSaving = flag } else { facts.allowsAdTracking = flag }
            default: return nil
            }
            way = Grammar.nextMember(&place)
        }
        (device.pointee.hasFacts, device.pointee.facts) = (true, facts)
        // The first five must be there.
        return way == .end && seen & 0b11111 == 0b11111 ? place : nil
    }

    /// Names and values in the order of the names, which must not repeat.
    private func identities(
        _ start: Bytes,
        _ device: UnsafeMutablePointer<RecordView.DeviceView>,
        _ scratch: Scratch
    ) -> Bytes? {
        var (place, count) = (start, 0)
        var way = Grammar.openObject(&place)
        return withUnsafeMutableBytes(of: &device.pointee.identities) { bytes -> Bytes? in
            let list = bytes.bindMemory(to: RecordView.DeviceView.Identity.self)
            while way == .on {
                place -= 1
                guard count < list.count, let name = Grammar.text(&place, scratch), name.count > 0, name.isASCII,
                    Grammar.comes(0x3A, &place)
                else { return nil }
                place += 1
                guard let value = Grammar.text(&place, scratch) else { return nil }
                if count > 0 { guard list[count - 1].name.compare(name) < 0 else { return nil } }
                list[count] = .init(name: name, value: value)
                count += 1
                way = Grammar.nextMember(&place)
            }
            device.pointee.identityCount = count
            return way == .end ? place : nil
        }
    }

    // MARK: Words

    private static func flag(_ place: inout Bytes) -> Bool? {
        Grammar.space(&place)
        let isTrue = place.pointee == UInt8(ascii: "t")
        return Grammar.flag(&place) ? isTrue : nil
    }

    /// Reads a word of an open set, with none of the table's for an unknown one; `previous` was in the element before.
    @inline(__always) private static func word(
        _ place: inout Bytes,
        _ table: KeyTable,
        _ scratch: Scratch,
        after previous: KeyTable.Match? = nil,
        mayBeEmpty: Bool = false
    ) -> (match: KeyTable.Match, text: Stretch)? {
        guard Grammar.comes(0x22, &place) else { return nil }
        let start = place + 1
        place = start
        let match = if let previous { table.find(&place, after: previous) } else { table.find(&place) }
        if match.index >= 0 { return (match, Stretch(start, place - start - 1)) }
        place = start - 1
        return otherWord(&place, table, scratch, mayBeEmpty: mayBeEmpty)
    }

    /// A word that is unknown, or written with escapes.
    @inline(never) private static func otherWord(
        _ place: inout Bytes,
        _ table: KeyTable,
        _ scratch: Scratch,
        mayBeEmpty: Bool
    ) -> (match: KeyTable.Match, text: Stretch)? {
        // A table that lacks a name can't tell that a text is none.
        guard let text = Grammar.text(&place, scratch), text.count > 0 || mayBeEmpty, table.isWhole else { return nil }
        let match = table.match(text)
        // One beyond ASCII may be another spelling of a name in canonical form.
        return match.index >= 0 || text.isASCII
            || text.text.utf8.elementsEqual(text.text.precomposedStringWithCanonicalMapping.utf8) ? (match, text) : nil
    }

    /// Reads a word of a closed set.
    @inline(__always) private static func closed(_ place: inout Bytes, _ table: KeyTable) -> Int? {
        guard Grammar.comes(0x22, &place) else { return nil }
        place += 1
        let index = table.find(&place).index
        return index >= 0 ? index : nil
    }
}

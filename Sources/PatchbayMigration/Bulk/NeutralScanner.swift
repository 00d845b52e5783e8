import Foundation
import PatchbayModel

/// Reads a contact of the neutral model from its line into a view, byte by byte.
///
/// Every function returns false or nil for a record that is not plain. The general path reads such a record and reports its
/// problems. For records that are read here, the model's own reader gives the same result.
struct NeutralScanner: LineScanner {
    /// The names in each object.
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

    // Behind a pointer, because a value that is copied with every call should be small.
    private let tables: UnsafePointer<Tables>

    init(in arena: Arena) { tables = arena.keep(Tables(in: arena)) }

    /// The name of the unknown attribute that prevented reading the last record; nil if there was none.
    private var unknownName: Stretch?

    /// Returns and clears the name. It is valid while the chunk is lent.
    mutating func takeUnknownName() -> Stretch? { unknownName.take() }

    /// Reads the object at the cursor, and returns the position after it; nil for one that is not plain.
    @inline(__always) mutating func object(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ names: KeyTable
    ) -> Bytes? {
        view.clear()
        return Grammar.members(start, of: tables.pointee.parts) { part, place in
            switch part {
            case 0: identifiers(place, &view, vocabulary)
            case 1: attributes(place, &view, names)
            case 2: Grammar.tags(place, &view)
            case 3: subscriptions(place, &view, vocabulary)
            case 4: consents(place, &view, vocabulary)
            case 5: devices(place, &view, vocabulary)
            default: Grammar.text(at: place, part == 6, &view)
            }
        }
    }

    // MARK: Parts

    @inline(__always) private func identifiers(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bytes? {
        Grammar.elements(start) { start in
            guard view.identifierCount < RecordView.identifierLimit else { return nil }
            let identifier = view.identifiers + view.identifierCount
            view.identifierCount &+= 1
            return Grammar.members(start, of: tables.pointee.identifierMembers, required: 0b11) { member, start in
                var place = start
                if member == 1 { return Grammar.string(&place, &identifier.pointee.value, view.scratch) ? place : nil }
                guard let kind = Self.word(&place, vocabulary.pointee.kinds, view.scratch) else { return nil }
                (identifier.pointee.kind, identifier.pointee.name) = kind
                return place
            }
        }
    }

    @inline(__always) private mutating func attributes(
        _ start: Bytes,
        _ view: inout RecordView,
        _ names: KeyTable
    ) -> Bytes? {
        var place = start
        var way = Grammar.openObject(&place)
        while way == .on {
            let name = place
            var rank = names.find(&place)
            if rank < 0 {
                // The name is unknown, or written with escapes.
                place = name - 1
                guard let text = Grammar.text(&place, view.scratch), Grammar.comes(0x3A, &place) else { return nil }
                place += 1
                rank = names.match(text)
                guard rank >= 0 else {
                    unknownName = text
                    return nil
                }
            }
            guard let value = view.attribute(rank) else { return nil }
            Grammar.space(&place)
            let end =
                place.pointee == 0x7B ? typed(place, value, view.scratch) : Grammar.value(place, value, view.scratch)
            guard let end else { return nil }
            place = end
            way = Grammar.nextMember(&place)
        }
        return way == .end ? place : nil
    }

    /// Reads an object with one member that names the type.
    private func typed(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>, _ scratch: Scratch) -> Bytes? {
        var place = start
        guard Grammar.openObject(&place) == .on else { return nil }
        let type = tables.pointee.types.find(&place)
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

    /// The types, by their index in the table.
    private static let types: [TypeCode] = [.date, .country, .timestamp, .time, .choices, .decimal]

    private func subscriptions(_ start: Bytes, _ view: inout RecordView, _ vocabulary: UnsafePointer<Vocabulary>)
        -> Bytes?
    {
        Grammar.elements(start) { start in
            guard view.subscriptionCount < RecordView.subscriptionLimit else { return nil }
            var subscription = RecordView.SubscriptionView(channel: -1, topic: Vocabulary.none, state: -1)
            let end = Grammar.members(start, of: tables.pointee.details, required: 0b101) { member, start in
                var place = start
                switch member {
                case 0:
                    guard let channel = Self.word(&place, vocabulary.pointee.channels, view.scratch) else { return nil }
                    (subscription.channel, subscription.names.channel) = channel
                case 1:
                    guard let topic = Self.word(&place, vocabulary.pointee.topics, view.scratch, mayBeEmpty: true)
                    else {
                        return nil
                    }
                    (subscription.topic, subscription.names.topic) = topic
                case 2:
                    guard let state = Self.closed(&place, vocabulary.pointee.subscriptionStates) else { return nil }
                    subscription.state = state
                case 3:
                    guard let changedAt = Self.instant(&place, view.scratch) else { return nil }
                    subscription.changedAt = changedAt
                default:
                    guard let text = Grammar.text(&place, view.scratch) else { return nil }
                    if member == 4 {
                        subscription.source = RecordView.Detail(text)
                    } else {
                        subscription.evidence = RecordView.Detail(text)
                    }
                }
                return place
            }
            view.subscriptions[view.subscriptionCount] = subscription
            view.subscriptionCount &+= 1
            return end
        }
    }

    private func consents(_ start: Bytes, _ view: inout RecordView, _ vocabulary: UnsafePointer<Vocabulary>) -> Bytes? {
        Grammar.elements(start) { start in
            guard view.consentCount < RecordView.consentLimit else { return nil }
            var consent = RecordView.ConsentView(purpose: -1, channel: Vocabulary.none, state: -1)
            let end = Grammar.members(start, of: tables.pointee.consentMembers, required: 0b101) { member, start in
                var place = start
                switch member {
                case 0:
                    guard let purpose = Self.word(&place, vocabulary.pointee.purposes, view.scratch) else { return nil }
                    (consent.purpose, consent.names.purpose) = purpose
                case 1:
                    guard let channel = Self.word(&place, vocabulary.pointee.channels, view.scratch) else { return nil }
                    (consent.channel, consent.names.channel) = channel
                case 2:
                    guard let state = Self.closed(&place, vocabulary.pointee.consentStates) else { return nil }
                    consent.state = state
                default:
                    guard let changedAt = Self.instant(&place, view.scratch) else { return nil }
                    consent.changedAt = changedAt
                }
                return place
            }
            view.consents[view.consentCount] = consent
            view.consentCount &+= 1
            return end
        }
    }

    /// Reads an instant as the model writes it.
    private static func instant(_ place: inout Bytes, _ scratch: Scratch) -> RecordView.Detail? {
        guard let text = Grammar.text(&place, scratch) else { return nil }
        var value = ValueView(kind: .string, isASCII: text.isASCII, text: text)
        return value.convert(to: .timestamp, scratch) ? RecordView.Detail(value.text) : nil
    }

    // MARK: Devices

    private func devices(_ start: Bytes, _ view: inout RecordView, _ vocabulary: UnsafePointer<Vocabulary>) -> Bytes? {
        Grammar.elements(start) { start in
            guard view.deviceCount < RecordView.deviceLimit else { return nil }
            let device = view.devices + view.deviceCount
            device.pointee = RecordView.DeviceView()
            view.deviceCount += 1
            return Grammar.members(start, of: tables.pointee.facilities) { member, start in
                switch member {
                case 4: return token(start, device, vocabulary, view.scratch)
                case 5: return facts(start, device, view.scratch)
                case 6: return identities(start, device, view.scratch)
                default: break
                }
                var place = start
                guard let isAllowed = Self.flag(&place) else { return nil }
                switch member {
                case 0: device.pointee.allowsPush = isAllowed
                case 1: device.pointee.allowsBackgroundPush = isAllowed
                case 2: device.pointee.allowsLocation = isAllowed
                default: device.pointee.allowsProximity = isAllowed
                }
                return place
            }
        }
    }

    private func token(
        _ start: Bytes,
        _ device: UnsafeMutablePointer<RecordView.DeviceView>,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ scratch: Scratch
    ) -> Bytes? {
        (device.pointee.hasToken, device.pointee.serviceName) = (true, .apns)
        return Grammar.members(start, of: tables.pointee.tokenMembers, required: 1) { member, start in
            var place = start
            switch member {
            case 1:
                guard let service = Self.word(&place, vocabulary.pointee.services, scratch) else { return nil }
                (device.pointee.service, device.pointee.serviceName) = service
            case 2:
                guard let environment = Self.closed(&place, tables.pointee.environments) else { return nil }
                device.pointee.environment = environment
            default:
                guard let text = Grammar.text(&place, scratch) else { return nil }
                if member == 0 { device.pointee.token = text } else { device.pointee.appID = RecordView.Detail(text) }
            }
            return place
        }
    }

    private func facts(
        _ start: Bytes,
        _ device: UnsafeMutablePointer<RecordView.DeviceView>,
        _ scratch: Scratch
    ) -> Bytes? {
        var facts = RecordView.DeviceView.Facts()
        // The first five members are required.
        let end = Grammar.members(start, of: tables.pointee.facts, required: 0b11111) { member, start in
            var place = start
            switch member {
            case 9:
                var value = RecordView.blank
                Grammar.space(&place)
                guard Grammar.number(&place, &value), value.kind == .integer else { return nil }
                facts.utcOffset = RecordView.Detail(value.text)
                return place
            case 10, 11:
                guard let flag = Self.flag(&place) else { return nil }
                if member == 10 { facts.isDaylightSaving = flag } else { facts.allowsAdTracking = flag }
                return place
            default: break
            }
            guard let text = Grammar.text(&place, scratch) else { return nil }
            switch member {
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
            return place
        }
        (device.pointee.hasFacts, device.pointee.facts) = (true, facts)
        return end
    }

    /// Reads names and values in the order of the names, which must not repeat.
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

    // MARK: Names

    private static func flag(_ place: inout Bytes) -> Bool? {
        Grammar.space(&place)
        let isTrue = place.pointee == UInt8(ascii: "t")
        return Grammar.flag(&place) ? isTrue : nil
    }

    /// Reads a name of an open set. Its index is -1 if it is not in the table.
    @inline(__always) private static func word(
        _ place: inout Bytes,
        _ table: KeyTable,
        _ scratch: Scratch,
        mayBeEmpty: Bool = false
    ) -> (index: Int, text: Stretch)? {
        guard Grammar.comes(0x22, &place) else { return nil }
        let start = place + 1
        place = start
        let index = table.find(&place)
        if index >= 0 { return (index, Stretch(start, place - start - 1)) }
        place = start - 1
        return otherWord(&place, table, scratch, mayBeEmpty: mayBeEmpty)
    }

    /// Reads a name that is unknown, or written with escapes.
    @inline(never) private static func otherWord(
        _ place: inout Bytes,
        _ table: KeyTable,
        _ scratch: Scratch,
        mayBeEmpty: Bool
    ) -> (index: Int, text: Stretch)? {
        // If the table does not have all names, a text that is not found may still be one of them.
        guard let text = Grammar.text(&place, scratch), text.count > 0 || mayBeEmpty, table.isWhole else { return nil }
        let index = table.match(text)
        // A text beyond ASCII may be canonically equivalent to a name.
        return index >= 0 || text.isASCII
            || text.text.utf8.elementsEqual(text.text.precomposedStringWithCanonicalMapping.utf8) ? (index, text) : nil
    }

    /// Reads a name of a closed set.
    @inline(__always) private static func closed(_ place: inout Bytes, _ table: KeyTable) -> Int? {
        guard Grammar.comes(0x22, &place) else { return nil }
        place += 1
        let index = table.find(&place)
        return index >= 0 ? index : nil
    }
}

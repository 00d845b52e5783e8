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
            func table(_ names: [String]) -> KeyTable { KeyTable(names, endingWith: .colon, in: arena) }
            parts = table([
                "identifiers", "attributes", "tags", "subscriptions", "consents", "devices", "locale", "timeZone",
            ])
            identifierMembers = table(["kind", "value"])
            details = table(["channel", "topic", "state", "changedAt", "source", "evidence"])
            consentMembers = table(["purpose", "channel", "state", "changedAt"])
            facilities = table([
                "allowsPush", "allowsBackgroundPush", "allowsLocation", "allowsProximity", "pushToken", "facts",
            ])
            tokenMembers = table(["value", "service", "environment", "appID"])
            environments = KeyTable(PushToken.Environment.allCases.map(\.rawValue), in: arena)
            facts = table([
                "platform", "platformVersion", "model", "locale", "appVersion", "deviceName", "timeZone", "appID",
                "advertisingID", "utcOffsetSeconds", "isDaylightSaving", "allowsAdTracking",
            ])
            types = table(["date", "country", "timestamp", "time", "choices"])
        }
    }

    // Behind a pointer, because what is copied with every call should be small.
    private let tables: UnsafePointer<Tables>

    init(in arena: Arena) { tables = arena.keep(Tables(in: arena)) }

    /// The name of the attribute that the last record failed for, if that was it.
    private var stranger: Stretch?

    /// That name, as long as the chunk is lent.
    mutating func takeStranger() -> Stretch? { stranger.take() }

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
                case 2: tags(place, &view)
                case 3: subscriptions(place, &view, lexicon)
                case 4: consents(place, &view, lexicon)
                case 5: devices(place, &view, lexicon)
                case 6: locale(place, &view)
                case 7: timeZone(place, &view)
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
                    guard let next = Self.word(&place, lexicon.pointee.kinds, after: kind) else { return nil }
                    kind = next
                    identifier.pointee.kind = kind.index
                case 1: guard Grammar.string(&place, &identifier.pointee.value) else { return nil }
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
            guard rank.index >= 0 else {
                stranger = Stretch(name, name.endOfPlainText - name)
                return nil
            }
            guard let value = view.attribute(rank.index) else { return nil }
            switch place.pointee {
            case 0x22: guard Grammar.string(&place, value) else { return nil }
            case 0x2D, 0x30...0x39: guard Grammar.number(&place, value) else { return nil }
            case 0x7B:
                guard let end = typed(place, value) else { return nil }
                place = end
            default:
                guard let end = unusual(place, value) else { return nil }
                place = end
            }
            way = Grammar.nextMember(&place)
        }
        return way == .end ? place : nil
    }

    /// Reads a value that is neither a string nor a number, or has white space before it.
    private func unusual(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>) -> Bytes? {
        var place = start
        Grammar.space(&place)
        let start = place
        switch place.pointee {
        case 0x22: return Grammar.string(&place, value) ? place : nil
        case 0x2D, 0x30...0x39: return Grammar.number(&place, value) ? place : nil
        case 0x7B: return typed(place, value)
        case 0x5B: return Grammar.strings(place, value)
        case 0x74, 0x66:
            let kind: ValueView.Kind = place.pointee == 0x74 ? .yes : .no
            (value.pointee.kind, value.pointee.isEscaped, value.pointee.isASCII) = (kind, false, true)
            guard Grammar.flag(&place) else { return nil }
            value.pointee.text = Stretch(start, place - start)
            return place
        default: return nil
        }
    }

    /// An object with one member that names the type.
    private func typed(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>) -> Bytes? {
        var place = start
        guard Grammar.openObject(&place) == .on else { return nil }
        let type = tables.pointee.types.find(&place).index
        guard type >= 0 else { return nil }
        if type == 4 {
            guard let end = Grammar.strings(place, value) else { return nil }
            place = end
            value.pointee.kind = .choices
        } else {
            guard let text = Grammar.bare(&place) else { return nil }
            let (kind, fits): (ValueView.Kind, Bool) =
                switch type {
                case 0: (.date, Forms.isDate(text))
                case 1: (.country, Forms.isCountry(text))
                case 2: (.timestamp, Forms.isTimestamp(text))
                default: (.time, Forms.isTime(text))
                }
            guard fits else { return nil }
            value.pointee = ValueView(kind: kind, isEscaped: false, isASCII: true, text: text)
        }
        return Grammar.nextMember(&place) == .end ? place : nil
    }

    @inline(__always) private func tags(_ start: Bytes, _ view: inout RecordView) -> Bytes? {
        var place = start
        var way = Grammar.openList(&place)
        while way == .on {
            // Tags are a set whose order and equality are those of text; beyond ASCII that is not the bytes'.
            guard view.tagCount < RecordView.tagLimit, let tag = Grammar.bare(&place), tag.count > 0,
                view.insert(tag: tag)
            else { return nil }
            way = Grammar.nextElement(&place)
        }
        return way == .end ? place : nil
    }

    private func subscriptions(_ start: Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bytes? {
        let members = tables.pointee.details
        var (place, count, channel) = (start, 0, lexicon.pointee.channels.none)
        var way = Grammar.openList(&place)
        while way == .on {
            guard count < RecordView.subscriptionLimit else { return nil }
            var subscription = RecordView.SubscriptionView(channel: -1, topic: Lexicon.none, state: -1, details: 0)
            var (seen, member) = (Grammar.unseen, members.none)
            var inner = Grammar.openObject(&place)
            while inner == .on {
                member = Grammar.name(&place, members, &seen, after: member)
                switch member.index {
                case 0:
                    guard let next = Self.word(&place, lexicon.pointee.channels, after: channel) else { return nil }
                    channel = next
                    subscription.channel = channel.index
                case 1:
                    guard let topic = Self.word(&place, lexicon.pointee.topics, mayBeEmpty: true) else { return nil }
                    subscription.topic = topic.index
                case 2:
                    guard let state = Self.closed(&place, lexicon.pointee.subscriptionStates) else { return nil }
                    subscription.state = state
                case 3:
                    guard let text = Grammar.bare(&place), Forms.isTimestamp(text) else { return nil }
                    subscription.details += 1
                case 4, 5:
                    guard Grammar.pass(&place) != nil else { return nil }
                    subscription.details += 1
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
                    guard let purpose = Self.word(&place, lexicon.pointee.purposes) else { return nil }
                    consent.purpose = purpose.index
                case 1:
                    guard let channel = Self.word(&place, lexicon.pointee.channels) else { return nil }
                    consent.channel = channel.index
                case 2:
                    guard let state = Self.closed(&place, lexicon.pointee.consentStates) else { return nil }
                    consent.state = state
                case 3:
                    guard let text = Grammar.bare(&place), Forms.isTimestamp(text) else { return nil }
                    consent.isDated = true
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

    @inline(__always) private func locale(_ start: Bytes, _ view: inout RecordView) -> Bytes? {
        var place = start
        guard let text = Grammar.pass(&place) else { return nil }
        (view.hasLocale, view.locale) = (true, text)
        return place
    }

    @inline(__always) private func timeZone(_ start: Bytes, _ view: inout RecordView) -> Bytes? {
        var place = start
        guard let text = Grammar.pass(&place) else { return nil }
        (view.hasTimeZone, view.timeZone) = (true, text)
        return place
    }

    // MARK: Devices

    private func devices(_ start: Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bytes? {
        let members = tables.pointee.facilities
        var place = start
        var way = Grammar.openList(&place)
        while way == .on {
            guard view.deviceCount < RecordView.deviceLimit else { return nil }
            let device = view.devices + view.deviceCount
            device.pointee = .init(
                token: RecordView.blank,
                hasToken: false,
                hasFacts: false,
                service: 0,
                family: -1
            )
            var (seen, member) = (Grammar.unseen, members.none)
            var inner = Grammar.openObject(&place)
            while inner == .on {
                member = Grammar.name(&place, members, &seen, after: member)
                switch member.index {
                // A permission that is not the usual one has no place in most targets; the slow way says so.
                case 0...3:
                    Grammar.space(&place)
                    guard (place.pointee == UInt8(ascii: "t")) == (member.index == 0), Grammar.flag(&place) else {
                        return nil
                    }
                case 4, 5:
                    let end = member.index == 4 ? token(place, device, lexicon) : facts(place, device, lexicon)
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
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bytes? {
        let members = tables.pointee.tokenMembers
        var (place, seen, member) = (start, Grammar.unseen, members.none)
        var way = Grammar.openObject(&place)
        while way == .on {
            member = Grammar.name(&place, members, &seen, after: member)
            switch member.index {
            case 0:
                guard let text = Grammar.bare(&place) else { return nil }
                device.pointee.token.text = text
            case 1:
                guard let service = Self.word(&place, lexicon.pointee.services) else { return nil }
                device.pointee.service = service.index
            case 2:
                guard let environment = Self.closed(&place, tables.pointee.environments) else { return nil }
                device.pointee.environment = environment
            case 3:
                guard let app = Grammar.bare(&place) else { return nil }
                if app.count > 0 { device.pointee.app = app }
                device.pointee.hasAppID = true
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
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bytes? {
        let members = tables.pointee.facts
        var (place, seen, member) = (start, Grammar.unseen, members.none)
        var value = device.pointee.token
        var way = Grammar.openObject(&place)
        while way == .on {
            member = Grammar.name(&place, members, &seen, after: member)
            switch member.index {
            case 0:
                guard let platform = Self.closed(&place, lexicon.pointee.platforms) else { return nil }
                device.pointee.family = lexicon.pointee.familyOfPlatform[platform]
            case 7:
                guard let app = Grammar.bare(&place) else { return nil }
                if device.pointee.app.count == 0 { device.pointee.app = app }
            case 1...8: guard Grammar.pass(&place) != nil else { return nil }
            case 9:
                Grammar.space(&place)
                guard Grammar.number(&place, &value), value.kind == .integer else { return nil }
            case 10, 11:
                Grammar.space(&place)
                guard Grammar.flag(&place) else { return nil }
            default: return nil
            }
            way = Grammar.nextMember(&place)
        }
        device.pointee.hasFacts = true
        // The first five must be there.
        return way == .end && seen & 0b11111 == 0b11111 ? place : nil
    }

    // MARK: Words

    /// Reads a word of an open set, none for an unknown one; `previous` is what stood in the element before.
    @inline(__always) private static func word(
        _ place: inout Bytes,
        _ table: KeyTable,
        after previous: KeyTable.Match? = nil,
        mayBeEmpty: Bool = false
    ) -> KeyTable.Match? {
        guard Grammar.comes(0x22, &place) else { return nil }
        place += 1
        let match = if let previous { table.find(&place, after: previous) } else { table.find(&place) }
        if match.index >= 0 { return match }
        // A word beyond ASCII may be equal to one of the table's in the eyes of text, so it is for the slow way.
        let end = place.endOfPlainText
        guard end.pointee == 0x22, end > place || mayBeEmpty, table.isWhole else { return nil }
        place = end + 1
        return match
    }

    /// Reads a word of a closed set.
    @inline(__always) private static func closed(_ place: inout Bytes, _ table: KeyTable) -> Int? {
        guard Grammar.comes(0x22, &place) else { return nil }
        place += 1
        let index = table.find(&place).index
        return index >= 0 ? index : nil
    }
}

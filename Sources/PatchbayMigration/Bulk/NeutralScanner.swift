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
            func table(_ names: [String]) -> KeyTable { KeyTable(names, in: arena) }
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
            environments = table(PushToken.Environment.allCases.map(\.rawValue))
            facts = table([
                "platform", "platformVersion", "model", "locale", "appVersion", "deviceName", "timeZone", "appID",
                "advertisingID", "utcOffsetSeconds", "isDaylightSaving", "allowsAdTracking",
            ])
            types = table(["date", "country", "timestamp", "time", "choices"])
        }
    }

    // Behind a pointer, because what is copied with every call should be small.
    private let tables: UnsafePointer<Tables>

    init(in arena: Arena) { tables = UnsafePointer(arena.make(1, of: Tables(in: arena))) }

    /// The name of the attribute that the last record failed for, if that was it.
    private var stranger: Stretch?

    /// That name, as long as the chunk is lent.
    mutating func takeStranger() -> Stretch? { stranger.take() }

    /// Reads the object at the cursor; afterwards the cursor is behind it.
    @inline(__always) mutating func scan(
        _ place: inout Bytes,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>,
        _ names: KeyTable
    ) -> Bool {
        view.clear()
        var (part, seen) = (-1, 0 as UInt64)
        var way = Grammar.open(&place, 0x7B)
        while way == .on {
            part = Grammar.name(&place, tables.pointee.parts, after: part, &seen)
            let isPlain =
                switch part {
                case 0: identifiers(&place, &view, lexicon)
                case 1: attributes(&place, &view, names)
                case 2: tags(&place, &view)
                case 3: subscriptions(&place, &view, lexicon)
                case 4: consents(&place, &view, lexicon)
                case 5: devices(&place, &view, lexicon)
                case 6: locale(&place, &view)
                case 7: timeZone(&place, &view)
                default: false
                }
            guard isPlain else { return false }
            way = Grammar.next(&place, 0x7B)
        }
        return way == .end
    }

    // MARK: Parts

    @inline(__always) private func identifiers(
        _ place: inout Bytes,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bool {
        var kind = -1
        var way = Grammar.open(&place, 0x5B)
        while way == .on {
            guard view.identifierCount < RecordView.identifierLimit else { return false }
            let identifier = view.identifiers + view.identifierCount
            var (member, seen) = (-1, 0 as UInt64)
            var inner = Grammar.open(&place, 0x7B)
            while inner == .on {
                member = Grammar.name(&place, tables.pointee.identifierMembers, after: member, &seen)
                if member == 0 {
                    guard Self.word(&place, lexicon.pointee.kinds, after: kind, &kind) else { return false }
                } else {
                    guard member == 1, Grammar.string(&place, &identifier.pointee.value) else { return false }
                }
                inner = Grammar.next(&place, 0x7B)
            }
            guard inner == .end, seen == 3 else { return false }
            identifier.pointee.kind = kind
            view.identifierCount += 1
            way = Grammar.next(&place, 0x5B)
        }
        return way == .end
    }

    @inline(__always) private mutating func attributes(
        _ place: inout Bytes,
        _ view: inout RecordView,
        _ names: KeyTable
    ) -> Bool {
        var rank = -1
        var way = Grammar.open(&place, 0x7B)
        while way == .on {
            guard place.pointee == 0x22 else { return false }
            place += 1
            let name = place
            rank = names.find(&place, after: rank)
            guard rank >= 0 else {
                stranger = Stretch(name, name.endOfPlainText - name)
                return false
            }
            guard Grammar.colon(&place), let value = view.attribute(rank), self.value(&place, &value.pointee) else {
                return false
            }
            way = Grammar.next(&place, 0x7B)
        }
        return way == .end
    }

    @inline(__always) private func value(_ place: inout Bytes, _ value: inout ValueView) -> Bool {
        switch place.pointee {
        case 0x22: return Grammar.string(&place, &value)
        case 0x2D, 0x30...0x39: return Grammar.number(&place, &value)
        case 0x7B: return typed(&place, &value)
        case 0x5B: return Grammar.strings(&place, &value)
        case 0x74, 0x66:
            let start = place
            (value.kind, value.isEscaped, value.isASCII) = (place.pointee == 0x74 ? .yes : .no, false, true)
            guard Grammar.flag(&place) else { return false }
            value.text = Stretch(start, place - start)
            return true
        default: return false
        }
    }

    /// An object with one member that names the type.
    @inline(__always) private func typed(_ place: inout Bytes, _ value: inout ValueView) -> Bool {
        var seen: UInt64 = 0
        guard Grammar.open(&place, 0x7B) == .on else { return false }
        let type = Grammar.name(&place, tables.pointee.types, after: -1, &seen)
        guard type >= 0 else { return false }
        if type == 4 {
            guard Grammar.strings(&place, &value) else { return false }
        } else {
            guard Grammar.string(&place, &value), value.isBare else { return false }
            let fits =
                switch type {
                case 0: Forms.isDate(value.text)
                case 1: Forms.isCountry(value.text)
                case 2: Forms.isTimestamp(value.text)
                default: Forms.isTime(value.text)
                }
            guard fits else { return false }
        }
        value.kind =
            switch type {
            case 0: .date
            case 1: .country
            case 2: .timestamp
            case 3: .time
            default: .choices
            }
        return Grammar.next(&place, 0x7B) == .end
    }

    @inline(__always) private func tags(_ place: inout Bytes, _ view: inout RecordView) -> Bool {
        var way = Grammar.open(&place, 0x5B)
        var value = RecordView.blank
        while way == .on {
            // Tags are a set whose order and equality are those of text; beyond ASCII that is not the bytes'.
            guard view.tagCount < RecordView.tagLimit, Grammar.string(&place, &value), value.isBare,
                value.text.count > 0
            else { return false }
            guard view.insert(tag: value.text) else { return false }
            way = Grammar.next(&place, 0x5B)
        }
        return way == .end
    }

    private func subscriptions(_ place: inout Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>)
        -> Bool
    {
        var channel = -1
        var value = RecordView.blank
        var way = Grammar.open(&place, 0x5B)
        while way == .on {
            guard view.subscriptionCount < RecordView.subscriptionLimit else { return false }
            let subscription = view.subscriptions + view.subscriptionCount
            subscription.pointee = .init(channel: -1, topic: Lexicon.none, state: -1, details: 0)
            var (member, seen) = (-1, 0 as UInt64)
            var inner = Grammar.open(&place, 0x7B)
            while inner == .on {
                member = Grammar.name(&place, tables.pointee.details, after: member, &seen)
                switch member {
                case 0:
                    guard Self.word(&place, lexicon.pointee.channels, after: channel, &channel) else { return false }
                    subscription.pointee.channel = channel
                case 1:
                    guard
                        Self.word(
                            &place,
                            lexicon.pointee.topics,
                            after: -1,
                            &subscription.pointee.topic,
                            mayBeEmpty: true
                        )
                    else { return false }
                case 2:
                    guard Self.closed(&place, lexicon.pointee.subscriptionStates, &subscription.pointee.state) else {
                        return false
                    }
                case 3:
                    guard Grammar.string(&place, &value), value.isBare, Forms.isTimestamp(value.text) else {
                        return false
                    }
                    subscription.pointee.details += 1
                case 4, 5:
                    guard Grammar.string(&place, &value) else { return false }
                    subscription.pointee.details += 1
                default: return false
                }
                inner = Grammar.next(&place, 0x7B)
            }
            guard inner == .end, seen & 5 == 5 else { return false }
            view.subscriptionCount += 1
            way = Grammar.next(&place, 0x5B)
        }
        return way == .end
    }

    private func consents(_ place: inout Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bool {
        var purpose = -1
        var value = RecordView.blank
        var way = Grammar.open(&place, 0x5B)
        while way == .on {
            guard view.consentCount < RecordView.consentLimit else { return false }
            let consent = view.consents + view.consentCount
            consent.pointee = .init(purpose: -1, channel: Lexicon.none, state: -1)
            var (member, seen) = (-1, 0 as UInt64)
            var inner = Grammar.open(&place, 0x7B)
            while inner == .on {
                member = Grammar.name(&place, tables.pointee.consentMembers, after: member, &seen)
                switch member {
                case 0:
                    guard Self.word(&place, lexicon.pointee.purposes, after: purpose, &purpose) else { return false }
                    consent.pointee.purpose = purpose
                case 1:
                    guard Self.word(&place, lexicon.pointee.channels, after: -1, &consent.pointee.channel) else {
                        return false
                    }
                case 2:
                    guard Self.closed(&place, lexicon.pointee.consentStates, &consent.pointee.state) else {
                        return false
                    }
                case 3:
                    guard Grammar.string(&place, &value), value.isBare, Forms.isTimestamp(value.text) else {
                        return false
                    }
                default: return false
                }
                inner = Grammar.next(&place, 0x7B)
            }
            guard inner == .end, seen & 5 == 5 else { return false }
            view.consentCount += 1
            way = Grammar.next(&place, 0x5B)
        }
        return way == .end
    }

    private func locale(_ place: inout Bytes, _ view: inout RecordView) -> Bool {
        var value = RecordView.blank
        view.hasLocale = true
        return Grammar.string(&place, &value)
    }

    private func timeZone(_ place: inout Bytes, _ view: inout RecordView) -> Bool {
        var value = RecordView.blank
        guard Grammar.string(&place, &value) else { return false }
        (view.hasTimeZone, view.timeZone) = (true, value.text)
        return true
    }

    // MARK: Devices

    private func devices(_ place: inout Bytes, _ view: inout RecordView, _ lexicon: UnsafePointer<Lexicon>) -> Bool {
        var way = Grammar.open(&place, 0x5B)
        while way == .on {
            guard view.deviceCount < RecordView.deviceLimit else { return false }
            let device = view.devices + view.deviceCount
            device.pointee = .init(
                token: RecordView.blank,
                hasToken: false,
                hasFacts: false,
                service: 0,
                family: -1
            )
            var (member, seen) = (-1, 0 as UInt64)
            var inner = Grammar.open(&place, 0x7B)
            while inner == .on {
                member = Grammar.name(&place, tables.pointee.facilities, after: member, &seen)
                let isPlain =
                    switch member {
                    // A permission that is not the usual one has no place in most targets; the slow way says so.
                    case 0...3: (place.pointee == UInt8(ascii: "t")) == (member == 0) && Grammar.flag(&place)
                    case 4: token(&place, &device.pointee, lexicon)
                    case 5: facts(&place, &device.pointee, lexicon)
                    default: false
                    }
                guard isPlain else { return false }
                inner = Grammar.next(&place, 0x7B)
            }
            guard inner == .end else { return false }
            view.deviceCount += 1
            way = Grammar.next(&place, 0x5B)
        }
        return way == .end
    }

    private func token(
        _ place: inout Bytes,
        _ device: inout RecordView.DeviceView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bool {
        var value = device.token
        var (member, seen) = (-1, 0 as UInt64)
        var way = Grammar.open(&place, 0x7B)
        while way == .on {
            member = Grammar.name(&place, tables.pointee.tokenMembers, after: member, &seen)
            let isPlain =
                switch member {
                case 0: Grammar.string(&place, &device.token) && device.token.isBare
                case 1: Self.word(&place, lexicon.pointee.services, after: -1, &device.service)
                case 2: Self.closed(&place, tables.pointee.environments, &device.environment)
                case 3: Grammar.string(&place, &value)
                default: false
                }
            guard isPlain else { return false }
            if member == 3 { device.hasAppID = true }
            way = Grammar.next(&place, 0x7B)
        }
        device.hasToken = true
        return way == .end && seen & 1 == 1
    }

    private func facts(
        _ place: inout Bytes,
        _ device: inout RecordView.DeviceView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bool {
        var value = device.token
        var (member, seen, platform) = (-1, 0 as UInt64, -1)
        var way = Grammar.open(&place, 0x7B)
        while way == .on {
            member = Grammar.name(&place, tables.pointee.facts, after: member, &seen)
            switch member {
            case 0:
                guard Self.closed(&place, lexicon.pointee.platforms, &platform) else { return false }
                device.family = lexicon.pointee.familyOfPlatform[platform]
            case 1...8: guard Grammar.string(&place, &value) else { return false }
            case 9: guard Grammar.number(&place, &value), value.kind == .integer else { return false }
            case 10, 11: guard Grammar.flag(&place) else { return false }
            default: return false
            }
            way = Grammar.next(&place, 0x7B)
        }
        device.hasFacts = true
        // The first five must be there.
        return way == .end && seen & 0b11111 == 0b11111
    }

    // MARK: Words

    /// Reads a word of an open set: its index, or that of an unknown one.
    @inline(__always) private static func word(
        _ place: inout Bytes,
        _ table: KeyTable,
        after previous: Int,
        _ index: inout Int,
        mayBeEmpty: Bool = false
    ) -> Bool {
        guard place.pointee == 0x22 else { return false }
        place += 1
        index = table.find(&place, after: previous)
        if index >= 0 { return true }
        // A word beyond ASCII may be equal to one of the table's in the eyes of text, so it is for the slow way.
        let end = place.endOfPlainText
        guard end.pointee == 0x22, end > place || mayBeEmpty else { return false }
        place = end + 1
        return true
    }

    /// Reads a word of a closed set.
    @inline(__always) private static func closed(
        _ place: inout Bytes,
        _ table: KeyTable,
        _ index: inout Int
    ) -> Bool {
        guard place.pointee == 0x22 else { return false }
        place += 1
        index = table.find(&place, after: -1)
        return index >= 0
    }
}

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// Reads a record of a source into a view.
protocol RecordScanner: BitwiseCopyable {
    /// Reads the record at a position; nil if the format's own reader must read it. `end` is after a line feed or before
    /// the padding.
    mutating func scan(
        _ start: Bytes,
        _ end: Bytes,
        _ view: inout RecordView,
        _ plan: UnsafePointer<LinePlan>
    ) -> RecordExtent?

    /// Returns the name of the unknown attribute that prevented reading the last record. The name is valid while the chunk
    /// is lent.
    mutating func takeUnknownName() -> Stretch?

    /// Looks up the ranks of the attributes that it names. Called again when the plan has learned a name.
    func rank(by names: KeyTable)

    /// The findings of the last record, if the scanner has any.
    var notes: RowScanner.Notes? { get }
}

/// The position after a record's line end, and the number of its line feeds.
struct RecordExtent {
    var end: Bytes
    var lines: Int
}

extension RecordScanner {
    mutating func takeUnknownName() -> Stretch? { nil }
    func rank(by names: KeyTable) {}
    var notes: RowScanner.Notes? { nil }
}

/// Reads a record of a JSON line into a view.
protocol LineScanner: RecordScanner {
    /// Reads the object at a position, and returns the position after it.
    mutating func object(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ names: KeyTable
    ) -> Bytes?
}

extension LineScanner {
    @inline(__always) mutating func scan(
        _ start: Bytes,
        _ end: Bytes,
        _ view: inout RecordView,
        _ plan: UnsafePointer<LinePlan>
    ) -> RecordExtent? {
        guard start.pointee == 0x7B,
            var place = object(start, &view, plan.pointee.vocabulary, plan.pointee.attributes.names)
        else { return nil }
        Grammar.space(&place)
        if place >= end { return RecordExtent(end: place, lines: 0) }
        return place.pointee == 0x0A ? RecordExtent(end: place + 1, lines: 1) : nil
    }
}

/// Reads a record of a vendor's JSON line into a view, according to a ``MemberLayout``.
///
/// Each function returns nil if the record has anything that the layout does not describe. For records that are read here,
/// the format's own reader gives the same result.
struct MemberScanner: LineScanner {
    private enum Work: UInt8, BitwiseCopyable {
        case identifier, attribute, code, status, timeZone, tags, subscriptions, marker
    }

    /// The destination of a record's member.
    private struct Member: BitwiseCopyable {
        var work: Work
        /// The slot of an identifier.
        var index = 0
        /// The name of an attribute.
        var name = Stretch.nothing
        var type = TypeCode.any
        var codes = Row<Code>(start: nil, count: 0)
    }

    private struct Code: BitwiseCopyable {
        var number: Stretch
        var text: Stretch
    }

    /// A topic, by the number of a resource.
    private struct Topic: BitwiseCopyable {
        var number: Stretch
        var index: Int
        var name: Stretch
    }

    private enum EnvelopeWork: UInt8, BitwiseCopyable {
        case firstMarker, marker, record, identifier, customName, customValue
    }

    private struct EnvelopeMember: BitwiseCopyable {
        var work: EnvelopeWork
        var index = 0
    }

    /// The kind of the identifier in a slot.
    private struct Kind: BitwiseCopyable {
        var index: Int
        var name: Stretch
    }

    private struct Tables {
        var envelope: KeyTable
        var envelopeMembers: Row<EnvelopeMember>
        var markerCount: Int
        var members: KeyTable
        var roles: Row<Member>
        /// The rank of each role's attribute; -1 if it has none.
        var ranks: UnsafeMutablePointer<Int>
        /// The slots of a record's identifiers, then those of its envelope; the last is the custom one.
        var kinds: Row<Kind>
        /// The number of slots of the record.
        var ownSlots: Int
        /// The values in the slots of the present record.
        var slots: UnsafeMutablePointer<ValueView>
        var subscriptionMembers: KeyTable
        /// The kinds of identifiers of the members with an address.
        var addressKinds: Row<Stretch>
        /// The addresses of the record's subscriptions, each with the index of its kind.
        var addresses: UnsafeMutablePointer<Address>
        var topics: Row<Topic>
        var states: KeyTable
        var stateIndexes: Row<Int>
        var providers: KeyTable
        var services: Row<Kind>
    }

    /// The address of a subscription.
    private struct Address: BitwiseCopyable {
        var kind: Int
        var text: Stretch
    }

    private static let slotLimit = 16
    // Behind a pointer, because a value that is copied with every call should be small.
    private let tables: UnsafePointer<Tables>
    private var unknownName: Stretch?
    /// The number of addresses of the record's subscriptions.
    private var addressCount = 0

    mutating func takeUnknownName() -> Stretch? { unknownName.take() }

    /// Creates a scanner; nil for a layout with more identifiers than there is room for.
    init?(_ layout: MemberLayout, _ plan: CompiledPlan, in arena: Arena) {
        func kind(_ kind: IdentifierKind) -> Kind { Kind(index: plan.index(of: kind), name: arena.text(kind.rawValue)) }
        var (kinds, roles): ([Kind], [Member]) = ([], [])
        var list: MemberLayout.Subscriptions?
        for (_, role) in layout.members {
            switch role {
            case .identifier(let own):
                roles.append(Member(work: .identifier, index: kinds.count))
                kinds.append(kind(own))
            case .attribute(let name, let type):
                roles.append(Member(work: .attribute, name: arena.text(name.rawValue), type: TypeCode(type)))
            case .code(let name, let codes):
                var member = Member(work: .code, name: arena.text(name.rawValue))
                member.codes = arena.make(
                    codes.map { Code(number: arena.text(String($0.key)), text: arena.text($0.value)) }
                )
                roles.append(member)
            case .status(let name, let neutral):
                var member = Member(work: .status, name: arena.text(name.rawValue))
                member.codes = arena.make(neutral.map { Code(number: arena.text($0), text: arena.text($0)) })
                roles.append(member)
            case .timeZone: roles.append(Member(work: .timeZone))
            case .tags: roles.append(Member(work: .tags))
            case .subscriptions(let layout):
                list = layout
                roles.append(Member(work: .subscriptions))
            }
        }
        let (envelope, ownSlots) = (layout.envelope, kinds.count)
        kinds += envelope.identifiers.map { kind($0.kind) } + [Kind(index: Vocabulary.unknown, name: .nothing)]
        guard kinds.count <= Self.slotLimit, let list else { return nil }
        var outer: [(String, EnvelopeMember)] = envelope.markers.enumerated()
            .map { ($1, EnvelopeMember(work: $0 == 0 ? .firstMarker : .marker)) }
        outer.append((envelope.record, EnvelopeMember(work: .record)))
        outer += envelope.identifiers.enumerated()
            .map { ($1.name, EnvelopeMember(work: .identifier, index: ownSlots + $0)) }
        outer.append((envelope.custom.name, EnvelopeMember(work: .customName)))
        outer.append((envelope.custom.value, EnvelopeMember(work: .customValue, index: kinds.count - 1)))
        // The member names that a record without an envelope does not have.
        let inner = layout.members.map(\.name) + envelope.markers
        roles += envelope.markers.map { _ in Member(work: .marker) }
        let names = list.members
        let topics = list.topics.map { number, topic in
            Topic(
                number: arena.text(String(number)),
                index: topic.map { plan.topicNames.firstIndex(of: $0) ?? Vocabulary.unknown } ?? Vocabulary.none,
                name: arena.text(topic ?? "")
            )
        }
        let providers = list.providers.inOrder
        let states = list.states.inOrder
        let tables = Tables(
            envelope: KeyTable(outer.map(\.0), terminator: .colon, in: arena),
            envelopeMembers: arena.make(outer.map(\.1)),
            markerCount: envelope.markers.count,
            members: KeyTable(inner, terminator: .colon, in: arena),
            roles: arena.make(roles),
            ranks: arena.make(roles.count, of: -1),
            kinds: arena.make(kinds),
            ownSlots: ownSlots,
            slots: arena.make(Self.slotLimit, of: RecordView.blank),
            subscriptionMembers: KeyTable(
                [names.channel, names.resource, names.state, names.token, names.provider]
                    + names.addresses.map(\.name) + names.unusual,
                terminator: .colon,
                in: arena
            ),
            addressKinds: arena.make(names.addresses.map { arena.text($0.kind.rawValue) }),
            addresses: arena.make(RecordView.subscriptionLimit, of: Address(kind: 0, text: .nothing)),
            topics: arena.make(topics),
            states: KeyTable(states.map(\.key), in: arena),
            stateIndexes: arena.make(states.map { Vocabulary.states.firstIndex(of: $0.value) ?? 0 }),
            providers: KeyTable(providers.map(\.key), in: arena),
            services: arena.make(
                providers.map { _, service in
                    let name = service.rawValue
                    return Kind(
                        index: Vocabulary.serviceNames.firstIndex(of: name) ?? Vocabulary.unknown,
                        name: arena.text(name)
                    )
                }
            )
        )
        guard tables.envelope.isWhole, tables.members.isWhole, tables.subscriptionMembers.isWhole,
            Set(inner).count == inner.count
        else { return nil }
        self.tables = arena.keep(tables)
        rank(by: plan.plan.pointee.attributes.names)
    }

    func rank(by names: KeyTable) {
        for index in 0..<tables.pointee.roles.count {
            tables.pointee.ranks[index] = names.match(tables.pointee.roles[index].name)
        }
    }

    // MARK: Records

    @inline(__always) mutating func object(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ names: KeyTable
    ) -> Bytes? {
        view.clear()
        addressCount = 0
        for slot in 0..<tables.pointee.kinds.count { tables.pointee.slots[slot].text = .nothing }
        var place = start
        guard Grammar.openObject(&place) == .on else { return nil }
        var first = place
        let isEnveloped = (0..<tables.pointee.markerCount).contains(tables.pointee.envelope.find(&first))
        let end =
            isEnveloped
            ? enveloped(start, &view, vocabulary, names) : record(start, &view, vocabulary, names)
        guard let end, takeIdentifiers(&view), areOwn(view) else { return nil }
        return end
    }

    private mutating func enveloped(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ names: KeyTable
    ) -> Bytes? {
        let table = tables.pointee.envelope
        var (hasFirst, hasRecord, field) = (false, false, Stretch.nothing)
        let end = Grammar.members(start, of: table) { index, start in
            var place = start
            let member = tables.pointee.envelopeMembers.place(index)
            switch member.pointee.work {
            case .firstMarker, .marker:
                hasFirst = hasFirst || member.pointee.work == .firstMarker
                return Self.skip(place, view.scratch)
            case .record:
                hasRecord = true
                return record(place, &view, vocabulary, names)
            case .identifier, .customValue:
                let slot = tables.pointee.slots + member.pointee.index
                return Grammar.string(&place, slot, view.scratch) ? place : nil
            case .customName:
                guard let text = Grammar.text(&place, view.scratch) else { return nil }
                field = text
                return place
            }
        } other: {
            skipOther($0, table, view.scratch)
        }
        // Identifiers of the envelope count only together with the first marker.
        guard hasFirst, hasRecord else { return nil }
        let custom = tables.pointee.kinds.count - 1
        if field.count > 0 {
            let own = tables.pointee.members.match(field)
            guard own >= 0, tables.pointee.roles[own].work == .identifier else { return nil }
            customKind = tables.pointee.roles[own].index
        } else {
            tables.pointee.slots[custom].text = .nothing
        }
        return end
    }

    /// The slot of the record with the same kind as the custom identifier.
    private var customKind = 0

    private mutating func record(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ names: KeyTable
    ) -> Bytes? {
        Grammar.members(start, of: tables.pointee.members) { index, place in
            take(tables.pointee.roles.place(index), place, &view, vocabulary, rank: tables.pointee.ranks[index])
        } other: {
            attribute(named: $0, &view, names)
        }
    }

    private mutating func take(
        _ member: UnsafePointer<Member>,
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>,
        rank: Int
    ) -> Bytes? {
        var place = start
        Grammar.space(&place)
        if place.pointee == UInt8(ascii: "n"), member.pointee.work != .marker {
            return Grammar.word(&place, "null") ? place : nil
        }
        switch member.pointee.work {
        // A record with a marker is an envelope, unless it is inside one.
        case .marker: return nil
        case .identifier: return identifier(place, tables.pointee.slots + member.pointee.index, view.scratch)
        case .timeZone: return Grammar.text(at: place, false, &view)
        case .tags: return Grammar.tags(place, &view)
        case .subscriptions: return subscriptions(place, &view, vocabulary)
        case .attribute, .code, .status:
            guard rank >= 0 else {
                unknownName = member.pointee.name
                return nil
            }
            guard let value = view.attribute(rank), let end = Self.value(place, value, view.scratch) else {
                return nil
            }
            return Self.read(value, as: member) ? end : nil
        }
    }

    /// Reads the value according to the member; returns false if the reader must convert or report it.
    private static func read(_ value: UnsafeMutablePointer<ValueView>, as member: UnsafePointer<Member>) -> Bool {
        if member.pointee.work == .code {
            guard value.pointee.kind == .integer else { return true }
            for index in 0..<member.pointee.codes.count {
                let code = member.pointee.codes.place(index)
                if code.pointee.number.compare(value.pointee.text) == 0 {
                    value.pointee = ValueView(string: code.pointee.text)
                    return true
                }
            }
            return true
        }
        if member.pointee.work == .status {
            let codes = member.pointee.codes
            return [.integer, .string].contains(value.pointee.kind)
                && (0..<codes.count).contains { codes.place($0).pointee.number.compare(value.pointee.text) == 0 }
        }
        let type = member.pointee.type
        guard type != .any, type != value.pointee.kind.code else { return true }
        if value.pointee.kind == .list, type == .choices {
            value.pointee.kind = .choices
            return true
        }
        // A text stays a text here. The reader decides whether it is a value of the type.
        return value.pointee.kind == .string && value.pointee.isASCII && type != .choices
            && value.pointee.read(as: type)
    }

    /// Reads a member that the layout does not name as an attribute.
    private mutating func attribute(named start: Bytes, _ view: inout RecordView, _ names: KeyTable) -> Bytes? {
        var place = start
        var rank = names.find(&place)
        if rank < 0 {
            place = start - 1
            guard let text = Grammar.text(&place, view.scratch), Grammar.comes(0x3A, &place) else { return nil }
            place += 1
            // A different spelling of a member that the layout names is not another member.
            guard tables.pointee.members.match(text) < 0 else { return nil }
            Grammar.space(&place)
            if place.pointee == UInt8(ascii: "n") { return Grammar.word(&place, "null") ? place : nil }
            rank = names.match(text)
            guard rank >= 0 else {
                unknownName = text
                return nil
            }
        }
        Grammar.space(&place)
        if place.pointee == UInt8(ascii: "n") { return Grammar.word(&place, "null") ? place : nil }
        guard let value = view.attribute(rank) else { return nil }
        return Self.value(place, value, view.scratch)
    }

    // MARK: Values

    private static func value(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>, _ scratch: Scratch) -> Bytes? {
        guard let end = Grammar.value(start, value, scratch) else { return nil }
        // The model writes a number without trailing zeros.
        return value.pointee.kind == .decimal && (end - 1).pointee == 0x30 ? nil : end
    }

    /// Reads a text, or a list with one text.
    private func identifier(_ start: Bytes, _ value: UnsafeMutablePointer<ValueView>, _ scratch: Scratch) -> Bytes? {
        var place = start
        guard place.pointee == 0x5B else { return Grammar.string(&place, value, scratch) ? place : nil }
        var way = Grammar.openList(&place)
        guard way == .on, Grammar.string(&place, value, scratch) else { return way == .end ? place : nil }
        way = Grammar.nextElement(&place)
        return way == .end ? place : nil
    }

    /// Skips a member that is not read, from after the quote of its name.
    private func skipOther(_ name: Bytes, _ table: KeyTable, _ scratch: Scratch) -> Bytes? {
        var place = name - 1
        guard let text = Grammar.text(&place, scratch), table.match(text) < 0, Grammar.comes(0x3A, &place) else {
            return nil
        }
        return Self.skip(place + 1, scratch)
    }

    /// Skips a value that is not read; nil for one that is not plain.
    private static func skip(_ start: Bytes, _ scratch: Scratch) -> Bytes? {
        var (place, value) = (start, RecordView.blank)
        Grammar.space(&place)
        switch place.pointee {
        case UInt8(ascii: "n"): return Grammar.word(&place, "null") ? place : nil
        case 0x5B: return nil
        // If a name occurs twice, the reader uses the last member, so only an object without members is skipped.
        case 0x7B: return Grammar.openObject(&place) == .end ? place : nil
        default: return Self.value(place, &value, scratch)
        }
    }

    // MARK: Identifiers

    /// Adds the identifiers in their order, each once; returns false if there is none, or no room.
    private func takeIdentifiers(_ view: inout RecordView) -> Bool {
        let (kinds, slots) = (tables.pointee.kinds, tables.pointee.slots)
        for slot in 0..<kinds.count where slots[slot].text.count > 0 {
            guard Forms.isSoundIdentifier(slots[slot]), !slots[slot].text.hasSpaceAtEnds else { return false }
            let isCustom = slot == kinds.count - 1
            let kind = kinds[isCustom ? customKind : slot]
            var isKnown = false
            for index in 0..<view.identifierCount {
                let other = view.identifiers[index]
                guard other.name.compare(kind.name) == 0 else { continue }
                if other.value.text.compare(slots[slot].text) == 0 {
                    isKnown = true
                } else if !other.value.isASCII || !slots[slot].isASCII {
                    // Two spellings may be canonically equivalent.
                    return false
                }
            }
            if isKnown { continue }
            guard view.identifierCount < RecordView.identifierLimit else { return false }
            view.identifiers[view.identifierCount] = .init(
                kind: kind.index,
                name: kind.name,
                value: slots[slot],
                address: .nothing
            )
            view.identifierCount += 1
        }
        return view.identifierCount > 0
    }

    /// Whether each address of a subscription is the contact's first one of its kind. The reader compares addresses with
    /// another spelling.
    private func areOwn(_ view: RecordView) -> Bool {
        for place in 0..<addressCount {
            let address = tables.pointee.addresses[place]
            let kind = tables.pointee.addressKinds[address.kind]
            var own = 0
            while own < view.identifierCount, view.identifiers[own].name.compare(kind) != 0 { own += 1 }
            guard own < view.identifierCount, view.identifiers[own].value.text.compare(address.text) == 0 else {
                return false
            }
        }
        return true
    }

    // MARK: Subscriptions

    private mutating func subscriptions(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    )
        -> Bytes?
    {
        Grammar.elements(start) { subscription($0, &view, vocabulary) }
    }

    private mutating func subscription(
        _ start: Bytes,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    )
        -> Bytes?
    {
        let table = tables.pointee.subscriptionMembers
        var each = RecordView.SubscriptionView(channel: -1, topic: -1, state: -1)
        var (token, service) = (Stretch?.none, Vocabulary.none)
        let end = Grammar.members(start, of: table, required: 0b111) { index, start in
            var (place, value) = (start, RecordView.blank)
            switch index {
            case 1:
                Grammar.space(&place)
                guard place.pointee &- 0x30 < 10, Grammar.number(&place, &value), value.kind == .integer,
                    let topic = topic(value.text)
                else { return nil }
                (each.topic, each.names.topic) = (topic.index, topic.name)
                return place
            case 2:
                Grammar.space(&place)
                guard place.pointee &- 0x30 < 10 else { break }
                guard Grammar.number(&place, &value), value.kind == .integer else { return nil }
                each.state = state(value.text)
                return each.state >= 0 ? place : nil
            case (5 + tables.pointee.addressKinds.count)...: return Self.skipUnusual(place)
            default: break
            }
            guard let text = Grammar.text(&place, view.scratch) else { return nil }
            switch index {
            case 0:
                guard text.count > 0, text.isASCII else { return nil }
                (each.channel, each.names.channel) = (vocabulary.pointee.channels.match(text), text)
            case 2:
                each.state = state(text)
                guard each.state >= 0 else { return nil }
            case 3: token = text
            case 4:
                service = tables.pointee.providers.match(text)
                guard service >= 0 else { return nil }
            default:
                guard addressCount < RecordView.subscriptionLimit else { return nil }
                guard text.count > 0 else { break }
                tables.pointee.addresses[addressCount] = Address(kind: index - 5, text: text)
                addressCount += 1
            }
            return place
        } other: {
            skipOther($0, table, view.scratch)
        }
        if let token, service >= 0 {
            guard addDevice(token, tables.pointee.services[service], each.state, &view, vocabulary) else { return nil }
        }
        for index in 0..<view.subscriptionCount {
            let other = view.subscriptions[index]
            guard other.names.channel.compare(each.names.channel) == 0,
                (other.topic == Vocabulary.none) == (each.topic == Vocabulary.none),
                other.names.topic.compare(each.names.topic) == 0
            else { continue }
            return other.state == each.state ? end : nil
        }
        guard view.subscriptionCount < RecordView.subscriptionLimit else { return nil }
        view.subscriptions[view.subscriptionCount] = each
        view.subscriptionCount += 1
        return end
    }

    /// The index of the text of a state; -1 for an unknown one.
    private func state(_ text: Stretch) -> Int {
        let index = tables.pointee.states.match(text)
        return index < 0 ? -1 : tables.pointee.stateIndexes[index]
    }

    private func topic(_ number: Stretch) -> Topic? {
        let topics = tables.pointee.topics
        for index in 0..<topics.count where topics.place(index).pointee.number.compare(number) == 0 {
            return topics[index]
        }
        return nil
    }

    /// Skips null, false or an empty object.
    private static func skipUnusual(_ start: Bytes) -> Bytes? {
        var place = start
        Grammar.space(&place)
        switch place.pointee {
        case UInt8(ascii: "n"): return Grammar.word(&place, "null") ? place : nil
        case UInt8(ascii: "f"): return Grammar.word(&place, "false") ? place : nil
        case 0x7B: return Grammar.openObject(&place) == .end ? place : nil
        default: return nil
        }
    }

    /// Adds the device of a push token. No other subscription of the record may have the same token.
    private func addDevice(
        _ token: Stretch,
        _ service: Kind,
        _ state: Int,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        guard token.isASCII, view.deviceCount < RecordView.deviceLimit else { return false }
        for index in 0..<view.deviceCount {
            let other = view.devices[index]
            if other.token.compare(token) == 0, other.serviceName.compare(service.name) == 0 { return false }
        }
        var device = RecordView.DeviceView()
        (device.hasToken, device.token) = (true, token)
        (device.service, device.serviceName) = (service.index, service.name)
        device.allowsPush = state == vocabulary.pointee.subscribed
        view.devices[view.deviceCount] = device
        view.deviceCount += 1
        return true
    }
}

import PatchbayModel

/// Writes a view by the steps of a plan. Every function returns false or nil if the general path must decide. The caller
/// then discards the output of the record.
struct LineWriter: BitwiseCopyable {
    /// The number of notes about the present record.
    private(set) var noteCount = 0
    /// The notes, as indexes of the plan. There is capacity for ``noteLimit`` of them, and the first `noteCount` belong to
    /// the present record.
    let notes: UnsafeMutablePointer<UInt8>
    private static let noteLimit = 128
    /// The number of notes about attributes, which are stored with the rank of the attribute.
    private(set) var attributeNoteCount = 0
    let attributeNotes: UnsafeMutablePointer<(rank: UInt8, note: UInt8)>
    /// The plan's index of the finding that rejects the record; -1 if there is none, or if the general path must report it.
    private(set) var refusal = -1
    /// The positions at which the open objects begin. Layouts are at most as deep.
    private let marks: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>>
    private static let depthLimit = 8
    let room: RowRoom
    /// The number of bytes of ``RowRoom/longTexts`` that the fields of the present record use.
    var longCount = 0

    init(for view: RecordView, in arena: Arena) {
        room = RowRoom(for: view, in: arena)
        notes = arena.make(Self.noteLimit, of: 0)
        attributeNotes = arena.make(Self.noteLimit, of: (0, 0))
        marks = arena.make(Self.depthLimit, of: notes)
    }

    @inline(__always) mutating func note(_ index: Int) -> Bool {
        guard noteCount < Self.noteLimit, index >= 0 else { return false }
        notes[noteCount] = UInt8(truncatingIfNeeded: index)
        noteCount &+= 1
        return true
    }

    /// Adds a note about an attribute.
    mutating func note(_ index: Int, ofAttribute rank: Int) -> Bool {
        guard note(index) else { return false }
        attributeNotes[attributeNoteCount] = (UInt8(truncatingIfNeeded: rank), UInt8(truncatingIfNeeded: index))
        attributeNoteCount &+= 1
        return true
    }

    /// Resets the notes and the refusal for the next record.
    @inline(__always) mutating func begin() { (noteCount, attributeNoteCount, refusal) = (0, 0, -1) }

    /// Resets the refusal.
    mutating func clearRefusal() { refusal = -1 }

    /// Writes the record with its line end, and returns the pen after it; nil also for a record that is rejected.
    @inline(__always) mutating func write(_ view: RecordView, _ plan: UnsafePointer<LinePlan>, _ start: Pen) -> Pen? {
        guard plan.pointee.neutral != nil || check(view, plan) else { return nil }
        var (pen, depth) = (start, 0)
        for index in 0..<plan.pointee.steps.count {
            let step = plan.pointee.steps.place(index)
            let next: Pen?
            switch step.pointee.work {
            case .text:
                pen.put(step.pointee.text)
                continue
            case .open:
                guard depth < Self.depthLimit else { return nil }
                if step.pointee.text.count > 0 { pen.put(step.pointee.text) }
                marks[depth] = pen.place
                depth &+= 1
                continue
            case .close:
                depth &-= 1
                Self.close(marks[depth], 0x7B, &pen)
                continue
            case .timeZone:
                guard view.timeZone.isThere else { continue }
                pen.put(step.pointee.text)
                pen.quote(escaping: view.timeZone.text)
                continue
            case .key: next = key(step, view, pen)
            case .identifiers: next = identifiers(view, plan, pen)
            case .attributes: next = attributes(view, plan, pen)
            case .tags: next = Self.tags(behind: step.pointee.text, view, pen)
            case .subscriptions: next = subscriptions(step, view, plan, pen)
            case .row: next = row(view, plan, pen)
            case .neutral: next = neutral(view, plan, pen)
            case .noteLocale: next = !view.locale.isThere || note(step.pointee.index) ? pen : nil
            case .noteTags: next = view.tagCount == 0 || note(step.pointee.index) ? pen : nil
            case .noteConsents: next = noteConsents(step, view, plan) ? pen : nil
            }
            guard let next else { return nil }
            pen = next
        }
        pen.put(0x0A)
        return pen
    }

    private mutating func noteConsents(
        _ step: UnsafePointer<LinePlan.Step>,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>
    ) -> Bool {
        for consent in 0..<view.consentCount
        where view.consents[consent].state != plan.pointee.vocabulary.pointee.unanswered {
            guard note(step.pointee.index) else { return false }
        }
        return true
    }

    /// Ends a container whose members all begin with a comma. The first comma becomes the bracket.
    @inline(__always) static func close(
        _ mark: UnsafeMutablePointer<UInt8>,
        _ bracket: UInt8,
        _ pen: inout Pen
    ) {
        if pen.place == mark { pen.put(bracket) } else { mark.pointee = bracket }
        pen.put(bracket &+ 2)
    }

    // MARK: Identifiers

    /// Checks every identifier that is an address, and brings it into its form, which is empty for an invalid one. Two
    /// identifiers of one kind require the general path.
    @inline(__always) private func check(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        var seen: UInt64 = 0
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers + index
            let kind = identifier.pointee.kind
            guard kind >= 0 else { continue }
            guard seen & (1 &<< UInt64(kind)) == 0, kind < 64 else { return false }
            seen |= 1 &<< UInt64(kind)
            guard
                plan.pointee.kinds.place(kind).pointee.address == .phones
                    || Forms.isSoundIdentifier(identifier.pointee.value)
            else { return false }
            switch plan.pointee.kinds.place(kind).pointee.address {
            case .email:
                guard identifier.pointee.value.isASCII else { return false }
                let text = identifier.pointee.value.text
                identifier.pointee.address = identifier.pointee.isEmail || Forms.isEmail(text) ? text : .nothing
            case .phones:
                guard identifier.pointee.value.isASCII, !Forms.isUnusualPhone(identifier.pointee.value.text) else {
                    return false
                }
                let line = view.addressLines + index &* RecordView.addressLine
                identifier.pointee.address = Forms.phone(identifier.pointee.value.text, line)
            default: break
            }
        }
        return true
    }

    @inline(__always) private func first(_ kind: Int, _ view: RecordView) -> UnsafeMutablePointer<
        RecordView.IdentifierView
    >? {
        for index in 0..<view.identifierCount where view.identifiers[index].kind == kind {
            return view.identifiers + index
        }
        return nil
    }

    @inline(__always) private static func text(
        of identifier: UnsafeMutablePointer<RecordView.IdentifierView>,
        _ form: FormCode
    ) -> Stretch {
        form == .email || form == .phones ? identifier.pointee.address : identifier.pointee.value.text
    }

    @inline(__always) private mutating func key(
        _ step: UnsafePointer<LinePlan.Step>,
        _ view: RecordView,
        _ start: Pen
    ) -> Pen? {
        let text = first(step.pointee.index, view).map { Self.text(of: $0, step.pointee.form) } ?? .nothing
        guard text.count > 0 else {
            // If there are other notes, the general path decides.
            refusal = noteCount == 0 ? Int(step.pointee.refusal) : -1
            return nil
        }
        var pen = start
        pen.put(step.pointee.text)
        pen.quote(escaping: text)
        return pen
    }

    @inline(__always) private mutating func identifiers(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        var pen = start
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers + index
            let kind = identifier.pointee.kind
            guard kind >= 0, plan.pointee.kinds.place(kind).pointee.prefix.count > 0 else {
                guard note(plan.pointee.elsewhere) else { return nil }
                continue
            }
            let row = plan.pointee.kinds.place(kind)
            guard row.pointee.isUsable else { return nil }
            let text = Self.text(of: identifier, row.pointee.form)
            switch row.pointee.form {
            case .plain, .text: break
            case .email, .phones:
                guard text.count > 0 else {
                    guard note(plan.pointee.unfit) else { return nil }
                    continue
                }
                // Signs between digits are removed, and nothing else changes.
                guard text.count == identifier.pointee.value.text.count || note(plan.pointee.respelt) else {
                    return nil
                }
            default: return nil
            }
            pen.put(row.pointee.prefix)
            if row.pointee.form == .phones { pen.put(0x5B) }
            pen.quote(escaping: text, identifier.pointee.value.needsEscapes)
            if row.pointee.form == .phones { pen.put(0x5D) }
        }
        return pen
    }

    // MARK: Attributes

    @inline(__always) private mutating func attributes(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        let entries = plan.pointee.attributes.entries
        var pen = start
        for word in 0..<RecordView.presentWords {
            var bits = view.present[word]
            while bits != 0 {
                let rank = word &* 64 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                let (entry, value) = (entries.place(rank), view.attributes + rank)
                guard let next = attribute(rank, value, entry, view.scratch, plan, pen) else { return nil }
                pen = next
            }
        }
        return pen
    }

    /// Writes an attribute, or leaves it out with a note.
    @inline(__always) private mutating func attribute(
        _ rank: Int,
        _ value: UnsafeMutablePointer<ValueView>,
        _ entry: UnsafePointer<AttributeBook.Entry>,
        _ scratch: Scratch,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        guard entry.pointee.isUsable else { return nil }
        if entry.pointee.type != .any, !value.pointee.convert(to: entry.pointee.type, scratch) { return nil }
        let isNoted = entry.pointee.notedKinds &>> UInt16(value.pointee.kind.rawValue) & 1 == 1
        if isNoted { guard note(plan.pointee.converted, ofAttribute: rank) else { return nil } }
        var pen = start
        pen.put(entry.pointee.prefix)
        switch Self.put(value.pointee, entry.pointee, scratch, &pen) {
        case .written: return pen
        case .respelt: return isNoted || note(plan.pointee.converted, ofAttribute: rank) ? pen : nil
        case .unsure: return nil
        case .unfit: return note(plan.pointee.unfitAttribute, ofAttribute: rank) ? start : nil
        }
    }

    /// The result of writing a value to a field with some form.
    private enum Fit {
        case written
        /// The value was written as another text.
        case respelt
        /// The value does not have the form, on the general path either.
        case unfit
        /// The general path may be able to bring the value into the form.
        case unsure
    }

    @inline(__always) private static func put(
        _ value: ValueView,
        _ entry: AttributeBook.Entry,
        _ scratch: Scratch,
        _ pen: inout Pen
    ) -> Fit {
        let isPlain = value.kind == .string && value.isASCII
        switch entry.form {
        case .plain:
            switch value.kind {
            case .string, .date, .time, .timestamp, .country: pen.quote(escaping: value.text, value.needsEscapes)
            case .integer, .decimal, .yes, .no: pen.put(value.text)
            case .choices, .list: return list(value, scratch, &pen) ? .written : .unsure
            }
            return .written
        case .text where value.kind != .choices && value.kind != .list:
            pen.quote(escaping: value.text, value.needsEscapes)
            return .written
        case .country where value.kind == .country || isPlain && Forms.isCountry(value.text),
            .moment where value.kind == .date || value.kind == .timestamp,
            .moment where isPlain && (Forms.isDate(value.text) || Forms.isTimestamp(value.text)),
            .day where value.kind == .date || isPlain && Forms.isDate(value.text),
            .email where isPlain && Forms.isEmail(value.text):
            pen.quote(escaping: value.text, value.needsEscapes)
            return .written
        case .words where isPlain:
            for index in 0..<entry.words.count where entry.words[index].word.compare(value.text) == 0 {
                pen.put(entry.words[index].json)
                return .written
            }
            return .unfit
        case .wholeNumber
        where (isPlain || value.kind == .integer) && Forms.isInteger(value.text) && value.text[0] != 0x2D,
            .integer where (isPlain || value.kind == .integer) && Forms.isInteger(value.text):
            pen.put(value.text)
            return .written
        default: return putByRules(value, entry, scratch, &pen)
        }
    }

    /// Writes any value by the rules of the model.
    @inline(never) private static func putByRules(
        _ value: ValueView,
        _ entry: AttributeBook.Entry,
        _ scratch: Scratch,
        _ pen: inout Pen
    ) -> Fit {
        guard let model = value.model(scratch) else { return .unsure }
        if entry.form == .day, model.converted(to: .date) == nil {
            return model.converted(to: .timestamp) == nil ? .unfit : .unsure
        }
        let type: AttributeType? =
            switch entry.form {
            case .country: .country
            case .day: .date
            case .moment: model.converted(to: .date) == nil ? .timestamp : .date
            case .email, .phones: nil
            default: .string
            }
        guard let type else {
            return entry.form == .email && value.kind == .string && value.isASCII ? .unfit : .unsure
        }
        guard let text = model.converted(to: type)?.plainText else { return .unfit }
        switch entry.form {
        case .words:
            for index in 0..<entry.words.count where entry.words[index].word.text == text {
                pen.put(entry.words[index].json)
                return .written
            }
            return .unfit
        case .wholeNumber, .integer:
            guard let number = Int64(text), entry.form == .integer || number >= 0 && String(number) == text else {
                return .unfit
            }
            guard let digits = scratch.keep(String(number)) else { return .unsure }
            pen.put(digits)
            return .written
        default:
            guard let written = scratch.keep(text) else { return .unsure }
            pen.quote(escaping: written)
            // Dates, times and similar values are compared as texts.
            return value.kind == .string && written.compare(value.text) != 0 ? .respelt : .written
        }
    }

    /// Writes a list of strings that the scanner has read, as the model writes it; returns false if there is no room.
    static func list(_ value: ValueView, _ scratch: Scratch, _ pen: inout Pen) -> Bool {
        var (pens, isFirst) = (pen, true)
        pens.put(0x5B)
        let isWhole = Grammar.eachString(of: value.text, scratch) { word in
            if !isFirst { pens.put(0x2C) }
            isFirst = false
            pens.quote(escaping: word.text, word.needsEscapes)
            return true
        }
        pens.put(0x5D)
        pen = pens
        return isWhole
    }

    /// Writes the tags as a list after a text, if there are any.
    @inline(__always) static func tags(behind text: Stretch, _ view: RecordView, _ start: Pen) -> Pen {
        guard view.tagCount > 0 else { return start }
        var pen = start
        pen.put(text)
        let mark = pen.place
        for index in 0..<view.tagCount {
            pen.put(0x2C)
            pen.quote(escaping: view.tags[index])
        }
        close(mark, 0x5B, &pen)
        return pen
    }

    // MARK: Subscriptions

    private mutating func subscriptions(
        _ step: UnsafePointer<LinePlan.Step>,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        var pen = start
        pen.put(step.pointee.text)
        let mark = pen.place
        var reachesDevices = false
        for index in 0..<view.subscriptionCount {
            let subscription = view.subscriptions + index
            guard Self.standsAlone(index, view),
                let next = self.subscription(subscription, view, plan, pen)
            else { return nil }
            if next.place != pen.place, Self.goesToDevices(subscription.pointee.channel, plan) { reachesDevices = true }
            pen = next
        }
        if view.consentCount > 0 || view.subscriptionCount > 0 && plan.pointee.subscriptions.topics.count > 0 {
            for channel in 0..<Vocabulary.channelNames.count where isReachable(channel, view, plan) {
                guard let next = optOuts(of: channel, view, plan, pen) else { return nil }
                if next.place != pen.place, Self.goesToDevices(channel, plan) { reachesDevices = true }
                pen = next
            }
        }
        if pen.place == mark { pen = start } else { Self.close(mark, 0x5B, &pen) }
        guard view.deviceCount == 0 || devices(view, plan, reachesDevices) else { return nil }
        return pen
    }

    /// Whether no other part of the record may concern the same subscription. For two decisions about one subscription, the
    /// general path uses the less permissive one. Two unknown channels may be the same.
    @inline(__always) static func standsAlone(_ index: Int, _ view: RecordView) -> Bool {
        let subscription = view.subscriptions[index]
        for other in 0..<index where view.subscriptions[other].isAbout(the: subscription) { return false }
        return subscription.channel >= 0 || view.consentCount == 0
    }

    /// The state of a subscription after applying the contact's consents. The note `denied` is added if they change it.
    @inline(__always) mutating func state(
        of subscription: UnsafeMutablePointer<RecordView.SubscriptionView>,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        denied: Int
    ) -> Int? {
        let (state, unsubscribed) = (subscription.pointee.state, plan.pointee.vocabulary.pointee.unsubscribed)
        guard view.consentCount > 0, state != unsubscribed, isDenied(subscription.pointee.channel, view, plan) else {
            return state
        }
        return note(denied) ? unsubscribed : nil
    }

    @inline(__always) private mutating func subscription(
        _ subscription: UnsafeMutablePointer<RecordView.SubscriptionView>,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        let (vocabulary, channel) = (plan.pointee.vocabulary, subscription.pointee.channel)
        guard let state = state(of: subscription, view, plan, denied: plan.pointee.subscriptions.denied) else {
            return nil
        }
        guard state != vocabulary.pointee.unknownState else { return noted(plan.pointee.subscriptions.unknown, start) }
        let topic = subscription.pointee.topic
        guard let pen = entries(channel, topic: topic, state, view, plan, start) else { return nil }
        guard pen.place != start.place else { return pen }
        for _ in 0..<subscription.pointee.details {
            guard note(plan.pointee.subscriptions.detail) else { return nil }
        }
        return pen
    }

    /// Writes an entry for each address of a channel, or adds a note if there can be none.
    @inline(__always) private mutating func entries(
        _ channel: Int,
        topic: Int,
        _ state: Int,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        let resource =
            topic == Vocabulary.none
            ? plan.pointee.subscriptions.resource : topic >= 0 ? plan.pointee.subscriptions.topics[topic] : .nothing
        guard resource.count > 0 else {
            // A denial also applies to a topic without a resource.
            let isCovered =
                state == plan.pointee.vocabulary.pointee.subscribed
                || topic != Vocabulary.none && view.consentCount > 0 && isDenied(channel, view, plan)
            return noted(isCovered ? plan.pointee.subscriptions.unnamed : plan.pointee.subscriptions.lostOptOut, start)
        }
        guard channel >= 0 else { return noted(plan.pointee.subscriptions.unreachable, start) }
        let address = plan.pointee.subscriptions.addresses.place(channel)
        var pen = start
        switch address.pointee.way {
        case .none: break
        case .identifier:
            guard let identifier = first(address.pointee.kind, view) else { break }
            let text = Self.text(of: identifier, address.pointee.form)
            guard text.count > 0 else { break }
            pen.put(address.pointee.opening)
            pen.put(resource)
            pen.put(address.pointee.member)
            pen.quote(escaping: text)
            pen.put(plan.pointee.subscriptions.closings[state])
        case .devices:
            guard let next = toDevices(address, resource, state, view, plan, pen) else { return nil }
            pen = next
        }
        return pen.place == start.place ? noted(plan.pointee.subscriptions.unreachable, start) : pen
    }

    private static func goesToDevices(_ channel: Int, _ plan: UnsafePointer<LinePlan>) -> Bool {
        plan.pointee.subscriptions.addresses.place(channel).pointee.way == .devices
    }

    /// Writes the entries for an opt-out from a whole channel in addition to the record's own subscriptions: one for the
    /// channel if a consent denies it, and one for each topic that the record does not mention.
    private mutating func optOuts(
        of channel: Int,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        let out = plan.pointee.vocabulary.pointee.unsubscribed
        let (isDenied, whole) = (isDenied(channel, view, plan), state(of: channel, topic: Vocabulary.none, view))
        guard isDenied || whole == out else { return start }
        var pen = start
        if isDenied, whole == nil {
            guard let next = entries(channel, topic: Vocabulary.none, out, view, plan, pen) else { return nil }
            pen = next
        }
        let topics = plan.pointee.subscriptions.topics
        for topic in 0..<topics.count where topics[topic].count > 0 && state(of: channel, topic: topic, view) == nil {
            guard let next = entries(channel, topic: topic, out, view, plan, pen) else { return nil }
            pen = next
        }
        return pen
    }

    /// The state of a channel or of one of its topics in the record; nil if the record does not mention it.
    private func state(of channel: Int, topic: Int, _ view: RecordView) -> Int? {
        for index in 0..<view.subscriptionCount {
            let subscription = view.subscriptions[index]
            if subscription.channel == channel, subscription.topic == topic { return subscription.state }
        }
        return nil
    }

    /// Whether the record has an address for a channel.
    private func isReachable(_ channel: Int, _ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let address = plan.pointee.subscriptions.addresses.place(channel)
        switch address.pointee.way {
        case .none: return false
        case .identifier:
            guard let identifier = first(address.pointee.kind, view) else { return false }
            return Self.text(of: identifier, address.pointee.form).count > 0
        case .devices:
            for index in 0..<view.deviceCount where view.devices[index].hasToken {
                if Self.provider(of: view.devices[index], plan).count > 0 { return true }
            }
            return false
        }
    }

    private mutating func noted(_ index: Int, _ pen: Pen) -> Pen? { note(index) ? pen : nil }

    private func toDevices(
        _ address: UnsafePointer<LinePlan.Address>,
        _ resource: Stretch,
        _ state: Int,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ start: Pen
    ) -> Pen? {
        var pen = start
        for index in 0..<view.deviceCount where view.devices[index].hasToken {
            let device = view.devices[index]
            guard Self.isPlain(device.token) else { return nil }
            let provider = Self.provider(of: device, plan)
            guard provider.count > 0 else { continue }
            pen.put(address.pointee.opening)
            pen.put(resource)
            pen.put(provider)
            pen.quote(device.token)
            pen.put(plan.pointee.subscriptions.closings[state])
        }
        return pen
    }

    func isDenied(_ channel: Int, _ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        for index in 0..<view.consentCount {
            let consent = view.consents[index]
            // Messaging is the first purpose of the vocabulary.
            if consent.purpose == 0, consent.state == plan.pointee.vocabulary.pointee.refused,
                consent.channel == Vocabulary.none || consent.channel == channel
            {
                return true
            }
        }
        return false
    }

    private static func provider(of device: RecordView.DeviceView, _ plan: UnsafePointer<LinePlan>) -> Stretch {
        guard device.service >= 0, plan.pointee.subscriptions.providers.count > 0 else { return .nothing }
        return plan.pointee.subscriptions.providers[
            LinePlan.Subscriptions.place(service: device.service, family: device.family)
        ]
    }

    /// Whether a token is written unchanged. The room for output counts each of its bytes once.
    private static func isPlain(_ token: Stretch) -> Bool { token.count > 0 && token[0] > 0x20 && !token.needsEscapes }

    /// Adds notes for the parts of devices that the target cannot hold.
    private mutating func devices(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ areReached: Bool
    ) -> Bool {
        for index in 0..<view.deviceCount {
            let device = view.devices[index]
            for _ in 0..<device.details {
                guard note(plan.pointee.subscriptions.detail) else { return false }
            }
            guard device.hasToken else { continue }
            guard Self.isPlain(device.token) else { return false }
            if Self.provider(of: device, plan).count == 0 {
                guard note(plan.pointee.subscriptions.provider) else { return false }
            } else if !areReached {
                guard note(plan.pointee.subscriptions.token) else { return false }
            } else {
                for _ in 0..<device.tokenDetails {
                    guard note(plan.pointee.subscriptions.detail) else { return false }
                }
            }
        }
        return true
    }
}

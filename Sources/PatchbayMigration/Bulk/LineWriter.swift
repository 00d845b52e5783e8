import PatchbayModel

/// Writes a view by a plan's steps. Every function answers false where the slow way must decide; what was written of the
/// record until then is taken back by the caller.
struct LineWriter: BitwiseCopyable {
    /// What was said of the record so far, by the plan's index of notes.
    private(set) var noteCount = 0
    /// Room for ``noteLimit`` notes; the first `noteCount` are this record's.
    let notes: UnsafeMutablePointer<UInt8>
    private static let noteLimit = 128
    /// Where the open objects begin; as deep as layouts are.
    private let marks: UnsafeMutablePointer<UnsafeMutablePointer<UInt8>>
    private static let depthLimit = 8

    init(in arena: Arena) {
        notes = arena.make(Self.noteLimit, of: 0)
        marks = arena.make(Self.depthLimit, of: notes)
    }

    @inline(__always) private mutating func note(_ index: Int) -> Bool {
        guard noteCount < Self.noteLimit else { return false }
        notes[noteCount] = UInt8(truncatingIfNeeded: index)
        noteCount &+= 1
        return true
    }

    /// Writes the record and its line end.
    @inline(__always) mutating func write(_ view: RecordView, _ plan: UnsafePointer<LinePlan>, _ pen: inout Pen) -> Bool
    {
        noteCount = 0
        guard check(view, plan) else { return false }
        var depth = 0
        for index in 0..<plan.pointee.steps.count {
            let step = plan.pointee.steps[index]
            switch step.work {
            case .text: pen.put(step.text)
            case .open:
                guard depth < Self.depthLimit else { return false }
                if step.text.count > 0 { pen.put(step.text) }
                marks[depth] = pen.place
                depth &+= 1
            case .close:
                depth &-= 1
                Self.close(marks[depth], 0x7B, &pen)
            case .key: guard key(step, view, &pen) else { return false }
            case .identifiers: guard identifiers(view, plan, &pen) else { return false }
            case .attributes: guard attributes(view, plan, &pen) else { return false }
            case .timeZone:
                guard view.hasTimeZone else { continue }
                pen.put(step.text)
                pen.quote(view.timeZone)
            case .tags: tags(step, view, &pen)
            case .subscriptions: guard subscriptions(step, view, plan, &pen) else { return false }
            case .noteLocale: guard !view.hasLocale || note(step.index) else { return false }
            case .noteTags: guard view.tagCount == 0 || note(step.index) else { return false }
            case .noteConsents:
                for consent in 0..<view.consentCount
                where view.consents[consent].state != plan.pointee.lexicon.pointee.unanswered {
                    guard note(step.index) else { return false }
                }
            }
        }
        pen.put(0x0A)
        return true
    }

    /// Ends a container whose members each began with a comma: the first of them becomes the bracket.
    @inline(__always) private static func close(
        _ mark: UnsafeMutablePointer<UInt8>,
        _ bracket: UInt8,
        _ pen: inout Pen
    ) {
        if pen.place == mark { pen.put(bracket) } else { mark.pointee = bracket }
        pen.put(bracket &+ 2)
    }

    // MARK: Identifiers

    /// Checks every identifier that is an address, and brings it into its form, which is empty for one that is not good;
    /// two of one kind are for the slow way.
    @inline(__always) private func check(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        var seen: UInt64 = 0
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers + index
            let kind = identifier.pointee.kind
            guard kind >= 0 else { continue }
            guard seen & (1 &<< UInt64(kind)) == 0, kind < 64 else { return false }
            seen |= 1 &<< UInt64(kind)
            switch plan.pointee.kinds[kind].address {
            case .email:
                guard identifier.pointee.value.isBare else { return false }
                let text = identifier.pointee.value.text
                identifier.pointee.address = Forms.isEmail(text) ? text : .nothing
            case .phones:
                guard identifier.pointee.value.isBare else { return false }
                let line = view.scratch + index &* RecordView.scratchLine
                let count = Forms.phone(identifier.pointee.value.text, to: line)
                identifier.pointee.address = Stretch(Bytes(line), count)
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

    private static func text(of identifier: RecordView.IdentifierView, _ form: FormCode) -> Stretch {
        form == .email || form == .phones ? identifier.address : identifier.value.text
    }

    @inline(__always) private func key(_ step: LinePlan.Step, _ view: RecordView, _ pen: inout Pen) -> Bool {
        guard let identifier = first(step.index, view) else { return false }
        let text = Self.text(of: identifier.pointee, step.form)
        guard text.count > 0 else { return false }
        pen.put(step.text)
        pen.quote(text)
        return true
    }

    @inline(__always) private mutating func identifiers(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ pen: inout Pen
    ) -> Bool {
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers + index
            guard identifier.pointee.kind >= 0, plan.pointee.kinds[identifier.pointee.kind].prefix.count > 0 else {
                guard note(plan.pointee.elsewhere) else { return false }
                continue
            }
            let kind = plan.pointee.kinds[identifier.pointee.kind]
            guard kind.isUsable else { return false }
            let text = Self.text(of: identifier.pointee, kind.form)
            switch kind.form {
            case .plain, .text:
                pen.put(kind.prefix)
                pen.quote(text)
            case .email, .phones:
                guard text.count > 0 else {
                    guard note(plan.pointee.unfit) else { return false }
                    continue
                }
                pen.put(kind.prefix)
                if kind.form == .phones { pen.put(0x5B) }
                pen.quote(text)
                if kind.form == .phones { pen.put(0x5D) }
            default: return false
            }
        }
        return true
    }

    // MARK: Attributes

    @inline(__always) private mutating func attributes(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ pen: inout Pen
    ) -> Bool {
        for word in 0..<RecordView.presentWords {
            var bits = view.present[word]
            while bits != 0 {
                let rank = word &* 64 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                let (entry, value) = (plan.pointee.attributes.entries[rank], view.attributes + rank)
                guard entry.isUsable else { return false }
                if entry.type != .any, !value.pointee.convert(to: entry.type) { return false }
                if entry.notedKinds &>> UInt16(value.pointee.kind.rawValue) & 1 == 1 {
                    guard note(plan.pointee.converted) else { return false }
                }
                pen.put(entry.prefix)
                guard Self.put(value.pointee, entry, &pen) else { return false }
            }
        }
        return true
    }

    @inline(__always) private static func put(
        _ value: ValueView,
        _ entry: AttributeBook.Entry,
        _ pen: inout Pen
    ) -> Bool {
        switch entry.form {
        case .plain:
            switch value.kind {
            case .string, .date, .time, .timestamp, .country: pen.quote(value.text)
            case .integer, .decimal, .yes, .no: pen.put(value.text)
            case .choices, .list: list(value.text, &pen)
            }
            return true
        case .text:
            guard value.kind != .choices, value.kind != .list else { return false }
            pen.quote(value.text)
            return true
        case .country:
            guard value.kind == .country || value.kind == .string && value.isBare && Forms.isCountry(value.text) else {
                return false
            }
            pen.quote(value.text)
            return true
        case .moment:
            switch value.kind {
            case .date, .timestamp: break
            case .string:
                guard value.isBare, Forms.isDate(value.text) || Forms.isTimestamp(value.text) else { return false }
            default: return false
            }
            pen.quote(value.text)
            return true
        case .words:
            guard value.isBare, value.kind == .string else { return false }
            for index in 0..<entry.words.count where entry.words[index].word.compare(value.text) == 0 {
                pen.put(entry.words[index].json)
                return true
            }
            return false
        case .wholeNumber:
            guard value.kind == .string && value.isBare || value.kind == .integer, Forms.isInteger(value.text),
                value.text[0] != 0x2D
            else { return false }
            pen.put(value.text)
            return true
        case .email:
            guard value.kind == .string, value.isBare, Forms.isEmail(value.text) else { return false }
            pen.quote(value.text)
            return true
        case .phones: return false
        }
    }

    /// Writes a list of strings that the scanner has read, without white space between them.
    private static func list(_ text: Stretch, _ pen: inout Pen) {
        var place = text.start
        pen.put(0x5B)
        let mark = pen.place
        var way = Grammar.open(&place, 0x5B)
        while way == .on {
            if pen.place != mark { pen.put(0x2C) }
            let start = place
            place += 1
            while true {
                place = place.endOfPlainText
                if place.pointee == 0x22 { break }
                place += place.pointee == 0x5C ? 2 : 1
            }
            place += 1
            pen.put(start, place - start)
            way = Grammar.next(&place, 0x5B)
        }
        pen.put(0x5D)
    }

    @inline(__always) private func tags(_ step: LinePlan.Step, _ view: RecordView, _ pen: inout Pen) {
        guard view.tagCount > 0 else { return }
        pen.put(step.text)
        pen.put(0x5B)
        for index in 0..<view.tagCount {
            if index > 0 { pen.put(0x2C) }
            pen.quote(view.tags[index])
        }
        pen.put(0x5D)
    }

    // MARK: Subscriptions

    private mutating func subscriptions(
        _ step: LinePlan.Step,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ pen: inout Pen
    ) -> Bool {
        let start = pen.place
        pen.put(step.text)
        let mark = pen.place
        var reachesDevices = false
        for index in 0..<view.subscriptionCount {
            // Two words on one subscription are for the slow way, which takes the one that allows less.
            for other in 0..<index where view.subscriptions[other].isAbout(the: view.subscriptions[index]) {
                return false
            }
            guard self.subscription(view.subscriptions[index], view, plan, &reachesDevices, &pen) else { return false }
        }
        if pen.place == mark { pen.place = start } else { Self.close(mark, 0x5B, &pen) }
        return devices(view, plan, reachesDevices)
    }

    private mutating func subscription(
        _ subscription: RecordView.SubscriptionView,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ reachesDevices: inout Bool,
        _ pen: inout Pen
    ) -> Bool {
        // Two unknown channels may be the same one.
        guard subscription.channel >= 0 || view.consentCount == 0 else { return false }
        var state = subscription.state
        if state != plan.pointee.lexicon.pointee.unsubscribed, isDenied(subscription.channel, view, plan) {
            guard note(plan.pointee.subscriptions.denied) else { return false }
            state = plan.pointee.lexicon.pointee.unsubscribed
        }
        guard state != plan.pointee.lexicon.pointee.unknownState else {
            return note(plan.pointee.subscriptions.unknown)
        }
        let resource =
            subscription.topic == Lexicon.none
            ? plan.pointee.subscriptions.resource
            : subscription.topic >= 0 ? plan.pointee.subscriptions.topics[subscription.topic] : .nothing
        guard resource.count > 0 else { return note(plan.pointee.subscriptions.unnamed) }
        guard subscription.channel >= 0 else { return note(plan.pointee.subscriptions.unreachable) }
        let address = plan.pointee.subscriptions.addresses[subscription.channel]
        let before = pen.place
        switch address.way {
        case .none: break
        case .identifier:
            guard let identifier = first(address.kind, view) else { break }
            let text = Self.text(of: identifier.pointee, address.form)
            guard text.count > 0 else { break }
            pen.put(address.opening)
            pen.put(resource)
            pen.put(address.member)
            pen.quote(text)
            pen.put(plan.pointee.subscriptions.closings[state])
        case .devices:
            for index in 0..<view.deviceCount where view.devices[index].hasToken {
                let device = view.devices[index]
                guard device.token.text.count > 0, device.token.text[0] > 0x20 else { return false }
                let provider = Self.provider(of: device, plan)
                guard provider.count > 0 else { continue }
                reachesDevices = true
                pen.put(address.opening)
                pen.put(resource)
                pen.put(provider)
                pen.put(0x22)
                let token = pen.place
                pen.put(device.token.text)
                // Tokens of the first service are hexadecimal text in lower case.
                if device.service == 0 { Self.lower(token, device.token.text.count) }
                pen.put(0x22)
                pen.put(plan.pointee.subscriptions.closings[state])
            }
        }
        guard pen.place != before else { return note(plan.pointee.subscriptions.unreachable) }
        for _ in 0..<subscription.details {
            guard note(plan.pointee.subscriptions.detail) else { return false }
        }
        return true
    }

    private static func lower(_ start: UnsafeMutablePointer<UInt8>, _ count: Int) {
        for index in 0..<count where start[index] &- 0x41 < 26 { start[index] |= 0x20 }
    }

    private func isDenied(_ channel: Int, _ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        for index in 0..<view.consentCount {
            let consent = view.consents[index]
            // Messaging is the first of the lexicon's purposes.
            if consent.purpose == 0, consent.state == plan.pointee.lexicon.pointee.refused,
                consent.channel == Lexicon.none || consent.channel == channel
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

    /// Says what of the devices has no place.
    private mutating func devices(
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>,
        _ areReached: Bool
    ) -> Bool {
        for index in 0..<view.deviceCount {
            let device = view.devices[index]
            if device.hasFacts { guard note(plan.pointee.subscriptions.detail) else { return false } }
            guard device.hasToken else { continue }
            guard device.token.text.count > 0, device.token.text[0] > 0x20 else { return false }
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

import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The steps of a mapping on a view. A result of nil leaves the step to the rule itself.
extension MappingPlan {
    /// Performs every step. Returns false if the record must not be written; the view must not be used then.
    ///
    /// `noteDropped` notes a value that is left out, and returns whether there is room for the finding.
    @inline(never) func change(_ view: inout RecordView, _ noteDropped: () -> Bool) -> Bool {
        for index in 0..<steps.count {
            guard let done = done(steps.place(index), &view, noteDropped) ?? apply(rules[index], &view, noteDropped),
                done != .full
            else {
                return false
            }
            self.done[index] = done
        }
        return true
    }

    private func done(_ step: UnsafePointer<Step>, _ view: inout RecordView, _ noteDropped: () -> Bool) -> Done? {
        switch step.pointee.work {
        case .rename: rename(step.pointee.spot, to: step.pointee.target, &view)
        case .set: set(step, &view)
        case .fallback: fallback(step, &view)
        case .split: split(step, &view)
        case .join: join(step, &view)
        case .replace: replace(step, &view, noteDropped)
        case .convert: convert(step, &view)
        case .remove: remove(step.pointee.spot, &view)
        case .rule: nil
        }
    }

    // MARK: Applying rules

    /// Applies a rule to a contact with the values of the view at the rule's places.
    @inline(never) private func apply(
        _ rule: (mapping: ContactMapping, places: [MappingPlace]),
        _ view: inout RecordView,
        _ noteDropped: () -> Bool
    ) -> Done? {
        guard var contact = contact(of: view, rule.places) else { return nil }
        var effects = rule.mapping.noEffects
        for finding in rule.mapping.apply(to: &contact, counting: &effects) {
            guard finding.severity != .error, finding.code == ContactMapping.unknownDropped.code,
                noteDropped()
            else { return nil }
        }
        guard put(contact, at: rule.places, &view) else { return nil }
        let effect = effects[0]
        return effect.replaced > 0 ? .replaced : effect.applied > 0 ? .applied : effect.failed > 0 ? .failed : .idle
    }

    private func contact(of view: RecordView, _ places: [MappingPlace]) -> Contact? {
        var contact = Contact()
        for place in places {
            switch place {
            case .attribute(let name):
                guard let index = names.firstIndex(of: name), view.has(ranks[index]) else { continue }
                guard let value = view.attributes[ranks[index]].model(view.scratch) else { return nil }
                contact.attributes[name] = value
            case .identifier(let kind):
                for index in 0..<view.identifierCount where view.identifiers[index].kind == kinds[kind] {
                    contact.identifiers.append(Identifier(kind, view.identifiers[index].value.text.text))
                }
            case .locale: contact.locale = view.locale.isThere ? view.locale.text.text : nil
            case .timeZone: contact.timeZone = view.timeZone.isThere ? view.timeZone.text.text : nil
            case .tags, .tag:
                for index in 0..<view.tagCount { contact.tags.insert(Tag(rawValue: view.tags[index].text)) }
            case .subscription: return nil
            }
        }
        return contact
    }

    /// Stores the values of a contact at some places in a view; returns false if there is no room.
    private func put(_ contact: Contact, at places: [MappingPlace], _ view: inout RecordView) -> Bool {
        for place in places {
            switch place {
            case .attribute(let name):
                guard let index = names.firstIndex(of: name) else { return false }
                view.removeAttribute(ranks[index])
                guard let value = contact.attributes[name] else { continue }
                guard let own = ValueView(value, view.scratch) else { return false }
                view.setAttribute(ranks[index], own)
            case .identifier(let kind):
                let spot = Spot(part: .identifier, index: kinds[kind] ?? Vocabulary.unknown)
                let values = contact.identifiers.filter { $0.kind == kind }
                let count = (0..<view.identifierCount).count { view.identifiers[$0].kind == spot.index }
                // A rule changes the first identifier of a kind.
                if values.count < count { clear(spot, &view) }
                guard let value = values.first?.value else { continue }
                if values.count < count { continue }
                guard let text = view.scratch.keep(value), put(ValueView(string: text), at: spot, &view) else {
                    return false
                }
            case .locale, .timeZone:
                let spot = Spot(part: place == .locale ? .locale : .timeZone)
                clear(spot, &view)
                guard let line = place == .locale ? contact.locale : contact.timeZone else { continue }
                guard let text = view.scratch.keep(line) else { return false }
                putLine(RecordView.Detail(text), spot, &view)
            case .tags, .tag:
                view.tagCount = 0
                for tag in contact.tags {
                    guard let text = view.scratch.keep(tag.rawValue), view.insert(tag: text) else { return false }
                }
            case .subscription: return false
            }
        }
        return true
    }

    // MARK: Values

    /// The value at a place; nil if there is none.
    private func value(at spot: Spot, _ view: RecordView) -> ValueView? {
        if spot.part == .locale || spot.part == .timeZone { return line(spot, view) }
        if spot.part == .attribute {
            let rank = ranks[spot.index]
            return view.has(rank) ? view.attributes[rank] : nil
        }
        for index in 0..<view.identifierCount where view.identifiers[index].kind == spot.index {
            return view.identifiers[index].value
        }
        return nil
    }

    /// Stores a value that the place accepts; returns false if there is no room.
    private func put(_ value: ValueView, at spot: Spot, _ view: inout RecordView) -> Bool {
        if spot.part == .attribute {
            view.setAttribute(ranks[spot.index], value)
            return true
        }
        if spot.part == .locale || spot.part == .timeZone {
            putLine(RecordView.Detail(value.text), spot, &view)
            return true
        }
        var place = 0
        while place < view.identifierCount, view.identifiers[place].kind != spot.index { place &+= 1 }
        if place == view.identifierCount {
            guard place < RecordView.identifierLimit else { return false }
            view.identifierCount &+= 1
            view.identifiers[place] = .init(
                kind: spot.index,
                name: kindNames[spot.index],
                value: value,
                address: .nothing
            )
        }
        (view.identifiers[place].value, view.identifiers[place].isEmail) = (value, false)
        return true
    }

    private func clear(_ spot: Spot, _ view: inout RecordView) {
        if spot.part == .tags { return view.tagCount = 0 }
        if spot.part == .attribute { return view.removeAttribute(ranks[spot.index]) }
        if spot.part == .locale || spot.part == .timeZone { return putLine(RecordView.Detail(), spot, &view) }
        var place = 0
        while place < view.identifierCount, view.identifiers[place].kind != spot.index { place &+= 1 }
        guard place < view.identifierCount else { return }
        view.identifierCount &-= 1
        for index in place..<view.identifierCount { view.identifiers[index] = view.identifiers[index &+ 1] }
    }

    /// The value in the form that the place accepts. An identifier is a text that is not empty.
    private func taken(_ value: ValueView, by spot: Spot) -> ValueView? {
        guard spot.part != .attribute else { return value }
        guard let text = text(of: value), text.text.count > 0 else { return nil }
        return text
    }

    /// The value as one line of text; nil for a list.
    private func text(of value: ValueView) -> ValueView? {
        guard value.kind != .choices, value.kind != .list else { return nil }
        var text = value
        text.kind = .string
        return text
    }

    // MARK: Steps

    private func rename(_ source: Spot, to target: Spot, _ view: inout RecordView) -> Done? {
        guard let value = source.part == .tags ? tags(of: view) : value(at: source, view) else {
            return source.part == .tags && view.tagCount > 0 ? nil : .idle
        }
        guard let taken = taken(value, by: target) else { return nil }
        let isTaken = self.value(at: target, view) != nil
        clear(source, &view)
        guard put(taken, at: target, &view) else { return .full }
        return isTaken ? .replaced : .applied
    }

    private func set(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        switch spot.part {
        case .tags: return nil
        case .tag: return add(spot.tag, &view)
        case .attribute, .identifier, .locale, .timeZone:
            let before = value(at: spot, view)
            if let before {
                guard let isSame = before.isSame(as: step.pointee.value) else { return nil }
                if isSame { return .idle }
            }
            guard put(step.pointee.value, at: spot, &view) else { return .full }
            return before == nil ? .applied : .replaced
        }
    }

    private func fallback(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        switch spot.part {
        case .tags: return nil
        case .tag: return add(spot.tag, &view)
        case .attribute, .identifier, .locale, .timeZone:
            if let value = value(at: spot, view), value.kind != .string || value.text.count > 0 { return .idle }
            return put(step.pointee.value, at: spot, &view) ? .applied : .full
        }
    }

    private func split(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let (source, spots, separator) = (step.pointee.spot, step.pointee.spots, step.pointee.value.text)
        guard let value = value(at: source, view) else { return .idle }
        guard value.kind == .string, !value.needsEscapes, value.isASCII || Self.isLatin(value.text) else { return nil }
        var (isKept, isTaken) = (false, false)
        for index in 0..<spots.count { isKept = isKept || spots[index] == source }
        if !isKept { clear(source, &view) }
        var rest = value.text
        for index in 0..<spots.count {
            var part = rest
            if index < spots.count - 1, let place = rest.firstIndex(of: separator) {
                part = Stretch(rest.start, place)
                rest = Stretch(rest.start + (place + separator.count), rest.count - place - separator.count)
            } else {
                rest = Stretch(rest.start + rest.count, 0)
            }
            guard part.count > 0 else { continue }
            let target = spots[index]
            isTaken = isTaken || !(target == source) && self.value(at: target, view) != nil
            guard put(ValueView(string: part), at: target, &view) else { return .full }
        }
        return isTaken ? .replaced : .applied
    }

    private func join(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let (target, spots, separator) = (step.pointee.spot, step.pointee.spots, step.pointee.value)
        var (count, size, isTaken) = (0, 0, value(at: target, view) != nil)
        for index in 0..<spots.count {
            if spots[index] == target { isTaken = false }
            guard let value = value(at: spots[index], view) else { continue }
            guard let text = text(of: value) else { return nil }
            guard text.text.count > 0 else { continue }
            (count, size) = (count &+ 1, size &+ text.text.count &+ separator.text.count)
        }
        guard count > 0 else { return .idle }
        guard var pen = view.scratch.pen(for: size + Padding.count) else { return nil }
        var joined = separator
        (joined.needsEscapes, joined.isASCII) = (count > 1 && separator.needsEscapes, count < 2 || separator.isASCII)
        let start = pen.place
        for index in 0..<spots.count {
            guard let value = value(at: spots[index], view), value.text.count > 0 else { continue }
            if pen.place != start { pen.put(separator.text) }
            pen.put(value.text)
            joined.needsEscapes = joined.needsEscapes || value.needsEscapes
            joined.isASCII = joined.isASCII && value.isASCII
        }
        joined.text = view.scratch.keep(pen)
        for index in 0..<spots.count where !(spots[index] == target) { clear(spots[index], &view) }
        guard put(joined, at: target, &view) else { return .full }
        return isTaken ? .replaced : .applied
    }

    private func replace(_ step: UnsafePointer<Step>, _ view: inout RecordView, _ noteDropped: () -> Bool)
        -> Done?
    {
        let spot = step.pointee.spot
        guard let value = value(at: spot, view) else { return .idle }
        guard let text = text(of: value) else { return nil }
        guard let other = tables[step.pointee.table][ScalarString(text.text.text)] else {
            if step.pointee.keepsUnknown { return .idle }
            guard step.pointee.dropsUnknown, noteDropped() else { return nil }
            clear(spot, &view)
            return .failed
        }
        guard let isSame = value.isSame(as: other) else { return nil }
        if isSame { return .idle }
        return put(other, at: spot, &view) ? .applied : .full
    }

    private func convert(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        guard var value = value(at: spot, view), value.kind.code != step.pointee.type else { return .idle }
        guard value.convert(to: step.pointee.type, view.scratch), let taken = taken(value, by: spot) else { return nil }
        return put(taken, at: spot, &view) ? .applied : .full
    }

    private func remove(_ spot: Spot, _ view: inout RecordView) -> Done? {
        if spot.part == .tag { return view.remove(tag: spot.tag) ? .applied : .idle }
        guard spot.part == .tags ? view.tagCount > 0 : value(at: spot, view) != nil else { return .idle }
        clear(spot, &view)
        return .applied
    }

    // MARK: Tags and lines

    private func add(_ tag: Stretch, _ view: inout RecordView) -> Done? {
        let before = view.tagCount
        guard view.insert(tag: tag) else { return .full }
        return view.tagCount > before ? .applied : .idle
    }

    /// The tags as choices, in their order; nil if there are none or if only the model can sort them.
    private func tags(of view: RecordView) -> ValueView? {
        var size = 2
        for index in 0..<view.tagCount {
            guard view.tags[index].isASCII else { return nil }
            size += view.tags[index].count * Self.escapedByte + Padding.count
        }
        guard view.tagCount > 0, var pen = view.scratch.pen(for: size) else { return nil }
        let mark = pen.place
        for index in 0..<view.tagCount {
            pen.put(0x2C)
            pen.quote(escaping: view.tags[index])
        }
        LineWriter.close(mark, 0x5B, &pen)
        let text = view.scratch.keep(pen)
        return ValueView(kind: .choices, needsEscapes: text.index(of: 0x5C, or: 0x5C, from: 0) < text.count, text: text)
    }

    /// The maximum number of bytes that JSON needs for one byte of a text.
    private static let escapedByte = 6

    /// The text of the locale or the time zone.
    private func line(_ spot: Spot, _ view: RecordView) -> ValueView? {
        let detail = spot.part == .locale ? view.locale : view.timeZone
        return detail.isThere ? ValueView(string: detail.text) : nil
    }

    private func putLine(_ detail: RecordView.Detail, _ spot: Spot, _ view: inout RecordView) {
        if spot.part == .locale { view.locale = detail } else { view.timeZone = detail }
    }

    // MARK: Texts

    /// Whether every scalar is below U+0300. Such scalars neither combine with others nor are equivalent to another ASCII
    /// letter, so a text can be split by its bytes.
    private static func isLatin(_ text: Stretch) -> Bool {
        for index in 0..<text.count where text[index] >= 0xCC { return false }
        return true
    }
}

extension ValueView {
    /// Whether both values are the same; nil if they have different bytes but may be equivalent.
    fileprivate func isSame(as other: ValueView) -> Bool? {
        guard kind == other.kind else { return false }
        if text.compare(other.text) == 0 { return true }
        switch kind {
        case .integer, .yes, .no, .date, .country: return false
        case .string: return isASCII && other.isASCII ? false : text.text == other.text.text
        case .decimal, .time, .timestamp, .choices, .list: return nil
        }
    }
}

extension Stretch {
    /// The index of the first occurrence of another text.
    fileprivate func firstIndex(of other: Stretch) -> Int? {
        guard other.count > 0, count >= other.count else { return nil }
        for index in 0...(count - other.count) where self[index] == other[0] {
            if Stretch(start + index, other.count).compare(other) == 0 { return index }
        }
        return nil
    }
}

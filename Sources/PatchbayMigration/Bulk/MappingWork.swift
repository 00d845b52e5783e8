import PatchbayJSON

/// What the steps of a mapping do with a view. Each gives nil where the slow way must.
extension MappingPlan {
    /// Does every step; false where the slow way must, and the view is then of no more use.
    @inline(never) func change(_ view: inout RecordView) -> Bool {
        var pen = Pen(place: pages)
        for index in 0..<steps.count {
            guard let done = done(steps.place(index), &view, &pen) else { return false }
            self.done[index] = done
        }
        return true
    }

    private func done(_ step: UnsafePointer<Step>, _ view: inout RecordView, _ pen: inout Pen) -> Done? {
        switch step.pointee.work {
        case .rename: rename(step.pointee.spot, to: step.pointee.target, &view)
        case .set: set(step, &view)
        case .fallback: fallback(step, &view)
        case .split: split(step, &view)
        case .join: join(step, &view, &pen)
        case .replace: replace(step, &view)
        case .convert: convert(step, &view)
        case .remove: remove(step.pointee.spot, &view)
        }
    }

    // MARK: Values

    /// The value of an attribute or identifier.
    private func value(at spot: Spot, _ view: RecordView) -> ValueView? {
        if spot.part == .attribute {
            let rank = ranks[spot.index]
            return view.has(rank) ? view.attributes[rank] : nil
        }
        for index in 0..<view.identifierCount where view.identifiers[index].kind == spot.index {
            return view.identifiers[index].value
        }
        return nil
    }

    /// Writes a value that the place takes; false if there is no room for it.
    private func put(_ value: ValueView, at spot: Spot, _ view: inout RecordView) -> Bool {
        if spot.part == .attribute {
            view.setAttribute(ranks[spot.index], value)
            return true
        }
        var place = 0
        while place < view.identifierCount, view.identifiers[place].kind != spot.index { place &+= 1 }
        if place == view.identifierCount {
            guard place < RecordView.identifierLimit else { return false }
            view.identifierCount &+= 1
        }
        view.identifiers[place] = .init(kind: spot.index, value: value, address: .nothing)
        return true
    }

    private func clear(_ spot: Spot, _ view: inout RecordView) {
        if spot.part == .attribute { return view.removeAttribute(ranks[spot.index]) }
        var place = 0
        while place < view.identifierCount, view.identifiers[place].kind != spot.index { place &+= 1 }
        guard place < view.identifierCount else { return }
        view.identifierCount &-= 1
        for index in place..<view.identifierCount { view.identifiers[index] = view.identifiers[index &+ 1] }
    }

    /// A value as the place takes it: an identifier is a text that is not empty.
    private func taken(_ value: ValueView, by spot: Spot) -> ValueView? {
        guard spot.part == .identifier else { return value }
        guard let text = text(of: value), text.text.count > 0 else { return nil }
        return text
    }

    /// A value as one line of text; nil for a list.
    private func text(of value: ValueView) -> ValueView? {
        var text = value
        return text.convert(to: .string) ? text : nil
    }

    // MARK: Steps

    private func rename(_ source: Spot, to target: Spot, _ view: inout RecordView) -> Done? {
        guard let value = value(at: source, view) else { return .idle }
        let isTaken = self.value(at: target, view) != nil
        clear(source, &view)
        guard let taken = taken(value, by: target), put(taken, at: target, &view) else { return nil }
        return isTaken ? .replaced : .applied
    }

    private func set(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        switch spot.part {
        case .tags: return nil
        case .tag: return add(spot.tag, &view)
        case .locale, .timeZone:
            let before = line(spot, view)
            if let before {
                guard let isSame = Self.isSame(before, step.pointee.value.text) else { return nil }
                if isSame { return .idle }
            }
            putLine(step.pointee.value.text, spot, &view)
            return before == nil ? .applied : .replaced
        case .attribute, .identifier:
            let before = value(at: spot, view)
            if let before {
                guard let isSame = before.isSame(as: step.pointee.value) else { return nil }
                if isSame { return .idle }
            }
            guard put(step.pointee.value, at: spot, &view) else { return nil }
            return before == nil ? .applied : .replaced
        }
    }

    private func fallback(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        switch spot.part {
        case .tags: return nil
        case .tag: return add(spot.tag, &view)
        case .locale, .timeZone:
            if let line = line(spot, view), line.count > 0 { return .idle }
            putLine(step.pointee.value.text, spot, &view)
            return .applied
        case .attribute, .identifier:
            if let value = value(at: spot, view), value.kind != .string || value.text.count > 0 { return .idle }
            return put(step.pointee.value, at: spot, &view) ? .applied : nil
        }
    }

    private func split(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let (source, spots, separator) = (step.pointee.spot, step.pointee.spots, step.pointee.value.text)
        guard let value = value(at: source, view) else { return .idle }
        guard value.kind == .string, !value.isEscaped, value.isASCII || Self.isLatin(value.text) else { return nil }
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
            let text = ValueView(kind: .string, isEscaped: false, isASCII: value.isASCII, text: part)
            guard put(text, at: target, &view) else { return nil }
        }
        return isTaken ? .replaced : .applied
    }

    private func join(_ step: UnsafePointer<Step>, _ view: inout RecordView, _ pen: inout Pen) -> Done? {
        let (target, spots, separator) = (step.pointee.spot, step.pointee.spots, step.pointee.value)
        var joined = ValueView(kind: .string, isEscaped: false, isASCII: true, text: Stretch(Bytes(pen.place), 0))
        var (count, isTaken) = (0, value(at: target, view) != nil)
        for index in 0..<spots.count {
            if spots[index] == target { isTaken = false }
            guard let value = value(at: spots[index], view) else { continue }
            guard let text = text(of: value) else { return nil }
            guard text.text.count > 0 else { continue }
            let free = pageSize - (pen.place - pages)
            guard text.text.count + separator.text.count <= free else { return nil }
            if count > 0 { joined.append(separator, &pen) }
            joined.append(text, &pen)
            count &+= 1
        }
        guard count > 0 else { return .idle }
        joined.text.count = Bytes(pen.place) - joined.text.start
        for index in 0..<spots.count where !(spots[index] == target) { clear(spots[index], &view) }
        guard put(joined, at: target, &view) else { return nil }
        return isTaken ? .replaced : .applied
    }

    private func replace(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        guard let value = value(at: spot, view) else { return .idle }
        guard let text = text(of: value), !text.isEscaped else { return nil }
        guard let other = tables[step.pointee.table][ScalarString(text.text.text)] else {
            return step.pointee.keepsUnknown ? .idle : nil
        }
        guard let isSame = value.isSame(as: other) else { return nil }
        if isSame { return .idle }
        return put(other, at: spot, &view) ? .applied : nil
    }

    private func convert(_ step: UnsafePointer<Step>, _ view: inout RecordView) -> Done? {
        let spot = step.pointee.spot
        guard var value = value(at: spot, view), value.kind.code != step.pointee.type else { return .idle }
        guard value.convert(to: step.pointee.type), let taken = taken(value, by: spot) else { return nil }
        return put(taken, at: spot, &view) ? .applied : nil
    }

    private func remove(_ spot: Spot, _ view: inout RecordView) -> Done? {
        switch spot.part {
        case .attribute, .identifier:
            guard value(at: spot, view) != nil else { return .idle }
            clear(spot, &view)
        case .locale:
            guard view.hasLocale else { return .idle }
            view.hasLocale = false
        case .timeZone:
            guard view.hasTimeZone else { return .idle }
            view.hasTimeZone = false
        case .tags:
            guard view.tagCount > 0 else { return .idle }
            view.tagCount = 0
        case .tag: return view.remove(tag: spot.tag) ? .applied : .idle
        }
        return .applied
    }

    // MARK: Tags and lines

    private func add(_ tag: Stretch, _ view: inout RecordView) -> Done? {
        let before = view.tagCount
        guard view.insert(tag: tag) else { return nil }
        return view.tagCount > before ? .applied : .idle
    }

    /// The text of the locale or the time zone, as it stands.
    private func line(_ spot: Spot, _ view: RecordView) -> Stretch? {
        spot.part == .locale ? (view.hasLocale ? view.locale : nil) : (view.hasTimeZone ? view.timeZone : nil)
    }

    private func putLine(_ text: Stretch, _ spot: Spot, _ view: inout RecordView) {
        if spot.part == .locale {
            (view.hasLocale, view.locale) = (true, text)
        } else {
            (view.hasTimeZone, view.timeZone) = (true, text)
        }
    }

    // MARK: Texts

    /// Whether two texts of unknown form are the same; nil if they may be, with other bytes.
    private static func isSame(_ one: Stretch, _ other: Stretch) -> Bool? {
        if one.compare(other) == 0 { return true }
        func isPlain(_ text: Stretch) -> Bool {
            for index in 0..<text.count where text[index] >= 0x80 || text[index] == 0x5C { return false }
            return true
        }
        return isPlain(one) && isPlain(other) ? false : nil
    }

    /// Whether every scalar is below U+0300: then none joins another, none is another ASCII letter, and a text is cut where
    /// its bytes are.
    private static func isLatin(_ text: Stretch) -> Bool {
        for index in 0..<text.count where text[index] >= 0xCC { return false }
        return true
    }
}

extension ValueView {
    /// Whether both are the same value; nil if they may be, with other bytes.
    fileprivate func isSame(as other: ValueView) -> Bool? {
        guard kind == other.kind else { return false }
        if text.compare(other.text) == 0 { return true }
        switch kind {
        case .integer, .yes, .no, .date, .country: return false
        case .string: return isBare && other.isBare ? false : nil
        case .decimal, .time, .timestamp, .choices, .list: return nil
        }
    }

    /// Writes a text behind this one, whose bytes end at the pen.
    fileprivate mutating func append(_ other: ValueView, _ pen: inout Pen) {
        pen.put(other.text)
        (isEscaped, isASCII) = (isEscaped || other.isEscaped, isASCII && other.isASCII)
    }
}

extension Stretch {
    /// Where another text begins first in this one.
    fileprivate func firstIndex(of other: Stretch) -> Int? {
        guard other.count > 0, count >= other.count else { return nil }
        for index in 0...(count - other.count) where self[index] == other[0] {
            if Stretch(start + index, other.count).compare(other) == 0 { return index }
        }
        return nil
    }
}

import PatchbayModel

/// A field of the row that is being written.
struct Cell: BitwiseCopyable {
    var text: Stretch
    /// Whether it holds something for which it must stand in quotes.
    var needsQuotes = false
}

/// Room for one row, and for texts that are written otherwise than they stand.
struct RowRoom: BitwiseCopyable {
    let cells: UnsafeMutablePointer<Cell>
    /// A line for each column, and behind them ``longTexts``.
    private let scratch: UnsafeMutablePointer<UInt8>
    static let lineLength = 64

    init(in arena: Arena) {
        cells = arena.make(RowPlan.columnLimit, of: Cell(text: .nothing))
        scratch = arena.make(RowPlan.columnLimit * Self.lineLength + ChunkMapper.longest + 2 * Padding.count, of: 0)
    }

    @inline(__always) func line(of column: Int) -> UnsafeMutablePointer<UInt8> { scratch + column &* Self.lineLength }
    /// Room for texts of at most ``ChunkMapper/longest`` bytes in all.
    var longTexts: UnsafeMutablePointer<UInt8> { scratch + RowPlan.columnLimit * Self.lineLength }
}

/// Words of one field in the making.
private struct LongText {
    private let start: UnsafeMutablePointer<UInt8>
    private var pen: Pen
    private let limit: Int

    init(after count: Int, in room: RowRoom) {
        start = room.longTexts + count
        (pen, limit) = (Pen(place: start), ChunkMapper.longest - count)
    }

    var text: Stretch { Stretch(Bytes(start), pen.place - start) }

    /// Puts a word behind what there is; false if there is no more room.
    @inline(__always) mutating func put(_ word: Stretch, behind separator: UInt8) -> Bool {
        guard pen.place - start + word.count < limit else { return false }
        if pen.place != start { pen.put(separator) }
        pen.put(word)
        return true
    }
}

/// Rows of delimited text. As everywhere in ``LineWriter``, nil or false leaves the record to the slow way.
extension LineWriter {
    mutating func row(_ view: RecordView, _ plan: UnsafePointer<LinePlan>, _ pen: Pen) -> Pen? {
        let columns = plan.pointee.row.pointee.columns
        for index in 0..<columns.count { room.cells[index] = Cell(text: .nothing) }
        longCount = 0
        guard fillIdentifiers(view, plan), fillAttributes(view, plan), fillTags(view, plan), fillPlaces(view, plan),
            fillSubscriptions(view, plan), fillConsents(view, plan), passDevices(view, plan), fillKey(view, plan),
            isWanted(view, plan)
        else { return nil }
        for index in 0..<columns.count where columns.place(index).pointee.isRequired {
            guard room.cells[index].text.count > 0 || isFound(without: index, plan) else { return nil }
        }
        // An empty field alone would be an empty line.
        guard columns.count > 1 || room.cells[0].text.count > 0 else { return nil }
        return put(plan, pen)
    }

    /// Writes the fields; the line feed is the caller's.
    private func put(_ plan: UnsafePointer<LinePlan>, _ start: Pen) -> Pen {
        let row = plan.pointee.row
        var pen = start
        for index in 0..<row.pointee.columns.count {
            if index > 0 { pen.put(row.pointee.delimiter) }
            let cell = room.cells[index]
            if cell.needsQuotes {
                pen.put(0x22)
                for place in 0..<cell.text.count {
                    if cell.text[place] == 0x22 { pen.put(0x22) }
                    pen.put(cell.text[place])
                }
                pen.put(0x22)
            } else if row.pointee.quotesAll {
                pen.quote(cell.text)
            } else {
                pen.put(cell.text)
            }
        }
        if row.pointee.endsWithReturn { pen.put(0x0D) }
        return pen
    }

    // MARK: One field

    /// Puts a text into a field that is free, if it may stand there as it is.
    @inline(__always) private func fill(_ column: Int, _ text: Stretch, _ plan: UnsafePointer<LinePlan>) -> Bool {
        guard room.cells[column].text.count == 0, text.count > 0,
            text.count <= plan.pointee.row.pointee.columns.place(column).pointee.limit
        else { return false }
        guard let needsQuotes = Self.judge(text, plan.pointee.row) else { return false }
        room.cells[column] = Cell(text: text, needsQuotes: needsQuotes)
        return true
    }

    /// Whether a text needs quotes; nil for one that may not stand in the file, or not as it is.
    @inline(__always) private static func judge(_ text: Stretch, _ row: UnsafePointer<RowPlan>) -> Bool? {
        let (first, last) = (text[0], text[text.count &- 1])
        guard first > 0x20, last > 0x20 else { return nil }
        var index = 0
        while index < text.count {
            let block = Block.load(text.start + index)
            let delimiters = Block.marks(of: Int8(truncatingIfNeeded: row.pointee.delimiter), in: block)
            let doubled = Block.marks(of: Int8(truncatingIfNeeded: row.pointee.doubled), in: block)
            let first = Block.first(Block.stops(in: block) .| delimiters .| doubled)
            index &+= first
            if first < Block.count { break }
        }
        return index >= text.count ? false : judgeSlowly(text, row)
    }

    /// The same, byte by byte.
    @inline(never) private static func judgeSlowly(_ text: Stretch, _ row: UnsafePointer<RowPlan>) -> Bool? {
        var needsQuotes = false
        for index in 0..<text.count {
            switch text[index] {
            // Controls; and a backslash begins an escape of JSON.
            case 0..<0x20, 0x5C, row.pointee.doubled: return nil
            case row.pointee.delimiter:
                guard row.pointee.isQuoted else { return nil }
                needsQuotes = true
            case 0x22:
                guard row.pointee.isQuoted || index > 0 else { return nil }
                needsQuotes = row.pointee.isQuoted
            case 0xF0...0xFF: guard row.pointee.takesHighUnicode else { return nil }
            case 0x80...0xEF: guard row.pointee.takesUnicode else { return nil }
            default: break
            }
        }
        return isVisible(text) ? needsQuotes : nil
    }

    /// Whether surely no white space stands at either end: a scalar that may be some, or that may stick to one before it, is
    /// for the slow way.
    private static func isVisible(_ text: Stretch) -> Bool {
        switch text[0] {
        // The leads of all white space beyond ASCII, and of the byte-order mark.
        case 0xC2, 0xE1, 0xE2, 0xE3, 0xEF: return false
        default: break
        }
        var last = text.count - 1
        while last > 0, text[last] & 0xC0 == 0x80 { last -= 1 }
        switch text[last] {
        // ASCII; letters of Latin, Greek and Cyrillic before their combining marks; and of Han.
        case 0x21...0x7E, 0xC3...0xCA, 0xCE...0xD1, 0xE4...0xE9: return true
        default: return false
        }
    }

    // MARK: The parts of a contact

    private mutating func fillIdentifiers(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers + index
            let kind = identifier.pointee.kind
            guard kind >= 0, plan.pointee.kinds.place(kind).pointee.column >= 0 else {
                guard note(plan.pointee.row.pointee.noHome) else { return false }
                continue
            }
            let row = plan.pointee.kinds.place(kind)
            let column = row.pointee.column
            // Two of one kind are for the slow way.
            guard room.cells[column].text.count == 0 else { return false }
            var text = identifier.pointee.value.text
            if plan.pointee.row.pointee.columns.place(column).pointee.digitsOnly {
                guard let digits = digits(of: text, column) else { return false }
                if digits.count != text.count { guard note(plan.pointee.row.pointee.converted) else { return false } }
                text = digits
            }
            let isFit = Self.fits(text, of: identifier.pointee.value, row.pointee.fieldForm)
            // A text beyond ASCII may be an address all the same.
            guard isFit || identifier.pointee.value.isBare else { return false }
            guard isFit ? fill(column, text, plan) : note(plan.pointee.row.pointee.unfit) else { return false }
        }
        return true
    }

    /// Whether an identifier's text has the form that its column wants.
    @inline(__always) private static func fits(_ text: Stretch, of value: ValueView, _ form: FormCode) -> Bool {
        switch form {
        case .email: value.isBare && Forms.isAddress(text)
        case .phones: value.isBare && Forms.isPhone(text)
        default: true
        }
    }

    /// A text's digits; nil for a long text, or one beyond ASCII.
    private func digits(of text: Stretch, _ column: Int) -> Stretch? {
        guard text.count <= RowRoom.lineLength - 16 else { return nil }
        let line = room.line(of: column)
        var count = 0
        for index in 0..<text.count {
            guard text[index] < 0x80, text[index] != 0x5C else { return nil }
            guard text[index] &- 0x30 < 10 else { continue }
            line[count] = text[index]
            count &+= 1
        }
        return Stretch(Bytes(line), count)
    }

    private mutating func fillAttributes(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let entries = plan.pointee.attributes.entries
        for word in 0..<RecordView.presentWords {
            var bits = view.present[word]
            while bits != 0 {
                let rank = word &* 64 &+ bits.trailingZeroBitCount
                bits &= bits &- 1
                let entry = entries.place(rank)
                guard fill(view.attributes[rank], entry, plan) else { return false }
            }
        }
        return true
    }

    @inline(__always) private mutating func fill(
        _ value: ValueView,
        _ entry: UnsafePointer<AttributeBook.Entry>,
        _ plan: UnsafePointer<LinePlan>
    ) -> Bool {
        var value = value
        // First what the catalogue says, of which nothing is noted, then what the column is.
        guard entry.pointee.type == .any || value.convert(to: entry.pointee.type) else { return false }
        let column = entry.pointee.column
        guard column >= 0 else { return note(plan.pointee.row.pointee.noColumn) }
        let kind = value.kind
        guard value.convert(to: entry.pointee.columnType(for: kind.code)) else { return false }
        if kind.code != value.kind.code { guard note(plan.pointee.row.pointee.converted) else { return false } }
        guard let text = text(of: value, column, plan, isConverted: kind != value.kind),
            takes(text, plan.pointee.row.pointee.columns.place(column))
        else { return false }
        return fill(column, text, plan)
    }

    /// Whether a column takes a text; any other of its words is for the slow way.
    @inline(__always) private func takes(_ text: Stretch, _ column: UnsafePointer<RowPlan.Column>) -> Bool {
        let words = column.pointee.words
        guard words.count > 0 else { return true }
        for index in 0..<words.count where words[index].compare(text) == 0 { return true }
        return false
    }

    /// A value in the file's form; nil for one that only the slow way can write.
    @inline(__always) private mutating func text(
        of value: ValueView,
        _ column: Int,
        _ plan: UnsafePointer<LinePlan>,
        isConverted: Bool
    ) -> Stretch? {
        let row = plan.pointee.row
        var pen = Pen(place: room.line(of: column))
        switch value.kind {
        case .string, .integer, .decimal: return value.text
        case .yes: return row.pointee.yes
        case .no: return row.pointee.no
        case .country:
            guard row.pointee.hasLowerCountries else { return value.text }
            for index in 0..<value.text.count { pen.put(value.text[index] | 0x20) }
        case .time:
            pen.put(value.text)
            pen.put(row.pointee.seconds)
        case .date: Self.put(day: value.text, row.pointee.day, &pen)
        case .timestamp:
            // `YYYY-MM-DDTHH:MM:SSZ`, or a fraction before the letter. Of a value one thing is said: that it was of another
            // type, or else that something of it is lost.
            if value.text.count > 20, !isConverted {
                guard !row.pointee.isSurveyed, note(row.pointee.precision) else { return nil }
            }
            guard let text = row.pointee.zone == 0 ? value.text : local(value.text, row.pointee.zone, column) else {
                return nil
            }
            Self.put(day: text, row.pointee.day, &pen)
            pen.put(0x20)
            pen.put(text.start + 11, 8)
        case .choices: return choices(value, row.pointee.separator)
        case .list: return nil
        }
        return Stretch(Bytes(room.line(of: column)), pen.place - room.line(of: column))
    }

    /// An instant to the second as a zone's clocks show it; nil in the years at both ends of the calendar.
    @inline(never) private func local(_ text: Stretch, _ zone: Int, _ column: Int) -> Stretch? {
        guard let seconds = Moments.seconds(of: text) else { return nil }
        // Behind what the line's first half holds once it is written.
        let start = room.line(of: column) + RowRoom.lineLength / 2
        var pen = Pen(place: start)
        pen.put(instant: seconds + zone)
        return Stretch(Bytes(start), pen.place - start)
    }

    /// A list's words between separators; nil where one would not come back.
    @inline(never) private mutating func choices(_ value: ValueView, _ separator: UInt8) -> Stretch? {
        // Without escapes every quote begins or ends a word.
        guard value.isBare else { return nil }
        var words = LongText(after: longCount, in: room)
        var place = value.text.start
        var way = Grammar.openList(&place)
        while way == .on {
            guard let word = Grammar.bare(&place), word.count > 0, word[0] > 0x20, word[word.count &- 1] > 0x20 else {
                return nil
            }
            for index in 0..<word.count where word[index] == separator { return nil }
            guard words.put(word, behind: separator) else { return nil }
            way = Grammar.nextElement(&place)
        }
        return way == .end ? keep(words) : nil
    }

    /// The text of words, which stays until the row is written; nil for none.
    private mutating func keep(_ words: LongText) -> Stretch? {
        longCount &+= words.text.count
        return words.text.count > 0 ? words.text : nil
    }

    /// `YYYY-MM-DD` in another order.
    @inline(__always) private static func put(day text: Stretch, _ form: RowPlan.Day, _ pen: inout Pen) {
        let start = pen.place
        for index in 0..<10 { start[index] = form.mark }
        for index in 0..<4 { start[form.places.year + index] = text[index] }
        for index in 0..<2 {
            start[form.places.month + index] = text[5 + index]
            start[form.places.day + index] = text[8 + index]
        }
        pen.place += 10
    }

    /// All tags in one field, in their order, which for ASCII is that of their bytes.
    private mutating func fillTags(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        guard view.tagCount > 0 else { return true }
        let row = plan.pointee.row
        guard !row.pointee.hasTagColumns else { return false }
        var words = LongText(after: longCount, in: room)
        for index in 0..<view.tagCount {
            let tag = view.tags[index]
            guard tag.count > 0, tag[0] > 0x20, tag[tag.count &- 1] > 0x20 else { return false }
            for place in 0..<tag.count {
                // A backslash begins an escape of JSON.
                guard tag[place] < 0x80, tag[place] != row.pointee.separator, tag[place] != 0x5C else { return false }
            }
            guard words.put(tag, behind: row.pointee.separator) else { return false }
        }
        guard let text = keep(words) else { return false }
        return row.pointee.tags < 0 ? note(row.pointee.noHome) : fill(row.pointee.tags, text, plan)
    }

    private mutating func fillPlaces(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (locale, zone) = (plan.pointee.row.pointee.locale, plan.pointee.row.pointee.timeZone)
        if view.hasLocale {
            guard locale < 0 ? note(plan.pointee.row.pointee.noHome) : fill(locale, view.locale, plan) else {
                return false
            }
        }
        if view.hasTimeZone {
            let slash = view.timeZone.index(of: 0x2F, or: 0x2F, from: 0)
            guard slash < view.timeZone.count || view.timeZone.equals("UTC") else { return false }
            guard zone < 0 ? note(plan.pointee.row.pointee.noHome) : fill(zone, view.timeZone, plan) else {
                return false
            }
        }
        return true
    }

    // MARK: What a person wants

    private mutating func fillSubscriptions(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, lexicon) = (plan.pointee.row, plan.pointee.lexicon)
        for index in 0..<view.subscriptionCount {
            let subscription = view.subscriptions + index
            let channel = subscription.pointee.channel
            guard channel >= 0 || !row.pointee.hasStrangeColumns, Self.standsAlone(index, view),
                let state = state(of: subscription, view, plan, denied: row.pointee.denied)
            else { return false }
            guard state != lexicon.pointee.unknownState else {
                guard note(row.pointee.stateUnknown) else { return false }
                continue
            }
            // Any other no on such a channel is for the writer to judge.
            if state != lexicon.pointee.subscribed, channel >= 0, row.pointee.judged &>> UInt8(channel) & 1 == 1 {
                return false
            }
            let column = row.pointee.column(of: channel, subscription.pointee.topic)
            guard column >= 0 else {
                guard row.pointee.saysStatesAlone,
                    note(state == lexicon.pointee.subscribed ? row.pointee.noHome : row.pointee.lostOptOut)
                else { return false }
                continue
            }
            guard say(state, column, plan) else { return false }
            guard subscription.pointee.details == 0 || row.pointee.saysStatesAlone else { return false }
            for _ in 0..<subscription.pointee.details {
                guard note(row.pointee.noHome) else { return false }
            }
        }
        return true
    }

    /// Says a state by its word.
    private mutating func say(_ state: Int, _ column: Int, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (words, lexicon) = (plan.pointee.row.pointee.columns.place(column).pointee.words, plan.pointee.lexicon)
        if words[state].count > 0 { return fill(column, words[state], plan) }
        // A pause is a no where there is no word for it.
        guard state != lexicon.pointee.subscribed, words[lexicon.pointee.unsubscribed].count > 0,
            note(plan.pointee.row.pointee.suspended)
        else { return false }
        return fill(column, words[lexicon.pointee.unsubscribed], plan)
    }

    /// Looks for a yes on each channel that needs one and on which the row has an address.
    @inline(__always) private mutating func isWanted(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, subscribed) = (plan.pointee.row, plan.pointee.lexicon.pointee.subscribed)
        guard row.pointee.needsYes != 0 else { return true }
        var missing: UInt8 = 0
        for index in 0..<row.pointee.columns.count where room.cells[index].text.count > 0 {
            let reach = row.pointee.columns.place(index).pointee.reach
            if reach >= 0 { missing |= 1 &<< UInt8(reach) }
        }
        missing &= row.pointee.needsYes
        for index in 0..<view.subscriptionCount where missing != 0 {
            let each = view.subscriptions[index]
            guard each.channel >= 0, each.topic == Lexicon.none, each.state == subscribed else { continue }
            missing &= ~(1 &<< UInt8(each.channel))
        }
        return missing == 0 || isWanted(withoutYes: missing, view, plan)
    }

    /// Whether a no stands on each of these channels, or nobody knows, of which is told; a consent that speaks of one is for
    /// the slow way.
    @inline(never) private mutating func isWanted(
        withoutYes missing: UInt8,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>
    ) -> Bool {
        for channel in 0..<Lexicon.channelNames.count where missing &>> UInt8(channel) & 1 == 1 {
            for index in 0..<view.consentCount {
                let consent = view.consents[index]
                // Messaging is the first of the lexicon's purposes.
                if consent.purpose == 0, consent.channel == Lexicon.none || consent.channel == channel { return false }
            }
            var isAnswered = false
            for index in 0..<view.subscriptionCount {
                let each = view.subscriptions[index]
                guard each.channel == channel, each.topic == Lexicon.none else { continue }
                isAnswered = each.state != plan.pointee.lexicon.pointee.unknownState
            }
            guard isAnswered || note(plan.pointee.row.pointee.withoutYes) else { return false }
        }
        return true
    }

    // MARK: The key

    /// Where there is no key, the first identifier of another kind that may be one stands in its column.
    private mutating func fillKey(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, kinds) = (plan.pointee.row, plan.pointee.kinds)
        guard row.pointee.standIns.count > 0, room.cells[row.pointee.key].text.count == 0 else { return true }
        for index in 0..<view.identifierCount {
            let kind = view.identifiers[index].kind
            if kind >= 0, kinds.place(kind).pointee.column == row.pointee.key { return false }
        }
        for place in 0..<row.pointee.standIns.count {
            for index in 0..<view.identifierCount where view.identifiers[index].kind == row.pointee.standIns[place] {
                let value = view.identifiers[index].value
                guard value.isBare else { return false }
                let form = kinds.place(row.pointee.standIns[place]).pointee.fieldForm
                guard Self.fits(value.text, of: value, form) else { continue }
                return fill(row.pointee.key, value.text, plan) && note(row.pointee.keyOther)
            }
        }
        return true
    }

    /// Whether another column finds the row though it lacks the key, of which is told.
    private mutating func isFound(without column: Int, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let row = plan.pointee.row
        return column == row.pointee.key && row.pointee.finder >= 0
            && room.cells[row.pointee.finder].text.count > 0 && note(row.pointee.otherKey)
    }

    // MARK: What a person forbids

    private mutating func fillConsents(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, lexicon) = (plan.pointee.row, plan.pointee.lexicon)
        for index in 0..<view.consentCount where view.consents[index].state != lexicon.pointee.unanswered {
            let consent = view.consents[index]
            if consent.state == lexicon.pointee.refused {
                // What is said of messages on every channel is said in columns beyond the lexicon, too.
                let isKnown =
                    consent.purpose >= 0 && (consent.channel >= 0 || consent.purpose > 0)
                    && consent.channel != Lexicon.unknown
                guard isKnown || !row.pointee.hasStrangeColumns else { return false }
                let column = row.pointee.column(denying: consent.purpose, consent.channel)
                if column >= 0 {
                    guard fill(column, row.pointee.yes, plan), !consent.isDated || note(row.pointee.noHome) else {
                        return false
                    }
                    continue
                }
                // Messaging is the first of the lexicon's purposes.
                if consent.purpose == 0 {
                    guard row.pointee.judged == 0, row.pointee.saysStatesAlone else { return false }
                    let isSaid = deny(consent.channel, plan)
                    guard note(isSaid ? row.pointee.consent : row.pointee.lostOptOut) else { return false }
                    continue
                }
            }
            guard note(row.pointee.consent) else { return false }
        }
        return true
    }

    /// Says the no in every column that it is about, and whether that is enough: columns of whole channels must say it, for
    /// its channel, or for every one on which the row has an address.
    private func deny(_ channel: Int, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (columns, word) = (plan.pointee.row.pointee.columns, plan.pointee.lexicon.pointee.unsubscribed)
        // A bit for each channel.
        var (said, reached): (UInt8, UInt8) = (0, 0)
        for index in 0..<columns.count {
            let column = columns.place(index)
            if column.pointee.reach >= 0, room.cells[index].text.count > 0 {
                reached |= 1 &<< UInt8(column.pointee.reach)
            }
            guard column.pointee.channel >= 0, channel == Lexicon.none || channel == column.pointee.channel,
                column.pointee.words[word].count > 0
            else { continue }
            room.cells[index] = Cell(text: column.pointee.words[word])
            if column.pointee.topic == Lexicon.none { said |= 1 &<< UInt8(column.pointee.channel) }
        }
        return said != 0 && (channel != Lexicon.none || reached & ~said == 0)
    }

    private mutating func passDevices(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        guard view.deviceCount == 0 || !plan.pointee.row.pointee.hasDeviceColumns else { return false }
        for _ in 0..<view.deviceCount { guard note(plan.pointee.row.pointee.noHome) else { return false } }
        return true
    }
}

import PatchbayAdapterKit
import PatchbayModel
import PatchbayRecords

/// A field of the row that is being written.
struct Cell: BitwiseCopyable {
    var text: Stretch
    /// Whether the field must be quoted because of its contents.
    var needsQuotes = false
}

/// Memory for one row, and for texts that are rewritten.
struct RowRoom: BitwiseCopyable {
    let cells: UnsafeMutablePointer<Cell>
    /// The scratch memory of the present record.
    let scratch: UnsafeMutablePointer<Scratch>
    /// A line for each column, followed by ``longTexts``.
    private let lines: UnsafeMutablePointer<UInt8>
    static let lineLength = 64

    init(for view: RecordView, in arena: Arena) {
        cells = arena.make(RowPlan.columnLimit, of: Cell(text: .nothing))
        scratch = arena.make(1, of: view.scratch)
        lines = arena.make(RowPlan.columnLimit * Self.lineLength + ChunkMapper.longest + 2 * Padding.count, of: 0)
    }

    @inline(__always) func line(of column: Int) -> UnsafeMutablePointer<UInt8> { lines + column &* Self.lineLength }
    /// Memory for long texts, of at most ``ChunkMapper/longest`` bytes in total.
    var longTexts: UnsafeMutablePointer<UInt8> { lines + RowPlan.columnLimit * Self.lineLength }
}

/// The words of one field that is being composed.
private struct LongText {
    private let start: UnsafeMutablePointer<UInt8>
    private var pen: Pen
    private let limit: Int

    init(after count: Int, in room: RowRoom) {
        start = room.longTexts + count
        (pen, limit) = (Pen(place: start), ChunkMapper.longest - count)
    }

    var text: Stretch { Stretch(Bytes(start), pen.place - start) }

    /// Appends a word; returns false if there is no room.
    @inline(__always) mutating func put(_ word: Stretch, behind separator: UInt8) -> Bool {
        guard pen.place - start + word.count < limit else { return false }
        if pen.place != start { pen.put(separator) }
        pen.put(word)
        return true
    }
}

/// Writes rows of delimited text. As in all of ``LineWriter``, nil or false leaves the record to the general path.
extension LineWriter {
    mutating func row(_ view: RecordView, _ plan: UnsafePointer<LinePlan>, _ pen: Pen) -> Pen? {
        let columns = plan.pointee.row.pointee.columns
        for index in 0..<columns.count { room.cells[index] = Cell(text: .nothing) }
        longCount = 0
        room.scratch.pointee = view.scratch
        guard fillIdentifiers(view, plan), fillAttributes(view, plan), fillTags(view, plan), fillPlaces(view, plan),
            fillSubscriptions(view, plan), fillConsents(view, plan), passDevices(view, plan), fillKey(view, plan),
            isWanted(view, plan)
        else { return nil }
        for index in 0..<columns.count where columns.place(index).pointee.isRequired {
            guard room.cells[index].text.count > 0 || isFound(without: index, plan) else { return nil }
        }
        // A single empty field would be an empty line.
        guard columns.count > 1 || room.cells[0].text.count > 0 else { return nil }
        return put(plan, pen)
    }

    /// Writes the fields. The caller writes the line feed.
    private func put(_ plan: UnsafePointer<LinePlan>, _ start: Pen) -> Pen? {
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
        return row.pointee.isLatin1 ? Self.latin1(start, pen) : pen
    }

    /// Converts the output to ISO 8859-1; nil if a character has no byte there.
    @inline(never) private static func latin1(_ start: Pen, _ end: Pen) -> Pen? {
        var (from, pen) = (start.place, start)
        while from < end.place {
            let byte = from.pointee
            guard byte < 0xC4 else { return nil }
            pen.put(byte < 0x80 ? byte : byte &<< 6 | from[1] & 0x3F)
            from += byte < 0x80 ? 1 : 2
        }
        return pen
    }

    // MARK: Single fields

    /// Writes a text to an empty field. Notes concern the attribute with the given rank, if there is one.
    @inline(__always) private mutating func fill(
        _ column: Int,
        _ text: Stretch,
        _ plan: UnsafePointer<LinePlan>,
        rank: Int? = nil
    ) -> Bool {
        guard room.cells[column].text.count == 0 else { return note(plan.pointee.row.pointee.second, of: rank) }
        guard text.count > 0, text.count <= plan.pointee.row.pointee.columns.place(column).pointee.limit,
            let needsQuotes = Self.judge(text, plan.pointee.row)
        else { return fillByRules(column, text, plan, rank) }
        room.cells[column] = Cell(text: text, needsQuotes: needsQuotes)
        return true
    }

    /// Writes any text by the rules of the file itself.
    @inline(never) private mutating func fillByRules(
        _ column: Int,
        _ text: Stretch,
        _ plan: UnsafePointer<LinePlan>,
        _ rank: Int?
    ) -> Bool {
        guard let compiled = plan.pointee.compiled, let file = compiled.file else { return false }
        var rows: [FindingRow] = []
        let field = file.fieldText(text.text, compiled.fileColumns[column]) { row, _ in rows.append(row) }
        guard note(rows, compiled, rank) else { return false }
        guard let field else { return true }
        guard let kept = room.scratch.pointee.keep(field) else { return false }
        room.cells[column] = Cell(text: kept, needsQuotes: Self.needsQuotes(kept, plan.pointee.row))
        return true
    }

    private mutating func note(_ index: Int, of rank: Int?) -> Bool {
        rank.map { note(index, ofAttribute: $0) } ?? note(index)
    }

    /// Adds a note for each finding; returns false if one of them rejects the record.
    private mutating func note(_ rows: [FindingRow], _ compiled: CompiledPlan, _ rank: Int?) -> Bool {
        for row in rows {
            guard let index = compiled.notes.firstIndex(of: row), note(index, of: rank) else { return false }
        }
        return true
    }

    /// Whether a text needs quotes; nil for a text that the file cannot hold unchanged.
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
        return index >= text.count ? false : judgeBytes(text, row)
    }

    /// Checks the text byte by byte.
    @inline(never) private static func judgeBytes(_ text: Stretch, _ row: UnsafePointer<RowPlan>) -> Bool? {
        for index in 0..<text.count {
            switch text[index] {
            case 0: return nil
            case row.pointee.doubled: return nil
            case row.pointee.delimiter where !row.pointee.isQuoted: return nil
            case 0x0A where !row.pointee.isQuoted || !row.pointee.takesLineBreaks,
                0x0D where !row.pointee.isQuoted || !row.pointee.takesLineBreaks:
                return nil
            case 0x22 where !row.pointee.isQuoted && index == 0: return nil
            case 0xF0...0xFF: guard row.pointee.takesHighUnicode else { return nil }
            case 0x80...0xEF: guard row.pointee.takesUnicode else { return nil }
            default: break
            }
        }
        // A byte-order mark at the start is not text.
        guard !text.hasSpaceAtEnds, text.count < 3 || text[0] != 0xEF || text[1] != 0xBB || text[2] != 0xBF else {
            return nil
        }
        return needsQuotes(text, row)
    }

    /// Whether a text that the file can hold is quoted.
    private static func needsQuotes(_ text: Stretch, _ row: UnsafePointer<RowPlan>) -> Bool {
        guard row.pointee.isQuoted else { return false }
        for index in 0..<text.count {
            switch text[index] {
            case row.pointee.delimiter, 0x22, 0x0A, 0x0D: return true
            default: break
            }
        }
        return false
    }

    // MARK: The parts of a contact

    private mutating func fillIdentifiers(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        var unfit: UInt64 = 0
        for index in 0..<view.identifierCount {
            let identifier = view.identifiers + index
            let kind = identifier.pointee.kind
            guard kind >= 0, plan.pointee.kinds.place(kind).pointee.column >= 0 else {
                guard note(plan.pointee.row.pointee.noPlace) else { return false }
                continue
            }
            // A second identifier does not take the column of the first.
            guard kind < 64, unfit & (1 &<< UInt64(kind)) == 0 else { return false }
            let row = plan.pointee.kinds.place(kind)
            let column = row.pointee.column
            var text = identifier.pointee.value.text
            let form = plan.pointee.row.pointee.columns.place(column).pointee.phoneForm
            if form != .any {
                guard let number = number(text, form, column, plan.pointee.row.pointee.hasCountry) else { return false }
                if number.compare(text) != 0 { guard note(plan.pointee.row.pointee.converted) else { return false } }
                text = number
            }
            let isFit = Self.fits(text, of: identifier.pointee.value, row.pointee.fieldForm)
            guard isFit else {
                // An opt-in without its address requires the general path.
                guard view.subscriptionCount == 0, note(plan.pointee.row.pointee.unfit) else { return false }
                unfit |= 1 &<< UInt64(kind)
                continue
            }
            guard fill(column, text, plan) else { return false }
        }
        return true
    }

    /// Whether the text of an identifier has the form that its column requires.
    @inline(__always) private static func fits(_ text: Stretch, of value: ValueView, _ form: FormCode) -> Bool {
        switch form {
        case .email:
            (value.isASCII && Forms.isAddress(text) || mayFit(text) && FieldForm.isEmail(text.text))
                && Forms.isSoundIdentifier(value)
        case .phones: value.isASCII ? Forms.isPhone(text) : FieldForm.isPhone(text.text)
        default: Forms.isSoundIdentifier(value)
        }
    }

    /// Whether a text that does not look like an address may be one with characters beyond ASCII, or has a control
    /// character.
    private static func mayFit(_ text: Stretch) -> Bool { !text.isASCII || text.needsEscapes }

    /// An international number in the form of a column; nil for one that only ``PhoneNumber`` can read.
    private func number(_ text: Stretch, _ form: PhoneNumber.Form, _ column: Int, _ hasCountry: Bool) -> Stretch? {
        guard text.count > 0, text.count <= RowRoom.lineLength - 16 else { return nil }
        let (line, hasPlus) = (room.line(of: column), text[0] == 0x2B)
        guard hasPlus || !hasCountry && text[0] &- 0x31 < 9 else { return nil }
        var (count, signs) = (0, 0)
        if form == .plus {
            line[0] = 0x2B
            (count, signs) = (1, 1)
        }
        for index in (hasPlus ? 1 : 0)..<text.count {
            switch text[index] {
            case 0x30...0x39:
                line[count] = text[index]
                count &+= 1
            case 0x20, 0x2D: break
            default: return nil
            }
        }
        let digits = count - signs
        // Only ``PhoneNumber`` reads zeros after a plus sign.
        guard (4...15).contains(digits), line[signs] != 0x30,
            hasPlus || form == .digits || digits >= PhoneNumber.fewestDigitsWithoutPlus
        else { return nil }
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
                guard fill(view.attributes[rank], entry, rank, plan) else { return false }
            }
        }
        return true
    }

    @inline(__always) private mutating func fill(
        _ value: ValueView,
        _ entry: UnsafePointer<AttributeBook.Entry>,
        _ rank: Int,
        _ plan: UnsafePointer<LinePlan>
    ) -> Bool {
        var value = value
        let scratch = room.scratch.pointee
        // The type in the catalogue is applied first, without a note, and then the type of the column.
        guard entry.pointee.type == .any || value.convert(to: entry.pointee.type, scratch) else { return false }
        let column = entry.pointee.column
        guard column >= 0 else { return note(plan.pointee.row.pointee.noColumn, ofAttribute: rank) }
        var converted = value
        let type = entry.pointee.columnType(for: value.kind.code)
        guard converted.convert(to: type, scratch), let text = text(of: converted, column, plan),
            takes(text, plan.pointee.row.pointee.columns.place(column))
        else { return fillByRules(value, column, rank, plan) }
        if value.kind.code != type {
            guard note(plan.pointee.row.pointee.converted, ofAttribute: rank) else { return false }
        }
        return fill(column, text, plan, rank: rank)
    }

    /// Writes any value by the rules of the file itself.
    @inline(never) private mutating func fillByRules(
        _ value: ValueView,
        _ column: Int,
        _ rank: Int,
        _ plan: UnsafePointer<LinePlan>
    ) -> Bool {
        guard let compiled = plan.pointee.compiled, let file = compiled.file,
            let model = value.model(room.scratch.pointee)
        else { return false }
        var rows: [FindingRow] = []
        let text = file.text(of: model, in: compiled.fileColumns[column]) { row, _ in rows.append(row) }
        guard note(rows, compiled, rank) else { return false }
        guard let text else { return true }
        guard let kept = room.scratch.pointee.keep(text) else { return false }
        return fill(column, kept, plan, rank: rank)
    }

    /// Whether a column accepts a text. Other spellings of its values require the general path.
    @inline(__always) private func takes(_ text: Stretch, _ column: UnsafePointer<RowPlan.Column>) -> Bool {
        let words = column.pointee.words
        guard words.count > 0 else { return true }
        for index in 0..<words.count where words[index].compare(text) == 0 { return true }
        return false
    }

    /// The value in the form of the file; nil for one that only the general path can write.
    @inline(__always) private mutating func text(
        of value: ValueView,
        _ column: Int,
        _ plan: UnsafePointer<LinePlan>
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
        // `YYYY-MM-DDTHH:MM:SSZ`. A fraction before the letter would be lost.
        case .timestamp: return value.text.count == 20 ? moment(value.text, column, row) : nil
        case .choices: return choices(value, row.pointee.separator)
        case .list: return nil
        }
        return Stretch(Bytes(room.line(of: column)), pen.place - room.line(of: column))
    }

    /// An instant, to the second, in the form of the file; nil in the years at both ends of the calendar.
    private func moment(_ instant: Stretch, _ column: Int, _ row: UnsafePointer<RowPlan>) -> Stretch? {
        guard let text = row.pointee.zone == 0 ? instant : local(instant, row.pointee.zone, column) else { return nil }
        var pen = Pen(place: room.line(of: column))
        Self.put(day: text, row.pointee.day, &pen)
        pen.put(0x20)
        pen.put(text.start + 11, 8)
        return Stretch(Bytes(room.line(of: column)), pen.place - room.line(of: column))
    }

    /// An instant, to the second, in the local time of a zone; nil in the years at both ends of the calendar.
    @inline(never) private func local(_ text: Stretch, _ zone: Int, _ column: Int) -> Stretch? {
        guard let seconds = Moments.seconds(of: text) else { return nil }
        // The second half of the line is free: the first half holds the final text.
        let start = room.line(of: column) + RowRoom.lineLength / 2
        var pen = Pen(place: start)
        pen.put(instant: seconds + zone)
        return Stretch(Bytes(start), pen.place - start)
    }

    /// The words of a list with separators; nil if one of them could not be read back.
    @inline(never) private mutating func choices(_ value: ValueView, _ separator: UInt8) -> Stretch? {
        var words = LongText(after: longCount, in: room)
        let isWhole = Grammar.eachString(of: value.text, room.scratch.pointee) { word in
            Self.isWord(word.text, separator) && words.put(word.text, behind: separator)
        }
        return isWhole ? keep(words) : nil
    }

    /// Whether a text can be read back from between separators.
    private static func isWord(_ text: Stretch, _ separator: UInt8) -> Bool {
        text.count > 0 && !text.hasSpaceAtEnds
            && text.index(of: Int8(bitPattern: separator), or: Int8(bitPattern: separator), from: 0) >= text.count
    }

    /// The text of the words, which is valid until the row is written; nil if there are none.
    private mutating func keep(_ words: LongText) -> Stretch? {
        longCount &+= words.text.count
        return words.text.count > 0 ? words.text : nil
    }

    /// Writes a day of the form `YYYY-MM-DD` in another order.
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

    /// Writes tags to their own columns, and all others to one field, in the order of their bytes.
    private mutating func fillTags(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        guard view.tagCount > 0 else { return true }
        let row = plan.pointee.row
        guard !row.pointee.countsTags else { return false }
        var words = LongText(after: longCount, in: room)
        for index in 0..<view.tagCount {
            let tag = view.tags[index]
            if let column = column(ofTag: tag, row) {
                guard fill(column, row.pointee.yes, plan) else { return false }
            } else if Self.isWord(tag, row.pointee.separator) {
                guard words.put(tag, behind: row.pointee.separator) else { return false }
            } else {
                guard note(row.pointee.unfit) else { return false }
            }
        }
        guard let text = keep(words) else { return true }
        return row.pointee.tags < 0 ? note(row.pointee.noPlace) : fill(row.pointee.tags, text, plan)
    }

    private func column(ofTag tag: Stretch, _ row: UnsafePointer<RowPlan>) -> Int? {
        let columns = row.pointee.tagColumns
        return (0..<columns.count).first { columns[$0].tag.compare(tag) == 0 }.map { columns[$0].column }
    }

    private mutating func fillPlaces(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (locale, zone) = (plan.pointee.row.pointee.locale, plan.pointee.row.pointee.timeZone)
        if view.locale.isThere {
            guard locale < 0 ? note(plan.pointee.row.pointee.noPlace) : fill(locale, view.locale.text, plan) else {
                return false
            }
        }
        if view.timeZone.isThere {
            let slash = view.timeZone.text.index(of: 0x2F, or: 0x2F, from: 0)
            let isZone = slash < view.timeZone.text.count || view.timeZone.text.equals("UTC")
            guard zone < 0 || !isZone ? note(plan.pointee.row.pointee.noPlace) : fill(zone, view.timeZone.text, plan)
            else {
                return false
            }
        }
        return true
    }

    // MARK: Subscriptions

    private mutating func fillSubscriptions(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, vocabulary) = (plan.pointee.row, plan.pointee.vocabulary)
        for index in 0..<view.subscriptionCount {
            let subscription = view.subscriptions + index
            let channel = subscription.pointee.channel
            guard channel >= 0 || !row.pointee.hasUnlistedColumns, Self.standsAlone(index, view),
                let state = state(of: subscription, view, plan, denied: row.pointee.denied)
            else { return false }
            guard state != vocabulary.pointee.unknownState else {
                guard note(row.pointee.stateUnknown) else { return false }
                continue
            }
            // Opt-outs on such a channel require the general path.
            if state != vocabulary.pointee.subscribed, channel >= 0, row.pointee.judged &>> UInt8(channel) & 1 == 1 {
                return false
            }
            // A denial also covers it, so no opt-out is lost if it has no column.
            let isCovered =
                state == vocabulary.pointee.subscribed || view.consentCount > 0 && isDenied(channel, view, plan)
            let lost = isCovered ? row.pointee.noPlace : row.pointee.lostOptOut
            guard say(state, subscription, row, plan, lost) else { return false }
        }
        return true
    }

    /// Writes a state as the value or the date of a column, and the other parts of the subscription.
    private mutating func say(
        _ state: Int,
        _ subscription: UnsafeMutablePointer<RecordView.SubscriptionView>,
        _ row: UnsafePointer<RowPlan>,
        _ plan: UnsafePointer<LinePlan>,
        _ lost: Int
    ) -> Bool {
        let (channel, topic) = (subscription.pointee.channel, subscription.pointee.topic)
        let (changedAt, source) = (subscription.pointee.changedAt, subscription.pointee.source)
        let changedColumn = row.pointee.column(of: .changedAt, channel, topic)
        var (column, holdsTime) = (row.pointee.column(of: channel, topic), changedColumn >= 0)
        if column >= 0 {
            switch say(state, column, plan, lost) {
            case nil: return false
            case false?: return true
            case true?: break
            }
        } else {
            let (optIn, optOut) = (
                row.pointee.column(of: .optIn, channel, topic), row.pointee.column(of: .optOut, channel, topic)
            )
            let isYes = state == plan.pointee.vocabulary.pointee.subscribed
            guard optIn >= 0 || optOut >= 0 else { return note(lost) }
            if state == plan.pointee.vocabulary.pointee.suspended {
                guard note(row.pointee.suspended) else { return false }
            }
            column = isYes ? optIn : optOut
            guard column >= 0 else { return note(lost) }
            guard changedAt.isThere, let text = moment(changedAt.text, column, row) else {
                // If there is a date that the column cannot hold, the general path decides.
                return !changedAt.isThere && note(isYes ? row.pointee.undated : lost)
            }
            if changedAt.text.count > 20 { guard note(row.pointee.precision) else { return false } }
            guard fill(column, text, plan) else { return false }
            holdsTime = true
        }
        if changedAt.isThere {
            if changedColumn >= 0 {
                guard let text = moment(changedAt.text, changedColumn, row) else { return false }
                if changedAt.text.count > 20 { guard note(row.pointee.precision) else { return false } }
                guard fill(changedColumn, text, plan) else { return false }
            } else if !holdsTime {
                guard note(row.pointee.noPlace) else { return false }
            }
        }
        if source.isThere {
            let column = row.pointee.column(of: .source, channel, topic)
            guard column < 0 ? note(row.pointee.noPlace) : fill(column, source.text, plan) else { return false }
        }
        return !subscription.pointee.evidence.isThere || note(row.pointee.noPlace)
    }

    /// Writes a state as a value; returns false if the column has no value for it, and nil for the general path.
    private mutating func say(_ state: Int, _ column: Int, _ plan: UnsafePointer<LinePlan>, _ lost: Int) -> Bool? {
        let (words, vocabulary) = (
            plan.pointee.row.pointee.columns.place(column).pointee.words, plan.pointee.vocabulary
        )
        if words[state].count > 0 { return fill(column, words[state], plan) ? true : nil }
        let row = plan.pointee.row
        // If there is no value for a suspension, it is written as an opt-out.
        guard state == vocabulary.pointee.suspended, words[vocabulary.pointee.unsubscribed].count > 0 else {
            return note(lost) ? false : nil
        }
        guard note(row.pointee.suspended) else { return nil }
        return fill(column, words[vocabulary.pointee.unsubscribed], plan) ? true : nil
    }

    /// Checks for an opt-in on each channel that requires one and for which the row has an address.
    @inline(__always) private mutating func isWanted(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, subscribed) = (plan.pointee.row, plan.pointee.vocabulary.pointee.subscribed)
        guard row.pointee.needsYes != 0 else { return true }
        var missing: UInt8 = 0
        for index in 0..<row.pointee.columns.count where room.cells[index].text.count > 0 {
            let reach = row.pointee.columns.place(index).pointee.reach
            if reach >= 0 { missing |= 1 &<< UInt8(reach) }
        }
        missing &= row.pointee.needsYes
        for index in 0..<view.subscriptionCount where missing != 0 {
            let each = view.subscriptions[index]
            guard each.channel >= 0, each.topic == Vocabulary.none, each.state == subscribed else { continue }
            missing &= ~(1 &<< UInt8(each.channel))
        }
        return missing == 0 || isWanted(withoutOptIn: missing, view, plan)
    }

    /// Whether an opt-out or another known state exists on each of these channels. A note is added if there is none; a
    /// consent about one of the channels requires the general path.
    @inline(never) private mutating func isWanted(
        withoutOptIn missing: UInt8,
        _ view: RecordView,
        _ plan: UnsafePointer<LinePlan>
    ) -> Bool {
        for channel in 0..<Vocabulary.channelNames.count where missing &>> UInt8(channel) & 1 == 1 {
            for index in 0..<view.consentCount {
                let consent = view.consents[index]
                // Messaging is the first purpose of the vocabulary.
                if consent.purpose == 0, consent.channel == Vocabulary.none || consent.channel == channel {
                    return false
                }
            }
            var isAnswered = false
            for index in 0..<view.subscriptionCount {
                let each = view.subscriptions[index]
                guard each.channel == channel, each.topic == Vocabulary.none else { continue }
                isAnswered = each.state != plan.pointee.vocabulary.pointee.unknownState
            }
            guard isAnswered || note(plan.pointee.row.pointee.withoutOptIn) else { return false }
        }
        return true
    }

    // MARK: The key

    /// If there is no key, the first identifier of another kind that may replace it is written to its column.
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
                let form = kinds.place(row.pointee.standIns[place]).pointee.fieldForm
                guard Self.fits(value.text, of: value, form) else { continue }
                return fill(row.pointee.key, value.text, plan) && note(row.pointee.keyOther)
            }
        }
        return true
    }

    /// Whether another column identifies the row although it has no key. If so, a note is added.
    private mutating func isFound(without column: Int, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let row = plan.pointee.row
        return column == row.pointee.key && row.pointee.finder >= 0
            && room.cells[row.pointee.finder].text.count > 0 && note(row.pointee.otherKey)
    }

    // MARK: Consents

    private mutating func fillConsents(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (row, vocabulary) = (plan.pointee.row, plan.pointee.vocabulary)
        for index in 0..<view.consentCount where view.consents[index].state != vocabulary.pointee.unanswered {
            let consent = view.consents[index]
            if consent.state == vocabulary.pointee.refused {
                // Denials of messages on every channel also concern columns that are not in the vocabulary.
                let isKnown =
                    consent.purpose >= 0 && (consent.channel >= 0 || consent.purpose > 0)
                    && consent.channel != Vocabulary.unknown
                guard isKnown || !row.pointee.hasUnlistedColumns else { return false }
                let column = row.pointee.column(denying: consent.purpose, consent.channel)
                if column >= 0 {
                    guard fill(column, row.pointee.yes, plan), !consent.changedAt.isThere || note(row.pointee.noPlace)
                    else {
                        return false
                    }
                    continue
                }
                // Messaging is the first purpose of the vocabulary.
                if consent.purpose == 0 {
                    guard row.pointee.judged == 0 else { return false }
                    let isSaid = deny(consent.channel, plan)
                    guard note(isSaid ? row.pointee.consent : row.pointee.lostOptOut) else { return false }
                    continue
                }
            }
            guard note(row.pointee.consent) else { return false }
        }
        return true
    }

    /// Writes an opt-out to every column that the denial concerns. Returns whether this is sufficient: columns of whole
    /// channels must have it, for the denied channel, or for every channel for which the row has an address.
    private func deny(_ channel: Int, _ plan: UnsafePointer<LinePlan>) -> Bool {
        let (columns, word) = (plan.pointee.row.pointee.columns, plan.pointee.vocabulary.pointee.unsubscribed)
        // A bit for each channel.
        var (said, reached): (UInt8, UInt8) = (0, 0)
        for index in 0..<columns.count {
            let column = columns.place(index)
            if column.pointee.reach >= 0, room.cells[index].text.count > 0 {
                reached |= 1 &<< UInt8(column.pointee.reach)
            }
            // The subscription was written as an opt-out already.
            if column.pointee.part == .optOut, column.pointee.partTopic == Vocabulary.none,
                room.cells[index].text.count > 0
            {
                said |= 1 &<< UInt8(column.pointee.partChannel)
            }
            guard column.pointee.channel >= 0, channel == Vocabulary.none || channel == column.pointee.channel,
                column.pointee.words[word].count > 0
            else { continue }
            room.cells[index] = Cell(text: column.pointee.words[word])
            if column.pointee.topic == Vocabulary.none { said |= 1 &<< UInt8(column.pointee.channel) }
        }
        return said != 0 && (channel != Vocabulary.none || reached & ~said == 0)
    }

    private mutating func passDevices(_ view: RecordView, _ plan: UnsafePointer<LinePlan>) -> Bool {
        guard view.deviceCount == 0 || !plan.pointee.row.pointee.hasDeviceColumns else { return false }
        for _ in 0..<view.deviceCount { guard note(plan.pointee.row.pointee.noPlace) else { return false } }
        return true
    }
}

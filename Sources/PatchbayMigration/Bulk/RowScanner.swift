import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// Reads a contact from a row of delimited text into a view, byte by byte.
///
/// As with the scanner of lines, false is for a row that is anything but plain.
struct RowScanner: BitwiseCopyable {
    private enum Work: UInt8, BitwiseCopyable {
        case identifier, attribute, locale, timeZone, tags, tag, wish, denial, unusual
    }
    private enum Form: UInt8, BitwiseCopyable { case any, email, phone }

    /// What is done with a column once the row is split, in the order of a contact.
    private struct Step: BitwiseCopyable {
        var work: Work
        var column: Int
        /// The kind of the identifier, or the rank of the attribute.
        var index: Int
        var form: Form
        var type: TypeCode
        var isRequired: Bool
        /// The column's name in the header, as ``mayName(_:_:)`` takes it.
        var header: Stretch
        /// The words of a column that says something by them, each with a state's index, or with 1 for yes and 0 for no.
        var words = Row<RowWord>(start: nil, count: 0)
        /// The channel and topic of a wish, or the purpose and channel of a denial, in the lexicon.
        var subject = (Lexicon.unknown, Lexicon.none)
        /// The columns with the rest of a wish.
        var dates = WishColumns()
        /// A tag that the row has or has not.
        var tag = Stretch.nothing
    }

    /// A word in lower case, and what it means.
    private struct RowWord: BitwiseCopyable {
        var text: Stretch
        var meaning: Int
    }

    /// The columns that say a wish by dates or say more of it; -1 for none.
    private struct WishColumns: BitwiseCopyable {
        var word = -1, optIn = -1, optOut = -1, changedAt = -1, source = -1
    }

    private let delimiter: UInt8
    private let quote: UInt8
    private let hasQuotes: Bool
    /// A byte that only the reader understands; NUL, which no text holds, where there is none.
    private let unusual: UInt8
    /// What stands between several values; NUL where that is beyond ASCII.
    private let separator: UInt8
    private let columnCount: Int
    private let steps: Row<Step>
    private let moments: Moments
    /// The words of a boolean, and what JSON has for them.
    private let truths: Row<RowWord>
    private let yes: Stretch
    private let no: Stretch
    /// One value for each column, of the row that was split last.
    private let fields: UnsafeMutablePointer<ValueView>
    /// Room for texts that are written otherwise than they stand: ``growth`` times the longest row, and padding.
    private let scratch: UnsafeMutablePointer<UInt8>

    /// How many bytes each byte of a row may become in the scratch: one where every other quote is taken out of its field, and
    /// then six at most, as an escape or as a value in the model's form.
    private static let growth = 7

    init(_ layout: ColumnLayout, _ columns: [ColumnLayout.Column], _ plan: CompiledPlan, in arena: Arena) {
        delimiter = layout.dialect.delimiter
        quote = layout.dialect.quote
        hasQuotes = layout.dialect.quoting != .never
        unusual = layout.forms.doubled.map { $0.isASCII ? UInt8(ascii: $0) : 0 } ?? 0
        separator = layout.forms.separator.isASCII ? UInt8(ascii: layout.forms.separator) : 0
        moments = Moments(layout.forms, in: arena)
        truths = Self.row(AttributeValue.booleanWords, in: arena)
        (yes, no) = (arena.text("true"), arena.text("false"))
        columnCount = columns.count
        fields = arena.make(columns.count, of: RecordView.blank)
        scratch = arena.make(Self.growth * Self.longest + Padding.count, of: 0)
        var compiler = StepCompiler(plan, arena)
        for (index, column) in columns.enumerated() { compiler.add(column, at: index) }
        steps = arena.make(compiler.all)
    }

    /// Makes the steps of columns, in the order in which a contact has its parts.
    private struct StepCompiler {
        private let plan: CompiledPlan
        private let arena: Arena
        private var identifiers: [(kind: IdentifierKind, step: Step)] = []
        private var others: [Step] = []
        private var wishes: [Subscription.Key: Step] = [:]
        private var denials: [Consent.Scope: Step] = [:]

        init(_ plan: CompiledPlan, _ arena: Arena) { (self.plan, self.arena) = (plan, arena) }

        var all: [Step] {
            identifiers.sorted { $0.kind.place < $1.kind.place }.map(\.step) + others
                + wishes.sorted { $0.key < $1.key }.map(\.value) + denials.sorted { $0.key < $1.key }.map(\.value)
        }

        mutating func add(_ column: ColumnLayout.Column, at index: Int) {
            var step = Step(
                work: .unusual,
                column: index,
                index: -1,
                form: .any,
                type: .any,
                isRequired: column.isRequired,
                header: arena.text(RowScanner.plain(column.header))
            )
            switch column.role {
            case .ignored: return
            case .identifier(let kind):
                (step.work, step.index) = (.identifier, plan.index(of: kind))
                switch column.form {
                case .any: break
                case .email: step.form = .email
                case .phone: step.form = .phone
                }
                identifiers.append((kind, step))
                return
            case .attribute(let name, let type):
                if let rank = plan.rank(of: name) {
                    (step.work, step.index, step.type) = (.attribute, rank, TypeCode(type))
                }
            case .locale: step.work = .locale
            case .timeZone: step.work = .timeZone
            case .tags where !column.isRequired: step.work = .tags
            case .tag(let tag, let words) where !column.isRequired && KeyTable.canEnter(tag.rawValue):
                (step.work, step.tag) = (.tag, arena.text(tag.rawValue))
                step.words = RowScanner.row(words, in: arena)
            case .wish(let key, let part) where !column.isRequired: return add(key, part, step)
            case .denied(let scope, let words) where !column.isRequired:
                step.work = .denial
                step.words = RowScanner.row(words, in: arena)
                step.subject = (Lexicon.index(of: scope.purpose), Lexicon.index(of: scope.channel))
                denials[scope] = step
                return
            case .tags, .tag, .wish, .denied, .unusual: break
            }
            others.append(step)
        }

        private mutating func add(_ key: Subscription.Key, _ part: ColumnLayout.Wish, _ step: Step) {
            var wish = wishes[key] ?? step
            wish.work = .wish
            let topic = key.topic.map { plan.topicNames.firstIndex(of: $0) ?? Lexicon.unknown } ?? Lexicon.none
            wish.subject = (Lexicon.index(of: key.channel), topic)
            switch part {
            case .word(let words):
                wish.dates.word = step.column
                let states = words.mapValues { state in Lexicon.states.firstIndex(of: state) ?? 0 }
                wish.words = RowScanner.row(states, in: arena)
            case .optIn: wish.dates.optIn = step.column
            case .optOut: wish.dates.optOut = step.column
            case .changedAt: wish.dates.changedAt = step.column
            case .source: wish.dates.source = step.column
            }
            wishes[key] = wish
        }
    }

    private static func row(_ words: ColumnLayout.Words<Bool>, in arena: Arena) -> Row<RowWord> {
        row(words.mapValues { $0 ? 1 : 0 }, in: arena)
    }

    /// Words for ``meaning(of:in:)``, which finds those that are bare.
    private static func row(_ words: [String: Int], in arena: Arena) -> Row<RowWord> {
        arena.make(
            words.sorted { $0.key < $1.key }.filter { KeyTable.canEnter($0.key) }
                .map { RowWord(text: arena.text($0.key), meaning: $0.value) }
        )
    }

    /// The longest row that goes the fast way.
    static let longest = 16 << 10

    /// A column's name without the signs that don't count in it, in lower case.
    private static func plain(_ name: String) -> String {
        String(decoding: name.lowercased().utf8.filter { !isPassed($0) }, as: UTF8.self)
    }

    /// Whether a byte may be one that does not count in a column's name.
    @inline(__always) private static func isPassed(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x2D || byte == 0x5F || byte &- 0x09 < 5
    }

    /// Whether a text may be another spelling of a name, by ``ColumnName``: most are not by their first byte.
    ///
    /// Beyond ASCII the reader tells, and so it does of a text that begins with a byte-order mark.
    @inline(__always) private static func mayName(_ text: Stretch, _ name: Stretch) -> Bool {
        var place = 0
        for index in 0..<text.count {
            let byte = text[index]
            if isPassed(byte) { continue }
            guard place < name.count else { return byte >= 0x80 }
            let other = name[place]
            if (byte | other) >= 0x80 { return true }
            guard byte == other || byte &- 0x41 < 26 && byte | 0x20 == other else { return false }
            place &+= 1
        }
        return place == name.count || name[place] >= 0x80
    }

    /// Where a row ends: behind its line end, or at the end if it has none; and its line feeds, with that.
    struct Extent {
        var end: Bytes
        var lines: Int
        /// Behind what was written to the scratch.
        fileprivate var pen: Pen
    }

    /// Reads the row at the cursor; nil for one that is not plain. `end` is behind a line feed or before the padding.
    @inline(__always) func scan(
        _ place: Bytes,
        _ end: Bytes,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Extent? {
        view.clear()
        // What may be a byte-order mark is for the reader.
        guard place.pointee != 0xEF, let extent = split(place, end) else { return nil }
        var (identifiers, pen) = (0, extent.pen)
        for index in 0..<steps.count {
            let step = steps.place(index)
            if step.pointee.work == .wish {
                guard wish(step, &view, lexicon) else { return nil }
                continue
            }
            let value = fields + step.pointee.column
            guard value.pointee.text.count > 0 else {
                if step.pointee.isRequired { return nil }
                continue
            }
            if step.pointee.isRequired,
                value.pointee.isEscaped || Self.mayName(value.pointee.text, step.pointee.header)
            {
                return nil
            }
            switch step.pointee.work {
            case .identifier:
                guard identifiers < RecordView.identifierLimit, Self.fits(value, step.pointee.form) else { return nil }
                let identifier = view.identifiers + identifiers
                identifier.pointee.kind = step.pointee.index
                identifier.pointee.value = value.pointee
                identifier.pointee.isEmail = step.pointee.form == .email
                identifiers &+= 1
            case .attribute:
                guard let attribute = view.attribute(step.pointee.index) else { return nil }
                attribute.pointee = value.pointee
                let type = step.pointee.type
                guard type == .string || attribute.pointee.convert(to: type) || read(attribute, as: type, &pen) else {
                    return nil
                }
            case .locale: (view.hasLocale, view.locale) = (true, value.pointee.text)
            case .timeZone:
                guard memchr(value.pointee.text.start, 0x2F, value.pointee.text.count) != nil else { return nil }
                (view.hasTimeZone, view.timeZone) = (true, value.pointee.text)
            case .tags: guard tags(value, &view) else { return nil }
            case .tag:
                let meaning = Self.meaning(of: value, in: step.pointee.words)
                guard meaning >= 0, meaning == 0 || view.insert(tag: step.pointee.tag) else { return nil }
            case .denial: guard denial(step, value, &view, lexicon) else { return nil }
            case .wish, .unusual: return nil
            }
        }
        view.identifierCount = identifiers
        // A row of very many lines is told of.
        return extent.lines <= ContactFileReader.usualLines ? extent : nil
    }

    @inline(__always) private static func fits(_ value: UnsafeMutablePointer<ValueView>, _ form: Form) -> Bool {
        switch form {
        case .any: true
        case .email: value.pointee.isBare && Forms.isAddress(value.pointee.text)
        case .phone: value.pointee.isBare && Forms.isPhone(value.pointee.text)
        }
    }

    // MARK: Values

    /// What a word means, in any case; -1 for another word.
    private static func meaning(of value: UnsafeMutablePointer<ValueView>, in words: Row<RowWord>) -> Int {
        guard value.pointee.isBare else { return -1 }
        let text = value.pointee.text
        for index in 0..<words.count {
            let word = words.place(index)
            guard word.pointee.text.count == text.count else { continue }
            var place = 0
            while place < text.count, lowered(text[place]) == word.pointee.text[place] { place &+= 1 }
            if place == text.count { return word.pointee.meaning }
        }
        return -1
    }

    @inline(__always) private static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }

    /// Reads a text that says a value of a type otherwise than the model does; false for the reader.
    @inline(never) private func read(
        _ value: UnsafeMutablePointer<ValueView>,
        as type: TypeCode,
        _ pen: inout Pen
    ) -> Bool {
        guard value.pointee.isBare else { return false }
        let (text, start) = (value.pointee.text, pen.place)
        switch type {
        case .date:
            guard let day = moments.day(text) else { return false }
            pen.put(day: day)
            value.pointee.kind = .date
        case .timestamp:
            guard let instant = moments.instant(text) else { return false }
            pen.put(instant: instant)
            value.pointee.kind = .timestamp
        case .time:
            // `HH:MM:00`.
            guard text.count == 8, Stretch(text.start + 5, 3).equals(":00"), Forms.isTime(Stretch(text.start, 5)) else {
                return false
            }
            pen.put(text.start, 5)
            value.pointee.kind = .time
        case .country:
            guard text.count == 2 else { return false }
            for index in 0..<2 { pen.put(text[index] &- 0x61 < 26 ? text[index] & 0xDF : text[index]) }
            guard Forms.isCountry(Stretch(Bytes(start), 2)) else { return false }
            value.pointee.kind = .country
        case .boolean:
            let meaning = Self.meaning(of: value, in: truths)
            guard meaning >= 0 else { return false }
            value.pointee.kind = meaning == 1 ? .yes : .no
            // As JSON has it.
            pen.put(meaning == 1 ? yes : no)
        case .decimal:
            var place = text.start
            var number = value.pointee
            guard Grammar.number(&place, &number), place == text.start + text.count, number.kind == .decimal else {
                return false
            }
            value.pointee.kind = .decimal
            return true
        case .choices:
            guard choices(text, &pen) else { return false }
            value.pointee.kind = .choices
        default: return false
        }
        value.pointee.text = Stretch(Bytes(start), pen.place - start)
        return true
    }

    /// Writes words between separators as a list of JSON; false for the reader.
    private func choices(_ text: Stretch, _ pen: inout Pen) -> Bool {
        var isFirst = true
        pen.put(0x5B)
        let isKnown = eachWord(of: text) { word in
            if !isFirst { pen.put(0x2C) }
            pen.quote(word)
            isFirst = false
            return true
        }
        pen.put(0x5D)
        return isKnown
    }

    /// Calls `body` for each word between separators, as long as that says true; the text is bare.
    @inline(__always) private func eachWord(of text: Stretch, _ body: (Stretch) -> Bool) -> Bool {
        guard separator != 0 else { return false }
        var start = 0
        while start <= text.count {
            var end = start
            while end < text.count, text[end] != separator { end &+= 1 }
            var (first, last) = (start, end)
            while first < last, text[first] == 0x20 { first &+= 1 }
            while last > first, text[last &- 1] == 0x20 { last &-= 1 }
            if last > first, !body(Stretch(text.start + first, last - first)) { return false }
            start = end &+ 1
        }
        return true
    }

    private func tags(_ value: UnsafeMutablePointer<ValueView>, _ view: inout RecordView) -> Bool {
        guard value.pointee.isBare else { return false }
        var tagged = view
        let isKnown = eachWord(of: value.pointee.text) { tagged.insert(tag: $0) }
        view = tagged
        return isKnown
    }

    // MARK: What a person wants

    private func denial(
        _ step: UnsafePointer<Step>,
        _ value: UnsafeMutablePointer<ValueView>,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bool {
        let meaning = Self.meaning(of: value, in: step.pointee.words)
        guard meaning > 0 else { return meaning == 0 }
        guard view.consentCount < RecordView.consentLimit else { return false }
        view.consents[view.consentCount] = RecordView.ConsentView(
            purpose: step.pointee.subject.0,
            channel: step.pointee.subject.1,
            state: lexicon.pointee.refused
        )
        view.consentCount &+= 1
        return true
    }

    /// What a row's word and dates say of one thing: see ``ColumnLayout/Role/wish(_:_:)``.
    private func wish(
        _ step: UnsafePointer<Step>,
        _ view: inout RecordView,
        _ lexicon: UnsafePointer<Lexicon>
    ) -> Bool {
        let columns = step.pointee.dates
        var (state, details) = (-1, 0)
        if has(columns.word) {
            state = Self.meaning(of: fields + columns.word, in: step.pointee.words)
            guard state >= 0 else { return false }
        }
        if has(columns.optIn) || has(columns.optOut) {
            guard let dated = dated(columns, lexicon) else { return false }
            // Of both what allows least; dates that agree with a word know since when.
            if state < 0 || lexicon.pointee.allows(dated, noMoreThan: state) { (state, details) = (dated, 1) }
        }
        guard state >= 0 else { return true }
        if has(columns.changedAt) {
            guard instant(columns.changedAt) != nil else { return false }
            details = 1
        }
        if has(columns.source) { details &+= 1 }
        guard view.subscriptionCount < RecordView.subscriptionLimit else { return false }
        view.subscriptions[view.subscriptionCount] = RecordView.SubscriptionView(
            channel: step.pointee.subject.0,
            topic: step.pointee.subject.1,
            state: state,
            details: details
        )
        view.subscriptionCount &+= 1
        return true
    }

    @inline(__always) private func has(_ column: Int) -> Bool { column >= 0 && fields[column].text.count > 0 }

    private func instant(_ column: Int) -> Int? {
        fields[column].isBare ? moments.instant(fields[column].text) : nil
    }

    /// The state that dates say, of which there is one at least.
    private func dated(_ columns: WishColumns, _ lexicon: UnsafePointer<Lexicon>) -> Int? {
        var optOut: Int?
        if has(columns.optOut) {
            optOut = instant(columns.optOut)
            guard optOut != nil else { return nil }
        }
        guard has(columns.optIn) else { return lexicon.pointee.unsubscribed }
        guard let optIn = instant(columns.optIn) else { return nil }
        return optOut.map { $0 < optIn } ?? true ? lexicon.pointee.subscribed : lexicon.pointee.unsubscribed
    }

    // MARK: Splitting

    /// How far a row was split.
    private struct Cut {
        /// The end of a field, or behind its quote; nil for one that is not plain.
        var place: Bytes?
        /// What stands there.
        var stop: UInt8 = 0
        /// Behind what was written to the scratch.
        var pen: Pen
        /// Line feeds in the field.
        var lines = 0

        /// The same with what finishing the field gave: nil is for a field that is not plain.
        @inline(__always) func finished(by pen: Pen?) -> Cut {
            var cut = self
            if let pen { cut.pen = pen } else { cut.place = nil }
            return cut
        }
    }

    @inline(__always) private func split(_ start: Bytes, _ end: Bytes) -> Extent? {
        let limit = min(end, start + Self.longest)
        var stops = Stops(from: start, delimiter: delimiter)
        var (place, pen, lines, column) = (start, Pen(place: scratch), 1, 0)
        while true {
            let field = fields + column
            let isQuoted = hasQuotes && place.pointee == quote
            let cut =
                isQuoted ? quoted(place, limit, field, pen) : bare(place, limit, field, pen, &stops)
            guard let next = cut.place else { return nil }
            if isQuoted { stops = stops.moved(to: next) }
            (place, pen, lines) = (next, cut.pen, lines &+ cut.lines)
            column &+= 1
            // At the end stands no delimiter: behind a line feed nothing is looked at, and the padding is none.
            guard cut.stop == delimiter else { break }
            guard column < columnCount else { return nil }
            place += 1
        }
        if place < end, place.pointee == 0x0D {
            // One without a line feed is a fault behind a quote.
            guard place[1] == 0x0A, place + 1 < end else { return nil }
            place += 1
        }
        guard place >= end || place.pointee == 0x0A, column == columnCount else { return nil }
        return Extent(end: place < end ? place + 1 : place, lines: lines, pen: pen)
    }

    @inline(__always) private func bare(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ pen: Pen,
        _ stops: inout Stops
    ) -> Cut {
        var (place, isEscaped) = (stops.next(), false)
        var stop = place.pointee
        (field.pointee.kind, field.pointee.isEscaped, field.pointee.isASCII) = (.string, false, true)
        // A return before the line feed belongs to the line end.
        if stop != delimiter, stop != 0x0A, stop != 0x0D || place[1] != 0x0A {
            let rest = bareRest(place, limit, field, stops)
            guard let end = rest.end else { return Cut(place: nil, pen: pen) }
            (place, stop, isEscaped, stops) = (end, end.pointee, field.pointee.isEscaped, rest.stops)
        }
        field.pointee.text = Stretch(start, place - start)
        return Cut(place: place, stop: stop, pen: pen).finished(by: finish(field, isEscaped: isEscaped, pen))
    }

    /// The end of a field, nil for one that is not plain, and the stops behind it.
    private struct Rest {
        var end: Bytes?
        var stops: Stops
    }

    /// `start` is a stop that does not end the field, the last that was given.
    @inline(never) private func bareRest(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ stops: Stops
    ) -> Rest {
        var (place, rest) = (start, Rest(stops: stops))
        while place < limit {
            let byte = place.pointee
            if byte == delimiter || byte == 0x0A || byte == 0x0D && place[1] == 0x0A { break }
            if byte >= 0x80 {
                let length = place.sequenceLength
                guard length > 0 else { return rest }
                // Each byte beyond ASCII is a stop.
                for _ in 1..<length { _ = rest.stops.next() }
                field.pointee.isASCII = false
            } else {
                if byte == 0 || byte == unusual { return rest }
                if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.isEscaped = true }
            }
            place = rest.stops.next()
        }
        if place <= limit { rest.end = place }
        return rest
    }

    private func quoted(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ pen: Pen
    ) -> Cut {
        let text = start + 1
        var cut = Cut(place: nil, pen: pen)
        var place = quote == 0x22 ? text.endOfPlainText : text
        (field.pointee.kind, field.pointee.isEscaped, field.pointee.isASCII) = (.string, false, true)
        var hasDoubled = false
        if place >= limit || place.pointee != quote || quote != 0x22 || place[1] == quote {
            while true {
                guard place < limit else { return cut }
                let byte = place.pointee
                if byte == quote {
                    guard place + 1 < limit, place[1] == quote else { break }
                    hasDoubled = true
                    if quote == 0x22 { field.pointee.isEscaped = true }
                    place += 2
                } else if byte >= 0x80 {
                    let length = place.sequenceLength
                    guard length > 0 else { return cut }
                    place += length
                    field.pointee.isASCII = false
                } else {
                    if byte == 0x0A { cut.lines += 1 }
                    if byte == 0 || byte == unusual { return cut }
                    if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.isEscaped = true }
                    place += 1
                }
                if quote == 0x22 { place = place.endOfPlainText }
            }
        }
        field.pointee.text = Stretch(text, place - text)
        place += 1
        // Behind the quote stands the delimiter or the line end, or it is a fault.
        guard place.pointee == delimiter || place.pointee == 0x0A || place.pointee == 0x0D || place == limit else {
            return cut
        }
        if hasDoubled { cut.pen = single(field, cut.pen) }
        (cut.place, cut.stop) = (place, place.pointee)
        return cut.finished(by: finish(field, isEscaped: field.pointee.isEscaped, cut.pen))
    }

    /// Takes every other quote out. A row's fields fit the scratch, because rows are bounded, and so is what becomes of each
    /// byte: see ``growth``.
    private func single(_ field: UnsafeMutablePointer<ValueView>, _ start: Pen) -> Pen {
        let text = field.pointee.text
        var (pen, index) = (start, 0)
        while index < text.count {
            pen.put(text[index])
            index += text[index] == quote ? 2 : 1
        }
        field.pointee.text = Stretch(Bytes(start.place), pen.place - start.place)
        return pen
    }

    /// Takes white space off both ends, and writes a text that needs escapes as JSON writes it; nil where nobody here can
    /// tell.
    @inline(__always) private func finish(
        _ field: UnsafeMutablePointer<ValueView>,
        isEscaped: Bool,
        _ pen: Pen
    ) -> Pen? {
        let text = field.pointee.text
        guard text.count > 0 else { return pen }
        let (first, last) = (text[0], text[text.count &- 1])
        if first &- 0x21 >= 0x5E || last &- 0x21 >= 0x5E {
            guard trim(field) else { return nil }
        }
        return isEscaped ? escape(field, pen) : pen
    }

    /// Takes blanks off; false where beyond ASCII nobody here can tell white space.
    @inline(never) private func trim(_ field: UnsafeMutablePointer<ValueView>) -> Bool {
        var (start, count) = (field.pointee.text.start, field.pointee.text.count)
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte &- 0x09 < 5 }
        while count > 0, isBlank(start[0]) { (start, count) = (start + 1, count - 1) }
        while count > 0, isBlank(start[count - 1]) { count -= 1 }
        field.pointee.text = Stretch(start, count)
        guard count > 0, !field.pointee.isASCII else { return true }
        // White space beyond ASCII begins with one of four bytes.
        func mayBlank(_ byte: UInt8) -> Bool { byte == 0xC2 || byte &- 0xE1 < 3 }
        var last = count - 1
        while last > 0, start[last] & 0xC0 == 0x80 { last -= 1 }
        return !mayBlank(start[0]) && !mayBlank(start[last])
    }

    @inline(never) private func escape(_ field: UnsafeMutablePointer<ValueView>, _ start: Pen) -> Pen {
        let text = field.pointee.text
        var pen = start
        for index in 0..<text.count {
            let byte = text[index]
            guard byte < 0x20 || byte == 0x22 || byte == 0x5C else {
                pen.put(byte)
                continue
            }
            pen.put(0x5C)
            switch byte {
            case 0x08: pen.put(UInt8(ascii: "b"))
            case 0x09: pen.put(UInt8(ascii: "t"))
            case 0x0A: pen.put(UInt8(ascii: "n"))
            case 0x0C: pen.put(UInt8(ascii: "f"))
            case 0x0D: pen.put(UInt8(ascii: "r"))
            case 0x22, 0x5C: pen.put(byte)
            default:
                for digit in [
                    0x75, 0x30, 0x30, 0x30 + (byte >> 4), byte & 15 < 10 ? 0x30 + (byte & 15) : 0x57 + (byte & 15),
                ] {
                    pen.put(digit)
                }
            }
        }
        field.pointee.text = Stretch(Bytes(start.place), pen.place - start.place)
        return pen
    }
}

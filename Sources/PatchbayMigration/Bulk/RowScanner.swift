import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySystem

/// Reads a contact from a row of delimited text into a view, byte by byte.
///
/// Functions return false or nil for a row with a fault, or with more parts than a view holds. The format's own reader
/// reads such a row.
struct RowScanner: RecordScanner {
    private enum Work: UInt8, BitwiseCopyable {
        case identifier, attribute, locale, timeZone, tags, tag, wish, everyRow, denial, device, offset
    }
    private enum Form: UInt8, BitwiseCopyable { case any, email, phone }

    /// The use of a column after the row is split, in the order of the parts of a contact.
    private struct Step: BitwiseCopyable {
        var work: Work
        var column: Int
        /// The kind of the identifier, the rank of the attribute, or the index of the state that applies to every row.
        var index: Int
        var form: Form
        var type: TypeCode
        /// The type of texts that are not values of `type`.
        var otherwise = TypeCode.any
        var isRequired: Bool
        /// The name of the column in the header, in the form for ``mayName(_:_:)``.
        var header: Stretch
        /// The values of the column, each with the index of a state, or with 1 for yes and 0 for no.
        var words = Row<RowWord>(start: nil, count: 0)
        /// The channel and topic of a subscription, or the purpose and channel of a denial, in the vocabulary.
        var subject = (Vocabulary.unknown, Vocabulary.none)
        /// The columns with the other parts of a subscription.
        var dates = WishColumns()
        /// The names of the identifier's kind, of the channel and the topic, or of the purpose and the channel.
        var names = (Stretch.nothing, Stretch.nothing)
        /// The tag whose presence the column shows.
        var tag = Stretch.nothing
    }

    /// The columns of a device; -1 for none.
    private struct DeviceColumns: BitwiseCopyable {
        var deviceID = -1, pushToken = -1, platform = -1, platformVersion = -1, model = -1, utcOffset = -1
        var daylightSaving = -1, locationEnabled = -1, pushAppID = -1, pushEnvironment = -1
        /// The columns of the locale and of the time zone.
        var locale = -1, timeZone = -1
    }

    /// The rules of the layout, for values that only they can read, and the notes about a row, by index of the plan.
    final class Rules {
        let layout: ColumnLayout
        /// The form of the values of each column.
        let forms: [FieldForms]
        fileprivate let words: [Int: [String: Int]]
        let notes: (seconds: Int, optInUnknown: Int, timeZone: Int, devicePart: Int, deviceAssumed: Int)

        fileprivate init(
            _ layout: ColumnLayout,
            _ forms: [FieldForms],
            words: [Int: [String: Int]],
            _ plan: CompiledPlan
        ) {
            (self.layout, self.forms, self.words) = (layout, forms, words)
            let findings = layout.contactFile?.findings
            func index(_ row: FindingRow?) -> Int { row.flatMap { plan.notes.firstIndex(of: $0) } ?? -1 }
            notes = (
                index(findings?.seconds), index(findings?.optInUnknown), index(findings?.timeZone),
                index(findings?.devicePart), index(findings?.deviceAssumed)
            )
        }

        /// The findings that notes about a row refer to.
        static func rows(_ layout: ColumnLayout) -> [FindingRow] {
            guard let rows = layout.contactFile?.findings else { return [] }
            return [rows.seconds, rows.optInUnknown, rows.timeZone, rows.devicePart, rows.deviceAssumed]
        }
    }

    /// The notes of the last row: the first `count` of them.
    struct Notes: BitwiseCopyable {
        static let limit = 64
        let indexes: UnsafeMutablePointer<UInt8>
        let count: UnsafeMutablePointer<Int>

        func add(_ index: Int) -> Bool {
            guard count.pointee < Self.limit, index >= 0 else { return false }
            indexes[count.pointee] = UInt8(truncatingIfNeeded: index)
            count.pointee &+= 1
            return true
        }
    }

    /// A value in lower case with its meaning.
    private struct RowWord: BitwiseCopyable {
        var text: Stretch
        var meaning: Int
    }

    /// The columns with the dates and other parts of a subscription; -1 for none.
    private struct WishColumns: BitwiseCopyable {
        var optIn = -1, optOut = -1, changedAt = -1, source = -1
        /// The columns with values. A file has at most one for each polarity.
        var words = (WordColumn(), WordColumn(), WordColumn())
    }

    /// A column with values for a subscription; -1 for none.
    private struct WordColumn: BitwiseCopyable {
        var column = -1
        var words = Row<RowWord>(start: nil, count: 0)
    }

    private let delimiter: UInt8
    private let quote: UInt8
    private let hasQuotes: Bool
    /// A byte that only the reader can interpret; NUL, which no text contains, if there is none.
    private let unusual: UInt8
    /// The separator of several values; NUL if it is not ASCII.
    private let separator: UInt8
    private let columnCount: Int
    private let steps: Row<Step>
    /// The rules for the dates of each column.
    private let moments: UnsafeMutablePointer<Moments>
    /// Whether telephone numbers without a country calling code get one, which the reader adds.
    private let hasCountry: Bool
    /// The words of a Boolean value with their JSON.
    private let truths: Row<RowWord>
    private let yes: Stretch
    private let no: Stretch
    /// The values of the columns in the present row.
    private let fields: UnsafeMutablePointer<ValueView>
    private let device: DeviceColumns
    private let deviceIdentity: Stretch
    private let rules: Unmanaged<Rules>
    private let noted: Notes
    var notes: Notes? { noted }
    /// Whether the rows were converted from another encoding, which may be the wrong one.
    private let isConverted: Bool

    init(_ layout: ColumnLayout, _ columns: [ColumnLayout.Column], _ plan: CompiledPlan, in arena: Arena) {
        delimiter = layout.dialect.delimiter
        quote = layout.dialect.quote
        hasQuotes = layout.dialect.quoting != .never
        unusual = layout.forms.doubled.map { $0.isASCII ? UInt8(ascii: $0) : 0 } ?? 0
        separator = layout.forms.separator.isASCII ? UInt8(ascii: layout.forms.separator) : 0
        let usual = Moments(layout.forms, in: arena)
        moments = arena.make(max(1, columns.count), of: usual)
        for (index, column) in columns.enumerated() {
            if let forms = column.forms { moments[index] = Moments(forms, in: arena) }
        }
        hasCountry = layout.defaultCountry != nil
        truths = Self.row(AttributeValue.booleanWords.mapValues { $0 ? 1 : 0 }, in: arena)
        (yes, no) = (arena.text("true"), arena.text("false"))
        columnCount = columns.count
        fields = arena.make(columns.count, of: RecordView.blank)
        var compiler = StepCompiler(plan, arena)
        for (index, column) in columns.enumerated() { compiler.add(column, at: index) }
        for subscription in layout.everyRow { compiler.add(subscription) }
        steps = arena.make(compiler.all)
        device = compiler.device
        deviceIdentity = arena.text(layout.contactFile?.deviceIdentity.rawValue ?? "")
        isConverted = !layout.encoding.isUTF8
        noted = Notes(indexes: arena.make(Notes.limit, of: 0), count: arena.make(1, of: 0))
        rules = arena.keep(object: Rules(layout, columns.map { $0.forms ?? layout.forms }, words: compiler.words, plan))
    }

    /// Compiles the steps of columns, in the order of the parts of a contact.
    private struct StepCompiler {
        private let plan: CompiledPlan
        private let arena: Arena
        private var identifiers: [(kind: IdentifierKind, step: Step)] = []
        private var others: [Step] = []
        private var wishes: [Subscription.Key: Step] = [:]
        private var everyRow: [Step] = []
        private var denials: [Consent.Scope: Step] = [:]
        private(set) var device = DeviceColumns()
        /// The words that contain characters beyond ASCII, by column.
        private(set) var words: [Int: [String: Int]] = [:]

        init(_ plan: CompiledPlan, _ arena: Arena) { (self.plan, self.arena) = (plan, arena) }

        var all: [Step] {
            identifiers.sorted { $0.kind.place < $1.kind.place }.map(\.step) + others
                + wishes.inOrder.map(\.value) + everyRow
                + denials.inOrder.map(\.value) + ends
        }

        /// The steps after all others: a device depends on the row's decision about push messages.
        private var ends: [Step] {
            var step = Step(
                work: .offset,
                column: 0,
                index: -1,
                form: .any,
                type: .any,
                isRequired: false,
                header: .nothing
            )
            var steps: [Step] = []
            if device.utcOffset >= 0 || device.timeZone >= 0 { steps.append(step) }
            step.work = .device
            let hasDevice = [
                device.deviceID, device.pushToken, device.platform, device.platformVersion, device.model,
                device.utcOffset, device.daylightSaving, device.locationEnabled, device.pushAppID,
                device.pushEnvironment,
            ]
            .contains { $0 >= 0 }
            return hasDevice ? steps + [step] : steps
        }

        mutating func add(_ column: ColumnLayout.Column, at index: Int) {
            var step = Step(
                work: .attribute,
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
                step.names.0 = arena.text(kind.rawValue)
                switch column.form {
                case .any: break
                case .email: step.form = .email
                case .phone: step.form = .phone
                }
                identifiers.append((kind, step))
                return
            case .attribute(let name, let type):
                (step.index, step.type) = (plan.rank(of: name) ?? -1, TypeCode(type))
                step.otherwise = column.otherwise.map(TypeCode.init) ?? .any
            case .locale:
                step.work = .locale
                device.locale = index
            case .timeZone:
                step.work = .timeZone
                device.timeZone = index
            case .tags: step.work = .tags
            case .tag(let tag, let meanings):
                (step.work, step.tag) = (.tag, arena.text(tag.rawValue))
                step.words = add(meanings.mapValues { $0 ? 1 : 0 }, of: index)
            case .wish(let key, let part): return add(key, part, step)
            case .denied(let scope, let meanings):
                step.work = .denial
                step.words = add(meanings.mapValues { $0 ? 1 : 0 }, of: index)
                step.subject = (Vocabulary.index(of: scope.purpose), Vocabulary.index(of: scope.channel))
                step.names = (arena.text(scope.purpose.rawValue), arena.text(scope.channel?.rawValue ?? ""))
                denials[scope] = step
                return
            case .device(let part): return add(part, index)
            }
            others.append(step)
        }

        private mutating func add(_ meanings: [String: Int], of column: Int) -> Row<RowWord> {
            words[column] = meanings
            return RowScanner.row(meanings, in: arena)
        }

        private mutating func add(_ part: ContactPlace.DevicePart, _ column: Int) {
            switch part {
            case .deviceID: device.deviceID = column
            case .pushToken: device.pushToken = column
            case .platform: device.platform = column
            case .platformVersion: device.platformVersion = column
            case .model: device.model = column
            case .utcOffset: device.utcOffset = column
            case .daylightSaving: device.daylightSaving = column
            case .locationEnabled: device.locationEnabled = column
            case .pushAppID: device.pushAppID = column
            case .pushEnvironment: device.pushEnvironment = column
            }
        }

        private func name(_ key: Subscription.Key, in step: inout Step) {
            let topic = key.topic.map { plan.topicNames.firstIndex(of: $0) ?? Vocabulary.unknown } ?? Vocabulary.none
            step.subject = (Vocabulary.index(of: key.channel), topic)
            step.names = (arena.text(key.channel.rawValue), arena.text(key.topic ?? ""))
        }

        mutating func add(_ subscription: Subscription) {
            var step = Step(
                work: .everyRow,
                column: 0,
                index: Vocabulary.states.firstIndex(of: subscription.state) ?? 0,
                form: .any,
                type: .any,
                isRequired: false,
                header: .nothing
            )
            name(subscription.key, in: &step)
            everyRow.append(step)
        }

        private mutating func add(_ key: Subscription.Key, _ part: ColumnLayout.Wish, _ step: Step) {
            var wish = wishes[key] ?? step
            wish.work = .wish
            name(key, in: &wish)
            switch part {
            case .word(let meanings):
                let words = add(
                    meanings.mapValues { $0.map { Vocabulary.states.firstIndex(of: $0) ?? 0 } ?? RowScanner.silent },
                    of: step.column
                )
                wish.dates.words = (
                    WordColumn(column: step.column, words: words), wish.dates.words.0, wish.dates.words.1
                )
            case .optIn: wish.dates.optIn = step.column
            case .optOut: wish.dates.optOut = step.column
            case .changedAt: wish.dates.changedAt = step.column
            case .source: wish.dates.source = step.column
            }
            wishes[key] = wish
        }
    }

    /// The words for ``meaning(of:in:)``, which finds only words without surrounding white space.
    private static func row(_ words: [String: Int], in arena: Arena) -> Row<RowWord> {
        arena.make(
            words.inOrder.filter { KeyTable.canEnter($0.key) }
                .map { RowWord(text: arena.text($0.key), meaning: $0.value) }
        )
    }

    /// The name of a column in lower case, without the signs that are ignored in names.
    private static func plain(_ name: String) -> String {
        String(decoding: name.lowercased().utf8.filter { !isPassed($0) }, as: UTF8.self)
    }

    /// Whether a byte may be a sign that is ignored in the name of a column.
    @inline(__always) private static func isPassed(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x2D || byte == 0x5F || byte &- 0x09 < 5
    }

    /// Whether a text may be another spelling of a name, according to ``ColumnName``. Most texts differ in their first
    /// byte.
    ///
    /// A text beyond ASCII, or with a byte-order mark, is compared by the rules of the reader.
    @inline(__always) private static func mayName(_ text: Stretch, _ name: Stretch) -> Bool {
        var place = 0
        for index in 0..<text.count {
            let byte = text[index]
            if isPassed(byte) { continue }
            guard place < name.count else { return byte >= 0x80 && isAnother(text, name) }
            let other = name[place]
            if (byte | other) >= 0x80 { return isAnother(text, name) }
            guard byte == other || byte &- 0x41 < 26 && byte | 0x20 == other else { return false }
            place &+= 1
        }
        return place == name.count || name[place] >= 0x80
    }

    /// Compares a text beyond ASCII.
    @inline(never) private static func isAnother(_ text: Stretch, _ name: Stretch) -> Bool {
        func letters(_ text: String) -> String {
            text.lowercased().filter { !$0.isWhitespace && $0 != "_" && $0 != "-" }
        }
        let text = text.text
        return text.unicodeScalars.contains("\u{FEFF}") || letters(text) == letters(name.text)
    }

    /// Reads the row at the cursor; nil for one that is not plain. `end` is after a line feed or before the padding.
    @inline(__always) mutating func scan(
        _ place: Bytes,
        _ end: Bytes,
        _ view: inout RecordView,
        _ plan: UnsafePointer<LinePlan>
    ) -> RecordExtent? {
        let vocabulary = plan.pointee.vocabulary
        view.clear()
        noted.count.pointee = 0
        // The reader handles a byte-order mark.
        guard place.pointee != 0xEF || place[1] != 0xBB || place[2] != 0xBF,
            let extent = split(place, end, view.scratch)
        else { return nil }
        var identifiers = 0
        for index in 0..<steps.count {
            let step = steps.place(index)
            switch step.pointee.work {
            case .wish:
                guard wish(step, &view, vocabulary) else { return nil }
                continue
            case .everyRow:
                guard everyRow(step, &view, vocabulary) else { return nil }
                continue
            case .offset:
                guard offset(&view) else { return nil }
                continue
            case .device:
                guard addDevice(&view, vocabulary) else { return nil }
                continue
            default: break
            }
            let value = fields + step.pointee.column
            guard value.pointee.text.count > 0 else {
                if step.pointee.isRequired { return nil }
                continue
            }
            if step.pointee.isRequired, Self.mayName(value.pointee.text, step.pointee.header) { return nil }
            switch step.pointee.work {
            case .identifier:
                guard identifiers < RecordView.identifierLimit, Forms.isSoundIdentifier(value.pointee),
                    Self.fits(value, step.pointee.form), step.pointee.form != .phone || isWhole(value.pointee.text)
                else { return nil }
                let identifier = view.identifiers + identifiers
                (identifier.pointee.kind, identifier.pointee.name) = (step.pointee.index, step.pointee.names.0)
                identifier.pointee.value = value.pointee
                identifier.pointee.isEmail = step.pointee.form == .email
                identifiers &+= 1
            case .attribute:
                guard step.pointee.index >= 0, let attribute = view.attribute(step.pointee.index) else { return nil }
                attribute.pointee = value.pointee
                let type = step.pointee.type
                guard
                    type == .string || read(attribute, as: type, moments[step.pointee.column], view.scratch)
                        || readByRules(attribute, step, view.scratch)
                else { return nil }
            case .locale: view.locale = RecordView.Detail(value.pointee.text)
            case .timeZone:
                // Any other text is an offset.
                let text = value.pointee.text
                guard memchr(text.start, 0x2F, text.count) != nil || text.equals("UTC") else { continue }
                view.timeZone = RecordView.Detail(text)
            case .tags: guard tags(value, &view) else { return nil }
            case .tag:
                let meaning = meaning(of: step.pointee.column, in: step.pointee.words)
                guard meaning >= 0, meaning == 0 || view.insert(tag: step.pointee.tag) else { return nil }
            case .denial: guard denial(step, &view, vocabulary) else { return nil }
            case .wish, .everyRow, .device, .offset: return nil
            }
        }
        view.identifierCount = identifiers
        if isConverted, Stretch(place, extent.end - place).mayBeMisread { return nil }
        // The reader reports a row with very many lines.
        return extent.lines <= ContactFileReader.usualLines ? extent : nil
    }

    @inline(__always) private static func fits(_ value: UnsafeMutablePointer<ValueView>, _ form: Form) -> Bool {
        switch form {
        case .any: true
        case .email:
            value.pointee.isASCII && !value.pointee.needsEscapes
                ? Forms.isAddress(value.pointee.text) : FieldForm.isEmail(value.pointee.text.text)
        case .phone:
            value.pointee.isASCII
                ? Forms.isPhone(value.pointee.text) : FieldForm.isPhone(value.pointee.text.text)
        }
    }

    /// Whether a telephone number has a country calling code and no fraction of a spreadsheet. The reader corrects others.
    @inline(__always) private func isWhole(_ text: Stretch) -> Bool {
        if hasCountry, text[0] != 0x2B { return false }
        return text.count < 2 || text[text.count &- 1] != 0x30 || text[text.count &- 2] != 0x2E
    }

    // MARK: Values

    /// The meaning of a value that states nothing.
    fileprivate static let silent = Vocabulary.states.count

    /// The meaning of the value in a column, in upper or lower case; -1 for any other value.
    private func meaning(of column: Int, in words: Row<RowWord>) -> Int {
        guard fields[column].isASCII else { return meaning(beyondASCII: column) }
        return Self.meaning(of: fields[column].text, in: words)
    }

    @inline(never) private func meaning(beyondASCII column: Int) -> Int {
        rules.takeUnretainedValue().words[column]?[fields[column].text.text.lowercased()] ?? -1
    }

    private static func meaning(of text: Stretch, in words: Row<RowWord>) -> Int {
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

    /// Reads a text as a value of a type; returns false if only the layout's own rules can do so.
    @inline(__always) private func read(
        _ value: UnsafeMutablePointer<ValueView>,
        as type: TypeCode,
        _ moments: Moments,
        _ scratch: Scratch
    ) -> Bool {
        guard value.pointee.isASCII, !value.pointee.needsEscapes, var pen = scratch.pen(for: 64) else { return false }
        let text = value.pointee.text
        switch type {
        case .integer where Forms.isInteger(text): value.pointee.kind = .integer
        case .decimal where Forms.isInteger(text): value.pointee.kind = .decimal
        case .decimal:
            var (place, number) = (text.start, value.pointee)
            guard Grammar.number(&place, &number), place == text.start + text.count, number.kind == .decimal else {
                return false
            }
            value.pointee.kind = .decimal
        case .date:
            value.pointee.kind = .date
            if Forms.isDate(text) { return true }
            guard let day = moments.day(text) else { return false }
            pen.put(day: day)
            value.pointee.text = scratch.keep(pen)
        case .timestamp:
            value.pointee.kind = .timestamp
            if Forms.isTimestamp(text) { return true }
            guard let instant = moments.instant(text) else { return false }
            pen.put(instant: instant)
            value.pointee.text = scratch.keep(pen)
        case .time:
            value.pointee.kind = .time
            if Forms.isTime(text) { return true }
            // `HH:MM:00`.
            guard text.count == 8, Stretch(text.start + 5, 3).equals(":00"), Forms.isTime(Stretch(text.start, 5)) else {
                return false
            }
            value.pointee.text = Stretch(text.start, 5)
        case .country:
            guard text.count == 2 else { return false }
            for index in 0..<2 { pen.put(text[index] &- 0x61 < 26 ? text[index] & 0xDF : text[index]) }
            value.pointee.text = scratch.keep(pen)
            guard Forms.isCountry(value.pointee.text) else { return false }
            value.pointee.kind = .country
        case .boolean:
            let meaning = Self.meaning(of: text, in: truths)
            guard meaning >= 0 else { return false }
            value.pointee.kind = meaning == 1 ? .yes : .no
            // The form in JSON.
            value.pointee.text = meaning == 1 ? yes : no
        case .choices:
            guard let list = choices(text, scratch) else { return false }
            (value.pointee.kind, value.pointee.text) = (.choices, list)
        default: return false
        }
        return true
    }

    /// Reads a text by the layout's own rules; returns false for a fault.
    @inline(never) private func readByRules(
        _ value: UnsafeMutablePointer<ValueView>,
        _ step: UnsafePointer<Step>,
        _ scratch: Scratch
    ) -> Bool {
        let forms = rules.takeUnretainedValue().forms[step.pointee.column]
        let text = fields[step.pointee.column].text.text
        guard let type = step.pointee.type.kind?.type else { return false }
        var found: AttributeValue?
        // The reader reports a day that may also be another one.
        if type == .date || type == .timestamp, forms.readings(text).count > 1 { return false }
        if let otherwise = step.pointee.otherwise.kind?.type {
            found = forms.exactValue(text, as: type) ?? forms.value(text, as: otherwise)
        } else {
            found = forms.value(text, as: type)
        }
        guard let found, let view = ValueView(found, scratch) else { return false }
        value.pointee = view
        guard found.type == .time, FileTime(text)?.isCut == true else { return true }
        return noted.add(rules.takeUnretainedValue().notes.seconds)
    }

    /// The words between separators as a JSON list; nil if there is no room.
    private func choices(_ text: Stretch, _ scratch: Scratch) -> Stretch? {
        guard var pen = scratch.pen(for: 4 * text.count + Padding.count) else { return nil }
        var isFirst = true
        pen.put(0x5B)
        let isKnown = eachWord(of: text) { word in
            if !isFirst { pen.put(0x2C) }
            pen.quote(word)
            isFirst = false
            return true
        }
        pen.put(0x5D)
        return isKnown ? scratch.keep(pen) : nil
    }

    /// Calls `body` for each word between separators, while it returns true. The text is bare.
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
        guard value.pointee.isASCII, !value.pointee.needsEscapes, separator != 0 else {
            let words = rules.takeUnretainedValue().layout.forms.words(of: value.pointee.text.text)
            return words.allSatisfy { word in view.scratch.keep(word).map { view.insert(tag: $0) } ?? false }
        }
        var tagged = view
        let isKnown = eachWord(of: value.pointee.text) { tagged.insert(tag: $0) }
        view = tagged
        return isKnown
    }

    // MARK: Subscriptions

    private func denial(
        _ step: UnsafePointer<Step>,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        let meaning = meaning(of: step.pointee.column, in: step.pointee.words)
        guard meaning > 0 else { return meaning == 0 }
        guard view.consentCount < RecordView.consentLimit else { return false }
        view.consents[view.consentCount] = RecordView.ConsentView(
            purpose: step.pointee.subject.0,
            channel: step.pointee.subject.1,
            state: vocabulary.pointee.refused,
            names: (step.pointee.names.0, step.pointee.names.1)
        )
        view.consentCount &+= 1
        return true
    }

    /// Combines the value and the dates of a row for one subscription: see ``ColumnLayout/Role/wish(_:_:)``.
    private func wish(
        _ step: UnsafePointer<Step>,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        let columns = step.pointee.dates
        var (state, changedAt) = (-1, RecordView.Detail())
        guard word(columns.words.0, &state, vocabulary), word(columns.words.1, &state, vocabulary),
            word(columns.words.2, &state, vocabulary)
        else { return false }
        if has(columns.optIn) || has(columns.optOut) {
            guard let dated = dated(columns, vocabulary, view.scratch) else { return false }
            // The less permissive of both counts. Dates that agree with a value give the time of the change.
            if state < 0 || vocabulary.pointee.allows(dated.0, noMoreThan: state) { (state, changedAt) = dated }
        } else if state < 0, columns.optIn >= 0 || columns.optOut >= 0, step.pointee.subject.0 == Self.push.0, hasDevice
        {
            state = vocabulary.pointee.unknownState
            guard noted.add(rules.takeUnretainedValue().notes.optInUnknown) else { return false }
        }
        guard state >= 0 else { return true }
        if has(columns.changedAt) {
            guard let instant = instant(columns.changedAt, view.scratch) else { return false }
            changedAt = RecordView.Detail(instant)
        }
        guard view.subscriptionCount < RecordView.subscriptionLimit else { return false }
        var subscription = RecordView.SubscriptionView(
            channel: step.pointee.subject.0,
            topic: step.pointee.subject.1,
            state: state,
            names: (step.pointee.names.0, step.pointee.names.1)
        )
        subscription.changedAt = changedAt
        if has(columns.source) { subscription.source = RecordView.Detail(fields[columns.source].text) }
        view.subscriptions[view.subscriptionCount] = subscription
        view.subscriptionCount &+= 1
        return true
    }

    /// Adds the state that applies to every row of the file. It is combined with the states in the row.
    private func everyRow(
        _ step: UnsafePointer<Step>,
        _ view: inout RecordView,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        let (channel, topic) = step.pointee.subject
        for index in 0..<view.subscriptionCount {
            let known = view.subscriptions + index
            guard known.pointee.channel == channel, known.pointee.topic == topic else { continue }
            if !vocabulary.pointee.allows(known.pointee.state, noMoreThan: step.pointee.index) {
                known.pointee.state = step.pointee.index
            }
            return true
        }
        guard channel >= 0, view.subscriptionCount < RecordView.subscriptionLimit else { return false }
        view.subscriptions[view.subscriptionCount] = RecordView.SubscriptionView(
            channel: channel,
            topic: topic,
            state: step.pointee.index,
            names: (step.pointee.names.0, step.pointee.names.1)
        )
        view.subscriptionCount &+= 1
        return true
    }

    /// Reads a value and combines it with other columns for the same subject: the least permissive state counts. Returns
    /// false for an unknown value.
    @inline(__always) private func word(
        _ column: WordColumn,
        _ state: inout Int,
        _ vocabulary: UnsafePointer<Vocabulary>
    ) -> Bool {
        guard has(column.column) else { return true }
        let next = meaning(of: column.column, in: column.words)
        guard next >= 0 else { return false }
        if next != Self.silent, state < 0 || vocabulary.pointee.allows(next, noMoreThan: state) { state = next }
        return true
    }

    private static let push = (Vocabulary.index(of: .push), Vocabulary.none)

    @inline(__always) private func has(_ column: Int) -> Bool { column >= 0 && fields[column].text.count > 0 }

    /// An instant as the model writes it; nil for a text that is not an instant.
    private func instant(_ column: Int, _ scratch: Scratch) -> Stretch? {
        let text = fields[column].text
        if fields[column].isASCII, let seconds = moments[column].instant(text),
            text.count != 20 || !Forms.isTimestamp(text)
        {
            guard var pen = scratch.pen(for: 32) else { return nil }
            pen.put(instant: seconds)
            return scratch.keep(pen)
        }
        if fields[column].isASCII, Forms.isTimestamp(text) { return text }
        let moment = rules.takeUnretainedValue().forms[column].moment(text.text)
        return moment.flatMap { scratch.keep($0.timestamp.text) }
    }

    /// The state that one or two dates imply, and its time.
    private func dated(
        _ columns: WishColumns,
        _ vocabulary: UnsafePointer<Vocabulary>,
        _ scratch: Scratch
    ) -> (Int, RecordView.Detail)? {
        var optOut: Stretch?
        if has(columns.optOut) {
            optOut = instant(columns.optOut, scratch)
            guard optOut != nil else { return nil }
        }
        guard has(columns.optIn) else {
            return optOut.map { (vocabulary.pointee.unsubscribed, RecordView.Detail($0)) }
        }
        guard let optIn = instant(columns.optIn, scratch) else { return nil }
        guard let optOut, !Self.isBefore(optOut, optIn) else {
            // With one time missing, both may be on one day: the general path decides.
            guard optOut == nil || hasTime(columns.optOut) == hasTime(columns.optIn) else { return nil }
            return (vocabulary.pointee.subscribed, RecordView.Detail(optIn))
        }
        return (vocabulary.pointee.unsubscribed, RecordView.Detail(optOut))
    }

    private func hasTime(_ column: Int) -> Bool {
        let text = fields[column].text
        return (0..<text.count).contains { text[$0] == UInt8(ascii: ":") }
    }

    /// Whether an instant is before another. Up to the second their texts sort by time, as do the fractions after it.
    private static func isBefore(_ one: Stretch, _ other: Stretch) -> Bool {
        let order = Stretch(one.start, 19).compare(Stretch(other.start, 19))
        if order != 0 { return order < 0 }
        // Without the letter at the end, a shorter fraction sorts before a longer one.
        return Stretch(one.start + 19, one.count - 20).compare(Stretch(other.start + 19, other.count - 20)) < 0
    }

    // MARK: The device

    private var hasDevice: Bool { has(device.deviceID) || has(device.pushToken) }

    /// The device's offset from UTC in seconds, as the text of a number; nil if the row has none.
    private func utcOffset(_ view: RecordView) -> (seconds: Stretch?, isKnown: Bool) {
        for (column, isZone) in [(device.utcOffset, false), (device.timeZone, true)] {
            guard has(column), !isZone || !view.timeZone.isThere else { continue }
            let text = fields[column].text
            guard memchr(text.start, 0x2F, text.count) == nil else { continue }
            if let hours = ExactHours(text.text) { return (view.scratch.keep(String(hours.seconds)), true) }
            guard noted.add(rules.takeUnretainedValue().notes.timeZone) else { return (nil, false) }
        }
        return (nil, true)
    }

    /// Reads the offset of a row; returns false if the reader must read it.
    private func offset(_ view: inout RecordView) -> Bool {
        let offset = utcOffset(view)
        view.utcOffset = offset.seconds ?? .nothing
        return offset.isKnown
    }

    /// Adds the device of the row, by the rules of ``ContactDraft``.
    @inline(never) private func addDevice(_ view: inout RecordView, _ vocabulary: UnsafePointer<Vocabulary>) -> Bool {
        let notes = rules.takeUnretainedValue().notes
        guard hasDevice else { return noteLeftParts(nil, view) }
        var own = RecordView.DeviceView()
        var push: Int?
        for index in 0..<view.subscriptionCount where push == nil {
            let each = view.subscriptions[index]
            if each.channel == Self.push.0, each.topic == Vocabulary.none { push = each.state }
        }
        own.allowsPush = push == vocabulary.pointee.subscribed
        guard let allowsLocation = flag(device.locationEnabled) else { return false }
        own.allowsLocation = allowsLocation
        if has(device.deviceID) {
            own.identities.0 = .init(name: deviceIdentity, value: fields[device.deviceID].text)
            own.identityCount = 1
        }
        if has(device.platform) {
            (own.hasFacts, own.facts.platform) = (true, fields[device.platform].text)
            own.family = RecordView.DeviceView.family(of: own.facts.platform)
            if has(device.platformVersion) { own.facts.platformVersion = fields[device.platformVersion].text }
            if has(device.model) { own.facts.model = fields[device.model].text }
            if view.locale.isThere { own.facts.locale = view.locale.text }
            if view.timeZone.isThere { own.facts.timeZone = view.timeZone }
            if view.utcOffset.count > 0 { own.facts.utcOffset = RecordView.Detail(view.utcOffset) }
            guard let isDaylightSaving = flag(device.daylightSaving) else { return false }
            own.facts.isDaylightSaving = isDaylightSaving
        }
        if has(device.pushToken) {
            (own.hasToken, own.token) = (true, fields[device.pushToken].text)
            own.service = service(own.token, family: own.family)
            own.serviceName = own.service == 0 ? .apns : .fcm
            if has(device.pushEnvironment) {
                let word = fields[device.pushEnvironment].text.text.lowercased()
                guard let environment = PushToken.Environment.allCases.firstIndex(where: { $0.rawValue == word }) else {
                    return false
                }
                own.environment = environment
            }
            if has(device.pushAppID) { own.appID = RecordView.Detail(fields[device.pushAppID].text) }
        }
        view.devices[0] = own
        view.deviceCount = 1
        // A part of the device is always assumed.
        return noted.add(notes.deviceAssumed) && noteLeftParts(own, view)
    }

    /// The value of a column with yes or no; no if it is empty, nil for any other text.
    private func flag(_ column: Int) -> Bool? {
        guard has(column) else { return false }
        let text = fields[column].text
        let meaning = Self.meaning(of: text, in: truths)
        if meaning >= 0 { return meaning == 1 }
        guard case .boolean(let isTrue)? = rules.takeUnretainedValue().layout.forms.value(text.text, as: .boolean)
        else {
            return nil
        }
        return isTrue
    }

    /// The index of the service of a token. Only tokens of APNs are hexadecimal, with at least 32 bytes unless the platform
    /// confirms the service.
    private func service(_ token: Stretch, family: Int) -> Int {
        let android = Vocabulary.families.firstIndex(of: "android")
        guard family != android,
            (0..<token.count).allSatisfy({ token[$0] &- 0x30 < 10 || (token[$0] | 0x20) &- 0x61 < 6 })
        else { return 1 }
        let isApple = family >= 0 && family < Vocabulary.families.count && Vocabulary.families[family] != "web"
        return isApple || token.count >= 64 ? 0 : 1
    }

    /// Adds a note for each column with a text that no part of a device uses.
    private func noteLeftParts(_ own: RecordView.DeviceView?, _ view: RecordView) -> Bool {
        let (hasFacts, hasToken) = (own?.hasFacts ?? false, own?.hasToken ?? false)
        let left = [
            (device.platform, own == nil), (device.locationEnabled, own == nil), (device.platformVersion, !hasFacts),
            (device.model, !hasFacts), (device.daylightSaving, !hasFacts),
            // A text that is not an offset has a note already.
            (
                device.utcOffset,
                !hasFacts && has(device.utcOffset) && ExactHours(fields[device.utcOffset].text.text) != nil
            ),
            (device.pushAppID, !hasToken), (device.pushEnvironment, !hasToken),
        ]
        for (column, isLeft) in left where isLeft && has(column) {
            guard noted.add(rules.takeUnretainedValue().notes.devicePart) else { return false }
        }
        return true
    }

    // MARK: Splitting

    /// The result of splitting a field.
    private struct Cut {
        /// The position at the end of the field, or after its quote; nil for a fault.
        var place: Bytes?
        /// The byte at this position.
        var stop: UInt8 = 0
        /// The number of line feeds in the field.
        var lines = 0
    }

    @inline(__always) private func split(_ start: Bytes, _ end: Bytes, _ scratch: Scratch) -> RecordExtent? {
        let limit = min(end, start + ChunkMapper.longest)
        var (place, lines, column) = (start, 1, 0)
        while true {
            let field = fields + column
            let isQuoted = hasQuotes && place.pointee == quote
            let cut = isQuoted ? quoted(place, limit, field, scratch) : bare(place, limit, field, scratch)
            // An apostrophe may be a guard against formulas, which the reader removes.
            guard let next = cut.place, field.pointee.text[0] != 0x27 else { return nil }
            (place, lines) = (next, lines &+ cut.lines)
            column &+= 1
            // There is no delimiter at the end: the byte after a line feed is not examined, and the padding has none.
            guard cut.stop == delimiter else { break }
            guard column < columnCount else { return nil }
            place += 1
        }
        if place < end, place.pointee == 0x0D {
            // A return without a line feed is a fault after a quote.
            guard place[1] == 0x0A, place + 1 < end else { return nil }
            place += 1
        }
        guard place >= end || place.pointee == 0x0A, column == columnCount else { return nil }
        return RecordExtent(end: place < end ? place + 1 : place, lines: lines)
    }

    @inline(__always) private func bare(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ scratch: Scratch
    ) -> Cut {
        var (place, isUnusual) = (start.endOfPlainField(delimiter), false)
        (field.pointee.kind, field.pointee.needsEscapes, field.pointee.isASCII) = (.string, false, true)
        while place < limit, !endsField(place) {
            let byte = place.pointee
            if byte >= 0x80 {
                let length = place.sequenceLength
                guard length > 0 else { return Cut() }
                place += length
                field.pointee.isASCII = false
            } else {
                if byte == 0 { return Cut() }
                if byte == unusual { isUnusual = true }
                if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.needsEscapes = true }
                place += 1
            }
            place = place.endOfPlainField(delimiter)
        }
        guard place <= limit else { return Cut() }
        field.pointee.text = Stretch(start, place - start)
        finish(field)
        guard !isUnusual || single(field, unusual, always: false, scratch) else { return Cut() }
        return Cut(place: place, stop: place.pointee)
    }

    /// Whether a field without quotes ends here. A return before a line feed belongs to the line end.
    @inline(__always) private func endsField(_ place: Bytes) -> Bool {
        let byte = place.pointee
        return byte == delimiter || byte == 0x0A || byte == 0x0D && place[1] == 0x0A
    }

    private func quoted(
        _ start: Bytes,
        _ limit: Bytes,
        _ field: UnsafeMutablePointer<ValueView>,
        _ scratch: Scratch
    ) -> Cut {
        let text = start + 1
        var cut = Cut()
        var place = quote == 0x22 ? text.endOfPlainText : text
        (field.pointee.kind, field.pointee.needsEscapes, field.pointee.isASCII) = (.string, false, true)
        var (hasDoubled, isUnusual) = (false, false)
        if place >= limit || place.pointee != quote || quote != 0x22 || place[1] == quote {
            while true {
                guard place < limit else { return cut }
                let byte = place.pointee
                if byte == quote {
                    guard place + 1 < limit, place[1] == quote else { break }
                    hasDoubled = true
                    if quote == 0x22 { field.pointee.needsEscapes = true }
                    place += 2
                } else if byte >= 0x80 {
                    let length = place.sequenceLength
                    guard length > 0 else { return cut }
                    place += length
                    field.pointee.isASCII = false
                } else {
                    if byte == 0x0A { cut.lines += 1 }
                    if byte == 0 { return cut }
                    if byte == unusual { isUnusual = true }
                    if byte < 0x20 || byte == 0x22 || byte == 0x5C { field.pointee.needsEscapes = true }
                    place += 1
                }
                if quote == 0x22 { place = place.endOfPlainText }
            }
        }
        field.pointee.text = Stretch(text, place - text)
        place += 1
        // The delimiter or the line end must follow the quote.
        guard place.pointee == delimiter || place.pointee == 0x0A || place.pointee == 0x0D || place == limit else {
            return cut
        }
        if hasDoubled { guard single(field, quote, always: true, scratch) else { return cut } }
        finish(field)
        if isUnusual { guard single(field, unusual, always: false, scratch) else { return cut } }
        (cut.place, cut.stop) = (place, place.pointee)
        return cut
    }

    /// Replaces doubled bytes by single ones. With `always`, every such byte is the first of two; otherwise a single one
    /// stays. Returns false if there is no room.
    @inline(never) private func single(
        _ field: UnsafeMutablePointer<ValueView>,
        _ byte: UInt8,
        always: Bool,
        _ scratch: Scratch
    ) -> Bool {
        let text = field.pointee.text
        guard var pen = scratch.pen(for: text.count) else { return false }
        var index = 0
        while index < text.count {
            pen.put(text[index])
            let isPair = text[index] == byte && (always || index + 1 < text.count && text[index + 1] == byte)
            index += isPair ? 2 : 1
        }
        field.pointee.text = scratch.keep(pen)
        return true
    }

    /// Removes white space at both ends.
    @inline(__always) private func finish(_ field: UnsafeMutablePointer<ValueView>) {
        let text = field.pointee.text
        guard text.count > 0 else { return }
        let (first, last) = (text[0], text[text.count &- 1])
        if first &- 0x21 >= 0x5E || last &- 0x21 >= 0x5E { field.pointee.text = text.trimmed }
    }
}

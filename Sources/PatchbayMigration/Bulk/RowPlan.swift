import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// A contact file's table, compiled for ``LineWriter``: which part of a view fills which column, in which form.
///
/// It knows what rows mostly hold. What it does not (dates of opt-ins, devices, texts that are changed or refused) sends the
/// record the general path.
struct RowPlan: BitwiseCopyable {
    /// A column that is written.
    struct Column: BitwiseCopyable {
        /// The most bytes that certainly are not too many characters.
        var limit = Int.max
        var isRequired = false
        var phoneForm = PhoneNumber.Form.any
        /// Of a column that says what a person wants: its channel and topic in the lexicon, and the word for each state. Of one
        /// that holds an attribute: the only words that it takes, none if it takes any.
        var channel = Lexicon.unknown
        var topic = Lexicon.none
        var words = Row<Stretch>(start: nil, count: 0)
        /// Of a column that says a denied use: the purpose, and the channel or that it is every one.
        var purpose = Lexicon.unknown
        var purposeChannel = Lexicon.none
        /// Of a column with a date or a source of a subscription: what it holds, and of which channel and topic.
        var part = Part.none
        var partChannel = Lexicon.unknown
        var partTopic = Lexicon.none
        /// Of a column with an address: the channel on which it reaches a person.
        var reach = Lexicon.unknown
    }

    /// A part of a subscription beside its state.
    enum Part: UInt8, BitwiseCopyable { case none, optIn, optOut, changedAt, source }

    /// The order of a day's numbers, and the mark between them.
    struct Day: BitwiseCopyable {
        /// The places of year, month and day.
        let places: (year: Int, month: Int, day: Int)
        let mark: UInt8

        init(_ form: DayForm) {
            let (order, starts) = (form.order, form.order.year == 0 ? [0, 5, 8] : [0, 3, 6])
            (places, mark) = ((starts[order.year], starts[order.month], starts[order.day]), UInt8(ascii: form.mark))
        }
    }

    static let columnLimit = 256

    var columns = Row<Column>(start: nil, count: 0)
    var delimiter: UInt8 = 0x2C
    var quotesAll = false
    /// Whether a text may stand in quotes.
    var isQuoted = false
    var endsWithReturn = false
    /// A byte that is written twice; 0 for none.
    var doubled: UInt8 = 0
    /// Whether texts may hold characters beyond ASCII, and beyond sixteen bits.
    var takesUnicode = true
    var takesHighUnicode = true
    /// Whether the file has a byte for each character, as ISO 8859-1 says.
    var isLatin1 = false
    /// Whether telephone numbers without a country get one.
    var hasCountry = false
    var day = Day(.iso)
    /// Seconds by which the zone of instants is east of UTC.
    var zone = 0
    var seconds = Stretch.nothing
    var yes = Stretch.nothing
    var no = Stretch.nothing
    var separator: UInt8 = 0x3B
    var hasLowerCountries = false
    // The columns of these parts; -1 for none.
    var tags = -1
    var locale = -1
    var timeZone = -1
    /// The column of the key, and that of what finds a row without one.
    var key = -1
    var finder = -1
    /// The kinds of identifiers of which one stands in the key's column where there is no key, in order.
    var standIns = Row<Int>(start: nil, count: 0)
    /// Whether there are columns that only the writer knows how to fill.
    var hasDeviceColumns = false
    /// Whether there are columns for channels or purposes beyond the lexicon: a record that names such a one, or every
    /// channel, is for the writer.
    var hasStrangeColumns = false
    /// A bit for each channel on which an opt-out is for the writer to judge.
    var judged: UInt8 = 0
    /// A bit for each channel on which an address needs an opt-in beside it; one without is for the writer to judge.
    var needsYes: UInt8 = 0
    /// Whether a field may hold a line break.
    var takesLineBreaks = true
    /// Whether a plan counts tags by their names, which only the writer's way does.
    var countsTags = false
    /// The columns of single tags.
    var tagColumns = Row<TagColumn>(start: nil, count: 0)

    /// A column that says whether a contact has one tag.
    struct TagColumn: BitwiseCopyable {
        var tag: Stretch
        var column: Int
    }

    // Notes by index; -1 for one that keeps the record out, which is for the general path to say.
    var noPlace = -1, noColumn = -1, converted = -1, precision = -1, unfit = -1, second = -1, undated = -1
    var denied = -1, stateUnknown = -1, suspended = -1, lostOptOut = -1, consent = -1
    var keyOther = -1, otherKey = -1, withoutOptIn = -1

    /// The column that says that very denial; -1 for none.
    func column(denying purpose: Int, _ channel: Int) -> Int {
        guard purpose >= 0 else { return -1 }
        for index in 0..<columns.count {
            let column = columns.place(index)
            if column.pointee.purpose == purpose, column.pointee.purposeChannel == channel { return index }
        }
        return -1
    }

    /// The column of a part of a subscription; -1 for none.
    func column(of part: Part, _ channel: Int, _ topic: Int) -> Int {
        guard channel >= 0 else { return -1 }
        for index in 0..<columns.count {
            let column = columns.place(index)
            if column.pointee.part == part, column.pointee.partChannel == channel, column.pointee.partTopic == topic {
                return index
            }
        }
        return -1
    }

    /// The column of a subscription; -1 for none.
    @inline(__always) func column(of channel: Int, _ topic: Int) -> Int {
        guard channel >= 0 else { return -1 }
        for index in 0..<columns.count {
            let column = columns.place(index)
            if column.pointee.channel == channel, column.pointee.topic == topic { return index }
        }
        return -1
    }
}

/// Makes a plan's row from a contact file.
struct RowCompiler {
    private let file: ContactFile
    private let arena: Arena
    private(set) var row = RowPlan()
    /// The kinds of identifiers that have a column, each with it.
    private(set) var kinds: [(kind: IdentifierKind, column: Int)] = []
    /// Those of which one may stand in the key's column.
    var standIns: [IdentifierKind] { row.key < 0 || isSurveyed ? [] : file.settings.otherKeys }
    private let isSurveyed: Bool
    private(set) var topicNames: [String] = []
    /// The columns of attributes, with their types.
    private(set) var attributes: [String: ColumnHome] = [:]
    /// What may be said.
    private(set) var notes: [FindingRow] = []
    private var tagColumns: [RowPlan.TagColumn] = []
    private var stated: Set<Subscription.Key> = []

    /// Nil for a file that has more columns than the bulk path knows, or such as it can't fill.
    init?(_ file: ContactFile, judging channels: [Channel], isSurveyed: Bool, in arena: Arena) {
        (self.file, self.arena, self.isSurveyed) = (file, arena, isSurveyed)
        let columns = file.writtenColumns
        guard columns.count <= RowPlan.columnLimit else { return nil }
        guard form(), let judged = bits(channels), let needsYes = bits(file.settings.needsYes) else { return nil }
        (row.judged, row.needsYes) = (judged, needsYes)
        note()
        var compiled: [RowPlan.Column] = []
        var taken: Set<ContactPlace> = []
        let needsOther = file.needsFinder(among: columns.map(\.place))
        for (index, column) in columns.enumerated() {
            // Of two columns for one place the first is filled.
            let isFirst = taken.insert(column.place).inserted
            guard var next = self.column(column, at: isFirst ? index : nil) else { return nil }
            if needsOther, isFirst, column.place == file.finder { next.isRequired = true }
            compiled.append(next)
        }
        row.columns = arena.make(compiled)
        row.tagColumns = arena.make(tagColumns)
        row.countsTags = isSurveyed && !tagColumns.isEmpty
    }

    /// How fields are written.
    private mutating func form() -> Bool {
        let (dialect, forms) = (file.dialect, file.settings.forms)
        row.delimiter = dialect.delimiter
        (row.quotesAll, row.isQuoted) = (dialect.quoting == .always, dialect.quoting != .never)
        row.endsWithReturn = dialect.lineEnding == .carriageReturnLineFeed
        guard file.settings.formulas != .all, dialect.quote == 0x22, forms.separator.isASCII,
            forms.doubled?.isASCII ?? true
        else { return false }
        row.separator = UInt8(ascii: forms.separator)
        if let doubled = forms.doubled { row.doubled = UInt8(ascii: doubled) }
        (row.takesUnicode, row.takesHighUnicode) = (forms.highestScalar >= 0xFFFF, forms.highestScalar >= 0x10FFFF)
        row.hasCountry = file.settings.defaultCountry != nil
        row.isLatin1 = !file.settings.encoding.isUTF8
        // The rules of the file itself say which characters it has no byte for.
        if row.isLatin1 { (row.takesUnicode, row.takesHighUnicode) = (false, false) }
        row.takesLineBreaks = forms.takesLineBreaks
        row.day = RowPlan.Day(forms.day)
        (row.zone, row.hasLowerCountries) = (Int(FileMoment.seconds(of: forms.zone)), forms.hasLowerCountries)
        let (booleans, seconds) = (forms.booleans, forms.seconds)
        guard [booleans.yes, booleans.no, seconds].allSatisfy(Self.isPlain) else { return false }
        row.seconds = arena.text(seconds)
        (row.yes, row.no) = (arena.text(booleans.yes), arena.text(booleans.no))
        return true
    }

    /// Whether a word of the table stands in a field as it is.
    private static func isPlain(_ word: String) -> Bool {
        word.utf8.count <= 32
            && word.utf8.allSatisfy { byte in byte > 0x20 && byte < 0x7F && !"\",;|\\".utf8.contains(byte) }
    }

    /// A bit for each channel; nil if there is one that only the general path knows.
    private func bits(_ channels: [Channel]) -> UInt8? {
        var bits: UInt8 = 0
        for channel in channels {
            guard let index = Lexicon.channelNames.firstIndex(of: channel.rawValue) else { return nil }
            bits |= 1 << UInt8(index)
        }
        return bits
    }

    private mutating func note() {
        let rows = file.kind.findings
        func index(_ row: FindingRow) -> Int { notes.place(of: row) }
        (row.noPlace, row.noColumn, row.converted) = (index(rows.noPlace), index(rows.noColumn), index(rows.converted))
        (row.precision, row.unfit, row.denied) = (index(rows.precision), index(rows.unfit), index(rows.denied))
        (row.stateUnknown, row.suspended) = (index(rows.stateUnknown), index(rows.suspended))
        (row.lostOptOut, row.consent) = (index(file.lostOptOut), index(rows.consent))
        (row.keyOther, row.otherKey) = (index(rows.keyOther), index(rows.otherKey))
        (row.second, row.undated) = (index(rows.second), index(rows.undated))
        for row in [rows.lineBreak, rows.trimmed, rows.blank, rows.tooLong, rows.unwritable] { _ = index(row) }
        row.withoutOptIn = index(file.settings.withoutOptIn == .reject ? rows.withoutOptIn : rows.writtenWithoutOptIn)
    }

    /// A column; nil if there is none like it on the bulk path. Where `index` is nil nothing fills it.
    private mutating func column(_ column: ContactColumn, at index: Int?) -> RowPlan.Column? {
        var compiled = RowPlan.Column(limit: column.limit ?? .max, isRequired: file.isRequired(column))
        compiled.phoneForm = column.phoneForm
        if index != nil, let reach = column.place.reach {
            compiled.reach = Lexicon.index(of: reach)
        }
        switch column.place {
        case .identifier(let kind):
            guard let index else { break }
            kinds.append((kind, index))
            if kind == file.settings.key { row.key = index }
            if kind == file.settings.finder { row.finder = index }
        case .attribute(let name):
            if let index {
                let also = file.likelyType(of: column)
                guard column.words.allSatisfy(Self.isPlain) else { return nil }
                compiled.words = arena.make(column.words.map { arena.text($0) })
                attributes[name.rawValue] = ColumnHome(column: index, type: file.type(of: column), alsoTakes: also)
            }
        case .tags: row.tags = index ?? row.tags
        case .locale: row.locale = index ?? row.locale
        case .timeZone: row.timeZone = index ?? row.timeZone
        case .state(let key, _):
            guard index != nil else { break }
            guard let channel = Lexicon.channelNames.firstIndex(of: key.channel.rawValue) else {
                row.hasStrangeColumns = true
                break
            }
            // Two columns with words for one wish are for the writer.
            guard stated.insert(key).inserted else { return nil }
            (compiled.channel, compiled.topic) = (channel, topic(key.topic))
            let words = Lexicon.states.map { column.states.written[$0] ?? "" }
            guard words.allSatisfy(Self.isPlain) else { return nil }
            compiled.words = arena.make(words.map { arena.text($0) })
        case .tag(let tag):
            if let index { tagColumns.append(.init(tag: arena.text(tag.rawValue), column: index)) }
        case .denied(let scope):
            let (purpose, channel) = (Lexicon.index(of: scope.purpose), Lexicon.index(of: scope.channel))
            guard purpose != Lexicon.unknown, channel != Lexicon.unknown else {
                row.hasStrangeColumns = true
                break
            }
            (compiled.purpose, compiled.purposeChannel) = (purpose, channel)
        case .optIn(let key): add(.optIn, key, index, to: &compiled)
        case .optOut(let key): add(.optOut, key, index, to: &compiled)
        case .changedAt(let key): add(.changedAt, key, index, to: &compiled)
        case .source(let key): add(.source, key, index, to: &compiled)
        case .device(let part): if part == .deviceID || part == .pushToken { row.hasDeviceColumns = true }
        case .ignored: break
        }
        return compiled
    }

    private mutating func add(
        _ part: RowPlan.Part,
        _ key: Subscription.Key,
        _ index: Int?,
        to column: inout RowPlan.Column
    ) {
        guard index != nil else { return }
        guard let channel = Lexicon.channelNames.firstIndex(of: key.channel.rawValue) else {
            return row.hasStrangeColumns = true
        }
        (column.part, column.partChannel, column.partTopic) = (part, channel, topic(key.topic))
    }

    private mutating func topic(_ name: String?) -> Int {
        guard let name else { return Lexicon.none }
        if let index = topicNames.firstIndex(of: name) { return index }
        topicNames.append(name)
        return topicNames.count - 1
    }
}

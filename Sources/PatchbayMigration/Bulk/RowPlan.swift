import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords

/// The columns of a contact file, compiled for ``LineWriter``: the part of a view that fills each column, and its form.
///
/// The plan covers the usual contents of rows. Records with others (dates of opt-ins, devices, texts that are changed or
/// rejected) take the general path.
struct RowPlan: BitwiseCopyable {
    /// A column of the file.
    struct Column: BitwiseCopyable {
        /// The maximum number of bytes that are certainly within the column's maximum number of characters.
        var limit = Int.max
        var isRequired = false
        var phoneForm = PhoneNumber.Form.any
        /// For a column with the state of a subscription: its channel and topic in the vocabulary, and the value of each
        /// state. For a column with an attribute: the only values that it accepts; empty if it accepts any.
        var channel = Vocabulary.unknown
        var topic = Vocabulary.none
        var words = Row<Stretch>(start: nil, count: 0)
        /// For a column with a denied purpose: the purpose, and the channel or ``Vocabulary/none`` for every channel.
        var purpose = Vocabulary.unknown
        var purposeChannel = Vocabulary.none
        /// For a column with a date or the source of a subscription: its content, and the channel and topic.
        var part = Part.none
        var partChannel = Vocabulary.unknown
        var partTopic = Vocabulary.none
        /// For a column with an address: the channel whose messages it receives.
        var reach = Vocabulary.unknown
    }

    /// A part of a subscription other than its state.
    enum Part: UInt8, BitwiseCopyable { case none, optIn, optOut, changedAt, source }

    /// The order of the numbers of a day, and the mark between them.
    struct Day: BitwiseCopyable {
        /// The offsets of year, month and day.
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
    /// Whether a text may be quoted.
    var isQuoted = false
    var endsWithReturn = false
    /// A byte that is doubled in a text; 0 for none.
    var doubled: UInt8 = 0
    /// Whether texts may contain characters beyond ASCII, and beyond sixteen bits.
    var takesUnicode = true
    var takesHighUnicode = true
    /// Whether the file is encoded in ISO 8859-1.
    var isLatin1 = false
    /// Whether telephone numbers without a country calling code get one.
    var hasCountry = false
    var day = Day(.iso)
    /// The offset from UTC of the time zone of instants, in seconds to the east.
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
    /// The column of the key, and the column that identifies a row without a key.
    var key = -1
    var finder = -1
    /// The kinds of identifiers that may replace a missing key in its column, in order.
    var standIns = Row<Int>(start: nil, count: 0)
    /// Whether there are columns that only the general path can fill.
    var hasDeviceColumns = false
    /// Whether there are columns for channels or purposes that are not in the vocabulary. Records that name one of
    /// these, or every channel, take the general path.
    var hasUnlistedColumns = false
    /// A bit for each channel on which opt-outs require the general path.
    var judged: UInt8 = 0
    /// A bit for each channel on which an address requires an opt-in. An address without one requires further checks.
    var needsYes: UInt8 = 0
    /// Whether a field may hold a line break.
    var takesLineBreaks = true
    /// Whether a plan counts tags by their names, which only the general path does.
    var countsTags = false
    /// The columns of single tags.
    var tagColumns = Row<TagColumn>(start: nil, count: 0)

    /// A column that shows whether a contact has a tag.
    struct TagColumn: BitwiseCopyable {
        var tag: Stretch
        var column: Int
    }

    // The indexes of notes; -1 for one that rejects the record, which only the general path reports.
    var noPlace = -1, noColumn = -1, converted = -1, precision = -1, unfit = -1, second = -1, undated = -1
    var denied = -1, stateUnknown = -1, suspended = -1, lostOptOut = -1, consent = -1
    var keyOther = -1, otherKey = -1, withoutOptIn = -1

    /// The column of a denial for exactly this purpose and channel; -1 for none.
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

/// Compiles a contact file to the row of a plan.
struct RowCompiler {
    private let file: ContactFile
    private let arena: Arena
    private(set) var row = RowPlan()
    /// The kinds of identifiers that have a column, with the column.
    private(set) var kinds: [(kind: IdentifierKind, column: Int)] = []
    /// The kinds of identifiers that may replace a missing key in its column.
    var standIns: [IdentifierKind] { row.key < 0 || isSurveyed ? [] : file.settings.otherKeys }
    private let isSurveyed: Bool
    private(set) var topicNames: [String] = []
    /// The columns of attributes, with their types.
    private(set) var attributes: [String: ColumnHome] = [:]
    /// The notes.
    private(set) var notes: [FindingRow] = []
    private var tagColumns: [RowPlan.TagColumn] = []
    private var stated: Set<Subscription.Key> = []

    /// Compiles a file; nil if it has more columns than the bulk path supports, or one that the bulk path cannot fill.
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
            // Of two columns for one place, the first is filled.
            let isFirst = taken.insert(column.place).inserted
            guard var next = self.column(column, at: isFirst ? index : nil) else { return nil }
            if needsOther, isFirst, column.place == file.finder { next.isRequired = true }
            compiled.append(next)
        }
        row.columns = arena.make(compiled)
        row.tagColumns = arena.make(tagColumns)
        row.countsTags = isSurveyed && !tagColumns.isEmpty
    }

    /// Compiles the form of fields; returns false if the bulk path does not support it.
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
        // The rules of the file itself decide which characters it cannot encode.
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

    /// Whether a value of the table is written to a field unchanged.
    private static func isPlain(_ word: String) -> Bool {
        word.utf8.count <= 32
            && word.utf8.allSatisfy { byte in byte > 0x20 && byte < 0x7F && !"\",;|\\".utf8.contains(byte) }
    }

    /// A bit for each channel; nil if one of them requires the general path.
    private func bits(_ channels: [Channel]) -> UInt8? {
        var bits: UInt8 = 0
        for channel in channels {
            guard let index = Vocabulary.channelNames.firstIndex(of: channel.rawValue) else { return nil }
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

    /// Compiles a column; nil if the bulk path does not support it. If `index` is nil, the column is not filled.
    private mutating func column(_ column: ContactColumn, at index: Int?) -> RowPlan.Column? {
        var compiled = RowPlan.Column(limit: column.limit ?? .max, isRequired: file.isRequired(column))
        compiled.phoneForm = column.phoneForm
        if index != nil, let reach = column.place.reach {
            compiled.reach = Vocabulary.index(of: reach)
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
            guard let channel = Vocabulary.channelNames.firstIndex(of: key.channel.rawValue) else {
                row.hasUnlistedColumns = true
                break
            }
            // Two columns with values for one subscription require the general path.
            guard stated.insert(key).inserted else { return nil }
            (compiled.channel, compiled.topic) = (channel, topic(key.topic))
            let words = Vocabulary.states.map { column.states.written[$0] ?? "" }
            guard words.allSatisfy(Self.isPlain) else { return nil }
            compiled.words = arena.make(words.map { arena.text($0) })
        case .tag(let tag):
            if let index { tagColumns.append(.init(tag: arena.text(tag.rawValue), column: index)) }
        case .denied(let scope):
            let (purpose, channel) = (Vocabulary.index(of: scope.purpose), Vocabulary.index(of: scope.channel))
            guard purpose != Vocabulary.unknown, channel != Vocabulary.unknown else {
                row.hasUnlistedColumns = true
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
        guard let channel = Vocabulary.channelNames.firstIndex(of: key.channel.rawValue) else {
            return row.hasUnlistedColumns = true
        }
        (column.part, column.partChannel, column.partTopic) = (part, channel, topic(key.topic))
    }

    private mutating func topic(_ name: String?) -> Int {
        guard let name else { return Vocabulary.none }
        if let index = topicNames.firstIndex(of: name) { return index }
        topicNames.append(name)
        return topicNames.count - 1
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel
import PatchbayRecords
import PatchbaySystem

/// The cases of ``RecordForm`` without the values that belong to one field.
enum FormCode: UInt8, BitwiseCopyable {
    case plain, text, country, moment, day, words, wholeNumber, integer, email, phones

    init(_ form: RecordForm) {
        self =
            switch form {
            case .plain: .plain
            case .text: .text
            case .country: .country
            case .moment: .moment
            case .day: .day
            case .words: .words
            case .wholeNumber: .wholeNumber
            case .integer: .integer
            case .email: .email
            case .phones: .phones
            }
    }
}

/// The types of attributes as plain bits. `any` is no particular type.
enum TypeCode: UInt8, BitwiseCopyable {
    case any, string, integer, decimal, boolean, date, time, timestamp, country, choices, list, object

    init(_ type: AttributeType?) {
        self =
            switch type {
            case nil: .any
            case .string: .string
            case .integer: .integer
            case .decimal: .decimal
            case .boolean: .boolean
            case .date: .date
            case .time: .time
            case .timestamp: .timestamp
            case .country: .country
            case .choices: .choices
            case .list: .list
            case .object: .object
            }
    }
}

/// The column of a row that an attribute fills.
struct ColumnHome {
    var column: Int
    var type: AttributeType
    /// Another type that the column accepts without conversion.
    var alsoTakes: AttributeType?
}

/// The attributes that a plan knows, with the field or column of each. The rank of an attribute is its position in the
/// order of names.
struct AttributeBook: BitwiseCopyable {
    /// One attribute.
    struct Entry: BitwiseCopyable {
        /// `,"name":` of its field.
        var prefix: Stretch
        var form: FormCode
        /// The words of the field's form.
        var words: Row<WordEntry>
        /// The type in the catalogue.
        var type: TypeCode
        /// A bit for each kind of value that gets a note, and the index of the note.
        var notedKinds: UInt16
        /// Whether no other part fills the field.
        var isUsable: Bool
        /// The column of a row that the attribute fills, -1 for none; its type there; and another type that the column
        /// accepts without conversion.
        var column = -1
        var columnType = TypeCode.any
        var columnAlso = TypeCode.any

        /// The type in which the column takes a value of `type`.
        @inline(__always) func columnType(for type: TypeCode) -> TypeCode {
            type == columnAlso ? type : columnType
        }
    }

    /// A word of a source with the JSON that replaces it.
    struct WordEntry: BitwiseCopyable {
        var word: Stretch
        var json: Stretch
    }

    /// The names, sorted by their bytes: the index of a name is its rank.
    let names: KeyTable
    /// The number of known attributes, at most ``RecordView/attributeLimit``.
    let count: Int
    let entries: Row<Entry>
    /// The number of bytes of the names of all fields and of all words.
    let room: Int

    /// Creates the attributes for a layout of lines, or for the columns of a row.
    init(
        _ layout: LineLayout.Attributes?,
        _ columns: [String: ColumnHome],
        names list: Set<String>,
        catalogue: AttributeCatalogue,
        in arena: Arena
    ) {
        let sorted = list.sorted { $0.precedes($1) }
        let before = arena.textSize
        names = KeyTable(sorted, terminator: .colon, in: arena)
        count = sorted.count
        let fields = sorted.map { layout?.names[AttributeName(rawValue: $0)] ?? $0 }
        let uses = Dictionary(fields.map { ($0, 1) }, uniquingKeysWith: +)
        let noted = Self.bits(of: layout?.noted ?? [])
        entries = arena.make(
            zip(sorted, fields).map { name, field in
                let form = layout?.forms[field] ?? .plain
                var words: [WordEntry] = []
                if case .words(let list) = form {
                    words = list.inOrder
                        .map { WordEntry(word: arena.text($0.key), json: arena.text($0.value.text)) }
                }
                var entry = Entry(
                    prefix: arena.text(",\(JSONValue.string(field).text):"),
                    form: FormCode(form),
                    words: arena.make(words),
                    type: TypeCode(catalogue.entries[AttributeName(rawValue: name)]?.type),
                    notedKinds: FormCode(form) == .text ? noted | Self.textBits : noted,
                    isUsable: uses[field] == 1 && layout?.taken.contains(field) != true
                        && !field.allSatisfy(\.isWhitespace)
                )
                if let home = columns[name] {
                    (entry.column, entry.columnType) = (home.column, TypeCode(home.type))
                    entry.columnAlso = TypeCode(home.alsoTakes)
                }
                return entry
            }
        )
        room = arena.textSize - before
    }

    /// The kinds of values that are not texts but are written as such in a text field.
    private static let textBits = bits(of: [.integer, .decimal, .boolean])

    private static func bits(of types: Set<AttributeType>) -> UInt16 {
        ValueView.Kind.allCases.filter { types.contains($0.type) }.reduce(0) { $0 | 1 << UInt16($1.rawValue) }
    }
}

extension ValueView.Kind {
    /// The code of the type.
    var code: TypeCode {
        switch self {
        case .string: .string
        case .integer: .integer
        case .decimal: .decimal
        case .yes, .no: .boolean
        case .date: .date
        case .time: .time
        case .timestamp: .timestamp
        case .country: .country
        case .choices: .choices
        case .list: .list
        }
    }
}

extension ValueView {
    /// Converts the value to another type; returns false if the conversion would lose a part of it.
    @inline(__always) mutating func convert(to wanted: TypeCode, _ scratch: Scratch) -> Bool {
        let type = kind.code
        if wanted == type { return true }
        switch (type, wanted) {
        case (.list, .choices): kind = .choices
        case (.list, _), (.choices, _): return convertByModel(to: wanted, scratch)
        case (_, .string): kind = .string
        case (.integer, .decimal): kind = .decimal
        case (.string, _): return isASCII && read(as: wanted) || convertByModel(to: wanted, scratch)
        default: return false
        }
        return true
    }

    /// Reads a text that the model itself writes as a value of a type; returns false for any other text.
    mutating func read(as wanted: TypeCode) -> Bool {
        switch wanted {
        case .integer where Forms.isInteger(text): kind = .integer
        case .decimal where Forms.isInteger(text): kind = .decimal
        case .date where Forms.isDate(text): kind = .date
        case .time where Forms.isTime(text): kind = .time
        case .timestamp where Forms.isTimestamp(text): kind = .timestamp
        case .country where Forms.isCountry(text): kind = .country
        case .boolean where text.equals("true"): kind = .yes
        case .boolean where text.equals("false"): kind = .no
        default: return false
        }
        return true
    }

    /// Converts the value by the rules of the model.
    @inline(never) private mutating func convertByModel(to wanted: TypeCode, _ scratch: Scratch) -> Bool {
        guard let type = wanted.kind?.type, let converted = model(scratch)?.converted(to: type),
            let view = ValueView(converted, scratch)
        else { return false }
        self = view
        return true
    }

    /// The value as a model value.
    func model(_ scratch: Scratch) -> AttributeValue? {
        switch kind {
        case .string: return .string(text.text)
        case .integer: return Int64(text.text).map(AttributeValue.integer)
        case .decimal: return ExactDecimal(text: text.text).map(AttributeValue.decimal)
        case .yes, .no: return .boolean(kind == .yes)
        case .date: return CalendarDate(text: text.text).map(AttributeValue.date)
        case .time: return LocalTime(text: text.text).map(AttributeValue.time)
        case .timestamp: return Timestamp(text: text.text).map(AttributeValue.timestamp)
        case .country: return CountryCode(text: text.text).map(AttributeValue.country)
        case .choices, .list:
            var words: [String] = []
            let isWhole = Grammar.eachString(of: text, scratch) { word in
                words.append(word.text.text)
                return true
            }
            guard isWhole else { return nil }
            return kind == .choices ? .choices(words) : .list(words.map(AttributeValue.string))
        }
    }

    /// Creates a view of a model value; nil for objects, and for lists with elements other than texts.
    init?(_ value: AttributeValue, _ scratch: Scratch) {
        let words: [AttributeValue]
        switch value {
        case .string(let string):
            guard let text = scratch.keep(string) else { return nil }
            self.init(string: text)
            return
        case .choices(let choices): words = choices.map(AttributeValue.string)
        case .list(let values): words = values
        case .object: return nil
        default:
            guard let text = value.plainText.flatMap(scratch.keep), let kind = TypeCode(value.type).kind else {
                return nil
            }
            self.init(kind: kind == .yes && value == .boolean(false) ? .no : kind, text: text)
            return
        }
        guard words.allSatisfy({ $0.type == .string }),
            let text = scratch.keep(JSONValue.array(words.map { .string($0.plainText ?? "") }).text)
        else { return nil }
        self.init(string: text)
        (kind, needsEscapes) = (
            value.type == .choices ? .choices : .list, text.index(of: 0x5C, or: 0x5C, from: 0) < text.count
        )
    }
}

extension Stretch {
    /// Whether the text equals another one.
    func equals(_ other: StaticString) -> Bool {
        count == other.utf8CodeUnitCount && memcmp(start, other.utf8Start, count) == 0
    }
}

import Patchbay
import PatchbayAdapterKit
import PatchbayJSON
import PatchbayModel

/// The forms of ``RecordForm`` without what belongs to one field.
enum FormCode: UInt8, BitwiseCopyable {
    case plain, text, country, moment, words, wholeNumber, email, phones

    init(_ form: RecordForm) {
        self =
            switch form {
            case .plain: .plain
            case .text: .text
            case .country: .country
            case .moment: .moment
            case .words: .words
            case .wholeNumber: .wholeNumber
            case .email: .email
            case .phones: .phones
            }
    }
}

/// The types of attributes as plain bits; `any` is none in particular.
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

/// The attributes that a plan knows, each with what its value becomes. A rank is an attribute's place in the order of names.
struct AttributeBook: BitwiseCopyable {
    /// One attribute.
    struct Entry: BitwiseCopyable {
        /// `,"name":` of its field.
        var prefix: Stretch
        var form: FormCode
        /// The words of its form.
        var words: Row<WordEntry>
        /// The type that the catalogue says.
        var type: TypeCode
        /// A bit for each kind of value that something is said of, and what.
        var notedKinds: UInt16
        /// Whether no other part fills the field.
        var isUsable: Bool
    }

    /// A word and the JSON that it becomes.
    struct WordEntry: BitwiseCopyable {
        var word: Stretch
        var json: Stretch
    }

    /// The names, sorted by their bytes: the index of a name is its rank.
    let names: KeyTable
    /// How many attributes are known, at most ``RecordView/attributeLimit``.
    let count: Int
    let entries: Row<Entry>
    /// Bytes of the names of all fields and of all words.
    let room: Int

    init(_ layout: LineLayout.Attributes, names list: Set<String>, catalogue: AttributeCatalogue, in arena: Arena) {
        let sorted = list.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let before = arena.textSize
        names = KeyTable(sorted, in: arena)
        count = sorted.count
        let fields = sorted.map { layout.names[AttributeName(rawValue: $0)] ?? $0 }
        let uses = Dictionary(fields.map { ($0, 1) }, uniquingKeysWith: +)
        let noted = layout.notes.keys.reduce(0 as UInt16) { $0 | Self.bits(of: $1) }
        entries = arena.make(
            zip(sorted, fields).map { name, field in
                let form = layout.forms[field] ?? .plain
                var words: [WordEntry] = []
                if case .words(let list) = form {
                    words = list.sorted { $0.key < $1.key }
                        .map { WordEntry(word: arena.text($0.key), json: arena.text($0.value.text)) }
                }
                return Entry(
                    prefix: arena.text(",\(JSONValue.string(field).text):"),
                    form: FormCode(form),
                    words: arena.make(words),
                    type: TypeCode(catalogue.entries[AttributeName(rawValue: name)]?.type),
                    notedKinds: noted,
                    isUsable: uses[field] == 1 && !layout.taken.contains(field) && !field.allSatisfy(\.isWhitespace)
                )
            }
        )
        room = arena.textSize - before
    }

    private static func bits(of type: AttributeType) -> UInt16 {
        switch type {
        case .time: 1 << UInt16(ValueView.Kind.time.rawValue)
        case .choices: 1 << UInt16(ValueView.Kind.choices.rawValue)
        case .list: 1 << UInt16(ValueView.Kind.list.rawValue)
        default: 0
        }
    }
}

extension ValueView {
    private var type: TypeCode {
        switch kind {
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

    /// Makes it a value of the catalogue's type; false where the slow way must say how.
    mutating func convert(to wanted: TypeCode) -> Bool {
        let type = type
        if wanted == type { return true }
        switch (type, wanted) {
        case (.list, .choices): kind = .choices
        case (.list, _), (.choices, _): return false
        case (_, .string): kind = .string
        case (.integer, .decimal): kind = .decimal
        case (.string, _): return isBare && read(as: wanted)
        default: return false
        }
        return true
    }

    private mutating func read(as wanted: TypeCode) -> Bool {
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
}

extension Stretch {
    /// Whether it is that text.
    func equals(_ other: StaticString) -> Bool {
        count == other.utf8CodeUnitCount && compare(Stretch(other.utf8Start, count)) == 0
    }
}
